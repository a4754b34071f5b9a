//! A model's SQL with the values of one interval written in, for people to run elsewhere. Text for reading: tasks bind
//! typed values and never come by here.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};
use jiff::civil::DateTime;
use oncemore_core::{Instant, Interval, TimeType};

use super::parameters::Parameter;
use super::{EngineError, ErrorKind, Literal, ModelQuery};

/// `sql` with every placeholder replaced by its literal, and `previous(…)` by `before`. `view` is the view that it is
/// the SQL of, if it is.
pub(super) fn with_values(
    sql: &str,
    view: Option<&str>,
    query: &ModelQuery,
    parameters: &[Parameter],
    interval: Interval,
    before: Option<&str>,
) -> Result<String, EngineError> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql)
        .tokenize_with_location()
        .map_err(|error| EngineError::new(ErrorKind::Parse, error.to_string()))?;
    let mut written = String::with_capacity(sql.len());
    let mut types = parameters.iter().filter(|parameter| parameter.view.as_deref() == view);
    let mut copied = 0;
    let solid: Vec<&TokenWithSpan> =
        tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).collect();
    let calls = before.into_iter().flat_map(|_| solid.windows(6).filter_map(|call| previous(sql, call)));
    let placeholders = tokens.windows(2).filter_map(|pair| placeholder(sql, pair)).chain(whole(sql, &tokens));
    let mut places: Vec<(usize, usize, Option<String>)> =
        placeholders.map(|(start, end, name)| (start, end, Some(name))).collect();
    places.extend(calls.map(|(start, end)| (start, end, None)));
    places.sort_unstable();
    for (start, end, name) in places {
        written.push_str(&sql[copied..start]);
        copied = end;
        let Some(name) = name else {
            written.push_str(before.unwrap_or_default());
            continue;
        };
        if name == "interval_start" || name == "interval_end" {
            let time_type =
                types.next().and_then(|parameter| parameter.time_type).unwrap_or(TimeType::Instant);
            let edge = if name == "interval_end" { interval.end() } else { interval.start() };
            written.push_str(&edge_literal(time_type, edge, query));
        } else if let Some((_, value)) = query.variables.iter().find(|(variable, _)| *variable == name) {
            written.push_str(&literal(value));
        }
    }
    written.push_str(&sql[copied..]);
    Ok(written)
}

/// A colon and the word right behind it.
fn placeholder(sql: &str, pair: &[TokenWithSpan]) -> Option<(usize, usize, String)> {
    let [colon, word] = pair else { return None };
    let (Token::Colon, Token::Word(name)) = (&colon.token, &word.token) else { return None };
    (colon.span.end == word.span.start)
        .then(|| (offset(sql, colon.span.start), offset(sql, word.span.end), name.value.clone()))
}

/// `previous(schema.name)`, without its blanks.
fn previous(sql: &str, call: &[&TokenWithSpan]) -> Option<(usize, usize)> {
    let [name, open, _, dot, _, close] = call else { return None };
    let Token::Word(word) = &name.token else { return None };
    let called = word.quote_style.is_none() && word.value.eq_ignore_ascii_case("previous");
    let brackets = (&open.token, &dot.token, &close.token);
    (called && brackets == (&Token::LParen, &Token::Period, &Token::RParen))
        .then(|| (offset(sql, name.span.start), offset(sql, close.span.end)))
}

/// Placeholders that come as one token.
fn whole<'a>(sql: &'a str, tokens: &'a [TokenWithSpan]) -> impl Iterator<Item = (usize, usize, String)> + 'a {
    tokens.iter().filter_map(move |token| match &token.token {
        Token::Placeholder(name) => {
            let name = name.strip_prefix(':')?.to_owned();
            Some((offset(sql, token.span.start), offset(sql, token.span.end), name))
        }
        _ => None,
    })
}

fn offset(sql: &str, at: Location) -> usize {
    let lines = usize::try_from(at.line.saturating_sub(1)).unwrap_or(0);
    let start: usize = sql.split_inclusive('\n').take(lines).map(str::len).sum();
    let column = usize::try_from(at.column.saturating_sub(1)).unwrap_or(0);
    let rest = &sql[start..];
    start + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at)
}

pub(super) fn edge_literal(time_type: TimeType, edge: Instant, query: &ModelQuery) -> String {
    let shown = |wall: DateTime| wall.strftime("%Y-%m-%d %H:%M:%S%.f").to_string();
    match time_type {
        TimeType::Date => format!("DATE '{}'", query.zone.date_bound(edge)),
        TimeType::Wall => format!("TIMESTAMP '{}'", shown(query.zone.wall_bound(edge))),
        TimeType::Instant => format!("CAST('{edge}' AS TIMESTAMPTZ)"),
    }
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => format!("CAST({value} AS DOUBLE)"),
        Literal::Text(value) => format!("'{}'", value.replace('\'', "''")),
        Literal::Bool(value) => value.to_string(),
    }
}
