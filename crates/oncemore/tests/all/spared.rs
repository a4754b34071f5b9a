//! Facts that look a dimension up by its key: a change of the dimension concerns the slices that hold a changed key, and
//! no others.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::bad_input::says;
use crate::merges::USES;
use crate::numbers::{Numbers, seed};
use crate::project::{Project, copy};

const SETTINGS: &str = "\
name: devices
start: 2026-03-01
end: 2026-03-11
sources:
  raw.reports:
    path: data/reports/{interval:%Y-%m-%d}.csv
    time: at
    missing: empty
    columns: {device: TEXT, site: BIGINT, at: TIMESTAMP, version: BIGINT, firmware: TEXT, op: TEXT}
  raw.uses:
    path: data/uses/{interval:%Y-%m-%d}.csv
    time: at
    columns: {device: TEXT, site: BIGINT, kind: TEXT, at: TIMESTAMP, hours: BIGINT}
";

const DEVICES: &str = "\
/* oncemore
kind: merge
interval: day
time: at
key: [device]
order_by: [version]
deleted: op = 'gone'
*/
SELECT device, site, at, version, firmware, op
  FROM raw.reports
 WHERE at >= :interval_start AND at < :interval_end
";

/// The facts that all projects here have.
const FACTS: &str = "silver.uses";
const DAYS: std::ops::RangeInclusive<u32> = 1..=10;

fn day(number: u32) -> String {
    format!("2026-03-{number:02}")
}

/// Device `p` is used on the third and the seventh day, `q` on the second and the ninth, which no report knows; `a` on all.
fn project() -> Project {
    let project = Project::empty();
    project.write("oncemore.yml", SETTINGS);
    project.write("models/gold/devices.sql", DEVICES);
    project.write("models/silver/uses.sql", USES);
    report(&project, "a,1,$,1,one,\np,1,$,1,one,\nz,1,$,1,one,\n");
    for number in DAYS {
        let also = match number {
            3 | 7 => "p",
            2 | 9 => "q",
            _ => "a",
        };
        uses(&project, number, &["a", also]);
    }
    project
}

/// What is reported on the first day.
fn report(project: &Project, rows: &str) {
    let rows = rows.replace('$', "2026-03-01 08:00:00");
    project.write("data/reports/2026-03-01.csv", format!("device,site,at,version,firmware,op\n{rows}"));
}

fn uses(project: &Project, number: u32, devices: &[&str]) {
    let day = day(number);
    let rows = devices.iter().map(|device| format!("{device},1,k,{day} 12:00:00,2\n"));
    let rows = rows.collect::<String>();
    project.write(&format!("data/uses/{day}.csv"), format!("device,site,kind,at,hours\n{rows}"));
}

/// Labels of a list of a plan, of one model.
fn labels(plan: &Value, list: &str, model: &str) -> Vec<String> {
    let slices = plan[list].as_array().unwrap().iter().filter(|slice| slice["model"] == model);
    slices.map(|slice| slice["label"].as_str().unwrap()[8..].to_owned()).collect()
}

/// The days of the facts that are to be computed, and those that are spared.
fn planned(project: &Project) -> (Vec<String>, Vec<String>) {
    let plan = project.plan_with(&[]);
    (labels(&plan, "tasks", FACTS), labels(&plan, "spared", FACTS))
}

fn all_but(without: &[&str]) -> Vec<String> {
    DAYS.map(|number| format!("{number:02}")).filter(|day| !without.contains(&day.as_str())).collect()
}

/// What a run did: slices published, unchanged, spared, cut off.
fn done(report: &Value) -> [u64; 4] {
    assert_eq!(report["failed"], Value::Array(vec![]), "{report}");
    ["published", "unchanged", "spared", "cut_off"].map(|word| report[word].as_u64().unwrap())
}

fn rows(project: &Project, tables: &[&str]) -> BTreeMap<String, Vec<String>> {
    let rows = |table: &&str| ((*table).to_owned(), project.query(&format!("SELECT * FROM {table}")));
    tables.iter().map(rows).collect()
}

/// Nothing is left to do, and the tables are those of a build of the same inputs in another folder.
#[track_caller]
fn equals_a_fresh_build(project: &Project, tables: &[&str]) {
    equals(project, tables, "");
}

#[track_caller]
fn equals(project: &Project, tables: &[&str], place: &str) {
    let plan = project.plan_with(&[]);
    assert_eq!((&plan["tasks"], &plan["spared"]), (&Value::Array(vec![]), &Value::Array(vec![])), "{place}");
    let fresh = Project::empty();
    for part in ["oncemore.yml", "models", "data"] {
        copy(&project.path(part), &fresh.path(part));
    }
    fresh.run(&["--yes"]);
    assert_eq!(rows(project, tables), rows(&fresh, tables), "{place}");
}

const TABLES: [&str; 2] = ["gold.devices", FACTS];

/// Publishes a change of the dimension alone, then says what it means for the facts and runs these.
#[track_caller]
fn concerns(project: &Project, computed: &[&str]) {
    project.run(&["gold.devices"]);
    assert_eq!(planned(project), (computed.iter().map(|day| (*day).to_owned()).collect(), all_but(computed)));
    let [published, unchanged, spared, _] = done(&project.run(&["--yes"]));
    let computed = computed.len() as u64;
    assert_eq!((published + unchanged, spared), (computed, 10 - computed));
    equals_a_fresh_build(project, &TABLES);
}

#[test]
fn a_changed_key_concerns_the_days_that_hold_it() {
    let project = project();
    project.run(&[]);
    report(&project, "a,1,$,1,one,\np,1,$,2,two,\nz,1,$,1,one,\n");
    // Before the dimension has run nothing is known of its keys.
    assert_eq!(planned(&project), (all_but(&[]), vec![]));
    assert_eq!(done(&project.run(&["--yes"])), [3, 0, 8, 0]);
    equals_a_fresh_build(&project, &TABLES);
    assert_eq!(done(&project.run(&[])), [0, 0, 0, 0]);
    // The same in two steps.
    report(&project, "a,1,$,1,one,\np,1,$,3,three,\nz,1,$,1,one,\n");
    project.run(&["gold.devices"]);
    insta::assert_snapshot!(says(&project, &["plan"]), @r"
    exit 0

    silver.uses  2 of 10 slices
      input changed                            2  2026-03-03, 2026-03-07  (gold.devices)
      spared: input changed in other keys      8  2026-03-01 … 2026-03-02, 2026-03-04 … 2026-03-06, 2026-03-08 … 2026-03-10  (gold.devices)

    2 slices of 1 model to run, 8 to stamp anew, 10 fresh
    ");
    let (_, status) = project.said(&["status", "--why"]);
    assert!(
        status.contains(
            "fresh: an input changed, in none of the keys that these slices look up\n  silver.uses  8 slices"
        ),
        "{status}"
    );
    let (_, story) = project.said(&["explain", FACTS, "2026-03-04"]);
    let wanted = "fresh: `gold.devices` changed since, in none of the keys that this slice looks up";
    assert!(story.contains(wanted), "{story}");
    let (_, story) = project.said(&["explain", FACTS, "2026-03-03"]);
    assert!(story.contains("stale: what it read has changed since; `gold.devices`"), "{story}");
    // A range asks for its slices alone, and a reason that is none of theirs for none.
    let plan = project.plan_with(&["--from", "2026-03-05", "--to", "2026-03-08"]);
    assert_eq!(
        (labels(&plan, "tasks", FACTS), labels(&plan, "spared", FACTS)),
        (vec!["07".into()], vec!["05".into(), "06".into()])
    );
    let plan = project.plan_with(&["--reason", "code"]);
    assert_eq!((labels(&plan, "tasks", FACTS), labels(&plan, "spared", FACTS)), (vec![], vec![]));
    let (code, said) = project.said(&["run"]);
    assert!(code == Some(0) && said.contains("done: 2 published, 8 spared;"), "{said}");
    equals_a_fresh_build(&project, &TABLES);
}

#[test]
fn keys_that_come_and_go_concern_the_days_that_hold_them() {
    let project = project();
    project.run(&[]);
    report(&project, "a,1,$,1,one,\np,1,$,1,one,\nz,1,$,1,one,\nq,1,$,1,new,\n");
    concerns(&project, &["02", "09"]);
    report(&project, "a,1,$,1,one,\nz,1,$,1,one,\nq,1,$,1,new,\n");
    concerns(&project, &["03", "07"]);
    // As a deletion, and a key that no day holds.
    report(&project, "a,1,$,1,one,\nz,1,$,2,other,\nq,1,$,2,new,gone\n");
    concerns(&project, &["02", "09"]);
    report(&project, "a,1,$,1,one,\nz,1,$,3,another,\n");
    concerns(&project, &[]);
    report(&project, "a,1,$,2,all,\nz,1,$,3,another,\n");
    concerns(&project, &all_but(&[]).iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_dimension_that_was_empty_is_one_whose_keys_come() {
    let project = project();
    report(&project, "");
    project.run(&[]);
    report(&project, "p,1,$,1,one,\n");
    concerns(&project, &["03", "07"]);
    report(&project, "");
    concerns(&project, &["03", "07"]);
}

#[test]
fn null_finds_nothing_by_equality() {
    let project = project();
    uses(&project, 4, &["a", ""]);
    report(&project, "a,1,$,1,one,\n,1,$,1,one,\n");
    project.run(&[]);
    report(&project, "a,1,$,1,one,\n,1,$,2,two,\n");
    concerns(&project, &[]);
    // Where NULL finds NULL nothing is shown.
    project.edit("models/silver/uses.sql", "d.device = u.device", "d.device IS NOT DISTINCT FROM u.device");
    project.run(&["--yes"]);
    report(&project, "a,1,$,1,one,\n,1,$,3,three,\n");
    project.run(&["gold.devices"]);
    assert_eq!(planned(&project), (all_but(&[]), vec![]));
    assert_eq!(done(&project.run(&["--yes"])), [1, 9, 0, 0]);
    equals_a_fresh_build(&project, &TABLES);
}

#[test]
fn two_columns_are_one_key() {
    let project = project();
    project.edit("models/gold/devices.sql", "key: [device]", "key: [device, site]");
    project.edit("models/silver/uses.sql", "= u.device", "= u.device AND d.site = u.site");
    report(&project, "a,1,$,1,one,\np,1,$,1,one,\np,2,$,1,one,\n");
    project.run(&[]);
    report(&project, "a,1,$,1,one,\np,1,$,1,one,\np,2,$,2,two,\n");
    concerns(&project, &[]);
    report(&project, "a,1,$,1,one,\np,1,$,2,two,\np,2,$,2,two,\n");
    concerns(&project, &["03", "07"]);
    // By one of them: the days that hold its value.
    project.edit("models/silver/uses.sql", " AND d.site = u.site", "");
    project.run(&["--yes"]);
    report(&project, "a,1,$,1,one,\np,1,$,2,two,\np,2,$,3,three,\n");
    concerns(&project, &["03", "07"]);
}

#[test]
fn what_the_join_does_not_show_concerns_all_days() {
    for (from, to) in [
        (
            "LEFT JOIN gold.devices AS d ON",
            "LEFT JOIN (SELECT device, max(firmware) AS firmware FROM gold.devices GROUP BY device) AS d ON",
        ),
        ("d.device = u.device", "d.device >= u.device AND d.device < u.device || 'x'"),
        ("d.device = u.device", "d.device = lower(u.device)"),
        (
            "  LEFT JOIN gold.devices AS d ON d.device = u.device\n",
            "  LEFT JOIN gold.devices AS d ON d.device = u.device\n  LEFT JOIN gold.devices AS o ON o.device = d.device\n",
        ),
        ("d.firmware\n", "(SELECT max(firmware) FROM gold.devices) AS top, d.firmware\n"),
    ] {
        let project = project();
        project.edit("models/silver/uses.sql", from, to);
        project.run(&[]);
        report(&project, "a,1,$,1,one,\np,1,$,2,two,\nz,1,$,1,one,\n");
        project.run(&["gold.devices"]);
        assert_eq!(planned(&project), (all_but(&[]), vec![]), "{to}");
        assert_eq!(done(&project.run(&["--yes"]))[2], 0, "{to}");
        equals_a_fresh_build(&project, &TABLES);
    }
}

#[test]
fn audits_that_read_the_dimension_are_asked_again() {
    let project = project();
    let audit = "audits:\n  - relationship: {columns: [device], to: gold.devices}\n*/";
    project.edit("models/silver/uses.sql", "*/", audit);
    let (code, said) = project.said(&["check"]);
    assert_eq!(code, Some(0), "{said}");
    for number in DAYS {
        uses(&project, number, &["a", if number == 5 { "p" } else { "a" }]);
    }
    project.run(&[]);
    report(&project, "a,1,$,1,one,\np,1,$,2,two,\nz,1,$,1,one,\n");
    project.run(&["gold.devices"]);
    assert_eq!(planned(&project), (all_but(&[]), vec![]));
}

#[test]
fn facts_that_changed_too_are_computed() {
    let project = project();
    project.run(&[]);
    report(&project, "a,1,$,1,one,\np,1,$,2,two,\nz,1,$,1,one,\n");
    uses(&project, 5, &["a", "p"]);
    uses(&project, 7, &["a"]);
    concerns(&project, &["03", "05", "07"]);
    // Reported and ignored changes stay what they are.
    project.edit("models/silver/uses.sql", "*/", "inputs:\n  gold.devices: {on_change: report}\n*/");
    report(&project, "a,1,$,1,one,\np,1,$,3,three,\nz,1,$,1,one,\n");
    project.run(&[]);
    let plan = project.plan_with(&[]);
    assert_eq!(labels(&plan, "reported", FACTS), all_but(&[]));
    assert_eq!(planned(&project), (vec![], vec![]));
}

#[test]
fn what_somebody_vouched_for_stays_so() {
    let project = project();
    project.run(&[]);
    report(&project, "a,1,$,1,one,\np,1,$,2,two,\nz,1,$,1,one,\n");
    project.run(&["gold.devices"]);
    let because = ["accept", FACTS, "--interval", "2026-03-04", "--because", "as it was known"];
    assert_eq!(project.said(&because).0, Some(0));
    let because = ["accept", FACTS, "--interval", "2026-03-03", "--because", "as it was known"];
    assert_eq!(project.said(&because).0, Some(0));
    assert_eq!(planned(&project), (vec!["07".to_owned()], all_but(&["03", "04", "07"])));
    project.run(&[]);
    report(&project, "a,1,$,1,one,\np,1,$,2,two,\nz,1,$,2,two,\n");
    project.run(&[]);
    let (_, status) = project.said(&["status", "--why"]);
    assert!(status.contains("accepted\n  silver.uses  2 slices"), "{status}");
}

#[test]
fn a_version_that_is_not_kept_tells_nothing() {
    let project = project();
    project.run(&[]);
    // The newest twenty snapshots are kept, and one of six hours.
    for version in 2..26 {
        report(&project, &format!("a,1,$,1,one,\np,1,$,{version},v{version},\nz,1,$,1,one,\n"));
        project.run(&["gold.devices"]);
    }
    project.said(&["gc", "--older-than", "0s"]);
    assert_eq!(planned(&project), (all_but(&[]), vec![]));
    assert_eq!(done(&project.run(&["--yes"])), [2, 8, 0, 0]);
    equals_a_fresh_build(&project, &TABLES);
}

#[test]
fn a_version_whose_files_are_lost_tells_nothing() {
    let project = project();
    project.run(&[]);
    let folder = project.path("warehouse/gold/devices/data");
    let old = files_in(&folder);
    report(&project, "a,1,$,1,one,\np,1,$,2,two,\nz,1,$,1,one,\n");
    project.run(&["gold.devices"]);
    assert_eq!(planned(&project).1.len(), 8);
    old.iter().for_each(|file| std::fs::remove_file(file).unwrap());
    let kept = project.said(&["query", "SELECT * FROM gold.devices"]).0;
    assert_eq!(kept, Some(0), "the table of before is of other files");
    assert_eq!(planned(&project), (all_but(&[]), vec![]));
    assert_eq!(done(&project.run(&["--yes"])), [2, 8, 0, 0]);
}

fn files_in(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
}

#[test]
fn a_table_that_was_built_anew_has_no_version_to_compare_with() {
    let project = project();
    project.run(&[]);
    project.edit("models/gold/devices.sql", "order_by: [version]", "order_by: [version, at]");
    report(&project, "a,1,$,1,one,\np,1,$,2,two,\nz,1,$,1,one,\n");
    let (code, said) = project.said(&["rebuild", "gold.devices", "--yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(planned(&project), (all_but(&[]), vec![]));
    project.run(&["--yes"]);
    report(&project, "a,1,$,1,one,\np,1,$,3,three,\nz,1,$,1,one,\n");
    concerns(&project, &["03", "07"]);
}

#[test]
fn histories_and_whole_tables_are_looked_up_as_well() {
    let project = project();
    project.edit("models/gold/devices.sql", "kind: merge", "kind: history\ninput: changes");
    project.edit(
        "models/silver/uses.sql",
        "d.device = u.device",
        "d.device = u.device AND u.at >= d.valid_from AND (u.at < d.valid_to OR d.valid_to IS NULL)",
    );
    project.run(&[]);
    let second = "p,1,2026-03-05 08:00:00,2,two,\n";
    project.write("data/reports/2026-03-05.csv", format!("device,site,at,version,firmware,op\n{second}"));
    // The third day comes out equal: its time is before the change.
    concerns(&project, &["03", "07"]);
    project.write(
        "models/gold/devices.sql",
        "/* oncemore\nkind: full\nkey: [device]\n*/\nSELECT device, firmware FROM raw.devices\n",
    );
    project.edit(
        "models/silver/uses.sql",
        " AND u.at >= d.valid_from AND (u.at < d.valid_to OR d.valid_to IS NULL)",
        "",
    );
    project.edit(
        "oncemore.yml",
        "sources:\n",
        "sources:\n  raw.devices:\n    path: data/devices.csv\n    columns: {device: TEXT, firmware: TEXT}\n",
    );
    project.write("data/devices.csv", "device,firmware\na,one\np,one\n");
    std::fs::remove_dir_all(project.path("warehouse")).unwrap();
    project.run(&[]);
    project.write("data/devices.csv", "device,firmware\na,one\np,two\nx,three\n");
    concerns(&project, &["03", "07"]);
}

/// A dimension by two columns, one of all rows at once, and a history, beside the devices; facts that look them up in all
/// the ways that show it and some that don't, by day and by week, over a source and over a table.
const MORE: [(&str, &str); 9] = [
    (
        "gold.places",
        "/* oncemore\nkind: merge\ninterval: day\ntime: at\nkey: [device, site]\norder_by: [version]\n*/
SELECT device, site, at, version, firmware FROM raw.reports WHERE at >= :interval_start AND at < :interval_end\n",
    ),
    (
        "gold.versions",
        "/* oncemore\nkind: history\ninterval: day\ntime: at\nkey: [device]\norder_by: [version]\ntrack: [firmware]\n*/
SELECT device, at, version, firmware FROM raw.reports WHERE at >= :interval_start AND at < :interval_end\n",
    ),
    ("gold.kinds", "/* oncemore\nkind: full\nkey: [kind]\n*/\nSELECT kind, label FROM raw.kinds\n"),
    (
        "silver.placed",
        "/* oncemore\nkind: slice\ninterval: day\ntime: at\n*/
SELECT u.device, u.site, u.at, p.firmware, k.label
  FROM raw.uses AS u
  JOIN gold.places AS p ON p.device = u.device AND p.site = u.site AND p.version < 5
  LEFT JOIN gold.kinds AS k ON k.kind = u.kind
 WHERE u.at >= :interval_start AND u.at < :interval_end\n",
    ),
    (
        "silver.unknown",
        "/* oncemore\nkind: slice\ninterval: day\ntime: at\n*/
SELECT u.device, u.at FROM raw.uses AS u
 WHERE u.at >= :interval_start AND u.at < :interval_end
   AND NOT EXISTS (SELECT 1 FROM gold.devices AS d WHERE d.device = u.device AND d.firmware <> 'two')
   AND u.kind IN (SELECT kind FROM gold.kinds)\n",
    ),
    (
        "silver.dated",
        "/* oncemore\nkind: slice\ninterval: day\ntime: day\n*/
SELECT CAST(u.at AS DATE) AS day, v.firmware, count(*) AS uses, sum(u.hours) AS hours
  FROM raw.uses AS u
  LEFT JOIN gold.versions AS v
    ON v.device = u.device AND u.at >= v.valid_from AND (u.at < v.valid_to OR v.valid_to IS NULL)
 WHERE u.at >= :interval_start AND u.at < :interval_end
 GROUP BY CAST(u.at AS DATE), v.firmware\n",
    ),
    (
        "gold.firmware_day",
        "/* oncemore\nkind: slice\ninterval: day\ntime: day\nkey: [day, firmware, place]\n*/
SELECT CAST(u.at AS DATE) AS day, coalesce(u.firmware, '?') AS firmware, coalesce(d.site, 0) AS place, count(*) AS uses
  FROM silver.uses AS u
  LEFT JOIN gold.devices AS d ON d.device = u.device
 WHERE u.at >= :interval_start AND u.at < :interval_end
 GROUP BY CAST(u.at AS DATE), coalesce(u.firmware, '?'), coalesce(d.site, 0)\n",
    ),
    (
        "gold.lately",
        "/* oncemore\nkind: slice\ninterval: day\ntime: day\n*/
SELECT CAST(:interval_start AS DATE) AS day, u.device, max(d.version) AS version, count(*) AS uses
  FROM silver.uses AS u
  LEFT JOIN gold.devices AS d ON u.device = d.device
 WHERE u.at >= :interval_start - INTERVAL '2 days' AND u.at < :interval_end
 GROUP BY u.device\n",
    ),
    (
        "gold.ranked",
        "/* oncemore\nkind: slice\ninterval: day\ntime: at\n*/
SELECT u.device, u.at, r.place
  FROM raw.uses AS u
  LEFT JOIN (SELECT device, rank() OVER (ORDER BY version) AS place FROM gold.devices) AS r ON r.device = u.device
 WHERE u.at >= :interval_start AND u.at < :interval_end\n",
    ),
];

/// A project of all of them, and what its files hold.
struct Random {
    project: Project,
    numbers: Numbers,
    /// By day.
    reports: BTreeMap<u32, Vec<String>>,
    uses: BTreeMap<u32, Vec<String>>,
    kinds: Vec<String>,
}

const KEYS: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", ""];

impl Random {
    fn new(seed: u64) -> Random {
        let project = Project::empty();
        project.write("oncemore.yml", SETTINGS);
        let kinds =
            "sources:\n  raw.kinds:\n    path: data/kinds.csv\n    columns: {kind: TEXT, label: TEXT}\n";
        project.edit("oncemore.yml", "sources:\n", kinds);
        project.edit("oncemore.yml", "sources:\n", "limits:\n  tasks: 10000\nsources:\n");
        project.write("models/gold/devices.sql", DEVICES);
        project.write("models/silver/uses.sql", USES);
        for (name, text) in MORE {
            project.write(&format!("models/{}.sql", name.replace('.', "/")), text);
        }
        let (reports, uses) = (BTreeMap::new(), BTreeMap::new());
        let mut random = Random { project, numbers: Numbers(seed), reports, uses, kinds: Vec::new() };
        for day in DAYS {
            random.report(day);
            random.use_devices(day);
        }
        random.name_kinds();
        random.write();
        random
    }

    fn report(&mut self, day: u32) {
        let count = self.numbers.below(4);
        let rows = (0..count).map(|_| {
            let key = *self.numbers.pick(&KEYS);
            let site = self.numbers.below(2);
            let version = self.numbers.below(6);
            let firmware = *self.numbers.pick(&["one", "two", "three", ""]);
            let op = *self.numbers.pick(&["", "", "", "gone"]);
            let hour = self.numbers.below(24);
            format!("{key},{site},2026-03-{day:02} {hour:02}:00:00,{version},{firmware},{op}")
        });
        let rows = rows.collect();
        self.reports.insert(day, rows);
    }

    fn use_devices(&mut self, day: u32) {
        let count = self.numbers.below(4);
        let rows = (0..count).map(|_| {
            let key = *self.numbers.pick(&KEYS);
            let (site, hours) = (self.numbers.below(2), self.numbers.below(9));
            let kind = *self.numbers.pick(&["k", "l", "m", ""]);
            // Often at the edges of a day.
            let time = *self.numbers.pick(&["00:00:00", "12:30:00", "23:59:59.999999"]);
            format!("{key},{site},{kind},2026-03-{day:02} {time},{hours}")
        });
        let rows = rows.collect();
        self.uses.insert(day, rows);
    }

    fn name_kinds(&mut self) {
        let kinds = ["k", "l", "m", "n"].into_iter();
        let kinds: Vec<_> = kinds.filter(|_| self.numbers.below(4) > 0).map(str::to_owned).collect();
        self.kinds = kinds.into_iter().map(|kind| format!("{kind},{}", self.numbers.below(3))).collect();
    }

    fn write(&self) {
        for (day, rows) in &self.reports {
            let text = format!("device,site,at,version,firmware,op\n{}\n", rows.join("\n"));
            self.project.write(&format!("data/reports/2026-03-{day:02}.csv"), text.replace("\n\n", "\n"));
        }
        for (day, rows) in &self.uses {
            let text = format!("device,site,kind,at,hours\n{}\n", rows.join("\n"));
            self.project.write(&format!("data/uses/2026-03-{day:02}.csv"), text.replace("\n\n", "\n"));
        }
        self.project.write(
            "data/kinds.csv",
            format!("kind,label\n{}\n", self.kinds.join("\n")).replace("\n\n", "\n"),
        );
    }

    /// Corrects dimensions, and now and then the facts.
    fn correct(&mut self) {
        for _ in 0..=self.numbers.below(2) {
            let day = 1 + self.numbers.below(10) as u32;
            match self.numbers.below(8) {
                0 => self.use_devices(day),
                1 => self.name_kinds(),
                _ => self.report(day),
            }
        }
        self.write();
    }

    /// Runs it all, often in steps; the number of slices spared.
    fn run(&mut self) -> u64 {
        let steps: &[&[&str]] = match self.numbers.below(4) {
            0 => &[&["gold.devices"], &["gold.places,gold.kinds"], &[]],
            1 => &[&["gold.*", "--stale-parents", "ok"], &[]],
            2 => &[&["--from", "2026-03-03", "--to", "2026-03-08", "--stale-parents", "ok"], &[]],
            _ => &[&[]],
        };
        steps.iter().map(|step| done(&self.project.run(step))[2]).sum()
    }
}

#[test]
fn whatever_is_corrected_the_tables_are_those_of_a_clean_build() {
    let seed = seed();
    let tables: Vec<&str> = TABLES.into_iter().chain(MORE.map(|(name, _)| name)).collect();
    let mut random = Random::new(seed);
    random.run();
    equals(&random.project, &tables, &format!("ONCEMORE_SEED={seed}, first build"));
    let mut spared = 0;
    for round in 0..6 {
        random.correct();
        if random.numbers.below(4) == 0 {
            random.correct();
        }
        spared += random.run();
        if random.numbers.below(5) == 0 {
            random.project.said(&["gc", "--compact", "--older-than", "0s"]);
        }
        equals(&random.project, &tables, &format!("ONCEMORE_SEED={seed}, round {round}"));
    }
    assert!(spared > 0, "ONCEMORE_SEED={seed}: nothing was ever spared");
}

/// Attempts on the facts that the ledger knows, by state and whether they computed.
fn attempts(project: &Project) -> usize {
    project.query(&format!("SELECT attempt FROM oncemore.attempts WHERE model = '{FACTS}'")).len()
}

#[test]
fn runs_that_spare_a_slice_do_not_bury_its_story() {
    let project = project();
    project.run(&[]);
    let computed = attempts(&project);
    assert_eq!(computed, 10);
    for firmware in 0..12 {
        report(&project, &format!("a,1,$,1,one,\np,1,$,1,one,\nz,1,$,1,{firmware},\n"));
        let report = project.run(&[]);
        assert_eq!(report["spared"], 10, "{report}");
    }
    assert_eq!(attempts(&project), computed + 12 * 10);
    let explained = || project.said(&["explain", FACTS, "2026-03-03"]).1;
    let said = explained();
    let story = said.split("attempts\n").nth(1).unwrap();
    let first = story.lines().next().unwrap();
    assert!(first.contains("committed") && first.contains("2 rows"), "{said}");
    assert!(story.contains("12 attempts gave it a new stamp alone"), "{said}");
    // The stamp that is there is kept, and so is what a reader of the ledger is told of it.
    let (tables, slices) = (rows(&project, &[FACTS]), project.query("SELECT * FROM oncemore.slices"));
    let (code, said) = project.said(&["gc", "--older-than", "0s"]);
    assert!(code == Some(0) && said.contains("110 attempts of superseded stamps forgotten"), "{said}");
    assert_eq!(attempts(&project), computed + 10);
    assert!(explained().contains("1 attempt gave it a new stamp alone"), "{}", explained());
    assert_eq!((rows(&project, &[FACTS]), project.query("SELECT * FROM oncemore.slices")), (tables, slices));
    let (_, said) = project.said(&["gc", "--older-than", "0s"]);
    assert!(!said.contains("forgotten"), "{said}");
    equals_a_fresh_build(&project, &[FACTS]);
}
