//! OM403: what is read and what is replaced are chosen by different columns.
use super::prelude::*;
use super::slices::{By, Slice, carries, filling, is_stamped, is_time_name, slice};

pub(super) const RULE: Rule = Rule { id: "OM403", page: include_str!("../../rules/OM403.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Some(source) = write.source else { continue };
        let Some(slice) = slice(file, &write).filter(|slice| slice.by != By::Partition) else { continue };
        for scope in write.view.scopes(source).iter() {
            if let Some((span, column)) = mismatch(&write, &slice, scope) {
                let read = span.of(&file.script.text);
                let read = read.split_whitespace().collect::<Vec<_>>().join(" ");
                out.report(
                    Draft::new(
                        Severity::Error,
                        span,
                        format!(
                            "rows are read where `{read}`, and replaced \
                        by `{column}`"
                        ),
                    )
                    .rerun(format!(
                        "a row that came late is read with the rows of another day; its \
                            `{column}` lies outside the slice, where it is added again or pushes out what \
                            was there"
                    ))
                    .help(format!(
                        "bound what is read by `{column}`; or find the touched values of \
                            `{column}` first and rebuild them as a whole"
                    )),
                );
                break;
            }
        }
    }
}

fn mismatch<'a>(write: &WriteFact<'_, 'a>, slice: &Slice, scope: &Scope<'a>) -> Option<(Span, String)> {
    if !scope.sure || !slice.sure || slice.parts.is_empty() {
        return None;
    }
    let decided = |column: &str| {
        is_stamped(write, scope.branch, column)
            || scope.ranges.iter().any(|range| carries(write, scope.branch, range, column))
    };
    if slice.parts.iter().any(|part| decided(&part.column)) {
        return None;
    }
    // The slice's column must be seen to come from elsewhere.
    let part = slice.parts.iter().find(|part| slice.by != By::Predicate || !part.params.is_empty())?;
    let filled = filling(write, scope.branch, &part.column)?;
    if let Origin::Computed { query, expr } = write.view.origin(scope.branch, filled)
        && mixes(write, query, expr, scope)
    {
        return None;
    }
    let params = slice.params();
    let chosen = scope
        .ranges
        .iter()
        .filter(|range| {
            range.has_param() && write.view.query(range.query).place != Place::Nested(Ask::Scalar)
        })
        .find(|range| {
            let names = range.params();
            let shared = names.iter().any(|name| params.contains(&name.as_str()));
            let timed = range.names.iter().any(|name| is_time_name(name));
            match slice.by {
                By::Coming => timed,
                _ => shared,
            }
        })?;
    Some((chosen.span, part.column.clone()))
}

/// Whether the slice's column is computed so that it may well say the same as what is bounded: of that itself, or of
/// several columns, such as a date of its year, month and day.
fn mixes<'a>(write: &WriteFact<'_, 'a>, query: QueryId, expr: &'a Expr, scope: &Scope<'a>) -> bool {
    let mut columns: Vec<&str> = Vec::new();
    expr.walk(&mut |part| columns.extend(part.column().map(|(_, name)| name)));
    columns.sort_unstable();
    columns.dedup();
    columns.len() > 1
        || expr.any(&mut |part| {
            part.column().is_some_and(|(_, name)| {
                scope.ranges.iter().any(|range| range.names.iter().any(|known| known == name))
            })
        })
        || matches!(write.view.query(query).body, Body::Set { .. })
}
