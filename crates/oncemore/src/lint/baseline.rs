//! Findings that are known, so that a big project can start at zero: a file of fingerprints that line shifts don't change.

use std::collections::{BTreeMap, BTreeSet};

use oncemore_core::Digest;
use oncemore_lint::Finding;
use serde::{Deserialize, Serialize};

use super::check::Found;

/// The only version of the file.
const VERSION: u32 = 1;

/// What the file holds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Baseline {
    version: u32,
    findings: Vec<Known>,
}

/// A known finding. Rule and message are for people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Known {
    path: String,
    rule: String,
    fingerprint: String,
    message: String,
}

/// What a baseline did to a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Effect {
    /// Findings that are known, and not shown.
    pub known: usize,
    /// Entries in files that were looked at whose finding is there no more.
    pub gone: usize,
}

impl Baseline {
    /// The baseline of what was found. Of an older one, entries in files that were not looked at stay.
    pub fn of(found: &[Found], older: Option<Baseline>, looked_at: &BTreeSet<&str>) -> Self {
        let mut findings: Vec<Known> = found
            .iter()
            .map(|found| Known {
                path: found.key.clone(),
                rule: found.finding.rule.to_owned(),
                fingerprint: found.fingerprint.clone(),
                message: found.finding.message.clone(),
            })
            .collect();
        let kept = older.into_iter().flat_map(|older| older.findings);
        findings.extend(kept.filter(|known| !looked_at.contains(known.path.as_str())));
        findings.sort_unstable();
        Baseline { version: VERSION, findings }
    }

    /// Reads a baseline.
    ///
    /// # Errors
    /// No baseline of a version that is known.
    pub fn read(text: &str) -> Result<Self, String> {
        let baseline: Baseline = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match baseline.version {
            VERSION => Ok(baseline),
            other => Err(format!("version {other} is newer than this program")),
        }
    }

    /// The text of the file: a finding a line, so that a merge of two branches is a merge of lines.
    ///
    /// # Errors
    /// Never in practice: all of it is text.
    pub fn write(&self) -> Result<String, serde_json::Error> {
        let lines: Result<Vec<String>, _> = self.findings.iter().map(serde_json::to_string).collect();
        let mut lines = lines?.join(",\n    ");
        if !lines.is_empty() {
            lines = format!("\n    {lines}\n  ");
        }
        Ok(format!("{{\n  \"version\": {VERSION},\n  \"findings\": [{lines}]\n}}\n"))
    }

    /// Takes the known findings out.
    pub fn apply(&self, found: &mut Vec<Found>, looked_at: &BTreeSet<&str>) -> Effect {
        let known: BTreeSet<&str> = self.findings.iter().map(|known| known.fingerprint.as_str()).collect();
        let before = found.len();
        let there: BTreeSet<String> = found.iter().map(|found| found.fingerprint.clone()).collect();
        found.retain(|found| !known.contains(found.fingerprint.as_str()));
        let gone = self
            .findings
            .iter()
            .filter(|known| looked_at.contains(known.path.as_str()) && !there.contains(&known.fingerprint));
        Effect { known: before - found.len(), gone: gone.count() }
    }

    /// Number of findings.
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Fingerprints of the findings in one file: of rule, path and the text that is pointed at, white space folded, and of
/// several alike their number. Lines may move, and the message may be put better.
pub fn fingerprints(key: &str, text: &str, findings: &[Finding]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    findings
        .iter()
        .map(|finding| {
            let pointed: Vec<&str> = finding.span.of(text).split_whitespace().collect();
            let what = format!("{}\0{key}\0{}", finding.rule, pointed.join(" "));
            let number = seen.entry(what.clone()).or_default();
            *number += 1;
            Digest::of(format!("{what}\0{number}").as_bytes()).to_string()[..16].to_owned()
        })
        .collect()
}
