//! Older versions of a table, as far as its snapshots are kept. Reads only.

use std::sync::Arc;

use oncemore_core::TableName;

use crate::error::Result;
use crate::head::{TableHead, files_of_map};
use crate::metadata::{self, schema};
use crate::state::own_map;
use crate::warehouse::Warehouse;

impl Warehouse {
    /// Ids of the snapshots of ours that are kept, the newest first.
    ///
    /// # Errors
    /// Metadata that can't be read.
    pub fn snapshots(&self, table: &TableName) -> Result<Vec<i64>> {
        let Some(state) = self.state(table)? else { return Ok(Vec::new()) };
        let mut kept: Vec<(i64, i64)> = state
            .metadata
            .snapshots()
            .filter(|snapshot| own_map(snapshot).is_some())
            .map(|snapshot| (snapshot.sequence_number(), snapshot.snapshot_id()))
            .collect();
        kept.sort_unstable_by(|left, right| right.cmp(left));
        Ok(kept.into_iter().map(|(_, id)| id).collect())
    }

    /// The table as of a snapshot of ours; `None` where that is not kept.
    ///
    /// # Errors
    /// Metadata or a slice map that can't be read.
    pub fn head_at(&self, table: &TableName, snapshot_id: i64) -> Result<Option<TableHead>> {
        let Some(state) = self.state(table)? else { return Ok(None) };
        let Some((file, _)) = state.metadata.snapshot_by_id(snapshot_id).and_then(|found| own_map(found))
        else {
            return Ok(None);
        };
        let map = self.load_map(&state.folder, Some(&file))?;
        Ok(Some(TableHead {
            table: table.clone(),
            location: state.folder.clone(),
            metadata_location: state.location.clone(),
            snapshot_id: Some(snapshot_id),
            schema: schema::user_schema(state.metadata.current_schema())?,
            key: metadata::key_of(&state.metadata),
            files: Arc::new(files_of_map(self, &state, &map)?),
        }))
    }
}
