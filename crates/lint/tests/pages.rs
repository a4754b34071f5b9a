//! Runs the examples of every rule's page. An example that fails must stand in `tests/known-failures.txt`,
//! and what stands
//! there must fail: the list can only shrink.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test reports, and is steered, from outside"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Expectation, Outcome, check, expectation, fold};
use oncemore_lint::{Dialect, Input, rules};

#[derive(Default)]
struct Example {
    page: String,
    title: String,
    line: usize,
    inputs: Vec<Input>,
    expected: Vec<Expectation>,
    none: bool,
}

/// The examples of a page: one or more blocks and the list after them.
fn examples(page: &str, text: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut title = String::new();
    let mut current = Example::default();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(heading) = line.strip_prefix("### ") {
            title = heading.trim().to_string();
        }
        if let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) {
            let body: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| !line.starts_with("```")).collect();
            if info.contains(" experiment") {
                continue;
            }
            if current.inputs.is_empty() {
                current.line = number + 1;
                current.title.clone_from(&title);
            }
            add_block(&mut current, info, &body.join("\n"));
        } else if let Some(item) = line.strip_prefix("- ").filter(|_| !current.inputs.is_empty()) {
            if item.trim() == "none" {
                current.none = true;
            } else {
                current.expected.push(
                    expectation(item)
                        .unwrap_or_else(|| panic!("{page}:{}: not an expectation: {line}", number + 1)),
                );
            }
        } else if !current.expected.is_empty() || current.none {
            current.page = page.to_string();
            found.push(std::mem::take(&mut current));
        }
    }
    if !current.inputs.is_empty() {
        assert!(
            current.none || !current.expected.is_empty(),
            "{page}: `{}` has no list of findings",
            current.title
        );
        current.page = page.to_string();
        found.push(current);
    }
    found
}

fn add_block(example: &mut Example, info: &str, body: &str) {
    let words: Vec<&str> = info.split_whitespace().collect();
    let [language, rest @ ..] = words.as_slice() else { return };
    let number = example.inputs.len();
    match (*language, rest) {
        ("sql", [dialect, form, path @ ..]) => {
            let dialect = Dialect::named(dialect).unwrap_or_else(|| panic!("`{info}` names no dialect"));
            let default = if *form == "model" {
                format!("models/mart/case{number}.sql")
            } else {
                format!("case{number}.sql")
            };
            let path = path.first().map_or(default, ToString::to_string);
            example.inputs.push(Input { path, text: body.to_string(), dialect: Some(dialect) });
        }
        ("yaml" | "json", ["dbt", path]) => {
            example.inputs.push(Input { path: path.to_string(), text: body.to_string(), dialect: None });
        }
        _ => panic!("`{info}` is no block that is known"),
    }
}

#[test]
fn pages_say_what_is_found() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/rules");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("rules")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "md"))
        .collect();
    paths.sort();
    let known = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/known-failures.txt"))
        .unwrap_or_default();
    let known: BTreeSet<&str> =
        known.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    let (mut failed, mut report) = (BTreeSet::new(), String::new());
    let mut pending: BTreeMap<String, usize> = BTreeMap::new();
    let (mut total, mut passed) = (0, 0);
    for path in paths {
        let page = path.file_stem().expect("stem").to_string_lossy().to_string();
        let text = std::fs::read_to_string(&path).expect("page");
        if rules::rule(&page).is_none() && !rules::is_reserved(&page) {
            *pending.entry(page.clone()).or_default() += 0;
        }
        for example in examples(&page, &text) {
            total += 1;
            for expected in example.expected.iter().filter(|expected| !common::registered(&expected.rule)) {
                *pending.entry(expected.rule.clone()).or_default() += 1;
            }
            let outcome = check(&example.inputs, &example.expected, &page);
            let key = format!("{page}: {}", example.title);
            if outcome.is_right() {
                passed += 1;
            } else {
                report.push_str(&describe(&example, &outcome));
                failed.insert(key);
            }
        }
    }
    println!("{total} examples: {passed} as written, {} not", failed.len());
    for (rule, count) in &pending {
        println!("pending: {rule} is not registered; {count} expectations are not asked of it");
    }
    let new: Vec<&String> = failed.iter().filter(|key| !known.contains(key.as_str())).collect();
    let mended: Vec<&&str> = known.iter().filter(|key| !failed.contains(**key)).collect();
    if std::env::var_os("PAGES_VERBOSE").is_some() {
        println!("{report}");
    }
    if std::env::var_os("PAGES_BLESS").is_some() {
        let list: String = failed.iter().map(|key| format!("{key}\n")).collect();
        std::fs::write(
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/known-failures.txt"),
            format!("# Examples that are not found as written yet. The list may only shrink.\n{list}"),
        )
        .expect("written");
        return;
    }
    assert!(new.is_empty(), "{report}\nnot as written: {new:#?}");
    assert!(
        mended.is_empty(),
        "these are found as written now, take them from tests/known-failures.txt: {mended:#?}"
    );
}

fn describe(example: &Example, outcome: &Outcome) -> String {
    let mut text = format!("{}:{} {}\n", example.page, example.line, example.title);
    for missing in &outcome.missing {
        text.push_str(&format!("    missing: {} {} `{}`\n", missing.rule, missing.severity, missing.text));
    }
    for finding in &outcome.extra {
        text.push_str(&format!(
            "    too many: {} {} `{}` ({})\n",
            finding.0,
            finding.1,
            fold(&finding.2),
            finding.3
        ));
    }
    text
}
