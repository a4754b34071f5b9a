//! OM320: only a strictly newer row replaces the stored one.
use super::prelude::*;
use super::slices::{is_change_name, is_time_name};

pub(super) const RULE: Rule = Rule { id: "OM320", page: include_str!("../../rules/OM320.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let matched = write
            .branches
            .iter()
            .filter(|branch| {
                branch.when == When::Matched
                    && matches!(branch.action, BranchAction::Update(_) | BranchAction::UpdateAll)
            })
            .flat_map(|branch| &branch.filters);
        let conflict = write.conflict.iter().flat_map(|conflict| &conflict.filters);
        for guard in matched.chain(conflict) {
            if is_strict(guard) {
                out.report(
                    Draft::new(
                        Severity::Info,
                        guard.span,
                        "a row that is as new as the stored one does not \
                        replace it",
                    )
                    .rerun(
                        "the code is mended and the interval runs again: each row has the time it \
                            had before, and is refused",
                    )
                    .help("compare with >=, or with (time, version of the code)"),
                );
            }
        }
    }
}

fn is_strict(guard: &Expr) -> bool {
    let ExprKind::Op(Op::Gt | Op::Lt, sides) = &guard.kind else { return false };
    let [left, right] = sides.as_slice() else { return false };
    let (Some((of_left, a)), Some((of_right, b))) = (left.column(), right.column()) else { return false };
    let timed = |name: &str| {
        is_time_name(name)
            || is_change_name(name)
            || name.contains("version")
            || name.ends_with("seq")
            || name.ends_with("lsn")
    };
    of_left != of_right && timed(a) && timed(b)
}
