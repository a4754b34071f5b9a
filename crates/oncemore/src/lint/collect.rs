//! What is to be linted: files below the given paths, each with the project it belongs to and its settings.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use oncemore_commit::CATALOG_FILE;
use oncemore_project::{LINT_FILE, LintSettings, PROJECT_FILE, TextFile, lint_settings};
use oncemore_run::{ErrorKind, RunError};

/// Folders that hold what others wrote or machines made, wherever they are. Names that somebody may give to a folder of
/// scripts (`logs`, `target`, `warehouse`) are not among them.
const SKIPPED: [&str; 7] = [
    "dbt_packages",
    "dbt_modules",
    "dbt_internal_packages",
    "node_modules",
    "venv",
    "site-packages",
    "__pycache__",
];

/// Folders that dbt makes in the folder of a project.
const MADE_BY_DBT: [&str; 2] = ["target", "logs"];

/// The file that makes a folder a dbt project.
const DBT_FILE: &str = "dbt_project.yml";

/// What a folder of files is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A project of ours: models with a header, judged as what they are replaced by.
    Oncemore,
    /// A dbt project.
    Dbt,
    /// Plain scripts.
    Scripts,
}

/// Files that know of each other.
#[derive(Debug)]
pub struct Unit {
    /// What they are.
    pub kind: Kind,
    /// The folder that patterns and fingerprints are relative to.
    pub base: PathBuf,
    /// What the user has set.
    pub settings: LintSettings,
    /// The files, by path.
    pub files: Vec<SourceFile>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is.
    pub place: PathBuf,
    /// Relative to the unit's base, with `/`.
    pub key: String,
    /// As findings show it: relative to the current folder.
    pub shown: String,
    /// Whether it was asked for; others are there for what they say of tables.
    pub wanted: bool,
    /// Its text, where it does not come from the disk.
    pub text: Option<String>,
}

/// What was asked for.
#[derive(Debug, Default)]
pub struct Request {
    /// The current folder.
    pub here: PathBuf,
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// A text that stands for a file, which need not be there.
    pub given: Option<(PathBuf, String)>,
}

/// Where a file belongs: the kind and the folder.
type Root = (Kind, PathBuf);

#[derive(Default)]
struct Collector {
    here: PathBuf,
    roots: BTreeMap<PathBuf, Root>,
    files: BTreeMap<Root, Vec<(PathBuf, bool)>>,
    walked: Vec<PathBuf>,
}

/// Finds all files that are asked for, by unit.
///
/// # Errors
/// A path that is not there, wrong settings.
pub fn collect(request: &Request) -> Result<Vec<Unit>, RunError> {
    let here = request.here.canonicalize().unwrap_or_else(|_| request.here.clone());
    let mut collector = Collector { here, ..Collector::default() };
    for path in &request.paths {
        let full = request.here.join(path);
        let place = full.canonicalize().map_err(|error| {
            RunError::usage(
                format!("can't read `{}`: {error}", path.display()),
                "name files, folders, or `-` for stdin",
            )
        })?;
        if place.is_dir() {
            let mut found = Vec::new();
            walk(&place, &mut found);
            collector.walked.push(place);
            for file in found {
                collector.add(file, true);
            }
        } else {
            collector.add(place, true);
        }
    }
    let mut text = None;
    if let Some((path, given)) = &request.given {
        let place = collector.here.join(path);
        collector.add(place.clone(), true);
        text = Some((place, given));
    }
    let mut units = collector.units()?;
    if let Some((place, given)) = text {
        for file in units.iter_mut().flat_map(|unit| &mut unit.files).filter(|file| file.place == place) {
            file.text = Some(given.clone());
        }
    }
    Ok(units)
}

impl Collector {
    fn add(&mut self, place: PathBuf, wanted: bool) {
        let folder = place.parent().unwrap_or(&self.here).to_path_buf();
        let root = self.root_of(&folder);
        self.files.entry(root).or_default().push((place, wanted));
    }

    /// The nearest folder upward that is a project or holds settings; where there is none, the current one.
    fn root_of(&mut self, folder: &Path) -> Root {
        if let Some(known) = self.roots.get(folder) {
            return known.clone();
        }
        let holds = |name: &str| folder.join(name).is_file();
        let root = if holds(PROJECT_FILE) {
            (Kind::Oncemore, folder.to_path_buf())
        } else if holds(DBT_FILE) {
            (Kind::Dbt, folder.to_path_buf())
        } else if holds(LINT_FILE) {
            (Kind::Scripts, folder.to_path_buf())
        } else {
            match folder.parent() {
                Some(parent) => self.root_of(parent),
                None => (Kind::Scripts, self.here.clone()),
            }
        };
        self.roots.insert(folder.to_path_buf(), root.clone());
        root
    }

    fn units(mut self) -> Result<Vec<Unit>, RunError> {
        let roots: Vec<Root> = self.files.keys().cloned().collect();
        let mut units = Vec::with_capacity(roots.len());
        for root in roots {
            self.complete(&root);
            let (base, settings) = self.settings(&root)?;
            let mut files: BTreeMap<PathBuf, bool> = BTreeMap::new();
            for (place, wanted) in self.files.remove(&root).unwrap_or_default() {
                *files.entry(place).or_default() |= wanted;
            }
            let files = files.into_iter().map(|(place, wanted)| {
                let (key, shown) = (relative(&base, &place), relative(&self.here, &place));
                SourceFile { key, shown, wanted, text: None, place }
            });
            let files = files.filter(|file| !settings.is_ignored(&file.key)).collect();
            units.push(Unit { kind: root.0, base, settings, files });
        }
        Ok(units)
    }

    /// Adds the files of a project that were not asked for: what they say of tables counts all the same.
    fn complete(&mut self, root: &Root) {
        let (kind, folder) = root;
        if *kind == Kind::Dbt {
            let mut found = Vec::new();
            walk_dbt(folder, &mut found);
            let found = found.into_iter().map(|file| (file, false));
            self.files.entry(root.clone()).or_default().extend(found);
            return;
        }
        let is_root = *kind != Kind::Scripts || folder.join(LINT_FILE).is_file();
        if !is_root || self.walked.iter().any(|walked| folder.starts_with(walked)) {
            return;
        }
        let mut found = Vec::new();
        walk(folder, &mut found);
        for file in found {
            let parent = file.parent().unwrap_or(folder).to_path_buf();
            if self.root_of(&parent) == *root {
                self.files.entry(root.clone()).or_default().push((file, false));
            }
        }
    }

    /// The settings of a unit, and the folder that they are relative to.
    fn settings(&self, (kind, folder): &Root) -> Result<(PathBuf, LintSettings), RunError> {
        if *kind == Kind::Oncemore {
            return Ok((folder.clone(), self.read(&folder.join(PROJECT_FILE))?));
        }
        match folder.ancestors().find(|folder| folder.join(LINT_FILE).is_file()) {
            Some(found) => Ok((found.to_path_buf(), self.read(&found.join(LINT_FILE))?)),
            None => Ok((folder.clone(), LintSettings::default())),
        }
    }

    fn read(&self, place: &Path) -> Result<LintSettings, RunError> {
        let path = relative(&self.here, place);
        let text = std::fs::read_to_string(place)
            .map_err(|error| RunError::new(ErrorKind::Config, format!("can't read `{path}`: {error}")))?;
        let (settings, diagnostics) = lint_settings(&TextFile { path: path.clone(), text });
        if diagnostics.is_empty() {
            return Ok(settings);
        }
        let error = RunError::new(ErrorKind::Config, format!("the settings in `{path}` are wrong"));
        Err(error.help("docs/keys.md lists every key").diagnostics(diagnostics))
    }
}

/// SQL files below a folder, in order of their paths. What a `.gitignore` excludes is passed over, as are folders that are
/// hidden; links to folders lead out, or in circles.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let is_folder = |entry: &DirEntry| entry.file_type().is_some_and(|kind| kind.is_dir());
    let walk = WalkBuilder::new(folder)
        // It means the same in a folder that was unpacked. What only one machine or one tool ignores means nothing.
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .ignore(false)
        .filter_entry(move |entry| !is_folder(entry) || !is_passed_over(entry.path()))
        .build();
    let files = walk
        .flatten()
        .filter(|entry| !is_folder(entry) && has_ending(&entry.file_name().to_string_lossy()))
        .map(DirEntry::into_path);
    found.extend(files);
    found.sort_unstable();
}

/// Whether a folder holds nothing that somebody wrote to be run: tools' folders, and tables of ours with their catalog.
fn is_passed_over(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let made_by_dbt = || folder.parent().is_some_and(|parent| parent.join(DBT_FILE).is_file());
    SKIPPED.contains(&&*name)
        || (MADE_BY_DBT.contains(&&*name) && made_by_dbt())
        || folder.join(CATALOG_FILE).is_file()
}

/// All of a dbt project that says what its models are: SQL and YAML, of its packages too, and what dbt made of them. dbt
/// itself reads no `.gitignore`.
fn walk_dbt(root: &Path, found: &mut Vec<PathBuf>) {
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_ours = name.starts_with("dbt_") || !is_passed_over(&entry.path());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && is_ours && !name.starts_with('.') => folders.push(entry.path()),
                Ok(kind) if kind.is_dir() => {}
                Ok(_) if DBT_ENDINGS.iter().any(|ending| name.ends_with(ending)) => found.push(entry.path()),
                _ => {}
            }
        }
    }
    let made = ["target/manifest.json", "target/catalog.json"].map(|path| root.join(path));
    found.extend(made.into_iter().filter(|path| path.is_file()));
    found.sort_unstable();
}

/// Files that a dbt project is made of.
const DBT_ENDINGS: [&str; 3] = [".sql", ".yml", ".yaml"];

fn has_ending(name: &str) -> bool {
    !name.starts_with('.')
        && name
            .rsplit_once('.')
            .is_some_and(|(_, ending)| ["sql", "hql"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// The way from a folder to a file, with `/`.
pub fn relative(folder: &Path, place: &Path) -> String {
    let shared = folder.components().zip(place.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().count() - shared;
    // Nothing but the root is shared: the full path is clearer.
    if shared <= 1 && up > 0 {
        return place.to_string_lossy().into_owned();
    }
    let mut parts: Vec<String> = vec!["..".to_owned(); up];
    parts.extend(place.components().skip(shared).filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    }));
    parts.join("/")
}
