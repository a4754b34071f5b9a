//! OM111: what is read is the latest of a source.
use super::prelude::*;
use super::shared::severity;
use super::uses::has_param;

pub(super) const RULE: Rule = Rule { id: "OM111", page: include_str!("../../rules/OM111.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (_, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Warning) else { continue };
        for (id, _) in view.queries() {
            let Some(select) = view.select(id) else { continue };
            for condition in select.filters.iter().chain(select.from.iter().flat_map(|from| &from.on)) {
                let ExprKind::Op(Op::Eq | Op::NullSafeEq, sides) = &condition.kind else { continue };
                if let [left, right] = sides.as_slice()
                    && (left.column().is_some() || right.column().is_some())
                    && let Some(found) = [left, right].into_iter().find_map(|side| latest(view, id, side))
                    && !reads_target(view, found)
                {
                    out.report(draft(
                        level,
                        view.query(found).span,
                        "the latest of a source decides what is read",
                    ));
                }
            }
        }
        if let Some(span) = catalogue(view) {
            out.report(draft(level, span, "the catalogue decides what is read"));
        }
    }
}

fn draft(level: Severity, span: Span, message: &str) -> Draft {
    Draft::new(level, span, message)
        .rerun(
            "run 2024-03-01 again in June: the latest is another one, and the same rows are combined with it",
        )
        .help("give the day, such as day = :interval_start, or bound what the maximum is taken of")
}

/// The query of a maximum over all of a source, if that is what one side of a comparison is.
fn latest<'a>(view: &View<'a>, id: QueryId, side: &'a Expr) -> Option<QueryId> {
    let found = match &side.kind {
        ExprKind::Subquery { query, ask: Ask::Scalar, .. } => {
            let output = view.outputs(*query).list.first()?.name.clone();
            if is_newest(view, *query) {
                Some(*query)
            } else {
                match view.output_origin(*query, &output, 0) {
                    Origin::Computed { query: inner, .. } if inner != *query => {
                        Some(inner).filter(|inner| is_newest(view, *inner))
                    }
                    _ => None,
                }
            }
        }
        ExprKind::Column { .. } => match view.origin(id, side) {
            Origin::Computed { query, .. } if query != id => {
                Some(query).filter(|query| is_newest(view, *query))
            }
            _ => None,
        },
        _ => None,
    }?;
    (!is_bounded(view, found)).then_some(found)
}

/// Whether a query gives the greatest of something, and nothing else.
fn is_newest(view: &View<'_>, id: QueryId) -> bool {
    let Some(select) = view.select(id) else { return false };
    let [Item::Expr { expr, .. }] = select.items.as_slice() else { return false };
    let stored =
        select.from.iter().any(|from| matches!(from.relation, Relation::Table(_) | Relation::Query(_)));
    let is_max = matches!(select.group, Group::No)
        && matches!(&expr.kind, ExprKind::Call(call) if call.name == "max" && call.over.is_none());
    let query = view.query(id);
    let one = query
        .limit
        .as_ref()
        .and_then(|limit| limit.count.as_ref())
        .is_some_and(|count| matches!(&count.kind, ExprKind::Literal(Literal::Number(n)) if n == "1"));
    let is_first =
        one && query.order.first().is_some_and(|sort| sort.descending && view.same(id, &sort.expr, expr));
    stored && (is_max || is_first)
}

/// Whether a parameter, a row around it, or an upper bound decides of what the greatest is taken.
fn is_bounded(view: &View<'_>, id: QueryId) -> bool {
    let inner = view.reachable(id);
    let scopes = view.scopes(id);
    let mut bounded =
        scopes.iter().flat_map(|scope| &scope.ranges).any(|range| range.high.is_some() && !range.exact);
    for query in &inner {
        view.each_expr(*query, &mut |expr| {
            bounded |= has_param(expr);
            expr.walk(&mut |part| {
                if let Some((qualifier, name)) = part.column() {
                    bounded |= match view.resolve(*query, qualifier, name) {
                        ColumnSource::From { query: at, .. } | ColumnSource::Alias { query: at, .. } => {
                            !inner.contains(&at)
                        }
                        ColumnSource::Unknown => qualifier.is_some(),
                    };
                }
            });
        });
    }
    bounded
}

/// The greatest of the target is OM305's.
fn reads_target(view: &View<'_>, id: QueryId) -> bool {
    view.tables(id)
        .iter()
        .any(|(_, _, name)| view.statement.writes.iter().any(|write| write.target.same(name)))
}

/// A table of the catalogue that is read beside others; a list of tables made of the catalogue alone is what
/// it is for.
fn catalogue(view: &View<'_>) -> Option<Span> {
    let source = view.statement.writes.iter().find_map(|write| write.source)?;
    let is_catalogue = |name: &Name| name.parts.iter().any(|part| part == "information_schema");
    let tables = view.tables(source);
    let found = tables.iter().find(|(_, _, name)| is_catalogue(name))?;
    tables.iter().any(|(_, _, name)| !is_catalogue(name)).then_some(found.2.span)
}
