//! OM505: a dbt snapshot, whose versions are dated by when it ran.
use super::prelude::*;
use super::shared::{is_clock, said};
use crate::dbt::NodeKind;

pub(super) const RULE: Rule = Rule { id: "OM505", page: include_str!("../../rules/OM505.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let Some(template) = file.script.template.as_deref() else { return };
    if template.kind != NodeKind::Snapshot {
        return;
    }
    let config = &template.config;
    for write in file.writes() {
        let (names, what): (&[&str], &str) = match config.strategy.as_deref() {
            Some("check") => {
                (&["strategy"], "versions are found by comparing, and dated by the run that saw them")
            }
            _ if config.updated_at.as_deref().is_some_and(|column| is_dated(&write, column)) => {
                (&["updated_at"], "versions are dated by the clock")
            }
            _ => continue,
        };
        let draft = Draft::new(Severity::Info, write.head, what)
            .rerun(
                "the snapshot did not run from 1 to 5 March: what changed twice in between is lost, and \
                the rest is dated the 5th",
            )
            .help("keep the source's changes with their own time, and derive the history from them");
        out.report(said(template, names, draft));
    }
}

/// Whether a column of the snapshot's query, or an expression in its place, is the clock.
fn is_dated(write: &WriteFact<'_, '_>, column: &str) -> bool {
    let dialect = write.context.script.dialect;
    let Some(source) = write.source else { return false };
    match write.view.output_origin(source, &column.to_ascii_lowercase(), 0) {
        Origin::Computed { expr, .. } => expr.any(&mut |part| is_clock(part, dialect)),
        _ => false,
    }
}
