//! Statements that are read by their tokens, since no parser needs to see them or none takes them: COPY, SET, ALTER,
//! EXECUTE.

use crate::dialect::Dialect;
use crate::ir::{Action, AlterChange, Column, Conflict, ConflictAction, Moved, Name, Verb, Write};
use crate::lex::TokenKind;
use crate::lower::name_from;
use crate::split::Piece;
use crate::text::Span;

use super::{Found, Reader, only};

/// Statements that write no rows of interest, by their first word.
pub(super) const UTILITIES: &[&str] = &[
    "grant",
    "revoke",
    "analyze",
    "analyse",
    "vacuum",
    "comment",
    "show",
    "describe",
    "desc",
    "explain",
    "print",
    "raiserror",
    "raise",
    "throw",
    "return",
    "open",
    "fetch",
    "close",
    "deallocate",
    "savepoint",
    "release",
    "lock",
    "unlock",
    "refresh",
    "optimize",
    "msck",
    "cache",
    "uncache",
    "clear",
    "reset",
    "list",
    "put",
    "get",
    "remove",
    "rm",
    "ls",
    "perform",
    "null",
    "exit",
    "continue",
    "leave",
    "iterate",
    "signal",
    "resignal",
    "assert",
    "kill",
    "checkpoint",
    "install",
    "attach",
    "detach",
    "pragma",
    "export",
    "unload",
    "add",
    "waitfor",
    "prepare",
    "discard",
    "listen",
    "notify",
    "unlisten",
    "reindex",
    "cluster",
    "import",
    "undrop",
    "deny",
    "go",
    "system",
    "suspend",
    "resume",
    "forall",
    "break",
    "goto",
    "save",
    "dbcc",
    "disable",
    "enable",
    "exchange",
    "handler",
    "purge",
    "flush",
    "summarize",
    "checksum",
    "unset",
    "compute",
    "invalidate",
    "rebalance",
];

impl Reader<'_> {
    /// A statement in a text. A constant text is read as the statement that it holds.
    pub(super) fn built(&self, piece: &Piece, at: usize) -> Found {
        let held = self.executed.and_then(|(source, executed)| {
            let text = super::executed::constant(self.source.text, self.source.lexed, piece);
            let mut found = Reader { source, executed: None }.found(executed.piece(text)?);
            self.forgiven(piece, &mut found);
            Some(found)
        });
        match held {
            Some(found) if !matches!(found.0, Action::Unread(_)) => found,
            _ => self.built_of_parts(piece, at),
        }
    }

    /// A text is run, not written as a statement, where a table may be gone, or there: an error that says so is caught around
    /// it. Of DROP nothing else is believed; of CREATE, where the block's handler follows at once.
    fn forgiven(&self, piece: &Piece, found: &mut Found) {
        let next = piece.tokens.end + usize::from(self.is_mark(piece.tokens.end, b';'));
        let handled =
            self.word(next) == "exception" || self.word(next) == "end" && self.word(next + 1) == "try";
        match &mut found.0 {
            Action::Drop { guarded, .. } => *guarded = true,
            Action::Define(table) => table.creation.if_not_exists |= handled,
            _ => {}
        }
        for write in &mut found.1 {
            if let crate::ir::Verb::CreateAs(creation) = &mut write.verb {
                creation.if_not_exists |= handled;
            }
        }
    }

    /// A statement built as text. Its first words may tell that it holds no rows.
    fn built_of_parts(&self, piece: &Piece, at: usize) -> Found {
        let unread = || only(Action::Unread("the statement is built as text and run".to_string()));
        let Some(token) = self.source.lexed.tokens.get(at).filter(|token| token.kind == TokenKind::Text)
        else {
            return unread();
        };
        let text = token.span.of(self.source.text).trim_matches(['\'', '"']).to_ascii_lowercase();
        let mut words =
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let (Some(first), second) = (words.next(), words.next().unwrap_or("")) else { return unread() };
        let rowless = match first {
            "alter" | "create" => [
                "database",
                "schema",
                "role",
                "user",
                "warehouse",
                "session",
                "share",
                "tag",
                "function",
                "stage",
            ]
            .contains(&second),
            "drop" => true,
            word => UTILITIES.contains(&word) || word == "use",
        };
        if rowless && piece.tokens.contains(&at) { only(Action::Utility) } else { unread() }
    }

    pub(super) fn has_word(&self, piece: &Piece, within: usize, words: &[&str]) -> bool {
        piece.tokens.clone().take(within).any(|at| words.contains(&self.word(at).as_str()))
    }

    pub(super) fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.source.lexed.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Mark(mark))
    }

    /// `RENAME TABLE a TO b, c TO d`; RENAME of something else changes no rows of interest here.
    pub(super) fn renamed(&self, piece: &Piece) -> Found {
        let found = self.parsed(piece);
        if matches!(found.0, Action::Alter(_)) { found } else { only(Action::Utility) }
    }

    /// ALTER and DROP that the parser refuses change no rows of interest here.
    pub(super) fn definition(&self, piece: &Piece) -> Found {
        if let Some(found) = self.drop_partition(piece) {
            return found;
        }
        if self.is_foreign(piece) {
            let name = self.name_after(piece, &["table", "exists"]);
            return only(Action::Define(crate::ir::Table {
                name,
                foreign: true,
                ..crate::ir::Table::default()
            }));
        }
        let found = self.parsed(piece);
        let text = piece.span.of(self.source.text).to_ascii_lowercase();
        let unread = matches!(found.0, Action::Unread(_));
        if unread && self.word(piece.tokens.start) == "alter" {
            let name = self.name_after(piece, &["table", "exists", "only"]);
            let swaps =
                ["switch", "exchange partition", "replace partition", "attach partition", "swap with"];
            let change = if swaps.iter().any(|word| text.contains(word)) {
                AlterChange::Partition(self.replaced_partition(piece).map(Box::new))
            } else {
                self.added_column(piece).unwrap_or(AlterChange::Other)
            };
            return only(Action::Alter(vec![crate::ir::Alter { name, change }]));
        }
        if unread && self.word(piece.tokens.start) == "drop" {
            let guarded = text.contains("if exists");
            return only(Action::Drop { names: vec![self.name_after(piece, &["table", "exists"])], guarded });
        }
        if unread && !text.contains("select") {
            return only(self.made_like(piece).map_or(Action::Utility, Action::Define));
        }
        found
    }

    /// `REPLACE PARTITION [ID] p FROM t` of ClickHouse.
    fn replaced_partition(&self, piece: &Piece) -> Option<Moved> {
        let mut words = piece.tokens.clone();
        let at = words.find(|at| self.word(*at) == "replace" && self.word(*at + 1) == "partition")? + 2;
        let at = if self.word(at) == "id" { at + 1 } else { at };
        let from = words.find(|from| *from > at && self.word(*from) == "from")?;
        let tokens = &self.source.lexed.tokens;
        let value = tokens.get(at)?.span.to(tokens.get(from - 1)?.span);
        let (value, _) = self.expression(value)?;
        Some(Moved { value, from: self.name_at(from + 1, piece.tokens.end) })
    }

    /// `CREATE TABLE a AS b` of ClickHouse: as `LIKE b` elsewhere.
    fn made_like(&self, piece: &Piece) -> Option<crate::ir::Table> {
        let head = |word: &str| self.has_word(piece, 8, &[word]);
        let at = piece.tokens.clone().take(16).find(|at| self.word(*at) == "as")?;
        let like = self.name_at(at + 1, piece.tokens.end);
        if self.source.dialect != Dialect::ClickHouse || !head("table") || like.parts.is_empty() {
            return None;
        }
        let creation = crate::ir::Creation {
            or_replace: head("replace"),
            if_not_exists: head("exists"),
            temporary: head("temporary"),
        };
        let name = self.name_after(piece, &["table", "exists"]);
        Some(crate::ir::Table { name, creation, like: Some(like), ..crate::ir::Table::default() })
    }

    /// A table whose rows another server or a file keeps. In Spark, Hive and Trino all tables of a lake may
    /// be external.
    fn is_foreign(&self, piece: &Piece) -> bool {
        let outside = matches!(
            self.source.dialect,
            Dialect::BigQuery | Dialect::Snowflake | Dialect::Postgres | Dialect::Ansi
        );
        self.word(piece.tokens.start) == "create"
            && (self.has_word(piece, 4, &["foreign"]) || outside && self.has_word(piece, 4, &["external"]))
            && !self.has_word(piece, 400, &["select"])
    }

    /// `ADD COLUMN c type`, `ADD COLUMNS (c type)`: the first column.
    fn added_column(&self, piece: &Piece) -> Option<AlterChange> {
        let add = piece.tokens.clone().take(12).find(|at| self.word(*at) == "add")?;
        let words = |word: &str| matches!(word, "column" | "columns" | "if" | "not" | "exists");
        let mut at = add + 1;
        let named = matches!(self.word(at).as_str(), "column" | "columns");
        while words(&self.word(at)) || self.is_mark(at, b'(') {
            at += 1;
        }
        let name = self.name_at(at, at + 1).last().to_string();
        let guarded = piece.tokens.clone().take(12).any(|at| self.word(at) == "exists");
        (named && !name.is_empty())
            .then(|| AlterChange::AddColumn { guarded, column: Column { name, ..Column::default() } })
    }

    /// `ALTER TABLE t DROP PARTITION p` takes rows away, as a DELETE does.
    fn drop_partition(&self, piece: &Piece) -> Option<Found> {
        let at = piece
            .tokens
            .clone()
            .take(12)
            .find(|at| self.word(*at) == "drop" && self.word(*at + 1) == "partition")?;
        if self.word(piece.tokens.start) != "alter" || self.source.dialect != Dialect::ClickHouse {
            return None;
        }
        let target = self.name_after(piece, &["table", "exists", "only"]);
        let value = self.source.lexed.tokens.get(at + 2)?;
        let value =
            self.expression(Span { start: value.span.start, end: piece.span.end }).map(|(expr, _)| expr);
        let partition = vec![("partition".to_string(), value)];
        let write = Write {
            verb: Verb::Delete,
            span: piece.span,
            head: piece.span,
            target,
            partition,
            ..Write::empty()
        };
        Some((Action::Write, vec![write], Vec::new()))
    }

    /// The name that follows the last of `words` at the head of a statement.
    fn name_after(&self, piece: &Piece, words: &[&str]) -> Name {
        let mut at = piece.tokens.start;
        for index in piece.tokens.clone().take(8) {
            if words.contains(&self.word(index).as_str()) {
                at = index;
            }
        }
        self.name_at(at + 1, piece.tokens.end)
    }

    fn name_at(&self, start: usize, end: usize) -> Name {
        let mut span = Span::NOWHERE;
        let mut at = start;
        while at < end {
            let Some(token) = self.source.lexed.tokens.get(at) else { break };
            let part = matches!(token.kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Mark(b'.'));
            if !part || (span.is_somewhere() && token.span.start != span.end) {
                break;
            }
            span = span.to(token.span);
            at += 1;
        }
        name_from(span.of(self.source.text), span)
    }

    /// `COPY t FROM …`, `COPY INTO t FROM …`; `COPY (query) TO`, `COPY INTO @stage` write no table.
    pub(super) fn copy(&self, piece: &Piece) -> Found {
        let text = piece.span.of(self.source.text).to_ascii_lowercase();
        let at = piece.tokens.start + if self.word(piece.tokens.start + 1) == "into" { 2 } else { 1 };
        let target = self.name_at(at, piece.tokens.end);
        let loads = piece.tokens.clone().skip(1).take(400).find_map(|at| match self.word(at).as_str() {
            "from"
                if self
                    .source
                    .lexed
                    .tokens
                    .get(at)?
                    .outer
                    .is_none_or(|outer| (outer as usize) < piece.tokens.start) =>
            {
                Some(true)
            }
            "to" => Some(false),
            _ => None,
        });
        let unloads = target.parts.is_empty() || target.text().starts_with('@') || loads == Some(false);
        if unloads || self.is_mark(at, b'(') || self.is_mark(at, b'@') {
            return only(Action::Utility);
        }
        let head = Span { start: piece.span.start, end: target.span.end };
        let forced = text.split_whitespace().collect::<String>().contains("force=true");
        let remembers = matches!(self.source.dialect, Dialect::Snowflake | Dialect::Spark)
            && !forced
            && !text.replace('\'', "").contains("force = true");
        let write =
            Write { verb: Verb::Copy { remembers }, span: piece.span, head, target, ..Write::empty() };
        (Action::Write, vec![write], Vec::new())
    }

    /// `LOAD DATA … REPLACE INTO TABLE`, `… IGNORE INTO TABLE`: what happens with a row whose key is there.
    fn bulk_conflict(&self, piece: &Piece, at: usize) -> Option<Conflict> {
        let before = piece.tokens.clone().take_while(|index| *index < at);
        let word =
            before.filter(|index| matches!(self.word(*index).as_str(), "replace" | "ignore")).last()?;
        let span = self.source.lexed.tokens.get(word)?.span;
        let action =
            if self.word(word) == "replace" { ConflictAction::Replace } else { ConflictAction::Nothing };
        Some(Conflict { span, keys: Vec::new(), action, sets: Vec::new(), filters: Vec::new() })
    }

    /// `BULK INSERT t`, `LOAD DATA … INTO TABLE t`: both append.
    pub(super) fn bulk(&self, piece: &Piece) -> Found {
        let at = match self.word(piece.tokens.start).as_str() {
            "bulk" => piece.tokens.clone().find(|at| self.word(*at) == "insert"),
            _ => piece.tokens.clone().find(|at| matches!(self.word(*at).as_str(), "into" | "overwrite")),
        };
        let Some(at) = at else { return only(Action::Utility) };
        let at = if self.word(at + 1) == "table" { at + 1 } else { at };
        let target = self.name_at(at + 1, piece.tokens.end);
        let overwrites = piece.tokens.clone().any(|at| self.word(at) == "overwrite");
        let verb = if overwrites { Verb::Overwrite } else { Verb::Copy { remembers: false } };
        let head = Span { start: piece.span.start, end: target.span.end };
        let conflict = self.bulk_conflict(piece, at);
        (
            Action::Write,
            vec![Write { verb, span: piece.span, head, target, conflict, ..Write::empty() }],
            Vec::new(),
        )
    }

    pub(super) fn session(&self, piece: &Piece, name: &str) -> Found {
        let value = Span { start: piece.span.start, end: piece.span.end }.of(self.source.text).to_string();
        only(Action::Session { name: name.to_string(), value })
    }

    /// SET, DECLARE, LET, `x := …`: a variable with its value, or a setting of the session.
    pub(super) fn set(&self, piece: &Piece) -> Found {
        let first = self.word(piece.tokens.start);
        let skip = usize::from(["set", "declare", "let", "define"].contains(&first.as_str()));
        let mut at = piece.tokens.start + skip;
        while ["local", "session", "global", "variable"].contains(&self.word(at).as_str()) {
            at += 1;
        }
        let name = self.word(at);
        let value = piece
            .tokens
            .clone()
            .find(|at| self.is_mark(*at, b'=') || self.word(*at) == "default")
            .map(|at| at + 1);
        let variable = name.starts_with('@') && !name.starts_with("@@")
            || matches!(first.as_str(), "declare" | "let" | "define")
            || skip == 0
            || matches!(self.source.dialect, Dialect::BigQuery | Dialect::Snowflake)
                && !self.is_setting(&name);
        if !variable {
            return self.session(piece, &name);
        }
        let Some(value) = value.and_then(|at| self.source.lexed.tokens.get(at)) else {
            return only(Action::Variable { name: bare(&name), value: None });
        };
        let span = Span { start: value.span.start, end: piece.span.end };
        match self.expression(span) {
            Some((expr, queries)) => {
                (Action::Variable { name: bare(&name), value: Some(expr) }, Vec::new(), queries)
            }
            None => only(Action::Variable { name: bare(&name), value: None }),
        }
    }

    fn is_setting(&self, name: &str) -> bool {
        [
            "timezone",
            "time_zone",
            "timestamp",
            "week_start",
            "query_tag",
            "search_path",
            "autocommit",
            "date_input_format",
        ]
        .iter()
        .any(|s| name.starts_with(s))
    }

    pub(super) fn assigns(&self, piece: &Piece) -> bool {
        piece.tokens.clone().take(6).any(|at| self.is_mark(at, b':') && self.is_mark(at + 1, b'='))
    }
}

fn bare(name: &str) -> String {
    name.trim_start_matches(['@', ':', '$']).to_string()
}
