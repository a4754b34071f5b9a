//! Which columns decide a row: closure over equalities and keys.

use std::collections::HashSet;

use crate::dialect::Dialect;
use crate::ir::{Expr, ExprKind, From, Group, Join, Op, QueryId, Relation, Select};

use super::alike::{constant, equal};
use super::view::{ColumnSource, OutputValue, View};

/// An answer that may lack facts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It is so.
    Yes,
    /// It is not so: what is known speaks against it.
    No,
    /// Not known, and what is lacking.
    Unknown(String),
}

pub(super) type Columns = HashSet<(usize, String)>;

pub(super) struct Closure {
    pub(super) columns: Columns,
    /// Tables of which the whole row follows.
    pub(super) all: HashSet<usize>,
}

impl<'a> View<'a> {
    /// Whether `columns`, expressions of a query over its FROM, determine a row of it.
    #[must_use]
    pub fn determines(&self, query: QueryId, columns: &[&'a Expr]) -> Answer {
        self.determines_within(query, columns, 0)
    }

    fn determines_within(&self, query: QueryId, columns: &[&'a Expr], depth: usize) -> Answer {
        let Some(select) = self.select(query) else { return Answer::Unknown("the query".to_string()) };
        if let Group::By(group) = &select.group {
            // After GROUP BY a row is what is grouped by.
            let fixed = |by: &'a Expr| columns.iter().any(|column| self.same(query, by, column));
            if group.iter().all(fixed) {
                return Answer::Yes;
            }
            // `GROUP BY customer_id, name`: what else is grouped may go with what is fixed, where both are of one table.
            let table = |expr: &'a Expr| self.column_of_from(query, expr).map(|(from, _)| from);
            let of: HashSet<usize> = group.iter().filter(|by| fixed(by)).filter_map(table).collect();
            let along =
                group.iter().filter(|by| !fixed(by)).all(|by| table(by).is_some_and(|at| of.contains(&at)));
            return if along {
                Answer::Unknown("whether what is grouped goes with what is ordered".to_string())
            } else {
                Answer::No
            };
        }
        let start = columns.iter().filter_map(|expr| self.column_of_from(query, expr)).collect();
        self.closure_covers(query, select, start, depth)
    }

    /// Whether `columns` determine a row of FROM, before any grouping: what an aggregate sees.
    #[must_use]
    pub fn determines_input(&self, query: QueryId, columns: &[&'a Expr]) -> Answer {
        let Some(select) = self.select(query) else { return Answer::Unknown("the query".to_string()) };
        // Within an aggregate `x` is the column, even beside `max(x) AS x`; ClickHouse takes the alias.
        let column = |expr: &&'a Expr| match self.dialect {
            Dialect::ClickHouse => self.column_of_from(query, expr),
            _ => self.filtered_column(query, expr),
        };
        let start = columns.iter().filter_map(column).collect();
        self.closure_covers(query, select, start, 0)
    }

    /// The tables in FROM of which an expression reads columns that one row of the table `from` leaves open,
    /// and whether a
    /// key of each is known.
    #[must_use]
    pub fn open_tables(&self, query: QueryId, from: usize, expr: &'a Expr) -> Vec<(usize, bool)> {
        let Some(select) = self.select(query) else { return Vec::new() };
        let closed = self.close_from(query, select, Columns::new(), std::iter::once(from).collect(), 0);
        let mut open: Vec<(usize, bool)> = Vec::new();
        expr.walk(&mut |part| {
            let ColumnSource::From { query: at, from, column } = self.source(query, part) else { return };
            if at != query
                || closed.all.contains(&from)
                || open.iter().any(|(known, _)| *known == from)
                || closed.columns.contains(&(from, column))
            {
                return;
            }
            open.push((from, select.from.get(from).is_some_and(|from| !self.keys_of(from, 1).is_empty())));
        });
        open
    }

    /// Whether `expr` has one value for each value of `columns`.
    #[must_use]
    pub fn depends_only_on(&self, query: QueryId, expr: &'a Expr, columns: &[&'a Expr]) -> bool {
        self.depends_within(query, expr, columns, &mut Vec::new())
    }

    /// `path` are the aliases that are being followed: `f(a) AS a` over an unknown table leads back to
    /// itself.
    fn depends_within(
        &self,
        query: QueryId,
        expr: &'a Expr,
        columns: &[&'a Expr],
        path: &mut Vec<(QueryId, usize)>,
    ) -> bool {
        if columns.iter().any(|column| self.same(query, expr, column)) {
            return true;
        }
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Param(_) => true,
            ExprKind::Column { .. } => {
                let Some(select) = self.select(query) else { return false };
                let start: Columns =
                    columns.iter().filter_map(|column| self.column_of_from(query, column)).collect();
                let closed = self.close(query, select, start, 0);
                match self.source(query, expr) {
                    ColumnSource::From { query: id, from, column } if id == query => {
                        closed.all.contains(&from) || closed.columns.contains(&(from, column))
                    }
                    ColumnSource::From { .. } => true,
                    ColumnSource::Alias { query: id, output } => {
                        match self.outputs(id).list.get(output).map(|output| output.value.clone()) {
                            Some(OutputValue::Expr(inner))
                                if inner.column().is_none() && !path.contains(&(id, output)) =>
                            {
                                let name = expr.column().map(|(_, name)| name);
                                if inner
                                    .any(&mut |part| part.column().is_some_and(|(_, own)| Some(own) == name))
                                {
                                    let alone = select.from.len() == 1;
                                    return alone
                                        && (closed.all.contains(&0)
                                            || name.is_some_and(|name| {
                                                closed.columns.contains(&(0, name.to_string()))
                                            }));
                                }
                                path.push((id, output));
                                let depends = self.depends_within(id, inner, columns, path);
                                path.pop();
                                depends
                            }
                            _ => false,
                        }
                    }
                    ColumnSource::Unknown => false,
                }
            }
            ExprKind::Subquery { .. } => false,
            ExprKind::Call(call) if call.over.is_some() || call.star => false,
            _ => {
                let mut all = true;
                let mut some = false;
                expr.each_child(|child| {
                    some = true;
                    all = all && self.depends_within(query, child, columns, path);
                });
                all && some
            }
        }
    }

    /// Whether two expressions of a query are the same value.
    #[must_use]
    pub fn same(&self, query: QueryId, a: &'a Expr, b: &'a Expr) -> bool {
        match (a.column(), b.column()) {
            (Some(_), Some(_)) => {
                let (left, right) = (self.source(query, a), self.source(query, b));
                if left == ColumnSource::Unknown || right == ColumnSource::Unknown {
                    return a.column().map(|c| c.1) == b.column().map(|c| c.1);
                }
                left == right
                    || self.alias_of_column(&left).is_some_and(|source| source == right)
                    || self.alias_of_column(&right).is_some_and(|source| source == left)
            }
            (Some(_), None) => self.aliased(query, a).is_some_and(|expr| equal(expr, b)),
            (None, Some(_)) => self.aliased(query, b).is_some_and(|expr| equal(a, expr)),
            (None, None) => equal(a, b),
        }
    }

    fn alias_of_column(&self, source: &ColumnSource) -> Option<ColumnSource> {
        let ColumnSource::Alias { query, output } = source else { return None };
        match self.outputs(*query).list.get(*output)?.value {
            OutputValue::Expr(expr) if expr.column().is_some() => Some(self.source(*query, expr)),
            _ => None,
        }
    }

    /// The expression for which a name of the same SELECT stands.
    #[must_use]
    pub fn aliased(&self, query: QueryId, expr: &Expr) -> Option<&'a Expr> {
        let ColumnSource::Alias { query, output } = self.source(query, expr) else { return None };
        match self.outputs(query).list.get(output)?.value {
            OutputValue::Expr(expr) => Some(expr),
            _ => None,
        }
    }

    /// The column of FROM that an expression is, through a cast that loses nothing or an alias.
    pub(super) fn column_of_from(&self, query: QueryId, expr: &'a Expr) -> Option<(usize, String)> {
        match &expr.kind {
            ExprKind::Column { .. } => match self.source(query, expr) {
                ColumnSource::From { query: id, from, column } if id == query => Some((from, column)),
                alias @ ColumnSource::Alias { .. } => match self.alias_of_column(&alias)? {
                    ColumnSource::From { query: id, from, column } if id == query => Some((from, column)),
                    _ => None,
                },
                _ => None,
            },
            ExprKind::Cast { expr, to }
                if to.contains("char")
                    || to.contains("text")
                    || to.contains("string")
                    || to.contains("int") =>
            {
                self.column_of_from(query, expr)
            }
            _ => None,
        }
    }

    /// As [`Self::column_of_from`], of a condition: there `x` is the column, even beside `first(x) AS x`.
    fn filtered_column(&self, query: QueryId, expr: &'a Expr) -> Option<(usize, String)> {
        let found = self.column_of_from(query, expr);
        if found.is_some() {
            return found;
        }
        let (None, name) = expr.column()? else { return None };
        let of = self.aliased(query, expr)?;
        let own = of.any(&mut |part| part.column().is_some_and(|(_, other)| other == name));
        (own && self.select(query)?.from.len() == 1).then(|| (0, name.to_string()))
    }

    fn closure_covers(&self, query: QueryId, select: &'a Select, start: Columns, depth: usize) -> Answer {
        let closed = self.close(query, select, start, depth);
        let mut lacking = None;
        for (at, from) in select.from.iter().enumerate() {
            if closed.all.contains(&at) || matches!(from.join, Join::Semi | Join::Anti) {
                continue;
            }
            if self.keys_of(from, depth + 1).is_empty() {
                lacking = lacking.or_else(|| Some(self.describe(from)));
            } else {
                return Answer::No;
            }
        }
        match lacking {
            Some(lacking) => Answer::Unknown(lacking),
            None => Answer::Yes,
        }
    }

    fn describe(&self, from: &From) -> String {
        match &from.relation {
            Relation::Table(name) => format!("a key of `{}`", name.text()),
            _ if !from.alias.is_empty() => format!("a key of `{}`", from.alias),
            _ => "a key of what is read".to_string(),
        }
    }

    pub(super) fn close(
        &self,
        query: QueryId,
        select: &'a Select,
        columns: Columns,
        depth: usize,
    ) -> Closure {
        self.close_from(query, select, columns, HashSet::new(), depth)
    }

    /// All that follows from `columns` and from whole rows of the tables `all`.
    fn close_from(
        &self,
        query: QueryId,
        select: &'a Select,
        mut columns: Columns,
        mut all: HashSet<usize>,
        depth: usize,
    ) -> Closure {
        let mut pairs: Vec<((usize, String), (usize, String))> = Vec::new();
        let conditions = select.filters.iter().map(|expr| (None, expr));
        let joins = select
            .from
            .iter()
            .enumerate()
            .flat_map(|(at, from)| from.on.iter().map(move |expr| (Some((at, from.join)), expr)));
        for (join, condition) in conditions.chain(joins) {
            let ExprKind::Op(Op::Eq | Op::NullSafeEq, sides) = &condition.kind else { continue };
            let [left, right] = sides.as_slice() else { continue };
            match (self.filtered_column(query, left), self.filtered_column(query, right)) {
                (Some(left), Some(right)) => {
                    // Of an outer join only the inner side follows from the outer.
                    match join {
                        Some((at, Join::Left)) if left.0 == at => pairs.push((right, left)),
                        Some((at, Join::Left)) if right.0 == at => pairs.push((left, right)),
                        Some((_, Join::Right | Join::Full)) => {}
                        _ => {
                            pairs.push((left.clone(), right.clone()));
                            pairs.push((right, left));
                        }
                    }
                }
                (Some(column), None)
                    if constant(right) && !matches!(join, Some((_, Join::Right | Join::Full))) =>
                {
                    columns.insert(column);
                }
                (None, Some(column))
                    if constant(left) && !matches!(join, Some((_, Join::Right | Join::Full))) =>
                {
                    columns.insert(column);
                }
                _ => {}
            }
        }
        for (at, from) in select.from.iter().enumerate() {
            for name in &from.using {
                for before in 0..at {
                    pairs.push(((before, name.clone()), (at, name.clone())));
                    if !matches!(from.join, Join::Left) {
                        pairs.push(((at, name.clone()), (before, name.clone())));
                    }
                }
            }
        }
        loop {
            let size = columns.len() + all.len();
            for (from, to) in &pairs {
                if all.contains(&from.0) || columns.contains(from) {
                    columns.insert(to.clone());
                }
            }
            for (at, from) in select.from.iter().enumerate() {
                let covered =
                    |key: &Vec<String>| key.iter().all(|column| columns.contains(&(at, column.clone())));
                // A generated row of values has one column, and each value once.
                let generated = is_generated(from) && columns.iter().any(|(table, _)| *table == at);
                if !all.contains(&at) && (generated || self.tellers(from, depth + 1).iter().any(covered)) {
                    all.insert(at);
                }
            }
            if columns.len() + all.len() == size {
                return Closure { columns, all };
            }
        }
    }
}

/// `UNNEST(GENERATE_DATE_ARRAY(…))`, `generate_series(…)`: values that rise one by one.
fn is_generated(from: &From) -> bool {
    let rises = |name: &str| {
        matches!(
            name,
            "generate_date_array"
                | "generate_timestamp_array"
                | "generate_array"
                | "generate_series"
                | "sequence"
                | "range"
        )
    };
    match &from.relation {
        Relation::Function(call) => rises(&call.name),
        Relation::Unnest(list) => {
            matches!(list.as_slice(), [Expr { kind: ExprKind::Call(call), .. }]
                if rises(&call.name)
                    || matches!(call.name.as_str(), "explode" | "unnest" | "flatten")
                        && matches!(call.args.first().map(|arg| &arg.kind), Some(ExprKind::Call(inner)) if rises(&inner.name)))
        }
        _ => false,
    }
}
