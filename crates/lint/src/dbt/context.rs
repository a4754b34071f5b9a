//! What dbt's names mean in a template when there is no warehouse: `ref`, `config`, `this`, `adapter`, `var`
//! and so on.
//! What only a warehouse would know becomes a stub that prints an identifier.

use std::rc::Rc;

use super::eval::{Render, Res, World};
use super::functions::{self, Given};
use super::library::{DBT, OVERRIDE};
use super::syntax::Span;
use super::value::{Callable, Relation, Text, Value};

/// Schema that stands for the one a profile would name.
pub(super) const TARGET_SCHEMA: &str = "dbt_target";

/// Functions that are ours even where the project's manifest brings dbt's own macros, since those ask the
/// warehouse.
const FUNCTIONS: [&str; 33] = [
    "ref",
    "source",
    "config",
    "var",
    "env_var",
    "log",
    "print",
    "return",
    "is_incremental",
    "should_full_refresh",
    "should_store_failures",
    "load_relation",
    "load_cached_relation",
    "run_query",
    "statement",
    "load_result",
    "store_result",
    "range",
    "dict",
    "namespace",
    "zip",
    "zip_strict",
    "set",
    "set_strict",
    "fromjson",
    "tojson",
    "fromyaml",
    "toyaml",
    "local_md5",
    "doc",
    "debug",
    "joiner",
    "make_temp_relation",
];

impl Render<'_> {
    /// What a name means that the template has not set.
    pub(super) fn name(&mut self, name: &str) -> Value {
        match name {
            "this" => return Value::Relation(self.this.clone()),
            "run_started_at" => return Value::Moment,
            "execute" => return Value::Bool(self.execute),
            "target" => return self.target(),
            "invocation_id" | "dbt_version" | "project_name" | "thread_id" => {
                return match name {
                    "project_name" => Value::text(&*self.library.root),
                    _ => Value::Text(Text { stub: true, ..Text::plain(name) }),
                };
            }
            "database" => {
                return self.this.database.as_deref().map_or_else(|| Value::stub(name), Value::text);
            }
            "schema" => return Value::text(TARGET_SCHEMA),
            "adapter" | "modules" | "exceptions" | "flags" | "builtins" | "api" | "model" | "graph"
            | "context" | "env" | "selected_resources" | "pre_hooks" | "post_hooks" | "sql" => {
                return Value::Named(name.into());
            }
            "caller" => return Value::Undefined(name.into()),
            _ => {}
        }
        if FUNCTIONS.contains(&name) {
            return Value::Named(name.into());
        }
        let package = self.unit.package.clone();
        let root = self.library.root.clone();
        let adapter_package = format!("dbt_{}", self.library.adapter.as_deref().unwrap_or_default());
        for package in [&*package, &*root, &*adapter_package, DBT] {
            if let Some(found) = self.macro_of(package, name) {
                return found;
            }
        }
        if self.library.has_package(name) || matches!(name, "dbt_utils" | "dbt_expectations" | "dbt_date") {
            return Value::Package(name.into());
        }
        Value::Undefined(name.into())
    }

    fn target(&self) -> Value {
        let entry = |name: &str, value: Value| (Value::text(name), value);
        let adapter = self.library.adapter.as_deref().unwrap_or("unknown");
        Value::dict(vec![
            entry("name", Value::text("prod")),
            entry("schema", Value::text(TARGET_SCHEMA)),
            entry("dataset", Value::text(TARGET_SCHEMA)),
            entry("type", Value::text(adapter)),
            entry("profile_name", Value::text(&*self.library.root)),
            entry("threads", Value::Int(4)),
            entry("database", Value::stub("target_database")),
            entry("dbname", Value::stub("target_database")),
            entry("project", Value::stub("target_database")),
            entry("catalog", Value::stub("target_database")),
            entry("warehouse", Value::stub("target_warehouse")),
            entry("user", Value::stub("target_user")),
            entry("role", Value::stub("target_role")),
        ])
    }

    /// A package's macro, as a value that can be called.
    fn macro_of(&mut self, package: &str, name: &str) -> Option<Value> {
        let index = self.library.find(package, name)?;
        let Some(def) = self.library.parsed(index) else {
            self.approximate = true;
            return Some(Value::stub(name));
        };
        let source = &self.library.macros[index as usize];
        Some(Value::Macro(Rc::new(Callable {
            def,
            text: self.library.files[source.file as usize].1.clone(),
            file: source.file,
            index,
            package: source.package.clone(),
            sees: Rc::from([]),
        })))
    }

    /// `package.name`, to be called.
    pub(super) fn package_name(&mut self, package: &str, name: &str) -> Value {
        let native = package == DBT || package == &*self.library.root;
        if native && FUNCTIONS.contains(&name) {
            return Value::Named(name.into());
        }
        self.macro_of(OVERRIDE, &format!("{package}__{name}"))
            .or_else(|| self.macro_of(package, name))
            .or_else(|| if package == "dbt_utils" { self.macro_of(DBT, name) } else { None })
            .unwrap_or_else(|| Value::stub(name))
    }

    pub(super) fn attribute(&mut self, of: &Value, name: &str) -> Value {
        match of {
            Value::Relation(relation) => relation_attribute(relation, name),
            Value::Moment => {
                self.approximate = true;
                match name {
                    "year" => Value::Int(2000),
                    "month" | "day" => Value::Int(1),
                    "hour" | "minute" | "second" | "microsecond" => Value::Int(0),
                    _ => Value::Moment,
                }
            }
            Value::Named(base) => self.object_attribute(base, name),
            Value::Package(package) => {
                let package = package.clone();
                self.package_name(&package, name)
            }
            Value::Dict(_) => functions::member(of, name),
            Value::Stub(base) => Value::stub(&format!("{base}_{name}")),
            Value::Undefined(base) => {
                self.approximate = true;
                Value::stub(&format!("{base}_{name}"))
            }
            Value::Text(text) if text.stub => Value::stub(name),
            _ => Value::Undefined(name.into()),
        }
    }

    fn object_attribute(&mut self, base: &str, name: &str) -> Value {
        match (base, name) {
            ("flags", "FULL_REFRESH") => {
                self.world_read = true;
                Value::Bool(self.world == World::FullRefresh)
            }
            ("flags", "WHICH") => Value::text("run"),
            ("flags", _) => Value::Bool(false),
            ("model", "alias" | "name") => Value::text(self.this.identifier.as_str()),
            ("model", "schema") => Value::text(self.this.schema.clone().unwrap_or_default()),
            ("model", "config") => Value::Named("config".into()),
            ("model", "columns" | "meta") => Value::dict(Vec::new()),
            ("model", "tags" | "refs" | "sources") => Value::list(Vec::new()),
            ("model", _) => Value::stub(&format!("model_{name}")),
            ("graph", _) => Value::dict(Vec::new()),
            ("api", "Relation" | "Column") => Value::Named(format!("api.{name}").into()),
            ("builtins", _) => Value::Named(name.into()),
            ("config", _) => self.config_get(name).unwrap_or(Value::None),
            _ => Value::Named(format!("{base}.{name}").into()),
        }
    }

    /// The configuration as it stands: what the template gave wins over what stands outside.
    fn config_get(&self, name: &str) -> Option<Value> {
        let given = self.config.iter().rev().find(|(key, _)| &**key == name).map(|(_, value)| value.clone());
        given.or_else(|| self.base.get(name).map(Value::from_json))
    }

    /// A function of dbt's context, by its dotted name.
    pub(super) fn native(&mut self, name: &str, given: Given, at: Span) -> Res<Value> {
        let name = name.strip_prefix("builtins.").unwrap_or(name);
        Ok(match name {
            "ref" => self.reference(&given),
            "source" => self.source(&given),
            "config" => {
                self.take_config(given);
                Value::text("")
            }
            "config.get" | "config.require" | "config.meta_get" => {
                let key = given.text(0, "name").unwrap_or_default();
                match self.config_get(&key).filter(|value| !matches!(value, Value::None)) {
                    Some(value) => value,
                    None => given.get(1, "default").cloned().unwrap_or(Value::None),
                }
            }
            "var" => self.variable_of_project(&given),
            "var.has_var" => {
                let name = given.text(0, "name").unwrap_or_default();
                Value::Bool(self.library.var(&name, &self.unit.package).is_some())
            }
            "env_var" => match given.get(1, "default") {
                Some(default) => default.clone(),
                None => Value::stub(&given.text(0, "var").unwrap_or_default()),
            },
            "return" => {
                return Err(super::eval::Stop::Return(given.plain.into_iter().next().unwrap_or(Value::None)));
            }
            "log"
            | "print"
            | "exceptions.warn"
            | "debug"
            | "store_result"
            | "doc"
            | "adapter.create_schema" => Value::text(""),
            "is_incremental" => {
                self.world_read = true;
                Value::Bool(self.world == World::Steady && self.is_incremental_model())
            }
            "should_full_refresh" => {
                self.world_read = true;
                Value::Bool(self.world == World::FullRefresh)
            }
            "load_relation" | "load_cached_relation" | "adapter.get_relation" => self.existing(name, &given),
            "run_query" | "adapter.execute" => {
                if let Some(Value::Text(text)) = given.get(0, "sql") {
                    self.asked.push((text.clone(), at, self.unit.file));
                }
                Value::stub("query_result")
            }
            "exceptions.raise_compiler_error" | "exceptions.raise_fail_fast_error" => {
                let message = given.text(0, "msg").unwrap_or_default();
                return self.fail(at, format!("the template raises: {}", message.trim()));
            }
            _ => match self.data_function(name, &given, at)? {
                Some(value) => value,
                None => self.object_call(name, &given),
            },
        })
    }

    /// Functions that make data of data; `None` where the name is none of them.
    fn data_function(&mut self, name: &str, given: &Given, at: Span) -> Res<Option<Value>> {
        Ok(Some(match name {
            "range" => self.range(given, at)?,
            "dict" | "namespace" => {
                let start = match given.plain.first() {
                    Some(Value::Dict(items)) => items.borrow().clone(),
                    _ => Vec::new(),
                };
                let more = given.named.iter().map(|(key, value)| (Value::text(key.clone()), value.clone()));
                Value::dict(start.into_iter().chain(more).collect())
            }
            "zip" | "zip_strict" => {
                let lists: Vec<Vec<Value>> = given.plain.iter().map(Value::items).collect();
                let len = lists.iter().map(Vec::len).min().unwrap_or(0);
                self.spend(len as u64, at)?;
                Value::list(
                    (0..len)
                        .map(|i| Value::list(lists.iter().map(|list| list[i].clone()).collect()))
                        .collect(),
                )
            }
            "set" | "set_strict" => {
                let value = given.plain.first().cloned().unwrap_or(Value::None);
                functions::filter("unique", &value, &Given::default()).unwrap_or(value)
            }
            "tojson" | "toyaml" => {
                Value::text(given.plain.first().unwrap_or(&Value::None).to_json().to_string())
            }
            "fromjson" => match serde_json::from_str(&given.text(0, "string").unwrap_or_default()) {
                Ok(json) => Value::from_json(&json),
                Err(_) => given.get(1, "default").cloned().unwrap_or(Value::None),
            },
            "fromyaml" => match crate::yaml::parse(&given.text(0, "value").unwrap_or_default()) {
                Ok(json) => Value::from_json(&json),
                Err(_) => given.get(1, "default").cloned().unwrap_or(Value::None),
            },
            _ => return Ok(None),
        }))
    }

    fn object_call(&mut self, name: &str, given: &Given) -> Value {
        match name {
            "adapter.dispatch" => self.dispatch(given),
            "adapter.quote" | "adapter.quote_as_configured" => {
                let text = given.text(0, "identifier").unwrap_or_default();
                Value::text(match self.library.adapter.as_deref() {
                    Some("bigquery" | "spark" | "databricks") => format!("`{text}`"),
                    _ => format!("\"{text}\""),
                })
            }
            "adapter.type" => Value::text(self.library.adapter.as_deref().unwrap_or("unknown")),
            "adapter.check_schema_exists" => Value::Bool(true),
            "adapter.get_missing_columns" => Value::list(Vec::new()),
            "adapter.get_columns_in_relation" | "adapter.get_column_schema_from_query" => {
                let entry = |name: &str| (Value::text(name), Value::stub("column_of_relation"));
                let column = ["name", "column", "quoted", "dtype", "data_type"].map(entry);
                self.approximate = true;
                Value::list(vec![Value::dict(column.to_vec())])
            }
            "api.Relation.create" => {
                let part = |name: &str| given.named(name).map(|value| value.print().to_string());
                let (database, schema) = (part("database"), part("schema"));
                let identifier = part("identifier").unwrap_or_default();
                let printed = self.library.print(database.as_deref(), schema.as_deref(), &identifier);
                Value::Relation(Rc::new(Relation { database, schema, identifier, printed }))
            }
            "api.Column.translate_type" => {
                let name = given.text(0, "dtype").unwrap_or_default().to_lowercase();
                let adapter = self.library.adapter.as_deref().unwrap_or_default();
                Value::text(match (adapter, name.as_str()) {
                    ("bigquery" | "spark" | "databricks", "string") => "string".to_owned(),
                    ("bigquery", "integer" | "bigint") => "int64".to_owned(),
                    ("bigquery", "float") => "float64".to_owned(),
                    (_, "string") => "TEXT".to_owned(),
                    (_, "integer") => "INT".to_owned(),
                    (_, other) => other.to_uppercase(),
                })
            }
            "config.set" | "config.persist_relation_docs" | "config.persist_column_docs" => Value::text(""),
            "modules.datetime.datetime.now"
            | "modules.datetime.datetime.utcnow"
            | "modules.datetime.datetime.today"
            | "modules.datetime.date.today"
            | "modules.datetime.datetime"
            | "modules.datetime.date"
            | "modules.datetime.datetime.strptime"
            | "modules.datetime.datetime.fromisoformat"
            | "modules.datetime.datetime.combine"
            | "modules.datetime.datetime.fromtimestamp"
            | "modules.datetime.date.fromisoformat" => Value::Moment,
            "modules.datetime.timedelta" => Value::stub("timedelta"),
            "joiner" => Value::text(", "),
            _ => Value::stub(name),
        }
    }

    pub(super) fn is_incremental_model(&self) -> bool {
        match self.config_get("materialized") {
            Some(value) => &*value.print() == "incremental",
            None => self.materialized == "incremental",
        }
    }

    fn take_config(&mut self, given: Given) {
        for value in given.plain {
            if let Value::Dict(items) = value {
                let items: Vec<_> = items.borrow().iter().map(|(k, v)| (k.print(), v.clone())).collect();
                self.config.extend(items);
            }
        }
        self.config.extend(given.named);
    }

    fn reference(&mut self, given: &Given) -> Value {
        let parts: Vec<Rc<str>> = given.plain.iter().map(Value::print).collect();
        let version = given.named("version").or_else(|| given.named("v"));
        let (name, key) = match parts.as_slice() {
            [name] => (name.clone(), name.to_string()),
            [package, name, ..] => (name.clone(), format!("{package}.{name}")),
            [] => return Value::stub("ref"),
        };
        let key = match version {
            Some(version) => format!("{key}.v{}", version.print()),
            None => key,
        };
        let refs = &self.library.refs;
        let relation = refs.get(&key).or_else(|| refs.get(&*name)).cloned().unwrap_or_else(|| Relation {
            database: None,
            schema: Some(TARGET_SCHEMA.to_owned()),
            identifier: name.to_string(),
            printed: self.library.print(None, Some(TARGET_SCHEMA), &name),
        });
        Value::Relation(Rc::new(relation))
    }

    fn source(&mut self, given: &Given) -> Value {
        let (Some(source), Some(table)) = (given.text(0, "source_name"), given.text(1, "table_name")) else {
            return Value::stub("source");
        };
        let found = self.library.sources.get(&(source.to_string(), table.to_string()));
        Value::Relation(Rc::new(found.cloned().unwrap_or_else(|| Relation {
            database: None,
            schema: Some(source.to_string()),
            identifier: table.to_string(),
            printed: self.library.print(None, Some(&source), &table),
        })))
    }

    fn variable_of_project(&mut self, given: &Given) -> Value {
        let name = given.text(0, "name").unwrap_or_default();
        if let Some(json) = self.library.var(&name, &self.unit.package) {
            return Value::from_json(json);
        }
        given.get(1, "default").cloned().unwrap_or_else(|| Value::stub(&name))
    }

    /// A relation that is looked up in the warehouse: the model's own exists in the steady world only.
    fn existing(&mut self, name: &str, given: &Given) -> Value {
        let relation = match given.plain.first() {
            Some(Value::Relation(relation)) => relation.clone(),
            _ if name == "adapter.get_relation" => {
                let part = |index: usize, name: &str| given.text(index, name).map(|text| text.to_string());
                let (database, schema) = (part(0, "database"), part(1, "schema"));
                let identifier = part(2, "identifier").unwrap_or_default();
                let own = identifier == self.this.identifier && schema == self.this.schema;
                if own {
                    self.this.clone()
                } else {
                    let printed = self.library.print(database.as_deref(), schema.as_deref(), &identifier);
                    Rc::new(Relation { database, schema, identifier, printed })
                }
            }
            _ => return Value::stub(name),
        };
        if *relation == *self.this {
            self.world_read = true;
            if self.world == World::FullRefresh {
                return Value::None;
            }
        }
        Value::Relation(relation)
    }

    fn range(&mut self, given: &Given, at: Span) -> Res<Value> {
        let mut bounds = Vec::new();
        for value in &given.plain {
            match value.as_int() {
                Some(bound) => bounds.push(bound),
                None => return Ok(Value::list(vec![Value::stub("number")])),
            }
        }
        let (start, end, step) = match bounds.as_slice() {
            [end] => (0, *end, 1),
            [start, end] => (*start, *end, 1),
            [start, end, step] if *step != 0 => (*start, *end, *step),
            _ => return Ok(Value::list(Vec::new())),
        };
        let count =
            if (step > 0) == (end > start) { (end.abs_diff(start)).div_ceil(step.unsigned_abs()) } else { 0 };
        self.spend(count, at)?;
        Ok(Value::list(
            (0..count as i64).map(|i| Value::Int(start.saturating_add(i.saturating_mul(step)))).collect(),
        ))
    }

    /// The macro that dbt would choose for the adapter.
    fn dispatch(&mut self, given: &Given) -> Value {
        let name = given.text(0, "macro_name").unwrap_or_default();
        let namespace = match given.get(1, "macro_namespace") {
            Some(Value::List(items)) => items.borrow().iter().map(|item| item.print().to_string()).collect(),
            Some(Value::None) | None => vec![self.unit.package.to_string()],
            Some(other) => vec![other.print().to_string()],
        };
        let (name, namespace) = match name.split_once('.') {
            Some((package, name)) => (name.to_owned(), vec![package.to_owned()]),
            None => (name.to_string(), namespace),
        };
        for package in &namespace {
            if let Some(found) = self.macro_of(OVERRIDE, &format!("{package}__{name}")) {
                return found;
            }
        }
        let order = |package: &String| match self.library.search_order.get(package) {
            Some(order) => order.clone(),
            None => vec![package.clone()],
        };
        let namespace: Vec<String> = namespace.iter().flat_map(order).collect();
        let adapter_package = format!("dbt_{}", self.library.adapter.as_deref().unwrap_or_default());
        let packages = [self.library.root.to_string()]
            .into_iter()
            .chain(namespace)
            .chain([adapter_package, DBT.to_owned()]);
        let adapters: Vec<String> = self.library.adapters().into_iter().map(str::to_owned).collect();
        for package in packages {
            for adapter in &adapters {
                let full = format!("{adapter}__{name}");
                if self.library.has_macro(&package, &full)
                    && let Some(found) = self.macro_of(&package, &full)
                {
                    return found;
                }
            }
        }
        Value::stub(&name)
    }
}

fn relation_attribute(relation: &Rc<Relation>, name: &str) -> Value {
    let text = |part: &Option<String>| part.as_deref().map_or(Value::None, Value::text);
    match name {
        "database" | "project" => match &relation.database {
            Some(database) => Value::text(database.as_str()),
            None => Value::stub("target_database"),
        },
        "schema" | "dataset" => text(&relation.schema),
        "identifier" | "name" | "table" | "alias" => Value::text(relation.identifier.as_str()),
        "type" => Value::text("table"),
        "is_table" => Value::Bool(true),
        "is_view" | "is_cte" | "is_materialized_view" => Value::Bool(false),
        _ => Value::Undefined(name.into()),
    }
}
