//! Which columns of a plan no two rows share: enough to see that an order has no ties.

use std::collections::BTreeSet;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, JoinType};
use datafusion::logical_expr::{Distinct, Expr, Join, LogicalPlan, Projection};

use super::InputSchema;

type Key = BTreeSet<Column>;

/// Whether rows of `plan` that are equal in the plain columns among `exprs` are one row.
pub(super) fn covers<'a>(
    plan: &LogicalPlan,
    exprs: impl Iterator<Item = &'a Expr>,
    inputs: &[InputSchema],
) -> bool {
    let columns: Key = exprs.filter_map(|expr| expr.try_as_col().map(bare)).collect();
    keys(plan, inputs).iter().any(|key| key.is_subset(&columns))
}

/// A column without its places in the SQL, so that equal ones compare as equal.
fn bare(column: &Column) -> Column {
    Column::new(column.relation.clone(), column.name.clone())
}

fn column(schema: &DFSchema, index: usize) -> Column {
    Column::from(schema.qualified_field(index))
}

fn keys(plan: &LogicalPlan, inputs: &[InputSchema]) -> Vec<Key> {
    match plan {
        LogicalPlan::TableScan(scan) => {
            let name = scan.table_name.to_string();
            let Some(input) = inputs.iter().find(|input| input.name == name && !input.key.is_empty()) else {
                return Vec::new();
            };
            let names = input.key.iter().chain(input.time.as_ref().map(|time| &time.column));
            vec![names.map(|name| Column::new(Some(scan.table_name.clone()), name)).collect()]
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let (from, to) = (alias.input.schema(), &alias.schema);
            renamed(keys(&alias.input, inputs), |key| {
                from.maybe_index_of_column(key).map(|index| column(to, index))
            })
        }
        LogicalPlan::Projection(projection) => projected(projection, inputs),
        LogicalPlan::Filter(filter) => keys(&filter.input, inputs),
        LogicalPlan::Sort(sort) => keys(&sort.input, inputs),
        LogicalPlan::Limit(limit) => keys(&limit.input, inputs),
        LogicalPlan::Window(window) => keys(&window.input, inputs),
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let all = input.schema().columns().iter().map(bare).collect();
            let mut found = keys(input, inputs);
            found.push(all);
            found
        }
        LogicalPlan::Aggregate(aggregate) => {
            if aggregate.group_expr.iter().any(|expr| matches!(expr, Expr::GroupingSet(_))) {
                return Vec::new();
            }
            vec![(0..aggregate.group_expr.len()).map(|index| column(&aggregate.schema, index)).collect()]
        }
        LogicalPlan::Join(join) => joined(join, inputs),
        _ => Vec::new(),
    }
}

fn renamed(keys: Vec<Key>, name: impl Fn(&Column) -> Option<Column>) -> Vec<Key> {
    keys.into_iter().filter_map(|key| key.iter().map(&name).collect()).collect()
}

fn projected(projection: &Projection, inputs: &[InputSchema]) -> Vec<Key> {
    renamed(keys(&projection.input, inputs), |key| {
        let index = projection.expr.iter().position(|expr| {
            let inner = match expr {
                Expr::Alias(alias) => alias.expr.as_ref(),
                other => other,
            };
            inner.try_as_col().is_some_and(|found| bare(found) == *key)
        })?;
        Some(column(&projection.schema, index))
    })
}

fn joined(join: &Join, inputs: &[InputSchema]) -> Vec<Key> {
    let (left, right) = (keys(&join.left, inputs), keys(&join.right, inputs));
    match join.join_type {
        JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => return left,
        JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => return right,
        JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full => {}
    }
    let (left_on, right_on) = equal_columns(join);
    let mut found = Vec::new();
    // A side whose key is compared adds at most one row to each row of the other.
    if matches!(join.join_type, JoinType::Inner | JoinType::Left)
        && right.iter().any(|key| key.is_subset(&right_on))
    {
        found.extend(left.iter().cloned());
    }
    if matches!(join.join_type, JoinType::Inner | JoinType::Right)
        && left.iter().any(|key| key.is_subset(&left_on))
    {
        found.extend(right.iter().cloned());
    }
    for a in &left {
        found.extend(right.iter().map(|b| a.union(b).cloned().collect::<Key>()));
    }
    found
}

/// Columns of each side that the join compares with columns of the other.
fn equal_columns(join: &Join) -> (Key, Key) {
    let mut pairs: Vec<(Expr, Expr)> = join.on.clone();
    if let Some(filter) = &join.filter {
        for part in datafusion::logical_expr::utils::split_conjunction(filter) {
            if let Expr::BinaryExpr(binary) = part
                && binary.op == datafusion::logical_expr::Operator::Eq
            {
                pairs.push((binary.left.as_ref().clone(), binary.right.as_ref().clone()));
            }
        }
    }
    let (mut left, mut right) = (Key::new(), Key::new());
    let is_of = |schema: &DFSchema, expr: &Expr| {
        let mut inside = true;
        let _ = expr.apply(|node| {
            if let Expr::Column(column) = node {
                inside &= schema.has_column(column);
            }
            Ok(TreeNodeRecursion::Continue)
        });
        inside
    };
    for (a, b) in pairs.iter().flat_map(|(a, b)| [(a, b), (b, a)]) {
        if !is_of(join.left.schema(), a) || !is_of(join.right.schema(), b) {
            continue;
        }
        left.extend(a.try_as_col().map(bare));
        right.extend(b.try_as_col().map(bare));
    }
    (left, right)
}
