//! A script to statements, each with the transaction and routine it stands in. Knows `GO`, `DELIMITER`,
//! dollar quotes
//! and procedural blocks well enough to reach the statements within; knows nothing of what they mean.

use std::ops::Range;

use crate::dialect::Dialect;
use crate::lex::{Lexed, Token, TokenKind};
use crate::text::Span;

/// What a piece of a script is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PieceKind {
    /// A statement to judge.
    Sql,
    /// Opens a transaction.
    Begin,
    /// Commits it.
    Commit,
    /// Takes it back.
    Rollback,
    /// Flow of control: IF, LOOP, BEGIN of a block, the head of a routine.
    Control,
}

/// A piece of a script.
#[derive(Clone, Debug)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Its tokens.
    pub tokens: Range<usize>,
    /// Its place, without the final semicolon.
    pub span: Span,
    /// The transaction it stands in.
    pub transaction: Option<u32>,
    /// Whether it stands in a procedure or function.
    pub routine: bool,
    /// The condition it is guarded by, as tokens.
    pub guard: Option<Range<usize>>,
    /// Whether it stands in a handler of errors.
    pub handler: bool,
}

/// What an open block is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// BEGIN … END, LOOP … END LOOP, IF … END IF.
    Block,
    /// BEGIN CATCH … END CATCH.
    Handler,
    /// The body of a routine in dollar quotes.
    Body,
}

struct Splitter<'a> {
    text: &'a str,
    dialect: Dialect,
    tokens: &'a [Token],
    at: usize,
    pieces: Vec<Piece>,
    frames: Vec<Frame>,
    transaction: Option<u32>,
    transactions: u32,
    /// The transactions around the bodies in dollar quotes that are open.
    around: Vec<Option<u32>>,
    routine: bool,
    declaring: bool,
    guard: Option<Range<usize>>,
}

/// Splits a script.
#[must_use]
pub fn split(text: &str, lexed: &Lexed, dialect: Dialect) -> Vec<Piece> {
    let mut splitter = Splitter {
        text,
        dialect,
        tokens: &lexed.tokens,
        at: 0,
        pieces: Vec::new(),
        frames: Vec::new(),
        transaction: None,
        transactions: 0,
        around: Vec::new(),
        routine: false,
        declaring: false,
        guard: None,
    };
    // Oracle opens one by itself, and the next after each COMMIT.
    if dialect == Dialect::Oracle {
        splitter.open_transaction();
    }
    while splitter.at < splitter.tokens.len() {
        let before = splitter.at;
        splitter.step();
        if splitter.at <= before {
            splitter.at = before + 1;
        }
    }
    splitter.pieces
}

/// Words that begin a statement at the start of a line in T-SQL, where semicolons are rarely written.
const STARTERS: &[&str] = &[
    "insert",
    "update",
    "delete",
    "merge",
    "create",
    "drop",
    "truncate",
    "declare",
    "begin",
    "commit",
    "rollback",
    "if",
    "exec",
    "execute",
    "print",
    "use",
    "alter",
    "go",
    "while",
    "return",
    "select",
    "with",
    "set",
    "else",
    "end",
    "raiserror",
    "throw",
    "waitfor",
    "grant",
    "open",
    "fetch",
    "close",
    "deallocate",
];

impl Splitter<'_> {
    fn word(&self, at: usize) -> &str {
        self.tokens
            .get(at)
            .filter(|token| token.kind == TokenKind::Word)
            .map_or("", |token| token.span.of(self.text))
    }

    fn is(&self, at: usize, what: &str) -> bool {
        self.word(at).eq_ignore_ascii_case(what)
    }

    fn any(&self, at: usize, what: &[&str]) -> bool {
        let word = self.word(at);
        !word.is_empty() && what.iter().any(|w| word.eq_ignore_ascii_case(w))
    }

    fn mark(&self, at: usize) -> u8 {
        match self.tokens.get(at).map(|token| token.kind) {
            Some(TokenKind::Mark(mark)) => mark,
            _ => 0,
        }
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn line_break_before(&self, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else { return true };
        let previous = at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |token| token.span.end);
        Span { start: previous, end: token.span.start }.of(self.text).contains('\n') || at == 0
    }

    fn push(&mut self, kind: PieceKind, start: usize, end: usize) {
        let (Some(first), Some(last)) = (self.tokens.get(start), self.tokens.get(end.saturating_sub(1)))
        else {
            return;
        };
        if start >= end {
            return;
        }
        let guard = if kind == PieceKind::Sql { self.guard.take() } else { None };
        self.pieces.push(Piece {
            kind,
            tokens: start..end,
            span: first.span.to(last.span),
            transaction: self.transaction,
            routine: self.routine,
            guard,
            handler: self.frames.contains(&Frame::Handler),
        });
    }

    /// The end of the line that holds a token, as a token index.
    fn end_of_line(&self, at: usize) -> usize {
        let mut end = at + 1;
        while end < self.tokens.len() && !self.line_break_before(end) {
            end += 1;
        }
        end
    }

    /// A statement that is its line.
    fn line(&mut self) {
        let (start, end) = (self.at, self.end_of_line(self.at));
        let ended = (start..end).find(|at| self.mark(*at) == b';').unwrap_or(end);
        self.push(PieceKind::Sql, start, ended);
        self.at = ended.saturating_add(1).min(end);
    }

    fn past_semicolon(&self, at: usize) -> usize {
        let ends = |at: usize| {
            matches!(self.mark(at), b';' | b'/' | b'$') || matches!(self.kind(at), Some(TokenKind::BodyClose))
        };
        let end = (at..self.tokens.len()).find(|at| ends(*at)).unwrap_or(self.tokens.len());
        if self.mark(end) == b';' { end + 1 } else { end }
    }

    fn step(&mut self) {
        let at = self.at;
        match self.kind(at) {
            Some(TokenKind::Mark(b'\\')) => self.at = self.end_of_line(at),
            Some(TokenKind::Mark(b'!')) if self.line_break_before(at) => self.at = self.end_of_line(at),
            Some(TokenKind::Mark(b'(')) => self.statement(),
            Some(TokenKind::Mark(_)) => self.at += 1,
            Some(TokenKind::BodyOpen) => {
                self.frames.push(Frame::Body);
                self.around.push(self.transaction);
                self.routine = true;
                if matches!(self.dialect, Dialect::Postgres | Dialect::Redshift) && self.transaction.is_none()
                {
                    self.open_transaction();
                }
                self.at += 1;
            }
            Some(TokenKind::BodyClose) => {
                while self.frames.pop().is_some_and(|frame| frame != Frame::Body) {}
                self.routine = false;
                // `$$` can also be the delimiter of a MySQL script, which closes no body.
                let opened = self.around.pop();
                self.transaction = opened.flatten();
                self.at = if opened.is_some() { self.past_semicolon(at + 1) } else { at + 1 };
            }
            Some(TokenKind::Word) => self.worded(),
            _ => self.statement(),
        }
    }

    fn open_transaction(&mut self) {
        self.transactions += 1;
        self.transaction = Some(self.transactions);
    }

    fn worded(&mut self) {
        let at = self.at;
        let first = self.word(at).to_ascii_lowercase();
        match first.as_str() {
            "go" if self.dialect == Dialect::TSql && self.line_break_before(at) => {
                self.frames.clear();
                self.routine = false;
                self.at = self.end_of_line(at);
            }
            "delimiter" => self.at = self.end_of_line(at),
            // These end with the line, with or without semicolon.
            "use" if self.dialect == Dialect::MySql => self.line(),
            "define" if self.dialect == Dialect::Oracle && self.frames.is_empty() => self.line(),
            "declare" if self.handler_block(at).is_some() => {
                let end = self.handler_block(at).unwrap_or(at) + 1;
                self.push(PieceKind::Control, at, end);
                self.frames.push(Frame::Handler);
                self.at = end;
            }
            "begin" => self.begin(),
            "start" if self.is(at + 1, "transaction") => self.transact(PieceKind::Begin),
            "commit" => self.transact(PieceKind::Commit),
            "rollback" => self.transact(PieceKind::Rollback),
            "end" => self.end(),
            "if" => self.condition(&["then"]),
            "elseif" | "elsif" => self.condition(&["then"]),
            "while" | "for" => self.looped(),
            "else" | "loop" | "repeat" | "exception" | "try" => {
                self.control(at + 1, first != "exception" && first != "else")
            }
            "when" => self.condition(&["then"]),
            "do" if matches!(self.kind(at + 1), Some(TokenKind::BodyOpen)) => self.control(at + 1, false),
            "execute" if matches!(self.kind(at + 2), Some(TokenKind::BodyOpen)) => {
                self.control(at + 2, false)
            }
            "create" | "alter" if self.is_routine_head(at) => self.routine_head(),
            // In the body of a package.
            "procedure" | "function" if self.dialect == Dialect::Oracle => self.routine_head(),
            _ if self.mark(at + 1) == b':' && self.any(at + 2, &["loop", "while", "for", "begin"]) => {
                self.at += 2
            }
            _ if self.is_header(at) => {
                // A plain name, such as `{{ header }}`, is a remark at the head of a file; a macro may do anything.
                if self.word(at).contains('(') {
                    self.push(PieceKind::Sql, at, at + 1);
                }
                self.at = at + 1;
            }
            _ => self.statement(),
        }
    }

    /// `DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN`: where the block begins.
    fn handler_block(&self, at: usize) -> Option<usize> {
        let begins =
            (at..at + 40).take_while(|at| self.mark(*at) != b';').find(|at| self.is(*at, "begin"))?;
        (at..begins).any(|at| self.is(at, "handler")).then_some(begins)
    }

    /// Whether a cell of a notebook that is kept as a script begins here; cells end without semicolon.
    fn begins_cell(&self, at: usize) -> bool {
        let (Some(before), Some(token)) =
            (at.checked_sub(1).and_then(|at| self.tokens.get(at)), self.tokens.get(at))
        else {
            return false;
        };
        let between = Span { start: before.span.end, end: token.span.start };
        between.end.saturating_sub(between.start) > 20 && between.of(self.text).contains("-- COMMAND ----")
    }

    /// A placeholder alone on its line before a statement: text of its own, not the first word of what follows.
    fn is_header(&self, at: usize) -> bool {
        let word = self.word(at);
        (word.starts_with("{{") || word.starts_with("<%"))
            && self.line_break_before(at + 1)
            && (self.any(at + 1, STARTERS) || self.word(at + 1).starts_with("{{"))
    }

    fn control(&mut self, end: usize, opens: bool) {
        self.push(PieceKind::Control, self.at, end);
        if opens {
            self.frames.push(Frame::Block);
        }
        self.at = end;
    }

    fn begin(&mut self) {
        let at = self.at;
        self.declaring = false;
        let bare = self.mark(at + 1) == b';' || at + 1 >= self.tokens.len();
        let named = self.any(
            at + 1,
            &[
                "transaction",
                "tran",
                "work",
                "name",
                "isolation",
                "read",
                "immediate",
                "deferred",
                "exclusive",
            ],
        );
        if bare || named {
            return self.transact(PieceKind::Begin);
        }
        if self.is(at + 1, "catch") {
            self.push(PieceKind::Control, at, at + 2);
            self.frames.push(Frame::Handler);
            self.at = at + 2;
        } else {
            let end = if self.any(at + 1, &["try", "atomic"]) { at + 2 } else { at + 1 };
            self.control(end, true);
        }
    }

    fn transact(&mut self, kind: PieceKind) {
        let at = self.at;
        let end = if self.dialect == Dialect::TSql {
            let mut end = at + 1;
            while end < self.tokens.len()
                && self.mark(end) != b';'
                && !self.line_break_before(end)
                && !self.any(end, STARTERS)
            {
                end += 1;
            }
            end
        } else {
            self.past_semicolon(at)
        };
        if kind == PieceKind::Begin {
            self.open_transaction();
        }
        let stop = if self.mark(end.saturating_sub(1)) == b';' { end - 1 } else { end };
        self.push(kind, at, stop);
        let savepoint = (at..end).any(|at| self.any(at, &["savepoint", "to"]));
        let handled = self.frames.contains(&Frame::Handler);
        match kind {
            PieceKind::Commit | PieceKind::Rollback
                if self.dialect == Dialect::Oracle && !savepoint && !handled =>
            {
                self.open_transaction()
            }
            PieceKind::Commit
                if self.routine && self.transaction.is_some() && self.dialect != Dialect::TSql =>
            {
                self.open_transaction()
            }
            PieceKind::Commit => self.transaction = None,
            PieceKind::Rollback if !savepoint && !handled && !self.routine => self.transaction = None,
            _ => {}
        }
        self.at = end;
    }

    fn end(&mut self) {
        let at = self.at;
        if self.frames.is_empty()
            && self.transaction.is_some()
            && self.dialect != Dialect::Oracle
            && !self.any(at + 1, &["if", "loop", "while", "case", "try", "catch"])
        {
            return self.transact(PieceKind::Commit);
        }
        if self.frames.last().is_some_and(|frame| *frame != Frame::Body) {
            self.frames.pop();
        }
        let end = if self.dialect == Dialect::TSql {
            if self.any(at + 1, &["try", "catch"]) { at + 2 } else { at + 1 }
        } else {
            self.past_semicolon(at)
        };
        self.push(PieceKind::Control, at, end);
        if self.frames.is_empty() && self.dialect != Dialect::TSql {
            self.routine = false;
            // The next routine is called by itself.
            if self.dialect == Dialect::Oracle {
                self.open_transaction();
            }
        }
        self.at = end;
    }

    /// IF, ELSIF, WHEN: up to THEN; in T-SQL up to the statement that is guarded.
    fn condition(&mut self, stops: &[&str]) {
        let at = self.at;
        let mut end = at + 1;
        if self.dialect == Dialect::TSql {
            let outer = self.tokens.get(at).and_then(|token| token.outer);
            while end < self.tokens.len()
                && !(self.tokens.get(end).is_some_and(|t| t.outer == outer) && self.any(end, STARTERS))
            {
                end += 1;
            }
            self.push(PieceKind::Control, at, end);
            self.guard = Some(at + 1..end);
            self.at = end;
            return;
        }
        let mut cases = 0_u32;
        while end < self.tokens.len() && self.mark(end) != b';' {
            if self.is(end, "case") {
                cases += 1;
            } else if self.is(end, "end") {
                cases = cases.saturating_sub(1);
            } else if cases == 0 && self.any(end, stops) {
                break;
            }
            end += 1;
        }
        self.push(PieceKind::Control, at, (end + 1).min(self.tokens.len()));
        if self.is(at, "if") && self.any(end, stops) {
            self.frames.push(Frame::Block);
        }
        self.guard = Some(at + 1..end);
        self.at = end + 1;
    }

    fn looped(&mut self) {
        let at = self.at;
        if self.dialect == Dialect::TSql {
            self.condition(&["begin"]);
            // What is repeated is not kept from being done again.
            self.guard = None;
            return;
        }
        let mut end = at + 1;
        while end < self.tokens.len() && self.mark(end) != b';' && !self.any(end, &["loop", "do"]) {
            end += 1;
        }
        let opens = self.any(end, &["loop", "do"]);
        self.control((end + 1).min(self.tokens.len()), opens);
    }

    fn is_routine_head(&self, at: usize) -> bool {
        (at + 1..at + 8)
            .take_while(|at| self.mark(*at) != b'(' && self.mark(*at) != b';')
            .any(|at| self.any(at, &["procedure", "proc", "function", "trigger", "event", "package", "task"]))
            && !self.any(at + 1, &["table", "view", "index"])
    }

    fn routine_head(&mut self) {
        let at = self.at;
        let mut end = at + 1;
        let task = (at..at + 5).any(|at| self.is(at, "task"));
        let event = (at..at + 5).any(|at| self.is(at, "event"));
        let outer = self.tokens.get(at).and_then(|token| token.outer);
        let top =
            |splitter: &Self, at: usize| splitter.tokens.get(at).is_some_and(|token| token.outer == outer);
        while end < self.tokens.len() {
            if matches!(self.kind(end), Some(TokenKind::BodyOpen))
                || self.mark(end) == b';'
                || (top(self, end) && self.is(end, "begin"))
            {
                break;
            }
            // What PL/SQL declares stands between here and BEGIN.
            if self.dialect == Dialect::Oracle && top(self, end) && self.any(end, &["is", "as"]) {
                end += 1;
                break;
            }
            let as_body = top(self, end)
                && (self.is(end, "as") && (self.dialect == Dialect::TSql || task)
                    || self.is(end, "do") && event);
            if as_body && (self.any(end + 1, STARTERS) || self.is(end + 1, "replace")) {
                end += 1;
                break;
            }
            end += 1;
        }
        self.push(PieceKind::Control, at, end);
        self.routine = self.mark(end) != b';';
        self.at = end;
    }

    /// A statement: to the semicolon, or in T-SQL to where the next one begins.
    fn statement(&mut self) {
        let start = self.at;
        let outer = self.tokens.get(start).and_then(|token| token.outer);
        let (mut at, mut cases) = (start + 1, 0_u32);
        while at < self.tokens.len() {
            let Some(token) = self.tokens.get(at) else { break };
            match token.kind {
                TokenKind::Mark(b';') | TokenKind::BodyClose | TokenKind::BodyOpen => break,
                TokenKind::Word if self.dialect == Dialect::Spark && self.begins_cell(at) => break,
                TokenKind::Mark(b'/')
                    if self.dialect == Dialect::Oracle
                        && self.line_break_before(at)
                        && self.line_break_before(at + 1) =>
                {
                    break;
                }
                TokenKind::Word => {
                    if self.is(at, "case") {
                        cases += 1;
                    } else if self.is(at, "end") {
                        if cases == 0 && !self.frames.is_empty() {
                            break;
                        }
                        cases = cases.saturating_sub(1);
                    } else if cases == 0
                        && token.outer == outer
                        && self.dialect == Dialect::TSql
                        && self.begins_next(start, at)
                    {
                        break;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        // DECLARE opens a list of variables that goes on, each to its semicolon, to BEGIN.
        self.declaring |= self.is(start, "declare") && self.dialect == Dialect::Snowflake;
        let routine = self.routine;
        self.routine |= self.declaring;
        self.push(PieceKind::Sql, start, at);
        self.routine = routine;
        const DDL: &[&str] = &["create", "alter", "drop", "truncate", "rename", "grant", "revoke"];
        if self.dialect == Dialect::Oracle && (self.any(start, DDL) || self.runs_any(start, DDL)) {
            self.open_transaction();
        }
        self.at = if self.mark(at) == b';' { at + 1 } else { at };
    }

    /// Whether a statement is `EXECUTE IMMEDIATE '…'`, of a text that begins with one of these words.
    fn runs_any(&self, start: usize, words: &[&str]) -> bool {
        let text = self.tokens.get(start + 2).filter(|token| token.kind == TokenKind::Text);
        let said = text.map_or("", |token| token.span.of(self.text).trim_start_matches(['\'', '"']));
        let first = said.split_whitespace().next().unwrap_or("");
        self.is(start, "execute")
            && self.is(start + 1, "immediate")
            && words.iter().any(|word| first.eq_ignore_ascii_case(word))
    }

    /// Whether, in T-SQL, a new statement begins at `at` within the one that began at `start`.
    fn begins_next(&self, start: usize, at: usize) -> bool {
        if !self.any(at, STARTERS) || self.mark(at + 1) == b'(' && !self.any(at, &["if", "select"]) {
            return false;
        }
        // `DROP TABLE IF EXISTS t`; a condition of its own is `IF EXISTS (…)`.
        if self.is(at, "if") && self.is(at + 1, "exists") && self.mark(at + 2) != b'(' {
            return false;
        }
        let before = at.saturating_sub(1);
        let first = self.word(start).to_ascii_lowercase();
        let continues = self.any(
            before,
            &[
                "then",
                "as",
                "union",
                "all",
                "except",
                "intersect",
                "for",
                "on",
                "after",
                "of",
                "when",
                "and",
                "or",
                "instead",
                "grant",
                "with",
                "bulk",
            ],
        ) || matches!(self.mark(before), b',' | b'=' | b'.' | b'+');
        if continues {
            return false;
        }
        let has = |what: &[&str]| {
            (start..at).any(|at| {
                self.tokens.get(at).is_some_and(|t| t.outer == self.tokens.get(start).and_then(|t| t.outer))
                    && self.any(at, what)
            })
        };
        if self.is(at, "select") {
            return match first.as_str() {
                "insert" => has(&["select", "values", "exec", "execute"]),
                "with" => {
                    has(&["select", "insert", "update", "delete", "merge"])
                        && !self.with_insert_open(start, at)
                }
                "create" | "alter" | "grant" | "declare" => {
                    self.line_break_before(at) && !has(&["cursor", "view"])
                }
                _ => true,
            };
        }
        if self.is(at, "set") {
            let awaits = matches!(first.as_str(), "update" | "with" | "alter") && !has(&["set"]);
            return !awaits && first != "merge";
        }
        if self.is(at, "with") {
            return false;
        }
        if self.any(at, &["insert", "update", "delete", "merge"]) && first == "with" {
            return has(&["select", "insert", "update", "delete", "merge"]);
        }
        if self.any(at, &["update", "delete", "insert"]) && first == "merge" {
            return self.line_break_before(at);
        }
        let needs_line = self.any(at, &["open", "fetch", "close", "use", "return", "print"]);
        (!needs_line || self.line_break_before(at))
            && !(self.any(at, &["exec", "execute"]) && (first == "insert" || first == "with"))
    }

    fn with_insert_open(&self, start: usize, at: usize) -> bool {
        let last =
            (start..at).rev().find(|at| self.any(*at, &["insert", "select", "update", "delete", "values"]));
        last.is_some_and(|last| self.is(last, "insert"))
    }
}
