//! A small project in a folder that can be set back, runs of it in worlds of their own, and what a reader finds.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arrow::util::display::array_value_to_string;
use futures::TryStreamExt;
use oncemore_commit::{INTERVAL_START, Warehouse};
use oncemore_core::world::SeededWorld;
use oncemore_core::{Instant, World};
use oncemore_run::{
    ClaimOptions, Event, Observer, PlanOptions, Ports, RangeRequest, RunError, RunOptions, RunReport, Stop,
    Workspace, WorkspaceOptions, plan,
};
use oncemore_testkit::FaultyObjects;
use oncemore_testkit::faults::Faulty;

/// Long after every file of a test was written, so that an unchanged one is known by its times.
const NOW: Instant = Instant(4_000_000_000_000_000);

/// What a reader sees: of each slice, or of a table that has none, its rows and stamps.
pub(crate) type View = BTreeMap<String, Vec<String>>;

/// A project's folder, and the copy that it is set back to.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
    worlds: AtomicU64,
}

struct Silent;

impl Observer for Silent {
    fn event(&self, _: Event) {}
}

impl Scene {
    /// The files of a fixture, in a folder of their own.
    pub(crate) fn new(fixture: &str) -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap(), worlds: AtomicU64::new(1) };
        scene.write(fixture);
        scene
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Writes files of a fixture over those that are there.
    pub(crate) fn write(&self, fixture: &str) {
        for (path, text) in oncemore_testkit::files(fixture) {
            let path = self.root().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    /// Keeps the folder as it is now.
    pub(crate) fn keep(&self) {
        copy(&self.root(), &self.folder.path().join("kept"));
    }

    /// Sets the folder back to what was kept. Under the same name: metadata holds absolute paths.
    pub(crate) fn set_back(&self) {
        std::fs::remove_dir_all(self.root()).unwrap();
        copy(&self.folder.path().join("kept"), &self.root());
    }

    /// A world whose process others take for dead.
    fn world(&self) -> Arc<dyn World> {
        Arc::new(SeededWorld::new(self.worlds.fetch_add(1, Ordering::Relaxed), NOW))
    }

    fn options(&self, faults: Option<&Arc<Faulty>>, read_only: bool) -> WorkspaceOptions {
        let ports = faults.map_or_else(Ports::default, |faults| Ports {
            faults: Some(faults.clone()),
            objects: Some(Arc::new(FaultyObjects::new(faults.clone()))),
        });
        WorkspaceOptions {
            root: self.root(),
            memory_bytes: 256 << 20,
            partitions: 1,
            read_only,
            scratch: std::env::temp_dir(),
            rebuild: None,
            ports,
        }
    }

    /// `oncemore run` in a process of its own, as far as the warehouse can tell; with `faults` beneath it.
    pub(crate) fn run(&self, faults: Option<&Arc<Faulty>>, single: bool) -> Result<RunReport, RunError> {
        self.run_with(PlanOptions::default(), faults, single)
    }

    /// `oncemore run --interval DAY`.
    pub(crate) fn run_day(&self, day: &str) {
        let range = RangeRequest { interval: Some(day.to_owned()), ..RangeRequest::default() };
        let report = self.run_with(PlanOptions { range, ..PlanOptions::default() }, None, true).unwrap();
        assert_eq!(report.exit_code(), 0, "{:?}", report.failed);
    }

    fn run_with(
        &self,
        plan: PlanOptions,
        faults: Option<&Arc<Faulty>>,
        single: bool,
    ) -> Result<RunReport, RunError> {
        let options = RunOptions {
            plan,
            jobs: 1,
            max_failures: None,
            request: None,
            yes: true,
            stale_parents_ok: false,
            single_commits: single,
            claims: ClaimOptions { user: "ana".to_owned(), command: "oncemore run".to_owned(), wait: None },
        };
        let observer: Arc<dyn Observer> = Arc::new(Silent);
        let said = block_on(async {
            let workspace = Workspace::open(self.options(faults, false), self.world()).await?;
            oncemore_run::run(&Arc::new(workspace), &options, &observer, &Stop::default()).await
        });
        // The run's own threads end a moment after it; with the last of them SQLite takes its log away.
        let log = self.root().join("warehouse/oncemore.db-wal");
        for _ in 0..2_000 {
            if !log.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        said
    }

    /// Tasks that a next run would have, as text.
    pub(crate) fn due(&self) -> Vec<String> {
        block_on(async {
            let workspace = Workspace::open(self.options(None, false), self.world()).await.unwrap();
            let planned = plan(&workspace.ground().unwrap(), &PlanOptions::default()).unwrap();
            planned.tasks.iter().map(|task| format!("{} {:?}", task.model, task.label)).collect()
        })
    }

    /// What a reader finds who comes now.
    pub(crate) fn view(&self) -> View {
        // Before there is a catalog there is nothing to read.
        if !self.root().join("warehouse/oncemore.db").exists() {
            return View::new();
        }
        block_on(async {
            let workspace = Workspace::open(self.options(None, true), self.world()).await.unwrap();
            let mut view = View::new();
            for model in &workspace.project.models {
                let name = model.name.to_string();
                let stamps = workspace.warehouse.stamps(model.sliced()).unwrap();
                let unit = |start: &str| match model.fold.is_some() || model.calendar.is_none() {
                    true => name.clone(),
                    false => format!("{name} {start}"),
                };
                for stamp in stamps.iter() {
                    let line = format!("stamp {} {} {:?}", stamp.interval, stamp.code, stamp.fingerprint);
                    view.entry(unit(&start_text(stamp.interval.start()))).or_default().push(line);
                }
                let mut tables = vec![name.clone()];
                tables.extend(model.fold.as_ref().map(|fold| fold.log.to_string()));
                for table in tables {
                    let rows = rows(&workspace, &table, model.fold.is_none()).await;
                    for (start, line) in rows {
                        view.entry(unit(&start)).or_default().push(format!("{table}: {line}"));
                    }
                }
            }
            view.values_mut().for_each(|lines| lines.sort());
            view
        })
    }

    /// The warehouse as a process of its own opens it.
    pub(crate) fn warehouse(&self) -> Warehouse {
        Warehouse::open(&self.root().join("warehouse"), self.world()).unwrap()
    }

    /// What the ledger says of each slice, but for numbers.
    pub(crate) fn ledger(&self) -> Vec<String> {
        let warehouse = self.warehouse();
        let mut lines = Vec::new();
        for table in warehouse.tables().unwrap() {
            for row in warehouse.last_attempts(&table).unwrap() {
                let (interval, state) = (row.attempt.interval, row.state.as_str());
                lines.push(format!("{table} {interval} {state} {:?}", row.rows));
            }
        }
        lines
    }

    /// How many data files lie in each folder of slices. In how many files a folded table lies depends on how it came to
    /// be.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, usize> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root().join("warehouse")];
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
                // What queries spill into is removed a moment after their end.
                if path.is_dir() && !path.ends_with("spill") && !path.ends_with("data/all") {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "parquet") {
                    *found.entry(folder.clone()).or_default() += 1;
                }
            }
        }
        found
    }
}

/// The rows of a table as text, each behind the start of its slice.
async fn rows(workspace: &Workspace, table: &str, sliced: bool) -> Vec<(String, String)> {
    let start = if sliced { format!("{INTERVAL_START}, ") } else { String::new() };
    let sql = format!("SELECT {start}* FROM {table}");
    let stream = oncemore_run::query::query(workspace, &sql).await.unwrap();
    let batches: Vec<_> = stream.try_collect().await.unwrap();
    let mut lines = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let cell = |column| array_value_to_string(batch.column(column), row).unwrap();
            let cells: Vec<String> = (0..batch.num_columns()).map(cell).collect();
            lines.push((cells[0].clone(), cells.join("|")));
        }
    }
    lines
}

/// An instant as Arrow shows it.
fn start_text(start: Instant) -> String {
    start.to_string()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_stack_size(16 << 20)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.file_name() == "spill" {
            // What queries spill into is removed a moment after their end.
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
