//! What the user can set.

use crate::dialect::Dialect;
use crate::finding::Severity;

/// Settings of a lint run.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The dialect of files that don't name one.
    pub dialect: Option<Dialect>,
    /// Rules that are off.
    pub off: Vec<String>,
    /// Severities that the user has set: a rule's id, and what all of its findings are.
    pub severities: Vec<(String, Severity)>,
    /// Whether what runs the scripts makes each one transaction.
    pub atomic_scripts: bool,
}

impl Config {
    /// Whether a rule is off.
    #[must_use]
    pub fn is_off(&self, rule: &str) -> bool {
        self.off.iter().any(|off| off.eq_ignore_ascii_case(rule))
    }

    /// The severity that the user has set for a rule.
    #[must_use]
    pub fn severity_of(&self, rule: &str) -> Option<Severity> {
        self.severities.iter().find(|(id, _)| id.eq_ignore_ascii_case(rule)).map(|(_, severity)| *severity)
    }
}
