//! What the targets of lint share.

use oncemore_lint::{Config, Dialect, Input, Report, lint};

/// A file by path and text.
pub(crate) fn input(path: &str, text: &str, dialect: Option<Dialect>) -> Input {
    Input { path: path.to_owned(), text: text.to_owned(), dialect }
}

/// Lints; every place must lie in its file, and every rewrite must be one that can be made.
pub(crate) fn check(inputs: &[Input], config: &Config) -> Report {
    let report = lint(inputs, config);
    let found = report.findings.iter().chain(report.allowed.iter().map(|allowed| &allowed.finding));
    for finding in found {
        let text = inputs.iter().find(|input| input.path == finding.path).map(|input| input.text.as_str());
        let text = text.unwrap_or_else(|| panic!("{} is none of the files", finding.path));
        let place = finding.span.range();
        assert!(text.get(place.clone()).is_some(), "{}: {place:?} is no place in it", finding.rule);
        if let Some(fix) = &finding.fix {
            let place = fix.span.range();
            assert!(text.get(place.clone()).is_some(), "{}: a rewrite of {place:?}", finding.rule);
        }
    }
    report
}
