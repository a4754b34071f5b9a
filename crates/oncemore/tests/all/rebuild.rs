//! `rebuild`: a model whose key, order, kind or interval length changed is built beside the old table, which everybody
//! reads until the two are swapped, and ends as a clean build.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::project::{Project, both, copy};

const SETTINGS: &str = "\
name: shop
start: 2026-01-01
end: 2026-04-01
limits:
  tasks: 1000
sources:
  raw.sales:
    path: data/sales/{interval:%Y-%m-%d}.csv
    time: at
    columns: {id: BIGINT, item: TEXT, at: TIMESTAMP, amount: BIGINT}
";

/// What models of every kind here read.
const SELECT: &str = "\
SELECT id, item, at, amount
  FROM raw.sales
 WHERE at >= :interval_start AND at < :interval_end
";

const TOTALS: &str = "\
/* oncemore
kind: full
*/
SELECT item, sum(amount) AS amount FROM gold.sales GROUP BY item
";

const SLICE: &str = "kind: slice\ninterval: day\ntime: at\nkey: [id]\n";
const MERGE: &str =
    "kind: merge\ninterval: day\ntime: at\nkey: [item]\norder_by: [at]\ndeleted: amount IS NULL\n";
const HISTORY: &str = "kind: history\ninterval: day\ntime: at\nkey: [item]\neffective: at\norder_by: [id]\ndeleted: amount IS NULL\n";
const FULL: &str = "kind: full\n";

fn model(settings: &str) -> String {
    let select = match settings.contains("kind: full") {
        true => SELECT.split(" WHERE").next().unwrap(),
        false => SELECT,
    };
    format!("/* oncemore\n{settings}*/\n{select}")
}

/// Ninety days of sales.
fn project(settings: &str) -> Project {
    let project = Project::empty();
    project.write("oncemore.yml", SETTINGS);
    project.write("models/gold/sales.sql", model(settings));
    project.write("models/gold/totals.sql", TOTALS);
    for day in 0..90_i64 {
        let (month, of_month) = [(1, 31), (2, 28), (3, 31)]
            .into_iter()
            .scan(0, |from, (month, days)| {
                let first = *from;
                *from += days;
                Some((month, day - first, days))
            })
            .find(|(_, of_month, days)| of_month < days)
            .map(|(month, of_month, _)| (month, of_month + 1))
            .unwrap();
        let date = format!("2026-{month:02}-{of_month:02}");
        let item = ["pen", "cup", "hat"][day as usize % 3];
        let amount = if day % 17 == 16 { String::new() } else { (day * 7 % 50).to_string() };
        let text = format!("id,item,at,amount\n{day},{item},{date} 10:00:00,{amount}\n");
        project.write(&format!("data/sales/{date}.csv"), text);
    }
    project
}

/// The same project without tables.
fn fresh(project: &Project) -> Project {
    let fresh = Project::empty();
    for part in ["oncemore.yml", "models", "data"] {
        copy(&project.path(part), &fresh.path(part));
    }
    fresh
}

fn rows(project: &Project) -> Vec<String> {
    project.query("SELECT * FROM gold.sales")
}

/// Slices of the table but for who wrote them and when.
fn slices(project: &Project) -> Vec<String> {
    project.query(
        "SELECT model, \"interval\", rows, code_version, fingerprint FROM oncemore.slices WHERE model = 'gold.sales'",
    )
}

fn rebuild(project: &Project, code: i32, arguments: &[&str]) -> Value {
    let arguments = [&["rebuild", "gold.sales", "--output", "json"], arguments].concat();
    let output = project.command(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", both(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The table is that of a build in another folder, its readers follow, a ledger made anew agrees, and nothing is left of
/// the rebuild.
#[track_caller]
fn ends_as_a_fresh_build(project: &Project) {
    let fresh = fresh(project);
    fresh.run(&["--yes"]);
    assert_eq!(rows(project), rows(&fresh));
    assert_eq!(slices(project), slices(&fresh));
    let plan = || both(&project.command(&["plan", "--output", "json"]).output().unwrap());
    let before = plan();
    let (code, said) = project.said(&["ledger", "rebuild"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(plan(), before);
    project.run(&["--yes"]);
    let totals = "SELECT * FROM gold.totals";
    assert_eq!(project.query(totals), fresh.query(totals));
    assert_eq!(project.tasks(), Vec::<String>::new());
    for _ in 0..2 {
        let (code, said) = project.said(&["gc", "--older-than", "0s"]);
        assert_eq!(code, Some(0), "{said}");
    }
    let (_, said) = project.said(&["gc", "--older-than", "0s"]);
    assert_eq!(said.trim(), "0 files removed, 0 B");
    assert_eq!(folders(project), folders(&fresh));
    assert_eq!(rows(project), rows(&fresh));
}

/// Folders of tables, and how many data files each has.
fn folders(project: &Project) -> BTreeSet<String> {
    let list = |path: &Path| -> Vec<std::path::PathBuf> {
        std::fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    let tables = list(&project.path("warehouse")).into_iter().filter(|path| path.is_dir());
    tables
        .flat_map(|schema| list(&schema))
        .filter(|path| path.join("metadata").exists() || path.join("data").exists())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

/// The refusal names what differs and the command to type.
#[track_caller]
fn is_refused(project: &Project, why: &str) {
    let before = rows(project);
    let (code, said) = project.said(&["run", "--yes"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains(why) && said.contains("`oncemore rebuild gold.sales`"), "{said}");
    let held = project.held();
    assert!(!held.is_empty() && held.iter().all(|held| held.ends_with(" rebuild")), "{held:?}");
    assert!(!project.tasks().iter().any(|task| task.starts_with("gold.sales ")));
    let (code, said) = project.said(&["accept", "gold.sales", "--interval", "2026-01", "--because", "x"]);
    assert!(code == Some(3) && said.contains("`oncemore rebuild gold.sales`"), "{code:?}: {said}");
    assert_eq!(rows(project), before);
}

fn change(from: &str, to: &str, why: &str) {
    let project = project(from);
    project.run(&[]);
    let before = rows(&project);
    project.write("models/gold/sales.sql", model(to));
    is_refused(&project, why);
    assert_eq!(rows(&project), before);
    let done = rebuild(&project, 0, &[]);
    assert_eq!(
        (done["swapped"].as_bool(), done["model"].as_str()),
        (Some(true), Some("gold.sales")),
        "{done}"
    );
    ends_as_a_fresh_build(&project);
}

#[test]
fn another_interval_length() {
    let monthly = SLICE.replace("day", "month");
    change(
        SLICE,
        &monthly,
        "is cut otherwise: it has the slice 2026-01-01 to 2026-01-02, and `interval` is now month",
    );
    change(&monthly, SLICE, "is cut otherwise");
    change(MERGE, &MERGE.replace("interval: day", "interval: month"), "is cut otherwise");
}

#[test]
fn another_key_or_order() {
    change(
        MERGE,
        &MERGE.replace("key: [item]", "key: [id]"),
        "`key` of `gold.sales` was [item] and is now [id]",
    );
    change(
        MERGE,
        &MERGE.replace("order_by: [at]", "order_by: [amount, id]"),
        "`order_by` of `gold.sales` was [at] and is now [amount, id]",
    );
    change(
        HISTORY,
        &HISTORY.replace("key: [item]", "key: [id]").replace("order_by: [id]", "order_by: [amount]"),
        "`key` of `gold.sales` was [item] and is now [id]",
    );
}

#[test]
fn another_kind() {
    let other = "holds rows of a model of another kind";
    change(MERGE, HISTORY, other);
    change(HISTORY, MERGE, other);
    change(SLICE, MERGE, other);
    change(MERGE, SLICE, other);
    change(FULL, SLICE, "is cut otherwise: it has the slice all, and `interval` is now day");
    change(SLICE, FULL, "and the model is now one slice");
    change(HISTORY, FULL, other);
}

#[test]
fn another_type_of_a_column() {
    let project = project(SLICE);
    project.run(&[]);
    project.edit("models/gold/sales.sql", "SELECT id, item,", "SELECT id, upper(item) = 'PEN' AS item,");
    is_refused(&project, "column `item` of `gold.sales` is TEXT and the query now gives BOOLEAN");
    rebuild(&project, 0, &[]);
    // What reads it has that type now, too, and is held for it.
    assert_eq!(project.held(), ["gold.totals all rebuild"]);
    let (code, said) = project.said(&["rebuild", "gold.totals"]);
    assert_eq!(code, Some(0), "{said}");
    ends_as_a_fresh_build(&project);
}

#[test]
fn the_old_table_is_read_while_the_new_one_is_built_and_a_killed_rebuild_goes_on() {
    let project = project(SLICE);
    project.run(&[]);
    let before = rows(&project);
    project.write(
        "models/gold/sales.sql",
        model(&SLICE.replace("key: [id]", "key: [id, item]").replace("day", "week")),
    );
    is_refused(&project, "is cut otherwise");
    let mut child = project
        .command(&["rebuild", "gold.sales", "--single-commits", "--jobs", "1", "--yes"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Rows are staged ahead of commits, of which each that began writes metadata: of so many some are done.
    let built = project.path("warehouse/gold/sales__rebuild/metadata");
    let is_table = |file: &OsStr| file.to_string_lossy().ends_with(".metadata.json");
    let commits = || {
        let files = std::fs::read_dir(&built).into_iter().flatten().flatten();
        files.filter(|file| is_table(&file.file_name())).count()
    };
    while commits() < 4 {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // On a machine so slow that it was done before it was killed there is nothing to go on with.
    if !project.plan_with(&[])["rebuilds"].as_array().unwrap().is_empty() {
        assert_eq!(rows(&project), before);
        for command in [&["status"][..], &["plan"]] {
            let said = project.said(command).1;
            assert!(said.contains("a rebuild of gold.sales is unfinished"), "{said}");
            assert!(said.contains("`oncemore rebuild gold.sales` goes on with it"), "{said}");
        }
        let (code, said) = project.said(&["run"]);
        assert!(code == Some(3) && said.contains("`oncemore rebuild gold.sales`"), "{code:?}: {said}");
        let again = rebuild(&project, 0, &["--yes"]);
        let published = again["run"]["published"].as_u64().unwrap();
        assert!(published < 13 && again["swapped"] == true, "{again}");
        assert_eq!(again["outside"], 2, "{again}");
    }
    // The last week is not over: its days come with it.
    assert_eq!(project.query("SELECT id FROM gold.sales").len(), before.len() - 2);
    ends_as_a_fresh_build(&project);
}

#[test]
fn readers_of_a_table_that_waits_go_on_with_the_columns_that_it_has() {
    let project = project(MERGE);
    let reader = |name: &str, columns: &str| {
        let sql = format!("/* oncemore\nkind: full\n*/\nSELECT {columns} FROM gold.sales\n");
        project.write(&format!("models/gold/{name}.sql"), sql);
    };
    let items = || project.query("SELECT * FROM gold.items");
    reader("items", "count(DISTINCT item) AS n");
    reader("ids", "count(id) AS id");
    project.run(&[]);
    let ids = project.query("SELECT id FROM gold.ids");

    // One column of another type, and one that is new.
    project.edit(
        "models/gold/sales.sql",
        "SELECT id,",
        "SELECT CAST(id AS TEXT) AS id, 2 * amount AS twice,",
    );
    reader("items", "count(DISTINCT item) + 1 AS n");
    reader("ids", "count(id) AS id, 1 AS one");
    reader("twice", "sum(twice) AS twice");
    reader("all_of_it", "*");
    let waiting = ["all_of_it", "ids", "twice"].map(|name| format!("gold.{name} all waiting"));
    let held = || {
        let mut held = project.held();
        held.retain(|held| !held.starts_with("gold.sales "));
        held.sort_unstable();
        held
    };
    assert_eq!(held(), waiting);
    assert_eq!(project.tasks(), ["gold.items all code"]);
    let plan = project.said(&["plan"]).1;
    for what in ["holds BIGINT, not TEXT, in column `id`", "has no column `twice`"] {
        let what = format!("for `oncemore rebuild gold.sales`: the table {what} until then");
        assert!(plan.contains(&what), "{plan}");
    }
    assert_eq!(project.run_to(3, &[])["published"], 1);
    assert_eq!((items(), project.query("SELECT id FROM gold.ids")), (vec![r#"{"n":4}"#.to_owned()], ids));
    assert_eq!(held(), waiting);

    rebuild(&project, 0, &[]);
    project.run(&[]);
    assert_eq!((project.tasks(), project.held()), (Vec::new(), Vec::new()));
    let fresh = fresh(&project);
    fresh.run(&[]);
    for name in ["items", "ids", "twice", "all_of_it"] {
        let sql = format!("SELECT * FROM gold.{name}");
        assert_eq!(project.query(&sql), fresh.query(&sql), "{name}");
    }
}

#[test]
fn a_change_while_a_rebuild_is_unfinished_begins_another_one() {
    let project = project(SLICE);
    project.run(&[]);
    project.write("models/gold/sales.sql", model(&SLICE.replace("day", "month")));
    // A file that can't be read keeps February from being built.
    let broken = "data/sales/2026-02-10.csv";
    let whole = std::fs::read_to_string(project.path(broken)).unwrap();
    project.write(broken, "id,item,at,amount\n1,2\n");
    let failed = rebuild(&project, 7, &[]);
    assert_eq!(failed["swapped"], false);
    let (_, said) = project.said(&["plan"]);
    assert!(said.contains("a rebuild of gold.sales is unfinished, 2 slices built"), "{said}");
    project.write(broken, whole);
    // The shape changes again; what is there of the other one is given up.
    project.write("models/gold/sales.sql", model(MERGE));
    let (_, said) = project.said(&["rebuild", "gold.sales"]);
    assert!(said.contains("what an earlier rebuild had built is given up"), "{said}");
    assert!(said.contains("swapped: gold.sales is the table that was built anew"), "{said}");
    ends_as_a_fresh_build(&project);
}

#[test]
fn a_rebuild_that_has_no_slice_yet_is_given_up_where_a_type_changes() {
    let project = project(FULL);
    project.run(&[]);
    // Its audit keeps the first slice from being published; its table is there.
    project.write("models/gold/sales.sql", model(&format!("{FULL}audits: [{{row_count: {{min: 1000}}}}]\n")));
    project.edit("models/gold/sales.sql", "SELECT id, item,", "SELECT id, item = 'pen' AS item,");
    assert_eq!(rebuild(&project, 5, &[])["swapped"], false);
    project.write("models/gold/sales.sql", model(FULL));
    project.edit("models/gold/sales.sql", "SELECT id, item,", "SELECT id, length(item) AS item,");
    let (code, said) = project.said(&["rebuild", "gold.sales"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("what an earlier rebuild had built is given up"), "{said}");
    let (code, said) = project.said(&["rebuild", "gold.totals"]);
    assert_eq!(code, Some(0), "{said}");
    ends_as_a_fresh_build(&project);
}

#[test]
fn rebuilds_at_once_wait_for_each_other() {
    let project = project(MERGE);
    project.run(&[]);
    project.write("models/gold/sales.sql", model(&MERGE.replace("key: [item]", "key: [id]")));
    let start = || {
        let mut command = project.command(&["rebuild", "gold.sales", "--wait", "60s"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running = [start(), start(), start(), start()];
    for child in running {
        let output = child.wait_with_output().unwrap();
        let said = both(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("swapped: gold.sales is the table that was built anew"), "{said}");
    }
    ends_as_a_fresh_build(&project);
}

#[test]
fn nothing_of_the_old_table_is_lost_unasked() {
    let project = project(SLICE);
    project.run(&[]);
    project.write("models/gold/sales.sql", model(&SLICE.replace("day", "month")));
    let kept = std::fs::read_to_string(project.path("data/sales/2026-02-10.csv")).unwrap();
    project.remove("data/sales/2026-02-10.csv");
    let before = rows(&project);
    let done = rebuild(&project, 4, &[]);
    assert_eq!(
        (done["swapped"].as_bool(), done["missing"][0]["label"].as_str()),
        (Some(false), Some("2026-02")),
        "{done}"
    );
    assert_eq!(rows(&project), before);
    project.write("data/sales/2026-02-10.csv", kept);
    rebuild(&project, 0, &[]);
    ends_as_a_fresh_build(&project);
}

#[test]
fn without_an_interval_that_is_due_nothing_is_swapped() {
    for settings in [SLICE, MERGE, HISTORY] {
        let project = project(settings);
        project.edit("oncemore.yml", "end: 2026-04-01", "end: 2026-01-20");
        project.run(&[]);
        // By what they hold: their labels follow the settings.
        let slices = || {
            project.query(
                "SELECT fingerprint, rows, code_version FROM oncemore.slices WHERE model = 'gold.sales'",
            )
        };
        let (before, kept) = (rows(&project), slices());
        project.write("models/gold/sales.sql", model(&settings.replace("interval: day", "interval: month")));
        let refused = |why: &str| {
            for _ in 0..2 {
                let (code, said) = project.said(&["rebuild", "gold.sales", "--yes"]);
                assert_eq!(code, Some(4), "{said}");
                assert!(said.contains("no interval of `gold.sales` is due") && said.contains(why), "{said}");
                assert!(said.contains("the table is as it was") && !said.contains("built anew"), "{said}");
                assert_eq!((rows(&project), slices()), (before.clone(), kept.clone()));
            }
        };
        refused("2026-01 would be due from 2026-02-01, and `end` is 2026-01-20");
        // Nothing is due of what lies ahead.
        project.edit("oncemore.yml", "start: 2026-01-01\nend: 2026-01-20", "start: 2126-01-05");
        refused("2126-01 is due from 2126-02-01");
        project.edit("oncemore.yml", "start: 2126-01-05", "start: 2026-01-01\nend: 2026-04-01");
        rebuild(&project, 0, &[]);
        ends_as_a_fresh_build(&project);
    }
}

#[test]
fn slices_that_the_new_table_cannot_have_yet_go_by_consent() {
    for settings in [SLICE, MERGE, HISTORY] {
        let project = project(settings);
        project.edit("oncemore.yml", "end: 2026-04-01", "end: 2026-03-20");
        project.run(&[]);
        let before = rows(&project);
        project.write("models/gold/sales.sql", model(&settings.replace("interval: day", "interval: month")));
        let refused = |why: &str| {
            let (code, said) = project.said(&["rebuild", "gold.sales"]);
            assert_eq!(code, Some(2), "{said}");
            assert!(said.contains(why) && said.contains("`oncemore rebuild gold.sales --yes`"), "{said}");
            assert_eq!(rows(&project), before);
            assert!(!project.path("warehouse/gold/sales__rebuild").exists(), "begun");
        };
        refused("19 slices with rows (2026-03-01 to 2026-03-20) would be gone");
        // A later start leaves older slices out.
        project.write("models/gold/sales.sql", model(&settings.replace("interval: day", "interval: week")));
        project.edit(
            "oncemore.yml",
            "start: 2026-01-01\nend: 2026-03-20",
            "start: 2026-01-08\nend: 2026-03-23",
        );
        refused("4 slices with rows (2026-01-01 to 2026-01-05) would be gone");
        let done = rebuild(&project, 0, &["--yes"]);
        assert_eq!((done["swapped"].as_bool(), done["outside"].as_u64()), (Some(true), Some(4)), "{done}");
        ends_as_a_fresh_build(&project);
    }
}

#[test]
fn a_table_that_is_right_is_built_anew_all_the_same() {
    for settings in [SLICE, MERGE, FULL] {
        let project = project(settings);
        project.run(&[]);
        let before = project.query("SELECT \"interval\", fingerprint FROM oncemore.slices");
        let done = rebuild(&project, 0, &[]);
        let slices = if settings == FULL { 1 } else { 90 };
        assert_eq!(done["run"]["published"].as_u64(), Some(slices), "{done}");
        // What reads it finds what it found before.
        assert_eq!(project.tasks(), Vec::<String>::new());
        assert_eq!(project.query("SELECT \"interval\", fingerprint FROM oncemore.slices"), before);
        ends_as_a_fresh_build(&project);
    }
}

#[test]
fn chains_run_forward_beside_themselves() {
    let project = project(SLICE);
    let sum = "\
/* oncemore
kind: slice
interval: day
time: day
key: [day]
*/
SELECT CAST(:interval_start AS DATE) AS day, coalesce(max(p.total), 0) + count(s.id) AS total
  FROM (SELECT 1 AS one) AS o
  LEFT JOIN gold.sales AS s ON s.at >= :interval_start AND s.at < :interval_end
  LEFT JOIN previous(gold.running) AS p ON true
";
    project.write("models/gold/running.sql", sum);
    project.run(&[]);
    let before = project.query("SELECT * FROM gold.running");
    let (code, said) = project.said(&["rebuild", "gold.running"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("gold.running: 90 slices (2026-01-01 to 2026-03-31) to build beside it"), "{said}");
    assert_eq!(project.tasks(), Vec::<String>::new());
    assert_eq!(project.query("SELECT * FROM gold.running"), before);
    // The next correction travels through it as ever.
    project.write("data/sales/2026-03-30.csv", "id,item,at,amount\n");
    project.run(&[]);
    assert_eq!(project.tasks(), Vec::<String>::new());
    assert!(project.query("SELECT * FROM gold.running").last().unwrap().contains("89"));
}

#[test]
fn a_rebuild_is_not_begun_by_accident() {
    let project = project(SLICE);
    project.run(&[]);
    project.edit("oncemore.yml", "tasks: 1000", "tasks: 10");
    let (code, said) = project.said(&["rebuild", "gold.sales"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("90 slices to build anew, more than `limits.tasks: 10`; they take about"),
        "{said}"
    );
    assert!(said.contains("`oncemore rebuild gold.sales --yes`"), "{said}");
    let (code, said) = project.said(&["rebuild", "gold.sale"]);
    assert!(code == Some(2) && said.contains("did you mean `gold.sales`?"), "{code:?}: {said}");
    project.write("models/gold/some.sql", "/* oncemore\nkind: view\n*/\nSELECT id FROM gold.sales\n");
    let (code, said) = project.said(&["rebuild", "gold.some"]);
    assert!(code == Some(2) && said.contains("is a view"), "{code:?}: {said}");
    project.write("models/gold/x__rebuild.sql", "/* oncemore\nkind: full\n*/\nSELECT 1 AS a\n");
    let (code, said) = project.said(&["check"]);
    assert!(code == Some(3) && said.contains("is a name of Oncemore's own tables"), "{code:?}: {said}");
}

/// `plan` says what to type for all models that wait for their rebuilds, as one command.
#[test]
fn all_models_that_wait_are_named() {
    let project = project(SLICE);
    let names = ["b", "c", "d", "e", "f"];
    let write = |settings: &str| {
        project.write("models/gold/sales.sql", model(settings));
        names.iter().for_each(|name| project.write(&format!("models/gold/{name}.sql"), model(settings)));
    };
    project.write("models/gold/totals.sql", model(FULL));
    write(SLICE);
    project.run(&["--yes"]);
    let help = || {
        let (_, said) = project.said(&["plan"]);
        let mut lines = said.lines().filter(|line| line.starts_with("help: rebuild needed"));
        (lines.next().unwrap_or_default().to_owned(), lines.count())
    };
    let weeks = SLICE.replace("day", "week");
    project.write("models/gold/sales.sql", model(&weeks));
    project.write("models/gold/b.sql", model(&weeks));
    let (said, more) = help();
    assert_eq!(more, 0);
    let (_, commands) = said.split_once('`').unwrap();
    assert_eq!(commands, "oncemore rebuild gold.b && oncemore rebuild gold.sales`");
    write(&weeks);
    let (said, more) = help();
    assert_eq!(more, 0);
    let (_, commands) = said.split_once('`').unwrap();
    let first = ["b", "c", "d", "e"].map(|name| format!("oncemore rebuild gold.{name}")).join(" && ");
    assert_eq!(commands, format!("{first}`; then 2 more: gold.f, gold.sales"));
}
