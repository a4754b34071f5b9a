//! The sums of one group and of many, as DataFusion asks for them.
//!
//! The state that goes from partition to partition is one BINARY: the number of rows and the sums.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, BooleanArray, Float64Array, UInt64Array,
};
use arrow::datatypes::Float64Type;
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};

use super::moments::Statistic;
use super::sum::{ExactSum, WIDE_BYTES};

/// Sums of many groups, `statistic.sums()` for each.
#[derive(Debug)]
pub(super) struct Groups {
    statistic: Statistic,
    counts: Vec<u64>,
    sums: Vec<ExactSum>,
    wide: usize,
}

impl Groups {
    pub(super) fn new(statistic: Statistic) -> Groups {
        Groups { statistic, counts: Vec::new(), sums: Vec::new(), wide: 0 }
    }

    fn resize(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
        self.sums.resize(groups * self.statistic.sums(), ExactSum::default());
    }

    #[inline]
    fn add(&mut self, group: usize, first: f64, second: f64) {
        let width = self.statistic.sums();
        self.counts[group] += 1;
        let sums = &mut self.sums[group * width..(group + 1) * width];
        let before = sums.iter().filter(|sum| sum.is_wide()).count();
        self.statistic.add(sums, first, second, 1);
        self.wide += sums.iter().filter(|sum| sum.is_wide()).count() - before;
    }

    fn update(&mut self, columns: &Columns<'_>, groups: &[usize], filter: Option<&BooleanArray>) {
        let plain = !columns.has_nulls() && filter.is_none();
        if plain && self.statistic.sums() == 1 {
            for (group, value) in groups.iter().zip(columns.first.values()) {
                self.counts[*group] += 1;
                let sum = &mut self.sums[*group];
                let before = sum.is_wide();
                sum.add(*value, 1);
                self.wide += usize::from(sum.is_wide() != before);
            }
            return;
        }
        for (row, group) in groups.iter().enumerate() {
            let kept = filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if let (true, Some((first, second))) = (kept, columns.row(row)) {
                self.add(*group, first, second);
            }
        }
    }

    fn take(&mut self, emit_to: EmitTo) -> (Vec<u64>, Vec<ExactSum>) {
        let counts = emit_to.take_needed(&mut self.counts);
        let rest = self.sums.split_off(counts.len() * self.statistic.sums());
        let sums = std::mem::replace(&mut self.sums, rest);
        self.wide = self.sums.iter().filter(|sum| sum.is_wide()).count();
        (counts, sums)
    }

    fn merge(&mut self, group: usize, mut state: &[u8]) -> Option<()> {
        let width = self.statistic.sums();
        self.counts[group] += u64::from_le_bytes(*super::limbs::take::<8>(&mut state)?);
        for sum in &mut self.sums[group * width..(group + 1) * width] {
            let before = sum.is_wide();
            sum.merge_bytes(&mut state)?;
            self.wide += usize::from(sum.is_wide() != before);
        }
        Some(())
    }
}

/// The columns that a statistic reads.
struct Columns<'a> {
    first: &'a Float64Array,
    second: Option<&'a Float64Array>,
}

impl<'a> Columns<'a> {
    fn new(statistic: Statistic, values: &'a [ArrayRef]) -> Result<Columns<'a>> {
        let column = |index: usize| {
            let found = values.get(index).and_then(|array| array.as_primitive_opt::<Float64Type>());
            found.ok_or_else(|| DataFusionError::Internal("an exact aggregate takes DOUBLE".to_owned()))
        };
        let second = if statistic.is_of_two() { Some(column(1)?) } else { None };
        Ok(Columns { first: column(0)?, second })
    }

    fn has_nulls(&self) -> bool {
        self.first.null_count() > 0 || self.second.is_some_and(|second| second.null_count() > 0)
    }

    /// The values of a row, unless one is NULL.
    #[inline]
    fn row(&self, row: usize) -> Option<(f64, f64)> {
        if self.first.is_null(row) || self.second.is_some_and(|second| second.is_null(row)) {
            return None;
        }
        Some((self.first.value(row), self.second.map_or(0.0, |second| second.value(row))))
    }
}

fn states(counts: &[u64], sums: &[ExactSum], width: usize) -> ArrayRef {
    let mut builder = BinaryBuilder::with_capacity(counts.len(), counts.len() * (8 + 21 * width));
    let mut bytes = Vec::new();
    for (count, sums) in counts.iter().zip(sums.chunks(width)) {
        bytes.clear();
        bytes.extend(count.to_le_bytes());
        for sum in sums {
            sum.write(&mut bytes);
        }
        builder.append_value(&bytes);
    }
    Arc::new(builder.finish())
}

fn broken() -> DataFusionError {
    DataFusionError::Internal("the state of an exact aggregate is not readable".to_owned())
}

fn binary(states: &[ArrayRef]) -> Result<&BinaryArray> {
    states.first().and_then(|array| array.as_binary_opt::<i32>()).ok_or_else(broken)
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.resize(total_num_groups);
        self.update(&Columns::new(self.statistic, values)?, group_indices, opt_filter);
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (counts, sums) = self.take(emit_to);
        if self.statistic == Statistic::Count {
            return Ok(Arc::new(UInt64Array::from(counts)));
        }
        let rows = counts.iter().zip(sums.chunks(self.statistic.sums()));
        let values: Float64Array = rows.map(|(count, sums)| self.statistic.value(*count, sums)).collect();
        Ok(Arc::new(values))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (counts, sums) = self.take(emit_to);
        Ok(vec![states(&counts, &sums, self.statistic.sums())])
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.resize(total_num_groups);
        let states = binary(values)?;
        for (row, group) in group_indices.iter().enumerate() {
            let kept = opt_filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if kept && states.is_valid(row) {
                self.merge(*group, states.value(row)).ok_or_else(broken)?;
            }
        }
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |array| array.len());
        let mut each = Groups::new(self.statistic);
        each.resize(rows);
        let indices: Vec<usize> = (0..rows).collect();
        each.update(&Columns::new(self.statistic, values)?, &indices, opt_filter);
        each.state(EmitTo::All)
    }

    fn supports_convert_to_state(&self) -> bool {
        true
    }

    fn size(&self) -> usize {
        self.counts.capacity() * size_of::<u64>()
            + self.sums.capacity() * size_of::<ExactSum>()
            + self.wide * WIDE_BYTES
    }
}

/// Sums of one group, or of a window that moves on.
#[derive(Debug)]
pub(super) struct One {
    statistic: Statistic,
    count: u64,
    sums: Vec<ExactSum>,
}

impl One {
    pub(super) fn new(statistic: Statistic) -> One {
        One { statistic, count: 0, sums: vec![ExactSum::default(); statistic.sums()] }
    }

    fn each(&mut self, values: &[ArrayRef], times: i64) -> Result<()> {
        let columns = Columns::new(self.statistic, values)?;
        for row in 0..columns.first.len() {
            if let Some((first, second)) = columns.row(row) {
                self.count = self.count.wrapping_add_signed(times);
                self.statistic.add(&mut self.sums, first, second, times);
            }
        }
        Ok(())
    }
}

impl Accumulator for One {
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
        Ok(match self.statistic {
            Statistic::Count => ScalarValue::UInt64(Some(self.count)),
            statistic => ScalarValue::Float64(statistic.value(self.count, &self.sums)),
        })
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let states = states(&[self.count], &self.sums, self.sums.len());
        Ok(vec![ScalarValue::try_from_array(&states, 0)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for state in binary(states)?.iter().flatten() {
            let mut state = state;
            let count = super::limbs::take::<8>(&mut state).ok_or_else(broken)?;
            self.count += u64::from_le_bytes(*count);
            for sum in &mut self.sums {
                sum.merge_bytes(&mut state).ok_or_else(broken)?;
            }
        }
        Ok(())
    }

    fn size(&self) -> usize {
        let wide = self.sums.iter().filter(|sum| sum.is_wide()).count();
        size_of_val(self) + self.sums.capacity() * size_of::<ExactSum>() + wide * WIDE_BYTES
    }
}
