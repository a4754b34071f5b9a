//! Diagnostics with the line they are about: `error[unknown-key]: ...`, the place, the line, carets, help.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use oncemore_core::diagnostic::line_and_column;
use oncemore_core::{Diagnostic, Severity};
use serde::Serialize;

use super::Look;
use super::number::plural;

/// Finds the text of a file by its path relative to the project.
pub type TextOf<'a> = &'a dyn Fn(&str) -> Option<&'a str>;

/// All diagnostics, worst first, each with its place, and a line that counts them.
pub fn render_all(diagnostics: &[Diagnostic], text_of: TextOf<'_>, look: &Look) -> String {
    let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
    sorted.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
    let mut out = String::new();
    for diagnostic in sorted {
        out += &render(diagnostic, text_of, look);
        out += "\n\n";
    }
    out += &summary(diagnostics);
    out
}

/// `2 errors, 1 warning`.
pub fn summary(diagnostics: &[Diagnostic]) -> String {
    let number = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let parts: Vec<String> =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")]
            .into_iter()
            .map(|(severity, noun)| (number(severity), noun))
            .filter(|(number, _)| *number > 0)
            .map(|(number, noun)| plural(number, noun))
            .collect();
    parts.join(", ")
}

/// One diagnostic.
pub fn render(diagnostic: &Diagnostic, text_of: TextOf<'_>, look: &Look) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(&*diagnostic.message).id(diagnostic.code));
    let mut place_without_text = None;
    if let Some(location) = &diagnostic.location {
        match text_of(&location.path) {
            Some(text) => {
                let end = location.end.min(text.len());
                let start = location.start.min(end);
                let mut annotation = AnnotationKind::Primary.span(start..end);
                if let Some(label) = &diagnostic.label {
                    annotation = annotation.label(&**label);
                }
                let path = &*location.path;
                group = group.element(Snippet::source(text).path(path).annotation(annotation));
            }
            None => place_without_text = Some(format!("in {}", location.path)),
        }
    }
    if let Some(place) = &place_without_text {
        group = group.element(Level::NOTE.message(&**place));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(&**help));
    }
    let renderer = if look.color { Renderer::styled() } else { Renderer::plain() };
    let decor = if look.unicode { DecorStyle::Unicode } else { DecorStyle::Ascii };
    renderer.decor_style(decor).term_width(look.width).render(&[group])
}

/// A diagnostic as `--output json` shows it.
#[derive(Debug, Serialize)]
pub struct JsonDiagnostic<'a> {
    /// `error`, `warning` or `note`.
    pub severity: Severity,
    /// Stable short name.
    pub code: &'a str,
    /// What is wrong.
    pub message: &'a str,
    /// Path relative to the project's folder.
    pub path: Option<&'a str>,
    /// Line, from 1.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// Byte range in the file.
    pub span: Option<(usize, usize)>,
    /// What the place is.
    pub label: Option<&'a str>,
    /// What to do about it.
    pub help: Option<&'a str>,
}

/// Diagnostics for `--output json`.
pub fn to_json<'a>(diagnostics: &'a [Diagnostic], text_of: TextOf<'_>) -> Vec<JsonDiagnostic<'a>> {
    diagnostics
        .iter()
        .map(|diagnostic| {
            let location = diagnostic.location.as_ref();
            let place = location.and_then(|location| {
                text_of(&location.path).map(|text| line_and_column(text, location.start))
            });
            JsonDiagnostic {
                severity: diagnostic.severity,
                code: diagnostic.code,
                message: &diagnostic.message,
                path: location.map(|location| &*location.path),
                line: place.map(|(line, _)| line),
                column: place.map(|(_, column)| column),
                span: location.map(|location| (location.start, location.end)),
                label: diagnostic.label.as_deref(),
                help: diagnostic.help.as_deref(),
            }
        })
        .collect()
}
