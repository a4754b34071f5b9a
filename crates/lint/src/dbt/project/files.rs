//! Models, snapshots, seeds and sources as they stand in the project's own files.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::{Map, Value as Json};

use crate::spread::Spread;
use crate::yaml::{self, text_of};

use super::super::config;
use super::super::context::TARGET_SCHEMA;
use super::super::knowledge::{Knowledge, array};
use super::super::syntax::{self, Expr, ExprKind};
use super::super::{KnownRelation, NodeKind, RelationName};
use super::{Base, Draft, Reader, package_of, relation};

impl<'f> Reader<'f> {
    /// Models, snapshots and seeds that stand in files and not in the manifest.
    pub(super) fn take_files(&mut self, spread: &impl Spread) {
        let models = self.folders("model-paths", "source-paths", "models");
        let snapshots = self.folders("snapshot-paths", "snapshot_paths", "snapshots");
        let seeds = self.folders("seed-paths", "data-paths", "seeds");
        let known: HashSet<String> = self.nodes.iter().map(|node| node.path.clone()).collect();
        let mut found: Vec<(&'f str, &'f str, &'static str)> = Vec::new();
        let mut schemas = Vec::new();
        for (path, text) in self.files {
            let is_yaml = path.ends_with(".yml") || path.ends_with(".yaml");
            let kind = match () {
                () if package_of(path).is_some() || known.contains(*path) => continue,
                () if Self::within(&models, path) => "models",
                () if Self::within(&snapshots, path) => "snapshots",
                () if Self::within(&seeds, path) => "seeds",
                () if self.hints.anywhere && (is_yaml || path.ends_with(".sql")) => "models",
                () => continue,
            };
            if is_yaml {
                schemas.push((*path, *text));
            } else if path.ends_with(".sql") || (kind == "seeds" && path.ends_with(".csv")) {
                found.push((path, text, kind));
            }
        }
        if found.iter().all(|(_, _, kind)| *kind == "seeds") && !self.nodes.is_empty() {
            return;
        }
        let read = spread.map(&schemas, |(_, text)| yaml::parse(text));
        for ((path, _), schema) in schemas.iter().zip(read) {
            match schema {
                Ok(schema) => self.take_schema(path, &schema),
                Err(why) => self.problem(path, why),
            }
        }
        self.take_sources();
        let folders: Vec<String> = [models, snapshots, seeds].concat();
        let drafts = spread.map(&found, |file| self.drafts(*file, &folders));
        let drafts: Vec<(Draft, Base)> = drafts.into_iter().flatten().collect();
        let synthetic = self.yaml_snapshots(&folders);
        for (draft, _) in drafts.iter().chain(&synthetic) {
            let root = self.library.root.to_string();
            self.add_ref(&root, &draft.name, None, &draft.relation);
        }
        self.add_entries_alone(
            drafts.iter().chain(&synthetic).map(|(draft, _)| draft.name.as_str()).collect(),
        );
        for (draft, base) in drafts.into_iter().chain(synthetic) {
            if draft.path.ends_with(".csv") {
                let Draft { id, relation: name, knowledge, .. } = draft;
                self.relations.push(KnownRelation { id, name, knowledge, node: None });
            } else {
                self.add_node(draft, base);
            }
        }
    }

    /// What schema files say of models that are not among the files.
    fn add_entries_alone(&mut self, here: HashSet<&str>) {
        let alone = self.entries.iter().filter(|((_, name), _)| !here.contains(name.as_str()));
        let mut found: Vec<KnownRelation> = alone
            .map(|((kind, name), entry)| {
                let mut knowledge = Knowledge::default();
                knowledge.add_entry(entry, false);
                let name = RelationName {
                    database: None,
                    schema: Some(TARGET_SCHEMA.to_owned()),
                    identifier: name.clone(),
                    printed: self.library.print(None, Some(TARGET_SCHEMA), name),
                };
                let id = format!("{}.{}.{}", kind.trim_end_matches('s'), self.library.root, name.identifier);
                KnownRelation { id, name, knowledge, node: None }
            })
            .collect();
        found.sort_by(|a, b| a.id.cmp(&b.id));
        self.relations.append(&mut found);
    }

    fn take_schema(&mut self, path: &str, schema: &Json) {
        for kind in ["models", "snapshots", "seeds"] {
            for entry in array(schema, kind) {
                let Some(name) = entry.get("name").map(text_of) else { continue };
                let mut entry = entry.clone();
                if let Json::Object(entry) = &mut entry {
                    entry.insert("\u{0}path".to_owned(), Json::String(path.to_owned()));
                }
                self.entries.insert((kind, name), entry);
            }
        }
        self.sources.extend(array(schema, "sources").iter().cloned());
    }

    fn take_sources(&mut self) {
        for source in std::mem::take(&mut self.sources) {
            let Some(name) = source.get("name").map(text_of) else { continue };
            let of = |entry: &Json, key: &str| entry.get(key).filter(|value| !value.is_null()).map(text_of);
            let schema = of(&source, "schema")
                .map_or(Some(name.clone()), |text| self.rendered(&text))
                .unwrap_or_else(|| name.clone());
            let database = of(&source, "database")
                .or_else(|| of(&source, "catalog"))
                .and_then(|text| self.rendered(&text));
            for table in array(&source, "tables") {
                let Some(table_name) = of(table, "name") else { continue };
                let identifier = of(table, "identifier")
                    .and_then(|text| self.rendered(&text))
                    .unwrap_or_else(|| table_name.clone());
                let relation_name = RelationName {
                    printed: self.library.print(database.as_deref(), Some(&schema), &identifier),
                    database: database.clone(),
                    schema: Some(schema.clone()),
                    identifier,
                };
                let mut knowledge = Knowledge::default();
                knowledge.add_entry(table, false);
                let id = format!("source.{}.{name}.{table_name}", self.library.root);
                self.library.sources.insert((name.clone(), table_name), relation(&relation_name));
                self.relations.push(KnownRelation { id, name: relation_name, knowledge, node: None });
            }
        }
    }

    /// What a file of `models/`, `snapshots/` or `seeds/` holds.
    fn drafts(
        &self,
        (path, text, kind): (&'f str, &'f str, &'static str),
        folders: &[String],
    ) -> Vec<(Draft, Base)> {
        let stem = path.rsplit('/').next().unwrap_or(path);
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        if kind == "seeds" {
            return vec![self.draft(path, stem, NodeKind::Model, "seeds", 0..0, "", folders)];
        }
        let blocks = syntax::blocks(text);
        let snapshots: Vec<_> = blocks.iter().filter(|block| block.kind == "snapshot").collect();
        if !snapshots.is_empty() {
            let draft = |block: &&syntax::Block| {
                self.draft(
                    path,
                    &block.name,
                    NodeKind::Snapshot,
                    "snapshots",
                    block.inner.range(),
                    text,
                    folders,
                )
            };
            return snapshots.iter().map(draft).collect();
        }
        if kind == "snapshots" {
            return Vec::new();
        }
        vec![self.draft(path, stem, NodeKind::Model, "models", 0..text.len(), text, folders)]
    }

    /// Snapshots that are written in YAML alone.
    fn yaml_snapshots(&self, folders: &[String]) -> Vec<(Draft, Base)> {
        let mut found: Vec<_> = self
            .entries
            .iter()
            .filter(|((kind, _), _)| *kind == "snapshots")
            .filter_map(|((_, name), entry)| Some((name, entry, entry.get("relation").map(text_of)?)))
            .collect();
        found.sort_by_key(|(name, _, _)| *name);
        let draft = |(name, entry, from): (&String, &Json, String)| {
            let path = entry.get("\u{0}path").map(text_of).unwrap_or_default();
            let text = format!("select * from {{{{ {from} }}}}");
            let (mut draft, base) =
                self.draft(&path, name, NodeKind::Snapshot, "snapshots", 0..text.len(), &text, folders);
            draft.is_synthetic = true;
            (draft, base)
        };
        found.into_iter().map(draft).collect()
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a draft, each from elsewhere")]
    fn draft(
        &self,
        path: &str,
        name: &str,
        kind: NodeKind,
        section: &'static str,
        template: Range<usize>,
        text: &str,
        folders: &[String],
    ) -> (Draft, Base) {
        let rest = folders.iter().find_map(|folder| path.strip_prefix(folder.as_str())).unwrap_or(path);
        let mut trail: Vec<&str> = vec![&self.library.root];
        trail.extend(rest.split('/').filter(|part| !part.is_empty()));
        trail.pop();
        trail.push(name);
        let mut base = config::of_folders(self.settings.get(section), &trail);
        let entry = self.entries.get(&(section, name.to_owned()));
        if let Some(Json::Object(own)) = entry.and_then(|entry| entry.get("config")) {
            config::merge(&mut base, own);
        }
        for value in base.iter_mut().filter(|(key, _)| !key.contains("hook")).map(|(_, value)| value) {
            self.resolve(value);
        }
        let mut own = base.clone();
        let parsed = syntax::parse(text, template.clone());
        if let Ok(nodes) = &parsed {
            literal_config(nodes, &mut own);
        }
        let part = |keys: [&str; 3]| {
            keys.into_iter().find_map(|key| own.get(key)).filter(|value| !value.is_null()).map(text_of)
        };
        let schema = match part(["schema", "target_schema", "dataset"]) {
            Some(custom) if kind == NodeKind::Snapshot && own.contains_key("target_schema") => custom,
            Some(custom) => format!("{TARGET_SCHEMA}_{custom}"),
            None => TARGET_SCHEMA.to_owned(),
        };
        let database = part(["database", "target_database", "project"]);
        let identifier = part(["alias", "alias", "alias"]).unwrap_or_else(|| name.to_owned());
        let relation = RelationName {
            printed: self.library.print(database.as_deref(), Some(&schema), &identifier),
            database,
            schema: Some(schema),
            identifier,
        };
        let mut knowledge = Knowledge::default();
        if let Some(entry) = entry {
            let contract =
                base.get("contract").and_then(|contract| contract.get("enforced")).and_then(Json::as_bool);
            knowledge.add_entry(entry, contract == Some(true));
        }
        let word = match section {
            "snapshots" => "snapshot",
            "seeds" => "seed",
            _ => "model",
        };
        let draft = Draft {
            id: format!("{word}.{}.{name}", self.library.root),
            name: name.to_owned(),
            kind,
            path: path.to_owned(),
            template,
            relation,
            knowledge,
            text: text.into(),
            is_synthetic: false,
            parsed,
        };
        (draft, Base { config: base, is_whole: false })
    }
}

/// What calls of `config()` say in so many words; enough for names.
fn literal_config(nodes: &[syntax::Node], into: &mut Map<String, Json>) {
    for node in nodes {
        match node {
            syntax::Node::Print(expr, _) | syntax::Node::Do(expr) => {
                let ExprKind::Call(callee, args) = &expr.kind else { continue };
                if !matches!(&callee.kind, ExprKind::Name(name) if &**name == "config") {
                    continue;
                }
                for (name, value) in &args.named {
                    if let Some(value) = literal(value) {
                        into.insert(name.to_string(), value);
                    }
                }
            }
            syntax::Node::Scope(body) => literal_config(body, into),
            _ => {}
        }
    }
}

fn literal(expr: &Expr) -> Option<Json> {
    match &expr.kind {
        ExprKind::Str(text) => Some(Json::String(text.to_string())),
        ExprKind::Bool(value) => Some(Json::Bool(*value)),
        ExprKind::Int(value) => Some(Json::from(*value)),
        _ => None,
    }
}
