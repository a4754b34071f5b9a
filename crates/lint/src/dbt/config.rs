//! A model's configuration: where it may stand, which of it wins, and the typed form that rules read.

use serde_json::{Map, Value as Json};

use crate::yaml::text_of;

/// What dbt is told about a model or snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `view` where nothing is said, `snapshot` for snapshots.
    pub materialized: String,
    /// Whether the model is built at all.
    pub enabled: Option<bool>,
    /// As given; what the adapter takes where it is not given is for the rules to know.
    pub incremental_strategy: Option<String>,
    /// One column or several; empty where not given.
    pub unique_key: Vec<String>,
    /// Columns or expressions; for BigQuery the `field`.
    pub partition_by: Vec<String>,
    /// BigQuery's kind of partition column: `date`, `timestamp`, `int64`.
    pub partition_type: Option<String>,
    /// BigQuery's `partitions`, or `copy_partitions`: set statically.
    pub partitions: Vec<String>,
    /// Columns or expressions.
    pub cluster_by: Vec<String>,
    /// Column that microbatch cuts by.
    pub event_time: Option<String>,
    /// `hour`, `day`, `month`, `year`.
    pub batch_size: Option<String>,
    /// Batches that are built again.
    pub lookback: Option<i64>,
    /// First batch.
    pub begin: Option<String>,
    /// `ignore`, `fail`, `append_new_columns`, `sync_all_columns`.
    pub on_schema_change: Option<String>,
    /// Whether a full refresh is forced (`true`) or refused (`false`).
    pub full_refresh: Option<bool>,
    /// Also `predicates`.
    pub incremental_predicates: Vec<String>,
    /// Columns a merge leaves alone.
    pub merge_exclude_columns: Vec<String>,
    /// The only columns a merge sets.
    pub merge_update_columns: Vec<String>,
    /// SQL of hooks, unrendered.
    pub pre_hook: Vec<Hook>,
    /// SQL of hooks, unrendered.
    pub post_hook: Vec<Hook>,
    /// Whether a contract is enforced.
    pub contract: bool,
    /// Snapshot: `timestamp` or `check`.
    pub strategy: Option<String>,
    /// Snapshot: the column, or expression, of the change time.
    pub updated_at: Option<String>,
    /// Snapshot: the compared columns; `all` is one word.
    pub check_cols: Vec<String>,
    /// Snapshot: what happens to rows that are gone.
    pub hard_deletes: Option<String>,
    /// Name in the warehouse where it is not the model's.
    pub alias: Option<String>,
    /// Schema, or dataset, that was asked for.
    pub schema: Option<String>,
    /// Database, project or catalog that was asked for.
    pub database: Option<String>,
    /// Tags of all places.
    pub tags: Vec<String>,
    /// Everything, these fields too, as given.
    pub all: Map<String, Json>,
}

/// SQL that dbt runs before or after the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// With its template parts.
    pub sql: String,
    /// Whether it runs in the transaction of the model.
    pub transaction: bool,
}

impl Config {
    /// The typed form of merged configuration.
    pub(super) fn new(all: Map<String, Json>, default: &str) -> Self {
        let text = |name: &str| all.get(name).filter(|value| !value.is_null()).map(text_of);
        let truth = |name: &str| all.get(name).and_then(truth);
        let (partition_by, partition_type) = partition(all.get("partition_by"));
        let predicates = all.get("incremental_predicates").or_else(|| all.get("predicates"));
        let hooks =
            |a: &str, b: &str| [all.get(a), all.get(b)].into_iter().flatten().flat_map(hooks).collect();
        Config {
            materialized: text("materialized").unwrap_or_else(|| default.to_owned()),
            enabled: truth("enabled"),
            incremental_strategy: text("incremental_strategy"),
            unique_key: names(all.get("unique_key")),
            partition_by,
            partition_type,
            partitions: list(all.get("partitions")),
            cluster_by: names(all.get("cluster_by").or_else(|| all.get("clustered_by"))),
            event_time: text("event_time"),
            batch_size: text("batch_size"),
            lookback: all.get("lookback").and_then(Json::as_i64),
            begin: text("begin"),
            on_schema_change: text("on_schema_change"),
            full_refresh: truth("full_refresh"),
            incremental_predicates: list(predicates),
            merge_exclude_columns: list(all.get("merge_exclude_columns")),
            merge_update_columns: list(all.get("merge_update_columns")),
            pre_hook: hooks("pre_hook", "pre-hook"),
            post_hook: hooks("post_hook", "post-hook"),
            contract: all
                .get("contract")
                .and_then(|contract| contract.get("enforced"))
                .and_then(Json::as_bool)
                == Some(true),
            strategy: text("strategy"),
            updated_at: text("updated_at"),
            check_cols: list(all.get("check_cols")),
            hard_deletes: text("hard_deletes").or_else(|| {
                (truth("invalidate_hard_deletes") == Some(true)).then(|| "invalidate".to_owned())
            }),
            alias: text("alias"),
            schema: text("schema").or_else(|| text("target_schema")).or_else(|| text("dataset")),
            database: text("database").or_else(|| text("target_database")).or_else(|| text("project")),
            tags: list(all.get("tags")),
            all,
        }
    }
}

fn truth(value: &Json) -> Option<bool> {
    match value {
        Json::Bool(value) => Some(*value),
        Json::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A list, or one text as a list of one.
fn list(value: Option<&Json>) -> Vec<String> {
    match value {
        None | Some(Json::Null) => Vec::new(),
        Some(Json::Array(items)) => items.iter().map(text_of).collect(),
        Some(other) => vec![text_of(other)],
    }
}

/// A list of columns; a single text may name several between commas, if none of them is an expression.
fn names(value: Option<&Json>) -> Vec<String> {
    let items = list(value);
    match items.as_slice() {
        [one] if one.contains(',') && !one.contains('(') => {
            one.split(',').map(|part| part.trim().to_owned()).collect()
        }
        _ => items,
    }
}

fn partition(value: Option<&Json>) -> (Vec<String>, Option<String>) {
    match value {
        Some(Json::Object(parts)) => {
            let field = parts.get("field").map(text_of).into_iter().collect();
            (field, parts.get("data_type").map(text_of).or_else(|| Some("date".to_owned())))
        }
        other => (names(other), None),
    }
}

fn hooks(value: &Json) -> Vec<Hook> {
    match value {
        Json::Null => Vec::new(),
        Json::Array(items) => items.iter().flat_map(hooks).collect(),
        Json::Object(parts) => vec![Hook {
            sql: parts.get("sql").map(text_of).unwrap_or_default(),
            transaction: parts.get("transaction").and_then(Json::as_bool).unwrap_or(true),
        }],
        // dbt's `before_begin` and `after_commit` hooks, and dictionaries written as text.
        Json::String(text) => match serde_json::from_str::<Json>(text) {
            Ok(parts @ Json::Object(_)) => hooks(&parts),
            _ => vec![Hook { sql: text.clone(), transaction: true }],
        },
        other => vec![Hook { sql: text_of(other), transaction: true }],
    }
}

/// Lays `over` over `under` as dbt does: hooks and tags add up, `meta` merges, the rest is replaced.
pub(super) fn merge(under: &mut Map<String, Json>, over: &Map<String, Json>) {
    for (key, value) in over {
        let key = match key.as_str() {
            "pre-hook" => "pre_hook",
            "post-hook" => "post_hook",
            key => key,
        };
        match (key, under.get_mut(key)) {
            ("pre_hook" | "post_hook" | "tags" | "packages", Some(old)) => {
                let mut items = as_list(old.take());
                items.extend(as_list(value.clone()));
                *old = Json::Array(items);
            }
            ("meta" | "grants", Some(Json::Object(old))) => {
                if let Json::Object(new) = value {
                    old.extend(new.clone());
                }
            }
            _ => {
                under.insert(key.to_owned(), value.clone());
            }
        }
    }
}

fn as_list(value: Json) -> Vec<Json> {
    match value {
        Json::Array(items) => items,
        Json::Null => Vec::new(),
        one => vec![one],
    }
}

/// What `dbt_project.yml` says for a model in these folders; `tree` is its `models:` (or `snapshots:`) part.
pub(super) fn of_folders(tree: Option<&Json>, folders: &[&str]) -> Map<String, Json> {
    let mut merged = Map::new();
    let mut here = tree.and_then(Json::as_object);
    let mut rest = folders.iter();
    while let Some(level) = here {
        let mut own = Map::new();
        for (key, value) in level {
            let plain = !value.is_object() && rest.as_slice().first().is_none_or(|folder| folder != key);
            if let Some(name) = key.strip_prefix('+') {
                own.insert(name.to_owned(), value.clone());
            } else if plain || matches!(key.as_str(), "meta" | "partition_by" | "contract" | "grants") {
                own.insert(key.clone(), value.clone());
            }
        }
        merge(&mut merged, &own);
        here = rest.next().and_then(|folder| level.get(*folder)).and_then(Json::as_object);
    }
    merged
}
