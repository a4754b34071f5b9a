//! DataFusion's aggregates with exact ones in their place: same names, types and NULLs.

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, GroupsAccumulator, ReversedUDAF, Signature,
};

use super::accumulators::{Groups, One};
use super::distinct::Distinct;
use super::moments::Statistic;
use super::whole::{self, Told};
use crate::engine::checked::plain;

/// The aggregate to use instead of `inner`: an exact one where numbers are summed, else `inner` itself.
pub(in crate::engine) fn replace(inner: Arc<AggregateUDF>) -> Arc<AggregateUDF> {
    match Statistic::of(inner.name()) {
        Some(statistic) => Arc::new(AggregateUDF::from(Exact { inner, statistic })),
        None => inner,
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Exact {
    inner: Arc<AggregateUDF>,
    statistic: Statistic,
}

/// Who sums values of a type.
enum Way {
    /// This crate, floats.
    Floats,
    /// This crate, whole numbers and decimals.
    Whole,
    /// DataFusion, whose aggregate is exact there.
    Inner,
}

impl Exact {
    fn way(&self, input: Option<&DataType>, result: &DataType) -> Way {
        match input {
            Some(DataType::Float64) => Way::Floats,
            _ if self.statistic == Statistic::Sum && whole::takes(result) => Way::Whole,
            _ => Way::Inner,
        }
    }

    fn way_of(&self, args: &AccumulatorArgs<'_>) -> Way {
        let input = args.expr_fields.first().map(|field| field.data_type());
        self.way(input, args.return_field.data_type())
    }

    fn floats(&self, args: &AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if !args.is_distinct {
            return Ok(Box::new(One::new(self.statistic)));
        }
        if self.statistic.is_of_two() {
            let text = format!("{}(DISTINCT …) is not possible", self.inner.name());
            return Err(DataFusionError::NotImplemented(text));
        }
        Ok(Box::new(Distinct::new(self.statistic)))
    }
}

fn told(args: &AccumulatorArgs<'_>) -> Told {
    Told { call: plain(args.name), result: args.return_field.data_type().clone() }
}

impl AggregateUDFImpl for Exact {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arg_types)
    }

    fn is_nullable(&self) -> bool {
        self.inner.is_nullable()
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.inner.default_value(data_type)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match self.way_of(&args) {
            Way::Floats => self.floats(&args),
            Way::Whole => whole::one(told(&args), args.is_distinct),
            Way::Inner => self.inner.accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match self.way_of(&args) {
            Way::Floats => self.floats(&args),
            Way::Whole => whole::one(told(&args), args.is_distinct),
            Way::Inner => self.inner.create_sliding_accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let input = args.input_fields.first().map(|field| field.data_type());
        let state = match self.way(input, args.return_field.data_type()) {
            Way::Floats => DataType::Binary,
            Way::Whole => whole::state_type(args.return_field.data_type(), args.is_distinct),
            Way::Inner => return self.inner.state_fields(args),
        };
        let name = format_state_name(args.name, "exact");
        Ok(vec![Arc::new(Field::new(name, state, true))])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        match self.way_of(&args) {
            Way::Floats | Way::Whole => !args.is_distinct,
            Way::Inner => self.inner.groups_accumulator_supported(args),
        }
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        match self.way_of(&args) {
            Way::Floats => Ok(Box::new(Groups::new(self.statistic))),
            Way::Whole => Ok(whole::groups(told(&args))),
            Way::Inner => self.inner.create_groups_accumulator(args),
        }
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}
