//! Rules, and how one is written.
//!
//! A rule is one file `src/rules/omNNN.rs`, one page `rules/OMNNN.md` (documentation and test at once), and its name in
//! `rules!` below. `cargo fmt` does not look behind a macro; `.ci/run` does. The file holds one constant and one function:
//!
//! ```ignore
//! //! OM306: a MERGE that only inserts.
//! use super::prelude::*;
//!
//! pub(super) const RULE: Rule = Rule { id: "OM306", page: include_str!("../../rules/OM306.md"), check };
//!
//! fn check(file: &File<'_>, out: &mut Findings<'_>) {
//!     for write in file.writes() {
//!         if write.verb == Verb::Merge && only_inserts(&write) {
//!             out.report(Draft::new(Severity::Error, write.head, "…").rerun("…").help("…"));
//!         }
//!     }
//! }
//! ```
//!
//! Name, severity and texts of a rule stand on its page; the test `pages` runs the page's examples.
//!
//! # What a rule can ask
//!
//! * [`File::writes`]: each write of the file ([`WriteFact`], which derefs to [`crate::ir::Write`]): verb, target, head,
//!   columns, source query, conflict clause, branches of a MERGE, SET list, partition. [`WriteFact::effect`]
//!   says what a
//!   second run does ([`Effect`]: append, fresh, replace slice or all with the statement that removes and
//!   whether the
//!   two are atomic, keyed, keep first, change); [`WriteFact::context`] knows the script around it (stage,
//!   log, same
//!   transaction).
//! * [`File::statements`]: each statement with its [`View`]; actions that are no writes (DDL, SET, transactions) are in
//!   [`crate::ir::Action`].
//! * [`File::occurrences`]: calls that depend on clock, chance, session … ([`Class`](crate::functions::Class))
//!   with the [`Role`](crate::facts::Role)s their value
//!   plays, followed through CTEs, subqueries and aliases.
//! * [`View`]: `outputs`, `resolve`, `origin` (lineage of a column), `tables` (all tables read), `keys` (what is unique in
//!   a query's rows), `determines` (do these expressions decide a row?
//!   [`Answer`](crate::facts::Answer) says which fact lacks),
//!   `depends_only_on`, `scopes` (ranges on columns, pushed through), `self_reads`, `key_columns`,
//!   `merge_pairs`.
//! * [`Knowledge`]: tables with columns, types, NOT NULL, keys, partition columns.
//!
//! # How to speak
//!
//! [`Draft::lacked`] names a missing fact and takes the severity one step down. Give the re-run that goes
//! wrong in terms of
//! the statement at hand. Where in doubt, be silent: precision is the product.

mod fixes;
mod shared;
mod slices;
mod uses;

use std::cell::OnceCell;
use std::ops::Deref;

use crate::config::Config;
use crate::facts::{Effect, Knowledge, Occurrence, Stages, StatementContext, View};
use crate::finding::{Draft, Finding};
use crate::ir::{Action, Name, Statement, Write};
use crate::page;
use crate::script::Script;

/// What a rule's file needs.
mod prelude {
    pub(super) use super::{File, Findings, Rule, WriteFact};
    pub(super) use crate::facts::*;
    pub(super) use crate::finding::{Draft, Severity};
    pub(super) use crate::functions::Class;
    pub(super) use crate::ir::*;
    pub(super) use crate::text::Span;
}

/// A rule.
pub struct Rule {
    /// `OM101`.
    pub id: &'static str,
    /// Its page.
    pub page: &'static str,
    /// Looks at a file.
    check: fn(&File<'_>, &mut Findings<'_>),
}

impl Rule {
    /// The rule's name, from the title of its page.
    #[must_use]
    pub fn name(&self) -> &'static str {
        page::title(self.page).1
    }
}

/// Registers rules: a file that is not named here is not compiled, and a name without a file does not compile.
macro_rules! rules {
    ($($rule:ident),* $(,)?) => {
        $(mod $rule;)*
        /// All rules, in order of their ids.
        pub static RULES: &[&Rule] = &[$(&$rule::RULE),*];
    };
}

rules! {
    om101,
    om102,
    om103,
    om104,
    om105,
    om106,
    om107,
    om108,
    om109,
    om110,
    om111,
    om112,
    om113,
    om201,
    om202,
    om203,
    om204,
    om205,
    om206,
    om207,
    om208,
    om209,
    om301,
    om302,
    om303,
    om304,
    om305,
    om306,
    om307,
    om308,
    om309,
    om310,
    om311,
    om312,
    om313,
    om314,
    om315,
    om316,
    om317,
    om318,
    om319,
    om320,
    om321,
    om401,
    om402,
    om403,
    om404,
    om405,
    om406,
    om407,
    om408,
    om409,
    om501,
    om502,
    om503,
    om504,
    om505,
    om506,
}

/// The rule of an id.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id.eq_ignore_ascii_case(id))
}

/// A file as rules see it.
pub struct File<'a> {
    /// The file.
    pub script: &'a Script,
    /// What is known of tables, from all files.
    pub knowledge: &'a Knowledge,
    /// What the user has set.
    pub config: &'a Config,
    views: Vec<View<'a>>,
    occurrences: Vec<OnceCell<Vec<Occurrence<'a>>>>,
}

/// A write with its place.
#[derive(Clone, Copy)]
pub struct WriteFact<'f, 'a> {
    /// The write.
    pub write: &'a Write,
    /// The statement's index.
    pub at: usize,
    /// The write's index in its statement.
    pub index: usize,
    /// The statement.
    pub statement: &'a Statement,
    /// The view of the statement.
    pub view: &'f View<'a>,
    /// The script around it.
    pub context: StatementContext<'a>,
}

impl<'a> Deref for WriteFact<'_, 'a> {
    type Target = Write;
    fn deref(&self) -> &Self::Target {
        self.write
    }
}

impl WriteFact<'_, '_> {
    /// What a second run does.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.context.effect(self.index)
    }
}

impl<'a> File<'a> {
    /// Prepares a file.
    #[must_use]
    pub fn new(script: &'a Script, knowledge: &'a Knowledge, config: &'a Config) -> Self {
        let mut stages = Stages::default();
        let mut views = Vec::with_capacity(script.statements.len());
        for (statement, at) in script.statements.iter().zip(0..) {
            let view = View::new(statement, knowledge, script.dialect).after(&stages);
            let atomic_scripts = config.atomic_scripts;
            stages.pass(&view, &StatementContext { script, knowledge, statement: at, atomic_scripts });
            views.push(view);
        }
        let occurrences = script.statements.iter().map(|_| OnceCell::new()).collect();
        Self { script, knowledge, config, views, occurrences }
    }

    /// Statements with their index and view.
    pub fn statements(&self) -> impl Iterator<Item = (usize, &'a Statement, &View<'a>)> {
        self.script
            .statements
            .iter()
            .zip(&self.views)
            .enumerate()
            .map(|(at, (statement, view))| (at, statement, view))
    }

    /// Writes in order.
    pub fn writes(&self) -> impl Iterator<Item = WriteFact<'_, 'a>> {
        self.statements().flat_map(move |(at, statement, view)| {
            let context = self.context(at);
            statement.writes.iter().enumerate().map(move |(index, write)| WriteFact {
                write,
                at,
                index,
                statement,
                view,
                context,
            })
        })
    }

    /// A write.
    #[must_use]
    pub fn write(&self, at: usize, index: usize) -> Option<WriteFact<'_, 'a>> {
        let statement = self.script.statements.get(at)?;
        let (write, view) = (statement.writes.get(index)?, self.views.get(at)?);
        Some(WriteFact { write, at, index, statement, view, context: self.context(at) })
    }

    /// Writes to a table before a statement, nearest first; plain INSERTs are left out.
    pub fn changes_before<'f>(
        &'f self,
        target: &'f Name,
        at: usize,
    ) -> impl Iterator<Item = WriteFact<'f, 'a>> {
        self.script.index.before(target.last(), at).flat_map(move |at| self.changes_at(target, at))
    }

    /// Writes to a table after a statement, nearest first; plain INSERTs are left out.
    pub fn changes_after<'f>(
        &'f self,
        target: &'f Name,
        at: usize,
    ) -> impl Iterator<Item = WriteFact<'f, 'a>> {
        self.script.index.after(target.last(), at).flat_map(move |at| self.changes_at(target, at))
    }

    fn changes_at<'f>(&'f self, target: &'f Name, at: usize) -> impl Iterator<Item = WriteFact<'f, 'a>> {
        let count = self.script.statements.get(at).map_or(0, |statement| statement.writes.len());
        (0..count)
            .filter_map(move |index| self.write(at, index))
            .filter(move |write| write.target.same(target))
    }

    /// The script around a statement.
    #[must_use]
    pub fn context(&self, statement: usize) -> StatementContext<'a> {
        StatementContext {
            script: self.script,
            knowledge: self.knowledge,
            statement,
            atomic_scripts: self.config.atomic_scripts,
        }
    }

    /// Calls of a statement that depend on more than their arguments, with their roles.
    #[must_use]
    pub fn occurrences(&self, statement: usize) -> &[Occurrence<'a>] {
        let (Some(cell), Some(view)) = (self.occurrences.get(statement), self.views.get(statement)) else {
            return &[];
        };
        cell.get_or_init(|| view.occurrences())
    }

    /// Whether a query looks at the engine's own views alone: somebody watches the engine, and stores nothing.
    fn reads_only_system(&self, statement: &Statement, root: crate::ir::QueryId) -> bool {
        const SCHEMAS: &[&str] =
            &["information_schema", "account_usage", "organization_usage", "pg_catalog", "sys", "system"];
        const TABLES: &[&str] = &["svv_", "stl_", "stv_", "svl_", "sys_", "pg_", "duckdb_"];
        let is_system = |name: &str| {
            let name = name.to_ascii_lowercase();
            name.split('.').any(|part| SCHEMAS.contains(&part))
                || TABLES
                    .iter()
                    .any(|start| name.rsplit('.').next().is_some_and(|last| last.starts_with(start)))
        };
        let Some(view) = self.views.iter().find(|view| std::ptr::eq(view.statement, statement)) else {
            return false;
        };
        let mut relations = view
            .reachable(root)
            .into_iter()
            .filter_map(|id| view.select(id))
            .flat_map(|select| &select.from)
            .filter_map(|from| match &from.relation {
                crate::ir::Relation::Table(name) => Some(name.text()),
                crate::ir::Relation::Function(call) => Some(call.name.clone()),
                _ => None,
            })
            .peekable();
        relations.peek().is_some() && relations.all(|name| is_system(&name))
    }

    fn takes_parameters(&self, statement: &Statement) -> bool {
        let named = self.views.iter().find(|view| std::ptr::eq(view.statement, statement));
        named.is_some_and(View::takes_parameters)
    }

    /// Whether the file is one query with parameters that nothing in it stores: a task whose result somebody
    /// stores, and
    /// it is judged as if it were stored.
    #[must_use]
    pub fn is_single_query(&self) -> bool {
        let mut statements = self
            .script
            .statements
            .iter()
            .filter(|statement| !matches!(statement.action, Action::Utility | Action::Session { .. }));
        let Some(only) = statements.next() else { return false };
        let Action::Select(root) = only.action else { return false };
        statements.next().is_none() && self.takes_parameters(only) && !self.reads_only_system(only, root)
    }
}

/// Where rules put their findings.
pub struct Findings<'a> {
    script: &'a Script,
    rule: &'static Rule,
    found: &'a mut Found,
}

/// What rules found, by what their places are places of.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// In the script's own text.
    pub(crate) sql: Vec<Finding>,
    /// In the text of the template that the script was rendered from.
    pub(crate) template: Vec<Finding>,
    /// Those of `sql` that say of a table that it can be created once only.
    definitions: Vec<usize>,
}

impl Findings<'_> {
    /// Reports a finding.
    pub fn report(&mut self, draft: Draft) {
        let template = self.script.template.as_deref().filter(|_| draft.in_template);
        let (text, lines, list) = match template {
            Some(template) => (&*template.text, &template.lines, &mut self.found.template),
            None => (self.script.text.as_str(), &self.script.lines, &mut self.found.sql),
        };
        if draft.is_definition && template.is_none() {
            self.found.definitions.push(list.len());
        }
        let span = draft.span.within(text);
        list.push(Finding {
            rule: self.rule.id,
            name: self.rule.name(),
            severity: draft.severity,
            confidence: draft.confidence,
            path: self.script.path.clone(),
            span,
            start: lines.position(text, span.start),
            end: lines.position(text, span.end),
            message: draft.message,
            rerun: draft.rerun,
            lacked: draft.lacked,
            help: draft.help,
            fix: draft.fix.filter(|fix| fix.span == fix.span.within(text)),
        });
    }
}

/// Runs all rules on a file.
pub(crate) fn run(file: &File<'_>) -> Found {
    let mut found = Found::default();
    for rule in RULES {
        if file.config.is_off(rule.id) {
            continue;
        }
        (rule.check)(file, &mut Findings { script: file.script, rule, found: &mut found });
    }
    once_a_script(&mut found);
    found.sql = once_a_list(file, found.sql);
    found
}

/// Of the tables of one script that can be created once only, more than this are one finding.
const TABLES: usize = 3;

/// A script that defines many tables runs once or not at all: that is one fact, not one a table.
fn once_a_script(found: &mut Found) {
    let [first, more @ ..] = found.definitions.as_slice() else { return };
    if more.len() < TABLES {
        return;
    }
    if let Some(finding) = found.sql.get_mut(*first) {
        finding.message.push_str(&format!(", as can {} more tables of this script", more.len()));
    }
    let mut at = 0;
    found.sql.retain(|_| {
        at += 1;
        !more.contains(&(at - 1))
    });
}

/// Rows put in one by one, `INSERT … VALUES` after `INSERT … VALUES` into one table, are one fact: the first is reported,
/// and how many follow.
fn once_a_list(file: &File<'_>, findings: Vec<Finding>) -> Vec<Finding> {
    let statements = &file.script.statements;
    let mut first: Vec<usize> = (0..statements.len()).collect();
    for at in 1..statements.len() {
        if let (Some(before), Some(this)) = (statements.get(at - 1), statements.get(at))
            && let (Some(before_row), Some(this_row)) = (row_put_in(before), row_put_in(this))
            && before_row.target.same(&this_row.target)
        {
            first[at] = first[at - 1];
        }
    }
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    let mut seen: std::collections::HashMap<(&str, usize, String), (usize, usize, usize)> =
        std::collections::HashMap::new();
    for finding in findings {
        let after = statements.partition_point(|statement| statement.span.start <= finding.span.start);
        let at = after.saturating_sub(1);
        if statements.get(at).and_then(row_put_in).is_none() {
            kept.push(finding);
            continue;
        }
        let key = (finding.rule, first.get(at).copied().unwrap_or(at), finding.message.clone());
        match seen.get_mut(&key) {
            Some((_, last, more)) if *last != at => {
                *last = at;
                *more += 1;
            }
            Some(_) => kept.push(finding),
            None => {
                seen.insert(key, (kept.len(), at, 0));
                kept.push(finding);
            }
        }
    }
    for (place, _, more) in seen.into_values() {
        if let Some(finding) = kept.get_mut(place).filter(|_| more > 0) {
            finding.message.push_str(&format!(" (and so do the {more} rows put in after it)"));
        }
    }
    kept
}

/// The write of `INSERT INTO t VALUES (…)`.
fn row_put_in(statement: &Statement) -> Option<&Write> {
    let [write] = statement.writes.as_slice() else { return None };
    let source = statement.queries.get(write.source?.0 as usize)?;
    (write.verb == crate::ir::Verb::Insert && matches!(source.body, crate::ir::Body::Values(_)))
        .then_some(write)
}

/// Whether an id is that of a rule that is no look at a file: OM001, OM002.
#[must_use]
pub fn is_reserved(id: &str) -> bool {
    id == crate::scan::NOT_ANALYSED || id == crate::suppress::UNUSED
}
