//! Aggregates over floats whose result does not depend on the order or the split of the input.
//!
//! Sums are kept exactly ([`sum::ExactSum`]) and rounded once, at the end, so addition is associative. The
//! variance family keeps exact sums of values and of products. Values of other types keep DataFusion's
//! aggregates, which are exact already.

mod accumulators;
mod distinct;
mod function;
mod limbs;
mod moments;
mod round;
mod sum;
#[cfg(test)]
pub(super) mod tests;

pub(super) use function::replace;
