//! Sums of whole numbers and decimals: kept in twice the width, so that no order of rows makes a difference, and an
//! error where the result does not fit.
//!
//! The state that goes from partition to partition is the wide sum, NULL where no value came.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowNativeTypeOp, ArrowPrimitiveType, DataType, Decimal128Type, Decimal256Type, DecimalType, Int64Type,
    UInt64Type, i256,
};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};

use crate::engine::checked::too_large;

/// A type whose values are summed.
pub(super) trait Whole: ArrowPrimitiveType + Debug + Send + Sync {
    /// The type that holds any sum of them.
    type Wide: DecimalType + Debug;

    fn widen(value: Self::Native) -> <Self::Wide as ArrowPrimitiveType>::Native;

    /// The sum in the type of the result, where it fits.
    fn narrow(sum: <Self::Wide as ArrowPrimitiveType>::Native, data_type: &DataType) -> Option<Self::Native>;
}

impl Whole for Int64Type {
    type Wide = Decimal128Type;

    fn widen(value: i64) -> i128 {
        value.into()
    }

    fn narrow(sum: i128, _: &DataType) -> Option<i64> {
        sum.try_into().ok()
    }
}

impl Whole for UInt64Type {
    type Wide = Decimal128Type;

    fn widen(value: u64) -> i128 {
        value.into()
    }

    fn narrow(sum: i128, _: &DataType) -> Option<u64> {
        sum.try_into().ok()
    }
}

impl Whole for Decimal128Type {
    type Wide = Decimal256Type;

    fn widen(value: i128) -> i256 {
        i256::from_i128(value)
    }

    fn narrow(sum: i256, data_type: &DataType) -> Option<i128> {
        let DataType::Decimal128(precision, _) = data_type else { return None };
        let limit = 10_i128.checked_pow(u32::from(*precision))?;
        sum.to_i128().filter(|sum| -limit < *sum && *sum < limit)
    }
}

/// Whether sums with this result are summed here.
pub(super) fn takes(result: &DataType) -> bool {
    matches!(result, DataType::Int64 | DataType::UInt64 | DataType::Decimal128(..))
}

/// The type of the state.
pub(super) fn state_type(result: &DataType, is_distinct: bool) -> DataType {
    match result {
        _ if is_distinct => DataType::Binary,
        DataType::Decimal128(_, scale) => DataType::Decimal256(Decimal256Type::MAX_PRECISION, *scale),
        _ => DataType::Decimal128(Decimal128Type::MAX_PRECISION, 0),
    }
}

/// What is said where the sum does not fit.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// The call, as in the query.
    pub(super) call: String,
    /// Type of the result.
    pub(super) result: DataType,
}

impl Told {
    fn narrow<T: Whole>(&self, sum: WideOf<T>) -> Result<T::Native> {
        T::narrow(sum, &self.result)
            .ok_or_else(|| too_large(&self.call, &self.result, &format!("it is {sum:?}")).into())
    }
}

type WideOf<T> = <<T as Whole>::Wide as ArrowPrimitiveType>::Native;

/// The sum of one group, or of a window that moves on.
pub(super) fn one(told: Told, is_distinct: bool) -> Result<Box<dyn Accumulator>> {
    Ok(match (&told.result, is_distinct) {
        (DataType::Int64, false) => Box::new(One::<Int64Type>::new(told)),
        (DataType::UInt64, false) => Box::new(One::<UInt64Type>::new(told)),
        (_, false) => Box::new(One::<Decimal128Type>::new(told)),
        (DataType::Int64, true) => Box::new(Distinct::<Int64Type>::new(told)),
        (DataType::UInt64, true) => Box::new(Distinct::<UInt64Type>::new(told)),
        (_, true) => Box::new(Distinct::<Decimal128Type>::new(told)),
    })
}

/// The sums of many groups.
pub(super) fn groups(told: Told) -> Box<dyn GroupsAccumulator> {
    match &told.result {
        DataType::Int64 => Box::new(Groups::<Int64Type>::new(told)),
        DataType::UInt64 => Box::new(Groups::<UInt64Type>::new(told)),
        _ => Box::new(Groups::<Decimal128Type>::new(told)),
    }
}

fn column<T: ArrowPrimitiveType>(values: &[ArrayRef]) -> Result<&PrimitiveArray<T>> {
    let found = values.first().and_then(|array| array.as_primitive_opt::<T>());
    found.ok_or_else(|| DataFusionError::Internal(format!("a sum takes {}", T::DATA_TYPE)))
}

#[derive(Debug)]
struct Groups<T: Whole> {
    told: Told,
    sums: Vec<WideOf<T>>,
    /// Whether any value came.
    seen: Vec<bool>,
}

impl<T: Whole> Groups<T> {
    fn new(told: Told) -> Self {
        Groups { told, sums: Vec::new(), seen: Vec::new() }
    }

    fn resize(&mut self, groups: usize) {
        self.sums.resize(groups, Default::default());
        self.seen.resize(groups, false);
    }

    fn add<V: ArrowPrimitiveType>(
        &mut self,
        values: &PrimitiveArray<V>,
        groups: &[usize],
        filter: Option<&BooleanArray>,
        widen: impl Fn(V::Native) -> WideOf<T>,
    ) {
        let mut add = |group: usize, value: V::Native| {
            self.sums[group] = self.sums[group].add_wrapping(widen(value));
            self.seen[group] = true;
        };
        if values.null_count() == 0 && filter.is_none() {
            groups.iter().zip(values.values()).for_each(|(group, value)| add(*group, *value));
            return;
        }
        for (row, group) in groups.iter().enumerate() {
            let kept = filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if kept && values.is_valid(row) {
                add(*group, values.value(row));
            }
        }
    }

    fn take(&mut self, emit_to: EmitTo) -> impl Iterator<Item = Option<WideOf<T>>> {
        let sums = emit_to.take_needed(&mut self.sums);
        let seen = emit_to.take_needed(&mut self.seen);
        sums.into_iter().zip(seen).map(|(sum, seen)| seen.then_some(sum))
    }

    fn states(&self, sums: impl Iterator<Item = Option<WideOf<T>>>) -> ArrayRef {
        let array: PrimitiveArray<T::Wide> = sums.collect();
        Arc::new(array.with_data_type(state_type(&self.told.result, false)))
    }
}

impl<T: Whole> GroupsAccumulator for Groups<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.resize(total_num_groups);
        self.add(column::<T>(values)?, group_indices, opt_filter, T::widen);
        Ok(())
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.resize(total_num_groups);
        self.add(column::<T::Wide>(values)?, group_indices, opt_filter, |sum| sum);
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let sums: Vec<Option<WideOf<T>>> = self.take(emit_to).collect();
        let narrow = |sum: Option<WideOf<T>>| sum.map(|sum| self.told.narrow::<T>(sum)).transpose();
        let array: PrimitiveArray<T> = sums.into_iter().map(narrow).collect::<Result<_>>()?;
        Ok(Arc::new(array.with_data_type(self.told.result.clone())))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let sums: Vec<Option<WideOf<T>>> = self.take(emit_to).collect();
        Ok(vec![self.states(sums.into_iter())])
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let kept = |row: usize| opt_filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        let rows = column::<T>(values)?.iter().enumerate();
        let sums = rows.map(|(row, value)| value.filter(|_| kept(row)).map(T::widen));
        Ok(vec![self.states(sums)])
    }

    fn supports_convert_to_state(&self) -> bool {
        true
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<WideOf<T>>() + self.seen.capacity()
    }
}

#[derive(Debug)]
struct One<T: Whole> {
    told: Told,
    sum: WideOf<T>,
    values: u64,
}

impl<T: Whole> One<T> {
    fn new(told: Told) -> Self {
        One { told, sum: Default::default(), values: 0 }
    }
}

impl<T: Whole> Accumulator for One<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in column::<T>(values)?.iter().flatten() {
            self.sum = self.sum.add_wrapping(T::widen(value));
            self.values += 1;
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in column::<T>(values)?.iter().flatten() {
            self.sum = self.sum.sub_wrapping(T::widen(value));
            self.values -= 1;
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum = if self.values > 0 { Some(self.told.narrow::<T>(self.sum)?) } else { None };
        ScalarValue::new_primitive::<T>(sum, &self.told.result)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let sum = (self.values > 0).then_some(self.sum);
        Ok(vec![ScalarValue::new_primitive::<T::Wide>(sum, &state_type(&self.told.result, false))?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for sum in column::<T::Wide>(states)?.iter().flatten() {
            self.sum = self.sum.add_wrapping(sum);
            self.values += 1;
        }
        Ok(())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The distinct values of one group, each with how often it came.
#[derive(Debug)]
struct Distinct<T: Whole> {
    told: Told,
    values: BTreeMap<i128, u64>,
    of: std::marker::PhantomData<T>,
}

impl<T: Whole> Distinct<T>
where
    T::Native: TryInto<i128> + TryFrom<i128>,
{
    fn new(told: Told) -> Self {
        Distinct { told, values: BTreeMap::new(), of: std::marker::PhantomData }
    }

    fn each(
        &mut self,
        values: &[ArrayRef],
        mut take: impl FnMut(&mut BTreeMap<i128, u64>, i128),
    ) -> Result<()> {
        for value in column::<T>(values)?.iter().flatten().filter_map(|value| value.try_into().ok()) {
            take(&mut self.values, value);
        }
        Ok(())
    }
}

impl<T: Whole> Accumulator for Distinct<T>
where
    T::Native: TryInto<i128> + TryFrom<i128>,
{
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.each(values, |known, value| *known.entry(value).or_default() += 1)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.each(values, |known, value| {
            if let Some(count) = known.get_mut(&value) {
                *count -= 1;
                if *count == 0 {
                    known.remove(&value);
                }
            }
        })
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let wide = self.values.keys().filter_map(|value| T::Native::try_from(*value).ok()).map(T::widen);
        let sum = wide.reduce(|sum, value| sum.add_wrapping(value));
        let sum = sum.map(|sum| self.told.narrow::<T>(sum)).transpose()?;
        ScalarValue::new_primitive::<T>(sum, &self.told.result)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let bytes: Vec<u8> = self.values.keys().flat_map(|value| value.to_le_bytes()).collect();
        Ok(vec![ScalarValue::Binary(Some(bytes))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states.first().and_then(|array| array.as_binary_opt::<i32>());
        let states = states.ok_or_else(|| DataFusionError::Internal("the state of a sum".to_owned()))?;
        for bytes in states.iter().flatten().flat_map(|state| state.as_chunks::<16>().0) {
            *self.values.entry(i128::from_le_bytes(*bytes)).or_default() += 1;
        }
        Ok(())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.len() * 3 * size_of::<i128>()
    }
}
