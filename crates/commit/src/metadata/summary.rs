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

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(factor: u64) -> Amount {
        let (files, rows, delete_files, deletes, bytes) = (2, 30, 1, 7, 1_000);
        Amount {
            files: files * factor,
            rows: rows * factor,
            delete_files: delete_files * factor,
            deletes: deletes * factor,
            bytes: bytes * factor,
        }
    }

    /// What it says, in order.
    fn said(base: u64, added: Amount, removed: Amount) -> (Operation, Vec<String>) {
        let found = summary(amount(base), None, added, removed, 3, HashMap::new());
        let mut said: Vec<String> =
            found.additional_properties.iter().map(|(name, value)| format!("{name}={value}")).collect();
        said.sort_unstable();
        (found.operation, said)
    }

    #[test]
    fn what_comes_and_goes_is_counted_and_what_does_not_is_left_out() {
        let (operation, all) = said(9, amount(2), amount(1));
        assert_eq!(operation, Operation::Overwrite);
        let wanted = "added-data-files=4 added-delete-files=2 added-files-size=2000 \
                      added-position-delete-files=2 added-position-deletes=14 added-records=60 \
                      changed-partition-count=3 deleted-data-files=2 deleted-records=30 \
                      removed-delete-files=1 removed-files-size=1000 removed-position-delete-files=1 \
                      removed-position-deletes=7 total-data-files=20 total-delete-files=10 \
                      total-equality-deletes=0 total-files-size=10000 total-position-deletes=70 \
                      total-records=300";
        assert_eq!(all.join(" "), wanted);
        let none = Amount::default();
        let (operation, few) = said(1, Amount { files: 1, ..none }, none);
        assert_eq!((operation, few.len(), few[0].as_str()), (Operation::Append, 8, "added-data-files=1"));
        assert_eq!(said(1, none, amount(1)).0, Operation::Delete);
        let with_deletes = Amount { files: 1, delete_files: 1, ..none };
        assert_eq!(said(1, with_deletes, none).0, Operation::Overwrite);
    }

    #[test]
    fn totals_come_back_and_what_others_left_out_is_none() {
        let mut made = summary(amount(1), None, amount(3), amount(2), 1, HashMap::new());
        assert_eq!(totals(&made), Some(amount(2)));
        let others = made.additional_properties.insert(CARRIED.to_owned(), "5".to_owned());
        assert_eq!(others.as_deref(), Some("0"));
        let next = summary(amount(2), Some(&made), amount(1), amount(0), 1, HashMap::new());
        assert_eq!(next.additional_properties[CARRIED], "5");
        made.additional_properties.remove("total-delete-files");
        assert_eq!(totals(&made), Some(Amount { delete_files: 0, ..amount(2) }));
        made.additional_properties.remove("total-records");
        assert_eq!(totals(&made), None);
    }
}
