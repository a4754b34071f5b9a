//! What every command starts from: the streams, the project's folder, the workspace, the runtime.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oncemore_core::{Instant, World};
use oncemore_run::{ErrorKind, Ports, RunError, Workspace, WorkspaceOptions};

use crate::args::Global;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::world::SystemWorld;

/// Stack of the runtime's threads: plans are walked by recursion there, too.
const WORKER_STACK_BYTES: usize = 64 << 20;

/// Memory of commands that take no `--memory`.
const MEMORY_BYTES: usize = 1 << 30;

/// The ground that a command stands on.
#[derive(Debug)]
pub struct Context {
    /// The streams.
    pub ui: Ui,
    /// Arguments of every command.
    pub global: Global,
    world: Arc<dyn World>,
}

/// What a command does with the warehouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Looks.
    Read,
    /// Writes.
    Write,
}

impl Context {
    /// The context of this process.
    pub fn new(global: Global) -> Self {
        let ui = Ui::new(global.output, global.color);
        Context { ui, global, world: Arc::new(SystemWorld::new()) }
    }

    /// The real world.
    pub fn world(&self) -> Arc<dyn World> {
        Arc::clone(&self.world)
    }

    /// The current time.
    pub fn now(&self) -> Instant {
        self.world.now()
    }

    /// The project's folder: as given, or the nearest one upward that holds `oncemore.yml`.
    ///
    /// # Errors
    /// No project there.
    pub fn root(&self) -> Result<PathBuf, RunError> {
        if let Some(root) = &self.global.project {
            return holds_project(root).then(|| root.clone()).ok_or_else(|| {
                RunError::usage(
                    format!("`{}` holds no `oncemore.yml`", root.display()),
                    "`oncemore init DIR` begins a project",
                )
            });
        }
        let here = std::env::current_dir().map_err(|error| {
            RunError::new(ErrorKind::Usage, format!("there is no current folder: {error}"))
        })?;
        let found = here.ancestors().find(|folder| holds_project(folder)).map(Path::to_path_buf);
        found.ok_or_else(|| {
            RunError::usage(
                format!("no `oncemore.yml` in `{}` nor above it", here.display()),
                "`oncemore init DIR` begins a project, `oncemore demo` makes one with data, `--project DIR` names one",
            )
        })
    }

    /// Opens the project for a command that needs no `--memory` and no `--jobs`.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub async fn open(&self, access: Access) -> Result<Arc<Workspace>, Failure> {
        self.open_with(access, MEMORY_BYTES, cores()).await
    }

    /// Opens the project.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub async fn open_with(
        &self,
        access: Access,
        memory_bytes: usize,
        partitions: usize,
    ) -> Result<Arc<Workspace>, Failure> {
        self.open_as(access, self.options(memory_bytes, partitions)?).await
    }

    /// Opens the project to build the table of `model` anew.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub async fn open_to_rebuild(
        &self,
        model: &str,
        memory_bytes: usize,
        partitions: usize,
    ) -> Result<Arc<Workspace>, Failure> {
        let options = self.options(memory_bytes, partitions)?;
        let options = WorkspaceOptions { rebuild: Some(model.to_owned()), ..options };
        self.open_as(Access::Write, options).await
    }

    fn options(&self, memory_bytes: usize, partitions: usize) -> Result<WorkspaceOptions, RunError> {
        let (root, scratch) = (self.root()?, std::env::temp_dir());
        Ok(WorkspaceOptions {
            root,
            memory_bytes,
            partitions,
            read_only: false,
            scratch,
            rebuild: None,
            ports: Ports::default(),
        })
    }

    async fn open_as(&self, access: Access, options: WorkspaceOptions) -> Result<Arc<Workspace>, Failure> {
        let read_only = WorkspaceOptions { read_only: true, ..options.clone() };
        let opened = match Workspace::open(options, self.world()).await {
            // What only looks keeps what it learnt of the sources where it may, and goes without where it may not.
            Err(error) if access == Access::Read && error.diagnostics.is_empty() => {
                Workspace::open(read_only, self.world()).await.map_err(|_| error)
            }
            opened => opened,
        };
        Ok(Arc::new(opened?))
    }

    /// Runs a command's future on a runtime of `threads` workers.
    ///
    /// # Errors
    /// What the future fails with, or a runtime that can't be made.
    pub fn block_on<T>(
        &self,
        threads: usize,
        future: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_stack_size(WORKER_STACK_BYTES)
            .enable_all()
            .build()?;
        let result = runtime.block_on(future);
        // A blocked reader of a source must not keep the process alive.
        runtime.shutdown_background();
        result
    }
}

/// Number of cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

fn holds_project(folder: &Path) -> bool {
    folder.join("oncemore.yml").is_file()
}
