//! What dbt made of a project: `target/manifest.json` and `target/catalog.json`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::yaml::text_of;

use super::super::knowledge::{Knowledge, Trust};
use super::super::manifest::{Catalog, Manifest, ManifestNode};
use super::super::{KnownRelation, NodeKind, RelationName, syntax};
use super::{Base, Draft, Reader, relation};

impl Reader<'_> {
    pub(super) fn read_manifest(&mut self) -> Option<Manifest> {
        let text = self.texts.get("target/manifest.json").copied()?;
        match serde_json::from_str::<Manifest>(text) {
            Ok(manifest) => {
                if self.library.root.is_empty()
                    && let Some(name) = &manifest.metadata.project_name
                {
                    self.library.root = name.as_str().into();
                }
                Some(manifest)
            }
            Err(error) => {
                self.problem("target/manifest.json", format!("not a manifest: {error}"));
                None
            }
        }
    }

    pub(super) fn take_manifest(&mut self, manifest: Manifest) {
        let mut facts: HashMap<String, Knowledge> = HashMap::new();
        for node in manifest.nodes.values().filter(|node| node.resource_type == "test") {
            let (Some(test), Some(target)) =
                (&node.test_metadata, node.attached_node.as_ref().or(node.depends_on.nodes.last()))
            else {
                continue;
            };
            let mut args = test.kwargs.clone();
            for key in ["where", "severity"] {
                if let Some(value) = node.config.get(key).filter(|value| !value.is_null()) {
                    args.insert(key.to_owned(), value.clone());
                }
            }
            let off = node.config.get("enabled").and_then(Json::as_bool) == Some(false);
            let warns =
                args.get("severity").map(text_of).is_some_and(|text| text.eq_ignore_ascii_case("warn"));
            let trust = if warns { Trust::WeakTest } else { Trust::Test };
            if !off {
                let known = facts.entry(target.clone()).or_default();
                known.add_test(&test.name, &args, node.column_name.as_deref(), trust);
            }
        }
        for (id, source) in manifest.sources {
            let name = RelationName {
                printed: source.relation_name.clone().unwrap_or_default(),
                database: source.database,
                schema: source.schema,
                identifier: source.identifier.unwrap_or_else(|| source.name.clone()),
            };
            let mut knowledge = facts.remove(&id).unwrap_or_default();
            knowledge.add_entry(&serde_json::json!({ "columns": source.columns }), false);
            self.library.sources.insert((source.source_name, source.name), relation(&name));
            self.relations.push(KnownRelation { id, name, knowledge, node: None });
        }
        let root = self.library.root.to_string();
        for (id, node) in manifest.nodes {
            if !matches!(node.resource_type.as_str(), "model" | "snapshot" | "seed") {
                continue;
            }
            let knowledge = facts.remove(&id).unwrap_or_default();
            self.take_manifest_node(id, node, knowledge, &root);
        }
    }

    fn take_manifest_node(&mut self, id: String, node: ManifestNode, mut knowledge: Knowledge, root: &str) {
        let identifier = node.alias.clone().unwrap_or_else(|| node.name.clone());
        let ephemeral = node.config.get("materialized").and_then(Json::as_str) == Some("ephemeral");
        let printed = match &node.relation_name {
            _ if ephemeral => format!("__dbt__cte__{}", node.name),
            Some(printed) => printed.clone(),
            None => self.library.print(node.database.as_deref(), node.schema.as_deref(), &identifier),
        };
        let name = RelationName { database: node.database, schema: node.schema, identifier, printed };
        let contract = node.config.get("contract").and_then(|contract| contract.get("enforced"));
        let contract = contract.and_then(Json::as_bool) == Some(true);
        knowledge.add_entry(
            &serde_json::json!({ "columns": node.columns, "constraints": node.constraints }),
            contract,
        );
        self.add_ref(&node.package_name, &node.name, node.version.as_ref(), &name);
        let kind = match node.resource_type.as_str() {
            "model" => NodeKind::Model,
            "snapshot" => NodeKind::Snapshot,
            _ => {
                self.relations.push(KnownRelation { id, name, knowledge, node: None });
                return;
            }
        };
        let foreign =
            node.package_name != root || node.language.as_deref().is_some_and(|language| language != "sql");
        let Some(raw) = node.raw_code.filter(|_| !foreign) else {
            self.relations.push(KnownRelation { id, name, knowledge, node: None });
            return;
        };
        let known = self.texts.get(node.original_file_path.as_str()).copied();
        let (text, template, is_synthetic) = match known {
            Some(text) if node.original_file_path.ends_with(".sql") => {
                (text, place(text, &node.name, kind), false)
            }
            Some(_) => (raw.as_str(), 0..raw.len(), true),
            None => (raw.as_str(), 0..raw.len(), false),
        };
        let is_stale = !is_synthetic && text[template.clone()].trim() != raw.trim();
        let base = Base { config: node.config, is_whole: !is_stale };
        let compiled = node.compiled_code.filter(|_| !is_stale);
        let text: Arc<str> = text.into();
        let parsed = syntax::parse(&text, template.clone());
        let path = node.original_file_path;
        self.add_node(
            Draft {
                id,
                name: node.name,
                kind,
                path,
                template,
                relation: name,
                knowledge,
                text,
                is_synthetic,
                parsed,
            },
            base,
        );
        if let Some(node) = self.nodes.last_mut() {
            node.is_stale = is_stale;
            node.compiled = compiled;
        }
    }

    pub(super) fn take_catalog(&mut self) {
        let Some(text) = self.texts.get("target/catalog.json").copied() else { return };
        let catalog: Catalog = match serde_json::from_str(text) {
            Ok(catalog) => catalog,
            Err(error) => return self.problem("target/catalog.json", format!("not a catalog: {error}")),
        };
        for known in &mut self.relations {
            if let Some(table) = catalog.nodes.get(&known.id).or_else(|| catalog.sources.get(&known.id)) {
                known.knowledge.add_catalog(table);
            }
        }
    }
}

/// Bytes of a file that hold a node's template.
fn place(text: &str, name: &str, kind: NodeKind) -> Range<usize> {
    let whole = 0..text.len();
    match kind {
        NodeKind::Model => whole,
        NodeKind::Snapshot => syntax::blocks(text)
            .into_iter()
            .find(|block| block.kind == "snapshot" && block.name == name)
            .map_or(whole, |block| block.inner.range()),
    }
}
