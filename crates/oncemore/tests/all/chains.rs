//! Models that read the slice before their own: a balance that runs on from day to day.

use crate::bad_input::says;
use crate::project::Project;

const SETTINGS: &str = "\
name: bank
start: 2026-01-01
end: 2026-01-11
limits:
  tasks: 1000
sources:
  raw.moves:
    path: data/moves.csv
    time: day
    columns: {day: DATE, account: TEXT, amount: BIGINT}
";

const BALANCES: &str = "\
/* oncemore
kind: slice
interval: day
time: day
key: [day, account]
*/
WITH moved AS (
  SELECT account, sum(amount) AS amount
    FROM raw.moves
   WHERE day >= :interval_start AND day < :interval_end
   GROUP BY account
)
SELECT CAST(:interval_start AS DATE) AS day, coalesce(m.account, p.account) AS account,
       coalesce(p.balance, 0) + coalesce(m.amount, 0) AS balance, p.day AS from_day
  FROM moved AS m
  FULL JOIN previous(gold.balances) AS p ON p.account = m.account
";

const TOTALS: &str = "\
/* oncemore
kind: slice
interval: day
time: day
*/
SELECT day, sum(balance) AS balance
  FROM gold.balances
 WHERE day >= :interval_start AND day < :interval_end
 GROUP BY day
";

fn label(day: usize) -> String {
    format!("2026-01-{day:02}")
}

/// Ten days on which `a` gets 10 each, `b` 1 on the third.
fn bank() -> Project {
    let project = Project::empty();
    project.write("oncemore.yml", SETTINGS);
    project.write("models/gold/balances.sql", BALANCES);
    project.write("models/gold/totals.sql", TOTALS);
    moves(&project, |day| if day == 3 { vec![("a", 10), ("b", 1)] } else { vec![("a", 10)] });
    project
}

fn moves(project: &Project, of: impl Fn(usize) -> Vec<(&'static str, i64)>) {
    let mut text = "day,account,amount\n".to_owned();
    for day in 1..=10 {
        for (account, amount) in of(day) {
            text += &format!("{},{account},{amount}\n", label(day));
        }
    }
    project.write("data/moves.csv", text);
}

/// Balances of `a` and `b` by day, as `a/b`.
fn balances(project: &Project) -> Vec<String> {
    // The rows are sorted as text: the day comes first there.
    let sql = "SELECT day AS at, max(CASE WHEN account = 'a' THEN balance END) AS of_a, \
               max(CASE WHEN account = 'b' THEN balance END) AS of_b FROM gold.balances GROUP BY day";
    let rows = project.query(sql);
    let part = |row: &str, name: &str| {
        let value: serde_json::Value = serde_json::from_str(row).unwrap();
        value[name].to_string()
    };
    rows.iter().map(|row| format!("{}/{}", part(row, "of_a"), part(row, "of_b"))).collect()
}

const AS_BUILT: [&str; 10] =
    ["10/null", "20/null", "30/1", "40/1", "50/1", "60/1", "70/1", "80/1", "90/1", "100/1"];

#[test]
fn what_comes_behind_a_slice_that_is_held_is_not_fresh() {
    let project = bank();
    project.edit("oncemore.yml", "data/moves.csv", "data/{interval:%Y-%m-%d}.csv");
    let deliver = |day: usize, amount: i64| {
        project.write(
            &format!("data/{}.csv", label(day)),
            format!("day,account,amount\n{},a,{amount}\n", label(day)),
        );
    };
    (1..=10).for_each(|day| deliver(day, 10));
    project.run(&[]);
    project.remove("data/2026-01-02.csv");
    // What is gone is held, and with it what its absence may change.
    let held = project.held();
    assert_eq!((held.len(), held[0].as_str()), (9, "gold.balances 2026-01-02 gone"));
    assert_eq!(held[1], "gold.balances 2026-01-03 blocked");
    project.run(&["--accept-gone"]);
    assert_eq!(balances(&project)[2], "20/null");
    // Accepted once, it is not asked again.
    deliver(1, 1_000);
    project.run(&[]);
    assert_eq!(project.held(), Vec::<String>::new());
    assert_eq!(balances(&project)[2], "1010/null");
}

#[test]
fn a_balance_runs_on_from_slice_to_slice() {
    for flags in [&[][..], &["--jobs", "4", "--order", "newest"], &["--single-commits"]] {
        let project = bank();
        let done = project.run(flags);
        assert_eq!(done["published"].as_u64(), Some(20), "{done}");
        assert_eq!(balances(&project), AS_BUILT);
        assert_eq!(project.tasks(), Vec::<String>::new());
        let first = project.query("SELECT from_day FROM gold.balances WHERE day = DATE '2026-01-01'");
        assert_eq!(first, [r#"{"from_day":null}"#]);
    }
}

#[test]
fn a_year_of_balances_is_what_a_plain_sum_gives() {
    let project = bank();
    project.edit("oncemore.yml", "start: 2026-01-01\nend: 2026-01-11", "start: 2025-01-01\nend: 2026-01-01");
    let start = jiff::civil::date(2025, 1, 1);
    let mut text = "day,account,amount\n".to_owned();
    let mut seed: u32 = 7;
    for day in 0..365_i64 {
        let day = start.checked_add(jiff::Span::new().days(day)).unwrap();
        for account in ["a", "b", "c"] {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if seed >> 30 != 0 {
                text += &format!("{day},{account},{}\n", i64::from(seed >> 16) % 1_000 - 500);
            }
        }
    }
    project.write("data/moves.csv", text);
    project.run(&["gold.balances"]);
    let wrong = project.query(
        "SELECT b.day, b.account, b.balance FROM gold.balances AS b \
         JOIN raw.moves AS m ON m.account = b.account AND m.day <= b.day \
         GROUP BY b.day, b.account, b.balance HAVING sum(m.amount) <> b.balance",
    );
    assert_eq!(wrong, Vec::<String>::new());
    let last = project.query("SELECT count(*) AS n FROM gold.balances WHERE day = DATE '2025-12-31'");
    assert_eq!(last, [r#"{"n":3}"#]);
}

#[test]
fn a_correction_travels_forward_until_a_slice_comes_out_equal() {
    let project = bank();
    project.edit("models/gold/balances.sql", ", p.day AS from_day", "");
    project.run(&[]);
    // Five too little on the fourth, which the seventh makes up for.
    moves(&project, |day| match day {
        3 => vec![("a", 10), ("b", 1)],
        4 => vec![("a", 5)],
        7 => vec![("a", 15)],
        _ => vec![("a", 10)],
    });
    let planned: Vec<String> =
        project.tasks().into_iter().filter(|task| task.starts_with("gold.balances")).collect();
    assert_eq!(planned.len(), 7, "{planned:?}");
    assert_eq!(planned[0], "gold.balances 2026-01-04 input");
    let done = project.run(&[]);
    let count = |name: &str| done[name].as_u64().unwrap();
    // Of each table the fourth, fifth and sixth change; of the balances the seventh is computed and comes out equal.
    assert_eq!((count("published"), count("unchanged"), count("cut_off")), (6, 1, 7), "{done}");
    let mut wanted = AS_BUILT;
    (wanted[3], wanted[4], wanted[5]) = ("35/1", "45/1", "55/1");
    assert_eq!(balances(&project), wanted);
    assert_eq!(project.tasks(), Vec::<String>::new());
    // A column that the next slice does not read changes nothing there.
    project.edit("models/gold/balances.sql", " AS balance\n", " AS balance, 1 AS one\n");
    project.run(&["--yes"]);
    assert_eq!(balances(&project), wanted);
    assert_eq!(project.tasks(), Vec::<String>::new());
}

#[test]
fn nothing_runs_on_a_slice_that_is_missing_stale_or_failed() {
    // Missing: the range leaves the first days out.
    let project = bank();
    let done = project.run(&["gold.balances", "--interval", "2026-01-03"]);
    assert_eq!((done["published"].as_u64(), done["held"].as_u64()), (Some(0), Some(1)), "{done}");
    project.run(&[]);
    // Stale: the fourth is corrected, and only later days are asked for.
    moves(&project, |day| match day {
        3 => vec![("a", 10), ("b", 1)],
        4 => vec![("a", 5)],
        9 => vec![("a", 11)],
        _ => vec![("a", 10)],
    });
    let done = project.run(&["gold.balances", "--from", "2026-01-09"]);
    assert_eq!((done["published"].as_u64(), done["held"].as_u64()), (Some(0), Some(2)), "{done}");
    assert_eq!(balances(&project), AS_BUILT);
    // Failed: an audit does not hold on the fourth.
    project.edit("models/gold/balances.sql", "key:", "audits:\n  - expression: balance <> 35\nkey:");
    let done = project.run_to(5, &[]);
    assert_eq!(done["failed"].as_array().map(Vec::len), Some(1), "{done}");
    assert_eq!(done["blocked"].as_array().map(Vec::len), Some(6), "{done}");
    assert_eq!(done["blocked"][0]["hold"]["by"], "gold.balances", "{done}");
    assert_eq!(balances(&project), AS_BUILT);
    let said = says(&project, &["explain", "gold.balances", "2026-01-05"]);
    assert!(said.contains("`previous(gold.balances)` is to run first"), "{said}");
    project.edit("models/gold/balances.sql", "balance <> 35", "balance <> 36");
    project.run(&[]);
    assert_eq!(balances(&project)[8..], ["86/1", "96/1"]);
    assert_eq!(project.tasks(), Vec::<String>::new());
}

#[test]
fn a_parent_that_is_stale_holds_what_rests_on_the_slice_before() {
    let project = bank();
    project.write(
        "models/silver/moves.sql",
        "/* oncemore\nkind: slice\ninterval: day\ntime: day\n*/\nSELECT day, account, amount FROM raw.moves \
         WHERE day >= :interval_start AND day < :interval_end\n",
    );
    project.edit("models/gold/balances.sql", "raw.moves", "silver.moves");
    project.run(&[]);
    moves(&project, |day| match day {
        3 => vec![("a", 10), ("b", 1)],
        4 => vec![("a", 5)],
        9 => vec![("a", 11)],
        _ => vec![("a", 10)],
    });
    let done = project.run(&["--interval", "2026-01-09"]);
    assert_eq!(done["published"].as_u64(), Some(1), "{done}");
    assert_eq!(balances(&project), AS_BUILT);
    project.run(&[]);
    assert_eq!(balances(&project)[8..], ["86/1", "96/1"]);
}

#[test]
fn the_first_slice_has_none_before_and_an_earlier_start_goes_on_from_there() {
    let project = bank();
    project.edit("oncemore.yml", "start: 2026-01-01", "start: 2026-01-03");
    project.run(&[]);
    assert_eq!(balances(&project)[0], "10/1");
    project.edit("oncemore.yml", "start: 2026-01-03", "start: 2026-01-01");
    project.run(&[]);
    assert_eq!(balances(&project), AS_BUILT);
    assert_eq!(project.tasks(), Vec::<String>::new());
}

#[test]
fn it_can_be_printed_for_elsewhere() {
    let project = bank();
    let said = says(&project, &["compile", "gold.balances", "--interval", "2026-01-05"]);
    let line = said.lines().find(|line| line.contains("FULL JOIN")).unwrap();
    assert_eq!(
        line,
        "  FULL JOIN (SELECT * FROM gold.balances WHERE day >= DATE '2026-01-04' AND day < DATE '2026-01-05') AS p \
         ON p.account = m.account"
    );
}

#[test]
fn a_column_whose_type_follows_from_nothing_is_an_error() {
    let project = bank();
    project.edit("models/gold/balances.sql", "p.day AS from_day", "p.note AS note");
    insta::assert_snapshot!(says(&project, &["check"]), @r#"
    exit 3
    error[query]: the type of `note` follows from nothing but the slice before
      ╭▸ models/gold/balances.sql:7:1
      │
    7 │ WITH moved AS (
      │ ━━━━
      │
      ╰ help: say it: `CAST(… AS BIGINT) AS note`, or whichever type it is to have

    1 error
    error: `gold.balances` can't be planned
    "#);
    project.edit("models/gold/balances.sql", "p.note AS note", "p.nothing AS note");
    let said = says(&project, &["check"]);
    assert!(said.contains("no column `p.nothing`"), "{said}");
}
