//! OM303: a write that reads what it wrote before.
use super::om316::adds_versions;
use super::prelude::*;
use super::shared::is_history;

pub(super) const RULE: Rule = Rule { id: "OM303", page: include_str!("../../rules/OM303.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        if !matches!(
            write.verb,
            Verb::Insert
                | Verb::Overwrite
                | Verb::ReplaceWhere
                | Verb::CreateAs(_)
                | Verb::Merge
                | Verb::Model(_)
        ) || write.effect() == Effect::Fresh
        {
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
    if rebuilds(write)
        || is_history(write)
        || adds_versions(write)
        || (write.verb == Verb::Merge && !gets_into_values(write) && !decides_rows(write))
    {
        return None;
    }
    let earlier = reads_earlier_slice(write);
    let level = if write.verb == Verb::Merge || earlier { Severity::Warning } else { Severity::Error };
    let rerun = if earlier {
        "March is repaired in June: each later slice has to be run again, in order, or it keeps what it \
         took from the broken one"
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
    tables.len() == 1
        && select.from.len() == 1
        && !matches!(select.from.first().map(|from| &from.relation), Some(Relation::Function(_)))
}

/// Whether a value of the target's own rows gets into what a MERGE writes; otherwise it only finds the row.
fn gets_into_values<'a>(write: &WriteFact<'_, 'a>) -> bool {
    let (Some(scope), Some(source)) = (write.scope, write.source) else { return true };
    let outputs = write.view.outputs(source);
    write.write.branches.iter().any(|branch| match &branch.action {
        BranchAction::Update(sets) => sets.iter().any(|set| comes_from(write, scope, &set.value, 0)),
        BranchAction::Insert(_, values) => values.iter().any(|value| comes_from(write, scope, value, 0)),
        BranchAction::UpdateAll | BranchAction::InsertAll => {
            outputs.open
                || outputs.list.iter().any(|output| {
                    matches!(&output.value, OutputValue::Expr(expr)
                    if comes_from(write, source, expr, 0))
                })
        }
        BranchAction::Delete | BranchAction::Nothing => false,
    })
}

/// Whether the target's rows decide which rows of the source are taken.
fn decides_rows<'a>(write: &WriteFact<'_, 'a>) -> bool {
    let Some(source) = write.source else { return false };
    write.view.reachable(source).into_iter().any(|id| {
        let select: Option<&'a Select> = write.view.select(id);
        select.is_some_and(|select| select.filters.iter().any(|filter| comes_from(write, id, filter, 0)))
    })
}

/// Whether an expression is made of the target's rows, other than the one that a MERGE has found.
fn comes_from<'a>(write: &WriteFact<'_, 'a>, query: QueryId, expr: &'a Expr, depth: usize) -> bool {
    let mut found = false;
    expr.walk(&mut |part| {
        let ColumnSource::From { query: at, from: index, column } = write.view.source(query, part) else {
            return;
        };
        let Some(from) = write.view.select(at).and_then(|select| select.from.get(index)) else { return };
        match &from.relation {
            Relation::Table(name) => {
                found |= name.surely_same(&write.target) && !(write.scope == Some(at) && index == 0)
            }
            Relation::Query(inner) if depth < 20 => {
                let outputs = write.view.outputs(*inner);
                match outputs.list.iter().find(|output| output.name == column).map(|output| &output.value) {
                    Some(OutputValue::Expr(expr)) => found |= comes_from(write, *inner, expr, depth + 1),
                    Some(_) => {}
                    None => {
                        found |= outputs.open
                            && write
                                .view
                                .tables(*inner)
                                .iter()
                                .any(|(_, _, name)| name.surely_same(&write.target))
                    }
                }
            }
            _ => {}
        }
    });
    found
}

/// Whether each read of the target is bounded to rows before the slice that is written.
fn reads_earlier_slice(write: &WriteFact<'_, '_>) -> bool {
    let Some(source) = write.source else { return false };
    let reads: Vec<QueryId> = write
        .view
        .tables(source)
        .into_iter()
        .filter(|(_, _, name)| name.same(&write.target))
        .map(|(id, _, _)| id)
        .collect();
    !reads.is_empty()
        && reads.iter().all(|id| {
            let Some(select) = write.view.select(*id) else { return false };
            let conditions = select.filters.iter().chain(select.from.iter().flat_map(|from| &from.on));
            conditions.clone().any(|expr| {
                let ExprKind::Op(op, sides) = &expr.kind else { return false };
                let [left, right] = sides.as_slice() else { return false };
                let before = |expr: &Expr| {
                    expr.any(&mut |part| match &part.kind {
                        ExprKind::Op(Op::Sub, args) => args.iter().any(has_param),
                        ExprKind::Call(call) => {
                            (call.name.contains("sub")
                                || call.name.contains("add")
                                || call.name.contains("minus"))
                                && call.args.iter().any(has_param)
                        }
                        _ => false,
                    })
                };
                match op {
                    Op::Eq => before(left) || before(right),
                    Op::Lt => {
                        column_within(left).is_some() && has_param(right) && column_within(right).is_none()
                    }
                    Op::Gt => {
                        column_within(right).is_some() && has_param(left) && column_within(left).is_none()
                    }
                    _ => false,
                }
            })
        })
}

fn has_param(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part.kind, ExprKind::Param(_)))
}
