//! A project folder on disk, sources declared in one line, and queries over them.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use datafusion::catalog::TableProvider;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use oncemore_backend::source::{self, SourceError, SourceIndex, Store};
use oncemore_core::{
    Calendar, ColumnType, Format, Instant, Interval, IntervalLength, Missing, SourceSpec, Zone,
};
use tempfile::TempDir;

/// Long after every file of a test was written.
pub(crate) const LATER: Instant = Instant(4_000_000_000_000_000);

pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        Project { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn store(&self) -> Store {
        Store::new(self.root()).unwrap()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let full = self.root().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, content).unwrap();
        self
    }

    pub(crate) fn parquet(&self, path: &str, batch: &RecordBatch) -> &Self {
        let mut bytes = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        self.write(path, bytes)
    }

    pub(crate) async fn scan(&self, spec: &SourceSpec) -> Result<SourceIndex, SourceError> {
        source::scan(spec, &self.store(), None, &days(&spec.time_zone), LATER).await
    }

    pub(crate) async fn rescan(
        &self,
        spec: &SourceSpec,
        known: &SourceIndex,
    ) -> Result<SourceIndex, SourceError> {
        source::scan(spec, &self.store(), Some(known), &days(&spec.time_zone), LATER).await
    }

    pub(crate) fn table(&self, index: &SourceIndex, range: Interval) -> Arc<dyn TableProvider> {
        source::provider(&self.store(), index, Some(range), None).unwrap()
    }
}

pub(crate) fn gzip(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn days(zone: &str) -> Calendar {
    Calendar::new(IntervalLength::Day, Zone::named(zone).unwrap())
}

pub(crate) fn day(zone: &str, text: &str) -> Interval {
    days(zone).parse_range(text).unwrap()
}

/// A source `raw.s`; columns as `name TYPE, name TYPE`.
pub(crate) fn spec(path: &str, format: Format, columns: &str, time: Option<&str>) -> SourceSpec {
    let columns = columns.split(", ").filter(|column| !column.is_empty()).map(|column| {
        let (name, kind) = column.split_once(' ').unwrap();
        (name.to_owned(), kind.parse::<ColumnType>().unwrap())
    });
    SourceSpec {
        name: "raw.s".to_owned(),
        path: path.to_owned(),
        format,
        columns: columns.collect(),
        time: time.map(str::to_owned),
        key: Vec::new(),
        time_zone: "UTC".to_owned(),
        path_interval: None,
        missing: Missing::Wait,
        complete_when: None,
    }
}

pub(crate) fn csv() -> Format {
    Format::Csv { header: true, delimiter: ',', null: vec![String::new(), "NA".to_owned()] }
}

pub(crate) fn session() -> SessionContext {
    SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2))
}

/// The rows of a query over one table called `t`.
pub(crate) async fn query(table: Arc<dyn TableProvider>, sql: &str) -> Result<String, DataFusionError> {
    let session = session();
    session.register_table("t", table)?;
    let batches = session.sql(sql).await?.collect().await?;
    Ok(pretty_format_batches(&batches)?.to_string())
}
