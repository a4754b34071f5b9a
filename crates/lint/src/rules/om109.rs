//! OM109: an instant becomes a day by the time zone of the session.
use std::collections::HashSet;

use super::prelude::*;
use super::shared::severity;
use super::uses::each_expr;
use crate::dialect::Dialect;

pub(super) const RULE: Rule = Rule { id: "OM109", page: include_str!("../../rules/OM109.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    // BigQuery's days are those of UTC, SQL Server's types hold no zone or their own.
    if matches!(file.script.dialect, Dialect::BigQuery | Dialect::TSql) || sets_zone(file) {
        return;
    }
    for (_, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Warning) else { continue };
        let mut found: Vec<(Span, Type)> = Vec::new();
        let mut seen = HashSet::new();
        each_expr(view, &mut |id, expr| {
            expr.walk(&mut |part| {
                if let Some(kind) = converted(view, id, part)
                    && seen.insert(part.span)
                {
                    found.push((part.span, kind));
                }
            });
        });
        for (span, kind) in found {
            let draft = Draft::new(
                level,
                span,
                "an instant is turned into a day or a text by the session's \
                time zone",
            )
            .rerun(
                "a session in another zone puts what happened around midnight into another day, and \
                    so into another slice",
            )
            .help("name the zone, such as AT TIME ZONE 'UTC'");
            out.report(if kind == Type::Unknown { draft.lacked("the column's type") } else { draft });
        }
    }
}

/// What a column is known to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Instant,
    Unknown,
}

/// The script says in which zone it runs; OM108 has a word about that.
fn sets_zone(file: &File<'_>) -> bool {
    file.statements().any(|(_, statement, _)| matches!(&statement.action, Action::Session { name, .. } if matches!(name.rsplit('.').next().unwrap_or(name), "timezone" | "time_zone" | "time")))
}

fn converted<'a>(view: &View<'a>, id: QueryId, expr: &'a Expr) -> Option<Type> {
    let of = match &expr.kind {
        ExprKind::Cast { expr: inner, to } if to == "date" => inner.as_ref(),
        ExprKind::Call(call) if call.over.is_none() => match (call.name.as_str(), call.args.as_slice()) {
            // Read and written in the same zone, a text stays what it is.
            ("from_unixtime", [Expr { kind: ExprKind::Call(inner), .. }, ..])
                if matches!(inner.name.as_str(), "unix_timestamp" | "to_unix_timestamp")
                    && !inner.args.is_empty() =>
            {
                return None;
            }
            ("from_unixtime", [_, ..]) if matches!(view.dialect, Dialect::Spark | Dialect::MySql) => {
                return Some(Type::Instant);
            }
            ("date", [of]) => of,
            ("date_trunc", [_, of]) | ("to_char" | "to_date" | "date_format" | "strftime", [of, _]) => of,
            (
                "todate" | "tostartofday" | "tostartofweek" | "tostartofmonth" | "tostartofhour" | "tomonday"
                | "toyyyymm" | "toyyyymmdd" | "toyear" | "tomonth" | "todayofmonth" | "tohour"
                | "todayofweek",
                [of],
            ) if view.dialect == Dialect::ClickHouse => of,
            _ => return None,
        },
        _ => return None,
    };
    of.column()?;
    match view.origin(id, of) {
        Origin::Base { table, column } => {
            let known = view
                .knowledge
                .table(table)
                .and_then(|facts| facts.column(&column))
                .map(|column| column.data_type.as_str())
                .filter(|name| !name.is_empty());
            match known {
                Some(name) => is_instant(view.dialect, name).then_some(Type::Instant),
                None => names_a_time(&column).then_some(Type::Unknown),
            }
        }
        _ => None,
    }
}

fn is_instant(dialect: Dialect, name: &str) -> bool {
    match dialect {
        Dialect::Snowflake => name.starts_with("timestamp_ltz") || name.contains("local time zone"),
        Dialect::Spark => name == "timestamp" || name == "timestamp_ltz",
        Dialect::ClickHouse => name.starts_with("datetime") && !name.contains(['\'', '_']),
        Dialect::MySql | Dialect::BigQuery | Dialect::TSql | Dialect::Trino => false,
        Dialect::Oracle => name.contains("local time zone"),
        Dialect::Postgres | Dialect::Redshift | Dialect::DuckDb | Dialect::Ansi => {
            name.starts_with("timestamptz") || name.contains("with time zone")
        }
    }
}

/// Of a column of unknown type the name must speak of an instant.
fn names_a_time(name: &str) -> bool {
    ["_at", "_ts", "_time", "timestamp", "_tstamp", "_datetime", "_utc"].iter().any(|end| name.ends_with(end))
        || name == "ts"
}
