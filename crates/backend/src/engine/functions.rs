//! Which functions a query may call: the deterministic ones. What is left out, why, and what to use instead.

use std::sync::Arc;

use datafusion::execution::SessionStateDefaults;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF, Volatility, WindowUDF};

use super::{EngineError, ErrorKind};

/// Aggregates whose value depends on the order or the split of their input, or on the machine's hash function.
const APPROXIMATE: &[&str] =
    &["approx_distinct", "approx_median", "approx_percentile_cont", "approx_percentile_cont_with_weight"];

/// Functions that read a clock or draw a number, with all their names.
const VOLATILE: &[&str] = &[
    "now",
    "current_timestamp",
    "current_date",
    "current_time",
    "today",
    "localtime",
    "localtimestamp",
    "random",
    "rand",
    "uuid",
    "gen_random_uuid",
    "getdate",
    "sysdate",
];

pub(super) fn scalar() -> Vec<Arc<ScalarUDF>> {
    let mut all = SessionStateDefaults::default_scalar_functions();
    all.retain(|function| {
        function.signature().volatility == Volatility::Immutable && !VOLATILE.contains(&function.name())
    });
    all
}

pub(super) fn aggregate() -> Vec<Arc<AggregateUDF>> {
    let mut all = SessionStateDefaults::default_aggregate_functions();
    all.retain(|function| !APPROXIMATE.contains(&function.name()));
    all.into_iter().map(super::exact::replace).collect()
}

pub(super) fn window() -> Vec<Arc<WindowUDF>> {
    SessionStateDefaults::default_window_functions()
}

/// The error for a call of `name`, where it is one of those left out.
pub(super) fn refusal(name: &str) -> Option<EngineError> {
    if VOLATILE.contains(&name) {
        let refused = EngineError::new(
            ErrorKind::Refused,
            format!(
                "`{name}` gives another value on every run: a slice depends on its interval, code and inputs alone"
            ),
        );
        return Some(match name {
            "random" | "rand" => refused.help("derive it from a column: `md5(key)`"),
            "uuid" | "gen_random_uuid" => refused.help("derive it from the key: `md5(concat_ws('|', a, b))`"),
            _ => refused.help(
                "use `:interval_start` or `:interval_end`; when a slice was loaded is in its stamp: see `<table>__slices`",
            ),
        });
    }
    let base = APPROXIMATE.contains(&name).then_some(name)?;
    let help = match base {
        "approx_distinct" => "use `count(DISTINCT x)`",
        "approx_median" => "use `median(x)`",
        _ => "use `percentile_cont(p) WITHIN GROUP (ORDER BY x)`",
    };
    let message =
        format!("`{name}` depends on the order of the rows or on the machine: a re-run could differ");
    Some(EngineError::new(ErrorKind::Refused, message).help(help))
}
