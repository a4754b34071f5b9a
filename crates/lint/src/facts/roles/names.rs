//! What names of columns and functions tell about the role of a value.

use crate::functions::{Names, listed};
use crate::ir::Call;

use super::Fate;

/// Names of columns that tell when or by whom a row was written.
#[must_use]
pub fn is_audit_name(name: &str) -> bool {
    static WHOLE: Names = Names::of(include_str!("../../../data/names/audit.txt"));
    const STARTS: &[&str] = &[
        "etl_",
        "_etl",
        "dw_",
        "dwh_",
        "_dbt",
        "dbt_",
        "_loaded",
        "_ingest",
        "_insert",
        "_updated",
        "_created",
        "audit_",
        "_fivetran",
        "_airbyte",
        "meta_",
        "_meta",
        "sys_",
        "__",
        "_synced",
        "_processed",
        "edw_",
    ];
    const ENDS: &[&str] = &[
        "_loaded_at",
        "_inserted_at",
        "_ingested_at",
        "_refreshed_at",
        "_processed_at",
        "_load_ts",
        "_load_time",
        "_synced_at",
        "_computed_at",
        "_insert_ts",
        "_update_ts",
        "_load_timestamp",
        "_etl_ts",
        "_materialized_at",
    ];
    let bare = name.replace('_', "");
    is_stamp(name)
        || listed(&WHOLE, name)
        || WHOLE.words().iter().any(|whole| {
            whole.len() == name.len() + whole.matches('_').count() && whole.replace('_', "") == bare
        })
        || STARTS.iter().any(|start| name.starts_with(start))
        || ENDS.iter().any(|end| name.ends_with(end))
}

/// `merged_at`, `inserted_timestamp`, and without the strokes, `lineageloadedatutc`: a deed of the load, and an instant. Of
/// what a business does (`shipped_at`, `closed_at`) the clock is no stamp.
fn is_stamp(name: &str) -> bool {
    static DEEDS: Names = Names::of(include_str!("../../../data/names/deeds.txt"));
    const INSTANTS: &[&str] =
        &["utc", "timestamp", "tstamp", "datetime", "dttm", "dts", "time", "at", "on", "ts", "tz", "gmt"];
    const BEFORE: &[&str] = &[
        "dw",
        "dwh",
        "edw",
        "etl",
        "ods",
        "stg",
        "sys",
        "meta",
        "audit",
        "src",
        "source",
        "row",
        "record",
        "rec",
        "last",
        "first",
        "lineage",
        "system",
        "batch",
        "job",
        "pipeline",
        "data",
        "warehouse",
        "mart",
        "stage",
        "model",
        "task",
        "was",
        "is",
        "db",
    ];
    let bare: String = name.chars().filter(|c| *c != '_').collect();
    let (mut deed, mut instant) = (bare.as_str(), false);
    while let Some(rest) =
        INSTANTS.iter().find_map(|end| deed.strip_suffix(end)).filter(|rest| rest.len() > 2)
    {
        (deed, instant) = (rest, true);
    }
    let known = |deed: &str| listed(&DEEDS, deed);
    instant && (known(deed) || BEFORE.iter().any(|word| deed.strip_prefix(word).is_some_and(known)))
}

/// Whether a function makes one value of many: hashes, concatenations.
#[must_use]
pub fn is_hash(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    matches!(
        last,
        "md5"
            | "sha1"
            | "sha2"
            | "sha256"
            | "sha512"
            | "hash"
            | "xxhash64"
            | "farm_fingerprint"
            | "hashbytes"
            | "checksum"
            | "crc32"
            | "md5_hex"
            | "sha1_hex"
            | "sha2_hex"
            | "cityhash64"
            | "siphash64"
            | "murmur3"
            | "fnv_hash"
            | "to_hex"
            | "generate_surrogate_key"
            | "surrogate_key"
            | "ora_hash"
            | "standard_hash"
            | "uuid_generate_v5"
            | "uuid_string"
            | "halfmd5"
            | "xxh3"
    )
}

/// Whether a column's name says that it decides to which slice or snapshot a row belongs.
pub(super) fn places_rows(name: &str) -> bool {
    matches!(name, "ds" | "dt" | "pt" | "as_of" | "asof" | "snapshot" | "partition_key")
        || ["snapshot_", "as_of_", "partition_"].iter().any(|start| name.starts_with(start))
            && ["date", "day", "dt", "ts", "at", "month", "time"].iter().any(|end| name.ends_with(end))
}

/// How much of its arguments a function lets through, as far as order goes.
pub(super) fn passing(call: &Call) -> Fate {
    static ELEMENTS: Names = Names::of(include_str!("../../../data/names/elements.txt"));
    static ALL: Names = Names::of(include_str!("../../../data/names/whole.txt"));
    match call.name.as_str() {
        "count" if !call.distinct => Fate::Presence,
        name if listed(&ELEMENTS, name) => Fate::Elements,
        name if listed(&ALL, name) || is_hash(name) => Fate::Whole,
        _ => Fate::Unsure,
    }
}

pub(super) fn looks_like_key(name: &str) -> bool {
    ["_key", "_sk", "_pk", "_id", "_hash", "_hk", "_bk", "_uid"].iter().any(|end| name.ends_with(end))
        || matches!(name, "id" | "key" | "sk" | "pk" | "hash" | "hashkey" | "surrogate_key" | "uid")
}
