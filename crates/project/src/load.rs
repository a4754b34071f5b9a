//! Loads a project: decodes settings, analyses queries, resolves names, orders models, computes code versions.

use std::collections::BTreeMap;

use oncemore_core::{CHANGES, COUNTING, DELETED_KEYS, Diagnostic, Location, REBUILD, Severity, TableName};

use crate::decode::model::{self, ModelSettings};
use crate::decode::project::{self, Settings};
use crate::decode::{Decoder, lint};
use crate::lint::LintSettings;
use crate::model::{Kind, Loaded, Project, TextFile};
use crate::names::nearest;
use crate::sql::{self, Analysed};
use crate::{graph, yaml};

/// The file that makes a folder a project.
pub const PROJECT_FILE: &str = "oncemore.yml";
/// The file that holds settings of lint where there is no project.
pub const LINT_FILE: &str = ".oncemore-lint.yml";
const MODELS: &str = "models/";
/// Endings of names that tables beside a model's own have.
const OWN_ENDINGS: [&str; 5] = ["__slices", CHANGES, COUNTING, DELETED_KEYS, REBUILD];

/// A model while it is not known to be right.
pub(crate) struct Draft<'a> {
    pub(crate) name: TableName,
    /// `<schema>.<name>`
    pub(crate) key: String,
    pub(crate) path: &'a str,
    pub(crate) location: Location,
    pub(crate) settings: ModelSettings,
    pub(crate) sql: &'a str,
    pub(crate) offset: usize,
    pub(crate) analysed: Option<Analysed>,
}

impl Draft<'_> {
    pub(crate) fn locate(&self, span: sql::Span) -> Location {
        Location { path: self.path.to_owned(), start: self.offset + span.start, end: self.offset + span.end }
    }
}

/// Loads a project from its files: `oncemore.yml` and `models/<schema>/<name>.sql`; others are passed over.
///
/// Never fails: what is wrong is in the diagnostics, all of it; the project is there where none of them is an error.
pub fn load(files: &[TextFile]) -> Loaded {
    let mut decoder = Decoder::default();
    let root = match files.iter().find(|file| file.path == PROJECT_FILE) {
        Some(file) => parse_yaml(&mut decoder, &file.path, &file.text, 0..file.text.len()),
        None => {
            let message = format!("there is no `{PROJECT_FILE}`");
            let help = "run this in a project's folder, or `oncemore init` to begin one";
            decoder.error(Diagnostic::error("no-project", message, None).help(help));
            None
        }
    };
    let settings = match &root {
        Some(root) => project::decode(&mut decoder, root),
        None => Settings::empty(),
    };
    let mut drafts: Vec<Draft> = Vec::new();
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.starts_with(MODELS) && file.path.ends_with(".sql")) {
        if let Some(draft) = load_model(&mut decoder, file, &settings) {
            match seen.insert(draft.key.clone(), draft.path) {
                Some(other) => {
                    let message = format!("two models for table `{}`: the other one is {other}", draft.key);
                    decoder.error(
                        Diagnostic::error("duplicate-name", message, draft.location).help("rename one"),
                    );
                }
                None => drafts.push(draft),
            }
        }
    }
    // Settings that can't be read declare nothing: to call what they may declare unknown would be noise.
    let order = root.as_ref().and_then(|_| {
        check_defaults(&mut decoder, &settings, &drafts);
        graph::resolve(&mut decoder, &settings, &drafts)
    });
    finish(decoder, settings, drafts, order, files)
}

/// Settings of lint in a file: in the section `lint` of [`PROJECT_FILE`], whose other sections are not judged here, or
/// at the top of any other. With what is wrong with them.
pub fn lint_settings(file: &TextFile) -> (LintSettings, Vec<Diagnostic>) {
    let mut decoder = Decoder::default();
    let is_project = file.path.rsplit('/').next() == Some(PROJECT_FILE);
    let root = match yaml::parse(&file.path, &file.text, 0, file.text.len()) {
        Ok(root) => root.filter(|node| !node.is_null()),
        Err(error) => return (LintSettings::default(), vec![*error]),
    };
    let Some(root) = root else { return (LintSettings::default(), Vec::new()) };
    if !is_project {
        let settings = lint::decode(&mut decoder, LINT_FILE, &root);
        return (settings, decoder.diagnostics);
    }
    let fields = decoder.fields(PROJECT_FILE, "project", &root);
    let mut settings =
        fields.get("lint").map(|node| lint::decode(&mut decoder, "lint", node)).unwrap_or_default();
    // What is wrong elsewhere is for `check` to say; what is right is knowledge.
    let all = project::decode(&mut Decoder::default(), &root);
    settings.sources = all.lint.sources;
    (settings, decoder.diagnostics)
}

fn finish(
    decoder: Decoder,
    settings: Settings,
    drafts: Vec<Draft>,
    order: Option<graph::Order>,
    files: &[TextFile],
) -> Loaded {
    let mut diagnostics = decoder.diagnostics;
    // A default that is wrong is met once for each model that takes it.
    let place = |found: &Diagnostic| found.location.clone().map(|at| (at.path, at.start, at.end));
    diagnostics.sort_by_cached_key(|found| (place(found), found.code, found.message.clone()));
    diagnostics.dedup();
    let failed = diagnostics.iter().any(|found| found.severity == Severity::Error);
    let project = order.filter(|_| !failed).map(|order| Project {
        models: graph::models(&settings, drafts, &order),
        name: settings.name,
        warehouse: settings.warehouse,
        start: settings.start,
        end: settings.end,
        time_zone: settings.time_zone,
        sources: settings.sources,
        limits: settings.limits,
        lint: settings.lint,
        variables: settings.variables,
        texts: files.iter().map(|file| (file.path.clone(), file.text.clone())).collect::<BTreeMap<_, _>>(),
    });
    Loaded { project, diagnostics }
}

fn parse_yaml<'a>(
    decoder: &mut Decoder,
    path: &'a str,
    text: &'a str,
    range: std::ops::Range<usize>,
) -> Option<yaml::Node<'a>> {
    match yaml::parse(path, text, range.start, range.end) {
        Ok(Some(node)) if !node.is_null() => Some(node),
        Ok(_) if path == PROJECT_FILE => {
            let location = Location { path: path.to_owned(), start: 0, end: 0 };
            decoder.missing("name", location, "begin with `name: <project>`");
            None
        }
        Ok(_) => None,
        Err(error) => {
            decoder.error(*error);
            None
        }
    }
}

fn load_model<'a>(decoder: &mut Decoder, file: &'a TextFile, settings: &Settings) -> Option<Draft<'a>> {
    let (path, text) = (file.path.as_str(), file.text.as_str());
    let top = Location { path: path.to_owned(), start: 0, end: 0 };
    let name = match table_of(path) {
        Ok(name) => Some(name),
        Err(message) => {
            let help = "models are `models/<schema>/<name>.sql`, both a-z, 0-9 and _";
            decoder.error(Diagnostic::error("wrong-name", message, top.clone()).help(help));
            None
        }
    };
    let comment = find_comment(text);
    if comment.open && comment.yaml.is_none() {
        let location = Location { path: path.to_owned(), start: comment.start, end: comment.start + 2 };
        let error = Diagnostic::error("sql", "the comment is never closed", location);
        decoder.error(error.help("end it with `*/`"));
        return None;
    }
    let location = Location { path: path.to_owned(), start: comment.start, end: comment.opening_end };
    let errors = decoder.diagnostics.len();
    let node = comment.yaml.clone().and_then(|range| parse_yaml(decoder, path, text, range));
    let broken = decoder.diagnostics.len() > errors;
    let offset = text.len() - text[comment.end..].trim_start().len();
    let sql = text[offset..].trim_end();
    let sql = sql.strip_suffix(';').unwrap_or(sql).trim_end();
    let defaults = name.as_ref().and_then(|name| settings.defaults.get(name.schema()));
    let model_settings = if broken {
        // What the comment says is unknown; to call its keys missing would be noise.
        let mut silent = Decoder::default();
        model::decode(&mut silent, None, None, &settings.time_zone, location.clone())
    } else {
        let defaults = defaults.map(|(_, fields)| fields);
        model::decode(decoder, node.as_ref(), defaults, &settings.time_zone, location.clone())
    };
    if let (Some(name), Some(kind @ (Kind::Merge | Kind::History))) = (&name, model_settings.kind)
        && name.name().len() + CHANGES.len() > 64
    {
        let message = format!("`{name}` is too long for a {kind}: `{name}{CHANGES}` is a table, too");
        let help = "at most 55 characters behind the dot";
        decoder.error(Diagnostic::error("wrong-name", message, location.clone()).help(help));
    }
    let (analysed, errors) = match sql::analyse(sql) {
        Ok(analysed) => (Some(analysed), Vec::new()),
        Err(errors) => (None, errors),
    };
    let name = name?;
    let draft = Draft {
        key: name.to_string(),
        name,
        path,
        location,
        settings: model_settings,
        sql,
        offset,
        analysed,
    };
    let found = draft.analysed.iter().flat_map(|analysed| analysed.errors.iter().cloned());
    for error in errors.into_iter().chain(found) {
        decoder.error(error.diagnostic(|span| draft.locate(span)));
    }
    Some(draft)
}

/// The table of `models/<schema>/<name>.sql`.
fn table_of(path: &str) -> Result<TableName, String> {
    let stem = path.strip_prefix(MODELS).and_then(|rest| rest.strip_suffix(".sql")).unwrap_or_default();
    let parts: Vec<&str> = stem.split('/').collect();
    let [schema, name] = parts[..] else {
        return Err(format!("`{path}` is not one folder below `models`"));
    };
    let table = TableName::new(schema, name).map_err(|error| error.to_string())?;
    if schema == "oncemore" || OWN_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return Err(format!("`{table}` is a name of Oncemore's own tables"));
    }
    Ok(table)
}

/// The comment with a model's settings, or the place where it should be.
struct Comment {
    start: usize,
    /// End of `/* oncemore`.
    opening_end: usize,
    yaml: Option<std::ops::Range<usize>>,
    /// Where the query may begin.
    end: usize,
    /// Whether a comment is opened at all.
    open: bool,
}

/// Finds `/* oncemore … */` at the head of the file, behind other comments at most.
fn find_comment(text: &str) -> Comment {
    const OPENING: &str = "/*";
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        if rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let Some(body) = rest.strip_prefix(OPENING) else { break };
        let close = body.find("*/").map(|close| at + OPENING.len() + close);
        let word = body.trim_start();
        let is_ours = word.strip_prefix("oncemore").is_some_and(|after| {
            after.is_empty() || after.starts_with(char::is_whitespace) || after.starts_with("*/")
        });
        if is_ours {
            let opening_end = at + OPENING.len() + (body.len() - word.len()) + "oncemore".len();
            let yaml = close.map(|close| opening_end.min(close)..close);
            let end = close.map_or(text.len(), |close| close + 2);
            return Comment { start: at, opening_end, yaml, end, open: true };
        }
        match close {
            Some(close) => at = close + 2,
            None => {
                return Comment { start: at, opening_end: at + 2, yaml: None, end: text.len(), open: true };
            }
        }
    }
    Comment { start: 0, opening_end: 0, yaml: None, end: 0, open: false }
}

/// Defaults for folders that hold no model are a mistake in the name.
fn check_defaults(decoder: &mut Decoder, settings: &Settings, drafts: &[Draft]) {
    let mut schemas: Vec<&str> = drafts.iter().map(|draft| draft.name.schema()).collect();
    schemas.sort_unstable();
    schemas.dedup();
    for (schema, (location, _)) in &settings.defaults {
        if !schemas.contains(schema) {
            let message = format!("defaults for `{schema}`, but there is no model in `models/{schema}`");
            let mut error = Diagnostic::error("unknown-name", message, location.clone());
            error.help =
                nearest(schema, schemas.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            decoder.error(error);
        }
    }
}
