//! A rule's page on a terminal: Markdown with its marks turned into shape.

use oncemore_lint::page::Page;
use unicode_width::UnicodeWidthStr;

use super::table::pad;
use super::{Look, Paint};

/// Widest that prose is set.
const WIDTH_MAX: usize = 100;

/// The page.
pub fn render(page: &Page, look: &Look) -> String {
    let mut out = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut in_code = false;
    for line in page.for_readers().lines() {
        if let Some(info) = line.strip_prefix("```") {
            flush(&mut out, &mut paragraph, look);
            in_code = !in_code;
            if in_code {
                out += &format!("  {}\n", look.paint(Paint::Dim, block_title(info)));
            }
        } else if in_code {
            out += format!("      {line}").trim_end();
            out.push('\n');
        } else if let Some(heading) = line.strip_prefix('#') {
            flush(&mut out, &mut paragraph, look);
            let heading = heading.trim_start_matches('#').trim();
            let paint = if line.starts_with("###") { Paint::Vouched } else { Paint::Strong };
            out += &format!("{}\n", look.paint(paint, heading));
        } else if let Some(item) = line.strip_prefix("- ") {
            flush(&mut out, &mut paragraph, look);
            out += &format!("  {}\n", look.paint(Paint::Due, found(item, look)));
        } else if line.trim().is_empty() {
            flush(&mut out, &mut paragraph, look);
            if !out.ends_with("\n\n") {
                out.push('\n');
            }
        } else {
            paragraph.push(line);
        }
    }
    flush(&mut out, &mut paragraph, look);
    out
}

/// The list of all rules.
pub fn list(pages: &[Page], look: &Look) -> String {
    let width = pages.iter().map(|page| page.name.width()).max().unwrap_or(0);
    let mut out = String::new();
    for page in pages {
        let severity = page.severity().map(|severity| severity.to_string()).unwrap_or_default();
        let line = format!(
            "{}  {}  {}  {}",
            look.paint(Paint::Strong, page.id),
            pad(page.name, width, false),
            pad(&severity, 7, false),
            cut(&page.summary(), look.width.saturating_sub(width + 18).max(30), look)
        );
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn cut(text: &str, width: usize, look: &Look) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for word in text.split(' ') {
        if kept.width() + word.width() + 2 > width {
            break;
        }
        kept += word;
        kept.push(' ');
    }
    format!("{}{}", kept.trim_end(), look.pick("…", "..."))
}

/// `sql snowflake dbt models/x.sql` is `snowflake, dbt, models/x.sql`.
fn block_title(info: &str) -> String {
    let words: Vec<&str> = info.split_whitespace().collect();
    match words.as_slice() {
        ["sql", rest @ ..] if !rest.is_empty() => rest.join(", "),
        _ => words.join(", "),
    }
}

/// What an example is found to be.
fn found(item: &str, look: &Look) -> String {
    let arrow = look.pick("→", "->");
    match item.trim() {
        "none" => format!("{arrow} nothing is found"),
        item => format!("{arrow} {item}"),
    }
}

/// A paragraph, set to the width of the terminal.
fn flush(out: &mut String, paragraph: &mut Vec<&str>, look: &Look) {
    let width = look.width.min(WIDTH_MAX);
    let mut line = String::new();
    for word in paragraph.drain(..).flat_map(str::split_whitespace) {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            out.push_str(&line);
            out.push('\n');
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        out.push_str(&line);
        out.push('\n');
    }
}
