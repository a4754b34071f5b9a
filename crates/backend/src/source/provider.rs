//! A source as a table: the files that hold rows of a range, read in parallel, their bytes compared with the
//! index.
//!
//! Rows are not filtered here: the query does that. What is left out is files without a row in the range.

use std::any::Any;
use std::fmt;
use std::future::ready;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::exec_err;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, Statistics};
use datafusion::datasource::empty::EmptyTable;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use futures::{StreamExt, stream};
use oncemore_core::{Digest, Digester, Format, Interval, SourceSpec};
use tokio::sync::mpsc::{Sender, channel};

use super::bytes;
use super::cache::{LARGEST, ProviderCache};
use super::error::SourceError;
use super::index::{SourceFile, SourceIndex};
use super::read::{self, Portion, Rows, Wanted};
use super::scan::moved;
use super::store::{Object, Store, blocking};
use super::types::{self, Column};

/// Bytes of rows that are handed from the thread that decodes to those who read: for each batch alone both would wait
/// longer for each other than they work.
const HANDFUL: usize = 4 << 20;

/// A source, or the part of it in a range of time, as the engine reads it.
#[derive(Debug)]
pub struct SourceTable {
    reader: Arc<Reader>,
    schema: SchemaRef,
    files: Vec<SourceFile>,
    /// Set where all files are read and the source may be kept decoded.
    cache: Option<(Arc<ProviderCache>, Digest)>,
}

/// The table of a source's rows in `range` ([`Interval::WHOLE`] for all; `None`: the task reads nothing of
/// it).
///
/// Files without a row in the range are not opened; rows outside of it are not filtered out. Every file read
/// to its end is compared with the index: other bytes are an error of kind [`super::SourceErrorKind::InputMoved`].
///
/// # Errors
/// Files of the source contradict each other.
pub fn provider(
    store: &Store,
    index: &SourceIndex,
    range: Option<Interval>,
    cache: Option<&Arc<ProviderCache>>,
) -> Result<Arc<dyn TableProvider>, SourceError> {
    let columns = index.columns()?;
    let schema = types::schema(&columns);
    let Some(range) = range else { return Ok(Arc::new(EmptyTable::new(schema))) };
    let files: Vec<SourceFile> = index.files_in(range).cloned().collect();
    let holding = index.files.iter().filter(|file| file.rows > 0).count();
    let bytes: u64 = files.iter().map(|file| file.identity.bytes()).sum();
    let kept = cache.filter(|_| files.len() == holding && bytes <= LARGEST as u64);
    let cache = kept.map(|cache| (Arc::clone(cache), decoded_version(index)));
    let reader = Reader { spec: index.spec.clone(), store: store.clone(), columns };
    Ok(Arc::new(SourceTable { reader: Arc::new(reader), schema, files, cache }))
}

/// Of decoded batches: the bytes and how they are read.
fn decoded_version(index: &SourceIndex) -> Digest {
    let spec = serde_json::to_vec(&index.spec).unwrap_or_default();
    Digester::new("decoded source").field("files", index.version().0).field("spec", spec).finish()
}

#[async_trait]
impl TableProvider for SourceTable {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        if let Some(batches) = self.kept().await? {
            let partitions = [batches.as_ref().clone()];
            let plan =
                MemorySourceConfig::try_new_exec(&partitions, Arc::clone(&self.schema), projection.cloned())?;
            return Ok(plan);
        }
        let columns = match projection {
            Some(places) => places.iter().map(|place| self.reader.columns[*place].clone()).collect(),
            None => self.reader.columns.clone(),
        };
        let groups = groups(&self.files, &self.reader.spec.format, state.config().target_partitions());
        Ok(Arc::new(SourceExec::new(Arc::clone(&self.reader), columns, groups)))
    }
}

impl SourceTable {
    /// The whole source from memory, where it is small.
    async fn kept(&self) -> Result<Option<Arc<Vec<RecordBatch>>>, SourceError> {
        let Some((cache, version)) = &self.cache else { return Ok(None) };
        let decode = |room: usize| Arc::clone(&self.reader).decode(&self.files, room);
        cache.get(&self.reader.spec.name, *version, decode).await
    }
}

/// What is the same for all files of a table.
#[derive(Debug)]
struct Reader {
    spec: SourceSpec,
    store: Store,
    /// All columns of the source.
    columns: Vec<Column>,
}

impl Reader {
    /// Reads `columns` of one file; checks its bytes at the end, where it is read to the end.
    fn file(
        &self,
        (file, portion): (&SourceFile, Portion),
        object: &Object,
        columns: &[Column],
        take: &mut dyn FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SourceError> {
        let path = file.path.as_str();
        let parquet = self.spec.format == Format::Parquet;
        // Text is hashed as it is read. Parquet is read in pieces, so its identity must answer for it.
        if parquet && *object.identity() != file.identity && bytes::digest(object)? != file.digest {
            return Err(moved(path, "is not the one that was indexed"));
        }
        let wanted = Wanted { columns, required: &self.spec.columns, portion };
        let mut flow = ControlFlow::Continue(());
        let read = read::file(&self.spec, object, &wanted, &mut |Rows { batch, .. }| {
            flow = take(batch);
            Ok(flow)
        });
        match read {
            Ok(Some(digest)) if digest != file.digest => Err(moved(path, "is not the one that was indexed")),
            Ok(None) if parquet && object.changed()? => Err(moved(path, "changed while it was read")),
            Ok(_) => Ok(flow),
            // What reads badly now read well when it was indexed.
            Err(_) if *object.identity() != file.identity || object.changed()? => {
                Err(moved(path, "is not the one that was indexed"))
            }
            Err(error) => Err(error),
        }
    }

    /// Opens each of `files` in turn and reads `columns` of a portion of it on a thread that may block.
    async fn files(
        self: Arc<Self>,
        files: Vec<(SourceFile, Portion)>,
        columns: Arc<Vec<Column>>,
        sender: Sender<Vec<RecordBatch>>,
    ) -> Result<(), SourceError> {
        for (file, portion) in files {
            let object = self.store.open(&file.path).await?;
            let (reader, columns, sender) = (Arc::clone(&self), Arc::clone(&columns), sender.clone());
            let path = file.path.clone();
            // A closed channel is a reader that has enough.
            let hand_over = move |rows: &mut Vec<RecordBatch>| {
                let handed_over = sender.blocking_send(std::mem::take(rows));
                handed_over.map_or(ControlFlow::Break(()), ControlFlow::Continue)
            };
            let read = blocking(&path, move || {
                let (mut rows, mut bytes) = (Vec::new(), 0);
                let flow = reader.file((&file, portion), &object, &columns, &mut |batch| {
                    bytes += batch.get_array_memory_size();
                    rows.push(batch);
                    if bytes < HANDFUL {
                        return ControlFlow::Continue(());
                    }
                    bytes = 0;
                    hand_over(&mut rows)
                })?;
                Ok(if flow.is_break() { flow } else { hand_over(&mut rows) })
            });
            if read.await?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// All batches of all columns of `files`, or `None` beyond `room` bytes.
    async fn decode(
        self: Arc<Self>,
        files: &[SourceFile],
        room: usize,
    ) -> Result<Option<Vec<RecordBatch>>, SourceError> {
        let (mut batches, mut left) = (Vec::new(), room);
        for file in files {
            if file.identity.bytes() > room as u64 {
                return Ok(None);
            }
            let object = self.store.open(&file.path).await?;
            let (reader, path, file) = (Arc::clone(&self), &file.path, file.clone());
            let read = blocking(path, move || reader.whole(&file, &object, left)).await?;
            let Some((read, size)) = read else { return Ok(None) };
            left -= size;
            batches.extend(read);
        }
        Ok(Some(batches))
    }

    /// All batches of one file with their size, or `None` beyond `room` bytes.
    fn whole(
        &self,
        file: &SourceFile,
        object: &Object,
        room: usize,
    ) -> Result<Option<(Vec<RecordBatch>, usize)>, SourceError> {
        let (mut batches, mut size) = (Vec::new(), 0);
        let flow = self.file((file, Portion::WHOLE), object, &self.columns, &mut |batch| {
            size += batch.get_array_memory_size();
            batches.push(batch);
            if size > room { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(flow.is_continue().then_some((batches, size)))
    }
}

/// Cuts files into at most `target` runs of about equal size.
fn groups(files: &[SourceFile], format: &Format, target: usize) -> Vec<Vec<(SourceFile, Portion)>> {
    let bytes = |file: &SourceFile| file.identity.bytes().max(1);
    let total: u64 = files.iter().map(bytes).sum();
    let share = total.div_ceil(target.max(1) as u64).max(1);
    let mut groups: Vec<Vec<(SourceFile, Portion)>> = Vec::new();
    let mut seen = 0;
    for file in files {
        for portion in Portion::of(format, file.identity.bytes(), target) {
            let place = usize::try_from(seen / share).unwrap_or(0);
            while groups.len() <= place.min(target.max(1) - 1) {
                groups.push(Vec::new());
            }
            if let Some(group) = groups.last_mut() {
                group.push((file.clone(), portion));
            }
            seen += bytes(file).div_ceil(portion.of as u64);
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Reads files, a group of them for each partition.
#[derive(Debug)]
struct SourceExec {
    reader: Arc<Reader>,
    columns: Arc<Vec<Column>>,
    schema: SchemaRef,
    groups: Vec<Vec<(SourceFile, Portion)>>,
    properties: Arc<PlanProperties>,
}

impl SourceExec {
    fn new(reader: Arc<Reader>, columns: Vec<Column>, groups: Vec<Vec<(SourceFile, Portion)>>) -> Self {
        let schema = types::schema(&columns);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(groups.len().max(1)),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        SourceExec { reader, columns: Arc::new(columns), schema, groups, properties: Arc::new(properties) }
    }
}

impl DisplayAs for SourceExec {
    fn fmt_as(&self, _kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: usize = self.groups.iter().map(Vec::len).sum();
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        write!(f, "SourceExec: {}, files={files}, projection=[{}]", self.reader.spec.name, names.join(", "))
    }
}

impl ExecutionPlan for SourceExec {
    fn name(&self) -> &'static str {
        "SourceExec"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        partition: usize,
        _context: Arc<TaskContext>,
    ) -> EngineResult<SendableRecordBatchStream> {
        let (sender, mut receiver) = channel(1);
        let files = self.groups.get(partition).cloned().unwrap_or_default();
        let read =
            SpawnedTask::spawn(Arc::clone(&self.reader).files(files, Arc::clone(&self.columns), sender));
        let rows = stream::poll_fn(move |context| receiver.poll_recv(context));
        let rows = rows.flat_map(|rows| stream::iter(rows.into_iter().map(Ok)));
        // The channel closes when the reading ends, well or not.
        let ended = stream::once(async move {
            match read.join().await {
                Ok(read) => read.err().map(|error| Err(DataFusionError::from(error))),
                Err(panic) => Some(exec_err!("a reading thread died: {panic}")),
            }
        });
        let rows = rows.chain(ended.filter_map(ready));
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows)))
    }

    /// Rough, but enough to put the smaller side of a join into memory.
    fn partition_statistics(&self, partition: Option<usize>) -> EngineResult<Statistics> {
        let groups = match partition {
            Some(partition) => self.groups.get(partition).map_or(&[][..], std::slice::from_ref),
            None => self.groups.as_slice(),
        };
        let rows: u64 = groups.iter().flatten().map(|(file, portion)| file.rows / portion.of as u64).sum();
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        Ok(Statistics {
            num_rows: Precision::Inexact(rows),
            total_byte_size: Precision::Inexact(rows.saturating_mul(12 * self.columns.len())),
            column_statistics: vec![ColumnStatistics::new_unknown(); self.columns.len()],
        })
    }
}
