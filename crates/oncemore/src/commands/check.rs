//! `oncemore check`: parse, resolve, derive types.

use oncemore_core::{Diagnostic, Severity};
use oncemore_run::workspace::read_texts;
use oncemore_run::{audits, lint};
use serde::Serialize;

use crate::context::{Access, Context};
use crate::failure::Failure;
use crate::render::diagnostic::{JsonDiagnostic, render_all, to_json};
use crate::render::number::plural;

/// Parse and resolve everything, and derive the types of all columns; runs nothing and writes no table.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// What `check` found.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    models: usize,
    sources: usize,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

/// Checks the project.
///
/// # Errors
/// A project that is wrong (exit 3), or can't be read. Warnings alone end with exit 0.
pub fn run(_args: &Args, context: &Context) -> Result<u8, Failure> {
    let ui = &context.ui;
    let texts = read_texts(&context.root()?)?;
    let mut loaded = oncemore_project::load(&texts);
    let text_of = |path: &str| texts.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let (models, sources) =
        loaded.project.as_ref().map_or((0, 0), |project| (project.models.len(), project.sources.len()));
    let is_wrong = |found: &[Diagnostic]| found.iter().any(|found| found.severity == Severity::Error);
    if !is_wrong(&loaded.diagnostics) {
        // The engine plans every model: unknown columns, types, what a parameter is compared with.
        let audits = context.block_on(2, async {
            let workspace = context.open(Access::Read).await?;
            Ok(audits::errors(&workspace).await?)
        })?;
        // What can be planned and would not give the same rows again: `run` refuses it.
        let project = loaded.project.iter();
        let found: Vec<Diagnostic> = project.flat_map(|project| lint::errors(project, |_| true)).collect();
        loaded.diagnostics.extend(found.into_iter().chain(audits));
    }
    let wrong = is_wrong(&loaded.diagnostics);
    let report = Report { ok: !wrong, models, sources, diagnostics: to_json(&loaded.diagnostics, &text_of) };
    if wrong {
        if ui.is_json() {
            ui.json(&report)?;
        } else {
            ui.talk(&render_all(&loaded.diagnostics, &text_of, &ui.err));
        }
        return Ok(oncemore_run::ErrorKind::Config.exit_code());
    }
    if ui.is_json() {
        ui.json(&report)?;
    } else {
        if !loaded.diagnostics.is_empty() {
            ui.talk(&render_all(&loaded.diagnostics, &text_of, &ui.err));
        }
        ui.data(&format!("ok: {} and {}\n", plural(models, "model"), plural(sources, "source")))?;
    }
    Ok(0)
}
