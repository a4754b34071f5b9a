//! What can't be parsed: said so (OM001), and looked at by tokens, for the rules that need no more than a
//! word.

use crate::config::Config;
use crate::finding::{Confidence, Finding, Severity};
use crate::functions::{self, Class};
use crate::ir::{Action, Statement};
use crate::lex::TokenKind;
use crate::rules;
use crate::script::Script;
use crate::text::Span;

/// The rule under which statements that are not understood are reported.
pub const NOT_ANALYSED: &str = "OM001";

pub(crate) fn findings(script: &Script, config: &Config) -> Vec<Finding> {
    let mut found = Vec::new();
    for statement in &script.statements {
        let reason = match &statement.action {
            Action::Unread(reason) => reason.as_str(),
            Action::Call => "a procedure does the work, and its body is not here",
            _ => continue,
        };
        if !config.is_off(NOT_ANALYSED) {
            let mut finding = finding(script, NOT_ANALYSED, "not-analysed", Severity::Info, statement.span);
            finding.message = format!("this statement could not be judged: {reason}");
            finding.help = "silence about it does not mean that it can be re-run".to_string();
            found.push(finding);
        }
        words(script, statement, config, &mut found);
    }
    found
}

fn finding(
    script: &Script,
    rule: &'static str,
    name: &'static str,
    severity: Severity,
    span: Span,
) -> Finding {
    Finding {
        rule,
        name,
        severity,
        confidence: Confidence::Low,
        path: script.path.clone(),
        span,
        start: script.lines.position(&script.text, span.start),
        end: script.lines.position(&script.text, span.end),
        message: String::new(),
        rerun: String::new(),
        lacked: None,
        help: String::new(),
        fix: None,
    }
}

/// Clock, chance and samples in a write that could not be parsed.
fn words(script: &Script, statement: &Statement, config: &Config, found: &mut Vec<Finding>) {
    let tokens = &script.lexed.tokens;
    let first = script.lexed.index_at(statement.span.start);
    let end = script.lexed.index_at(statement.span.end);
    let word = |at: usize| match tokens.get(at) {
        Some(token) if token.kind == TokenKind::Word => token.span.of(&script.text).to_ascii_lowercase(),
        _ => String::new(),
    };
    let writes = matches!(word(first).as_str(), "insert" | "merge" | "update" | "with")
        || (word(first) == "create" && (first..end).any(|at| word(at) == "select"));
    if !writes {
        return;
    }
    for at in first..end {
        let name = word(at);
        let called = tokens.get(at + 1).is_some_and(|token| token.kind == TokenKind::Mark(b'('));
        let close = tokens.get(at + 1).and_then(|token| token.mate).map(|mate| mate as usize);
        let qualified = at > 0 && tokens.get(at - 1).is_some_and(|token| token.kind == TokenKind::Mark(b'.'));
        if name.is_empty() || qualified {
            continue;
        }
        let args = usize::from(close.is_none_or(|close| close > at + 2));
        let class = if called {
            functions::class(script.dialect, &name, args)
        } else {
            functions::bare(script.dialect, &name)
        };
        let id = match class {
            Some(Class::Clock) => "OM101",
            Some(Class::Random) => "OM105",
            _ if name == "tablesample" => "OM107",
            _ => continue,
        };
        let (Some(rule), Some(start)) = (rules::rule(id), tokens.get(at)) else { continue };
        if config.is_off(id) {
            continue;
        }
        let span = close
            .filter(|_| called)
            .and_then(|close| tokens.get(close))
            .map_or(start.span, |close| start.span.to(close.span));
        let mut finding = finding(script, rule.id, rule.name(), Severity::Warning, span);
        finding.message =
            format!("`{}` stands in a statement that could not be parsed", span.of(&script.text));
        finding.lacked = Some("the role of the value: the statement was read word by word".to_string());
        found.push(finding);
    }
}
