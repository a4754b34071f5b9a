//! Columns of one statement: what a query gives out, and where a column comes from, through CTEs, subqueries
//! and aliases.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::dialect::Dialect;
use crate::ir::{
    Body, BranchAction, Expr, ExprKind, From, Item, Name, Query, QueryId, Relation, Select, Statement,
};

use super::alike::constant;
use super::knowledge::Knowledge;
use super::scope::Scope;
use super::stages::Stages;

/// Nesting of queries beyond which nothing is followed.
const DEPTH: usize = 40;

/// One statement and what is known, ready to be asked.
pub struct View<'a> {
    /// The statement.
    pub statement: &'a Statement,
    /// What is known of tables.
    pub knowledge: &'a Knowledge,
    /// The dialect.
    pub dialect: Dialect,
    outputs: RefCell<HashMap<QueryId, Rc<Outputs<'a>>>>,
    pub(super) keys: RefCell<HashMap<QueryId, Vec<Vec<String>>>>,
    pub(super) tellers: RefCell<HashMap<QueryId, Rc<Vec<Vec<String>>>>>,
    pub(super) scopes: RefCell<HashMap<QueryId, Rc<Vec<Scope<'a>>>>>,
    pub(super) stages: Stages<'a>,
}

/// What a query gives out.
#[derive(Clone, Debug, Default)]
pub struct Outputs<'a> {
    /// Columns in order.
    pub list: Vec<Output<'a>>,
    /// There may be more: a star over something unknown.
    pub open: bool,
}

/// One column that a query gives out.
#[derive(Clone, Debug)]
pub struct Output<'a> {
    /// Its name; empty if it has none.
    pub name: String,
    /// What it is.
    pub value: OutputValue<'a>,
}

/// What an output column is.
#[derive(Clone, Debug)]
pub enum OutputValue<'a> {
    /// An expression of the query's SELECT.
    Expr(&'a Expr),
    /// A column of a table in FROM, by a star.
    Column {
        /// Which table in FROM.
        from: usize,
        /// Its column.
        column: String,
    },
    /// Something else, as a column of a set operation.
    Other,
}

/// Where a column name leads, one step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ColumnSource {
    /// A column of a table in FROM of a query.
    From {
        /// The query whose FROM it is.
        query: QueryId,
        /// Which table.
        from: usize,
        /// Its column.
        column: String,
    },
    /// An alias of the same SELECT.
    Alias {
        /// The query.
        query: QueryId,
        /// The output.
        output: usize,
    },
    /// Not known.
    Unknown,
}

/// Where a column comes from in the end.
#[derive(Clone, Debug)]
pub enum Origin<'a> {
    /// A column of a stored table.
    Base {
        /// The table.
        table: &'a Name,
        /// The column.
        column: String,
    },
    /// An expression within a query.
    Computed {
        /// The query.
        query: QueryId,
        /// The expression.
        expr: &'a Expr,
    },
    /// Not known.
    Unknown,
}

impl<'a> View<'a> {
    /// Looks at a statement.
    #[must_use]
    pub fn new(statement: &'a Statement, knowledge: &'a Knowledge, dialect: Dialect) -> Self {
        Self {
            statement,
            knowledge,
            dialect,
            outputs: RefCell::new(HashMap::new()),
            keys: RefCell::default(),
            tellers: RefCell::default(),
            scopes: RefCell::new(HashMap::new()),
            stages: Stages::default(),
        }
    }

    /// Looks at a statement of a script that has put tables together before.
    #[must_use]
    pub(crate) fn after(self, stages: &Stages<'a>) -> Self {
        Self { stages: stages.clone(), ..self }
    }

    /// A query.
    #[must_use]
    pub fn query(&self, id: QueryId) -> &'a Query {
        self.statement.query(id)
    }

    /// All queries with their ids.
    pub fn queries(&self) -> impl Iterator<Item = (QueryId, &'a Query)> + use<'a> {
        self.statement
            .queries
            .iter()
            .enumerate()
            .map(|(at, query)| (QueryId(u32::try_from(at).unwrap_or(u32::MAX)), query))
    }

    /// The SELECT of a query.
    #[must_use]
    pub fn select(&self, id: QueryId) -> Option<&'a Select> {
        match &self.query(id).body {
            Body::Select(select) => Some(select),
            _ => None,
        }
    }

    /// What a query gives out.
    #[must_use]
    pub fn outputs(&self, id: QueryId) -> Rc<Outputs<'a>> {
        if let Some(known) = self.outputs.borrow().get(&id) {
            return Rc::clone(known);
        }
        // Against queries that read themselves: nothing is known while it is being found out.
        self.outputs.borrow_mut().insert(id, Rc::new(Outputs { list: Vec::new(), open: true }));
        let query = self.query(id);
        let mut outputs = match &query.body {
            Body::Select(select) => self.select_outputs(select),
            Body::Set { left, .. } => {
                let left = self.outputs(*left);
                let list = left
                    .list
                    .iter()
                    .map(|output| Output { name: output.name.clone(), value: OutputValue::Other })
                    .collect();
                Outputs { list, open: left.open }
            }
            Body::Values(rows) => {
                let width = rows.first().map_or(0, Vec::len);
                let list = (0..width)
                    .map(|at| Output { name: format!("column{}", at + 1), value: OutputValue::Other })
                    .collect();
                Outputs { list, open: false }
            }
            Body::Opaque => Outputs { list: Vec::new(), open: true },
        };
        for (output, name) in outputs.list.iter_mut().zip(&query.columns) {
            output.name.clone_from(name);
        }
        let outputs = Rc::new(outputs);
        self.outputs.borrow_mut().insert(id, Rc::clone(&outputs));
        outputs
    }

    fn select_outputs(&self, select: &'a Select) -> Outputs<'a> {
        let mut outputs = Outputs::default();
        for item in &select.items {
            match item {
                Item::Expr { expr, alias } => {
                    let unnamed = || format!("?{}", outputs.list.len());
                    let name = alias.clone().or_else(|| natural_name(expr)).unwrap_or_else(unnamed);
                    outputs.list.push(Output { name, value: OutputValue::Expr(expr) });
                }
                Item::Star { qualifier, except, replace, .. } => {
                    for (at, from) in select.from.iter().enumerate() {
                        if qualifier.as_ref().is_some_and(|qualifier| *qualifier != from.alias) {
                            continue;
                        }
                        let columns = match &from.relation {
                            Relation::Query(inner) => {
                                let inner = self.outputs(*inner);
                                outputs.open |= inner.open;
                                Some(inner.list.iter().map(|output| output.name.clone()).collect())
                            }
                            _ => self.relation_columns(from),
                        };
                        match columns {
                            Some(columns) => {
                                for column in columns.into_iter().filter(|column| !except.contains(column)) {
                                    let value = replace.iter().find(|(name, _)| *name == column).map_or_else(
                                        || OutputValue::Column { from: at, column: column.clone() },
                                        |(_, expr)| OutputValue::Expr(expr),
                                    );
                                    outputs.list.push(Output { name: column, value });
                                }
                            }
                            None => outputs.open = true,
                        }
                    }
                    if select.from.is_empty() {
                        outputs.open = true;
                    }
                }
            }
        }
        outputs
    }

    /// All columns of a table in FROM, if they are known.
    #[must_use]
    pub fn relation_columns(&self, from: &'a From) -> Option<Vec<String>> {
        match &from.relation {
            Relation::Query(id) => {
                let outputs = self.outputs(*id);
                (!outputs.open).then(|| outputs.list.iter().map(|output| output.name.clone()).collect())
            }
            Relation::Table(name) => {
                let facts =
                    self.knowledge.table(name).filter(|facts| !facts.columns.is_empty() && !facts.partial)?;
                Some(facts.columns.iter().map(|column| column.name.clone()).collect())
            }
            _ => None,
        }
    }

    /// Whether a table in FROM has a column: known to, known not to, or not known.
    fn has(&self, from: &'a From, name: &str) -> Option<bool> {
        match &from.relation {
            Relation::Query(id) => {
                let outputs = self.outputs(*id);
                if outputs.list.iter().any(|output| output.name == name) {
                    Some(true)
                } else if outputs.open {
                    None
                } else {
                    Some(false)
                }
            }
            _ => self.relation_columns(from).map(|columns| columns.iter().any(|column| column == name)),
        }
    }

    /// Where a column that is written in a query leads.
    #[must_use]
    pub fn resolve(&self, query: QueryId, qualifier: Option<&str>, name: &str) -> ColumnSource {
        let mut at = Some(query);
        for _ in 0..DEPTH {
            let Some(id) = at else { break };
            if let Some(select) = self.select(id) {
                if let Some(from) = self.find(select, qualifier, name) {
                    return ColumnSource::From { query: id, from, column: name.to_string() };
                }
                if qualifier.is_none() {
                    let alias = select.items.iter().position(
                        |item| matches!(item, Item::Expr { alias: Some(alias), .. } if alias == name),
                    );
                    if alias.is_some() {
                        let output = self.outputs(id).list.iter().position(|output| output.name == name);
                        return output.map_or(ColumnSource::Unknown, |output| ColumnSource::Alias {
                            query: id,
                            output,
                        });
                    }
                    if select.from.len() == 1 && self.query(id).parent.is_none() {
                        return ColumnSource::From { query: id, from: 0, column: name.to_string() };
                    }
                }
            }
            at = self.query(id).parent;
        }
        ColumnSource::Unknown
    }

    fn find(&self, select: &'a Select, qualifier: Option<&str>, name: &str) -> Option<usize> {
        if let Some(qualifier) = qualifier {
            return select.from.iter().position(|from| from.alias == qualifier).or_else(|| {
                select.from.iter().position(
                    |from| matches!(&from.relation, Relation::Table(table) if table.last() == qualifier),
                )
            });
        }
        let mut maybe = None;
        let mut several = false;
        for (at, from) in select.from.iter().enumerate() {
            match self.has(from, name) {
                Some(true) => return Some(at),
                Some(false) => {}
                None => {
                    several |= maybe.is_some();
                    maybe = maybe.or(Some(at));
                }
            }
        }
        // An alias of the SELECT is the better guess than a table of which nothing is known.
        let aliased = select.items.iter().any(|item| {
            matches!(item, Item::Expr { expr, alias: Some(alias) }
                if alias == name && expr.column().is_none_or(|column| column.1 != name))
        });
        if several || (aliased && maybe.is_some()) {
            return None;
        }
        maybe
    }

    /// Where a column expression leads, one step.
    #[must_use]
    pub fn source(&self, query: QueryId, expr: &Expr) -> ColumnSource {
        match expr.column() {
            Some((qualifier, name)) => self.resolve(query, qualifier, name),
            None => ColumnSource::Unknown,
        }
    }

    /// Where an expression comes from: a plain column is followed down to its table or to what computes it.
    #[must_use]
    pub fn origin(&self, query: QueryId, expr: &'a Expr) -> Origin<'a> {
        self.origin_within(query, expr, 0)
    }

    fn origin_within(&self, query: QueryId, expr: &'a Expr, depth: usize) -> Origin<'a> {
        if depth > DEPTH {
            return Origin::Unknown;
        }
        if expr.column().is_none() {
            return Origin::Computed { query, expr };
        }
        let source = self.source(query, expr);
        self.follow(&source, depth)
    }

    /// Follows a source to its end.
    #[must_use]
    pub fn follow(&self, source: &ColumnSource, depth: usize) -> Origin<'a> {
        if depth > DEPTH {
            return Origin::Unknown;
        }
        match source {
            ColumnSource::From { query, from, column } => {
                let Some(from) = self.select(*query).and_then(|select| select.from.get(*from)) else {
                    return Origin::Unknown;
                };
                match &from.relation {
                    Relation::Table(table) => Origin::Base { table, column: column.clone() },
                    Relation::Query(inner) => self.output_origin(*inner, column, depth + 1),
                    _ => Origin::Unknown,
                }
            }
            ColumnSource::Alias { query, output } => {
                match self.outputs(*query).list.get(*output).map(|output| output.value.clone()) {
                    Some(OutputValue::Expr(expr)) if expr.column().is_none() => {
                        Origin::Computed { query: *query, expr }
                    }
                    _ => Origin::Unknown,
                }
            }
            ColumnSource::Unknown => Origin::Unknown,
        }
    }

    /// Where an output column of a query comes from.
    #[must_use]
    pub fn output_origin(&self, query: QueryId, name: &str, depth: usize) -> Origin<'a> {
        if depth > DEPTH {
            return Origin::Unknown;
        }
        let outputs = self.outputs(query);
        match outputs.list.iter().find(|output| output.name == name).map(|output| output.value.clone()) {
            Some(OutputValue::Expr(expr)) => self.origin_within(query, expr, depth + 1),
            Some(OutputValue::Column { from, column }) => {
                self.follow(&ColumnSource::From { query, from, column }, depth + 1)
            }
            Some(OutputValue::Other) => match &self.query(query).body {
                Body::Set { left, .. } => self.output_origin(*left, name, depth + 1),
                _ => Origin::Unknown,
            },
            None if outputs.open => {
                // A star over one table: the column is the table's.
                let Some(select) = self.select(query) else { return Origin::Unknown };
                match select.from.as_slice() {
                    [_] => self
                        .follow(&ColumnSource::From { query, from: 0, column: name.to_string() }, depth + 1),
                    _ => Origin::Unknown,
                }
            }
            None => Origin::Unknown,
        }
    }

    /// Whether an expression is one value for all rows of a run, also where an earlier statement of the script has put that
    /// value into the table that is read.
    #[must_use]
    pub fn is_one_value(&self, query: QueryId, expr: &'a Expr) -> bool {
        constant(expr)
            || match self.origin(query, expr) {
                Origin::Computed { expr, .. } => constant(expr),
                Origin::Base { table, column } => self.stages.is_constant(table, &column),
                Origin::Unknown => false,
            }
    }

    /// Whether a parameter is named anywhere in the statement.
    #[must_use]
    pub fn mentions_param(&self, name: &str) -> bool {
        let mut found = false;
        let mut look = |expr: &'a Expr| {
            expr.walk(&mut |part| {
                found |= matches!(&part.kind, ExprKind::Param(param) if param == name)
                    || part.column().is_some_and(|column| column == (None, name))
            })
        };
        for (id, _) in self.queries() {
            self.each_expr(id, &mut look);
        }
        for write in &self.statement.writes {
            write.filters.iter().chain(write.sets.iter().map(|set| &set.value)).for_each(&mut look);
        }
        found
    }

    /// Whether any parameter stands in the queries of the statement.
    #[must_use]
    pub fn takes_parameters(&self) -> bool {
        let mut found = false;
        for (id, _) in self.queries() {
            self.each_expr(id, &mut |expr| {
                expr.walk(&mut |part| found |= matches!(part.kind, ExprKind::Param(_)))
            });
        }
        found
    }

    /// The outputs of a query that something reads; nothing is said of a query whose rows leave the
    /// statement.
    #[must_use]
    pub fn used_outputs(&self, query: QueryId) -> Option<Vec<String>> {
        let readers: Vec<QueryId> = self
            .queries()
            .filter(|(id, _)| {
                self.select(*id).is_some_and(|select| {
                    select
                        .from
                        .iter()
                        .any(|from| matches!(&from.relation, Relation::Query(inner) if *inner == query))
                })
            })
            .map(|(id, _)| id)
            .collect();
        // Rows that are deleted or changed through the query are used as a whole.
        let written = self.statement.writes.iter().filter_map(|write| write.scope).any(|scope| {
            let first = self.select(scope).and_then(|select| select.from.first());
            first.is_some_and(|from| matches!(&from.relation, Relation::Query(inner) if *inner == query))
        });
        if written
            || readers.is_empty()
            || self.queries().any(|(_, other)| {
                matches!(&other.body, Body::Set { left, right, .. }
                if *left == query || *right == query)
            })
        {
            return None;
        }
        let mut used = Vec::new();
        for id in readers {
            let nested = self
                .reachable(id)
                .into_iter()
                .filter(|inner| self.query(*inner).parent == Some(id) || *inner == id);
            for reader in nested {
                self.each_expr(reader, &mut |expr| {
                    expr.walk(&mut |part| {
                        if let ColumnSource::From { query: at, from, column } = self.source(reader, part)
                            && self.select(at).and_then(|select| select.from.get(from)).is_some_and(
                                |from| matches!(&from.relation, Relation::Query(inner) if *inner == query),
                            )
                        {
                            used.push(column);
                        }
                    });
                });
            }
            used.extend(self.taken_by_writes(id, query)?);
            let select = self.select(id)?;
            for item in &select.items {
                if let Item::Star { except, .. } = item {
                    let outer = self.used_outputs(id);
                    let all = self.outputs(query);
                    let names = all.list.iter().map(|output| output.name.clone());
                    used.extend(names.filter(|name| {
                        !except.contains(name) && outer.as_ref().is_none_or(|outer| outer.contains(name))
                    }));
                }
            }
            for (at, from) in select.from.iter().enumerate() {
                if at > 0 && matches!(&from.relation, Relation::Query(inner) if *inner == query)
                    || select.from.len() > at
                {
                    used.extend(from.using.iter().cloned());
                }
            }
        }
        Some(used)
    }

    /// The outputs of a query that writes whose tables are those of `scope` take; nothing is said where they take all.
    fn taken_by_writes(&self, scope: QueryId, query: QueryId) -> Option<Vec<String>> {
        let mut taken = Vec::new();
        let mut take = |expr: &'a Expr| {
            expr.walk(&mut |part| {
                if let ColumnSource::From { query: at, from, column } = self.source(scope, part)
                    && self.select(at).and_then(|select| select.from.get(from)).is_some_and(
                        |from| matches!(&from.relation, Relation::Query(inner) if *inner == query),
                    )
                {
                    taken.push(column);
                }
            });
        };
        for write in self.statement.writes.iter().filter(|write| write.scope == Some(scope)) {
            write.sets.iter().for_each(|set| take(&set.value));
            for branch in &write.branches {
                branch.filters.iter().for_each(&mut take);
                match &branch.action {
                    BranchAction::Update(sets) => sets.iter().for_each(|set| take(&set.value)),
                    BranchAction::Insert(_, values) => values.iter().for_each(&mut take),
                    BranchAction::UpdateAll | BranchAction::InsertAll => return None,
                    BranchAction::Delete | BranchAction::Nothing => {}
                }
            }
        }
        Some(taken)
    }

    /// All stored tables that a query reads, with the queries that read them; subqueries and CTEs included.
    #[must_use]
    pub fn tables(&self, root: QueryId) -> Vec<(QueryId, &'a From, &'a Name)> {
        let mut found = Vec::new();
        for id in self.reachable(root) {
            for from in self.select(id).into_iter().flat_map(|select| &select.from) {
                if let Relation::Table(name) = &from.relation {
                    found.push((id, from, name));
                }
            }
        }
        found
    }

    /// A query and all that it reads, subqueries in expressions included.
    #[must_use]
    pub fn reachable(&self, root: QueryId) -> Vec<QueryId> {
        let mut order = Vec::new();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if order.contains(&id) {
                continue;
            }
            order.push(id);
            match &self.query(id).body {
                Body::Set { left, right, .. } => stack.extend([*right, *left]),
                Body::Select(select) => {
                    for from in &select.from {
                        match &from.relation {
                            Relation::Query(inner) => stack.push(*inner),
                            Relation::Other(inner) => stack.extend(inner),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
            self.each_expr(id, &mut |expr| {
                expr.walk(&mut |part| {
                    if let ExprKind::Subquery { query, .. } = &part.kind {
                        stack.push(*query)
                    }
                })
            });
        }
        order
    }

    /// The expressions that stand directly in a query.
    pub fn each_expr(&self, id: QueryId, visit: &mut impl FnMut(&'a Expr)) {
        let query = self.query(id);
        match &query.body {
            Body::Select(select) => each_expr_of(select, visit),
            Body::Values(rows) => rows.iter().flatten().for_each(&mut *visit),
            _ => {}
        }
        query.order.iter().for_each(|sort| visit(&sort.expr));
        if let Some(limit) = &query.limit {
            limit.count.iter().chain(&limit.offset).chain(&limit.by).for_each(visit);
        }
    }
}

/// The expressions that stand directly in a SELECT.
pub(crate) fn each_expr_of<'a>(select: &'a Select, visit: &mut impl FnMut(&'a Expr)) {
    for item in &select.items {
        match item {
            Item::Expr { expr, .. } => visit(expr),
            Item::Star { replace, .. } => replace.iter().for_each(|(_, expr)| visit(expr)),
        }
    }
    for from in &select.from {
        from.on.iter().for_each(&mut *visit);
        from.as_of.iter().for_each(|expr| visit(expr));
        match &from.relation {
            Relation::Function(call) => call.each_child(visit),
            Relation::Unnest(list) => list.iter().for_each(&mut *visit),
            _ => {}
        }
    }
    let (crate::ir::Group::By(group) | crate::ir::Group::Sets(group)) = &select.group else {
        for list in [&select.filters, &select.having, &select.qualify, &select.spread] {
            list.iter().for_each(&mut *visit);
        }
        if let crate::ir::Distinct::On(list, _) = &select.distinct {
            list.iter().for_each(visit);
        }
        return;
    };
    for list in [&select.filters, group, &select.having, &select.qualify, &select.spread] {
        list.iter().for_each(&mut *visit);
    }
    if let crate::ir::Distinct::On(list, _) = &select.distinct {
        list.iter().for_each(visit);
    }
}

/// The name a column has where none is given.
fn natural_name(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Column { name, .. } => Some(name.clone()),
        ExprKind::Cast { expr, .. } => natural_name(expr),
        ExprKind::Call(call) if call.bare => Some(call.name.clone()),
        ExprKind::Element { expr, path } => match path.last().and_then(Expr::column) {
            Some((_, name)) => Some(name.to_string()),
            None => natural_name(expr),
        },
        _ => None,
    }
}
