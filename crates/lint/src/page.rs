//! The page of a rule: Markdown that is documentation and test at once. Only its head and its headings are read here.

use crate::finding::Severity;
use crate::{rules, scan, suppress};

/// Pages of what is no look at a file, and so in no rule's file.
const RESERVED: &[(&str, &str)] = &[
    (scan::NOT_ANALYSED, include_str!("../rules/OM001.md")),
    (suppress::UNUSED, include_str!("../rules/OM002.md")),
];

/// A rule's page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// `OM201`
    pub id: &'static str,
    /// `non-total-order`
    pub name: &'static str,
    /// All of it, as Markdown.
    pub text: &'static str,
}

impl Page {
    fn new(text: &'static str) -> Self {
        let (id, name) = title(text);
        Self { id, name, text }
    }

    /// The severity that the rule has at most.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        severity(self.text)
    }

    /// What it detects, on one line: the first sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        let paragraphs = self.text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
        let text = paragraphs.skip(2).take(1).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
        // A full stop within backticks or an abbreviation ends no sentence.
        let ends = text.match_indices(". ").map(|(at, _)| at).find(|at| {
            let before = &text[..*at];
            before.matches('`').count() % 2 == 0
                && text[at + 2..].starts_with(|c: char| c.is_uppercase() || c == '`')
        });
        match ends {
            Some(at) => text[..=at].to_string(),
            None => text,
        }
    }

    /// What is for readers: the page without its experiments, which are tests alone.
    #[must_use]
    pub fn for_readers(&self) -> &'static str {
        self.text.split("\n## Shown by experiment").next().unwrap_or(self.text).trim_end()
    }
}

/// All pages, in order of their ids.
#[must_use]
pub fn all() -> Vec<Page> {
    let reserved = RESERVED.iter().map(|(_, text)| Page::new(text));
    let mut pages: Vec<Page> = reserved.chain(rules::RULES.iter().map(|rule| Page::new(rule.page))).collect();
    pages.sort_unstable_by_key(|page| page.id);
    pages
}

/// The page of a rule, by id or name.
#[must_use]
pub fn of(rule: &str) -> Option<Page> {
    all().into_iter().find(|page| page.id.eq_ignore_ascii_case(rule) || page.name.eq_ignore_ascii_case(rule))
}

/// The rules that a word means: an id, a name, or how ids begin (`OM2`). None where it means nothing.
#[must_use]
pub fn select(word: &str) -> Vec<&'static str> {
    let upper = word.trim().to_ascii_uppercase();
    let pages = all();
    let one = pages.iter().find(|page| page.id == upper || page.name.eq_ignore_ascii_case(word.trim()));
    match one {
        Some(page) => vec![page.id],
        None if upper.starts_with("OM") => {
            pages.iter().filter(|page| page.id.starts_with(&upper)).map(|page| page.id).collect()
        }
        None => Vec::new(),
    }
}

/// Id and name: `# OM201 non-total-order`.
#[must_use]
pub fn title(page: &'static str) -> (&'static str, &'static str) {
    let line = page.lines().next().unwrap_or("").trim_start_matches('#').trim();
    line.split_once(' ').unwrap_or((line, ""))
}

/// The severity on the second line: `error · needs keys · shown by: rows shuffled`.
#[must_use]
pub fn severity(page: &'static str) -> Option<Severity> {
    let line = page.lines().skip(1).find(|line| !line.trim().is_empty())?;
    Severity::named(line.split(['·', ' ']).next()?.trim())
}

#[cfg(test)]
mod tests {
    use super::{Page, all, of, select};

    #[test]
    fn every_page_has_a_head() {
        for page in all() {
            assert!(page.id.starts_with("OM") && page.id.len() == 5, "{}", page.id);
            assert!(!page.name.is_empty() && page.severity().is_some(), "{}", page.id);
            assert!(page.summary().ends_with(['.', ':']), "{}: {}", page.id, page.summary());
            assert!(!page.for_readers().contains(" experiment"), "{}", page.id);
        }
    }

    #[test]
    fn words_mean_rules() {
        assert_eq!(select("om201"), ["OM201"]);
        assert_eq!(select("non-total-order"), ["OM201"]);
        assert_eq!(select("OM0"), ["OM001", "OM002"]);
        assert!(select("OM999").is_empty() && select("201").is_empty() && select("").is_empty());
        assert_eq!(of("OM001").map(|page: Page| page.name), Some("not-analysed"));
    }
}
