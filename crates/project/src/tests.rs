//! Tests of the crate: fixtures in one string in, diagnostics as text out. An edit of the API edits this file alone.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod code;
mod errors_project;
mod errors_sql;
mod fuzz;
mod valid;

use oncemore_core::Diagnostic;
use oncemore_core::diagnostic::line_and_column;

use crate::{Loaded, Project, TextFile, load};

/// The files of a fixture; one without `oncemore.yml` gets the smallest one.
fn files(fixture: &str) -> Vec<TextFile> {
    let mut files: Vec<TextFile> =
        oncemore_testkit::files(fixture).into_iter().map(|(path, text)| TextFile { path, text }).collect();
    if !fixture.contains("oncemore.yml") {
        let text =
            "name: test\nsources:\n  raw.a: {path: a.csv}\n  raw.b: {path: b.csv}\nvariables: {limit: 5}\n";
        files.push(TextFile { path: "oncemore.yml".to_owned(), text: text.to_owned() });
    }
    files
}

/// `path:line:col: error[code]: message / help`, and the text that is pointed at.
fn render(files: &[TextFile], diagnostic: &Diagnostic) -> String {
    let place = match &diagnostic.location {
        Some(at) => {
            let text = &files.iter().find(|file| file.path == at.path).unwrap().text;
            assert!(at.start <= at.end && at.end <= text.len(), "{at:?} is not in the text");
            let (line, column) = line_and_column(text, at.start);
            let shown = text.get(at.start..at.end).unwrap().lines().next().unwrap_or_default();
            format!("{}:{line}:{column}: `{shown}`: ", at.path)
        }
        None => String::new(),
    };
    let help = diagnostic.help.as_ref().map(|help| format!(" / {help}")).unwrap_or_default();
    format!("{place}error[{}]: {}{help}", diagnostic.code, diagnostic.message)
}

/// All diagnostics of a fixture, a line each.
fn diagnostics(fixture: &str) -> String {
    let files = files(fixture);
    let loaded = load(&files);
    assert_eq!(loaded.project.is_none(), !loaded.diagnostics.is_empty());
    loaded.diagnostics.iter().map(|found| render(&files, found)).collect::<Vec<_>>().join("\n")
}

/// The project of a fixture without errors.
fn project(fixture: &str) -> Project {
    let files = files(fixture);
    let Loaded { project, diagnostics } = load(&files);
    let shown: Vec<String> = diagnostics.iter().map(|found| render(&files, found)).collect();
    project.unwrap_or_else(|| panic!("{}", shown.join("\n")))
}
