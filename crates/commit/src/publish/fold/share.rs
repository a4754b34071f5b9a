//! Files of a log that are those of a table folded from it, too: where the log holds one slice, whose changes came cut as
//! the table is. They get a second name; nothing is read or written again.

use std::collections::BTreeSet;

use iceberg::spec::Struct;

use super::super::{Change, Publish};
use super::product::{Product, Role};
use super::write::Writing;
use crate::error::Result;
use crate::fold::store::{Buckets, Unit};
use crate::fold::{DELETED, FoldSpec};
use crate::metadata::{self, schema, stats};
use crate::rows::schema_digest;
use crate::slice_map::{Entry, FileEntry, SliceMap};
use crate::stage::Staged;
use crate::state::State;
use crate::warehouse::text;

/// The rows of the only slice that a log holds, where one of the publishes brings it, cut into `units`.
pub(super) fn only_slice<'a>(
    map: &SliceMap,
    publishes: impl Iterator<Item = &'a Publish>,
    units: Buckets,
) -> Option<&'a Staged> {
    let mut holding = map.entries().filter(|entry| !entry.files.is_empty());
    let (Some(slice), None) = (holding.next(), holding.next()) else { return None };
    let staged = publishes.filter_map(|publish| match &publish.change {
        Change::Replace(audited) if publish.interval == slice.interval => Some(audited.staged()),
        _ => None,
    });
    let mut staged = staged.filter(|staged| brings(staged, slice));
    let cut = |file: &FileEntry| {
        Unit::in_name(&file.name).is_some_and(|(over, unit)| !over && unit.buckets == units)
    };
    staged.next().filter(|_| slice.files.iter().all(cut))
}

/// Whether the live files of a slice are those that were staged.
fn brings(staged: &Staged, slice: &Entry) -> bool {
    let files: BTreeSet<&FileEntry> = staged.files.list.iter().map(|(_, _, file)| file).collect();
    files == slice.files.iter().collect()
}

/// Whether a table folded from nothing but rows of `log` holds just these, as they are stored.
pub(super) fn is_same(product: &Product, log: &State, spec: &FoldSpec) -> Result<bool> {
    let columns = schema::file_schema(log.metadata.current_schema())?;
    let keeps_all = match product.role {
        Role::Kind { deleted } => !deleted && columns.index_of(DELETED).is_err(),
        // The date of a change must not be what tells slices apart.
        Role::Changes => spec.identity() == spec.reduced_by(),
        Role::Stretches => false,
    };
    Ok(keeps_all
        && columns == schema::file_schema(product.state.metadata.current_schema())?
        && metadata::key_of(&log.metadata) == metadata::key_of(&product.state.metadata))
}

impl Writing<'_> {
    /// Gives the files of a slice names in the folder of the table, which then holds the same rows.
    pub(super) fn share(&self, product: &mut Product, staged: &Staged) -> Result<()> {
        debug_assert_eq!(staged.schema, schema_digest(&product.user));
        let state = product.state.clone();
        let disk = self.warehouse.disk();
        disk.create_folder(&state.folder.join("data").join("all"))?;
        for (from, file, entry) in &staged.files.list {
            let part = entry.name.rsplit_once("-b").map_or(entry.name.as_str(), |(_, part)| part);
            let name = format!("data/all/{}-b{part}", self.stem);
            let path = state.folder.join(&name);
            let spec = state.metadata.default_partition_spec_id();
            let file = stats::at_path(file, text(&path)?, entry.bytes, Struct::empty(), spec)?;
            let entry = FileEntry { name, ..entry.clone() };
            disk.link(from, &path)?;
            product.written.push(entry.clone());
            product.staged.list.push((path, file, entry));
        }
        product.account(None, (staged.fingerprint, staged.columns.clone()));
        Ok(())
    }
}
