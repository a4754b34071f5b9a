//! From the parser's tree to the intermediate form. The only module that knows `sqlparser`'s tree.

mod ddl;
mod expr;
mod from;
mod place;
mod query;
mod write;

use std::collections::HashMap;

pub(crate) use ddl::name_from;
pub(crate) use expr::MAX_PARTITION;

use sqlparser::ast::{ObjectName, ObjectNamePart, Spanned, Statement as Ast};

use crate::dialect::Dialect;
use crate::ir::{Action, Name, Query, QueryId, Write};
use crate::lex::Lexed;
use crate::script::variables::Variables;
use crate::text::{Lines, Span};

/// What lowering needs of the file.
pub(crate) struct Source<'a> {
    /// The text as written.
    pub(crate) text: &'a str,
    /// Its tokens; the masked text is what the parser saw.
    pub(crate) lexed: &'a Lexed,
    /// Lines of the masked text.
    pub(crate) lines: &'a Lines,
    /// The dialect it was read as.
    pub(crate) dialect: Dialect,
    /// The names it declares.
    pub(crate) variables: &'a Variables,
}

/// Lowers one statement.
pub(crate) struct Lowering<'a> {
    source: &'a Source<'a>,
    /// The statement's place in the file.
    span: Span,
    /// Line (from 0) and column in characters (from 0) at which the statement begins.
    origin: (u64, u64),
    routine: bool,
    queries: Vec<Query>,
    ctes: Vec<HashMap<String, QueryId>>,
    /// WINDOW clauses of the selects around.
    windows: Vec<Vec<sqlparser::ast::NamedWindowDefinition>>,
    writes: Vec<Write>,
}

/// A statement in parts.
pub(crate) struct Lowered {
    pub(crate) action: Action,
    pub(crate) writes: Vec<Write>,
    pub(crate) queries: Vec<Query>,
}

impl<'a> Lowering<'a> {
    pub(crate) fn new(source: &'a Source<'a>, span: Span, routine: bool) -> Self {
        let position = source.lines.position(&source.lexed.masked, span.start);
        let origin = (u64::from(position.line - 1), u64::from(position.column - 1));
        Self {
            source,
            span,
            origin,
            routine,
            queries: Vec::new(),
            ctes: Vec::new(),
            windows: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// Lowers an expression that stands alone.
    pub(crate) fn alone(mut self, expr: &sqlparser::ast::Expr) -> (crate::ir::Expr, Vec<Query>) {
        let expr = self.expr(expr, None);
        (expr, self.queries)
    }

    /// Lowers a statement, or what one statement does in several parts.
    pub(crate) fn statements(mut self, asts: &[Ast]) -> Lowered {
        let mut action = Action::Utility;
        for ast in asts {
            action = self.action(ast);
        }
        Lowered { action, writes: self.writes, queries: self.queries }
    }

    fn action(&mut self, ast: &Ast) -> Action {
        match ast {
            Ast::Query(query) => self.root_query(query),
            Ast::Insert(insert) => self.insert(insert),
            Ast::Update(update) => self.update(update),
            Ast::Delete(delete) => self.delete(delete),
            Ast::Merge(merge) => self.merge(merge),
            Ast::Truncate(truncate) => self.truncate(truncate),
            Ast::CreateTable(create) => self.create_table(create),
            Ast::CreateView(create) => self.create_view(create),
            Ast::AlterTable(alter) => self.alter_table(alter),
            Ast::RenameTable(renames) => self.rename_tables(renames),
            Ast::Drop { object_type: sqlparser::ast::ObjectType::Table, if_exists, names, .. } => {
                Action::Drop {
                    names: names.iter().map(|name| self.name(name)).collect(),
                    guarded: *if_exists,
                }
            }
            Ast::CreateIndex(index) => self.create_index(index),
            Ast::Explain { .. } | Ast::Declare { .. } | Ast::Set(_) => Action::Utility,
            Ast::Cache { query: Some(query), .. } => self.root_query(query),
            _ => Action::Utility,
        }
    }

    /// A table's name. A name in one pair of backticks may hold dots; a decorator (`$20240301`) is no part
    /// of it.
    fn name(&self, name: &ObjectName) -> Name {
        let mut parts = Vec::new();
        let mut span = Span::NOWHERE;
        for part in &name.0 {
            match part {
                ObjectNamePart::Identifier(ident) => {
                    let mut place = self.place(ident.span);
                    // The parser puts `@stage/path/` together and forgets where it stood.
                    if !place.is_somewhere() && ident.value.starts_with('@') {
                        let written = self.span.of(self.source.text).find(&ident.value);
                        let start = |at: usize| self.span.start as usize + at;
                        place =
                            written.map_or(place, |at| Span::new(start(at), start(at) + ident.value.len()));
                    }
                    span = span.to(place);
                    let written = self.word_of(ident, place);
                    if ident.quote_style == Some('`') {
                        parts.extend(written.split('.').map(str::to_string));
                    } else {
                        parts.push(written);
                    }
                }
                ObjectNamePart::Function(function) => {
                    span = span.to(self.place(function.name.span));
                    parts.push(part.to_string().to_ascii_lowercase());
                }
            }
        }
        Name { parts, span }
    }

    /// An identifier folded; of a placeholder what is written.
    fn word_of(&self, ident: &sqlparser::ast::Ident, place: Span) -> String {
        if place.is_somewhere() && self.source.lexed.placeholder_at(place.start).is_some() {
            return place.of(self.source.text).to_ascii_lowercase();
        }
        if !self.source.lexed.placeholders.is_empty() && ident.quote_style.is_none() && place.is_somewhere() {
            let written = place.of(self.source.text);
            if written.len() == ident.value.len() {
                return written.to_ascii_lowercase();
            }
        }
        ident.value.to_ascii_lowercase()
    }

    fn span_of(&self, node: &impl Spanned) -> Span {
        self.place(node.span())
    }
}
