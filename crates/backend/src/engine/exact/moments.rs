//! Which sums a statistic needs, and how it comes out of them.
//!
//! Sums of squares around the mean are `(n·Σxy − Σx·Σy) / n`, computed in whole numbers: no cancellation, and
//! one rounding each.

use num_bigint::{BigInt, BigUint};

use super::sum::ExactSum;

/// An aggregate of this family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Statistic {
    Sum,
    Mean,
    Variance { sample: bool },
    Deviation { sample: bool },
    Covariance { sample: bool },
    Correlation,
    Slope,
    Intercept,
    Count,
    R2,
    MeanX,
    MeanY,
    Sxx,
    Syy,
    Sxy,
}

impl Statistic {
    /// The statistic that an aggregate of DataFusion's computes.
    pub(super) fn of(name: &str) -> Option<Statistic> {
        Some(match name {
            "sum" => Statistic::Sum,
            "avg" => Statistic::Mean,
            "var" => Statistic::Variance { sample: true },
            "var_pop" => Statistic::Variance { sample: false },
            "stddev" => Statistic::Deviation { sample: true },
            "stddev_pop" => Statistic::Deviation { sample: false },
            "covar_samp" => Statistic::Covariance { sample: true },
            "covar_pop" => Statistic::Covariance { sample: false },
            "corr" => Statistic::Correlation,
            "regr_slope" => Statistic::Slope,
            "regr_intercept" => Statistic::Intercept,
            "regr_count" => Statistic::Count,
            "regr_r2" => Statistic::R2,
            "regr_avgx" => Statistic::MeanX,
            "regr_avgy" => Statistic::MeanY,
            "regr_sxx" => Statistic::Sxx,
            "regr_syy" => Statistic::Syy,
            "regr_sxy" => Statistic::Sxy,
            _ => return None,
        })
    }

    /// Whether it is of two columns: `y` first, `x` second.
    pub(super) fn is_of_two(self) -> bool {
        !matches!(
            self,
            Statistic::Sum | Statistic::Mean | Statistic::Variance { .. } | Statistic::Deviation { .. }
        )
    }

    /// How many sums it keeps for a group.
    pub(super) fn sums(self) -> usize {
        match self {
            Statistic::Sum | Statistic::Mean => 1,
            Statistic::Variance { .. } | Statistic::Deviation { .. } => 2,
            _ => 5,
        }
    }

    /// Adds one row, `times` being 1, or takes it back, being -1.
    #[inline]
    pub(super) fn add(self, sums: &mut [ExactSum], first: f64, second: f64, times: i64) {
        match sums {
            [sum] => sum.add(first, times),
            [sum, squares] => {
                sum.add(first, times);
                squares.add_product(first, first, times);
            }
            [y, x, yy, xx, xy] => {
                y.add(first, times);
                x.add(second, times);
                yy.add_product(first, first, times);
                xx.add_product(second, second, times);
                xy.add_product(first, second, times);
            }
            _ => {}
        }
    }

    /// The value for `count` rows; `None`: NULL.
    pub(super) fn value(self, count: u64, sums: &[ExactSum]) -> Option<f64> {
        if count == 0 {
            return None;
        }
        let least = |least| (count >= least).then_some(());
        match (self, sums) {
            (Statistic::Sum, [sum]) => Some(sum.to_double()),
            (Statistic::Mean, [sum]) => Some(sum.mean(count)),
            (Statistic::Variance { sample }, [sum, squares]) => {
                least(1 + u64::from(sample))?;
                Some(around_mean(count, sum, sum, squares, count - u64::from(sample)))
            }
            (Statistic::Deviation { sample }, [sum, squares]) => {
                least(1 + u64::from(sample))?;
                Some(around_mean(count, sum, sum, squares, count - u64::from(sample)).sqrt())
            }
            (_, [y, x, yy, xx, xy]) => Pairs { count, y, x, yy, xx, xy }.value(self),
            _ => None,
        }
    }
}

struct Pairs<'a> {
    count: u64,
    y: &'a ExactSum,
    x: &'a ExactSum,
    yy: &'a ExactSum,
    xx: &'a ExactSum,
    xy: &'a ExactSum,
}

impl Pairs<'_> {
    fn value(&self, statistic: Statistic) -> Option<f64> {
        let Pairs { count, y, x, yy, xx, xy } = *self;
        let pair = |by| around_mean(count, x, y, xy, by);
        let (sxx, syy) = (|| around_mean(count, x, x, xx, 1), || around_mean(count, y, y, yy, 1));
        match statistic {
            Statistic::Covariance { sample } => {
                (count > u64::from(sample)).then(|| pair(count - u64::from(sample)))
            }
            Statistic::MeanX => Some(x.mean(count)),
            Statistic::MeanY => Some(y.mean(count)),
            Statistic::Sxx => Some(sxx()),
            Statistic::Syy => Some(syy()),
            Statistic::Sxy => Some(pair(1)),
            _ if count < 2 => None,
            Statistic::Correlation => {
                let (sxx, syy) = (sxx(), syy());
                let spread = sxx != 0.0 && syy != 0.0;
                spread.then(|| (pair(1) / sxx.sqrt() / syy.sqrt()).clamp(-1.0, 1.0))
            }
            Statistic::Slope => Some(sxx()).filter(|sxx| *sxx != 0.0).map(|sxx| pair(1) / sxx),
            Statistic::Intercept => {
                let slope = Some(sxx()).filter(|sxx| *sxx != 0.0).map(|sxx| pair(1) / sxx)?;
                Some(y.mean(count) - slope * x.mean(count))
            }
            Statistic::R2 => {
                let (sxx, syy, sxy) = (sxx(), syy(), pair(1));
                (sxx != 0.0 && syy != 0.0).then(|| (sxy / sxx) * (sxy / syy))
            }
            _ => None,
        }
    }
}

/// `(Σab − Σa·Σb / count) / by`, rounded once.
fn around_mean(count: u64, a: &ExactSum, b: &ExactSum, ab: &ExactSum, by: u64) -> f64 {
    if [a, b, ab].iter().any(|sum| sum.special().is_some()) {
        return f64::NAN;
    }
    let ((a, a_exponent), (b, b_exponent)) = (a.to_big(), b.to_big());
    let (products, products_exponent) = ab.to_big();
    let square = (a * b, a_exponent + b_exponent);
    let products = (products * BigInt::from(count), products_exponent);
    let exponent = square.1.min(products.1);
    let aligned = |(value, own): (BigInt, i32)| value << usize::try_from(own - exponent).unwrap_or(0);
    let numerator = aligned(products) - aligned(square);
    super::round::ratio(&numerator, &(BigUint::from(count) * BigUint::from(by)), exponent)
}
