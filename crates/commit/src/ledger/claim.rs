//! Claims: which slices are being worked on, and by whom, so that nobody does the same work beside.
//!
//! For thrift alone. A claim may run out, be broken or get lost with the ledger: what may be published is decided by
//! fences, inside the publish. A holder gives a sign of life now and then; one of this host that is dead is known as
//! such at once, one of another host once its lease has passed without a sign.

use std::collections::BTreeMap;

use oncemore_core::{Epoch, Instant, Interval, IntervalSet, TableName};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::attempt::{AttemptEnd, AttemptState, finish};
use crate::error::{CommitError, Result};
use crate::recover::may_live;
use crate::warehouse::Warehouse;

/// Claims of hosts that nobody heard of for so long are forgotten, in microseconds.
const FORGOTTEN: i64 = 86_400_000_000;

/// The ledger's tables of claims. Numbers are never given twice: a holder that wakes up late must not take another
/// one's claim for its own.
pub(crate) const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS om_claims (
    id INTEGER PRIMARY KEY AUTOINCREMENT, request INTEGER NOT NULL, process TEXT NOT NULL, user TEXT NOT NULL,
    command TEXT NOT NULL, since INTEGER NOT NULL, seen INTEGER NOT NULL, lease INTEGER NOT NULL, tasks INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS om_claimed (
    claim INTEGER NOT NULL, name TEXT NOT NULL, \"from\" INTEGER NOT NULL, \"to\" INTEGER NOT NULL,
    PRIMARY KEY (claim, name, \"from\")) WITHOUT ROWID;
";

/// What somebody wants to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    /// Number of the request.
    pub request: u64,
    /// Who asks, as other people know them.
    pub user: String,
    /// What they typed.
    pub command: String,
    /// How long the claim lasts without a sign of life, in microseconds.
    pub lease_micros: i64,
    /// The slices.
    pub slices: Vec<(TableName, Interval)>,
}

/// The right to work on slices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its number.
    pub id: i64,
    /// Number of the request.
    pub request: u64,
    /// Process that holds it: `host:pid:start`.
    pub process: String,
    /// Who runs it.
    pub user: String,
    /// What they typed.
    pub command: String,
    /// When it was taken.
    pub since: Instant,
    /// Last sign of life.
    pub seen: Instant,
    /// How long it lasts without a sign of life, in microseconds.
    pub lease_micros: i64,
    /// Number of slices.
    pub tasks: u64,
    /// What it covers, neighbours joined.
    pub slices: Vec<(TableName, Interval)>,
}

/// Whether the holder of a claim is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It is, or nobody can tell yet.
    Live,
    /// It gave no sign of life for the length of its lease: stopped, cut off, or dead on another host.
    Silent,
    /// Its process is gone.
    Dead,
}

impl Life {
    /// The word shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Life::Live => "live",
            Life::Silent => "silent",
            Life::Dead => "dead",
        }
    }
}

impl Claim {
    /// Whether its holder is at work, as seen at `now` from the process `own`.
    pub fn life(&self, own: &str, now: Instant) -> Life {
        if !may_live(&self.process, own) {
            return Life::Dead;
        }
        // A sign from the future is as good as none: the clock was set back since.
        if now.0.abs_diff(self.seen.0) > self.lease_micros.unsigned_abs() { Life::Silent } else { Life::Live }
    }

    /// Whether it covers any part of a slice.
    pub fn touches(&self, table: &TableName, interval: Interval) -> bool {
        self.slices.iter().any(|(own, within)| own == table && within.overlaps(interval))
    }

    /// Host and process number of the holder; the whole name where it has another form.
    pub fn holder(&self) -> (&str, &str) {
        let parts = self.process.rsplit_once(':').and_then(|(rest, _)| rest.rsplit_once(':'));
        parts.unwrap_or((self.process.as_str(), "?"))
    }
}

/// The answer to a request for a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// Granted, under this number.
    Granted(i64),
    /// Some of the slices are being worked on: nothing was taken.
    Held(Vec<Claim>),
}

/// What breaking a claim did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The claim that was.
    pub claim: Claim,
    /// Slices on which its holder can't publish any more.
    pub fenced: u64,
}

impl Warehouse {
    /// Takes a claim on all the slices, or on none of them. Claims of the dead, and of the silent that stand in the
    /// way, are removed.
    ///
    /// # Errors
    /// The catalog can't be written.
    pub fn claim(&self, wanted: &ClaimRequest) -> Result<Claimed> {
        let (now, own) = (self.world().now(), self.world().process());
        let mut ranges: BTreeMap<&TableName, Vec<Interval>> = BTreeMap::new();
        for (table, interval) in &wanted.slices {
            ranges.entry(table).or_default().push(*interval);
        }
        self.catalog().note(|transaction| {
            let mut held = Vec::new();
            for claim in read_all(transaction, None)? {
                let in_the_way =
                    wanted.slices.iter().any(|(table, interval)| claim.touches(table, *interval));
                let forgotten = now.0.abs_diff(claim.seen.0) > FORGOTTEN.unsigned_abs();
                match claim.life(&own, now) {
                    Life::Live if in_the_way => held.push(claim),
                    Life::Dead => remove(transaction, claim.id)?,
                    Life::Silent if in_the_way || forgotten => remove(transaction, claim.id)?,
                    Life::Live | Life::Silent => {}
                }
            }
            if !held.is_empty() {
                return Ok(Claimed::Held(held));
            }
            transaction.execute(
                "INSERT INTO om_claims (request, process, user, command, since, seen, lease, tasks)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)",
                params![
                    wanted.request,
                    own,
                    wanted.user,
                    wanted.command,
                    now.0,
                    wanted.lease_micros,
                    wanted.slices.len() as u64
                ],
            )?;
            let id = transaction.last_insert_rowid();
            let mut insert = transaction.prepare_cached("INSERT INTO om_claimed VALUES (?1, ?2, ?3, ?4)")?;
            for (table, intervals) in ranges {
                for range in intervals.into_iter().collect::<IntervalSet>().intervals() {
                    insert.execute(params![id, table.to_string(), range.start().0, range.end().0])?;
                }
            }
            Ok(Claimed::Granted(id))
        })
    }

    /// Gives a sign of life; false where the claim is no longer one of this process: another runner took it over, or
    /// somebody broke it.
    ///
    /// # Errors
    /// The catalog can't be written.
    pub fn renew_claim(&self, id: i64) -> Result<bool> {
        let (now, own) = (self.world().now(), self.world().process());
        self.catalog().note(|transaction| {
            let renew = "UPDATE om_claims SET seen = ?3 WHERE id = ?1 AND process = ?2";
            Ok(transaction.execute(renew, params![id, own, now.0])? == 1)
        })
    }

    /// Gives a claim of this process up. One that is gone already is fine.
    ///
    /// # Errors
    /// The catalog can't be written.
    pub fn release_claim(&self, id: i64) -> Result<()> {
        let own = self.world().process();
        self.catalog().note(|transaction| {
            let known = "SELECT 1 FROM om_claims WHERE id = ?1 AND process = ?2";
            match transaction.query_row(known, params![id, own], |_| Ok(())).optional()? {
                Some(()) => remove(transaction, id),
                None => Ok(()),
            }
        })
    }

    /// All claims, oldest first, with what is known of their holders' lives.
    ///
    /// # Errors
    /// The catalog can't be read.
    pub fn claims(&self) -> Result<Vec<(Claim, Life)>> {
        let (now, own) = (self.world().now(), self.world().process());
        if !self.catalog().has_claims()? {
            return Ok(Vec::new());
        }
        let claims = read_all(&self.catalog().lock(), None)?;
        let life = |claim: Claim| {
            let life = claim.life(&own, now);
            (claim, life)
        };
        Ok(claims.into_iter().map(life).collect())
    }

    /// Takes a claim from its holder, whoever that is and whether it lives: a fence against its open attempts comes
    /// first, so that none of them can publish any more; what they published before stays. `None` where there is no
    /// such claim.
    ///
    /// # Errors
    /// Catalog or tables can't be written.
    pub fn break_claim(&self, id: i64) -> Result<Option<Broken>> {
        let Some(claim) = self.claims()?.into_iter().map(|(claim, _)| claim).find(|claim| claim.id == id)
        else {
            return Ok(None);
        };
        let open: Vec<_> = self
            .open_attempts()?
            .into_iter()
            .filter(|row| row.process == claim.process && row.attempt.epoch.request == claim.request)
            .map(|row| row.attempt)
            .filter(|attempt| claim.touches(&attempt.table, attempt.interval))
            .collect();
        let mut fences: BTreeMap<TableName, BTreeMap<Interval, Epoch>> = BTreeMap::new();
        for attempt in &open {
            let fence = fences.entry(attempt.table.clone()).or_default().entry(attempt.interval).or_default();
            *fence = (*fence).max(attempt.epoch);
        }
        let mut fenced = 0;
        for (table, fences) in fences {
            fenced += self.raise_fences(&table, &fences)?;
        }
        let now = self.world().now();
        self.catalog().write(|transaction| {
            for attempt in &open {
                let error = Some(format!("claim {id} was broken"));
                let end = AttemptEnd { id: attempt.id, state: AttemptState::Failed, error };
                finish(transaction, &end, now, None)?;
            }
            remove(transaction, id)
        })?;
        Ok(Some(Broken { claim, fenced }))
    }

    /// Claims of other processes at work that touch a table.
    pub(crate) fn others_at_work(&self, connection: &Connection, table: &TableName) -> Result<Vec<Claim>> {
        let (own, now) = (self.world().process(), self.world().now());
        let mut claims = read_all(connection, Some((table, &own)))?;
        claims.retain(|claim| claim.life(&own, now) == Life::Live);
        Ok(claims)
    }
}

/// Claims of other processes than `own` that may be at work.
pub(crate) fn at_work(connection: &Connection, own: &str) -> Result<Vec<Claim>> {
    let mut claims = read_all(connection, None)?;
    claims.retain(|claim| claim.process != own && may_live(&claim.process, own));
    Ok(claims)
}

/// Claims by number; of others than a process on a table, where one is named.
fn read_all(connection: &Connection, others_on: Option<(&TableName, &str)>) -> Result<Vec<Claim>> {
    let (table, own) = others_on.unzip();
    let mut claims = connection.prepare_cached(
        "SELECT id, request, process, user, command, since, seen, lease, tasks FROM om_claims
         WHERE ?1 IS NULL OR (process != ?2 AND id IN (SELECT claim FROM om_claimed WHERE name = ?1)) ORDER BY id",
    )?;
    let mut slices =
        connection.prepare_cached("SELECT name, \"from\", \"to\" FROM om_claimed WHERE claim = ?1")?;
    let rows = claims.query_map(params![table.map(TableName::as_str), own], read)?;
    let mut found = Vec::new();
    for claim in rows {
        let mut claim = claim?;
        let mut ranges = slices.query([claim.id])?;
        while let Some(row) = ranges.next()? {
            let name: String = row.get(0)?;
            let table = name.parse().map_err(|error| CommitError::corrupt("ledger", error))?;
            let range = Interval::new(Instant(row.get(1)?), Instant(row.get(2)?));
            let range = range.ok_or_else(|| CommitError::corrupt("ledger", "a claim on no instant"))?;
            claim.slices.push((table, range));
        }
        found.push(claim);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Claim> {
    Ok(Claim {
        id: row.get(0)?,
        request: row.get(1)?,
        process: row.get(2)?,
        user: row.get(3)?,
        command: row.get(4)?,
        since: Instant(row.get(5)?),
        seen: Instant(row.get(6)?),
        lease_micros: row.get(7)?,
        tasks: row.get(8)?,
        slices: Vec::new(),
    })
}

fn remove(connection: &Connection, id: i64) -> Result<()> {
    connection.execute("DELETE FROM om_claimed WHERE claim = ?1", [id])?;
    connection.execute("DELETE FROM om_claims WHERE id = ?1", [id])?;
    Ok(())
}
