//! Tables of text: columns as wide as their values, long values cut, numbers to the right.

use unicode_width::UnicodeWidthStr;

use super::{Look, Paint};

/// Widest that a single cell gets before it is cut.
const CELL_MAX: usize = 60;

/// Rows under a header. `right` says which columns are numbers.
pub fn render(header: &[String], right: &[bool], rows: &[Vec<Option<String>>], look: &Look) -> String {
    let text =
        |cell: &Option<String>| cell.as_deref().map_or_else(|| "NULL".to_owned(), |text| clean(text, look));
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(text).collect()).collect();
    let widths: Vec<usize> = header
        .iter()
        .enumerate()
        .map(|(at, name)| {
            cells
                .iter()
                .filter_map(|row| row.get(at))
                .map(|cell| cell.width())
                .max()
                .unwrap_or(0)
                .max(name.width())
        })
        .collect();
    let to_right = |at: usize| right.get(at).copied().unwrap_or(false);
    let mut out = String::new();
    let names: Vec<String> = header
        .iter()
        .enumerate()
        .map(|(at, name)| look.paint(Paint::Strong, pad(name, widths[at], to_right(at))))
        .collect();
    push_line(&mut out, &names);
    let rule: Vec<String> = widths.iter().map(|width| look.pick("─", "-").repeat(*width)).collect();
    push_line(&mut out, &rule);
    for (row, raw) in cells.iter().zip(rows) {
        let line: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(at, cell)| {
                let padded = pad(cell, widths.get(at).copied().unwrap_or(0), to_right(at));
                if raw[at].is_none() { look.paint(Paint::Dim, padded) } else { padded }
            })
            .collect();
        push_line(&mut out, &line);
    }
    out
}

fn push_line(out: &mut String, cells: &[String]) {
    out.push_str(cells.join("  ").trim_end());
    out.push('\n');
}

/// `text` with spaces up to `width` columns.
pub fn pad(text: &str, width: usize, right: bool) -> String {
    let space = " ".repeat(width.saturating_sub(text.width()));
    if right { format!("{space}{text}") } else { format!("{text}{space}") }
}

/// One line without control characters (a value must not move the cursor), cut at [`CELL_MAX`].
fn clean(text: &str, look: &Look) -> String {
    let mut out = String::with_capacity(text.len().min(4 * CELL_MAX));
    let mut width = 0;
    for c in text.chars() {
        let shown: String = match c {
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            c if c.is_control() => c.escape_unicode().to_string(),
            c => c.to_string(),
        };
        width += shown.width();
        if width > CELL_MAX {
            out.push_str(look.pick("…", ".."));
            break;
        }
        out.push_str(&shown);
    }
    out
}
