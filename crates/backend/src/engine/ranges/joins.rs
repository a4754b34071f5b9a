//! Conditions that an outer, anti or mark join carries over to the side it only looks things up in.
//!
//! `a LEFT JOIN b ON a.t = b.t WHERE a.t >= x`: rows of `b` before `x` match nothing. DataFusion's optimiser
//! draws that conclusion for inner joins only. The plan that comes out is for deriving reads, not for running.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, JoinType, NullEquality, Result as DfResult};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{Distinct, Expr, Filter, Join, LogicalPlan};

/// The plan with conditions carried over, where there are any.
pub(super) fn narrowed(plan: &LogicalPlan) -> DfResult<Option<LogicalPlan>> {
    let done = plan.clone().transform_up_with_subqueries(|node| match node {
        LogicalPlan::Join(join) => carried(join),
        other => Ok(Transformed::no(other)),
    })?;
    Ok(done.transformed.then_some(done.data))
}

fn carried(join: Join) -> DfResult<Transformed<LogicalPlan>> {
    use JoinType as J;
    let to_right = match join.join_type {
        J::Left | J::LeftSemi | J::LeftAnti | J::LeftMark => true,
        J::Right | J::RightSemi | J::RightAnti | J::RightMark => false,
        J::Inner | J::Full => return Ok(Transformed::no(LogicalPlan::Join(join))),
    };
    // NOT IN asks for NULLs on the other side too.
    if join.null_equality != NullEquality::NullEqualsNothing || join.null_aware {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    }
    let mut conditions = Vec::new();
    for (left, right) in &join.on {
        let (from, side, to) = if to_right { (left, &join.left, right) } else { (right, &join.right, left) };
        if let (Some(from), Some(to)) = (from.try_as_col(), to.try_as_col()) {
            for condition in holding(side, from) {
                conditions.push(replaced(condition, from, to)?);
            }
        }
    }
    let Some(predicate) = conjunction(conditions) else {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    };
    let mut join = join;
    let side = if to_right { &mut join.right } else { &mut join.left };
    *side = Arc::new(LogicalPlan::Filter(Filter::try_new(predicate, Arc::clone(side))?));
    Ok(Transformed::yes(LogicalPlan::Join(join)))
}

/// Conditions on `column` alone that hold for every row that comes out of `plan`.
fn holding(plan: &LogicalPlan, column: &Column) -> Vec<Expr> {
    match plan {
        LogicalPlan::TableScan(scan) => alone(scan.filters.iter().flat_map(split_conjunction), column),
        LogicalPlan::Filter(filter) => {
            let mut found = alone(split_conjunction(&filter.predicate).into_iter(), column);
            found.extend(holding(&filter.input, column));
            found
        }
        LogicalPlan::Sort(sort) => holding(&sort.input, column),
        LogicalPlan::Limit(limit) => holding(&limit.input, column),
        LogicalPlan::Distinct(Distinct::All(input)) => holding(input, column),
        LogicalPlan::Window(window) if window.input.schema().has_column(column) => {
            holding(&window.input, column)
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let index = alias.schema.maybe_index_of_column(column);
            index.map(|index| below(&alias.input, index, column)).unwrap_or_default()
        }
        LogicalPlan::Projection(projection) => {
            let Some(index) = projection.schema.maybe_index_of_column(column) else { return Vec::new() };
            named(&projection.expr[index], &projection.input, column)
        }
        LogicalPlan::Aggregate(aggregate) => match aggregate.schema.maybe_index_of_column(column) {
            Some(index) if index < aggregate.group_expr.len() => {
                named(&aggregate.group_expr[index], &aggregate.input, column)
            }
            _ => Vec::new(),
        },
        LogicalPlan::Join(join) => {
            use JoinType as J;
            match join.join_type {
                J::Inner | J::Left | J::LeftSemi | J::LeftAnti | J::LeftMark
                    if join.left.schema().has_column(column) =>
                {
                    holding(&join.left, column)
                }
                J::Inner | J::Right | J::RightSemi | J::RightAnti | J::RightMark
                    if join.right.schema().has_column(column) =>
                {
                    holding(&join.right, column)
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Conditions on what `expr` takes from `input` as it is, in terms of `outer`.
fn named(expr: &Expr, input: &LogicalPlan, outer: &Column) -> Vec<Expr> {
    let inner = match expr {
        Expr::Alias(alias) => alias.expr.as_ref(),
        other => other,
    };
    let Some(inner) = inner.try_as_col() else { return Vec::new() };
    holding(input, inner).into_iter().filter_map(|condition| replaced(condition, inner, outer).ok()).collect()
}

fn below(input: &LogicalPlan, index: usize, outer: &Column) -> Vec<Expr> {
    let inner = Column::from(input.schema().qualified_field(index));
    holding(input, &inner)
        .into_iter()
        .filter_map(|condition| replaced(condition, &inner, outer).ok())
        .collect()
}

fn alone<'a>(conditions: impl Iterator<Item = &'a Expr>, column: &Column) -> Vec<Expr> {
    let only = |expr: &&Expr| {
        let names: BTreeSet<&str> = expr.column_refs().iter().map(|column| column.name.as_str()).collect();
        let plain = !expr.exists(|inner| Ok(has_subquery(inner))).unwrap_or(true);
        plain && names.len() == 1 && names.contains(column.name.as_str()) && one_relation(expr, column)
    };
    conditions.filter(only).cloned().collect()
}

/// Filters at a scan may leave the table's name out.
fn one_relation(expr: &Expr, column: &Column) -> bool {
    expr.column_refs().iter().all(|found| found.relation.is_none() || found.relation == column.relation)
}

/// Whether it is a subquery, or a column of the query around one.
pub(in crate::engine) fn has_subquery(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Exists(_)
            | Expr::InSubquery(_)
            | Expr::ScalarSubquery(_)
            | Expr::SetComparison(_)
            | Expr::OuterReferenceColumn(..)
    )
}

fn replaced(condition: Expr, from: &Column, to: &Column) -> DfResult<Expr> {
    let done = condition.transform(|expr| match expr {
        Expr::Column(found) if found.name == from.name => Ok(Transformed::yes(Expr::Column(to.clone()))),
        other => Ok(Transformed::no(other)),
    })?;
    Ok(done.data)
}
