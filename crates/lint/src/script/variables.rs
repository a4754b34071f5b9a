//! Names that a script declares: parameters of its routines, and variables. In a statement they read like columns, and
//! are values. By tokens; a name counts from where it is declared to the end of its routine, or of the file.

use crate::dialect::Dialect;
use crate::lex::{Lexed, TokenKind};
use crate::text::Span;

/// Declared names, each with where it counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(Vec<(String, Span)>);

impl Variables {
    /// Whether a word at a place names a variable.
    pub(crate) fn hold(&self, name: &str, place: Span) -> bool {
        self.0.iter().any(|(known, scope)| scope.contains(place) && known.eq_ignore_ascii_case(name))
    }
}

/// All names that a script declares without a mark such as `@`.
pub(crate) fn variables(text: &str, lexed: &Lexed, dialect: Dialect) -> Variables {
    let mut search = Search { text, lexed, dialect, found: Vec::new() };
    // What T-SQL declares is seen by its mark, and so are the parameters of engines without procedures.
    if matches!(dialect, Dialect::TSql | Dialect::ClickHouse | Dialect::DuckDb | Dialect::Trino) {
        return Variables::default();
    }
    for at in 0..lexed.tokens.len() {
        if lexed.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word) {
            search.look(at);
        }
    }
    Variables(search.found)
}

/// Words before the name of a parameter.
const MODES: &[&str] = &["in", "out", "inout", "variadic", "constant"];

/// Words that begin no declaration.
const OTHERS: &[&str] =
    &["begin", "cursor", "type", "subtype", "pragma", "procedure", "function", "exception", "end"];

/// A parameter without a name begins with its type.
const TYPES: &[&str] = &[
    "date",
    "timestamp",
    "timestamptz",
    "time",
    "integer",
    "int",
    "bigint",
    "smallint",
    "text",
    "varchar",
    "character",
    "char",
    "numeric",
    "decimal",
    "number",
    "boolean",
    "bool",
    "json",
    "jsonb",
    "uuid",
    "double",
    "real",
    "float",
    "string",
    "interval",
    "bytea",
    "void",
];

struct Search<'a> {
    text: &'a str,
    lexed: &'a Lexed,
    dialect: Dialect,
    found: Vec<(String, Span)>,
}

impl<'a> Search<'a> {
    fn word(&self, at: usize) -> &'a str {
        let token = self.lexed.tokens.get(at).filter(|token| token.kind == TokenKind::Word);
        token.map_or("", |token| token.span.of(self.text))
    }

    fn any(&self, at: usize, words: &[&str]) -> bool {
        let word = self.word(at);
        words.iter().any(|other| word.eq_ignore_ascii_case(other))
    }

    fn mark(&self, at: usize) -> u8 {
        match self.lexed.tokens.get(at).map(|token| token.kind) {
            Some(TokenKind::Mark(mark)) => mark,
            _ => 0,
        }
    }

    fn look(&mut self, at: usize) {
        let opens = |this: &Self| at == 0 || matches!(this.mark(at - 1), b';' | b'/') || this.is_first(at);
        if self.any(at, &["procedure", "proc", "function"]) {
            self.routine(at);
        } else if self.any(at, &["declare", "let"]) && opens(self) {
            self.declared(at + 1, self.is_listed() && self.any(at, &["declare"]));
        } else if self.dialect == Dialect::Oracle && self.any(at, &["is", "as"]) && self.begins_body(at) {
            self.declared(at + 1, true);
        }
    }

    /// Whether a token is the first of its line, or of a body.
    fn is_first(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.lexed.tokens.get(at));
        let (Some(before), Some(token)) = (before, self.lexed.tokens.get(at)) else { return true };
        before.kind == TokenKind::BodyOpen
            || self.any(at - 1, &["begin", "as"])
            || Span { start: before.span.end, end: token.span.start }.of(self.text).contains('\n')
    }

    /// Whether declarations go on, each to its semicolon, until BEGIN.
    fn is_listed(&self) -> bool {
        matches!(
            self.dialect,
            Dialect::Postgres | Dialect::Redshift | Dialect::Oracle | Dialect::Snowflake | Dialect::Ansi
        )
    }

    /// `PROCEDURE p (…) IS`, `DECLARE` in front of `BEGIN`: a head was seen not far before.
    fn begins_body(&self, at: usize) -> bool {
        let near = at.saturating_sub(400);
        let outer = self.lexed.tokens.get(at).and_then(|token| token.outer);
        outer.is_none()
            && (near..at)
                .rev()
                .take_while(|at| self.mark(*at) != b';')
                .any(|at| self.any(at, &["procedure", "function"]))
    }

    /// To the end of the routine that begins here: of its body in dollar quotes, else to the next routine.
    fn scope(&self, at: usize) -> Span {
        let start = self.lexed.tokens.get(at).map_or(0, |token| token.span.start);
        let whole = Span::new(start as usize, self.text.len());
        for (index, token) in self.lexed.tokens.iter().enumerate().skip(at + 1) {
            let next = self.any(index, &["create"]) && self.is_first(index)
                || self.dialect == Dialect::Oracle && self.any(index, &["procedure"]) && self.is_first(index);
            if token.kind == TokenKind::BodyClose || next {
                return Span { start, end: token.span.end };
            }
        }
        whole
    }

    fn add(&mut self, at: usize, scope: Span) {
        let name = self.word(at);
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if plain && name.len() > 1 {
            self.found.push((name.to_owned(), scope));
        }
    }

    /// The parameters of `PROCEDURE p (a date, IN b int)`.
    fn routine(&mut self, at: usize) {
        // SQL's own functions of one expression have names that are columns elsewhere: only what runs statements counts.
        let open = (at + 1..at + 8).find(|at| self.mark(*at) == b'(');
        let Some((open, close)) =
            open.and_then(|open| Some((open, self.lexed.tokens.get(open)?.mate? as usize)))
        else {
            return;
        };
        let scope = self.scope(at);
        let mut first = true;
        for index in open + 1..close {
            let inner =
                self.lexed.tokens.get(index).and_then(|token| token.outer) == u32::try_from(open).ok();
            if self.mark(index) == b',' && inner {
                first = true;
            } else if first && inner && !self.any(index, MODES) {
                let named = !self.any(index, TYPES) && !self.word(index + 1).is_empty() && index + 1 < close;
                if named {
                    self.add(index, scope);
                }
                first = false;
            }
        }
    }

    /// `DECLARE a, b DATE DEFAULT …`; with `list` further declarations follow, to BEGIN.
    fn declared(&mut self, from: usize, list: bool) {
        let scope = self.scope(from);
        let mut at = from;
        loop {
            if self.word(at).is_empty()
                || self.any(at, OTHERS) && !(list && self.any(at, &["cursor", "type", "subtype", "pragma"]))
            {
                return;
            }
            let handler = self.any(at, &["exit", "continue", "undo"]) && self.any(at + 1, &["handler"]);
            let named = !self.any(at, OTHERS) && !handler && !self.any(at + 1, &["cursor"]);
            if named {
                self.add(at, scope);
                let mut next = at + 1;
                while self.mark(next) == b',' {
                    self.add(next + 1, scope);
                    next += 2;
                }
            }
            let end = (at..self.lexed.tokens.len()).find(|at| self.mark(*at) == b';');
            match end {
                Some(end) if list => at = end + 1,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::variables;
    use crate::dialect::Dialect;
    use crate::lex::lex;

    fn names(text: &str, dialect: Dialect) -> Vec<String> {
        variables(text, &lex(text, dialect), dialect).0.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn parameters_and_declarations_of_each_dialect() {
        let oracle = "CREATE OR REPLACE PROCEDURE r.p (p_day IN DATE, p_n NUMBER DEFAULT 1) AS\n  l_rows PLS_INTEGER;\n  \
                      CURSOR c IS SELECT 1 FROM dual;\n  l_x DATE := SYSDATE;\nBEGIN\n  NULL;\nEND;\n/\n";
        assert_eq!(names(oracle, Dialect::Oracle), ["p_day", "p_n", "l_rows", "l_x"]);
        let block =
            "DECLARE\n  v_day DATE := DATE '2024-03-01';\n  v_n NUMBER;\nBEGIN\n  DELETE FROM t;\nEND;\n/";
        assert_eq!(names(block, Dialect::Oracle), ["v_day", "v_n"]);
        let postgres = "CREATE FUNCTION f(p_day date, INOUT p_n int) RETURNS void AS $$\nDECLARE\n  v_from date;\nBEGIN\nEND $$ \
                        LANGUAGE plpgsql;";
        assert_eq!(names(postgres, Dialect::Postgres), ["p_day", "p_n", "v_from"]);
        let mysql = "CREATE PROCEDURE p(IN p_day DATE)\nBEGIN\n  DECLARE done, more INT DEFAULT 0;\n  DECLARE EXIT HANDLER FOR \
                     SQLEXCEPTION BEGIN END;\n  DECLARE c CURSOR FOR SELECT 1;\nEND";
        assert_eq!(names(mysql, Dialect::MySql), ["p_day", "done", "more"]);
        let bigquery = "DECLARE run_day, until DATE DEFAULT CURRENT_DATE();\nSELECT 1;";
        assert_eq!(names(bigquery, Dialect::BigQuery), ["run_day", "until"]);
        assert_eq!(names("CREATE FUNCTION f(date, integer) RETURNS int AS 'x'", Dialect::Postgres), [""; 0]);
    }

    #[test]
    fn a_name_counts_in_its_routine_only() {
        let text = "CREATE PROCEDURE a(IN p_day DATE) BEGIN DELETE FROM t WHERE d = p_day; END;\nCREATE TABLE u AS SELECT p_day FROM v;";
        let found = variables(text, &lex(text, Dialect::MySql), Dialect::MySql);
        let at = |nth: usize| {
            let start = text.match_indices("p_day").nth(nth).expect("there").0;
            crate::text::Span::new(start, start + 5)
        };
        assert!(found.hold("P_DAY", at(1)));
        assert!(!found.hold("p_day", at(2)));
    }
}
