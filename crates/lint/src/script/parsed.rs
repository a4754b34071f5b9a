//! Statements that a parser reads: with the grammar of the dialect, then with others, then once more with what no
//! grammar takes cut out.

use std::borrow::Cow;
use std::cell::OnceCell;

use sqlparser::dialect::{self as parsers, Dialect as Grammar};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::dialect::Dialect;
use crate::ir::{Action, Expr, Query, Verb};
use crate::lex::{self, TokenKind};
use crate::lower::Lowering;
use crate::prepare::{Prepared, prepare};
use crate::split::Piece;
use crate::text::Span;

use super::squeezed::Squeezed;
use super::tokens::tokens;
use super::{Found, Reader, only};

/// Nesting beyond this is not read: a finding says so.
const DEPTH: usize = 50;

/// A chain of operators, or of UNION, beyond this is not read.
const CHAIN: usize = 1_000;

impl Reader<'_> {
    pub(super) fn expression(&self, span: Span) -> Option<(Expr, Vec<Query>)> {
        let text = span.of(&self.source.lexed.masked);
        let readable = self.readable(span, text, true);
        for grammar in grammars(self.source.dialect) {
            let Ok(mut parser) = parser(*grammar, &readable) else { continue };
            if let Ok(ast) = parser.parse_expr() {
                return Some(Lowering::new(self.source, span, true).alone(&ast));
            }
        }
        None
    }

    pub(super) fn parsed(&self, piece: &Piece) -> Found {
        if let Some(reason) = self.refused(piece) {
            return only(Action::Unread(reason));
        }
        let mut error = String::new();
        for again in [false, true] {
            let prepared = prepare(self.source.text, self.source.lexed, piece, self.source.dialect, again);
            if again && !prepared.more {
                break;
            }
            let as_written = matches!(prepared.text, Cow::Borrowed(_));
            let readable = self.readable(piece.span, &prepared.text, as_written);
            for grammar in grammars(self.source.dialect) {
                match parse(*grammar, &readable) {
                    Ok(ast) => return self.lowered(piece, &[ast], &prepared),
                    Err(message) if error.is_empty() => error = message,
                    Err(_) => {}
                }
            }
        }
        self.multi_insert(piece).unwrap_or_else(|| only(Action::Unread(error)))
    }

    /// A text that stands for a span of the file, byte for byte as long.
    fn readable<'t>(&'t self, span: Span, text: &'t str, as_written: bool) -> Readable<'t> {
        let tokens = &self.source.lexed.tokens;
        let from = tokens.partition_point(|token| token.span.start < span.start);
        let to = tokens.partition_point(|token| token.span.end <= span.end);
        Readable {
            text,
            lexed: tokens.get(from..to).unwrap_or_default(),
            start: span.start,
            is_plain: as_written,
            squeezed: OnceCell::new(),
        }
    }

    fn lowered(&self, piece: &Piece, asts: &[sqlparser::ast::Statement], prepared: &Prepared<'_>) -> Found {
        let lowered = Lowering::new(self.source, piece.span, piece.routine).statements(asts);
        let mut found = (lowered.action, lowered.writes, lowered.queries);
        if let (Some(span), Some(write)) = (prepared.predicate, found.1.first_mut()) {
            write.verb = Verb::ReplaceWhere;
            if let Some((expr, _)) = self.expression(span) {
                write.filters.push(expr);
            }
        }
        if let Some(query) = found
            .2
            .iter_mut()
            .find(|query| query.span.contains(prepared.samples.first().map_or(Span::NOWHERE, |s| s.span)))
        {
            sample(query, &prepared.samples);
        }
        prepared.qualifies.iter().for_each(|place| qualify(&mut found.2, *place));
        found
    }

    /// `FROM s INSERT OVERWRITE TABLE a SELECT … INSERT INTO b SELECT …` of Hive: one source, several writes.
    fn multi_insert(&self, piece: &Piece) -> Option<Found> {
        let tokens = &self.source.lexed.tokens;
        let top = |at: usize| {
            tokens.get(at).is_some_and(|t| t.outer.is_none_or(|outer| (outer as usize) < piece.tokens.start))
        };
        let starts: Vec<u32> = piece
            .tokens
            .clone()
            .filter(|at| self.word(*at) == "insert" && top(*at))
            .filter_map(|at| tokens.get(at).map(|token| token.span.start))
            .collect();
        if self.word(piece.tokens.start) != "from" || starts.is_empty() {
            return None;
        }
        let prepared = prepare(self.source.text, self.source.lexed, piece, self.source.dialect, true);
        let part = |from: u32, to: u32| -> String {
            let base = piece.span.start as usize;
            let (from, to) = (from as usize - base, to as usize - base);
            let keep = |(at, c): (usize, char)| if c == '\n' || (from..to).contains(&at) { c } else { ' ' };
            prepared.text.char_indices().map(keep).collect()
        };
        let read = |text: &str| {
            let readable = self.readable(piece.span, text, false);
            grammars(self.source.dialect).iter().find_map(|grammar| parse(*grammar, &readable).ok())
        };
        let sqlparser::ast::Statement::Query(source) = read(&part(piece.span.start, *starts.first()?))?
        else {
            return None;
        };
        let from = &source.body.as_select()?.from;
        let mut asts = Vec::with_capacity(starts.len());
        for (at, start) in starts.iter().enumerate() {
            let end = starts.get(at + 1).copied().unwrap_or(piece.span.end);
            let mut ast = read(&part(*start, end))?;
            let sqlparser::ast::Statement::Insert(insert) = &mut ast else { return None };
            let sqlparser::ast::SetExpr::Select(select) = &mut *insert.source.as_mut()?.body else {
                return None;
            };
            select.from.splice(0..0, from.iter().cloned());
            asts.push(ast);
        }
        Some(self.lowered(piece, &asts, &prepared))
    }

    /// Why a statement is not given to the parser: what nests too deep would overflow a stack.
    fn refused(&self, piece: &Piece) -> Option<String> {
        let tokens = self.source.lexed.tokens.get(piece.tokens.clone())?;
        let (mut depth, mut deepest, mut chain, mut longest, mut branches) =
            (0_usize, 0, 0_usize, 0, 0_usize);
        for token in tokens {
            match token.kind {
                TokenKind::Mark(b'(' | b'[') => {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                TokenKind::Mark(b')' | b']') => depth = depth.saturating_sub(1),
                TokenKind::Mark(b',') => chain = 0,
                TokenKind::Mark(b'.') => {}
                TokenKind::Mark(_) => {
                    chain += 1;
                    longest = longest.max(chain);
                }
                TokenKind::Word => {
                    let word = token.span.of(self.source.text);
                    let is = |words: &[&str]| words.iter().any(|other| word.eq_ignore_ascii_case(other));
                    if is(&["union", "except", "intersect", "minus"]) {
                        branches += 1;
                    } else if is(&["and", "or", "select", "from", "when", "then"]) {
                        chain = 0;
                    }
                }
                _ => {}
            }
        }
        if deepest > DEPTH {
            return Some(format!("parentheses stand {deepest} deep; at most {DEPTH} are read"));
        }
        (longest > CHAIN || branches > CHAIN)
            .then(|| format!("a chain of more than {CHAIN} operators is not read"))
    }
}

/// `USING SAMPLE`, which the parser does not take, belongs to the first table.
fn sample(query: &mut Query, samples: &[crate::ir::Sample]) {
    if let (crate::ir::Body::Select(select), Some(sample)) = (&mut query.body, samples.first())
        && let Some(from) = select.from.first_mut()
    {
        from.sample = Some(sample.clone());
    }
}

/// What was read as HAVING because QUALIFY was not understood at `place`.
fn qualify(queries: &mut [Query], place: u32) {
    let of = |query: &Query| match &query.body {
        crate::ir::Body::Select(select) => {
            select.having.first().map(|expr| expr.span.start).filter(|start| *start > place)
        }
        _ => None,
    };
    let nearest =
        queries.iter_mut().filter_map(|query| Some((of(query)?, query))).min_by_key(|(start, _)| *start);
    if let Some((_, Query { body: crate::ir::Body::Select(select), .. })) = nearest {
        let having = std::mem::take(&mut select.having);
        select.qualify.extend(having);
    }
}

/// A text to be parsed, with the tokens of the file that stand in it.
struct Readable<'t> {
    text: &'t str,
    lexed: &'t [lex::Token],
    start: u32,
    /// Whether the text is what the tokens are of.
    is_plain: bool,
    squeezed: OnceCell<Squeezed>,
}

impl Readable<'_> {
    fn tokens(&self, grammar: &dyn Grammar) -> Result<Vec<TokenWithSpan>, String> {
        if self.is_plain
            && let Ok(tokens) = tokens(self.text, self.lexed, self.start, grammar)
        {
            return Ok(tokens);
        }
        let squeezed = self.squeezed.get_or_init(|| Squeezed::of(self.text, self.lexed, self.start));
        let mut tokens = squeezed.tokens(grammar)?;
        // Blanks beside comments are still several tokens, and each look ahead steps over all of them: one is left.
        tokens.dedup_by(|next, kept| {
            matches!((&next.token, &kept.token), (Token::Whitespace(_), Token::Whitespace(_)))
        });
        Ok(tokens)
    }
}

fn parser<'a>(grammar: &'static dyn Grammar, text: &Readable<'_>) -> Result<Parser<'a>, String> {
    let tokens = text.tokens(grammar)?;
    Ok(Parser::new(grammar).with_recursion_limit(DEPTH).with_tokens_with_locations(tokens))
}

fn parse(grammar: &'static dyn Grammar, text: &Readable<'_>) -> Result<sqlparser::ast::Statement, String> {
    let mut parser = parser(grammar, text)?;
    let statement = parser.parse_statement().map_err(|error| error.to_string())?;
    match parser.peek_token().token {
        Token::EOF | Token::SemiColon => Ok(statement),
        other => Err(format!("expected the end of the statement, found {other}")),
    }
}

const POSTGRES: &dyn Grammar = &parsers::PostgreSqlDialect {};
const REDSHIFT: &dyn Grammar = &parsers::RedshiftSqlDialect {};
const SNOWFLAKE: &dyn Grammar = &parsers::SnowflakeDialect;
const BIGQUERY: &dyn Grammar = &parsers::BigQueryDialect;
const SPARK: &dyn Grammar = &parsers::SparkSqlDialect;
const DATABRICKS: &dyn Grammar = &parsers::DatabricksDialect;
const HIVE: &dyn Grammar = &parsers::HiveDialect {};
const DUCKDB: &dyn Grammar = &parsers::DuckDbDialect;
const MYSQL: &dyn Grammar = &parsers::MySqlDialect {};
const MSSQL: &dyn Grammar = &parsers::MsSqlDialect {};
const CLICKHOUSE: &dyn Grammar = &parsers::ClickHouseDialect {};
const ORACLE: &dyn Grammar = &parsers::OracleDialect;
const ANSI: &dyn Grammar = &parsers::AnsiDialect {};
const GENERIC: &dyn Grammar = &parsers::GenericDialect;

/// The grammars to try, in order.
fn grammars(dialect: Dialect) -> &'static [&'static dyn Grammar] {
    match dialect {
        Dialect::Postgres => &[POSTGRES, GENERIC, REDSHIFT],
        Dialect::Redshift => &[REDSHIFT, POSTGRES, GENERIC, SNOWFLAKE],
        Dialect::Snowflake => &[SNOWFLAKE, GENERIC, POSTGRES],
        Dialect::BigQuery => &[BIGQUERY, GENERIC],
        Dialect::Spark => &[DATABRICKS, SPARK, HIVE, GENERIC],
        Dialect::DuckDb => &[DUCKDB, GENERIC, POSTGRES],
        Dialect::Trino => &[GENERIC, ANSI, POSTGRES, HIVE],
        Dialect::MySql => &[MYSQL, GENERIC],
        Dialect::TSql => &[MSSQL, GENERIC],
        Dialect::ClickHouse => &[CLICKHOUSE, GENERIC],
        Dialect::Oracle => &[ORACLE, GENERIC],
        Dialect::Ansi => &[GENERIC, POSTGRES, SNOWFLAKE, BIGQUERY, MSSQL],
    }
}
