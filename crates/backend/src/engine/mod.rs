//! The engine: analyses a model's SQL, derives what it reads, and computes the rows of one interval.
//!
//! Same query, same inputs, same interval: same rows in the same order, whatever the number of partitions,
//! the batch size or the order in which batches arrive. Must not know files, tables or their formats: inputs
//! come in as `TableProvider`s.
//!
//! Sorts, aggregations and joins spill; what must be in memory as a whole and does not fit (a cross join, `NOT IN`,
//! one partition of a window) is a [`ErrorKind::Resources`] error.

mod analysis;
mod checked;
mod compile;
mod differing;
mod exact;
pub(crate) mod execution;
mod functions;
mod keys;
mod lookups;
mod meaning;
mod memory;
mod mended;
mod named;
mod names;
mod output;
mod parameters;
mod place;
mod previous;
mod pushdown;
mod ranges;
mod session;
#[cfg(test)]
mod tests;
mod ties;

use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::datasource::provider_as_source;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use object_store::ObjectStore;
use oncemore_core::{Interval, IntervalLength, TimeType, Zone};

pub use crate::error::{EngineError, ErrorKind};
pub use analysis::Analysis;
pub use differing::{Keys, Moments};
pub use lookups::Lookup;
pub use meaning::Meaning;
pub use named::{Named, named, with_narrow_stars};
pub use names::quoted;

/// How much of the machine the engine may use.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Memory that all queries together may hold, in bytes; what exceeds it is spilled.
    pub memory_bytes: usize,
    /// Partitions that one query is cut into.
    pub partitions: usize,
    /// Rows of a batch.
    pub batch_size: usize,
    /// Where spilled data goes.
    pub spill_dir: PathBuf,
    /// What files of our tables are read through, by absolute paths; `None`: the local disk.
    pub objects: Option<Arc<dyn ObjectStore>>,
}

/// A session of our own: only deterministic functions, one memory pool for all queries.
pub struct Engine {
    state: SessionState,
}

/// A model's query with all that gives it its meaning.
#[derive(Clone, Debug)]
pub struct ModelQuery {
    /// One SELECT, with `:interval_start`, `:interval_end` and variables.
    pub sql: String,
    /// Views that the query reads, name and SQL, each after those that it reads itself.
    pub views: Vec<(String, String)>,
    /// Inputs that the query and the views read.
    pub inputs: Vec<InputSchema>,
    /// Name of the input that is the slice before the own one, where the query reads it: `previous(<schema>.<name>)`.
    /// A query that is not analysed yet has no such input: the columns follow from the query.
    pub previous: Option<String>,
    /// Zone in which intervals are cut.
    pub zone: Zone,
    /// Length of an interval; `None` where the model has no intervals.
    pub length: Option<IntervalLength>,
    /// Output column that decides which slice a row belongs to.
    pub time: Option<String>,
    /// Output columns that identify a row within a slice.
    pub key: Vec<String>,
    /// Variables that the SQL names as `:name`.
    pub variables: Vec<(String, Literal)>,
}

/// An input as declared: its columns, and what is known of its rows.
#[derive(Clone, Debug)]
pub struct InputSchema {
    /// As named in FROM: `raw.flights`.
    pub name: String,
    /// Columns.
    pub schema: SchemaRef,
    /// The column that places a row in time, where ranges of the input can be told apart.
    pub time: Option<InputTime>,
    /// Columns that, together with `time`, no two rows share; empty where nothing is known. It must be so for
    /// certain (audited): ties that it rules out are not broken.
    pub key: Vec<String>,
}

/// The column that places an input's rows in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputTime {
    /// Its name.
    pub column: String,
    /// How its values are read.
    pub time_type: TimeType,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// BIGINT
    Int(i64),
    /// DOUBLE
    Float(f64),
    /// TEXT
    Text(String),
    /// BOOLEAN
    Bool(bool),
}

impl ModelQuery {
    /// The query with the slice before the own one among its inputs, where it reads that; it yields `schema`.
    ///
    /// # Errors
    /// SQL that is not one SELECT.
    pub fn with_previous(mut self, schema: &SchemaRef) -> Result<ModelQuery, EngineError> {
        if let Some(name) = &self.previous {
            let input = previous::known(&self, name, schema)?;
            self.inputs.push(input);
        }
        Ok(self)
    }
}

impl Engine {
    /// An engine with a memory pool of its own. Touches no disk before something spills.
    ///
    /// # Errors
    /// When the memory pool or the spill folder can't be set up.
    pub fn new(options: &EngineOptions) -> Result<Engine, EngineError> {
        Ok(Engine { state: session::state(options)? })
    }

    /// The session behind the engine, for readers and audits that build their own plans.
    pub fn session(&self) -> &SessionState {
        &self.state
    }

    /// What the query yields, what it reads, and which ties were broken. Reads no data.
    ///
    /// # Errors
    /// When the SQL is wrong, refused, or can't be made deterministic.
    pub fn analyse(&self, query: &ModelQuery) -> Result<Analysis, EngineError> {
        if let Some(name) = &query.previous
            && query.inputs.iter().all(|input| input.name != *name)
        {
            let mut whole = query.clone();
            whole.inputs.push(previous::derived(&self.state, query, name)?);
            return self.analyse(&whole);
        }
        let sources = query
            .inputs
            .iter()
            .map(|input| (input.name.clone(), names::schema_source(&input.schema)))
            .collect();
        let planned = self.plan(query, sources)?;
        analysis::analyse(&self.state, query, planned).map_err(|error| place::placed(error, query))
    }

    /// The SQL of the query and of the views that it reads, with the values of `interval` written in, to be run
    /// elsewhere.
    ///
    /// # Errors
    /// As [`Engine::analyse`].
    pub fn compile(&self, query: &ModelQuery, interval: Interval) -> Result<String, EngineError> {
        let sources = query
            .inputs
            .iter()
            .map(|input| (input.name.clone(), names::schema_source(&input.schema)))
            .collect();
        let planned = self.plan(query, sources)?;
        let time = query.time.as_deref().filter(|_| query.previous.is_some());
        let time_type = time.map(|name| analysis::output_time(planned.plan.schema().as_arrow(), name, query));
        let before =
            time_type.transpose()?.and_then(|time_type| previous::as_subquery(query, time_type, interval));
        let mut text = String::new();
        for (name, sql) in &query.views {
            let body = compile::with_values(sql, Some(name), query, &planned.parameters, interval, None)?;
            text.push_str(&format!("CREATE VIEW {name} AS\n{};\n\n", body.trim_end()));
        }
        let before = before.as_deref();
        text.push_str(&compile::with_values(&query.sql, None, query, &planned.parameters, interval, before)?);
        Ok(text)
    }

    /// The rows of `interval`, in one deterministic order: by key where there is one, else by all columns.
    ///
    /// `inputs` are the tables to read, by the names of `query.inputs`.
    ///
    /// # Errors
    /// As [`Engine::analyse`], and when an input is missing or is not as declared. Errors while rows are read
    /// come out of the stream, see [`EngineError`]'s conversion from DataFusion's.
    pub async fn compute(
        &self,
        query: &ModelQuery,
        interval: Interval,
        inputs: Vec<(String, Arc<dyn TableProvider>)>,
    ) -> Result<SendableRecordBatchStream, EngineError> {
        let plan = self.bound(query, interval, inputs)?;
        self.execute(output::in_order(plan, &query.key)?).await
    }

    /// The same rows in no order, as streams that may be read at the same time, for one who orders them.
    ///
    /// # Errors
    /// As [`Engine::compute`].
    pub async fn compute_apart(
        &self,
        query: &ModelQuery,
        interval: Interval,
        inputs: Vec<(String, Arc<dyn TableProvider>)>,
    ) -> Result<Vec<SendableRecordBatchStream>, EngineError> {
        let plan = self.bound(query, interval, inputs)?;
        Ok(execution::run_apart(&self.state, &plan).await?)
    }

    /// The plan of a query for an interval.
    fn bound(
        &self,
        query: &ModelQuery,
        interval: Interval,
        inputs: Vec<(String, Arc<dyn TableProvider>)>,
    ) -> Result<LogicalPlan, EngineError> {
        let planned = self.plan(query, self.providers(query, inputs)?)?;
        parameters::bind(planned.plan, &planned.parameters, query, interval)
    }

    /// The rows of a free query, under the same rules, without parameters. Without an ORDER BY the rows come
    /// sorted by all columns.
    ///
    /// # Errors
    /// As [`Engine::compute`].
    pub async fn query(
        &self,
        sql: &str,
        inputs: Vec<(String, Arc<dyn TableProvider>)>,
    ) -> Result<SendableRecordBatchStream, EngineError> {
        self.query_with(sql, Vec::new(), Vec::new(), inputs).await
    }

    /// As [`Engine::query`], over views with their variables, too.
    ///
    /// # Errors
    /// As [`Engine::compute`].
    pub async fn query_with(
        &self,
        sql: &str,
        views: Vec<(String, String)>,
        variables: Vec<(String, Literal)>,
        inputs: Vec<(String, Arc<dyn TableProvider>)>,
    ) -> Result<SendableRecordBatchStream, EngineError> {
        let query = ModelQuery {
            sql: sql.to_owned(),
            views,
            inputs: inputs
                .iter()
                .map(|(name, provider)| InputSchema {
                    name: name.clone(),
                    schema: provider.schema(),
                    time: None,
                    key: Vec::new(),
                })
                .collect(),
            previous: None,
            zone: Zone::utc(),
            length: None,
            time: None,
            key: Vec::new(),
            variables,
        };
        let sources =
            inputs.into_iter().map(|(name, provider)| (name, provider_as_source(provider))).collect();
        let planned = self.plan(&query, sources)?;
        let plan = match planned.order {
            Some(ordered) => ordered,
            None => output::in_order(planned.plan, &[])?,
        };
        self.execute(plan).await
    }

    async fn execute(&self, plan: LogicalPlan) -> Result<SendableRecordBatchStream, EngineError> {
        Ok(execution::run(&self.state, &plan).await?)
    }

    fn providers(
        &self,
        query: &ModelQuery,
        inputs: Vec<(String, Arc<dyn TableProvider>)>,
    ) -> Result<Vec<(String, Arc<dyn TableSource>)>, EngineError> {
        for declared in &query.inputs {
            let Some((_, provider)) = inputs.iter().find(|(name, _)| *name == declared.name) else {
                return Err(EngineError::new(
                    ErrorKind::Input,
                    format!("input `{}` is not given", declared.name),
                ));
            };
            let given = provider.schema();
            for field in declared.schema.fields() {
                let same =
                    given.field_with_name(field.name()).is_ok_and(|f| f.data_type() == field.data_type());
                if !same {
                    return Err(EngineError::new(
                        ErrorKind::Input,
                        format!(
                            "input `{}` has no column `{}` of type {}",
                            declared.name,
                            field.name(),
                            field.data_type()
                        ),
                    ));
                }
            }
        }
        Ok(inputs.into_iter().map(|(name, provider)| (name, provider_as_source(provider))).collect())
    }

    fn plan(
        &self,
        query: &ModelQuery,
        sources: Vec<(String, Arc<dyn TableSource>)>,
    ) -> Result<analysis::Planned, EngineError> {
        analysis::plan(&self.state, query, sources).map_err(|error| place::placed(error, query))
    }
}
