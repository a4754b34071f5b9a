//! Which columns determine a row: keys of tables, carried through queries, and closure over equalities.

use std::collections::HashSet;
use std::rc::Rc;

use crate::ir::{
    Body, Call, Distinct, Expr, ExprKind, From, Group, Item, Join, Literal, Op, QueryId, Relation, Select,
    SetOp,
};

use super::view::{ColumnSource, Origin, OutputValue, View};

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

type Columns = HashSet<(usize, String)>;

/// How deep keys are derived.
const DEPTH: usize = 24;

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
            let all = group.iter().all(|by| columns.iter().any(|column| self.same(query, by, column)));
            return if all { Answer::Yes } else { Answer::No };
        }
        let start = columns.iter().filter_map(|expr| self.column_of_from(query, expr)).collect();
        self.closure_covers(query, select, start, depth)
    }

    /// Whether `columns` determine a row of FROM, before any grouping: what an aggregate sees.
    #[must_use]
    pub fn determines_input(&self, query: QueryId, columns: &[&'a Expr]) -> Answer {
        let Some(select) = self.select(query) else { return Answer::Unknown("the query".to_string()) };
        let start = columns.iter().filter_map(|expr| self.column_of_from(query, expr)).collect();
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
    fn column_of_from(&self, query: QueryId, expr: &'a Expr) -> Option<(usize, String)> {
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

    fn close(&self, query: QueryId, select: &'a Select, columns: Columns, depth: usize) -> Closure {
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
            match (self.column_of_from(query, left), self.column_of_from(query, right)) {
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
                if !all.contains(&at) && self.tellers(from, depth + 1).iter().any(covered) {
                    all.insert(at);
                }
            }
            if columns.len() + all.len() == size {
                return Closure { columns, all };
            }
        }
    }

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
    fn tellers(&self, from: &'a From, depth: usize) -> Rc<Vec<Vec<String>>> {
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
    fn named(&self, id: QueryId, exprs: &[&'a Expr]) -> Option<Vec<String>> {
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
            Group::No => keys.extend(self.carried_keys(id, select, depth)),
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

struct Closure {
    columns: Columns,
    /// Tables of which the whole row follows.
    all: HashSet<usize>,
}

/// Names of aggregates, for telling apart what groups.
const AGGREGATES: &[&str] = &[
    "any_value",
    "approx_count_distinct",
    "approx_distinct",
    "arbitrary",
    "arg_max",
    "arg_min",
    "argmax",
    "argmin",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bool_and",
    "bool_or",
    "collect_list",
    "collect_set",
    "corr",
    "count",
    "count_if",
    "countif",
    "every",
    "first",
    "group_concat",
    "grouparray",
    "groupuniqarray",
    "json_agg",
    "jsonb_agg",
    "last",
    "list",
    "listagg",
    "logical_and",
    "logical_or",
    "max",
    "max_by",
    "median",
    "min",
    "min_by",
    "mode",
    "percentile",
    "percentile_cont",
    "quantile",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "sumif",
    "uniq",
    "uniqexact",
    "var_pop",
    "var_samp",
    "variance",
    "anylast",
    "any",
    "count_big",
    "max_if",
    "maxif",
    "minif",
    "avgif",
    "anyif",
    "object_agg",
    "hll_sketch_agg",
    "total",
];

/// Whether a function aggregates.
#[must_use]
pub fn is_aggregate(name: &str) -> bool {
    AGGREGATES.contains(&name)
}

/// Whether an expression is the same for all rows of one run.
#[must_use]
pub fn constant(expr: &Expr) -> bool {
    let mut constant = true;
    expr.walk(&mut |part| {
        constant = constant && !matches!(part.kind, ExprKind::Column { .. } | ExprKind::Subquery { .. })
    });
    constant
}

/// `x` of `x = 1`, `1 = x`, `x <= 1`, `x < 2`.
pub(crate) fn equals_one(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Op(op, sides) = &expr.kind else { return None };
    let [left, right] = sides.as_slice() else { return None };
    let number =
        |expr: &Expr, value: &str| matches!(&expr.kind, ExprKind::Literal(Literal::Number(n)) if n == value);
    match op {
        Op::Eq if number(right, "1") => Some(left),
        Op::Eq if number(left, "1") => Some(right),
        Op::LtEq if number(right, "1") => Some(left),
        Op::Lt if number(right, "2") => Some(left),
        _ => None,
    }
}

/// Whether two expressions are written alike.
#[must_use]
pub fn equal(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Column { name: a, qualifier: qa }, ExprKind::Column { name: b, qualifier: qb }) => {
            a == b && (qa == qb || qa.is_none() || qb.is_none())
        }
        (ExprKind::Param(a), ExprKind::Param(b)) => a == b,
        (ExprKind::Literal(a), ExprKind::Literal(b)) => a == b,
        (ExprKind::Cast { expr: a, to: ta }, ExprKind::Cast { expr: b, to: tb }) => ta == tb && equal(a, b),
        (ExprKind::Op(oa, a), ExprKind::Op(ob, b)) => {
            oa == ob && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (ExprKind::Call(a), ExprKind::Call(b)) => {
            a.name == b.name
                && a.over.is_none()
                && b.over.is_none()
                && a.distinct == b.distinct
                && a.args.len() == b.args.len()
                && a.args.iter().zip(&b.args).all(|(a, b)| equal(a, b))
        }
        (ExprKind::Element { expr: a, path: pa }, ExprKind::Element { expr: b, path: pb }) => {
            equal(a, b) && pa.len() == pb.len() && pa.iter().zip(pb).all(|(a, b)| equal(a, b))
        }
        (
            ExprKind::Case { operand: oa, branches: a, otherwise: ea },
            ExprKind::Case { operand: ob, branches: b, otherwise: eb },
        ) => {
            let both = |a: Option<&Expr>, b: Option<&Expr>| match (a, b) {
                (Some(a), Some(b)) => equal(a, b),
                (a, b) => a.is_none() && b.is_none(),
            };
            both(oa.as_deref(), ob.as_deref())
                && both(ea.as_deref(), eb.as_deref())
                && a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| equal(&a.0, &b.0) && equal(&a.1, &b.1))
        }
        (
            ExprKind::In { expr: a, list: la, negated: na },
            ExprKind::In { expr: b, list: lb, negated: nb },
        ) => na == nb && equal(a, b) && la.len() == lb.len() && la.iter().zip(lb).all(|(a, b)| equal(a, b)),
        (ExprKind::Other(a), ExprKind::Other(b)) => {
            a.len() == b.len() && !a.is_empty() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        _ => false,
    }
}
