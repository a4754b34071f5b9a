//! Histories in a project: from changes and from snapshots, read at a row's own time.

use crate::project::Project;

const SETTINGS: &str = "\
name: prices
start: 2026-03-01
end: 2026-03-05
sources:
  raw.prices:
    path: data/prices/{interval:%Y-%m-%d}.csv
    time: at
    columns: {item: TEXT, at: TIMESTAMP, since: TIMESTAMP, price: BIGINT}
  raw.sales:
    path: data/sales/{interval:%Y-%m-%d}.csv
    time: at
    columns: {item: TEXT, at: TIMESTAMP}
";

const PRICES: &str = "\
/* oncemore
kind: history
interval: day
time: at
key: [item]
effective: since
order_by: [at]
deleted: price IS NULL
*/
SELECT item, at, since, price
  FROM raw.prices
 WHERE at >= :interval_start AND at < :interval_end
";

const SALES: &str = "\
/* oncemore
kind: slice
interval: day
time: at
*/
SELECT s.item, s.at, p.price
  FROM raw.sales AS s
  LEFT JOIN gold.prices AS p
    ON p.item = s.item AND s.at >= p.valid_from AND (s.at < p.valid_to OR p.valid_to IS NULL)
 WHERE s.at >= :interval_start AND s.at < :interval_end
";

fn project() -> Project {
    let project = Project::empty();
    project.write("oncemore.yml", SETTINGS);
    project.write("models/gold/prices.sql", PRICES);
    project.write("models/silver/sales.sql", SALES);
    for day in 1..=4 {
        prices(&project, day, "");
        let day = format!("2026-03-0{day}");
        project.write(&format!("data/sales/{day}.csv"), format!("item,at\na,{day} 12:00:00\n"));
    }
    prices(&project, 1, "a,2026-03-01 06:00:00,2026-03-01 00:00:00,10\n");
    prices(&project, 3, "a,2026-03-03 06:00:00,2026-03-03 00:00:00,30\n");
    project
}

fn prices(project: &Project, day: u32, rows: &str) {
    project.write(&format!("data/prices/2026-03-0{day}.csv"), format!("item,at,since,price\n{rows}"));
}

/// Price, first and last day of each stretch.
fn stretches(project: &Project) -> Vec<String> {
    let day = |column: &str| format!("coalesce(CAST(CAST({column} AS DATE) AS TEXT), 'now')");
    let sql = format!("SELECT price, {} AS a, {} AS b FROM gold.prices", day("valid_from"), day("valid_to"));
    let mut found: Vec<String> = project
        .query(&sql)
        .iter()
        .map(|row| {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            let word = |name: &str| row[name].to_string().replace(['"'], "").replace("2026-03-", "");
            format!("{}: {} to {}", word("price"), word("a"), word("b"))
        })
        .collect();
    found.sort();
    found
}

fn sold(project: &Project) -> Vec<String> {
    project.query("SELECT CAST(CAST(at AS DATE) AS TEXT) AS day, price FROM silver.sales")
}

#[test]
fn a_key_may_change_more_than_once_in_an_interval() {
    let project = project();
    let first = "a,2026-03-01 06:00:00,2026-03-01 00:00:00,10\n";
    prices(&project, 1, &format!("{first}a,2026-03-01 07:00:00,2026-03-02 00:00:00,15\n"));
    project.run(&[]);
    assert_eq!(stretches(&project), ["10: 01 to 02", "15: 02 to 03", "30: 03 to now"]);
}

#[test]
fn changes_are_put_in_their_own_order_whenever_they_arrive() {
    let project = project();
    project.run(&[]);
    assert_eq!(stretches(&project), ["10: 01 to 03", "30: 03 to now"]);
    // On the fourth it is said that the price was 20 since the second.
    prices(&project, 4, "a,2026-03-04 06:00:00,2026-03-02 00:00:00,20\n");
    project.run(&["--yes"]);
    assert_eq!(stretches(&project), ["10: 01 to 02", "20: 02 to 03", "30: 03 to now"]);
    assert_eq!(sold(&project)[1], r#"{"day":"2026-03-02","price":20}"#);
    // A later word on the same date counts, and equal neighbours are one.
    prices(
        &project,
        4,
        "a,2026-03-04 06:00:00,2026-03-02 00:00:00,20\na,2026-03-04 07:00:00,2026-03-02 00:00:00,10\n",
    );
    project.run(&["--yes"]);
    assert_eq!(stretches(&project), ["10: 01 to 03", "30: 03 to now"]);
    // And what was said is unsaid.
    prices(&project, 4, "a,2026-03-04 07:00:00,2026-03-02 00:00:00,\n");
    project.run(&["--yes"]);
    assert_eq!(stretches(&project), ["10: 01 to 02", "30: 03 to now"]);
    assert_eq!(sold(&project)[1], r#"{"day":"2026-03-02","price":null}"#);
    prices(&project, 4, "");
    project.run(&["--yes"]);
    assert_eq!(stretches(&project), ["10: 01 to 03", "30: 03 to now"]);
    assert_eq!(project.tasks(), Vec::<String>::new());
}

#[test]
fn facts_joined_at_their_own_time_change_where_the_past_did() {
    let project = project();
    project.run(&[]);
    // From the fourth on it is 40: all that reads the history runs, and the fourth alone comes out otherwise.
    prices(&project, 4, "a,2026-03-04 06:00:00,2026-03-04 00:00:00,40\n");
    let done = project.run(&["--yes"]);
    let count = |name: &str| done[name].as_u64().unwrap();
    assert_eq!((count("published"), count("unchanged"), count("cut_off")), (2, 3, 0), "{done}");
    let sold = sold(&project);
    assert_eq!(sold[2], r#"{"day":"2026-03-03","price":30}"#);
    assert_eq!(sold[3], r#"{"day":"2026-03-04","price":40}"#);
    // A change of what the facts do not read costs them nothing.
    prices(&project, 4, "a,2026-03-04 07:00:00,2026-03-04 00:00:00,40\n");
    let done = project.run(&["--yes"]);
    assert_eq!((done["published"].as_u64(), done["cut_off"].as_u64()), (Some(1), Some(4)), "{done}");
}

#[test]
fn a_history_is_the_same_in_every_order_of_runs() {
    for order in [[1, 2, 3, 4], [4, 3, 2, 1], [2, 4, 1, 3]] {
        let project = project();
        prices(&project, 4, "a,2026-03-04 06:00:00,2026-03-02 00:00:00,20\n");
        for day in order {
            project.run(&["gold.prices", "--interval", &format!("2026-03-0{day}")]);
        }
        assert_eq!(stretches(&project), ["10: 01 to 02", "20: 02 to 03", "30: 03 to now"], "{order:?}");
    }
}

/// Two words on one date, in two intervals.
#[test]
fn changes_of_one_date_in_two_intervals_tie_where_nothing_orders_them() {
    for (ties, code) in [("warn", 0), ("error", 7)] {
        let project = project();
        project.edit("models/gold/prices.sql", "order_by: [at]", &format!("ties: {ties}"));
        prices(&project, 3, "a,2026-03-03 06:00:00,2026-03-01 00:00:00,5\n");
        project.run(&["gold.prices", "--interval", "2026-03-03"]);
        let done = project.run_to(code, &["gold.prices", "--interval", "2026-03-01"]);
        let keys = (code == 0).then_some(1);
        assert_eq!(
            (done["ties"][0]["keys"].as_u64(), done["published"].as_u64()),
            (keys, Some(1 - code as u64 / 7))
        );
        // Of the other columns `at` decides.
        assert_eq!(stretches(&project), ["5: 01 to now"]);
    }
}

#[test]
fn a_snapshot_ends_the_keys_it_lacks_and_one_that_never_ran_ends_nothing() {
    let project = project();
    project.edit(
        "models/gold/prices.sql",
        "effective: since\norder_by: [at]\ndeleted: price IS NULL",
        "input: snapshot",
    );
    prices(&project, 1, "a,2026-03-01 00:00:00,,10\nb,2026-03-01 00:00:00,,5\n");
    prices(&project, 2, "b,2026-03-02 00:00:00,,5\n");
    prices(&project, 3, "a,2026-03-03 00:00:00,,10\nb,2026-03-03 00:00:00,,5\n");
    prices(&project, 4, "a,2026-03-04 00:00:00,,10\nb,2026-03-04 00:00:00,,6\n");
    for day in [1, 3, 4] {
        project.run(&["gold.prices", "--interval", &format!("2026-03-0{day}")]);
    }
    assert_eq!(stretches(&project), ["10: 01 to now", "5: 01 to 04", "6: 04 to now"]);
    project.run(&["gold.prices", "--interval", "2026-03-02"]);
    assert_eq!(stretches(&project), ["10: 01 to 02", "10: 03 to now", "5: 01 to 04", "6: 04 to now"]);
    prices(&project, 4, "");
    let (code, said) = project.said(&["run", "gold.prices", "--yes"]);
    assert!(
        code == Some(7) && said.contains("the interval holds no rows, which would end every key"),
        "{code:?}: {said}"
    );
    project.edit("models/gold/prices.sql", "input: snapshot", "input: snapshot\nempty: allowed");
    project.run(&["gold.prices", "--yes"]);
    assert_eq!(stretches(&project), ["10: 01 to 02", "10: 03 to 04", "5: 01 to 04"]);
}

#[test]
fn the_changes_that_count_are_shown() {
    let project = project();
    prices(&project, 4, "a,2026-03-04 06:00:00,2026-03-03 00:00:00,40\n");
    project.run(&["gold.prices"]);
    let counting = project.query("SELECT item, price FROM gold.prices__dated");
    assert_eq!(counting, [r#"{"item":"a","price":10}"#, r#"{"item":"a","price":40}"#]);
}

#[test]
fn a_change_without_a_date_is_an_error() {
    let project = project();
    prices(&project, 2, "a,2026-03-02 00:00:00,,10\n");
    let (code, said) = project.said(&["run", "gold.prices"]);
    assert!(
        code == Some(7) && said.contains("1 change has NULL in `since`, which dates them"),
        "{code:?}: {said}"
    );
}

/// A project of days around a change of the clock: what planes are there, and which flew, with times of one type.
fn planes(zone: &str, kind: &str) -> Project {
    let project = Project::empty();
    let source = |name: &str, columns: &str| {
        format!(
            "  raw.{name}:\n    path: data/{name}-{{interval:%Y-%m-%d}}.csv\n    time: at\n    columns: {{at: {kind}, tail: TEXT{columns}}}\n"
        )
    };
    let (seen, flown) = (source("seen", ", carrier: TEXT"), source("flown", ""));
    project.write(
        "oncemore.yml",
        format!(
            "name: planes\nstart: 2026-03-06\nend: 2026-03-10\ntime_zone: {zone}\nsources:\n{seen}{flown}"
        ),
    );
    project.write(
        "models/gold/owners.sql",
        "/* oncemore\nkind: history\ninterval: day\ntime: at\nkey: [tail]\ninput: snapshot\n*/\n\
         SELECT tail, carrier, at FROM raw.seen WHERE at >= :interval_start AND at < :interval_end\n",
    );
    project.write(
        "models/gold/flights.sql",
        "/* oncemore\nkind: slice\ninterval: day\ntime: at\n*/\n\
         SELECT f.at, f.tail, o.carrier\n  FROM raw.flown AS f\n  LEFT JOIN gold.owners AS o\n    \
         ON o.tail = f.tail AND f.at >= o.valid_from AND (f.at < o.valid_to OR o.valid_to IS NULL)\n \
         WHERE f.at >= :interval_start AND f.at < :interval_end\n",
    );
    let time = if kind == "DATE" { "" } else { " 00:00:00" };
    for (day, carrier) in [(6, "AA"), (7, "BB"), (8, "BB"), (9, "AA")] {
        let date = format!("2026-03-{day:02}");
        project
            .write(&format!("data/seen-{date}.csv"), format!("at,tail,carrier\n{date}{time},t1,{carrier}\n"));
        project.write(&format!("data/flown-{date}.csv"), format!("at,tail\n{date}{time},t1\n"));
    }
    project
}

#[test]
fn facts_meet_the_state_of_their_own_local_day() {
    for zone in ["America/New_York", "Europe/Berlin", "UTC"] {
        for kind in ["DATE", "TIMESTAMP"] {
            let project = planes(zone, kind);
            project.run(&[]);
            let text = |column: &str| format!("coalesce(CAST({column} AS TEXT), 'now')");
            let found = project.query(&format!(
                "SELECT {} AS a, {} AS b, carrier FROM gold.owners",
                text("valid_from"),
                text("valid_to")
            ));
            let time = if kind == "DATE" { "" } else { "T00:00:00" };
            let line = |carrier: &str, from: &str, to: &str| {
                format!(r#"{{"a":"{from}","b":"{to}","carrier":"{carrier}"}}"#)
            };
            let day = |day: u32| format!("2026-03-0{day}{time}");
            let wanted =
                [line("AA", &day(6), &day(7)), line("BB", &day(7), &day(9)), line("AA", &day(9), "now")];
            assert_eq!(found, wanted, "{zone} {kind}");
            let flights = project.query("SELECT CAST(at AS TEXT) AS at, carrier FROM gold.flights");
            let flown = [(6, "AA"), (7, "BB"), (8, "BB"), (9, "AA")]
                .map(|(at, carrier)| format!(r#"{{"at":"{}","carrier":"{carrier}"}}"#, day(at)));
            assert_eq!(flights, flown, "{zone} {kind}");
        }
    }
}
