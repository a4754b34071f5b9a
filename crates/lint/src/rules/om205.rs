//! OM205: values are collected in no order.
use super::prelude::*;
use super::shared::{Tie, order_matters, severity, tie, tie_within};
use super::uses::{group_of, outputs_follow};
use crate::functions::{Names, listed};

pub(super) const RULE: Rule = Rule { id: "OM205", page: include_str!("../../rules/OM205.md"), check };

static COLLECTS: Names = Names::of(include_str!("../../data/names/collects.txt"));

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (at, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Error) else { continue };
        for occurrence in file.occurrences(at).iter().filter(|occurrence| occurrence.class == Class::Order) {
            let (Some(query), ExprKind::Call(call)) = (occurrence.query, &occurrence.expr.kind) else {
                continue;
            };
            // The first of a list is OM204's.
            let element = occurrence.around.is_some_and(|around| {
                matches!(&around.kind, ExprKind::Element { expr, .. }
                    if std::ptr::eq(&raw const **expr, occurrence.expr))
            });
            if element
                || order_matters(call)
                || occurrence.fate <= Fate::Elements
                || occurrence.roles.is_empty()
            {
                continue;
            }
            let Some(fault) = fault(view, query, call) else { continue };
            let level = if occurrence.fate == Fate::Unsure { level.lower() } else { level };
            out.report(fault.draft(level, occurrence.span));
        }
    }
}

enum Fault {
    /// There is no order.
    None,
    /// The order may tie; and what is lacking to know.
    Ties(Option<String>),
    /// The order ends in what looks like an identity.
    Presumed(String),
}

impl Fault {
    fn draft(self, level: Severity, span: Span) -> Draft {
        let message = match self {
            Self::None => "values are collected in no order",
            _ => "values are collected by an order that leaves ties open",
        };
        let draft = Draft::new(level, span, message)
            .rerun(
                "the second run over the same data collects the same values in another order, and what \
                is stored differs",
            )
            .help("order by the collected value, or by columns that tell all rows of a group apart");
        match self {
            Self::None => draft,
            Self::Ties(None) => draft.lacked("ties in the data"),
            Self::Ties(Some(lacking)) => draft.lacked(lacking),
            Self::Presumed(lacking) => {
                let mut draft = draft.lacked(lacking);
                draft.severity = Severity::Info;
                draft
            }
        }
    }
}

fn fault<'a>(view: &View<'a>, query: QueryId, call: &'a Call) -> Option<Fault> {
    if call.name == "array" {
        let ExprKind::Subquery { query, ask: Ask::Array, .. } = &call.args.first()?.kind else { return None };
        return array(view, *query);
    }
    if !listed(&COLLECTS, &call.name) {
        return None;
    }
    let of_window = call.over.iter().flat_map(|over| &over.order);
    let order: Vec<&Expr> = call.order.iter().chain(of_window).map(|sort| &sort.expr).collect();
    let group = match &call.over {
        Some(over) => over.partition.iter().collect(),
        None => group_of(view, query),
    };
    let known: Vec<&Expr> = group.iter().chain(&order).copied().collect();
    // MySQL and others take several expressions; a separator is a constant.
    if !call.star && call.args.iter().all(|arg| constant(arg) || view.depends_only_on(query, arg, &known)) {
        return None;
    }
    let judged = if call.over.is_some() { tie } else { tie_within };
    ordered(judged(view, query, &group, &order), &order)
}

/// `ARRAY(SELECT …)`: the order of the query; of elements of an array nothing is said.
fn array(view: &View<'_>, id: QueryId) -> Option<Fault> {
    let select = view.select(id)?;
    if !select.from.iter().any(|from| matches!(from.relation, Relation::Table(_) | Relation::Query(_))) {
        return None;
    }
    let order: Vec<&Expr> = view.query(id).order.iter().map(|sort| &sort.expr).collect();
    if outputs_follow(view, id, &order) {
        return None;
    }
    ordered(tie(view, id, &[], &order), &order)
}

fn ordered(tie: Tie, order: &[&Expr]) -> Option<Fault> {
    match tie {
        Tie::None => None,
        _ if order.is_empty() => Some(Fault::None),
        Tie::Known => Some(Fault::Ties(None)),
        Tie::Unknown(lacking) => Some(Fault::Ties(Some(lacking))),
        Tie::Presumed(lacking) => Some(Fault::Presumed(lacking)),
    }
}
