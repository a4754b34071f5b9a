//! OM305: the window that is read comes from the target.
use super::prelude::*;
use super::shared::steady;
use super::slices::feeders;
use crate::lower::MAX_PARTITION;
use crate::script;

pub(super) const RULE: Rule = Rule { id: "OM305", page: include_str!("../../rules/OM305.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        if matches!(write.verb, Verb::Update | Verb::Delete) || write.context.is_log(&write.target) {
            continue;
        }
        let mut told: Vec<Span> = Vec::new();
        for reader in std::iter::once(write).chain(feeders(file, &write)) {
            let reads = reader.source.map(|source| reader.view.reads_of(source, &write.target));
            for (read, span) in reads.into_iter().flatten() {
                if read == SelfRead::Watermark && is_bound(&reader, span) && !told.contains(&span) {
                    told.push(span);
                    report(&write, span, looks_back(&reader, span), out);
                }
            }
            if let Some(span) = by_variable(&reader, &write.target).filter(|span| !told.contains(span)) {
                told.push(span);
                report(&write, span, false, out);
            }
        }
        by_template(file, &write, out);
        if let Some(span) = by_max_partition(&write) {
            report(&write, span, false, out);
        }
    }
}

/// `day >= _dbt_max_partition`: the newest partition of the target, which dbt asks for.
fn by_max_partition(write: &WriteFact<'_, '_>) -> Option<Span> {
    let mut found = None;
    let mut look = |expr: &Expr| {
        expr.walk(&mut |part| {
            if matches!(&part.kind, ExprKind::Param(name) if name == MAX_PARTITION) {
                found = found.or(Some(part.span));
            }
        });
    };
    for (id, _) in write.view.queries() {
        let Some(select) = write.view.select(id) else { continue };
        select.filters.iter().chain(select.from.iter().flat_map(|from| &from.on)).for_each(&mut look);
    }
    found
}

/// A query of the template asks for the target's newest row, and its answer bounds what is read.
fn by_template(file: &File<'_>, write: &WriteFact<'_, '_>, out: &mut Findings<'_>) {
    let Some(template) = steady(file) else { return };
    if !bounded_by_answer(write) {
        return;
    }
    for query in &template.queries {
        let Some(place) = query.span.clone() else { continue };
        let parsed = script::read("", &query.sql, file.script.dialect);
        let asks = parsed.statements.iter().any(|statement| {
            let Action::Select(id) = &statement.action else { return false };
            let view = View::new(statement, file.knowledge, file.script.dialect);
            let own = view.tables(*id).iter().any(|(_, _, name)| name.same(&write.target));
            own && view.select(*id).is_some_and(takes_newest)
        });
        if asks {
            let keyed = matches!(write.effect(), Effect::Keyed);
            let level = if keyed { Severity::Warning } else { Severity::Error };
            out.report(draft(write, level, Span::new(place.start, place.end)).in_template());
        }
    }
}

fn takes_newest(select: &Select) -> bool {
    select.items.iter().any(|item| {
        matches!(item, Item::Expr { expr, .. } if expr.any(&mut |part| matches!(&part.kind, ExprKind::Call(call) if call.name == "max")))
    })
}

/// Whether the answer of a query of the template stands in a condition.
fn bounded_by_answer(write: &WriteFact<'_, '_>) -> bool {
    let answer = |expr: &Expr| {
        expr.any(&mut |part| matches!(&part.kind, ExprKind::Param(name) if name.contains("query_result")))
    };
    write
        .view
        .queries()
        .any(|(id, _)| write.view.select(id).is_some_and(|select| select.filters.iter().any(answer)))
}

fn report(write: &WriteFact<'_, '_>, span: Span, back: bool, out: &mut Findings<'_>) {
    let keyed = matches!(write.effect(), Effect::Keyed)
        || matches!(write.verb, Verb::Model(ModelWrite::Keyed | ModelWrite::DeleteInsert));
    let level = if keyed && back { Severity::Warning } else { Severity::Error };
    // Without the parentheses, the query itself.
    let text = span.of(&write.context.script.text);
    let span = if text.starts_with('(') && text.ends_with(')') {
        Span { start: span.start + 1, end: span.end - 1 }
    } else {
        span
    };
    out.report(draft(write, level, span));
}

fn draft(write: &WriteFact<'_, '_>, level: Severity, span: Span) -> Draft {
    let target = write.target.text();
    Draft::new(level, span, format!("what is read begins where `{target}` ends"))
        .rerun(
            "a row of 2024-03-01 that arrives on 3 March is older than the newest one stored, and is never read; \
             March can't be run again",
        )
        .help("take the interval from parameters: ts >= :interval_start AND ts < :interval_end")
}

/// The newest row serves as a bound: it is compared, not merely read.
fn is_bound(write: &WriteFact<'_, '_>, span: Span) -> bool {
    let mut bound = false;
    for (id, _) in write.view.queries() {
        let Some(select) = write.view.select(id) else { continue };
        let conditions =
            select.filters.iter().chain(&select.having).chain(select.from.iter().flat_map(|from| &from.on));
        bound |= conditions.clone().any(|expr| expr.span.contains(span) && is_lower(expr));
        // Through a CTE: a column of it is compared.
        bound |= select.filters.iter().chain(select.from.iter().flat_map(|from| &from.on)).any(|expr| {
            let ExprKind::Op(op, sides) = &expr.kind else { return false };
            matches!(op, Op::Gt | Op::GtEq | Op::Lt | Op::LtEq)
                && sides.iter().any(|side| {
                    let mut found = false;
                    side.walk(&mut |part| {
                        if part.column().is_some()
                            && let Origin::Computed { query, expr } = write.view.origin(id, part)
                        {
                            found |= write.view.query(query).span.contains(span)
                                || expr.span.contains(span)
                                || span.contains(expr.span);
                        }
                    });
                    found
                })
        });
    }
    bound
}

/// A lower bound; the reverse only narrows.
fn is_lower(expr: &Expr) -> bool {
    // `current_date > (SELECT max(day) FROM t)` asks whether today has been done, not which rows to take.
    let rows = |side: Option<&Expr>| side.is_some_and(|side| side.any(&mut |part| part.column().is_some()));
    let mut lower = false;
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Op(Op::Gt | Op::GtEq, sides) => {
            lower |= sides.get(1).is_some_and(asks) && rows(sides.first())
        }
        ExprKind::Op(Op::Lt | Op::LtEq, sides) => {
            lower |= sides.first().is_some_and(asks) && rows(sides.get(1))
        }
        ExprKind::Between { low, .. } => lower |= asks(low),
        _ => {}
    });
    lower
}

fn asks(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part.kind, ExprKind::Subquery { .. }))
}

/// Whether something is taken off the newest time.
fn looks_back(write: &WriteFact<'_, '_>, span: Span) -> bool {
    let mut back = false;
    for (id, _) in write.view.queries() {
        write.view.each_expr(id, &mut |expr| {
            expr.walk(&mut |part| {
                let subtracts = match &part.kind {
                    ExprKind::Op(Op::Sub, _) => true,
                    ExprKind::Call(call) => {
                        call.name.contains("add") || call.name.contains("sub") || call.name == "at time zone"
                    }
                    _ => false,
                };
                back |= subtracts && (part.span.contains(span) || span.contains(part.span));
            });
        });
    }
    back
}

/// A variable set from the table that is written in the end, by which the source is bounded: where it is set.
pub(super) fn by_variable(write: &WriteFact<'_, '_>, target: &Name) -> Option<Span> {
    write.source?;
    let script = write.context.script;
    for statement in script
        .index
        .variables
        .iter()
        .take_while(|at| **at < write.at)
        .take(100)
        .filter_map(|at| script.statements.get(*at))
    {
        let Action::Variable { name, value: Some(value) } = &statement.action else { continue };
        let view = View::new(statement, write.context.knowledge, script.dialect);
        let mut found = None;
        value.walk(&mut |part| {
            if let ExprKind::Subquery { query, .. } = &part.kind {
                let reads = view.tables(*query).iter().any(|(_, _, table)| table.same(target));
                let max = view.select(*query).is_some_and(|select| select.items.iter().any(|item| matches!(item, Item::Expr { expr, .. } if expr.any(&mut |part| matches!(&part.kind, ExprKind::Call(call) if call.name == "max")))));
                if reads && max {
                    found = Some(part.span);
                }
            }
        });
        if found.is_some() && write.view.mentions_param(name) {
            return found;
        }
    }
    None
}
