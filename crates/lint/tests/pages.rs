//! Runs the examples of every rule's page. An example that fails must stand in `tests/known-failures.txt`,
//! and what stands
//! there must fail: the list can only shrink.
//!
//! An example is one or more blocks and the list of findings after them. A block's first line is ```` ```sql dialect form [path] ````,
//! its form `script`, `model` or `dbt`; or ```` ```yaml dbt path ````, ```` ```json dbt path ````. An item of the list is
//! ``- OM201 error `what it points at` ``, perhaps with `…` at the end for what goes on, or `- none`. After them may stand
//! what the last file becomes by the rewrites of its findings; with `safe` only those that change nothing are made:
//!
//!     - fix: unsafe
//!     ```sql
//!     SELECT …
//!     ```
//!
//! Of every rewrite of an example's findings is asked besides that the finding is gone after it, that no statement is
//! understood less, and that none of another rule comes.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test reports, and is steered, from outside"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Expectation, Outcome, check, expectation, fold};
use oncemore_lint::{Config, Dialect, Finding, Fix, Input, Report, Safety, Severity, lint, page, rules};

#[derive(Default)]
struct Example {
    page: String,
    title: String,
    line: usize,
    inputs: Vec<Input>,
    expected: Vec<Expectation>,
    none: bool,
    fixed: Vec<(Safety, String)>,
}

/// The examples of a page: one or more blocks and the list after them.
fn examples(page: &str, text: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut title = String::new();
    let mut current = Example::default();
    let mut fix: Option<Safety> = None;
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
            if let Some(safety) = fix.take() {
                current.fixed.push((safety, body.join("\n")));
                continue;
            }
            if current.inputs.is_empty() {
                current.line = number + 1;
                current.title.clone_from(&title);
            }
            add_block(&mut current, info, &body.join("\n"));
        } else if let Some(item) = line.strip_prefix("- ").filter(|_| !current.inputs.is_empty()) {
            if let Some(safety) = item.strip_prefix("fix: ") {
                fix = Some(match safety.trim() {
                    "safe" => Safety::Safe,
                    "unsafe" => Safety::Unsafe,
                    _ => panic!("{page}:{}: a fix is safe or unsafe", number + 1),
                });
            } else if item.trim() == "none" {
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
            let faults = faults_of_fixes(&example);
            for fault in &faults {
                report.push_str(&format!("{page}:{} {}\n    {fault}\n", example.line, example.title));
            }
            if outcome.is_right() && faults.is_empty() {
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

/// A text with rewrites made, from its end on.
fn rewritten(text: &str, fixes: &[&Fix]) -> String {
    let mut fixes = fixes.to_vec();
    fixes.sort_by_key(|fix| std::cmp::Reverse(fix.span));
    let mut text = text.to_string();
    for fix in fixes {
        text.replace_range(fix.span.range(), &fix.text);
    }
    text
}

fn with_text(inputs: &[Input], path: &str, text: &str) -> Vec<Input> {
    let mut inputs = inputs.to_vec();
    for input in inputs.iter_mut().filter(|input| input.path == path) {
        input.text = text.to_string();
    }
    inputs
}

fn count<'a>(report: &'a Report, is: impl Fn(&Finding) -> bool + 'a) -> usize {
    report.findings.iter().filter(|finding| is(finding)).count()
}

fn unread(report: &Report) -> usize {
    report.coverage.iter().map(|(_, coverage)| coverage.statements - coverage.analysed).sum()
}

/// What is wrong with the rewrites of an example.
fn faults_of_fixes(example: &Example) -> Vec<String> {
    let mut faults = Vec::new();
    let report = lint(&example.inputs, &Config::default());
    let fixed: Vec<(&Finding, &Fix)> =
        report.findings.iter().filter_map(|finding| Some((finding, finding.fix.as_ref()?))).collect();
    for (finding, fix) in &fixed {
        let input = example.inputs.iter().find(|input| input.path == finding.path).expect("a file");
        let text = rewritten(&input.text, &[fix]);
        let after = lint(&with_text(&example.inputs, &input.path, &text), &Config::default());
        let mine = |report: &Report| count(report, |other| other.rule == finding.rule);
        let others = |report: &Report| {
            count(report, |other| other.rule != finding.rule && other.severity > Severity::Info)
        };
        if mine(&after) >= mine(&report)
            || others(&after) > others(&report)
            || unread(&after) > unread(&report)
        {
            faults.push(format!("the rewrite to `{}` does not remove {}:\n{text}", fix.text, finding.rule));
        }
    }
    let Some(last) = example.inputs.last() else { return faults };
    for (safety, expected) in &example.fixed {
        let wanted = fixed.iter().filter(|(finding, fix)| {
            finding.path == last.path && (*safety == Safety::Unsafe || fix.safety == Safety::Safe)
        });
        let fixes: Vec<&Fix> = wanted.map(|(_, fix)| *fix).collect();
        let text = rewritten(&last.text, &fixes);
        if text.trim_end() != expected.trim_end() {
            faults.push(format!("{safety:?} rewrites give:\n{text}"));
        }
    }
    faults
}

/// `error · needs keys and types · shown by: rows shuffled`.
fn fault_of_head(text: &str) -> Option<String> {
    const NEEDS: &[&str] = &[
        "nothing",
        "the statement",
        "the whole script",
        "the project",
        "the template",
        "keys",
        "nullability",
        "types",
        "the interval",
        "the source's scope",
    ];
    let head = text.lines().nth(2).unwrap_or_default();
    let parts: Vec<&str> = head.split(" · ").collect();
    let [severity, needs, shown] = parts.as_slice() else { return Some(head.to_string()) };
    let needs: Vec<&str> = needs.strip_prefix("needs ").unwrap_or_default().split(" and ").collect();
    let is_right = Severity::named(severity).is_some()
        && needs.iter().all(|need| NEEDS.contains(need))
        && shown.strip_prefix("shown by: ").is_some_and(|by| !by.is_empty());
    (!is_right).then(|| head.to_string())
}

#[test]
fn heads_of_pages_are_of_one_form() {
    for rule in rules::RULES {
        assert_eq!(fault_of_head(rule.page), None, "{}", rule.id);
        assert_eq!(page::title(rule.page).0, rule.id);
    }
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
