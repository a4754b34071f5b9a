//! OM208: quantiles and top lists by sketches that depend on how they are merged.
use super::prelude::*;
use super::shared::severity;
use super::uses::calls;
use crate::dialect::Dialect;
use crate::functions::{Names, listed};

pub(super) const RULE: Rule = Rule { id: "OM208", page: include_str!("../../rules/OM208.md"), check };

static EVERYWHERE: Names = Names::of(include_str!("../../data/names/approximate.txt"));
static CLICKHOUSE: Names = Names::of(include_str!("../../data/names/approximate-clickhouse.txt"));

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let clickhouse = file.script.dialect == Dialect::ClickHouse;
    let wanted =
        |call: &Call| listed(&EVERYWHERE, &call.name) || clickhouse && listed(&CLICKHOUSE, &call.name);
    for (_, statement, view) in file.statements() {
        if severity(file, statement, Severity::Info).is_none() {
            continue;
        }
        for (_, expr, call) in calls(view, wanted) {
            out.report(
                Draft::new(
                    Severity::Info,
                    expr.span,
                    format!("`{}` answers approximately, by how partial results are merged", call.name),
                )
                .rerun("with other threads or files the same rows give another answer")
                .help("compute it exactly where the answer is stored or compared"),
            );
        }
    }
}
