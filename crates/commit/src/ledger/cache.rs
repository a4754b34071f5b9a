//! What others keep between commands. Analyses are in the ledger and may be dropped at any time. What is known of a
//! source is in a file of its own: with the ledger gone it must still be known which files were there once, or rows
//! of one that vanished would be taken for deleted.

use std::path::PathBuf;

use oncemore_core::{CodeVersion, Instant, TableName};
use rusqlite::{OptionalExtension, params};

use crate::disk::written;
use crate::error::{CommitError, Result};
use crate::recover::names;
use crate::warehouse::Warehouse;

/// Folder of what is known of sources, in the warehouse's.
const SOURCES: &str = ".sources";
/// Folder of what is known of codes, in the warehouse's: what a plan says must not depend on the ledger.
const CODES: &str = ".codes";

/// A cached value: kind, name, key and bytes.
pub type Cached<'a> = (&'a str, &'a str, &'a str, &'a [u8]);

impl Warehouse {
    /// The cached bytes, where there are any.
    ///
    /// # Errors
    /// The catalog can't be read.
    pub fn cache_get(&self, kind: &str, name: &str, key: &str) -> Result<Option<Vec<u8>>> {
        let connection = self.catalog().lock();
        let mut query = connection
            .prepare_cached("SELECT bytes FROM om_cache WHERE kind = ?1 AND name = ?2 AND key = ?3")?;
        Ok(query.query_row([kind, name, key], |row| row.get(0)).optional()?)
    }

    /// Every key and value of a kind and name, by key.
    ///
    /// # Errors
    /// The catalog can't be read.
    pub fn cache_all(&self, kind: &str, name: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let connection = self.catalog().lock();
        let mut query = connection
            .prepare_cached("SELECT key, bytes FROM om_cache WHERE kind = ?1 AND name = ?2 ORDER BY key")?;
        let rows = query.query_map([kind, name], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Stores values, all in one transaction. Nothing happens in a warehouse that is open for reading only.
    ///
    /// # Errors
    /// The catalog can't be written.
    pub fn cache_put(&self, values: &[Cached<'_>]) -> Result<()> {
        if values.is_empty() || self.catalog().is_read_only() {
            return Ok(());
        }
        self.catalog().note(|transaction| {
            let mut put =
                transaction.prepare_cached("INSERT OR REPLACE INTO om_cache VALUES (?1, ?2, ?3, ?4)")?;
            for (kind, name, key, bytes) in values {
                put.execute(params![kind, name, key, bytes])?;
            }
            Ok(())
        })
    }

    /// Drops every value of a kind and name but those of `keep`.
    ///
    /// # Errors
    /// The catalog can't be written.
    pub fn cache_retain(&self, kind: &str, name: &str, keep: &[&str]) -> Result<()> {
        if self.catalog().is_read_only() {
            return Ok(());
        }
        let known = self.cache_all(kind, name)?;
        let gone: Vec<String> =
            known.into_iter().map(|(key, _)| key).filter(|key| !keep.contains(&key.as_str())).collect();
        if gone.is_empty() {
            return Ok(());
        }
        self.catalog().note(|transaction| {
            let mut remove = transaction
                .prepare_cached("DELETE FROM om_cache WHERE kind = ?1 AND name = ?2 AND key = ?3")?;
            gone.iter().try_for_each(|key| remove.execute([kind, name, key]).map(|_| ()))?;
            Ok(())
        })
    }

    /// What was kept of a source, where anything was.
    ///
    /// # Errors
    /// A file that is there and can't be read.
    pub fn source_get(&self, source: &str) -> Result<Option<Vec<u8>>> {
        let path = self.source_file(source)?;
        if path.exists() { self.disk().read(&path).map(Some) } else { Ok(None) }
    }

    /// Keeps what is known of a source. Nothing happens in a warehouse that is open for reading only.
    ///
    /// # Errors
    /// A folder that can't be written.
    pub fn source_put(&self, source: &str, bytes: &[u8]) -> Result<()> {
        if self.catalog().is_read_only() {
            return Ok(());
        }
        let path = self.source_file(source)?;
        let folder = self.root().join(SOURCES);
        if !folder.exists() {
            self.disk().create_folder(&folder)?;
        }
        let fresh = folder.join(format!(".{:032x}", self.world().fresh_id()));
        let written = self.disk().replace_hint(&path, &fresh, bytes);
        written.map_err(|error| CommitError::io(format!("write {}", path.display()), error))
    }

    /// What was kept of a code of a table, where anything was.
    ///
    /// # Errors
    /// A file that is there and can't be read.
    pub fn code_get(&self, table: &TableName, code: CodeVersion) -> Result<Option<Vec<u8>>> {
        let path = self.code_file(table, code);
        if path.exists() { self.disk().read(&path).map(Some) } else { Ok(None) }
    }

    /// Keeps what is known of a code of a table. Nothing happens in a warehouse that is open for reading only.
    ///
    /// # Errors
    /// A folder that can't be written.
    pub fn code_put(&self, table: &TableName, code: CodeVersion, bytes: &[u8]) -> Result<()> {
        if self.catalog().is_read_only() {
            return Ok(());
        }
        let path = self.code_file(table, code);
        let folder = self.root().join(CODES);
        if !folder.exists() {
            self.disk().create_folder(&folder)?;
        }
        let fresh = folder.join(format!(".{:032x}", self.world().fresh_id()));
        let written = self.disk().replace_hint(&path, &fresh, bytes);
        written.map_err(|error| CommitError::io(format!("write {}", path.display()), error))
    }

    /// Files that a process which died left beside notes, last written before `older_than`.
    pub(crate) fn left_notes(&self, older_than: Instant) -> Result<Vec<PathBuf>> {
        let mut left = Vec::new();
        for folder in [SOURCES, CODES].map(|name| self.root().join(name)) {
            for name in names(&folder)?.into_iter().filter(|name| name.starts_with('.')) {
                let path = folder.join(name);
                if written(&path).is_some_and(|at| at < older_than) {
                    left.push(path);
                }
            }
        }
        Ok(left)
    }

    fn code_file(&self, table: &TableName, code: CodeVersion) -> PathBuf {
        self.root().join(CODES).join(format!("{table}.{}.json", code.short()))
    }

    fn source_file(&self, source: &str) -> Result<PathBuf> {
        if source.is_empty() || source.starts_with('.') || source.contains(['/', '\\']) {
            return Err(CommitError::Config(format!("`{source}` can't be the name of a source")));
        }
        Ok(self.root().join(SOURCES).join(format!("{source}.json")))
    }
}
