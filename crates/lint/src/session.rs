//! Looks at the same files again and again, as an editor does: what did not change is not read anew. What is found is the
//! same as at a first look.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::config::Config;
use crate::facts::Knowledge;
use crate::script::Script;
use crate::spread::Spread;
use crate::{Input, Report, dbt, judge, parse};

/// Things that were made before, by name; good as long as they would be made of the same.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    made: HashMap<String, Made<T>>,
    round: u64,
}

#[derive(Debug)]
struct Made<T> {
    digest: u64,
    thing: Arc<T>,
    /// The round in which it was last asked for.
    round: u64,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { made: HashMap::new(), round: 0 }
    }
}

impl<T> Kept<T> {
    /// What was made of this.
    pub(crate) fn get(&self, name: &str, digest: u64) -> Option<Arc<T>> {
        self.made.get(name).filter(|made| made.digest == digest).map(|made| Arc::clone(&made.thing))
    }

    /// Keeps what was made in place of what had the name before.
    pub(crate) fn keep(&mut self, name: String, digest: u64, made: &Arc<T>) {
        self.made.insert(name, Made { digest, thing: Arc::clone(made), round: self.round });
    }

    /// What is not kept again from here on is gone after the next [`Self::sweep`].
    fn begin(&mut self) {
        self.round += 1;
    }

    fn sweep(&mut self) {
        let round = self.round;
        self.made.retain(|_, made| made.round == round);
    }
}

/// A number that stands for things: equal things, equal numbers.
pub(crate) fn digest_of(things: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    things.hash(&mut hasher);
    hasher.finish()
}

/// Files as they were read before.
#[derive(Debug, Default)]
pub struct Session {
    scripts: Kept<Script>,
    models: Kept<dbt::Parsed>,
}

impl Session {
    /// A first look.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a look at all files: what is not looked at before the next [`Self::sweep`] is not there any more.
    pub fn begin(&mut self) {
        self.scripts.begin();
        self.models.begin();
    }

    /// Forgets the files that were not looked at since [`Self::begin`].
    pub fn sweep(&mut self) {
        self.scripts.sweep();
        self.models.sweep();
    }

    /// Reads a file as [`parse`] does, if it was not read before as it is.
    pub fn parse(&mut self, input: &Input, config: &Config) -> Arc<Script> {
        let digest = digest_of_input(input, config);
        let known = self.scripts.get(&input.path, digest);
        let script = known.unwrap_or_else(|| Arc::new(parse(input, config)));
        self.scripts.keep(input.path.clone(), digest, &script);
        script
    }

    /// Lints files as [`crate::lint_on`] does, and forgets all others; where `only` names one of them, what is found
    /// in others may be left out.
    pub fn lint(
        &mut self,
        inputs: &[Input],
        only: Option<&str>,
        config: &Config,
        spread: &impl Spread,
    ) -> Report {
        self.begin();
        let (projects, rest) = dbt::groups(inputs, config);
        let scripts = self.scripts(&rest, config, spread);
        let scripts: Vec<&Script> = scripts.iter().map(|script| &**script).collect();
        let knowledge = Knowledge::gather(scripts.iter().copied());
        let mut report = Report::default();
        let asked: Vec<&Script> =
            scripts.iter().copied().filter(|script| only.is_none_or(|only| only == script.path)).collect();
        for (script, judged) in
            asked.iter().zip(spread.map(&asked, |script| judge(script, &knowledge, config)))
        {
            report.findings.extend(judged.findings);
            report.allowed.extend(judged.allowed);
            report.coverage.push((script.path.clone(), script.coverage));
        }
        for project in &projects {
            let only = only.map(|only| only.strip_prefix(project.folder.as_str()).unwrap_or(""));
            let mut found = dbt::lint(project, &scripts, &mut self.models, only, config, spread);
            let findings =
                found.findings.iter_mut().chain(found.allowed.iter_mut().map(|allowed| &mut allowed.finding));
            let paths = findings.map(|finding| &mut finding.path);
            for path in paths.chain(found.coverage.iter_mut().map(|(path, _)| path)) {
                path.insert_str(0, &project.folder);
            }
            report.findings.append(&mut found.findings);
            report.allowed.append(&mut found.allowed);
            report.coverage.append(&mut found.coverage);
        }
        self.sweep();
        report
    }

    fn scripts(&mut self, inputs: &[&Input], config: &Config, spread: &impl Spread) -> Vec<Arc<Script>> {
        let digests: Vec<u64> = inputs.iter().map(|input| digest_of_input(input, config)).collect();
        let known: Vec<(&Input, Option<Arc<Script>>)> = inputs
            .iter()
            .zip(&digests)
            .map(|(input, digest)| (*input, self.scripts.get(&input.path, *digest)))
            .collect();
        let scripts = spread
            .map(&known, |(input, known)| known.clone().unwrap_or_else(|| Arc::new(parse(input, config))));
        for ((input, script), digest) in inputs.iter().zip(&scripts).zip(digests) {
            self.scripts.keep(input.path.clone(), digest, script);
        }
        scripts
    }
}

fn digest_of_input(input: &Input, config: &Config) -> u64 {
    digest_of(&(&input.path, &input.text, input.dialect, config.dialect))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Session;
    use crate::spread::InTurn;
    use crate::{Config, Finding, Input, lint};

    fn input(path: &str, text: &str) -> Input {
        Input { path: path.to_owned(), text: text.to_owned(), dialect: None }
    }

    fn project() -> Vec<Input> {
        vec![
            input("p/dbt_project.yml", "name: p\nprofile: p\n"),
            input("p/profiles.yml", "p:\n  outputs:\n    dev:\n      type: postgres\n"),
            input("p/macros/m.sql", "{% macro now() %}1{% endmacro %}"),
            input("p/models/schema.yml", "models:\n  - name: a\n"),
            input(
                "p/models/a.sql",
                "{{ config(materialized='table') }} select k, {{ now() }} as v from raw.t",
            ),
            input("p/models/b.sql", "{{ config(materialized='table') }} select k from {{ ref('a') }}"),
            input("load.sql", "insert into x select k from y;"),
        ]
    }

    fn of<'f>(findings: &'f [Finding], path: &'f str) -> Vec<(&'static str, crate::text::Span, &'f str)> {
        let own = findings.iter().filter(|finding| finding.path == path);
        own.map(|finding| (finding.rule, finding.span, finding.message.as_str())).collect()
    }

    #[test]
    fn a_later_look_says_what_a_first_would() {
        let mut inputs = project();
        let mut session = Session::new();
        let config = Config::default();
        let edits = [
            ("p/models/a.sql", "{{ config(materialized='table') }} select k, random() as v from raw.t"),
            ("p/macros/m.sql", "{% macro now() %}random(){% endmacro %}"),
            ("p/models/a.sql", "{{ config(materialized='table') }} select k, {{ now() }} as v from raw.t"),
            ("p/models/b.sql", "select k from {{ ref('a') }} limit 3"),
            ("p/models/schema.yml", "models:\n  - name: b\n    config:\n      materialized: incremental\n"),
            ("load.sql", "delete from x; insert into x select k from y;"),
        ];
        for (path, text) in edits {
            let edited = inputs.iter_mut().find(|input| input.path == path).expect("a file");
            text.clone_into(&mut edited.text);
            for asked in inputs.iter().map(|input| input.path.as_str()) {
                let later = session.lint(&inputs, Some(asked), &config, &InTurn).findings;
                let first = lint(&inputs, &config).findings;
                assert_eq!(of(&later, asked), of(&first, asked), "{asked} after {path}");
            }
        }
        assert!(!of(&lint(&inputs, &config).findings, "p/macros/m.sql").is_empty());
    }

    #[test]
    fn what_did_not_change_is_not_read_again() {
        let mut inputs = project();
        let mut session = Session::new();
        let config = Config::default();
        let _ = session.lint(&inputs, None, &config, &InTurn);
        let kept = |session: &Session, name: &str| {
            Arc::clone(&session.models.made.get(name).expect("a model").thing)
        };
        let (a, b) = (kept(&session, "p/model.p.a"), kept(&session, "p/model.p.b"));
        inputs[4].text.push_str(" where k > 1");
        let _ = session.lint(&inputs, Some("p/models/a.sql"), &config, &InTurn);
        assert!(!Arc::ptr_eq(&a, &kept(&session, "p/model.p.a")));
        assert!(Arc::ptr_eq(&b, &kept(&session, "p/model.p.b")));
        // A macro may be run by any of them.
        inputs[2].text = "{% macro now() %}2{% endmacro %}".to_owned();
        let _ = session.lint(&inputs, Some("p/models/a.sql"), &config, &InTurn);
        assert!(!Arc::ptr_eq(&b, &kept(&session, "p/model.p.b")));
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let mut inputs = project();
        let mut session = Session::new();
        let config = Config::default();
        let _ = session.lint(&inputs, None, &config, &InTurn);
        let held = |session: &Session| (session.scripts.made.len(), session.models.made.len());
        assert_eq!(held(&session), (1, 2));
        inputs.retain(|input| input.path != "load.sql" && input.path != "p/models/b.sql");
        let _ = session.lint(&inputs, Some("p/models/a.sql"), &config, &InTurn);
        assert_eq!(held(&session), (0, 1));
    }
}
