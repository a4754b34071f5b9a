//! OM407: a window that looks beyond the edge of the interval that is read.
use super::prelude::*;
use super::slices::{By, Part, Slice, edging, is_time_name, part, slice};

pub(super) const RULE: Rule = Rule { id: "OM407", page: include_str!("../../rules/OM407.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Some(source) = write.source else { continue };
        let replaced = slice(file, &write).or_else(|| keyed(&write, source));
        let Some(slice) = replaced.filter(|slice| slice.sure && slice.is_closed()) else {
            continue;
        };
        for id in written_queries(write.view, source) {
            let Some(select) = write.view.select(id) else { continue };
            let edges = edges(&write, &slice, id);
            if edges.is_empty() {
                continue;
            }
            for (expr, over) in windows(write.view, id) {
                if let Some(crossing) = crosses(&write, id, over, &edges) {
                    out.report(draft(expr.span, crossing));
                }
            }
            if let Some(span) = longer_groups(file, select) {
                out.report(
                    Draft::new(
                        Severity::Error,
                        span,
                        "rows are grouped into something longer than the interval",
                    )
                    .rerun(
                        "each day of a week writes the week's row from its own day alone: the last one wins",
                    )
                    .help("make the interval as long as the group, or read the whole week"),
                );
            }
        }
    }
}

fn draft(span: Span, crossing: Crossing) -> Draft {
    let draft = Draft::new(
        Severity::Error,
        span,
        "the window looks at neighbouring rows, and only those of the interval are there",
    )
    .rerun(
        "day by day the first row of each slice has no predecessor; in one run of the whole month it has \
            one: another result",
    )
    .help("read some days more at the edge, compute the window, then cut to the interval in an outer query");
    match crossing {
        Crossing::InTime => draft,
        Crossing::ByNumber(number) => {
            draft.lacked(format!("whether `{number}` begins anew with each interval"))
        }
    }
}

/// Why rows before the slice would be looked at.
enum Crossing {
    /// Rows are ordered in time.
    InTime,
    /// By a number that counts on, of something that is there longer than an interval.
    ByNumber(String),
}

/// The interval whose rows a keyed write brings: of several ranges of one column the narrowest.
fn keyed(write: &WriteFact<'_, '_>, source: QueryId) -> Option<Slice> {
    if write.effect() != Effect::Keyed {
        return None;
    }
    let scopes = write.view.scopes(source);
    let [scope] = scopes.as_slice() else { return None };
    let timed = |range: &&Range<'_>| {
        range.has_param() && !range.exact && range.names.iter().any(|name| is_time_name(name))
    };
    let closed = |range: &&Range<'_>| range.low.is_some() && range.high.is_some();
    let whole = scope.ranges.iter().filter(timed).find(closed)?;
    let mut own = part(whole.names.join("."), whole);
    for low in scope.ranges.iter().filter(timed).filter_map(|range| edging(range.low.as_ref())) {
        let narrower =
            own.low.as_ref().is_some_and(|own| own.at.base == low.at.base && own.at.offset < low.at.offset);
        if narrower {
            own.low = Some(low);
        }
    }
    let parts = vec![own];
    Some(Slice { by: By::Predicate, parts, sure: scope.sure })
}

/// The queries whose rows are written, down to where they are read.
fn written_queries(view: &View<'_>, root: QueryId) -> Vec<QueryId> {
    let (mut found, mut stack) = (Vec::new(), vec![root]);
    while let Some(id) = stack.pop() {
        if found.contains(&id) {
            continue;
        }
        found.push(id);
        match &view.query(id).body {
            Body::Set { left, right, .. } => stack.extend([*right, *left]),
            Body::Select(select) => {
                stack.extend(select.from.iter().filter_map(|from| match &from.relation {
                    Relation::Query(inner) => Some(*inner),
                    _ => None,
                }))
            }
            _ => {}
        }
    }
    found
}

/// Ranges by which the rows that a query's windows see are cut at an edge of the slice.
fn edges<'a>(write: &WriteFact<'_, 'a>, slice: &Slice, id: QueryId) -> Vec<Range<'a>> {
    let mut cuts = Vec::new();
    for scope in write.view.scopes(id).iter() {
        if !scope.sure {
            return Vec::new();
        }
        for range in &scope.ranges {
            let bounds = slice.parts.iter().any(|part| is_edge(part, range));
            if range.has_param() && range.high.is_some() && bounds {
                cuts.push(range.clone());
            }
        }
    }
    cuts
}

/// Whether a range begins where the slice begins: nothing before it is read.
fn is_edge(part: &Part, range: &Range<'_>) -> bool {
    let Some((low, own)) = range.low.as_ref().zip(part.low.as_ref()) else { return false };
    instant(low.value).is_some_and(|at| at.base == own.at.base && at.offset >= own.at.offset)
}

/// The window functions of a query that look at rows before or after theirs.
fn windows<'a>(view: &View<'a>, id: QueryId) -> Vec<(&'a Expr, &'a Window)> {
    let mut found: Vec<(&Expr, &Window)> = Vec::new();
    view.each_expr(id, &mut |expr| {
        expr.walk(&mut |part| {
            let ExprKind::Call(call) = &part.kind else { return };
            let Some(over) = call.over.as_ref().filter(|over| !over.order.is_empty()) else { return };
            let looks = match call.name.as_str() {
                "lag" | "lead" | "first_value" | "last_value" | "nth_value" | "laginframe"
                | "leadinframe" => true,
                "sum" | "avg" | "count" | "min" | "max" | "stddev" | "stddev_samp" | "var_samp"
                | "variance" | "median" => over.frame.is_none_or(|frame| !frame.whole),
                _ => false,
            };
            if looks && !found.iter().any(|(known, _)| known.span == part.span) {
                found.push((part, over));
            }
        });
    });
    found
}

fn crosses<'a>(
    write: &WriteFact<'_, 'a>,
    id: QueryId,
    over: &'a Window,
    cuts: &[Range<'a>],
) -> Option<Crossing> {
    // A partition that holds the slice's column never leaves the slice.
    let holds = |expr: &Expr| {
        expr.any(&mut |part| {
            part.column().is_some_and(|(_, name)| {
                cuts.iter().any(|cut| cut.names.iter().any(|known| known == name))
                    || is_day_of(write, id, part, cuts)
            })
        })
    };
    if over.partition.iter().any(holds) {
        return None;
    }
    // Rows are ordered in time: by the slice's column, or by another time.
    let in_time = over.order.iter().any(|sort| {
        sort.expr.any(&mut |part| {
            part.column().is_some_and(|(_, name)| {
                is_time_name(name) || cuts.iter().any(|cut| cut.names.iter().any(|known| known == name))
            })
        })
    });
    if in_time {
        return Some(Crossing::InTime);
    }
    let (_, number) = over.order.first()?.expr.column()?;
    let columns: Vec<&str> = over.partition.iter().filter_map(|expr| Some(expr.column()?.1)).collect();
    let lasts = columns.len() == over.partition.len() && columns.iter().any(|name| outlives(name));
    (counts_on(number) && lasts && !columns.iter().any(|name| ends_with_the_day(name)))
        .then(|| Crossing::ByNumber(number.to_owned()))
}

/// Names of numbers that rows are given as they come: `read_seq`, `reading_no`.
fn counts_on(name: &str) -> bool {
    let within =
        |word: &str| matches!(word, "line" | "item" | "step" | "stop" | "page" | "pos" | "position" | "lap");
    let mut words = name.split('_');
    !name.split('_').any(within)
        && words
            .any(|word| matches!(word, "seq" | "sequence" | "no" | "number" | "nr" | "offset" | "counter"))
}

/// Names of keys of what is there for years: a window over it does not end with a day.
fn outlives(name: &str) -> bool {
    name.split('_').any(|word| {
        matches!(
            word,
            "meter"
                | "device"
                | "sensor"
                | "machine"
                | "account"
                | "customer"
                | "user"
                | "member"
                | "vehicle"
                | "card"
                | "wallet"
                | "station"
                | "well"
                | "patient"
                | "driver"
                | "player"
                | "product"
                | "sku"
                | "store"
                | "shop"
                | "loan"
                | "policy"
                | "tank"
                | "pump"
                | "turbine"
                | "asset"
                | "employee"
        )
    })
}

/// Names of keys of what begins and ends within a day: its numbers begin with it.
fn ends_with_the_day(name: &str) -> bool {
    name.split('_').any(|word| {
        matches!(
            word,
            "order"
                | "trip"
                | "session"
                | "visit"
                | "ride"
                | "game"
                | "match"
                | "call"
                | "flight"
                | "basket"
                | "shipment"
                | "journey"
                | "batch"
                | "document"
                | "invoice"
                | "shift"
                | "run"
                | "day"
                | "date"
        )
    })
}

/// A column that another query makes of the slice's column, such as its day.
fn is_day_of(write: &WriteFact<'_, '_>, id: QueryId, part: &Expr, cuts: &[Range<'_>]) -> bool {
    let ColumnSource::From { query, from, column } = write.view.source(id, part) else { return false };
    let Some(Relation::Query(inner)) =
        write.view.select(query).and_then(|select| select.from.get(from)).map(|from| &from.relation)
    else {
        return false;
    };
    match write.view.output_origin(*inner, &column, 0) {
        Origin::Computed { expr, .. } => expr.any(&mut |part| {
            part.column()
                .is_some_and(|(_, name)| cuts.iter().any(|cut| cut.names.iter().any(|known| known == name)))
        }),
        _ => false,
    }
}

/// GROUP BY a unit that is longer than the model's interval.
fn longer_groups(file: &File<'_>, select: &Select) -> Option<Span> {
    let interval = file.script.model.as_ref()?.interval.as_deref()?;
    let own = unit(interval)?;
    let Group::By(group) = &select.group else { return None };
    group.iter().find_map(|by| {
        let ExprKind::Call(call) = &by.kind else { return None };
        let name = call.name.as_str();
        let length = match name {
            "date_trunc" | "datetrunc" | "timestamp_trunc" | "datetime_trunc" | "trunc" | "time_bucket" => {
                call.args.iter().find_map(|arg| match &arg.kind {
                    ExprKind::Literal(Literal::Text(text) | Literal::Other(text)) => unit(text),
                    ExprKind::Column { name, qualifier: None } => unit(name),
                    _ => None,
                })?
            }
            "tostartofweek" | "tomonday" => unit("week")?,
            "tostartofmonth" => unit("month")?,
            "tostartofquarter" => unit("quarter")?,
            "tostartofyear" => unit("year")?,
            _ => return None,
        };
        (length > own).then_some(by.span)
    })
}

fn unit(text: &str) -> Option<u32> {
    Some(match text.trim().to_ascii_lowercase().trim_end_matches('s') {
        "minute" | "min" => 1,
        "hour" => 2,
        "day" => 3,
        "week" | "isoweek" => 4,
        "month" => 5,
        "quarter" => 6,
        "year" | "isoyear" => 7,
        _ => return None,
    })
}
