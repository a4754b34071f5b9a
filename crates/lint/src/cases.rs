//! Faults that people met in other tools, and look-alikes of them, as small inputs: those of `tests/cases` that are for lint.
//! The rest is run by the tests of the program.

use std::path::Path;

use serde_json::Value as Json;

use crate::{Config, Dialect, Input, Severity, lint, yaml};

fn word<'a>(case: &'a Json, name: &str) -> &'a str {
    case.get(name).and_then(Json::as_str).unwrap_or_else(|| panic!("`{name}` is no text"))
}

/// The rule that finds what a case calls in plain words.
fn rule(finding: &str) -> &'static str {
    match finding {
        "unstable pick" => "OM201",
        "conflict ignored" => "OM302",
        "filter column differs from slice column" => "OM403",
        other => panic!("no rule is known that finds `{other}`"),
    }
}

/// The model as it would stand in a project, and the tables that it reads.
fn inputs(case: &Json, dialect: Option<Dialect>) -> Vec<Input> {
    let mut ddl = String::new();
    for (table, columns) in case.get("schemas").and_then(Json::as_object).expect("schemas") {
        let columns = columns.as_object().expect("columns");
        let columns: Vec<String> = columns
            .iter()
            .map(|(name, kind)| format!("\"{name}\" {}", kind.as_str().expect("a type")))
            .collect();
        ddl.push_str(&format!("CREATE TABLE {table} ({});\n", columns.join(", ")));
    }
    let header = match word(case, "write") {
        "hand-written statement" => String::new(),
        write => format!(
            "/* oncemore\nkind: {}\ninterval: {}\ntime: {}\nkey: [{}]\n*/\n",
            if write == "merge on key" { "merge" } else { "slice" },
            word(case, "interval"),
            word(case, "time_column"),
            word(case, "key"),
        ),
    };
    let model = format!("models/{}.sql", word(case, "target"));
    vec![
        Input { path: "ddl/tables.sql".to_string(), text: ddl, dialect },
        Input { path: model, text: format!("{header}{}", word(case, "model_sql")), dialect },
    ]
}

fn check(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases").join(file);
    let case = yaml::parse(&std::fs::read_to_string(path).expect("a case")).expect("YAML");
    let expected = case.get("expect").expect("expect");
    let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<(&str, String)> = match word(expected, "finding") {
        "none" => Vec::new(),
        finding => vec![(rule(finding), fold(word(expected, "expression")))],
    };
    for dialect in [None, Some(Dialect::Postgres), Some(Dialect::DuckDb)] {
        let inputs = inputs(&case, dialect);
        let report = lint(&inputs, &Config::default());
        let found: Vec<(&str, String)> = report
            .findings
            .iter()
            .filter(|finding| finding.severity > Severity::Info)
            .map(|finding| {
                let input = inputs.iter().find(|input| input.path == finding.path).expect("a file");
                (finding.rule, fold(finding.span.of(&input.text)))
            })
            .collect();
        assert_eq!(found, wanted, "{file}, {dialect:?}");
        let analysed = report.coverage.iter().all(|(_, coverage)| coverage.analysed == coverage.statements);
        assert!(analysed, "{file}, {dialect:?}: not all was understood");
    }
}

#[test]
fn cases_for_lint() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("cases")
        .map(|entry| entry.expect("a case").file_name().to_string_lossy().into_owned())
        .filter(|file| file.contains("-lint-"))
        .collect();
    files.sort_unstable();
    assert!(!files.is_empty());
    files.iter().for_each(|file| check(file));
}
