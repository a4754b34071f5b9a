//! The row groups of one Parquet file. As Parquet's own `ArrowWriter`, of flat columns, but that a column with one value
//! in all rows of a group costs nothing a row.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{Field, SchemaRef};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::CHUNK;
use super::constant::Value;

/// A file that takes rows, group by group.
pub(super) struct Groups<W: Write + Send> {
    file: SerializedFileWriter<W>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    open: Option<Group>,
    /// A group ends at so many rows, or encoded bytes, at the least.
    most: (usize, usize),
}

#[derive(Debug)]
struct Group {
    columns: Vec<Column>,
    rows: usize,
}

#[derive(Debug)]
struct Column {
    writer: ArrowColumnWriter,
    same: Same,
}

/// What the rows of a column have so far.
#[derive(Debug)]
enum Same {
    NoRows,
    /// All one value, which the writer does not know of; and a row of it.
    Value(Value, ArrayRef),
    /// The writer has them.
    Not,
}

impl<W: Write + Send> std::fmt::Debug for Groups<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Groups").field("open", &self.open).finish_non_exhaustive()
    }
}

impl<W: Write + Send> Groups<W> {
    /// A file without rows, whose groups end at `most` rows or encoded bytes.
    pub(super) fn new(
        to: W,
        schema: SchemaRef,
        properties: WriterProperties,
        most: (usize, usize),
    ) -> Result<Self> {
        let root = ArrowSchemaConverter::new().convert(&schema)?.root_schema_ptr();
        let file = SerializedFileWriter::new(to, root, Arc::new(properties))?;
        let factory = ArrowRowGroupWriterFactory::new(&file, schema.clone());
        Ok(Groups { file, factory, schema, open: None, most })
    }

    /// Adds rows.
    pub(super) fn write(&mut self, mut rows: RecordBatch) -> Result<()> {
        while rows.num_rows() > 0 {
            let mut group = match self.open.take() {
                Some(group) => group,
                None => Group::new(&self.factory, self.file.flushed_row_groups().len())?,
            };
            let fit = group.room(self.most).min(rows.num_rows());
            group.write(&self.schema, &rows.slice(0, fit))?;
            rows = rows.slice(fit, rows.num_rows() - fit);
            self.open = Some(group);
            if self.open.as_ref().is_some_and(|group| group.room(self.most) == 0) {
                self.end_group()?;
            }
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<()> {
        let Some(group) = self.open.take() else { return Ok(()) };
        let descriptors = self.file.schema_descr().columns().to_vec();
        let mut file = self.file.next_row_group()?;
        for (column, descriptor) in group.columns.into_iter().zip(&descriptors) {
            match column.same {
                Same::Value(value, _) => {
                    let (bytes, close) = value.chunk(descriptor, group.rows).map_err(external)?;
                    file.append_column(&bytes, close)?;
                }
                Same::NoRows | Same::Not => column.writer.close()?.append_to_row_group(&mut file)?,
            }
        }
        file.close()?;
        Ok(())
    }

    /// Bytes in the file, and those of the group that is open, about.
    pub(super) fn bytes(&self) -> (usize, usize) {
        (self.file.bytes_written(), self.open.as_ref().map_or(0, Group::bytes))
    }

    /// What it is written to.
    pub(super) fn to(&self) -> &W {
        self.file.inner()
    }

    /// Adds a word to the footer.
    pub(super) fn say(&mut self, said: KeyValue) {
        self.file.append_key_value_metadata(said);
    }

    /// Ends the file.
    pub(super) fn finish(&mut self) -> Result<ParquetMetaData> {
        self.end_group()?;
        self.file.finish()
    }
}

impl Group {
    fn new(factory: &ArrowRowGroupWriterFactory, number: usize) -> Result<Group> {
        let writers = factory.create_column_writers(number)?;
        let columns = writers.into_iter().map(|writer| Column { writer, same: Same::NoRows });
        Ok(Group { columns: columns.collect(), rows: 0 })
    }

    /// Rows that fit, of about the size of those that are in; none: it is full.
    fn room(&self, (rows, bytes): (usize, usize)) -> usize {
        let left = rows - self.rows.min(rows);
        if self.rows == 0 {
            return left;
        }
        let held = self.bytes();
        if held >= bytes {
            return 0;
        }
        match held / self.rows {
            0 => left,
            each => left.min((bytes - held) / each),
        }
    }

    fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.writer.get_estimated_total_bytes()).sum()
    }

    fn write(&mut self, schema: &SchemaRef, rows: &RecordBatch) -> Result<()> {
        let columns = self.columns.iter_mut().zip(schema.fields()).zip(rows.columns());
        for ((column, field), values) in columns {
            column.write(field, values, self.rows)?;
        }
        self.rows += rows.num_rows();
        Ok(())
    }
}

impl Column {
    /// Adds values behind those of `before` rows.
    fn write(&mut self, field: &Field, values: &ArrayRef, before: usize) -> Result<()> {
        let value = match &self.same {
            Same::Not => None,
            Same::NoRows | Same::Value(..) => Value::of(values),
        };
        match (&self.same, value) {
            (Same::NoRows, Some(value)) => {
                self.same = Same::Value(value, take(values, &UInt32Array::from(vec![0]), None)?);
                return Ok(());
            }
            (Same::Value(known, _), Some(value)) if *known == value => return Ok(()),
            _ => {}
        }
        if let Same::Value(_, row) = std::mem::replace(&mut self.same, Same::Not) {
            for from in (0..before).step_by(CHUNK) {
                let again = UInt32Array::from(vec![0; CHUNK.min(before - from)]);
                self.encode(field, &take(&row, &again, None)?)?;
            }
        }
        self.encode(field, values)
    }

    fn encode(&mut self, field: &Field, values: &ArrayRef) -> Result<()> {
        compute_leaves(field, values)?.iter().try_for_each(|leaf| self.writer.write(leaf))
    }
}

fn external(error: crate::error::CommitError) -> ParquetError {
    ParquetError::External(Box::new(error))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use arrow::array::{
        Date32Array, Float64Array, Int32Array, Int64Array, StringArray, TimestampMicrosecondArray,
    };
    use arrow::compute::concat_batches;
    use arrow::datatypes::{DataType, Schema, TimeUnit};
    use bytes::Bytes;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::{
        ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
    };
    use parquet::basic::Compression;
    use parquet::file::metadata::PageIndexPolicy;

    use super::*;

    /// Rows whose columns are of one value up to the row `changes`, and of another from there; the last never is.
    fn rows(from: usize, to: usize, changes: usize, nullable: bool) -> RecordBatch {
        let of = |row: usize| i64::from(row >= changes);
        let numbers = || (from..to).map(of);
        let moment =
            TimestampMicrosecondArray::from_iter_values(numbers().map(|one| 7 - one)).with_timezone("UTC");
        let words = numbers().map(|one| ["née", ""][one as usize]);
        let columns: [(&str, ArrayRef); 7] = [
            ("int", Arc::new(Int32Array::from_iter_values(numbers().map(|one| one as i32 - 1)))),
            ("long", Arc::new(Int64Array::from_iter_values(numbers()))),
            ("day", Arc::new(Date32Array::from_iter_values(numbers().map(|one| one as i32)))),
            ("moment", Arc::new(moment)),
            ("text", Arc::new(StringArray::from_iter_values(words))),
            ("float", Arc::new(Float64Array::from_iter_values(numbers().map(|one| one as f64)))),
            (
                "row",
                Arc::new(Int64Array::from_iter((from..to).map(|row| (row % 5 > 0).then_some(row as i64)))),
            ),
        ];
        let fields = columns
            .iter()
            .map(|(name, column)| Field::new(*name, column.data_type().clone(), nullable || *name == "row"));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        RecordBatch::try_new(schema, columns.into_iter().map(|(_, column)| column).collect()).unwrap()
    }

    /// A file of chunks, whose groups end at `most` rows or bytes.
    fn written(chunks: &[RecordBatch], most: (usize, usize)) -> (Bytes, ParquetMetaData) {
        let mut file = Vec::new();
        let properties = WriterProperties::builder().set_data_page_row_count_limit(100).build();
        let mut groups = Groups::new(&mut file, chunks[0].schema(), properties, most).unwrap();
        chunks.iter().for_each(|chunk| groups.write(chunk.clone()).unwrap());
        let footer = groups.finish().unwrap();
        drop(groups);
        (file.into(), footer)
    }

    fn read(file: Bytes, rows: Option<RowSelection>) -> Vec<RecordBatch> {
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
        let metadata = ArrowReaderMetadata::load(&file, options).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        let reader = match rows {
            Some(rows) => reader.with_row_selection(rows),
            None => reader,
        };
        reader.build().unwrap().map(Result::unwrap).collect()
    }

    /// What changes, wherever, is read as it was written; the footer says what that of Parquet's own writer does.
    #[test]
    fn columns_of_one_value_are_read_back() {
        let most = (1_000, usize::MAX);
        for nullable in [true, false] {
            for changes in [0, 1, 700, 1_000, 1_500, 2_500] {
                let all = rows(0, 2_500, changes, nullable);
                let chunks: Vec<RecordBatch> =
                    (0..2_500).step_by(300).map(|from| all.slice(from, 300.min(2_500 - from))).collect();
                let (file, footer) = written(&chunks, most);
                let found = read(file.clone(), None);
                assert_eq!(concat_batches(&found[0].schema(), &found).unwrap(), all, "{changes}");
                let some = [(true, 650), (false, 100), (true, 400), (false, 1), (true, 1_349)];
                let some = some.map(|(skip, rows)| RowSelector { skip, row_count: rows });
                let found = read(file, Some(some.to_vec().into()));
                let expected = [all.slice(650, 100), all.slice(1_150, 1)];
                assert_eq!(
                    concat_batches(&all.schema(), &found).unwrap(),
                    concat_batches(&all.schema(), &expected).unwrap(),
                );
                let properties =
                    WriterProperties::builder().set_max_row_group_row_count(Some(most.0)).build();
                let mut known = ArrowWriter::try_new(Vec::new(), all.schema(), Some(properties)).unwrap();
                known.write(&all).unwrap();
                let known = known.finish().unwrap();
                for (ours, theirs) in footer.row_groups().iter().zip(known.row_groups()) {
                    assert_eq!(ours.num_rows(), theirs.num_rows());
                    for (ours, theirs) in ours.columns().iter().zip(theirs.columns()) {
                        assert_eq!(ours.statistics(), theirs.statistics(), "{}", ours.column_path());
                        assert_eq!(ours.num_values(), theirs.num_values());
                    }
                }
                assert_eq!(footer.num_row_groups(), known.num_row_groups());
            }
        }
    }

    #[test]
    fn a_column_of_one_value_takes_no_room() {
        let size = |rows: usize| {
            let chunk = self::rows(0, rows, rows, true).project(&[0, 1, 2, 3, 4]).unwrap();
            let (file, footer) = written(&[chunk], (usize::MAX, usize::MAX));
            let plain = |compression| compression == Compression::UNCOMPRESSED;
            assert!(footer.row_group(0).columns().iter().all(|column| plain(column.compression())));
            file.len()
        };
        assert!(size(100_000) < size(100) + 100, "{} {}", size(100_000), size(100));
    }

    #[test]
    fn groups_end_where_their_bytes_do() {
        let words = |from: usize| (from..from + 1_000).map(|row| format!("{row:0>100}"));
        let field = Field::new("word", DataType::Utf8, true);
        let moment = Field::new("moment", DataType::Timestamp(TimeUnit::Microsecond, None), true);
        let schema = Arc::new(Schema::new(vec![field, moment]));
        let chunk = |from| {
            let moments = TimestampMicrosecondArray::from_value(1, 1_000);
            let columns: Vec<ArrayRef> =
                vec![Arc::new(StringArray::from_iter_values(words(from))), Arc::new(moments)];
            RecordBatch::try_new(schema.clone(), columns).unwrap()
        };
        let (file, footer) = written(&[chunk(0), chunk(1_000), chunk(2_000)], (usize::MAX, 150_000));
        let rows: Vec<i64> = footer.row_groups().iter().map(|group| group.num_rows()).collect();
        assert!(rows.len() == 3 && rows[..2].iter().all(|rows| (1_400..=1_500).contains(rows)), "{rows:?}");
        assert_eq!(read(file, None).iter().map(RecordBatch::num_rows).sum::<usize>(), 3_000);
    }
}
