//! A fixed-point number wide enough for every sum of doubles and of products of two doubles.

use num_bigint::{BigInt, Sign};

use super::round::to_double;

/// Exponent of the lowest bit. The smallest product is 2^-2148.
pub(super) const LOWEST: i32 = -2176;
/// Bits up to 2^2048 and 64 more for carries, rounded up to whole limbs.
const LIMBS: usize = 68;

/// Two's complement, lowest limb first; and what has no place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Limbs {
    limbs: [u64; LIMBS],
    /// How many NaN, +∞ and −∞ were added, less those taken back.
    pub(super) specials: [i64; 3],
}

impl Limbs {
    pub(super) fn new() -> Limbs {
        Limbs { limbs: [0; LIMBS], specials: [0; 3] }
    }

    /// Adds `mantissa · 2^exponent`.
    #[inline]
    pub(super) fn add(&mut self, mantissa: i128, exponent: i32) {
        let position = usize::try_from(exponent - LOWEST).unwrap_or(0);
        let (first, shift) = (position / 64, position % 64);
        let bits = mantissa as u128;
        let sign = if mantissa < 0 { u64::MAX } else { 0 };
        let low = bits << shift;
        let high = if shift == 0 { sign } else { (bits >> (128 - shift)) as u64 | (sign << shift) };
        let mut carry = false;
        for (limb, part) in self.limbs[first..].iter_mut().zip([low as u64, (low >> 64) as u64, high]) {
            (*limb, carry) = limb.carrying_add_compat(part, carry);
        }
        for limb in &mut self.limbs[first + 3..] {
            // From here on the addend is all sign, and sign and carry may cancel.
            if (sign == 0) != carry {
                break;
            }
            (*limb, carry) = limb.carrying_add_compat(sign, carry);
        }
    }

    pub(super) fn merge(&mut self, other: &Limbs) {
        let mut carry = false;
        for (limb, part) in self.limbs.iter_mut().zip(other.limbs) {
            (*limb, carry) = limb.carrying_add_compat(part, carry);
        }
        for (count, more) in self.specials.iter_mut().zip(other.specials) {
            *count += more;
        }
    }

    fn is_negative(&self) -> bool {
        self.limbs[LIMBS - 1] >> 63 == 1
    }

    fn magnitude(&self) -> [u64; LIMBS] {
        let mut limbs = self.limbs;
        if self.is_negative() {
            let mut carry = true;
            for limb in &mut limbs {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        limbs
    }

    pub(super) fn to_double(&self) -> f64 {
        let limbs = self.magnitude();
        let Some(top) = limbs.iter().rposition(|limb| *limb != 0) else { return 0.0 };
        let first = top.saturating_sub(2);
        let at = |index: usize| u128::from(limbs.get(index).copied().unwrap_or(0));
        // The top 128 bits of three limbs, so that at least 65 of them count.
        let spare = if top >= 2 { limbs[top].leading_zeros() } else { 64 };
        let whole = (at(first + 2) << 64 | at(first + 1), at(first));
        let (magnitude, cut) = match (top >= 2, spare) {
            (false, _) => (at(1) << 64 | at(0), 0),
            (true, 0) => (whole.0, 64),
            (true, spare) => (whole.0 << spare | whole.1 >> (64 - spare), 64 - spare),
        };
        let lost = if cut == 0 { 0 } else { whole.1 & ((1 << cut) - 1) };
        let more = top >= 2 && (lost != 0 || limbs[..first].iter().any(|limb| *limb != 0));
        let exponent = LOWEST + i32::try_from(first * 64).unwrap_or(0) + i32::try_from(cut).unwrap_or(0);
        to_double(self.is_negative(), magnitude, more, exponent)
    }

    /// The number in units of 2^[`LOWEST`].
    pub(super) fn to_big(&self) -> BigInt {
        let limbs = self.magnitude();
        let digits: Vec<u32> = limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]).collect();
        BigInt::from_slice(if self.is_negative() { Sign::Minus } else { Sign::Plus }, &digits)
    }

    /// Writes the limbs between the ends that say nothing.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for count in self.specials {
            out.extend(count.to_le_bytes());
        }
        let filler = if self.is_negative() { u64::MAX } else { 0 };
        let first = self.limbs.iter().position(|limb| *limb != 0).unwrap_or(LIMBS);
        let end =
            self.limbs.iter().rposition(|limb| *limb != filler).map_or(first, |last| last + 1).max(first);
        out.push(u8::from(self.is_negative()));
        out.push(first as u8);
        out.push(end as u8);
        for limb in &self.limbs[first..end] {
            out.extend(limb.to_le_bytes());
        }
    }

    pub(super) fn read(bytes: &mut &[u8]) -> Option<Limbs> {
        let mut number = Limbs::new();
        for count in &mut number.specials {
            *count = i64::from_le_bytes(*take::<8>(bytes)?);
        }
        let [negative, first, end] = *take::<3>(bytes)?;
        let (first, end) = (usize::from(first), usize::from(end));
        for limb in number.limbs.get_mut(first..end)? {
            *limb = u64::from_le_bytes(*take::<8>(bytes)?);
        }
        if negative == 1 {
            number.limbs.get_mut(end..)?.fill(u64::MAX);
        }
        Some(number)
    }
}

/// The next `N` bytes.
pub(super) fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(head)
}

/// `u64::carrying_add`, which is younger than our compiler.
trait CarryingAdd: Sized {
    fn carrying_add_compat(self, other: Self, carry: bool) -> (Self, bool);
}

impl CarryingAdd for u64 {
    #[inline]
    fn carrying_add_compat(self, other: u64, carry: bool) -> (u64, bool) {
        let (sum, first) = self.overflowing_add(other);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        (sum, first || second)
    }
}
