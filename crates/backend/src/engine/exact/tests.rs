//! The exact sum against whole-number arithmetic.
#![allow(clippy::unwrap_used, reason = "a test that fails is what unwrap is for")]

use num_bigint::BigInt;

use super::moments::Statistic;
use super::round::ratio;
use super::sum::ExactSum;

/// A small generator, so that each failure can be replayed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Any finite double of a spread of exponents.
    fn double(&mut self, spread: u64) -> f64 {
        let exponent = (1023 - spread.min(1022) + self.below(2 * spread.min(1022) + 1)).min(2046);
        let sign = self.next() & (1 << 63);
        f64::from_bits(sign | (exponent << 52) | (self.next() >> 12))
    }
}

fn big(value: f64) -> BigInt {
    // In units of 2^-1074.
    let bits = value.abs().to_bits();
    let (biased, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let magnitude = match biased {
        0 => BigInt::from(fraction),
        _ => BigInt::from(fraction | 1 << 52) << (biased - 1),
    };
    if value < 0.0 { -magnitude } else { magnitude }
}

#[test]
fn sums_are_rounded_once_and_do_not_depend_on_order_or_split() {
    let mut random = Random(7);
    for round in 0..2_000 {
        let spread = [2, 40, 300, 1022][round % 4];
        let mut values: Vec<f64> = (0..1 + random.below(40)).map(|_| random.double(spread)).collect();
        if round % 7 == 0 {
            values.extend(values.clone().iter().map(|value| -value));
            values.push(f64::from_bits(random.below(1 << 52)));
        }
        let exact: BigInt = values.iter().map(|value| big(*value)).sum();
        let expected = ratio(&exact, &1_u8.into(), -1074);
        let mut whole = ExactSum::default();
        values.iter().for_each(|value| whole.add(*value, 1));
        let cut = random.below(values.len() as u64 + 1) as usize;
        let mut parts = ExactSum::default();
        for part in [&values[cut..], &values[..cut]] {
            let mut sum = ExactSum::default();
            part.iter().rev().for_each(|value| sum.add(*value, 1));
            let mut bytes = Vec::new();
            sum.write(&mut bytes);
            parts.merge_bytes(&mut bytes.as_slice()).unwrap();
        }
        assert_eq!(whole.to_double().to_bits(), expected.to_bits(), "{values:?}");
        assert_eq!(parts.to_double().to_bits(), expected.to_bits(), "{values:?}");
        let mean = ratio(&exact, &values.len().into(), -1074);
        assert_eq!(whole.mean(values.len() as u64).to_bits(), mean.to_bits(), "{values:?}");
    }
}

#[test]
fn single_values_come_back_as_they_are() {
    let mut random = Random(3);
    let edges = [f64::MAX, f64::MIN, f64::MIN_POSITIVE, f64::from_bits(1), 0.1, -1.5, f64::EPSILON];
    for value in edges.into_iter().chain((0..10_000).map(|_| random.double(1022))) {
        let mut sum = ExactSum::default();
        sum.add(value, 1);
        assert_eq!(sum.to_double().to_bits(), value.to_bits());
        // The same once it is kept in full width.
        sum.add(f64::MAX, 1);
        sum.add(f64::from_bits(1), 1);
        sum.add(f64::MAX, -1);
        sum.add(f64::from_bits(1), -1);
        assert!(sum.is_wide());
        assert_eq!(sum.to_double().to_bits(), value.to_bits());
    }
}

#[test]
fn specials_come_and_go() {
    let mut sum = ExactSum::default();
    sum.add(1.5, 1);
    sum.add(f64::INFINITY, 1);
    assert_eq!(sum.to_double(), f64::INFINITY);
    sum.add(f64::NEG_INFINITY, 1);
    assert!(sum.to_double().is_nan());
    sum.add(f64::INFINITY, -1);
    assert_eq!(sum.to_double(), f64::NEG_INFINITY);
    sum.add(f64::NEG_INFINITY, -1);
    assert_eq!(sum.to_double(), 1.5);
}

#[test]
fn variance_has_no_cancellation() {
    let statistic = Statistic::Variance { sample: true };
    let mut sums = vec![ExactSum::default(); 2];
    for value in [1e15 + 1.0, 1e15 + 2.0, 1e15 + 3.0] {
        statistic.add(&mut sums, value, 0.0, 1);
    }
    assert_eq!(statistic.value(3, &sums), Some(1.0));
    for value in [1e15 + 1.0, 1e15 + 3.0] {
        statistic.add(&mut sums, value, 0.0, -1);
    }
    assert_eq!(statistic.value(1, &sums), None);
    assert_eq!(Statistic::Variance { sample: false }.value(1, &sums), Some(0.0));
}
