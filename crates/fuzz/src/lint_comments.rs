//! Any text as the comments that steer lint: `allow`, `noqa`, the header of a model of ours; and as settings in a file.
//!
//! An input is put into comments of a script in which something is found, into a model's header, and into
//! `.oncemore-lint.yml`. Its first line names a dialect.

use oncemore_lint::{Config, Dialect};
use oncemore_project::{LINT_FILE, TextFile, lint_settings};

use crate::lint::{check, input};

/// Lints files with the text in their comments.
///
/// # Panics
/// Where a finding's place is not in its file.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (name, text) = text.split_once('\n').unwrap_or(("", &text));
    let dialect = Dialect::named(name).unwrap_or(Dialect::Ansi);
    let line = text.lines().next().unwrap_or_default();
    let file = TextFile { path: LINT_FILE.to_owned(), text: text.to_owned() };
    let (settings, _) = lint_settings(&file);
    let script = format!(
        "-- {line}\nINSERT INTO mart.a (id) SELECT id FROM raw.a WHERE day = current_date; -- {line}\n\
         /* {text} */ DELETE FROM mart.b WHERE day > now() /* {text} */;\n-- {text}"
    );
    let model = format!("/* oncemore\n{text}\n*/\nSELECT id, random() AS n FROM raw.a -- {line}\nLIMIT 3\n");
    let inputs = [
        input("load.sql", &script, Some(dialect)),
        input("models/mart/c.sql", &model, None),
        input(
            "allowed.sql",
            &format!("-- oncemore: {line}\nINSERT INTO t SELECT now() FROM s;"),
            Some(dialect),
        ),
    ];
    for config in [Config::default(), settings.config()] {
        check(&inputs, &config);
    }
}
