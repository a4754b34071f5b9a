//! Our own tables as the engine reads them: the data files of a snapshot, scanned in parallel, pruned by
//! statistics.
//!
//! Knows which files and columns it is given, nothing of snapshots, slices or stamps.

use std::any::Any;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, Statistics};
use datafusion::datasource::empty::EmptyTable;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::TryStreamExt;
use object_store::ObjectMeta;
use oncemore_core::Digest;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::file::metadata::ParquetMetaDataReader;

use crate::source::ProviderCache;

/// Files together larger than this are never kept decoded.
const LARGEST_KEPT: u64 = 16 << 20;

/// One data file of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Where it is on this machine.
    pub path: PathBuf,
    /// Rows that are in it and not deleted.
    pub rows: u64,
    /// Bytes of it.
    pub bytes: u64,
    /// Places of rows that are deleted, in order.
    pub deleted: Vec<u64>,
}

/// Lets a small table stay decoded over the tasks that read it.
#[derive(Clone, Debug)]
pub struct Keep {
    /// Where.
    pub cache: Arc<ProviderCache>,
    /// The table's name.
    pub name: String,
    /// Of what is read: equal only for the same files.
    pub version: Digest,
}

/// The table of these files' rows.
///
/// `schema` holds the user's columns, found by name; a column that an old file lacks is NULL there, one that
/// `schema` does not name is not shown. So each of them may be NULL, whatever the query that makes them says.
pub fn provider(files: Vec<DataFile>, schema: SchemaRef, keep: Option<Keep>) -> Arc<dyn TableProvider> {
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    if files.is_empty() {
        return Arc::new(EmptyTable::new(schema));
    }
    let small = files.iter().map(|file| file.bytes).sum::<u64>() <= LARGEST_KEPT;
    Arc::new(Table { files, schema, keep: keep.filter(|_| small) })
}

#[derive(Debug)]
struct Table {
    files: Vec<DataFile>,
    schema: SchemaRef,
    keep: Option<Keep>,
}

#[async_trait]
impl TableProvider for Table {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Filters prune row groups and pages; the query still applies them.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> EngineResult<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        if let Some(batches) = self.kept(state).await? {
            let partitions = [batches.as_ref().clone()];
            let plan =
                MemorySourceConfig::try_new_exec(&partitions, Arc::clone(&self.schema), projection.cloned())?;
            return Ok(plan);
        }
        self.plan(state, projection, limit)
    }
}

impl Table {
    async fn kept(&self, state: &dyn Session) -> EngineResult<Option<Arc<Vec<RecordBatch>>>> {
        let Some(keep) = &self.keep else { return Ok(None) };
        let plan = self.plan(state, None, None)?;
        let context = state.task_ctx();
        let decode = move |room: usize| async move {
            let (mut batches, mut size) = (Vec::new(), 0);
            let mut rows = execute_stream(plan, context)?;
            while let Some(batch) = rows.try_next().await? {
                size += batch.get_array_memory_size();
                if size > room {
                    return Ok::<_, DataFusionError>(None);
                }
                batches.push(batch);
            }
            Ok(Some(batches))
        };
        keep.cache.get(&keep.name, keep.version, decode).await
    }

    fn plan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let source = ParquetSource::new(Arc::clone(&self.schema))
            .with_table_parquet_options(state.table_options().parquet.clone());
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
            .with_file_groups(self.groups(state.config().target_partitions())?)
            .with_statistics(self.statistics(self.files.iter().map(|file| file.rows).sum()))
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }

    /// Files in at most `target` groups of about equal size, in their order.
    fn groups(&self, target: usize) -> EngineResult<Vec<FileGroup>> {
        let total: u64 = self.files.iter().map(|file| file.bytes.max(1)).sum();
        let share = total.div_ceil(target.max(1) as u64).max(1);
        let mut groups: Vec<Vec<PartitionedFile>> = vec![Vec::new(); target.max(1)];
        let mut seen = 0;
        for file in &self.files {
            let place = usize::try_from(seen / share).unwrap_or(0).min(groups.len() - 1);
            groups[place].push(self.partitioned(file)?);
            seen += file.bytes.max(1);
        }
        Ok(groups.into_iter().filter(|group| !group.is_empty()).map(FileGroup::new).collect())
    }

    fn partitioned(&self, file: &DataFile) -> EngineResult<PartitionedFile> {
        let meta = ObjectMeta {
            location: location(&file.path)?,
            last_modified: Default::default(),
            size: file.bytes,
            e_tag: None,
            version: None,
        };
        let found =
            PartitionedFile::new_from_meta(meta).with_statistics(Arc::new(self.statistics(file.rows)));
        if file.deleted.is_empty() {
            return Ok(found);
        }
        Ok(found.with_extensions(Arc::new(access(file)?)))
    }

    fn statistics(&self, rows: u64) -> Statistics {
        let width = self.schema.fields().len();
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        Statistics {
            num_rows: Precision::Exact(rows),
            total_byte_size: Precision::Inexact(rows.saturating_mul(12 * width)),
            column_statistics: vec![ColumnStatistics::new_unknown(); width],
        }
    }
}

/// Which rows of a file are read: all that are not deleted.
fn access(file: &DataFile) -> EngineResult<ParquetAccessPlan> {
    let opened = File::open(&file.path)?;
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&opened)?;
    let mut deleted = file.deleted.as_slice();
    let mut from = 0u64;
    let groups = metadata.row_groups().iter().map(|group| {
        let to = from + group.num_rows().unsigned_abs();
        let (inside, rest) = deleted.split_at(deleted.partition_point(|place| *place < to));
        deleted = rest;
        let access = if inside.is_empty() {
            RowGroupAccess::Scan
        } else if inside.len() as u64 == to - from {
            RowGroupAccess::Skip
        } else {
            RowGroupAccess::Selection(selection(from, to, inside))
        };
        from = to;
        access
    });
    Ok(ParquetAccessPlan::new(groups.collect()))
}

/// The rows from one place to another but for some between.
fn selection(from: u64, to: u64, deleted: &[u64]) -> RowSelection {
    let count = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
    let mut selectors = Vec::with_capacity(2 * deleted.len() + 1);
    let mut next = from;
    for place in deleted {
        selectors.push(RowSelector::select(count(place - next)));
        selectors.push(RowSelector::skip(1));
        next = place + 1;
    }
    selectors.push(RowSelector::select(count(to - next)));
    // Neighbours of one kind become one.
    selectors.into()
}

fn location(path: &Path) -> EngineResult<object_store::path::Path> {
    let absolute = std::path::absolute(path)?;
    object_store::path::Path::from_absolute_path(absolute)
        .map_err(|error| DataFusionError::External(Box::new(error)))
}
