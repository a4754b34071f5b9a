//! A table that waits to be built anew, as it is read meanwhile: with the columns that it holds, not with those that the
//! model now has. Knows nothing of slices and of what is due.

use arrow::datatypes::{Field, SchemaRef};
use oncemore_commit::TableHead;
use oncemore_commit::types::{arrow_type, stored_type};
use oncemore_core::Read;
use oncemore_project::Model;

use crate::error::RunError;
use crate::facts::Facts;
use crate::rebuild;
use crate::workspace::Workspace;

/// The columns of a model's table as it is read: those of its query, but where the table waits to be built anew. Then its
/// own, whatever the query would yield.
///
/// # Errors
/// A warehouse that can't be read.
pub(crate) fn columns_of(
    workspace: &Workspace,
    model: &Model,
    facts: &Facts,
    head: Option<&TableHead>,
) -> Result<SchemaRef, RunError> {
    let is_same = |head: &TableHead| {
        let own = facts.table.fields();
        head.schema.fields().len() == own.len() && own.iter().all(|field| differs(head, field).is_none())
    };
    if let Some(head) = head
        && !is_same(head)
        && rebuild::shape_misfit(workspace, model)?.is_some()
    {
        return Ok(SchemaRef::clone(&head.schema));
    }
    Ok(SchemaRef::clone(&facts.table))
}

/// What a reader waits for whose columns a table that has to be built anew can't give yet; `None` where it has all of
/// them, in the types that the reader was planned with.
///
/// # Errors
/// A warehouse that can't be read.
pub(crate) fn unmet(workspace: &Workspace, model: &Model, read: &Read) -> Result<Option<String>, RunError> {
    let Some(facts) = workspace.facts.get(model.name.as_str()) else { return Ok(None) };
    // A table without rows of any slice is waited for in any case.
    let Some(head) = workspace.warehouse.head(&model.name)? else { return Ok(None) };
    let is_read = |field: &Field| read.columns.as_deref().is_none_or(|names| names.contains(field.name()));
    let own = facts.table.fields().iter().filter(|field| is_read(field));
    let found = own.filter_map(|field| Some((field.name(), differs(&head, field)?))).next();
    Ok(found.map(|(column, how)| {
        format!("`oncemore rebuild {}`: the table {how} column `{column}` until then", model.name)
    }))
}

/// How a column of a table differs from what its model now has.
fn differs(head: &TableHead, field: &Field) -> Option<String> {
    let Ok(stored) = head.schema.field_with_name(field.name()) else { return Some("has no".to_owned()) };
    let kind = stored_type(field.name(), field.data_type());
    if kind.as_ref().is_ok_and(|kind| arrow_type(*kind) == *stored.data_type()) {
        return None;
    }
    let old =
        stored_type(stored.name(), stored.data_type()).map_or("another".to_owned(), |old| old.to_string());
    let new = kind.map_or("another".to_owned(), |kind| kind.to_string());
    Some(format!("holds {old}, not {new}, in"))
}
