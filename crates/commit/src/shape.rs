//! Whether a table may be taken for what the project says it is; where not, it has to be built anew, and this says why.
//! Looks at metadata alone and changes nothing.

use arrow::datatypes::Schema;
use oncemore_core::{CHANGES, COUNTING, DELETED_KEYS, REBUILD, TableName};

use crate::error::{CommitError, Result};
use crate::fold::FoldSpec;
use crate::metadata::{self, Shape, schema};
use crate::state::State;
use crate::warehouse::{Warehouse, changes_of};

impl Warehouse {
    /// Why a table that is there can't go on as one with the columns `schema`; `None` where it can, or there is none.
    ///
    /// # Errors
    /// The catalog or the table's metadata can't be read.
    pub fn table_misfit(&self, table: &TableName, schema: &Schema) -> Result<Option<String>> {
        why(self.fits(table, schema, &[], &Shape::Slices))
    }

    /// The same of a log of changes and the tables that are folded from it; see [`Warehouse::ensure_fold`].
    ///
    /// # Errors
    /// The catalog or the tables' metadata can't be read.
    pub fn fold_misfit(
        &self,
        log: &TableName,
        schema: &Schema,
        deletes: bool,
        spec: &FoldSpec,
    ) -> Result<Option<String>> {
        let changes = changes_of(schema, deletes);
        // What differs in the settings says more than what follows from it.
        let all = || {
            self.fits(log, &changes, &spec.key, &Shape::Log(spec.clone()))?;
            for (table, columns, key) in spec.shapes(schema, &changes)? {
                self.fits(table, &columns, &key, &Shape::Folded(log.clone()))?;
            }
            Ok(())
        };
        why(all())
    }

    fn fits(&self, table: &TableName, columns: &Schema, key: &[String], shape: &Shape) -> Result<()> {
        let Some(state) = self.state(table)? else { return Ok(()) };
        check(&state, key, shape)?;
        let current = &state.metadata;
        let columns = schema::columns(columns)?;
        schema::evolve(table, current.current_schema(), current.last_column_id(), &columns).map(|_| ())
    }
}

fn why(fits: Result<()>) -> Result<Option<String>> {
    match fits {
        Ok(()) => Ok(None),
        Err(CommitError::Misfit { why, .. }) => Ok(Some(why)),
        Err(error) => Err(error),
    }
}

/// The model whose rows a table holds, or changes of these.
pub(crate) fn model_of(table: &TableName) -> TableName {
    let built = table.without_ending(REBUILD);
    let table = built.as_ref().unwrap_or(table);
    let beside =
        [CHANGES, COUNTING, DELETED_KEYS].into_iter().find_map(|ending| table.without_ending(ending));
    beside.unwrap_or_else(|| table.clone())
}

/// The error of a table that has to be built anew.
pub(crate) fn misfit(table: &TableName, why: String) -> CommitError {
    CommitError::Misfit { model: model_of(table), why }
}

/// Refuses a table that may not be taken for what the project says it is. One without stamps may become anything that
/// has the same partitions.
pub(crate) fn check(state: &State, key: &[String], shape: &Shape) -> Result<()> {
    let table = &state.table;
    let (fold, log) = (metadata::fold_of(&state.metadata)?, metadata::log_of(&state.metadata));
    let same = match shape {
        Shape::Slices | Shape::Whole => fold.is_none() && log.is_none(),
        Shape::Log(_) => log.is_none() && (fold.is_some() || state.map.len() == 0),
        Shape::Folded(own) => log.as_ref() == Some(own),
    };
    if !same {
        return Err(misfit(table, format!("`{table}` holds rows of a model of another kind")));
    }
    let (Shape::Log(wanted), Some(found)) = (shape, fold) else { return Ok(()) };
    if state.map.len() == 0 {
        return Ok(());
    }
    let differs = |what: &str, from: &[String], to: &[String]| {
        let (from, to) = (from.join(", "), to.join(", "));
        Err(misfit(table, format!("`{what}` of `{}` was [{from}] and is now [{to}]", wanted.state)))
    };
    if found.key != key {
        return differs("key", &found.key, key);
    }
    if found.validity.is_some() != wanted.validity.is_some() {
        return Err(misfit(table, format!("`{}` holds rows of a model of another kind", wanted.state)));
    }
    if found.validity != wanted.validity {
        return Err(misfit(
            table,
            format!("`{}` is now dated, tracked or kept in another way", wanted.state),
        ));
    }
    if found.order != wanted.order {
        return differs("order_by", &found.order, &wanted.order);
    }
    Ok(())
}
