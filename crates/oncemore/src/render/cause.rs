//! Reasons and holds in words: one phrase each, used by `plan`, `status` and `explain` alike.

use std::collections::BTreeMap;

use oncemore_run::plan::Held;
use oncemore_run::{Hold, Reason};

use super::number::plural;

/// The phrase for a reason, without its details.
pub fn reason_title(reason: &Reason) -> &'static str {
    match reason {
        Reason::NeverRan => "never ran",
        Reason::Code { .. } => "code changed",
        Reason::Input { certain: true, .. } => "input changed",
        Reason::Input { certain: false, .. } => "input may change",
        Reason::Gone { .. } => "input gone",
        Reason::Audits => "audits changed",
        Reason::Failed => "last attempt failed",
        Reason::Forced => "forced",
    }
}

/// What a reason is about: the codes, the inputs, the file.
pub fn reason_detail(reason: &Reason) -> Option<String> {
    match reason {
        Reason::Code { from, to } => Some(format!("{} to {}", from.short(), to.short())),
        Reason::Input { inputs, .. } if !inputs.is_empty() => Some(inputs.join(", ")),
        Reason::Gone { path } => Some(path.clone()),
        Reason::Audits => Some("the published rows are audited, nothing is computed".to_owned()),
        _ => None,
    }
}

/// The word for a hold.
pub fn hold_title(hold: &Hold) -> &'static str {
    match hold {
        Hold::Waiting { .. } => "waiting",
        Hold::Blocked { .. } => "blocked",
        Hold::Gone { .. } => "input gone",
        Hold::OlderCode { .. } => "older code",
        Hold::Foreign { .. } => "foreign write",
        Hold::Broken { .. } => "source broken",
        Hold::Missing { .. } => "input missing",
        Hold::Rebuild { .. } => "rebuild needed",
        Hold::Damaged(_) => "table damaged",
    }
}

/// What a hold is about.
pub fn hold_detail(hold: &Hold) -> String {
    match hold {
        Hold::Waiting { what } => format!("for {what}"),
        Hold::Blocked { by, .. } => format!("by {by}"),
        Hold::Gone { path } => path.clone(),
        Hold::OlderCode { owner } => format!("the slice belongs to the newer code {}", owner.short()),
        Hold::Foreign { detail } => detail.clone(),
        Hold::Broken { what } | Hold::Missing { what } => what.clone(),
        Hold::Rebuild { why } => why.clone(),
        Hold::Damaged(damage) => damage.what.clone(),
    }
}

/// Slices that a run leaves alone until somebody decides, by model: which, why, and what to type. What is waited for, and
/// what fails a run, is not among them.
pub fn undecided(held: &[Held]) -> Vec<String> {
    let decides = |held: &&Held| matches!(held.hold, Hold::Gone { .. } | Hold::OlderCode { .. });
    let mut found: BTreeMap<(String, &str), (&Held, usize)> = BTreeMap::new();
    for held in held.iter().filter(decides) {
        found.entry((held.model.to_string(), hold_title(&held.hold))).or_insert((held, 0)).1 += 1;
    }
    let line = |((model, title), (first, number)): ((String, &str), (&Held, usize))| {
        let help = hold_help(&first.hold).unwrap_or_default().replace("{model}", &model);
        let (detail, slices) = (hold_detail(&first.hold), plural(number, "slice"));
        format!("{model}: {slices} held back, {title}: {detail}\nhelp: {help}")
    };
    found.into_iter().map(line).collect()
}

/// What to type to get past a hold, if typing helps. `{model}` stands for the table.
pub fn hold_help(hold: &Hold) -> Option<&str> {
    match hold {
        Hold::Gone { .. } => {
            Some("bring the file back, or run without it: `oncemore run {model} --accept-gone`")
        }
        Hold::OlderCode { .. } => Some(
            "check out the newer code, or let this one replace it: `oncemore run {model} --allow-older-code`",
        ),
        Hold::Foreign { .. } => Some(
            "take the rows as they are: `oncemore accept {model} --adopt --because TEXT`; \
             or replace them: `oncemore run {model} --replace-foreign`",
        ),
        Hold::Broken { .. } => Some("mend the source, then `oncemore run {model}`"),
        Hold::Missing { .. } => Some("deliver it, then `oncemore run {model}`"),
        Hold::Rebuild { .. } => Some(
            "build the table anew beside the old one, which stays readable until the new one takes its place: \
             `oncemore rebuild {model}`",
        ),
        Hold::Damaged(damage) => Some(&damage.help),
        Hold::Waiting { .. } | Hold::Blocked { .. } => None,
    }
}
