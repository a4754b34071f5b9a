//! Row-wise audits as conditions that offending rows meet, to be counted together in one pass.

use std::collections::BTreeSet;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{Expr, cast, in_list, lit};
use oncemore_core::Audit;

use super::error::{AuditError, plain};
use super::{Own, label};
use crate::source::type_name;

/// A condition that offending rows meet.
pub(super) struct Check {
    pub(super) label: String,
    pub(super) offends: Expr,
    /// Columns to show of offending rows.
    pub(super) about: Vec<String>,
}

/// Least and greatest number of rows, and the audit's label.
type Count = (Option<u64>, Option<u64>, String);

/// All audits that one pass can answer.
#[derive(Default)]
pub(super) struct Checks {
    pub(super) rows: Vec<Check>,
    pub(super) counts: Vec<Count>,
}

impl Checks {
    pub(super) fn of(own: &Own<'_>, audits: &[Audit]) -> Result<Checks, AuditError> {
        let mut checks = Checks::default();
        for audit in audits {
            match audit {
                Audit::NotNull(columns) => {
                    for name in columns {
                        let offends = own.column(audit, name)?.is_null();
                        checks.rows.push(Check {
                            label: label(&Audit::NotNull(vec![name.clone()])),
                            offends,
                            about: vec![name.clone()],
                        });
                    }
                }
                Audit::AcceptedValues { column, values } => {
                    let text = cast(own.column(audit, column)?, DataType::Utf8);
                    let offends = in_list(text, values.iter().map(lit).collect(), true);
                    checks.rows.push(Check { label: label(audit), offends, about: vec![column.clone()] });
                }
                Audit::Range { column, min, max } => {
                    let offends = range(own, audit, column, min.as_deref(), max.as_deref())?;
                    checks.rows.push(Check { label: label(audit), offends, about: vec![column.clone()] });
                }
                Audit::RowCount { min, max } => checks.counts.push((*min, *max, label(audit))),
                Audit::Expression(text) => {
                    let holds = expression(own, audit, text)?;
                    let about = holds.column_refs().into_iter().map(|column| column.name.clone());
                    let about: BTreeSet<String> = about.collect();
                    checks.rows.push(Check {
                        label: label(audit),
                        offends: holds.is_not_true(),
                        about: about.into_iter().collect(),
                    });
                }
                Audit::Unique(_) | Audit::Relationship { .. } | Audit::Sql { .. } => {}
            }
        }
        Ok(checks)
    }
}

fn range(
    own: &Own<'_>,
    audit: &Audit,
    name: &str,
    min: Option<&str>,
    max: Option<&str>,
) -> Result<Expr, AuditError> {
    let column = own.column(audit, name)?;
    let kind = own.schema().field_with_unqualified_name(name)?.data_type().clone();
    let below =
        min.map(|min| Ok::<_, AuditError>(column.clone().lt(bound(audit, min, &kind)?))).transpose()?;
    let above =
        max.map(|max| Ok::<_, AuditError>(column.clone().gt(bound(audit, max, &kind)?))).transpose()?;
    Ok(match (below, above) {
        (Some(below), Some(above)) => below.or(above),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => lit(false),
    })
}

/// A bound as a literal of the column's type; quotes around it are SQL's.
fn bound(audit: &Audit, text: &str, kind: &DataType) -> Result<Expr, AuditError> {
    let text = text.trim();
    let bare = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text);
    let value = ScalarValue::try_from_string(bare.to_owned(), kind).map_err(|_| AuditError::Text {
        audit: label(audit),
        message: format!("`{text}` is no value of the column's type {}", type_name(kind)),
    })?;
    Ok(Expr::Literal(value, None))
}

/// One expression over the slice's columns; no query hides in it.
fn expression(own: &Own<'_>, audit: &Audit, text: &str) -> Result<Expr, AuditError> {
    let wrong = |message: String| AuditError::Text { audit: label(audit), message };
    let parsed =
        own.session.parse_sql_expr(text, own.schema()).map_err(|error| wrong(plain(error)))?.unalias();
    let hides = parsed.exists(|part| {
        Ok(matches!(
            part,
            Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_) | Expr::SetComparison(_)
        ))
    })?;
    if hides {
        return Err(wrong("an expression can't hold a query: write it as a `sql` audit".to_owned()));
    }
    Ok(parsed)
}
