//! OM110: what is read is kept outside the database.
use super::prelude::*;
use super::shared::severity;
use super::uses::has_param;
use crate::dialect::Dialect;
use crate::functions::{Names, listed};

pub(super) const RULE: Rule = Rule { id: "OM110", page: include_str!("../../rules/OM110.md"), check };

static EVERYWHERE: Names = Names::of(include_str!("../../data/names/outside.txt"));
static CLICKHOUSE: Names = Names::of(include_str!("../../data/names/outside-clickhouse.txt"));

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (_, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Warning) else { continue };
        for (id, _) in view.queries() {
            for from in view.select(id).into_iter().flat_map(|select| &select.from) {
                let Some(what) = outside(file, from) else { continue };
                out.report(
                    Draft::new(level, from.span, format!("{what}, which the database does not keep"))
                        .rerun(
                            "run 2024-03-01 again in June: the same address holds other bytes, and March \
                            can't be computed again",
                        )
                        .help(
                            "land it first with a list of what was landed, or name the interval in the \
                            path",
                        ),
                );
            }
        }
    }
}

fn outside(file: &File<'_>, from: &From) -> Option<&'static str> {
    match &from.relation {
        Relation::Function(call) => {
            let name = call.name.rsplit('.').next().unwrap_or(&call.name);
            let known = listed(&EVERYWHERE, name)
                || file.script.dialect == Dialect::ClickHouse && listed(&CLICKHOUSE, name);
            let written = from.span.of(&file.script.text);
            // A streaming table takes each file once.
            let before = file.script.text.get(..from.span.start as usize).unwrap_or("").trim_end();
            if before
                .get(before.len().saturating_sub(6)..)
                .is_some_and(|word| word.eq_ignore_ascii_case("stream"))
            {
                return None;
            }
            if file.script.dialect == Dialect::Snowflake && call.name.starts_with('@') {
                return (!templated(written)).then_some("this reads files");
            }
            (known && !call.args.iter().any(has_param) && !templated(written))
                .then_some("this reads files or another server")
        }
        Relation::Table(name) => {
            if file.knowledge.table(name).is_some_and(|facts| facts.foreign) {
                return Some("this is a foreign table");
            }
            let written = name.span.of(&file.script.text);
            // Formats of tables keep their versions.
            if ["delta.", "iceberg.", "hudi."]
                .iter()
                .any(|format| written.to_ascii_lowercase().starts_with(format))
            {
                return None;
            }
            let path = written
                .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
                .trim_start_matches(['.', '`', '\'', '"']);
            let in_quotes = written.len() > path.len() && written.ends_with(['`', '\'']);
            let is_path = in_quotes
                && (path.contains("://")
                    || path.starts_with('/')
                    || [".csv", ".parquet", ".json", ".csv.gz"]
                        .iter()
                        .any(|end| path.trim_end_matches(['`', '\'']).ends_with(end)));
            let stage = file.script.dialect == Dialect::Snowflake && written.starts_with('@');
            ((is_path || stage) && !templated(written)).then_some("this reads files")
        }
        _ => None,
    }
}

fn templated(written: &str) -> bool {
    ["${", "{{", "%(", "&{", "<%"].iter().any(|mark| written.contains(mark))
}
