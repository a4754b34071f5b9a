//! Volatile calls with the role they play: what becomes of the value, through CTEs, subqueries and aliases.

mod names;

pub use names::{is_audit_name, is_hash};
use names::{looks_like_key, passing, places_rows};

use std::collections::{HashMap, HashSet};

use crate::dialect::Dialect;
use crate::functions::{self, Class};
use crate::ir::{
    Action, Ask, Body, Branch, BranchAction, Call, Distinct, Expr, ExprKind, Group, Literal, Op, QueryId,
    Relation, Select, Verb, When, Write,
};
use crate::text::Span;

use super::view::{ColumnSource, OutputValue, View};

/// What a value is used for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// In a key or partition of what is written, or the condition of a MERGE.
    Key(String),
    /// Decides which rows there are: WHERE, HAVING, QUALIFY, a join.
    Filter,
    /// Decides which rows of two tables meet.
    Join,
    /// Decides which rows a DELETE removes.
    Purge,
    /// GROUP BY.
    Group,
    /// An order, or a partition of a window.
    Order,
    /// How many rows.
    Limit,
    /// How rows are spread over workers.
    Spread,
    /// A stored column with meaning.
    Value(String),
    /// A stored column that tells when or by whom a row was written.
    Audit(String),
    /// Rows for the client, not stored.
    Shown,
    /// The condition under which a statement runs, or a variable's value.
    Variable,
}

/// How much of a value reaches what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// Only whether there is one: `x IS NULL`, `count(x)`.
    Presence,
    /// Its elements, but not their order: sorted, counted, searched, taken apart.
    Elements,
    /// It goes through a function of which nothing is known.
    Unsure,
    /// All of it.
    Whole,
}

/// A call that depends on more than its arguments.
#[derive(Clone, Debug)]
pub struct Occurrence<'a> {
    /// Where it stands.
    pub span: Span,
    /// The function.
    pub name: &'a str,
    /// On what it depends.
    pub class: Class,
    /// The query it stands in.
    pub query: Option<QueryId>,
    /// The write it belongs to: an index into the statement's writes.
    pub write: Option<usize>,
    /// What becomes of it; without doubles.
    pub roles: Vec<Role>,
    /// The fallback of a parameter that wasn't given.
    pub guarded: bool,
    /// The output it makes reads no column.
    pub pure: bool,
    /// The output's expression is a hash or a concatenation.
    pub hashed: bool,
    /// The call, or the bare word.
    pub expr: &'a Expr,
    /// The expression directly around it.
    pub around: Option<&'a Expr>,
    /// How much of its value reaches what is stored.
    pub fate: Fate,
}

#[derive(Clone, Debug)]
enum Into {
    Query(QueryId, String),
    Target(String),
    Role(Role),
}

#[derive(Clone)]
struct At<'a> {
    into: Into,
    query: Option<QueryId>,
    write: Option<usize>,
    guarded: bool,
    pure: bool,
    hashed: bool,
    around: Option<&'a Expr>,
    fate: Fate,
}

struct Seen<'a> {
    expr: &'a Expr,
    name: &'a str,
    class: Class,
    at: At<'a>,
}

struct Walk<'v, 'a> {
    view: &'v View<'a>,
    uses: HashMap<(QueryId, String), Vec<(Into, Fate)>>,
    seen: Vec<Seen<'a>>,
    sources: HashMap<QueryId, usize>,
}

impl<'a> View<'a> {
    /// All calls of a statement that depend on more than their arguments.
    #[must_use]
    pub fn occurrences(&self) -> Vec<Occurrence<'a>> {
        if !self.calls_out() {
            return Vec::new();
        }
        let mut walk = Walk { view: self, uses: HashMap::new(), seen: Vec::new(), sources: HashMap::new() };
        walk.statement();
        walk.finish()
    }
}

impl<'a> View<'a> {
    /// Whether anything in the statement may depend on more than its arguments: most statements hold nothing of the kind,
    /// and what becomes of their values need not be followed.
    fn calls_out(&self) -> bool {
        let mut found = false;
        let mut look = |expr: &'a Expr| {
            expr.walk(&mut |part| {
                found = found
                    || match &part.kind {
                        ExprKind::Call(call) => {
                            let args = call.args.len() + usize::from(call.star);
                            functions::class(self.dialect, &call.name, args).is_some()
                                || self.counts_weeks(call)
                        }
                        ExprKind::Column { qualifier: None, name } => {
                            functions::bare(self.dialect, name).is_some()
                        }
                        ExprKind::Column { name, .. } => name == "nextval",
                        ExprKind::Cast { expr, to } => self.is_clock_literal(expr, to),
                        _ => false,
                    };
            });
        };
        for (id, _) in self.queries() {
            self.each_expr(id, &mut look);
        }
        self.statement.writes.iter().for_each(|write| write.each_expr(&mut look));
        if let Action::Variable { value: Some(value), .. } = &self.statement.action {
            look(value);
        }
        found
    }

    /// `DATEPART(weekday, d)`, `TO_CHAR(d, 'DY')`, `WEEK(d)`: which day a week begins with, and how days are called, the
    /// session says.
    fn counts_weeks(&self, call: &Call) -> bool {
        let word = |at: usize| {
            let written = match &call.args.get(at)?.kind {
                ExprKind::Column { qualifier: None, name } => name,
                ExprKind::Literal(Literal::Text(text) | Literal::Other(text)) => text,
                _ => return None,
            };
            Some(written.to_ascii_lowercase())
        };
        let is = |at: usize, units: &[&str]| word(at).is_some_and(|word| units.contains(&&*word));
        match (self.dialect, call.name.as_str()) {
            (Dialect::TSql, "datepart") => is(0, &["weekday", "dw", "w", "week", "wk", "ww"]),
            (Dialect::TSql, "datename") => {
                is(0, &["weekday", "dw", "w", "month", "mm", "m", "week", "wk", "ww"])
            }
            (Dialect::Oracle, "to_char") => is(1, &["d", "day", "dy", "fmday", "fmdy"]),
            (Dialect::MySql, "week") => call.args.len() == 1,
            _ => false,
        }
    }

    /// `'now'::timestamp`, `DATE 'today'`.
    fn is_clock_literal(&self, expr: &Expr, to: &str) -> bool {
        let ExprKind::Literal(crate::ir::Literal::Text(text)) = &expr.kind else { return false };
        let reads =
            matches!(self.dialect, crate::dialect::Dialect::Postgres | crate::dialect::Dialect::Redshift);
        reads
            && (to.starts_with("date") || to.starts_with("time"))
            && matches!(text.trim().to_ascii_lowercase().as_str(), "now" | "today" | "tomorrow" | "yesterday")
    }
}

impl<'a> Walk<'_, 'a> {
    fn statement(&mut self) {
        let statement = self.view.statement;
        for (index, write) in statement.writes.iter().enumerate() {
            for root in write.source.iter().chain(&write.scope) {
                for id in self.view.reachable(*root) {
                    self.sources.entry(id).or_insert(index);
                }
            }
        }
        let scopes: HashMap<QueryId, usize> = statement
            .writes
            .iter()
            .enumerate()
            .filter_map(|(index, write)| Some((write.scope?, index)))
            .collect();
        for (id, _) in self.view.queries() {
            let write = scopes.get(&id).and_then(|index| statement.writes.get(*index));
            self.query(id, write);
        }
        for (index, write) in statement.writes.iter().enumerate() {
            self.write(index, write);
        }
        if let Action::Variable { value: Some(value), .. } = &statement.action {
            let at = self.at(Into::Role(Role::Variable), None, None);
            self.expr(value, &at);
        }
    }

    fn at(&self, into: Into, query: Option<QueryId>, write: Option<usize>) -> At<'a> {
        let write = write.or_else(|| query.and_then(|query| self.sources.get(&query).copied()));
        At { into, query, write, guarded: false, pure: false, hashed: false, around: None, fate: Fate::Whole }
    }

    fn used(&mut self, query: QueryId, output: &str, into: Into, fate: Fate) {
        self.uses.entry((query, output.to_string())).or_default().push((into, fate));
    }

    fn write(&mut self, index: usize, write: &'a Write) {
        let scope = write.scope;
        let value = |this: &mut Self, column: &str, expr: &'a Expr| {
            let mut at = this.at(Into::Target(column.to_string()), scope, Some(index));
            at.pure = super::alike::constant(expr);
            this.expr(expr, &at);
        };
        for set in &write.sets {
            value(self, &set.column, &set.value);
        }
        if let Some(conflict) = &write.conflict {
            for set in &conflict.sets {
                value(self, &set.column, &set.value);
            }
            let at = self.at(Into::Role(Role::Filter), None, Some(index));
            conflict.filters.iter().for_each(|expr| self.expr(expr, &at));
        }
        for (column, expr) in
            write.partition.iter().filter_map(|(column, expr)| Some((column, expr.as_ref()?)))
        {
            let at = self.at(Into::Role(Role::Key(column.clone())), None, Some(index));
            self.expr(expr, &at);
        }
        if matches!(write.verb, Verb::ReplaceWhere) {
            let at = self.at(Into::Role(Role::Filter), None, Some(index));
            write.filters.iter().for_each(|expr| self.expr(expr, &at));
        }
        for branch in &write.branches {
            self.branch(index, write, branch);
        }
        if let Some(source) = write.source.filter(|_| write.verb != Verb::Merge) {
            let outputs = self.view.outputs(source);
            for (at, output) in outputs.list.iter().enumerate() {
                let column = write.columns.get(at).unwrap_or(&output.name).clone();
                self.used(source, &output.name, Into::Target(column), Fate::Whole);
            }
        }
    }

    fn branch(&mut self, index: usize, write: &'a Write, branch: &'a Branch) {
        let filter = if branch.when == When::NotMatchedBySource { Role::Purge } else { Role::Filter };
        let at = self.at(Into::Role(filter), write.scope, Some(index));
        branch.filters.iter().for_each(|expr| self.expr(expr, &at));
        match &branch.action {
            BranchAction::Update(sets) => {
                for set in sets {
                    let mut at = self.at(Into::Target(set.column.clone()), write.scope, Some(index));
                    at.pure = super::alike::constant(&set.value);
                    self.expr(&set.value, &at);
                }
            }
            BranchAction::Insert(columns, values) => {
                for (at, expr) in values.iter().enumerate() {
                    let column = columns
                        .get(at)
                        .cloned()
                        .or_else(|| expr.column().map(|(_, name)| name.to_string()))
                        .unwrap_or_default();
                    let mut at = self.at(Into::Target(column), write.scope, Some(index));
                    at.pure = super::alike::constant(expr);
                    self.expr(expr, &at);
                }
            }
            BranchAction::InsertAll | BranchAction::UpdateAll => {
                let Some(source) = write.source else { return };
                for output in &self.view.outputs(source).list {
                    self.used(source, &output.name, Into::Target(output.name.clone()), Fate::Whole);
                }
            }
            BranchAction::Delete | BranchAction::Nothing => {}
        }
    }

    fn query(&mut self, id: QueryId, scope_of: Option<&'a Write>) {
        let query = self.view.query(id);
        match &query.body {
            Body::Select(select) => self.select(id, select, scope_of),
            Body::Set { left, right, op, .. } => {
                let outputs = self.view.outputs(id);
                for branch in [*left, *right] {
                    for (output, into) in self.view.outputs(branch).list.iter().zip(&outputs.list) {
                        self.used(branch, &output.name, Into::Query(id, into.name.clone()), Fate::Whole);
                        if *op != crate::ir::SetOp::Union {
                            self.used(branch, &output.name, Into::Role(Role::Filter), Fate::Whole);
                        }
                    }
                }
            }
            Body::Values(rows) => {
                for row in rows {
                    for (index, expr) in row.iter().enumerate() {
                        let name = self
                            .view
                            .outputs(id)
                            .list
                            .get(index)
                            .map_or_else(String::new, |output| output.name.clone());
                        let mut at = self.at(Into::Query(id, name), Some(id), None);
                        at.pure = true;
                        self.expr(expr, &at);
                    }
                }
            }
            Body::Opaque => {}
        }
        for sort in &query.order {
            let role = if query.limit.is_some() { Role::Order } else { Role::Shown };
            let at = self.at(Into::Role(role), Some(id), None);
            self.expr(&sort.expr, &at);
        }
        for expr in
            query.limit.iter().flat_map(|limit| limit.count.iter().chain(&limit.offset).chain(&limit.by))
        {
            let at = self.at(Into::Role(Role::Limit), Some(id), None);
            self.expr(expr, &at);
        }
    }

    fn select(&mut self, id: QueryId, select: &'a Select, scope_of: Option<&'a Write>) {
        let outputs = self.view.outputs(id);
        for output in &outputs.list {
            match &output.value {
                OutputValue::Expr(expr) => {
                    let mut at = self.at(Into::Query(id, output.name.clone()), Some(id), None);
                    at.pure = super::alike::constant(expr);
                    self.expr(expr, &at);
                }
                OutputValue::Column { from, column } => {
                    if let Some(Relation::Query(inner)) = select.from.get(*from).map(|from| &from.relation) {
                        self.used(*inner, column, Into::Query(id, output.name.clone()), Fate::Whole);
                    }
                }
                OutputValue::Other => {}
            }
        }
        let filter = match scope_of.map(|write| write.verb) {
            Some(Verb::Merge) => Role::Key("the condition of the merge".to_string()),
            Some(Verb::Delete) => Role::Purge,
            _ => Role::Filter,
        };
        let (Group::By(group) | Group::Sets(group)) = &select.group else {
            return self.rest(id, select, filter);
        };
        self.all(group, Role::Group, id);
        self.rest(id, select, filter);
    }

    fn rest(&mut self, id: QueryId, select: &'a Select, filter: Role) {
        self.all(&select.filters, filter, id);
        self.all(&select.having, Role::Filter, id);
        self.all(&select.qualify, Role::Filter, id);
        self.all(&select.spread, Role::Spread, id);
        if let Distinct::On(list, _) = &select.distinct {
            self.all(list, Role::Order, id);
        }
        for from in &select.from {
            self.all(&from.on, Role::Join, id);
            let at = self.at(Into::Role(Role::Filter), Some(id), None);
            from.as_of.iter().for_each(|expr| self.expr(expr, &at));
            match &from.relation {
                Relation::Function(call) => {
                    let at = At { fate: passing(call), ..at };
                    call.each_child(&mut |expr| self.expr(expr, &at));
                }
                Relation::Unnest(list) => {
                    let at = At { fate: Fate::Elements, ..at };
                    list.iter().for_each(|expr| self.expr(expr, &at));
                }
                _ => {}
            }
        }
    }

    fn all(&mut self, list: &'a [Expr], role: Role, id: QueryId) {
        let at = self.at(Into::Role(role), Some(id), None);
        list.iter().for_each(|expr| self.expr(expr, &at));
    }

    fn expr(&mut self, expr: &'a Expr, at: &At<'a>) {
        match &expr.kind {
            ExprKind::Column { qualifier, name } => self.column(expr, qualifier.as_deref(), name, at),
            ExprKind::Call(call) => self.call(expr, call, at),
            ExprKind::Subquery { query, ask, expr: looked } => {
                let into = match ask {
                    Ask::Scalar | Ask::Array => Some(at.into.clone()),
                    Ask::In | Ask::NotIn => Some(Into::Role(Role::Filter)),
                    Ask::Exists | Ask::NotExists => None,
                };
                let first = self.view.outputs(*query).list.first().map(|output| output.name.clone());
                if let (Some(into), Some(first)) = (into, first) {
                    self.used(*query, &first, into, at.fate);
                }
                if let Some(looked) = looked {
                    self.expr(looked, at);
                }
            }
            ExprKind::In { expr: looked, list, .. } => {
                self.expr(looked, at);
                let at = At { fate: at.fate.min(Fate::Elements), around: Some(expr), ..at.clone() };
                list.iter().for_each(|child| self.expr(child, &at));
            }
            ExprKind::Op(op @ (Op::IsNull | Op::IsNotNull | Op::Other), args) => {
                let most = if *op == Op::Other { Fate::Unsure } else { Fate::Presence };
                let at = At { fate: at.fate.min(most), around: Some(expr), ..at.clone() };
                args.iter().for_each(|child| self.expr(child, &at));
            }
            ExprKind::Case { branches, operand, .. } => {
                let tests_param = branches.iter().any(|(when, _)| tests_param(when))
                    || operand.as_ref().is_some_and(|expr| matches!(expr.kind, ExprKind::Param(_)));
                let at = At { guarded: at.guarded || tests_param, around: Some(expr), ..at.clone() };
                expr.each_child(|child| self.expr(child, &at));
            }
            ExprKind::Op(Op::Or, args) if args.iter().any(tests_param) => {
                let at = At { guarded: true, around: Some(expr), ..at.clone() };
                args.iter().for_each(|child| self.expr(child, &at));
            }
            ExprKind::Cast { expr: inner, to } if self.view.is_clock_literal(inner, to) => {
                self.seen.push(Seen {
                    expr,
                    name: "a literal that stands for the clock",
                    class: Class::Clock,
                    at: at.clone(),
                });
            }
            _ => {
                let at = At { around: Some(expr), ..at.clone() };
                expr.each_child(|child| self.expr(child, &at));
            }
        }
    }

    fn column(&mut self, expr: &'a Expr, qualifier: Option<&str>, name: &'a str, at: &At<'a>) {
        let source =
            at.query.map_or(ColumnSource::Unknown, |query| self.view.resolve(query, qualifier, name));
        if let ColumnSource::From { query, from, column } = &source {
            let relation =
                self.view.select(*query).and_then(|select| select.from.get(*from)).map(|from| &from.relation);
            if let Some(Relation::Query(inner)) = relation {
                self.used(*inner, column, at.into.clone(), at.fate);
                return;
            }
        }
        if let ColumnSource::Alias { query, output } = &source {
            let name = self.view.outputs(*query).list.get(*output).map(|output| output.name.clone());
            if let Some(name) = name {
                self.used(*query, &name, at.into.clone(), at.fate);
            }
            return;
        }
        // `"sysdate"` in quotes is a column, whatever it is called.
        let quoted = expr.span.is_somewhere() && (expr.span.end - expr.span.start) as usize == name.len() + 2;
        let class = match qualifier {
            None if quoted => None,
            None => {
                functions::bare(self.view.dialect, name).filter(|_| !self.is_known_column(at.query, name))
            }
            // `customer_seq.nextval`: a sequence, where it is no table of the query.
            Some(_) if name == "nextval" && source == ColumnSource::Unknown => Some(Class::Identity),
            Some(_) => None,
        };
        if let Some(class) = class {
            let at = At { pure: at.pure || at.around.is_none(), ..at.clone() };
            self.seen.push(Seen { expr, name, class, at });
        }
    }

    fn is_known_column(&self, query: Option<QueryId>, name: &str) -> bool {
        let Some(select) = query.and_then(|query| self.view.select(query)) else { return false };
        select.from.iter().any(|from| {
            self.view
                .relation_columns(from)
                .is_some_and(|columns| columns.iter().any(|column| column == name))
        })
    }

    fn call(&mut self, expr: &'a Expr, call: &'a Call, at: &At<'a>) {
        let class = functions::class(self.view.dialect, &call.name, call.args.len() + usize::from(call.star));
        if let Some(class) = class.or_else(|| self.view.counts_weeks(call).then_some(Class::Session)) {
            self.seen.push(Seen { expr, name: &call.name, class, at: at.clone() });
        }
        let mut inner = at.clone();
        inner.guarded |= matches!(call.name.as_str(), "coalesce" | "ifnull" | "nvl" | "isnull")
            && call.args.iter().any(has_param);
        inner.guarded |= matches!(call.name.as_str(), "if" | "iff" | "iif" | "nvl2" | "decode" | "multiif")
            && call.args.iter().any(tests_param);
        inner.hashed |= is_hash(&call.name);
        inner.fate = inner.fate.min(passing(call));
        inner.around = Some(expr);
        for arg in &call.args {
            self.expr(arg, &inner);
        }
        let order = At { into: Into::Role(Role::Order), ..at.clone() };
        call.order.iter().for_each(|sort| self.expr(&sort.expr, &order));
        call.bounded.iter().chain(&call.filter).for_each(|expr| self.expr(expr, &inner));
        if let Some(over) = &call.over {
            over.partition
                .iter()
                .chain(over.order.iter().map(|sort| &sort.expr))
                .for_each(|expr| self.expr(expr, &order));
        }
    }

    fn finish(self) -> Vec<Occurrence<'a>> {
        let mut found: Vec<Occurrence<'a>> = Vec::new();
        let mut places: HashMap<crate::text::Span, usize> = HashMap::new();
        for seen in &self.seen {
            let mut roles = Vec::new();
            let mut visited = HashSet::new();
            let mut most = Fate::Presence;
            self.roles((&seen.at.into, seen.at.fate), seen, (&mut roles, &mut most), &mut visited);
            let place = *places.entry(seen.expr.span).or_insert(found.len());
            if let Some(known) = found.get_mut(place) {
                known.fate = known.fate.max(most);
                for role in roles {
                    if !known.roles.contains(&role) {
                        known.roles.push(role);
                    }
                }
                continue;
            }
            found.push(Occurrence {
                span: seen.expr.span,
                name: seen.name,
                class: seen.class,
                query: seen.at.query,
                write: seen.at.write,
                roles,
                guarded: seen.at.guarded,
                pure: seen.at.pure,
                hashed: seen.at.hashed,
                expr: seen.expr,
                around: seen.at.around,
                fate: most,
            });
        }
        found
    }

    fn roles(
        &self,
        (into, fate): (&Into, Fate),
        seen: &Seen<'a>,
        out: (&mut Vec<Role>, &mut Fate),
        visited: &mut HashSet<(QueryId, String, Fate)>,
    ) {
        let role = match into {
            Into::Role(role) => role.clone(),
            Into::Target(column) => self.stored(column, seen),
            Into::Query(id, name) => {
                if !visited.insert((*id, name.clone(), fate)) {
                    return;
                }
                let uses = self.uses.get(&(*id, name.clone()));
                for (next, most) in uses.into_iter().flatten() {
                    self.roles((next, fate.min(*most)), seen, (&mut *out.0, &mut *out.1), visited);
                }
                if uses.is_some()
                    || self.sources.contains_key(id)
                        && !matches!(self.view.statement.action, Action::Select(_))
                {
                    return;
                }
                Role::Shown
            }
        };
        *out.1 = fate.max(*out.1);
        if !out.0.contains(&role) {
            out.0.push(role);
        }
    }

    /// The role of a value that is stored in a column of the target.
    fn stored(&self, column: &str, seen: &Seen<'a>) -> Role {
        let write = seen.at.write.and_then(|index| self.view.statement.writes.get(index));
        let key = write.is_some_and(|write| self.view.key_columns(write).iter().any(|key| key == column));
        if key || (seen.at.pure && places_rows(column)) || (seen.at.hashed && looks_like_key(column)) {
            return Role::Key(column.to_string());
        }
        let is_audit =
            is_audit_name(column) || self.view.knowledge.provenance.iter().any(|name| name == column);
        if is_audit && seen.at.pure {
            Role::Audit(column.to_string())
        } else {
            Role::Value(column.to_string())
        }
    }
}

fn has_param(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part.kind, ExprKind::Param(_)))
}

/// Whether an expression asks whether a parameter was given.
fn tests_param(expr: &Expr) -> bool {
    expr.any(&mut |part| match &part.kind {
        ExprKind::Op(Op::IsNull | Op::IsNotNull, args) => args.iter().any(has_param),
        ExprKind::Op(Op::Eq | Op::NotEq, args) => {
            args.iter().any(|arg| matches!(arg.kind, ExprKind::Param(_)))
                && args.iter().any(|arg| matches!(arg.kind, ExprKind::Literal(_)))
        }
        _ => false,
    })
}
