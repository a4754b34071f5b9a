//! Findings of one open file, with what the files around it say of tables. What is around is looked for once and again when
//! a file is saved; what has not changed since is not read as SQL again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oncemore_lint::{Finding, Input, Script, Session, judge};

use crate::context::cores;
use crate::lint::check::{Options, config_of, dbt_inputs, input_of};
use crate::lint::collect::{Kind, Request, Unit, collect};
use crate::lint::parallel::Threads;
use crate::lint::text::decode;

/// What is known of the files around.
#[derive(Default)]
pub(super) struct Analysis {
    /// By the file that was opened: its unit, and the scripts of the others.
    around: BTreeMap<PathBuf, Around>,
    /// By the folder of a unit: its files as they were read.
    sessions: BTreeMap<PathBuf, Session>,
}

struct Around {
    unit: Unit,
    scripts: Vec<Arc<Script>>,
    /// All files of a dbt project, which is looked at as a whole.
    inputs: Vec<Input>,
}

/// What is found in a text.
#[derive(Default)]
pub(super) struct Found {
    /// Findings.
    pub(super) findings: Vec<Finding>,
    /// What is wrong with the settings.
    pub(super) problem: Option<String>,
}

impl Analysis {
    /// Forgets which files are around and what they hold; how a text was read is remembered.
    pub(super) fn forget(&mut self) {
        self.around.clear();
    }

    /// A file is closed. What is known of its unit goes with the last one.
    pub(super) fn close(&mut self, place: &Path) {
        self.around.remove(place);
        let around = &self.around;
        self.sessions.retain(|base, _| around.values().any(|around| around.unit.base == *base));
    }

    /// Looks at a text that stands for a file.
    pub(super) fn look(&mut self, place: &Path, text: &str) -> Found {
        let options = Options::default();
        let is_new = !self.around.contains_key(place);
        if is_new {
            match around(place, text, &options, &mut self.sessions) {
                Ok(around) => {
                    self.around.insert(place.to_path_buf(), around);
                }
                Err(problem) => return Found { findings: Vec::new(), problem: Some(problem) },
            }
        }
        let Some(around) = self.around.get_mut(place) else { return Found::default() };
        let Around { unit, scripts, inputs } = around;
        let Some(file) = unit.files.iter().find(|file| file.wanted) else { return Found::default() };
        if unit.settings.is_run_once(&file.key) {
            return Found::default();
        }
        let config = config_of(unit, &options);
        let session = self.sessions.entry(unit.base.clone()).or_default();
        let mut findings: Vec<Finding> = if unit.kind == Kind::Dbt {
            if let Some(own) = inputs.iter_mut().find(|input| input.path == file.key) {
                text.clone_into(&mut own.text);
            }
            let found = session.lint(inputs, Some(&file.key), &config, &Threads(cores())).findings;
            found.into_iter().filter(|finding| finding.path == file.key).collect()
        } else {
            let script = session.parse(&input_of(unit, file, text.to_owned(), &options), &config);
            if is_new {
                session.sweep();
            }
            let knowledge = unit.settings.knowledge(scripts.iter().chain([&script]).map(|script| &**script));
            judge(&script, &knowledge, &config).findings
        };
        findings.retain(|finding| unit.settings.allowed(&file.key, finding.rule).is_none());
        Found { findings, problem: None }
    }
}

fn around(
    place: &Path,
    text: &str,
    options: &Options,
    sessions: &mut BTreeMap<PathBuf, Session>,
) -> Result<Around, String> {
    let here = place.parent().unwrap_or(place).to_path_buf();
    let given = Some((place.to_path_buf(), text.to_owned()));
    let request = Request { here, given, ..Request::default() };
    let mut units = collect(&request).map_err(|error| match error.diagnostics.first() {
        Some(first) => format!("{}: {}", error.message, first.message),
        None => error.message,
    })?;
    if units.is_empty() {
        return Err("the file belongs nowhere".to_owned());
    }
    let unit = units.swap_remove(0);
    if unit.kind == Kind::Dbt {
        let (inputs, _) = dbt_inputs(&unit, options);
        return Ok(Around { unit, scripts: Vec::new(), inputs });
    }
    let config = config_of(&unit, options);
    let session = sessions.entry(unit.base.clone()).or_default();
    session.begin();
    let others = unit.files.iter().filter(|file| !file.wanted);
    let scripts = others.filter_map(|file| {
        let decoded = std::fs::read(&file.place).ok().and_then(|bytes| decode(bytes).ok())?;
        Some(session.parse(&input_of(&unit, file, decoded.text, options), &config))
    });
    let scripts = scripts.collect();
    Ok(Around { unit, scripts, inputs: Vec::new() })
}
