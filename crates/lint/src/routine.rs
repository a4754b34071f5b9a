//! Functions and macros that a file defines, and whether they can be vouched for. Read by tokens: their
//! bodies are no
//! statements of the script.

use crate::ir::Name;
use crate::lex::{Lexed, TokenKind};
use crate::lower::name_from;
use crate::text::Span;

/// Why the same arguments give the same value, or that nobody says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trust {
    /// Declared immutable, deterministic or stable.
    Declared,
    /// Its body is SQL, or a script that asks for neither clock nor chance.
    Readable,
    /// Neither: another language, or another machine.
    Opaque,
}

/// A function of a project.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Routine {
    /// Its name.
    pub name: Name,
    /// Whether it can be vouched for.
    pub trust: Trust,
}

/// The functions that a text defines.
#[must_use]
pub fn routines(text: &str, lexed: &Lexed) -> Vec<Routine> {
    let word = |at: usize| match lexed.tokens.get(at) {
        Some(token) if token.kind == TokenKind::Word => token.span.of(text).to_ascii_lowercase(),
        _ => String::new(),
    };
    let mut found = Vec::new();
    for at in 0..lexed.tokens.len() {
        let token = lexed.tokens.get(at).map_or("", |token| token.span.of(text));
        if !token.eq_ignore_ascii_case("create") {
            continue;
        }
        let Some(kind) = (at + 1..at + 6).find(|at| matches!(word(*at).as_str(), "function" | "macro"))
        else {
            continue;
        };
        let head_only = (at + 1..kind).all(|at| {
            ["or", "replace", "temp", "temporary", "secure", "external", "public", "global"]
                .contains(&word(at).as_str())
        });
        let mut start = kind + 1;
        while matches!(word(start).as_str(), "if" | "not" | "exists") {
            start += 1;
        }
        let name = name_at(text, lexed, start);
        if head_only && !name.parts.is_empty() {
            let (words, body) = definition(text, lexed, start);
            let external = (at + 1..kind).any(|at| word(at) == "external");
            found.push(Routine { name, trust: if external { Trust::Opaque } else { trust(&words, body) } });
        }
    }
    found
}

fn name_at(text: &str, lexed: &Lexed, start: usize) -> Name {
    let mut span = Span::NOWHERE;
    for token in lexed.tokens.iter().skip(start) {
        let part = matches!(token.kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Mark(b'.'));
        if !part || (span.is_somewhere() && token.span.start != span.end) {
            break;
        }
        span = span.to(token.span);
    }
    name_from(span.of(text), span)
}

/// The words of a definition outside its body, to the end of the statement; and all of its text.
fn definition<'a>(text: &'a str, lexed: &Lexed, start: usize) -> (Vec<String>, &'a str) {
    let mut words = Vec::new();
    let mut depth = 0_usize;
    let mut span = Span::NOWHERE;
    for token in lexed.tokens.iter().skip(start) {
        match token.kind {
            TokenKind::BodyOpen => depth += 1,
            TokenKind::BodyClose => depth = depth.saturating_sub(1),
            TokenKind::Mark(b';') if depth == 0 && token.outer.is_none() => break,
            TokenKind::Word if depth == 0 => words.push(token.span.of(text).to_ascii_lowercase()),
            _ => {}
        }
        span = span.to(token.span);
    }
    (words, span.of(text))
}

fn trust(words: &[String], body: &str) -> Trust {
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let denied =
        words.windows(2).any(|pair| matches!(pair, [not, what] if not == "not" && what == "deterministic"));
    if ["immutable", "deterministic", "stable"].iter().any(|word| has(word)) && !denied {
        return Trust::Declared;
    }
    let language = words.windows(2).find_map(|pair| match pair {
        [word, language] if word == "language" => Some(language.as_str()),
        _ => None,
    });
    // A script in the engine's sandbox can ask for nothing but the clock and chance.
    let script = matches!(language, Some("js" | "javascript"))
        && !["Math.random", "Date(", "Date.now", "new Date", "performance.", "crypto."]
            .iter()
            .any(|call| body.contains(call));
    let reckons = language == Some("plpgsql") && only_reckons(body);
    let foreign = language.is_some_and(|language| language != "sql" && !script && !reckons) || has("remote");
    if foreign || has("volatile") && !script { Trust::Opaque } else { Trust::Readable }
}

/// Whether a procedural body asks nothing but its arguments: it reads no table, no clock, no chance, no setting.
fn only_reckons(body: &str) -> bool {
    const ASKS: &[&str] = &[
        "select",
        "perform",
        "execute",
        "from",
        "insert",
        "update",
        "delete",
        "now",
        "random",
        "nextval",
        "currval",
        "clock_timestamp",
        "statement_timestamp",
        "transaction_timestamp",
        "timeofday",
        "gen_random_uuid",
        "call",
        "current_setting",
        "set_config",
        "localtimestamp",
        "localtime",
        "age",
    ];
    let mut words = body.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_ascii_lowercase);
    !words.any(|word| {
        ASKS.contains(&word.as_str()) || word.starts_with("current_") || word.starts_with("uuid_")
    })
}
