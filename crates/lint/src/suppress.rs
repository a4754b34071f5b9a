//! Comments that allow a finding: `-- oncemore: allow(OM101) because <reason>`; `-- noqa: OM101` of other
//! linters.

use crate::finding::{Confidence, Finding, Severity};
use crate::lex::Lexed;
use crate::rules;
use crate::script::Script;
use crate::text::{Lines, Span};

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
    reason: bool,
    /// Ours, and so reported when it does nothing.
    ours: bool,
    /// Lines for which it counts, from 0.
    lines: (usize, usize),
    used: Vec<bool>,
}

/// Takes allowed findings out, and puts in a finding for each comment that does nothing.
pub(crate) fn apply(script: &Commented<'_>, findings: Vec<Finding>) -> Vec<Finding> {
    let mut allowances: Vec<Allowance> =
        script.comments.iter().filter_map(|span| allowance(script, *span)).collect();
    if allowances.is_empty() {
        return findings;
    }
    let mut kept = Vec::new();
    for finding in findings {
        let line = script.lines.line_of(finding.span.start);
        let mut allowed = false;
        for allowance in
            allowances.iter_mut().filter(|allowance| allowance.lines.0 <= line && line <= allowance.lines.1)
        {
            for (at, rule) in allowance.rules.iter().enumerate() {
                if rule.eq_ignore_ascii_case(finding.rule) && (allowance.reason || !allowance.ours) {
                    allowed = true;
                    if let Some(used) = allowance.used.get_mut(at) {
                        *used = true;
                    }
                }
            }
        }
        if !allowed {
            kept.push(finding);
        }
    }
    for allowance in allowances.iter().filter(|allowance| allowance.ours) {
        kept.extend(complaint(script, allowance));
    }
    kept
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
        let reason = after.trim().trim_start_matches("because").trim();
        (list, !reason.is_empty(), true)
    } else {
        let rest = body.strip_prefix("noqa:").or_else(|| body.strip_prefix("noqa :"))?;
        (rest, true, false)
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
    Some(Allowance { span, rules, reason, ours, lines: lines_of(script, span), used })
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

fn complaint(script: &Commented<'_>, allowance: &Allowance) -> Option<Finding> {
    let unknown =
        allowance.rules.iter().find(|rule| rules::rule(rule).is_none() && !rules::is_reserved(rule));
    let idle = allowance.rules.iter().zip(&allowance.used).find(|(_, used)| !**used).map(|(rule, _)| rule);
    let (message, help) = if let Some(rule) = unknown {
        (format!("there is no rule {rule}"), "`oncemore lint --explain OM101` shows a rule".to_string())
    } else if !allowance.reason {
        (
            "the comment allows a finding without a reason, so it allows nothing".to_string(),
            "add `because <reason>`".to_string(),
        )
    } else {
        let rule = idle?;
        (format!("nothing here is found by {rule}"), "remove the comment".to_string())
    };
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
        fix: None,
    })
}
