//! Wrong projects and wrong data, each with all that is said about it.

use crate::project::{ORDERS, Project, SETTINGS};

const ORDERS_FILE: &str = "models/silver/orders.sql";
const TENTH_FILE: &str = "data/orders/2026-03-10.csv";
const ONE_DAY: [&str; 4] = ["run", "+silver.orders", "--interval", "2026-03-10"];

/// The exit code and all that is said, without what differs from run to run.
pub(crate) fn says(project: &Project, arguments: &[&str]) -> String {
    let (code, said) = project.said(arguments);
    let scrub = |line: &str| match (line.find(" in "), line.find(" (request ")) {
        (Some(time), Some(_)) if line.starts_with("done: ") => format!("{} in <time>", &line[..time]),
        _ => line.to_owned(),
    };
    let lines: Vec<String> = said.lines().map(scrub).collect();
    format!("exit {}\n{}", code.unwrap(), lines.join("\n"))
}

/// What is said of a failure, without what every run says around it.
fn failure(project: &Project, arguments: &[&str]) -> String {
    const FRAME: [&str; 6] =
        ["gold.shops: ", "silver.orders: ", "gold.city_day: ", "done: ", "  failed ", "next: "];
    let said = says(project, arguments);
    let own = said.lines().filter(|line| !FRAME.iter().any(|start| line.starts_with(start)));
    own.collect::<Vec<_>>().join("\n")
}

/// One order of the tenth.
fn with_row(row: &str) -> Project {
    let project = Project::new();
    project.write_day("2026-03-10", &[row.to_owned()]);
    project
}

fn with_settings(from: &str, to: &str) -> String {
    let project = Project::new();
    assert!(SETTINGS.contains(from), "{from}");
    project.write("oncemore.yml", SETTINGS.replace(from, to));
    says(&project, &["check"])
}

fn with_orders(from: &str, to: &str, arguments: &[&str]) -> String {
    let project = Project::new();
    assert!(ORDERS.contains(from), "{from}");
    project.write(ORDERS_FILE, ORDERS.replace(from, to));
    failure(&project, arguments)
}

#[test]
fn broken_yaml() {
    let said = with_settings("limits:\n", "limits: [\n");
    insta::assert_snapshot!(said, @r#"
    exit 3
    error[yaml]: YAML: while parsing a flow mapping, did not find expected ',' or '}'
      ╭▸ oncemore.yml:7:8
      │
    7 │ sources:
      ╰╴       ━

    1 error
    "#);
}

#[test]
fn unknown_key_of_the_project() {
    let said = with_settings("time_zone: America", "time_zome: America");
    insta::assert_snapshot!(said, @r#"
    exit 3
    error[unknown-key]: unknown key `time_zome` in `oncemore.yml`
      ╭▸ oncemore.yml:4:1
      │
    4 │ time_zome: America/New_York
      │ ━━━━━━━━━
      │
      ╰ help: did you mean `time_zone`?

    1 error
    "#);
}

#[test]
fn unknown_key_of_a_model() {
    let said = with_orders("interval: day", "intervall: day", &["check"]);
    insta::assert_snapshot!(said, @r#"
    exit 3
    error[missing-key]: `interval` is missing
      ╭▸ models/silver/orders.sql:1:1
      │
    1 │ /* oncemore
      │ ━━━━━━━━━━━
      │
      ╰ help: say how long a slice is: `interval: day`

    error[unknown-key]: unknown key `intervall` in `model`
      ╭▸ models/silver/orders.sql:3:1
      │
    3 │ intervall: day
      │ ━━━━━━━━━
      │
      ╰ help: did you mean `interval`?

    2 errors
    "#);
}

#[test]
fn unknown_column() {
    let said = with_orders("p.amount, p.note", "p.amuont, p.note", &["check"]);
    insta::assert_snapshot!(said, @r#"
    exit 3
    error[query]: no column `p.amuont`
       ╭▸ models/silver/orders.sql:12:37
       │
    12 │ SELECT p.id, p.day, p.shop, s.city, p.amuont, p.note
       │                                     ━━━━━━━━
       │
       ╰ help: did you mean `amount`?

    1 error
    error: `silver.orders` can't be planned
    "#);
}

#[test]
fn unknown_table() {
    let said = with_orders("gold.shops AS s", "gold.shop AS s", &["check"]);
    insta::assert_snapshot!(said, @r#"
    exit 3
    error[unknown-table]: unknown table `gold.shop`
       ╭▸ models/silver/orders.sql:14:13
       │
    14 │   LEFT JOIN gold.shop AS s ON s.shop = p.shop
       │             ━━━━━━━━━
       │
       ╰ help: did you mean `gold.shops`?

    1 error
    "#);
}

#[test]
fn a_catalog_of_a_newer_version() {
    let project = Project::new();
    project.run(&["gold.shops"]);
    let catalog = rusqlite::Connection::open(project.path("warehouse/oncemore.db")).unwrap();
    catalog.execute("UPDATE om_meta SET value = 1000 WHERE key = 'format'", []).unwrap();
    drop(catalog);
    let said = says(&project, &["plan"]);
    insta::assert_snapshot!(said, @r#"
    exit 3
    error: catalog of a newer version: <folder>/warehouse/oncemore.db has format 1000, this build knows up to 1; install a newer one
    help: nothing was changed
    "#);
}

#[test]
fn now_in_sql() {
    let said = with_orders("p.amount, p.note", "p.amount, now() AS note", &["check"]);
    insta::assert_snapshot!(said, @r#"
    exit 3
    error[query]: `now` gives another value on every run: a slice depends on its interval, code and inputs alone
       ╭▸ models/silver/orders.sql:12:47
       │
    12 │ SELECT p.id, p.day, p.shop, s.city, p.amount, now() AS note
       │                                               ━━━━
       │
       ╰ help: use `:interval_start` or `:interval_end`; when a slice was loaded is in its stamp: see `<table>__slices`

    1 error
    error: `silver.orders` can't be planned
    "#);
}

#[test]
fn a_value_of_another_type() {
    let said = says(&with_row("1,2026-03-10T13:00:00Z,a,ten,morning"), &ONE_DAY);
    insta::assert_snapshot!(said, @r#"
    exit 7
    failed: silver.orders 2026-03-10: data/orders/2026-03-10.csv:2:26: `ten` is no BIGINT, in column `amount`; slice unchanged
    2 | 1,2026-03-10T13:00:00Z,a,ten,morning
      |                          ^
    gold.shops: 1 published, 2 rows
    done: 1 published, 1 failed; 2 rows in <time>
      failed silver.orders 2026-03-10; slice unchanged
    next: `oncemore explain silver.orders 2026-03-10` tells the whole story
    "#);
}

#[test]
fn a_row_with_too_few_fields() {
    let said = failure(&with_row("1,2026-03-10T13:00:00Z,a"), &ONE_DAY);
    insta::assert_snapshot!(said, @r#"
    exit 7
    failed: silver.orders 2026-03-10: data/orders/2026-03-10.csv:2: the row has 3 fields, 5 expected; slice unchanged
    2 | 1,2026-03-10T13:00:00Z,a
    "#);
}

#[test]
fn a_row_outside_the_slice() {
    let said = with_orders("AS DATE) AS day", "AS DATE) + INTERVAL '1 day' AS day", &ONE_DAY);
    insta::assert_snapshot!(said, @r#"
    exit 7
    failed: silver.orders 2026-03-10: a row outside its slice: `day` is 2026-03-11, the slice holds 2026-03-10 to before 2026-03-11; the row: id = 81, day = 2026-03-11, shop = a, city = ALBANY, amount = 10, note = morning; slice unchanged
      help: a task replaces its own slice and nothing else: add `WHERE day >= :interval_start AND day < :interval_end` on the output column, or set `time:` to the column that decides the slice
    "#);
}

#[test]
fn time_that_is_null() {
    let said = with_orders(
        "CAST(ordered_at AT TIME ZONE 'America/New_York' AS DATE) AS day",
        "CAST(NULL AS DATE) AS day",
        &ONE_DAY,
    );
    insta::assert_snapshot!(said, @r#"
    exit 7
    failed: silver.orders 2026-03-10: a row without time: `day` is NULL in id = 81, day = NULL, shop = a, city = ALBANY, amount = 10, note = morning; slice unchanged
      help: leave such rows out with `WHERE day IS NOT NULL`, or give them the time of the interval they belong to
    "#);
}

#[test]
fn a_key_twice() {
    let project = Project::new();
    project.write(
        "data/orders/2026-03-10.csv",
        "id,ordered_at,shop,amount,note\n1,2026-03-10T13:00:00Z,a,10,x\n1,2026-03-10T14:00:00Z,b,11,y\n",
    );
    let said = failure(&project, &ONE_DAY);
    insta::assert_snapshot!(said, @r#"
    exit 5
    failed: silver.orders 2026-03-10: audit failed: unique(id); slice unchanged
      unique(id): 1 row offending
        id  rows with this key
        ──  ──────────────────
        1   2
      help: mend the model or its input, then `oncemore run silver.orders --interval 2026-03-10`
    "#);
}

#[test]
fn invalid_utf8() {
    let project = Project::new();
    project.write(TENTH_FILE, b"id,ordered_at,shop,amount,note\n1,2026-03-10T13:00:00Z,a,10,caf\xe9\n");
    let said = failure(&project, &ONE_DAY);
    insta::assert_snapshot!(said, @r#"
    exit 7
    failed: silver.orders 2026-03-10: data/orders/2026-03-10.csv:2:29: invalid UTF-8; slice unchanged
    2 | 1,2026-03-10T13:00:00Z,a,10,caf�
      |                             ^
      help: deliver the file in UTF-8; it may be Latin-1 or Windows-1252
    "#);
}

#[test]
fn a_gzip_cut_off() {
    let project = Project::new();
    project.edit("oncemore.yml", "%d}.csv", "%d}.csv.gz");
    // The header of a gzip file and two bytes of its body.
    project.write("data/orders/2026-03-10.csv.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x4c]);
    let said = failure(&project, &ONE_DAY);
    insta::assert_snapshot!(said, @r#"
    exit 7
    failed: silver.orders 2026-03-10: data/orders/2026-03-10.csv.gz: gzip data is cut off after line 0; slice unchanged
      help: deliver the file again, under another name first and renamed when complete
    "#);
}

#[test]
fn a_parquet_file_with_a_broken_footer() {
    let project = Project::new();
    project.edit("oncemore.yml", "%d}.csv", "%d}.parquet");
    project.write("data/orders/2026-03-10.parquet", b"PAR1 and then no footer \xff\xff\xff\x7fPAR1");
    let said = failure(&project, &ONE_DAY);
    insta::assert_snapshot!(said, @"
    exit 7
    failed: silver.orders 2026-03-10: data/orders/2026-03-10.parquet: broken footer: it claims 2147483647 bytes of a file of 32; slice unchanged
      help: deliver the file again, under another name first and renamed when complete
    ");
}

#[test]
fn a_source_whose_folder_is_missing() {
    let project = Project::new();
    project.edit("oncemore.yml", "path: data/shops.csv", "path: elsewhere/shops.csv");
    let said = says(&project, &["run", "gold.shops"]);
    insta::assert_snapshot!(said, @r#"
    exit 7
    failed: gold.shops: elsewhere/shops.csv: folder `elsewhere` of source `raw.shops` is missing; slice unchanged
      help: make the folder, correct `path:`, or write `missing: empty`
    nothing to run, 1 held back
    next: `oncemore plan` and `oncemore status --why` say why
    "#);
}

#[test]
fn a_file_where_the_warehouse_should_be() {
    let project = Project::new();
    project.write("warehouse", "not a folder");
    let said = says(&project, &ONE_DAY);
    insta::assert_snapshot!(said, @r#"
    exit 7
    error: failed to create folder <folder>/warehouse: File exists (os error 17); slice unchanged
    help: mend what the message names, then run the same command again
    "#);
}

#[test]
fn an_empty_range() {
    let said = says(&Project::new(), &["run", "--from", "2026-03-10", "--to", "2026-03-10"]);
    insta::assert_snapshot!(said, @r#"
    exit 2
    error: the range from 2026-03-10T04:00:00Z to 2026-03-10T04:00:00Z is empty
    help: `--to` is exclusive: one day is `--from 2013-03-01 --to 2013-03-02`
    "#);
}

#[test]
fn a_range_off_the_boundary() {
    let said = says(
        &Project::new(),
        &["run", "silver.orders", "--from", "2026-03-10T05:00:00", "--to", "2026-03-12"],
    );
    insta::assert_snapshot!(said, @r#"
    exit 2
    error: `--from 2026-03-10T05:00:00` is no boundary of a day in America/New_York
    help: the nearest are 2026-03-10T00:00:00 and 2026-03-11T00:00:00
    "#);
}

#[test]
fn a_range_that_ends_in_the_future() {
    let project = Project::new();
    project.edit("oncemore.yml", "end: 2026-03-16\n", "");
    let said = says(&project, &["run", "--from", "2026-03-10", "--to", "2999-01-01"]);
    insta::assert_snapshot!(said, @r#"
    exit 2
    error: the range ends in the future, at 2999-01-01T05:00:00Z
    help: only intervals that have ended can run: give an earlier `--to`
    "#);
}

/// What a shell line says that sees mounts of its own; none where this machine allows no such thing.
fn with_mounts(project: &Project, line: &str) -> Option<String> {
    let unshare = |line: &str| {
        let mut command = std::process::Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", line]);
        command.current_dir(project.folder.path()).output().ok()
    };
    let probe = unshare("mount -t tmpfs -o size=1m tmpfs models")?;
    if !probe.status.success() {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: no mounts on this machine\n");
        return None;
    }
    let line = line.replace("oncemore ", concat!(env!("CARGO_BIN_EXE_oncemore"), " "));
    let output = unshare(&format!("{line}; echo exit $?"))?;
    let folder = project.folder.path().canonicalize().unwrap().to_string_lossy().into_owned();
    Some(crate::project::both(&output).replace(&folder, "<folder>"))
}

#[test]
fn a_warehouse_that_is_read_only() {
    let project = Project::run_once();
    project.edit("data/orders/2026-03-10.csv", ",10,morning", ",11,morning");
    // The last process may have ended before SQLite's log was written back, which needs writing.
    let catalog = rusqlite::Connection::open(project.path("warehouse/oncemore.db")).unwrap();
    catalog.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(catalog);
    let read_only = "mount --bind warehouse warehouse && mount -o remount,bind,ro warehouse";
    let Some(said) = with_mounts(&project, &format!("{read_only} && oncemore run")) else { return };
    insta::assert_snapshot!(said, @r"
    exit 7
    error: failed to open the catalog <folder>/warehouse/oncemore.db: unable to open database file; slice unchanged
    help: mend what the message names, then run the same command again
    ");
    // Looking needs no writing.
    let said = with_mounts(&project, &format!("{read_only} && oncemore plan")).unwrap();
    insta::assert_snapshot!(said, @r"
    silver.orders  1 of 14 slices
      input changed         1  2026-03-10  (raw.orders)

    gold.city_day  1 of 14 slices
      input may change      1  2026-03-10  (silver.orders)

    gold.city_week  1 of 2 slices
      input may change      1  2026-03-09  (gold.city_day)

    3 slices of 3 models to run, 28 fresh
    exit 0
    ");
}

/// The line of the failure, without the numbers in the name of a data file.
fn first_failure(said: &str) -> String {
    let line = said.lines().find(|line| line.starts_with("failed: ") || line.starts_with("error: "));
    let line = line.unwrap_or(said);
    let (before, name) = line.split_once("om-").unwrap_or((line, ""));
    let after = name.find(".parquet").map_or(name, |at| &name[at..]);
    format!("{before}{after}")
}

#[test]
fn a_full_disk() {
    let project = Project::new();
    let rows: Vec<String> = (0..60_000_u64)
        .map(|row| {
            format!(
                "{row},2026-03-10T13:00:00Z,a,{},{:x}",
                row * 7919,
                row.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            )
        })
        .collect();
    project.write_day("2026-03-10", &rows);
    let small = "mkdir -p warehouse && mount -t tmpfs -o size=600k tmpfs warehouse";
    let run = "oncemore run +silver.orders --interval 2026-03-10";
    let query = "oncemore query 'SELECT count(*) AS n FROM silver.orders' --output json";
    let Some(said) = with_mounts(&project, &format!("{small} && {run}; {query}")) else { return };
    insta::assert_snapshot!(
        first_failure(&said),
        @"failed: silver.orders 2026-03-10: failed to write <folder>/warehouse/silver/orders/data/20260310T040000Z/.parquet: External: No space left on device (os error 28); slice unchanged"
    );
    // Nothing of it is visible, and the warehouse can still be read.
    assert!(said.contains("slice unchanged") && said.contains("\"n\": 0"), "{said}");
}

#[test]
fn a_type_that_is_compared_with_another() {
    let said = with_orders("p.amount, p.note", "p.amount + p.note > p.day AS amount, p.note", &["check"]);
    insta::assert_snapshot!(said, @"
    exit 3
    error[query]: no operator takes `BIGINT + TEXT`
       ╭▸ models/silver/orders.sql:12:37
       │
    12 │ SELECT p.id, p.day, p.shop, s.city, p.amount + p.note > p.day AS amount, p.note
       │                                     ━━━━━━━━
       │
       ╰ help: write `CAST(… AS …)` around what is of the wrong type

    1 error
    error: `silver.orders` can't be planned
    ");
}

#[test]
fn a_key_twice_in_a_file() {
    let project = Project::new();
    project.write("data/shops.csv", "shop,city\na,Albany\nb,Boston\na,Boston\n");
    insta::assert_snapshot!(failure(&project, &["run", "gold.shops"]), @r#"
    exit 7
    failed: gold.shops: data/shops.csv:4: lines 2 and 4 have one key (shop); slice unchanged
    4 | a,Boston
      help: correct the file, or `key:` of source `raw.shops`
    nothing to run, 1 held back
    "#);
}

#[test]
fn a_number_that_does_not_fit() {
    let project = Project::new();
    project.edit(ORDERS_FILE, "p.amount, p.note", "p.amount * 1000000000000000000 AS amount, p.note");
    let said = failure(&project, &ONE_DAY);
    insta::assert_snapshot!(said, @r#"
    exit 7
    failed: silver.orders 2026-03-10: `p.amount * 1000000000000000000` does not fit into BIGINT: 10 * 1000000000000000000; slice unchanged
      help: compute in a wider type: `CAST(… AS DECIMAL(38, 0))`
    "#);
    assert_eq!(project.query("SELECT count(*) AS n FROM silver.orders"), [r#"{"n":0}"#]);
}

#[test]
fn a_sum_that_does_not_fit() {
    let project = Project::run_once();
    let before = project.tables();
    let large = |id: u32| format!("{id},2026-03-10T13:00:00Z,a,9000000000000000000,x");
    project.write_day("2026-03-10", &[large(81), large(82)]);
    let said = failure(&project, &["run", "--interval", "2026-03-10"]);
    insta::assert_snapshot!(said, @r#"
    exit 7
    failed: gold.city_day 2026-03-10: `sum(gold.valid_orders.amount)` does not fit into BIGINT: it is 18000000000000000000; slice unchanged
      help: compute in a wider type: `CAST(… AS DECIMAL(38, 0))`
    "#);
    assert_eq!(project.tables()["gold.city_day"], before["gold.city_day"]);
}
