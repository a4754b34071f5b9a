//! Two versions of a range of slices side by side: counts, counts by interval, then rows key by key.

use oncemore_run::diff::{Change, Diff, DiffRow};

use super::number::{count, plural};
use super::table;
use super::{Look, Paint};

/// Most intervals listed.
const INTERVALS_MAX: usize = 40;

/// The difference.
pub fn render(diff: &Diff, look: &Look) -> String {
    let mut out = format!(
        "{}: {} against {}\n",
        look.paint(Paint::Strong, &diff.model),
        diff.versions.0,
        diff.versions.1
    );
    let differing = diff.gone + diff.new + diff.changed;
    if differing == 0 {
        out += &format!("equal: {}\n", rows(diff.same));
        return out;
    }
    let parts = [
        look.paint(Paint::Bad, format!("{} gone", rows(diff.gone))),
        look.paint(Paint::Good, format!("{} new", count(diff.new))),
        look.paint(Paint::Stale, format!("{} changed", count(diff.changed))),
        format!("{} the same", count(diff.same)),
    ];
    out += &format!("{}\n", parts.join(", "));
    out += &by_interval(diff, look);
    out += &differing_rows(diff, differing, look);
    out
}

fn rows(number: u64) -> String {
    plural(usize::try_from(number).unwrap_or(usize::MAX), "row")
}

fn by_interval(diff: &Diff, look: &Look) -> String {
    if diff.by_interval.len() < 2 {
        return String::new();
    }
    let header = ["interval", "gone", "new", "changed"].map(str::to_owned);
    let cells: Vec<Vec<Option<String>>> = diff
        .by_interval
        .iter()
        .take(INTERVALS_MAX)
        .map(|(label, gone, new, changed)| {
            vec![Some(label.clone()), Some(count(*gone)), Some(count(*new)), Some(count(*changed))]
        })
        .collect();
    let mut out = format!("\n{}", table::render(&header, &[false, true, true, true], &cells, look));
    if diff.by_interval.len() > INTERVALS_MAX {
        out += &format!("and {} more\n", plural(diff.by_interval.len() - INTERVALS_MAX, "interval"));
    }
    out
}

fn differing_rows(diff: &Diff, differing: u64, look: &Look) -> String {
    if diff.rows.is_empty() {
        return String::new();
    }
    let named =
        if diff.key.is_empty() { "whole rows".to_owned() } else { format!("by {}", diff.key.join(", ")) };
    let mut out = format!("\n{}\n", look.paint(Paint::Dim, named));
    for row in &diff.rows {
        out += &differing_row(row, look);
    }
    let shown = diff.rows.len() as u64;
    if differing > shown {
        out += &format!("and {} more\n", rows(differing - shown));
    }
    out
}

fn differing_row(row: &DiffRow, look: &Look) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
    let key = row.key.iter().map(value).collect::<Vec<_>>().join(", ");
    let columns = |pick: fn(&(String, Option<String>, Option<String>)) -> &Option<String>| {
        row.columns
            .iter()
            .map(|column| format!("{} {}", column.0, value(pick(column))))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let line = match row.change {
        Change::Gone => look.paint(Paint::Bad, join("-", &key, &columns(|column| &column.1))),
        Change::New => look.paint(Paint::Good, join("+", &key, &columns(|column| &column.2))),
        Change::Changed => {
            let arrow = look.pick("→", "->");
            let changes: Vec<String> = row
                .columns
                .iter()
                .map(|(name, old, new)| format!("{name} {} {arrow} {}", value(old), value(new)))
                .collect();
            look.paint(Paint::Stale, join("~", &key, &changes.join(", ")))
        }
    };
    format!("{line}\n")
}

fn join(sign: &str, key: &str, columns: &str) -> String {
    if columns.is_empty() { format!("{sign} {key}") } else { format!("{sign} {key}: {columns}") }
}
