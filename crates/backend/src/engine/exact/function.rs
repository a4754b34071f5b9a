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

/// The aggregate to use instead of `inner`: an exact one where floats are summed, else `inner` itself.
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

/// Whether values of this type are for DataFusion's own aggregate, being exact there.
fn is_exact_already(data_type: Option<&DataType>) -> bool {
    data_type != Some(&DataType::Float64)
}

impl Exact {
    fn input(args: &AccumulatorArgs<'_>) -> Option<DataType> {
        args.expr_fields.first().map(|field| field.data_type().clone())
    }

    fn one(&self, args: &AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
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
        if is_exact_already(Exact::input(&args).as_ref()) {
            return self.inner.accumulator(args);
        }
        self.one(&args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if is_exact_already(Exact::input(&args).as_ref()) {
            return self.inner.create_sliding_accumulator(args);
        }
        self.one(&args)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if is_exact_already(args.input_fields.first().map(|field| field.data_type())) {
            return self.inner.state_fields(args);
        }
        let name = format_state_name(args.name, "exact");
        Ok(vec![Arc::new(Field::new(name, DataType::Binary, true))])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        if is_exact_already(Exact::input(&args).as_ref()) {
            return self.inner.groups_accumulator_supported(args);
        }
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        if is_exact_already(Exact::input(&args).as_ref()) {
            return self.inner.create_groups_accumulator(args);
        }
        Ok(Box::new(Groups::new(self.statistic)))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}
