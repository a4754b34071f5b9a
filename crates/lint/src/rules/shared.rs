//! What several rules need.

use super::prelude::*;
use crate::dbt::{Template, World, Worlds};

/// Whether the rows of a statement are stored, or judged as if they were.
pub(super) fn is_stored(file: &File<'_>, statement: &Statement) -> bool {
    !statement.writes.is_empty() || file.is_single_query()
}

/// Whether the only thing a statement does is to define a view.
pub(super) fn is_view(statement: &Statement) -> bool {
    !statement.writes.is_empty()
        && statement.writes.iter().all(|write| {
            matches!(write.verb, Verb::View { materialized: false } | Verb::Model(ModelWrite::View))
        })
}

/// How many statements that were not understood are searched for a name.
pub(super) const NEAR: usize = 100;

/// Whether a query of a statement makes a table.
pub(super) fn creates(statement: &Statement, name: &Name) -> bool {
    statement.writes.iter().any(|write| matches!(write.verb, Verb::CreateAs(_)) && write.target.same(name))
}

/// Whether a statement makes a table; of one that was not understood its words tell.
pub(super) fn makes(file: &File<'_>, statement: &Statement, name: &Name) -> bool {
    match &statement.action {
        Action::Define(table) => table.name.same(name),
        Action::Utility | Action::Call | Action::Unread(_) => {
            let text = statement.span.of(&file.script.text).to_ascii_lowercase();
            text.starts_with("create") && text.contains(name.last())
        }
        _ => creates(statement, name),
    }
}

/// The severity that a fault in a statement's rows has: one step down where they are not stored.
pub(super) fn severity(file: &File<'_>, statement: &Statement, stored: Severity) -> Option<Severity> {
    if is_view(statement) {
        return Some(stored.lower());
    }
    is_stored(file, statement).then_some(stored)
}

/// Whether all that an occurrence touches is a log of runs.
pub(super) fn is_log(file: &File<'_>, at: usize, occurrence: &Occurrence<'_>) -> bool {
    let context = file.context(at);
    let statement = &file.script.statements[at];
    match occurrence.write.and_then(|write| statement.writes.get(write)) {
        Some(write) => context.is_log(&write.target),
        None => {
            !statement.writes.is_empty() && statement.writes.iter().all(|write| context.is_log(&write.target))
        }
    }
}

/// How an occurrence is named in a message.
pub(super) fn spelled(file: &File<'_>, occurrence: &Occurrence<'_>) -> String {
    let text: String = occurrence.span.of(&file.script.text).split_whitespace().collect::<Vec<_>>().join(" ");
    format!("`{text}`")
}

/// Whether a name looks like that of an identity.
pub(super) fn looks_unique(name: &str) -> bool {
    const WHOLE: &[&str] = &[
        "no",
        "number",
        "nr",
        "num",
        "key",
        "pos",
        "position",
        "ordinal",
        "idx",
        "index",
        "id",
        "uuid",
        "guid",
        "offset",
        "seq",
        "lsn",
        "rowid",
        "ctid",
        "_id",
        "pk",
        "sk",
        "scn",
        "sequence_number",
        "version",
        "row_no",
        "rn",
        "line_no",
        "line_number",
        "_line_number",
        "line_num",
        "hash",
        "_row_id",
    ];
    const ENDS: &[&str] = &[
        "_id",
        "_uuid",
        "_guid",
        "_seq",
        "_offset",
        "_lsn",
        "_pk",
        "_sk",
        "_no",
        "_number",
        "_nr",
        "_hash",
        "_key",
        "_scn",
        "_version",
        "_sequence",
        "_rowid",
        "_num",
        "_row",
        "_pos",
        "_position",
        "_ordinal",
        "_idx",
        "_index",
        "id",
        // Written in one word in some dialects: `ChangeSeq`.
        "seq",
        "seqno",
        "lineno",
        "linenumber",
        "rownumber",
    ];
    WHOLE.contains(&name) || ENDS.iter().any(|end| name.len() > end.len() && name.ends_with(end))
}

/// Whether a name is that of a number given out one by one: it tells rows apart without help.
fn is_sequence(name: &str) -> bool {
    ["seq", "lsn", "scn", "offset", "sequence", "seqno"]
        .iter()
        .any(|end| name.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('_')))
        || ["sequence_number", "sequence_no", "seq_no", "seq_num"].iter().any(|end| name.ends_with(end))
}

/// The window functions whose result depends on which of two tied rows comes first.
pub(super) fn order_matters(call: &Call) -> bool {
    let Some(over) = &call.over else { return false };
    match call.name.as_str() {
        "row_number" | "lag" | "lead" | "first_value" | "last_value" | "nth_value" | "ntile" | "first"
        | "last" | "laginframe" | "leadinframe" => true,
        "rank" | "dense_rank" | "percent_rank" | "cume_dist" => false,
        _ => over.frame.is_some_and(|frame| frame.rows && !frame.whole) && !over.order.is_empty(),
    }
}

/// Whether an ORDER BY orders nothing: it is empty, or constant.
pub(super) fn orders_nothing(order: &[Sort]) -> bool {
    order.iter().all(|sort| {
        matches!(sort.expr.kind, ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Subquery { .. })
    })
}

/// Whether the order of a window orders nothing: it is empty, constant, or by what the partition is made of.
pub(super) fn window_orders_nothing<'a>(view: &View<'a>, query: QueryId, over: &'a Window) -> bool {
    over.order.iter().all(|sort| {
        orders_nothing(std::slice::from_ref(sort))
            || over.partition.iter().any(|by| view.same(query, by, &sort.expr))
    })
}

/// Names of columns that bound the time for which a row is valid.
pub(super) fn is_validity(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "validfrom",
        "validto",
        "validuntil",
        "effectivefrom",
        "effectiveto",
        "effectivedate",
        "expirydate",
        "expirationdate",
        "rowstart",
        "rowend",
        "startdate",
        "enddate",
        "effstart",
        "effend",
        "efffrom",
        "effto",
        "iscurrent",
        "currentflag",
        "validstart",
        "validend",
        "dbtvalidfrom",
        "dbtvalidto",
        "rowvalidfrom",
        "rowvalidto",
        "begindate",
        "recordstart",
        "recordend",
        "effectivestart",
        "effectiveend",
        "expiredat",
        "effectivestartdate",
        "effectiveenddate",
        "startts",
        "endts",
        "versionstart",
        "versionend",
    ];
    let bare = name.replace('_', "");
    NAMES.contains(&bare.as_str())
}

/// Whether a write keeps versions of rows, each valid from some time on: OM316 speaks of it.
pub(super) fn is_history(write: &WriteFact<'_, '_>) -> bool {
    let from = [
        "validfrom",
        "effectivefrom",
        "rowstart",
        "effstart",
        "efffrom",
        "dbtvalidfrom",
        "validstart",
        "effectivestart",
        "effectivestartdate",
        "effectivedate",
        "versionstart",
        "rowvalidfrom",
    ];
    let starts = |name: &String| from.contains(&name.replace('_', "").as_str());
    let outputs = write.source.map(|source| write.view.outputs(source));
    let inserted = write.branches.iter().any(
        |branch| matches!(&branch.action, BranchAction::Insert(columns, _) if columns.iter().any(starts)),
    );
    write.columns.iter().any(starts)
        || inserted
        || outputs.is_some_and(|outputs| outputs.list.iter().any(|output| starts(&output.name)))
}

/// Each window function of a statement in which order matters, once: query, expression, call.
pub(super) fn windows<'a>(view: &View<'a>) -> Vec<(QueryId, &'a Expr, &'a Call)> {
    let mut found: Vec<(QueryId, &'a Expr, &'a Call)> = Vec::new();
    for (id, _) in view.queries() {
        view.each_expr(id, &mut |expr| {
            expr.walk(&mut |part| {
                if let ExprKind::Call(call) = &part.kind
                    && call.over.is_some()
                    && order_matters(call)
                    && !found.iter().any(|(_, known, _)| known.span == part.span)
                {
                    found.push((id, part, call));
                }
            });
        });
    }
    found
}

/// Whether the outputs of a query other than those made of `window` follow from `known`: then ties are alike.
pub(super) fn ties_are_alike<'a>(
    view: &View<'a>,
    query: QueryId,
    window: &'a Expr,
    known: &[&'a Expr],
) -> bool {
    let ExprKind::Call(call) = &window.kind else { return false };
    let numbers = matches!(call.name.as_str(), "row_number" | "ntile");
    if !numbers && !call.args.iter().all(|arg| view.depends_only_on(query, arg, known)) {
        return false;
    }
    let outputs = view.outputs(query);
    if outputs.open {
        return false;
    }
    let used = view.used_outputs(query);
    outputs.list.iter().all(|output| {
        if !used.as_ref().is_none_or(|used| used.contains(&output.name)) {
            return true;
        }
        match &output.value {
            OutputValue::Expr(expr) => {
                std::ptr::eq(*expr, window)
                    || expr.any(&mut |part| std::ptr::eq(part, window))
                    || view.depends_only_on(query, expr, known)
            }
            _ => false,
        }
    })
}

/// What the answer to "is this order total?" means for a finding: nothing, or a fault with what was lacking.
pub(super) enum Tie {
    /// Total, or the ties don't matter.
    None,
    /// A key is known, and the order doesn't hold it.
    Known,
    /// No key is known.
    Unknown(String),
    /// No key is known, but the last column looks like one.
    Presumed(String),
}

/// Judges an order of rows of a query. `order` are all columns that are fixed: partition first, then order.
pub(super) fn tie<'a>(view: &View<'a>, query: QueryId, partition: &[&'a Expr], order: &[&'a Expr]) -> Tie {
    let all: Vec<&Expr> = partition.iter().chain(order).copied().collect();
    judge_tie(view, query, order, view.determines(query, &all))
}

/// Judges an order within an aggregate: rows of FROM, before they are grouped.
pub(super) fn tie_within<'a>(view: &View<'a>, query: QueryId, group: &[&'a Expr], order: &[&'a Expr]) -> Tie {
    let all: Vec<&Expr> = group.iter().chain(order).copied().collect();
    judge_tie(view, query, order, view.determines_input(query, &all))
}

/// `GROUP BY p.id, p.first_name … ORDER BY n DESC, p.id`: the names go with the id, though nothing says so.
fn grouped_by_own_id(view: &View<'_>, query: QueryId, order: &[&Expr]) -> bool {
    let Some(select) = view.select(query) else { return false };
    order.iter().any(|expr| {
        let Some((Some(table), name)) = expr.column() else { return false };
        (name == "id" || is_own_key(view, query, expr))
            && matches!(&select.group, Group::By(list)
            if list.iter().all(|by| by.column().is_some_and(|(other, _)| other == Some(table))))
    })
}

fn judge_tie<'a>(view: &View<'a>, query: QueryId, order: &[&'a Expr], answer: Answer) -> Tie {
    match answer {
        Answer::Yes => Tie::None,
        Answer::No if grouped_by_own_id(view, query, order) => {
            Tie::Presumed("whether the `id` in the order alone tells the groups apart".to_string())
        }
        Answer::No => Tie::Known,
        Answer::Unknown(lacking) => {
            let presumed = order.iter().enumerate().any(|(at, expr)| {
                let Some((_, name)) = bare_column(expr) else { return false };
                looks_unique(name) && (at > 0 || is_own_key(view, query, expr)) || is_sequence(name)
            });
            if presumed { Tie::Presumed(lacking) } else { Tie::Unknown(lacking) }
        }
    }
}

/// Whether a column is called as a number of the rows of its own table: `order_id` of `orders`, `step_no` of `case_step`.
pub(super) fn is_own_key(view: &View<'_>, query: QueryId, expr: &Expr) -> bool {
    let Some((_, name)) = bare_column(expr) else { return false };
    let of = |table: &str, column: &str| {
        let singular = table.strip_suffix('s').unwrap_or(table);
        let words = [singular, singular.rsplit('_').next().unwrap_or(singular)];
        column == "id"
            || looks_unique(column)
                && words.iter().any(|word| {
                    let rest = column.strip_prefix(word).map(|rest| rest.trim_start_matches(['s', '_']));
                    word.len() > 2 && rest.is_some_and(|rest| rest.len() < 9 && looks_unique(rest))
                })
    };
    let direct = view.select(query).into_iter().flat_map(|select| &select.from);
    let direct = direct.filter_map(|from| match &from.relation {
        Relation::Table(name) => Some(name.last()),
        _ => None,
    });
    let origin = match column_within(expr).map(|column| view.follow(&view.source(query, column), 0)) {
        Some(Origin::Base { table, column }) => of(table.last(), &column),
        _ => false,
    };
    origin || direct.into_iter().any(|table| of(table, name))
}

fn bare_column(expr: &Expr) -> Option<(Option<&str>, &str)> {
    column_within(expr)?.column()
}

/// Whether chance decides nothing but how rows are spread over machines, of engines that repeat single
/// tasks: OM113
/// speaks of it, OM105 doesn't.
pub(super) fn spreads_by_chance(file: &File<'_>, occurrence: &Occurrence<'_>) -> bool {
    occurrence.class == Class::Random
        && !occurrence.roles.is_empty()
        && occurrence.roles.iter().all(|role| matches!(role, Role::Spread | Role::Join))
        && matches!(file.script.dialect, crate::dialect::Dialect::Spark | crate::dialect::Dialect::Trino)
}

/// The dbt template of a file, where its SQL is that of the steady world.
pub(super) fn steady<'a>(file: &File<'a>) -> Option<&'a Template> {
    file.script.template.as_deref().filter(|template| template.worlds != Worlds::One(World::FullRefresh))
}

/// A finding about a setting: at the argument of `config()` that makes it; where the setting is made
/// elsewhere, at the
/// draft's own place in the SQL.
pub(super) fn said(template: &Template, names: &[&str], draft: Draft) -> Draft {
    match template.argument(names) {
        Some(argument) => Draft { span: argument.span, ..draft }.in_template(),
        None => draft,
    }
}

/// The first word of a template's own SQL.
pub(super) fn first_word(file: &File<'_>, template: &Template) -> Span {
    let word = file.statements().next().map_or("", |(_, statement, _)| {
        statement.span.of(&file.script.text).split_whitespace().next().unwrap_or("")
    });
    let at = if word.is_empty() { None } else { template.text.find(word) };
    at.map_or(Span::new(0, 0), |at| Span::new(at, at + word.len()))
}

/// Whether an expression is itself a call of the clock.
pub(super) fn is_clock(expr: &Expr, dialect: crate::Dialect) -> bool {
    let ExprKind::Call(call) = &expr.kind else { return false };
    let class = if call.bare {
        crate::functions::bare(dialect, &call.name)
    } else {
        crate::functions::class(dialect, &call.name, call.args.len())
    };
    class == Some(Class::Clock)
}

/// The outputs of a query of which others, named in `of`, are a hash or a concatenation: they are told apart by it.
pub(super) fn parts_of_hashes(view: &View<'_>, source: QueryId, of: &[String]) -> Vec<String> {
    let outputs = view.outputs(source);
    let mut parts = Vec::new();
    for output in outputs.list.iter().filter(|output| of.contains(&output.name)) {
        let OutputValue::Expr(expr) = output.value else { continue };
        let made = match view.origin(source, expr) {
            Origin::Computed { expr, .. } if joins_values(expr) => expr,
            _ => continue,
        };
        made.walk(&mut |part| {
            let Some((_, name)) = part.column() else { return };
            let carries = |other: &&Output<'_>| {
                other.name == name
                    || matches!(other.value, OutputValue::Expr(value) if value.column().is_some_and(|(_, own)| own == name))
            };
            parts.extend(outputs.list.iter().filter(carries).map(|other| other.name.clone()));
        });
    }
    parts
}

/// Whether an expression is one value made of several, from which they can't be told to differ and be equal.
fn joins_values(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Cast { expr, .. } => joins_values(expr),
        ExprKind::Op(Op::Concat, _) => true,
        ExprKind::Call(call) => {
            is_hash(&call.name)
                || matches!(call.name.as_str(), "concat" | "concat_ws")
                || call.args.len() <= 2 && call.over.is_none() && call.args.first().is_some_and(joins_values)
        }
        _ => false,
    }
}

/// `WHERE FALSE`, `WHERE 1 = 0`, `LIMIT 0`: only the columns are taken.
pub(super) fn gives_nothing(statement: &Statement, source: QueryId) -> bool {
    let query = statement.query(source);
    let number =
        |expr: &Expr, value: &str| matches!(&expr.kind, ExprKind::Literal(Literal::Number(n)) if n == value);
    let none =
        query.limit.as_ref().and_then(|limit| limit.count.as_ref()).is_some_and(|count| number(count, "0"));
    let Body::Select(select) = &query.body else { return none };
    none || select.filters.iter().any(|filter| match &filter.kind {
        ExprKind::Literal(Literal::Bool(false)) => true,
        ExprKind::Op(Op::Eq, sides) => matches!(sides.as_slice(), [left, right] if number(left, "1") && number(right, "0") || number(left, "0") && number(right, "1") || number(left, "1") && number(right, "2")),
        _ => false,
    })
}

/// `WITH claim AS (INSERT INTO batches … ON CONFLICT DO NOTHING RETURNING id) INSERT INTO t SELECT … JOIN claim`: whether a
/// write's rows are joined with what a CTE of its statement was the first to put in. Gives the CTE's write.
pub(super) fn claim<'a>(write: &WriteFact<'_, 'a>) -> Option<&'a Write> {
    let source = write.source?;
    let select = write.view.select(source)?;
    let needs = |id: QueryId| {
        let joined = |from: &From| {
            matches!(from.join, Join::First | Join::Inner | Join::Semi)
                && matches!(from.relation, Relation::Query(inner) if inner == id)
        };
        let asked = |filter: &Expr| {
            matches!(&filter.kind, ExprKind::Subquery { query, ask: Ask::In | Ask::Exists, .. }
                if reads(write.view, *query, id))
        };
        // A later outer join may bring the rows in without it.
        let outer = select.from.iter().any(|from| matches!(from.join, Join::Right | Join::Full));
        !outer && (select.from.iter().any(joined) || select.filters.iter().any(asked))
    };
    write.statement.writes.iter().find(|other| {
        let skips =
            other.conflict.as_ref().is_some_and(|conflict| conflict.action == ConflictAction::Nothing);
        skips && other.cte.is_some_and(needs)
    })
}

fn reads(view: &View<'_>, query: QueryId, id: QueryId) -> bool {
    let named = |from: &From| matches!(from.relation, Relation::Query(inner) if inner == id);
    view.select(query).is_some_and(|select| select.from.iter().any(named))
}
