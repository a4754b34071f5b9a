//! The picture of all slices: a model a line, worst first, on one axis of time, each cell the worst it covers.

use std::collections::BTreeMap;

use oncemore_core::{Instant, Interval};
use oncemore_run::Hold;
use oncemore_run::status::{ModelLine, SliceLine, SliceStatus};
use unicode_width::UnicodeWidthStr;

use super::broken;
use super::cause::{hold_detail, hold_help, hold_title, reason_detail, reason_title};
use super::number::{count, plural};
use super::ranges::{collapse, show};
use super::rebuild::unfinished;
use super::table::pad;
use super::{Look, Paint};

/// Most columns that the picture takes, however wide the terminal.
const CELLS_MAX: usize = 120;
/// Most ranges listed for one cause of one model.
const RANGES_MAX: usize = 4;
/// Most lines for one cause of one model.
const DETAILS_MAX: usize = 3;

/// Glyphs by rank of [`SliceStatus`]: with Unicode, in ASCII, colour, word.
const GLYPHS: [(&str, &str, Paint, &str); 8] = [
    ("■", "#", Paint::Good, "fresh"),
    ("▣", "+", Paint::Vouched, "accepted"),
    ("▤", "r", Paint::Vouched, "reported"),
    ("□", "o", Paint::Due, "due"),
    ("◇", "w", Paint::Waiting, "waiting"),
    ("▒", "~", Paint::Stale, "stale"),
    ("◆", "!", Paint::Held, "held"),
    ("✗", "X", Paint::Bad, "failed"),
];

/// The picture, a legend and, where `why` is set, the causes.
pub fn render(models: &[ModelLine], why: bool, look: &Look) -> String {
    if models.is_empty() {
        return "no models\n".to_owned();
    }
    let mut sorted: Vec<&ModelLine> = models.iter().collect();
    sorted.sort_by_key(|model| std::cmp::Reverse(model.rank()));
    let name_width = sorted.iter().map(|model| model.model.to_string().width()).max().unwrap_or(0).min(32);
    let axis = Axis::new(models, cells_for(look.width, name_width));
    let mut out = String::new();
    if let Some(axis) = &axis {
        out += &format!("{}{}\n", " ".repeat(name_width + 2), look.paint(Paint::Dim, axis.ruler()));
    }
    for model in &sorted {
        out += &line(model, name_width, axis.as_ref(), look);
    }
    out.push('\n');
    out += &legend(models, look);
    let old_shapes = sorted.iter().any(|model| model.slices.iter().any(|slice| slice.old_shape));
    let has_spared = sorted.iter().any(|model| model.slices.iter().any(|slice| !slice.spared.is_empty()));
    if why {
        out += &causes(&sorted, look);
        out += &spared(&sorted, look);
        out += &shapes(&sorted, look);
    } else if old_shapes || has_spared || sorted.iter().any(|model| model.rank() > 1) {
        out += &look.paint(Paint::Dim, "`oncemore status --why` lists the causes");
        out.push('\n');
    }
    out += &unfinished(sorted.iter().filter_map(|model| Some((&model.model, model.rebuild?))), look);
    out
}

/// A third of the line is for the counts: most of them fit beside the cells, the others go below.
fn cells_for(width: usize, name_width: usize) -> usize {
    let rest = width.saturating_sub(name_width + 4);
    (rest * 2 / 3).clamp(12, CELLS_MAX)
}

fn line(model: &ModelLine, name_width: usize, axis: Option<&Axis>, look: &Look) -> String {
    let name = model.model.to_string();
    let mut out = format!("{}  ", look.paint(Paint::Strong, pad(&name, name_width, false)));
    let width = axis.map_or(1, |axis| axis.columns());
    let cells = match axis {
        Some(axis) if !is_whole(model) => axis.cells(model),
        _ => model.slices.first().map(|slice| slice.status.rank()).into_iter().map(Some).collect(),
    };
    out += &paint_cells(&cells, look);
    out += &" ".repeat(width.saturating_sub(cells.len()));
    let (plain, painted) = counts(model, look);
    let free = look.width.saturating_sub(name_width + 4 + width);
    if plain.width() <= free {
        out += &format!("  {painted}");
    } else {
        out += &format!("\n{}{painted}", " ".repeat(name_width + 2));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn is_whole(model: &ModelLine) -> bool {
    model.slices.iter().all(|slice| slice.interval.is_whole())
}

/// Neighbours of one state share their escape codes.
fn paint_cells(cells: &[Option<u8>], look: &Look) -> String {
    let mut out = String::new();
    for group in cells.chunk_by(|a, b| a == b) {
        match group[0] {
            None => out += &" ".repeat(group.len()),
            Some(rank) => {
                let (unicode, ascii, paint, _) = GLYPHS[usize::from(rank).min(GLYPHS.len() - 1)];
                out += &look.paint(paint, look.pick(unicode, ascii).repeat(group.len()));
            }
        }
    }
    out
}

/// `1 failed, 3 stale (code), 361 fresh`, worst first: plain for its width, and painted.
fn counts(model: &ModelLine, look: &Look) -> (String, String) {
    let mut by_state: BTreeMap<(std::cmp::Reverse<u8>, String), usize> = BTreeMap::new();
    for slice in &model.slices {
        *by_state.entry((std::cmp::Reverse(slice.status.rank()), state_words(&slice.status))).or_default() +=
            1;
    }
    if by_state.is_empty() {
        let text = "no interval is due";
        return (text.to_owned(), look.paint(Paint::Dim, text));
    }
    let parts: Vec<(String, Paint)> = by_state
        .into_iter()
        .map(|((rank, words), number)| {
            let text = if is_whole(model) { words } else { format!("{} {words}", count(number as u64)) };
            (text, GLYPHS[usize::from(rank.0).min(GLYPHS.len() - 1)].2)
        })
        .collect();
    let plain = parts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", ");
    let painted = parts.iter().map(|(text, paint)| look.paint(*paint, text)).collect::<Vec<_>>().join(", ");
    (plain, painted)
}

fn state_words(status: &SliceStatus) -> String {
    match status {
        SliceStatus::Stale { reason } => format!("stale ({})", reason.word()),
        SliceStatus::Held { hold, .. } if status.word() == "held" => format!("held ({})", hold_title(hold)),
        _ => status.word().to_owned(),
    }
}

fn legend(models: &[ModelLine], look: &Look) -> String {
    let mut ranks: Vec<u8> =
        models.iter().flat_map(|model| &model.slices).map(|slice| slice.status.rank()).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let parts: Vec<String> = ranks
        .into_iter()
        .map(|rank| {
            let (unicode, ascii, paint, word) = GLYPHS[usize::from(rank).min(GLYPHS.len() - 1)];
            format!("{} {word}", look.paint(paint, look.pick(unicode, ascii)))
        })
        .collect();
    let slices = models.iter().map(|model| model.slices.len()).sum();
    format!("{}   {} of {}\n", parts.join("  "), plural(slices, "slice"), plural(models.len(), "model"))
}

/// What is wrong, grouped by cause, then by model.
fn causes(models: &[&ModelLine], look: &Look) -> String {
    let mut groups: BTreeMap<(std::cmp::Reverse<u8>, String), Vec<Line<'_>>> = BTreeMap::new();
    for model in models {
        let mut by_detail: BTreeMap<(std::cmp::Reverse<u8>, String, Option<String>), Vec<&SliceLine>> =
            BTreeMap::new();
        for slice in &model.slices {
            if let Some((title, detail)) = cause(&slice.status) {
                let key = (std::cmp::Reverse(slice.status.rank()), title, detail);
                by_detail.entry(key).or_default().push(slice);
            }
        }
        for ((rank, title, detail), slices) in by_detail {
            groups.entry((rank, title)).or_default().push(Line { model, detail, slices });
        }
    }
    for lines in groups.values_mut() {
        merge_many(lines);
    }
    let mut out = String::new();
    for ((rank, title), lines) in groups {
        let paint = GLYPHS[usize::from(rank.0).min(GLYPHS.len() - 1)].2;
        out += &format!("\n{}\n", look.paint(paint, title));
        let name_width = lines.iter().map(|line| line.model.model.to_string().width()).max().unwrap_or(0);
        for line in lines {
            out += &line.render(name_width, look);
        }
    }
    let slices =
        models.iter().flat_map(|model| model.slices.iter().map(|slice| (&model.model, &slice.status)));
    let held = slices.filter_map(|(model, status)| match status {
        SliceStatus::Held { hold, .. } => Some((model, hold)),
        _ => None,
    });
    out + &broken::files(held, look)
}

/// Slices that are fresh though inputs changed: in keys alone that they do not look up.
fn spared(models: &[&ModelLine], look: &Look) -> String {
    let title = "fresh: an input changed, in none of the keys that these slices look up";
    let of = |model| {
        let mut by_inputs: BTreeMap<String, Vec<&SliceLine>> = BTreeMap::new();
        let model: &ModelLine = model;
        for slice in model.slices.iter().filter(|slice| !slice.spared.is_empty()) {
            by_inputs.entry(slice.spared.join(", ")).or_default().push(slice);
        }
        by_inputs.into_iter().map(move |(inputs, slices)| Line { model, detail: Some(inputs), slices })
    };
    notes(title, Paint::Good, models.iter().flat_map(|model| of(*model)).collect(), look)
}

/// Slices whose rows were written with other columns than the model has now.
fn shapes(models: &[&ModelLine], look: &Look) -> String {
    let of = |model| {
        let model: &ModelLine = model;
        let slices: Vec<&SliceLine> = model.slices.iter().filter(|slice| slice.old_shape).collect();
        (!slices.is_empty()).then_some(Line { model, detail: None, slices })
    };
    let title =
        "old shape: columns added since are NULL in these rows, widened ones are read as the wider type";
    notes(title, Paint::Vouched, models.iter().filter_map(|model| of(*model)).collect(), look)
}

/// What is to be known of slices beside their state.
fn notes(title: &str, paint: Paint, lines: Vec<Line<'_>>, look: &Look) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let width = lines.iter().map(|line| line.model.model.to_string().width()).max().unwrap_or(0);
    let lines: String = lines.iter().map(|line| line.render(width, look)).collect();
    format!("\n{}\n{lines}", look.paint(paint, title))
}

/// Many details of one cause and model (a file for each slice that waits) become one line with the first of them.
fn merge_many(lines: &mut Vec<Line<'_>>) {
    let mut merged: Vec<Line<'_>> = Vec::new();
    for mut group in std::mem::take(lines).into_iter().collect::<Groups<'_>>().0 {
        if group.len() <= DETAILS_MAX {
            merged.append(&mut group);
            continue;
        }
        let others = group.len() - 1;
        let mut first = group.swap_remove(0);
        first.detail = first.detail.map(|detail| format!("{detail}, and {others} like it"));
        first.slices.extend(group.into_iter().flat_map(|line| line.slices));
        merged.push(first);
    }
    *lines = merged;
}

/// Lines of one model together.
struct Groups<'a>(Vec<Vec<Line<'a>>>);

impl<'a> FromIterator<Line<'a>> for Groups<'a> {
    fn from_iter<I: IntoIterator<Item = Line<'a>>>(lines: I) -> Self {
        let mut groups: Vec<Vec<Line<'a>>> = Vec::new();
        for line in lines {
            match groups.last_mut() {
                Some(group) if group[0].model.model == line.model.model => group.push(line),
                _ => groups.push(vec![line]),
            }
        }
        Groups(groups)
    }
}

struct Line<'a> {
    model: &'a ModelLine,
    detail: Option<String>,
    slices: Vec<&'a SliceLine>,
}

impl Line<'_> {
    fn render(&self, name_width: usize, look: &Look) -> String {
        let runs = collapse(self.slices.iter().map(|slice| (slice.interval, &*slice.label)));
        let name = pad(&self.model.model.to_string(), name_width, false);
        let whole = is_whole(self.model);
        let number = if whole { "whole table".to_owned() } else { plural(self.slices.len(), "slice") };
        let ranges = if whole { String::new() } else { format!("  {}", show(&runs, RANGES_MAX, look)) };
        let detail = self.detail.as_ref().map_or_else(String::new, |detail| format!("  ({detail})"));
        let name = look.paint(Paint::Strong, name);
        let mut out = format!("  {name}  {number}{ranges}{}\n", look.paint(Paint::Dim, detail));
        let held = self.slices.first().and_then(|slice| match &slice.status {
            // What is wrong with a file is told once, below.
            SliceStatus::Held { hold: Hold::Broken { .. }, .. } => None,
            SliceStatus::Held { hold, .. } => hold_help(hold),
            _ => None,
        });
        if let Some(help) = held {
            let help = help.replace("{model}", &self.model.model.to_string());
            out += &format!("    {}: {help}\n", look.paint(Paint::Vouched, "help"));
        }
        out
    }
}

/// Title and detail of what keeps a slice from being fresh.
fn cause(status: &SliceStatus) -> Option<(String, Option<String>)> {
    match status {
        SliceStatus::Fresh => None,
        SliceStatus::Accepted { because } => Some(("accepted".to_owned(), Some(because.clone()))),
        SliceStatus::Reported { inputs } => {
            Some(("reported: input changed".to_owned(), Some(inputs.join(", "))))
        }
        SliceStatus::Stale { reason } => {
            Some((format!("stale: {}", reason_title(reason)), reason_detail(reason)))
        }
        SliceStatus::Due => Some(("due: never ran".to_owned(), None)),
        SliceStatus::Failed => Some(("failed: last attempt failed".to_owned(), None)),
        SliceStatus::Held { hold, .. } => Some((
            match status.word() {
                "waiting" => "waiting".to_owned(),
                _ => format!("held: {}", hold_title(hold)),
            },
            Some(match hold {
                Hold::Broken { what } => broken::place(what).to_owned(),
                hold => hold_detail(hold),
            }),
        )),
    }
}

/// The axis of time that all models share: the finest model's intervals, folded into columns.
struct Axis {
    /// First instant of each column, and the end of the last.
    bounds: Vec<Instant>,
    first: String,
    last: String,
}

impl Axis {
    fn new(models: &[ModelLine], columns_max: usize) -> Option<Axis> {
        let mut units: BTreeMap<Interval, &str> = BTreeMap::new();
        let finest = models.iter().filter(|model| !is_whole(model)).max_by_key(|model| model.slices.len())?;
        for slice in &finest.slices {
            units.insert(slice.interval, &slice.label);
        }
        // Models that begin earlier or end later than the finest get their own intervals there.
        let (low, high) = (units.keys().next()?.start(), units.keys().next_back()?.end());
        for slice in models.iter().flat_map(|model| &model.slices) {
            let outside = slice.interval.end() <= low || slice.interval.start() >= high;
            if outside && !slice.interval.is_whole() {
                units.insert(slice.interval, &slice.label);
            }
        }
        let starts: Vec<Instant> = units.keys().map(|interval| interval.start()).collect();
        let columns = starts.len().min(columns_max);
        let mut bounds: Vec<Instant> =
            (0..columns).map(|column| starts[column * starts.len() / columns]).collect();
        bounds.push(units.keys().map(|interval| interval.end()).max()?);
        bounds.dedup();
        Some(Axis {
            bounds,
            first: (*units.values().next()?).to_owned(),
            last: (*units.values().next_back()?).to_owned(),
        })
    }

    fn columns(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The worst rank in each column; `None` where the model has no slice.
    fn cells(&self, model: &ModelLine) -> Vec<Option<u8>> {
        let mut cells = vec![None; self.columns()];
        for slice in &model.slices {
            let rank = slice.status.rank();
            let from =
                self.bounds.partition_point(|bound| *bound <= slice.interval.start()).saturating_sub(1);
            for (cell, bound) in cells[from.min(self.columns())..].iter_mut().zip(&self.bounds[from..]) {
                if *bound >= slice.interval.end() {
                    break;
                }
                *cell = (*cell).max(Some(rank));
            }
        }
        cells
    }

    fn ruler(&self) -> String {
        let free = self.columns().saturating_sub(self.first.width() + self.last.width());
        if free == 0 || self.first == self.last {
            return self.first.clone();
        }
        format!("{}{}{}", self.first, " ".repeat(free), self.last)
    }
}
