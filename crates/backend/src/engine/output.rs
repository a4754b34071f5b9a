//! The rows that come out: types as tables store them, in one order.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, SortExpr, cast};
use datafusion::prelude::Column;

use super::{EngineError, ErrorKind};
use crate::error::About;

/// The plan with every output column under its bare name and in a type that tables store.
pub(super) fn storable(plan: LogicalPlan) -> Result<LogicalPlan, EngineError> {
    let mut names: Vec<&str> = Vec::new();
    let mut columns = Vec::new();
    for (qualifier, field) in plan.schema().iter() {
        let name = field.name().as_str();
        if names.contains(&name) {
            return Err(EngineError::new(ErrorKind::Type, format!("two output columns are named `{name}`"))
                .about(About::Output(name.to_owned()))
                .help(format!("give one another name: `AS {name}_2`")));
        }
        names.push(name);
        let column = Expr::Column(Column::from((qualifier, field)));
        let stored = stored_type(name, field.data_type())?;
        let column = if stored == *field.data_type() { column } else { cast(column, stored) };
        columns.push(column.alias(name));
    }
    let unchanged = plan.schema().iter().all(|(qualifier, field)| {
        qualifier.is_none()
            && stored_type(field.name(), field.data_type()).is_ok_and(|t| t == *field.data_type())
    });
    if unchanged {
        return Ok(plan);
    }
    Ok(LogicalPlanBuilder::from(plan).project(columns)?.build()?)
}

/// The type in which a column is stored.
pub(super) fn stored_type(name: &str, from: &DataType) -> Result<DataType, EngineError> {
    use DataType as T;
    Ok(match from {
        T::Boolean | T::Int32 | T::Int64 | T::Float32 | T::Float64 | T::Utf8 | T::Date32 | T::Binary => {
            from.clone()
        }
        T::Int8 | T::Int16 => T::Int32,
        // Numbers of rows and ranks; sources have no such type.
        T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => T::Int64,
        T::Float16 => T::Float32,
        T::LargeUtf8 | T::Utf8View => T::Utf8,
        T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => T::Binary,
        T::Date64 => T::Date32,
        T::Decimal32(p, s) | T::Decimal64(p, s) | T::Decimal128(p, s)
            if *s >= 0 && i16::from(*s) <= i16::from(*p) =>
        {
            T::Decimal128(*p, *s)
        }
        T::Timestamp(_, None) => T::Timestamp(TimeUnit::Microsecond, None),
        T::Timestamp(_, Some(_)) => T::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        T::Dictionary(_, value) => stored_type(name, value)?,
        T::Null => {
            return Err(EngineError::new(
                ErrorKind::Type,
                format!("output column `{name}` has no type: it is always NULL"),
            )
            .about(About::Output(name.to_owned()))
            .help(format!("write `CAST(NULL AS TEXT) AS {name}`, or whichever type it is to have")));
        }
        other => {
            return Err(EngineError::new(
                ErrorKind::Type,
                format!("output column `{name}` is of type {other}, which tables don't store"),
            )
            .about(About::Output(name.to_owned()))
            .help(format!("write `CAST(… AS TEXT) AS {name}`, or another type that tables store")));
        }
    })
}

/// The plan with its rows in one order: by `key`, else by all columns.
///
/// Rows that are equal in the key are a breach that the audit finds, so the key alone decides.
pub(super) fn in_order(plan: LogicalPlan, key: &[String]) -> Result<LogicalPlan, EngineError> {
    let schema = plan.schema();
    let by: Vec<SortExpr> = if key.is_empty() {
        schema.columns().into_iter().map(ascending).collect()
    } else {
        key.iter().map(|name| ascending(Column::from_name(name))).collect()
    };
    Ok(LogicalPlanBuilder::from(plan).sort(by)?.build()?)
}

fn ascending(column: Column) -> SortExpr {
    Expr::Column(column).sort(true, false)
}

/// Splits an ORDER BY off the top of a plan: tables have no order.
pub(super) fn unordered(plan: LogicalPlan) -> LogicalPlan {
    match plan {
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => sort.input.as_ref().clone(),
        other => other,
    }
}
