//! Iceberg metadata of a table: its schema and how it evolves, manifests, and the metadata file. Functions from
//! values to values and bytes; what becomes visible when is `publish`'s.

pub(crate) mod manifest;
pub(crate) mod schema;
pub(crate) mod stats;
pub(crate) mod summary;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use iceberg::spec::{MAIN_BRANCH, TableMetadata, TableMetadataBuilder};
use oncemore_core::{TableName, World};
use serde::Deserialize;
use uuid::Uuid;

use crate::error::{CommitError, Result};
use crate::fold::FoldSpec;

/// Name of the slice map that goes with the head, where the head itself names none; rolls back with nothing.
pub(crate) const MAP: &str = "oncemore.slice-map";
/// Number of our commits; in a snapshot's summary that of the snapshot, as a table property the highest.
pub(crate) const N: &str = "oncemore.n";
/// The key columns, as a JSON array.
pub(crate) const KEY: &str = "oncemore.key";
/// Whether the table is cut into slices.
pub(crate) const SLICED: &str = "oncemore.sliced";

/// Id of the table that was built anew beside this one and took its place: what is left of that one counts no more.
pub(crate) const REBUILT: &str = "oncemore.rebuilt-from";

/// What is folded from the table, as JSON: in logs alone.
pub(crate) const FOLD: &str = "oncemore.fold";
/// The log that the table is folded from.
pub(crate) const LOG: &str = "oncemore.log";

/// Earlier metadata files that a table's metadata name.
pub(crate) const LOGGED: usize = 10;

/// Ends a change of metadata that is to be written at `now` (ms), and returns it with its bytes.
pub(crate) fn build(builder: TableMetadataBuilder, now_ms: i64) -> Result<(TableMetadata, Vec<u8>)> {
    let built = builder.build()?.metadata;
    if built.last_updated_ms() == now_ms {
        let bytes = serde_json::to_vec(&built).map_err(internal)?;
        return Ok((built, bytes));
    }
    // The library dates a change without a snapshot by the machine's clock; time is ours to give.
    let mut json = serde_json::to_value(&built).map_err(internal)?;
    json["last-updated-ms"] = now_ms.into();
    let bytes = serde_json::to_vec(&json).map_err(internal)?;
    let metadata = parse(&bytes, "new metadata")?;
    Ok((metadata, bytes))
}

/// Changes metadata without a new snapshot, as of `now` (ms); with its bytes. `edit` may be called twice.
pub(crate) fn change(
    current: &TableMetadata,
    location: &str,
    now_ms: i64,
    edit: impl Fn(TableMetadataBuilder) -> iceberg::Result<TableMetadataBuilder>,
) -> Result<(TableMetadata, Vec<u8>)> {
    let edited = edit(current.clone().into_builder(Some(location.to_owned())))?;
    // The library dates such a change by the machine's clock, and refuses it where that is far behind the logs: it was set
    // back, or that of another host was ahead.
    build(edited, now_ms).or_else(|_| change_aside(current, location, now_ms, edit))
}

/// The same with the logs put aside meanwhile, where the library finds nothing to refuse.
fn change_aside(
    current: &TableMetadata,
    location: &str,
    now_ms: i64,
    edit: impl Fn(TableMetadataBuilder) -> iceberg::Result<TableMetadataBuilder>,
) -> Result<(TableMetadata, Vec<u8>)> {
    let mut json = serde_json::to_value(current).map_err(internal)?;
    let snapshots = json["snapshot-log"].take();
    let files = json["metadata-log"].take();
    let bare: TableMetadata = serde_json::from_value(json).map_err(internal)?;
    let built = edit(bare.into_builder(None))?.build()?.metadata;
    let mut files = files.as_array().cloned().unwrap_or_default();
    let last = current.last_updated_ms();
    files.push(serde_json::json!({ "metadata-file": location, "timestamp-ms": last }));
    files.drain(..files.len().saturating_sub(LOGGED));
    let mut json = serde_json::to_value(&built).map_err(internal)?;
    json["snapshot-log"] = snapshots;
    json["metadata-log"] = files.into();
    json["last-updated-ms"] = now_ms.into();
    let bytes = serde_json::to_vec(&json).map_err(internal)?;
    Ok((parse(&bytes, "new metadata")?, bytes))
}

/// Reads a metadata file.
pub(crate) fn parse(bytes: &[u8], location: &str) -> Result<TableMetadata> {
    CommitError::guard(location, || {
        serde_json::from_slice(bytes).map_err(|error| CommitError::corrupt(location, error))
    })
}

/// A time for the next change: later than the last one, also where the clock was set back.
pub(crate) fn next_ms(metadata: &TableMetadata, world: &dyn World) -> i64 {
    (world.now().0 / 1_000).max(metadata.last_updated_ms().saturating_add(1))
}

/// A fresh name for a metadata file that follows the one at `location`.
pub(crate) fn next_name(location: Option<&str>, world: &dyn World) -> String {
    let version = location.and_then(version).map_or(0, |version| version.saturating_add(1));
    format!("{version:05}-{}.metadata.json", Uuid::from_u128(world.fresh_id()))
}

/// The number in the name of a metadata file.
pub(crate) fn version(location: &str) -> Option<u64> {
    let name = location.rsplit('/').next()?;
    name.trim_start_matches('v').split(['-', '.']).next()?.parse().ok()
}

/// A fresh snapshot id.
pub(crate) fn snapshot_id(metadata: &TableMetadata, world: &dyn World) -> i64 {
    loop {
        let id = (world.fresh_id() >> 65) as i64;
        if id > 0 && metadata.snapshot_by_id(id).is_none() {
            return id;
        }
    }
}

/// Ids of the snapshots that tags and branches name, `main` aside. The library lists refs in JSON only, which is read
/// past all the rest here.
pub(crate) fn named_snapshots(metadata: &TableMetadata) -> Result<BTreeSet<i64>> {
    #[derive(Deserialize)]
    struct Refs {
        #[serde(default)]
        refs: BTreeMap<String, Head>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Head {
        snapshot_id: i64,
    }
    let bytes = serde_json::to_vec(metadata).map_err(internal)?;
    let found: Refs = serde_json::from_slice(&bytes).map_err(internal)?;
    let others = found.refs.into_iter().filter(|(name, _)| name != MAIN_BRANCH);
    Ok(others.map(|(_, head)| head.snapshot_id).collect())
}

fn internal(error: serde_json::Error) -> CommitError {
    CommitError::Internal(error.to_string())
}

/// Properties of every new table, and those of its shape.
pub(crate) fn new_table_properties(key: &[String], shape: &Shape) -> Result<HashMap<String, String>> {
    let mut properties = HashMap::from([
        ("write.metadata.previous-versions-max".to_owned(), LOGGED.to_string()),
        ("write.metadata.compression-codec".to_owned(), "none".to_owned()),
        (KEY.to_owned(), key_json(key)),
        (SLICED.to_owned(), matches!(shape, Shape::Slices | Shape::Log(_)).to_string()),
    ]);
    properties.extend(shape.property()?);
    Ok(properties)
}

/// What a table is to us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Cut into slices.
    Slices,
    /// One slice.
    Whole,
    /// Slices of changes that other tables are folded from.
    Log(FoldSpec),
    /// Folded from that log.
    Folded(TableName),
}

impl Shape {
    /// The property that makes the table what it is, where one does.
    pub(crate) fn property(&self) -> Result<Option<(String, String)>> {
        Ok(match self {
            Shape::Slices | Shape::Whole => None,
            Shape::Log(spec) => {
                let json = serde_json::to_string(spec).map_err(internal)?;
                Some((FOLD.to_owned(), json))
            }
            Shape::Folded(log) => Some((LOG.to_owned(), log.to_string())),
        })
    }
}

/// What is folded from the table.
pub(crate) fn fold_of(metadata: &TableMetadata) -> Result<Option<FoldSpec>> {
    let text = metadata.properties().get(FOLD);
    text.map(|text| serde_json::from_str(text).map_err(|error| CommitError::corrupt(FOLD, error))).transpose()
}

/// The log that the table is folded from.
pub(crate) fn log_of(metadata: &TableMetadata) -> Option<TableName> {
    metadata.properties().get(LOG)?.parse().ok()
}

pub(crate) fn key_json(key: &[String]) -> String {
    serde_json::Value::from(key.to_vec()).to_string()
}

pub(crate) fn key_of(metadata: &TableMetadata) -> Vec<String> {
    let text = metadata.properties().get(KEY);
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}
