//! A file to statements in the intermediate form: splits, parses with the named dialect and then with
//! others, and reads
//! by tokens what no parser needs to see (COPY, SET, transactions).

use sqlparser::dialect::{self as parsers, Dialect as Grammar};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use crate::dialect::Dialect;
use crate::ir::{
    Action, AlterChange, Column, Conflict, ConflictAction, Expr, Name, Query, Statement, Verb, Write,
};
use crate::lex::{Lexed, TokenKind, lex};
use crate::lower::{Lowering, Source, name_from};
use crate::prepare::{Prepared, prepare};
use crate::split::{Piece, PieceKind, split};
use crate::text::{Lines, Span};

/// Nesting beyond this is not read: a finding says so.
const DEPTH: usize = 50;
/// A chain of operators, or of UNION, beyond this is not read.
const CHAIN: usize = 1_000;

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
    let masked_lines = if lexed.placeholders.is_empty() { lines.clone() } else { Lines::of(&lexed.masked) };
    let pieces = split(text, &lexed, dialect);
    let source = Source { text, lexed: &lexed, lines: &masked_lines, dialect };
    let reader = Reader { source: &source };
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
}

/// What a statement is found to be.
type Found = (Action, Vec<Write>, Vec<Query>);

fn only(action: Action) -> Found {
    (action, Vec::new(), Vec::new())
}

/// Statements that write no rows of interest, by their first word.
const UTILITIES: &[&str] = &[
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
    "rename",
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
            "bulk" | "load" => self.bulk(piece),
            "" if self.is_mark(piece.tokens.start, b'(') => self.parsed(piece),
            word if UTILITIES.contains(&word) => only(Action::Utility),
            word if piece.tokens.len() == 1
                && self.source.lexed.placeholder_at(piece.span.start).is_some() =>
            {
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

    /// A statement built as text. Its first words may tell that it holds no rows.
    fn built(&self, piece: &Piece, at: usize) -> Found {
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

    fn has_word(&self, piece: &Piece, within: usize, words: &[&str]) -> bool {
        piece.tokens.clone().take(within).any(|at| words.contains(&self.word(at).as_str()))
    }

    fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.source.lexed.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Mark(mark))
    }

    fn assigns(&self, piece: &Piece) -> bool {
        piece.tokens.clone().take(6).any(|at| self.is_mark(at, b':') && self.is_mark(at + 1, b'='))
    }

    /// ALTER and DROP that the parser refuses change no rows of interest here.
    fn definition(&self, piece: &Piece) -> Found {
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
                AlterChange::Partition
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
            return only(Action::Utility);
        }
        found
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
    fn copy(&self, piece: &Piece) -> Found {
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
    fn bulk(&self, piece: &Piece) -> Found {
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

    fn session(&self, piece: &Piece, name: &str) -> Found {
        let value = Span { start: piece.span.start, end: piece.span.end }.of(self.source.text).to_string();
        only(Action::Session { name: name.to_string(), value })
    }

    /// SET, DECLARE, LET, `x := …`: a variable with its value, or a setting of the session.
    fn set(&self, piece: &Piece) -> Found {
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

    fn expression(&self, span: Span) -> Option<(Expr, Vec<Query>)> {
        let text = span.of(&self.source.lexed.masked);
        for grammar in grammars(self.source.dialect) {
            let Ok(mut parser) = parser(*grammar, text) else { continue };
            if let Ok(ast) = parser.parse_expr() {
                return Some(Lowering::new(self.source, span, true).alone(&ast));
            }
        }
        None
    }

    fn parsed(&self, piece: &Piece) -> Found {
        if let Some(reason) = self.refused(piece) {
            return only(Action::Unread(reason));
        }
        let mut error = String::new();
        for again in [false, true] {
            let prepared = prepare(self.source.text, self.source.lexed, piece, self.source.dialect, again);
            if again && !prepared.edited {
                break;
            }
            for grammar in grammars(self.source.dialect) {
                match parse(*grammar, &prepared.text) {
                    Ok(ast) => return self.lowered(piece, &[ast], &prepared),
                    Err(message) if error.is_empty() => error = message,
                    Err(_) => {}
                }
            }
        }
        self.multi_insert(piece).unwrap_or_else(|| only(Action::Unread(error)))
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
        let read =
            |text: &str| grammars(self.source.dialect).iter().find_map(|grammar| parse(*grammar, text).ok());
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

fn bare(name: &str) -> String {
    name.trim_start_matches(['@', ':', '$']).to_string()
}

/// A parser over a text. Its tokenizer makes a token of each blank, and each look ahead steps over all of them: one blank is
/// left where there were several.
fn parser<'a>(grammar: &'static dyn Grammar, text: &str) -> Result<Parser<'a>, String> {
    let mut tokens =
        Tokenizer::new(grammar, text).tokenize_with_location().map_err(|error| error.to_string())?;
    tokens.dedup_by(|next, kept| {
        matches!((&next.token, &kept.token), (Token::Whitespace(_), Token::Whitespace(_)))
    });
    Ok(Parser::new(grammar).with_recursion_limit(DEPTH).with_tokens_with_locations(tokens))
}

fn parse(grammar: &'static dyn Grammar, text: &str) -> Result<sqlparser::ast::Statement, String> {
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
