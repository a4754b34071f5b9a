//! Views, and the columns that stand beside the user's: asked with `query`, printed by `compile`.

use crate::bad_input::says;
use crate::project::Project;

#[test]
fn a_view_is_asked_like_a_table() {
    let project = Project::run_once();
    let of_view = project.query("SELECT id, day, city, amount FROM gold.valid_orders");
    assert_eq!(of_view, project.query("SELECT id, day, city, amount FROM silver.orders WHERE amount >= 0"));
    let joined = "SELECT count(*) AS n FROM gold.valid_orders AS v JOIN silver.orders AS o USING (id)";
    assert_eq!(project.query(joined), [r#"{"n":42}"#]);
}

#[test]
fn a_view_over_a_view_with_a_variable() {
    let project = Project::new();
    project.edit("oncemore.yml", "limits:", "variables:\n  least: 20\nlimits:");
    let head = "/* oncemore\nkind: view\n*/\n";
    project.write(
        "models/gold/large_orders.sql",
        format!("{head}SELECT * FROM gold.valid_orders WHERE amount >= :least\n"),
    );
    project.run(&[]);
    assert_eq!(project.query("SELECT count(*) AS n FROM gold.large_orders"), [r#"{"n":14}"#]);
    insta::assert_snapshot!(says(&project, &["compile", "gold.large_orders"]), @r#"
    exit 0
    CREATE VIEW gold.valid_orders AS
    SELECT id, day, city, amount FROM silver.orders WHERE amount >= 0;

    SELECT * FROM gold.valid_orders WHERE amount >= 20
    "#);
}

#[test]
fn a_view_with_an_interval() {
    let project = Project::new();
    let sql = "/* oncemore\nkind: view\n*/\nSELECT id FROM silver.orders WHERE day >= :interval_start\n";
    project.write("models/gold/recent.sql", sql);
    insta::assert_snapshot!(says(&project, &["compile", "gold.recent", "--interval", "2026-03-10"]), @r#"
    exit 0
    SELECT id FROM silver.orders WHERE day >= DATE '2026-03-10'
    "#);
    insta::assert_snapshot!(says(&project, &["compile", "gold.recent"]), @r#"
    exit 2
    error: view `gold.recent` needs an interval: that of its reader
    help: `oncemore compile gold.recent --interval 2013-03-01`
    "#);
    insta::assert_snapshot!(says(&project, &["query", "SELECT * FROM gold.recent"]), @r#"
    exit 3
    error: `:interval_start` in a query without intervals
    help: a view with an interval is read by slices: ask the model that reads it
    "#);
}

#[test]
fn stored_columns_are_there_when_they_are_named() {
    let project = Project::run_once();
    let days =
        "SELECT _interval_start, count(*) AS n FROM silver.orders WHERE id < 20 GROUP BY _interval_start";
    assert_eq!(
        project.query(days),
        [
            r#"{"_interval_start":"2026-03-02T05:00:00Z","n":3}"#,
            r#"{"_interval_start":"2026-03-03T05:00:00Z","n":3}"#
        ]
    );
    let one = "SELECT *, o._interval_start AS since FROM gold.city_day AS o JOIN gold.shops AS s ON s.city = o.city \
               WHERE day = DATE '2026-03-10' AND o.city = 'BOSTON'";
    let codes = "SELECT count(DISTINCT _code_version) AS n FROM silver.orders";
    let without_star = says(&project, &["query", one, "--output", "json"]);
    assert!(without_star.contains("two output columns are named `city`"), "{without_star}");
    assert_eq!(project.query(codes), [r#"{"n":1}"#]);
    let least = "SELECT CAST(-9223372036854775807 - 1 AS BIGINT) AS n";
    assert_eq!(project.query(least), [r#"{"n":"-9223372036854775808"}"#]);
    let star =
        "SELECT * FROM (SELECT *, length(_code_version) AS code FROM gold.shops) AS s WHERE shop = 'a'";
    assert_eq!(project.query(star), [r#"{"city":"ALBANY","code":12,"shop":"a"}"#]);
}

#[test]
fn sql_that_is_wrong_is_wrong_sql() {
    let project = Project::run_once();
    for sql in [
        "SELEC 1",
        "SELECT nothing FROM silver.orders",
        "SELECT * FROM silver.order",
        "SELECT * FROM orders",
        "SELECT now()",
        "DROP TABLE silver.orders",
        "SELECT 'a' + INTERVAL '1 day' FROM silver.orders GROUP BY 2",
    ] {
        let (code, said) = project.said(&["query", sql]);
        assert_eq!(code, Some(3), "{sql}: {said}");
    }
}

/// Names are looked up, not searched for: a chain of views takes no longer than as many beside each other.
#[test]
fn a_long_chain_of_views_is_checked_in_no_time() {
    let project = Project::new();
    for number in 0..2_000 {
        let below = if number == 0 { "raw.shops".to_owned() } else { format!("gold.v{}", number - 1) };
        let sql = format!("/* oncemore\nkind: view\n*/\nSELECT shop, city FROM {below}\n");
        project.write(&format!("models/gold/v{number}.sql"), sql);
    }
    let start = std::time::Instant::now();
    let (code, said) = project.said(&["check"]);
    assert_eq!(code, Some(0), "{said}");
    // A second or so; searched for, it took a minute.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
