//! Faults that people met in other tools, as small inputs with the right result: `tests/cases`.
//!
//! Each case becomes a project in a temporary folder, its steps are typed as a user would, and the target must end as
//! `expect` says.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use saphyr::{LoadableYamlNode, Yaml};

const TABLE: &str = "main";

struct Case {
    folder: tempfile::TempDir,
    target: String,
    kind: String,
    key: String,
    time: String,
    /// Settings of the kind: what orders the changes of a key, what an interval of a history holds.
    settings: String,
    sources: BTreeMap<String, Vec<(String, String)>>,
    time_zone: Option<String>,
}

fn text<'a>(yaml: &'a Yaml<'_>, key: &str) -> &'a str {
    yaml.as_mapping_get(key).and_then(Yaml::as_str).unwrap_or_else(|| panic!("no text `{key}`"))
}

fn entries<'a>(yaml: &'a Yaml<'_>, key: &str) -> Vec<(&'a str, &'a Yaml<'a>)> {
    let Some(Yaml::Mapping(mapping)) = yaml.as_mapping_get(key) else { return Vec::new() };
    mapping.iter().map(|(key, value)| (key.as_str().unwrap(), value)).collect()
}

fn settings(yaml: &Yaml<'_>) -> String {
    let word = |key| yaml.as_mapping_get(key).and_then(Yaml::as_str);
    let mut settings =
        word("version_column").map(|order| format!("order_by: [{order}]\n")).unwrap_or_default();
    match word("history") {
        Some("changes") => settings.push_str("input: changes\n"),
        Some("full snapshot per interval") => settings.push_str("input: snapshot\n"),
        Some(other) => panic!("a history of an unknown kind: {other}"),
        None => {}
    }
    settings
}

impl Case {
    fn new(yaml: &Yaml<'_>) -> Case {
        let sources = entries(yaml, "schemas")
            .into_iter()
            .map(|(name, schema)| {
                let Yaml::Mapping(columns) = schema else { panic!("schema of {name}") };
                let column = |(name, kind): (&Yaml<'_>, &Yaml<'_>)| {
                    (name.as_str().unwrap().to_owned(), kind.as_str().unwrap().to_owned())
                };
                (name.to_owned(), columns.iter().map(column).collect())
            })
            .collect();
        let case = Case {
            folder: tempfile::tempdir().unwrap(),
            target: text(yaml, "target").to_owned(),
            kind: text(yaml, "kind").to_owned(),
            key: text(yaml, "key").to_owned(),
            settings: settings(yaml),
            time: text(yaml, "time_column").to_owned(),
            sources,
            time_zone: None,
        };
        case.write_project();
        case.write_model(text(yaml, "model_sql"));
        for (name, rows) in entries(yaml, "tables") {
            case.write_source(name, rows.as_str().unwrap());
        }
        case
    }

    fn path(&self, relative: &str) -> PathBuf {
        let path = self.folder.path().join(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn write_project(&self) {
        let mut yaml =
            "name: case\nstart: 2026-03-01\nend: 2026-03-05\nlimits:\n  tasks: 1000\nsources:\n".to_owned();
        for (name, columns) in &self.sources {
            write!(yaml, "  raw.{name}:\n    path: data/{name}.csv\n    columns:\n").unwrap();
            for (column, kind) in columns {
                writeln!(yaml, "      {column}: {kind}").unwrap();
            }
        }
        std::fs::write(self.path("oncemore.yml"), yaml).unwrap();
    }

    fn write_model(&self, sql: &str) {
        let mut sql = sql.to_owned();
        for name in self.sources.keys() {
            sql = sql.replace(&format!("FROM {name}"), &format!("FROM raw.{name}"));
        }
        let (kind, key, time, settings) = (&self.kind, &self.key, &self.time, &self.settings);
        let head =
            format!("/* oncemore\nkind: {kind}\ninterval: day\ntime: {time}\nkey: [{key}]\n{settings}*/\n");
        std::fs::write(self.path(&format!("models/{TABLE}/{}.sql", self.target)), head + &sql + "\n")
            .unwrap();
    }

    fn write_source(&self, name: &str, rows: &str) {
        std::fs::write(self.path(&format!("data/{name}.csv")), rows).unwrap();
    }

    /// The rows of every source in another order.
    fn turn_sources(&self) {
        for name in self.sources.keys() {
            let path = self.path(&format!("data/{name}.csv"));
            let written = std::fs::read_to_string(&path).unwrap();
            let (head, rows) = written.split_once('\n').unwrap();
            let rows: Vec<&str> = rows.lines().rev().collect();
            std::fs::write(path, format!("{head}\n{}\n", rows.join("\n"))).unwrap();
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oncemore"));
        command.current_dir(self.folder.path()).args(arguments);
        if let Some(zone) = &self.time_zone {
            command.env("TZ", zone).env("PGTZ", zone);
        }
        command
    }

    fn run_arguments(step: &Yaml<'_>) -> Vec<String> {
        // Bounds are written as instants; `run` takes what a person would type.
        let bound = |key| text(step, key).trim_end_matches("+00").replace(' ', "T");
        // A case that runs an interval again means it, also where nothing changed.
        ["run", "--from", &bound("from"), "--to", &bound("to"), "--yes", "--force"]
            .map(str::to_owned)
            .to_vec()
    }

    fn step(&mut self, yaml: &Yaml<'_>, step: &Yaml<'_>) {
        if let Some(run) = step.as_mapping_get("run") {
            if run.as_mapping_get("shuffle_input").is_some() {
                self.turn_sources();
            }
            let arguments = Self::run_arguments(run);
            let output =
                self.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap();
            assert!(output.status.success(), "{}", said(&output));
        } else if let Some(Yaml::Sequence(together)) = step.as_mapping_get("together") {
            let children: Vec<_> = together
                .iter()
                .map(|run| {
                    let arguments = Self::run_arguments(run);
                    self.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).spawn().unwrap()
                })
                .collect();
            for mut child in children {
                // One of two that want the same slice may be refused (exit 4); it must not land twice.
                let code = child.wait().unwrap().code();
                assert!(matches!(code, Some(0 | 4)), "{code:?}");
            }
        } else if step.as_mapping_get("source").is_some() {
            for (name, rows) in entries(step, "source") {
                self.write_source(name, rows.as_str().unwrap());
            }
        } else if let Some(zone) = step.as_mapping_get("session_time_zone") {
            self.time_zone = zone.as_str().map(str::to_owned);
        } else if step.as_mapping_get("model").is_some() {
            self.write_model(text(yaml, "model_sql_v2"));
        } else {
            panic!("a step of an unknown kind: {step:?}");
        }
    }

    /// The target's rows as sorted CSV lines under a header.
    fn target(&self, columns: &[&str]) -> Vec<String> {
        let cast = |column: &&str| {
            // The cases write timestamps and dates as CSV does.
            format!("CAST(\"{column}\" AS TEXT) AS \"{column}\"")
        };
        let list = columns.iter().map(cast).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {list} FROM {TABLE}.{}", self.target);
        let output = self.command(&["query", &sql, "--output", "json"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = json["rows"].as_array().unwrap();
        let field = |row: &serde_json::Value, column: &str| match &row[column] {
            serde_json::Value::Null => String::new(),
            serde_json::Value::String(text) => normal(text),
            other => other.to_string(),
        };
        let line = |row: &serde_json::Value| {
            columns.iter().map(|column| field(row, column)).collect::<Vec<_>>().join(",")
        };
        let mut lines: Vec<String> = rows.iter().map(line).collect();
        lines.sort_unstable();
        lines
    }
}

/// Timestamps in one spelling: `2026-03-01 00:10:00`, without zone mark or trailing zeros.
fn normal(text: &str) -> String {
    let shaped = text.len() >= 19 && text.as_bytes()[4] == b'-' && text.as_bytes()[13] == b':';
    if !shaped {
        return text.to_owned();
    }
    let plain = text.replacen('T', " ", 1);
    let plain = plain.trim_end_matches("+00:00").trim_end_matches("+00").trim_end_matches('Z');
    if plain.contains('.') {
        plain.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        plain.to_owned()
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn check(path: &Path) {
    let written = std::fs::read_to_string(path).unwrap();
    let documents = Yaml::load_from_str(&written).unwrap();
    let yaml = &documents[0];
    let mut case = Case::new(yaml);
    let Some(Yaml::Sequence(steps)) = yaml.as_mapping_get("steps") else { panic!("no steps") };
    for step in steps {
        case.step(yaml, step);
    }
    let mut expected = text(yaml, "expect").lines();
    let columns: Vec<&str> = expected.next().unwrap().split(',').collect();
    let mut expected: Vec<String> =
        expected.map(|line| line.split(',').map(normal).collect::<Vec<_>>().join(",")).collect();
    expected.sort_unstable();
    assert_eq!(case.target(&columns), expected, "{}", path.display());
}

macro_rules! cases {
    ($($name:ident = $file:literal,)*) => {
        $(#[test]
        fn $name() {
            check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases").join($file));
        })*

        #[test]
        fn every_case_is_run() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
            let mut files: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                // Nothing runs in those for lint: they are among its own tests.
                .filter(|file| !file.contains("-lint-"))
                .collect();
            files.sort_unstable();
            assert_eq!(files, [$($file),*]);
        }
    };
}

cases! {
    a_rerun_without_rows_empties_the_slice = "01-empty-slice-rerun.yaml",
    two_first_loads_at_once_land_once = "03-first-load-race.yaml",
    rows_around_midnight_are_in_one_day_each = "05-midnight-microsecond.yaml",
    the_session_zone_moves_nothing = "07-session-zone-delete-and-select.yaml",
    a_window_reads_across_the_edge = "09-lag-across-the-edge.yaml",
    columns_go_by_name = "12-columns-reordered-and-added.yaml",
    of_several_changes_the_last_counts_in_any_order_of_rows = "13-two-changes-one-key.yaml",
    an_empty_part_of_a_key_matches_itself = "14-null-in-the-key.yaml",
    an_older_day_does_not_cover_newer_changes = "15-backfill-old-after-new.yaml",
    a_late_change_is_put_in_between = "20-late-change-in-the-middle.yaml",
    a_key_ends_once_and_begins_again = "21-deleted-and-back-again.yaml",
}
