//! Lints real projects that `REAL_DIR` names, as `<dialect>/<project>/…`: how many statements are judged, why not the rest,
//! and what is found. Does nothing without it.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test reports, and is steered, from outside"
)]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use oncemore_lint::{Config, Dialect, Input, lint};

fn folders(of: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(of)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

fn files(of: &Path, root: &Path, into: &mut Vec<Input>) {
    let mut paths: Vec<_> =
        std::fs::read_dir(of).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let ends =
            |list: &[&str]| path.extension().is_some_and(|ext| list.contains(&&*ext.to_string_lossy()));
        if path.is_dir() {
            files(&path, root, into);
        } else if ends(&["sql", "hql", "ddl", "yml", "yaml"]) {
            let bytes = std::fs::read(&path).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_string();
            let path = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().to_string();
            into.push(Input { path, text, dialect: None });
        }
    }
}

/// A reason without what is particular to one statement: what was found where something else was expected.
fn kind(message: &str) -> String {
    let message = message.trim_start_matches("this statement could not be judged: ");
    message.split(" at Line").next().unwrap_or(message).chars().take(110).collect()
}

#[test]
fn real_projects() {
    let Some(root) = std::env::var_os("REAL_DIR").map(PathBuf::from) else { return };
    let only = std::env::var("REAL_ONLY").unwrap_or_default();
    let mut table = String::new();
    let mut out = String::new();
    for folder in folders(&root) {
        let name = folder.file_name().expect("name").to_string_lossy().to_string();
        let dialect = Dialect::named(&name).expect("a dialect");
        let (mut judged, mut all) = (0, 0);
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for project in folders(&folder) {
            let title = format!("{name}/{}", project.file_name().expect("name").to_string_lossy());
            if !title.contains(&only) {
                continue;
            }
            let mut inputs = Vec::new();
            files(&project, &project, &mut inputs);
            let is_dbt = inputs.iter().any(|input| input.path.ends_with("dbt_project.yml"));
            let config = Config { dialect: Some(dialect), ..Config::default() };
            let started = std::time::Instant::now();
            let report = lint(&inputs, &config);
            let seconds = started.elapsed().as_secs_f64();
            let (mut of, mut count) = (0, 0);
            for (_, coverage) in &report.coverage {
                of += coverage.analysed;
                count += coverage.statements;
            }
            judged += of;
            all += count;
            let _ = writeln!(
                table,
                "{title:40} {} files, {of} of {count} = {:.2} %, {} findings, {seconds:.2} s{}",
                inputs.len(),
                100.0 * of as f64 / count.max(1) as f64,
                report.findings.len(),
                if is_dbt { " (dbt)" } else { "" }
            );
            for finding in &report.findings {
                if finding.rule == "OM001" {
                    *reasons.entry(kind(&finding.message)).or_default() += 1;
                }
                let text = inputs
                    .iter()
                    .find(|input| input.path == finding.path)
                    .map_or(String::new(), |input| common::fold(finding.span.of(&input.text)));
                let text: String = text.chars().take(300).collect();
                let _ = writeln!(
                    out,
                    "{title}\t{}\t{}\t{}\t{}\t{text}\t{}",
                    finding.rule,
                    finding.severity,
                    finding.path,
                    finding.start.line,
                    finding.message.replace(['\n', '\t'], " ")
                );
            }
        }
        let _ = writeln!(
            table,
            "{name:40} {judged} of {all} = {:.2} %\n",
            100.0 * f64::from(judged as u32) / f64::from((all as u32).max(1))
        );
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (reason, count) in reasons.iter().take(15) {
            let _ = writeln!(table, "    {count:6} {reason}");
        }
    }
    println!("{table}");
    if let Some(path) = std::env::var_os("REAL_OUT") {
        std::fs::write(path, out).expect("written");
    }
}
