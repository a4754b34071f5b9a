//! Findings with the line they are about, as compilers show them, and what was looked at.

use std::collections::BTreeMap;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use oncemore_lint::Severity;
use serde::Serialize;

use super::number::{count, plural};
use super::{Look, Paint};
use crate::lint::baseline::Effect;
use crate::lint::check::{Change, Found, Outcome};

mod window;

use window::Window;

/// Most findings of a rule on one line that are shown; of more, that many and how many follow.
const ON_A_LINE_MAX: usize = 5;

/// All findings of at least a severity, then the summary.
pub fn render(outcome: &Outcome, least: Severity, baseline: Option<Effect>, look: &Look) -> String {
    let shown = || outcome.found.iter().filter(|found| found.finding.severity >= least);
    // How many there are of a rule on a line, and how many of them were shown.
    let mut counts: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    for found in shown() {
        counts.entry(place(found)).or_default().0 += 1;
    }
    let mut out = String::new();
    for found in shown() {
        let (of, before) = counts.entry(place(found)).or_default();
        *before += 1;
        if *before > ON_A_LINE_MAX {
            continue;
        }
        let more = if *before == ON_A_LINE_MAX { *of - ON_A_LINE_MAX } else { 0 };
        let text = outcome.texts.get(&found.shown).map_or("", String::as_str);
        out += &finding(found, more, text, look);
        out += "\n\n";
    }
    out += &summary(outcome, least, baseline, look);
    out
}

/// A rule on a line.
fn place(found: &Found) -> (&str, u32, &str) {
    (&found.shown, found.finding.start.line, found.finding.rule)
}

/// One finding, and how many more of its rule its line has that are not shown.
fn finding(found: &Found, more: usize, text: &str, look: &Look) -> String {
    let finding = &found.finding;
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let id = format!("{} {}", finding.rule, finding.name);
    let mut group = Group::with_title(level.primary_title(&*finding.message).id(&*id));
    // Only the lines at hand: to look through a dump for each of its findings would take for ever.
    let window = Window::of(finding.span.range(), text, finding.start.line, finding.end.line);
    let place = format!("in {}", found.shown);
    group = match &window {
        Some(window) => {
            let mut annotation = AnnotationKind::Primary.span(window.span.clone());
            if let Some(label) = &window.label {
                annotation = annotation.label(&**label);
            }
            let snippet = Snippet::source(window.text).path(&*found.shown).line_start(window.line);
            group.element(snippet.annotation(annotation))
        }
        None => group.element(Level::NOTE.message(&*place)),
    };
    let named = |name: &'static str, text: &str| Level::NOTE.with_name(name).message(text.to_owned());
    if !finding.rerun.is_empty() {
        group = group.element(named("re-run", &finding.rerun));
    }
    if let Some(lacked) = &finding.lacked {
        group = group.element(named("not known", lacked));
    }
    if found.times > 1 {
        let times = format!("{} models run this macro", count(found.times as u64));
        group = group.element(named("found once", &times));
    }
    if !finding.help.is_empty() {
        group = group.element(Level::HELP.message(&*finding.help));
    }
    if more > 0 {
        let message = format!("and {} more on this line", count(more as u64));
        group = group.element(Level::NOTE.no_name().message(message));
    }
    let renderer = if look.color { Renderer::styled() } else { Renderer::plain() };
    let decor = if look.unicode { DecorStyle::Unicode } else { DecorStyle::Ascii };
    let rendered = renderer.decor_style(decor).term_width(look.width).render(&[group]);
    match window.filter(|window| window.is_cut) {
        Some(window) => window.placed(rendered, &found.shown, finding.start.column),
        None => rendered,
    }
}

/// Counts, the baseline, what is hidden, and how much was understood.
pub fn summary(outcome: &Outcome, least: Severity, baseline: Option<Effect>, look: &Look) -> String {
    let counts = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")];
    let (shown, hidden): (Vec<_>, Vec<_>) = counts.into_iter().partition(|(severity, _)| *severity >= least);
    let words = |list: &[(Severity, &str)]| {
        let counted = list.iter().map(|(severity, noun)| (outcome.count(*severity), noun));
        counted.filter(|(n, _)| *n > 0).map(|(n, noun)| plural(n, noun)).collect::<Vec<_>>().join(", ")
    };
    let (shown, hidden) = (words(&shown), words(&hidden));
    let mut line = match shown.as_str() {
        "" => look.paint(Paint::Good, "nothing found"),
        _ => look.paint(Paint::Strong, &shown),
    };
    if !hidden.is_empty() {
        line += &format!(", and {hidden} (`--show info`)");
    }
    if !outcome.allowed.is_empty() {
        line += &format!("; {} allowed", count(outcome.allowed.len() as u64));
    }
    line.push('\n');
    if let Some(effect) = baseline {
        line += &format!("baseline: {} known", plural(effect.known, "finding"));
        if effect.gone > 0 {
            let gone = count(effect.gone as u64);
            line += &format!(", {gone} gone: `--write-baseline` makes it smaller");
        }
        line.push('\n');
    }
    line += &coverage(outcome);
    line.push('\n');
    line
}

/// `analysed 412 of 430 statements in 37 files`.
pub fn coverage(outcome: &Outcome) -> String {
    let coverage = outcome.coverage;
    let mut line = format!(
        "analysed {} of {} in {}",
        count(coverage.analysed as u64),
        plural(coverage.statements, "statement"),
        plural(outcome.files, "file")
    );
    if outcome.run_once > 0 {
        line += &format!("; {} not judged: run once", plural(outcome.run_once, "file"));
    }
    if !outcome.unreadable.is_empty() {
        line += &format!("; {} not readable", plural(outcome.unreadable.len(), "file"));
    }
    line
}

/// A report for programs.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    findings: Vec<JsonFinding<'a>>,
    allowed: Vec<JsonFinding<'a>>,
    counts: Counts,
    baseline: Option<Effect>,
    coverage: JsonCoverage,
    unreadable: Vec<Unreadable<'a>>,
    changes: Vec<JsonChange<'a>>,
}

#[derive(Debug, Serialize)]
struct Counts {
    error: usize,
    warning: usize,
    info: usize,
}

#[derive(Debug, Serialize)]
struct JsonCoverage {
    files: usize,
    statements: usize,
    analysed: usize,
    run_once: usize,
}

#[derive(Debug, Serialize)]
struct Unreadable<'a> {
    path: &'a str,
    message: &'a str,
}

#[derive(Debug, Serialize)]
struct JsonChange<'a> {
    path: &'a str,
    applied: usize,
}

#[derive(Debug, Serialize)]
struct JsonFix<'a> {
    span: (u32, u32),
    text: &'a str,
    safe: bool,
}

#[derive(Debug, Serialize)]
struct JsonFinding<'a> {
    rule: &'a str,
    name: &'a str,
    severity: String,
    confidence: &'a str,
    path: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    span: (u32, u32),
    message: &'a str,
    rerun: Option<&'a str>,
    not_known: Option<&'a str>,
    help: Option<&'a str>,
    fix: Option<JsonFix<'a>>,
    fingerprint: &'a str,
    times: usize,
    allowed_by: Option<crate::lint::check::By>,
    because: Option<&'a str>,
}

/// A report for programs: all findings, whatever is shown to people.
pub fn document<'a>(outcome: &'a Outcome, baseline: Option<Effect>) -> Document<'a> {
    let list = |found: &'a [Found]| found.iter().map(json).collect();
    let unreadable = outcome.unreadable.iter().map(|(path, message)| Unreadable { path, message });
    let changes = outcome
        .changes
        .iter()
        .map(|change: &Change| JsonChange { path: &change.shown, applied: change.applied });
    Document {
        findings: list(&outcome.found),
        allowed: list(&outcome.allowed),
        counts: Counts {
            error: outcome.count(Severity::Error),
            warning: outcome.count(Severity::Warning),
            info: outcome.count(Severity::Info),
        },
        baseline,
        coverage: JsonCoverage {
            files: outcome.files,
            statements: outcome.coverage.statements,
            analysed: outcome.coverage.analysed,
            run_once: outcome.run_once,
        },
        unreadable: unreadable.collect(),
        changes: changes.collect(),
    }
}

fn json(found: &Found) -> JsonFinding<'_> {
    let finding = &found.finding;
    let some = |text| Some(text).filter(|text: &&str| !text.is_empty());
    JsonFinding {
        rule: finding.rule,
        name: finding.name,
        severity: finding.severity.to_string(),
        confidence: match finding.confidence {
            oncemore_lint::Confidence::Low => "low",
            oncemore_lint::Confidence::Medium => "medium",
            oncemore_lint::Confidence::High => "high",
        },
        path: &found.shown,
        line: finding.start.line,
        column: finding.start.column,
        end_line: finding.end.line,
        end_column: finding.end.column,
        span: (finding.span.start, finding.span.end),
        message: &finding.message,
        rerun: some(finding.rerun.as_str()),
        not_known: finding.lacked.as_deref(),
        help: some(finding.help.as_str()),
        fix: finding.fix.as_ref().map(|fix| JsonFix {
            span: (fix.span.start, fix.span.end),
            text: &fix.text,
            safe: fix.safety == oncemore_lint::Safety::Safe,
        }),
        fingerprint: &found.fingerprint,
        times: found.times,
        allowed_by: found.allowed.as_ref().map(|(by, _)| *by),
        because: found.allowed.as_ref().map(|(_, because)| because.as_str()),
    }
}
