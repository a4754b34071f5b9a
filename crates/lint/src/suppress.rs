//! Comments that allow a finding: `-- oncemore: allow(OM101) because <reason>`; `-- noqa: OM101` of other
//! linters.

use crate::config::Config;
use crate::finding::{Allowed, Confidence, Finding, Fix, Safety, Severity};
use crate::lex::Lexed;
use crate::script::Script;
use crate::text::{Lines, Span};
use crate::{Judged, rules};

/// The rule under which comments that do nothing are reported.
pub const UNUSED: &str = "OM002";

/// A text with comments that may allow something.
pub(crate) struct Commented<'a> {
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) lines: &'a Lines,
    pub(crate) lexed: &'a Lexed,
    /// The comments that count.
    pub(crate) comments: &'a [Span],
    /// Its statements.
    pub(crate) statements: Vec<Span>,
}

impl<'a> Commented<'a> {
    /// A script's own text.
    pub(crate) fn script(script: &'a Script) -> Self {
        Self {
            path: &script.path,
            text: &script.text,
            lines: &script.lines,
            lexed: &script.lexed,
            comments: &script.lexed.comments,
            statements: script.statements.iter().map(|statement| statement.span).collect(),
        }
    }
}

struct Allowance {
    span: Span,
    rules: Vec<String>,
    /// Why; a comment of ours without it allows nothing.
    reason: String,
    /// Ours, and so reported when it does nothing.
    ours: bool,
    /// Lines for which it counts, from 0.
    lines: (usize, usize),
    used: Vec<bool>,
}

/// Takes allowed findings out, and puts in a finding for each comment that does nothing.
pub(crate) fn apply(script: &Commented<'_>, findings: Vec<Finding>, config: &Config) -> Judged {
    let mut allowances: Vec<Allowance> =
        script.comments.iter().filter_map(|span| allowance(script, *span)).collect();
    if allowances.is_empty() {
        return Judged { findings, allowed: Vec::new() };
    }
    let mut judged = Judged::default();
    for finding in findings {
        let line = script.lines.line_of(finding.span.start);
        let mut allowed = None;
        for allowance in
            allowances.iter_mut().filter(|allowance| allowance.lines.0 <= line && line <= allowance.lines.1)
        {
            for (at, rule) in allowance.rules.iter().enumerate() {
                if rule.eq_ignore_ascii_case(finding.rule)
                    && (!allowance.reason.is_empty() || !allowance.ours)
                {
                    allowed = Some(allowance.reason.clone());
                    if let Some(used) = allowance.used.get_mut(at) {
                        *used = true;
                    }
                }
            }
        }
        match allowed {
            Some(because) => judged.allowed.push(Allowed { finding, because }),
            None => judged.findings.push(finding),
        }
    }
    if !config.is_off(UNUSED) {
        let ours = allowances.iter().filter(|allowance| allowance.ours);
        judged.findings.extend(ours.filter_map(|allowance| complaint(script, allowance, config)));
        judged.findings.sort_by(|a, b| (a.span, a.rule).cmp(&(b.span, b.rule)));
    }
    judged
}

fn allowance(script: &Commented<'_>, span: Span) -> Option<Allowance> {
    let text = span.of(script.text);
    let body = text.trim_start_matches(['-', '/', '*', '#', ' ']).trim_end_matches(['*', '/', ' ']);
    let (list, reason, ours) = if let Some(rest) = body.strip_prefix("oncemore:") {
        let rest = rest.trim_start().strip_prefix("allow")?.trim_start();
        let (list, after) = match rest.strip_prefix('(') {
            Some(inner) => inner.split_once(')')?,
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        (list, after.trim().trim_start_matches("because").trim(), true)
    } else {
        let rest = body.strip_prefix("noqa:").or_else(|| body.strip_prefix("noqa :"))?;
        (rest, "", false)
    };
    let rules: Vec<String> = list
        .split([',', ' '])
        .map(str::trim)
        .filter(|rule| rule.len() > 2 && rule.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("om")))
        .map(str::to_ascii_uppercase)
        .collect();
    if rules.is_empty() && !ours {
        return None;
    }
    let used = vec![false; rules.len()];
    Some(Allowance { span, rules, reason: reason.to_string(), ours, lines: lines_of(script, span), used })
}

/// The line of a comment that follows code; of one that stands alone the next line with code, and if a
/// statement begins
/// there, all of its lines.
fn lines_of(script: &Commented<'_>, span: Span) -> (usize, usize) {
    let line = script.lines.line_of(span.start);
    let before = Span { start: script.lines.start_of(line), end: span.start }.of(script.text);
    if !before.trim().is_empty() {
        return (line, line);
    }
    let Some(next) = script.lexed.tokens.get(script.lexed.index_at(span.end)) else { return (line, line) };
    let first = script.lines.line_of(next.span.start);
    let statement = script.statements.iter().find(|statement| statement.start == next.span.start);
    (line, statement.map_or(first, |statement| script.lines.line_of(statement.end)))
}

fn complaint(script: &Commented<'_>, allowance: &Allowance, config: &Config) -> Option<Finding> {
    let unknown =
        allowance.rules.iter().find(|rule| rules::rule(rule).is_none() && !rules::is_reserved(rule));
    // A rule that is off finds nothing, which says nothing about the comment.
    let is_idle =
        |at: usize, rule: &String| !allowance.used.get(at).is_some_and(|used| *used) && !config.is_off(rule);
    let idle: Vec<&String> = allowance
        .rules
        .iter()
        .enumerate()
        .filter(|(at, rule)| is_idle(*at, rule))
        .map(|(_, rule)| rule)
        .collect();
    let (message, help) = if let Some(rule) = unknown {
        (format!("there is no rule {rule}"), "`oncemore lint --explain OM101` shows a rule".to_string())
    } else if allowance.reason.is_empty() {
        (
            "the comment allows a finding without a reason, so it allows nothing".to_string(),
            "add `because <reason>`".to_string(),
        )
    } else {
        let rule = idle.first()?;
        (format!("nothing here is found by {rule}"), "remove the comment".to_string())
    };
    // Without its reason or with a mistyped rule, the comment is to be mended, not removed.
    let useless = unknown.is_none() && !allowance.reason.is_empty() && idle.len() == allowance.rules.len();
    let fix = useless.then(|| Fix {
        span: whole_line(script, allowance.span),
        text: String::new(),
        safety: Safety::Safe,
    });
    Some(Finding {
        rule: UNUSED,
        name: "unused-suppression",
        severity: Severity::Info,
        confidence: Confidence::High,
        path: script.path.to_string(),
        span: allowance.span,
        start: script.lines.position(script.text, allowance.span.start),
        end: script.lines.position(script.text, allowance.span.end),
        message,
        rerun: String::new(),
        lacked: None,
        help,
        fix,
    })
}

/// A comment with the blanks before it, and with its line where nothing else stands there.
fn whole_line(script: &Commented<'_>, span: Span) -> Span {
    let line = script.lines.line_of(span.start);
    let from = script.lines.start_of(line);
    let before = Span { start: from, end: span.start }.of(script.text);
    let after = script.text.get(span.end as usize..).unwrap_or("");
    let rest = after.split_inclusive('\n').next().unwrap_or("");
    let blanks = before.len() - before.trim_end().len();
    let offset = |bytes: usize| u32::try_from(bytes).unwrap_or(0);
    if before.trim().is_empty() && rest.trim().is_empty() {
        Span { start: from, end: span.end + offset(rest.len()) }
    } else if rest.trim().is_empty() {
        Span { start: span.start - offset(blanks), end: span.end }
    } else {
        span
    }
}
