//! `oncemore lint` through the binary. A case is a file of `tests/lint`: files behind `//- path`, then commands behind
//! `$`, each with all that it says and its exit code. `LINT_BLESS=1 cargo test` writes what is said now.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::project::{Project, both};

/// What a command in a folder says, and its exit code: `lint a.sql`, `lint - < a.sql`, `show a.sql`, `shift a.sql`
/// (lines come before it).
fn perform(folder: &Path, line: &str) -> String {
    if let Some(file) = line.strip_prefix("show ") {
        return std::fs::read_to_string(folder.join(file)).unwrap();
    }
    if let Some(rest) = line.strip_prefix("prepend ") {
        let (file, text) = rest.split_once(' ').unwrap();
        let before = std::fs::read_to_string(folder.join(file)).unwrap();
        std::fs::write(folder.join(file), format!("{}\n{before}", text.replace("\\n", "\n"))).unwrap();
        return String::new();
    }
    if let Some(rest) = line.strip_prefix("drop-line ") {
        let (file, wanted) = rest.split_once(' ').unwrap();
        let before = std::fs::read_to_string(folder.join(file)).unwrap();
        let kept: Vec<&str> = before.lines().filter(|line| !line.contains(wanted)).collect();
        std::fs::write(folder.join(file), kept.join("\n") + "\n").unwrap();
        return String::new();
    }
    let (arguments, input) = line.split_once(" < ").map_or((line, None), |(line, file)| (line, Some(file)));
    let mut child = Command::new(env!("CARGO_BIN_EXE_oncemore"))
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    if let Some(file) = input {
        stdin.write_all(&std::fs::read(folder.join(file)).unwrap()).unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let real = folder.canonicalize().unwrap().to_string_lossy().into_owned();
    let said = both(&output).replace(&real, "<folder>").replace(&*folder.to_string_lossy(), "<folder>");
    format!("{said}exit {}\n", output.status.code().unwrap())
}

/// A case as it is said now.
fn now(text: &str) -> String {
    let at = text.find("\n$ ").unwrap() + 1;
    let (fixture, commands) = text.split_at(at);
    let project = Project::empty();
    for (path, text) in oncemore_testkit::files(fixture) {
        project.write(&path, text.trim_end_matches('\n').to_owned() + "\n");
    }
    let mut out = fixture.to_owned();
    for line in commands.lines().filter_map(|line| line.strip_prefix("$ ")) {
        writeln!(out, "$ {line}").unwrap();
        out += &perform(project.folder.path(), line);
    }
    out
}

#[test]
fn cases_say_what_is_written() {
    #[expect(clippy::disallowed_methods, reason = "whether to write the cases is for who runs the test")]
    let bless = std::env::var_os("LINT_BLESS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lint");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 8);
    let mut failed = Vec::new();
    for path in paths {
        let written = std::fs::read_to_string(&path).unwrap();
        let now = now(&written);
        if bless {
            std::fs::write(&path, now).unwrap();
        } else if now != written {
            let diff = similar::TextDiff::from_lines(&written, &now).unified_diff().to_string();
            failed.push(format!("{}\n{diff}", path.file_name().unwrap().to_string_lossy()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

const APPEND: &str = "\
INSERT INTO mart.daily (day, amount, loaded)
SELECT day, sum(amount), random()
  FROM raw.sales
 GROUP BY day;
-- oncemore: allow(OM301) because the journal is meant to grow
INSERT INTO mart.events SELECT * FROM raw.changes WHERE changed_on = :day;
";

#[test]
fn sarif_holds_what_its_schema_requires() {
    let project = Project::empty();
    project.write("etl/a b.sql", APPEND);
    let output = project.command(&["lint", "--output", "sarif"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert!(driver["name"].is_string());
    let rules = driver["rules"].as_array().unwrap();
    for rule in rules {
        assert!(rule["id"].is_string() && rule["fullDescription"]["text"].is_string(), "{rule}");
        assert!(rule["help"]["text"].as_str().unwrap().contains("## What goes wrong"));
        assert!(
            ["error", "warning", "note"].contains(&rule["defaultConfiguration"]["level"].as_str().unwrap())
        );
    }
    let results = run["results"].as_array().unwrap();
    assert!(results.len() >= 2);
    let mut prints = std::collections::BTreeSet::new();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(result["ruleId"], rules[index]["id"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "etl/a%20b.sql");
        let region = &place["region"];
        assert!(region["startLine"].as_u64().unwrap() >= 1 && region["startColumn"].as_u64().unwrap() >= 1);
        let offset = usize::try_from(region["byteOffset"].as_u64().unwrap()).unwrap();
        let length = usize::try_from(region["byteLength"].as_u64().unwrap()).unwrap();
        assert_eq!(region["snippet"]["text"], APPEND[offset..offset + length]);
        assert!(
            prints.insert(result["partialFingerprints"]["oncemoreFinding/v1"].as_str().unwrap().to_owned())
        );
    }
    let suppressed: Vec<&Value> =
        results.iter().filter(|result| result["suppressions"] != Value::Array(vec![])).collect();
    assert_eq!(suppressed.len(), 1);
    assert_eq!(suppressed[0]["suppressions"][0]["kind"], "inSource");
    assert_eq!(suppressed[0]["suppressions"][0]["justification"], "the journal is meant to grow");
}

#[test]
fn every_rule_explains_itself() {
    let project = Project::empty();
    let (code, list) = project.said(&["lint", "--explain"]);
    assert_eq!(code, Some(0));
    assert!(list.lines().count() >= 18);
    for line in list.lines() {
        let rule = line.split_whitespace().next().unwrap();
        let (code, page) = project.said(&["lint", "--explain", rule]);
        assert_eq!(code, Some(0), "{page}");
        assert!(
            page.starts_with(rule) && page.contains("What goes wrong") && page.contains("Stays silent"),
            "{page}"
        );
        assert!(!page.contains("```") && !page.contains("experiment"), "{page}");
    }
}

/// A model whose rows at the edge of a day depend on how the days are cut: the first row of each has no predecessor.
const CUT: &str = "\
/* oncemore
kind: slice
interval: day
time: ordered_at
key: [id]
*/
SELECT id, ordered_at, amount,
       lag(amount) OVER (PARTITION BY shop ORDER BY ordered_at, id) AS before
  FROM raw.orders
 WHERE ordered_at >= :interval_start AND ordered_at < :interval_end
";

#[test]
fn run_refuses_a_model_that_is_not_repeatable() {
    let project = Project::new();
    project.write("models/gold/first.sql", CUT);
    for command in [&["check"][..], &["plan", "gold.first"], &["run", "gold.first"], &["run"]] {
        let (code, said) = project.said(command);
        assert_eq!(code, Some(3), "{command:?}: {said}");
        assert!(said.contains("error[OM407]") && said.contains("models/gold/first.sql:8:"), "{said}");
    }
    // What is not to be run is not held up.
    project.run(&["gold.shops"]);
    let window = "       lag(amount)";
    let allowed = "       -- oncemore: allow(OM407) because a day begins without a predecessor on purpose\n";
    project.edit("models/gold/first.sql", window, &format!("{allowed}{window}"));
    assert_eq!(project.said(&["check"]).0, Some(0));
    project.run(&["+gold.first"]);
}
