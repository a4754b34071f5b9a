//! The summary of a snapshot, its totals included.

use std::collections::HashMap;

use iceberg::spec::{Operation, Summary};

/// Files and rows, added or removed. What another writer's files say of themselves may be any number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) files: u64,
    pub(crate) rows: u64,
    /// Position delete files, and the positions in them.
    pub(crate) delete_files: u64,
    pub(crate) deletes: u64,
    /// Of all files.
    pub(crate) bytes: u64,
}

impl Amount {
    pub(crate) fn add(&mut self, rows: u64, bytes: u64) {
        self.files += 1;
        self.rows = self.rows.saturating_add(rows);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    pub(crate) fn add_deletes(&mut self, positions: u64, bytes: u64) {
        self.delete_files += 1;
        self.deletes = self.deletes.saturating_add(positions);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// We never write such; another writer may have.
const CARRIED: &str = "total-equality-deletes";

/// What the table holds at a snapshot, where its summary says so.
pub(crate) fn totals(summary: &Summary) -> Option<Amount> {
    let number = |key: &str| summary.additional_properties.get(key)?.parse().ok();
    Some(Amount {
        files: number("total-data-files")?,
        rows: number("total-records")?,
        delete_files: number("total-delete-files").unwrap_or(0),
        deletes: number("total-position-deletes").unwrap_or(0),
        bytes: number("total-files-size")?,
    })
}

/// The summary of a snapshot that adds and removes whole files over `base`.
pub(crate) fn summary(
    base: Amount,
    parent: Option<&Summary>,
    added: Amount,
    removed: Amount,
    partitions: usize,
    ours: HashMap<String, String>,
) -> Summary {
    let mut values = ours;
    let mut set = |key: &str, value: u64| {
        if value > 0 {
            values.insert(key.to_owned(), value.to_string());
        }
    };
    set("added-data-files", added.files);
    set("added-records", added.rows);
    set("added-files-size", added.bytes);
    set("deleted-data-files", removed.files);
    set("deleted-records", removed.rows);
    set("removed-files-size", removed.bytes);
    set("added-delete-files", added.delete_files);
    set("added-position-delete-files", added.delete_files);
    set("added-position-deletes", added.deletes);
    set("removed-delete-files", removed.delete_files);
    set("removed-position-delete-files", removed.delete_files);
    set("removed-position-deletes", removed.deletes);
    set("changed-partition-count", partitions as u64);
    let total =
        |base: u64, added: u64, removed: u64| base.saturating_add(added).saturating_sub(removed).to_string();
    values.insert("total-data-files".to_owned(), total(base.files, added.files, removed.files));
    values.insert("total-records".to_owned(), total(base.rows, added.rows, removed.rows));
    values.insert("total-files-size".to_owned(), total(base.bytes, added.bytes, removed.bytes));
    let deletes = total(base.delete_files, added.delete_files, removed.delete_files);
    values.insert("total-delete-files".to_owned(), deletes);
    values.insert("total-position-deletes".to_owned(), total(base.deletes, added.deletes, removed.deletes));
    let before = parent.and_then(|parent| parent.additional_properties.get(CARRIED));
    values.insert(CARRIED.to_owned(), before.cloned().unwrap_or_else(|| "0".to_owned()));
    let operation = match (added.files, removed.files + added.delete_files) {
        (0, _) => Operation::Delete,
        (_, 0) => Operation::Append,
        _ => Operation::Overwrite,
    };
    Summary { operation, additional_properties: values }
}
