//! OM303: a write that reads what it wrote before.
use super::prelude::*;

pub(super) const RULE: Rule = Rule { id: "OM303", page: include_str!("../../rules/OM303.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        if !matches!(write.verb, Verb::Insert | Verb::Overwrite | Verb::ReplaceWhere | Verb::CreateAs(_) | Verb::Merge | Verb::Model(_)) || write.effect() == Effect::Fresh {
            continue;
        }
        for (read, span) in write.view.self_reads(write.write) {
            if read == SelfRead::Rows
                && let Some(draft) = judge(&write, span)
            {
                out.report(draft);
                break;
            }
        }
    }
}

fn judge(write: &WriteFact<'_, '_>, span: Span) -> Option<Draft> {
    let target = write.target.text();
    if rebuilds(write) {
        return None;
    }
    let earlier = reads_earlier_slice(write);
    let level = if write.verb == Verb::Merge || earlier { Severity::Warning } else { Severity::Error };
    let rerun = if earlier {
        "March is repaired in June: each later slice has to be run again, in order, or it keeps what it took from the broken one"
    } else {
        "the second run of the same interval starts from what the first one wrote, and ends elsewhere"
    };
    Some(
        Draft::new(level, span, format!("`{target}` is read to write `{target}`"))
            .rerun(rerun)
            .help("compute from the source; where the previous slice is needed, read it through previous(…) and run in order"),
    )
}

/// The whole table made anew of nothing but itself, without adding: a rebuild.
fn rebuilds(write: &WriteFact<'_, '_>) -> bool {
    let Some(source) = write.source else { return false };
    let Verb::CreateAs(_) = write.verb else { return false };
    let tables = write.view.tables(source);
    let Some(select) = write.view.select(source) else { return false };
    tables.len() == 1 && select.from.len() == 1 && !matches!(select.from.first().map(|from| &from.relation), Some(Relation::Function(_)))
}

/// Whether each read of the target is bounded to rows before the slice that is written.
fn reads_earlier_slice(write: &WriteFact<'_, '_>) -> bool {
    let Some(source) = write.source else { return false };
    let reads: Vec<QueryId> = write.view.tables(source).into_iter().filter(|(_, _, name)| name.same(&write.target)).map(|(id, _, _)| id).collect();
    !reads.is_empty()
        && reads.iter().all(|id| {
            let Some(select) = write.view.select(*id) else { return false };
            let conditions = select.filters.iter().chain(select.from.iter().flat_map(|from| &from.on));
            conditions.clone().any(|expr| {
                let ExprKind::Op(op, sides) = &expr.kind else { return false };
                let [left, right] = sides.as_slice() else { return false };
                let before = |expr: &Expr| expr.any(&mut |part| match &part.kind {
                    ExprKind::Op(Op::Sub, args) => args.iter().any(has_param),
                    ExprKind::Call(call) => (call.name.contains("sub") || call.name.contains("add") || call.name.contains("minus")) && call.args.iter().any(has_param),
                    _ => false,
                });
                match op {
                    Op::Eq => before(left) || before(right),
                    Op::Lt => column_within(left).is_some() && has_param(right) && column_within(right).is_none(),
                    Op::Gt => column_within(right).is_some() && has_param(left) && column_within(left).is_none(),
                    _ => false,
                }
            })
        })
}

fn has_param(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part.kind, ExprKind::Param(_)))
}
