//! A table whose folder was copied or moved, or whose files come into another table's: Iceberg writes full paths
//! everywhere, so the head is written anew.

use std::path::{Path, PathBuf};

use iceberg::spec::{ManifestContentType, ManifestEntry, TableMetadata};
use serde_json::json;
use uuid::Uuid;

use super::moved;
use crate::disk::local;
use crate::error::{CommitError, Result};
use crate::metadata::manifest::{self, Writer};
use crate::metadata::{self, stats};
use crate::positions;
use crate::warehouse::{Warehouse, text};

/// Metadata as JSON, and the files that they name.
pub(crate) type Head = (serde_json::Value, Vec<(PathBuf, Vec<u8>)>);

/// Where the files of a head are that is written for another folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Files {
    /// In that folder: they came with it.
    There,
    /// Where they always were; what rows they hold is to be found in that folder as well.
    Here,
}

/// Writes the head of the table in `folder` again with paths below it; returns the new metadata file.
pub(super) fn relocate(
    warehouse: &Warehouse,
    folder: &Path,
    path: &Path,
    old: &TableMetadata,
) -> Result<String> {
    let (value, mut files) = head(warehouse, folder, old, Files::There)?;
    let bytes = serde_json::to_vec(&value).map_err(|error| CommitError::Internal(error.to_string()))?;
    metadata::parse(&bytes, "relocated metadata")?;
    let name = metadata::next_name(path.to_str(), warehouse.world());
    let path = folder.join("metadata").join(name);
    let location = text(&path)?;
    files.push((path, bytes));
    if !warehouse.disk().persist(&files, &[])? {
        return Err(CommitError::io(
            "write the metadata of a moved table",
            "a clean-up was at work; try again",
        ));
    }
    Ok(location)
}

/// The head of a table with paths below `folder`, without older snapshots; nothing is written but delete files.
pub(crate) fn head(warehouse: &Warehouse, folder: &Path, old: &TableMetadata, at: Files) -> Result<Head> {
    let mut files = Vec::new();
    let mut value = super::json(old)?;
    value["location"] = json!(text(folder)?);
    value["metadata-log"] = json!([]);
    value["statistics"] = json!([]);
    value["partition-statistics"] = json!([]);
    if let Some(snapshot) = old.current_snapshot() {
        let id = snapshot.snapshot_id();
        let list = head_list(warehouse, folder, old, at, &mut files)?;
        let keep = |value: &mut serde_json::Value, key: &str| {
            if let Some(items) = value[key].as_array_mut() {
                items.retain(|item| item["snapshot-id"] == json!(id));
            }
        };
        keep(&mut value, "snapshots");
        keep(&mut value, "snapshot-log");
        value["snapshots"][0]["manifest-list"] = json!(list);
        value["refs"] = json!({ "main": { "snapshot-id": id, "type": "branch" } });
    } else {
        value["snapshots"] = json!([]);
        value["snapshot-log"] = json!([]);
        value["refs"] = json!({});
    }
    Ok((value, files))
}

/// Manifests and list of the head with new paths.
fn head_list(
    warehouse: &Warehouse,
    folder: &Path,
    old: &TableMetadata,
    place: Files,
    files: &mut Vec<(PathBuf, Vec<u8>)>,
) -> Result<String> {
    let Some(snapshot) = old.current_snapshot() else { return Ok(String::new()) };
    let at = |path: &str| moved(path, old.location(), folder);
    let found = |path: &str| match place {
        Files::There => at(path),
        Files::Here => Ok(path.to_owned()),
    };
    let list = found(snapshot.manifest_list())?;
    let bytes = warehouse.disk().read(Path::new(local(&list)))?;
    let root = text(&folder.join("metadata"))?;
    let fresh = || format!("{root}/{}-m.avro", Uuid::from_u128(warehouse.world().fresh_id()));
    let mut manifests = Vec::new();
    for file in manifest::parse_list(&bytes, old.format_version(), &list)? {
        let deletes = file.content == ManifestContentType::Deletes;
        let spec = old.partition_spec_by_id(file.partition_spec_id);
        let spec = spec.ok_or_else(|| CommitError::corrupt(&list, "it names an unknown partition spec"))?;
        let bytes = warehouse.disk().read(Path::new(local(&found(&file.manifest_path)?)))?;
        let mut entries = Vec::new();
        for entry in manifest::parse(&bytes, &file)? {
            let path = at(entry.file_path())?;
            let mut bytes = entry.file_size_in_bytes();
            if deletes && place == Files::Here {
                return Err(CommitError::Internal("delete files in a table that is compact".to_owned()));
            }
            if deletes {
                if !positions::is_ours(&path) {
                    return Err(CommitError::Config(
                        "delete files of another writer can't be moved to a new place; let that writer rewrite the table"
                            .into(),
                    ));
                }
                // They hold full paths, too. The file is of this copy alone: what names it is written after it.
                bytes = positions::relocate(warehouse, Path::new(&path), &at)?;
            }
            let old = entry.data_file();
            let partition = old.partition().clone();
            let data_file = stats::at_path(old, path, bytes, partition, file.partition_spec_id)?;
            entries.push(ManifestEntry { data_file, ..entry });
        }
        if entries.is_empty() {
            continue;
        }
        let mut writer = Writer {
            schema: old.current_schema().clone(),
            spec: spec.as_ref().clone(),
            snapshot_id: snapshot.snapshot_id(),
            fresh_path: &fresh,
            written: Vec::new(),
        };
        let written = writer.merged(&[std::sync::Arc::new(entries)])?;
        manifests.push(iceberg::spec::ManifestFile {
            sequence_number: file.sequence_number,
            min_sequence_number: file.min_sequence_number,
            added_snapshot_id: file.added_snapshot_id,
            ..written
        });
        files.extend(writer.written.into_iter().map(|(path, bytes, _)| (path.into(), bytes)));
    }
    let bytes = manifest::list_bytes(
        &manifests,
        snapshot.snapshot_id(),
        snapshot.parent_snapshot_id(),
        snapshot.sequence_number(),
    )?;
    let path = format!(
        "{root}/snap-{}-{}.avro",
        snapshot.snapshot_id(),
        Uuid::from_u128(warehouse.world().fresh_id())
    );
    files.push((path.clone().into(), bytes));
    Ok(path)
}
