//! Whole numbers and decimals that do not fit their type are an error, never another number.
//!
//! DataFusion's `+`, `-` and `*` wrap around in silence. Once the types of a plan are settled, those over whole numbers
//! and decimals are replaced by functions that refuse. Sums are in [`super::exact`].

use std::any::Any;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Datum};
use arrow::compute::kernels::numeric;
use arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef};
use arrow::error::ArrowError;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, LogicalPlan, Operator, ReturnFieldArgs,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::AnalyzerRule;
use datafusion::physical_expr_common::datum::apply;

use super::{EngineError, ErrorKind, analysis};

/// Puts refusing arithmetic in the place of DataFusion's. Goes after the coercion of types.
#[derive(Debug)]
pub(super) struct CheckedArithmetic;

impl AnalyzerRule for CheckedArithmetic {
    fn name(&self) -> &str {
        "checked_arithmetic"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(checked)?.data)
    }
}

fn checked(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let mut schema = merge_schema(&plan.inputs());
    if let LogicalPlan::TableScan(scan) = &plan {
        schema.merge(&DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?);
    }
    let names = NamePreserver::new(&plan);
    let done = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let done = expr.transform_down(|inner| replaced(inner, &schema))?;
        Ok(if done.transformed { done.update_data(|expr| name.restore(expr)) } else { done })
    })?;
    if done.transformed { done.map_data(LogicalPlan::recompute_schema) } else { Ok(done) }
}

fn replaced(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let operation = match &expr {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => Operation::of(*op),
        Expr::Negative(_) => Some(Operation::Negate),
        _ => None,
    };
    let Some(operation) = operation else { return Ok(Transformed::no(expr)) };
    let data_type = expr.get_type(schema)?;
    if !data_type.is_integer() && !matches!(data_type, DataType::Decimal128(..)) {
        return Ok(Transformed::no(expr));
    }
    let text = plain(&expr.human_display().to_string());
    let args = match expr {
        Expr::BinaryExpr(BinaryExpr { left, right, .. }) => {
            // Dates and intervals give whole numbers, too, and are not ours.
            let numeric = left.get_type(schema)?.is_numeric() && right.get_type(schema)?.is_numeric();
            if !numeric {
                let op = operation.operator();
                return Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })));
            }
            vec![*left, *right]
        }
        Expr::Negative(inner) => vec![*inner],
        other => return Ok(Transformed::no(other)),
    };
    let signature = Signature::any(args.len(), Volatility::Immutable);
    let function = ScalarUDF::from(Checked { operation, data_type, text, signature });
    Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), args))))
}

/// The text of an expression with its numbers as people write them: `Int64(3)` is 3.
pub(super) fn plain(text: &str) -> String {
    const NUMBERS: [&str; 4] = ["Int64(", "Int32(", "UInt64(", "Float64("];
    let mut rest = text;
    let mut plain = String::with_capacity(text.len());
    while let Some((at, opening)) =
        NUMBERS.iter().filter_map(|opening| Some((rest.find(opening)?, opening.len()))).min()
    {
        let (before, number) = (&rest[..at], &rest[at + opening..]);
        let Some((number, after)) = number.split_once(')') else { break };
        plain.extend([before.trim_end_matches('U'), number]);
        rest = after;
    }
    plain + rest
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Negate,
}

impl Operation {
    fn of(operator: Operator) -> Option<Operation> {
        match operator {
            Operator::Plus => Some(Operation::Add),
            Operator::Minus => Some(Operation::Subtract),
            Operator::Multiply => Some(Operation::Multiply),
            _ => None,
        }
    }

    fn operator(self) -> Operator {
        match self {
            Operation::Add => Operator::Plus,
            Operation::Subtract | Operation::Negate => Operator::Minus,
            Operation::Multiply => Operator::Multiply,
        }
    }
}

/// One operation of a query, that refuses what its type can't hold.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operation: Operation,
    data_type: DataType,
    /// The expression, for the error.
    text: String,
    signature: Signature,
}

impl Checked {
    fn apply(&self, args: &[ColumnarValue]) -> Result<ColumnarValue> {
        let kernel: fn(&dyn Datum, &dyn Datum) -> std::result::Result<ArrayRef, ArrowError> =
            match self.operation {
                Operation::Add => numeric::add,
                Operation::Subtract => numeric::sub,
                Operation::Multiply => numeric::mul,
                Operation::Negate => |value, _| numeric::neg(value.get().0),
            };
        match args {
            [left, right] => apply(left, right, kernel),
            [one] => apply(one, one, kernel),
            _ => Err(DataFusionError::Internal(format!("arithmetic of {} values", args.len()))),
        }
    }

    /// Decimals are computed in 128 bits, which hold a little more than the digits that the type allows.
    fn fits(&self, value: &ColumnarValue) -> bool {
        let DataType::Decimal128(precision @ 38, _) = self.data_type else { return true };
        match value {
            ColumnarValue::Array(array) => array
                .as_primitive_opt::<Decimal128Type>()
                .is_none_or(|array| array.validate_decimal_precision(precision).is_ok()),
            ColumnarValue::Scalar(scalar) => scalar.to_array().is_ok_and(|array| {
                array
                    .as_primitive_opt::<Decimal128Type>()
                    .is_none_or(|array| array.validate_decimal_precision(precision).is_ok())
            }),
        }
    }
}

impl ScalarUDFImpl for Checked {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        match self.operation {
            Operation::Add => "add",
            Operation::Subtract => "subtract",
            Operation::Multiply => "multiply",
            Operation::Negate => "negate",
        }
    }

    /// The name that DataFusion gives to the expression: columns are found by it.
    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        match args {
            [left, right] => {
                let operator = self.operation.operator();
                Ok(format!("{} {operator} {}", left.schema_name(), right.schema_name()))
            }
            [one] => Ok(format!("(- {})", one.schema_name())),
            _ => Err(DataFusionError::Internal(format!("arithmetic of {} values", args.len()))),
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.data_type.clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.data_type.clone(), nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match self.apply(&args.args) {
            Ok(value) if self.fits(&value) => Ok(value),
            Ok(_) => Err(too_large(&self.text, &self.data_type, "more than 38 digits").into()),
            Err(DataFusionError::ArrowError(error, _)) => match *error {
                ArrowError::ArithmeticOverflow(detail) => {
                    let detail = detail.trim_start_matches("Overflow happened on: ");
                    Err(too_large(&self.text, &self.data_type, detail).into())
                }
                other => Err(other.into()),
            },
            Err(other) => Err(other),
        }
    }
}

/// The error of a value that its type can't hold.
pub(super) fn too_large(what: &str, data_type: &DataType, detail: &str) -> EngineError {
    let kind = analysis::type_text(data_type);
    let help = match data_type {
        DataType::Decimal128(..) => {
            "cast to a DECIMAL with fewer digits after the point, or to DOUBLE where rounding is allowed"
        }
        _ => "compute in a wider type: `CAST(… AS DECIMAL(38, 0))`",
    };
    EngineError::new(ErrorKind::Type, format!("`{what}` does not fit into {kind}: {detail}")).help(help)
}
