//! OM204: an aggregate that keeps any member of the group.
use super::prelude::*;
use super::shared::{Tie, severity, tie_within};
use super::uses::{group_of, parts, unsure};
use crate::dialect::Dialect;

pub(super) const RULE: Rule = Rule { id: "OM204", page: include_str!("../../rules/OM204.md"), check };

/// Keep whichever member is met.
const ANY: &[&str] = &["any_value", "arbitrary", "any", "anylast", "anyheavy", "first", "last"];
/// Keep a member at the extreme of another value.
const AT_EXTREME: &[&str] = &["max_by", "min_by", "arg_max", "arg_min", "argmax", "argmin"];

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (at, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Warning) else { continue };
        for occurrence in file.occurrences(at).iter().filter(|occurrence| occurrence.class == Class::Order) {
            let (Some(query), ExprKind::Call(call)) = (occurrence.query, &occurrence.expr.kind) else {
                continue;
            };
            if call.over.is_some() || occurrence.fate == Fate::Presence || occurrence.roles.is_empty() {
                continue;
            }
            if let Some(draft) = judge(view, query, occurrence, call, level) {
                out.report(draft);
            }
        }
        if file.script.dialect == Dialect::MySql {
            for (id, _) in view.queries() {
                neither(view, id, level, out);
            }
        }
    }
}

fn judge<'a>(
    view: &View<'a>,
    query: QueryId,
    occurrence: &Occurrence<'a>,
    call: &'a Call,
    level: Severity,
) -> Option<Draft> {
    let group = group_of(view, query);
    let value = call.args.first()?;
    let element = occurrence.around.filter(|around| matches!(&around.kind, ExprKind::Element { expr, path }
            if expr.span.start >= around.span.start && std::ptr::eq(&raw const **expr, occurrence.expr) && !path.is_empty()));
    let name = call.name.as_str();
    let (span, by): (Span, Vec<&Expr>) = if AT_EXTREME.contains(&name) {
        (occurrence.span, call.args.get(1).map(parts).unwrap_or_default())
    } else if ANY.contains(&name) {
        (
            occurrence.span,
            call.bounded
                .iter()
                .flat_map(|bounded| parts(bounded))
                .chain(call.order.iter().map(|sort| &sort.expr))
                .collect(),
        )
    } else if let Some(element) = element.filter(|_| {
        matches!(
            name,
            "array_agg" | "list" | "collect_list" | "collect_set" | "grouparray" | "groupuniqarray"
        )
    }) {
        (element.span, call.order.iter().map(|sort| &sort.expr).collect())
    } else {
        return None;
    };
    let known: Vec<&Expr> = group.iter().chain(&by).copied().collect();
    if view.depends_only_on(query, value, &known) || same_in_group(view, query, value, &group) {
        return None;
    }
    let level =
        if view.dialect == Dialect::Spark && matches!(name, "first" | "last") && level == Severity::Warning {
            Severity::Error
        } else {
            level
        };
    let what = if by.is_empty() {
        "any member of the group is kept"
    } else {
        "several members of the group may share the extreme; any of them is kept"
    };
    let draft = Draft::new(level, span, what)
        .rerun("the second run over the same data may meet the members in another order and keep another one")
        .help("use min or max of the value, or order by columns that tell all members apart");
    match tie_within(view, query, &group, &by) {
        Tie::None => None,
        Tie::Known => Some(draft),
        Tie::Unknown(lacking) => Some(unsure(draft, lacking)),
        Tie::Presumed(lacking) if by.is_empty() => Some(unsure(draft, lacking)),
        Tie::Presumed(lacking) => {
            let mut draft = unsure(draft, lacking);
            draft.severity = Severity::Info;
            Some(draft)
        }
    }
}

/// Whether a value is that of a window over the group: `max(x) OVER (PARTITION BY k)` below `GROUP BY k`.
fn same_in_group<'a>(view: &View<'a>, query: QueryId, value: &'a Expr, group: &[&'a Expr]) -> bool {
    let Origin::Computed { query: inner, expr } = view.origin(query, value) else { return false };
    let ExprKind::Call(call) = &expr.kind else { return false };
    let Some(over) = call.over.as_ref().filter(|over| over.order.is_empty() && is_aggregate(&call.name))
    else {
        return false;
    };
    over.partition.iter().all(|by| {
        group.iter().any(|grouped| match (view.origin(query, grouped), view.origin(inner, by)) {
            (Origin::Base { table: a, column: ca }, Origin::Base { table: b, column: cb }) => {
                a.same(b) && ca == cb
            }
            (Origin::Computed { expr: a, .. }, Origin::Computed { expr: b, .. }) => std::ptr::eq(a, b),
            _ => false,
        })
    })
}

/// A column that is neither grouped nor aggregated, where `MySQL` lets it pass.
fn neither(view: &View<'_>, id: QueryId, level: Severity, out: &mut Findings<'_>) {
    let Some(select) = view.select(id) else { return };
    if !matches!(select.group, Group::By(_)) {
        return;
    }
    let group = group_of(view, id);
    for item in &select.items {
        let Item::Expr { expr, .. } = item else { continue };
        // In a routine a bare name may be a parameter of it.
        let certain = !view.statement.routine || matches!(expr.column(), Some((Some(_), _)));
        if certain
            && expr.column().is_some()
            && !view.depends_only_on(id, expr, &group)
            && matches!(view.source(id, expr), ColumnSource::From { .. })
        {
            out.report(
                Draft::new(
                    level,
                    expr.span,
                    "this column is neither grouped nor aggregated: any row of the group gives it",
                )
                .rerun("the second run over the same data may take it from another row")
                .help("group by it, or say which row is meant, such as by MAX"),
            );
        }
    }
}
