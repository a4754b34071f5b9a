//! Findings as SARIF 2.1.0, for code scanning.

use oncemore_lint::page::{self, Page};
use oncemore_lint::{Safety, Severity};
use serde_json::{Value, json};

use crate::lint::check::{By, Found, Outcome};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Name of our fingerprints; its version changes when what they are made of does.
const FINGERPRINT: &str = "oncemoreFinding/v1";

/// All findings, allowed ones as suppressed results.
pub fn render(outcome: &Outcome) -> Value {
    let pages = page::all();
    let results = outcome.found.iter().chain(&outcome.allowed).map(|found| result(found, &pages, outcome));
    let unreadable = outcome.unreadable.iter().map(|(path, why)| {
        json!({
            "level": "warning",
            "message": { "text": format!("can't read: {why}") },
            "locations": [{ "physicalLocation": { "artifactLocation": artifact(path) } }],
        })
    });
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Oncemore",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": pages.iter().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<_>>(),
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": unreadable.collect::<Vec<_>>(),
            }],
            "properties": {
                "files": outcome.files,
                "statements": outcome.coverage.statements,
                "analysed": outcome.coverage.analysed,
            },
        }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn rule(page: &Page) -> Value {
    let text = page.for_readers();
    json!({
        "id": page.id,
        "name": camel(page.name),
        "shortDescription": { "text": page.name.replace('-', " ") },
        "fullDescription": { "text": page.summary() },
        "help": { "text": text, "markdown": text },
        "defaultConfiguration": { "level": level(page.severity().unwrap_or(Severity::Warning)) },
        "properties": { "tags": ["sql", "idempotency"] },
    })
}

/// `non-total-order` as the format wants names: `NonTotalOrder`.
fn camel(name: &str) -> String {
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>()).unwrap_or_default()
    };
    name.split('-').map(capital).collect()
}

fn artifact(path: &str) -> Value {
    // A URI: what is not unreserved is percent-encoded.
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte))
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    json!({ "uri": uri })
}

fn result(found: &Found, pages: &[Page], outcome: &Outcome) -> Value {
    let finding = &found.finding;
    let mut text = finding.message.clone();
    for (name, more) in [("Re-run", &finding.rerun), ("Instead", &finding.help)] {
        if !more.is_empty() {
            text += &format!("\n{name}: {more}");
        }
    }
    let source = outcome.texts.get(&found.shown).map_or("", String::as_str);
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.severity),
        "message": { "text": text },
        "locations": [{ "physicalLocation": {
            "artifactLocation": artifact(&found.shown),
            "region": {
                "startLine": finding.start.line,
                "startColumn": finding.start.column,
                "endLine": finding.end.line,
                "endColumn": finding.end.column,
                "byteOffset": finding.span.start,
                "byteLength": finding.span.end.saturating_sub(finding.span.start),
                "snippet": { "text": finding.span.of(source) },
            },
        }}],
        "partialFingerprints": { FINGERPRINT: found.fingerprint },
        "suppressions": [],
    });
    if let Some(index) = pages.iter().position(|page| page.id == finding.rule) {
        result["ruleIndex"] = json!(index);
    }
    if let Some((by, because)) = &found.allowed {
        let kind = match by {
            By::Comment => "inSource",
            By::Settings => "external",
        };
        result["suppressions"] = json!([{ "kind": kind, "justification": because }]);
    }
    if let Some(fix) = finding.fix.as_ref().filter(|fix| fix.safety == Safety::Safe) {
        result["fixes"] = json!([{
            "description": { "text": finding.help },
            "artifactChanges": [{
                "artifactLocation": artifact(&found.shown),
                "replacements": [{
                    "deletedRegion": {
                        "byteOffset": fix.span.start,
                        "byteLength": fix.span.end.saturating_sub(fix.span.start),
                    },
                    "insertedContent": { "text": fix.text },
                }],
            }],
        }]);
    }
    result
}
