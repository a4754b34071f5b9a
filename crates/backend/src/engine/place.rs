//! Where in the SQL a word is that an error is about, and that the planner gives no place of.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use super::{EngineError, ModelQuery};
use crate::error::About;

/// The error at its word, where the SQL that it is about has that once.
pub(super) fn placed(error: EngineError, query: &ModelQuery) -> EngineError {
    let (None, Some(About::Word(word))) = (error.at, &error.about) else { return error };
    let view = error.view.as_ref().and_then(|view| query.views.iter().find(|(name, _)| name == view));
    let sql = view.map_or(&query.sql, |(_, sql)| sql);
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location().unwrap_or_default();
    let is_it = |token: &Token| matches!(token, Token::Word(found) if found.value.eq_ignore_ascii_case(word));
    let mut places = tokens.iter().filter(|token| is_it(&token.token)).map(|token| token.span.start);
    let (Some(place), None) = (places.next(), places.next()) else { return error };
    error.at(Some((place.line, place.column)))
}
