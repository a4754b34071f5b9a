//! What an editor offers for findings: their page, their rewrite, and a comment that allows them.

use std::collections::HashMap;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Diagnostic, DiagnosticSeverity, Hover, HoverContents,
    MarkupContent, MarkupKind, NumberOrString, Position, Range, TextEdit, Uri, WorkspaceEdit,
};
use oncemore_lint::{Finding, Safety, Severity, page};

use super::place::{byte, position, range};

/// A finding as the protocol has them.
pub(super) fn diagnostic(finding: &Finding, text: &str) -> Diagnostic {
    let mut message = finding.message.clone();
    let lacked = finding.lacked.as_deref().unwrap_or("");
    for (name, more) in
        [("Re-run", finding.rerun.as_str()), ("Not known", lacked), ("Instead", &finding.help)]
    {
        if !more.is_empty() {
            message += &format!("\n{name}: {more}");
        }
    }
    Diagnostic {
        range: range(text, finding.span),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Info => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(finding.rule.to_owned())),
        source: Some("oncemore".to_owned()),
        message,
        ..Diagnostic::default()
    }
}

/// The page of the rule that has a finding at a place; the narrowest finding counts.
pub(super) fn hover(findings: &[Finding], text: &str, at: Position) -> Option<Hover> {
    let at = u32::try_from(byte(text, at)).unwrap_or(u32::MAX);
    let here = findings.iter().filter(|finding| finding.span.start <= at && at <= finding.span.end);
    let finding = here.min_by_key(|finding| finding.span.end - finding.span.start)?;
    let page = page::of(finding.rule)?;
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: page.for_readers().to_owned(),
        }),
        range: Some(range(text, finding.span)),
    })
}

/// What can be done about the findings in a range.
pub(super) fn actions(uri: &Uri, findings: &[Finding], text: &str, asked: Range) -> Vec<CodeActionOrCommand> {
    let (from, to) = (byte(text, asked.start), byte(text, asked.end));
    let touched = findings.iter().filter(|finding| {
        let bytes = finding.span.range();
        bytes.start <= to && from <= bytes.end
    });
    touched.flat_map(|finding| of_finding(uri, finding, text)).collect()
}

fn of_finding(uri: &Uri, finding: &Finding, text: &str) -> Vec<CodeActionOrCommand> {
    let mut offered = Vec::new();
    if let Some(fix) = &finding.fix {
        let is_safe = fix.safety == Safety::Safe;
        let care = if is_safe { "" } else { " (the result may differ)" };
        let edit = TextEdit { range: range(text, fix.span), new_text: fix.text.clone() };
        let title = format!("{}: {}{care}", finding.rule, finding.help);
        offered.push(action(uri, finding, text, title, edit, is_safe));
    }
    if page::of(finding.rule).is_some_and(|page| !page.id.starts_with("OM0")) {
        let title = format!("{}: allow it here, with a reason", finding.rule);
        offered.push(action(uri, finding, text, title, allowance(finding, text), false));
    }
    offered
}

fn action(
    uri: &Uri,
    finding: &Finding,
    text: &str,
    title: String,
    edit: TextEdit,
    preferred: bool,
) -> CodeActionOrCommand {
    #[expect(clippy::mutable_key_type, reason = "the protocol's own type; nothing in it changes")]
    let changes = HashMap::from([(uri.clone(), vec![edit])]);
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic(finding, text)]),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        is_preferred: Some(preferred),
        ..CodeAction::default()
    })
}

/// A comment above the finding's line, as far in as that is. The reason is left to be written: without one the comment
/// allows nothing, and says so.
fn allowance(finding: &Finding, text: &str) -> TextEdit {
    let start = finding.span.range().start.min(text.len());
    let before = text.get(..start).unwrap_or("");
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(line_start..).unwrap_or("");
    let indent: String = line.chars().take_while(|char| *char == ' ' || *char == '\t').collect();
    let at = position(text, line_start);
    let new_text = format!("{indent}-- oncemore: allow({}) because \n", finding.rule);
    TextEdit { range: Range { start: at, end: at }, new_text }
}
