//! Carries positions from our rendering of a template over to dbt's own: both say nearly the same, token by
//! token.

use super::value::Mark;

/// Edits after which texts count as different; the greedy walk goes on from there.
const EDITS_MAX: usize = 400;

struct Token {
    hash: u64,
    start: u32,
    end: u32,
}

/// Words, numbers and single signs, without white space.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut found = Vec::with_capacity(text.len() / 4);
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        at += 1;
        if word(bytes[start]) {
            while at < bytes.len() && word(bytes[at]) {
                at += 1;
            }
        }
        // FNV-1a: the same on each machine and each run.
        let hash = bytes[start..at].iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        found.push(Token { hash, start: start as u32, end: at as u32 });
    }
    found
}

/// Marks of `theirs` after those of `ours`, and how many tokens of the two have no counterpart.
pub(super) fn align(ours: &str, marks: &[Mark], theirs: &str) -> (Vec<Mark>, usize) {
    let (a, b) = (tokens(ours), tokens(theirs));
    let pairs = matches(&a, &b);
    let unmatched = a.len() + b.len() - 2 * pairs.len();
    let mut out: Vec<Mark> = Vec::new();
    let mut mark_at = 0;
    let mut last: Option<Mark> = None;
    let mut next_b = 0;
    for (i, j) in pairs.iter().copied().chain([(a.len(), b.len())]) {
        // What has no counterpart belongs to what ours has in its place.
        if next_b < j {
            let from = a.get(i).map_or(ours.len() as u32, |token| token.start);
            let gap = marks[mark_at..].iter().take_while(|mark| mark.start < from).find(|mark| !mark.exact);
            if let Some(mark) = gap.copied().or(last).or_else(|| marks.first().copied()) {
                push(&mut out, Mark { start: b[next_b].start, end: b[j - 1].end, exact: false, ..mark });
            }
        }
        if i == a.len() {
            break;
        }
        let (token, other) = (&a[i], &b[j]);
        while marks.get(mark_at).is_some_and(|mark| mark.end <= token.start) {
            mark_at += 1;
        }
        if let Some(mark) = marks.get(mark_at) {
            let mut moved = Mark { start: other.start, end: other.end, ..*mark };
            let within = mark.start <= token.start && token.end <= mark.end;
            moved.exact = mark.exact && within;
            if moved.exact {
                moved.source.start = mark.source.start + (token.start - mark.start);
                moved.source.end = moved.source.start + (token.end - token.start);
            }
            // Tokens may run over the edge of a mark: `t_{{ x }}`.
            push(&mut out, moved);
            last = Some(*mark);
        }
        next_b = j + 1;
    }
    (out, unmatched)
}

/// Adds a mark; tokens that follow each other in both texts become one.
fn push(out: &mut Vec<Mark>, mark: Mark) {
    if let Some(before) = out.last_mut()
        && before.file == mark.file
        && before.by == mark.by
        && before.call == mark.call
        && before.stub == mark.stub
        && before.exact == mark.exact
    {
        if !mark.exact && before.source == mark.source {
            before.end = mark.end;
            return;
        }
        if mark.exact
            && mark.source.start.checked_sub(before.source.end) == mark.start.checked_sub(before.end)
        {
            before.end = mark.end;
            before.source.end = mark.source.end;
            return;
        }
    }
    out.push(mark);
}

/// Pairs of equal tokens, ascending on both sides.
fn matches(a: &[Token], b: &[Token]) -> Vec<(usize, usize)> {
    let head = a.iter().zip(b).take_while(|(a, b)| a.hash == b.hash).count();
    let (rest_a, rest_b) = (&a[head..], &b[head..]);
    let tail = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a.hash == b.hash).count();
    let (mid_a, mid_b) = (&rest_a[..rest_a.len() - tail], &rest_b[..rest_b.len() - tail]);
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|i| (i, i)).collect();
    pairs.extend(shortest(mid_a, mid_b).into_iter().map(|(i, j)| (i + head, j + head)));
    pairs.extend((0..tail).map(|i| (head + mid_a.len() + i, head + mid_b.len() + i)));
    pairs
}

/// Myers' shortest edit script; without one within the limit, a greedy walk.
fn shortest(a: &[Token], b: &[Token]) -> Vec<(usize, usize)> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let limit = EDITS_MAX.min(a.len() + b.len());
    let offset = limit as isize + 1;
    let mut ends = vec![0usize; 2 * limit + 3];
    let mut trace = Vec::new();
    for edits in 0..=limit as isize {
        trace.push(ends[(offset - edits - 1).max(0) as usize..=(offset + edits + 1) as usize].to_vec());
        for k in (-edits..=edits).step_by(2) {
            let at = (offset + k) as usize;
            let down = k == -edits || (k != edits && ends[at - 1] < ends[at + 1]);
            let mut x = if down { ends[at + 1] } else { ends[at - 1] + 1 };
            // Diagonals left of the square hold no place.
            let Some(mut y) = x.checked_add_signed(-k) else { continue };
            while x < a.len() && y < b.len() && a[x].hash == b[y].hash {
                x += 1;
                y += 1;
            }
            ends[at] = x;
            if x == a.len() && y == b.len() {
                return walk_back(&trace, a.len(), b.len());
            }
        }
    }
    greedy(a, b)
}

fn walk_back(trace: &[Vec<usize>], len_a: usize, len_b: usize) -> Vec<(usize, usize)> {
    let (mut x, mut y) = (len_a, len_b);
    let mut pairs = Vec::new();
    for (edits, ends) in trace.iter().enumerate().rev() {
        let edits = edits as isize;
        let k = x as isize - y as isize;
        let end = |k: isize| ends.get((k + edits + 1) as usize).copied().unwrap_or(0);
        let down = k == -edits || (k != edits && end(k - 1) < end(k + 1));
        let before = if down { k + 1 } else { k - 1 };
        let from_x = if edits == 0 { 0 } else { end(before) };
        let from_y = if edits == 0 { 0 } else { from_x.checked_add_signed(-before).unwrap_or(0) };
        while x > from_x && y > from_y {
            x -= 1;
            y -= 1;
            pairs.push((x, y));
        }
        (x, y) = (from_x, from_y);
    }
    pairs.reverse();
    pairs
}

/// Takes the nearest equal tokens within a short look-ahead.
fn greedy(a: &[Token], b: &[Token]) -> Vec<(usize, usize)> {
    const AHEAD: usize = 64;
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < a.len() && j < b.len() {
        if a[i].hash == b[j].hash {
            pairs.push((i, j));
            i += 1;
            j += 1;
            continue;
        }
        let step = (1..AHEAD).find_map(|sum| {
            (0..=sum)
                .find(|di| {
                    let (x, y) = (i + di, j + sum - di);
                    x + 1 < a.len()
                        && y + 1 < b.len()
                        && a[x].hash == b[y].hash
                        && a[x + 1].hash == b[y + 1].hash
                })
                .map(|di| (di, sum - di))
        });
        match step {
            Some((di, dj)) => {
                i += di;
                j += dj;
            }
            None => {
                i += AHEAD;
                j += AHEAD;
            }
        }
    }
    pairs
}
