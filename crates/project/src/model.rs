//! What a project is once it is loaded: plain values with public fields. Knows nothing of YAML or of how SQL is parsed.

use std::collections::{BTreeMap, BTreeSet};

use oncemore_core::{
    Audit, Calendar, CodeVersion, Diagnostic, Digest, Location, SourceSpec, TableName, Zone,
};
use serde::{Deserialize, Serialize};

use crate::lint::LintSettings;
use crate::places::Places;

/// A file of the project, already read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    /// Path relative to the project's folder, with `/`.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// What came of loading.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The project, where no diagnostic is an error.
    pub project: Option<Project>,
    /// All that was found, by file and place.
    pub diagnostics: Vec<Diagnostic>,
}

/// A project without errors.
#[derive(Clone, Debug)]
pub struct Project {
    /// Its name.
    pub name: String,
    /// Folder of the tables, relative to the project's folder, with `/`.
    pub warehouse: String,
    /// First instant that tasks are due for, as written: a date means midnight in each model's zone.
    pub start: Option<String>,
    /// First instant that no task is due for, as written.
    pub end: Option<String>,
    /// Zone of models and sources that name none.
    pub time_zone: Zone,
    /// Sources, by name.
    pub sources: Vec<Source>,
    /// Models, every one after those that it reads.
    pub models: Vec<Model>,
    /// Limits of one command.
    pub limits: Limits,
    /// What lint judges, and how.
    pub lint: LintSettings,
    /// Values for `:name` in queries.
    pub variables: BTreeMap<String, Variable>,
    /// Text of each file, by path, to show the place of an error.
    pub texts: BTreeMap<String, String>,
}

impl Project {
    /// The model of a table.
    pub fn model(&self, name: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.name.as_str() == name)
    }

    /// The source of that name.
    pub fn source(&self, name: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.spec.name == name)
    }

    /// The views that `model` reads, directly or through views, each after those that it reads, with their queries.
    pub fn expanded_views(&self, model: &Model) -> Vec<(&TableName, &str)> {
        let mut wanted: BTreeSet<&str> = model.inputs.iter().map(String::as_str).collect();
        let mut views = Vec::new();
        // Models come after what they read: walking backward meets each view after all its readers.
        for candidate in self.models.iter().rev() {
            if candidate.kind == Kind::View && wanted.contains(candidate.name.as_str()) {
                wanted.extend(candidate.inputs.iter().map(String::as_str));
                views.push((&candidate.name, candidate.query.sql.as_str()));
            }
        }
        views.reverse();
        views
    }
}

/// A source and where it is declared.
#[derive(Clone, Debug)]
pub struct Source {
    /// As declared.
    pub spec: SourceSpec,
    /// Its name in `oncemore.yml`.
    pub location: Location,
}

/// What a run does about a slice that somebody else wrote into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnForeign {
    /// Leaves it as it is, and says so.
    Warn,
    /// Leaves it as it is, and fails.
    #[default]
    Error,
    /// Takes what is there for ours: a new stamp says so, and readers follow.
    Adopt,
}

/// Limits of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// More tasks than this, caused by code or a dimension, need `--yes`.
    pub tasks: u64,
    /// How long a run keeps its claim without a sign of life, in microseconds.
    pub lease_micros: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { tasks: 100, lease_micros: 60_000_000 }
    }
}

/// Value of a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Variable {
    /// `true` or `false`
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Everything else, dates among it.
    Text(String),
}

/// How a model is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One task writes the rows of one interval.
    Slice,
    /// One task writes the changes of one interval; the table holds the last one of each key.
    Merge,
    /// One task writes the changes of one interval; the table holds when which values of a key held.
    History,
    /// One task writes the whole table.
    Full,
    /// Nothing is written; expanded into its readers.
    View,
}

impl Kind {
    /// The kind as written in a project.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Slice => "slice",
            Kind::Merge => "merge",
            Kind::History => "history",
            Kind::Full => "full",
            Kind::View => "view",
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a change of an input does to slices that read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnChange {
    /// They are stale.
    #[default]
    Rerun,
    /// They are named, not run.
    Report,
    /// Nothing.
    Ignore,
}

/// What two changes of a key with equal order do that differ otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// They are counted; the greater one by all remaining columns wins.
    #[default]
    Warn,
    /// They fail the task.
    Error,
}

/// How a table is folded from stored changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The table of the changes, cut into slices.
    pub log: TableName,
    /// The table beside the model's own: of keys that were deleted, or of the changes that count.
    pub beside: TableName,
    /// The first of `order`, where it was named as the one that dates changes.
    pub effective: Option<String>,
    /// Columns that order the changes of a key.
    pub order: Vec<String>,
    /// Condition under which a change deletes its key.
    pub deleted: Option<String>,
    /// What ties do.
    pub ties: Ties,
    /// How changes become stretches of time; of a history alone.
    pub history: Option<History>,
}

/// How changes become stretches of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// Column that dates a change; none: each interval holds all keys that are there.
    pub at: Option<String>,
    /// Columns that are tracked; none given: all but key, time, date and order.
    pub track: Vec<String>,
    /// Whether an interval without rows means that nothing is there, where each holds all keys.
    pub empty: bool,
}

/// A model: one table, or one view.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its table.
    pub name: TableName,
    /// The table that its own is built to replace, beside it, where it is; the project's files call the model by that.
    pub rebuilds: Option<TableName>,
    /// How it is stored.
    pub kind: Kind,
    /// Whether it reads the slice before its own one.
    pub reads_previous: bool,
    /// How it is folded from its changes; of a merge or a history alone.
    pub fold: Option<Fold>,
    /// How its time is cut; of what has slices alone.
    pub calendar: Option<Calendar>,
    /// Output column that decides which slice a row belongs to; of what has slices alone.
    pub time: Option<String>,
    /// Columns that identify a row; empty: none given.
    pub key: Vec<String>,
    /// What must hold before rows are published.
    pub audits: Vec<Audit>,
    /// Digest of `audits`.
    pub audits_digest: Digest,
    /// Labels to select by.
    pub tags: Vec<String>,
    /// What a change of an input does, where it is not the default.
    pub on_change: BTreeMap<String, OnChange>,
    /// First instant of its own, as written.
    pub start: Option<String>,
    /// End of its own, as written.
    pub end: Option<String>,
    /// How long after an interval's end the interval becomes due.
    pub delay_micros: i64,
    /// What a write of somebody else does.
    pub on_foreign: OnForeign,
    /// For people.
    pub description: Option<String>,
    /// Its query.
    pub query: Query,
    /// Models and sources named in FROM, sorted.
    pub inputs: Vec<String>,
    /// What the model means.
    pub code: CodeVersion,
    /// What it means apart from the text of its query.
    pub frame: Digest,
    /// Its file.
    pub path: String,
    /// Where its settings begin.
    pub location: Location,
    /// Where what is in them is written.
    pub places: Places,
}

impl Model {
    /// The name that the project's files have for the model.
    pub fn called(&self) -> &TableName {
        self.rebuilds.as_ref().unwrap_or(&self.name)
    }

    /// The table whose slices the model's tasks write: its own, or that of its changes.
    pub fn sliced(&self) -> &TableName {
        self.fold.as_ref().map_or(&self.name, |fold| &fold.log)
    }
}

/// A query as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// One SELECT, without a closing semicolon.
    pub sql: String,
    /// Where `sql` begins in the model's file.
    pub offset: usize,
}
