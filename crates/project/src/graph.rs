//! The graph of a project: names in FROM to models and sources, cycles, order. Knows no YAML.

use std::collections::{BTreeMap, BTreeSet};

use oncemore_core::{Audit, CHANGES, COUNTING, DELETED_KEYS, Diagnostic, Location};

use crate::code;
use crate::decode::Decoder;
use crate::decode::project::Settings;
use crate::load::Draft;
use crate::model::{Fold, Kind, Model, OnChange, OnForeign, Query};
use crate::names::{nearest, nearest_table, suggest};
use crate::sql::{self, SqlError, TableUse};

/// Indices of drafts, every one after those that it reads.
pub(crate) type Order = Vec<usize>;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Source,
    Model(usize),
}

/// Checks every name; the order of the models, unless they go in circles.
pub(crate) fn resolve(decoder: &mut Decoder, settings: &Settings, drafts: &[Draft]) -> Option<Order> {
    let known = known_names(decoder, settings, drafts);
    let names: Vec<&str> = known.keys().copied().collect();
    let mut edges: Vec<Vec<(usize, Location)>> = vec![Vec::new(); drafts.len()];
    for (index, draft) in drafts.iter().enumerate() {
        let Some(analysed) = &draft.analysed else { continue };
        for table in &analysed.tables {
            match known.get(table.name.as_str()) {
                Some(Target::Model(other)) if *other == index => {
                    decoder.error(self_read(table).diagnostic(|span| draft.locate(span)));
                }
                Some(Target::Model(other)) => edges[index].push((*other, draft.locate(table.span))),
                Some(Target::Source) => {}
                None => decoder.error(unknown_table(table, &names).diagnostic(|span| draft.locate(span))),
            }
        }
        check_previous(decoder, draft);
        check_inputs(decoder, draft, &names);
        check_audits(decoder, draft, &names);
        check_placeholders(decoder, draft, settings);
    }
    let order = order(decoder, drafts, &edges)?;
    check_views(decoder, drafts, &edges, &order);
    Some(order)
}

fn known_names<'s>(
    decoder: &mut Decoder,
    settings: &'s Settings,
    drafts: &'s [Draft],
) -> BTreeMap<&'s str, Target> {
    let mut known: BTreeMap<&str, Target> = BTreeMap::new();
    for (name, _) in &settings.declared {
        known.insert(name, Target::Source);
    }
    for (index, draft) in drafts.iter().enumerate() {
        if let Some((_, location)) = settings.declared.iter().find(|(name, _)| *name == draft.key) {
            let message = format!("`{}` is a source and the model {}", draft.key, draft.path);
            decoder.error(Diagnostic::error("duplicate-name", message, location.clone()).help("rename one"));
        }
        known.insert(&draft.key, Target::Model(index));
    }
    known
}

fn self_read(table: &TableUse) -> SqlError {
    let message = format!("`{}` reads its own output", table.name);
    SqlError::new("self-read", message, table.span).help(
        "the content of a slice is a function of interval, code and inputs alone; read the inputs further back instead, \
         or the slice before this one: `previous(…)`",
    )
}

/// `previous(…)` names the model itself, which has slices.
fn check_previous(decoder: &mut Decoder, draft: &Draft) {
    for table in draft.analysed.iter().flat_map(|analysed| &analysed.previous) {
        let wrong = |message: String, help: String| SqlError::new("previous", message, table.span).help(help);
        let error = match draft.settings.kind {
            // What is wrong with the settings is said elsewhere.
            None => continue,
            Some(Kind::Slice) if table.name == draft.key => continue,
            Some(Kind::Slice) => wrong(
                format!("`previous({})` in another model", table.name),
                format!(
                    "a model reads its own slice before, `previous({})`; of another table read the range that is \
                     needed: `FROM {}` with a condition on its time",
                    draft.key, table.name
                ),
            ),
            Some(kind) => wrong(
                format!("`previous(…)` in a {}", if kind == Kind::Full { "full table" } else { kind.name() }),
                match kind {
                    Kind::View => "put it into the model that writes the slices".to_owned(),
                    _ => "only a model of `kind: slice` has a slice before the own one".to_owned(),
                },
            ),
        };
        decoder.error(error.diagnostic(|span| draft.locate(span)));
    }
}

fn unknown_table(table: &TableUse, names: &[&str]) -> SqlError {
    let near = nearest_table(&table.name, names);
    let (message, help) = match table.name.matches('.').count() {
        0 => {
            let help = match near {
                Some(near) => format!("write `{near}`"),
                None => "write `<schema>.<name>` of a model or a source".to_owned(),
            };
            (format!("`{}` in FROM is no CTE, and a table needs its schema", table.name), help)
        }
        1 => {
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "add a model of that name, or a source in oncemore.yml".to_owned(),
            };
            (format!("unknown table `{}`", table.name), help)
        }
        _ => (
            format!("`{}` has more than two parts", table.name),
            "write `<schema>.<name>` of a model or a source".to_owned(),
        ),
    };
    SqlError::new("unknown-table", message, table.span).help(help)
}

/// `inputs:` names what the model reads.
fn check_inputs(decoder: &mut Decoder, draft: &Draft, _names: &[&str]) {
    let read: Vec<&str> = inputs_of(draft).into_iter().collect();
    for (name, location, _) in &draft.settings.inputs {
        if !read.contains(&name.as_str()) {
            let message = format!("`inputs` names `{name}`, which the query does not read");
            let mut error = Diagnostic::error("unknown-name", message, location.clone());
            error.help = suggest(name, &read);
            decoder.error(error);
        }
    }
}

/// Tables that audits name exist.
fn check_audits(decoder: &mut Decoder, draft: &Draft, names: &[&str]) {
    for decoded in &draft.settings.audits {
        match &decoded.audit {
            Audit::Relationship { to, .. } if !names.contains(&to.as_str()) => {
                let message = format!("unknown table `{to}`");
                let mut error = Diagnostic::error("unknown-table", message, decoded.location.clone());
                error.help = nearest_table(to, names).map(|near| format!("did you mean `{near}`?"));
                decoder.error(error);
            }
            Audit::Sql { sql, .. } => {
                let at = |_: sql::Span| decoded.location.clone();
                match sql::analyse(sql) {
                    Ok(analysed) => {
                        for table in &analysed.previous {
                            let error = SqlError::new("previous", "`previous(…)` in an audit", table.span)
                                .help("an audit looks at the slice that is about to be published");
                            decoder.error(error.diagnostic(at));
                        }
                        for table in
                            analysed.tables.iter().filter(|table| !names.contains(&table.name.as_str()))
                        {
                            decoder.error(unknown_table(table, names).diagnostic(at));
                        }
                        for error in analysed.errors {
                            decoder.error(error.diagnostic(at));
                        }
                    }
                    Err(errors) => {
                        for error in errors {
                            decoder.error(error.diagnostic(at));
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

fn is_interval(name: &str) -> bool {
    matches!(name, "interval_start" | "interval_end")
}

fn check_placeholders(decoder: &mut Decoder, draft: &Draft, settings: &Settings) {
    for placeholder in draft.analysed.iter().flat_map(|analysed| &analysed.placeholders) {
        let name = placeholder.name.as_str();
        let error = if is_interval(name) {
            if draft.settings.kind != Some(Kind::Full) {
                continue;
            }
            let message = format!("a full table has no interval: `:{name}` means nothing here");
            SqlError::new("placeholder", message, placeholder.span)
                .help("remove it, or make the model `kind: slice`")
        } else if settings.variables.contains_key(name) {
            continue;
        } else {
            let known =
                settings.variables.keys().map(String::as_str).chain(["interval_start", "interval_end"]);
            let error = SqlError::new(
                "placeholder",
                format!("`{}` is no variable", placeholder.text()),
                placeholder.span,
            );
            error.help(match nearest(name, known) {
                Some(near) => format!("did you mean `:{near}`?"),
                None => "declare it under `variables` in oncemore.yml".to_owned(),
            })
        };
        decoder.error(error.diagnostic(|span| draft.locate(span)));
    }
}

/// A full table has no interval to give to a view.
fn check_views(decoder: &mut Decoder, drafts: &[Draft], edges: &[Vec<(usize, Location)>], order: &Order) {
    let mut needs_interval = vec![false; drafts.len()];
    for index in order {
        let draft = &drafts[*index];
        let through = edges[*index]
            .iter()
            .find(|(other, _)| drafts[*other].settings.kind == Some(Kind::View) && needs_interval[*other]);
        let own = draft.analysed.iter().flat_map(|analysed| &analysed.placeholders);
        needs_interval[*index] = through.is_some() || own.into_iter().any(|found| is_interval(&found.name));
        if let (Some((view, location)), Some(Kind::Full)) = (through, draft.settings.kind) {
            let message =
                format!("view `{}` needs an interval, and a full table has none", drafts[*view].key);
            let error = Diagnostic::error("placeholder", message, location.clone());
            decoder.error(error.help("read the interval's bounds in a slice model alone"));
        }
    }
}

/// Orders the models by what they read, by name among equals; each circle is an error.
fn order(decoder: &mut Decoder, drafts: &[Draft], edges: &[Vec<(usize, Location)>]) -> Option<Order> {
    let reads: Vec<BTreeSet<usize>> =
        edges.iter().map(|edges| edges.iter().map(|(other, _)| *other).collect()).collect();
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); drafts.len()];
    let mut open: Vec<usize> = reads.iter().map(BTreeSet::len).collect();
    for (index, reads) in reads.iter().enumerate() {
        for other in reads {
            readers[*other].push(index);
        }
    }
    let mut ready: BTreeSet<(&str, usize)> = (0..drafts.len())
        .filter(|index| open[*index] == 0)
        .map(|index| (drafts[index].key.as_str(), index))
        .collect();
    let mut order = Vec::with_capacity(drafts.len());
    while let Some((_, index)) = ready.pop_first() {
        order.push(index);
        for reader in &readers[index] {
            open[*reader] -= 1;
            if open[*reader] == 0 {
                ready.insert((drafts[*reader].key.as_str(), *reader));
            }
        }
    }
    if order.len() == drafts.len() {
        return Some(order);
    }
    report_cycles(decoder, drafts, edges, &open);
    None
}

/// One error for each circle found by walking on from the models that could not be ordered.
fn report_cycles(decoder: &mut Decoder, drafts: &[Draft], edges: &[Vec<(usize, Location)>], open: &[usize]) {
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    let mut stuck: Vec<usize> = (0..drafts.len()).filter(|index| open[*index] > 0).collect();
    stuck.sort_by_key(|index| &drafts[*index].key);
    for start in stuck {
        let mut path: Vec<usize> = Vec::new();
        let mut at = start;
        // Each stuck model reads a stuck one: the walk ends in a circle, or in one that was reported.
        while !seen.contains(&at) {
            seen.insert(at);
            path.push(at);
            let next = edges[at].iter().map(|(other, _)| *other).filter(|other| open[*other] > 0);
            let Some(next) = next.min_by_key(|other| &drafts[*other].key) else { break };
            at = next;
        }
        let Some(from) = path.iter().position(|index| *index == at) else { continue };
        let mut circle = path.split_off(from);
        let first = (0..circle.len()).min_by_key(|at| &drafts[circle[*at]].key).unwrap_or(0);
        circle.rotate_left(first);
        let names: Vec<&str> =
            circle.iter().chain(circle.first()).map(|index| drafts[*index].key.as_str()).collect();
        let next = circle.get(1).or(circle.first());
        let location =
            edges[circle[0]].iter().find(|(other, _)| Some(other) == next).map(|(_, at)| at.clone());
        let message = format!("models read each other in a circle: {}", names.join(" → "));
        decoder
            .error(Diagnostic::error("cycle", message, location).help("one of them must not read the next"));
    }
}

/// Names of models and sources that a draft reads, each once.
fn inputs_of<'d>(draft: &'d Draft) -> BTreeSet<&'d str> {
    draft.analysed.iter().flat_map(|analysed| &analysed.tables).map(|table| table.name.as_str()).collect()
}

/// The models in order, with their code versions; only where nothing is wrong.
pub(crate) fn models(settings: &Settings, drafts: Vec<Draft>, order: &Order) -> Vec<Model> {
    let mut coder = code::Coder::new(settings);
    let mut drafts: Vec<Option<Draft>> = drafts.into_iter().map(Some).collect();
    order
        .iter()
        .filter_map(|index| {
            let draft = drafts[*index].take()?;
            let inputs: Vec<String> = inputs_of(&draft).into_iter().map(str::to_owned).collect();
            let (code, frame) = coder.code(&draft, &inputs)?;
            model(draft, inputs, code, frame, settings.on_foreign)
        })
        .collect()
}

fn model(
    draft: Draft,
    inputs: Vec<String>,
    code: oncemore_core::CodeVersion,
    frame: oncemore_core::Digest,
    on_foreign: OnForeign,
) -> Option<Model> {
    let named = draft.analysed.iter().flat_map(|analysed| &analysed.outputs);
    let outputs = named.map(|(name, span)| (name.clone(), draft.locate(*span))).collect();
    let settings = draft.settings;
    let kind = settings.kind?;
    let beside = |ending| draft.name.with_ending(ending).ok();
    let fold = match kind {
        Kind::Merge | Kind::History => Some(Fold {
            log: beside(CHANGES)?,
            beside: beside(if kind == Kind::Merge { DELETED_KEYS } else { COUNTING })?,
            history: settings.history,
            effective: settings.effective,
            order: settings.order,
            deleted: settings.deleted,
            ties: settings.ties,
        }),
        _ => None,
    };
    let audits: Vec<Audit> = settings.audits.into_iter().map(|decoded| decoded.audit).collect();
    let reads_previous = draft.analysed.is_some_and(|analysed| !analysed.previous.is_empty());
    Some(Model {
        name: draft.name,
        rebuilds: None,
        kind,
        reads_previous,
        fold,
        calendar: settings.calendar,
        time: settings.time,
        key: settings.key,
        audits_digest: code::audits_digest(&audits),
        audits,
        tags: settings.tags,
        on_change: settings
            .inputs
            .into_iter()
            .map(|(name, _, on_change)| (name, on_change))
            .filter(|(_, on_change)| *on_change != OnChange::Rerun)
            .collect(),
        start: settings.start,
        end: settings.end,
        delay_micros: settings.delay_micros,
        on_foreign: settings.on_foreign.unwrap_or(on_foreign),
        description: settings.description,
        query: Query { sql: draft.sql.to_owned(), offset: draft.offset },
        inputs,
        code,
        frame,
        path: draft.path.to_owned(),
        location: draft.location,
        places: settings.places.with_outputs(outputs),
    })
}
