//! Manifests and manifest lists as bytes: reading live entries, marking files as deleted, merging small manifests.

use std::collections::HashSet;
use std::sync::Arc;

use futures::executor::block_on;
use iceberg::io::FileIO;
use iceberg::spec::{
    DataContentType, DataFile, FormatVersion, Manifest, ManifestContentType, ManifestEntry, ManifestFile,
    ManifestList, ManifestListWriter, ManifestStatus, ManifestWriter, ManifestWriterBuilder, PartitionSpec,
    PrimitiveLiteral, SchemaRef, UNASSIGNED_SEQUENCE_NUMBER,
};

use crate::error::{CommitError, Result};

/// Manifests of about the same size are merged when there are as many.
const MERGE: usize = 8;
/// Manifests of as many entries are merged no more: a rewrite of one must stay cheap.
const LARGE: u64 = 512;

/// Entries of a manifest with what they inherit from the list filled in.
pub(crate) type Entries = Arc<Vec<ManifestEntry>>;
/// The manifests of a snapshot.
pub(crate) type List = Arc<Vec<ManifestFile>>;

/// Reads a manifest list.
pub(crate) fn parse_list(bytes: &[u8], version: FormatVersion, path: &str) -> Result<Vec<ManifestFile>> {
    CommitError::guard(path, || {
        let list = ManifestList::parse_with_version(bytes, version)
            .map_err(|error| CommitError::corrupt(path, error))?;
        Ok(list.consume_entries().into_iter().collect())
    })
}

/// Live entries of a manifest.
pub(crate) fn parse(bytes: &[u8], file: &ManifestFile) -> Result<Vec<ManifestEntry>> {
    let path = &file.manifest_path;
    let manifest = CommitError::guard(path, || {
        Manifest::parse_avro(bytes).map_err(|error| CommitError::corrupt(path, error))
    })?;
    let live = manifest.entries().iter().filter(|entry| entry.is_alive());
    Ok(live
        .map(|entry| {
            let mut entry = ManifestEntry::clone(entry);
            entry.snapshot_id = entry.snapshot_id.or(Some(file.added_snapshot_id));
            entry.sequence_number = entry.sequence_number.or(Some(file.sequence_number));
            entry.file_sequence_number = entry.file_sequence_number.or(Some(file.sequence_number));
            entry
        })
        .collect())
}

/// Number of live files in a manifest, as far as it says so.
pub(crate) fn live_count(file: &ManifestFile) -> u64 {
    u64::from(file.added_files_count.unwrap_or(1)) + u64::from(file.existing_files_count.unwrap_or(1))
}

/// Start of the slice that a file belongs to; `Err(())` under another partition spec than ours.
pub(crate) fn start_of(file: &DataFile) -> Result<Option<i64>, ()> {
    let start = match file.partition().fields() {
        // A table without partitions is one slice.
        [] => return Ok(None),
        [start] => start,
        _ => return Err(()),
    };
    match start.as_ref().map(iceberg::spec::Literal::as_primitive_literal) {
        None => Ok(None),
        Some(Some(PrimitiveLiteral::Long(start))) => Ok(Some(start)),
        Some(_) => Err(()),
    }
}

/// Writes manifests and lists of one snapshot. Bytes are kept; the caller writes them.
pub(crate) struct Writer<'a> {
    pub(crate) schema: SchemaRef,
    pub(crate) spec: PartitionSpec,
    pub(crate) snapshot_id: i64,
    /// Gives a fresh path for a manifest.
    pub(crate) fresh_path: &'a dyn Fn() -> String,
    /// Manifests written: path, bytes, live entries.
    pub(crate) written: Vec<(String, Vec<u8>, Entries)>,
}

impl Writer<'_> {
    /// Entries are all of data files or all of delete files.
    fn write(&mut self, entries: Vec<ManifestEntry>) -> Result<ManifestFile> {
        let data = entries.first().is_none_or(|entry| entry.content_type() == DataContentType::Data);
        let path = (self.fresh_path)();
        let io = FileIO::new_with_memory();
        let (schema, spec, snapshot_id) = (self.schema.clone(), self.spec.clone(), self.snapshot_id);
        let (mut file, bytes) = block_on(async {
            let output = io.new_output("memory:/manifest")?;
            let builder = ManifestWriterBuilder::new(output, Some(snapshot_id), schema, spec);
            let mut writer = if data { builder.build_v2_data() } else { builder.build_v2_deletes() };
            entries.iter().try_for_each(|entry| add(&mut writer, entry))?;
            let file = writer.write_manifest_file().await?;
            Ok::<_, iceberg::Error>((file, io.new_input("memory:/manifest")?.read().await?))
        })?;
        file.manifest_path.clone_from(&path);
        let live = entries.into_iter().filter(ManifestEntry::is_alive).collect();
        self.written.push((path, bytes.to_vec(), Arc::new(live)));
        Ok(file)
    }

    /// A manifest of new files.
    pub(crate) fn added(&mut self, files: &[DataFile]) -> Result<ManifestFile> {
        let entry = |file: &DataFile| {
            ManifestEntry::builder().status(ManifestStatus::Added).data_file(file.clone()).build()
        };
        self.write(files.iter().map(entry).collect())
    }

    /// A manifest again, with files of `gone` (by path) marked as deleted.
    pub(crate) fn without(
        &mut self,
        entries: &[ManifestEntry],
        gone: &HashSet<String>,
    ) -> Result<ManifestFile> {
        let mark = |entry: &ManifestEntry| {
            let gone = gone.contains(entry.file_path());
            let status = if gone { ManifestStatus::Deleted } else { ManifestStatus::Existing };
            ManifestEntry { status, ..entry.clone() }
        };
        self.write(entries.iter().map(mark).collect())
    }

    /// One manifest of the live entries of several.
    pub(crate) fn merged(&mut self, all: &[Entries]) -> Result<ManifestFile> {
        let keep =
            |entry: &ManifestEntry| ManifestEntry { status: ManifestStatus::Existing, ..entry.clone() };
        self.write(all.iter().flat_map(|entries| entries.iter().map(keep)).collect())
    }

    /// Gives the manifests that this snapshot wrote its sequence number, as whoever reads its list finds them.
    pub(crate) fn number(&self, manifests: &mut [ManifestFile], sequence: i64) {
        for file in manifests.iter_mut().filter(|file| file.added_snapshot_id == self.snapshot_id) {
            for number in [&mut file.sequence_number, &mut file.min_sequence_number] {
                if *number == UNASSIGNED_SEQUENCE_NUMBER {
                    *number = sequence;
                }
            }
        }
    }

    /// The bytes of a manifest list.
    pub(crate) fn list(
        &self,
        manifests: &[ManifestFile],
        parent: Option<i64>,
        sequence: i64,
    ) -> Result<Vec<u8>> {
        list_bytes(manifests, self.snapshot_id, parent, sequence)
    }
}

/// The bytes of a manifest list.
pub(crate) fn list_bytes(
    manifests: &[ManifestFile],
    snapshot_id: i64,
    parent: Option<i64>,
    sequence: i64,
) -> Result<Vec<u8>> {
    let io = FileIO::new_with_memory();
    let bytes = block_on(async {
        let output = io.new_output("memory:/list")?.writer().await?;
        let mut writer = ManifestListWriter::v2(output, snapshot_id, parent, sequence);
        writer.add_manifests(manifests.iter().cloned())?;
        writer.close().await?;
        io.new_input("memory:/list")?.read().await
    })?;
    Ok(bytes.to_vec())
}

fn add(writer: &mut ManifestWriter, entry: &ManifestEntry) -> iceberg::Result<()> {
    let file = entry.data_file.clone();
    // Files without numbers were written by the snapshot being built.
    let (sequence, file_sequence) = (entry.sequence_number.unwrap_or(-1), entry.file_sequence_number);
    match entry.status {
        ManifestStatus::Added => writer.add_file(file, -1),
        ManifestStatus::Existing => {
            writer.add_existing_file(file, entry.snapshot_id.unwrap_or(-1), sequence, file_sequence)
        }
        ManifestStatus::Deleted => writer.add_delete_file(file, sequence, file_sequence),
    }
}

/// Which manifests of one content to merge into one: those of a tier that has [`MERGE`] of them, smallest tier first.
pub(crate) fn to_merge(manifests: &[ManifestFile], spec_id: i32) -> Option<Vec<usize>> {
    [ManifestContentType::Data, ManifestContentType::Deletes]
        .into_iter()
        .find_map(|content| to_merge_of(manifests, spec_id, content))
}

fn to_merge_of(manifests: &[ManifestFile], spec_id: i32, content: ManifestContentType) -> Option<Vec<usize>> {
    let mut tiers: [Vec<usize>; 4] = Default::default();
    for (place, file) in manifests.iter().enumerate() {
        let count = live_count(file);
        if file.content == content && file.partition_spec_id == spec_id && count < LARGE {
            tiers[(count.max(1).ilog(MERGE as u64) as usize).min(3)].push(place);
        }
    }
    tiers.into_iter().find(|tier| tier.len() >= MERGE)
}
