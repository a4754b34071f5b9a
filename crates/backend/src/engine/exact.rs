//! Aggregates whose result does not depend on the order or the split of the input, and is right or an error.
//!
//! Sums of floats are kept exactly ([`sum::ExactSum`]) and rounded once, at the end, so addition is associative. The
//! variance family keeps exact sums of values and of products. Sums of whole numbers and decimals ([`whole`]) refuse
//! what does not fit. All else keeps DataFusion's aggregates, which are exact already.

mod accumulators;
mod distinct;
mod function;
mod limbs;
mod moments;
mod round;
mod sum;
#[cfg(test)]
pub(super) mod tests;
mod whole;

pub(super) use function::replace;
