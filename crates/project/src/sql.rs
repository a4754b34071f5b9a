//! One model's SQL: parsed, checked to be one query, its names and placeholders found, its text made canonical.
//!
//! Knows no project: which names exist is in [`crate::graph`]. Types and columns are the engine's business.

pub(crate) mod canonical;
mod depth;
mod outputs;
mod scope;

use oncemore_core::Diagnostic;
use sqlparser::ast::Query;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, TokenizerError};

pub(crate) use canonical::{Canonical, Piece, PieceKind};
pub(crate) use scope::{Placeholder, TableUse};

/// The dialect that DataFusion itself takes by default, so that what is parsed here is what runs there.
const DIALECT: GenericDialect = GenericDialect {};

/// A place in the SQL text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Something wrong with a query.
#[derive(Clone, Debug)]
pub(crate) struct SqlError {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) span: Span,
}

impl SqlError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        SqlError { code, message: message.into(), help: None, span }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// As a diagnostic; `locate` turns a span into a place in a file.
    pub(crate) fn diagnostic(self, locate: impl Fn(Span) -> oncemore_core::Location) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.code, self.message, locate(self.span));
        diagnostic.help = self.help;
        diagnostic
    }
}

/// What is known of a query from its text alone.
#[derive(Debug)]
pub(crate) struct Analysed {
    /// Tables named in FROM that are no CTEs.
    pub(crate) tables: Vec<TableUse>,
    /// Tables named in `previous(…)`.
    pub(crate) previous: Vec<TableUse>,
    pub(crate) placeholders: Vec<Placeholder>,
    pub(crate) canonical: Canonical,
    /// Output columns that the query names.
    pub(crate) outputs: Vec<(String, Span)>,
    pub(crate) errors: Vec<SqlError>,
}

/// Analyses a query.
///
/// # Errors
/// What keeps it from being parsed as one query.
pub(crate) fn analyse(sql: &str) -> Result<Analysed, Vec<SqlError>> {
    let lines = Lines::new(sql);
    let tokens = tokens(sql, &lines).map_err(|error| vec![error])?;
    if let Some(deep) = depth::too_deep(&tokens) {
        let place = word_at(sql, lines.byte(deep.span.start.line, deep.span.start.column));
        return Err(vec![SqlError::new("sql", TOO_DEEP, place).help(TOO_DEEP_HELP)]);
    }
    let pieces = canonical::pieces(sql, &lines, &tokens);
    check_shape(sql, &pieces).map_err(|error| vec![error])?;
    let query = parse(sql, &lines, tokens).map_err(|error| vec![error])?;
    let found = scope::resolve(sql, &lines, &query);
    let canonical = canonical::canonical(sql, &pieces, &found);
    Ok(Analysed {
        tables: found.tables,
        previous: found.previous,
        placeholders: found.placeholders,
        canonical,
        outputs: outputs::outputs(sql, &lines, &query),
        errors: found.errors,
    })
}

const TOO_DEEP: &str = "the expression goes too deep";
const TOO_DEEP_HELP: &str = "write `x IN (…)` for a chain of ORs, or split the query into CTEs or views";

/// Whether `sql` goes no deeper than what is taken on; else what to do about it.
///
/// # Errors
/// The message and the help.
pub fn check_depth(sql: &str) -> Result<(), (&'static str, &'static str)> {
    let tokens = Tokenizer::new(&DIALECT, sql).tokenize_with_location();
    match tokens.ok().as_deref().and_then(depth::too_deep) {
        Some(_) => Err((TOO_DEEP, TOO_DEEP_HELP)),
        // Text that is no SQL is somebody else's to refuse.
        None => Ok(()),
    }
}

/// Whether `sql` is one condition; else what is wrong with it.
pub(crate) fn check_condition(sql: &str) -> Result<(), String> {
    check_depth(sql).map_err(|(message, _)| message.to_owned())?;
    let mut parser = Parser::new(&DIALECT).try_with_sql(sql).map_err(|error| clean(&error.to_string()))?;
    parser.parse_expr().map_err(|error| clean(&error.to_string()))?;
    match parser.peek_token().token {
        Token::EOF => Ok(()),
        other => Err(format!("one condition expected, found `{other}` after it")),
    }
}

fn tokens(sql: &str, lines: &Lines) -> Result<Vec<TokenWithSpan>, SqlError> {
    let control = |char: char| char.is_control() && !matches!(char, '\n' | '\r' | '\t');
    if let Some(start) = sql.find(control) {
        let span = Span { start, end: start + 1 };
        return Err(SqlError::new("sql", "control character in the query", span).help("remove it"));
    }
    Tokenizer::new(&DIALECT, sql).tokenize_with_location().map_err(|TokenizerError { message, location }| {
        let start = lines.byte(location.line, location.column);
        SqlError::new("sql", message, word_at(sql, start))
    })
}

/// One statement, and it begins like a query.
fn check_shape(sql: &str, pieces: &[Piece]) -> Result<(), SqlError> {
    let mut solid = pieces.iter().filter(|piece| piece.kind != PieceKind::Blank);
    let Some(first) = solid.next() else {
        let span = Span { start: 0, end: 0 };
        return Err(SqlError::new("sql", "the file holds no query", span).help("write one SELECT"));
    };
    let upper = sql[first.start..first.end].to_ascii_uppercase();
    if first.kind == PieceKind::Word && !matches!(upper.as_str(), "SELECT" | "WITH" | "VALUES" | "FROM") {
        let help = match crate::names::nearest(&upper, ["SELECT", "WITH"]) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "a model is one SELECT: Oncemore itself creates, fills and replaces the table".to_owned(),
        };
        let span = word_at(sql, first.start);
        return Err(SqlError::new("not-a-query", format!("{upper} is no query"), span).help(help));
    }
    let mut after = solid.skip_while(|piece| piece.kind != PieceKind::Semicolon);
    if let Some(second) = after.find(|piece| piece.kind != PieceKind::Semicolon) {
        return Err(SqlError::new("not-a-query", "a second statement", word_at(sql, second.start))
            .help("a model is one SELECT: put the other one into a file of its own"));
    }
    Ok(())
}

fn parse(sql: &str, lines: &Lines, tokens: Vec<TokenWithSpan>) -> Result<Box<Query>, SqlError> {
    let mut parser = Parser::new(&DIALECT).with_tokens_with_locations(tokens);
    let parsed = parser.parse_query().and_then(|query| {
        while parser.consume_token(&Token::SemiColon) {}
        parser.expect_token(&Token::EOF).map(|_| query)
    });
    parsed.map_err(|error| match error {
        ParserError::RecursionLimitExceeded => {
            SqlError::new("sql", TOO_DEEP, word_at(sql, 0)).help(TOO_DEEP_HELP)
        }
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
            let end = sql.trim_end().len();
            let span = match location_in(&message) {
                Some((line, column)) => word_at(sql, lines.byte(line, column)),
                None => Span { start: end, end },
            };
            SqlError::new("sql", clean(&message), span)
        }
    })
}

/// The message without the prefix and the place that the parser puts in, beginning in lower case.
fn clean(message: &str) -> String {
    let message = message.trim_start_matches("sql parser error: ");
    let message = message.split(" at Line: ").next().unwrap_or(message);
    let message = message.replacen("Expected: ", "expected ", 1).replace(", found: ", ", found ");
    message.replace("found EOF", "found the end").replace("expected EOF", "expected the end")
}

/// The `at Line: x, Column: y` of a parser's message.
fn location_in(message: &str) -> Option<(u64, u64)> {
    let (_, place) = message.rsplit_once(" at Line: ")?;
    let (line, column) = place.split_once(", Column: ")?;
    Some((line.trim().parse().ok()?, column.trim().parse().ok()?))
}

/// The word or the character at a byte.
fn word_at(sql: &str, start: usize) -> Span {
    let rest = &sql[start..];
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let word = rest.find(|char: char| !is_word(char)).unwrap_or(rest.len());
    let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
    Span { start, end: start + length }
}

/// From lines and columns, in which the parser counts, to bytes.
pub(crate) struct Lines<'a> {
    sql: &'a str,
    starts: Vec<usize>,
    ascii: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(sql: &'a str) -> Self {
        let breaks = sql.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines { sql, starts: std::iter::once(0).chain(breaks).collect(), ascii: sql.is_ascii() }
    }

    /// The byte at a line and column, both from 1, clamped to the text.
    pub(crate) fn byte(&self, line: u64, column: u64) -> usize {
        let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        let Some(start) = self.starts.get(index) else { return self.sql.len() };
        let column = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
        if self.ascii {
            return start.saturating_add(column).min(self.sql.len());
        }
        let rest = &self.sql[*start..];
        rest.char_indices().nth(column).map_or(self.sql.len(), |(byte, _)| start + byte)
    }

    /// The byte where a span of the parser begins.
    pub(crate) fn start_of(&self, span: sqlparser::tokenizer::Span) -> usize {
        self.byte(span.start.line, span.start.column)
    }
}
