//! Tables that say nothing of themselves any more: whoever reads them is held, nobody else, and what is told to be typed
//! mends it.

use std::path::{Path, PathBuf};

use crate::project::{Project, copy};

/// Files of a table's metadata with this ending.
fn metadata_files(project: &Project, table: &str, ending: &str) -> Vec<PathBuf> {
    let folder = project.path("warehouse").join(table.replace('.', "/")).join("metadata");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files.filter(|file| file.to_string_lossy().ends_with(ending)).collect();
    assert!(!files.is_empty(), "{table} has no {ending}");
    files
}

fn cut_off(file: &Path) {
    let bytes = std::fs::read(file).unwrap();
    std::fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
}

const WAYS: [&str; 5] =
    ["metadata cut off", "map cut off", "metadata removed", "map removed", "folder removed"];

/// Takes from a table what it says of itself, in one of the [`WAYS`].
fn damage(project: &Project, table: &str, way: &str) {
    let ending = if way.starts_with("map") { ".bin" } else { ".metadata.json" };
    for file in metadata_files(project, table, ending) {
        match way.split_once(' ').unwrap() {
            (_, "cut off") => cut_off(&file),
            ("folder", _) => {
                std::fs::remove_dir_all(project.path("warehouse").join(table.replace('.', "/"))).unwrap();
                return;
            }
            _ => std::fs::remove_file(&file).unwrap(),
        }
    }
}

/// Does what the help says: moves folders away that it names, and types the commands that it names.
#[track_caller]
fn follow(project: &Project, said: &str) {
    let help = said.lines().find(|line| line.contains("have it made anew")).unwrap();
    if let Some((_, rest)) = help.split_once("move ") {
        let folders = rest.split(" out of the warehouse").next().unwrap().split(" and ");
        for folder in folders {
            let folder = folder.replace("<folder>", &project.folder.path().to_string_lossy());
            std::fs::rename(&folder, format!("{folder}.away")).unwrap();
        }
        let away = std::fs::read_dir(project.path("warehouse/gold")).unwrap();
        let away = away.map(|entry| entry.unwrap().path());
        away.filter(|path| path.extension().is_some())
            .for_each(|path| std::fs::remove_dir_all(path).unwrap());
    }
    for command in help.split('`').filter_map(|part| part.strip_prefix("oncemore ")) {
        let (code, said) = project.said(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(code, Some(0), "{command}: {said}");
    }
}

#[test]
fn a_table_that_is_damaged_holds_its_readers_and_nobody_else() {
    let whole = Project::run_once();
    for way in WAYS {
        let project = Project::empty();
        copy(whole.folder.path(), project.folder.path());
        // In its new place.
        let (code, said) = project.said(&["ledger", "rebuild"]);
        assert_eq!(code, Some(0), "{said}");
        damage(&project, "gold.city_day", way);
        project.edit("data/orders/2026-03-10.csv", ",10,morning", ",12,morning");
        let (code, status) = project.said(&["status", "--why"]);
        assert_eq!(code, Some(0), "{way}: {status}");
        assert!(status.contains("table damaged"), "{way}: {status}");
        let (code, said) = project.said(&["run"]);
        assert_eq!(code, Some(7), "{way}: {said}");
        for part in [
            "failed: gold.city_day 2026-03-02: the table `gold.city_day` can't be read: ",
            "slice unchanged",
            "silver.orders: 1 published",
            "`oncemore ledger rebuild`, then `oncemore run gold.city_day`",
        ] {
            assert!(said.contains(part), "{way}: {part:?} is not in {said}");
        }
        assert_eq!(said.matches("failed: ").count(), 1, "{way}: {said}");
        let held = project.held();
        let is_reader =
            |line: &String| line.starts_with("gold.city_day ") || line.starts_with("gold.city_week ");
        assert!(held.len() == 16 && held.iter().all(is_reader), "{way}: {held:?}");
        assert_eq!(project.query("SELECT amount FROM silver.orders WHERE id = 81"), [r#"{"amount":12}"#]);
        if way != "folder removed" {
            let (code, said) = project.said(&["ledger", "rebuild"]);
            assert_eq!(code, Some(7), "{way}: {said}");
            assert!(said.contains("the ledger is made anew from 3 tables"), "{way}: {said}");
            assert!(said.contains("gold.city_day` can't be read") && said.contains("move "), "{way}: {said}");
        }
        follow(&project, &said);
        project.run(&[]);
        project.equals_a_fresh_build();
    }
}

/// Its log, its state and what is beside them go together, whichever of them is damaged.
#[test]
fn a_merged_table_that_is_damaged_is_made_anew_with_its_log() {
    for table in ["gold.devices", "gold.devices__changes"] {
        let project = crate::merges::project();
        project.run(&[]);
        let rows =
            || ["gold.devices", "silver.uses"].map(|table| project.query(&format!("SELECT * FROM {table}")));
        let before = rows();
        damage(&project, table, "metadata cut off");
        let (code, said) = project.said(&["run"]);
        assert_eq!(code, Some(7), "{table}: {said}");
        assert!(said.contains(&format!("the table `{table}` can't be read: ")), "{table}: {said}");
        follow(&project, &said);
        project.run(&[]);
        assert_eq!(rows(), before, "{table}");
        assert_eq!(project.tasks(), Vec::<String>::new());
    }
}

/// What looks at all tables does the others, and names the one that it can't read.
#[test]
fn a_table_that_is_damaged_is_passed_over_by_who_looks_at_all() {
    for (table, way) in WAYS.map(|way| ("gold.city_day", way)).into_iter().chain([("silver.orders", WAYS[0])])
    {
        let project = Project::run_once();
        // Files that no table names, before and behind the damaged one.
        let left =
            |table: &str| format!("warehouse/{}/metadata/om-map-00000009-left.bin", table.replace('.', "/"));
        let tables = ["gold.city_day", "gold.city_week", "gold.shops", "silver.orders"];
        tables.iter().for_each(|table| project.write(&left(table), "left"));
        damage(&project, table, way);
        let named = format!("error: the table `{table}` can't be read: ");
        let help = format!("`oncemore ledger rebuild`, then `oncemore run {table}`");

        // The ledger knows a table by its slice map.
        let is_known = way.starts_with("metadata");
        let (code, said) = project.said(&["ledger", "show"]);
        assert_eq!(code, Some(if is_known { 0 } else { 7 }), "{table} {way}: {said}");
        assert!(
            said.contains("\ngold.shops ") && said.contains("\ngold.city_week "),
            "{table} {way}: {said}"
        );
        assert!(is_known || (said.contains(&named) && said.contains(&help)), "{table} {way}: {said}");

        let (code, said) = project.said(&["gc", "--older-than", "0s", "--compact"]);
        assert_eq!(code, Some(7), "{table} {way}: {said}");
        for other in tables.iter().filter(|other| **other != table) {
            assert!(!project.path(&left(other)).exists(), "{table} {way}: {other}: {said}");
        }
        let went = ["map removed", "folder removed"].contains(&way);
        assert!(went || project.path(&left(table)).exists(), "{table} {way}: {said}");
        assert_eq!(said.matches(&named).count(), 1, "{table} {way}: {said}");
        assert!(said.contains(&help), "{table} {way}: {said}");
        follow(&project, &said);
        project.run(&["--yes"]);
        project.equals_a_fresh_build();
    }
}

/// Its folder is where it was, but the files are those of another one.
#[test]
fn a_project_that_was_copied_says_what_to_type() {
    let whole = Project::run_once();
    let project = Project::empty();
    copy(whole.folder.path(), project.folder.path());
    for command in [&["status"][..], &["plan"], &["run"], &["explain", "silver.orders", "2026-03-10"]] {
        let (code, said) = project.said(command);
        assert_eq!(code, Some(3), "{command:?}: {said}");
        assert!(
            said.contains("the warehouse was moved or copied\nhelp: `oncemore ledger rebuild`"),
            "{said}"
        );
    }
    let (code, said) = project.said(&["ledger", "rebuild"]);
    assert_eq!(code, Some(0), "{said}");
    project.equals_a_fresh_build();
}
