//! Finds models, snapshots, macros, sources and facts in a project's files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::yaml::text_of;

use super::config;
use super::context::TARGET_SCHEMA;
use super::eval::{Render, Unit, World};
use super::knowledge::{Knowledge, Trust, array};
use super::library::Library;
use super::manifest::{Catalog, Manifest, ManifestNode};
use super::syntax::{self, Expr, ExprKind};
use super::value::{NO_MACRO, Relation};
use super::{Hints, KnownRelation, Macro, Node, NodeKind, Problem, Project, RelationName};

struct Reader<'f> {
    hints: &'f Hints,
    files: &'f [(&'f str, &'f str)],
    texts: HashMap<&'f str, &'f str>,
    settings: Json,
    library: Library,
    problems: Vec<Problem>,
    relations: Vec<KnownRelation>,
    nodes: Vec<Node>,
    /// Entries of schema files: (kind, name) to entry and the folder of the file.
    entries: HashMap<(&'static str, String), Json>,
    sources: Vec<Json>,
}

pub(super) fn read(files: &[(&str, &str)], hints: &Hints) -> Project {
    let mut reader = Reader {
        files,
        hints,
        texts: files.iter().copied().collect(),
        settings: Json::Null,
        library: Library::with_prelude(),
        problems: Vec::new(),
        relations: Vec::new(),
        nodes: Vec::new(),
        entries: HashMap::new(),
        sources: Vec::new(),
    };
    reader.read_settings();
    let manifest = reader.read_manifest();
    reader.find_adapter(manifest.as_ref());
    reader.read_macros(manifest.as_ref());
    let has_manifest = manifest.is_some();
    if let Some(manifest) = manifest {
        reader.take_manifest(manifest);
    }
    reader.take_files();
    reader.take_catalog();
    reader.finish(has_manifest)
}

impl<'f> Reader<'f> {
    fn problem(&mut self, path: &str, why: String) {
        self.problems.push(Problem { path: path.to_owned(), span: None, why });
    }

    fn yaml(&mut self, path: &str, text: &str) -> Json {
        crate::yaml::parse(text).unwrap_or_else(|why| {
            self.problem(path, why);
            Json::Null
        })
    }

    fn read_settings(&mut self) {
        for path in ["dbt_project.yml", "dbt_project.yaml"] {
            if let Some(text) = self.texts.get(path).copied() {
                self.settings = self.yaml(path, text);
            }
        }
        let name = self.settings.get("name").map(text_of).unwrap_or_default();
        self.library.root = name.into();
        if let Some(Json::Object(vars)) = self.settings.get("vars") {
            self.library.vars = vars.clone();
        }
        for rule in array(&self.settings, "dispatch") {
            let order = array(rule, "search_order").iter().map(text_of).collect();
            let of = rule.get("macro_namespace").map(text_of).unwrap_or_default();
            self.library.search_order.insert(of, order);
        }
    }

    fn read_manifest(&mut self) -> Option<Manifest> {
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

    fn find_adapter(&mut self, manifest: Option<&Manifest>) {
        let of_manifest = manifest.and_then(|manifest| manifest.metadata.adapter_type.clone());
        self.library.adapter = of_manifest
            .or_else(|| self.adapter_of_profiles())
            .or_else(|| self.hints.adapter.clone())
            .or_else(|| self.adapter_of_keys());
    }

    fn adapter_of_profiles(&mut self) -> Option<String> {
        let path = ["profiles.yml", "profiles/profiles.yml", ".dbt/profiles.yml", "config/profiles.yml"]
            .into_iter()
            .find(|path| self.texts.contains_key(path))?;
        let profiles = crate::yaml::parse(self.texts[path]).ok()?;
        let wanted = self.settings.get("profile").map(text_of).unwrap_or_default();
        let all = profiles.as_object()?;
        let profile = all
            .get(&wanted)
            .or_else(|| all.iter().find(|(key, _)| *key != "config").map(|(_, value)| value))?;
        let outputs = profile.get("outputs")?.as_object()?;
        let target = profile.get("target").map(text_of).unwrap_or_default();
        let output =
            outputs.get("prod").or_else(|| outputs.get(&target)).or_else(|| outputs.values().next())?;
        output.get("type").map(text_of).filter(|name| !name.contains('{'))
    }

    /// Settings that only one adapter has.
    fn adapter_of_keys(&self) -> Option<String> {
        const KEYS: [(&str, &str); 10] = [
            ("snowflake_warehouse", "snowflake"),
            ("transient", "snowflake"),
            ("copy_grants", "snowflake"),
            ("query_tag", "snowflake"),
            ("require_partition_filter", "bigquery"),
            ("hours_to_expiration", "bigquery"),
            ("partition_expiration_days", "bigquery"),
            ("file_format", "spark"),
            ("bind", "redshift"),
            ("dist", "redshift"),
        ];
        fn walk(json: &Json, depth: u32) -> Option<&'static str> {
            let level = json.as_object().filter(|_| depth < 12)?;
            let own = level.keys().find_map(|key| {
                KEYS.iter()
                    .find(|(name, _)| *name == key.trim_start_matches('+'))
                    .map(|(_, adapter)| *adapter)
            });
            own.or_else(|| level.values().find_map(|value| walk(value, depth + 1)))
        }
        self.settings.get("models").and_then(|models| walk(models, 0)).map(str::to_owned)
    }

    /// Folders that `dbt_project.yml` names for a kind of file.
    fn folders(&self, key: &str, old: &str, default: &str) -> Vec<String> {
        let listed = [key, old].into_iter().find_map(|key| self.settings.get(key)).and_then(Json::as_array);
        match listed {
            Some(items) => items.iter().map(|item| text_of(item).trim_matches('/').to_owned()).collect(),
            None => vec![default.to_owned()],
        }
    }

    fn within(folders: &[String], path: &str) -> bool {
        folders
            .iter()
            .any(|folder| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/')))
    }

    fn read_macros(&mut self, manifest: Option<&Manifest>) {
        let folders = self.folders("macro-paths", "macro_paths", "macros");
        let root = self.library.root.to_string();
        let mut from_files: HashSet<String> = HashSet::new();
        let mut packages: BTreeMap<&str, String> = BTreeMap::new();
        for (path, text) in self.files {
            let Some((folder, rest)) = package_of(path) else { continue };
            if rest == "dbt_project.yml"
                && let Ok(settings) = crate::yaml::parse(text)
            {
                packages.insert(folder, settings.get("name").map(text_of).unwrap_or_default());
                if let (Some(Json::Object(vars)), Some(name)) = (settings.get("vars"), settings.get("name")) {
                    self.add_package_vars(&text_of(name), vars);
                }
            }
        }
        for (path, text) in self.files {
            if !path.ends_with(".sql") {
                continue;
            }
            let package = match package_of(path) {
                None if Self::within(&folders, path) => root.as_str(),
                Some((folder, rest)) if rest.starts_with("macros/") => {
                    packages.get(folder).map_or("", String::as_str)
                }
                _ => continue,
            };
            from_files.insert(package.to_owned());
            let file = self.library.add_file(path, (*text).into());
            self.library.add_macros(package, file);
        }
        let Some(manifest) = manifest else { return };
        let mut seen: HashSet<(&str, &str)> = HashSet::new();
        for found in manifest.macros.values() {
            if from_files.contains(&found.package_name)
                || !seen.insert((&found.package_name, &found.macro_sql))
            {
                continue;
            }
            let file = self.library.add_file(&found.original_file_path, found.macro_sql.as_str().into());
            self.library.add_macros(&found.package_name, file);
        }
    }

    /// A package's own variables stand behind those of the project.
    fn add_package_vars(&mut self, package: &str, vars: &Map<String, Json>) {
        let own = vars.get(package).and_then(Json::as_object).unwrap_or(vars);
        let all = self.library.vars.entry(package).or_insert_with(|| Json::Object(Map::new()));
        if let Json::Object(all) = all {
            for (key, value) in own {
                all.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
    }

    fn take_manifest(&mut self, manifest: Manifest) {
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

    fn add_ref(&mut self, package: &str, name: &str, version: Option<&Json>, relation_name: &RelationName) {
        let found = relation(relation_name);
        if let Some(version) = version.filter(|version| !version.is_null()) {
            let key = format!("{name}.v{}", text_of(version));
            self.library.refs.insert(format!("{package}.{key}"), found.clone());
            self.library.refs.insert(key, found.clone());
        }
        self.library.refs.insert(format!("{package}.{name}"), found.clone());
        let of_root = package == &*self.library.root;
        if of_root || !self.library.refs.contains_key(name) {
            self.library.refs.insert(name.to_owned(), found);
        }
    }

    fn add_node(&mut self, draft: Draft, base: Base) {
        let file = self.library.add_file(&draft.path, draft.text.clone());
        self.relations.push(KnownRelation {
            id: draft.id.clone(),
            name: draft.relation.clone(),
            knowledge: draft.knowledge,
            node: Some(self.nodes.len()),
        });
        let known = self.relations.len() - 1;
        let entry_text =
            self.texts.get(draft.path.as_str()).filter(|_| draft.is_synthetic).map(|text| (*text).into());
        self.nodes.push(Node {
            id: draft.id,
            name: draft.name,
            kind: draft.kind,
            path: draft.path,
            template: draft.template,
            relation: draft.relation,
            known,
            is_stale: false,
            base: base.config,
            base_is_whole: base.is_whole,
            text: draft.text,
            file,
            is_synthetic: draft.is_synthetic,
            entry_text,
            parsed: draft.parsed,
            compiled: None,
            package: self.library.root.clone(),
        });
    }

    /// Models, snapshots and seeds that stand in files and not in the manifest.
    fn take_files(&mut self) {
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
        for (path, text) in schemas {
            let schema = self.yaml(path, text);
            self.take_schema(path, &schema);
        }
        self.take_sources();
        let folders: Vec<String> = [models, snapshots, seeds].concat();
        let drafts: Vec<(Draft, Base)> = found.iter().flat_map(|file| self.drafts(*file, &folders)).collect();
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

    /// Templates within values of YAML.
    fn resolve(&self, value: &mut Json) {
        match value {
            Json::String(text) if text.contains("{{") => {
                if let Some(done) = self.rendered(text) {
                    *value = crate::yaml::parse(&done)
                        .ok()
                        .filter(|v| !v.is_object() && !v.is_array())
                        .unwrap_or(Json::String(done));
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.resolve(item)),
            Json::Object(items) => items.values_mut().for_each(|item| self.resolve(item)),
            _ => {}
        }
    }

    /// A text of YAML with its template parts done; `None` where the outcome is a guess.
    fn rendered(&self, text: &str) -> Option<String> {
        if !text.contains('{') {
            return Some(text.to_owned());
        }
        let nodes = syntax::parse(text, 0..text.len()).ok()?;
        let unit =
            Unit { text: text.into(), file: u32::MAX, by: NO_MACRO, package: self.library.root.clone() };
        let none = Map::new();
        let this =
            Relation { database: None, schema: None, identifier: String::new(), printed: String::new() };
        let mut render = Render::new(&self.library, unit, World::FullRefresh, Rc::new(this), &none);
        render.template(&nodes).ok()?;
        let guessed = render.out.marks.iter().any(|mark| mark.stub) || render.approximate;
        (!guessed).then_some(render.out.text)
    }

    fn take_catalog(&mut self) {
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

    fn finish(mut self, has_manifest: bool) -> Project {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by(|a, b| {
            let key =
                |at: &usize| (&self.nodes[*at].path, self.nodes[*at].template.start, &self.nodes[*at].id);
            key(a).cmp(&key(b))
        });
        let mut places = vec![0; order.len()];
        for (place, old) in order.iter().enumerate() {
            places[*old] = place;
        }
        let mut slots: Vec<Option<Node>> = std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
        let nodes = order.iter().filter_map(|at| slots[*at].take()).collect();
        for known in &mut self.relations {
            known.node = known.node.map(|node| places[node]);
        }
        let macros = self.library.macros.iter().map(|source| Macro {
            package: source.package.to_string(),
            name: source.name.clone(),
            path: self.library.files[source.file as usize].0.clone(),
            span: source.span.range(),
        });
        Project {
            name: self.library.root.to_string(),
            adapter: self.library.adapter.clone(),
            has_manifest,
            nodes,
            relations: self.relations,
            macros: macros.collect(),
            problems: self.problems,
            library: self.library,
        }
    }
}

struct Draft {
    id: String,
    name: String,
    kind: NodeKind,
    path: String,
    template: Range<usize>,
    relation: RelationName,
    knowledge: Knowledge,
    text: Arc<str>,
    is_synthetic: bool,
    parsed: Result<Vec<syntax::Node>, syntax::SyntaxError>,
}

struct Base {
    config: Map<String, Json>,
    /// Whether what the template gives to `config()` is in it.
    is_whole: bool,
}

fn relation(name: &RelationName) -> Relation {
    Relation {
        database: name.database.clone(),
        schema: name.schema.clone(),
        identifier: name.identifier.clone(),
        printed: name.printed.clone(),
    }
}

/// The folder of an installed package and the path within it.
fn package_of(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix("dbt_packages/").or_else(|| path.strip_prefix("dbt_modules/"))?;
    rest.split_once('/')
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
