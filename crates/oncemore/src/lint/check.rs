//! Units of files to findings, on all cores: read and parse each file, gather what is known of tables, judge each file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use oncemore_lint::{Config, Coverage, Dialect, Finding, Input, Judged, Knowledge, Script, Severity, parse};

use super::baseline::fingerprints;
use super::collect::{Kind, SourceFile, Unit};
use super::fix::{self, Mode};
use super::parallel::{self, Threads};
use super::text::{Decoded, decode};

/// How to lint, beside what the settings of each unit say.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Dialect of all files, whatever else says.
    pub dialect: Option<Dialect>,
    /// Rules that are off.
    pub off: Vec<String>,
    /// Whether what can't be judged, and comments that do nothing, are errors.
    pub strict: bool,
    /// Which rewrites to make.
    pub fix: Option<Mode>,
    /// Threads.
    pub threads: usize,
}

/// A finding, ready to be shown.
#[derive(Clone, Debug)]
pub struct Found {
    /// The finding; its path is relative to the unit's base.
    pub finding: Finding,
    /// The file, relative to the current folder.
    pub shown: String,
    /// The file, relative to the unit's base.
    pub key: String,
    /// What stays the same when lines move.
    pub fingerprint: String,
    /// How often the same place was found: a macro is run by many models.
    pub times: usize,
    /// Why it is allowed, and by what, where it is.
    pub allowed: Option<(By, String)>,
}

/// What allows a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A comment in the file.
    Comment,
    /// The settings.
    Settings,
}

/// A file whose rewrites were made.
#[derive(Clone, Debug)]
pub struct Change {
    /// Where it is.
    pub place: PathBuf,
    /// As shown.
    pub shown: String,
    /// Its text as it was.
    pub before: String,
    /// Its text as it is to be.
    pub after: String,
    /// Number of rewrites.
    pub applied: usize,
    /// Whether UTF-8's byte order mark stands before the text.
    pub mark: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Findings, by file and place.
    pub found: Vec<Found>,
    /// Findings that are allowed.
    pub allowed: Vec<Found>,
    /// How much was understood.
    pub coverage: Coverage,
    /// Files that were judged.
    pub files: usize,
    /// Files that run once.
    pub run_once: usize,
    /// Files that could not be read, and why.
    pub unreadable: Vec<(String, String)>,
    /// Texts of files with findings, as shown.
    pub texts: BTreeMap<String, String>,
    /// Rewritten files.
    pub changes: Vec<Change>,
    /// Paths of judged files, relative to their units' bases.
    pub keys: BTreeSet<String>,
}

/// A file, read.
struct Read<'u> {
    file: &'u SourceFile,
    script: Script,
    faithful: bool,
    mark: bool,
}

/// What one file yields.
struct Verdict {
    findings: Vec<(Finding, String)>,
    allowed: Vec<(Finding, String, By, String)>,
    coverage: Coverage,
    text: Option<String>,
    change: Option<Change>,
}

/// Lints all units.
pub fn check(units: &[Unit], options: &Options) -> Outcome {
    let mut outcome = Outcome::default();
    for unit in units {
        check_unit(unit, options, &mut outcome);
    }
    once(&mut outcome.found);
    once(&mut outcome.allowed);
    outcome
}

/// The settings of a unit with what the command line adds.
pub fn config_of(unit: &Unit, options: &Options) -> Config {
    let mut config = unit.settings.config();
    config.off.extend(options.off.iter().cloned());
    if options.strict {
        let strict = ["OM001", "OM002"].map(|rule| (rule.to_owned(), Severity::Error));
        config.severities.extend(strict);
    }
    config
}

/// A file of a unit as lint takes it, in its dialect.
pub fn input_of(unit: &Unit, file: &SourceFile, text: String, options: &Options) -> Input {
    let ours =
        || (unit.kind == Kind::Oncemore && oncemore_lint::model::header(&text).is_some()).then_some(MODELS);
    let settings = &unit.settings;
    let dialect =
        options.dialect.or_else(|| settings.dialect_of(&file.key)).or(settings.dialect).or_else(ours);
    Input { path: file.key.clone(), text, dialect }
}

/// What our own engine speaks is nearest to it.
const MODELS: Dialect = Dialect::Postgres;

fn check_unit(unit: &Unit, options: &Options, outcome: &mut Outcome) {
    let config = config_of(unit, options);
    if unit.kind == Kind::Dbt {
        return check_dbt(unit, options, &config, outcome);
    }
    let read = parallel::map(&unit.files, options.threads, |file| {
        let Decoded { text, faithful, mark } = text_of(file).map_err(|why| (file, why))?;
        let script = parse(&input_of(unit, file, text, options), &config);
        Ok(Read { file, script, faithful, mark })
    });
    let mut files = Vec::with_capacity(read.len());
    for result in read {
        match result {
            Ok(read) => files.push(read),
            Err((file, why)) if file.wanted => outcome.unreadable.push((file.shown.clone(), why)),
            Err(_) => {}
        }
    }
    let knowledge = unit.settings.knowledge(files.iter().map(|read| &read.script));
    let (wanted, _): (Vec<Read>, Vec<Read>) = files.into_iter().partition(|read| read.file.wanted);
    let (run_once, judged): (Vec<Read>, Vec<Read>) =
        wanted.into_iter().partition(|read| !is_judged(unit, read.file));
    outcome.run_once += run_once.len();
    let verdicts =
        parallel::map(&judged, options.threads, |read| verdict(unit, read, &knowledge, options, &config));
    for (read, verdict) in judged.iter().zip(verdicts) {
        outcome.add(read.file, verdict);
    }
}

/// The text of a file: as given, or from the disk.
fn text_of(file: &SourceFile) -> Result<Decoded, String> {
    match &file.text {
        Some(text) => Ok(Decoded { text: text.clone(), faithful: true, mark: false }),
        None => std::fs::read(&file.place).map_err(|error| error.to_string()).and_then(decode),
    }
}

/// The files of a dbt project as lint takes them, and those that could not be read.
pub fn dbt_inputs(unit: &Unit, options: &Options) -> (Vec<Input>, Vec<(String, String)>) {
    let settings = &unit.settings;
    let read = parallel::map(&unit.files, options.threads, |file| (file, text_of(file)));
    let (mut inputs, mut unreadable) = (Vec::with_capacity(read.len()), Vec::new());
    for (file, text) in read {
        let dialect = options.dialect.or_else(|| settings.dialect_of(&file.key)).or(settings.dialect);
        match text {
            Ok(decoded) => inputs.push(Input { path: file.key.clone(), text: decoded.text, dialect }),
            Err(why) if file.wanted => unreadable.push((file.shown.clone(), why)),
            Err(_) => {}
        }
    }
    (inputs, unreadable)
}

/// A dbt project is looked at as a whole: its macros and its YAML say what its models are.
fn check_dbt(unit: &Unit, options: &Options, config: &Config, outcome: &mut Outcome) {
    let (inputs, unreadable) = dbt_inputs(unit, options);
    outcome.unreadable.extend(unreadable);
    let report = oncemore_lint::lint_on(&inputs, config, &Threads(options.threads));
    let mut coverage: BTreeMap<&str, Coverage> = BTreeMap::new();
    for (path, own) in &report.coverage {
        let sum = coverage.entry(path).or_default();
        sum.analysed += own.analysed;
        sum.statements += own.statements;
    }
    let mut judged: BTreeMap<String, Judged> = BTreeMap::new();
    for finding in report.findings {
        judged.entry(finding.path.clone()).or_default().findings.push(finding);
    }
    for allowed in report.allowed {
        judged.entry(allowed.finding.path.clone()).or_default().allowed.push(allowed);
    }
    let texts: BTreeMap<&str, &str> = inputs.iter().map(|input| (&*input.path, &*input.text)).collect();
    for file in unit.files.iter().filter(|file| file.wanted) {
        if !is_judged(unit, file) {
            outcome.run_once += 1;
            continue;
        }
        let (own, found) = (coverage.get(file.key.as_str()).copied(), judged.remove(&file.key));
        // A macro is no model: it counts where something is found in it.
        if own.is_none() && found.is_none() {
            continue;
        }
        let text = texts.get(file.key.as_str()).copied().unwrap_or("");
        let found = found.unwrap_or_default();
        outcome.add(file, sort_out(unit, &file.key, (text, own.unwrap_or_default()), found, None));
    }
}

/// Whether a file is judged, not only known.
fn is_judged(unit: &Unit, file: &SourceFile) -> bool {
    !unit.settings.is_run_once(&file.key)
}

fn verdict(
    unit: &Unit,
    read: &Read<'_>,
    knowledge: &Knowledge,
    options: &Options,
    config: &Config,
) -> Verdict {
    let mut judged = oncemore_lint::judge(&read.script, knowledge, config);
    let mut script = &read.script;
    let mut change = None;
    let rewritten;
    let fixable = judged.findings.iter().any(|finding| finding.fix.is_some());
    if let Some(mode) = options.fix.filter(|_| fixable && read.faithful) {
        let look = |text: &str| {
            let script = parse(&input_of(unit, read.file, text.to_owned(), options), config);
            let mut judged = oncemore_lint::judge(&script, knowledge, config);
            judged.findings.retain(|finding| unit.settings.allowed(&read.file.key, finding.rule).is_none());
            (judged, script.coverage)
        };
        let fixed = fix::fix(&read.script.text, mode, &look);
        if fixed.applied > 0 && fixed.text != read.script.text {
            rewritten = parse(&input_of(unit, read.file, fixed.text.clone(), options), config);
            judged = oncemore_lint::judge(&rewritten, knowledge, config);
            script = &rewritten;
            change = Some(Change {
                place: read.file.place.clone(),
                shown: read.file.shown.clone(),
                before: read.script.text.clone(),
                after: fixed.text,
                applied: fixed.applied,
                mark: read.mark,
            });
        }
    }
    sort_out(unit, &read.file.key, (&script.text, script.coverage), judged, change)
}

/// Findings apart from allowed ones, each with its fingerprint.
fn sort_out(
    unit: &Unit,
    key: &str,
    (text, coverage): (&str, Coverage),
    judged: Judged,
    change: Option<Change>,
) -> Verdict {
    let Judged { findings, allowed } = judged;
    let prints = fingerprints(key, text, &findings);
    let by_comment: Vec<Finding> = allowed.iter().map(|allowed| allowed.finding.clone()).collect();
    let prints_of_allowed = fingerprints(key, text, &by_comment);
    let mut verdict = Verdict { findings: Vec::new(), allowed: Vec::new(), coverage, text: None, change };
    for (allowed, print) in allowed.into_iter().zip(prints_of_allowed) {
        verdict.allowed.push((allowed.finding, print, By::Comment, allowed.because));
    }
    for (finding, print) in findings.into_iter().zip(prints) {
        match unit.settings.allowed(key, finding.rule) {
            Some(because) => verdict.allowed.push((finding, print, By::Settings, because.to_owned())),
            None => verdict.findings.push((finding, print)),
        }
    }
    if !verdict.findings.is_empty() || !verdict.allowed.is_empty() {
        verdict.text = Some(text.to_owned());
    }
    verdict
}

impl Outcome {
    fn add(&mut self, file: &SourceFile, verdict: Verdict) {
        let found = |finding, fingerprint, allowed| Found {
            finding,
            shown: file.shown.clone(),
            key: file.key.clone(),
            fingerprint,
            times: 1,
            allowed,
        };
        self.files += 1;
        self.keys.insert(file.key.clone());
        self.coverage.analysed += verdict.coverage.analysed;
        self.coverage.statements += verdict.coverage.statements;
        self.found.extend(verdict.findings.into_iter().map(|(finding, print)| found(finding, print, None)));
        let allowed = verdict.allowed.into_iter();
        self.allowed.extend(allowed.map(|(finding, print, by, why)| found(finding, print, Some((by, why)))));
        if let Some(text) = verdict.text {
            self.texts.insert(file.shown.clone(), text);
        }
        self.changes.extend(verdict.change);
    }

    /// Findings of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.found.iter().filter(|found| found.finding.severity == severity).count()
    }
}

/// By file and place; what is found at one place by one rule more than once, as one.
fn once(found: &mut Vec<Found>) {
    found.sort_by(|a, b| {
        let place = |found: &Found| (found.finding.span, found.finding.rule);
        (&a.shown, place(a)).cmp(&(&b.shown, place(b)))
    });
    found.dedup_by(|next, first| {
        let same = next.shown == first.shown
            && next.finding.span == first.finding.span
            && next.finding.rule == first.finding.rule;
        if same {
            first.times += next.times;
            first.finding.severity = first.finding.severity.max(next.finding.severity);
        }
        same
    });
}
