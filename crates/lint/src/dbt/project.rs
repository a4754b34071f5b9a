//! Finds models, snapshots, macros, sources and facts in a project's files.

mod files;
mod made;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::dialect::Dialect;
use crate::spread::Spread;
use crate::yaml::text_of;

use super::eval::{Render, Unit, World};
use super::knowledge::{Knowledge, array};
use super::library::Library;
use super::manifest::Manifest;
use super::syntax::{self};
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

pub(super) fn read(files: &[(&str, &str)], hints: &Hints, spread: &impl Spread) -> Project {
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
    reader.take_files(spread);
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

    fn find_adapter(&mut self, manifest: Option<&Manifest>) {
        let of_manifest = manifest.and_then(|manifest| manifest.metadata.adapter_type.clone());
        let of_profiles = self.adapter_of_profiles();
        let dialect = |adapter: &Option<String>| adapter.as_deref().and_then(Dialect::named);
        let named = self.hints.named.clone();
        // `databricks` says more than `spark` does.
        let named = if dialect(&named) == dialect(&of_profiles) { of_profiles.clone() } else { named };
        self.library.adapter = of_manifest
            .or(named)
            .or(of_profiles)
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
