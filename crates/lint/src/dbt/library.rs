//! What templates of a project share: its macros (parsed when first called), variables, and the relations
//! that `ref`
//! and `source` name. Can be used by several threads.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value as Json};

use crate::session::digest_of;

use super::syntax::{self, MacroDef, Node, Span};
use super::value::Relation;

/// Package of what we bring along in place of dbt's own macros.
pub(super) const DBT: &str = "dbt";
/// What goes before a package's own macros, since those would ask the warehouse.
pub(super) const OVERRIDE: &str = "override";
const PRELUDE: [(&str, &str); 3] = [
    (DBT, include_str!("prelude/dbt.sql")),
    ("dbt_utils", include_str!("prelude/dbt_utils.sql")),
    (OVERRIDE, include_str!("prelude/override.sql")),
];

#[derive(Debug)]
pub(super) struct MacroSource {
    pub(super) package: Arc<str>,
    pub(super) name: String,
    pub(super) file: u32,
    pub(super) span: Span,
    parsed: OnceLock<Option<Arc<MacroDef>>>,
}

#[derive(Debug, Default)]
pub(super) struct Library {
    pub(super) root: Arc<str>,
    pub(super) adapter: Option<String>,
    pub(super) vars: Map<String, Json>,
    /// `dispatch:` of the project: where to look for a package's macros first.
    pub(super) search_order: HashMap<String, Vec<String>>,
    pub(super) files: Vec<(String, Arc<str>)>,
    pub(super) macros: Vec<MacroSource>,
    by_name: HashMap<String, HashMap<String, u32>>,
    /// By name and by `package.name`.
    pub(super) refs: HashMap<String, Relation>,
    pub(super) sources: HashMap<(String, String), Relation>,
    prelude: std::ops::Range<u32>,
}

impl Library {
    /// A library with our own macros in it.
    pub(super) fn with_prelude() -> Self {
        let mut library = Library::default();
        for (package, text) in PRELUDE {
            let file = library.add_file("", text.into());
            library.add_macros(package, file);
        }
        library.prelude = 0..PRELUDE.len() as u32;
        library
    }

    /// A number for all that decides how a template renders besides itself: macros in their order, variables, relations.
    pub(super) fn digest(&self) -> u64 {
        // Maps have no order: what each entry adds is summed.
        let refs = self.refs.iter().map(|entry| digest_of(&entry)).fold(0, u64::wrapping_add);
        let sources = self.sources.iter().map(|entry| digest_of(&entry)).fold(0, u64::wrapping_add);
        let order = self.search_order.iter().map(|entry| digest_of(&entry)).fold(0, u64::wrapping_add);
        let mut files: Vec<u32> = self.macros.iter().map(|source| source.file).collect();
        files.dedup();
        let texts: Vec<_> = files.iter().map(|file| self.files.get(*file as usize)).collect();
        let macros: Vec<_> =
            self.macros.iter().map(|source| (&source.package, &source.name, source.span.range())).collect();
        digest_of(&(refs, sources, order, &self.root, &self.adapter, &self.vars, texts, macros))
    }

    pub(super) fn is_prelude(&self, file: u32) -> bool {
        self.prelude.contains(&file)
    }

    pub(super) fn add_file(&mut self, path: &str, text: Arc<str>) -> u32 {
        self.files.push((path.to_owned(), text));
        (self.files.len() - 1) as u32
    }

    /// Takes the macros of a file; the first of a name stays, save that ours give way.
    pub(super) fn add_macros(&mut self, package: &str, file: u32) {
        let text = self.files[file as usize].1.clone();
        let package: Arc<str> = package.into();
        for block in syntax::blocks(&text) {
            if block.kind == "macro" {
                let index = self.macros.len() as u32;
                let names = self.by_name.entry(package.to_string()).or_default();
                let old = names.get(&block.name).copied();
                if old.is_none_or(|old| self.prelude.contains(&self.macros[old as usize].file)) {
                    names.insert(block.name.clone(), index);
                }
                self.macros.push(MacroSource {
                    package: package.clone(),
                    name: block.name,
                    file,
                    span: block.outer,
                    parsed: OnceLock::new(),
                });
            }
        }
    }

    pub(super) fn has_package(&self, package: &str) -> bool {
        self.by_name.contains_key(package)
    }

    pub(super) fn has_macro(&self, package: &str, name: &str) -> bool {
        self.by_name.get(package).is_some_and(|names| names.contains_key(name))
    }

    pub(super) fn find(&self, package: &str, name: &str) -> Option<u32> {
        self.by_name.get(package)?.get(name).copied()
    }

    /// The macro's tree; `None` where it can't be read.
    pub(super) fn parsed(&self, index: u32) -> Option<Arc<MacroDef>> {
        let source = self.macros.get(index as usize)?;
        let parse = || {
            let text = &self.files[source.file as usize].1;
            match syntax::parse(text, source.span.range()).ok()?.into_iter().next()? {
                Node::Macro(def) => Some(def),
                _ => None,
            }
        };
        source.parsed.get_or_init(parse).clone()
    }

    /// Names of adapters to look for a dispatched macro under, the nearest first.
    pub(super) fn adapters(&self) -> Vec<&str> {
        let adapter = self.adapter.as_deref().unwrap_or("default");
        let parent = match adapter {
            "redshift" => Some("postgres"),
            "databricks" => Some("spark"),
            "athena" | "starburst" => Some("trino"),
            "synapse" | "fabric" => Some("sqlserver"),
            _ => None,
        };
        let mut adapters = vec![adapter];
        adapters.extend(parent);
        if adapter != "default" {
            adapters.push("default");
        }
        adapters
    }

    /// A variable of the project: of its package first, then of all.
    pub(super) fn var(&self, name: &str, package: &str) -> Option<&Json> {
        let of =
            |package: &str| self.vars.get(package).and_then(Json::as_object).and_then(|vars| vars.get(name));
        of(package)
            .or_else(|| of(&self.root))
            .or_else(|| self.vars.get(name).filter(|_| !self.is_scope(name)))
    }

    fn is_scope(&self, name: &str) -> bool {
        self.has_package(name) && self.vars.get(name).is_some_and(Json::is_object)
    }

    /// How a relation is printed: quoted only where it must be.
    pub(super) fn print(&self, database: Option<&str>, schema: Option<&str>, identifier: &str) -> String {
        let quote = |part: &str| {
            let plain = part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !part.starts_with(|c: char| c.is_ascii_digit());
            if plain {
                return part.to_owned();
            }
            match self.adapter.as_deref() {
                Some("bigquery" | "spark" | "databricks" | "mysql" | "clickhouse") => format!("`{part}`"),
                Some("sqlserver" | "synapse" | "fabric") => format!("[{part}]"),
                _ => format!("\"{part}\""),
            }
        };
        [database, schema, Some(identifier)].into_iter().flatten().map(quote).collect::<Vec<_>>().join(".")
    }
}
