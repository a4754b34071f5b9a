//! OM319: an old interval's state is put over a newer one.
use super::prelude::*;
use super::slices::is_change_name;

pub(super) const RULE: Rule = Rule { id: "OM319", page: include_str!("../../rules/OM319.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Some(source) = write.source else { continue };
        let Some((span, keys)) = unguarded(&write) else { continue };
        if write.context.is_log(&write.target) {
            continue;
        }
        let scopes = write.view.scopes(source);
        let by_change =
            |scope: &Scope<'_>| {
                scope.ranges.iter().any(|range| {
                    range.has_param() && (range.high.is_some() || range.exact) && is_change(range)
                }) && !scope.ranges.iter().any(|range| range.names.iter().any(|name| keys.contains(name)))
            };
        if scopes.is_empty() || !scopes.iter().all(by_change) {
            continue;
        }
        let target = write.target.text();
        out.report(
            Draft::new(
                Severity::Warning,
                span,
                format!(
                    "a row of `{target}` is overwritten without asking \
                whether it is newer than what is read"
                ),
            )
            .rerun(
                "March is repaired in July: the state of March is put over that of June, and no \
                    later run mends it",
            )
            .help("update only where the source is as new or newer: s.updated_at >= t.updated_at"),
        );
    }
}

fn is_change(range: &Range<'_>) -> bool {
    range.names.iter().any(|name| is_change_name(name))
}

/// The branch that updates whatever is stored, and the columns of the source that are compared.
fn unguarded(write: &WriteFact<'_, '_>) -> Option<(Span, Vec<String>)> {
    let text = &write.context.script.text;
    if write.verb == Verb::Merge {
        let pairs = write.view.merge_pairs(write.write);
        if pairs.is_empty() || pairs.len() < write.filters.len() {
            return None;
        }
        let matched: Vec<&Branch> =
            write.branches.iter().filter(|branch| branch.when == When::Matched).collect();
        // A guarded branch before it takes the rows that are older.
        if matched.iter().any(|branch| {
            branch.filters.iter().any(|filter| {
                filter.any(&mut |part| {
                    matches!(part.kind, ExprKind::Op(Op::Lt | Op::LtEq | Op::Gt | Op::GtEq, _))
                })
            })
        }) {
            return None;
        }
        let branch = matched.into_iter().find(|branch| match &branch.action {
            BranchAction::Update(sets) => !sets.iter().any(chooses),
            BranchAction::UpdateAll => true,
            _ => false,
        })?;
        let start = branch.span.start as usize;
        let at = branch.span.of(text).to_ascii_lowercase().find("update")?;
        return Some((
            Span::new(start, start + at + "update".len()),
            pairs.into_iter().flat_map(|(a, b)| [a, b]).collect(),
        ));
    }
    let conflict = write.conflict.as_ref().filter(|conflict| {
        conflict.action == ConflictAction::Update && conflict.filters.is_empty() && !conflict.sets.is_empty()
    })?;
    if conflict.sets.iter().any(chooses) {
        return None;
    }
    let lower = conflict.span.of(text).to_ascii_lowercase();
    let from = lower
        .find("do")
        .filter(|at| {
            lower
                .get(*at..)
                .is_some_and(|rest| rest.trim_start_matches("do").trim_start().starts_with("update"))
        })
        .unwrap_or(0);
    let end = from + lower.get(from..)?.find("update")? + "update".len();
    let start = conflict.span.start as usize;
    let keys = if conflict.keys.is_empty() { known_keys(write) } else { conflict.keys.clone() };
    (!keys.is_empty()).then(|| (Span::new(start + from, start + end), keys))
}

fn known_keys(write: &WriteFact<'_, '_>) -> Vec<String> {
    write
        .view
        .knowledge
        .table(&write.target)
        .and_then(|facts| facts.keys.first().cloned())
        .unwrap_or_default()
}

/// A value that is chosen between the old and the new one.
fn chooses(set: &Assign) -> bool {
    set.value.any(&mut |part| match &part.kind {
        ExprKind::Case { .. } => true,
        ExprKind::Call(call) => matches!(
            call.name.as_str(),
            "if" | "iff" | "iif" | "greatest" | "least" | "decode" | "nvl2" | "max" | "coalesce"
        ),
        _ => false,
    })
}
