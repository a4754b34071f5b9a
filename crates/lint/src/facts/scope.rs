//! Which rows a query gives out: the ranges that bound them, and the outputs that carry what is bounded. One
//! scope a
//! branch of UNION; only what decides the rows counts, not the optional side of a join nor what stands in
//! expressions.

use std::rc::Rc;

use crate::ir::{Ask, Body, Expr, ExprKind, From, Item, Join, Op, QueryId, Relation, Select, SetOp};
use crate::text::Span;

use super::alike::{column_within, constant, render};
use super::instant::unit_seconds;
use super::view::{ColumnSource, Origin, Output, OutputValue, Outputs, View};

/// How deep queries are followed.
const DEPTH: usize = 24;
/// How many scopes a query has at most; beyond it nothing is known.
const SCOPES: usize = 32;

/// The rows of one branch of a query.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    /// The branch: a SELECT, or what is no SELECT.
    pub branch: QueryId,
    /// The ranges.
    pub ranges: Vec<Range<'a>>,
    /// Nothing else is there that might bound rows, and that was not understood.
    pub sure: bool,
    /// The stored tables whose rows are given out, with the query that reads them.
    pub tables: Vec<(QueryId, &'a From)>,
}

/// A range on one column of what a query reads.
#[derive(Clone, Debug)]
pub struct Range<'a> {
    /// The query that has the condition.
    pub query: QueryId,
    /// The column.
    pub column: &'a Expr,
    /// What is compared: the column, or something made of it.
    pub compared: &'a Expr,
    /// Names under which the column goes, from its table upwards.
    pub names: Vec<String>,
    /// The outputs of the whole query that are the column, or are made of it and of nothing else.
    pub outputs: Vec<usize>,
    /// Lower edge.
    pub low: Option<RangeEnd<'a>>,
    /// Upper edge.
    pub high: Option<RangeEnd<'a>>,
    /// One value, or a list of values.
    pub exact: bool,
    /// The conditions.
    pub span: Span,
    source: Vec<(usize, String)>,
}

/// One edge of a range.
#[derive(Clone, Copy, Debug)]
pub struct RangeEnd<'a> {
    /// The value.
    pub value: &'a Expr,
    /// Whether the value itself is within.
    pub inclusive: bool,
    /// The condition.
    pub span: Span,
}

impl Range<'_> {
    /// Whether a parameter decides an edge.
    #[must_use]
    pub fn has_param(&self) -> bool {
        self.limits().any(|limit| has_param(limit.value))
    }

    /// Whether the edges name a parameter.
    #[must_use]
    pub fn names_param(&self, name: &str) -> bool {
        self.params().iter().any(|param| param == name)
    }

    /// All parameters of the edges.
    #[must_use]
    pub fn params(&self) -> Vec<String> {
        let mut params = Vec::new();
        for limit in self.limits() {
            params_of(limit.value, &mut params);
        }
        params
    }

    /// The edges that are there.
    pub fn limits(&self) -> impl Iterator<Item = &RangeEnd<'_>> {
        self.low.iter().chain(&self.high)
    }
}

/// Whether a parameter stands in an expression.
#[must_use]
pub fn has_param(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part.kind, ExprKind::Param(_)))
}

/// Adds the parameters that stand in an expression.
pub fn params_of(expr: &Expr, params: &mut Vec<String>) {
    expr.walk(&mut |part| {
        if let ExprKind::Param(name) = &part.kind
            && !params.contains(name)
        {
            params.push(name.clone());
        }
    });
}

impl<'a> View<'a> {
    /// The rows that a query gives out.
    #[must_use]
    pub fn scopes(&self, root: QueryId) -> Rc<Vec<Scope<'a>>> {
        self.scopes_within(root, 0)
    }

    /// The rows that a conjunction over a query's tables leaves.
    #[must_use]
    pub fn scope_of(&self, query: QueryId, conditions: &'a [Expr]) -> Scope<'a> {
        let mut scope = Scope { branch: query, ranges: Vec::new(), sure: true, tables: Vec::new() };
        self.add_conditions(query, conditions, &mut scope);
        scope
    }

    fn scopes_within(&self, id: QueryId, depth: usize) -> Rc<Vec<Scope<'a>>> {
        if let Some(known) = self.scopes.borrow().get(&id) {
            return Rc::clone(known);
        }
        let mut scopes = self.scopes_of_body(id, depth);
        if scopes.len() > SCOPES {
            scopes.truncate(SCOPES);
            scopes.iter_mut().for_each(|scope| scope.sure = false);
        }
        let scopes = Rc::new(scopes);
        // Where the depth was reached nothing is known, and elsewhere more may be.
        if depth <= DEPTH {
            self.scopes.borrow_mut().insert(id, Rc::clone(&scopes));
        }
        scopes
    }

    fn scopes_of_body(&self, id: QueryId, depth: usize) -> Vec<Scope<'a>> {
        let unknown = || vec![Scope { branch: id, ranges: Vec::new(), sure: false, tables: Vec::new() }];
        let query = self.query(id);
        if depth > DEPTH || query.recursive {
            return unknown();
        }
        match &query.body {
            Body::Select(select) => self.select_scopes(id, select, depth),
            Body::Set { op: SetOp::Union, left, right, .. } => {
                let mut all = self.scopes_within(*left, depth + 1).to_vec();
                all.extend_from_slice(&self.scopes_within(*right, depth + 1));
                all
            }
            Body::Set { left, .. } => self.scopes_within(*left, depth + 1).to_vec(),
            Body::Values(_) => vec![Scope { branch: id, ranges: Vec::new(), sure: true, tables: Vec::new() }],
            Body::Opaque => unknown(),
        }
    }

    fn select_scopes(&self, id: QueryId, select: &'a Select, depth: usize) -> Vec<Scope<'a>> {
        let mut own = Scope { branch: id, ranges: Vec::new(), sure: true, tables: Vec::new() };
        self.add_conditions(id, &select.filters, &mut own);
        self.add_conditions(id, &select.having, &mut own);
        let mut scopes = vec![own];
        for (at, from) in select.from.iter().enumerate() {
            let decides =
                matches!(from.join, Join::First | Join::Inner | Join::Cross | Join::Semi | Join::Right);
            if matches!(from.join, Join::Right | Join::Full) {
                scopes.iter_mut().for_each(|scope| scope.sure = false);
            }
            if !decides {
                continue;
            }
            for scope in &mut scopes {
                self.add_conditions(id, &from.on, scope);
            }
            match &from.relation {
                Relation::Table(name) if from.join != Join::Semi => match self.stages.of(name) {
                    // What the script has put together before is read through, as a CTE is.
                    Some(stage) => scopes = joined(&scopes, &stage.scopes, &stage.outputs, at, Some(id)),
                    None => scopes.iter_mut().for_each(|scope| scope.tables.push((id, from))),
                },
                Relation::Query(inner) if from.join != Join::Semi => {
                    let within = self.scopes_within(*inner, depth + 1);
                    scopes = joined(&scopes, &within, &self.outputs(*inner), at, None);
                }
                Relation::Table(_) | Relation::Query(_) => {}
                Relation::Function(call) => {
                    let mut given = false;
                    call.each_child(&mut |expr: &Expr| given |= has_param(expr));
                    scopes.iter_mut().for_each(|scope| scope.sure &= !given);
                }
                Relation::Unnest(list) => {
                    let given = list.iter().any(has_param);
                    scopes.iter_mut().for_each(|scope| scope.sure &= !given);
                }
                Relation::Other(_) => scopes.iter_mut().for_each(|scope| scope.sure = false),
            }
        }
        let pairs = self.equal_columns(id, select);
        for range in scopes.iter_mut().flat_map(|scope| &mut scope.ranges) {
            self.carry(id, select, &pairs, range);
        }
        scopes
    }

    /// Finds the outputs that carry a range's column.
    fn carry(&self, id: QueryId, select: &'a Select, pairs: &[Pair], range: &mut Range<'a>) {
        let mut class = range.source.clone();
        loop {
            let size = class.len();
            for (a, b) in pairs {
                if class.contains(a) && !class.contains(b) {
                    class.push(b.clone());
                }
                if class.contains(b) && !class.contains(a) {
                    class.push(a.clone());
                }
            }
            if class.len() == size {
                break;
            }
        }
        let outputs = self.outputs(id);
        for (index, output) in outputs.list.iter().enumerate() {
            let is_it = match &output.value {
                OutputValue::Expr(expr) => self.made_of(id, expr, &class),
                OutputValue::Column { from, column } => class.contains(&(*from, column.clone())),
                OutputValue::Other => false,
            };
            if is_it && !range.outputs.contains(&index) {
                range.outputs.push(index);
                if !output.name.is_empty() && !range.names.contains(&output.name) {
                    range.names.push(output.name.clone());
                }
            }
        }
        let starred = |at: usize| {
            select.items.iter().any(|item| match item {
                Item::Star { qualifier: None, .. } => true,
                Item::Star { qualifier: Some(qualifier), .. } => {
                    select.from.get(at).is_some_and(|from| from.alias == *qualifier)
                }
                Item::Expr { .. } => false,
            })
        };
        for (at, name) in &class {
            if !range.names.contains(name) && (!outputs.open || starred(*at)) {
                range.names.push(name.clone());
            }
        }
    }

    /// Whether an expression reads columns of a class, and no other.
    fn made_of(&self, id: QueryId, expr: &'a Expr, class: &[(usize, String)]) -> bool {
        let (mut some, mut all) = (false, true);
        let mut visit = |part: &'a Expr| {
            if part.column().is_none() {
                return;
            }
            match self.source(id, part) {
                ColumnSource::From { query, from, column } if query == id => {
                    let is_it = class.contains(&(from, column));
                    some |= is_it;
                    all &= is_it;
                }
                _ => all = false,
            }
        };
        expr.walk(&mut visit);
        some && all
    }

    fn equal_columns(&self, id: QueryId, select: &'a Select) -> Vec<Pair> {
        let mut pairs = Vec::new();
        let conditions = select.filters.iter().chain(select.from.iter().flat_map(|from| &from.on));
        for condition in conditions {
            let ExprKind::Op(Op::Eq | Op::NullSafeEq, sides) = &condition.kind else { continue };
            let [left, right] = sides.as_slice() else { continue };
            let side = |expr: &'a Expr| match self.source(id, column_within(expr)?) {
                ColumnSource::From { query, from, column } if query == id => Some((from, column)),
                _ => None,
            };
            if let (Some(left), Some(right)) = (side(left), side(right)) {
                pairs.push((left, right));
            }
        }
        for (at, from) in select.from.iter().enumerate() {
            for name in &from.using {
                pairs.extend((0..at).map(|before| ((before, name.clone()), (at, name.clone()))));
            }
        }
        pairs
    }

    fn add_conditions(&self, id: QueryId, conditions: &'a [Expr], scope: &mut Scope<'a>) {
        for condition in conditions {
            let span = condition.span;
            match &condition.kind {
                ExprKind::Op(op, sides) if op.compares() => {
                    let [left, right] = sides.as_slice() else { continue };
                    if let Some((compared, op, value)) = self.sided(id, left, *op, right) {
                        self.add_limit(id, compared, op, value, span, scope);
                    } else if has_param(condition) {
                        scope.sure = false;
                    }
                }
                ExprKind::Between { expr, low, high } if column_within(expr).is_some() => {
                    self.add_limit(id, expr, Op::GtEq, low, span, scope);
                    self.add_limit(id, expr, Op::LtEq, high, span, scope);
                }
                ExprKind::In { expr, list, negated: false } if column_within(expr).is_some() => {
                    if let [only] = list.as_slice() {
                        self.add_limit(id, expr, Op::Eq, only, span, scope);
                    } else {
                        self.add_list(id, expr, span, scope);
                    }
                }
                ExprKind::Subquery { ask: Ask::In, expr: Some(expr), .. }
                    if column_within(expr).is_some() =>
                {
                    self.add_list(id, expr, span, scope);
                }
                ExprKind::Subquery { ask: Ask::Exists | Ask::In, .. } => scope.sure = false,
                _ if has_param(condition) => scope.sure = false,
                _ => {}
            }
        }
    }

    /// A comparison with the column on the left. A column that another query gives out as a constant is a
    /// value.
    fn sided(
        &self,
        id: QueryId,
        left: &'a Expr,
        op: Op,
        right: &'a Expr,
    ) -> Option<(&'a Expr, Op, &'a Expr)> {
        let fixed = |expr: &'a Expr| match compared_column(expr) {
            None => (is_value(expr) || matches!(expr.kind, ExprKind::Subquery { ask: Ask::Scalar, .. }))
                .then_some(expr),
            Some(column) => match self.origin(id, column) {
                Origin::Computed { expr, .. } if constant(expr) => Some(expr),
                _ => None,
            },
        };
        match (fixed(left), fixed(right)) {
            (None, Some(value)) if compared_column(left).is_some() => Some((left, op, value)),
            (Some(value), None) if compared_column(right).is_some() => Some((right, op.flipped(), value)),
            _ => None,
        }
    }

    fn new_range(&self, id: QueryId, compared: &'a Expr, span: Span) -> Option<Range<'a>> {
        let column = column_within(compared)?;
        let name = column.column().map(|(_, name)| name.to_string())?;
        let source = match self.source(id, column) {
            ColumnSource::From { query, from, column } if query == id => vec![(from, column)],
            ColumnSource::Alias { query, output } if query == id => {
                match self.outputs(id).list.get(output).map(|output| output.value.clone()) {
                    Some(OutputValue::Expr(expr)) => {
                        match column_within(expr).map(|inner| self.source(id, inner)) {
                            Some(ColumnSource::From { query, from, column }) if query == id => {
                                vec![(from, column)]
                            }
                            _ => Vec::new(),
                        }
                    }
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        };
        let mut names = vec![name];
        if let Origin::Base { column, .. } = self.origin(id, column)
            && !names.contains(&column)
        {
            names.push(column);
        }
        Some(Range {
            query: id,
            column,
            compared,
            names,
            outputs: Vec::new(),
            low: None,
            high: None,
            exact: false,
            span,
            source,
        })
    }

    fn add_list(&self, id: QueryId, compared: &'a Expr, span: Span, scope: &mut Scope<'a>) {
        if let Some(mut range) = self.new_range(id, compared, span) {
            range.exact = true;
            scope.ranges.push(range);
        }
    }

    fn add_limit(
        &self,
        id: QueryId,
        compared: &'a Expr,
        op: Op,
        value: &'a Expr,
        span: Span,
        scope: &mut Scope<'a>,
    ) {
        let Some(mut range) = self.new_range(id, compared, span) else { return };
        let exact = matches!(op, Op::Eq | Op::NullSafeEq);
        let limit = RangeEnd { value, inclusive: exact || matches!(op, Op::LtEq | Op::GtEq), span };
        range.low = (exact || matches!(op, Op::Gt | Op::GtEq)).then_some(limit);
        range.high = (exact || matches!(op, Op::Lt | Op::LtEq)).then_some(limit);
        range.exact = exact;
        let text = render(compared);
        let joins = |known: &&mut Range<'a>| {
            known.query == id
                && !exact
                && !known.exact
                && known.source == range.source
                && known.names == range.names
                && render(known.compared) == text
                && (known.low.is_none() || range.low.is_none())
                && (known.high.is_none() || range.high.is_none())
        };
        match scope.ranges.iter_mut().find(joins) {
            Some(known) => {
                known.low = known.low.or(range.low);
                known.high = known.high.or(range.high);
                known.span = known.span.to(span);
            }
            None => scope.ranges.push(range),
        }
    }
}

/// The column that a side of a comparison is made of. A side with a parameter is a value.
fn compared_column(expr: &Expr) -> Option<&Expr> {
    if has_param(expr) { None } else { column_within(expr) }
}

/// Whether an expression is one value for all rows; `day` of `DATEADD(day, …)` reads like a column.
fn is_value(expr: &Expr) -> bool {
    let mut fixed = true;
    expr.walk(&mut |part| {
        let unit = part
            .column()
            .is_some_and(|(qualifier, name)| qualifier.is_none() && unit_seconds(name).is_some());
        fixed = fixed && (unit || part.column().is_none()) && !matches!(part.kind, ExprKind::Subquery { .. });
    });
    fixed
}

type Pair = ((usize, String), (usize, String));

/// Each scope of what stands before with each of a query that is joined to it. Of a query of another statement, what it
/// reads is counted to `reader`, and only what it gives out as it read it is followed.
fn joined<'a>(
    before: &[Scope<'a>],
    inner: &[Scope<'a>],
    outputs: &Outputs<'a>,
    at: usize,
    reader: Option<QueryId>,
) -> Vec<Scope<'a>> {
    let kept = |output: &Output<'_>| match &output.value {
        OutputValue::Expr(Expr { kind: ExprKind::Cast { expr, .. }, .. }) => expr.column().is_some(),
        OutputValue::Expr(expr) => expr.column().is_some(),
        OutputValue::Column { .. } => true,
        OutputValue::Other => false,
    };
    let mut all = Vec::new();
    for scope in before.iter().take(SCOPES) {
        for other in inner.iter().take(SCOPES) {
            let mut scope = scope.clone();
            scope.sure &= other.sure;
            for (query, from) in &other.tables {
                if !scope.tables.iter().any(|known| std::ptr::eq(known.1, *from)) {
                    scope.tables.push((reader.unwrap_or(*query), from));
                }
            }
            for range in &other.ranges {
                let mut range = range.clone();
                range.query = reader.unwrap_or(range.query);
                let named = range
                    .outputs
                    .iter()
                    .filter_map(|output| outputs.list.get(*output))
                    .filter(|output| reader.is_none() || kept(output))
                    .map(|output| output.name.clone());
                range.source = named.map(|name| (at, name)).collect();
                if outputs.open {
                    range.source.extend(range.names.iter().map(|name| (at, name.clone())));
                }
                range.outputs.clear();
                // A query that is read twice bounds both readings alike.
                match scope.ranges.iter_mut().find(|known| {
                    known.query == range.query
                        && known.span == range.span
                        && std::ptr::eq(known.compared, range.compared)
                }) {
                    Some(known) => known.source.extend(range.source),
                    None => scope.ranges.push(range),
                }
            }
            all.push(scope);
        }
    }
    all
}
