//! Loading never panics, whatever the text: random edits of a project that is right, from a printed seed.

use super::valid::FLIGHTS;
use crate::{TextFile, load};

/// A small generator (xorshift), so that a failure is replayed from its seed alone.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % bound.max(1)
    }
}

const SCRAPS: &[&str] = &[
    "",
    "é",
    "/*",
    "*/",
    "'",
    "\"",
    "{",
    "}",
    "[",
    "]",
    ":",
    "- ",
    "\n",
    "\t",
    "\r\n",
    "\u{feff}",
    "&a",
    "*a",
    "!!int ",
    "---\n",
    "|\n",
    ">",
    "#",
    "--",
    "WITH c AS (",
    "SELECT ",
    " FROM ",
    ".",
    ",",
    "(",
    ")",
    "::",
    "$$",
    "E'\\",
    "x'",
    "??",
    "%",
    "\0",
    "\u{1}",
    "..",
    "null",
    "~",
    "{interval:%",
    "oncemore",
    ";",
    "1e999",
    "9223372036854775808",
    "@",
    "previous(",
    "LATERAL ",
    "UNION ",
    "EXISTS (",
    "日本",
    "\\u",
    "`",
    "//",
    "<<: ",
];

fn mutate(random: &mut Random, text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        let boundary =
            |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let from = boundary(random.below(text.len() + 1));
        let length = if random.below(3) == 0 { random.below(40) } else { random.below(3) };
        let to = boundary(from + length).max(from);
        let scrap = match random.below(4) {
            0 => {
                let start = boundary(random.below(text.len() + 1));
                let end = boundary(start + random.below(60)).max(start);
                text[start..end].to_owned()
            }
            _ => SCRAPS[random.below(SCRAPS.len())].to_owned(),
        };
        text.replace_range(from..to, &scrap);
    }
    text
}

#[test]
fn loading_never_panics() {
    let files = super::files(FLIGHTS);
    for seed in 1..=6_000_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut edited: Vec<TextFile> = files.clone();
        let at = random.below(edited.len());
        edited[at].text = mutate(&mut random, &edited[at].text.clone());
        let result = std::panic::catch_unwind(|| load(&edited));
        let Ok(loaded) = result else { panic!("seed {seed}: {:?}", edited[at]) };
        for found in &loaded.diagnostics {
            let _ = super::render(&edited, found);
        }
    }
}
