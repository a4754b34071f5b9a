//! Style that matters, as a check: every module says what it owns, files and functions stay short, crates depend
//! downwards only, nothing half-done is left, no path of one machine is written down.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Longest source file, tests apart.
const FILE_LINES_MAX: usize = 700;
/// Longest function.
const FUNCTION_LINES_MAX: usize = 80;
/// Longest line, in characters.
const LINE_CHARS_MAX: usize = 140;
/// The nouns stay few: an edit of core builds everything.
const CORE_LINES_MAX: usize = 4_000;

/// Crates and what each may depend on: the picture in ARCHITECTURE.md.
const EDGES: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("lint", &[]),
    ("model", &[]),
    ("project", &["core", "lint"]),
    ("commit", &["core"]),
    ("backend", &["core", "commit"]),
    ("run", &["core", "lint", "project", "commit", "backend"]),
    ("oncemore", &["core", "lint", "project", "commit", "backend", "run"]),
    ("testkit", &["core"]),
    ("fuzz", &["core", "lint", "project", "commit", "testkit"]),
    ("xtask", &["lint", "project"]),
];

/// Marks of unfinished work, split so that this file does not find itself.
const MARKS: &[&str] =
    &[concat!("todo", "!("), concat!("unimplemented", "!("), concat!("FIX", "ME"), concat!("XX", "X")];

/// One thing that is not tidy.
#[derive(Debug, PartialEq, Eq)]
pub struct Offence {
    /// File, relative to the workspace.
    pub path: String,
    /// Line, from 1; 0: the whole file.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Everything in the tree below `root` that is not tidy.
pub fn offences(root: &Path) -> Vec<Offence> {
    let mut found = Vec::new();
    let mut core_lines = 0;
    for path in sources(&root.join("crates")) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let shown = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        let is_test = shown.contains("/tests/") || shown.ends_with("/tests.rs");
        if shown.starts_with("crates/core/src/") {
            core_lines += text.lines().count();
        }
        check_file(&shown, &text, is_test, &mut found);
    }
    if core_lines > CORE_LINES_MAX {
        let message = format!("core has {core_lines} lines, at most {CORE_LINES_MAX}: move what is no noun");
        found.push(Offence { path: "crates/core".to_owned(), line: 0, message });
    }
    check_edges(root, &mut found);
    found
}

fn check_file(path: &str, text: &str, is_test: bool, found: &mut Vec<Offence>) {
    let mut offend =
        |line: usize, message: String| found.push(Offence { path: path.to_owned(), line, message });
    if !text.starts_with("//!") {
        offend(1, "begin with `//!`: what the module owns and what it must not know".to_owned());
    }
    let lines = text.lines().count();
    if !is_test && lines > FILE_LINES_MAX {
        offend(0, format!("{lines} lines, at most {FILE_LINES_MAX}: split it by subject"));
    }
    let mut function: Option<(usize, &str)> = None;
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        // A text that is data (a row of a table, a query to type) is not folded.
        let is_text = line.contains('"');
        if line.chars().count() > LINE_CHARS_MAX && !is_test && !is_text {
            offend(number, format!("longer than {LINE_CHARS_MAX} characters"));
        }
        if let Some(mark) = MARKS.iter().find(|mark| line.contains(**mark)) {
            offend(number, format!("left-over `{mark}`: do it or file it"));
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        if begins_function(line) {
            function = Some((number, indent));
        } else if let Some((begin, own)) = function
            && line.starts_with(own)
            && &line[own.len()..] == "}"
        {
            let length = number - begin + 1;
            if !is_test && length > FUNCTION_LINES_MAX {
                offend(
                    begin,
                    format!(
                        "a function of {length} lines, at most {FUNCTION_LINES_MAX}: give its parts names"
                    ),
                );
            }
            function = None;
        }
    }
}

fn begins_function(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| {
        word.starts_with("pub") || matches!(*word, "async" | "const" | "fn" | "in") && *word != "fn"
    });
    words.next() == Some("fn") && !line.trim_end().ends_with(';')
}

fn check_edges(root: &Path, found: &mut Vec<Offence>) {
    for (name, allowed) in EDGES {
        let path = format!("crates/{name}/Cargo.toml");
        let Ok(text) = fs::read_to_string(root.join(&path)) else { continue };
        let normal = text.split("[dev-dependencies]").next().unwrap_or_default();
        for (at, line) in normal.lines().enumerate() {
            let Some(dependency) = line.strip_prefix("oncemore-") else { continue };
            let dependency = dependency.split(['.', ' ', '=']).next().unwrap_or_default();
            if !allowed.contains(&dependency) {
                let message = format!("`{name}` may not depend on `{dependency}`: arrows point down only");
                found.push(Offence { path: path.clone(), line: at + 1, message });
            }
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                if entry.file_name() != "target" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    found
}
