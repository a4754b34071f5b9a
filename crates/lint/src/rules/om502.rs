//! OM502: `insert_overwrite` that replaces the whole table by one interval.
use super::prelude::*;
use super::shared::{said, steady};
use crate::dbt::{Worlds, replaces_all};

pub(super) const RULE: Rule = Rule { id: "OM502", page: include_str!("../../rules/OM502.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let Some(template) = steady(file) else { return };
    let overwrites = template.config.incremental_strategy.as_deref() == Some("insert_overwrite");
    if !overwrites || !replaces_all(&template.config, file.script.dialect) {
        return;
    }
    for write in file.writes().filter(|write| matches!(write.verb, Verb::Model(_))) {
        let bounded = |source: QueryId| {
            write.view.scopes(source).iter().flat_map(|scope| &scope.ranges).any(Range::has_param)
        };
        if template.worlds == Worlds::Both && !write.source.is_some_and(bounded) {
            continue;
        }
        let target = write.target.last();
        let draft = Draft::new(
            Severity::Error,
            write.head,
            format!("the whole of `{target}` is replaced by what one run reads"),
        )
        .rerun(format!("two years, built by day: after the run of 2024-03-01 `{target}` holds 1 March alone"))
        .help(
            "name the partitions in `partition_by`; on Snowflake use `delete+insert` with the day as \
            `unique_key`",
        );
        out.report(said(template, &["incremental_strategy"], draft));
    }
}
