//! The parts of `target/manifest.json` (versions 9 to 12) and `target/catalog.json` that count, and no
//! others.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::{Map, Value as Json};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Manifest {
    pub(super) metadata: Metadata,
    pub(super) nodes: BTreeMap<String, ManifestNode>,
    pub(super) sources: BTreeMap<String, ManifestSource>,
    pub(super) macros: BTreeMap<String, ManifestMacro>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Metadata {
    pub(super) adapter_type: Option<String>,
    pub(super) project_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ManifestNode {
    pub(super) resource_type: String,
    pub(super) name: String,
    pub(super) package_name: String,
    pub(super) original_file_path: String,
    pub(super) language: Option<String>,
    pub(super) database: Option<String>,
    pub(super) schema: Option<String>,
    pub(super) alias: Option<String>,
    pub(super) version: Option<Json>,
    pub(super) relation_name: Option<String>,
    #[serde(alias = "raw_sql")]
    pub(super) raw_code: Option<String>,
    #[serde(alias = "compiled_sql")]
    pub(super) compiled_code: Option<String>,
    pub(super) config: Map<String, Json>,
    pub(super) columns: Option<Json>,
    pub(super) constraints: Option<Json>,
    pub(super) depends_on: DependsOn,
    pub(super) test_metadata: Option<TestMetadata>,
    pub(super) column_name: Option<String>,
    pub(super) attached_node: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DependsOn {
    pub(super) nodes: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TestMetadata {
    pub(super) name: String,
    pub(super) kwargs: Map<String, Json>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ManifestSource {
    pub(super) name: String,
    pub(super) source_name: String,
    pub(super) database: Option<String>,
    pub(super) schema: Option<String>,
    pub(super) identifier: Option<String>,
    pub(super) relation_name: Option<String>,
    pub(super) columns: Option<Json>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ManifestMacro {
    pub(super) package_name: String,
    pub(super) original_file_path: String,
    pub(super) macro_sql: String,
}

/// `target/catalog.json`: tables by their unique id.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Catalog {
    pub(super) nodes: HashMap<String, Json>,
    pub(super) sources: HashMap<String, Json>,
}
