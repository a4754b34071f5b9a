//! OM310: rows are taken away and put back in two steps.
use super::prelude::*;

pub(super) const RULE: Rule = Rule { id: "OM310", page: include_str!("../../rules/OM310.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let mut reported: Vec<(usize, usize)> = Vec::new();
    for write in file.writes() {
        let (Effect::ReplaceSlice(replaced) | Effect::ReplaceAll(replaced)) = write.effect() else { continue };
        let Some(by) = replaced.by.filter(|by| !replaced.atomic && !reported.contains(by)) else { continue };
        let Some(removal) = file.writes().find(|other| (other.at, other.index) == by) else { continue };
        // TRUNCATE is OM312's.
        if removal.verb != Verb::Delete {
            continue;
        }
        reported.push(by);
        let target = write.target.text();
        out.report(
            Draft::new(Severity::Error, removal.head, format!("rows of `{target}` are deleted in one step and put back in another"))
                .rerun("the INSERT fails or the session dies between the two: the rows are gone, and readers see an empty slice")
                .help("BEGIN before the DELETE, COMMIT after the INSERT"),
        );
    }
}
