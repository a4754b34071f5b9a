//! Laws of the nouns: intervals, sets, calendars on the days the clock changes, versions and names.
#![expect(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod calendars;
mod sets;
mod values;
