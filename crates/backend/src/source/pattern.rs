//! Paths of a source: a glob, with `{interval:…}` as a time written in the path. Pure: text to matcher and
//! back.

use globset::GlobBuilder;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime;
use oncemore_core::{Calendar, Interval, IntervalLength, Zone};
use regex::bytes::Regex;

use super::error::{SourceError, SourceErrorKind};

/// Stands for the n-th `{interval:…}` while the rest is compiled as a glob.
const MARK: &str = "oncemoreIntervalPlaceholder";

/// A source's path, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Folders before the first glob or interval, joined by `/`; empty: the project's folder itself.
    pub(crate) prefix: String,
    /// Levels of folders below the prefix that can match; `None` with `**`.
    pub(crate) depth: Option<usize>,
    /// The name that every file has, where the path's last part is one: a stat finds it, no list of its folder.
    pub(crate) leaf: Option<String>,
    /// The text as written.
    pub(crate) text: String,
    matcher: Regex,
    /// Formats of all `{interval:…}`, joined by `SEPARATOR`; empty: none.
    format: String,
    calendar: Option<Calendar>,
}

const SEPARATOR: &str = "|";

impl Pattern {
    /// Compiles a path. `length` is that of the interval one path stands for; by default its finest field's.
    pub(crate) fn new(
        text: &str,
        length: Option<IntervalLength>,
        zone: &Zone,
    ) -> Result<Pattern, SourceError> {
        let wrong = |message: String| SourceError::new(SourceErrorKind::Declaration, text, message);
        inside(text)?;
        let (glob, formats) = cut(text).map_err(&wrong)?;
        let matcher = compile(&glob, &formats).map_err(&wrong)?;
        let finest = formats.iter().flat_map(|format| directives(format)).map(finest_of).min();
        let calendar = match (finest, length) {
            (None, _) => None,
            (Some(finest), length) => Some(Calendar::new(length.unwrap_or(finest), zone.clone())),
        };
        let fixed: Vec<&str> = glob.split('/').take_while(|part| is_literal(part)).collect();
        let parts = glob.split('/').count();
        let prefix = &fixed[..fixed.len().min(parts - 1)];
        Ok(Pattern {
            prefix: prefix.join("/"),
            depth: (!glob.contains("**")).then(|| parts - 1 - prefix.len()),
            leaf: glob.rsplit('/').next().filter(|part| is_literal(part)).map(str::to_owned),
            text: text.to_owned(),
            matcher,
            format: formats.join(SEPARATOR),
            calendar,
        })
    }

    /// The calendar of the intervals in paths.
    pub(crate) fn calendar(&self) -> Option<&Calendar> {
        self.calendar.as_ref()
    }

    /// Whether a path matches, and the interval that it names. A match whose digits name no time is an error.
    pub(crate) fn matches(&self, path: &str) -> Result<Option<Option<Interval>>, SourceError> {
        let Some(captures) = self.matcher.captures(path.as_bytes()) else { return Ok(None) };
        let Some(calendar) = &self.calendar else { return Ok(Some(None)) };
        let parts = captures.iter().skip(1).flatten();
        let parts: Vec<&str> = parts.filter_map(|part| std::str::from_utf8(part.as_bytes()).ok()).collect();
        let wall = parse(&self.format, &parts.join(SEPARATOR)).ok_or_else(|| {
            SourceError::new(SourceErrorKind::Malformed, path, "the name holds no valid time")
                .help(format!("the source's path is `{}`", self.text))
        })?;
        Ok(Some(Some(calendar.containing(calendar.zone.instant(wall)))))
    }

    /// The path of one interval, globs left as they are.
    pub(crate) fn render(&self, interval: Interval) -> String {
        let Some(calendar) = &self.calendar else { return self.text.clone() };
        let wall = calendar.zone.wall(interval.start());
        let mut path = String::new();
        let mut rest = self.text.as_str();
        while let Some((before, format, after)) = next_interval(rest) {
            path.push_str(before);
            path.push_str(&wall.strftime(format).to_string());
            rest = after;
        }
        path + rest
    }
}

/// Refuses what leaves the project's folder by its text alone.
fn inside(text: &str) -> Result<(), SourceError> {
    let outside = text.is_empty()
        || text.starts_with(['/', '\\', '~'])
        || text.contains(['\0', '\\'])
        || text.split('/').any(|part| part == "..")
        || (text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic());
    if outside {
        return Err(SourceError::new(SourceErrorKind::Outside, text, "the path leaves the project's folder")
            .help("sources lie in the project's folder; write the path relative to it, with `/`"));
    }
    Ok(())
}

fn next_interval(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find("{interval:")?;
    let end = start + text[start..].find('}')?;
    Some((&text[..start], &text[start + "{interval:".len()..end], &text[end + 1..]))
}

fn cut(text: &str) -> Result<(String, Vec<&str>), String> {
    let mut glob = String::new();
    let mut formats = Vec::new();
    let mut rest = text;
    while let Some((before, format, after)) = next_interval(rest) {
        glob.push_str(before);
        glob.push_str(&format!("{MARK}{}E", formats.len()));
        formats.push(format);
        rest = after;
    }
    glob.push_str(rest);
    if rest.contains("{interval") {
        return Err("`{interval` without its format and `}`, as in `{interval:%Y-%m-%d}`".to_owned());
    }
    Ok((glob.trim_start_matches("./").to_owned(), formats))
}

fn compile(glob: &str, formats: &[&str]) -> Result<Regex, String> {
    let glob = GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(false)
        .build()
        .map_err(|error| format!("no valid pattern: {}", error.kind()))?;
    let mut regex = glob.regex().to_owned();
    for (place, format) in formats.iter().enumerate() {
        regex = regex.replacen(&format!("{MARK}{place}E"), &format!("({})", digits(format)?), 1);
    }
    Regex::new(&regex).map_err(|_| "no valid pattern".to_owned())
}

/// The regular expression of a format.
fn digits(format: &str) -> Result<String, String> {
    let mut regex = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            regex.push_str(&regex::escape(&letter.to_string()));
            continue;
        }
        let width = match letters.next() {
            Some('Y') => 4,
            Some('m' | 'd' | 'H' | 'M' | 'y') => 2,
            Some('j') => 3,
            other => {
                let other = other.map(String::from).unwrap_or_default();
                return Err(format!("`%{other}` is not known in `{{interval:…}}`: %Y %y %m %d %j %H %M are"));
            }
        };
        regex.push_str(&format!("[0-9]{{{width}}}"));
    }
    Ok(regex)
}

fn directives(format: &str) -> impl Iterator<Item = char> + '_ {
    format.split('%').skip(1).filter_map(|rest| rest.chars().next())
}

/// The length of interval that a field tells apart; lengths are ordered from fine to coarse.
fn finest_of(directive: char) -> IntervalLength {
    match directive {
        'M' => IntervalLength::Minutes(1),
        'H' => IntervalLength::Hour,
        'd' | 'j' => IntervalLength::Day,
        'm' => IntervalLength::Month,
        _ => IntervalLength::Year,
    }
}

fn parse(format: &str, text: &str) -> Option<DateTime> {
    let parsed = strtime::parse(format, text).ok()?;
    let date = parsed
        .to_date()
        .ok()
        .or_else(|| Date::new(parsed.year()?, parsed.month().unwrap_or(1), parsed.day().unwrap_or(1)).ok())?;
    let time = Time::new(parsed.hour().unwrap_or(0), parsed.minute().unwrap_or(0), 0, 0).ok()?;
    Some(date.to_datetime(time))
}

fn is_literal(part: &str) -> bool {
    !part.contains(['*', '?', '[', '{']) && !part.contains(MARK)
}
