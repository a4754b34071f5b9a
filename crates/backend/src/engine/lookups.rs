//! Inputs that a query only looks up: rows of them count where another input holds their key, and nowhere else.
//!
//! Shown on the optimised plan. Whatever is not understood shows nothing: a reader then takes any change of the input for
//! one that concerns it. Knows plans alone; what of it is worth doing is decided elsewhere.

use std::collections::BTreeMap;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, JoinType, NullEquality, Result as DfResult};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, TableScan};
use serde::{Deserialize, Serialize};

use super::InputSchema;
use super::ranges::has_subquery;

/// An input that a query looks up by columns of another one.
///
/// What the query yields is the same for any two contents of the looked up input that differ only in rows whose values in
/// the columns compared no row of the other input has. NULL equals nothing: such a row is looked up by none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookup {
    /// The input that is looked up, as named in FROM.
    pub input: String,
    /// The input whose rows look it up.
    pub by: String,
    /// Columns compared, of the input that is looked up and of the other one; of equal type, at least one pair.
    pub on: Vec<(String, String)>,
}

/// The lookups that an optimised plan shows, in order of the plan.
///
/// The input is read once, and stands in its join with nothing over it that looks at several rows. The join keeps no row
/// of it that found no partner, and compares plain columns. On the other side these come from one input as they are.
pub(super) fn lookups(plan: &LogicalPlan, inputs: &[InputSchema]) -> DfResult<Vec<Lookup>> {
    let mut scans: BTreeMap<String, usize> = BTreeMap::new();
    let mut is_recursive = false;
    plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::TableScan(scan) => *scans.entry(scan.table_name.to_string()).or_default() += 1,
            LogicalPlan::RecursiveQuery(_) => is_recursive = true,
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    let mut found = Vec::new();
    if is_recursive {
        return Ok(found);
    }
    // Not into subqueries: those that are left in an optimised plan are none that it understands either.
    plan.apply(|node| {
        if let LogicalPlan::Join(join) = node {
            found.extend(looked_up(join));
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    let is_input = |name: &String| inputs.iter().any(|input| input.name == *name && !name.ends_with(')'));
    found.retain(|lookup| {
        scans.get(&lookup.input) == Some(&1) && is_input(&lookup.input) && is_input(&lookup.by)
    });
    Ok(found)
}

/// What a join looks up.
fn looked_up(join: &Join) -> Vec<Lookup> {
    use JoinType as J;
    // NOT IN asks whether there are NULLs on the other side, and IS NOT DISTINCT FROM finds them.
    if join.null_equality != NullEquality::NullEqualsNothing || join.null_aware {
        return Vec::new();
    }
    let (left, right) = match join.join_type {
        J::Inner => (true, true),
        J::Left | J::LeftSemi | J::LeftAnti => (false, true),
        J::Right | J::RightSemi | J::RightAnti => (true, false),
        J::Full | J::LeftMark | J::RightMark => (false, false),
    };
    // A NOT IN of columns that are said never to be NULL looks like NOT EXISTS, and stored rows know better at times.
    let may_be_null = matches!(join.join_type, J::LeftAnti | J::RightAnti);
    let counts = |own: &Origin, other: &Origin| !may_be_null || (own.nullable && other.nullable);
    let on_left =
        left.then(|| side(&join.left, &join.right, join.on.iter().map(|(own, other)| (own, other)), counts));
    let on_right =
        right.then(|| side(&join.right, &join.left, join.on.iter().map(|(other, own)| (own, other)), counts));
    on_left.into_iter().chain(on_right).flatten().collect()
}

/// What is looked up on `own`, one side of a join, by the `other`.
fn side<'a>(
    own: &LogicalPlan,
    other: &LogicalPlan,
    on: impl Iterator<Item = (&'a Expr, &'a Expr)>,
    counts: impl Fn(&Origin, &Origin) -> bool,
) -> Option<Lookup> {
    let scan = row_by_row(own)?;
    let mut by: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (mine, theirs) in on {
        let (Some(mine), Some(theirs)) = (mine.try_as_col(), theirs.try_as_col()) else { continue };
        let (Some(mine), Some(theirs)) = (origin(own, mine), origin(other, theirs)) else { continue };
        if mine.kind == theirs.kind && compares_by_value(&mine.kind) && counts(&mine, &theirs) {
            let pair = (mine.column, theirs.column);
            let pairs = by.entry(theirs.table).or_default();
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    // Fewer columns make more rows alike, which is right and finds less.
    let (by, on) = by.into_iter().max_by_key(|(_, pairs)| pairs.len())?;
    Some(Lookup { input: scan.table_name.to_string(), by, on })
}

/// The scan below a plan that makes of each of its rows one or none, by that row alone.
fn row_by_row(plan: &LogicalPlan) -> Option<&TableScan> {
    let plain = |expr: &Expr| !expr.exists(|inner| Ok(has_subquery(inner))).unwrap_or(true);
    match plan {
        LogicalPlan::TableScan(scan) => {
            (scan.fetch.is_none() && scan.filters.iter().all(plain)).then_some(scan)
        }
        LogicalPlan::Filter(filter) if plain(&filter.predicate) => row_by_row(&filter.input),
        LogicalPlan::Projection(projection) if projection.expr.iter().all(plain) => {
            row_by_row(&projection.input)
        }
        LogicalPlan::SubqueryAlias(alias) => row_by_row(&alias.input),
        _ => None,
    }
}

/// A column of an input.
struct Origin {
    table: String,
    column: String,
    kind: DataType,
    nullable: bool,
}

/// The column of an input whose values, or NULL, are all that `column` of a plan holds.
fn origin(plan: &LogicalPlan, column: &Column) -> Option<Origin> {
    use JoinType as J;
    match plan {
        LogicalPlan::TableScan(scan) => {
            let index = scan.projected_schema.maybe_index_of_column(column)?;
            let field = scan.projected_schema.field(index);
            let (table, kind) = (scan.table_name.to_string(), field.data_type().clone());
            Some(Origin { table, column: field.name().clone(), kind, nullable: field.is_nullable() })
        }
        LogicalPlan::Filter(filter) => origin(&filter.input, column),
        LogicalPlan::Sort(sort) => origin(&sort.input, column),
        LogicalPlan::SubqueryAlias(alias) => {
            let index = alias.schema.maybe_index_of_column(column)?;
            origin(&alias.input, &Column::from(alias.input.schema().qualified_field(index)))
        }
        LogicalPlan::Projection(projection) => {
            let index = projection.schema.maybe_index_of_column(column)?;
            let expr = match projection.expr.get(index)? {
                Expr::Alias(alias) => alias.expr.as_ref(),
                other => other,
            };
            origin(&projection.input, expr.try_as_col()?)
        }
        LogicalPlan::Join(join) => {
            let (left, right) = match join.join_type {
                J::Inner | J::Left | J::Right | J::Full => (true, true),
                J::LeftSemi | J::LeftAnti | J::LeftMark => (true, false),
                J::RightSemi | J::RightAnti | J::RightMark => (false, true),
            };
            let has = |side: &LogicalPlan| side.schema().has_column(column);
            match (left && has(&join.left), right && has(&join.right)) {
                (true, false) => origin(&join.left, column),
                (false, true) => origin(&join.right, column),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether two values of the type are equal in a join, in a set and in a fingerprint alike.
fn compares_by_value(kind: &DataType) -> bool {
    kind.is_integer()
        || matches!(
            kind,
            DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Boolean
                | DataType::Date32
                | DataType::Timestamp(..)
                | DataType::Decimal128(..)
        )
}
