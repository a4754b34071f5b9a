//! What is rewritten only in a statement that no grammar has taken as it stands. Coarse is good enough here: the other
//! choice is not to judge at all.

use crate::dialect::Dialect;
use crate::lex::TokenKind;
use crate::text::Span;

use super::Preparing;

/// Hints that stand after a table in T-SQL.
const HINTS: &[&str] = &[
    "nolock",
    "holdlock",
    "rowlock",
    "updlock",
    "tablock",
    "tablockx",
    "readpast",
    "paglock",
    "xlock",
    "nowait",
    "snapshot",
    "noexpand",
    "forceseek",
    "forcescan",
    "serializable",
    "repeatableread",
    "readcommitted",
    "readcommittedlock",
    "readuncommitted",
    "keepidentity",
    "keepdefaults",
    "ignore_constraints",
    "ignore_triggers",
    "index",
    "fastfirstrow",
];

/// Units that may follow a number without INTERVAL.
const UNITS: &[&str] = &[
    "second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month",
    "months", "year", "years",
];

impl Preparing<'_> {
    /// All that helps; gives the places of QUALIFY that are read as HAVING.
    pub(super) fn second(&mut self, dialect: Dialect, placeholders: &[Span]) -> Vec<u32> {
        self.head_of_definition();
        if dialect != Dialect::Trino {
            self.json_clauses();
        }
        self.keywords_as_names();
        self.units();
        self.empty_lists();
        self.lone_placeholders(placeholders);
        self.added_placeholders(placeholders);
        match dialect {
            Dialect::TSql => self.hints(),
            Dialect::BigQuery => self.typed_literals(),
            Dialect::Snowflake => {
                self.methods();
                self.paths_of_stages();
            }
            Dialect::Trino => self.types_in_parentheses(&["map", "row"]),
            Dialect::Spark => {
                self.file_format(placeholders);
                self.lateral_views();
                self.written_files();
                self.streams();
            }
            Dialect::Postgres | Dialect::Redshift => self.variables_of_into(),
            Dialect::Oracle => self.keeps(),
            Dialect::DuckDb | Dialect::ClickHouse => {
                self.words_before_join(&["asof"]);
                self.pivots();
            }
            _ => {}
        }
        self.qualify_without_from()
    }

    /// `max(x) KEEP (DENSE_RANK LAST ORDER BY y)`: the aggregate is over the rows that share the extreme.
    fn keeps(&mut self) {
        for at in self.piece.tokens.clone() {
            if self.word(at) == "keep"
                && self.word(at + 2) == "dense_rank"
                && let Some(close) = self.mate(at + 1)
            {
                self.blank(self.span(at).to(self.span(close)));
            }
        }
    }

    fn span(&self, at: usize) -> Span {
        self.tokens.get(at).map_or(Span::NOWHERE, |token| token.span)
    }

    fn mate(&self, at: usize) -> Option<usize> {
        self.tokens.get(at)?.mate.map(|mate| mate as usize).filter(|mate| *mate > at)
    }

    fn edit(&mut self, span: Span, with: &str) {
        if span.is_somewhere() {
            self.edits.push((span, with.to_string()));
        }
    }

    fn is_name(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted))
    }

    /// Past a name with dots that begins here.
    fn past_name(&self, mut at: usize) -> usize {
        while self.is_name(at) {
            at += 1;
            if !self.is_mark(at, b'.') {
                break;
            }
            at += 1;
        }
        at
    }

    /// `CREATE … VIEW v <anything> AS SELECT`, and DYNAMIC and STREAMING TABLE likewise: what stands between name and
    /// query says where and how often, not what. A streaming table is kept by the engine, as a materialized view is.
    fn head_of_definition(&mut self) {
        let start = self.piece.tokens.start;
        if self.word(start) != "create" {
            return;
        }
        let near = start..(start + 8).min(self.piece.tokens.end);
        let kept =
            near.clone().find(|at| matches!(self.word(*at).as_ref(), "streaming" | "dynamic" | "live"));
        let refreshed = near.clone().any(|at| self.word(at) == "refresh");
        let Some(kind) = near.into_iter().find(|at| matches!(self.word(*at).as_ref(), "view" | "table"))
        else {
            return;
        };
        if self.word(kind) == "table" && kept.is_none() {
            return;
        }
        if kept.is_some() || refreshed {
            let head = self.span(start).to(self.span(kind));
            let long = head.end - head.start >= 24;
            self.edit(head, if long { "CREATE MATERIALIZED VIEW" } else { "CREATE VIEW" });
        }
        let mut name = kind + 1;
        while matches!(self.word(name).as_ref(), "if" | "not" | "exists") {
            name += 1;
        }
        let from = self.past_name(name);
        let as_query = (from..self.piece.tokens.end).find(|at| {
            self.top(*at)
                && self.word(*at) == "as"
                && (self.is_mark(at + 1, b'(')
                    || matches!(self.word(at + 1).as_ref(), "select" | "with" | "from"))
        });
        if let Some(end) = as_query.filter(|end| *end > from) {
            self.blank(self.span(from).to(self.span(end - 1)));
        }
    }

    /// `json_query(x, 'path' OMIT QUOTES)`: what follows the path tells of quotes, wrappers and errors.
    pub(super) fn json_clauses(&mut self) {
        for at in self.piece.tokens.clone() {
            if !matches!(self.word(at).as_ref(), "json_query" | "json_value" | "json_exists") {
                continue;
            }
            let Some(close) = self.is_mark(at + 1, b'(').then(|| self.mate(at + 1)).flatten() else {
                continue;
            };
            let path = (at + 2..close).find(|path| {
                self.is_mark(path - 1, b',')
                    && self.tokens.get(*path).is_some_and(|token| {
                        token.kind == TokenKind::Text
                            && token.outer.is_some_and(|outer| outer as usize == at + 1)
                    })
            });
            if let Some(path) = path.filter(|path| path + 1 < close && self.is_name(path + 1)) {
                self.blank(self.span(path + 1).to(self.span(close - 1)));
            }
        }
    }

    /// `assert.null(…)`: a function's name that is a word of the language elsewhere.
    fn keywords_as_names(&mut self) {
        for at in self.piece.tokens.clone().skip(1) {
            let word = self.word(at);
            let called = self.is_mark(at - 1, b'.') && self.is_mark(at + 1, b'(');
            if called
                && matches!(
                    word.as_ref(),
                    "true" | "false" | "null" | "array" | "struct" | "interval" | "case"
                )
            {
                let renamed = format!("{}_", word.get(..word.len() - 1).unwrap_or(""));
                self.edit(self.span(at), &renamed);
            }
        }
    }

    /// `d + 30 days`.
    fn units(&mut self) {
        for at in self.piece.tokens.clone().skip(2) {
            let counted = self.tokens.get(at - 1).is_some_and(|token| token.kind == TokenKind::Number)
                && (self.is_mark(at - 2, b'+') || self.is_mark(at - 2, b'-'));
            if counted && UNITS.contains(&self.word(at).as_ref()) {
                self.blank(self.span(at));
            }
        }
    }

    /// `day IN ()`, where a template had nothing to list.
    fn empty_lists(&mut self) {
        for at in self.piece.tokens.clone() {
            if self.word(at) == "in" && self.is_mark(at + 1, b'(') && self.is_mark(at + 2, b')') {
                self.edit(Span { start: self.span(at).end, end: self.span(at + 2).end }, "(0)");
            }
        }
    }

    /// `AS ( {{ rows() }} )`, `{{ rows() }} UNION ALL …`: a placeholder that stands for a whole query.
    fn lone_placeholders(&mut self, placeholders: &[Span]) {
        let tokens = self.piece.tokens.clone();
        for at in tokens.clone() {
            let span = self.span(at);
            let known = placeholders.binary_search_by_key(&span.start, |place| place.start).is_ok();
            let before = at > tokens.start && self.is_mark(at - 1, b'(');
            let cte =
                before && at >= tokens.start + 2 && self.word(at - 2) == "as" && self.is_mark(at + 1, b')');
            let alone = known
                && before
                && self.is_mark(at + 1, b')')
                && at >= tokens.start + 2
                && matches!(self.word(at - 2).as_ref(), "from" | "join" | "all" | "union");
            let set = known
                && (before
                    || at == tokens.start
                    || matches!(self.word(at - 1).as_ref(), "all" | "union" | "as"))
                && matches!(self.word(at + 1).as_ref(), "union" | "except" | "intersect");
            let last = known
                && at > tokens.start
                && matches!(self.word(at - 1).as_ref(), "all" | "union")
                && (at + 1 == tokens.end || self.is_mark(at + 1, b')'));
            if self.is_name(at) && (cte || alone || set || last) && span.end - span.start >= 7 {
                self.edit(span, "TABLE p");
            }
        }
    }

    /// `a = b {{ and_more }}`, `{{ columns }} {{ more_columns }}`: a placeholder after something that is complete stands
    /// for more of it, which may be nothing.
    fn added_placeholders(&mut self, placeholders: &[Span]) {
        let known = |span: Span| placeholders.binary_search_by_key(&span.start, |place| place.start).is_ok();
        for at in self.piece.tokens.clone().skip(1) {
            if !known(self.span(at)) {
                continue;
            }
            let mut before = at - 1;
            let literal = self
                .tokens
                .get(before)
                .is_some_and(|t| matches!(t.kind, TokenKind::Text | TokenKind::Number));
            let complete = literal
                || self.is_mark(before, b')')
                || known(self.span(before))
                || at > 2 && self.is_name(before) && self.word(at - 2) == "as"
                || matches!(self.word(before).as_ref(), "null" | "true" | "false" | "end");
            while before > self.piece.tokens.start && (self.is_name(before) || self.is_mark(before, b'.')) {
                before -= 1;
            }
            let compared =
                self.is_name(at - 1) && [b'=', b'<', b'>'].iter().any(|mark| self.is_mark(before, *mark));
            let apart = self.span(at - 1).end < self.span(at).start;
            if apart && (complete || compared) {
                self.blank(self.span(at));
            }
        }
    }

    /// `INSERT OVERWRITE DIRECTORY 'path' USING csv OPTIONS (…) SELECT`: how files are written.
    fn written_files(&mut self) {
        for at in self.piece.tokens.clone().skip(1) {
            if self.word(at) != "directory" || !matches!(self.word(at - 1).as_ref(), "overwrite" | "local") {
                continue;
            }
            let using = (at + 1..at + 3).find(|at| self.word(*at) == "using");
            let Some(using) = using else { continue };
            let mut end = using + 1;
            if self.word(end + 1) == "options" {
                end = self.mate(end + 2).unwrap_or(end);
            }
            self.blank(self.span(using).to(self.span(end)));
        }
    }

    /// `MERGE t WITH (HOLDLOCK) AS x`.
    fn hints(&mut self) {
        for at in self.piece.tokens.clone() {
            let Some(close) = (self.word(at) == "with").then(|| self.mate(at + 1)).flatten() else {
                continue;
            };
            let first = self.word(at + 2);
            let plain = (at + 2..close).all(|inner| {
                let word = self.word(inner);
                word.is_empty() || HINTS.contains(&word.as_ref()) || first == "index"
            });
            if plain && HINTS.contains(&first.as_ref()) {
                self.blank(self.span(at).to(self.span(close)));
            }
        }
    }

    /// `ARRAY<STRUCT<a INT64>>[…]`, `STRUCT<a INT64>(…)`.
    fn typed_literals(&mut self) {
        let mut done = 0;
        for at in self.piece.tokens.clone() {
            if at < done
                || !matches!(self.word(at).as_ref(), "array" | "struct")
                || !self.is_mark(at + 1, b'<')
            {
                continue;
            }
            let (mut depth, mut end) = (0_u32, at + 1);
            while end < self.piece.tokens.end {
                match self.tokens.get(end).map(|token| token.kind) {
                    Some(TokenKind::Mark(b'<')) => depth += 1,
                    Some(TokenKind::Mark(b'>')) => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
                end += 1;
            }
            if depth > 0 {
                return;
            }
            if self.is_mark(end + 1, b'(') || self.is_mark(end + 1, b'[') {
                self.blank(self.span(at + 1).to(self.span(end)));
                done = end;
            }
        }
    }

    /// `CAST(x AS ARRAY(ROW(a bigint)))`.
    pub(super) fn types_in_parentheses(&mut self, names: &[&str]) {
        for at in self.piece.tokens.clone().skip(1) {
            let typed = self.word(at - 1) == "as" && names.contains(&self.word(at).as_ref());
            if let Some(close) = (typed && self.is_mark(at + 1, b'(')).then(|| self.mate(at + 1)).flatten() {
                self.edit(self.span(at).to(self.span(close)), "JSON");
            }
        }
    }

    /// `model!PREDICT(…)`.
    fn methods(&mut self) {
        for at in self.piece.tokens.clone().skip(1) {
            if self.is_mark(at, b'!')
                && self.is_name(at - 1)
                && self.is_name(at + 1)
                && self.is_mark(at + 2, b'(')
            {
                self.edit(self.span(at), ".");
            }
        }
    }

    /// `FROM @landing.scans/tickets/2024/`: which stage, not which folder of it.
    fn paths_of_stages(&mut self) {
        for at in self.piece.tokens.clone().skip(1) {
            let in_from = matches!(self.word(at - 1).as_ref(), "from" | "join");
            let end = self.past_name(at);
            if !in_from || !self.word(at).starts_with('@') || !self.is_mark(end, b'/') {
                continue;
            }
            let mut last = end;
            while self.span(last).end == self.span(last + 1).start
                && (self.is_name(last + 1)
                    || [b'/', b'.', b'-', b'='].iter().any(|mark| self.is_mark(last + 1, *mark))
                    || self.tokens.get(last + 1).is_some_and(|token| token.kind == TokenKind::Number))
            {
                last += 1;
            }
            self.blank(self.span(end).to(self.span(last)));
        }
    }

    /// `STORED AS ${FILE}`.
    fn file_format(&mut self, placeholders: &[Span]) {
        for at in self.piece.tokens.clone() {
            let span = self.span(at + 2);
            if self.word(at) == "stored"
                && self.word(at + 1) == "as"
                && placeholders.binary_search_by_key(&span.start, |place| place.start).is_ok()
            {
                self.edit(span, "ORC");
            }
        }
    }

    /// `FROM m LATERAL VIEW explode(x) g AS y JOIN …` is read as `FROM m CROSS JOIN explode(x) g (y) JOIN …`.
    fn lateral_views(&mut self) {
        for at in self.piece.tokens.clone() {
            if self.word(at) != "lateral" || self.word(at + 1) != "view" {
                continue;
            }
            let outer = usize::from(self.word(at + 2) == "outer");
            let open = self.past_name(at + 2 + outer);
            let Some(close) = self.is_mark(open, b'(').then(|| self.mate(open)).flatten() else { continue };
            self.edit(self.span(at).to(self.span(at + 1 + outer)), "CROSS JOIN");
            let (first, list) = (close + 2, close + 3);
            if self.word(close + 1) == "as" || self.word(first) != "as" {
                continue;
            }
            let mut end = list;
            while self.is_mark(end + 1, b',') && self.is_name(end + 2) {
                end += 2;
            }
            let names = self.span(list).to(self.span(end)).of(self.text);
            let columns = format!("({names})");
            self.edit(self.span(first).to(self.span(end)), &columns);
        }
    }

    /// `FROM STREAM read_files(…)`.
    fn streams(&mut self) {
        for at in self.piece.tokens.clone().skip(1) {
            let in_from = matches!(self.word(at - 1).as_ref(), "from" | "join");
            if in_from && self.word(at) == "stream" && self.is_name(at + 1) {
                self.blank(self.span(at));
            }
        }
    }

    /// `SELECT INTO a, b x, y FROM t` in a routine.
    fn variables_of_into(&mut self) {
        let start = self.piece.tokens.start;
        if self.word(start) != "select" || self.word(start + 1) != "into" || !self.piece.routine {
            return;
        }
        let mut end = self.past_name(start + 2);
        while self.is_mark(end, b',') {
            end = self.past_name(end + 1);
        }
        self.blank(self.span(start + 1).to(self.span(end - 1)));
    }

    fn words_before_join(&mut self, words: &[&str]) {
        for at in self.piece.tokens.clone() {
            let joins = matches!(self.word(at + 1).as_ref(), "join" | "left" | "right" | "inner" | "full");
            if joins && words.contains(&self.word(at).as_ref()) {
                self.blank(self.span(at));
            }
        }
    }

    /// `PIVOT t ON a USING sum(b)` is read as `FROM t`: of which table, not what of it.
    fn pivots(&mut self) {
        let tokens = self.piece.tokens.clone();
        for at in tokens.clone() {
            let begins = at == tokens.start || self.is_mark(at - 1, b'(') || self.word(at - 1) == "as";
            if !begins
                || !matches!(self.word(at).as_ref(), "pivot" | "unpivot" | "pivot_wider" | "pivot_longer")
            {
                continue;
            }
            let outer = self.tokens.get(at).and_then(|token| token.outer);
            let end = outer
                .and_then(|outer| self.mate(outer as usize))
                .map_or(tokens.end, |end| end.min(tokens.end));
            let source = self.mate(at + 1).map_or_else(|| self.past_name(at + 1), |close| close + 1);
            self.edit(self.span(at), "FROM");
            if source < end {
                self.blank(self.span(source).to(self.span(end - 1)));
            }
        }
    }

    /// QUALIFY in a SELECT that names no table after its list: a name for the parser, unless it is called HAVING.
    fn qualify_without_from(&mut self) -> Vec<u32> {
        let mut places = Vec::new();
        for at in self.piece.tokens.clone() {
            if self.word(at) == "qualify" {
                self.edit(self.span(at), "HAVING");
                places.push(self.span(at).start);
            }
        }
        places
    }
}
