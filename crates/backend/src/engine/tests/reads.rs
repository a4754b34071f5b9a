//! Derived reads: rows outside a range and columns not listed never change the output.

use std::sync::Arc;

use arrow::array::{ArrayRef, Date32Array, Int64Array, RecordBatch, TimestampMicrosecondArray};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use jiff::civil::{Date, Time};
use oncemore_core::calendar::shift;
use oncemore_core::{
    Bound, Calendar, ColumnsRead, Edge, Instant, Interval, IntervalLength, Offset, Read, TimeType, Zone,
};

use super::support::*;
use crate::engine::exact::tests::Random;
use crate::engine::{Engine, ErrorKind, ModelQuery};

const TABLES: [(&str, TimeType); 3] =
    [("s.a", TimeType::Date), ("s.b", TimeType::Wall), ("s.c", TimeType::Instant)];
const DAY: i64 = 86_400_000_000;
/// 2013-02-10
const FIRST_DAY: i64 = 15_746;

fn schema(time_type: TimeType) -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("t", crate::engine::parameters::data_type(time_type), true),
        Field::new("d", DataType::Date32, true),
        Field::new("k", DataType::Int64, true),
        Field::new("v", DataType::Int64, true),
        Field::new("u", DataType::Int64, true),
    ]))
}

/// A row: time (days or µs), d, k, v, u.
type Row = (Option<i64>, i32, i64, i64, i64);

fn row(time_type: TimeType, random: &mut Random) -> Row {
    let day = FIRST_DAY + random.below(50) as i64;
    let time = match time_type {
        TimeType::Date => day,
        // Often on the edges of days and hours, where off-by-one lives.
        _ => {
            day * DAY
                + [0, 1, DAY - 1, 5 * 3_600_000_000, random.below(DAY as u64) as i64]
                    [random.below(5) as usize]
        }
    };
    let time = (random.below(12) > 0).then_some(time);
    (time, day as i32, random.below(5) as i64, random.below(9) as i64, random.below(9) as i64)
}

fn batch(time_type: TimeType, rows: &[Row]) -> RecordBatch {
    let times = rows.iter().map(|row| row.0);
    let time: ArrayRef = match time_type {
        TimeType::Date => Arc::new(times.map(|time| time.map(|time| time as i32)).collect::<Date32Array>()),
        TimeType::Wall => Arc::new(times.collect::<TimestampMicrosecondArray>()),
        TimeType::Instant => Arc::new(times.collect::<TimestampMicrosecondArray>().with_timezone("UTC")),
    };
    let days: Date32Array = rows.iter().map(|row| Some(row.1)).collect();
    let column =
        |value: fn(&Row) -> i64| Arc::new(rows.iter().map(value).collect::<Int64Array>()) as ArrayRef;
    let columns = vec![time, Arc::new(days), column(|r| r.2), column(|r| r.3), column(|r| r.4)];
    RecordBatch::try_new(schema(time_type), columns).unwrap()
}

/// Where a row of an input stands in time.
fn place(time_type: TimeType, time: i64, zone: &Zone) -> Instant {
    let epoch = Date::constant(1970, 1, 1).to_datetime(Time::midnight());
    match time_type {
        TimeType::Instant => Instant(time),
        TimeType::Wall => zone.instant(shift::wall_from_micros(time)),
        TimeType::Date => {
            zone.start_of_day(shift::wall(epoch, &[Offset { days: time as i32, ..Offset::default() }]).date())
        }
    }
}

fn pick<'a>(choices: &[&'a str], random: &mut Random) -> &'a str {
    choices[random.below(choices.len() as u64) as usize]
}

/// A condition on a table under `alias`.
fn condition(alias: &str, depth: u32, random: &mut Random) -> String {
    if depth > 0 && random.below(2) == 0 {
        let (left, right) = (condition(alias, depth - 1, random), condition(alias, depth - 1, random));
        let op = pick(&["AND", "AND", "OR"], random);
        return format!("({left} {op} {right})");
    }
    let edge = pick(&[":interval_start", ":interval_end"], random);
    let span = pick(&["1 day", "3 days", "1 month", "36 hours", "1 month 2 days"], random);
    let sign = pick(&["-", "+"], random);
    let op = pick(&["<", "<=", ">", ">=", "=", ">=", "<"], random);
    let kind = pick(&["DATE", "TIMESTAMP", "TIMESTAMPTZ"], random);
    let unit = pick(&["day", "week", "month", "hour"], random);
    let t = format!("{alias}.t");
    match random.below(16) {
        0..=3 => format!("{t} {op} {edge}"),
        4 => format!("{t} {op} {edge} {sign} INTERVAL '{span}'"),
        5 => format!("{t} BETWEEN :interval_start {sign} INTERVAL '{span}' AND :interval_end"),
        6 => format!("CAST({t} AS {kind}) {op} CAST({edge} AS {kind})"),
        7 => format!("{t} {op} CAST({edge} AS {kind})"),
        8 => format!("date_trunc('{unit}', {t}) {op} date_trunc('{unit}', CAST({edge} AS {kind}))"),
        9 => format!("{t} {op} {kind} '2013-03-0{} 00:00:00'", 1 + random.below(9))
            .replace("DATE '2013", "TIMESTAMP '2013"),
        10 => format!("{t} {sign} INTERVAL '2 days' {op} {edge}"),
        11 => format!("{t} IN (:interval_start, :interval_end)"),
        12 => format!("NOT ({t} {op} {edge})"),
        13 => format!("CASE WHEN {alias}.v > 4 THEN {t} {op} {edge} ELSE {t} > :interval_start END"),
        14 => pick(&["x.t IS NULL", "x.v > 3", "x.d = :interval_start", "x.t IS NOT NULL"], random)
            .replace('x', alias),
        _ => format!("{edge} {sign} INTERVAL '{span}' {op} {t}"),
    }
}

fn sql(random: &mut Random) -> String {
    let (one, two) = (TABLES[random.below(3) as usize].0, TABLES[random.below(3) as usize].0);
    let p = condition("x", 2, random);
    let q = condition("y", 2, random);
    let join = pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"], random);
    let on = pick(&["x.k = y.k", "x.t = y.t", "x.t = y.t AND x.k = y.k", "x.d = y.d", "x.k < y.k"], random);
    let negation = pick(&["", "NOT "], random);
    match random.below(16) {
        0 => format!("SELECT x.k, x.v FROM {one} x WHERE {p}"),
        1 => format!("SELECT x.k, count(*) AS n, sum(x.v) AS s FROM {one} x WHERE {p} GROUP BY x.k"),
        2 => format!("SELECT x.v, y.v AS w FROM {one} x {join} {two} y ON {on} WHERE {p}"),
        3 => format!("SELECT x.v, y.v AS w FROM {one} x {join} {two} y ON {on} AND {q} WHERE {p}"),
        4 => format!("SELECT x.v, y.v AS w FROM {one} x {join} {two} y ON {on} WHERE {p} AND {q}"),
        5 => format!(
            "SELECT x.v FROM {one} x WHERE {p} AND {negation}EXISTS (SELECT 1 FROM {two} y WHERE x.k = y.k AND {q})"
        ),
        6 => format!(
            "SELECT x.v FROM {one} x WHERE {p} AND x.k {negation}IN (SELECT y.v FROM {two} y WHERE {q})"
        ),
        7 => format!(
            "SELECT x.v, (SELECT max(y.v) FROM {two} y WHERE y.k = x.k AND {q}) AS m FROM {one} x WHERE {p}"
        ),
        8 => format!("SELECT x.k FROM {one} x WHERE {p} UNION ALL SELECT y.v FROM {two} y WHERE {q}"),
        9 => format!(
            "SELECT x.k FROM {one} x WHERE {p} {} SELECT y.k FROM {two} y WHERE {q}",
            pick(&["EXCEPT", "INTERSECT", "UNION"], random)
        ),
        10 => format!(
            "SELECT x.v, x.s FROM (SELECT *, sum(v) OVER (PARTITION BY k ORDER BY d) AS s FROM {one} x WHERE {p}) x WHERE {}",
            condition("x", 1, random)
        ),
        11 => {
            format!("SELECT x.v, x.s FROM (SELECT *, lag(v) OVER (ORDER BY t) AS s FROM {one}) x WHERE {p}")
        }
        12 => format!(
            "SELECT x.t, x.n FROM (SELECT t, d, max(v) AS v, count(*) AS n FROM {one} GROUP BY t, d) x WHERE {p}"
        ),
        13 => format!("SELECT x.v, x.k FROM (SELECT * FROM {one} ORDER BY t LIMIT 9) x WHERE {p}"),
        14 => format!(
            "WITH c AS (SELECT x.* FROM {one} x WHERE {p}) SELECT x.v, y.u FROM c x {join} c y ON {on} WHERE {q}"
        ),
        _ => format!(
            "SELECT count(*) AS n FROM {one} x WHERE {p} AND x.v > (SELECT avg(y.v) FROM {two} y WHERE {q})"
        ),
    }
}

fn output(engine: &Engine, query: &ModelQuery, interval: Interval, tables: &[Vec<Row>]) -> RecordBatch {
    let inputs = TABLES
        .iter()
        .zip(tables)
        .map(|((name, time_type), rows)| ((*name).to_owned(), table(&[batch(*time_type, rows)], 1)));
    let rows =
        run(engine, query, interval, inputs.collect()).unwrap_or_else(|e| panic!("{}: {e}", query.sql));
    concat_batches(&rows[0].schema(), &rows).unwrap()
}

/// Changes all that `read` says is not read.
fn disturbed(
    rows: &[Row],
    time_type: TimeType,
    read: &Read,
    at: (Interval, &Zone, &Zone),
    random: &mut Random,
) -> Vec<Row> {
    let (interval, zone, input_zone) = at;
    let everything = read.from.is_none() && read.to.is_none();
    let range = read.range(interval, zone, input_zone);
    let inside = |row: &Row| {
        everything
            || row
                .0
                .is_some_and(|t| range.is_some_and(|range| range.contains(place(time_type, t, input_zone))))
    };
    let reads = |name: &str| {
        read.columns.as_deref().is_none_or(|columns| columns.iter().any(|column| column == name))
    };
    let mut out: Vec<Row> = Vec::new();
    for row in rows {
        if inside(row) {
            let mut row = *row;
            if !reads("t") {
                row.0 = None;
            }
            if !reads("k") {
                row.2 = 77;
            }
            if !reads("v") {
                row.3 = 77;
            }
            if !reads("u") {
                row.4 = 77;
            }
            out.push(row);
        } else if random.below(3) == 0 {
            out.push(*row);
        }
    }
    out.extend((0..60).map(|_| row(time_type, random)).filter(|row| !inside(row)));
    out
}

#[test]
fn what_is_not_read_never_changes_the_output() {
    let mut random = Random(std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1));
    let rounds = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(400);
    let engine = engine(2, 64);
    let (mut bounded, mut ran) = (0, 0);
    for _ in 0..rounds {
        let zone = |random: &mut Random| {
            Zone::named(pick(&["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"], random))
                .unwrap()
        };
        let inputs =
            TABLES.iter().map(|(name, time_type)| input(name, &schema(*time_type), Some(("t", *time_type))));
        let mut query = query(&sql(&mut random), inputs.collect());
        query.zone = zone(&mut random);
        let input_zone = zone(&mut random);
        let analysis = match engine.analyse(&query) {
            Ok(analysis) => analysis,
            Err(error) if error.kind == ErrorKind::Internal => panic!("{}: {error}", query.sql),
            Err(_) => continue,
        };
        let calendar = Calendar::new(IntervalLength::Day, query.zone.clone());
        let interval = calendar.parse_range(&format!("2013-03-{:02}", 1 + random.below(20))).unwrap();
        let tables: Vec<Vec<Row>> = TABLES
            .iter()
            .map(|(_, time_type)| (0..50).map(|_| row(*time_type, &mut random)).collect())
            .collect();
        let before = output(&engine, &query, interval, &tables);
        for _ in 0..3 {
            let changed: Vec<Vec<Row>> = TABLES
                .iter()
                .zip(&tables)
                .map(|((name, time_type), rows)| {
                    let read = analysis.reads.iter().find(|read| read.input == *name).unwrap();
                    bounded += u32::from(read.from.is_some() || read.to.is_some());
                    disturbed(rows, *time_type, read, (interval, &query.zone, &input_zone), &mut random)
                })
                .collect();
            let after = output(&engine, &query, interval, &changed);
            assert_eq!(
                before, after,
                "{}\n{} {input_zone} {interval}\n{:#?}",
                query.sql, query.zone, analysis.reads
            );
        }
        ran += 1;
    }
    assert!(ran * 10 > rounds * 7, "{ran} of {rounds} queries were analysed");
    assert!(bounded > ran, "{bounded} ranges were bounded in {ran} queries");
}

fn reads(sql: &str) -> String {
    let inputs =
        TABLES.iter().map(|(name, time_type)| input(name, &schema(*time_type), Some(("t", *time_type))));
    let analysis =
        engine(1, 64).analyse(&query(sql, inputs.collect())).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let side = |bound: &Option<Bound>| {
        let Some(bound) = bound else { return "open".to_owned() };
        let edge = match bound.edge {
            Edge::Start => "start".to_owned(),
            Edge::End => "end".to_owned(),
            Edge::Const(value) => value.to_string(),
        };
        let moved = bound
            .offsets
            .iter()
            .map(|offset| format!("{:+}m{:+}d{:+}us", offset.months, offset.days, offset.micros));
        edge + &moved.collect::<String>()
    };
    let shown = analysis.reads.iter().map(|read| {
        let columns = match &read.columns {
            ColumnsRead::All => "*".to_owned(),
            ColumnsRead::Some(columns) => columns.join(","),
        };
        format!("{}({columns}) {}..{}", read.input, side(&read.from), side(&read.to))
    });
    shown.filter(|line| !line.contains("() 0..0")).collect::<Vec<_>>().join("; ")
}

#[test]
fn ranges_are_as_narrow_as_the_query_says() {
    let day = "x.t >= :interval_start AND x.t < :interval_end";
    let cases = [
        (format!("SELECT x.v FROM s.a x WHERE {day}"), "s.a(t,v) start..end"),
        (format!("SELECT count(*) AS n FROM s.b x WHERE {day}"), "s.b(t) start..end"),
        ("SELECT count(*) AS n FROM s.b x".to_owned(), "s.b() open..open"),
        (
            "SELECT x.v FROM s.a x WHERE x.t BETWEEN :interval_start - INTERVAL '7 days' AND :interval_end"
                .to_owned(),
            "s.a(t,v) start+0m-7d+0us..end+0m+1d+0us",
        ),
        (
            format!("SELECT x.v, y.u FROM s.a x JOIN s.a y ON x.t = y.t AND x.k = y.k WHERE {day}"),
            "s.a(k,t,u,v) start..end",
        ),
        (
            format!("SELECT x.v, y.u FROM s.b x LEFT JOIN s.a y ON x.d = y.d WHERE {day}"),
            "s.a(d,u) open..open; s.b(d,t,v) start..end",
        ),
        (
            format!("SELECT x.v, y.u FROM s.b x LEFT JOIN s.b y ON x.t = y.t WHERE {day}"),
            "s.b(t,u,v) start..end",
        ),
        (
            format!("SELECT x.v FROM s.c x WHERE {day} OR x.t = :interval_start - INTERVAL '1 month'"),
            "s.c(t,v) start-1m+0d+0us..end",
        ),
        (
            format!(
                "SELECT v FROM s.a x WHERE {day} UNION ALL SELECT v FROM s.a WHERE t >= :interval_start - INTERVAL '2 days' AND t < :interval_start"
            ),
            "s.a(t,v) start+0m-2d+0us..end",
        ),
        (
            "SELECT v FROM s.b x WHERE CAST(x.t AS DATE) = :interval_start".to_owned(),
            "s.b(t,v) start..start+0m+1d+0us",
        ),
        (
            "SELECT v FROM s.a x WHERE t >= DATE '1970-01-11' AND t <> DATE '2000-01-01'".to_owned(),
            "s.a(t,v) 10..open",
        ),
        (
            format!(
                "SELECT k, s FROM (SELECT x.*, sum(v) OVER (PARTITION BY k ORDER BY t) AS s FROM s.a x) x WHERE {day}"
            ),
            "s.a(k,t,v) open..open",
        ),
        (
            format!(
                "SELECT k, s FROM (SELECT x.*, sum(v) OVER (PARTITION BY t, k) AS s FROM s.a x) x WHERE {day}"
            ),
            "s.a(k,t,v) start..end",
        ),
        (
            format!("SELECT t, count(*) AS n FROM s.a GROUP BY t HAVING {}", day.replace("x.", "")),
            "s.a(t) start..end",
        ),
        (
            format!(
                "SELECT x.v FROM s.a x WHERE {day} AND EXISTS (SELECT 1 FROM s.a y WHERE y.t = x.t AND y.k = 1)"
            ),
            "s.a(k,t,v) start..end",
        ),
    ];
    for (sql, expected) in cases {
        assert_eq!(reads(&sql), expected, "{sql}");
    }
}
