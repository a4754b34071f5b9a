//! What breaks repeatability in SQL: lint for plain scripts, dbt projects and Oncemore's own models.
//!
//! Pure: texts in, findings out; no IO, no clock, no printing. Three steps, the first and the last to be run in parallel
//! by the caller if it likes: [`parse`] a file to the intermediate form ([`ir`]), gather [`Knowledge`] of tables over all
//! files, [`judge`] each file. [`lint`] does all three.

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
pub mod split;
pub mod suppress;
pub mod text;

pub use config::Config;
pub use dialect::Dialect;
pub use facts::Knowledge;
pub use finding::{Confidence, Finding, Fix, Safety, Severity};
pub use script::{Coverage, Script};

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
    /// How much was understood, for each file in the order of the inputs.
    pub coverage: Vec<(String, Coverage)>,
}

/// Lints files.
#[must_use]
pub fn lint(inputs: &[Input], config: &Config) -> Report {
    let scripts: Vec<Script> = inputs.iter().map(|input| parse(input, config)).collect();
    let knowledge = Knowledge::gather(&scripts);
    let mut report = Report::default();
    for script in &scripts {
        report.findings.extend(judge(script, &knowledge, config));
        report.coverage.push((script.path.clone(), script.coverage));
    }
    report
}

/// Reads a file. The dialect is the file's, else the project's, else what path and words tell, else standard SQL.
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

/// Judges a file. Findings are in order of their place.
#[must_use]
pub fn judge(script: &Script, knowledge: &Knowledge, config: &Config) -> Vec<Finding> {
    let file = rules::File::new(script, knowledge, config);
    let mut findings = rules::run(&file);
    findings.extend(scan::findings(script, config));
    let mut findings = suppress::apply(script, findings);
    findings.sort_by(|a, b| (a.span, a.rule).cmp(&(b.span, b.rule)));
    findings.dedup_by(|a, b| a.span == b.span && a.rule == b.rule);
    findings
}
