//! What a user asks for: a range of time, models, reasons.

use std::collections::BTreeSet;

use oncemore_core::{Calendar, Instant, Interval, IntervalLength, Zone};

use crate::error::RunError;

/// The range of a request, as typed; instants differ by the zone of each model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeRequest {
    /// `--from`, inclusive.
    pub from: Option<String>,
    /// `--to`, exclusive.
    pub to: Option<String>,
    /// `--interval`: a day, a month, a year, an hour.
    pub interval: Option<String>,
}

impl RangeRequest {
    /// Whether nothing was asked: all that is due.
    pub fn is_open(&self) -> bool {
        *self == RangeRequest::default()
    }

    /// The range in the calendar of one model.
    ///
    /// # Errors
    /// A text that names no instant or interval, an empty range, or an end that is no boundary of the calendar.
    pub fn resolve(&self, calendar: &Calendar) -> Result<Interval, RunError> {
        if let Some(text) = &self.interval {
            if self.from.is_some() || self.to.is_some() {
                return Err(RunError::usage(
                    "`--interval` does not go with `--from` and `--to`",
                    "give one of the two",
                ));
            }
            return calendar.parse_range(text).ok_or_else(|| {
                RunError::usage(
                    format!("`{text}` is no interval in {}", calendar.zone),
                    "write a day `2013-03-01`, a month `2013-03`, a quarter `2013-Q1`, a year `2013` or an hour `2013-03-01T05`",
                )
            });
        }
        let from = self.bound("--from", self.from.as_deref(), calendar)?.unwrap_or(Instant::MIN);
        let to = self.bound("--to", self.to.as_deref(), calendar)?.unwrap_or(Instant::MAX);
        Interval::new(from, to).ok_or_else(|| {
            RunError::usage(
                format!("the range from {from} to {to} is empty"),
                "`--to` is exclusive: one day is `--from 2013-03-01 --to 2013-03-02`",
            )
        })
    }

    fn bound(
        &self,
        flag: &str,
        text: Option<&str>,
        calendar: &Calendar,
    ) -> Result<Option<Instant>, RunError> {
        let Some(text) = text else { return Ok(None) };
        let instant = calendar.parse_instant(text).ok_or_else(|| {
            RunError::usage(
                format!("`{flag} {text}` is no point in time"),
                "write a date `2013-03-01`, a local time `2013-03-01T05:00` or an instant `2013-03-01T05:00:00Z`",
            )
        })?;
        // A date is midnight in each model's zone; whether a coarser model's interval ends there is its own affair.
        let fine = if calendar.length.is_below_day() { calendar.length } else { IntervalLength::Day };
        let grid = Calendar::new(fine, calendar.zone.clone());
        let holding = grid.containing(instant);
        if holding.start() == instant {
            return Ok(Some(instant));
        }
        Err(RunError::usage(
            format!("`{flag} {text}` is no boundary of a {fine} in {}", calendar.zone),
            format!(
                "the nearest are {} and {}",
                show(holding.start(), &calendar.zone),
                show(holding.end(), &calendar.zone)
            ),
        ))
    }
}

fn show(instant: Instant, zone: &Zone) -> String {
    zone.wall(instant).to_string()
}

/// Which models: `m`, `+m`, `m+`, `schema.*`, `tag:x`, commas for union, minus `--exclude`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Terms that add models; none: all.
    pub include: Vec<String>,
    /// Terms that take models away.
    pub exclude: Vec<String>,
}

/// A model as selections see it.
pub struct Candidate<'a> {
    /// `<schema>.<name>`.
    pub name: &'a str,
    /// Its tags.
    pub tags: &'a [String],
    /// Models that it reads, also through views.
    pub parents: Vec<usize>,
}

impl Selection {
    /// Positions of the selected models.
    ///
    /// # Errors
    /// A term that matches no model, with the nearest name.
    pub fn resolve(&self, candidates: &[Candidate<'_>]) -> Result<BTreeSet<usize>, RunError> {
        let all = || (0..candidates.len()).collect::<BTreeSet<_>>();
        let mut selected = if self.include.is_empty() { all() } else { BTreeSet::new() };
        for term in split(&self.include) {
            selected.extend(matching(term, candidates)?);
        }
        for term in split(&self.exclude) {
            for at in matching(term, candidates)? {
                selected.remove(&at);
            }
        }
        Ok(selected)
    }
}

fn split(terms: &[String]) -> impl Iterator<Item = &str> {
    terms.iter().flat_map(|term| term.split(',')).map(str::trim).filter(|term| !term.is_empty())
}

fn matching(term: &str, candidates: &[Candidate<'_>]) -> Result<BTreeSet<usize>, RunError> {
    let (upstream, rest) = term.strip_prefix('+').map_or((false, term), |rest| (true, rest));
    let (downstream, name) = rest.strip_suffix('+').map_or((false, rest), |rest| (true, rest));
    let hit = |candidate: &Candidate<'_>| match (name.strip_prefix("tag:"), name.strip_suffix(".*")) {
        (Some(tag), _) => candidate.tags.iter().any(|own| own == tag),
        (_, Some(schema)) => candidate.name.split_once('.').is_some_and(|(own, _)| own == schema),
        _ => candidate.name == name,
    };
    let mut found: BTreeSet<usize> =
        candidates.iter().enumerate().filter(|(_, candidate)| hit(candidate)).map(|(at, _)| at).collect();
    if found.is_empty() {
        let known = candidates.iter().map(|candidate| candidate.name);
        let nearest = oncemore_project::nearest(name, known);
        return Err(RunError::usage(
            format!("`{term}` selects no model"),
            nearest.map_or_else(
                || "`oncemore status` lists the models".to_owned(),
                |nearest| format!("did you mean `{nearest}`?"),
            ),
        ));
    }
    let roots = found.clone();
    if upstream {
        let mut open: Vec<usize> = roots.iter().copied().collect();
        while let Some(at) = open.pop() {
            open.extend(candidates[at].parents.iter().copied().filter(|parent| found.insert(*parent)));
        }
    }
    if downstream {
        // Candidates stand in topological order, so one pass reaches every descendant.
        let mut below = roots;
        for (at, candidate) in candidates.iter().enumerate() {
            if candidate.parents.iter().any(|parent| below.contains(parent)) {
                below.insert(at);
            }
        }
        found.extend(below);
    }
    Ok(found)
}
