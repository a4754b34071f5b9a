//! What the tests of pages and corpus share.
#![allow(dead_code, reason = "each test uses its own part")]

use oncemore_lint::{Config, Input, Severity, lint, rules};

/// `OM201 error `text``.
#[derive(Clone, Debug)]
pub(crate) struct Expectation {
    pub(crate) rule: String,
    pub(crate) severity: Severity,
    pub(crate) text: String,
}

/// What differs from what was expected.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) missing: Vec<Expectation>,
    /// Rule, severity, text, message.
    pub(crate) extra: Vec<(String, Severity, String, String)>,
    pub(crate) found: usize,
    /// A statement was not understood.
    pub(crate) unread: bool,
}

impl Outcome {
    pub(crate) fn is_right(&self) -> bool {
        self.missing.is_empty() && self.extra.is_empty()
    }
}

pub(crate) fn registered(rule: &str) -> bool {
    rules::rule(rule).is_some() || rules::is_reserved(rule)
}

/// White space folded.
pub(crate) fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn expectation(item: &str) -> Option<Expectation> {
    let mut words = item.splitn(3, ' ');
    let (rule, severity, rest) = (words.next()?, words.next()?, words.next()?);
    let rest = rest.trim();
    let text = rest.get(rest.find('`')? + 1..rest.rfind('`')?)?;
    Some(Expectation { rule: rule.to_string(), severity: Severity::named(severity)?, text: fold(text) })
}

pub(crate) fn fits(expected: &str, found: &str) -> bool {
    match expected.strip_suffix('…') {
        Some(start) => found.starts_with(start.trim_end()),
        None => expected == found,
    }
}

/// Lints and compares: all findings of warning and above, infos of the page's own rule.
pub(crate) fn check(inputs: &[Input], expected: &[Expectation], page: &str) -> Outcome {
    let report = lint(inputs, &Config::default());
    let mut wanted: Vec<Expectation> =
        expected.iter().filter(|expected| registered(&expected.rule)).cloned().collect();
    let mut outcome = Outcome::default();
    for finding in &report.findings {
        outcome.unread |= finding.rule == "OM001";
        if finding.severity == Severity::Info
            && finding.rule != page
            && !wanted.iter().any(|w| w.rule == finding.rule && w.severity == Severity::Info)
        {
            continue;
        }
        outcome.found += 1;
        let input =
            inputs.iter().find(|input| input.path == finding.path).expect("a finding is in one of the files");
        let text = fold(finding.span.of(&input.text));
        let at = wanted
            .iter()
            .position(|w| w.rule == finding.rule && w.severity == finding.severity && fits(&w.text, &text));
        match at {
            Some(at) => {
                wanted.remove(at);
            }
            None => outcome.extra.push((
                finding.rule.to_string(),
                finding.severity,
                text,
                finding.message.clone(),
            )),
        }
    }
    outcome.missing = wanted;
    outcome
}
