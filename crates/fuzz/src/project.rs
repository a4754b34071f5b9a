//! Files of a project, and settings of lint.
//!
//! An input is a fixture: each file begins with a line `//- <path>`.

use oncemore_core::diagnostic::line_and_column;
use oncemore_core::{Diagnostic, Location};
use oncemore_project::{LINT_FILE, PROJECT_FILE, TextFile, lint_settings, load};

/// Loads, and looks at each place that something is said about.
///
/// # Panics
/// Where a diagnostic's place is not in its file, or loading twice gives two things.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut files: Vec<TextFile> = Vec::new();
    for (path, text) in oncemore_testkit::files(&text) {
        // A folder has one file of a name.
        if files.iter().all(|file| file.path != path) {
            files.push(TextFile { path, text });
        }
    }
    let loaded = load(&files);
    places(&files, &loaded.diagnostics);
    let again = load(&files);
    assert_eq!(again.diagnostics, loaded.diagnostics);
    if let (Some(one), Some(other)) = (&loaded.project, &again.project) {
        let codes = |project: &oncemore_project::Project| {
            project.models.iter().map(|model| (model.name.clone(), model.code)).collect::<Vec<_>>()
        };
        assert_eq!(codes(one), codes(other));
    }
    for file in files.iter().filter(|file| file.path == PROJECT_FILE || file.path == LINT_FILE) {
        let (settings, found) = lint_settings(file);
        places(&files, &found);
        let _ = settings.config();
        let _ = (settings.dialect_of("etl/load.sql"), settings.is_ignored("etl/load.sql"));
        let _ = (settings.is_run_once("etl/load.sql"), settings.allowed("etl/load.sql", "OM301"));
    }
}

fn places(files: &[TextFile], found: &[Diagnostic]) {
    for Location { path, start, end } in found.iter().filter_map(|found| found.location.as_ref()) {
        let text = files.iter().find(|file| file.path == *path).map_or("", |file| file.text.as_str());
        assert!(text.get(*start..*end).is_some(), "{path}: {start}..{end} is no place in it");
        let _ = line_and_column(text, *start);
    }
}
