//! A merged table in a project: devices that report by day, facts that read the last state of each.

use serde_json::Value;

use crate::bad_input::says;
use crate::project::Project;

const SETTINGS: &str = "\
name: devices
start: 2026-03-01
end: 2026-03-04
sources:
  raw.reports:
    path: data/reports/{interval:%Y-%m-%d}.csv
    time: at
    columns: {device: TEXT, at: TIMESTAMP, version: BIGINT, firmware: TEXT, op: TEXT}
  raw.uses:
    path: data/uses/{interval:%Y-%m-%d}.csv
    time: at
    columns: {device: TEXT, at: TIMESTAMP, hours: BIGINT}
";

const DEVICES: &str = "\
/* oncemore
kind: merge
interval: day
time: at
key: [device]
order_by: [version]
deleted: op = 'gone'
audits:
  - not_null: [firmware]
*/
SELECT device, at, version, firmware, op
  FROM raw.reports
 WHERE at >= :interval_start AND at < :interval_end
";

/// Facts by day that look a device up.
pub(crate) const USES: &str = "\
/* oncemore
kind: slice
interval: day
time: at
*/
SELECT u.device, u.at, u.hours, d.firmware
  FROM raw.uses AS u
  LEFT JOIN gold.devices AS d ON d.device = u.device
 WHERE u.at >= :interval_start AND u.at < :interval_end
";

const FIRST: &str =
    "a,2026-03-01 08:00:00,1,one,\nb,2026-03-01 09:00:00,1,one,\nc,2026-03-01 09:00:00,1,one,\n";
const SECOND: &str = "a,2026-03-02 08:00:00,2,two,\nb,2026-03-02 09:00:00,2,,gone\n";
const THIRD: &str = "c,2026-03-03 08:00:00,2,two,\n";

pub(crate) fn project() -> Project {
    let project = Project::empty();
    project.write("oncemore.yml", SETTINGS);
    project.write("models/gold/devices.sql", DEVICES);
    project.write("models/silver/uses.sql", USES);
    for (day, rows) in [("2026-03-01", FIRST), ("2026-03-02", SECOND), ("2026-03-03", THIRD)] {
        report(&project, day, rows);
        project.write(
            &format!("data/uses/{day}.csv"),
            format!("device,at,hours\na,{day} 12:00:00,1\nb,{day} 12:00:00,2\n"),
        );
    }
    project
}

fn report(project: &Project, day: &str, rows: &str) {
    project.write(&format!("data/reports/{day}.csv"), format!("device,at,version,firmware,op\n{rows}"));
}

fn state(project: &Project) -> Vec<String> {
    project.query("SELECT device, version, firmware FROM gold.devices")
}

const LAST: [&str; 2] =
    [r#"{"device":"a","firmware":"two","version":2}"#, r#"{"device":"c","firmware":"two","version":2}"#];

#[test]
fn the_last_change_of_each_key_is_there_in_any_order_of_runs() {
    for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
        let project = project();
        for day in order {
            let interval = format!("2026-03-0{day}");
            project.run(&["gold.devices", "--interval", &interval]);
        }
        assert_eq!(state(&project), LAST, "{order:?}");
        assert_eq!(project.query("SELECT device FROM gold.devices__changes").len(), 6);
        let slices = project.query("SELECT \"interval\", rows FROM gold.devices__slices");
        assert_eq!(slices[0], r#"{"interval":"2026-03-01","rows":3}"#);
        assert_eq!(project.tasks().iter().filter(|task| task.starts_with("gold")).count(), 0);
    }
}

#[test]
fn a_key_that_vanishes_from_a_day_falls_back_or_disappears_and_readers_follow() {
    let project = project();
    project.run(&[]);
    let uses = "SELECT DISTINCT device, firmware FROM silver.uses";
    assert_eq!(
        project.query(uses),
        [r#"{"device":"a","firmware":"two"}"#, r#"{"device":"b","firmware":null}"#]
    );
    assert_eq!(project.tasks(), Vec::<String>::new());
    // The deletion of b and the change of a were wrong; c never was.
    report(&project, "2026-03-02", "");
    report(&project, "2026-03-03", "");
    report(&project, "2026-03-01", "a,2026-03-01 08:00:00,1,one,\nb,2026-03-01 09:00:00,1,one,\n");
    let done = project.run(&["--yes"]);
    assert_eq!(
        (done["published"].as_u64(), done["failed"].as_array().map(Vec::len)),
        (Some(6), Some(0)),
        "{done}"
    );
    assert_eq!(
        state(&project),
        [r#"{"device":"a","firmware":"one","version":1}"#, r#"{"device":"b","firmware":"one","version":1}"#]
    );
    assert_eq!(
        project.query(uses),
        [r#"{"device":"a","firmware":"one"}"#, r#"{"device":"b","firmware":"one"}"#]
    );
    assert_eq!(project.tasks(), Vec::<String>::new());
}

#[test]
fn a_change_that_leaves_the_state_as_it_is_cuts_readers_off() {
    let project = project();
    project.run(&[]);
    // An older change of a device whose last one is newer.
    report(
        &project,
        "2026-03-01",
        &FIRST.replace("a,2026-03-01 08:00:00,1,one", "a,2026-03-01 08:00:00,1,other"),
    );
    let done = project.run(&["--yes"]);
    assert_eq!((done["published"].as_u64(), done["cut_off"].as_u64()), (Some(1), Some(3)), "{done}");
    assert_eq!(state(&project), LAST);
}

#[test]
fn the_version_of_the_state_is_that_of_the_columns_that_are_read() {
    let project = project();
    project.run(&[]);
    // The version of a device is in the state, and its uses do not read it.
    report(&project, "2026-03-03", "c,2026-03-03 08:00:00,3,two,\n");
    let done = project.run(&["--yes"]);
    assert_eq!((done["published"].as_u64(), done["cut_off"].as_u64()), (Some(1), Some(3)), "{done}");
    assert_eq!(state(&project)[1], r#"{"device":"c","firmware":"two","version":3}"#);
}

/// Labels of the slices that a plan reports.
fn reported(project: &Project) -> Vec<String> {
    let plan = project.plan_with(&[]);
    let found = plan["reported"].as_array().unwrap();
    found.iter().map(|slice| format!("{} {}", slice["label"], slice["inputs"][0]).replace('"', "")).collect()
}

fn firmwares(project: &Project) -> Vec<String> {
    project
        .query("SELECT CAST(CAST(at AS DATE) AS TEXT) AS day, firmware FROM silver.uses WHERE device = 'a'")
}

#[test]
fn a_change_of_the_state_is_reported_alone_where_the_model_says_so() {
    let project = project();
    project.edit("models/silver/uses.sql", "*/", "inputs:\n  gold.devices: {on_change: report}\n*/");
    project.run(&[]);
    assert_eq!(reported(&project), Vec::<String>::new());
    report(&project, "2026-03-02", &SECOND.replace("2,two", "2,three"));
    assert_eq!(project.tasks(), ["gold.devices 2026-03-02 input"]);
    project.run(&[]);
    assert_eq!(project.tasks(), Vec::<String>::new());
    let all = ["2026-03-01 gold.devices", "2026-03-02 gold.devices", "2026-03-03 gold.devices"];
    assert_eq!(reported(&project), all);
    assert!(firmwares(&project).iter().all(|row| row.contains("two")));
    insta::assert_snapshot!(says(&project, &["plan"]), @r"
    exit 0

    silver.uses  0 of 3 slices
      reported: input changed      3  2026-03-01 … 2026-03-03  (gold.devices)

    help: `on_change: report` runs nothing; compute anew: `oncemore run silver.uses --force`; or keep the rows: `oncemore accept silver.uses --from .. --to .. --because TEXT`

    nothing to run, 3 reported, 3 fresh
    ");
    let (_, status) = project.said(&["status", "--why"]);
    assert!(status.contains("reported: input changed\n  silver.uses  3 slices"), "{status}");
    let (_, story) = project.said(&["explain", "silver.uses", "2026-03-01"]);
    assert!(story.contains("reported: `gold.devices` changed since"), "{story}");
    // Kept on somebody's word, computed because it is asked for, computed for another reason.
    let because = ["accept", "silver.uses", "--interval", "2026-03-01", "--because", "as it was known"];
    assert_eq!(project.said(&because).0, Some(0));
    assert_eq!(reported(&project), all[1..]);
    project.run(&["silver.uses", "--interval", "2026-03-02", "--force"]);
    assert_eq!(reported(&project), all[2..]);
    project.write("data/uses/2026-03-03.csv", "device,at,hours\na,2026-03-03 12:00:00,5\n");
    project.run(&[]);
    assert_eq!(reported(&project), Vec::<String>::new());
    assert_eq!(
        firmwares(&project),
        [
            r#"{"day":"2026-03-01","firmware":"two"}"#,
            r#"{"day":"2026-03-02","firmware":"three"}"#,
            r#"{"day":"2026-03-03","firmware":"three"}"#
        ]
    );
    // Other audits look at the rows that are there, which stay those of the state as it was.
    report(&project, "2026-03-02", SECOND);
    project.run(&[]);
    project.edit("models/silver/uses.sql", "inputs:", "audits:\n  - not_null: [device]\ninputs:");
    project.run(&[]);
    assert_eq!(reported(&project), all);
}

#[test]
fn a_change_of_the_state_is_nothing_where_the_model_says_so() {
    let project = project();
    project.edit("models/silver/uses.sql", "*/", "inputs:\n  gold.devices: {on_change: ignore}\n*/");
    project.run(&[]);
    report(&project, "2026-03-02", &SECOND.replace("2,two", "2,three"));
    project.run(&[]);
    assert_eq!((project.tasks(), reported(&project)), (Vec::new(), Vec::new()));
    assert!(firmwares(&project).iter().all(|row| row.contains("two")));
}

#[test]
fn ties_are_counted_and_one_of_them_is_shown() {
    let project = project();
    report(
        &project,
        "2026-03-01",
        "a,2026-03-01 08:00:00,1,one,\na,2026-03-01 09:00:00,1,two,\nb,2026-03-01 09:00:00,1,one,\n",
    );
    let done = project.run(&["gold.devices"]);
    let ties = &done["ties"];
    assert_eq!((ties.as_array().map(Vec::len), ties[0]["keys"].as_u64()), (Some(1), Some(1)), "{done}");
    assert_eq!(ties[0]["label"], "2026-03-01");
    assert!(ties[0]["example"].as_str().is_some_and(|example| example.contains("device")), "{done}");
    let (_, story) = project.said(&["explain", "gold.devices", "2026-03-01"]);
    assert!(story.contains("1 key has differing changes of equal order, one of them: "), "{story}");
    let (code, said) = project.said(&["run", "gold.devices", "--force"]);
    assert!(code == Some(0) && said.contains("ties gold.devices 2026-03-01: 1 key has"), "{said}");
    let (_, story) = project.said(&["explain", "gold.devices", "2026-03-01"]);
    assert!(story.contains("1 key has differing changes"), "{story}");
    let (_, story) = project.said(&["explain", "gold.devices", "2026-03-02"]);
    assert!(!story.contains("differing changes"), "{story}");
}

/// Points a table at the metadata that it had before, as a roll-back by another tool does.
/// As another writer does it: the state before, under a newer name. An older name would be a catalog from a backup.
fn set_back(project: &Project, name: &str) {
    let catalog = rusqlite::Connection::open(project.path("warehouse/oncemore.db")).unwrap();
    let before = "SELECT previous_metadata_location FROM iceberg_tables WHERE table_name = ?1";
    let before: String = catalog.query_row(before, [name], |row| row.get(0)).unwrap();
    let before = std::path::PathBuf::from(before);
    let newer = before.with_file_name("00099-00000000-0000-4000-8000-0000000000ff.metadata.json");
    std::fs::copy(&before, &newer).unwrap();
    let moved = catalog.execute(
        "UPDATE iceberg_tables SET metadata_location = ?2 WHERE table_name = ?1",
        [name, newer.to_str().unwrap()],
    );
    assert_eq!(moved.unwrap(), 1);
}

#[test]
fn a_state_that_somebody_set_back_is_folded_again_with_the_next_change() {
    let project = project();
    for day in ["2026-03-01", "2026-03-02", "2026-03-03"] {
        project.run(&["gold.devices", "--interval", day]);
    }
    set_back(&project, "devices");
    assert_eq!(state(&project)[1], r#"{"device":"c","firmware":"one","version":1}"#);
    project.run(&["gold.devices", "--interval", "2026-03-01", "--force"]);
    // An unchanged slice of changes, and the state follows its log again all the same.
    assert_eq!(state(&project), LAST);
}

#[test]
fn changes_that_somebody_set_back_are_run_again() {
    let project = project();
    for day in ["2026-03-01", "2026-03-02", "2026-03-03"] {
        project.run(&["gold.devices", "--interval", day]);
    }
    // Stamps go back with the data: the slice is one that never ran.
    set_back(&project, "devices__changes");
    let own =
        |tasks: Vec<String>| tasks.into_iter().filter(|task| task.starts_with("gold")).collect::<Vec<_>>();
    assert_eq!(own(project.tasks()), ["gold.devices 2026-03-03 never_ran"]);
    project.run(&["gold.devices"]);
    assert_eq!(state(&project), LAST);
    assert_eq!(own(project.tasks()), Vec::<String>::new());
}

#[test]
fn a_correction_of_code_lands_though_no_order_changed() {
    let project = project();
    project.run(&[]);
    project.edit(
        "models/gold/devices.sql",
        "version, firmware, op",
        "version, upper(firmware) AS firmware, op",
    );
    project.run(&["gold.devices", "--interval", "2026-03-02", "--yes"]);
    assert_eq!(
        state(&project),
        [r#"{"device":"a","firmware":"TWO","version":2}"#, r#"{"device":"c","firmware":"two","version":2}"#]
    );
}

#[test]
fn ties_fail_where_they_are_to_fail() {
    let project = project();
    project.edit("models/gold/devices.sql", "deleted:", "ties: error\ndeleted:");
    report(&project, "2026-03-01", "a,2026-03-01 08:00:00,1,one,\na,2026-03-01 09:00:00,1,two,\n");
    let (code, said) = project.said(&["run", "gold.devices", "--interval", "2026-03-01"]);
    assert_eq!(code, Some(7), "{said}");
    assert!(said.contains("1 key has differing changes of equal order (version)"), "{said}");
    assert!(said.contains("add columns to `order_by`"), "{said}");
}

/// A feed that is delivered whole each day says the same again.
#[test]
fn a_change_that_comes_again_ties_with_nothing() {
    let project = project();
    project.edit("models/gold/devices.sql", "deleted:", "ties: error\ndeleted:");
    for day in ["2026-03-01", "2026-03-02"] {
        report(&project, day, &format!("a,{day} 08:00:00,1,one,\n"));
    }
    assert_eq!(project.run(&["gold.devices"])["ties"], serde_json::json!([]));
    report(&project, "2026-03-02", "a,2026-03-02 08:00:00,1,two,\n");
    let (code, said) = project.said(&["run", "gold.devices"]);
    assert!(code == Some(7) && said.contains("in two intervals"), "{code:?} {said}");
}

/// One key in two intervals, equal in order; another one in the first and in the last.
fn of_two_intervals(ties: &str) -> Project {
    let project = project();
    project.edit("models/gold/devices.sql", "deleted:", &format!("ties: {ties}\ndeleted:"));
    report(&project, "2026-03-01", "a,2026-03-01 08:00:00,1,two,\nc,2026-03-01 09:00:00,1,one,\n");
    report(&project, "2026-03-02", "a,2026-03-02 08:00:00,1,one,\n");
    project
}

const TWO_ORDERS: [[&str; 2]; 2] = [["2026-03-01", "2026-03-02"], ["2026-03-02", "2026-03-01"]];

#[test]
fn a_tie_of_two_intervals_is_counted_where_the_second_is_published() {
    for [first, second] in TWO_ORDERS {
        let project = of_two_intervals("warn");
        let none = serde_json::json!([]);
        assert_eq!(project.run(&["gold.devices", "--interval", first])["ties"], none);
        let done = project.run(&["gold.devices", "--interval", second]);
        let [tie] = done["ties"].as_array().unwrap().as_slice() else { panic!("{done}") };
        assert_eq!((tie["keys"].as_u64(), tie["across"].as_bool()), (Some(1), Some(true)), "{done}");
        let example = tie["example"].as_str().unwrap();
        assert!(
            example.contains("device = a") && example.contains(&format!("start = {first}T")),
            "{example}"
        );
        assert_eq!(tie["label"], second);
        // `at` is the first of the other columns.
        let devices = project.query("SELECT device, firmware FROM gold.devices WHERE device = 'a'");
        assert_eq!(devices, [r#"{"device":"a","firmware":"one"}"#]);
        let told = "1 key has differing changes of equal order in two intervals, one of them: ";
        let explains = |day: &str| project.said(&["explain", "gold.devices", day]).1.contains(told);
        assert!(explains(second) && !explains(first));
        // A slice that comes out as it was brings none, and what is known of its rows stays known.
        let (code, said) = project.said(&["run", "gold.devices", "--force", "--interval", second]);
        assert!(code == Some(0) && !said.contains("ties"), "{said}");
        assert!(explains(second));
        let corrected = if second == "2026-03-01" { "a,2026-03-01 08:00:00,1,six,\n" } else { "" };
        report(&project, second, &format!("{corrected}d,{second} 08:00:00,1,six,\n"));
        let (code, said) = project.said(&["run", "gold.devices", "--interval", second]);
        assert_eq!((code, said.contains(told)), (Some(0), !corrected.is_empty()), "{said}");
    }
}

#[test]
fn a_tie_of_two_intervals_fails_the_second_that_is_published() {
    for [first, second] in TWO_ORDERS {
        let project = of_two_intervals("error");
        project.run(&["gold.devices", "--interval", first]);
        let before = state(&project);
        // However often it is tried.
        for _ in 0..2 {
            let done = project.run_to(7, &["gold.devices", "--interval", second]);
            let failure = &done["failed"][0];
            let message = failure["message"].as_str().unwrap();
            let said = "1 key has differing changes of equal order (version) in two intervals; one of them: device = a";
            assert!(message.starts_with(said), "{message}");
            assert!(failure["help"].as_str().unwrap().contains("`time` among them"), "{done}");
            assert_eq!((&failure["state"], &failure["label"]), (&"unchanged".into(), &second.into()));
            assert_eq!(state(&project), before);
        }
        report(&project, second, &format!("a,{second} 08:00:00,2,one,\n"));
        assert_eq!(project.run(&["gold.devices", "--interval", second])["published"], 1);
        // What hid the other change goes: it ties with the next.
        let third = "a,2026-03-03 08:00:00,1,six,\n";
        report(&project, "2026-03-03", third);
        project.run(&["gold.devices", "--interval", "2026-03-03"]);
        report(&project, second, "");
        let done = project.run_to(7, &["gold.devices", "--interval", second]);
        assert_eq!(done["failed"][0]["label"], second, "{done}");
    }
}

#[test]
fn of_two_intervals_that_tie_in_one_run_one_fails_and_all_others_go_on() {
    let project = of_two_intervals("error");
    let done = project.run_to(7, &["gold.devices"]);
    let failed = done["failed"].as_array().map(Vec::len);
    assert_eq!((done["published"].as_u64(), failed), (Some(2), Some(1)), "{done}");
    assert_eq!(project.query("SELECT device FROM gold.devices__changes WHERE device = 'a'").len(), 1);
    // So it is where a table is built anew; the old one stays.
    let (code, said) = project.said(&["rebuild", "gold.devices", "--yes"]);
    assert!(code == Some(7) && said.contains("in two intervals; one of them"), "{said}");
    // The time tells intervals apart.
    project.edit("models/gold/devices.sql", "order_by: [version]", "order_by: [version, at]");
    let (code, said) = project.said(&["rebuild", "gold.devices", "--yes"]);
    assert_eq!((code, said.contains("differing")), (Some(0), false), "{said}");
    assert_eq!(project.query("SELECT device FROM gold.devices__changes WHERE device = 'a'").len(), 2);
}

#[test]
fn what_the_settings_name_must_be_there() {
    for (from, to, wanted) in [
        ("order_by: [version]", "order_by: [revision]", "no column `revision`"),
        ("deleted: op = 'gone'", "deleted: version", "is no condition"),
        ("deleted: op = 'gone'", "deleted: removed = 1", "removed"),
        ("key: [device]", "key: [thing]", "thing"),
    ] {
        let project = project();
        project.edit("models/gold/devices.sql", from, to);
        let (code, said) = project.said(&["check"]);
        assert!(code == Some(3) && said.contains(wanted), "{code:?}: {said}");
    }
}

#[test]
fn another_order_over_stored_changes_is_refused() {
    let project = project();
    project.run(&[]);
    project.edit("models/gold/devices.sql", "order_by: [version]", "order_by: [at]");
    let (code, said) = project.said(&["run", "--yes"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("`order_by` of `gold.devices` was [version] and is now [at]"), "{said}");
    assert_eq!(state(&project), LAST);
}

#[test]
fn the_state_and_its_changes_are_shown() {
    let project = project();
    project.run(&[]);
    report(&project, "2026-03-02", "");
    project.run(&["gold.devices"]);
    let (_, said) = project.said(&["diff", "gold.devices", "--output", "json"]);
    let diff: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (diff["changed"].as_u64(), diff["new"].as_u64(), diff["gone"].as_u64()),
        (Some(1), Some(1), Some(0)),
        "{said}"
    );
    let (_, said) = project.said(&["diff", "gold.devices", "--interval", "2026-03-02", "--output", "json"]);
    let diff: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(diff["gone"].as_u64(), Some(2), "{said}");
    let (_, said) = project.said(&["status", "--output", "json"]);
    let status: Value = serde_json::from_str(&said).unwrap();
    let rows = status.to_string();
    assert!(rows.contains("gold.devices") && !rows.contains("__changes"), "{said}");
    let (code, said) = project.said(&["explain", "gold.devices", "2026-03-02"]);
    assert!(code == Some(0) && said.contains("2026-03-02"), "{said}");
    let (code, said) = project.said(&["ledger", "rebuild"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(project.tasks().iter().filter(|task| task.starts_with("gold")).count(), 0);
    project.said(&["gc"]);
    assert_eq!(state(&project).len(), 3);
}

#[test]
fn what_is_kept_beside_is_shown() {
    let project = project();
    project.run(&["gold.devices"]);
    let deleted = project.query("SELECT device, version FROM gold.devices__deleted");
    assert_eq!(deleted, [r#"{"device":"b","version":2}"#]);
    let none = project.query("SELECT device FROM gold.devices__deleted WHERE firmware = 'none'");
    assert_eq!(none, Vec::<String>::new());
    let (code, said) = project.said(&["query", "DELETE FROM gold.devices"]);
    assert!(code == Some(3) && said.contains("`query` takes one SELECT, nothing else"), "{code:?}: {said}");
    assert!(said.contains("`oncemore run`") && !said.contains("a model is"), "{said}");
    project.edit("models/gold/devices.sql", "deleted: op = 'gone'\n", "");
    let (code, said) = project.said(&["query", "SELECT * FROM gold.devices__deleted"]);
    assert!(code == Some(3) && said.contains("no table is called"), "{code:?}: {said}");
}
