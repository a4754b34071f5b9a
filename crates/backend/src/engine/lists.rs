//! `x IN (…)` with anything but literals in the list, written as equalities.
//!
//! DataFusion's simplifier (53.1) intersects IN lists by comparing expressions: it takes `a IN (b) AND a IN (c)`
//! for false, also where `b` and `c` are equal. Equalities of other than literals it leaves alone.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, not};

use super::EngineError;

/// The plan without IN lists that the optimiser would get wrong.
pub(super) fn spelled_out(plan: LogicalPlan) -> Result<LogicalPlan, EngineError> {
    let done = plan.transform_up_with_subqueries(|node| {
        let preserver = NamePreserver::new(&node);
        node.map_expressions(|expr| {
            let name = preserver.save(&expr);
            let done = expr.transform_up(|inner| match inner {
                Expr::InList(list) if !list.list.iter().all(|item| matches!(item, Expr::Literal(..))) => {
                    Ok(Transformed::yes(equalities(list)))
                }
                other => Ok(Transformed::no(other)),
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
