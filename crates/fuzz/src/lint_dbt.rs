//! Any text as a model of a dbt project: templates, macros, settings in YAML.
//!
//! An input is a fixture, each file of which begins with a line `//- <path>`; what stands before the first one is a
//! model. The project is there.

use oncemore_lint::{Config, Input};

use crate::lint::{check, input};

const PROJECT: &str =
    "name: shop\nprofile: shop\nmodels:\n  +materialized: incremental\nvars:\n  day: 2013-03-01\n";
const PROFILES: &str = "shop:\n  outputs:\n    dev:\n      type: postgres\n";
const MACROS: &str =
    "{% macro fresh(column, days=3) %}{{ column }} > current_date - {{ days }}{% endmacro %}";

/// Lints the project.
///
/// # Panics
/// Where a finding's place is not in a file.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let model = text.split("//- ").next().unwrap_or_default();
    let mut files = oncemore_testkit::files(&text);
    if !model.is_empty() {
        files.push(("models/model.sql".to_owned(), model.to_owned()));
    }
    let known = [("dbt_project.yml", PROJECT), ("profiles.yml", PROFILES), ("macros/fresh.sql", MACROS)];
    for (path, text) in known {
        if !files.iter().any(|(own, _)| own == path) {
            files.push((path.to_owned(), text.to_owned()));
        }
    }
    files.sort_unstable();
    files.dedup_by(|one, other| one.0 == other.0);
    let inputs: Vec<Input> = files.iter().map(|(path, text)| input(path, text, None)).collect();
    check(&inputs, &Config::default());
}
