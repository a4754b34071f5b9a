//! Expressions that DataFusion 53.1 gets wrong, written another way before it optimises them.
//!
//! - `x IN (…)` with anything but literals: the simplifier intersects lists by comparing expressions and takes
//!   `a IN (b) AND a IN (c)` for false, also where `b` and `c` are equal. Equalities it leaves alone.
//! - `agg(x) FILTER (WHERE p)` with groups: where `p` is NULL the row may be counted, as the mask's NULLs are not
//!   looked at (apache/datafusion#22067). `p IS TRUE` is never NULL.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{AggregateFunction, InList};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, not};

use super::EngineError;

/// The plan without expressions that the engine would get wrong; names of columns stay.
pub(super) fn mended(plan: LogicalPlan) -> Result<LogicalPlan, EngineError> {
    let done = plan.transform_up_with_subqueries(|node| {
        let preserver = NamePreserver::new(&node);
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
                    other => Transformed::no(other),
                })
            })?;
            Ok(if done.transformed { done.update_data(|expr| name.restore(expr)) } else { done })
        })
    })?;
    Ok(done.data)
}

fn equalities(list: InList) -> Expr {
    let InList { expr, list, negated } = list;
    let each = list.into_iter().map(|item| expr.as_ref().clone().eq(item));
    let any = each.reduce(Expr::or).unwrap_or_else(|| datafusion::logical_expr::lit(false));
    if negated { not(any) } else { any }
}

fn lets_null_through(call: &AggregateFunction) -> bool {
    call.params.filter.as_deref().is_some_and(|filter| !matches!(filter, Expr::IsTrue(_)))
}

fn filtered_on_true(mut call: AggregateFunction) -> AggregateFunction {
    call.params.filter = call.params.filter.map(|filter| Box::new(Expr::IsTrue(filter)));
    call
}
