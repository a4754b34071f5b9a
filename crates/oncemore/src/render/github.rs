//! Findings as workflow commands of GitHub: annotations beside the changed lines.

use oncemore_lint::Severity;

use crate::lint::check::{Found, Outcome};

/// Findings of at least a severity, a line each.
pub fn render(outcome: &Outcome, least: Severity) -> String {
    outcome.found.iter().filter(|found| found.finding.severity >= least).map(line).collect()
}

fn line(found: &Found) -> String {
    let finding = &found.finding;
    let command = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let mut message = finding.message.clone();
    for (name, text) in [("re-run", finding.rerun.as_str()), ("help", finding.help.as_str())] {
        if !text.is_empty() {
            message += &format!("\n{name}: {text}");
        }
    }
    // Columns count only where a finding stays on its line.
    let columns = if finding.start.line == finding.end.line {
        format!(",col={},endColumn={}", finding.start.column, finding.end.column)
    } else {
        String::new()
    };
    format!(
        "::{command} file={},line={},endLine={}{columns},title={}::{}\n",
        property(&found.shown),
        finding.start.line,
        finding.end.line,
        property(&format!("{} {}", finding.rule, finding.name)),
        data(&message)
    )
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
