//! Requests and attempts: their numbers, and how each ended.

use std::str::FromStr;

use oncemore_core::{AttemptId, CodeVersion, Epoch, Instant, Interval, IntervalSet, TableName};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::{CommitError, Result};
use crate::warehouse::Warehouse;

/// One execution of a task, numbered and recorded before anything is staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Token.
    pub id: AttemptId,
    /// Order among all attempts.
    pub epoch: Epoch,
    /// The table.
    pub table: TableName,
    /// The slice.
    pub interval: Interval,
    /// Code of the task.
    pub code: CodeVersion,
}

/// How far an attempt got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptState {
    /// Began, and nothing else is known.
    Open,
    /// Published, rows or a new stamp alone.
    Committed,
    /// Ended without publishing.
    Failed,
    /// A later request had published the slice.
    Superseded,
}

impl AttemptState {
    /// The word stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            AttemptState::Open => "open",
            AttemptState::Committed => "committed",
            AttemptState::Failed => "failed",
            AttemptState::Superseded => "superseded",
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let all = [Self::Open, Self::Committed, Self::Failed, Self::Superseded];
        let found = all.into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| CommitError::corrupt("ledger", format!("unknown state `{text}`")))
    }
}

/// An attempt as the ledger has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRow {
    /// Number, slice and code.
    pub attempt: Attempt,
    /// How far it got.
    pub state: AttemptState,
    /// When it began.
    pub started: Instant,
    /// When it ended.
    pub ended: Option<Instant>,
    /// Rows it published; none where it published a stamp alone.
    pub rows: Option<u64>,
    /// Bytes it published, likewise.
    pub bytes: Option<u64>,
    /// Why it failed.
    pub error: Option<String>,
    /// Process that ran it.
    pub process: String,
}

/// How fast slices of a table came out once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Slices of one run, side by side as they were.
    pub slices: u64,
    /// What they took together, in µs.
    pub micros: u64,
}

/// How an attempt ended without publishing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptEnd {
    /// The attempt.
    pub id: AttemptId,
    /// The end.
    pub state: AttemptState,
    /// Why.
    pub error: Option<String>,
}

const COLUMNS: &str =
    "id, request, attempt, name, \"from\", \"to\", code, state, started, ended, rows, bytes, error, process";

impl Warehouse {
    /// The number of the request `key`: the same for the same key, else greater than every number before.
    ///
    /// # Errors
    /// The catalog can't be written.
    pub fn begin_request(&self, key: Option<&str>) -> Result<u64> {
        let now = self.world().now();
        self.catalog().note(|transaction| {
            let known = "SELECT number FROM om_requests WHERE key = ?1";
            if let Some(number) = transaction.query_row(known, [key], |row| row.get(0)).optional()? {
                return Ok(number);
            }
            let last: u64 = meta(transaction, "request")?;
            let number = last.max(u64::try_from(now.0 / 1_000).unwrap_or(0)) + 1;
            transaction
                .execute("INSERT INTO om_requests VALUES (?1, ?2, ?3)", params![number, key, now.0])?;
            raise(transaction, "request", number)?;
            Ok(number)
        })
    }

    /// Numbers and records attempts of a request.
    ///
    /// # Errors
    /// The catalog can't be written.
    pub fn begin_attempts(
        &self,
        request: u64,
        tasks: &[(TableName, Interval, CodeVersion)],
    ) -> Result<Vec<Attempt>> {
        let (now, process) = (self.world().now(), self.world().process());
        let ids: Vec<AttemptId> = tasks.iter().map(|_| AttemptId(self.world().fresh_id())).collect();
        self.catalog().note(|transaction| {
            let last: u64 = meta(transaction, "attempt")?;
            let mut insert = transaction.prepare_cached(
                "INSERT INTO om_attempts VALUES
                 (?1, ?2, ?3, ?4, ?5, ?6, 'open', ?7, ?8, NULL, NULL, NULL, NULL, ?9)",
            )?;
            let mut attempts = Vec::with_capacity(tasks.len());
            for (number, ((table, interval, code), id)) in (last + 1..).zip(tasks.iter().zip(&ids)) {
                insert.execute(params![
                    id.to_string(),
                    request,
                    number,
                    table.to_string(),
                    interval.start().0,
                    interval.end().0,
                    code.to_string(),
                    now.0,
                    process
                ])?;
                let epoch = Epoch { request, attempt: number };
                attempts.push(Attempt {
                    id: *id,
                    epoch,
                    table: table.clone(),
                    interval: *interval,
                    code: *code,
                });
            }
            raise(transaction, "attempt", last + tasks.len() as u64)?;
            Ok(attempts)
        })
    }

    /// Records how attempts ended that did not publish. One that the ledger knows as committed stays so.
    ///
    /// # Errors
    /// The catalog can't be written.
    pub fn end_attempts(&self, ends: &[AttemptEnd]) -> Result<()> {
        let now = self.world().now();
        self.catalog()
            .write(|transaction| ends.iter().try_for_each(|end| finish(transaction, end, now, None)))
    }

    /// All attempts on a slice, oldest first.
    ///
    /// # Errors
    /// The catalog can't be read.
    pub fn attempts(&self, table: &TableName, interval: Interval) -> Result<Vec<AttemptRow>> {
        let query = format!(
            "SELECT {COLUMNS} FROM om_attempts WHERE name = ?1 AND \"from\" = ?2 AND \"to\" = ?3
             ORDER BY request, attempt"
        );
        let connection = self.catalog().lock();
        let mut query = connection.prepare_cached(&query)?;
        let mut rows = query.query(params![table.to_string(), interval.start().0, interval.end().0])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// All attempts on a table, by slice, oldest first.
    ///
    /// # Errors
    /// The catalog can't be read.
    pub fn all_attempts(&self, table: &TableName) -> Result<Vec<AttemptRow>> {
        let query = format!(
            "SELECT {COLUMNS} FROM om_attempts WHERE name = ?1 ORDER BY \"from\", \"to\", request, attempt"
        );
        let connection = self.catalog().lock();
        let mut query = connection.prepare_cached(&query)?;
        let mut rows = query.query([table.to_string()])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// The latest attempt on each slice of a table, by interval.
    ///
    /// # Errors
    /// The catalog can't be read.
    pub fn last_attempts(&self, table: &TableName) -> Result<Vec<AttemptRow>> {
        let mut found: Vec<AttemptRow> = Vec::new();
        for next in self.all_attempts(table)? {
            if found.last().is_some_and(|last| last.attempt.interval == next.attempt.interval) {
                found.pop();
            }
            found.push(next);
        }
        Ok(found)
    }

    /// Slices of a table whose latest attempt failed. Costs by the number of failures, not of attempts.
    ///
    /// # Errors
    /// The catalog can't be read.
    pub fn failed_slices(&self, table: &TableName) -> Result<IntervalSet> {
        let connection = self.catalog().lock();
        let mut query = connection.prepare_cached(
            "SELECT \"from\", \"to\" FROM om_attempts AS own WHERE name = ?1 AND state = 'failed' AND NOT EXISTS (
               SELECT 1 FROM om_attempts AS later
               WHERE later.name = own.name AND later.\"from\" = own.\"from\" AND later.\"to\" = own.\"to\"
                 AND (later.request, later.attempt) > (own.request, own.attempt))",
        )?;
        let slices = query.query_map([table.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut found = Vec::new();
        for slice in slices {
            let (from, to) = slice?;
            found.extend(Interval::new(Instant(from), Instant(to)));
        }
        Ok(found.into_iter().collect())
    }

    /// Attempts that began and of which nothing else is known.
    ///
    /// # Errors
    /// The catalog can't be read.
    pub fn open_attempts(&self) -> Result<Vec<AttemptRow>> {
        let query =
            format!("SELECT {COLUMNS} FROM om_attempts WHERE state = 'open' ORDER BY request, attempt");
        let connection = self.catalog().lock();
        let mut query = connection.prepare_cached(&query)?;
        let mut rows = query.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// Forgets attempts that published no rows and ended by `before`, where a later one on the slice was committed:
    /// they say nothing of what the table holds. A run that spares a slice makes one each time.
    ///
    /// # Errors
    /// The catalog can't be used.
    pub(crate) fn forget_stamps(&self, before: Instant) -> Result<u64> {
        const SUPERSEDED: &str = "FROM om_attempts AS own
             WHERE state = 'committed' AND coalesce(rows, 0) = 0 AND coalesce(bytes, 0) = 0 AND ended <= ?1 AND EXISTS (
               SELECT 1 FROM om_attempts AS later
               WHERE later.name = own.name AND later.\"from\" = own.\"from\" AND later.\"to\" = own.\"to\"
                 AND later.state = 'committed' AND (later.request, later.attempt) > (own.request, own.attempt))";
        let any: bool = {
            let connection = self.catalog().lock();
            let mut query = connection.prepare_cached(&format!("SELECT EXISTS (SELECT 1 {SUPERSEDED})"))?;
            query.query_row([before.0], |row| row.get(0))?
        };
        if !any {
            return Ok(0);
        }
        self.catalog().note(|transaction| {
            let forgotten = transaction.execute(&format!("DELETE {SUPERSEDED}"), [before.0])?;
            Ok(forgotten as u64)
        })
    }

    /// The pace of the run that published most slices of a table, the latest of several.
    ///
    /// # Errors
    /// The catalog can't be read.
    pub fn pace(&self, table: &TableName) -> Result<Option<Pace>> {
        let connection = self.catalog().lock();
        let mut query = connection.prepare_cached(
            "SELECT count(*), max(ended) - min(started) FROM om_attempts
              WHERE name = ?1 AND state = 'committed' AND ended IS NOT NULL AND bytes > 0
              GROUP BY request, process HAVING max(ended) > min(started) ORDER BY count(*) DESC, request DESC LIMIT 1",
        )?;
        let read = |row: &Row<'_>| {
            Ok(Pace { slices: row.get(0)?, micros: row.get::<_, i64>(1)?.max(0).unsigned_abs() })
        };
        Ok(query.query_row([table.to_string()], read).optional()?)
    }

    /// When `code` of `model` was first seen: now, where it never was.
    ///
    /// # Errors
    /// The catalog can't be used.
    pub fn code_seen(&self, model: &TableName, code: CodeVersion) -> Result<Instant> {
        let find = |connection: &Connection| -> Result<Option<i64>> {
            let mut query =
                connection.prepare_cached("SELECT seen FROM om_code WHERE name = ?1 AND code = ?2")?;
            let keys = params![model.to_string(), code.to_string()];
            Ok(query.query_row(keys, |row| row.get(0)).optional()?)
        };
        if let Some(seen) = find(&self.catalog().lock())? {
            return Ok(Instant(seen));
        }
        let now = self.world().now();
        if self.catalog().is_read_only() {
            return Ok(now);
        }
        self.catalog().note(|transaction| {
            transaction.execute(
                "INSERT OR IGNORE INTO om_code VALUES (?1, ?2, ?3)",
                params![model.to_string(), code.to_string(), now.0],
            )?;
            Ok(Instant(find(transaction)?.unwrap_or(now.0)))
        })
    }

    /// Every code of a model ever seen, with the time, oldest first.
    ///
    /// # Errors
    /// The catalog can't be read.
    pub fn codes(&self, model: &TableName) -> Result<Vec<(CodeVersion, Instant)>> {
        let connection = self.catalog().lock();
        let mut query = connection
            .prepare_cached("SELECT code, seen FROM om_code WHERE name = ?1 ORDER BY seen, code")?;
        let mut rows = query.query([model.to_string()])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push((parse(&row.get::<_, String>(0)?)?, Instant(row.get(1)?)));
        }
        Ok(found)
    }
}

pub(crate) fn meta(connection: &Connection, key: &str) -> Result<u64> {
    Ok(connection.query_row("SELECT value FROM om_meta WHERE key = ?1", [key], |row| row.get(0))?)
}

/// Raises a counter; it never goes back.
pub(crate) fn raise(connection: &Connection, key: &str, value: u64) -> Result<()> {
    connection.execute("UPDATE om_meta SET value = max(value, ?2) WHERE key = ?1", params![key, value])?;
    Ok(())
}

/// Ends an attempt that is not known as committed.
pub(crate) fn finish(
    connection: &Connection,
    end: &AttemptEnd,
    now: Instant,
    published: Option<(u64, u64)>,
) -> Result<()> {
    let (rows, bytes) = published.unzip();
    connection
        .prepare_cached(
            "UPDATE om_attempts SET state = ?2, ended = ?3, error = ?4, rows = ?5, bytes = ?6
             WHERE id = ?1 AND state != 'committed'",
        )?
        .execute(params![end.id.to_string(), end.state.as_str(), now.0, end.error, rows, bytes])?;
    Ok(())
}

fn parse<T: FromStr>(text: &str) -> Result<T>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error| CommitError::corrupt("ledger", error))
}

fn read(row: &Row<'_>) -> Result<AttemptRow> {
    let id = AttemptId::try_from(row.get::<_, String>(0)?);
    let interval = Interval::new(Instant(row.get(4)?), Instant(row.get(5)?));
    let attempt = Attempt {
        id: id.map_err(|error| CommitError::corrupt("ledger", error))?,
        epoch: Epoch { request: row.get(1)?, attempt: row.get(2)? },
        table: parse(&row.get::<_, String>(3)?)?,
        interval: interval.ok_or_else(|| CommitError::corrupt("ledger", "an interval holds no instant"))?,
        code: parse(&row.get::<_, String>(6)?)?,
    };
    Ok(AttemptRow {
        attempt,
        state: AttemptState::parse(&row.get::<_, String>(7)?)?,
        started: Instant(row.get(8)?),
        ended: row.get::<_, Option<i64>>(9)?.map(Instant),
        rows: row.get(10)?,
        bytes: row.get(11)?,
        error: row.get(12)?,
        process: row.get(13)?,
    })
}
