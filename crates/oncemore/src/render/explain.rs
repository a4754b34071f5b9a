//! The whole story of one slice, in sections: verdict, what is published, inputs, attempts, what to type next.

use oncemore_core::{Origin, Stamp};
use oncemore_run::explain::{AttemptStory, InputStory, Story};
use oncemore_run::{Hold, Reason};
use unicode_width::UnicodeWidthStr;

use super::cause::{hold_detail, hold_help};
use super::number::{bytes, count, instant, plural, seconds};
use super::progress::tied;
use super::table::pad;
use super::{Look, Paint};

/// Most attempts shown.
const ATTEMPTS_MAX: usize = 8;
/// Most columns and changed slices listed.
const NAMES_MAX: usize = 8;

/// The story.
pub fn render(story: &Story, look: &Look) -> String {
    let mut out = look.paint(Paint::Strong, &story.model);
    if story.interval.is_whole() {
        out += ", the whole table\n";
    } else {
        out += &format!(
            ", {}  {}\n",
            look.paint(Paint::Strong, &story.label),
            look.paint(Paint::Dim, story.interval)
        );
    }
    out += &format!("\n{}\n", verdict(story, look));
    out += &published(story, look);
    out += &inputs(story, look);
    out += &attempts(story, look);
    out += &next(story, look);
    out
}

fn verdict(story: &Story, look: &Look) -> String {
    let why = match &story.reason {
        None if !story.reported.is_empty() => {
            let names = story.reported.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return format!(
                "{}: {names} changed since; the model has that reported, not run (`on_change: report`)",
                look.paint(Paint::Vouched, "reported")
            );
        }
        None if !story.spared.is_empty() => {
            let names = story.spared.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return format!(
                "{}: {names} changed since, in none of the keys that this slice looks up; the next run moves its stamp on, \
                 and computes nothing",
                look.paint(Paint::Good, "fresh")
            );
        }
        None => match story.stamp.as_ref().map(|stamp| &stamp.origin) {
            Some(Origin::Accepted { because }) => {
                return format!(
                    "{}: vouched for, not computed by this code, because: {because}",
                    look.paint(Paint::Vouched, "accepted")
                );
            }
            Some(Origin::Computed) | None => {
                return format!(
                    "{}: it holds what the code gives from the inputs as they are; running it again would change nothing",
                    look.paint(Paint::Good, "fresh")
                );
            }
        },
        Some(reason) => why(story, reason),
    };
    let (word, paint) = match (&story.hold, &story.reason, &story.stamp) {
        (Some(Hold::Waiting { .. }), ..) => ("waiting", Paint::Waiting),
        (Some(Hold::Blocked { .. }), ..) => ("blocked", Paint::Held),
        (Some(_), ..) => ("held back", Paint::Held),
        (None, Some(Reason::Failed), _) => ("failed", Paint::Bad),
        (None, Some(Reason::Forced), _) => ("forced", Paint::Due),
        (None, _, None) => ("due", Paint::Due),
        (None, ..) => ("stale", Paint::Stale),
    };
    let mut out = format!("{}: {why}", look.paint(paint, word));
    if let Some(hold) = &story.hold {
        out += &format!("\n  {}", why_held(hold));
    }
    out
}

fn why(story: &Story, reason: &Reason) -> String {
    match reason {
        Reason::NeverRan => "never ran; nothing was ever published for this interval".to_owned(),
        Reason::Code { from, to } => format!(
            "the code changed; the rows are valid for {}, the model is now {}",
            from.short(),
            to.short()
        ),
        Reason::Input { inputs, certain: true } => {
            let names = inputs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            if names.is_empty() {
                "the set of its inputs changed".to_owned()
            } else {
                format!("what it read has changed since; {names}")
            }
        }
        Reason::Input { inputs, certain: false } => {
            let names = inputs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            format!(
                "what it read may change; {names} is to run first, and if that comes out equal this slice stays as it is"
            )
        }
        Reason::Gone { path } => format!("a file that it was made from has vanished, {path}"),
        Reason::Audits => {
            "its audits changed; the published rows are to be audited again, nothing is computed".to_owned()
        }
        Reason::Failed => {
            let last = story.attempts.iter().find_map(|attempt| attempt.error.as_deref());
            let kept = if story.stamp.is_some() {
                "readers see the rows from before"
            } else {
                "nothing is published"
            };
            match last {
                Some(error) => format!("{error}; {kept}"),
                None => format!("the last attempt failed; {kept}"),
            }
        }
        Reason::Forced => "it is fresh, and runs because `--force` was given".to_owned(),
    }
}

fn why_held(hold: &Hold) -> String {
    match hold {
        Hold::Waiting { what } => format!("it waits for {what}; what is not there yet is not empty"),
        Hold::Blocked { by, interval } if interval.is_whole() => {
            format!("`{by}` failed or can't run itself")
        }
        Hold::Blocked { by, interval } => {
            format!("the slice {interval} of `{by}` failed or can't run itself")
        }
        Hold::Gone { .. } => "it is listed, not run: gone is not empty".to_owned(),
        Hold::OlderCode { owner } => {
            format!("it is not run: its owner {} was first seen after the code at hand", owner.short())
        }
        Hold::Foreign { .. } => format!("it is not run: somebody else wrote into it: {}", hold_detail(hold)),
        Hold::Broken { what } | Hold::Missing { what } => format!("it is not run: {what}"),
        Hold::Rebuild { why } => format!("it is not run, for the table has to be built anew: {why}"),
        Hold::Damaged(damage) => format!("nobody knows what it holds: {}", damage.what),
    }
}

fn section(name: &str, lines: &[(&str, String)], look: &Look) -> String {
    let width = lines.iter().map(|(key, _)| key.width()).max().unwrap_or(0);
    let mut out = format!("\n{}\n", look.paint(Paint::Strong, name));
    for (key, value) in lines {
        out += &format!("  {}  {value}\n", pad(key, width, false));
    }
    out
}

fn published(story: &Story, look: &Look) -> String {
    let Some(stamp) = &story.stamp else {
        let lines = [("code now", story.code.short())];
        return section("published: nothing", &lines, look);
    };
    let mut lines = vec![
        ("rows", format!("{}, {}", count(stamp.fingerprint.rows), bytes(stamp.bytes))),
        ("fingerprint", stamp.fingerprint.short()),
        ("code", code(story, stamp)),
        ("changed", format!("{}, by request {}", instant(stamp.changed_at), stamp.epoch.request)),
    ];
    for ties in story.ties.iter().chain(&story.ties_across) {
        lines.push(("ties", tied(ties.keys, &ties.example, ties.across)));
    }
    if stamp.verified_at != stamp.changed_at {
        lines.push(("verified", format!("{}, rows as they were", instant(stamp.verified_at))));
    }
    lines.push(("attempt", format!("{} (token {})", stamp.epoch, stamp.attempt)));
    if !stamp.engine.is_empty() {
        lines.push(("engine", stamp.engine.clone()));
    }
    section("published", &lines, look)
}

fn code(story: &Story, stamp: &Stamp) -> String {
    let mut out = stamp.code.short();
    if stamp.code == story.code {
        out += ", the code now";
    } else {
        out += &format!("; the code now is {}", story.code.short());
    }
    if stamp.written_by != stamp.code {
        out += &format!("; the bytes were written by {}", stamp.written_by.short());
    }
    out
}

fn inputs(story: &Story, look: &Look) -> String {
    if story.inputs.is_empty() {
        return format!(
            "\n{}\n  none: it reads no table and no source\n",
            look.paint(Paint::Strong, "inputs")
        );
    }
    let width = story.inputs.iter().map(|input| input.input.width()).max().unwrap_or(0);
    let mut out = format!("\n{}\n", look.paint(Paint::Strong, "inputs"));
    for input in &story.inputs {
        let name = pad(&input.input, width, false);
        let indent = " ".repeat(width + 4);
        out += &format!("  {name}  {}\n", version(input, story.stamp.is_some(), look));
        out += &format!("{indent}{}\n", extent(input, look));
        if !input.changed.is_empty() {
            out += &format!("{indent}changed since: {}\n", some_of(&input.changed));
        }
    }
    out
}

fn version(input: &InputStory, published: bool, look: &Look) -> String {
    match input.was {
        Some(was) if was == input.now => {
            format!("{}, version {}", look.paint(Paint::Good, "as it was read"), was.short())
        }
        Some(was) => {
            format!(
                "{}, version {} to {}",
                look.paint(Paint::Stale, "changed"),
                was.short(),
                input.now.short()
            )
        }
        None if published => {
            format!("{}, version {}", look.paint(Paint::Stale, "new input"), input.now.short())
        }
        None => format!("version {}", input.now.short()),
    }
}

fn extent(input: &InputStory, look: &Look) -> String {
    let columns = match &input.columns {
        None => "all columns".to_owned(),
        Some(columns) => some_of(columns),
    };
    match input.range {
        None => format!("{columns}; nothing is read for this interval"),
        Some(range) if range.is_whole() => format!("{columns}; whole table, {}", plural_rows(input.rows)),
        Some(range) => {
            format!("{columns}; {}, {}", look.paint(Paint::Dim, range), plural_rows(input.rows))
        }
    }
}

fn plural_rows(rows: u64) -> String {
    plural(usize::try_from(rows).unwrap_or(usize::MAX), "row")
}

fn some_of(names: &[String]) -> String {
    let mut out = names.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMES_MAX {
        out += &format!(" and {} more", names.len() - NAMES_MAX);
    }
    out
}

fn attempts(story: &Story, look: &Look) -> String {
    let mut out = format!("\n{}\n", look.paint(Paint::Strong, "attempts"));
    if story.attempts.is_empty() {
        out += "  none is on record\n";
    }
    // A run that spares the slice leaves an attempt, too: those would bury the ones that computed.
    let (stamps, worked): (Vec<&AttemptStory>, Vec<&AttemptStory>) =
        story.attempts.iter().partition(|attempt| attempt.is_stamp_alone());
    let width = |text: fn(&AttemptStory) -> &str| {
        worked.iter().take(ATTEMPTS_MAX).map(|attempt| text(attempt).width()).max().unwrap_or(0)
    };
    let (epochs, states) = (width(|attempt| &attempt.epoch), width(|attempt| &attempt.state));
    for attempt in worked.iter().take(ATTEMPTS_MAX) {
        let took = attempt.ended.map_or_else(String::new, |ended| {
            format!(", {}", seconds((ended.0.saturating_sub(attempt.started.0)) as f64 / 1e6))
        });
        let rows = attempt.rows.map_or_else(String::new, |rows| format!(", {}", plural_rows(rows)));
        let error = attempt.error.as_ref().map_or_else(String::new, |error| format!(": {error}"));
        out += &format!(
            "  {}  {}  {}{took}{rows}, code {}{error}\n",
            pad(&attempt.epoch, epochs, false),
            pad(&attempt.state, states, false),
            instant(attempt.started),
            attempt.code.short(),
        );
    }
    if worked.len() > ATTEMPTS_MAX {
        out += &format!("  and {} more\n", worked.len() - ATTEMPTS_MAX);
    }
    if let Some(last) = stamps.first() {
        out += &format!(
            "  {} gave it a new stamp alone, the last {} on {}, code {}\n",
            plural(stamps.len(), "attempt"),
            last.epoch,
            instant(last.started),
            last.code.short(),
        );
    }
    out
}

/// The flags that select the slice alone.
fn range_flags(story: &Story) -> String {
    const DAY_MICROS_MAX: i64 = 25 * 3_600_000_000;
    let (start, end) = (story.interval.start(), story.interval.end());
    if story.interval.is_whole() {
        String::new()
    } else if story.label.len() == 10 && end.0.saturating_sub(start.0) > DAY_MICROS_MAX {
        // A week goes by the name of its first day, which `--interval` would take for a day.
        format!(" --from {} --to {end}", story.label)
    } else if story.label.ends_with(')') {
        // An hour that the clock shows for the second time.
        format!(" --interval {start}")
    } else {
        format!(" --interval {}", story.label)
    }
}

fn next(story: &Story, look: &Look) -> String {
    let Some(reason) = &story.reason else { return String::new() };
    let interval = range_flags(story);
    let run = |flag: &str| format!("oncemore run {}{interval}{flag}", story.model);
    let text = match (&story.hold, reason) {
        (Some(Hold::Blocked { by, .. }), _) if *by == story.model.to_string() => {
            format!("oncemore run +{}  (goes on from the slice that it is blocked by)", story.model)
        }
        (Some(Hold::Blocked { by, .. }), _) => {
            format!("oncemore run +{}{interval}  (runs `{by}` first)", story.model)
        }
        (Some(Hold::Waiting { .. }), _) => "nothing: it runs once that is there".to_owned(),
        // All of the model is.
        (Some(hold @ Hold::Rebuild { .. }), _) => {
            hold_help(hold).unwrap_or_default().replace("{model}", &story.model.to_string())
        }
        (Some(hold), _) => {
            hold_help(hold).unwrap_or_default().replace("{model}", &format!("{}{interval}", story.model))
        }
        (None, Reason::Input { certain: false, .. }) => {
            format!("oncemore run +{}{interval}", story.model)
        }
        (None, Reason::Forced) => run(" --force"),
        (None, _) => run(""),
    };
    format!("\n{}\n  {text}\n", look.paint(Paint::Strong, "next"))
}
