//! What a query means, column by column: so that of two versions of a query it can be said which columns may differ.
//!
//! Two texts are compared by their optimised plans. Digests that are equal say "this can't have changed"; digests that
//! differ say nothing.

use std::collections::{BTreeMap, BTreeSet};

use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, TableScan};
use oncemore_core::{Digest, Digester};
use serde::{Deserialize, Serialize};

/// The meaning of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meaning {
    /// Of what all columns share: which rows there are.
    rows: Digest,
    /// Of each output column.
    columns: BTreeMap<String, Digest>,
}

impl Meaning {
    /// The columns that may differ between two meanings; `None` where all may.
    pub fn changed_from(&self, before: &Meaning) -> Option<Vec<String>> {
        if self.rows != before.rows {
            return None;
        }
        let names = self.columns.keys().chain(before.columns.keys());
        let mut changed: Vec<String> =
            names.filter(|name| self.columns.get(*name) != before.columns.get(*name)).cloned().collect();
        changed.sort_unstable();
        changed.dedup();
        Some(changed)
    }
}

/// The meaning of an optimised plan; `None` where a part of it can't be looked into.
pub(super) fn meaning(plan: &LogicalPlan) -> Option<Meaning> {
    if holds_subquery(plan) {
        return None;
    }
    let (expressions, input) = match plan {
        LogicalPlan::Projection(projection) => (projection.expr.clone(), projection.input.as_ref()),
        other => (other.schema().columns().into_iter().map(Expr::Column).collect(), other),
    };
    // Below an aggregate the names of columns leave out casts: what stands behind a name counts.
    let behind = match input {
        LogicalPlan::Aggregate(aggregate) => aggregated(aggregate),
        _ => BTreeMap::new(),
    };
    let names = plan.schema().fields().iter().map(|field| field.name().clone());
    let columns = names.zip(&expressions).map(|(name, expression)| {
        let mut digester = Digester::new("column").field("is", expression.to_string());
        let read: BTreeSet<&Column> = expression.column_refs().into_iter().collect();
        for column in read {
            if let Some(text) = behind.get(&column.flat_name()) {
                digester = digester.field(&column.flat_name(), text);
            }
        }
        (name, digester.finish())
    });
    let columns = columns.collect();
    let rows = match input {
        LogicalPlan::Aggregate(aggregate) => {
            let groups = texts(&aggregate.group_expr);
            let digester = Digester::new("rows").field("groups", groups);
            essence(&aggregate.input, digester)
        }
        other => essence(other, Digester::new("rows")),
    };
    Some(Meaning { rows: rows.finish(), columns })
}

fn aggregated(aggregate: &Aggregate) -> BTreeMap<String, String> {
    let columns = aggregate.schema.columns().into_iter().map(|column| column.flat_name());
    let texts = aggregate.group_expr.iter().chain(&aggregate.aggr_expr).map(Expr::to_string);
    columns.zip(texts).collect()
}

/// All of a plan that decides its rows, apart from which columns are carried along.
fn essence(plan: &LogicalPlan, digester: Digester) -> Digester {
    let carries = |expressions: &[Expr]| expressions.iter().all(|expr| matches!(expr, Expr::Column(_)));
    let digester = match plan {
        LogicalPlan::Projection(projection) if carries(&projection.expr) => digester,
        LogicalPlan::TableScan(TableScan { table_name, filters, fetch, .. }) => digester
            .field("scan", table_name.to_string())
            .field("filters", texts(filters))
            .field("fetch", format!("{fetch:?}")),
        LogicalPlan::Projection(projection) => digester.field("projection", texts(&projection.expr)),
        LogicalPlan::Aggregate(aggregate) => digester
            .field("groups", texts(&aggregate.group_expr))
            .field("aggregates", texts(&aggregate.aggr_expr)),
        other => digester.field("node", other.display().to_string()),
    };
    let inputs = plan.inputs();
    let digester = digester.field("inputs", inputs.len().to_le_bytes());
    inputs.into_iter().fold(digester, |digester, input| essence(input, digester))
}

fn texts(expressions: &[Expr]) -> String {
    expressions.iter().map(Expr::to_string).collect::<Vec<_>>().join("\n")
}

fn holds_subquery(plan: &LogicalPlan) -> bool {
    let mut found = false;
    let visited = plan.apply(|node| {
        found |= node.expressions().iter().any(|expr| {
            expr.exists(|inner| {
                Ok(matches!(
                    inner,
                    Expr::ScalarSubquery(_)
                        | Expr::InSubquery(_)
                        | Expr::Exists(_)
                        | Expr::OuterReferenceColumn(..)
                ))
            })
            .unwrap_or(true)
        });
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || visited.is_err()
}
