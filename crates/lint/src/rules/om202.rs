//! OM202: a window without an order.
use super::prelude::*;
use super::shared::{order_matters, severity, ties_are_alike, window_orders_nothing, windows};

pub(super) const RULE: Rule = Rule { id: "OM202", page: include_str!("../../rules/OM202.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (_, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Error) else { continue };
        for (query, expr, call) in windows(view) {
            let Some(over) = call
                .over
                .as_ref()
                .filter(|over| order_matters(call) && window_orders_nothing(view, query, over))
            else {
                continue;
            };
            let partition: Vec<&Expr> = over.partition.iter().collect();
            if view.determines(query, &partition) == Answer::Yes
                || ties_are_alike(view, query, expr, &partition)
            {
                continue;
            }
            out.report(
                Draft::new(level, expr.span, format!("`{}` has no order", call.name))
                    .rerun(
                        "the rows of a partition come in another order in the next run, and another one \
                        is picked",
                    )
                    .help("order by columns that tell all rows of a partition apart"),
            );
        }
    }
}
