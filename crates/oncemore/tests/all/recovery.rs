//! After something went wrong beside the project: a table that somebody set back, a ledger from a backup, a clock that was
//! set back, clean-up beside a run. Each is named, and nothing wrong is written.

use std::process::Stdio;

use rusqlite::Connection;
use serde_json::Value;

use crate::claims::Stopped;
use crate::project::{Project, both};

fn database(project: &Project) -> Connection {
    Connection::open(project.path("warehouse/oncemore.db")).unwrap()
}

/// Points `main` of a table at the snapshot before its head, as another writer's rollback does.
fn set_back(project: &Project, schema: &str, table: &str) {
    let connection = database(project);
    let place = "SELECT metadata_location FROM iceberg_tables WHERE table_namespace = ?1 AND table_name = ?2";
    let location: String = connection.query_row(place, [schema, table], |row| row.get(0)).unwrap();
    let mut metadata: Value = serde_json::from_slice(&std::fs::read(&location).unwrap()).unwrap();
    let current = metadata["current-snapshot-id"].clone();
    let snapshots = metadata["snapshots"].as_array().unwrap();
    let head = snapshots.iter().find(|snapshot| snapshot["snapshot-id"] == current).unwrap();
    let before = head["parent-snapshot-id"].clone();
    assert!(before.is_number());
    metadata["current-snapshot-id"] = before.clone();
    metadata["refs"]["main"]["snapshot-id"] = before.clone();
    let entry = serde_json::json!({ "snapshot-id": before, "timestamp-ms": metadata["last-updated-ms"] });
    metadata["snapshot-log"].as_array_mut().unwrap().push(entry);
    let name = location.rsplit('/').next().unwrap();
    let version: u64 = name.split('-').next().unwrap().parse().unwrap();
    let fresh = format!("{:05}-00000000-0000-4000-8000-000000000000.metadata.json", version + 1);
    let fresh = location.replace(name, &fresh);
    std::fs::write(&fresh, serde_json::to_vec(&metadata).unwrap()).unwrap();
    let swap = "UPDATE iceberg_tables SET metadata_location = ?1 WHERE metadata_location = ?2";
    assert_eq!(connection.execute(swap, [&fresh, &location]).unwrap(), 1);
}

/// What a run says that must not begin tables anew, and that the ledger made again has them all.
#[track_caller]
fn refused_until_the_ledger_is_made_again(project: &Project, message: &str) {
    let (code, said) =
        project.said(&["run", "silver.orders", "--interval", "2026-03-10", "--stale-parents", "ok"]);
    assert_eq!(code, Some(7), "{said}");
    assert!(said.contains(message) && said.contains("ledger rebuild"), "{said}");
    let (code, said) = project.said(&["ledger", "rebuild"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(project.tasks(), Vec::<String>::new());
    project.equals_a_fresh_build();
}

#[test]
fn a_ledger_that_lost_its_log_is_not_taken_for_that_of_a_new_warehouse() {
    let project = Project::run_once();
    for file in ["oncemore.db-wal", "oncemore.db-shm"] {
        let _ = std::fs::remove_file(project.path("warehouse").join(file));
    }
    std::fs::write(project.path("warehouse/oncemore.db"), "").unwrap();
    refused_until_the_ledger_is_made_again(&project, "is empty, and the tables beside it are there");
}

#[test]
fn a_table_that_the_ledger_does_not_know_is_not_begun_anew_over_its_files() {
    let project = Project::run_once();
    let connection = database(&project);
    connection.execute("DELETE FROM iceberg_tables WHERE table_name = 'orders'", []).unwrap();
    connection.execute("DELETE FROM om_index WHERE name = 'silver.orders'", []).unwrap();
    drop(connection);
    refused_until_the_ledger_is_made_again(&project, "does not know `silver.orders`, whose files are there");
}

/// The data files of one slice.
fn data_files(project: &Project, slice: &str) -> Vec<std::path::PathBuf> {
    let folder = std::fs::read_dir(project.path("warehouse").join(slice)).unwrap();
    folder.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_slice_whose_file_is_damaged_is_written_anew_when_forced() {
    let project = Project::run_once();
    let files = data_files(&project, "silver/orders/data/20260310T040000Z");
    let [file] = &files[..] else { panic!("{files:?}") };
    let size = usize::try_from(std::fs::metadata(file).unwrap().len()).unwrap();
    std::fs::write(file, vec![7u8; size]).unwrap();
    let (code, said) = project.said(&["query", "SELECT sum(amount) FROM silver.orders"]);
    assert_eq!(code, Some(7), "{said}");
    assert!(said.contains("--force"), "{said}");
    let done = project.run(&["silver.orders", "--force"]);
    assert_eq!((done["published"].as_u64(), done["unchanged"].as_u64()), (Some(1), Some(13)));
    project.equals_a_fresh_build();
}

#[test]
fn a_table_that_was_set_back_is_named_and_left_alone() {
    let project = Project::run_once();
    project.edit("data/orders/2026-03-10.csv", ",10,morning", ",12,morning");
    project.run(&[]);
    set_back(&project, "silver", "orders");
    let before = project.query("SELECT id, amount FROM silver.orders");
    let (code, said) = project.said(&["status", "--why"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("set back to an older snapshot"), "{said}");
    let (code, said) = project.said(&["run"]);
    assert_eq!(code, Some(4), "{said}");
    for part in [
        "failed: silver.orders 2026-03-10: somebody else wrote into it: the table was set back to an older snapshot",
        "slice unchanged",
        "`oncemore run silver.orders --interval 2026-03-10 --replace-foreign`",
    ] {
        assert!(said.contains(part), "{part:?} is not in {said}");
    }
    assert_eq!(project.query("SELECT id, amount FROM silver.orders"), before);
    project.run(&["silver.orders", "--replace-foreign"]);
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn a_ledger_from_a_backup_is_named_and_made_anew() {
    let project = Project::run_once();
    let copy = project.path("backup.db");
    database(&project).execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    project.edit("data/orders/2026-03-10.csv", ",10,morning", ",12,morning");
    project.run(&[]);
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(project.path(&format!("warehouse/oncemore.db{suffix}")));
    }
    std::fs::copy(&copy, project.path("warehouse/oncemore.db")).unwrap();
    for command in [&["status"][..], &["plan"], &["run"], &["gc"]] {
        let (code, said) = project.said(command);
        assert_eq!(code, Some(7), "{command:?}: {said}");
        assert!(said.contains("the catalog is older than `") && said.contains("from a backup"), "{said}");
        assert!(said.contains("help: `oncemore ledger rebuild`"), "{said}");
    }
    let (code, said) = project.said(&["ledger", "rebuild"]);
    assert_eq!(code, Some(0), "{said}");
    project.equals_a_fresh_build();
    project.edit("data/orders/2026-03-11.csv", ",10,morning", ",13,morning");
    project.run(&[]);
    project.equals_a_fresh_build();
}

/// Requests are numbered by the clock, and never go back with it.
#[test]
fn a_clock_that_was_set_back_is_named() {
    let project = Project::run_once();
    let raise = "UPDATE om_meta SET value = value + 7200000 WHERE key = 'request'";
    database(&project).execute(raise, []).unwrap();
    project.edit("data/orders/2026-03-10.csv", ",10,morning", ",12,morning");
    let (code, said) = project.said(&["run"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("warning: the clock is ") && said.contains("was it set back?"), "{said}");
    project.equals_a_fresh_build();
}

#[test]
fn what_a_killed_run_left_is_told_by_token() {
    let project = crate::claims::busy_shop("10 minutes");
    Stopped::start(&project).kill();
    let (code, said) = project.said(&["resolve"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("1 attempt resolved: 0 published, 1 not\n  silver.orders ["), "{said}");
    assert!(said.contains(", attempt ") && said.contains(": not published"), "{said}");
    Stopped::start(&project).kill();
    let (code, said) = project.said(&["run"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("an earlier run ended early: of 1 open slice it had published 0"), "{said}");
    // The answer of a commit that nobody heard.
    let lost = "UPDATE om_attempts SET state = 'open', ended = NULL WHERE state = 'committed' AND name = 'gold.shops'";
    database(&project).execute(lost, []).unwrap();
    let (code, said) = project.said(&["resolve"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("gold.shops [-inf, +inf), attempt ") && said.contains(": published\n"), "{said}");
    project.equals_a_fresh_build();
}

/// Clean-up without delay, again and again, while runs publish slice by slice.
#[test]
fn clean_up_beside_a_run_harms_neither() {
    let project = Project::run_once();
    for round in 0..3 {
        project.edit("data/orders/2026-03-10.csv", "morning", &format!("morning{round}"));
        let mut run = project
            .command(&["run", "--force", "--yes", "--single-commits"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while run.try_wait().unwrap().is_none() {
            let (code, said) = project.said(&["gc", "--older-than", "0s"]);
            assert_eq!(code, Some(0), "{said}");
            // Without a pause it takes the files of each commit before that gets to the catalog.
            std::thread::sleep(std::time::Duration::from_millis(150));
        }
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", both(&output));
    }
    project.equals_a_fresh_build();
    project.said(&["gc", "--older-than", "0s"]);
    let (code, said) = project.said(&["gc", "--older-than", "0s"]);
    assert_eq!((code, said.trim()), (Some(0), "0 files removed, 0 B"));
    project.equals_a_fresh_build();
}
