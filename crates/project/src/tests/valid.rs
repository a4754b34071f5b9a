//! Projects without errors: what is read out of them.

use oncemore_core::{Audit, CompleteWhen, Format, IntervalLength, Missing};

use super::project;
use crate::{Kind, OnChange, OnForeign, Variable};

pub(super) const FLIGHTS: &str = r#"
//- oncemore.yml
name: flights
start: 2013-01-01
end: 2014-01-01
time_zone: America/New_York
warehouse: ./lake/
sources:
  raw.flights:
    path: data/flights/{interval:%Y-%m-%d}.csv.gz
    columns: {flight_date: DATE, arr_delay: INTEGER, "Tail Num": TEXT}
    time: flight_date
    key: [flight_date, flight]
    null: ["", NA]
    delimiter: "\t"
    complete_when: {watermark: 2 hours}
  raw.planes: {path: "data/planes*.parquet"}
  raw.events: {path: data/events.jsonl, time_zone: UTC, missing: empty, complete_when: {rows: 10}}
variables: {min_delay: 15, rate: 0.5, carrier: "1", on: true, day: 2013-01-01, minus: -3}
limits: {tasks: 500, lease: 5 minutes}
foreign: warn
defaults:
  silver: {kind: slice, interval: day, tags: [daily]}
  gold: {interval: month, foreign: adopt}
//- tests/x.yml
ignored: [
//- models/silver/flights.sql
-- a licence
/* oncemore
time: flight_date                       # which slice a row belongs to
key: [flight_date, flight]
delay: 2 hours
description: |
  Every flight.
audits:
  - not_null: [carrier]
  - range: {column: arr_delay, min: -100}
  - relationship: {columns: [tailnum], to: gold.planes}
  - accepted_values: {column: n, values: [1, two]}
  - sql: {name: none late, query: "SELECT * FROM silver.flights WHERE arr_delay > 1000"}
  - expression: arr_delay > -100 AND carrier <> ''
  - row_count: {min: 1}
inputs: {GOLD: {}}
*/

SELECT f.flight_date, f.flight, f.arr_delay, p.model AS plane_model
  FROM silver.late AS f
  LEFT JOIN Gold.Planes AS p ON p.tailnum = f."Tail Num" -- comment
 WHERE f.flight_date >= :interval_start AND f.flight_date < :interval_end
;
//- models/silver/late.sql
/*oncemore
kind: view */
SELECT * FROM silver.base WHERE arr_delay > :min_delay
//- models/silver/base.sql
/* oncemore
kind: view
*/
SELECT * FROM raw.flights
//- models/gold/planes.sql
/* oncemore
kind: full
*/
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3)
SELECT * FROM raw.planes, n, generate_series(1, 3) AS g, LATERAL (SELECT n.i) AS l
//- models/gold/month.sql
/* oncemore
kind: slice
time: month
time_zone: UTC
start: 2013-06-01
inputs: {gold.planes: {on_change: ignore}, silver.flights: {on_change: rerun}}
*/
SELECT date_trunc('month', flight_date) AS month, count(*) AS n
  FROM silver.flights LEFT JOIN gold.planes USING (tailnum) GROUP BY 1
"#;

fn flights() -> String {
    FLIGHTS.replace("inputs: {GOLD: {}}\n", "")
}

#[test]
fn settings() {
    let project = project(&flights());
    assert_eq!((project.name.as_str(), project.warehouse.as_str()), ("flights", "lake"));
    assert_eq!(project.start.as_deref(), Some("2013-01-01"));
    assert_eq!((project.limits.tasks, project.limits.lease_micros), (500, 300_000_000));
    // The project's, or that of the folder.
    let on_foreign = |name: &str| project.model(name).unwrap().on_foreign;
    assert_eq!(on_foreign("silver.flights"), OnForeign::Warn);
    assert_eq!((on_foreign("gold.planes"), on_foreign("gold.month")), (OnForeign::Adopt, OnForeign::Adopt));
    assert_eq!(project.variables["min_delay"], Variable::Integer(15));
    assert_eq!(project.variables["minus"], Variable::Integer(-3));
    assert_eq!(project.variables["rate"], Variable::Float(0.5));
    assert_eq!(project.variables["carrier"], Variable::Text("1".to_owned()));
    assert_eq!(project.variables["on"], Variable::Boolean(true));
    assert_eq!(project.variables["day"], Variable::Text("2013-01-01".to_owned()));
    assert!(project.texts.contains_key("models/gold/month.sql"));
}

#[test]
fn sources() {
    let project = project(&flights());
    let flights = &project.source("raw.flights").unwrap().spec;
    assert_eq!(flights.path_interval, Some(IntervalLength::Day));
    assert_eq!(flights.missing, Missing::Wait);
    assert_eq!(flights.complete_when, Some(CompleteWhen::Watermark(7_200_000_000)));
    assert_eq!(flights.time_zone, "America/New_York");
    let null = vec![String::new(), "NA".to_owned()];
    assert_eq!(flights.format, Format::Csv { header: true, delimiter: '\t', null });
    let planes = &project.source("raw.planes").unwrap().spec;
    assert_eq!((&planes.format, planes.missing), (&Format::Parquet, Missing::Error));
    let events = &project.source("raw.events").unwrap().spec;
    assert_eq!((&events.format, events.missing), (&Format::NdJson, Missing::Empty));
    assert_eq!((events.time_zone.as_str(), events.path_interval), ("UTC", None));
}

#[test]
fn models_in_order() {
    let project = project(&flights());
    let names: Vec<String> = project.models.iter().map(|model| model.name.to_string()).collect();
    assert_eq!(names, ["gold.planes", "silver.base", "silver.late", "silver.flights", "gold.month"]);
    let flights = project.model("silver.flights").unwrap();
    assert_eq!(flights.kind, Kind::Slice);
    assert_eq!(flights.inputs, ["gold.planes", "silver.late"]);
    assert_eq!(flights.tags, ["daily"]);
    assert_eq!(flights.delay_micros, 7_200_000_000);
    assert_eq!(flights.description.as_deref(), Some("Every flight.\n"));
    assert_eq!(flights.audits.len(), 7);
    let values = vec!["1".to_owned(), "two".to_owned()];
    assert_eq!(flights.audits[3], Audit::AcceptedValues { column: "n".to_owned(), values });
    let calendar = flights.calendar.as_ref().unwrap();
    assert_eq!((calendar.length, calendar.zone.name()), (IntervalLength::Day, "America/New_York"));
    assert!(flights.query.sql.starts_with("SELECT f.flight_date"));
    assert!(flights.query.sql.ends_with(":interval_end"));
    let text = &project.texts["models/silver/flights.sql"];
    assert!(text[flights.query.offset..].starts_with(&flights.query.sql));
    let month = project.model("gold.month").unwrap();
    assert_eq!(month.calendar.as_ref().unwrap().zone.name(), "UTC");
    assert_eq!(month.on_change.len(), 1);
    assert_eq!(month.on_change["gold.planes"], OnChange::Ignore);
    let planes = project.model("gold.planes").unwrap();
    assert_eq!((planes.kind, planes.calendar.is_none()), (Kind::Full, true));
    assert_eq!(project.model("silver.late").unwrap().kind, Kind::View);
}

#[test]
fn views_come_after_the_views_they_read() {
    let project = project(&flights());
    let views = project.expanded_views(project.model("silver.flights").unwrap());
    let names: Vec<String> = views.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["silver.base", "silver.late"]);
    assert_eq!(views[0].1, "SELECT * FROM raw.flights");
    assert!(project.expanded_views(project.model("gold.planes").unwrap()).is_empty());
}

#[test]
fn every_key_is_documented_once() {
    let page = crate::keys_markdown();
    for key in crate::keys::KEYS {
        assert!(page.contains(&format!("| `{}` |", key.name)), "{}", key.name);
        let same = crate::keys::of_scope(key.scope).filter(|other| other.name == key.name);
        assert_eq!(same.count(), 1, "{}.{}", key.scope, key.name);
    }
}

#[test]
fn nearest_names() {
    let known = ["interval", "time_zone", "key"];
    assert_eq!(crate::nearest("intervall", known), Some("interval"));
    assert_eq!(crate::nearest("TIME_ZONE", known), Some("time_zone"));
    assert_eq!(crate::nearest("banana", known), None);
}

#[test]
fn large_projects_load_fast() {
    let mut fixture = String::from("//- oncemore.yml\nname: big\nsources: {raw.a: {path: a.csv}}\n");
    for number in 0..1_000 {
        let input = if number == 0 { "raw.a".to_owned() } else { format!("s.m{}", number / 2) };
        let input = if number == 1 { "s.m0".to_owned() } else { input };
        fixture += &format!(
            "//- models/s/m{number}.sql\n/* oncemore\nkind: slice\ninterval: day\ntime: flight_date\n\
             time_zone: America/New_York\nkey: [a, b]\naudits:\n  - not_null: [a]\n*/\n\
             WITH c AS (SELECT f.flight_date, f.carrier, sum(f.delay) AS delay FROM {input} AS f\n\
             WHERE f.flight_date >= :interval_start AND f.flight_date < :interval_end GROUP BY 1, 2)\n\
             SELECT c.flight_date, c.carrier, c.delay, CASE WHEN c.delay > 15 THEN 'late' ELSE 'ok' END AS state\n\
             FROM c LEFT JOIN raw.a AS r ON r.x = c.carrier WHERE c.delay IS NOT NULL\n"
        );
    }
    let files = super::files(&fixture);
    let started = std::time::Instant::now();
    let loaded = crate::load(&files);
    let took = started.elapsed();
    assert_eq!(loaded.project.unwrap().models.len(), 1_000);
    // Tens of milliseconds on a quiet machine; the bound is for what grows with the square of the models.
    assert!(took.as_secs() < 10, "{took:?}");
}

#[test]
fn a_model_is_there_once_more_to_be_built_anew() {
    let text = "\
//- oncemore.yml
name: x
start: 2026-01-01
sources:
  raw.a: {path: a.csv, time: at, columns: {id: BIGINT, at: DATE}}
//- models/gold/m.sql
/* oncemore
kind: merge
interval: day
time: at
key: [id]
*/
SELECT id, at FROM raw.a WHERE at >= :interval_start AND at < :interval_end
//- models/gold/reader.sql
/* oncemore
kind: full
*/
SELECT id FROM gold.m
";
    let mut loaded = project(text);
    let code = loaded.model("gold.m").unwrap().code;
    assert_eq!(loaded.add_rebuild("gold.n"), Ok(None));
    assert_eq!(loaded.add_rebuild("gold.m").unwrap().unwrap().as_str(), "gold.m__rebuild");
    let names: Vec<&str> = loaded.models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, ["gold.m", "gold.m__rebuild", "gold.reader"]);
    let built = &loaded.models[1];
    assert_eq!((built.code, built.called().as_str()), (code, "gold.m"));
    assert_eq!(built.sliced().as_str(), "gold.m__changes__rebuild");
    assert_eq!(loaded.models[2].inputs, ["gold.m"]);
    let name = format!("gold.{}", "m".repeat(47));
    let long = text.replace("models/gold/m.sql", &format!("models/{}.sql", name.replace('.', "/")));
    assert!(project(&long.replace("FROM gold.m", &format!("FROM {name}"))).add_rebuild(&name).is_err());
}
