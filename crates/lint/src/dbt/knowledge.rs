//! What a project says about the columns of a relation: tests, constraints, contracts and the catalog.

use serde_json::{Map, Value as Json};

use crate::yaml::text_of;

/// Who says so; the later, the more it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// A test that only warns, or looks at part of the rows only.
    WeakTest,
    /// A test.
    Test,
    /// A constraint or contract in YAML.
    Constraint,
    /// The warehouse's own catalog.
    Catalog,
}

/// Facts about one relation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knowledge {
    /// Columns whose values are unique together.
    pub unique: Vec<(Vec<String>, Trust)>,
    /// Columns that hold no null.
    pub not_null: Vec<(String, Trust)>,
    /// Columns whose values exist elsewhere.
    pub references: Vec<Reference>,
    /// Columns in the order they are known in.
    pub columns: Vec<Column>,
    /// Whether `columns` are all there are: from a catalog or an enforced contract.
    pub complete: bool,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// As written.
    pub name: String,
    /// As written; `None` where no one says.
    pub data_type: Option<String>,
    /// Who says so.
    pub trust: Trust,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Column of this relation.
    pub column: String,
    /// The other relation as written, for example `ref('orders')`.
    pub to: String,
    /// Its column.
    pub field: String,
    /// Who says so.
    pub trust: Trust,
}

impl Knowledge {
    /// Adds that columns are unique together.
    pub(super) fn add_unique(&mut self, columns: Vec<String>, trust: Trust) {
        if !columns.is_empty() && !self.unique.iter().any(|(found, of)| *found == columns && *of >= trust) {
            self.unique.push((columns, trust));
        }
    }

    pub(super) fn add_not_null(&mut self, column: String, trust: Trust) {
        if !column.is_empty() && !self.not_null.iter().any(|(found, of)| *found == column && *of >= trust) {
            self.not_null.push((column, trust));
        }
    }

    /// Adds a column, or what is newly known of its type.
    pub(super) fn add_column(&mut self, name: &str, data_type: Option<String>, trust: Trust) {
        match self.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(name)) {
            Some(column) if data_type.is_some() && (column.data_type.is_none() || column.trust <= trust) => {
                column.data_type = data_type;
                column.trust = trust;
            }
            Some(_) => {}
            None => self.columns.push(Column { name: name.to_owned(), data_type, trust }),
        }
    }

    /// Takes a test by its name (package in front or not) and arguments.
    pub(super) fn add_test(
        &mut self,
        name: &str,
        args: &Map<String, Json>,
        column: Option<&str>,
        trust: Trust,
    ) {
        let column = column.map(str::to_owned).or_else(|| args.get("column_name").map(text_of));
        let list = |key: &str| -> Vec<String> {
            args.get(key)
                .and_then(Json::as_array)
                .map(|items| items.iter().map(text_of).collect())
                .unwrap_or_default()
        };
        let trust = if args.contains_key("where") || args.contains_key("row_condition") {
            Trust::WeakTest
        } else {
            trust
        };
        match name.rsplit('.').next().unwrap_or(name) {
            "unique" => self.add_unique(column.into_iter().collect(), trust),
            "not_null" => {
                if let Some(column) = column {
                    self.add_not_null(column, trust);
                }
            }
            "unique_combination_of_columns" => self.add_unique(list("combination_of_columns"), trust),
            "expect_compound_columns_to_be_unique" => self.add_unique(list("column_list"), trust),
            "expect_column_values_to_be_unique" => self.add_unique(column.into_iter().collect(), trust),
            "expect_column_values_to_not_be_null" => {
                if let Some(column) = column {
                    self.add_not_null(column, trust);
                }
            }
            "primary_key" => {
                if let Some(column) = &column {
                    self.add_not_null(column.clone(), trust);
                }
                self.add_unique(column.into_iter().collect(), trust);
            }
            "relationships" => {
                if let (Some(column), Some(to)) = (column, args.get("to")) {
                    let field = args.get("field").map(text_of).unwrap_or_default();
                    self.references.push(Reference { column, to: text_of(to), field, trust });
                }
            }
            _ => {}
        }
    }

    fn add_constraint(&mut self, constraint: &Json, column: Option<&str>) {
        let mut columns: Vec<String> = constraint
            .get("columns")
            .and_then(Json::as_array)
            .map(|items| items.iter().map(text_of).collect())
            .unwrap_or_default();
        if columns.is_empty() {
            columns.extend(column.map(str::to_owned));
        }
        match constraint.get("type").and_then(Json::as_str).unwrap_or_default() {
            "primary_key" => {
                for column in &columns {
                    self.add_not_null(column.clone(), Trust::Constraint);
                }
                self.add_unique(columns, Trust::Constraint);
            }
            "unique" => self.add_unique(columns, Trust::Constraint),
            "not_null" => {
                for column in columns {
                    self.add_not_null(column, Trust::Constraint);
                }
            }
            "foreign_key" => {
                let to = constraint.get("to").map(text_of).unwrap_or_default();
                let fields =
                    constraint.get("to_columns").and_then(Json::as_array).cloned().unwrap_or_default();
                for (index, column) in columns.into_iter().enumerate() {
                    let field = fields.get(index).map(text_of).unwrap_or_default();
                    self.references.push(Reference {
                        column,
                        to: to.clone(),
                        field,
                        trust: Trust::Constraint,
                    });
                }
            }
            _ => {}
        }
    }

    /// Takes an entry of a schema file, or a node of a manifest: columns with their tests, tests,
    /// constraints.
    pub(super) fn add_entry(&mut self, entry: &Json, contract: bool) {
        for key in ["tests", "data_tests"] {
            for test in array(entry, key) {
                self.add_written_test(test, None);
            }
        }
        for constraint in array(entry, "constraints") {
            self.add_constraint(constraint, None);
        }
        let columns: Vec<&Json> = match entry.get("columns") {
            Some(Json::Array(items)) => items.iter().collect(),
            Some(Json::Object(items)) => items.values().collect(),
            _ => Vec::new(),
        };
        for column in columns {
            let Some(name) = column.get("name").map(text_of).filter(|name| !name.is_empty()) else {
                continue;
            };
            let data_type = column.get("data_type").filter(|value| !value.is_null()).map(text_of);
            let trust = if contract { Trust::Constraint } else { Trust::Test };
            self.add_column(&name, data_type, trust);
            for constraint in array(column, "constraints") {
                self.add_constraint(constraint, Some(&name));
            }
            for key in ["tests", "data_tests"] {
                for test in array(column, key) {
                    self.add_written_test(test, Some(&name));
                }
            }
        }
        self.complete |= contract;
    }

    /// A test as schema files write it: its name, or a map of its name and arguments.
    fn add_written_test(&mut self, test: &Json, column: Option<&str>) {
        let none = Map::new();
        match test {
            Json::String(name) => self.add_test(name, &none, column, Trust::Test),
            Json::Object(parts) => {
                let (name, args) = match parts.get("test_name").and_then(Json::as_str) {
                    Some(name) => (name, parts),
                    None => match parts
                        .iter()
                        .find(|(key, _)| !matches!(key.as_str(), "name" | "config" | "description"))
                    {
                        Some((name, Json::Object(args))) => (name.as_str(), args),
                        Some((name, _)) => (name.as_str(), &none),
                        None => return,
                    },
                };
                let mut args = args.clone();
                for nested in ["arguments", "config"] {
                    if let Some(Json::Object(more)) = args.get(nested).cloned() {
                        args.extend(more);
                    }
                }
                if let Some(Json::Object(config)) = parts.get("config") {
                    args.extend(config.clone());
                }
                if args.get("enabled").and_then(Json::as_bool) == Some(false) {
                    return;
                }
                let warns =
                    args.get("severity").map(text_of).is_some_and(|text| text.eq_ignore_ascii_case("warn"));
                self.add_test(name, &args, column, if warns { Trust::WeakTest } else { Trust::Test });
            }
            _ => {}
        }
    }

    /// Takes a table of `catalog.json`.
    pub(super) fn add_catalog(&mut self, table: &Json) {
        let mut columns: Vec<(i64, String, Option<String>)> = table
            .get("columns")
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
            .map(|(key, column)| {
                let index = column.get("index").and_then(Json::as_i64).unwrap_or(0);
                let name = column.get("name").map_or_else(|| key.clone(), text_of);
                (index, name, column.get("type").map(text_of))
            })
            .collect();
        columns.sort();
        for (_, name, data_type) in columns {
            self.add_column(&name, data_type, Trust::Catalog);
            self.complete = true;
        }
    }
}

pub(super) fn array<'a>(of: &'a Json, key: &str) -> &'a [Json] {
    of.get(key).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}
