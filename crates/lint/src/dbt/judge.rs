//! Lints a project: each model's worlds are judged, and what is found is led back to the file that the user
//! edits.
//!
//! In three steps, the first and the last for each model by itself, so that the caller can spread them over
//! threads:
//! [`Project::parse`], [`Project::knowledge`], [`Project::judge`]; [`Project::report`] brings all together.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::config::Config;
use crate::facts::Knowledge;
use crate::finding::{Allowed, Confidence, Finding, Severity};
use crate::lex::lex;
use crate::rules;
use crate::script::{Coverage, Script};
use crate::session::{Kept, digest_of};
use crate::suppress::Commented;
use crate::text::{Lines, Span};
use crate::{Report, Spread, scan};

use super::context::TARGET_SCHEMA;
use super::lower::facts;
use super::{Group, Node, NotRendered, Project, Rendered, Segment, World, Worlds};

/// A model in the intermediate form, each world that is worth judging.
#[derive(Debug)]
pub struct Parsed {
    worlds: Vec<(Rendered, Script)>,
    failed: Vec<NotRendered>,
}

impl Parsed {
    /// The SQL that counts for what others read: the steady world's.
    fn steady(&self) -> Option<&Script> {
        self.worlds.last().map(|(_, script)| script)
    }
}

/// What was found in a model.
#[derive(Debug, Default)]
pub struct Judged {
    path: String,
    own: Vec<Finding>,
    allowed: Vec<Allowed>,
    /// In files that several models share: macros.
    shared: Vec<Shared>,
    coverage: Coverage,
}

#[derive(Debug)]
struct Shared {
    in_macro: Option<usize>,
    finding: Finding,
}

/// Where a finding in rendered SQL belongs.
enum Place {
    /// Bytes of the model's file.
    Own(Range<usize>),
    /// Bytes of the file of a macro.
    Macro(usize, Range<usize>),
    /// In text that was made up.
    Nowhere,
}

/// Lints a project. `beside` are scripts whose definitions of tables count for it too. What was parsed before is used again;
/// of models that don't stand in the file `only` nothing is said, if models stand in that.
#[must_use]
pub(crate) fn lint(
    group: &Group<'_>,
    beside: &[&Script],
    kept: &mut Kept<Parsed>,
    only: Option<&str>,
    config: &Config,
    spread: &impl Spread,
) -> Report {
    let project = Project::read_with(&group.files, &group.hints, spread);
    let library = project.library.digest();
    let nodes: Vec<(usize, String, u64)> = project
        .nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (at, format!("{}{}", group.folder, node.id), digest_of(&(library, node))))
        .collect();
    let known: Vec<(usize, Option<Arc<Parsed>>)> =
        nodes.iter().map(|(at, name, digest)| (*at, kept.get(name, *digest))).collect();
    let parsed = spread.map(&known, |(at, known)| known.clone().or_else(|| project.parse(*at).map(Arc::new)));
    let mut models: Vec<(usize, Arc<Parsed>)> = Vec::with_capacity(parsed.len());
    for ((at, name, digest), parsed) in nodes.into_iter().zip(parsed) {
        let Some(parsed) = parsed else { continue };
        kept.keep(name, digest, &parsed);
        models.push((at, parsed));
    }
    let knowledge = project.knowledge(models.iter().map(|(_, parsed)| &**parsed), beside.iter().copied());
    let is_asked =
        |at: usize| project.nodes.get(at).is_some_and(|node| only.is_none_or(|only| only == node.path));
    if models.iter().any(|(at, _)| is_asked(*at)) {
        models.retain(|(at, _)| is_asked(*at));
    }
    let judged = spread.map(&models, |(at, parsed)| project.judge(*at, parsed, &knowledge, config));
    project.report(judged, config)
}

impl Project {
    /// Renders and reads a model; `None` where there is no such node, or it is switched off.
    #[must_use]
    pub fn parse(&self, node: usize) -> Option<Parsed> {
        let own = self.nodes.get(node)?;
        if self.is_off(own) {
            return None;
        }
        let model = self.model(node)?;
        let failed = model.failed.clone();
        let worlds = self.scripts(own, model);
        Some(Parsed { worlds, failed })
    }

    /// Whether the model says that it is never built. One that a variable switches off may be on in another
    /// run.
    fn is_off(&self, node: &Node) -> bool {
        let Ok(nodes) = &node.parsed else { return false };
        let arguments = super::template::arguments(&node.text, nodes);
        let text = arguments.iter().rev().find(|argument| argument.name == "enabled");
        text.is_some_and(|argument| {
            let written = argument.span.of(&node.text).rsplit(['=', ':']).next().unwrap_or("");
            written.trim().eq_ignore_ascii_case("false")
        })
    }

    /// What is known of tables: by definitions in scripts beside the project, by its tests, contracts,
    /// constraints and
    /// catalog, and by the models' queries.
    #[must_use]
    pub fn knowledge<'a>(
        &self,
        parsed: impl IntoIterator<Item = &'a Parsed>,
        beside: impl IntoIterator<Item = &'a Script>,
    ) -> Knowledge {
        let scripts = beside.into_iter().chain(parsed.into_iter().filter_map(Parsed::steady));
        Knowledge::gather_with(self.relations.iter().map(facts), scripts)
    }

    /// Judges a model.
    #[must_use]
    pub fn judge(&self, node: usize, parsed: &Parsed, knowledge: &Knowledge, config: &Config) -> Judged {
        let Some(node) = self.nodes.get(node) else { return Judged::default() };
        let mut judged = Judged { path: node.path.clone(), ..Judged::default() };
        let both = parsed.worlds.len() > 1;
        // The steady world first: what the other finds besides is found in a full refresh only.
        for (rendered, script) in parsed.worlds.iter().rev() {
            judged.coverage.statements += script.coverage.statements;
            judged.coverage.analysed += script.coverage.analysed;
            let Some(template) = script.template.as_deref() else { continue };
            let lines = &template.lines;
            let file = rules::File::new(script, knowledge, config);
            let found = rules::run(&file);
            let refresh = both && rendered.worlds == Worlds::One(World::FullRefresh);
            let mut own = found.template;
            for finding in found.sql.into_iter().chain(scan::findings(script, config)) {
                // What can't be judged is said even of text that was made up.
                let unread = finding.rule == scan::NOT_ANALYSED;
                let (by, finding) = match self.place(node, rendered, finding.span, unread) {
                    Place::Nowhere => continue,
                    Place::Own(range) => (None, self.own(node, lines, &range, finding)),
                    Place::Macro(by, range) => (Some(by), self.in_macro(by, &range, finding)),
                };
                match by {
                    None => own.push(finding),
                    Some(_) => judged.shared.push(Shared { in_macro: by, finding: named(finding) }),
                }
            }
            let seen = judged.own.len();
            for finding in own {
                let known = judged.own.iter().take(seen).any(|other| same(other, &finding));
                if !known {
                    let finding = if refresh { of_refresh(finding) } else { finding };
                    judged.own.push(named(finding));
                }
            }
        }
        if !config.is_off(scan::NOT_ANALYSED) {
            parsed.failed.iter().for_each(|failed| self.add_failure(node, failed, &mut judged));
        }
        let settled = self.settled(node, std::mem::take(&mut judged.own), config);
        (judged.own, judged.allowed) = (settled.findings, settled.allowed);
        judged
    }

    /// A finding at its place in the model's file.
    fn own(&self, node: &Node, lines: &Lines, range: &Range<usize>, finding: Finding) -> Finding {
        if node.is_synthetic {
            let text = self.file_text(node);
            return moved(finding, &node.path, text, &Lines::of(text), &entry(text, &node.name));
        }
        moved(finding, &node.path, &node.text, lines, range)
    }

    /// A finding in the file of a macro; line and column follow when all are brought together.
    fn in_macro(&self, by: usize, range: &Range<usize>, finding: Finding) -> Finding {
        let path = self.macros.get(by).map_or("", |found| found.path.as_str());
        moved(finding, path, "", &Lines::default(), range)
    }

    /// The text of the file that a node stands in.
    fn file_text<'a>(&self, node: &'a Node) -> &'a str {
        node.entry_text.as_deref().unwrap_or(&node.text)
    }

    /// Leads a range of rendered SQL back.
    fn place(&self, node: &Node, rendered: &Rendered, span: Span, guessed: bool) -> Place {
        let range = span.range();
        if node.is_synthetic {
            return Place::Own(0..0);
        }
        let first = rendered.segments.partition_point(|segment| segment.rendered.end <= range.start);
        let touched: Vec<&Segment> = rendered
            .segments
            .iter()
            .skip(first)
            .take_while(|segment| segment.rendered.start < range.end)
            .filter(|segment| !is_blank(rendered, segment, &range))
            .collect();
        let guess = |segment: &&&Segment| segment.stub && !self.is_variable(node, segment);
        let guesses = touched.iter().filter(guess).count();
        let head = rendered.sql.get(range.clone()).is_some_and(|text| text.lines().count() > 3);
        if guesses > 0 && !guessed && (guesses == touched.len() || !head) {
            return Place::Nowhere;
        }
        if let Some(by) = touched.first().and_then(|segment| segment.by)
            && touched.iter().all(|segment| segment.by == Some(by))
            && self.macros.get(by).is_some_and(|found| !found.path.is_empty())
        {
            return Place::Macro(by, within(&touched, &range));
        }
        let Some(found) = rendered.source_of(range.clone()) else { return Place::Own(node.template.clone()) };
        let shown = node.text.get(found.clone()).unwrap_or("");
        let plain = touched.iter().all(|segment| segment.exact && segment.by.is_none());
        let text = rendered.sql.get(range).unwrap_or("");
        // What a macro of dbt's own was given stands in the call: `surrogate_key(['current_date'])`.
        if !plain && guesses == 0 && !text.is_empty() && shown.matches(text).count() == 1 {
            let start = found.start + shown.find(text).unwrap_or(0);
            return Place::Own(start..start + text.len());
        }
        Place::Own(found)
    }

    fn add_failure(&self, node: &Node, failed: &NotRendered, judged: &mut Judged) {
        let text = if failed.path == node.path {
            self.file_text(node)
        } else {
            let file = self.library.files.iter().find(|(path, _)| *path == failed.path);
            file.map_or("", |(_, text)| text)
        };
        let mut finding = Finding {
            rule: scan::NOT_ANALYSED,
            name: "not-analysed",
            severity: Severity::Info,
            confidence: Confidence::Low,
            path: String::new(),
            span: Span::NOWHERE,
            start: Lines::default().position("", 0),
            end: Lines::default().position("", 0),
            message: format!("the template of `{}` could not be rendered: {}", node.name, failed.why),
            rerun: String::new(),
            lacked: None,
            help: "silence about it does not mean that it can be re-run; target/manifest.json helps"
                .to_string(),
            fix: None,
        };
        finding = moved(finding, &failed.path, text, &Lines::of(text), &failed.span);
        judged.coverage.statements += 1;
        if failed.path == node.path {
            judged.own.push(finding);
        } else {
            judged.shared.push(Shared { in_macro: None, finding });
        }
    }

    /// Puts apart what comments of the model's template allow.
    fn settled(&self, node: &Node, findings: Vec<Finding>, config: &Config) -> crate::Judged {
        let (text, template) =
            if node.is_synthetic { ("", 0..0) } else { (&*node.text, node.template.clone()) };
        settled(&node.path, text, template, self.dialect(), findings, config)
    }

    /// Brings all together: what macros hold is said once.
    #[must_use]
    pub fn report(&self, judged: Vec<Judged>, config: &Config) -> Report {
        let mut report = Report::default();
        let mut shared: BTreeMap<(String, Span, &'static str), (Shared, usize)> = BTreeMap::new();
        for one in judged {
            report.coverage.push((one.path, one.coverage));
            report.findings.extend(one.own);
            report.allowed.extend(one.allowed);
            let mut seen: Vec<(String, Span, &'static str)> = Vec::new();
            for other in one.shared {
                let key = (other.finding.path.clone(), other.finding.span, other.finding.rule);
                let counts = !seen.contains(&key);
                seen.push(key.clone());
                let (known, models) = shared.entry(key).or_insert_with(|| {
                    (Shared { in_macro: other.in_macro, finding: other.finding.clone() }, 0)
                });
                *models += usize::from(counts);
                if other.finding.severity > known.finding.severity {
                    known.finding = other.finding;
                }
            }
        }
        let mut files: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
        for (Shared { in_macro, mut finding }, models) in shared.into_values() {
            let by = in_macro.and_then(|by| self.macros.get(by));
            let used = if models == 1 { "1 model".to_string() } else { format!("{models} models") };
            let place = by.map_or_else(String::new, |by| format!("the macro `{}`, ", by.name));
            finding.message = format!("{} ({place}in {used})", finding.message);
            files.entry(finding.path.clone()).or_default().push(finding);
        }
        for (path, findings) in files {
            let text =
                self.library.files.iter().find(|(found, _)| *found == path).map_or("", |(_, text)| text);
            let lines = Lines::of(text);
            let placed = findings.into_iter().map(|finding| {
                let range = finding.span.range();
                moved(finding, &path, text, &lines, &range)
            });
            let placed = placed.collect();
            let settled = settled(&path, text, 0..text.len(), self.dialect(), placed, config);
            report.findings.extend(settled.findings);
            report.allowed.extend(settled.allowed);
        }
        for problem in self.problems.iter().filter(|_| !config.is_off(scan::NOT_ANALYSED)) {
            report.findings.push(of_problem(problem));
        }
        report.findings.sort_by(|a, b| (&a.path, a.span, a.rule).cmp(&(&b.path, b.span, b.rule)));
        report.findings.dedup_by(|a, b| a.path == b.path && a.span == b.span && a.rule == b.rule);
        report
    }
}

fn of_problem(problem: &super::Problem) -> Finding {
    let start = Lines::default().position("", 0);
    let span = problem.span.clone().unwrap_or(0..0);
    Finding {
        rule: scan::NOT_ANALYSED,
        name: "not-analysed",
        severity: Severity::Info,
        confidence: Confidence::High,
        path: problem.path.clone(),
        span: Span::new(span.start, span.end),
        start,
        end: start,
        message: format!("the file could not be read: {}", problem.why),
        rerun: String::new(),
        lacked: None,
        help: "what it says of models is not known to the lint".to_string(),
        fix: None,
    }
}

fn settled(
    path: &str,
    text: &str,
    template: Range<usize>,
    dialect: crate::Dialect,
    findings: Vec<Finding>,
    config: &Config,
) -> crate::Judged {
    // Few templates hold such a comment; the others need no words.
    let text = if text.contains("oncemore:") || text.contains("noqa") { text } else { "" };
    let lexed = lex(text, dialect);
    let first = lexed.tokens.iter().find(|token| !lexed.placeholders.contains(&token.span));
    let statements = first.map(|first| Span { start: first.span.start, end: Span::new(0, template.end).end });
    let inside = |span: &&Span| template.contains(&(span.start as usize));
    let comments: Vec<Span> = lexed.comments.iter().filter(inside).copied().collect();
    let lines = Lines::of(text);
    let commented = Commented {
        path,
        text,
        lines: &lines,
        lexed: &lexed,
        comments: &comments,
        statements: statements.into_iter().collect(),
    };
    crate::settle(&commented, findings, config)
}

/// Whether a segment adds nothing but white space to a range.
fn is_blank(rendered: &Rendered, segment: &Segment, range: &Range<usize>) -> bool {
    let start = segment.rendered.start.max(range.start);
    let end = segment.rendered.end.min(range.end);
    rendered.sql.get(start..end).is_some_and(|text| text.trim().is_empty())
}

/// Bytes of the macro's file that segments of it stand for.
fn within(touched: &[&Segment], range: &Range<usize>) -> Range<usize> {
    let mut found: Option<Range<usize>> = None;
    for segment in touched {
        let part = if segment.exact {
            let start = range.start.saturating_sub(segment.rendered.start);
            let end = segment.rendered.end.saturating_sub(range.end);
            segment.source.start + start..segment.source.end.saturating_sub(end)
        } else {
            segment.source.clone()
        };
        found = Some(match found {
            Some(all) => all.start.min(part.start)..all.end.max(part.end),
            None => part,
        });
    }
    found.unwrap_or(0..0)
}

/// A finding at another place.
fn moved(mut finding: Finding, path: &str, text: &str, lines: &Lines, range: &Range<usize>) -> Finding {
    let span = Span::new(range.start, range.end);
    // A rewrite of rendered SQL is none of the template, unless it is the same text.
    finding.fix = None;
    path.clone_into(&mut finding.path);
    finding.span = span;
    finding.start = lines.position(text, span.start);
    finding.end = lines.position(text, span.end);
    finding
}

/// Where YAML names an entry.
fn entry(text: &str, name: &str) -> Range<usize> {
    let found = text.match_indices("name:").find_map(|(at, word)| {
        let rest = text.get(at + word.len()..)?;
        let written = rest.trim_start();
        let start = at + word.len() + rest.len() - written.len();
        let plain = written.trim_start_matches(['\'', '"']);
        let ends =
            plain.strip_prefix(name)?.starts_with(|c: char| c.is_whitespace() || matches!(c, '\'' | '"'));
        ends.then(|| start + written.len() - plain.len()..start + written.len() - plain.len() + name.len())
    });
    found.unwrap_or(0..0)
}

fn same(a: &Finding, b: &Finding) -> bool {
    a.rule == b.rule && a.span == b.span
}

/// A finding that shows in a full refresh only: that is called for by hand, and rarely.
fn of_refresh(mut finding: Finding) -> Finding {
    finding.severity = finding.severity.lower();
    if !finding.rerun.is_empty() {
        finding.rerun = format!("in a full refresh: {}", finding.rerun);
    }
    finding
}

/// Tables are called as the user calls them: without the schema that stands for the profile's.
fn named(mut finding: Finding) -> Finding {
    let prefix = format!("{TARGET_SCHEMA}.");
    for text in
        [&mut finding.message, &mut finding.rerun, &mut finding.help].into_iter().chain(&mut finding.lacked)
    {
        if text.contains(&prefix) {
            *text = text.replace(&prefix, "");
        }
    }
    finding
}
