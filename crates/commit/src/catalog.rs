//! The SQLite file: pointers to tables' metadata in the tables that every SQL catalog of Iceberg has, and beside them
//! the ledger's. Owns connections and transactions; knows nothing of what a pointer leads to.

#[cfg(test)]
mod tests;

use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oncemore_core::TableName;
use oncemore_core::fault::Step;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};

use crate::disk::Disk;
use crate::error::{CommitError, Result};
use crate::ledger::claim;
use crate::recover::stopped;

/// Name of the catalog in its tables: what PyIceberg's `load_catalog` takes when it is given none.
pub const CATALOG: &str = "default";
/// Name of the SQLite file in a warehouse folder.
pub const FILE: &str = "oncemore.db";
/// Version of the ledger's tables.
const FORMAT: i64 = 1;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS iceberg_tables (
    catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
    metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5),
    PRIMARY KEY (catalog_name, table_namespace, table_name));
CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
    catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255) NOT NULL,
    property_value VARCHAR(1000) NOT NULL, PRIMARY KEY (catalog_name, namespace, property_key));
CREATE TABLE om_meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE om_index (name TEXT PRIMARY KEY, metadata_location TEXT NOT NULL, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE om_requests (number INTEGER PRIMARY KEY, key TEXT UNIQUE, started INTEGER NOT NULL);
CREATE TABLE om_attempts (
    id TEXT PRIMARY KEY, request INTEGER NOT NULL, attempt INTEGER NOT NULL, name TEXT NOT NULL,
    \"from\" INTEGER NOT NULL, \"to\" INTEGER NOT NULL, state TEXT NOT NULL, code TEXT NOT NULL,
    started INTEGER NOT NULL, ended INTEGER, rows INTEGER, bytes INTEGER, error TEXT, process TEXT NOT NULL
    ) WITHOUT ROWID;
CREATE INDEX om_attempts_slice ON om_attempts (name, \"from\");
CREATE INDEX om_attempts_open ON om_attempts (state) WHERE state = 'open';
CREATE INDEX om_attempts_failed ON om_attempts (name) WHERE state = 'failed';
CREATE TABLE om_code (name TEXT, code TEXT, seen INTEGER NOT NULL, PRIMARY KEY (name, code)) WITHOUT ROWID;
CREATE TABLE om_cache (kind TEXT, name TEXT, key TEXT, bytes BLOB NOT NULL, PRIMARY KEY (kind, name, key));
INSERT INTO om_meta VALUES ('format', 1), ('request', 0), ('attempt', 0);
";

/// How long a transaction waits for that of another process.
const PATIENCE: Duration = Duration::from_secs(30);

/// When `gc` first found a file unreferenced.
const LATER: &str = "
CREATE TABLE IF NOT EXISTS om_garbage (
    name TEXT NOT NULL, file TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (name, file)) WITHOUT ROWID;
";

/// A row that points to a table's metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub(crate) name: TableName,
    pub(crate) location: String,
}

/// The open SQLite file.
#[derive(Debug)]
pub(crate) struct Catalog {
    connection: Mutex<Connection>,
    disk: Disk,
    read_only: bool,
    /// The file, and which one it was when it was opened.
    path: PathBuf,
    identity: Option<(u64, u64)>,
    /// Name of this process.
    own: String,
}

impl Catalog {
    /// Opens the file, making it where there is none. Beside tables it is made `anew` alone: an empty one would say
    /// that they are not there.
    pub(crate) fn open(root: &Path, disk: Disk, anew: bool, own: String) -> Result<Self> {
        let path = root.join(FILE);
        if !path.exists() {
            // Looked for once more: tables come after the file, and another process may just have made both.
            if !anew && holds_tables(root) && !path.exists() {
                return Err(no_ledger(&path, "is missing, and the tables beside it are there"));
            }
            disk.create_folder(root)?;
            let made =
                std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
            made.map_err(|error| CommitError::io(format!("create {}", path.display()), error))?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(|error| opening(&path, error))?;
        connection.busy_timeout(PATIENCE)?;
        let identity = identity(&path);
        let connection = Mutex::new(connection);
        let catalog = Catalog { connection, disk, read_only: false, path: path.clone(), identity, own };
        catalog.prepare(&path, root, anew).map_err(|error| match error {
            CommitError::Unavailable { reason, .. } if DAMAGED.iter().any(|said| reason.contains(said)) => {
                no_ledger(&path, "is no SQLite file, or a damaged one")
            }
            CommitError::Unavailable { reason, .. } => opening(&path, reason),
            other => other,
        })?;
        Ok(catalog)
    }

    fn prepare(&self, path: &Path, root: &Path, anew: bool) -> Result<()> {
        let mut connection = self.lock();
        connection.pragma_update(None, "synchronous", "FULL")?;
        if check_format(&connection, path)? && is_complete(&connection)? {
            return Ok(());
        }
        keep_log(&connection)?;
        let making = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have made the tables between the look and the lock.
        if !check_format(&making, path)? {
            // Nobody made anything in it, and nobody can now: what is there was made with a file that is lost, or with
            // its log, in which all of a young one is.
            if !anew && is_blank(&making)? && holds_tables(root) {
                return Err(no_ledger(path, "is empty, and the tables beside it are there"));
            }
            making.execute_batch(SCHEMA)?;
        }
        // A ledger of an earlier version lacks these; that version goes on working with it.
        making.execute_batch(claim::SCHEMA)?;
        making.execute_batch(LATER)?;
        making.commit()?;
        Ok(())
    }

    /// Opens an existing file for reading, also on media that can't be written.
    pub(crate) fn open_read_only(root: &Path, disk: Disk, own: String) -> Result<Self> {
        let path = root.join(FILE);
        if !path.exists() {
            return Err(CommitError::Config(format!("no warehouse at {}", root.display())));
        }
        let plain = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let look = |connection: Connection| -> Result<Connection> {
            connection.busy_timeout(PATIENCE)?;
            check_format(&connection, &path)?;
            Ok(connection)
        };
        let opened = Connection::open_with_flags(&path, plain).map_err(CommitError::from).and_then(look);
        let connection = match opened {
            Err(CommitError::Unavailable { reason, .. }) => {
                // Without a place for the shared memory of the log; fine where the log is empty.
                if std::fs::metadata(beside(&path, "-wal")).is_ok_and(|log| log.len() > 0) {
                    return Err(opening(&path, format!("{reason} (its log waits to be replayed)")));
                }
                let address = format!("file:{}?immutable=1", escape(&path));
                let flags = plain | OpenFlags::SQLITE_OPEN_URI;
                Connection::open_with_flags(address, flags).map_err(CommitError::from).and_then(look)
            }
            other => other,
        };
        let identity = identity(&path);
        Ok(Catalog { connection: Mutex::new(connection?), disk, read_only: true, path, identity, own })
    }

    /// Whether there are tables of claims: a ledger of an earlier version that is only read has none.
    pub(crate) fn has_claims(&self) -> Result<bool> {
        Ok(!self.read_only || is_complete(&self.lock())?)
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        // A panic in a transaction rolled it back; the connection is as good as before.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` in one immediate, durable transaction.
    ///
    /// # Errors
    /// [`CommitError::Unknown`] where only the answer to COMMIT was lost; everything else rolled back.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let connection = self.lock();
        let busy = |error: std::io::Error| CommitError::io("begin a transaction of the catalog", error);
        self.disk.step(Step::Begin, || Ok(())).map_err(busy)?;
        let transaction = self.begin(&connection)?;
        self.check_in_place()?;
        let done = work(&transaction)?;
        let committed = self.disk.step(Step::Commit, || transaction.commit().map_err(std::io::Error::other));
        committed.map_err(|error| {
            let doing = "commit to the catalog".to_owned();
            if was_full(&error) {
                return CommitError::io(doing, error);
            }
            CommitError::Unknown { doing, reason: error.to_string() }
        })?;
        self.check_in_place().map_err(|moved| CommitError::Unknown {
            doing: "commit to the catalog".to_owned(),
            reason: moved.to_string(),
        })?;
        Ok(done)
    }

    /// Begins a transaction that writes; says who may stand in its way where somebody does for too long.
    fn begin<'c>(&self, connection: &'c Connection) -> Result<Transaction<'c>> {
        match Transaction::new_unchecked(connection, TransactionBehavior::Immediate) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                // A ledger of an earlier version knows no claims.
                let by = claim::at_work(connection, &self.own).unwrap_or_default();
                let stopped = by.iter().find_map(|claim| stopped(&claim.process, &self.own));
                Err(CommitError::Locked { seconds: PATIENCE.as_secs(), by, stopped })
            }
            begun => Ok(begun?),
        }
    }

    /// Refuses to go on in a file that is no longer the catalog: one that was removed, or replaced by a backup, goes on
    /// taking writes that nobody will ever see.
    fn check_in_place(&self) -> Result<()> {
        if self.identity == identity(&self.path) {
            return Ok(());
        }
        let path = self.path.display();
        Err(CommitError::io("use the catalog", format!("{path} was removed or replaced while it was open")))
    }

    /// Runs `work` in a transaction that a power cut may undo, together with all later ones: for numbers and notes,
    /// which nothing that lasts depends on until a durable transaction follows, and that makes them durable too.
    pub(crate) fn note<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let connection = self.lock();
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let done = self.begin(&connection).and_then(|transaction| {
            self.check_in_place()?;
            let done = work(&transaction)?;
            let committed =
                self.disk.step(Step::Note, || transaction.commit().map_err(std::io::Error::other));
            committed.map_err(|error| CommitError::io("note in the catalog", error))?;
            Ok(done)
        });
        connection.pragma_update(None, "synchronous", "FULL")?;
        done
    }

    /// Writes a durable transaction that changes nothing of anyone's. One that failed at its end may have left all of
    /// itself in the write-ahead log, where this process does not see it and recovery after a crash would: what is
    /// written next takes its place, and after that it is in or gone for good.
    ///
    /// # Errors
    /// This one can't be written either: then nobody knows.
    pub(crate) fn settle(&self) -> Result<()> {
        self.write(|transaction| {
            // A row that changes each time: SQLite leaves a page alone that would come out equal.
            let change =
                "INSERT INTO om_meta VALUES ('settled', 1) ON CONFLICT DO UPDATE SET value = value + 1";
            transaction.execute(change, [])?;
            Ok(())
        })
    }

    pub(crate) fn tables(&self) -> Result<Vec<Pointer>> {
        let connection = self.lock();
        let mut query = connection.prepare_cached(
            "SELECT table_namespace, table_name, metadata_location FROM iceberg_tables
             WHERE catalog_name = ?1 AND metadata_location IS NOT NULL
               AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL) ORDER BY 1, 2",
        )?;
        let rows = query.query_map([CATALOG], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
        })?;
        let mut found = Vec::new();
        for row in rows {
            let (schema, name, location) = row?;
            // A table that another writer made under a name that we don't have is none of ours.
            if let Ok(name) = TableName::new(&schema, &name) {
                found.push(Pointer { name, location });
            }
        }
        Ok(found)
    }

    pub(crate) fn pointer(&self, name: &TableName) -> Result<Option<String>> {
        pointer(&self.lock(), name)
    }

    /// What the index says about a table: metadata location that it reflects, and state.
    pub(crate) fn index(&self, name: &TableName) -> Result<Option<(String, String)>> {
        let connection = self.lock();
        let mut query =
            connection.prepare_cached("SELECT metadata_location, state FROM om_index WHERE name = ?1")?;
        Ok(query.query_row([name.to_string()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }
}

pub(crate) fn pointer(connection: &Connection, name: &TableName) -> Result<Option<String>> {
    let mut query = connection.prepare_cached(
        "SELECT metadata_location FROM iceberg_tables
         WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3",
    )?;
    let found = query.query_row(params![CATALOG, name.schema(), name.name()], |row| row.get(0));
    Ok(found.optional()?.flatten())
}

/// Moves a pointer from `old` to `new`; false where it no longer is at `old`.
pub(crate) fn swap(
    transaction: &Transaction<'_>,
    name: &TableName,
    old: Option<&str>,
    new: &str,
) -> Result<bool> {
    let (schema, table) = (name.schema(), name.name());
    let moved = match old {
        Some(old) => transaction
            .prepare_cached(
                "UPDATE iceberg_tables SET metadata_location = ?4, previous_metadata_location = ?5
             WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3 AND metadata_location = ?5",
            )?
            .execute(params![CATALOG, schema, table, new, old])?,
        None => {
            transaction.execute(
                "INSERT OR IGNORE INTO iceberg_namespace_properties VALUES (?1, ?2, 'exists', 'true')",
                params![CATALOG, schema],
            )?;
            transaction.execute(
                "INSERT OR IGNORE INTO iceberg_tables VALUES (?1, ?2, ?3, ?4, NULL, 'TABLE')",
                params![CATALOG, schema, table, new],
            )?
        }
    };
    Ok(moved == 1)
}

/// Removes the pointer to a table that is at `old`, and its index; false where it no longer is there.
pub(crate) fn remove(transaction: &Transaction<'_>, name: &TableName, old: &str) -> Result<bool> {
    let removed = transaction.execute(
        "DELETE FROM iceberg_tables
         WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3 AND metadata_location = ?4",
        params![CATALOG, name.schema(), name.name(), old],
    )?;
    transaction.execute("DELETE FROM om_index WHERE name = ?1", [name.as_str()])?;
    Ok(removed == 1)
}

/// Records what a table's metadata at `location` means, so that nobody needs to read it for that.
pub(crate) fn set_index(
    connection: &Connection,
    name: &TableName,
    location: &str,
    state: &str,
) -> Result<()> {
    connection.prepare_cached("INSERT OR REPLACE INTO om_index VALUES (?1, ?2, ?3)")?.execute(params![
        name.to_string(),
        location,
        state
    ])?;
    Ok(())
}

/// Makes the database keep a write-ahead log. SQLite does not wait for another process that is doing the same just now,
/// whatever the busy timeout: so this does.
fn keep_log(connection: &Connection) -> Result<()> {
    for _ in 0..500 {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                std::thread::sleep(Duration::from_millis(20));
            }
            other => return Ok(other?),
        }
    }
    Err(CommitError::io("open the catalog", "another process keeps it locked"))
}

/// Whether the ledger's tables are there.
fn check_format(connection: &Connection, path: &Path) -> Result<bool> {
    let has = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'om_meta'";
    if connection.query_row(has, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(false);
    }
    let format: i64 =
        connection.query_row("SELECT value FROM om_meta WHERE key = 'format'", [], |row| row.get(0))?;
    if format > FORMAT {
        return Err(CommitError::Config(format!(
            "catalog of a newer version: {} has format {format}, this build knows up to {FORMAT}; install a newer one",
            path.display()
        )));
    }
    Ok(true)
}

/// Whether nothing was ever made in the file, by whomever.
fn is_blank(connection: &Connection) -> Result<bool> {
    Ok(connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0))? == 0)
}

/// Whether the tables are there that earlier versions did not make.
fn is_complete(connection: &Connection) -> Result<bool> {
    let has =
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('om_claimed', 'om_garbage')";
    Ok(connection.query_row(has, [], |row| row.get::<_, i64>(0))? == 2)
}

/// What SQLite says of a file that is not its own, or no longer whole.
const DAMAGED: [&str; 2] = ["not a database", "malformed"];

/// Whether a COMMIT failed for want of room: then its last page, the one that counts, was not written.
fn was_full(error: &std::io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rusqlite::Error>());
    inner.and_then(rusqlite::Error::sqlite_error_code) == Some(ErrorCode::DiskFull)
}

fn no_ledger(path: &Path, detail: &str) -> CommitError {
    CommitError::NoLedger { path: path.display().to_string(), detail: detail.to_owned() }
}

/// Whether a table of ours lies in the warehouse.
fn holds_tables(root: &Path) -> bool {
    let folders = |path: &Path| {
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let tables = folders(root).into_iter().flat_map(|schema| folders(&schema));
    tables.map(|table| table.join("metadata")).any(|metadata| {
        folders(&metadata).iter().any(|file| file.to_string_lossy().ends_with(".metadata.json"))
    })
}

/// Device and number of a file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

fn opening(path: &Path, reason: impl ToString) -> CommitError {
    CommitError::io(format!("open the catalog {}", path.display()), reason)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn escape(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}
