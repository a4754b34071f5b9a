//! `oncemore lint`: what breaks repeatability in the SQL that is there.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use oncemore_lint::page;
use oncemore_lint::{Dialect, Severity};
use oncemore_run::{ErrorKind, RunError};

use super::FINDINGS;
use crate::context::{Context, cores};
use crate::failure::Failure;
use crate::lint::baseline::{Baseline, Effect};
use crate::lint::check::{self, Change, Options, Outcome};
use crate::lint::collect::{Request, Unit, collect};
use crate::lint::fix::{self, Mode};
use crate::render;
use crate::render::number::plural;
use crate::ui::Output;

/// Where `--write-baseline` writes if nothing else is said.
const BASELINE_FILE: &str = ".oncemore-lint-baseline.json";

/// Find what breaks repeatability: in models, in plain SQL scripts of twelve dialects, in dbt projects. Needs no project.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files and folders; `-` reads stdin. By default the project, or the current folder.
    pub paths: Vec<PathBuf>,
    /// Dialect of all files: postgres, redshift, snowflake, bigquery, spark, duckdb, trino, mysql, tsql, clickhouse,
    /// oracle, ansi; by default as set, or as path and words tell.
    #[arg(long, value_name = "NAME", value_parser = dialect)]
    pub dialect: Option<Dialect>,
    /// Only these rules: `OM301`, a name, or how ids begin: `OM3`.
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = rules)]
    pub select: Vec<Selected>,
    /// Without these rules.
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = rules)]
    pub ignore: Vec<Selected>,
    /// Least severity that ends with exit code 1.
    #[arg(long, value_enum, default_value_t = Level::Warning, value_name = "SEVERITY")]
    pub fail_on: Level,
    /// Least severity that is shown; `--output json` and `sarif` hold all.
    #[arg(long, value_enum, default_value_t = Level::Warning, value_name = "SEVERITY")]
    pub show: Level,
    /// Statements that can't be judged, and comments that allow nothing, are errors.
    #[arg(long)]
    pub strict: bool,
    /// Print a rule's page; alone, list the rules.
    #[arg(long, value_name = "RULE", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["paths", "fix"])]
    pub explain: Option<String>,
    /// File of findings that are known and not shown.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write all findings to the baseline.
    #[arg(long, conflicts_with_all = ["fix", "unsafe_fixes", "diff"])]
    pub write_baseline: bool,
    /// Make the rewrites that change no result.
    #[arg(long)]
    pub fix: bool,
    /// Make all rewrites, also those that somebody has to look at.
    #[arg(long)]
    pub unsafe_fixes: bool,
    /// Show the rewrites instead of making them.
    #[arg(long)]
    pub diff: bool,
    /// Path that stands for stdin: it decides settings and dialect.
    #[arg(long, value_name = "PATH")]
    pub stdin_path: Option<PathBuf>,
    /// Threads; by default the number of cores.
    #[arg(long, short, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// Rules that one word selects.
#[derive(Clone, Debug)]
pub struct Selected(Vec<&'static str>);

/// A severity on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Breaks a re-run.
    Error,
    /// Probably breaks a re-run.
    Warning,
    /// Good to know.
    Info,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Info => Severity::Info,
        }
    }
}

fn dialect(name: &str) -> Result<Dialect, String> {
    Dialect::named(name).ok_or_else(|| {
        let known = Dialect::ALL.map(Dialect::name);
        match oncemore_project::nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", known.join(", ")),
        }
    })
}

fn rules(word: &str) -> Result<Selected, String> {
    match page::select(word) {
        found if found.is_empty() => Err(no_rule(word)),
        found => Ok(Selected(found)),
    }
}

fn no_rule(word: &str) -> String {
    let known = page::all();
    match oncemore_project::nearest(word, known.iter().flat_map(|page| [page.id, page.name])) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`oncemore lint --explain` lists the rules".to_owned(),
    }
}

/// Lints.
///
/// # Errors
/// Paths that are not there (exit 2), wrong settings (exit 3). Findings are no error: they end with exit 1.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    if let Some(rule) = &args.explain {
        return explain(rule, context);
    }
    let here = std::env::current_dir()?;
    let units = collect(&request(args, context, here.clone())?)?;
    let options = options(args);
    let mut outcome = check::check(&units, &options);
    for (path, why) in &outcome.unreadable {
        context.ui.talk(&format!("warning: `{path}` is not looked at: {why}"));
    }
    let file = baseline_file(args, &units, &here);
    if args.write_baseline {
        let file = file.unwrap_or_else(|| here.join(BASELINE_FILE));
        return write_baseline(&file, &outcome, context);
    }
    let effect = match &file {
        Some(file) => Some(apply_baseline(file, &mut outcome)?),
        None => None,
    };
    let fail_on = Severity::from(args.fail_on);
    let least = fail_on.min(args.show.into());
    if args.diff {
        for change in &outcome.changes {
            context.ui.data(&fix::diff(&change.shown, &change.before, &change.after))?;
        }
    } else {
        outcome.changes.iter().try_for_each(write)?;
    }
    show(args, context, &outcome, least, effect)?;
    let failed = outcome.found.iter().any(|found| found.finding.severity >= fail_on);
    Ok(if failed { FINDINGS } else { 0 })
}

fn explain(rule: &str, context: &Context) -> Result<u8, Failure> {
    let look = &context.ui.out;
    if rule.is_empty() {
        context.ui.data(&render::page::list(&page::all(), look))?;
        return Ok(0);
    }
    let Some(page) = page::of(rule) else {
        return Err(RunError::usage(format!("there is no rule `{rule}`"), no_rule(rule)).into());
    };
    context.ui.data(&render::page::render(&page, look))?;
    Ok(0)
}

/// What the arguments ask for.
fn request(args: &Args, context: &Context, here: PathBuf) -> Result<Request, Failure> {
    let mut request = Request { here, ..Request::default() };
    for path in &args.paths {
        if path.as_os_str() != "-" {
            request.paths.push(path.clone());
            continue;
        }
        if (args.fix || args.unsafe_fixes) && !args.diff {
            let help = "add `--diff` to see the rewrites, or name the file";
            return Err(RunError::usage("stdin can't be rewritten", help).into());
        }
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        request.given = Some((args.stdin_path.clone().unwrap_or_else(|| PathBuf::from("stdin.sql")), text));
    }
    if args.paths.is_empty() {
        // Without a project the current folder will do; one that is named has to be there.
        let root = match &context.global.project {
            Some(_) => context.root()?,
            None => context.root().unwrap_or_else(|_| PathBuf::from(".")),
        };
        request.paths.push(root);
    }
    Ok(request)
}

fn options(args: &Args) -> Options {
    let ids =
        |selected: &[Selected]| selected.iter().flat_map(|selected| selected.0.clone()).collect::<Vec<_>>();
    let (selected, ignored) = (ids(&args.select), ids(&args.ignore));
    let is_off = |rule: &&str| ignored.contains(rule) || !(selected.is_empty() || selected.contains(rule));
    let off = page::all().into_iter().map(|page| page.id).filter(is_off).map(str::to_owned).collect();
    let fix = match (args.unsafe_fixes, args.fix || args.diff) {
        (true, _) => Some(Mode::Unsafe),
        (false, true) => Some(Mode::Safe),
        (false, false) => None,
    };
    let threads = args.jobs.map_or_else(cores, usize::from);
    Options { dialect: args.dialect, off, strict: args.strict, fix, threads }
}

/// As given, else as the settings of the first unit that names one say.
fn baseline_file(args: &Args, units: &[Unit], here: &Path) -> Option<PathBuf> {
    let set = || units.iter().find_map(|unit| Some(unit.base.join(unit.settings.baseline.as_ref()?)));
    args.baseline.as_ref().map(|file| here.join(file)).or_else(set)
}

fn write_baseline(file: &Path, outcome: &Outcome, context: &Context) -> Result<u8, Failure> {
    // What is there and is no baseline is somebody's file.
    let older = if file.exists() { Some(read_baseline(file)?) } else { None };
    let before = older.as_ref().map(Baseline::len);
    let looked_at: BTreeSet<&str> = outcome.keys.iter().map(String::as_str).collect();
    let baseline = Baseline::of(&outcome.found, older, &looked_at);
    let text = baseline.write().map_err(std::io::Error::other)?;
    std::fs::write(file, text)?;
    let was = before.map(|before| format!(", {before} before")).unwrap_or_default();
    context.ui.talk(&format!("`{}`: {}{was}", file.display(), plural(baseline.len(), "finding")));
    Ok(0)
}

fn read_baseline(file: &Path) -> Result<Baseline, Failure> {
    let wrong = |why: String| {
        RunError::new(ErrorKind::Config, format!("can't read the baseline `{}`: {why}", file.display()))
            .help("`oncemore lint --write-baseline --baseline FILE` makes one")
    };
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    Ok(Baseline::read(&text).map_err(wrong)?)
}

fn apply_baseline(file: &Path, outcome: &mut Outcome) -> Result<Effect, Failure> {
    let baseline = read_baseline(file)?;
    let looked_at: BTreeSet<&str> = outcome.keys.iter().map(String::as_str).collect();
    Ok(baseline.apply(&mut outcome.found, &looked_at))
}

fn write(change: &Change) -> std::io::Result<()> {
    let mark = if change.mark { "\u{FEFF}" } else { "" };
    std::fs::write(&change.place, format!("{mark}{}", change.after))
}

fn show(
    args: &Args,
    context: &Context,
    outcome: &Outcome,
    least: Severity,
    effect: Option<Effect>,
) -> Result<(), Failure> {
    let ui = &context.ui;
    let applied: usize = outcome.changes.iter().map(|change| change.applied).sum();
    if applied > 0 {
        let (what, files) = (plural(applied, "rewrite"), plural(outcome.changes.len(), "file"));
        ui.talk(&if args.diff {
            format!("{what} in {files} to be made")
        } else {
            format!("made {what} in {files}")
        });
    }
    match context.global.output {
        Output::Json => ui.json_as_is(
            &serde_json::to_value(render::lint::document(outcome, effect)).map_err(std::io::Error::other)?,
        )?,
        Output::Sarif => ui.json_as_is(&render::sarif::render(outcome))?,
        Output::Github => {
            ui.data(&render::github::render(outcome, least))?;
            ui.talk(&render::lint::summary(outcome, least, effect, &ui.err));
        }
        Output::Text => ui.data(&render::lint::render(outcome, least, effect, &ui.out))?,
    }
    Ok(())
}
