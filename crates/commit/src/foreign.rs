//! What other writers did to a table: live files compared with what we put there.

use arrow::array::{RecordBatch, new_null_array};
use arrow::compute::cast;
use bytes::Bytes;
use oncemore_core::{ColumnPrint, Digest, Fingerprint, Interval, TableName};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::border;
use crate::error::{CommitError, Result};
use crate::fold::OnTie;
use crate::head::interval_at;
use crate::metadata::{self, schema};
use crate::publish::{Change, Publish, Published, StampDraft};
use crate::rows::{RowHasher, RowsPrint, schema_digest};
use crate::slice_map::{Entry, FileEntry};
use crate::stage::start_of;
use crate::state::{Live, Standing, State};
use crate::warehouse::Warehouse;

/// A slice that another writer changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The slice; where it is none of ours, everything from its start on.
    pub interval: Interval,
    /// What was found.
    pub detail: String,
}

impl Warehouse {
    /// Accepts what a slice holds now, whoever wrote it: `stamp.origin` says why.
    ///
    /// # Errors
    /// Delete files in the slice; rows that can't be read; whatever a publish can fail with.
    pub fn adopt(&self, table: &TableName, interval: Interval, stamp: StampDraft) -> Result<Published> {
        let publish = Publish {
            table: table.clone(),
            interval,
            stamp,
            change: Change::Adopt,
            expected: None,
            replace_foreign: false,
            read_back: false,
            on_tie: OnTie::Ignore,
            dated_by: None,
        };
        let lost = || CommitError::Internal("a publish without an answer".to_owned());
        self.publish(vec![publish]).pop().ok_or_else(lost)?
    }

    /// Slices whose live files are not those of their stamps, by interval.
    ///
    /// # Errors
    /// The table's metadata can't be read.
    pub fn foreign_changes(&self, table: &TableName) -> Result<Vec<Foreign>> {
        let Some(state) = self.state(table)? else { return Ok(Vec::new()) };
        if state.is_ours() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        if let Standing::RolledBack { found: n } = state.standing {
            let detail =
                format!("the table was set back to an older snapshot: commit {n} of {}", state.high());
            found.push(Foreign { interval: Interval::WHOLE, detail });
        }
        let live = state.live(self)?;
        if live.elsewhere > 0 {
            let detail =
                format!("{} files under another partition spec than `_interval_start`", live.elsewhere);
            found.push(Foreign { interval: Interval::WHOLE, detail });
        }
        for entry in state.map.entries() {
            let detail = difference(&live, entry);
            found.extend(detail.map(|detail| Foreign { interval: entry.interval, detail }));
        }
        let starts = live.files.keys().chain(live.deletes.keys());
        let unknown = starts.filter(|start| state.map.starting(**start).is_none());
        for start in unknown {
            let interval = interval_at(&state, *start);
            let detail = difference(&live, &Entry::empty(interval))
                .unwrap_or_else(|| "rows of no slice of ours".to_owned());
            if !found.iter().any(|known| known.interval == interval) {
                found.push(Foreign { interval, detail });
            }
        }
        found.sort_by_key(|foreign| foreign.interval);
        Ok(found)
    }
}

/// Fingerprint, prints and schema of rows in files of whatever writer, columns found by name.
pub(crate) fn read_print(
    warehouse: &Warehouse,
    state: &State,
    files: &[FileEntry],
) -> Result<(Fingerprint, Vec<ColumnPrint>, Digest)> {
    let schema = schema::user_schema(state.metadata.current_schema())?;
    let hasher = RowHasher::new(&schema, &metadata::key_of(&state.metadata))?;
    let mut print = RowsPrint::new(&hasher);
    for file in files {
        let path = state.full(&file.name);
        CommitError::guard(path.display(), || {
            let damaged = |error: String| CommitError::corrupt(path.display(), error);
            let bytes = Bytes::from(warehouse.disk().read(&path)?);
            let metadata = border::metadata(&bytes, false).map_err(damaged)?;
            let pages = border::Pages::new(bytes, &metadata);
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(pages, metadata);
            let reader = reader.build().map_err(|error| damaged(error.to_string()))?;
            for batch in reader {
                let batch = batch.map_err(|error| damaged(error.to_string()))?;
                let columns = schema.fields().iter().map(|field| match batch.column_by_name(field.name()) {
                    None => Ok(new_null_array(field.data_type(), batch.num_rows())),
                    Some(column) => {
                        cast(column, field.data_type()).map_err(|error| damaged(error.to_string()))
                    }
                });
                let columns = columns.collect::<Result<Vec<_>>>()?;
                let rows = RecordBatch::try_new(schema.clone(), columns)
                    .map_err(|error| damaged(error.to_string()))?;
                print.add_batch(&hasher, &rows);
            }
            Ok(())
        })?;
    }
    let (fingerprint, columns) = print.finish();
    Ok((fingerprint, columns, schema_digest(&schema)))
}

/// How the live files of a slice differ from what we put there; `None` where they don't.
pub(crate) fn difference(live: &Live, entry: &Entry) -> Option<String> {
    let start = start_of(entry.interval);
    let ours = &entry.files;
    let now = live.files.get(&start).map_or(&[][..], Vec::as_slice);
    let added: Vec<&FileEntry> = now.iter().filter(|file| !ours.contains(file)).collect();
    let gone = ours.iter().filter(|file| !now.contains(file)).count();
    let own = &entry.deletes.files;
    let deletes = live.deletes.get(&start).map_or(&[][..], Vec::as_slice);
    // By name: a copied table's are written again for its new place.
    let known = |files: &[FileEntry], file: &FileEntry| files.iter().any(|known| known.name == file.name);
    let undone = own.iter().filter(|file| !known(deletes, file)).count();
    let deletes = deletes.iter().filter(|file| !known(own, file)).count();
    if added.is_empty() && gone == 0 && deletes == 0 && undone == 0 {
        return None;
    }
    let rows: u64 = added.iter().map(|file| file.rows).sum();
    let mut parts = Vec::new();
    if !added.is_empty() {
        parts.push(format!("{} added with {}", counted(added.len(), "file"), counted(rows, "row")));
    }
    if gone > 0 {
        parts.push(format!("{gone} of our {} gone", counted(ours.len(), "file")));
    }
    if deletes > 0 {
        parts.push(counted(deletes, "delete file"));
    }
    if undone > 0 {
        parts.push(format!("{undone} of our {} gone", counted(own.len(), "delete file")));
    }
    Some(parts.join(", "))
}

/// `1 file`, `2 files`.
fn counted<T: std::fmt::Display + PartialEq + From<u8>>(number: T, what: &str) -> String {
    let ending = if number == T::from(1) { "" } else { "s" };
    format!("{number} {what}{ending}")
}
