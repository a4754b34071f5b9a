//! Pictures of `diagnostic`, on hand-made data.
use oncemore_core::{Diagnostic, Location, Severity};
use oncemore_run::RunError;

use super::super::{diagnostic, error};
use super::wide;
use crate::render::Look;

const TEXT: &str = "name: flights\nstrat: 2013-01-01\ntime_zone: América/New_York\n";

fn found() -> Vec<Diagnostic> {
    let place = |word: &str| {
        let start = TEXT.find(word).unwrap_or(0);
        Location { path: "oncemore.yml".to_owned(), start, end: start + word.len() }
    };
    let mut unused = Diagnostic::error("no-models", "the project has no model", None)
        .help("write `models/<schema>/<name>.sql`");
    unused.severity = Severity::Warning;
    vec![
        unused,
        Diagnostic::error("unknown-key", "unknown key `strat`", place("strat"))
            .label("no such key")
            .help("did you mean `start`?"),
        Diagnostic::error("time-zone", "`América/New_York` is no time zone", place("América/New_York")),
    ]
}

fn text_of(path: &str) -> Option<&'static str> {
    (path == "oncemore.yml").then_some(TEXT)
}

#[test]
fn a_diagnostic_shows_its_line() {
    insta::assert_snapshot!(diagnostic::render_all(&found(), &text_of, &wide(80)), @r"
    error[unknown-key]: unknown key `strat`
      ╭▸ oncemore.yml:2:1
      │
    2 │ strat: 2013-01-01
      │ ━━━━━ no such key
      │
      ╰ help: did you mean `start`?

    error[time-zone]: `América/New_York` is no time zone
      ╭▸ oncemore.yml:3:12
      │
    3 │ time_zone: América/New_York
      ╰╴           ━━━━━━━━━━━━━━━━

    warning[no-models]: the project has no model
     │
     ╰ help: write `models/<schema>/<name>.sql`

    2 errors, 1 warning
    ");
}

#[test]
fn ascii_is_enough() {
    insta::assert_snapshot!(diagnostic::render_all(&found()[1..2], &text_of, &Look::PLAIN), @r"
    error[unknown-key]: unknown key `strat`
     --> oncemore.yml:2:1
      |
    2 | strat: 2013-01-01
      | ^^^^^ no such key
      |
      = help: did you mean `start`?

    1 error
    ");
}

#[test]
fn json_names_line_and_column() {
    let found = found();
    let json = diagnostic::to_json(&found[1..], &text_of);
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap(), @r#"
    [
      {
        "severity": "error",
        "code": "unknown-key",
        "message": "unknown key `strat`",
        "path": "oncemore.yml",
        "line": 2,
        "column": 1,
        "span": [
          14,
          19
        ],
        "label": "no such key",
        "help": "did you mean `start`?"
      },
      {
        "severity": "error",
        "code": "time-zone",
        "message": "`América/New_York` is no time zone",
        "path": "oncemore.yml",
        "line": 3,
        "column": 12,
        "span": [
          43,
          60
        ],
        "label": null,
        "help": null
      }
    ]
    "#);
}

#[test]
fn an_error_says_what_the_state_is_and_what_to_type() {
    let lost =
        RunError::new(oncemore_run::ErrorKind::Unknown, "the answer of the commit to `gold.x` was lost")
            .state(oncemore_core::SliceState::Unknown)
            .help("`oncemore resolve`");
    insta::assert_snapshot!(error::render(&lost, &text_of, &wide(80)), @r"
    error: the answer of the commit to `gold.x` was lost; outcome unknown
    help: `oncemore resolve`
    ");
}
