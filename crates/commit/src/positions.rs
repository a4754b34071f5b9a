//! Position delete files: which rows of which data files are there no more. Owns their layout and the way to and from
//! disk; what is deleted when is decided elsewhere.
//!
//! A file lists full paths and places of rows, ordered by both, as other engines expect it.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arrow::array::{AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema, SchemaRef};
use iceberg::spec::{
    DataContentType, DataFile, NestedField, PrimitiveType, Schema as IcebergSchema, Struct, Type,
};
use oncemore_core::fault::Step;
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use crate::border;
use crate::disk::Disk;
use crate::error::{CommitError, Result};
use crate::metadata::stats::About;
use crate::slice_map::FileEntry;
use crate::stage::file::{FileWriter, Pages};
use crate::stage::{CHUNK, internal};
use crate::warehouse::{Warehouse, text};

/// The columns of a delete file, with the ids that the table format reserves for them.
const PATH: (&str, i32) = ("file_path", 2_147_483_546);
const POS: (&str, i32) = ("pos", 2_147_483_545);

/// Deleted places by the path of the data file, in order.
pub(crate) type Positions = BTreeMap<String, Vec<u64>>;

/// Whether a delete file is one that we wrote.
pub(crate) fn is_ours(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("om-") && name.ends_with(&format!("{MARK}0.parquet"))
}

/// Ends the name of a delete file, before its number.
pub(crate) const MARK: &str = "-p-";

fn schema() -> SchemaRef {
    let field = |(name, id): (&str, i32), kind| {
        let id = HashMap::from([(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string())]);
        Field::new(name, kind, false).with_metadata(id)
    };
    Arc::new(Schema::new(vec![field(PATH, DataType::Utf8), field(POS, DataType::Int64)]))
}

fn iceberg_schema() -> Result<IcebergSchema> {
    let field =
        |(name, id): (&str, i32), kind| Arc::new(NestedField::required(id, name, Type::Primitive(kind)));
    let fields = [field(PATH, PrimitiveType::String), field(POS, PrimitiveType::Long)];
    Ok(IcebergSchema::builder().with_fields(fields).build()?)
}

/// Writes a delete file of a table without partitions.
pub(crate) fn write(
    disk: &Disk,
    path: PathBuf,
    name: String,
    spec_id: i32,
    positions: &Positions,
) -> Result<(PathBuf, DataFile, FileEntry)> {
    let schema = schema();
    let mut writer = FileWriter::create(disk.clone(), path, name, schema.clone(), Pages::Deletes)?;
    let all = positions.iter().flat_map(|(path, places)| places.iter().map(move |place| (path, *place)));
    let (mut paths, mut places) = (Vec::new(), Vec::new());
    let mut write = |paths: &mut Vec<&String>, places: &mut Vec<i64>| {
        let paths = StringArray::from_iter_values(std::mem::take(paths));
        let places = Int64Array::from(std::mem::take(places));
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(paths), Arc::new(places)]);
        writer.write(&batch.map_err(internal)?)
    };
    for (path, place) in all {
        paths.push(path);
        places.push(i64::try_from(place).map_err(internal)?);
        if paths.len() == CHUNK {
            write(&mut paths, &mut places)?;
        }
    }
    write(&mut paths, &mut places)?;
    let schema = &iceberg_schema()?;
    writer.finish(About {
        content: DataContentType::PositionDeletes,
        schema,
        partition: Struct::empty(),
        spec_id,
    })
}

/// Reads a delete file.
pub(crate) fn read(disk: &Disk, path: &Path) -> Result<Positions> {
    CommitError::guard(path.display(), || decode(disk, path))
}

fn decode(disk: &Disk, path: &Path) -> Result<Positions> {
    let damaged = |error: &dyn std::fmt::Display| CommitError::corrupt(path.display(), error);
    let file = disk.step(Step::Read, || File::open(path));
    let file = file.map_err(|error| CommitError::io(format!("read {}", path.display()), error))?;
    let plain = border::metadata(&file, false).map_err(|why| damaged(&why))?;
    // A path a row would be many times the file.
    let few = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let fields = plain.schema().fields().iter().map(|field| match field.name().as_str() {
        name if name == PATH.0 => Arc::new(field.as_ref().clone().with_data_type(few.clone())),
        _ => field.clone(),
    });
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields.collect::<Vec<_>>())));
    let metadata = ArrowReaderMetadata::try_new(plain.metadata().clone(), options);
    let metadata = metadata.map_err(|error| damaged(&error))?;
    let pages = border::Pages::new(file, &metadata);
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(pages, metadata).with_batch_size(CHUNK);
    let mut found = Positions::new();
    for batch in reader.build().map_err(|error| damaged(&error))? {
        let batch = batch.map_err(|error| damaged(&error))?;
        add(&mut found, &batch).ok_or_else(|| damaged(&"it has other columns than a delete file"))?;
    }
    // One of another order may be meant for engines that don't mind.
    found.values_mut().for_each(|places| places.sort_unstable());
    Ok(found)
}

fn add(found: &mut Positions, batch: &RecordBatch) -> Option<()> {
    let paths = batch.column_by_name(PATH.0)?.as_dictionary_opt::<Int32Type>()?;
    let names = paths.values().as_string_opt::<i32>()?;
    let places = batch.column_by_name(POS.0)?.as_primitive_opt::<Int64Type>()?;
    let keys = paths.keys();
    let mut from = 0;
    while from < keys.len() {
        let key = keys.value(from);
        let to = (from..keys.len()).find(|row| keys.value(*row) != key).unwrap_or(keys.len());
        let name = names.value(usize::try_from(key).ok()?);
        let places = places.values()[from..to].iter().map(|place| place.unsigned_abs());
        found.entry(name.to_owned()).or_default().extend(places);
        from = to;
    }
    Some(())
}

/// Writes a delete file of a copied table again, for paths as `at` has them; returns its new size.
pub(crate) fn relocate(
    warehouse: &Warehouse,
    path: &Path,
    at: &dyn Fn(&str) -> Result<String>,
) -> Result<u64> {
    let old = read(warehouse.disk(), path)?;
    let moved: Positions =
        old.into_iter().map(|(path, places)| Ok((at(&path)?, places))).collect::<Result<_>>()?;
    let fresh = path.with_extension(format!("{:032x}.fresh", warehouse.world().fresh_id()));
    let (_, _, file) = write(warehouse.disk(), fresh.clone(), String::new(), 0, &moved)?;
    warehouse.disk().persist(&[], std::slice::from_ref(&fresh))?;
    let renamed = warehouse.disk().step(Step::WriteMetadata, || std::fs::rename(&fresh, path));
    renamed.map_err(|error| CommitError::io(format!("write {}", path.display()), error))?;
    Ok(file.bytes)
}

/// The delete files of a slice, read when the first of them is asked for.
#[derive(Debug)]
pub(crate) struct Lazy {
    disk: Disk,
    paths: Vec<PathBuf>,
    read: OnceLock<Result<Positions>>,
}

impl PartialEq for Lazy {
    fn eq(&self, other: &Self) -> bool {
        self.paths == other.paths
    }
}

impl Lazy {
    pub(crate) fn new(disk: &Disk, paths: Vec<PathBuf>) -> Self {
        Lazy { disk: disk.clone(), paths, read: OnceLock::new() }
    }

    /// Deleted places of a data file, in order.
    pub(crate) fn of(&self, path: &str) -> Result<Vec<u64>> {
        let read = self.read.get_or_init(|| all(&self.disk, &self.paths));
        Ok(read.as_ref().map_err(Clone::clone)?.get(path).cloned().unwrap_or_default())
    }

    /// The delete files.
    pub(crate) fn paths(&self) -> Result<Vec<String>> {
        self.paths.iter().map(|path| text(path)).collect()
    }
}

/// What several delete files delete together.
pub(crate) fn all(disk: &Disk, paths: &[PathBuf]) -> Result<Positions> {
    let mut found = Positions::new();
    for path in paths {
        for (name, mut places) in read(disk, path)? {
            found.entry(name).or_default().append(&mut places);
        }
    }
    for places in found.values_mut() {
        places.sort_unstable();
        places.dedup();
    }
    Ok(found)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_in_order_and_those_of_several_files_together() {
        let (folder, disk) = (tempfile::tempdir().unwrap(), Disk::new(None));
        let path = |number: u32| folder.path().join(format!("om-1-p-{number}.parquet"));
        let positions = |places: &[u64]| Positions::from([("a".to_owned(), places.to_vec())]);
        write(&disk, path(0), "0".to_owned(), 0, &positions(&[7, 2])).unwrap();
        write(&disk, path(1), "1".to_owned(), 0, &positions(&[2, 1])).unwrap();
        assert_eq!(read(&disk, &path(0)).unwrap(), positions(&[2, 7]));
        let both = Lazy::new(&disk, vec![path(0), path(1)]);
        assert_eq!((both.of("a").unwrap(), both.of("b").unwrap()), (vec![1, 2, 7], vec![]));
        assert_eq!(both.paths().unwrap(), [0, 1].map(|number| path(number).to_str().unwrap().to_owned()));
        // What was read already does not matter.
        assert_eq!(both, Lazy::new(&disk, vec![path(0), path(1)]));
        assert_ne!(both, Lazy::new(&disk, vec![path(0)]));
    }

    #[test]
    fn ours_are_known_by_their_names() {
        assert!(is_ours("file:///w/gold/things/data/all/om-1-p-0.parquet") && is_ours("om-1-p-0.parquet"));
        assert!(!is_ours("om-1-b-0.parquet") && !is_ours("00000-0-p-0.parquet"));
    }
}
