//! Results of audits as numbers and texts.

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

use super::error::AuditError;

/// Longest text of one value.
const LONGEST: usize = 200;

/// The one row of counts that an aggregate yields.
pub(super) fn counts(batches: &[RecordBatch]) -> Result<Vec<u64>, AuditError> {
    let Some(row) = batches.iter().find(|batch| batch.num_rows() > 0) else { return Ok(Vec::new()) };
    let count = |column: &datafusion::arrow::array::ArrayRef| {
        let value = column.as_primitive_opt::<Int64Type>().map_or(0, |counts| counts.value(0));
        u64::try_from(value).unwrap_or(0)
    };
    Ok(row.columns().iter().map(count).collect())
}

/// Names of the columns, and rows as texts.
pub(super) fn texts(batches: &[RecordBatch]) -> Result<(Vec<String>, Vec<Vec<Option<String>>>), AuditError> {
    let schema = batches.first().map(RecordBatch::schema);
    let names = schema.iter().flat_map(|schema| schema.fields().iter().map(|field| field.name().clone()));
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            rows.push(text_row(batch, row)?);
        }
    }
    Ok((names.collect(), rows))
}

/// One row as texts; `None` is NULL.
pub(super) fn text_row(batch: &RecordBatch, row: usize) -> Result<Vec<Option<String>>, AuditError> {
    let options = FormatOptions::default();
    let mut texts = Vec::with_capacity(batch.num_columns());
    for column in batch.columns() {
        if column.is_null(row) {
            texts.push(None);
            continue;
        }
        let text = ArrayFormatter::try_new(column.as_ref(), &options)?.value(row).to_string();
        let mut shown: String = text.chars().take(LONGEST).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        texts.push(Some(shown));
    }
    Ok(texts)
}
