//! OM504: a hook of a dbt model writes rows.
use super::prelude::*;
use crate::dbt::{Template, World, Worlds};
use crate::script;

pub(super) const RULE: Rule = Rule { id: "OM504", page: include_str!("../../rules/OM504.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let Some(template) = file.script.template.as_deref() else { return };
    let hooks = template.config.pre_hook.iter().chain(&template.config.post_hook);
    if template.worlds == Worlds::One(World::FullRefresh) {
        return;
    }
    for hook in hooks {
        let parsed = script::read("", &hook.sql, file.script.dialect);
        for statement in &parsed.statements {
            let Some(write) = statement.writes.first().filter(|write| adds(file, template, write)) else {
                continue;
            };
            let draft = Draft::new(
                Severity::Warning,
                place(file, template, &hook.sql, statement.span),
                format!("a hook writes to `{}` each time the model is built", written(&write.target)),
            )
            .rerun(
                "the run of 2024-03-01 fails after the hook and is tried again: what the hook writes is \
                there twice",
            )
            .help("key it by the invocation and merge, or write it into the model itself");
            out.report(draft.in_template());
        }
    }
}

fn written(target: &Name) -> String {
    if target.parts.iter().any(|part| part.contains("{{")) { "a table".to_string() } else { target.text() }
}

/// An INSERT that nothing makes good, or an UPDATE that goes on from the old value.
fn adds(file: &File<'_>, template: &Template, write: &Write) -> bool {
    let own = write.target.text().replace(' ', "").contains("{{this}}");
    let rebuilt = file.writes().any(|write| write.verb == Verb::Model(ModelWrite::Full));
    match write.verb {
        Verb::Insert => {
            write.conflict.is_none()
                && !(own && rebuilt && !template.config.materialized.contains("incremental"))
        }
        Verb::Update => write.sets.iter().any(|set| {
            set.compound
                || matches!(set.value.kind, ExprKind::Op(Op::Add | Op::Sub | Op::Mul | Op::Concat, _))
                    && set.value.any(&mut |part| part.column().is_some_and(|(_, name)| name == set.column))
        }),
        _ => false,
    }
}

/// Where a statement of a hook stands in the template: in the text that holds it, else at the argument or
/// the model's
/// first word.
fn place(file: &File<'_>, template: &Template, sql: &str, statement: Span) -> Span {
    let argument = template.arguments.iter().rev().filter(|argument| argument.name.contains("_hook"));
    let text =
        argument.clone().flat_map(|argument| &argument.texts).find(|text| text.of(&template.text) == sql);
    if let Some(text) = text {
        return Span { start: text.start + statement.start, end: text.start + statement.end };
    }
    let called = argument
        .clone()
        .find(|argument| argument.span.of(&template.text).contains(sql))
        .or(argument.clone().next());
    called.map_or_else(|| super::shared::first_word(file, template), |argument| argument.span)
}
