//! Audits that can't be asked of a model's rows, found before there are any: each is asked of no rows.

use std::sync::Arc;

use datafusion::prelude::SessionContext;
use oncemore_backend::audit::{self, AuditError};
use oncemore_backend::table;
use oncemore_core::{Audit, Diagnostic};
use oncemore_project::{Kind, Model};

use crate::error::RunError;
use crate::facts::Facts;
use crate::task::{looks_at, tables_read};
use crate::workspace::Workspace;

/// What is wrong with the audits of all models, each at its place: a column that is not there, a bound that is no value of
/// its column, SQL that can't be planned. Reads no data.
///
/// # Errors
/// An engine that can't be started, or a source whose columns can't be told.
pub async fn errors(workspace: &Workspace) -> Result<Vec<Diagnostic>, RunError> {
    let mut found = Vec::new();
    for model in workspace.project.models.iter().filter(|model| model.kind != Kind::View) {
        let Some(facts) = workspace.facts.get(&model.name.to_string()) else { continue };
        found.extend(errors_of(workspace, model, facts).await?);
    }
    Ok(found)
}

async fn errors_of(workspace: &Workspace, model: &Model, facts: &Facts) -> Result<Vec<Diagnostic>, RunError> {
    let mut found = Vec::new();
    if model.audits.is_empty() {
        return Ok(found);
    }
    let none = |schema| table::provider(Vec::new(), schema, None);
    let (mut others, mut unknown) = (Vec::new(), Vec::new());
    for name in tables_read(workspace, model) {
        let schema = match (workspace.sources.get(&name), workspace.facts.get(&name)) {
            (Some(source), _) => source.index.schema()?,
            (None, Some(facts)) => Arc::clone(&facts.table),
            (None, None) => continue,
        };
        if schema.fields().is_empty() {
            // A source of which no file came yet, and whose columns nothing else says.
            unknown.push(name);
            continue;
        }
        others.push((name, none(schema)));
    }
    let session = SessionContext::new_with_state(workspace.engine()?.session().clone());
    let own_name = model.called().to_string();
    for (at, audit) in model.audits.iter().enumerate() {
        if unknown.iter().any(|name| looks_at(audit, name)) {
            continue;
        }
        let (own, rows) = (std::slice::from_ref(audit), none(Arc::clone(&facts.schema)));
        if let Err(error) = audit::run(&session, own, rows, &own_name, &[], others.clone()).await {
            found.push(diagnostic(model, at, audit, error));
        }
    }
    Ok(found)
}

fn diagnostic(model: &Model, at: usize, audit: &Audit, error: AuditError) -> Diagnostic {
    let word = match (&error, audit) {
        (AuditError::UnknownColumn { column, .. }, _) => Some(column.as_str()),
        (_, Audit::Expression(text) | Audit::Sql { sql: text, .. }) => Some(text.as_str()),
        _ => None,
    };
    let place = model.places.audit(at, word);
    let location = place.cloned().unwrap_or_else(|| model.location.clone());
    let error = RunError::from(error);
    let mut diagnostic = Diagnostic::error("audit", error.message, location);
    diagnostic.help = error.help;
    diagnostic
}
