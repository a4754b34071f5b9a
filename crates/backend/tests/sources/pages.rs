//! Parquet pages that are damaged: which column of which row group, and what to do.

use bytes::Bytes;
use oncemore_core::{Format, SourceSpec};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::properties::WriterProperties;

use crate::support::{Project, spec};

/// Three row groups of two columns.
fn whole(codec: Compression) -> Vec<u8> {
    let numbers = arrow::array::Int64Array::from_iter_values(0..3_000);
    let texts =
        arrow::array::StringArray::from_iter_values((0..3_000).map(|row| format!("row {}", row % 77)));
    let batch = arrow::array::RecordBatch::try_from_iter([
        ("a", std::sync::Arc::new(numbers) as _),
        ("b", std::sync::Arc::new(texts) as _),
    ])
    .unwrap();
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_max_row_group_row_count(Some(1_000))
        .set_dictionary_enabled(false);
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// The file with bytes of column `column` of row group `group` overwritten, `skip` bytes behind the chunk's start.
fn damaged(bytes: &[u8], (group, column): (usize, usize), skip: usize) -> Vec<u8> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&Bytes::copy_from_slice(bytes)).unwrap();
    let (start, _) = metadata.row_group(group).column(column).byte_range();
    let mut bytes = bytes.to_vec();
    let at = usize::try_from(start).unwrap() + skip;
    bytes[at..at + 16].fill(0xff);
    bytes
}

async fn said(bytes: &[u8], spec: &SourceSpec) -> String {
    let project = Project::new();
    project.write("in/a.parquet", bytes);
    project.scan(spec).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_damaged_page_is_named_by_row_group_and_column() {
    let spec = spec("in/a.parquet", Format::Parquet, "", None);
    let zstd = whole(Compression::ZSTD(Default::default()));
    // Its header.
    insta::assert_snapshot!(said(&damaged(&zstd, (1, 0), 0), &spec).await, @"
    in/a.parquet: broken page of column `a` in row group 2 of 3: it holds an unknown type
    help: deliver the file again, under another name first and renamed when complete
    ");
    // What it holds.
    insta::assert_snapshot!(said(&damaged(&zstd, (1, 1), 60), &spec).await, @"
    in/a.parquet: undecodable Parquet, column `b` in row group 2 of 3: External: Data corruption detected
    help: deliver the file again, under another name first and renamed when complete
    ");
    insta::assert_snapshot!(said(&damaged(&whole(Compression::SNAPPY), (2, 0), 60), &spec).await, @"
    in/a.parquet: undecodable Parquet, column `a` in row group 3 of 3: External: snappy: corrupt input (expected valid offset but got offset 4294967295; dst position: 72)
    help: deliver the file again, under another name first and renamed when complete
    ");
    // Lengths of texts that go beyond the page.
    insta::assert_snapshot!(said(&damaged(&whole(Compression::UNCOMPRESSED), (0, 1), 60), &spec).await, @"
    in/a.parquet: undecodable Parquet, column `b` in row group 1 of 3: EOF: eof decoding byte array
    help: deliver the file again, under another name first and renamed when complete
    ");
}
