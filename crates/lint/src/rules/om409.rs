//! OM409: an overwrite of the whole table by one interval.
use super::prelude::*;
use super::slices::is_time_name;
use crate::dialect::Dialect;

pub(super) const RULE: Rule = Rule { id: "OM409", page: include_str!("../../rules/OM409.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    if !matches!(file.script.dialect, Dialect::Spark | Dialect::Snowflake) {
        return;
    }
    for write in file.writes() {
        let Some(source) =
            write.source.filter(|_| write.verb == Verb::Overwrite && !write.target.parts.is_empty())
        else {
            continue;
        };
        let partitioned = write.partition.iter().any(|(_, value)| value.is_some());
        if partitioned
            || is_dynamic(file, write.at)
            || write.target.is_stage()
            || write.context.is_fresh(write.write)
            || write.context.is_stage(write.write)
        {
            continue;
        }
        let scopes = write.view.scopes(source);
        let bounded = |scope: &Scope<'_>| {
            // A snapshot's day that isn't kept says which state is taken, not which part.
            scope.ranges.iter().any(|range| {
                range.has_param()
                    && range.low.is_some()
                    && !range.outputs.is_empty()
                    && range.names.iter().any(|name| is_time_name(name))
            })
        };
        if scopes.is_empty() || !scopes.iter().all(bounded) || super::slices::read_later(file, &write) {
            continue;
        }
        let target = write.target.text();
        let help = if file.script.dialect == Dialect::Spark {
            "SET spark.sql.sources.partitionOverwriteMode = dynamic, or name the partition: PARTITION (day \
             = :day)"
        } else {
            "DELETE the interval's rows and INSERT, in one transaction"
        };
        out.report(
            Draft::new(
                Severity::Error,
                write.head,
                format!("all of `{target}` is overwritten, and only one interval is read"),
            )
            .rerun("1 March is run again: the table holds 1 March, and nothing else")
            .help(help),
        );
    }
}

/// Whether the mode was set to `dynamic` before.
fn is_dynamic(file: &File<'_>, at: usize) -> bool {
    let mode = |at: usize| {
        let text = file.script.statements.get(at)?.span.of(&file.script.text).to_ascii_lowercase();
        text.contains("partitionoverwritemode").then(|| text.contains("dynamic"))
    };
    file.script
        .index
        .sessions
        .iter()
        .rev()
        .filter(|session| **session < at)
        .find_map(|session| mode(*session))
        .unwrap_or(false)
}
