//! Which of many files are dbt's: those below a `dbt_project.yml`, and templates of dbt that stand alone.

use crate::Input;
use crate::config::Config;
use crate::dialect::{self, Dialect};

use super::Hints;

/// Files that are one project.
#[derive(Debug)]
pub struct Group<'a> {
    /// The project's folder, with a slash at its end; empty for the root.
    pub folder: String,
    /// Paths within the folder, and texts.
    pub files: Vec<(&'a str, &'a str)>,
    /// What is known besides.
    pub hints: Hints,
}

/// Folders of dbt whose SQL is no script.
const FOLDERS: [&str; 9] =
    ["models", "snapshots", "macros", "tests", "analyses", "analysis", "seeds", "target", "dbt_packages"];

/// Splits files into dbt projects and the rest, which are scripts.
#[must_use]
pub fn groups<'a>(inputs: &'a [Input], config: &Config) -> (Vec<Group<'a>>, Vec<&'a Input>) {
    let mut folders: Vec<&str> = inputs
        .iter()
        .filter_map(|input| input.path.strip_suffix("dbt_project.yml"))
        .filter(|folder| folder.is_empty() || folder.ends_with('/'))
        .filter(|folder| !folder.contains("dbt_packages/") && !folder.contains("dbt_modules/"))
        .collect();
    let named = config.dialect.and_then(adapter_named);
    let hints = |anywhere| Hints { named: named.clone(), adapter: None, anywhere };
    // The innermost first: a project within a project is its own.
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    let mut groups: Vec<Group<'a>> = folders
        .iter()
        .map(|folder| Group { folder: (*folder).to_string(), files: Vec::new(), hints: hints(false) })
        .collect();
    let mut alone = Group { folder: String::new(), files: Vec::new(), hints: hints(true) };
    let mut scripts = Vec::new();
    let mut has_model = false;
    for input in inputs {
        let is_sql = input.path.ends_with(".sql");
        let at = folders.iter().position(|folder| input.path.starts_with(folder));
        let group = match at.and_then(|at| groups.get_mut(at)) {
            Some(group) => {
                let inner = input.path.get(group.folder.len()..).unwrap_or("");
                let of_dbt = FOLDERS.iter().any(|folder| inner.split('/').any(|part| part == *folder));
                if is_sql && !of_dbt && !input.text.contains("{%") && !is_template(&input.text) {
                    scripts.push(input);
                }
                group
            }
            None if is_sql && !is_template(&input.text) => {
                scripts.push(input);
                continue;
            }
            None => {
                has_model |= is_sql;
                &mut alone
            }
        };
        if group.hints.adapter.is_none() && is_sql {
            group.hints.adapter = adapter(input, config, group.hints.anywhere);
        }
        group.files.push((input.path.get(group.folder.len()..).unwrap_or(""), &input.text));
    }
    if has_model {
        groups.push(alone);
    } else {
        groups.retain(|group| !group.files.is_empty());
    }
    (groups, scripts)
}

/// Whether a text is a template that dbt renders.
fn is_template(text: &str) -> bool {
    let after = |mark: &'static str| {
        text.match_indices(mark).map(move |(at, _)| {
            text.get(at + mark.len()..).unwrap_or("").trim_start_matches(['-', ' ', '\n', '\r', '\t'])
        })
    };
    after("{{").any(|rest| ["config(", "ref(", "source(", "this "].iter().any(|word| rest.starts_with(word)))
        || after("{%").any(|rest| {
            ["snapshot ", "macro ", "if is_incremental"].iter().any(|word| rest.starts_with(word))
        })
}

/// The adapter that a file speaks for.
fn adapter(input: &Input, config: &Config, guess: bool) -> Option<String> {
    let guessed = || dialect::guess(&input.path, &input.text).filter(|_| guess);
    adapter_named(input.dialect.or(config.dialect).or_else(guessed)?)
}

fn adapter_named(dialect: Dialect) -> Option<String> {
    match dialect {
        Dialect::Ansi => None,
        Dialect::TSql => Some("sqlserver".to_string()),
        dialect => Some(dialect.name().to_string()),
    }
}
