//! The guard of a slice's bounds: a row that the slice does not own never gets staged.

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use oncemore_core::{Interval, TimeType, Zone};

use super::error::AuditError;
use super::rows::text_row;
use crate::source::cells::{bounds, raw, show};
use crate::source::{arrow_type, column_type, nearest, time_type, type_name};

/// Columns of a row that an error shows.
const SHOWN: usize = 12;

/// Passes batches on as long as each row's `column` lies in `interval`, by the typed bounds that the interval has in
/// `zone`: dates for DATE, wall times for TIMESTAMP, instants for TIMESTAMPTZ. The first row that is NULL or outside
/// ends the stream with an [`AuditError`] (see [`AuditError::find`]).
///
/// # Errors
/// The stream has no such column, or one that holds no time.
pub fn time_guard(
    stream: SendableRecordBatchStream,
    column: &str,
    interval: Interval,
    zone: &Zone,
) -> Result<SendableRecordBatchStream, AuditError> {
    let schema = stream.schema();
    let guard = Guard::new(&schema, column, interval, zone)?;
    let guarded = stream.map(move |batch| {
        let batch = batch?;
        guard.check(&batch).map_err(|error| match error {
            AuditError::Engine(error) => error,
            error => DataFusionError::External(Box::new(error)),
        })?;
        Ok(batch) as EngineResult<RecordBatch>
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, guarded)))
}

struct Guard {
    place: usize,
    column: String,
    kind: TimeType,
    from: i64,
    to: i64,
}

impl Guard {
    fn new(schema: &SchemaRef, column: &str, interval: Interval, zone: &Zone) -> Result<Guard, AuditError> {
        let place = schema.index_of(column).map_err(|_| no_column(schema, column))?;
        let found = schema.field(place).data_type();
        let kind = column_type(found)
            .and_then(time_type)
            .ok_or_else(|| AuditError::NoTime { column: column.to_owned(), found: type_name(found) })?;
        let (from, to) = bounds(interval, kind, zone);
        Ok(Guard { place, column: column.to_owned(), kind, from, to })
    }

    fn check(&self, batch: &RecordBatch) -> Result<(), AuditError> {
        let times = self.stored(batch.column(self.place))?;
        let values = raw(&times, self.kind).unwrap_or_default();
        let outside = |value: i64| value < self.from || value >= self.to;
        let found = values.iter().enumerate().find(|(row, value)| times.is_null(*row) || outside(**value));
        let Some((row, value)) = found else { return Ok(()) };
        let shown = row_text(batch, row)?;
        if times.is_null(row) {
            return Err(AuditError::NullTime { column: self.column.clone(), row: shown });
        }
        Err(AuditError::OutsideSlice {
            column: self.column.clone(),
            value: show(*value, self.kind),
            from: show(self.from, self.kind),
            to: show(self.to, self.kind),
            row: shown,
        })
    }

    /// The column as it will be stored: what counts is the microsecond.
    fn stored(&self, column: &ArrayRef) -> Result<ArrayRef, AuditError> {
        let stored = column_type(column.data_type()).map(arrow_type);
        Ok(match stored {
            Some(stored) if stored != *column.data_type() => cast(column, &stored)?,
            _ => column.clone(),
        })
    }
}

fn no_column(schema: &SchemaRef, column: &str) -> AuditError {
    let near = nearest(column, schema.fields().iter().map(|field| field.name().as_str()));
    let help = near.map(|near| format!("\nhelp: did you mean `{near}`?")).unwrap_or_default();
    AuditError::NoTimeColumn { column: column.to_owned(), help }
}

fn row_text(batch: &RecordBatch, row: usize) -> Result<String, AuditError> {
    let texts = text_row(batch, row)?;
    let schema = batch.schema();
    let pairs = (schema.fields().iter().zip(texts)).take(SHOWN);
    let pairs: Vec<String> = pairs
        .map(|(field, text)| format!("{} = {}", field.name(), text.as_deref().unwrap_or("NULL")))
        .collect();
    let more = if schema.fields().len() > SHOWN { ", …" } else { "" };
    Ok(pairs.join(", ") + more)
}
