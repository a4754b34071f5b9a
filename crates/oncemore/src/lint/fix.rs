//! Applies the rewrites that findings carry: those that don't overlap, then looks again, until nothing changes. A rewrite
//! after which less of the file can be read is not made.

use std::collections::BTreeSet;

use oncemore_lint::{Coverage, Finding, Fix, Judged, Safety};

/// Times that a text is looked at again; a rewrite that calls for itself ends here.
const ROUNDS_MAX: usize = 20;

/// Which rewrites are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Those that change no result.
    Safe,
    /// All.
    Unsafe,
}

/// A text after its rewrites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The text.
    pub text: String,
    /// Number of rewrites.
    pub applied: usize,
}

/// What is said about a text, and how much of it is understood.
pub type Look<'a> = &'a dyn Fn(&str) -> (Judged, Coverage);

/// Rewrites a text.
pub fn fix(text: &str, mode: Mode, look: Look<'_>) -> Fixed {
    let mut fixed = Fixed { text: text.to_owned(), applied: 0 };
    let mut refused: BTreeSet<(u32, u32, String)> = BTreeSet::new();
    for _ in 0..ROUNDS_MAX {
        let (judged, before) = look(&fixed.text);
        let edits = apart(&judged.findings, mode, &refused);
        if edits.is_empty() {
            break;
        }
        let together = apply(&fixed.text, &edits);
        if is_readable(before, look(&together).1) {
            fixed.applied += edits.len();
            fixed.text = together;
            refused.clear();
            continue;
        }
        // One of them breaks the text: the first that does not is made, the others wait for the next round.
        let alone = edits.iter().find(|edit| {
            let is_fine = is_readable(before, look(&apply(&fixed.text, &[**edit])).1);
            if !is_fine {
                refused.insert((edit.span.start, edit.span.end, edit.text.clone()));
            }
            is_fine
        });
        if let Some(edit) = alone {
            fixed.text = apply(&fixed.text, &[*edit]);
            fixed.applied += 1;
            refused.clear();
        }
    }
    fixed
}

/// Whether no statement became unreadable.
fn is_readable(before: Coverage, after: Coverage) -> bool {
    after.statements - after.analysed <= before.statements - before.analysed
}

/// Rewrites that don't touch each other, in order of their place.
fn apart<'f>(findings: &'f [Finding], mode: Mode, refused: &BTreeSet<(u32, u32, String)>) -> Vec<&'f Fix> {
    let fits = |fix: &&Fix| {
        (mode == Mode::Unsafe || fix.safety == Safety::Safe)
            && fix.span.is_somewhere()
            && !refused.contains(&(fix.span.start, fix.span.end, fix.text.clone()))
    };
    let mut edits: Vec<&Fix> =
        findings.iter().filter_map(|finding| finding.fix.as_ref()).filter(fits).collect();
    edits.sort_by_key(|fix| (fix.span.start, fix.span.end));
    let mut end = None;
    edits.retain(|fix| {
        let is_free =
            end.is_none_or(|end| fix.span.start > end || (fix.span.start == end && fix.span.end > end));
        if is_free {
            end = Some(fix.span.end);
        }
        is_free
    });
    edits
}

fn apply(text: &str, edits: &[&Fix]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in edits {
        let range = edit.span.range();
        let (Some(kept), true) =
            (text.get(at..range.start), text.is_char_boundary(range.end.min(text.len())))
        else {
            continue;
        };
        out.push_str(kept);
        out.push_str(&edit.text);
        at = range.end.min(text.len());
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// The lines that differ, with three around them, as `diff -u` shows them.
pub fn diff(path: &str, before: &str, after: &str) -> String {
    similar::TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use oncemore_lint::text::{Position, Span};
    use oncemore_lint::{Confidence, Coverage, Finding, Fix, Judged, Safety, Severity};

    use super::{Mode, fix};

    fn finding(text: &str, from: &str, to: &str, safety: Safety) -> Option<Finding> {
        let start = text.find(from)?;
        let span = Span::new(start, start + from.len());
        let nowhere = Position { line: 1, column: 1 };
        Some(Finding {
            rule: "OM000",
            name: "made-up",
            severity: Severity::Warning,
            confidence: Confidence::High,
            path: String::new(),
            span,
            start: nowhere,
            end: nowhere,
            message: String::new(),
            rerun: String::new(),
            lacked: None,
            help: String::new(),
            fix: Some(Fix { span, text: to.to_owned(), safety }),
        })
    }

    /// Rewrites by a list of replacements; a text with `broken` in it can't be read.
    fn fixed(text: &str, rewrites: &[(&str, &str, Safety)], mode: Mode) -> (String, usize) {
        let look = |text: &str| {
            let findings =
                rewrites.iter().filter_map(|(from, to, safety)| finding(text, from, to, *safety)).collect();
            let analysed = usize::from(!text.contains("broken"));
            (Judged { findings, allowed: Vec::new() }, Coverage { analysed, statements: 1 })
        };
        let fixed = fix(text, mode, &look);
        (fixed.text, fixed.applied)
    }

    #[test]
    fn rewrites_go_on_until_nothing_changes() {
        let rewrites = [("aa", "b", Safety::Safe), ("bb", "c", Safety::Safe)];
        assert_eq!(fixed("aaaa", &rewrites, Mode::Safe), ("c".to_owned(), 3));
    }

    #[test]
    fn overlapping_rewrites_are_made_one_after_the_other() {
        let rewrites = [("abc", "x", Safety::Safe), ("cd", "y", Safety::Safe)];
        assert_eq!(fixed("abcd", &rewrites, Mode::Safe), ("xd".to_owned(), 1));
    }

    #[test]
    fn unsafe_rewrites_are_asked_for() {
        let rewrites = [("a", "b", Safety::Unsafe)];
        assert_eq!(fixed("a", &rewrites, Mode::Safe), ("a".to_owned(), 0));
        assert_eq!(fixed("a", &rewrites, Mode::Unsafe), ("b".to_owned(), 1));
    }

    #[test]
    fn what_breaks_the_text_is_not_made() {
        let rewrites = [("good", "fine", Safety::Safe), ("bad", "broken", Safety::Safe)];
        assert_eq!(fixed("bad good", &rewrites, Mode::Safe), ("bad fine".to_owned(), 1));
    }

    #[test]
    fn a_rewrite_that_calls_for_itself_ends() {
        let (text, applied) = fixed("a", &[("a", "aa", Safety::Safe)], Mode::Safe);
        assert_eq!((text.len(), applied), (21, 20));
    }
}
