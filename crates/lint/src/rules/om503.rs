//! OM503: an incremental dbt model takes all columns, and new ones are ignored.
use super::prelude::*;
use super::shared::steady;

pub(super) const RULE: Rule = Rule { id: "OM503", page: include_str!("../../rules/OM503.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let Some(template) = steady(file) else { return };
    let config = &template.config;
    let ignores = config.on_schema_change.as_deref().is_none_or(|word| word == "ignore");
    if !config.materialized.contains("incremental") || !ignores || config.contract {
        return;
    }
    for write in file.writes().filter(|write| matches!(write.verb, Verb::Model(_))) {
        let Some(star) = write.source.and_then(|source| open_star(write.view, source, 0)) else { continue };
        let target = write.target.last();
        let draft = Draft::new(
            Severity::Warning,
            star,
            format!("all columns of the source are taken, and a new one never gets into `{target}`"),
        )
        .rerun(
            "a column is added to the source on 1 March; a full refresh in June adds it to all slices at \
            once, and old figures change",
        )
        .help("list the columns, or say `on_schema_change='fail'` or `'append_new_columns'`");
        out.report(match template.argument(&["on_schema_change"]) {
            Some(argument) => Draft { span: argument.span, ..draft }.in_template(),
            None => draft,
        });
    }
}

/// `select *` over a table whose columns are not known, which a query passes on.
fn open_star(view: &View<'_>, query: QueryId, depth: usize) -> Option<Span> {
    if depth > 20 || !view.outputs(query).open {
        return None;
    }
    if let Body::Set { left, right, .. } = &view.query(query).body {
        return open_star(view, *left, depth + 1).or_else(|| open_star(view, *right, depth + 1));
    }
    let select = view.select(query)?;
    select.items.iter().find_map(|item| {
        let Item::Star { span, qualifier, .. } = item else { return None };
        let starred =
            select.from.iter().filter(|from| qualifier.as_ref().is_none_or(|name| *name == from.alias));
        starred.clone().find_map(|from| match &from.relation {
            Relation::Query(inner) => open_star(view, *inner, depth + 1),
            Relation::Table(_) if view.relation_columns(from).is_none() => Some(select_star(select, *span)),
            _ => None,
        })
    })
}

/// `select *`, or the star alone where other columns stand before it.
fn select_star(select: &Select, star: Span) -> Span {
    let first = matches!(select.items.first(), Some(Item::Star { span, .. }) if *span == star);
    if first && select.span.is_somewhere() && select.span.start < star.start {
        Span { start: select.span.start, end: star.end }
    } else {
        star
    }
}
