//! What is said of a rebuild: before it begins, at its end, and while one is unfinished.

use std::collections::BTreeMap;

use oncemore_core::TableName;
use oncemore_run::rebuild::{Prepared, Rebuilt};

use super::cause::{hold_detail, hold_title};
use super::number::{count, plural};
use super::{Look, Paint};

/// What a rebuild is going to do.
pub fn intention(prepared: &Prepared) -> String {
    let Prepared { model, table, due, ready, range, begun_anew, plan } = prepared;
    let range = range.as_ref().map_or_else(String::new, |(from, to)| format!(" ({from} to {to})"));
    let mut out = format!("{model}: {}{range} to build beside it, as {table}", plural(*due, "slice"));
    if *ready > 0 {
        out += &format!(
            "; {} are ready, {} are to be built",
            count(*ready as u64),
            count(plan.tasks.len() as u64)
        );
    }
    if *begun_anew {
        out += "; what an earlier rebuild had built is given up";
    }
    out
}

/// How a rebuild ended.
pub fn ended(rebuilt: &Rebuilt, look: &Look) -> String {
    let model = &rebuilt.model;
    if !rebuilt.swapped {
        return unswapped(rebuilt, look);
    }
    let mut out = format!("{}: {model} is the table that was built anew", look.paint(Paint::Good, "swapped"));
    if !rebuilt.removed.is_empty() {
        let names: Vec<&str> = rebuilt.removed.iter().map(TableName::as_str).collect();
        out += &format!("; it has no {} any more", names.join(", "));
    }
    if rebuilt.outside > 0 {
        out += &format!(
            "; {} of the old table lie outside of what is due and are gone",
            plural(rebuilt.outside, "slice")
        );
    }
    let next = look.paint(Paint::Vouched, "next");
    out += &format!(
        "\n{next}: `oncemore plan` says what its readers make of it; `oncemore gc` removes the old files"
    );
    out
}

fn unswapped(rebuilt: &Rebuilt, look: &Look) -> String {
    let model = &rebuilt.model;
    let mut out = format!(
        "{}: {model} is the old table still; what is built is kept",
        look.paint(Paint::Held, "not swapped")
    );
    let mut kinds: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for held in &rebuilt.missing {
        let first = format!("{} {}", held.label, hold_detail(&held.hold));
        kinds.entry(hold_title(&held.hold).to_owned()).or_insert((0, first)).0 += 1;
    }
    for (title, (number, first)) in kinds {
        out += &format!("\n  {title}  {} missing: {first}", plural(number, "slice"));
    }
    let next = look.paint(Paint::Vouched, "next");
    out += &format!(
        "\n{next}: the same command, `oncemore rebuild {model}` with its options, goes on where this one stopped"
    );
    if rebuilt.missing.iter().any(|held| hold_title(&held.hold) == "input gone") {
        out += "; `--accept-gone` builds without files that have vanished";
    }
    out
}

/// Lines on rebuilds that were begun and not ended.
pub fn unfinished<'a>(rebuilds: impl Iterator<Item = (&'a TableName, usize)>, look: &Look) -> String {
    let line = |(model, slices): (&TableName, usize)| {
        format!(
            "{}: a rebuild of {model} is unfinished, {} built: `oncemore rebuild {model}` goes on with it\n",
            look.paint(Paint::Vouched, "note"),
            plural(slices, "slice")
        )
    };
    rebuilds.map(line).collect()
}
