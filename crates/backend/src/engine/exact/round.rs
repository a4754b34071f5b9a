//! One rounding, to the nearest double, ties to even.

use num_bigint::{BigInt, BigUint, Sign};

/// The double nearest to `magnitude · 2^exponent`; `more` says that the true value is a little above.
///
/// With `more`, the magnitude must have at least 64 significant bits.
pub(super) fn to_double(negative: bool, magnitude: u128, more: bool, exponent: i32) -> f64 {
    if magnitude == 0 {
        return 0.0;
    }
    let bits = 128 - i32::try_from(magnitude.leading_zeros()).unwrap_or(0);
    // The exponent of the last bit that the double keeps: 53 bits, fewer below the normal range.
    let last = (bits + exponent - 53).max(-1074);
    let cut = last - exponent;
    let mut mantissa = match cut {
        ..=0 => magnitude << (-cut).min(127),
        1..=127 => {
            let kept = magnitude >> cut;
            let rest = magnitude & ((1 << cut) - 1);
            let half = 1 << (cut - 1);
            let up = rest > half || (rest == half && (more || kept & 1 == 1));
            kept + u128::from(up)
        }
        128 => u128::from(magnitude > 1 << 127 || (magnitude == 1 << 127 && more)),
        _ => 0,
    };
    let mut last = last;
    if mantissa == 1 << 53 {
        mantissa >>= 1;
        last += 1;
    }
    let mantissa = u64::try_from(mantissa).unwrap_or(u64::MAX);
    let value = if mantissa < 1 << 52 {
        f64::from_bits(mantissa)
    } else {
        match u64::try_from(last + 1075) {
            Ok(biased) if biased < 2047 => f64::from_bits((biased << 52) | (mantissa & ((1 << 52) - 1))),
            _ => f64::INFINITY,
        }
    };
    if negative { -value } else { value }
}

/// The double nearest to `numerator · 2^exponent / denominator`.
pub(super) fn ratio(numerator: &BigInt, denominator: &BigUint, exponent: i32) -> f64 {
    let magnitude = numerator.magnitude();
    if magnitude.bits() == 0 {
        return 0.0;
    }
    // Enough bits for the quotient to hold more than a double.
    let shift = (denominator.bits() + 70).saturating_sub(magnitude.bits());
    let scaled = magnitude << shift;
    let quotient = &scaled / denominator;
    let rest = &scaled - &quotient * denominator;
    let exponent = exponent - i32::try_from(shift).unwrap_or(i32::MAX);
    let below = quotient.bits().saturating_sub(128);
    let top = u128_of(&(&quotient >> below));
    let more = rest.bits() > 0 || (below > 0 && quotient.trailing_zeros().is_some_and(|zeros| zeros < below));
    let exponent = exponent + i32::try_from(below).unwrap_or(i32::MAX);
    to_double(numerator.sign() == Sign::Minus, top, more, exponent)
}

fn u128_of(value: &BigUint) -> u128 {
    value.iter_u64_digits().take(2).enumerate().map(|(index, digit)| u128::from(digit) << (64 * index)).sum()
}
