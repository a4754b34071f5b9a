//! What an editor offers for findings: their page, their rewrite, and a comment that allows them.

use std::collections::HashMap;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Diagnostic, DiagnosticSeverity, Hover, HoverContents,
    MarkupContent, MarkupKind, NumberOrString, Position, Range, TextEdit, WorkspaceEdit,
};
use oncemore_lint::{Finding, Safety, Severity, page};

use super::place::Places;
use super::server::Document;

/// A finding as the protocol has them.
pub(super) fn diagnostic(finding: &Finding, places: &Places) -> Diagnostic {
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
        range: places.range(finding.span),
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
pub(super) fn hover(document: &Document, at: Position) -> Option<Hover> {
    let Document { findings, text, places, .. } = document;
    let at = u32::try_from(places.byte(text, at)).unwrap_or(u32::MAX);
    let here = findings.iter().filter(|finding| finding.span.start <= at && at <= finding.span.end);
    let finding = here.min_by_key(|finding| finding.span.end - finding.span.start)?;
    let page = page::of(finding.rule)?;
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: page.for_readers().to_owned(),
        }),
        range: Some(places.range(finding.span)),
    })
}

/// What can be done about the findings in a range.
pub(super) fn actions(document: &Document, asked: Range) -> Vec<CodeActionOrCommand> {
    let Document { findings, text, places, .. } = document;
    let (from, to) = (places.byte(text, asked.start), places.byte(text, asked.end));
    let touched = findings.iter().filter(|finding| {
        let bytes = finding.span.range();
        bytes.start <= to && from <= bytes.end
    });
    touched.flat_map(|finding| of_finding(document, finding)).collect()
}

fn of_finding(document: &Document, finding: &Finding) -> Vec<CodeActionOrCommand> {
    let mut offered = Vec::new();
    if let Some(fix) = &finding.fix {
        let is_safe = fix.safety == Safety::Safe;
        let care = if is_safe { "" } else { " (the result may differ)" };
        let edit = TextEdit { range: document.places.range(fix.span), new_text: fix.text.clone() };
        let title = format!("{}: {}{care}", finding.rule, finding.help);
        offered.push(action(document, finding, title, edit, is_safe));
    }
    if page::of(finding.rule).is_some_and(|page| !page.id.starts_with("OM0")) {
        let title = format!("{}: allow it here, with a reason", finding.rule);
        offered.push(action(document, finding, title, allowance(document, finding), false));
    }
    offered
}

fn action(
    document: &Document,
    finding: &Finding,
    title: String,
    edit: TextEdit,
    preferred: bool,
) -> CodeActionOrCommand {
    #[expect(clippy::mutable_key_type, reason = "the protocol's own type; nothing in it changes")]
    let changes = HashMap::from([(document.uri.clone(), vec![edit])]);
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic(finding, &document.places)]),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        is_preferred: Some(preferred),
        ..CodeAction::default()
    })
}

/// A comment above the finding's line, as far in as that is. The reason is left to be written: without one the comment
/// allows nothing, and says so.
fn allowance(document: &Document, finding: &Finding) -> TextEdit {
    let text = &document.text;
    let start = finding.span.range().start.min(text.len());
    let before = text.get(..start).unwrap_or("");
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(line_start..).unwrap_or("");
    let indent: String = line.chars().take_while(|char| *char == ' ' || *char == '\t').collect();
    let at = document.places.position(line_start);
    let new_text = format!("{indent}-- oncemore: allow({}) because \n", finding.rule);
    TextEdit { range: Range { start: at, end: at }, new_text }
}
