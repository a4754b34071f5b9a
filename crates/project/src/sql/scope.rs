//! Names and their scopes: which words of a query name CTEs and table aliases, which tables it reads.
//!
//! Queries, set operations, SELECTs and FROM items are walked by hand, because they make scopes; whatever is inside
//! an expression is left to the parser's visitor. Nothing is rewritten: what comes out are places in the text.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    AccessExpr, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, JoinOperator, ObjectName,
    ObjectNamePart, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias,
    TableFactor, TableWithJoins, Value, Visit, Visitor,
};

use super::{Lines, Span, SqlError, word_at};

/// A table named in FROM.
#[derive(Clone, Debug)]
pub(crate) struct TableUse {
    /// Parts joined by dots, in lower case where unquoted.
    pub(crate) name: String,
    pub(crate) span: Span,
}

/// A `:name`.
#[derive(Clone, Debug)]
pub(crate) struct Placeholder {
    /// Without the colon.
    pub(crate) name: String,
    pub(crate) span: Span,
}

impl Placeholder {
    /// As written: `:name`, or what other dialects have.
    pub(crate) fn text(&self) -> String {
        if self.name.starts_with(['$', '?', '@']) { self.name.clone() } else { format!(":{}", self.name) }
    }
}

/// What a query names, by place.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) tables: Vec<TableUse>,
    /// Tables named in `previous(…)`.
    pub(crate) previous: Vec<TableUse>,
    pub(crate) placeholders: Vec<Placeholder>,
    pub(crate) errors: Vec<SqlError>,
    /// New names of CTEs and aliases, by the byte where the old one stands.
    pub(crate) renamed: BTreeMap<usize, String>,
    /// Old names, by place, that an output column without alias is named after.
    pub(crate) naming: BTreeMap<usize, String>,
    /// Every old name that was given a new one.
    pub(crate) old_names: Vec<String>,
    /// Places of qualifiers that were bound, renamed or not.
    pub(crate) bound: Vec<usize>,
    /// A name could not be bound with certainty: nothing may be renamed.
    pub(crate) doubt: bool,
}

/// The names of one FROM clause.
#[derive(Clone, Debug, Default)]
struct Frame(Vec<Exposed>);

/// A name that columns may be qualified with.
#[derive(Clone, Debug)]
struct Exposed {
    key: String,
    /// `<schema>.<name>`, where a table without alias may be named in full.
    full: Option<String>,
    /// Its new name; `None` for a table's own.
    new: Option<String>,
}

/// Binds every name of a query.
pub(crate) fn resolve(sql: &str, lines: &Lines, query: &Query) -> Found {
    let mut resolver = Resolver {
        sql,
        lines,
        found: Found::default(),
        ctes: Vec::new(),
        frames: Vec::new(),
        fresh: 0,
        naming: 0,
    };
    resolver.query(query);
    resolver.found
}

struct Resolver<'a> {
    sql: &'a str,
    lines: &'a Lines<'a>,
    found: Found,
    /// CTEs in scope, the innermost last: name, new name.
    ctes: Vec<(String, String)>,
    /// FROM clauses in scope, the innermost last.
    frames: Vec<Frame>,
    fresh: usize,
    /// Above 0 inside an output expression without alias, whose text names the column.
    naming: usize,
}

const PREVIOUS_HELP: &str =
    "write `FROM previous(<schema>.<name>) AS p` with the model's own name: the slice before the own one";

/// The name in `previous(…)`, where that is what stands in FROM.
fn is_previous(name: &ObjectName) -> Option<&Ident> {
    let [part] = name.0.as_slice() else { return None };
    part.as_ident().filter(|ident| key(ident) == "previous")
}

/// How the engine compares a name.
fn key(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_ascii_lowercase(),
    }
}

impl Resolver<'_> {
    fn fresh(&mut self, letter: char) -> String {
        self.fresh += 1;
        // No query holds this control character, so that a new name never meets one of the user's.
        format!("\"\u{1}{letter}{}\"", self.fresh)
    }

    fn span(&self, ident: &Ident) -> Span {
        // The parser gives no place to a name in single quotes.
        let start = match ident.span.start.line {
            0 => self.sql.find(&ident.value).map_or(0, |found| found.saturating_sub(1)),
            _ => self.lines.start_of(ident.span),
        };
        let quotes = if ident.quote_style.is_some() { 2 } else { 0 };
        let mut end = (start + ident.value.len() + quotes).min(self.sql.len());
        while !self.sql.is_char_boundary(end) {
            end -= 1;
        }
        Span { start, end }
    }

    fn error(&mut self, code: &'static str, message: impl Into<String>, help: &str, span: Span) {
        self.found.errors.push(SqlError::new(code, message, span).help(help));
    }

    /// Gives the name at `ident` its new one.
    fn rename(&mut self, ident: &Ident, new: &str) {
        let start = self.lines.start_of(ident.span);
        let here = self.sql.get(start..).unwrap_or_default();
        let here = if ident.quote_style.is_some() { here.get(1..).unwrap_or_default() } else { here };
        if ident.span.start.line == 0 || !here.starts_with(ident.value.as_str()) {
            self.found.doubt = true;
            return;
        }
        self.found.renamed.insert(start, new.to_owned());
        self.found.bound.push(start);
        if self.naming > 0 {
            self.found.naming.insert(start, key(ident));
        }
    }

    /// A new name for a CTE or an alias, at the place where it is declared.
    fn declare(&mut self, ident: &Ident, letter: char) -> String {
        let new = self.fresh(letter);
        self.found.old_names.push(key(ident));
        self.rename(ident, &new);
        new
    }

    fn walk(&mut self, node: &impl Visit) {
        let _ = node.visit(&mut Expressions { resolver: self, inside_query: 0 });
    }

    /// Binds a query; what its first SELECT has in FROM is for an ORDER BY around it.
    fn query(&mut self, query: &Query) -> Frame {
        self.refuse_clauses(query);
        let outer_ctes = self.ctes.len();
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let name = key(&cte.alias.name);
            if name.contains('.') {
                let span = self.span(&cte.alias.name);
                self.error("sql", format!("CTE `{name}` has a dot in its name"), "rename it", span);
            }
            let new = self.declare(&cte.alias.name, 'c');
            let recursive = query.with.as_ref().is_some_and(|with| with.recursive);
            if recursive {
                self.ctes.push((name.clone(), new.clone()));
            }
            self.query(&cte.query);
            if !recursive {
                self.ctes.push((name, new));
            }
        }
        let frame = self.set_expr(&query.body);
        self.frames.push(frame);
        self.walk(&query.order_by);
        self.walk(&query.limit_clause);
        self.walk(&query.fetch);
        self.ctes.truncate(outer_ctes);
        self.frames.pop().unwrap_or_default()
    }

    fn refuse_clauses(&mut self, query: &Query) {
        let clauses = [
            ("FOR UPDATE", !query.locks.is_empty()),
            ("FOR XML and FOR JSON", query.for_clause.is_some()),
            ("SETTINGS", query.settings.is_some()),
            ("FORMAT", query.format_clause.is_some()),
            ("`|>`", !query.pipe_operators.is_empty()),
        ];
        self.refuse(&clauses, word_at(self.sql, 0));
    }

    fn refuse(&mut self, clauses: &[(&str, bool)], span: Span) {
        for (name, _) in clauses.iter().filter(|(_, there)| *there) {
            let message = format!("{name} can't be used in a model");
            self.error("unsupported-sql", message, "the engine has no meaning for it", span);
        }
    }

    fn set_expr(&mut self, body: &SetExpr) -> Frame {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, right, .. } => {
                let frame = self.set_expr(left);
                self.set_expr(right);
                frame
            }
            SetExpr::Values(values) => {
                self.walk(values);
                Frame::default()
            }
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                let span = word_at(self.sql, 0);
                self.error("not-a-query", "the query changes data", "a model is one SELECT", span);
                Frame::default()
            }
            SetExpr::Table(_) => {
                let span = word_at(self.sql, 0);
                self.error(
                    "unsupported-sql",
                    "`TABLE x` can't be used in a model",
                    "write SELECT * FROM x",
                    span,
                );
                Frame::default()
            }
        }
    }

    fn select(&mut self, select: &Select) -> Frame {
        let span = word_at(self.sql, self.lines.start_of(select.select_token.0.span).min(self.sql.len()));
        self.refuse_in_select(select, span);
        let mut frame = Frame::default();
        for_each_factor(&select.from, &mut |factor| self.expose(factor, &mut frame));
        // A derived table sees what is around its SELECT, not its neighbours.
        for_each_factor(&select.from, &mut |factor| {
            if let TableFactor::Derived { lateral: false, subquery, .. } = factor {
                self.query(subquery);
            }
        });
        self.frames.push(frame);
        for_each_factor(&select.from, &mut |factor| self.inner(factor));
        self.joins(&select.from);
        self.walk(&select.distinct);
        for item in &select.projection {
            self.item(item);
        }
        self.walk(&select.selection);
        self.walk(&select.group_by);
        self.walk(&select.having);
        self.walk(&select.named_window);
        self.walk(&select.qualify);
        self.frames.pop().unwrap_or_default()
    }

    fn refuse_in_select(&mut self, select: &Select, span: Span) {
        let clauses = [
            ("SELECT INTO", select.into.is_some()),
            ("TOP", select.top.is_some()),
            ("LATERAL VIEW", !select.lateral_views.is_empty()),
            ("PREWHERE", select.prewhere.is_some()),
            ("CONNECT BY", !select.connect_by.is_empty()),
            ("CLUSTER BY", !select.cluster_by.is_empty()),
            ("DISTRIBUTE BY", !select.distribute_by.is_empty()),
            ("SORT BY", !select.sort_by.is_empty()),
            ("SELECT AS", select.value_table_mode.is_some()),
            ("a select modifier", select.select_modifiers.as_ref().is_some_and(|given| given.is_any_set())),
        ];
        self.refuse(&clauses, span);
    }

    /// Adds the names that a FROM item gives to columns.
    fn expose(&mut self, factor: &TableFactor, frame: &mut Frame) {
        let alias = match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let own = self.relation(name);
                match (alias, own) {
                    (None, Some(own)) => return frame.0.push(own),
                    (alias, _) => alias,
                }
            }
            TableFactor::Table { name, alias, args: Some(args), .. } => {
                match is_previous(name) {
                    Some(ident) => self.previous(ident, &args.args),
                    None => self.table_function(name),
                }
                alias
            }
            TableFactor::Function { name, alias, .. } => {
                self.table_function(name);
                alias
            }
            TableFactor::Derived { alias, .. } | TableFactor::UNNEST { alias, .. } => alias,
            TableFactor::NestedJoin { alias, .. } => {
                // An alias hides the names inside, which are exposed all the same: better not to be sure.
                self.found.doubt |= alias.is_some();
                alias
            }
            _ => {
                let span = word_at(self.sql, 0);
                self.error(
                    "unsupported-sql",
                    "this form of FROM can't be used in a model",
                    "use a subquery",
                    span,
                );
                return;
            }
        };
        if let Some(TableAlias { name, .. }) = alias {
            let new = self.declare(name, 't');
            frame.0.push(Exposed { key: key(name), full: None, new: Some(new) });
        }
    }

    /// A table in FROM: a CTE, or one to be found in the project. What columns are qualified with, without an alias.
    fn relation(&mut self, name: &ObjectName) -> Option<Exposed> {
        let idents: Vec<&Ident> = name.0.iter().filter_map(ObjectNamePart::as_ident).collect();
        let (first, last) = (idents.first()?, idents.last()?);
        let span = Span { start: self.span(first).start, end: self.span(last).end };
        let full = idents.iter().map(|ident| key(ident)).collect::<Vec<_>>().join(".");
        if idents.len() == 1
            && let Some((cte, new)) = self.ctes.iter().rev().find(|(cte, _)| *cte == full).cloned()
        {
            self.rename(first, &new);
            return Some(Exposed { key: cte, full: None, new: Some(new) });
        }
        let quoted =
            |ident: &&Ident| ident.quote_style == Some('\'') || ident.value.contains(['/', '\\', '.']);
        if idents.iter().any(quoted) {
            let message = format!("`{full}` is a file, not a table");
            let help = "declare the file as a source in oncemore.yml and read that";
            self.error("file-in-from", message, help, span);
        } else {
            self.found.tables.push(TableUse { name: full.clone(), span });
        }
        Some(Exposed { key: key(last), full: Some(full), new: None })
    }

    fn table_function(&mut self, name: &ObjectName) {
        let Some(ident) = name.0.last().and_then(ObjectNamePart::as_ident) else { return };
        let called = key(ident);
        let span = self.span(ident);
        match called.as_str() {
            "generate_series" | "range" | "unnest" => {}
            _ => {
                let message = format!("table function `{called}` can't be used in a model");
                let help = "declare files as a source in oncemore.yml; only generate_series, range and unnest may stand in FROM";
                self.error("table-function", message, help, span);
            }
        }
    }

    /// `previous(<schema>.<name>)` in FROM.
    fn previous(&mut self, called: &Ident, args: &[FunctionArg]) {
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::CompoundIdentifier(idents)))] = args else {
            let span = self.span(called);
            return self.error("previous", "`previous(…)` takes one table", PREVIOUS_HELP, span);
        };
        let (Some(first), Some(last)) = (idents.first(), idents.last()) else { return };
        let span = Span { start: self.span(first).start, end: self.span(last).end };
        // Before a dot, and yet no name that columns are qualified with.
        self.found.bound.push(span.start);
        let name = idents.iter().map(key).collect::<Vec<_>>().join(".");
        self.found.previous.push(TableUse { name, span });
    }

    /// What is inside a FROM item and sees its neighbours.
    fn inner(&mut self, factor: &TableFactor) {
        match factor {
            TableFactor::Derived { lateral: true, subquery, .. } => {
                self.query(subquery);
            }
            TableFactor::Table { name, .. } if is_previous(name).is_some() => {}
            TableFactor::Table { args, .. } => {
                self.walk(args);
                for arg in args.iter().flat_map(|args| &args.args) {
                    self.argument(arg);
                }
            }
            TableFactor::Function { args, .. } => self.walk(args),
            TableFactor::UNNEST { array_exprs, .. } => self.walk(array_exprs),
            _ => {}
        }
    }

    fn joins(&mut self, from: &[TableWithJoins]) {
        for join in from.iter().flat_map(|table| &table.joins) {
            if matches!(join.join_operator, JoinOperator::AsOf { .. }) {
                let span = word_at(self.sql, 0);
                self.error("unsupported-sql", "ASOF JOIN can't be used in a model", "join on a range", span);
            }
            self.walk(&join.join_operator);
        }
        let relations = from.iter().flat_map(|table| {
            std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation))
        });
        for relation in relations {
            if let TableFactor::NestedJoin { table_with_joins, .. } = relation {
                self.joins(std::slice::from_ref(table_with_joins));
            }
        }
    }

    fn item(&mut self, item: &SelectItem) {
        match item {
            // A column named by another's name: qualifiers leave no trace.
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) if parts.len() == 2 => {
                self.qualifier(&parts.iter().collect::<Vec<_>>());
            }
            SelectItem::UnnamedExpr(expr) => {
                self.naming += 1;
                self.walk(expr);
                self.naming -= 1;
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                self.qualified_wildcard(name);
                self.walk(options);
            }
            other => self.walk(other),
        }
    }

    fn qualified_wildcard(&mut self, name: &ObjectName) {
        let mut idents: Vec<&Ident> = name.0.iter().filter_map(ObjectNamePart::as_ident).collect();
        // As if a column followed.
        let column = Ident::new("*");
        idents.push(&column);
        self.qualifier(&idents);
    }

    /// Binds the qualifier of a column: `q.column` or `schema.table.column`.
    fn qualifier(&mut self, idents: &[&Ident]) {
        let [first, second, ..] = idents else { return };
        let first_key = key(first);
        let full = (idents.len() > 2).then(|| format!("{first_key}.{}", key(second)));
        for frame in self.frames.iter().rev() {
            let by_full = frame.0.iter().any(|exposed| exposed.full.is_some() && exposed.full == full);
            let by_key = frame.0.iter().find(|exposed| exposed.key == first_key);
            match (by_full, by_key) {
                (true, None) => {
                    let start = self.lines.start_of(first.span);
                    return self.found.bound.push(start);
                }
                (true, Some(_)) => return self.found.doubt = true,
                (false, Some(Exposed { new: Some(new), .. })) => {
                    let new = new.clone();
                    return self.rename(first, &new);
                }
                (false, Some(_)) => {
                    let start = self.lines.start_of(first.span);
                    return self.found.bound.push(start);
                }
                (false, None) => {}
            }
        }
        // Unbound: left as it is. Should it be one of the names given anew, the canonical text finds that out.
    }

    fn argument(&mut self, arg: &FunctionArg) {
        let (FunctionArg::Named { arg, .. } | FunctionArg::ExprNamed { arg, .. } | FunctionArg::Unnamed(arg)) =
            arg;
        if let FunctionArgExpr::QualifiedWildcard(name) = arg {
            self.qualified_wildcard(name);
        }
    }

    fn expression(&mut self, expr: &Expr) {
        match expr {
            Expr::CompoundIdentifier(idents) => self.qualifier(&idents.iter().collect::<Vec<_>>()),
            Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value.starts_with('@') => {
                let span = self.span(ident);
                let message = format!("session variable `{}` can't be used in a model", ident.value);
                self.error(
                    "unsupported-sql",
                    message,
                    "declare it under `variables` and write `:name`",
                    span,
                );
            }
            Expr::CompoundFieldAccess { root, access_chain } => {
                if let (Expr::Identifier(root), Some(AccessExpr::Dot(Expr::Identifier(next)))) =
                    (root.as_ref(), access_chain.first())
                {
                    self.qualifier(&[root, next]);
                }
            }
            Expr::QualifiedWildcard(name, _) => self.qualified_wildcard(name),
            Expr::Value(value) => {
                if let Value::SingleQuotedString(text) = &value.value
                    && let Some(name @ ("interval_start" | "interval_end")) = text.strip_prefix(':')
                {
                    let start = self.lines.start_of(value.span);
                    let span = Span { start, end: (start + text.len() + 2).min(self.sql.len()) };
                    let message =
                        format!("`':{name}'` is text, and not where the interval's bound is put in");
                    self.error("placeholder", message, &format!("take the quotes away: `:{name}`"), span);
                }
                if let Value::Placeholder(text) = &value.value {
                    let start = self.lines.start_of(value.span);
                    let end = (start + text.len()).min(self.sql.len());
                    let name = text.strip_prefix(':').unwrap_or(text).to_owned();
                    self.found.placeholders.push(Placeholder { name, span: Span { start, end } });
                }
            }
            Expr::Function(function) => {
                if let Some(ident) = function.name.0.last().and_then(ObjectNamePart::as_ident)
                    && key(ident) == "previous"
                {
                    let span = self.span(ident);
                    self.error("previous", "`previous(…)` is no value", PREVIOUS_HELP, span);
                }
                if let FunctionArguments::List(list) = &function.args {
                    for arg in &list.args {
                        self.argument(arg);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Every FROM item, nested joins and what is inside them included.
fn for_each_factor<'q>(from: &'q [TableWithJoins], act: &mut impl FnMut(&'q TableFactor)) {
    for table in from {
        for relation in std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation))
        {
            act(relation);
            if let TableFactor::NestedJoin { table_with_joins, .. } = relation {
                for_each_factor(std::slice::from_ref(table_with_joins), act);
            }
        }
    }
}

/// Visits expressions; hands each query inside them to the resolver and passes over what is in it.
struct Expressions<'r, 'a> {
    resolver: &'r mut Resolver<'a>,
    inside_query: usize,
}

impl Visitor for Expressions<'_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.inside_query == 0 {
            self.resolver.query(query);
        }
        self.inside_query += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.inside_query -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.inside_query == 0 {
            self.resolver.expression(expr);
        }
        ControlFlow::Continue(())
    }
}
