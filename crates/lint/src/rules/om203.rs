//! OM203: one row a key is kept, and the order does not decide which.
use super::prelude::*;
use super::shared::{Tie, orders_nothing, severity, tie};
use super::uses::outputs_follow;

pub(super) const RULE: Rule = Rule { id: "OM203", page: include_str!("../../rules/OM203.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (_, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Error) else { continue };
        for (id, query) in view.queries() {
            if let Some(Distinct::On(list, span)) = view.select(id).map(|select| &select.distinct) {
                judge(view, id, list, *span, level).into_iter().for_each(|draft| out.report(draft));
            }
            if let Some(limit) = query.limit.as_ref().filter(|limit| !limit.by.is_empty()) {
                judge(view, id, &limit.by, limit.span, level).into_iter().for_each(|draft| out.report(draft));
            }
        }
    }
}

fn judge<'a>(view: &View<'a>, id: QueryId, by: &'a [Expr], span: Span, level: Severity) -> Option<Draft> {
    let by: Vec<&Expr> = by.iter().collect();
    let sorts = &view.query(id).order;
    let order: Vec<&Expr> = sorts
        .iter()
        .map(|sort| &sort.expr)
        .filter(|expr| !by.iter().any(|by| view.same(id, by, expr)))
        .collect();
    let known: Vec<&Expr> = by.iter().chain(&order).copied().collect();
    if outputs_follow(view, id, &known) {
        return None;
    }
    let draft = Draft::new(level, span, "one row of each key is kept, and the order leaves open which")
        .rerun(
            "two rows alike in these columns change places between two runs over the same data, and the \
            other one is kept",
        )
        .help("end the ORDER BY with columns that tell all rows of a key apart");
    match tie(view, id, &by, &order) {
        Tie::None => None,
        Tie::Known => Some(draft),
        Tie::Unknown(_) if order.is_empty() || orders_nothing(sorts) => Some(draft),
        Tie::Presumed(_) if order.is_empty() => Some(draft),
        Tie::Unknown(lacking) => Some(draft.lacked(lacking)),
        Tie::Presumed(lacking) => {
            let mut draft = draft.lacked(lacking);
            draft.severity = Severity::Info;
            Some(draft)
        }
    }
}
