//! What the user can set.

use crate::dialect::Dialect;

/// Settings of a lint run.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The dialect of files that don't name one.
    pub dialect: Option<Dialect>,
    /// Rules that are off.
    pub off: Vec<String>,
    /// Whether what runs the scripts makes each one transaction.
    pub atomic_scripts: bool,
}

impl Config {
    /// Whether a rule is off.
    #[must_use]
    pub fn is_off(&self, rule: &str) -> bool {
        self.off.iter().any(|off| off.eq_ignore_ascii_case(rule))
    }
}
