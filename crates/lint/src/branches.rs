//! Which parts of a template are left out where a plain script is one: of the branches of an `{% if %}` one is read, that
//! of a steady run; of a loop one round. Knows nothing of SQL.

use crate::text::Span;

/// An open block.
enum Block {
    /// `if`: conditions with where their text begins and ends; the last is still open.
    If(Vec<(String, usize, usize)>),
    /// Any other that has an end.
    Other,
}

/// Parts to leave out, ascending, none within another.
pub(crate) fn left_out(text: &str) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find("{%")) {
        let start = at + found;
        let Some(close) = text.get(start..).and_then(|rest| rest.find("%}")) else { break };
        let end = start + close + 2;
        let inner = text.get(start + 2..end - 2).unwrap_or("").trim_matches(['-', '+']).trim();
        let (word, rest) = inner.split_once(|c: char| c.is_whitespace() || c == '(').unwrap_or((inner, ""));
        match word {
            "if" => blocks.push(Block::If(vec![(rest.to_ascii_lowercase(), end, end)])),
            "for" => blocks.push(Block::Other),
            "elif" | "else" => {
                if let Some(Block::If(branches)) = blocks.last_mut() {
                    if let Some(last) = branches.last_mut() {
                        last.2 = start;
                    }
                    let condition = if word == "else" { "true" } else { rest };
                    branches.push((condition.to_ascii_lowercase(), end, end));
                }
            }
            "endfor" => {
                blocks.pop();
            }
            "endif" => {
                if let Some(Block::If(mut branches)) = blocks.pop() {
                    if let Some(last) = branches.last_mut() {
                        last.2 = start;
                    }
                    close_if(&branches, &mut out);
                }
            }
            _ => {}
        }
        at = end;
    }
    out.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut reach = 0;
    out.retain(|span| {
        let within = span.end <= reach;
        reach = reach.max(span.end);
        !within
    });
    out
}

/// Of the branches that may hold in a steady run, the first is read.
fn close_if(branches: &[(String, usize, usize)], out: &mut Vec<Span>) {
    let kept = branches.iter().position(|(condition, ..)| may_hold(condition));
    for (at, (_, start, end)) in branches.iter().enumerate() {
        if Some(at) != kept && end > start {
            out.push(Span::new(*start, *end));
        }
    }
}

/// Whether a condition may hold in a run that is neither the first nor a full one, in the only round of a loop.
fn may_hold(condition: &str) -> bool {
    let negated = condition.starts_with("not ");
    let first = ["is_init", "full_refresh", "first_run"].iter().any(|word| condition.contains(word));
    let round = ["loop.first", "loop.last", "is_incremental"].iter().any(|word| condition.contains(word));
    match (first, round) {
        (true, _) => negated,
        (_, true) => !negated,
        _ => true,
    }
}
