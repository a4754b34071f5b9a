//! What breaks repeatability in SQL: lint for plain scripts, dbt projects and Oncemore's own models.
//!
//! Pure: texts in, findings out; no IO, no clock, no printing, no threads. Three steps, the first and the last to be run
//! in parallel by the caller if it likes: [`parse`] a file to the intermediate form ([`ir`]), gather [`Knowledge`] of
//! tables over all files, [`judge`] each file. [`lint`] does all three, and [`lint_on`] as the caller spreads it.

mod branches;
#[cfg(test)]
mod cases;
pub mod config;
pub mod dbt;
pub mod dialect;
pub mod facts;
pub mod finding;
pub mod functions;
pub mod ir;
pub mod lex;
mod lower;
pub mod model;
pub mod page;
mod prepare;
pub mod routine;
pub mod rules;
pub mod scan;
pub mod script;
pub mod session;
pub mod split;
pub mod spread;
pub mod suppress;
pub mod text;
mod yaml;

pub use config::Config;
pub use dialect::Dialect;
pub use facts::Knowledge;
pub use finding::{Allowed, Confidence, Finding, Fix, Safety, Severity};
pub use script::{Coverage, Script};
pub use session::Session;
pub use spread::Spread;

/// A file to be judged.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its path, as findings name it.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its dialect, if it is known for this file.
    pub dialect: Option<Dialect>,
}

/// What lint has to say.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Findings, by file and place.
    pub findings: Vec<Finding>,
    /// Findings that a comment allows.
    pub allowed: Vec<Allowed>,
    /// How much was understood: of scripts in the order of the inputs, then of the models of dbt projects.
    pub coverage: Vec<(String, Coverage)>,
}

/// Lints files: dbt projects among them as such, the rest as scripts and models of our own.
#[must_use]
pub fn lint(inputs: &[Input], config: &Config) -> Report {
    lint_on(inputs, config, &spread::InTurn)
}

/// Lints files, the work on each spread as the caller likes; what is said is the same.
#[must_use]
pub fn lint_on(inputs: &[Input], config: &Config, spread: &impl Spread) -> Report {
    Session::new().lint(inputs, None, config, spread)
}

/// Reads a file. The dialect is the file's, else the project's, else what path and words tell, else standard
/// SQL.
#[must_use]
pub fn parse(input: &Input, config: &Config) -> Script {
    let guess = || dialect::guess(&input.path, &input.text);
    let dialect = input.dialect.or(config.dialect).or_else(guess).unwrap_or(Dialect::Ansi);
    let mut script = script::read(&input.path, &input.text, dialect);
    if let Some(header) = model::header(&input.text) {
        model::apply(&mut script, header);
    }
    script
}

/// What is said about one file.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Findings, in order of their place.
    pub findings: Vec<Finding>,
    /// Findings that a comment allows.
    pub allowed: Vec<Allowed>,
}

/// Judges a file.
#[must_use]
pub fn judge(script: &Script, knowledge: &Knowledge, config: &Config) -> Judged {
    let file = rules::File::new(script, knowledge, config);
    let mut findings = rules::run(&file).sql;
    findings.extend(scan::findings(script, config));
    findings.sort_by(|a, b| (a.span, a.rule).cmp(&(b.span, b.rule)));
    findings.dedup_by(|a, b| a.span == b.span && a.rule == b.rule);
    settle(&suppress::Commented::script(script), findings, config)
}

/// Findings as the user wants them: those apart that a comment allows, severities as set.
pub(crate) fn settle(commented: &suppress::Commented<'_>, findings: Vec<Finding>, config: &Config) -> Judged {
    let mut judged = suppress::apply(commented, findings, config);
    for finding in &mut judged.findings {
        finding.severity = config.severity_of(finding.rule).unwrap_or(finding.severity);
    }
    judged
}
