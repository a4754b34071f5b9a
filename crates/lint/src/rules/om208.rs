//! OM208: quantiles and top lists by sketches that depend on how they are merged.
use super::prelude::*;
use super::shared::severity;
use super::uses::calls;
use crate::dialect::Dialect;

pub(super) const RULE: Rule = Rule { id: "OM208", page: include_str!("../../rules/OM208.md"), check };

const EVERYWHERE: &[&str] = &[
    "approx_percentile", "percentile_approx", "approx_percentile_cont", "approx_median", "approx_quantile", "approx_quantiles", "approx_top_k", "approx_top_count", "approx_top_sum", "approx_most_frequent",
    "tdigest_agg", "qdigest_agg", "reservoir_quantile", "approx_percentile_accumulate", "approx_percentile_combine", "approx_percentile_estimate",
];
const CLICKHOUSE: &[&str] = &["quantile", "quantiles", "quantileif", "quantiletdigest", "quantilestdigest", "quantiletdigestweighted", "median", "mediantdigest", "topk", "topkweighted"];

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let clickhouse = file.script.dialect == Dialect::ClickHouse;
    let wanted = |call: &Call| EVERYWHERE.contains(&call.name.as_str()) || clickhouse && CLICKHOUSE.contains(&call.name.as_str());
    for (_, statement, view) in file.statements() {
        if severity(file, statement, Severity::Info).is_none() {
            continue;
        }
        for (_, expr, call) in calls(view, wanted) {
            out.report(
                Draft::new(Severity::Info, expr.span, format!("`{}` answers approximately, by how partial results are merged", call.name))
                    .rerun("with other threads or files the same rows give another answer")
                    .help("compute it exactly where the answer is stored or compared"),
            );
        }
    }
}
