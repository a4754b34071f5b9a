//! A project opened for work: its files read, its warehouse and engine at hand, its sources looked at.
//!
//! The rim of this crate: what is read here becomes a [`Ground`], and everything after is decided on that.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use datafusion::object_store::ObjectStore;
use oncemore_backend::engine::{Engine, EngineOptions};
use oncemore_backend::source::{self, ProviderCache, SourceIndex, Store};
use oncemore_commit::{Attempt, Change, CommitError, Publish, Room, StampDraft, Warehouse, schema_digest};
use oncemore_core::fault::Faults;
use oncemore_core::{
    Calendar, CodeVersion, ColumnType, Instant, Interval, IntervalLength, Origin, SourceSpec, TableName,
    World, Zone,
};
use oncemore_project::{Kind, Model, OnChange, Project, TextFile};

use crate::assess::{Assessment, Damage};
use crate::confine;
use crate::error::{ErrorKind, RunError};
use crate::facts::{self, Facts};
use crate::fold;
use crate::ground::{Ground, ModelGround, SourceGround};
use crate::inputs::{Cell, InputCells};
use crate::kept;
use crate::rebuild;
use crate::spare::{self, Spared};
use crate::supply::SourceSupply;

/// Where a project is and what may be used to work on it.
#[derive(Clone, Debug)]
pub struct WorkspaceOptions {
    /// The project's folder.
    pub root: PathBuf,
    /// Memory for all queries together, in bytes.
    pub memory_bytes: usize,
    /// Threads that a query may use.
    pub partitions: usize,
    /// Whether the warehouse is only read.
    pub read_only: bool,
    /// Where queries spill to beside a warehouse that is only read.
    pub scratch: PathBuf,
    /// The model whose table is built anew beside the old one, see [`crate::rebuild`].
    pub rebuild: Option<String>,
    /// What stands between the work and the world; nothing outside of tests.
    pub ports: Ports,
}

/// Where a test gets between a workspace and disk, catalog and sources. Empty in production.
#[derive(Clone, Debug, Default)]
pub struct Ports {
    /// Decides which calls to disk, catalog and sources fail. Not asked beside a warehouse that is only read.
    pub faults: Option<Arc<dyn Faults>>,
    /// What queries and audits read files of our tables through, by absolute paths.
    pub objects: Option<Arc<dyn ObjectStore>>,
}

/// A source with what was found of it.
pub struct LoadedSource {
    /// As declared.
    pub spec: SourceSpec,
    /// Its files and cells.
    pub index: Arc<SourceIndex>,
}

/// A project opened for work.
pub struct Workspace {
    /// The project.
    pub project: Project,
    /// Where its tables live.
    pub warehouse: Warehouse,
    pub(crate) options: WorkspaceOptions,
    pub(crate) world: Arc<dyn World>,
    pub(crate) sources: BTreeMap<String, LoadedSource>,
    pub(crate) facts: BTreeMap<String, Facts>,
    pub(crate) cache: Arc<ProviderCache>,
    pub(crate) store: Store,
    /// Where tasks hold the changes that they fold.
    pub(crate) room: Room,
    engine: OnceLock<Engine>,
}

/// Engine build that computes slices here, recorded in their stamps.
const ENGINE: &str = concat!("oncemore ", env!("CARGO_PKG_VERSION"), ", datafusion 53.1.0");

/// Decoded inputs that may stay in memory over the tasks of one command, in bytes; a quarter of the queries' memory
/// where that is less.
const CACHE_BYTES: usize = 512 << 20;

/// Deepest folder below `models`; deeper ones are a loop of links.
const DEPTH_MAX: usize = 16;

/// Reads the texts that make up the project in `root`: `oncemore.yml`, `models/**/*.sql`, `tests/*.yml`.
///
/// # Errors
/// No `oncemore.yml`, or a file that can't be read.
pub fn read_texts(root: &Path) -> Result<Vec<TextFile>, RunError> {
    let mut texts = vec![read_text(root, Path::new("oncemore.yml"))?];
    let mut folders = vec![(PathBuf::from("models"), 0)];
    confine::inside(root, Path::new("models"))?;
    let mut found = Vec::new();
    while let Some((folder, depth)) = folders.pop() {
        let entries = match std::fs::read_dir(root.join(&folder)) {
            Ok(entries) => entries,
            Err(error) if depth == 0 && error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(&root.join(&folder), &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&root.join(&folder), &error))?;
            let path = folder.join(entry.file_name());
            let mut kind = entry.file_type().map_err(|error| unreadable(&entry.path(), &error))?;
            if kind.is_symlink() {
                confine::inside(root, &path)?;
                kind =
                    entry.path().metadata().map_err(|error| unreadable(&entry.path(), &error))?.file_type();
            }
            if kind.is_dir() && depth < DEPTH_MAX {
                folders.push((path, depth + 1));
            } else if !kind.is_dir() && path.extension().is_some_and(|ending| ending == "sql") {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    for path in found {
        texts.push(read_text(root, &path)?);
    }
    Ok(texts)
}

fn read_text(root: &Path, path: &Path) -> Result<TextFile, RunError> {
    let full = root.join(path);
    if full.is_symlink() {
        confine::inside(root, path)?;
    }
    let bytes = std::fs::read(&full).map_err(|error| unreadable(&full, &error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        RunError::new(ErrorKind::Config, format!("`{}` is no valid UTF-8 at byte {at}", full.display()))
    })?;
    let path = path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
    Ok(TextFile { path, text })
}

fn unreadable(path: &Path, error: &std::io::Error) -> RunError {
    RunError::new(ErrorKind::Config, format!("can't read `{}`: {error}", path.display()))
        .help("`oncemore init` begins a project; `--project DIR` names the folder of one")
}

/// Loads the project in `root`.
///
/// # Errors
/// Anything wrong in its files, as diagnostics; a warehouse outside of it.
pub fn load_project(root: &Path) -> Result<Project, RunError> {
    let loaded = oncemore_project::load(&read_texts(root)?);
    let errors =
        loaded.diagnostics.iter().filter(|found| found.severity == oncemore_core::Severity::Error).count();
    match loaded.project {
        Some(project) if errors == 0 => {
            confine::inside(root, Path::new(&project.warehouse))?;
            Ok(project)
        }
        _ => {
            let plural = if errors == 1 { "" } else { "s" };
            Err(RunError::new(ErrorKind::Config, format!("the project has {errors} error{plural}"))
                .diagnostics(loaded.diagnostics))
        }
    }
}

impl Workspace {
    /// Opens the project in `options.root`: reads it, looks at its sources, and works out what each model reads.
    ///
    /// # Errors
    /// A wrong project, a warehouse that can't be opened, a source that can't be read.
    pub async fn open(options: WorkspaceOptions, world: Arc<dyn World>) -> Result<Workspace, RunError> {
        Self::look(options, world).await.map_err(RunError::nothing_changed)
    }

    async fn look(options: WorkspaceOptions, world: Arc<dyn World>) -> Result<Workspace, RunError> {
        let mut project = load_project(&options.root)?;
        if let Some(model) = &options.rebuild {
            rebuild::add(&mut project, model)?;
        }
        let folder = options.root.join(&project.warehouse);
        let warehouse = if options.read_only {
            Warehouse::open_read_only(&folder, world.clone())
        } else {
            Warehouse::open_with(&folder, world.clone(), options.ports.faults.clone())
        }?;
        let memory_bytes = options.memory_bytes;
        let store = Store::with_faults(&options.root, options.ports.faults.clone())?;
        let mut workspace = Workspace {
            project,
            warehouse,
            options,
            world,
            sources: BTreeMap::new(),
            facts: BTreeMap::new(),
            cache: Arc::new(ProviderCache::new(CACHE_BYTES.min(memory_bytes / 4))),
            store,
            room: Room::new(memory_bytes / 8 * 5),
            engine: OnceLock::new(),
        };
        workspace.look_at_sources().await?;
        workspace.facts = facts::derive(&workspace)?;
        Ok(workspace)
    }

    /// Takes every vanished file of these sources for meant, from the next command on: its rows count as deleted, and
    /// nobody is asked again until it comes back.
    ///
    /// # Errors
    /// A warehouse that can't be written.
    pub(crate) fn accept_gone(&self, sources: &BTreeSet<&str>) -> Result<(), RunError> {
        let read = self.sources.values().filter(|source| sources.contains(source.spec.name.as_str()));
        for source in read.filter(|source| !source.index.gone().is_empty()) {
            let mut index = SourceIndex::clone(&source.index);
            source.index.gone().iter().for_each(|gone| index.accept_gone(&gone.path));
            remember(&self.warehouse, &source.spec.name, &index)?;
        }
        Ok(())
    }

    /// The engine, started at its first use.
    ///
    /// # Errors
    /// A spill folder that can't be made.
    pub fn engine(&self) -> Result<&Engine, RunError> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine);
        }
        let spill_dir = match self.options.read_only {
            true => self.options.scratch.clone(),
            false => self.options.root.join(&self.project.warehouse).join("spill"),
        };
        // The engine makes it by itself, but stumbles over another process that does so at the same time. Where it can't
        // be made the engine says so.
        let _ = std::fs::create_dir_all(&spill_dir);
        let engine = Engine::new(&EngineOptions {
            memory_bytes: self.options.memory_bytes,
            partitions: self.options.partitions,
            // Merges hold a batch of each run: with little memory, small ones.
            batch_size: (self.options.memory_bytes >> 14).clamp(1_024, 8_192),
            spill_dir,
            objects: self.options.ports.objects.clone(),
        })?;
        Ok(self.engine.get_or_init(|| engine))
    }

    /// The model of a table.
    pub fn model(&self, name: &str) -> Option<&Model> {
        self.project.models.iter().find(|model| model.name.as_str() == name)
    }

    /// The model of a table that a plan names.
    pub(crate) fn planned(&self, name: &TableName) -> Result<&Model, RunError> {
        let missing = || RunError::new(ErrorKind::Internal, format!("no model is called `{name}`"));
        self.model(name.as_str()).ok_or_else(missing)
    }

    /// What decides the next plan.
    ///
    /// # Errors
    /// A warehouse that can't be read.
    pub fn ground(&self) -> Result<Ground, RunError> {
        let now = self.world.now();
        let begun: BTreeSet<TableName> = self.warehouse.tables()?.into_iter().collect();
        let mut models = Vec::with_capacity(self.project.models.len());
        for model in self.project.models.iter().filter(|model| model.kind != Kind::View) {
            let mut own = self.model_ground(model)?;
            if own.damaged.is_none() {
                own.misfit = rebuild::misfit(self, model, &own)?;
            }
            own.rebuild = rebuild::unfinished(self, model, &begun)?;
            models.push(own);
        }
        self.note_unmet(&mut models)?;
        let limits = self.source_limits(now);
        let sources = self
            .sources
            .values()
            .map(|source| {
                let ground = SourceGround {
                    cells: source_cells(&source.index),
                    zone: zone_of(&source.spec),
                    state: Box::new(SourceSupply::new(source.index.clone(), limits)),
                };
                (source.spec.name.clone(), ground)
            })
            .collect::<HashMap<_, _>>();
        Ok(Ground::new(now, models, sources))
    }

    /// Tells the readers of tables that have to be built anew what these can't give them until then.
    fn note_unmet(&self, models: &mut [ModelGround]) -> Result<(), RunError> {
        let misfits: BTreeSet<String> = models
            .iter()
            .filter(|model| model.misfit.is_some())
            .map(|model| model.name.to_string())
            .collect();
        for model in models {
            for read in model.reads.iter().filter(|read| misfits.contains(&read.input)) {
                let Some(input) = self.model(&read.input) else { continue };
                let what = kept::unmet(self, input, read)?;
                model.unmet.extend(what.map(|what| (read.input.clone(), what)));
            }
        }
        Ok(())
    }

    /// What decides the next plan, with the slices that changed dimensions spare: reads rows where one has changed.
    ///
    /// # Errors
    /// A warehouse that can't be read.
    pub async fn ground_with_spared(&self) -> Result<Ground, RunError> {
        let mut ground = self.ground()?;
        let models = 0..ground.models.len();
        spare::look(self, &mut ground, models).await;
        Ok(ground)
    }

    /// Takes in what a model's tables hold now, or that this can't be read.
    pub(crate) fn refresh(&self, ground: &mut ModelGround) -> Result<(), RunError> {
        match self.take_in(ground) {
            Err(error @ CommitError::Damaged { .. }) => {
                let RunError { message, help, .. } = RunError::from(error);
                ground.damaged = Some(Damage { what: message, help: help.unwrap_or_default() });
                ground.set_stamps(Arc::default(), None);
                ground.foreign.clear();
            }
            taken => {
                taken?;
                ground.damaged = None;
            }
        }
        Ok(())
    }

    fn take_in(&self, ground: &mut ModelGround) -> Result<(), CommitError> {
        let stamps = self.warehouse.stamps(&ground.sliced)?;
        let changes = self.warehouse.foreign_changes(&ground.sliced)?;
        ground.foreign = changes.into_iter().map(|found| (found.interval, found.detail)).collect();
        let state = ground.is_folded().then(|| self.warehouse.stamps(&ground.name)).transpose()?;
        if ground.is_folded()
            && let Some(found) = self.warehouse.foreign_changes(&ground.name)?.into_iter().next()
            && let Some(last) = stamps.last()
        {
            // The state has no slices: whichever is run again folds all of it.
            ground.foreign.entry(last.interval).or_insert(format!("`{}`: {}", ground.name, found.detail));
        }
        ground.set_stamps(stamps, state);
        Ok(())
    }

    /// Takes in what one slice of a model that is not folded holds now.
    pub(crate) fn refresh_slice(&self, ground: &mut ModelGround, interval: Interval) -> Result<(), RunError> {
        if let Some(stamp) = self.warehouse.stamp(&ground.sliced, interval)? {
            ground.put_stamp(stamp);
        }
        Ok(())
    }

    fn model_ground(&self, model: &Model) -> Result<ModelGround, RunError> {
        let name = model.name.to_string();
        let facts = self
            .facts
            .get(&name)
            .ok_or_else(|| RunError::new(ErrorKind::Internal, format!("`{name}` has not been analysed")))?;
        let instant = |text: &Option<String>| {
            let calendar = model.calendar.as_ref()?;
            calendar.parse_instant(text.as_deref()?)
        };
        let mut ground = ModelGround {
            name: model.name.clone(),
            sliced: model.sliced().clone(),
            calendar: model.calendar.clone(),
            tags: model.tags.clone(),
            start: instant(&model.start).or_else(|| instant(&self.project.start)),
            end: instant(&model.end).or_else(|| instant(&self.project.end)),
            delay_micros: model.delay_micros,
            code: model.code,
            code_seen: self.warehouse.code_seen(self.first_sight(model), model.code)?,
            audits: model.audits_digest,
            schema: schema_digest(&fold::stored_columns(model, facts)),
            earlier: BTreeMap::new(),
            reads: facts.reads.clone(),
            lookups: facts.lookups.clone(),
            spared: Spared::default(),
            ignored: inputs_with(model, OnChange::Ignore),
            reported: inputs_with(model, OnChange::Report),
            stamps: Arc::default(),
            failed: self.warehouse.failed_slices(model.sliced())?,
            on_foreign: model.on_foreign,
            foreign: BTreeMap::new(),
            misfit: None,
            damaged: None,
            unmet: BTreeMap::new(),
            rebuild: None,
            cells: InputCells::default(),
            rows: 0,
        };
        self.refresh(&mut ground)?;
        let others: BTreeSet<CodeVersion> =
            ground.stamps.iter().map(|stamp| stamp.code).filter(|code| *code != model.code).collect();
        for code in others {
            ground.earlier.extend(facts::earlier(self, model, code)?.map(|found| (code, found)));
        }
        Ok(ground)
    }

    /// The table by whose name it is known when code of a model was first seen.
    fn first_sight<'a>(&'a self, model: &'a Model) -> &'a TableName {
        let own = model.rebuilds.as_ref().and_then(|name| self.model(name.as_str()));
        own.unwrap_or(model).sliced()
    }

    /// Looks at every source's files and reads those that changed.
    async fn look_at_sources(&mut self) -> Result<(), RunError> {
        let now = self.world.now();
        for declared in &self.project.sources {
            let spec = &declared.spec;
            let known = self.warehouse.source_get(&spec.name)?;
            let known: Option<SourceIndex> = known.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let cells = self.cells_of(spec);
            let index = source::look(spec, &self.store, known.as_ref(), &cells, now).await?;
            // A file that was read before and is broken now keeps its old entry: it can still be found gone, and the
            // slices that it held rows of are known.
            if known.as_ref().is_some_and(|known| index.hides(known)) {
                // Nothing to remember.
            } else if index.files_read() > 0 || known.is_none_or(|known| known.version() != index.version()) {
                remember(&self.warehouse, &spec.name, &index)?;
            }
            let loaded = LoadedSource { spec: spec.clone(), index: Arc::new(index) };
            self.sources.insert(spec.name.clone(), loaded);
        }
        Ok(())
    }

    /// Cuts a source's time as finely as its readers do, in their zone where its times are instants.
    fn cells_of(&self, spec: &SourceSpec) -> Calendar {
        let readers: Vec<&Calendar> =
            self.readers_of(&spec.name).filter_map(|model| model.calendar.as_ref()).collect();
        let finest = readers.iter().map(|calendar| calendar.length).min().unwrap_or(IntervalLength::Day);
        let length = finest.min(spec.path_interval.unwrap_or(finest)).min(IntervalLength::Day);
        let instants = spec.time.as_ref().is_none_or(|time| {
            spec.columns.iter().all(|(name, kind)| name != time || *kind == ColumnType::TimestampTz)
        });
        let shared = readers.split_first().and_then(|(first, rest)| {
            rest.iter().all(|other| other.zone == first.zone).then(|| first.zone.clone())
        });
        Calendar::new(
            length,
            shared.filter(|_| instants && spec.path_interval.is_none()).unwrap_or_else(|| zone_of(spec)),
        )
    }

    /// The models that read a source, directly or through views.
    fn readers_of<'a>(&'a self, source: &'a str) -> impl Iterator<Item = &'a Model> {
        let mut names = BTreeSet::from([source]);
        // Models come after what they read: each view is known before its readers are asked.
        self.project.models.iter().filter(move |model| {
            let reads = model.inputs.iter().any(|input| names.contains(input.as_str()));
            if reads && model.kind == Kind::View {
                names.insert(model.name.as_str());
            }
            reads
        })
    }

    fn source_limits(&self, now: Instant) -> crate::supply::Limits {
        let calendar = |zone: &Zone| Calendar::new(IntervalLength::Day, zone.clone());
        let days = calendar(&self.project.time_zone);
        let instant = |text: &Option<String>| text.as_deref().and_then(|text| days.parse_instant(text));
        crate::supply::Limits { start: instant(&self.project.start), end: instant(&self.project.end), now }
    }

    /// The publish of a slice as assessed: all of its stamp that is known before the rows are.
    pub(crate) fn publish_of(
        &self,
        model: &Model,
        assessment: &Assessment,
        attempt: &Attempt,
        code_seen: Instant,
        change: Change,
    ) -> Publish {
        Publish {
            table: model.sliced().clone(),
            interval: assessment.interval,
            stamp: StampDraft {
                code: model.code,
                code_seen,
                inputs: assessment.pins.clone(),
                audits: model.audits_digest,
                epoch: attempt.epoch,
                attempt: attempt.id,
                engine: ENGINE.to_owned(),
                origin: Origin::Computed,
            },
            change,
            expected: assessment.owner,
            replace_foreign: false,
            read_back: false,
            on_tie: fold::on_tie(model),
            dated_by: model.time.clone(),
        }
    }
}

/// Inputs of which a change does `what`.
fn inputs_with(model: &Model, what: OnChange) -> Vec<String> {
    model.on_change.iter().filter(|(_, policy)| **policy == what).map(|(input, _)| input.clone()).collect()
}

/// Keeps what is known of a source for the next command.
fn remember(warehouse: &Warehouse, source: &str, index: &SourceIndex) -> Result<(), RunError> {
    let bytes =
        serde_json::to_vec(index).map_err(|error| RunError::new(ErrorKind::Internal, error.to_string()))?;
    Ok(warehouse.source_put(source, &bytes)?)
}

/// The zone of a source's dates and wall times.
pub(crate) fn zone_of(spec: &SourceSpec) -> Zone {
    Zone::named(&spec.time_zone).unwrap_or_else(Zone::utc)
}

fn source_cells(index: &SourceIndex) -> InputCells {
    InputCells::new(index.cells().iter().map(|cell| Cell {
        interval: cell.interval,
        fingerprint: cell.fingerprint,
        columns: cell.columns.clone().into(),
        changed_at: None,
    }))
}
