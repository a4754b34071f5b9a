//! A file to statements in the intermediate form: splits, parses with the named dialect and then with
//! others, and reads
//! by tokens what no parser needs to see (COPY, SET, transactions).

mod executed;
mod parsed;
mod squeezed;
pub(crate) mod stated;
mod tokens;
pub(crate) mod variables;
mod words;

use words::UTILITIES;

use crate::dialect::Dialect;
use crate::functions::{Names, listed};
use crate::ir::{Action, Query, Statement, Write};
use crate::lex::{Lexed, TokenKind, lex};
use crate::lower::Source;
use crate::split::{Piece, PieceKind, split};
use crate::text::{Lines, Span};

/// How much of a file could be judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Statements that were understood.
    pub analysed: usize,
    /// All statements.
    pub statements: usize,
}

/// A file in the intermediate form.
#[derive(Clone, Debug)]
pub struct Script {
    /// Path as given.
    pub path: String,
    /// The text.
    pub text: String,
    /// Its lines.
    pub lines: Lines,
    /// Its tokens.
    pub lexed: Lexed,
    /// The dialect it was read as.
    pub dialect: Dialect,
    /// Statements in order.
    pub statements: Vec<Statement>,
    /// How much was understood.
    pub coverage: Coverage,
    /// Statements by what they touch.
    pub index: crate::facts::ScriptIndex,
    /// Keys of tables that its comments state.
    pub(crate) stated: Vec<stated::Stated>,
    /// Functions that it defines.
    pub routines: Vec<crate::routine::Routine>,
    /// What its model header says, if it is one of our models.
    pub model: Option<crate::model::Header>,
    /// The dbt template that it was rendered from, if it was.
    pub template: Option<std::sync::Arc<crate::dbt::Template>>,
}

/// Reads a file.
#[must_use]
pub fn read(path: &str, text: &str, dialect: Dialect) -> Script {
    read_with(path, text, dialect, &[])
}

/// Reads a file in which these places, ascending, hold values that another run may have others of.
pub(crate) fn read_with(path: &str, text: &str, dialect: Dialect, parameters: &[Span]) -> Script {
    let mut lexed = lex(text, dialect);
    if !parameters.is_empty() {
        lexed.placeholders.extend(parameters);
        lexed.placeholders.sort_unstable();
    }
    let lines = Lines::of(text);
    // What is masked is as long as what it stands for, but holds no ends of lines, and no characters of several bytes.
    let spread = |placeholder: &Span| placeholder.of(text).contains('\n');
    let differs =
        !lexed.placeholders.is_empty() && (!text.is_ascii() || lexed.placeholders.iter().any(spread));
    let masked_lines = if differs { Lines::of(&lexed.masked) } else { lines.clone() };
    let pieces = split(text, &lexed, dialect);
    let variables = variables::variables(text, &lexed, dialect);
    let source = Source { text, lexed: &lexed, lines: &masked_lines, dialect, variables: &variables };
    let executed = executed::executed(text, &lexed, &pieces, dialect);
    let inner = executed.as_ref().map(|executed| Source {
        text: &executed.text,
        lexed: &executed.lexed,
        lines: &executed.lines,
        dialect,
        variables: &variables,
    });
    let inner = inner.as_ref().zip(executed.as_ref());
    let reader = Reader { source: &source, executed: inner };
    let mut coverage = Coverage::default();
    let mut statements = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        if piece.kind == PieceKind::Control {
            continue;
        }
        let statement = reader.statement(piece);
        coverage.statements += 1;
        coverage.analysed += usize::from(!matches!(statement.action, Action::Unread(_)));
        statements.push(statement);
    }
    let index = crate::facts::ScriptIndex::of(&statements);
    Script {
        path: path.to_string(),
        text: text.to_string(),
        lines,
        stated: stated::stated(text, &lexed),
        routines: crate::routine::routines(text, &lexed),
        lexed,
        dialect,
        statements,
        coverage,
        index,
        model: None,
        template: None,
    }
}

struct Reader<'a> {
    source: &'a Source<'a>,
    /// Statements in constant texts that are run.
    executed: Option<(&'a Source<'a>, &'a executed::Executed)>,
}

/// What a statement is found to be.
type Found = (Action, Vec<Write>, Vec<Query>);

fn only(action: Action) -> Found {
    (action, Vec::new(), Vec::new())
}

/// Whether a macro that stands alone is called like a check of data: it looks, and writes nothing.
fn asserts(placeholder: &str) -> bool {
    static CHECKS: Names = Names::of(include_str!("../data/names/checks.txt"));
    let call = placeholder.trim_start_matches(['{', '-', ' ']);
    let name = call.split('(').next().unwrap_or("").trim();
    call.contains('(') && listed(&CHECKS, name.rsplit('.').next().unwrap_or(name))
}

impl Reader<'_> {
    fn statement(&self, piece: &Piece) -> Statement {
        let (action, writes, queries) = match piece.kind {
            PieceKind::Begin => only(Action::Begin),
            PieceKind::Commit => only(Action::Commit),
            PieceKind::Rollback => only(Action::Rollback),
            PieceKind::Sql | PieceKind::Control => self.found(piece),
        };
        let guard = piece.guard.clone().and_then(|range| {
            let tokens = self.source.lexed.tokens.get(range)?;
            Some(tokens.first()?.span.to(tokens.last()?.span))
        });
        Statement {
            span: piece.span,
            action,
            writes,
            queries,
            transaction: piece.transaction,
            routine: piece.routine,
            guard,
            handler: piece.handler,
        }
    }

    fn word(&self, at: usize) -> String {
        match self.source.lexed.tokens.get(at) {
            Some(token) if token.kind == TokenKind::Word => {
                token.span.of(self.source.text).to_ascii_lowercase()
            }
            _ => String::new(),
        }
    }

    fn found(&self, piece: &Piece) -> Found {
        let first = self.word(piece.tokens.start);
        let second = self.word(piece.tokens.start + 1);
        match first.as_str() {
            "select" | "with" | "values" | "from" | "insert" | "replace" | "update" | "delete" | "merge"
            | "truncate" | "upsert" => self.parsed(piece),
            "create" if !self.has_word(piece, 6, &["table", "view", "index"]) => only(Action::Utility),
            "drop" if !self.has_word(piece, 4, &["table"]) => only(Action::Utility),
            "alter" if second == "session" && self.word(piece.tokens.start + 2) == "set" => {
                self.session(piece, &self.word(piece.tokens.start + 3))
            }
            "alter" if second != "table" => only(Action::Utility),
            "create" | "drop" | "alter" => self.definition(piece),
            "copy" => self.copy(piece),
            "set" | "declare" | "let" | "define" => self.set(piece),
            "use" if matches!(second.as_str(), "warehouse" | "role" | "secondary") => only(Action::Utility),
            "use" => self.session(piece, "schema"),
            "execute" if second == "immediate" => self.built(piece, piece.tokens.start + 2),
            "exec" | "execute" if second.is_empty() => self.built(piece, piece.tokens.start + 1),
            "exec" | "execute" if second == "sp_executesql" || self.runs_text(piece) => self.built(piece, 0),
            // Procedures of the engine itself write no rows of interest.
            "exec" | "execute" if second.starts_with("sp_") || second == "sys" => only(Action::Utility),
            "call" | "exec" | "execute" => only(Action::Call),
            "rename" => self.renamed(piece),
            "bulk" | "load" => self.bulk(piece),
            "" if self.is_mark(piece.tokens.start, b'(') => self.parsed(piece),
            word if UTILITIES.contains(&word) => only(Action::Utility),
            word if piece.tokens.len() == 1
                && self.source.lexed.placeholder_at(piece.span.start).is_some() =>
            {
                if asserts(word) {
                    return only(Action::Utility);
                }
                only(Action::Unread(format!("`{word}` stands for text that is not known here")))
            }
            _ if piece.routine || self.assigns(piece) => self.set(piece),
            _ => self.parsed(piece),
        }
    }

    /// `EXECUTE sql` in PL/pgSQL runs what a variable holds; elsewhere it names a procedure or a prepared statement.
    fn runs_text(&self, piece: &Piece) -> bool {
        piece.routine && matches!(self.source.dialect, Dialect::Postgres | Dialect::Redshift)
    }
}
