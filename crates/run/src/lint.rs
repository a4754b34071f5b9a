//! Findings of lint that keep a model from running: what it writes would not be the same again.
//!
//! Computed from the texts of a loaded project when a run or a plan asks for them; reads nothing.

use oncemore_core::{Diagnostic, Location, TableName};
use oncemore_lint::{Dialect, Finding, Input, Script, Severity};
use oncemore_project::Project;

use crate::error::{ErrorKind, RunError};
use crate::plan::Plan;

/// Dialect of models where the settings name none: what our engine speaks is nearest to it.
const DIALECT: Dialect = Dialect::Postgres;

/// Picks without a total order. Our engine breaks ties by all remaining columns and says so in `explain`: what another
/// engine would pick at will comes out the same here in every run, so they are findings and no reason to refuse.
const DECIDED_BY_THE_ENGINE: [&str; 6] = ["OM201", "OM202", "OM203", "OM204", "OM205", "OM206"];

/// Findings at level error in the models that `wanted` names, those apart that are allowed with a reason.
pub fn errors(project: &Project, wanted: impl Fn(&TableName) -> bool) -> Vec<Diagnostic> {
    let settings = &project.lint;
    let config = settings.config();
    let scripts: Vec<(&TableName, Script)> = project
        .models
        .iter()
        .filter_map(|model| {
            let dialect = settings.dialect_of(&model.path).or(settings.dialect).or(Some(DIALECT));
            let text = project.texts.get(&model.path)?.clone();
            let input = Input { path: model.path.clone(), text, dialect };
            Some((&model.name, oncemore_lint::parse(&input, &config)))
        })
        .collect();
    let knowledge = settings.knowledge(scripts.iter().map(|(_, script)| script));
    let judged = scripts.iter().filter(|(model, script)| wanted(model) && !settings.is_ignored(&script.path));
    let mut found = Vec::new();
    for (_, script) in judged {
        let findings = oncemore_lint::judge(script, &knowledge, &config).findings;
        let grave = findings.iter().filter(|finding| {
            finding.severity == Severity::Error
                && !DECIDED_BY_THE_ENGINE.contains(&finding.rule)
                && settings.allowed(&script.path, finding.rule).is_none()
        });
        found.extend(grave.map(diagnostic));
    }
    found
}

/// A finding as a diagnostic of the project.
fn diagnostic(finding: &Finding) -> Diagnostic {
    let range = finding.span.range();
    let location = Location { path: finding.path.clone(), start: range.start, end: range.end };
    let mut help = finding.help.clone();
    if !help.is_empty() {
        help.push_str("; ");
    }
    let rule = finding.rule;
    help.push_str(&format!("or allow it above the line: `-- oncemore: allow({rule}) because <reason>`"));
    let mut error = Diagnostic::error(rule, finding.message.clone(), location).help(help);
    error.label = (!finding.rerun.is_empty()).then(|| finding.rerun.clone());
    error
}

/// Refuses a plan that would run a model whose rows can't be made again.
///
/// # Errors
/// Findings at level error in models that have tasks.
pub fn guard(project: &Project, plan: &Plan) -> Result<(), RunError> {
    let mut planned: Vec<&TableName> =
        plan.models.iter().filter(|known| known.tasks > 0).map(|known| &known.model).collect();
    if planned.is_empty() {
        return Ok(());
    }
    // A view runs as part of its readers.
    let readers = project.models.iter().filter(|model| planned.contains(&&model.name));
    let views: Vec<&TableName> =
        readers.flat_map(|model| project.expanded_views(model)).map(|(name, _)| name).collect();
    planned.extend(views);
    let found = errors(project, |model| planned.contains(&model));
    let Some(first) = found.first() else { return Ok(()) };
    let help = format!("`oncemore lint --explain {}` says more; nothing has run", first.code);
    let number = match found.len() {
        1 => "an error".to_owned(),
        number => format!("{number} errors"),
    };
    let message = format!("lint finds {number}: a re-run would not give the same rows");
    Err(RunError::new(ErrorKind::Config, message).help(help).diagnostics(found))
}
