//! Clocks that a template reads: they are frozen when it is compiled, so the SQL shows a plain value. Found
//! on the tree,
//! with the role each plays.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::syntax::{self, Args, Expr, ExprKind, Node, Span, Target};

/// A clock, or another input that each run has its own of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateClock {
    /// As written: `modules.datetime.datetime.now()`.
    pub text: String,
    /// Bytes of the file.
    pub span: Range<usize>,
    /// What it is.
    pub kind: ClockKind,
    /// The gravest role of all its uses.
    pub role: ClockRole,
    /// Where it, or a variable it went into, is used; with roles.
    pub uses: Vec<(Range<usize>, ClockRole)>,
    /// Whether it is only the default of `var()`.
    pub is_var_default: bool,
}

/// What kind of clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClockKind {
    /// dbt's `run_started_at`, Airflow's `dag_run.start_date`.
    RunStart,
    /// `modules.datetime.datetime.now()` and its like.
    Now,
    /// `invocation_id`, `run_id`: not a time, but new for each run.
    Invocation,
    /// `prev_start_date_success` and its like: the time of another run.
    OtherRun,
    /// Airflow's `ts`: the start of the interval, but of a manual run the moment at which it is started.
    RunOrInterval,
    /// Airflow's start of the interval, or of the one before: `ds`, `prev_ds`, `data_interval_start`, `logical_date`.
    IntervalStart,
    /// Airflow's `data_interval_end`.
    IntervalEnd,
}

/// What becomes of the value; the later, the graver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClockRole {
    /// Kept in a variable that nothing uses.
    Unused,
    /// In a comment of the SQL.
    Comment,
    /// In a message.
    Log,
    /// Given to `config()`, under this name.
    Config(String),
    /// Decides what is rendered.
    Condition,
    /// Part of the SQL.
    Sql,
}

/// Clocks of a template: of a dbt model or macro, or of a script with Airflow's variables. Of a text that can't be read as
/// one template each `{{ … }}` is read by itself.
pub fn template_clocks(text: &str) -> Vec<TemplateClock> {
    if !text.contains("{{") && !text.contains("{%") {
        return Vec::new();
    }
    if let Ok(nodes) = syntax::parse(text, 0..text.len()) {
        return of_nodes(text, &nodes);
    }
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(hole) = next_hole(text, from) {
        from = hole.end;
        if let Ok(nodes) = syntax::parse(text, hole) {
            found.extend(of_nodes(text, &nodes));
        }
    }
    found
}

/// The next `{{ … }}`.
fn next_hole(text: &str, from: usize) -> Option<Range<usize>> {
    let start = from + text.get(from..)?.find("{{")?;
    let end = start + text.get(start..)?.find("}}")? + 2;
    Some(start..end)
}

pub(super) fn of_nodes(text: &str, nodes: &[Node]) -> Vec<TemplateClock> {
    // Most templates name none: don't walk those.
    const WORDS: [&str; 11] = [
        "run_started_at",
        "datetime",
        "invocation_id",
        "dag_run",
        "prev_",
        "ds",
        "ts",
        "data_interval",
        "logical_date",
        "execution_date",
        "run_id",
    ];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let mut walk =
        Walk { text, found: Vec::new(), tainted: BTreeMap::new(), own: Vec::new(), sql: SqlState::Plain };
    walk.names(nodes);
    walk.nodes(nodes);
    for clock in &mut walk.found {
        clock.role = clock.uses.iter().map(|(_, role)| role.clone()).max().unwrap_or(ClockRole::Unused);
    }
    walk.found
}

#[derive(Clone, Copy, PartialEq)]
enum SqlState {
    Plain,
    Line,
    Block,
    Quoted,
}

/// What an expression is evaluated for.
#[derive(Clone)]
enum For {
    Role(ClockRole),
    Variable(Arc<str>),
}

struct Walk<'a> {
    text: &'a str,
    found: Vec<TemplateClock>,
    /// Variables that hold a clock, with the clocks they hold.
    tainted: BTreeMap<Arc<str>, Vec<usize>>,
    /// Names that the template sets itself.
    own: Vec<Arc<str>>,
    sql: SqlState,
}

impl Walk<'_> {
    fn names(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Set(targets, _) => self.own.extend(targets.iter().map(target_name)),
                Node::SetBlock { target, body, .. } => {
                    self.own.push(target_name(target));
                    self.names(body);
                }
                Node::For { names, body, otherwise, .. } => {
                    self.own.extend(names.iter().cloned());
                    self.names(body);
                    self.names(otherwise);
                }
                Node::If(arms, otherwise) => {
                    arms.iter().for_each(|(_, body)| self.names(body));
                    self.names(otherwise);
                }
                Node::Macro(def) | Node::Call { body: def, .. } => {
                    self.own.extend(def.params.iter().map(|(name, _)| name.clone()));
                    self.names(&def.body);
                }
                Node::With(values, body) => {
                    self.own.extend(values.iter().map(|(target, _)| target_name(target)));
                    self.names(body);
                }
                Node::FilterBlock(_, body, _) | Node::Scope(body) => self.names(body),
                _ => {}
            }
        }
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.node(node);
        }
    }

    fn printed(&self) -> For {
        For::Role(match self.sql {
            SqlState::Line | SqlState::Block => ClockRole::Comment,
            _ => ClockRole::Sql,
        })
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Text(span) => self.sql_text(*span),
            Node::Print(expr, _) => self.expr(expr, &self.printed()),
            Node::If(arms, otherwise) => {
                for (condition, body) in arms {
                    self.expr(condition, &For::Role(ClockRole::Condition));
                    self.nodes(body);
                }
                self.nodes(otherwise);
            }
            Node::For { names, over, only, body, otherwise } => {
                for name in names {
                    self.expr(over, &For::Variable(name.clone()));
                }
                if let Some(only) = only {
                    self.expr(only, &For::Role(ClockRole::Condition));
                }
                self.nodes(body);
                self.nodes(otherwise);
            }
            Node::Set(targets, value) => {
                for target in targets {
                    self.expr(value, &For::Variable(target_name(target)));
                }
            }
            Node::SetBlock { target, body, .. } => {
                let name = target_name(target);
                for node in body {
                    match node {
                        Node::Print(expr, _) => self.expr(expr, &For::Variable(name.clone())),
                        other => self.node(other),
                    }
                }
            }
            Node::Do(expr) => match &expr.kind {
                // `do list.append(clock)`: the list holds it now.
                ExprKind::Call(callee, args)
                    if base_name(callee).is_some_and(|name| self.own.contains(&name)) =>
                {
                    if let Some(name) = base_name(callee) {
                        self.args(args, &For::Variable(name));
                    }
                }
                _ => self.expr(expr, &For::Role(ClockRole::Log)),
            },
            Node::Macro(def) => self.nodes(&def.body),
            Node::Call { body, call, .. } => {
                self.expr(call, &self.printed());
                self.nodes(&body.body);
            }
            Node::FilterBlock(filter, body, _) => {
                self.expr(filter, &self.printed());
                self.nodes(body);
            }
            Node::With(values, body) => {
                for (target, value) in values {
                    self.expr(value, &For::Variable(target_name(target)));
                }
                self.nodes(body);
            }
            Node::Scope(body) => self.nodes(body),
            Node::Break | Node::Continue => {}
        }
    }

    fn sql_text(&mut self, span: Span) {
        let bytes = &self.text.as_bytes()[span.range()];
        let mut at = 0;
        while at < bytes.len() {
            let pair = (bytes[at], bytes.get(at + 1).copied().unwrap_or(0));
            self.sql = match (self.sql, pair) {
                (SqlState::Plain, (b'-', b'-')) => SqlState::Line,
                (SqlState::Plain, (b'/', b'*')) => SqlState::Block,
                (SqlState::Plain, (b'\'', _)) => SqlState::Quoted,
                (SqlState::Quoted, (b'\'', _))
                | (SqlState::Line, (b'\n', _))
                | (SqlState::Block, (b'*', b'/')) => SqlState::Plain,
                (state, _) => state,
            };
            at += 1;
        }
    }

    fn args(&mut self, args: &Args, role: &For) {
        for arg in args.all() {
            self.expr(arg, role);
        }
    }

    fn expr(&mut self, expr: &Expr, role: &For) {
        if let Some((kind, span)) = self.clock(expr) {
            return self.add(kind, span, role);
        }
        match &expr.kind {
            ExprKind::Name(name) => {
                let Some(clocks) = self.tainted.get(name).cloned() else { return };
                for clock in clocks {
                    self.used(clock, expr.span, role);
                }
            }
            ExprKind::Call(callee, args) => self.call(callee, args, role),
            ExprKind::List(items) => items.iter().for_each(|item| self.expr(item, role)),
            ExprKind::Dict(items) => items.iter().for_each(|(key, value)| {
                self.expr(key, role);
                self.expr(value, role);
            }),
            ExprKind::Attr(of, _) | ExprKind::Not(of) | ExprKind::Negative(of) => self.expr(of, role),
            ExprKind::Slice(of, parts) => {
                self.expr(of, role);
                parts.iter().flatten().for_each(|part| self.expr(part, role));
            }
            ExprKind::Filter(of, _, args) => {
                if let Some(of) = of {
                    self.expr(of, role);
                }
                self.args(args, role);
            }
            ExprKind::Test(of, _, args) => {
                self.expr(of, role);
                self.args(args, role);
            }
            ExprKind::Item(a, b) | ExprKind::Binary(_, a, b) | ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                self.expr(a, role);
                self.expr(b, role);
            }
            ExprKind::Compare(first, rest) => {
                self.expr(first, role);
                rest.iter().for_each(|(_, value)| self.expr(value, role));
            }
            ExprKind::If(condition, then, otherwise) => {
                self.expr(condition, &For::Role(ClockRole::Condition));
                self.expr(then, role);
                if let Some(otherwise) = otherwise {
                    self.expr(otherwise, role);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, callee: &Expr, args: &Args, role: &For) {
        let path = path_of(callee);
        match path.as_deref() {
            Some("log" | "print" | "exceptions.warn" | "exceptions.raise_compiler_error") => {
                self.args(args, &For::Role(ClockRole::Log));
            }
            Some("config") => {
                for (name, value) in &args.named {
                    self.expr(value, &For::Role(ClockRole::Config(name.to_string())));
                }
                for value in &args.plain {
                    self.expr(value, &For::Role(ClockRole::Config(String::new())));
                }
            }
            Some("run_query") => self.args(args, &For::Role(ClockRole::Sql)),
            Some("var") => {
                let before = self.found.len();
                self.args(args, role);
                for clock in &mut self.found[before..] {
                    clock.is_var_default = true;
                }
            }
            _ => {
                self.expr(callee, role);
                self.args(args, role);
            }
        }
    }

    fn add(&mut self, kind: ClockKind, span: Span, role: &For) {
        let at = self.found.iter().position(|clock| clock.span == span.range()).unwrap_or(self.found.len());
        if at == self.found.len() {
            self.found.push(TemplateClock {
                text: self.text[span.range()].to_owned(),
                span: span.range(),
                kind,
                role: ClockRole::Unused,
                uses: Vec::new(),
                is_var_default: false,
            });
        }
        self.used(at, span, role);
    }

    fn used(&mut self, clock: usize, at: Span, role: &For) {
        match role {
            For::Role(role) => self.found[clock].uses.push((at.range(), role.clone())),
            For::Variable(name) => {
                let clocks = self.tainted.entry(name.clone()).or_default();
                if !clocks.contains(&clock) {
                    clocks.push(clock);
                }
            }
        }
    }

    /// Whether the expression itself is a clock, and how much of it that is.
    fn clock(&self, expr: &Expr) -> Option<(ClockKind, Span)> {
        if let ExprKind::Call(callee, _) = &expr.kind
            && let Some(path) = path_of(callee)
        {
            let (_, name) = path.rsplit_once('.')?;
            let of_time = path.starts_with("modules.datetime.")
                || path.starts_with("macros.datetime")
                || path.starts_with("datetime.")
                || path.starts_with("pendulum.");
            let is_now = matches!(name, "now" | "utcnow" | "today");
            return (of_time && is_now && !self.is_own(&path)).then_some((ClockKind::Now, expr.span));
        }
        let path = path_of(expr)?;
        if self.is_own(&path) {
            return None;
        }
        let kind = match path.as_str() {
            "run_started_at"
            | "dag_run.start_date"
            | "dag_run.queued_at"
            | "task_instance.start_date"
            | "ti.start_date" => ClockKind::RunStart,
            "invocation_id" | "run_id" | "dag_run.run_id" => ClockKind::Invocation,
            "prev_start_date_success"
            | "prev_end_date_success"
            | "prev_data_interval_start_success"
            | "prev_data_interval_end_success" => ClockKind::OtherRun,
            "ts" | "ts_nodash" | "ts_nodash_with_tz" => ClockKind::RunOrInterval,
            "ds"
            | "ds_nodash"
            | "prev_ds"
            | "prev_ds_nodash"
            | "prev_execution_date"
            | "execution_date"
            | "logical_date"
            | "data_interval_start" => ClockKind::IntervalStart,
            "data_interval_end" => ClockKind::IntervalEnd,
            _ => return None,
        };
        Some((kind, expr.span))
    }

    fn is_own(&self, path: &str) -> bool {
        let first = path.split('.').next().unwrap_or(path);
        self.own.iter().any(|name| &**name == first)
    }
}

fn target_name(target: &Target) -> Arc<str> {
    match target {
        Target::Name(name) | Target::Attr(name, _) => name.clone(),
    }
}

/// `a` of `a.b.c`.
fn base_name(expr: &Expr) -> Option<Arc<str>> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.clone()),
        ExprKind::Attr(of, _) => base_name(of),
        _ => None,
    }
}

/// `a.b.c` as text.
fn path_of(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.to_string()),
        ExprKind::Attr(of, name) => Some(format!("{}.{name}", path_of(of)?)),
        _ => None,
    }
}
