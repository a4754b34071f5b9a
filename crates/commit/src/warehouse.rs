//! A warehouse: a folder of tables and the SQLite file that points to them. Owns opening, locations and caches.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use iceberg::TableCreation;
use iceberg::spec::{ManifestFile, TableMetadata, TableMetadataBuilder, UnboundPartitionSpec};
use oncemore_core::fault::Faults;
use oncemore_core::{CHANGES, COUNTING, DELETED_KEYS, Instant, Interval, REBUILD, Stamp, TableName, World};
use uuid::Uuid;

use crate::catalog::{self, Catalog};
use crate::disk::{Disk, local};
use crate::error::{CommitError, Result};
use crate::fold::{DELETED, FoldSpec};
use crate::metadata::{self, Shape, manifest, schema};
use crate::shape;
use crate::slice_map::SliceMap;
use crate::state::{IndexState, State};

/// A folder of tables with its catalog and ledger. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Warehouse {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    world: Arc<dyn World>,
    catalog: Catalog,
    disk: Disk,
    queues: Mutex<HashMap<TableName, Arc<Mutex<()>>>>,
    states: Mutex<HashMap<TableName, Arc<State>>>,
    stamps: Mutex<HashMap<TableName, (String, Arc<Vec<Stamp>>)>>,
    manifests: Mutex<HashMap<String, manifest::Entries>>,
    /// The newest manifest list of each table, with its path, by the table's id.
    lists: Mutex<HashMap<Uuid, (String, manifest::List)>>,
}

/// Entries of manifests kept in memory, over all tables.
const MANIFESTS_CACHED: usize = 4_096;

impl Warehouse {
    /// Opens the warehouse in `root`, making it where there is none.
    ///
    /// # Errors
    /// The folder can't be written; the catalog is damaged or of a newer version.
    pub fn open(root: &Path, world: Arc<dyn World>) -> Result<Self> {
        Self::open_with(root, world, None)
    }

    /// Opens the warehouse with a decision on which steps fail.
    ///
    /// # Errors
    /// As [`Warehouse::open`].
    pub fn open_with(root: &Path, world: Arc<dyn World>, faults: Option<Arc<dyn Faults>>) -> Result<Self> {
        let disk = Disk::new(faults);
        let catalog = Catalog::open(root, disk.clone(), false, world.process())?;
        Self::with_catalog(root, world, catalog, disk)
    }

    /// Opens the warehouse with an empty ledger, where it has none.
    pub(crate) fn open_anew(root: &Path, world: Arc<dyn World>) -> Result<Self> {
        let disk = Disk::new(None);
        let catalog = Catalog::open(root, disk.clone(), true, world.process())?;
        Self::with_catalog(root, world, catalog, disk)
    }

    /// Opens an existing warehouse for reading, also on media that can't be written.
    ///
    /// # Errors
    /// There is none, it can't be read, or it is of a newer version.
    pub fn open_read_only(root: &Path, world: Arc<dyn World>) -> Result<Self> {
        let disk = Disk::new(None);
        let catalog = Catalog::open_read_only(root, disk.clone(), world.process())?;
        Self::with_catalog(root, world, catalog, disk)
    }

    fn with_catalog(root: &Path, world: Arc<dyn World>, catalog: Catalog, disk: Disk) -> Result<Self> {
        let root = root.canonicalize();
        let root = root.map_err(|error| CommitError::io("find the warehouse folder", error))?;
        let inner = Inner {
            root,
            world,
            catalog,
            disk,
            queues: Mutex::default(),
            states: Mutex::default(),
            stamps: Mutex::default(),
            manifests: Mutex::default(),
            lists: Mutex::default(),
        };
        Ok(Warehouse { inner: Arc::new(inner) })
    }

    /// The folder, absolute.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    pub(crate) fn world(&self) -> &dyn World {
        &*self.inner.world
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.inner.catalog
    }

    pub(crate) fn disk(&self) -> &Disk {
        &self.inner.disk
    }

    /// Where a table of ours lies.
    pub(crate) fn folder(&self, table: &TableName) -> PathBuf {
        self.inner.root.join(table.schema()).join(table.name())
    }

    /// The turn-taking of commits to one table in this process.
    pub(crate) fn queue(&self, table: &TableName) -> Arc<Mutex<()>> {
        lock(&self.inner.queues).entry(table.clone()).or_default().clone()
    }

    /// Names of all tables.
    ///
    /// # Errors
    /// The catalog can't be read.
    pub fn tables(&self) -> Result<Vec<TableName>> {
        Ok(self.inner.catalog.tables()?.into_iter().map(|pointer| pointer.name).collect())
    }

    /// The stamps of all slices of a table by interval; none where there is no such table.
    ///
    /// # Errors
    /// The catalog or the table's metadata can't be read.
    pub fn stamps(&self, table: &TableName) -> Result<Arc<Vec<Stamp>>> {
        loop {
            let Some(location) = self.inner.catalog.pointer(table)? else { return Ok(Arc::default()) };
            match self.stamps_at(table, location.clone()) {
                // Commits that came after it may have removed what it names.
                Err(_) if self.has_moved(table, &location)? => {}
                stamps => return stamps.map_err(|error| self.damaged(table, error)),
            }
        }
    }

    fn stamps_at(&self, table: &TableName, location: String) -> Result<Arc<Vec<Stamp>>> {
        if let Some((known, stamps)) = lock(&self.inner.stamps).get(table)
            && *known == location
        {
            return Ok(stamps.clone());
        }
        let known = lock(&self.inner.states).get(table).filter(|state| state.location == location).cloned();
        self.check_newest(table, &location)?;
        let stamps = match self.inner.catalog.index(table)? {
            _ if known.is_some() => known.map(|state| stamps_of(&state.map)).unwrap_or_default(),
            Some((at, index)) if at == location => {
                let index = IndexState::parse(&index)?;
                self.load_map(&self.folder(table), index.map.as_deref())?.into_stamps()
            }
            _ => {
                let state = self.state_at(table, location.clone())?;
                self.refresh_index(&state)?;
                stamps_of(&state.map)
            }
        };
        let stamps = Arc::new(stamps);
        lock(&self.inner.stamps).insert(table.clone(), (location, stamps.clone()));
        Ok(stamps)
    }

    /// The stamp of one slice; `None` where nothing was published for it.
    ///
    /// # Errors
    /// As [`Warehouse::stamps`].
    pub fn stamp(&self, table: &TableName, interval: Interval) -> Result<Option<Stamp>> {
        let state = self.state(table)?;
        Ok(state.and_then(|state| state.map.get(interval)?.stamp.clone()))
    }

    /// A table's state at its head; `None` where there is no such table.
    pub(crate) fn state(&self, table: &TableName) -> Result<Option<Arc<State>>> {
        loop {
            let Some(location) = self.inner.catalog.pointer(table)? else { return Ok(None) };
            match self.state_at(table, location.clone()) {
                // Commits that came after it may have removed what it names.
                Err(_) if self.has_moved(table, &location)? => {}
                state => return state.map(Some).map_err(|error| self.damaged(table, error)),
            }
        }
    }

    /// Whether the head is no longer at `location`.
    pub(crate) fn has_moved(&self, table: &TableName, location: &str) -> Result<bool> {
        Ok(self.inner.catalog.pointer(table)?.as_deref() != Some(location))
    }

    fn state_at(&self, table: &TableName, location: String) -> Result<Arc<State>> {
        if let Some(state) = lock(&self.inner.states).get(table)
            && state.location == location
        {
            return Ok(state.clone());
        }
        self.check_newest(table, &location)?;
        let path = Path::new(local(&location)).to_owned();
        if !path.exists() && !path.starts_with(&self.inner.root) {
            return Err(self.moved(table, &location));
        }
        let metadata = metadata::parse(&self.read_own(&path)?, &location)?;
        if Path::new(local(metadata.location())) != self.folder(table) {
            return Err(self.moved(table, metadata.location()));
        }
        self.confined(table)?;
        let state = Arc::new(State::load(self, table, location, metadata)?);
        self.remember(state.clone());
        Ok(state)
    }

    /// Refuses a head that is older than one that was published: a catalog from a backup would have all that came after
    /// it forgotten. The hint for readers says which one was; it is written after each commit, so it is never ahead of a
    /// catalog that is up to date.
    fn check_newest(&self, table: &TableName, location: &str) -> Result<()> {
        let hint = self.hint_of(table);
        let (Some(there), Some(pointed)) =
            (hint.as_deref().and_then(metadata::version), metadata::version(location))
        else {
            return Ok(());
        };
        // Another process may have committed since the pointer was read.
        if there <= pointed || self.has_moved(table, location)? {
            return Ok(());
        }
        Err(CommitError::Behind { table: table.clone(), pointed, there })
    }

    /// The metadata file that the hint for readers names, without its ending.
    pub(crate) fn hint_of(&self, table: &TableName) -> Option<String> {
        let hint = std::fs::read_to_string(self.folder(table).join("metadata").join(HINT)).ok()?;
        Some(hint.trim().to_owned())
    }

    /// Refuses a table whose folder leads out of the warehouse by a link.
    fn confined(&self, table: &TableName) -> Result<()> {
        let folder = self.folder(table);
        for part in [folder.join("data"), folder.join("metadata")] {
            let there = part.ancestors().find(|part| part.symlink_metadata().is_ok()).unwrap_or(&part);
            let target = there.canonicalize();
            let target = target.map_err(|error| CommitError::io("find the folder of a table", error))?;
            if !target.starts_with(&self.inner.root) {
                let (there, target) = (there.display(), target.display());
                return Err(CommitError::Config(format!(
                    "`{there}` leads out of the warehouse by a link, to `{target}`; put the folder into the warehouse"
                )));
            }
        }
        Ok(())
    }

    fn moved(&self, table: &TableName, location: &str) -> CommitError {
        CommitError::Moved {
            table: table.clone(),
            said: location.to_owned(),
            root: self.inner.root.display().to_string(),
        }
    }

    /// Reads a file that only we remove, and never while something names it.
    pub(crate) fn read_own(&self, path: &Path) -> Result<Vec<u8>> {
        self.inner.disk.read(path).map_err(|error| match path.try_exists() {
            Ok(false) => CommitError::corrupt(path.display(), "it is gone"),
            _ => error,
        })
    }

    /// The error of a table whose head can't be read: damage is that of the table, and concerns those alone who read it.
    pub(crate) fn damaged(&self, table: &TableName, error: CommitError) -> CommitError {
        match error {
            CommitError::Corrupt { .. } => {
                let model = shape::model_of(table);
                let beside =
                    [CHANGES, COUNTING, DELETED_KEYS].iter().filter_map(|end| model.with_ending(end).ok());
                let folders = std::iter::once(model.clone()).chain(beside).map(|table| self.folder(&table));
                let folders =
                    folders.filter(|folder| folder.exists()).map(|folder| folder.display().to_string());
                CommitError::Damaged {
                    table: table.clone(),
                    folders: folders.collect(),
                    model,
                    detail: error.to_string(),
                }
            }
            other => other,
        }
    }

    pub(crate) fn remember(&self, state: Arc<State>) {
        lock(&self.inner.states).insert(state.table.clone(), state);
    }

    pub(crate) fn forget(&self, table: &TableName) {
        lock(&self.inner.states).remove(table);
        lock(&self.inner.stamps).remove(table);
    }

    /// Brings the index up to a head that another writer, or an older ledger, left it behind.
    fn refresh_index(&self, state: &State) -> Result<()> {
        if self.inner.catalog.is_read_only() || !state.is_ours() {
            return Ok(());
        }
        let (fence, index) = (state.map.max_fence(), state.index().to_json());
        self.inner.catalog.note(|transaction| {
            crate::ledger::raise(transaction, "request", fence.request)?;
            crate::ledger::raise(transaction, "attempt", fence.attempt)?;
            catalog::set_index(transaction, &state.table, &state.location, &index)
        })
    }

    pub(crate) fn load_map(&self, folder: &Path, name: Option<&str>) -> Result<SliceMap> {
        let Some(name) = name else { return Ok(SliceMap::default()) };
        let folder = folder.join("metadata");
        let mut read = HashMap::<String, Arc<Vec<u8>>>::new();
        SliceMap::load(name, |name| {
            if let Some(bytes) = read.get(name) {
                return Ok(bytes.clone());
            }
            if name.contains(['/', '\\']) {
                return Err(CommitError::corrupt(
                    "slice map",
                    format!("it names a file outside its folder: {name}"),
                ));
            }
            let bytes = Arc::new(self.read_own(&folder.join(name))?);
            read.insert(name.to_owned(), bytes.clone());
            Ok(bytes)
        })
    }

    /// Live entries of a manifest, cached by its path.
    pub(crate) fn manifest(&self, file: &ManifestFile) -> Result<manifest::Entries> {
        if let Some(entries) = lock(&self.inner.manifests).get(&file.manifest_path) {
            return Ok(entries.clone());
        }
        let bytes = self.inner.disk.read(Path::new(local(&file.manifest_path)))?;
        let entries = Arc::new(manifest::parse(&bytes, file)?);
        self.remember_manifest(file.manifest_path.clone(), entries.clone());
        Ok(entries)
    }

    pub(crate) fn remember_manifest(&self, path: String, entries: manifest::Entries) {
        let mut cache = lock(&self.inner.manifests);
        if cache.len() >= MANIFESTS_CACHED {
            cache.clear();
        }
        cache.insert(path, entries);
    }

    /// The manifests of the head, cached.
    pub(crate) fn manifest_list(&self, metadata: &TableMetadata) -> Result<manifest::List> {
        let Some(snapshot) = metadata.current_snapshot() else { return Ok(Arc::default()) };
        let path = snapshot.manifest_list();
        if let Some((known, list)) = lock(&self.inner.lists).get(&metadata.uuid())
            && known == path
        {
            return Ok(list.clone());
        }
        let bytes = self.inner.disk.read(Path::new(local(path)))?;
        let list = Arc::new(manifest::parse_list(&bytes, metadata.format_version(), path)?);
        self.remember_list(metadata, path.to_owned(), list.clone());
        Ok(list)
    }

    pub(crate) fn remember_list(&self, metadata: &TableMetadata, path: String, list: manifest::List) {
        lock(&self.inner.lists).insert(metadata.uuid(), (path, list));
    }

    /// Makes the table, or brings its columns up to `schema` by name: missing ones are added (NULL in old rows),
    /// narrow ones widened. A column that the query no longer gives stays and is written as NULL.
    ///
    /// # Errors
    /// A type that tables can't hold, or that stored rows can't be read as; storage or catalog out of reach.
    pub fn ensure_table(
        &self,
        table: &TableName,
        schema: &Schema,
        key: &[String],
        sliced: bool,
    ) -> Result<()> {
        self.ensure(table, schema, key, if sliced { Shape::Slices } else { Shape::Whole })
    }

    /// Makes a log of changes and the tables that are folded from it, or brings their columns up to `schema`.
    /// `deletes`: whether changes say that they delete their key.
    ///
    /// # Errors
    /// As [`Warehouse::ensure_table`]; a table that is there as another kind, or folded in another way.
    pub fn ensure_fold(
        &self,
        log: &TableName,
        schema: &Schema,
        deletes: bool,
        spec: &FoldSpec,
    ) -> Result<()> {
        if schema.index_of(DELETED).is_ok() {
            return Err(CommitError::Config(format!(
                "column `{DELETED}` has a name that is ours; rename it"
            )));
        }
        let there = self.state(log)?;
        if let Some(state) = &there {
            // Before any of the tables is touched.
            shape::check(state, &spec.key, &Shape::Log(spec.clone()))?;
        }
        let known = there.map(|state| metadata::fold_of(&state.metadata)).transpose()?.flatten();
        // Keys that were deleted once stay so, whatever deletes none from now on.
        let beside = spec.beside.clone().or_else(|| known.and_then(|known| known.beside));
        let spec = &FoldSpec { beside, ..spec.clone() };
        // The log last: what is published into it must find a place in the others.
        let changes = changes_of(schema, deletes);
        for (table, columns, key) in spec.shapes(schema, &changes)? {
            self.ensure(table, &columns, &key, Shape::Folded(log.clone()))?;
        }
        self.ensure(log, &changes, &spec.key, Shape::Log(spec.clone()))
    }

    fn ensure(&self, table: &TableName, schema: &Schema, key: &[String], shape: Shape) -> Result<()> {
        let columns = schema::columns(schema)?;
        if let Some(missing) = key.iter().find(|key| !columns.iter().any(|(name, _)| name == *key)) {
            return Err(CommitError::Config(format!(
                "key column `{missing}` of `{table}` is not among its columns"
            )));
        }
        self.confined(table)?;
        let queue = self.queue(table);
        let _turn = lock(&queue);
        for _ in 0..crate::publish::TRIES {
            let done = match self.state(table)? {
                None => self.create_table(table, &columns, key, &shape)?,
                Some(state) => self.evolve_table(&state, &columns, key, &shape)?,
            };
            if done {
                return Ok(());
            }
        }
        Err(CommitError::io(format!("change the columns of `{table}`"), "other writers kept changing it"))
    }

    fn create_table(
        &self,
        table: &TableName,
        columns: &[(String, oncemore_core::ColumnType)],
        key: &[String],
        shape: &Shape,
    ) -> Result<bool> {
        // What was built beside another table leaves its files to `gc`; all else that we drop, its hint goes first.
        let is_known_to_be_left = table.without_ending(REBUILD).is_some();
        if !is_known_to_be_left
            && self.hint_of(table).is_some()
            && self.inner.catalog.pointer(table)?.is_none()
        {
            return Err(CommitError::NoLedger {
                path: self.inner.root.join(catalog::FILE).display().to_string(),
                detail: format!(
                    "does not know `{table}`, whose files are there: it was restored from a backup, or somebody dropped \
                     the table and left its files; to begin anew, move {} away",
                    self.folder(table).display()
                ),
            });
        }
        let schema = schema::create(columns)?;
        let folder = self.folder(table);
        self.inner.disk.create_folder(&folder.join("metadata"))?;
        self.inner.disk.create_folder(&folder.join("data"))?;
        let spec = match shape {
            Shape::Folded(_) => UnboundPartitionSpec::default(),
            _ => schema::partition_spec(&schema)?,
        };
        let creation = TableCreation::builder()
            .name(table.name().to_owned())
            .location(text(&folder)?)
            .partition_spec(spec)
            .schema(schema)
            .properties(metadata::new_table_properties(key, shape)?)
            .build();
        let builder = TableMetadataBuilder::from_table_creation(creation)?
            .assign_uuid(Uuid::from_u128(self.world().fresh_id()));
        let Instant(now) = self.world().now();
        let (_, bytes) = metadata::build(builder, now / 1_000)?;
        // Up to the warehouse's own name, in the project's folder.
        let durable = self.inner.disk.sync_folders(&folder, 3);
        let swap = || self.swap_metadata(table, None, bytes, Some(IndexState::default()), Vec::new());
        match durable.and_then(|()| swap()) {
            // A clean-up took the folders for those of a table that is left.
            Err(_) if !folder.join("metadata").is_dir() => Ok(false),
            done => done,
        }
    }

    fn evolve_table(
        &self,
        state: &State,
        columns: &[(String, oncemore_core::ColumnType)],
        key: &[String],
        shape: &Shape,
    ) -> Result<bool> {
        let current = &state.metadata;
        shape::check(state, key, shape)?;
        let evolved =
            schema::evolve(&state.table, current.current_schema(), current.last_column_id(), columns)?;
        let mut properties = HashMap::new();
        if metadata::key_of(current) != key {
            properties.insert(metadata::KEY.to_owned(), metadata::key_json(key));
        }
        let property = shape.property()?;
        properties.extend(property.filter(|(name, value)| current.properties().get(name) != Some(value)));
        if evolved.is_none() && properties.is_empty() {
            return Ok(true);
        }
        let now_ms = metadata::next_ms(current, self.world());
        let (_, bytes) = metadata::change(current, &state.location, now_ms, |mut builder| {
            if let Some(evolved) = &evolved {
                builder = builder.add_current_schema(evolved.clone())?;
            }
            if properties.is_empty() { Ok(builder) } else { builder.set_properties(properties.clone()) }
        })?;
        let index = state.is_ours().then(|| state.index());
        self.swap_metadata(&state.table, Some(state), bytes, index, Vec::new())
    }

    /// Publishes metadata alone, with files that it names; false where somebody else was first.
    pub(crate) fn swap_metadata(
        &self,
        table: &TableName,
        old: Option<&State>,
        bytes: Vec<u8>,
        index: Option<IndexState>,
        named: Vec<(PathBuf, Vec<u8>)>,
    ) -> Result<bool> {
        let old_location = old.map(|state| state.location.as_str());
        // In the folder may lie what is left of another table of that name: its versions count on.
        let hint = self.hint_of(table).filter(|_| old.is_none());
        let name = metadata::next_name(old_location.or(hint.as_deref()), self.world());
        let path = self.folder(table).join("metadata").join(name);
        let location = text(&path)?;
        let files: Vec<_> = named.into_iter().chain([(path, bytes)]).collect();
        if !self.inner.disk.persist(&files, &[])? {
            return Ok(false);
        }
        let moved = self.inner.catalog.write(|transaction| {
            // Looked at under the lock that a clean-up takes files under.
            let are_there = files.iter().all(|(path, _)| path.exists());
            let moved = are_there && catalog::swap(transaction, table, old_location, &location)?;
            if let (true, Some(index)) = (moved, &index) {
                catalog::set_index(transaction, table, &location, &index.to_json())?;
            }
            Ok(moved)
        })?;
        if moved {
            self.write_hint(table, &location);
        } else {
            files.iter().try_for_each(|(path, _)| self.inner.disk.remove(path))?;
        }
        Ok(moved)
    }

    /// Tells readers that come by path that there is no such table any more.
    pub(crate) fn remove_hint(&self, table: &TableName) {
        // Left there, it makes us ask before a table of that name is begun again.
        let _ = self.inner.disk.remove(&self.folder(table).join("metadata").join(HINT));
    }

    /// Names the newest metadata file for readers that come by path. A hint: readers of the catalog never see it.
    pub(crate) fn write_hint(&self, table: &TableName, location: &str) {
        let mut location = location.to_owned();
        for _ in 0..crate::publish::TRIES {
            let folder = self.folder(table).join("metadata");
            let fresh = folder.join(format!(".version-hint.{:032x}", self.world().fresh_id()));
            // A stale hint names an older version of the table; the next command puts it right.
            let _ = self.inner.disk.replace_hint(&folder.join(HINT), &fresh, stem(&location).as_bytes());
            // Of two that committed, the first may be the last to get here.
            match self.inner.catalog.pointer(table) {
                Ok(Some(now)) if now != location => location = now,
                _ => return,
            }
        }
    }

    /// Puts right the hints that a crash between a commit and its hint left behind.
    pub(crate) fn mend_hints(&self) -> Result<()> {
        for pointer in self.inner.catalog.tables()? {
            let hint = self.folder(&pointer.name).join("metadata").join(HINT);
            let ours = Path::new(local(&pointer.location)).parent() == hint.parent();
            // One that is ahead is no hint of a crash: the catalog is older than the table.
            let ahead = self.hint_of(&pointer.name).as_deref().and_then(metadata::version)
                > metadata::version(&pointer.location);
            if ours
                && !ahead
                && std::fs::read(&hint).ok().as_deref() != Some(stem(&pointer.location).as_bytes())
            {
                self.write_hint(&pointer.name, &pointer.location);
            }
        }
        Ok(())
    }
}

/// Name of the file that readers by path look into.
const HINT: &str = "version-hint.text";

/// What a hint says of a metadata file.
fn stem(location: &str) -> &str {
    let name = location.rsplit('/').next().unwrap_or(location);
    name.strip_suffix(".metadata.json").unwrap_or(name)
}

/// The columns of a log of changes with the columns `schema`; `deletes`: whether they say that they delete their key.
pub(crate) fn changes_of(schema: &Schema, deletes: bool) -> Schema {
    let mut changes: Vec<FieldRef> = schema.fields().iter().cloned().collect();
    if deletes {
        changes.push(Arc::new(Field::new(DELETED, DataType::Boolean, true)));
    }
    Schema::new(changes)
}

fn stamps_of(map: &SliceMap) -> Vec<Stamp> {
    let mut stamps = Vec::with_capacity(map.len());
    stamps.extend(map.entries().filter_map(|entry| entry.stamp.clone()));
    stamps
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Values under these locks are replaced whole, so a panic leaves them usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn text(path: &Path) -> Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| CommitError::Config(format!("the path {} is not UTF-8", path.display())))
}
