//! OM317: a MERGE deletes what one interval's source does not have.
use super::prelude::*;

pub(super) const RULE: Rule = Rule { id: "OM317", page: include_str!("../../rules/OM317.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Some(source) = write.source.filter(|_| write.verb == Verb::Merge) else { continue };
        let scopes = write.view.scopes(source);
        let partial =
            !scopes.is_empty() && scopes.iter().all(|scope| scope.ranges.iter().any(Range::has_param));
        if !partial {
            continue;
        }
        for branch in &write.branches {
            let bare = branch.when == When::NotMatchedBySource
                && branch.filters.is_empty()
                && matches!(branch.action, BranchAction::Delete);
            if bare {
                let target = write.target.text();
                out.report(
                    Draft::new(
                        Severity::Error,
                        branch.span,
                        format!(
                            "all rows of `{target}` are deleted \
                        that this interval's source does not have"
                        ),
                    )
                    .rerun(
                        "the run of 2 March deletes 1 March and all before: none of it is in the \
                            source of this run",
                    )
                    .help("AND t.day = :day: delete within the bounds by which the source is read"),
                );
            }
        }
    }
}
