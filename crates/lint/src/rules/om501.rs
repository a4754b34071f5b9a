//! OM501: an incremental dbt model that appends.
use super::prelude::*;
use super::shared::{gives_nothing, said, steady};

pub(super) const RULE: Rule = Rule { id: "OM501", page: include_str!("../../rules/OM501.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let Some(template) = steady(file) else { return };
    for write in file.writes().filter(|write| write.verb == Verb::Model(ModelWrite::Append)) {
        // OM304 and OM305 speak of those.
        let adds_missing = write.view.self_reads(write.write).iter().any(|(read, _)| *read != SelfRead::Rows);
        let empty = write.source.is_some_and(|source| gives_nothing(write.statement, source));
        if adds_missing || empty {
            continue;
        }
        let target = write.target.last();
        let strategy = template.config.incremental_strategy.as_deref();
        let why = match strategy {
            Some("append") => "its strategy is `append`".to_string(),
            Some(strategy) => format!("`{strategy}` without a `unique_key` is an append"),
            None => "it has neither a `unique_key` nor a strategy that replaces".to_string(),
        };
        let names: &[&str] = if strategy.is_some() { &["incremental_strategy"] } else { &["materialized"] };
        let draft = Draft::new(
            Severity::Error,
            write.head,
            format!("rows are added to `{target}` on each run: {why}"),
        )
        .rerun(format!(
            "the scheduler loses an answer and runs the interval again: its rows stand in \
            `{target}` twice"
        ))
        .help(
            "give a `unique_key` with `delete+insert` or `merge`, or replace partitions: \
            `insert_overwrite`, `microbatch`",
        );
        out.report(said(template, names, draft));
    }
}
