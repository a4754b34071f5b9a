//! Pages that are made from the code, so that they can't say something else.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Generated pages: path and text.
pub fn pages() -> Vec<(&'static str, String)> {
    vec![("docs/keys.md", oncemore_project::keys_markdown()), ("docs/rules.md", rules_markdown())]
}

/// Writes every generated page.
///
/// # Errors
/// A page that can't be written.
pub fn write(root: &Path) -> io::Result<()> {
    for (path, text) in pages() {
        std::fs::write(root.join(path), text)?;
    }
    Ok(())
}

/// Families of rules by the third letter of their ids.
const FAMILIES: [(char, &str); 6] = [
    ('0', "What could not be judged"),
    ('1', "Clocks, chance, sessions: what a query reads beside its input"),
    ('2', "Order: which of equal rows, and in which order"),
    ('3', "Writes: what a second run does to the rows of the first"),
    ('4', "Scope: which rows are read, and which are replaced"),
    ('5', "dbt: what a configuration does on a re-run"),
];

/// The page that lists every rule of lint.
fn rules_markdown() -> String {
    let pages = oncemore_lint::page::all();
    let mut page = String::from(
        "# Rules of lint\n\nEvery rule has a page: what it detects, the re-run that goes wrong, bad and good examples, \
         look-alikes that stay silent, and what it cannot see. The examples of a page are its tests. \
         `oncemore lint --explain OM201` prints it. This list is generated from the pages.\n",
    );
    for (digit, family) in FAMILIES {
        let own: Vec<_> = pages.iter().filter(|page| page.id.chars().nth(2) == Some(digit)).collect();
        if own.is_empty() {
            continue;
        }
        let _ = write!(page, "\n## {family}\n\n| rule | name | at most | detects |\n|---|---|---|---|\n");
        for rule in own {
            let severity = rule.severity().map(|severity| severity.to_string()).unwrap_or_default();
            let detects = rule.summary().replace('|', "\\|");
            let id = rule.id;
            let _ = writeln!(
                page,
                "| [{id}](../crates/lint/rules/{id}.md) | {} | {severity} | {detects} |",
                rule.name
            );
        }
    }
    page
}
