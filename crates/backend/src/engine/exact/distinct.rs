//! DISTINCT: each value counts once, however often it came.

use std::collections::BTreeMap;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::Float64Type;
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

use super::moments::Statistic;
use super::sum::ExactSum;

/// The distinct values of one group, each with how often it came.
#[derive(Debug)]
pub(super) struct Distinct {
    statistic: Statistic,
    values: BTreeMap<u64, i64>,
}

impl Distinct {
    pub(super) fn new(statistic: Statistic) -> Distinct {
        Distinct { statistic, values: BTreeMap::new() }
    }

    fn add(&mut self, value: f64, times: i64) {
        // The two zeros are one value, and so are all NaN.
        let one = if value == 0.0 {
            0.0
        } else if value.is_nan() {
            f64::NAN
        } else {
            value
        };
        let count = self.values.entry(one.to_bits()).or_insert(0);
        *count += times;
        if *count == 0 {
            self.values.remove(&one.to_bits());
        }
    }

    fn each(&mut self, values: &[ArrayRef], times: i64) -> Result<()> {
        let column = values.first().and_then(|array| array.as_primitive_opt::<Float64Type>());
        let column =
            column.ok_or_else(|| DataFusionError::Internal("an exact aggregate takes DOUBLE".to_owned()))?;
        for value in column.iter().flatten() {
            self.add(value, times);
        }
        Ok(())
    }
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.each(values, 1)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.each(values, -1)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut sums = vec![ExactSum::default(); self.statistic.sums()];
        for bits in self.values.keys() {
            self.statistic.add(&mut sums, f64::from_bits(*bits), 0.0, 1);
        }
        Ok(ScalarValue::Float64(self.statistic.value(self.values.len() as u64, &sums)))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let bytes: Vec<u8> = self.values.keys().flat_map(|bits| bits.to_le_bytes()).collect();
        Ok(vec![ScalarValue::Binary(Some(bytes))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states.first().and_then(|array| array.as_binary_opt::<i32>());
        let states =
            states.ok_or_else(|| DataFusionError::Internal("the state of an exact aggregate".to_owned()))?;
        for state in states.iter().flatten() {
            for bits in state.as_chunks::<8>().0 {
                self.add(f64::from_bits(u64::from_le_bytes(*bits)), 1);
            }
        }
        Ok(())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.len() * 3 * size_of::<u64>()
    }
}
