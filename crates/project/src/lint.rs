//! Settings of lint as values: which files are judged, in which dialect, and what is allowed where. Pure: paths in,
//! answers out.

use globset::{GlobBuilder, GlobMatcher};
use oncemore_core::SourceSpec;
use oncemore_lint::facts::{Knowledge, TableFacts};
use oncemore_lint::ir::{Column, Name};
use oncemore_lint::text::Span;
use oncemore_lint::{Config, Dialect, Script, Severity};

/// Folders whose scripts run once, where nothing else is said.
pub(crate) const RUN_ONCE: [&str; 2] = ["migrations/", "ddl/"];

/// What the user has set.
#[derive(Clone, Debug)]
pub struct LintSettings {
    /// Dialect of files that no entry of `dialects` is about.
    pub dialect: Option<Dialect>,
    /// Dialects by path, the first that fits counts.
    pub dialects: Vec<(Pattern, Dialect)>,
    /// What is set for a rule, by id, in order of the file: of several for one rule the last counts.
    pub rules: Vec<(&'static str, Level)>,
    /// Files that are not looked at.
    pub ignore: Vec<Pattern>,
    /// Files that run once: known, not judged.
    pub run_once: Vec<Pattern>,
    /// Columns that tell when or by whom a row was written.
    pub provenance: Vec<String>,
    /// Whether what runs the scripts makes each one transaction.
    pub atomic_scripts: bool,
    /// What is allowed, by path.
    pub allow: Vec<PathAllowance>,
    /// Findings that are known, as a file.
    pub baseline: Option<String>,
    /// What a project says of its sources.
    pub sources: Vec<TableFacts>,
}

/// What is set for a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The rule is off.
    Off,
    /// All of its findings are this.
    At(Severity),
}

/// Rules that may break in some files, and why.
#[derive(Clone, Debug)]
pub struct PathAllowance {
    /// The files.
    pub path: Pattern,
    /// Ids of rules.
    pub rules: Vec<&'static str>,
    /// The reason.
    pub because: String,
}

/// A pattern of paths, as `.gitignore` has them: `etl/*.sql`, `*.tmp.sql`, `legacy/`.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    matcher: GlobMatcher,
}

impl Pattern {
    /// The pattern of a text.
    ///
    /// # Errors
    /// What is wrong with the glob.
    pub fn new(text: &str) -> Result<Self, String> {
        let trimmed = text.trim_start_matches("./");
        let glob = match trimmed.strip_suffix('/') {
            Some(folder) if folder.contains('/') => format!("{}/**", folder.trim_start_matches('/')),
            Some(folder) => format!("**/{folder}/**"),
            None if trimmed.contains('/') => trimmed.trim_start_matches('/').to_owned(),
            None => format!("**/{trimmed}"),
        };
        let built = GlobBuilder::new(&glob).literal_separator(true).build();
        let matcher = built.map_err(|error| error.kind().to_string())?.compile_matcher();
        Ok(Pattern { text: text.to_owned(), matcher })
    }

    /// Whether a path, relative to the folder of the settings, is meant.
    pub fn fits(&self, path: &str) -> bool {
        self.matcher.is_match(path)
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Default for LintSettings {
    fn default() -> Self {
        LintSettings {
            dialect: None,
            dialects: Vec::new(),
            rules: Vec::new(),
            ignore: Vec::new(),
            run_once: RUN_ONCE.iter().filter_map(|text| Pattern::new(text).ok()).collect(),
            provenance: Vec::new(),
            atomic_scripts: false,
            allow: Vec::new(),
            baseline: None,
            sources: Vec::new(),
        }
    }
}

impl LintSettings {
    /// The dialect that is set for a path by its pattern.
    pub fn dialect_of(&self, path: &str) -> Option<Dialect> {
        self.dialects.iter().find(|(pattern, _)| pattern.fits(path)).map(|(_, dialect)| *dialect)
    }

    /// Whether a path is not looked at.
    pub fn is_ignored(&self, path: &str) -> bool {
        self.ignore.iter().any(|pattern| pattern.fits(path))
    }

    /// Whether a path runs once.
    pub fn is_run_once(&self, path: &str) -> bool {
        self.run_once.iter().any(|pattern| pattern.fits(path))
    }

    /// Why a rule may be broken in a path, if it may.
    pub fn allowed(&self, path: &str, rule: &str) -> Option<&str> {
        let fits = |allow: &&PathAllowance| allow.rules.contains(&rule) && allow.path.fits(path);
        self.allow.iter().find(fits).map(|allow| allow.because.as_str())
    }

    /// Settings as the rules take them.
    pub fn config(&self) -> Config {
        let mut config =
            Config { dialect: self.dialect, atomic_scripts: self.atomic_scripts, ..Config::default() };
        let mut seen: Vec<&str> = Vec::new();
        for (rule, level) in self.rules.iter().rev().filter(|(rule, _)| {
            let first = !seen.contains(rule);
            seen.push(rule);
            first
        }) {
            match level {
                Level::Off => config.off.push((*rule).to_owned()),
                Level::At(severity) => config.severities.push(((*rule).to_owned(), *severity)),
            }
        }
        config
    }

    /// What is known of tables: from the scripts, and from what the project says of its sources.
    pub fn knowledge<'a>(&self, scripts: impl IntoIterator<Item = &'a Script>) -> Knowledge {
        let mut knowledge = Knowledge::gather(scripts);
        for source in &self.sources {
            knowledge.add(source.clone());
        }
        knowledge.provenance.clone_from(&self.provenance);
        knowledge
    }
}

/// What a declared source says to rules.
pub(crate) fn facts_of(source: &SourceSpec) -> TableFacts {
    let column = |(name, kind): &(String, oncemore_core::ColumnType)| Column {
        name: name.to_lowercase(),
        data_type: kind.to_string().to_lowercase(),
        // A key holds no NULL: what identifies a row is there.
        not_null: source.key.contains(name),
        ..Column::default()
    };
    let key: Vec<String> = source.key.iter().map(|name| name.to_lowercase()).collect();
    TableFacts {
        name: Name {
            parts: source.name.to_lowercase().split('.').map(str::to_owned).collect(),
            span: Span::NOWHERE,
        },
        columns: source.columns.iter().map(column).collect(),
        keys: if key.is_empty() { Vec::new() } else { vec![key] },
        source: "the source's key",
        ..TableFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn patterns_are_those_of_gitignore() {
        let fits = |pattern: &str, path: &str| Pattern::new(pattern).is_ok_and(|pattern| pattern.fits(path));
        assert!(fits("migrations/", "db/migrations/001.sql") && fits("migrations/", "migrations/2024/a.sql"));
        assert!(!fits("migrations/", "db/my_migrations/001.sql"));
        assert!(fits("etl/legacy/", "etl/legacy/x/y.sql") && !fits("etl/legacy/", "other/etl/legacy/x.sql"));
        assert!(fits("*.tmp.sql", "a/b/c.tmp.sql") && !fits("*.tmp.sql", "a/c.sql"));
        assert!(fits("etl/*.sql", "etl/a.sql") && !fits("etl/*.sql", "etl/b/a.sql"));
        assert!(fits("etl/**/*.sql", "etl/b/a.sql") && fits("./etl/**", "etl/b/a.sql"));
        assert!(Pattern::new("etl/[").is_err());
    }
}
