//! OM309: a column computed from its own old value.
use super::prelude::*;

pub(super) const RULE: Rule = Rule { id: "OM309", page: include_str!("../../rules/OM309.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        if write.context.is_log(&write.target) || write.context.is_fresh(write.write) {
            continue;
        }
        let matched = write.branches.iter().flat_map(|branch| match &branch.action {
            BranchAction::Update(sets) => sets.as_slice(),
            _ => &[],
        });
        let conflict = write.conflict.iter().flat_map(|conflict| &conflict.sets);
        for set in write.sets.iter().chain(conflict).chain(matched) {
            if is_relative(&write, set) && !is_latched(&write, set) {
                out.report(
                    Draft::new(
                        Severity::Error,
                        set.span,
                        format!(
                            "`{}` is computed from its own old \
                        value",
                            set.column
                        ),
                    )
                    .rerun(
                        "the second run of the same interval starts from the first one's result, and \
                            adds again",
                    )
                    .help("compute the interval's value from the source and assign it"),
                );
            }
        }
    }
}

/// Functions that, done twice, are as if done once.
const SETTLED: &[&str] = &[
    "greatest",
    "least",
    "coalesce",
    "ifnull",
    "nvl",
    "isnull",
    "nullif",
    "upper",
    "lower",
    "trim",
    "ltrim",
    "rtrim",
    "btrim",
    "initcap",
    "abs",
    "round",
    "floor",
    "ceil",
    "ceiling",
    "date_trunc",
    "trunc",
    "max",
    "min",
    "replace",
    "regexp_replace",
    "translate",
    "substring",
    "substr",
    "left",
    "iff",
    "if",
    "iif",
    "nvl2",
    "array_distinct",
    "array_sort",
    "date",
    "to_date",
];

fn is_relative(write: &WriteFact<'_, '_>, set: &Assign) -> bool {
    match &set.value.kind {
        _ if set.compound => true,
        ExprKind::Column { .. } => false,
        _ => drifts(write, set, &set.value),
    }
}

/// Whether the old value gets into the new one through something that moves it on.
fn drifts(write: &WriteFact<'_, '_>, set: &Assign, expr: &Expr) -> bool {
    let holds = |expr: &Expr| expr.any(&mut |part| is_own(write, set, part));
    match &expr.kind {
        ExprKind::Op(
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Concat | Op::Mod | Op::Other | Op::Neg | Op::Not,
            args,
        ) => args.iter().any(|arg| value_holds(write, set, arg)),
        ExprKind::Call(call) if SETTLED.contains(&call.name.as_str()) => {
            call.args.iter().any(|arg| drifts(write, set, arg))
        }
        ExprKind::Call(call) => {
            let grows = [
                "concat",
                "concat_ws",
                "array_append",
                "array_cat",
                "list_append",
                "array_concat",
                "dateadd",
                "date_add",
                "date_sub",
                "datetime_add",
                "timestamp_add",
                "add_months",
                "arraypushback",
                "list_concat",
                "jsonb_set_append",
            ];
            grows.contains(&call.name.as_str()) && call.args.iter().any(holds)
                || call.args.iter().any(|arg| drifts(write, set, arg))
        }
        ExprKind::Case { branches, otherwise, .. } => branches
            .iter()
            .map(|(_, then)| then)
            .chain(otherwise.as_deref())
            .any(|then| drifts(write, set, then)),
        ExprKind::Cast { expr, .. } | ExprKind::Element { expr, .. } => drifts(write, set, expr),
        _ => false,
    }
}

/// Whether the value of an operand is made of the old value, not merely decided by it.
fn value_holds(write: &WriteFact<'_, '_>, set: &Assign, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column { .. } => is_own(write, set, expr),
        ExprKind::Case { branches, otherwise, .. } => branches
            .iter()
            .map(|(_, then)| then)
            .chain(otherwise.as_deref())
            .any(|then| value_holds(write, set, then)),
        ExprKind::Subquery { .. } => false,
        ExprKind::Op(op, _) if op.compares() => false,
        _ => {
            let mut found = false;
            expr.each_child(|child| found = found || value_holds(write, set, child));
            found
        }
    }
}

/// Whether an expression is the assigned column of the target.
fn is_own(write: &WriteFact<'_, '_>, set: &Assign, expr: &Expr) -> bool {
    let Some((qualifier, name)) = expr.column() else { return false };
    if name != set.column {
        return false;
    }
    let of_target =
        |qualifier: &str| qualifier == write.target.last() || write.alias.as_deref() == Some(qualifier);
    match (qualifier, write.scope) {
        (Some(qualifier), _) => of_target(qualifier),
        (None, Some(scope)) => match write.view.source(scope, expr) {
            ColumnSource::From { from, .. } => from == 0,
            _ => write.verb == Verb::Update,
        },
        (None, None) => true,
    }
}

/// `UPDATE … SET n = n + 1, done = true WHERE NOT done`: the second run finds nothing.
fn is_latched(write: &WriteFact<'_, '_>, own: &Assign) -> bool {
    write.verb == Verb::Update
        && write.filters.iter().any(|condition| {
            write.sets.iter().filter(|set| set.column != own.column).any(|set| {
                let mentions =
                    condition.any(&mut |part| part.column().is_some_and(|(_, name)| name == set.column));
                let flag = matches!(set.value.kind, ExprKind::Literal(Literal::Bool(_) | Literal::Number(_)))
                    || matches!(condition.kind, ExprKind::Op(Op::IsNull | Op::Not, _));
                mentions && constant(&set.value) && flag
            })
        })
}
