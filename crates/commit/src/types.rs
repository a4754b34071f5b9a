//! From Arrow types to the types that tables store. One answer for every width and encoding of the same values.

use arrow::datatypes::{DataType, Schema, TimeUnit};
use oncemore_core::{ColumnType, Digest, Digester};

/// A column whose values no table of ours can hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column `{column}` has type {found}, which tables can't hold: {remedy}")]
pub struct TypeError {
    /// The column.
    pub column: String,
    /// Its Arrow type.
    pub found: String,
    /// What to write instead.
    pub remedy: &'static str,
}

/// The type that a column of `data_type` is stored as.
///
/// # Errors
/// NULL without a type, nested types, times of day, durations, decimals of more than 38 digits.
pub fn stored_type(column: &str, data_type: &DataType) -> Result<ColumnType, TypeError> {
    let refuse = |remedy| TypeError { column: column.to_owned(), found: data_type.to_string(), remedy };
    Ok(match data_type {
        DataType::Boolean => ColumnType::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::Int32 => ColumnType::Integer,
        DataType::Int64 | DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => ColumnType::BigInt,
        DataType::UInt64 => ColumnType::Decimal(20, 0),
        DataType::Float16 | DataType::Float32 => ColumnType::Real,
        DataType::Float64 => ColumnType::Double,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale) => {
            if *scale < 0 {
                return Err(refuse("CAST it to a DECIMAL whose scale is not negative"));
            }
            ColumnType::Decimal(*precision, *scale)
        }
        DataType::Decimal256(..) => return Err(refuse("CAST it to a DECIMAL of at most 38 digits")),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnType::Text,
        DataType::Date32 | DataType::Date64 => ColumnType::Date,
        DataType::Timestamp(_, None) => ColumnType::Timestamp,
        DataType::Timestamp(_, Some(_)) => ColumnType::TimestampTz,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            ColumnType::Binary
        }
        DataType::Dictionary(_, values) => return stored_type(column, values),
        DataType::Null => {
            return Err(refuse("every value is NULL and has no type; CAST it, `CAST(NULL AS TEXT)` say"));
        }
        DataType::Time32(_) | DataType::Time64(_) | DataType::Duration(_) | DataType::Interval(_) => {
            return Err(refuse("CAST it to TEXT, or keep a number of seconds"));
        }
        _ => return Err(refuse("pick its fields as columns of their own, or CAST it to TEXT")),
    })
}

/// Digest of the names and stored types of a table's columns, in whatever order they come.
pub fn schema_digest(schema: &Schema) -> Digest {
    let mut columns: Vec<(&str, String)> = schema
        .fields()
        .iter()
        .map(|field| {
            let kind = stored_type(field.name(), field.data_type());
            (
                field.name().as_str(),
                kind.map_or_else(|_| field.data_type().to_string(), |kind| kind.to_string()),
            )
        })
        .collect();
    columns.sort_unstable();
    let start = Digester::new("schema");
    columns.iter().fold(start, |digester, (name, kind)| digester.field(name, kind)).finish()
}

/// The Arrow type of a stored column, as written and read.
pub fn arrow_type(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Integer => DataType::Int32,
        ColumnType::BigInt => DataType::Int64,
        ColumnType::Real => DataType::Float32,
        ColumnType::Double => DataType::Float64,
        ColumnType::Decimal(precision, scale) => DataType::Decimal128(precision, scale),
        ColumnType::Text => DataType::Utf8,
        ColumnType::Date => DataType::Date32,
        ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        ColumnType::TimestampTz => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ColumnType::Binary => DataType::Binary,
    }
}
