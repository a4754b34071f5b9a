//! An exact sum of doubles, or of products of two doubles.

use num_bigint::BigInt;

use super::limbs::{LOWEST, Limbs, take};
use super::round::to_double;

/// `mantissa · 2^exponent` for as long as 128 bits hold it, which they nearly always do; else all bits there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ExactSum {
    mantissa: i128,
    exponent: i32,
    wide: Option<Box<Limbs>>,
}

/// Bytes that a sum holds beside itself once it is wide.
pub(super) const WIDE_BYTES: usize = size_of::<Limbs>();

/// A finite double as `mantissa · 2^exponent`.
#[inline]
fn parts(value: f64) -> (i64, i32) {
    let bits = value.to_bits();
    let biased = (bits >> 52) as i32 & 0x7ff;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (mantissa, exponent) =
        if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    (if value.is_sign_negative() { -mantissa } else { mantissa }, exponent)
}

/// The same with as few bits as possible.
#[inline]
fn short_parts(value: f64) -> (i64, i32) {
    let (mantissa, exponent) = parts(value);
    if mantissa == 0 {
        return (0, 0);
    }
    let zeros = mantissa.trailing_zeros();
    (mantissa >> zeros, exponent + zeros as i32)
}

impl ExactSum {
    /// Adds `value`, `times` being 1, or takes it back, being -1.
    #[inline]
    pub(super) fn add(&mut self, value: f64, times: i64) {
        if value.is_finite() {
            let (mantissa, exponent) = parts(value);
            self.add_parts(i128::from(mantissa * times), exponent);
        } else {
            self.add_special(value, times);
        }
    }

    /// Adds or takes back `left · right`, exactly.
    #[inline]
    pub(super) fn add_product(&mut self, left: f64, right: f64, times: i64) {
        if left.is_finite() && right.is_finite() {
            let ((a, a_exponent), (b, b_exponent)) = (short_parts(left), short_parts(right));
            self.add_parts(i128::from(a) * i128::from(b) * i128::from(times), a_exponent + b_exponent);
        } else {
            self.add_special(left * right, times);
        }
    }

    #[inline]
    fn add_parts(&mut self, mantissa: i128, exponent: i32) {
        if mantissa == 0 {
            return;
        }
        if self.wide.is_none() {
            if self.mantissa == 0 {
                (self.mantissa, self.exponent) = (mantissa, exponent);
                return;
            }
            let (low, sum) = if exponent >= self.exponent {
                (
                    self.exponent,
                    shifted(mantissa, exponent - self.exponent).and_then(|m| m.checked_add(self.mantissa)),
                )
            } else {
                (
                    exponent,
                    shifted(self.mantissa, self.exponent - exponent).and_then(|m| m.checked_add(mantissa)),
                )
            };
            if let Some(sum) = sum {
                (self.mantissa, self.exponent) = (sum, low);
                return;
            }
        }
        self.widened().add(mantissa, exponent);
    }

    #[cold]
    fn add_special(&mut self, value: f64, times: i64) {
        let index = if value.is_nan() { 0 } else { 1 + usize::from(value < 0.0) };
        self.widened().specials[index] += times;
    }

    fn widened(&mut self) -> &mut Limbs {
        let (mantissa, exponent) = (self.mantissa, self.exponent);
        self.wide.get_or_insert_with(|| {
            let mut limbs = Box::new(Limbs::new());
            if mantissa != 0 {
                limbs.add(mantissa, exponent);
            }
            limbs
        })
    }

    pub(super) fn is_wide(&self) -> bool {
        self.wide.is_some()
    }

    /// NaN or an infinity, where such were added.
    pub(super) fn special(&self) -> Option<f64> {
        match self.wide.as_ref()?.specials {
            [0, 0, 0] => None,
            [0, _, 0] => Some(f64::INFINITY),
            [0, 0, _] => Some(f64::NEG_INFINITY),
            _ => Some(f64::NAN),
        }
    }

    /// The sum, rounded once.
    pub(super) fn to_double(&self) -> f64 {
        if let Some(special) = self.special() {
            return special;
        }
        match &self.wide {
            Some(wide) => wide.to_double(),
            None => to_double(self.mantissa < 0, self.mantissa.unsigned_abs(), false, self.exponent),
        }
    }

    /// The sum divided by `count`, rounded once.
    pub(super) fn mean(&self, count: u64) -> f64 {
        if let Some(special) = self.special() {
            return special;
        }
        if self.wide.is_none() && self.mantissa != 0 {
            let magnitude = self.mantissa.unsigned_abs();
            let shift = magnitude.leading_zeros();
            let (scaled, count) = (magnitude << shift, u128::from(count));
            let exponent = self.exponent - shift as i32;
            return to_double(self.mantissa < 0, scaled / count, scaled % count != 0, exponent);
        }
        let (sum, exponent) = self.to_big();
        super::round::ratio(&sum, &count.into(), exponent)
    }

    /// The sum in units of 2^exponent. Of specials it knows nothing.
    pub(super) fn to_big(&self) -> (BigInt, i32) {
        match &self.wide {
            Some(wide) => (wide.to_big(), LOWEST),
            None => (self.mantissa.into(), self.exponent),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match &self.wide {
            None => {
                out.push(0);
                out.extend(self.mantissa.to_le_bytes());
                out.extend(self.exponent.to_le_bytes());
            }
            Some(wide) => {
                out.push(1);
                wide.write(out);
            }
        }
    }

    /// Adds a sum that [`ExactSum::write`] wrote.
    pub(super) fn merge_bytes(&mut self, bytes: &mut &[u8]) -> Option<()> {
        match take::<1>(bytes)? {
            [0] => {
                let mantissa = i128::from_le_bytes(*take::<16>(bytes)?);
                let exponent = i32::from_le_bytes(*take::<4>(bytes)?);
                self.add_parts(mantissa, exponent);
            }
            _ => self.widened().merge(&Limbs::read(bytes)?),
        }
        Some(())
    }
}

#[inline]
fn shifted(mantissa: i128, by: i32) -> Option<i128> {
    if by > 126 {
        return None;
    }
    let moved = mantissa << by;
    (moved >> by == mantissa).then_some(moved)
}
