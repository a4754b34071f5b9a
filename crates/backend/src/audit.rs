//! Audits of staged rows before they are published, and the guard that keeps rows inside their slice.
//!
//! Reads a table it is given and says what does not hold. Knows nothing of slices, targets or who asks.
//! Values reach the engine as typed literals and names as quoted columns; only the texts that a user wrote as
//! SQL are parsed, as one expression or one query.

mod conditions;
mod error;
mod guard;
mod rows;

use std::sync::Arc;

use datafusion::catalog::memory::MemorySchemaProvider;
use datafusion::catalog::{CatalogProvider, MemoryCatalogProvider, MemoryCatalogProviderList, TableProvider};
use datafusion::common::{Column, DFSchema, JoinType, TableReference};
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::{SQLOptions, SessionContext};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::{Expr, lit, when};
use oncemore_core::{Audit, AuditFailure};

pub use error::AuditError;
pub use guard::time_guard;

use crate::engine::execution;
use conditions::{Check, Checks};

/// Most offending rows shown.
const SHOWN: usize = 5;

/// Runs every audit over `rows`, the slice as staged; empty: all hold.
///
/// A `key` that is not empty is audited as unique as well. `others` are the tables that relationships and
/// queries name; the slice itself goes by `own_name`. Row-wise audits share one pass; those that fail get
/// another one for their offending rows.
///
/// # Errors
/// An audit that can't be asked of these rows, and whatever the engine says.
pub async fn run(
    session: &SessionContext,
    audits: &[Audit],
    rows: Arc<dyn TableProvider>,
    own_name: &str,
    key: &[String],
    others: Vec<(String, Arc<dyn TableProvider>)>,
) -> Result<Vec<AuditFailure>, AuditError> {
    let own = Own { rows: session.read_table(Arc::clone(&rows))?, session, key };
    let checks = Checks::of(&own, audits)?;
    let mut failures = own.check(&checks).await?;
    let keyed = (!key.is_empty()).then(|| Audit::Unique(key.to_vec()));
    let said = audits.iter().any(|audit| keyed.as_ref() == Some(audit));
    for audit in keyed.iter().filter(|_| !said).chain(audits) {
        let failure = match audit {
            Audit::Unique(columns) => own.unique(columns).await?,
            Audit::Relationship { columns, to, columns_there } => {
                let there = (others.iter().find(|(name, _)| name == to).map(|(_, table)| table))
                    .or_else(|| (to == own_name).then_some(&rows))
                    .ok_or_else(|| AuditError::UnknownTable { audit: label(audit), table: to.clone() })?;
                own.relationship(audit, columns, session.read_table(Arc::clone(there))?, columns_there)
                    .await?
            }
            Audit::Sql { sql, .. } => {
                let scope = scope(session, own_name, &rows, &others)?;
                query(&scope, audit, sql).await?
            }
            _ => None,
        };
        failures.extend(failure);
    }
    Ok(failures)
}

/// What an audit is called in reports: its kind and what it is about.
pub fn label(audit: &Audit) -> String {
    let about = match audit {
        Audit::NotNull(columns) | Audit::Unique(columns) => columns.join(", "),
        Audit::AcceptedValues { column, .. } | Audit::Range { column, .. } => column.clone(),
        Audit::RowCount { min, max } => match (min, max) {
            (Some(min), Some(max)) => format!("{min} to {max}"),
            (Some(min), None) => format!("at least {min}"),
            (None, Some(max)) => format!("at most {max}"),
            (None, None) => "any".to_owned(),
        },
        Audit::Expression(text) => text.trim().to_owned(),
        Audit::Relationship { columns, to, columns_there } => {
            format!("{} to {to}({})", columns.join(", "), columns_there.join(", "))
        }
        Audit::Sql { name, .. } => name.clone(),
    };
    format!("{}({about})", audit.kind())
}

/// The slice under audit.
struct Own<'a> {
    rows: DataFrame,
    session: &'a SessionContext,
    key: &'a [String],
}

impl Own<'_> {
    fn schema(&self) -> &DFSchema {
        self.rows.schema()
    }

    /// The column, where the slice has it.
    fn column(&self, audit: &Audit, name: &str) -> Result<Expr, AuditError> {
        column(&self.rows, audit, name)
    }

    /// All row-wise checks in one pass, then a look at the rows of those that fail.
    async fn check(&self, checks: &Checks) -> Result<Vec<AuditFailure>, AuditError> {
        if checks.rows.is_empty() && checks.counts.is_empty() {
            return Ok(Vec::new());
        }
        let mut sums = vec![count(lit(1_i64)).alias("rows")];
        for (place, check) in checks.rows.iter().enumerate() {
            let offends = when(check.offends.clone(), lit(1_i64)).end()?;
            sums.push(count(offends).alias(format!("offends {place}")));
        }
        let counts =
            rows::counts(&execution::collect(self.rows.clone().aggregate(Vec::new(), sums)?).await?)?;
        let total = counts.first().copied().unwrap_or(0);
        let mut failures = Vec::new();
        for (min, max, label) in &checks.counts {
            if min.is_some_and(|min| total < min) || max.is_some_and(|max| total > max) {
                let rows = vec![vec![Some(total.to_string())]];
                let columns = vec!["rows".to_owned()];
                failures.push(AuditFailure { audit: label.clone(), offending: total, columns, rows });
            }
        }
        for (check, offending) in checks.rows.iter().zip(counts.into_iter().skip(1)) {
            if offending > 0 {
                failures.push(self.offence(check, offending).await?);
            }
        }
        Ok(failures)
    }

    async fn offence(&self, check: &Check, offending: u64) -> Result<AuditFailure, AuditError> {
        let shown = self.shown(&check.about);
        let found = self.rows.clone().filter(check.offends.clone())?.select(shown.clone())?;
        let found = first(found, &shown).await?;
        let (columns, rows) = rows::texts(&found)?;
        Ok(AuditFailure { audit: check.label.clone(), offending, columns, rows })
    }

    /// The key and the columns at issue; every column where there is neither.
    fn shown(&self, about: &[String]) -> Vec<Expr> {
        let mut names: Vec<&String> = self.key.iter().collect();
        names.extend(about.iter().filter(|name| !self.key.contains(name)));
        let all: Vec<&String> = self.schema().fields().iter().map(|field| field.name()).collect();
        let names = if self.key.is_empty() { all } else { names };
        names.into_iter().map(|name| Expr::Column(Column::from_name(name))).collect()
    }

    async fn unique(&self, columns: &[String]) -> Result<Option<AuditFailure>, AuditError> {
        let audit = Audit::Unique(columns.to_vec());
        let keys: Vec<Expr> =
            columns.iter().map(|name| self.column(&audit, name)).collect::<Result<_, _>>()?;
        let times = "rows with this key";
        let groups = (self.rows.clone())
            .aggregate(keys.clone(), vec![count(lit(1_i64)).alias(times)])?
            .filter(Expr::Column(Column::from_name(times)).gt(lit(1_i64)))?;
        let offending = total(groups.clone()).await?;
        if offending == 0 {
            return Ok(None);
        }
        let (columns, rows) = rows::texts(&first(groups, &keys).await?)?;
        Ok(Some(AuditFailure { audit: label(&audit), offending, columns, rows }))
    }

    async fn relationship(
        &self,
        audit: &Audit,
        columns: &[String],
        there: DataFrame,
        columns_there: &[String],
    ) -> Result<Option<AuditFailure>, AuditError> {
        if columns.is_empty() || columns.len() != columns_there.len() {
            let why = format!("{} columns here, {} there", columns.len(), columns_there.len());
            return Err(AuditError::Text { audit: label(audit), message: why });
        }
        let mut known = Expr::Literal(true.into(), None);
        for name in columns {
            known = known.and(self.column(audit, name)?.is_not_null());
        }
        // Names of our own for the other side: both may call the column the same.
        let names: Vec<String> = (0..columns_there.len()).map(|place| format!("__there_{place}")).collect();
        let mut renamed = Vec::new();
        for (name, alias) in columns_there.iter().zip(&names) {
            renamed.push(column(&there, audit, name)?.alias(alias));
        }
        let here: Vec<&str> = columns.iter().map(String::as_str).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        // The other side first: it is what a hash join holds in memory, and the slice may be the larger one
        // by far.
        let rows = self.rows.clone().filter(known)?;
        let lost = (there.select(renamed)?)
            .join(rows, JoinType::RightAnti, &names, &here, None)?
            .select(self.shown(columns))?;
        let offending = total(lost.clone()).await?;
        if offending == 0 {
            return Ok(None);
        }
        let (columns, rows) = rows::texts(&first(lost, &self.shown(columns)).await?)?;
        Ok(Some(AuditFailure { audit: label(audit), offending, columns, rows }))
    }
}

fn column(rows: &DataFrame, audit: &Audit, name: &str) -> Result<Expr, AuditError> {
    let fields = rows.schema().fields();
    if fields.iter().any(|field| field.name() == name) {
        return Ok(Expr::Column(Column::from_name(name)));
    }
    let names = || fields.iter().map(|field| field.name().as_str());
    let help = match crate::source::nearest(name, names()) {
        Some(near) => format!("\nhelp: did you mean `{near}`?"),
        None => format!("\nhelp: there are {}", crate::error::list(names())),
    };
    Err(AuditError::UnknownColumn { audit: label(audit), column: name.to_owned(), help })
}

async fn total(rows: DataFrame) -> Result<u64, AuditError> {
    let counted = rows.aggregate(Vec::new(), vec![count(lit(1_i64)).alias("rows")])?;
    Ok(rows::counts(&execution::collect(counted).await?)?.first().copied().unwrap_or(0))
}

/// The first rows in the order of `columns`, so that every run shows the same.
async fn first(
    rows: DataFrame,
    columns: &[Expr],
) -> Result<Vec<datafusion::arrow::array::RecordBatch>, AuditError> {
    let order = columns.iter().map(|column| column.clone().sort(true, true)).collect();
    Ok(execution::collect(rows.sort(order)?.limit(0, Some(SHOWN))?).await?)
}

/// One query over the slice and the other tables; each row it yields is an offence.
async fn query(scope: &SessionContext, audit: &Audit, sql: &str) -> Result<Option<AuditFailure>, AuditError> {
    let only_queries =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let wrong = |error: DataFusionError| AuditError::Text {
        audit: label(audit),
        message: format!("not one query over the slice: {}", error::plain(error)),
    };
    let found = scope.sql_with_options(sql, only_queries).await.map_err(wrong)?;
    let offending = total(found.clone()).await?;
    if offending == 0 {
        return Ok(None);
    }
    let batches = execution::collect(found.limit(0, Some(SHOWN))?).await?;
    let (columns, rows) = rows::texts(&batches)?;
    Ok(Some(AuditFailure { audit: label(audit), offending, columns, rows }))
}

/// A session with the engine's functions and settings, in which only these tables exist.
fn scope(
    session: &SessionContext,
    own_name: &str,
    rows: &Arc<dyn TableProvider>,
    others: &[(String, Arc<dyn TableProvider>)],
) -> Result<SessionContext, DataFusionError> {
    let state = SessionStateBuilder::new_from_existing(session.state())
        .with_catalog_list(Arc::new(MemoryCatalogProviderList::new()))
        .build();
    let catalog = MemoryCatalogProvider::new();
    let names = &state.config().options().catalog;
    let (own_catalog, default) = (names.default_catalog.clone(), names.default_schema.clone());
    catalog.register_schema(&default, Arc::new(MemorySchemaProvider::new()))?;
    let scope = SessionContext::new_with_state(state);
    let tables = others.iter().filter(|(name, _)| name != own_name);
    let own = (own_name.to_owned(), Arc::clone(rows));
    let tables: Vec<_> = tables.chain(std::iter::once(&own)).collect();
    for (name, _) in &tables {
        if let Some((schema, _)) = name.split_once('.')
            && catalog.schema(schema).is_none()
        {
            catalog.register_schema(schema, Arc::new(MemorySchemaProvider::new()))?;
        }
    }
    scope.register_catalog(own_catalog, Arc::new(catalog));
    for (name, table) in tables {
        let reference = match name.split_once('.') {
            Some((schema, table)) => TableReference::partial(schema, table),
            None => TableReference::bare(name.as_str()),
        };
        scope.register_table(reference, Arc::clone(table))?;
    }
    Ok(scope)
}
