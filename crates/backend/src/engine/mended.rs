//! Expressions that DataFusion 53.1 gets wrong, written another way before it optimises them.
//!
//! - `x IN (…)` with anything but literals: the simplifier intersects lists by comparing expressions and takes
//!   `a IN (b) AND a IN (c)` for false, also where `b` and `c` are equal. Equalities it leaves alone.
//! - `agg(x) FILTER (WHERE p)` with groups: where `p` is NULL the row may be counted, as the mask's NULLs are not
//!   looked at (apache/datafusion#22067). `p IS NOT DISTINCT FROM true` is never NULL.
//! - `p IS TRUE` and its like are never NULL in a plan, and become `p IS NOT DISTINCT FROM true` when it is made to run,
//!   which is said to be NULL where `p` may be. Computed once for several aggregates, the two do not agree. Said in the
//!   second way from the start, they do.
//! - `row_number() - row_number()`: numbers of rows have no sign there, and differences do.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{AggregateFunction, InList};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, binary_expr, cast, not,
};

use super::EngineError;

/// The plan without expressions that the engine would get wrong; names of columns stay.
pub(super) fn mended(plan: LogicalPlan) -> Result<LogicalPlan, EngineError> {
    let done = plan.transform_up_with_subqueries(|node| {
        let preserver = NamePreserver::new(&node);
        let schema = merge_schema(&node.inputs());
        node.map_expressions(|expr| {
            let name = preserver.save(&expr);
            let done = expr.transform_up(|inner| {
                Ok(match inner {
                    Expr::InList(list) if !list.list.iter().all(|item| matches!(item, Expr::Literal(..))) => {
                        Transformed::yes(equalities(list))
                    }
                    Expr::AggregateFunction(call) if lets_null_through(&call) => {
                        Transformed::yes(Expr::AggregateFunction(filtered_on_true(call)))
                    }
                    Expr::BinaryExpr(operation) if is_arithmetic(operation.op) => signed(operation, &schema),
                    other => compared(other),
                })
            })?;
            Ok(if done.transformed { done.update_data(|expr| name.restore(expr)) } else { done })
        })
    })?;
    Ok(done.data)
}

/// Tests for a truth value as comparisons with it.
fn compared(expr: Expr) -> Transformed<Expr> {
    use Operator::{IsDistinctFrom, IsNotDistinctFrom};
    let (of, operator, value) = match expr {
        Expr::IsTrue(of) => (of, IsNotDistinctFrom, Some(true)),
        Expr::IsNotTrue(of) => (of, IsDistinctFrom, Some(true)),
        Expr::IsFalse(of) => (of, IsNotDistinctFrom, Some(false)),
        Expr::IsNotFalse(of) => (of, IsDistinctFrom, Some(false)),
        Expr::IsUnknown(of) => (of, IsNotDistinctFrom, None),
        Expr::IsNotUnknown(of) => (of, IsDistinctFrom, None),
        other => return Transformed::no(other),
    };
    Transformed::yes(binary_expr(*of, operator, Expr::Literal(ScalarValue::Boolean(value), None)))
}

fn is_arithmetic(operator: Operator) -> bool {
    matches!(operator, Operator::Plus | Operator::Minus | Operator::Multiply)
}

/// The operation with numbers of rows as BIGINT.
fn signed(operation: BinaryExpr, schema: &DFSchema) -> Transformed<Expr> {
    let unsigned = |expr: &Expr| expr.get_type(schema).is_ok_and(|kind| kind == DataType::UInt64);
    let is_meant = unsigned(&operation.left) || unsigned(&operation.right);
    let BinaryExpr { left, op, right } = operation;
    if !is_meant {
        return Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }));
    }
    let side = |expr: Box<Expr>| if unsigned(&expr) { Box::new(cast(*expr, DataType::Int64)) } else { expr };
    Transformed::yes(Expr::BinaryExpr(BinaryExpr { left: side(left), op, right: side(right) }))
}

fn equalities(list: InList) -> Expr {
    let InList { expr, list, negated } = list;
    let each = list.into_iter().map(|item| expr.as_ref().clone().eq(item));
    let any = each.reduce(Expr::or).unwrap_or_else(|| datafusion::logical_expr::lit(false));
    if negated { not(any) } else { any }
}

fn lets_null_through(call: &AggregateFunction) -> bool {
    let is_never_null = |filter: &Expr| match filter {
        Expr::BinaryExpr(test) => {
            matches!(test.op, Operator::IsDistinctFrom | Operator::IsNotDistinctFrom)
        }
        _ => false,
    };
    call.params.filter.as_deref().is_some_and(|filter| !is_never_null(filter))
}

fn filtered_on_true(mut call: AggregateFunction) -> AggregateFunction {
    let is_true = |filter| Box::new(compared(Expr::IsTrue(filter)).data);
    call.params.filter = call.params.filter.map(is_true);
    call
}
