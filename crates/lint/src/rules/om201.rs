//! OM201: a window whose order leaves ties open.
use super::prelude::*;
use super::shared::{Tie, order_matters, severity, tie, ties_are_alike, window_orders_nothing, windows};

pub(super) const RULE: Rule = Rule { id: "OM201", page: include_str!("../../rules/OM201.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (_, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Error) else { continue };
        for (query, expr, call) in windows(view) {
            if let Some(draft) = judge(view, level, query, expr, call) {
                out.report(draft);
            }
        }
    }
}

fn judge<'a>(
    view: &View<'a>,
    level: Severity,
    query: QueryId,
    expr: &'a Expr,
    call: &'a Call,
) -> Option<Draft> {
    let over =
        call.over.as_ref().filter(|over| order_matters(call) && !window_orders_nothing(view, query, over))?;
    let partition: Vec<&Expr> = over.partition.iter().collect();
    let order: Vec<&Expr> = over.order.iter().map(|sort| &sort.expr).collect();
    let known: Vec<&Expr> = partition.iter().chain(&order).copied().collect();
    // The first value of a column that is in the order is the same, whichever tied row comes first.
    let picks = matches!(call.name.as_str(), "first_value" | "first")
        && call.args.first().is_some_and(|arg| view.depends_only_on(query, arg, &known));
    if picks {
        return None;
    }
    let tie = tie(view, query, &partition, &order);
    if matches!(tie, Tie::None) || ties_are_alike(view, query, expr, &known) {
        return None;
    }
    let draft = Draft::new(level, expr.span, format!("the order of `{}` leaves ties open", call.name))
        .rerun(
            "two rows alike in these columns change places between two runs over the same data, and \
            another one is picked",
        )
        .help("add columns that make the order total, such as the key of the source");
    // What is before a year, or the sum of the last three, makes sense only where there is one row a year.
    let steps =
        matches!(call.name.as_str(), "lag" | "lead") || over.frame.is_some() && is_aggregate(&call.name);
    let by_period = steps
        && !partition.is_empty()
        && order.last().and_then(|expr| expr.column()).is_some_and(|(_, name)| is_period(name));
    match tie {
        Tie::None => None,
        Tie::Known | Tie::Unknown(_) if by_period => {
            let mut draft = draft.lacked("whether there is one row for each of these spans of time");
            draft.severity = Severity::Info;
            Some(draft)
        }
        Tie::Known => Some(draft),
        Tie::Unknown(lacking) => Some(draft.lacked(lacking)),
        Tie::Presumed(lacking) => {
            let mut draft = draft.lacked(lacking);
            draft.severity = Severity::Info;
            Some(draft)
        }
    }
}

/// Names of columns that hold a span of time such as a year.
fn is_period(name: &str) -> bool {
    let spans = ["year", "quarter", "month", "week", "season", "period", "semester", "decade"];
    name.split('_').next_back().is_some_and(|word| spans.contains(&word))
        || matches!(name, "yearmonth" | "yyyymm")
}
