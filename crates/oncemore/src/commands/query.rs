//! `oncemore query`: asks the tables.

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::StreamExt;
use oncemore_run::{ErrorKind, RunError};
use serde_json::{Map, Value};

use crate::context::{Access, Context, cores};
use crate::failure::Failure;
use crate::render::number::{parse_bytes, plural};
use crate::render::table;

/// Largest integer that every JSON reader keeps exact.
const EXACT_MAX: u64 = 1 << 53;

/// Ask the project's tables and sources with one SELECT; reads only.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The SELECT.
    pub sql: String,
    /// Most rows shown; 0 shows all.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub limit: usize,
    /// Memory for computing, `256MB` or `2GB`; what does not fit spills to disk.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "1GB")]
    pub memory: usize,
}

/// Asks.
///
/// # Errors
/// SQL that can't be planned, or a table that can't be read.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let (schema, batches, cut) = context.block_on(cores(), async {
        let workspace = context.open_with(Access::Read, args.memory, cores()).await?;
        let mut stream = oncemore_run::query::query(&workspace, &args.sql).await?;
        let schema = stream.schema();
        let (mut batches, mut rows, mut cut) = (Vec::new(), 0, false);
        while let Some(batch) = stream.next().await {
            let batch = batch.map_err(RunError::from)?;
            let room = limit - rows;
            cut = batch.num_rows() > room;
            let batch = if cut { batch.slice(0, room) } else { batch };
            rows += batch.num_rows();
            batches.push(batch);
            if cut {
                break;
            }
        }
        Ok((schema, batches, cut))
    })?;
    let rows = texts(&batches).map_err(|error| RunError::new(ErrorKind::Internal, error.to_string()))?;
    if context.ui.is_json() {
        context.ui.json_as_is(&document(&schema, &rows, cut))?;
    } else {
        let header: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let right: Vec<bool> = schema.fields().iter().map(|field| field.data_type().is_numeric()).collect();
        context.ui.data(&table::render(&header, &right, &rows, &context.ui.out))?;
        let more = if cut { format!(", cut off by `--limit {limit}`") } else { String::new() };
        context.ui.talk(&format!("{}{more}", plural(rows.len(), "row")));
    }
    Ok(0)
}

/// All cells as text; `None` is NULL.
fn texts(batches: &[RecordBatch]) -> Result<Vec<Vec<Option<String>>>, arrow::error::ArrowError> {
    let options = FormatOptions::default();
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<(&dyn Array, ArrayFormatter<'_>)> = batch
            .columns()
            .iter()
            .map(|column| Ok((column.as_ref(), ArrayFormatter::try_new(column.as_ref(), &options)?)))
            .collect::<Result<_, arrow::error::ArrowError>>()?;
        for row in 0..batch.num_rows() {
            let cell = |(column, formatter): &(&dyn Array, ArrayFormatter<'_>)| {
                (!column.is_null(row)).then(|| formatter.value(row).to_string())
            };
            rows.push(columns.iter().map(cell).collect());
        }
    }
    Ok(rows)
}

fn document(schema: &SchemaRef, rows: &[Vec<Option<String>>], cut: bool) -> Value {
    let fields = schema.fields();
    let columns: Vec<Value> = fields
        .iter()
        .map(|field| serde_json::json!({ "name": field.name(), "type": field.data_type().to_string() }))
        .collect();
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            let cells = fields.iter().zip(row);
            let cells =
                cells.map(|(field, cell)| (field.name().clone(), value(field.data_type(), cell.as_deref())));
            Value::Object(cells.collect::<Map<_, _>>())
        })
        .collect();
    serde_json::json!({ "columns": columns, "rows": rows, "cut": cut })
}

/// A cell for programs: numbers and booleans as such where JSON keeps them exact, all else as text.
fn value(data_type: &DataType, cell: Option<&str>) -> Value {
    let Some(text) = cell else { return Value::Null };
    let as_text = || Value::String(text.to_owned());
    match data_type {
        DataType::Boolean => Value::Bool(text == "true"),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => text
            .parse::<f64>()
            .ok()
            .and_then(serde_json::Number::from_f64)
            .map_or_else(as_text, Value::Number),
        kind if kind.is_integer() => {
            let exact = text.parse::<i64>().ok().filter(|number| number.unsigned_abs() <= EXACT_MAX);
            exact.map_or_else(as_text, Value::from)
        }
        _ => as_text(),
    }
}
