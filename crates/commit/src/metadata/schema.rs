//! A table's columns: user's by name, then ours, and how they may change.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema as ArrowSchema, SchemaRef};
use iceberg::spec::{
    NestedField, NestedFieldRef, PrimitiveType, Schema, Transform, Type, UnboundPartitionSpec,
};
use oncemore_core::{ColumnType, TableName};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use crate::error::{CommitError, Result};
use crate::types::{arrow_type, stored_type};

/// Start of the row's slice; NULL in a table that has one slice only. The table is partitioned by it.
pub const INTERVAL_START: &str = "_interval_start";
/// The code that wrote the row, first digits.
pub const CODE_VERSION: &str = "_code_version";

/// Whether a column is one of ours.
pub(crate) fn is_ours(name: &str) -> bool {
    name == INTERVAL_START || name == CODE_VERSION
}

pub(crate) fn primitive(kind: ColumnType) -> PrimitiveType {
    match kind {
        ColumnType::Boolean => PrimitiveType::Boolean,
        ColumnType::Integer => PrimitiveType::Int,
        ColumnType::BigInt => PrimitiveType::Long,
        ColumnType::Real => PrimitiveType::Float,
        ColumnType::Double => PrimitiveType::Double,
        ColumnType::Decimal(precision, scale) => {
            PrimitiveType::Decimal { precision: precision.into(), scale: scale.unsigned_abs().into() }
        }
        ColumnType::Text => PrimitiveType::String,
        ColumnType::Date => PrimitiveType::Date,
        ColumnType::Timestamp => PrimitiveType::Timestamp,
        ColumnType::TimestampTz => PrimitiveType::Timestamptz,
        ColumnType::Binary => PrimitiveType::Binary,
    }
}

/// The type of a stored column in our words; `None` for those that other writers alone make.
pub(crate) fn column_type(kind: &Type) -> Option<ColumnType> {
    let Type::Primitive(kind) = kind else { return None };
    Some(match kind {
        PrimitiveType::Boolean => ColumnType::Boolean,
        PrimitiveType::Int => ColumnType::Integer,
        PrimitiveType::Long => ColumnType::BigInt,
        PrimitiveType::Float => ColumnType::Real,
        PrimitiveType::Double => ColumnType::Double,
        PrimitiveType::Decimal { precision, scale } => {
            ColumnType::Decimal(u8::try_from(*precision).ok()?, i8::try_from(*scale).ok()?)
        }
        PrimitiveType::String => ColumnType::Text,
        PrimitiveType::Date => ColumnType::Date,
        PrimitiveType::Timestamp => ColumnType::Timestamp,
        PrimitiveType::Timestamptz => ColumnType::TimestampTz,
        PrimitiveType::Binary => ColumnType::Binary,
        _ => return None,
    })
}

/// Name and stored type of each of the user's columns.
pub(crate) fn columns(schema: &ArrowSchema) -> Result<Vec<(String, ColumnType)>> {
    let mut columns: Vec<(String, ColumnType)> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        if is_ours(field.name()) {
            return Err(CommitError::Config(format!(
                "column `{}` has a name that is ours; rename it",
                field.name()
            )));
        }
        if columns.iter().any(|(name, _)| name == field.name()) {
            return Err(CommitError::Config(format!("two columns are called `{}`", field.name())));
        }
        let kind = stored_type(field.name(), field.data_type())?;
        columns.push((field.name().clone(), kind));
    }
    Ok(columns)
}

/// The schema of a new table.
pub(crate) fn create(columns: &[(String, ColumnType)]) -> Result<Schema> {
    let ours =
        [(INTERVAL_START.to_owned(), ColumnType::TimestampTz), (CODE_VERSION.to_owned(), ColumnType::Text)];
    let fields = columns.iter().chain(&ours).zip(1..).map(|((name, kind), id)| optional(id, name, *kind));
    Ok(Schema::builder().with_fields(fields.collect::<Vec<_>>()).build()?)
}

/// Partitioned by the start of the slice, as it is.
pub(crate) fn partition_spec(schema: &Schema) -> Result<UnboundPartitionSpec> {
    let start = schema.field_id_by_name(INTERVAL_START);
    let start = start.ok_or_else(|| CommitError::Internal("a table without `_interval_start`".to_owned()))?;
    let spec =
        UnboundPartitionSpec::builder().add_partition_field(start, INTERVAL_START, Transform::Identity)?;
    Ok(spec.build())
}

fn optional(id: i32, name: &str, kind: ColumnType) -> NestedFieldRef {
    NestedField::optional(id, name, Type::Primitive(primitive(kind))).into()
}

/// The schema that holds `wanted` too: columns are added by name and widened; none is dropped, order is no change.
/// `None` where `current` holds them already.
pub(crate) fn evolve(
    table: &TableName,
    current: &Schema,
    last_id: i32,
    wanted: &[(String, ColumnType)],
) -> Result<Option<Schema>> {
    let mut fields: Vec<NestedFieldRef> = current.as_struct().fields().to_vec();
    let mut changed = false;
    let mut next_id = last_id;
    for (name, kind) in wanted {
        let wanted_type = Type::Primitive(primitive(*kind));
        match fields.iter_mut().find(|field| field.name == *name) {
            None => {
                next_id += 1;
                fields.push(optional(next_id, name, *kind));
                changed = true;
            }
            Some(field) => {
                let stored = column_type(&field.field_type);
                if *field.field_type == wanted_type || stored.is_some_and(|stored| holds(stored, *kind)) {
                    continue;
                }
                if !stored.is_some_and(|stored| holds(*kind, stored)) {
                    let found = stored.map_or_else(|| field.field_type.to_string(), |kind| kind.to_string());
                    let why = format!(
                        "column `{name}` of `{table}` is {found} and the query now gives {kind}: stored rows can't \
                         be read as that, unless it is CAST to {found}, or has a new name"
                    );
                    return Err(crate::shape::misfit(table, why));
                }
                *field = optional(field.id, name, *kind);
                changed = true;
            }
        }
    }
    if !changed {
        return Ok(None);
    }
    let ours = |field: &NestedFieldRef| is_ours(&field.name);
    let (last, mut first): (Vec<_>, Vec<_>) = fields.into_iter().partition(ours);
    first.extend(last);
    Ok(Some(Schema::builder().with_schema_id(current.schema_id() + 1).with_fields(first).build()?))
}

/// Whether a column of type `wide` holds every value of `narrow`, and the table format lets the one become the other.
pub(crate) fn holds(wide: ColumnType, narrow: ColumnType) -> bool {
    match (wide, narrow) {
        (ColumnType::BigInt, ColumnType::Integer) | (ColumnType::Double, ColumnType::Real) => true,
        (ColumnType::Decimal(wide, scale), ColumnType::Decimal(narrow, other)) => {
            scale == other && wide >= narrow
        }
        (wide, narrow) => wide == narrow,
    }
}

/// The columns of a table as Arrow has them when they are written: with field ids.
pub(crate) fn file_schema(schema: &Schema) -> Result<SchemaRef> {
    let fields = schema.as_struct().fields().iter().map(|field| {
        let kind = column_type(&field.field_type).ok_or_else(|| {
            CommitError::Config(format!(
                "column `{}` has type {}, which we don't write",
                field.name, field.field_type
            ))
        })?;
        let id = (PARQUET_FIELD_ID_META_KEY.to_owned(), field.id.to_string());
        Ok(Field::new(&field.name, arrow_type(kind), true).with_metadata([id].into()))
    });
    Ok(Arc::new(ArrowSchema::new(fields.collect::<Result<Vec<_>>>()?)))
}

/// The user's columns of a table.
pub(crate) fn user_schema(schema: &Schema) -> Result<SchemaRef> {
    let mut fields = Vec::new();
    for field in schema.as_struct().fields() {
        if !is_ours(&field.name) {
            let data_type = match column_type(&field.field_type) {
                Some(kind) => arrow_type(kind),
                None => iceberg::arrow::type_to_arrow_type(&field.field_type)?,
            };
            fields.push(Field::new(&field.name, data_type, true));
        }
    }
    Ok(Arc::new(ArrowSchema::new(fields)))
}
