//! What a model says of how its changes are folded, in the words of the warehouse, and what a slice of changes must
//! keep to.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema, SchemaRef};
use oncemore_backend::changes;
use oncemore_commit::{
    BUCKET_ROWS, DELETED, FoldSpec, OnTie, REWRITE_SHARE, Reduced, Reducer, Starts, Tied, Validity, Warehouse,
};
use oncemore_core::{AttemptId, SliceState, TableName};
use oncemore_project::{Fold, History, Kind, Model};
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, RunError};
use crate::facts::Facts;
use crate::workspace::Workspace;

/// Kinds under which ties are kept beside the ledger, by attempt: those of one interval, and those of two.
const KEPT: [&str; 2] = ["ties", "ties of two"];

/// Changes that `order_by` leaves equal and that differ otherwise: the winner was decided by their remaining columns, the
/// same in every run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ties {
    /// Keys that have such changes.
    pub keys: u64,
    /// One of these changes, as text.
    pub example: String,
    /// Whether they are of two intervals; the example is of the other one.
    #[serde(default)]
    pub across: bool,
}

impl Ties {
    /// The ties among the changes of a slice, where there are any.
    pub(crate) fn of(reduced: &Reduced) -> Option<Ties> {
        let (keys, example) = reduced.ties();
        Some(Ties { keys, example: example?.to_owned(), across: false })
    }

    /// Those that a slice has with others.
    pub(crate) fn across(tied: Tied) -> Ties {
        Ties { keys: tied.keys, example: tied.example, across: true }
    }

    /// Keeps what an attempt met, for `explain`.
    pub(crate) fn keep(
        &self,
        warehouse: &Warehouse,
        log: &TableName,
        attempt: AttemptId,
    ) -> Result<(), RunError> {
        let bytes = serde_json::to_vec(self)
            .map_err(|error| RunError::new(ErrorKind::Internal, error.to_string()))?;
        let kind = KEPT[usize::from(self.across)];
        Ok(warehouse.cache_put(&[(kind, &log.to_string(), &attempt.to_string(), &bytes)])?)
    }
}

/// The ties that an attempt met, where any are known: of one interval, of two.
///
/// # Errors
/// A ledger that can't be read.
pub fn ties_of(
    warehouse: &Warehouse,
    log: &TableName,
    attempt: AttemptId,
) -> Result<[Option<Ties>; 2], RunError> {
    let mut found = [None, None];
    for (kind, found) in KEPT.iter().zip(&mut found) {
        let kept = warehouse.cache_get(kind, &log.to_string(), &attempt.to_string())?;
        *found = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    }
    Ok(found)
}

/// Keeps what is known of the ties of an attempt for one that gave its rows another stamp; `computed`: which met those
/// of one interval itself.
pub(crate) fn carry(
    warehouse: &Warehouse,
    log: &TableName,
    (from, to): (AttemptId, AttemptId),
    computed: bool,
) -> Result<(), RunError> {
    let known = ties_of(warehouse, log, from)?;
    known
        .iter()
        .flatten()
        .filter(|ties| ties.across || !computed)
        .try_for_each(|ties| ties.keep(warehouse, log, to))
}

/// What ties between the slices of a model do.
pub(crate) fn on_tie(model: &Model) -> OnTie {
    match &model.fold {
        // Equal in what decides the slice, two changes are of one slice.
        Some(fold) if model.time.as_ref().is_none_or(|time| !fold.order.contains(time)) => match fold.ties {
            oncemore_project::Ties::Warn => OnTie::Count,
            oncemore_project::Ties::Error => OnTie::Refuse,
        },
        _ => OnTie::Ignore,
    }
}

/// How a model's changes are folded.
pub(crate) fn spec(model: &Model, fold: &Fold, schema: &Schema) -> FoldSpec {
    let kept = fold.deleted.is_some() || model.kind == Kind::History;
    FoldSpec {
        state: model.name.clone(),
        beside: kept.then(|| fold.beside.clone()),
        key: model.key.clone(),
        order: fold.order.clone(),
        bucket_rows: BUCKET_ROWS,
        rewrite_share: REWRITE_SHARE,
        validity: fold.history.as_ref().map(|history| validity(model, fold, history, schema)),
    }
}

fn validity(model: &Model, fold: &Fold, history: &History, schema: &Schema) -> Validity {
    let apart = |name: &String| {
        model.key.contains(name)
            || fold.order.contains(name)
            || model.time.as_ref() == Some(name)
            || history.at.as_ref() == Some(name)
    };
    let all = schema.fields().iter().map(|field| field.name().clone());
    let tracked = if history.track.is_empty() {
        all.filter(|name| !apart(name)).collect()
    } else {
        history.track.clone()
    };
    Validity {
        at: history.at.clone(),
        sliced: history.at == model.time,
        tracked,
        starts: starts(model, history, schema),
    }
}

/// How the starts of a model's intervals are written in its history: as its `time` is.
fn starts(model: &Model, history: &History, schema: &Schema) -> Starts {
    let time = model.time.as_ref().and_then(|time| schema.field_with_name(time).ok());
    let (None, Some(calendar), Some(time)) = (&history.at, &model.calendar, time) else {
        return Starts::Instant;
    };
    let zone = || calendar.zone.name().to_owned();
    match time.data_type() {
        DataType::Date32 | DataType::Date64 => Starts::Day(zone()),
        DataType::Timestamp(_, None) => Starts::Wall(zone()),
        _ => Starts::Instant,
    }
}

/// The columns of a model's table, as readers see them.
pub(crate) fn table_columns(model: &Model, schema: &SchemaRef) -> Result<SchemaRef, RunError> {
    let Some((fold, history)) = model.fold.as_ref().and_then(|fold| Some((fold, fold.history.as_ref()?)))
    else {
        return Ok(Arc::clone(schema));
    };
    Ok(Arc::new(validity(model, fold, history, schema).columns(schema)?))
}

/// The columns that a model's tasks write: those of its query, and whether a change deletes its key.
pub(crate) fn stored_columns(model: &Model, facts: &Facts) -> SchemaRef {
    let deletes = model.fold.as_ref().is_some_and(|fold| fold.deleted.is_some());
    if deletes { changes::marked(&facts.schema, DELETED) } else { Arc::clone(&facts.schema) }
}

/// Reduces the changes of a slice to those that count.
pub(crate) fn reducer(
    workspace: &Workspace,
    model: &Model,
    fold: &Fold,
    facts: &Facts,
) -> Result<Reducer, RunError> {
    let (columns, spec) = (stored_columns(model, facts), spec(model, fold, &facts.schema));
    Ok(Reducer::new(&workspace.warehouse, &workspace.room, &columns, &spec)?)
}

/// Whether the changes of a slice, all handed out, are such that they can be folded.
pub(crate) fn check(model: &Model, reduced: &Reduced) -> Result<(), RunError> {
    let Some(fold) = &model.fold else { return Ok(()) };
    let failed = |message: String, help: &str| {
        Err(RunError::new(ErrorKind::TaskFailed, message).help(help).state(SliceState::Unchanged))
    };
    if let (oncemore_project::Ties::Error, (count, Some(example))) = (fold.ties, reduced.ties()) {
        let order = fold.order.join(", ");
        let keys = if count == 1 { "key has" } else { "keys have" };
        return failed(
            format!("{count} {keys} differing changes of equal order ({order}); one of them: {example}"),
            "add columns to `order_by` until no two changes of a key are equal",
        );
    }
    let Some(history) = &fold.history else { return Ok(()) };
    match &history.at {
        None if reduced.rows() == 0 && !history.empty => failed(
            "the interval holds no rows, which would end every key".to_owned(),
            "see whether its data arrived; `empty: allowed` takes it for meant",
        ),
        None => Ok(()),
        Some(at) => {
            let missing = reduced.nulls_in(at);
            if missing == 0 {
                return Ok(());
            }
            let rows = if missing == 1 { "1 change has" } else { &format!("{missing} changes have") };
            failed(
                format!("{rows} NULL in `{at}`, which dates them"),
                "leave them out in WHERE, or give them a date",
            )
        }
    }
}
