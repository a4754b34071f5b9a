//! OM506: a merge looks at fewer rows of the target than the query gives.
use super::prelude::*;
use super::shared::{is_clock, said, steady};
use crate::dbt::Template;
use crate::lex::{TokenKind, lex};
use crate::script;

pub(super) const RULE: Rule = Rule { id: "OM506", page: include_str!("../../rules/OM506.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let Some(template) = steady(file) else { return };
    if template.config.incremental_predicates.is_empty() {
        return;
    }
    for write in file.writes() {
        if !matches!(write.verb, Verb::Model(ModelWrite::Keyed | ModelWrite::DeleteInsert)) {
            continue;
        }
        if template.config.incremental_predicates.iter().any(|predicate| is_narrower(file, &write, predicate))
        {
            out.report(said(template, &["incremental_predicates", "predicates"], draft(&write, template)));
        }
    }
}

fn draft(write: &WriteFact<'_, '_>, template: &Template) -> Draft {
    let target = write.target.last();
    let key = template.config.unique_key.join(", ");
    Draft::new(
        Severity::Error,
        write.head,
        format!("the merge looks at fewer rows of `{target}` than the query can give a new version of"),
    )
    .rerun(format!(
        "a row of before the predicate's window is corrected: the merge does not see the stored \
        one, and `{key}` is there twice"
    ))
    .help("take the predicate's window as wide as the query's, and by the same bounds")
}

/// Whether a condition on the target leaves out rows that the query gives.
fn is_narrower(file: &File<'_>, write: &WriteFact<'_, '_>, predicate: &str) -> bool {
    let text = format!("select 1 from dbt_internal_dest where {predicate}");
    let parsed = script::read_with("", &text, file.script.dialect, &variables(&text, file.script.dialect));
    let (Some(source), Some(statement)) = (write.source, parsed.statements.first()) else { return false };
    let Action::Select(query) = &statement.action else { return false };
    let Body::Select(select) = &statement.query(*query).body else { return false };
    select.filters.iter().any(|condition| {
        lower_edge(condition).is_some_and(|(column, low)| !is_within(write, source, &column, low))
    })
}

/// Texts of a predicate that a variable has filled: those that are no date and no unit of time.
fn variables(text: &str, dialect: crate::Dialect) -> Vec<Span> {
    let lexed = lex(text, dialect);
    let mark =
        |at: usize, mark: u8| lexed.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Mark(mark));
    let filled = lexed.tokens.iter().enumerate().filter(|(at, token)| {
        let unit = *at > 0 && mark(at - 1, b'(') && mark(at + 1, b',');
        let plain = token.span.of(text).trim_matches('\'');
        token.kind == TokenKind::Text && !unit && date_seconds(plain).is_none()
    });
    filled.map(|(_, token)| token.span).collect()
}

/// `column > value` or `column >= value`, other than one column against another.
fn lower_edge(condition: &Expr) -> Option<(String, &Expr)> {
    let (column, low) = match &condition.kind {
        ExprKind::Op(Op::Gt | Op::GtEq, sides) => (sides.first()?, sides.get(1)?),
        ExprKind::Op(Op::Lt | Op::LtEq, sides) => (sides.get(1)?, sides.first()?),
        ExprKind::Between { expr, low, .. } => (&**expr, &**low),
        _ => return None,
    };
    let (qualifier, name) = column_within(column)?.column()?;
    let of_source = qualifier.is_some_and(|qualifier| qualifier.contains("source"));
    // `day` of `dateadd(day, -3, d)` reads like a column.
    let mut units: Vec<&Expr> = Vec::new();
    let mut fixed = true;
    low.walk(&mut |part| {
        if let ExprKind::Call(call) = &part.kind
            && let [unit, _, _] = call.args.as_slice()
        {
            units.push(unit);
        }
        let unit = units.iter().any(|unit| std::ptr::eq(*unit, part));
        fixed &= (unit || part.column().is_none()) && !matches!(part.kind, ExprKind::Subquery { .. });
    });
    (!of_source && fixed).then(|| (name.to_string(), low))
}

/// Whether the query's own lower edge on the column is no earlier than the predicate's.
fn is_within(write: &WriteFact<'_, '_>, source: QueryId, column: &str, low: &Expr) -> bool {
    let dialect = write.context.script.dialect;
    let outer = moment(low, dialect);
    let selects = write.view.reachable(source).into_iter().filter_map(|id| write.view.select(id));
    let mut edges = selects.flat_map(|select| &select.filters).filter_map(edge);
    edges.any(|(name, low)| {
        is_same_column(write, source, &name, column)
            && match (moment(low, dialect), &outer) {
                (Moment::At(inner), Moment::At(outer)) => {
                    inner.base == outer.base && inner.offset >= outer.offset
                }
                (Moment::Clock, Moment::At(_)) | (Moment::At(_), Moment::Clock) => false,
                // What can't be compared is not spoken of.
                _ => true,
            }
    })
}

/// Any lower edge, an equality among them.
fn edge(condition: &Expr) -> Option<(String, &Expr)> {
    if let ExprKind::Op(Op::Eq, sides) = &condition.kind {
        let name = column_within(sides.first()?)?.column()?.1.to_string();
        return Some((name, sides.get(1)?));
    }
    lower_edge(condition)
}

/// Whether a column of the source fills the target's column, by name or as what it is computed from.
fn is_same_column(write: &WriteFact<'_, '_>, source: QueryId, name: &str, column: &str) -> bool {
    let named = |output: &Output<'_>| {
        output.name == column
            && matches!(&output.value, OutputValue::Expr(expr) if expr.any(&mut |part| part.column().is_some_and(|(_, own)| own == name)))
    };
    // The branches of a UNION each name it.
    name == column
        || write.view.reachable(source).into_iter().any(|id| write.view.outputs(id).list.iter().any(named))
}

/// An edge in time.
enum Moment {
    /// Relative to a variable, or a date.
    At(Instant),
    /// Relative to the clock.
    Clock,
    /// Something else.
    Other,
}

fn moment(expr: &Expr, dialect: crate::Dialect) -> Moment {
    if expr.any(&mut |part| is_clock(part, dialect)) {
        return Moment::Clock;
    }
    instant(expr).map_or(Moment::Other, Moment::At)
}
