//! Keys: which columns no two rows of a table share, carried through queries; and what identifies the rows of a write.

use std::rc::Rc;

use crate::ir::{
    Body, Call, Distinct, Expr, ExprKind, From, Group, Item, Join, Literal, Op, QueryId, Relation, Select,
    SetOp, Verb, Write,
};

use super::alike::{constant, equals_one, is_aggregate};
use super::determine::Columns;
use super::view::{ColumnSource, Origin, OutputValue, View};

/// How deep keys are derived.
const DEPTH: usize = 24;

impl<'a> View<'a> {
    /// Keys of a table in FROM.
    #[must_use]
    pub fn keys_of(&self, from: &'a From, depth: usize) -> Vec<Vec<String>> {
        match &from.relation {
            // Oracle's table of one row.
            Relation::Table(name) if name.parts.len() == 1 && name.last() == "dual" => vec![Vec::new()],
            Relation::Table(name) => {
                let mut keys = self.knowledge.table(name).map_or_else(Vec::new, |facts| facts.keys.clone());
                keys.extend(self.knowledge.derived_keys(name).iter().cloned());
                keys
            }
            Relation::Query(id) => self.keys(*id, depth),
            _ => Vec::new(),
        }
    }

    /// Sets of columns of a table in FROM that tell its rows apart in one run: keys, and numbers within a
    /// partition.
    pub(super) fn tellers(&self, from: &'a From, depth: usize) -> Rc<Vec<Vec<String>>> {
        let Relation::Query(id) = &from.relation else { return Rc::new(self.keys_of(from, depth)) };
        if let Some(known) = self.tellers.borrow().get(id) {
            return Rc::clone(known);
        }
        let mut found = self.keys_of(from, depth);
        found.extend(self.numbered(from));
        let found = Rc::new(found);
        if depth <= DEPTH / 2 {
            self.tellers.borrow_mut().insert(*id, Rc::clone(&found));
        }
        found
    }

    /// Of a subquery with `row_number() OVER (PARTITION BY k …) AS n`: `k, n`. It says which row is meant,
    /// not that the number
    /// is the same in the next run; so it is no key to ask for.
    fn numbered(&self, from: &'a From) -> Vec<Vec<String>> {
        let Relation::Query(id) = &from.relation else { return Vec::new() };
        let outputs = self.outputs(*id);
        let numbers = outputs.list.iter().filter_map(|output| match &output.value {
            OutputValue::Expr(Expr { kind: ExprKind::Call(call), .. }) => {
                let mut names = self.partition_names(*id, call)?;
                names.push(output.name.clone());
                Some(names)
            }
            _ => None,
        });
        numbers.collect()
    }

    /// Sets of output columns of a query that no two rows share; an empty set where there is one row at most.
    #[must_use]
    pub fn keys(&self, id: QueryId, depth: usize) -> Vec<Vec<String>> {
        if depth > DEPTH || self.query(id).recursive {
            return Vec::new();
        }
        if let Some(known) = self.keys.borrow().get(&id) {
            return known.clone();
        }
        let query = self.query(id);
        let mut keys = match &query.body {
            Body::Select(select) => self.select_keys(id, select, depth),
            Body::Set { op, all, left, .. } => match op {
                SetOp::Union if *all => Vec::new(),
                SetOp::Union => self.all_outputs(id).into_iter().collect(),
                SetOp::Except | SetOp::Intersect => self.keys(*left, depth + 1),
            },
            Body::Values(rows) if rows.len() <= 1 => vec![Vec::new()],
            _ => Vec::new(),
        };
        if let Some(limit) = &query.limit {
            let one = limit.count.as_ref().is_some_and(
                |count| matches!(&count.kind, ExprKind::Literal(Literal::Number(n)) if n == "1"),
            );
            if one && limit.by.is_empty() && !limit.with_ties {
                keys.push(Vec::new());
            }
        }
        // Deeper down something may have been cut off that a later question has to see.
        if depth <= DEPTH / 2 {
            self.keys.borrow_mut().insert(id, keys.clone());
        }
        keys
    }

    fn all_outputs(&self, id: QueryId) -> Option<Vec<String>> {
        let outputs = self.outputs(id);
        (!outputs.open && outputs.list.iter().all(|output| !output.name.is_empty()))
            .then(|| outputs.list.iter().map(|output| output.name.clone()).collect())
    }

    /// Names under which a query gives out these expressions; nothing if one is missing.
    pub(super) fn named(&self, id: QueryId, exprs: &[&'a Expr]) -> Option<Vec<String>> {
        let outputs = self.outputs(id);
        exprs
            .iter()
            .filter(|expr| !constant(expr))
            .map(|expr| {
                let found = outputs.list.iter().find(|output| match &output.value {
                    OutputValue::Expr(value) => std::ptr::eq(*value, *expr) || self.same(id, value, expr),
                    OutputValue::Column { from, column } => {
                        self.source(id, expr)
                            == ColumnSource::From { query: id, from: *from, column: column.clone() }
                    }
                    OutputValue::Other => false,
                });
                match found {
                    Some(output) => Some(output.name.clone()),
                    None if outputs.open => expr.column().map(|(_, name)| name.to_string()),
                    None => None,
                }
            })
            .collect()
    }

    fn select_keys(&self, id: QueryId, select: &'a Select, depth: usize) -> Vec<Vec<String>> {
        let mut keys = Vec::new();
        match &select.group {
            Group::By(group) => {
                let group: Vec<&Expr> = group.iter().collect();
                keys.extend(self.named(id, &group));
            }
            Group::All => {
                let plain = select.items.iter().filter_map(|item| match item {
                    Item::Expr { expr, .. } if !self.aggregates(expr) => Some(expr),
                    _ => None,
                });
                let plain: Vec<&Expr> = plain.collect();
                keys.extend(self.named(id, &plain));
            }
            Group::No if self.is_aggregate(select) => keys.push(Vec::new()),
            Group::No => {
                keys.extend(self.carried_keys(id, select, depth));
                keys.extend(self.full_join_key(id, select, depth));
            }
            Group::Sets(_) => {}
        }
        match &select.distinct {
            Distinct::Rows => keys.extend(self.all_outputs(id)),
            Distinct::On(list, _) => {
                let list: Vec<&Expr> = list.iter().collect();
                keys.extend(self.named(id, &list));
            }
            Distinct::No => {}
        }
        keys.extend(self.first_of_partition(id, select));
        if let Some(limit) = &self.query(id).limit {
            let one = limit.count.as_ref().is_some_and(
                |count| matches!(&count.kind, ExprKind::Literal(Literal::Number(n)) if n == "1"),
            );
            if one && !limit.by.is_empty() {
                let by: Vec<&Expr> = limit.by.iter().collect();
                keys.extend(self.named(id, &by));
            }
        }
        keys
    }

    /// Keys of the tables in FROM that survive the joins.
    fn carried_keys(&self, id: QueryId, select: &'a Select, depth: usize) -> Vec<Vec<String>> {
        let tables: Vec<usize> = select
            .from
            .iter()
            .enumerate()
            .filter(|(_, from)| !matches!(from.join, Join::Semi | Join::Anti))
            .map(|(at, _)| at)
            .collect();
        let mut keys: Vec<(usize, Vec<String>)> = Vec::new();
        let mut found = Vec::new();
        for at in &tables {
            for key in select.from.get(*at).map(|from| self.keys_of(from, depth + 1)).unwrap_or_default() {
                let start: Columns = key.iter().map(|column| (*at, column.clone())).collect();
                let closed = self.close(id, select, start, depth);
                if tables.iter().all(|other| closed.all.contains(other)) {
                    found.extend(self.output_names(
                        id,
                        &key.iter().map(|column| (*at, column.clone())).collect::<Vec<_>>(),
                    ));
                }
                if !keys.iter().any(|(other, _)| other == at) {
                    keys.push((*at, key));
                }
            }
        }
        if found.is_empty() && keys.len() == tables.len() {
            let all: Vec<(usize, String)> = keys
                .into_iter()
                .flat_map(|(at, key)| key.into_iter().map(move |column| (at, column)))
                .collect();
            found.extend(self.output_names(id, &all));
        }
        found
    }

    /// `COALESCE(a.k, b.k) AS k … FROM a FULL JOIN b ON a.k = b.k`, where `k` is a key of both.
    fn full_join_key(&self, id: QueryId, select: &'a Select, depth: usize) -> Option<Vec<String>> {
        let [left, right @ From { join: Join::Full, .. }] = select.from.as_slice() else { return None };
        let (a, b) = match (right.on.as_slice(), right.using.as_slice()) {
            ([Expr { kind: ExprKind::Op(Op::Eq, sides), .. }], []) => {
                let mut at = [None, None];
                for side in sides {
                    let (from, column) = self.column_of_from(id, side)?;
                    *at.get_mut(from)? = Some(column);
                }
                let [a, b] = at;
                (a?, b?)
            }
            ([], [name]) => (name.clone(), name.clone()),
            _ => return None,
        };
        let is_key =
            |from: &'a From, column: &String| self.keys_of(from, depth + 1).contains(&vec![column.clone()]);
        if !is_key(left, &a) || !is_key(right, &b) {
            return None;
        }
        let outputs = self.outputs(id);
        let found = outputs.list.iter().find(|output| match &output.value {
            OutputValue::Expr(Expr { kind: ExprKind::Call(call), .. }) => {
                let of = |at: usize| call.args.get(at).and_then(|arg| self.column_of_from(id, arg));
                matches!(call.name.as_str(), "coalesce" | "ifnull" | "nvl")
                    && [of(0), of(1)].into_iter().flatten().collect::<Columns>()
                        == Columns::from([(0, a.clone()), (1, b.clone())])
            }
            OutputValue::Expr(expr) => {
                !right.using.is_empty()
                    && expr.column().is_some_and(|(qualifier, name)| qualifier.is_none() && name == a)
            }
            _ => false,
        })?;
        Some(vec![found.name.clone()])
    }

    /// The names under which columns of FROM are given out; equal columns stand for each other, constants
    /// for nothing.
    fn output_names(&self, id: QueryId, columns: &[(usize, String)]) -> Option<Vec<String>> {
        let select = self.select(id)?;
        let outputs = self.outputs(id);
        let constants = self.close(id, select, Columns::new(), DEPTH).columns;
        columns
            .iter()
            .filter(|column| !constants.contains(*column))
            .map(|column| {
                let equal = self.close(id, select, std::iter::once(column.clone()).collect(), DEPTH).columns;
                let found = outputs.list.iter().find(|output| match &output.value {
                    OutputValue::Expr(expr) => self
                        .column_of_from(id, expr)
                        .is_some_and(|found| equal.contains(&found) && !constants.contains(&found)),
                    OutputValue::Column { from, column } => {
                        let column = (*from, column.clone());
                        equal.contains(&column) && !constants.contains(&column)
                    }
                    OutputValue::Other => false,
                });
                match found {
                    Some(output) => Some(output.name.clone()),
                    None if outputs.open => Some(column.1.clone()),
                    None => None,
                }
            })
            .collect()
    }

    /// PARTITION BY of a `row_number() = 1` that the query filters by.
    fn first_of_partition(&self, id: QueryId, select: &'a Select) -> Vec<Vec<String>> {
        let mut keys = Vec::new();
        for condition in select.filters.iter().chain(&select.qualify) {
            let Some(number) = equals_one(condition) else { continue };
            match &number.kind {
                ExprKind::Call(call) => keys.extend(self.partition_names(id, call)),
                ExprKind::Column { .. } => {
                    if let Some(ExprKind::Call(call)) = self.aliased(id, number).map(|expr| &expr.kind) {
                        keys.extend(self.partition_names(id, call));
                        continue;
                    }
                    let ColumnSource::From { query, from, column } = self.source(id, number) else {
                        continue;
                    };
                    let Some(Relation::Query(inner)) = self
                        .select(query)
                        .and_then(|select| select.from.get(from))
                        .map(|from| &from.relation)
                    else {
                        continue;
                    };
                    let Origin::Computed { query: at, expr } = self.output_origin(*inner, &column, 0) else {
                        continue;
                    };
                    let ExprKind::Call(call) = &expr.kind else { continue };
                    if at == *inner && select.from.len() == 1 {
                        let names = self.partition_names(*inner, call).into_iter();
                        let pairs = names.filter_map(|names| {
                            self.output_names(
                                id,
                                &names.into_iter().map(|name| (from, name)).collect::<Vec<_>>(),
                            )
                        });
                        keys.extend(pairs);
                    }
                }
                _ => {}
            }
        }
        keys
    }

    fn partition_names(&self, id: QueryId, call: &'a Call) -> Option<Vec<String>> {
        let over = call.over.as_ref().filter(|_| call.name == "row_number")?;
        let partition: Vec<&Expr> = over.partition.iter().collect();
        self.named(id, &partition)
    }

    /// Whether an expression holds an aggregate of its own SELECT.
    #[must_use]
    pub fn aggregates(&self, expr: &Expr) -> bool {
        expr.any(&mut |part| matches!(&part.kind, ExprKind::Call(call) if call.over.is_none() && is_aggregate(&call.name)))
    }

    /// Whether a SELECT gives one row by aggregates alone.
    #[must_use]
    pub fn is_aggregate(&self, select: &Select) -> bool {
        matches!(select.group, Group::No)
            && select
                .items
                .iter()
                .any(|item| matches!(item, Item::Expr { expr, .. } if self.aggregates(expr)))
    }
}

impl View<'_> {
    /// Columns of the target that identify a row or place it: conflict keys, merge keys, partitions, known
    /// keys.
    #[must_use]
    pub fn key_columns(&self, write: &Write) -> Vec<String> {
        let mut keys: Vec<String> = write.partition.iter().map(|(column, _)| column.clone()).collect();
        if let Some(conflict) = &write.conflict {
            keys.extend(conflict.keys.iter().cloned());
        }
        if let Some(facts) = self.knowledge.table(&write.target) {
            keys.extend(facts.keys.iter().flatten().cloned());
            keys.extend(facts.partition.iter().cloned());
        }
        if write.verb == Verb::Merge {
            keys.extend(self.merge_pairs(write).into_iter().map(|(target, _)| target));
        }
        keys
    }

    /// The columns of target and source that a MERGE equates.
    #[must_use]
    pub fn merge_pairs(&self, write: &Write) -> Vec<(String, String)> {
        let Some(scope) = write.scope else { return Vec::new() };
        let mut pairs = Vec::new();
        for condition in &write.filters {
            let ExprKind::Op(Op::Eq | Op::NullSafeEq, sides) = &condition.kind else { continue };
            let [left, right] = sides.as_slice() else { continue };
            let side = |expr: &Expr| match self.source(scope, expr) {
                ColumnSource::From { query, from, column } if query == scope => Some((from, column)),
                _ => None,
            };
            match (side(left), side(right)) {
                (Some((0, target)), Some((1, source))) | (Some((1, source)), Some((0, target))) => {
                    pairs.push((target, source))
                }
                _ => {}
            }
        }
        pairs
    }
}
