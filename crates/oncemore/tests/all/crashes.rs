//! Processes that die, race or are started twice, and a ledger that is lost.

use std::process::Stdio;
use std::time::Duration;

use crate::numbers::Numbers;
use crate::project::{DAYS, Project, both, copy, usual};

#[test]
fn a_killed_run_is_finished_by_the_next() {
    let project = Project::new();
    for (number, pause) in [150, 400, 800].into_iter().enumerate() {
        let mut child = project.command(&["run", "--force", "--yes", "--single-commits"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        // SIGKILL on Unix: nothing of the process gets to clean up.
        child.kill().unwrap();
        child.wait().unwrap();
        project.edit("data/orders/2026-03-10.csv", ",morning", &format!("{number},morning"));
    }
    project.run(&[]);
    project.equals_a_fresh_build();
    let (code, said) = project.said(&["gc", "--older-than", "0s"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = project.said(&["gc", "--older-than", "0s"]);
    assert_eq!((code, said.trim()), (Some(0), "0 files removed, 0 B"));
    project.equals_a_fresh_build();
}

#[test]
fn two_processes_at_once_end_as_one() {
    let project = Project::new();
    let spawn = |_| project.command(&["run"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let children = [0, 1].map(spawn);
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 4)), "{}", both(&output));
    }
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn a_request_that_is_retried_keeps_its_number() {
    let project = Project::new();
    let first = project.run(&["--request", "nightly"]);
    let again = project.run(&["--request", "nightly", "--force"]);
    assert_eq!(first["request"], again["request"]);
    project.edit("data/orders/2026-03-10.csv", ",10,morning", ",12,morning");
    let newer = project.run(&[]);
    assert!(newer["request"].as_u64() > first["request"].as_u64());
    // The old request wakes up late: it takes nothing from the newer one.
    let late =
        project.run_to(4, &["--request", "nightly", "--force", "silver.orders", "--interval", "2026-03-10"]);
    assert_eq!(late["failed"][0]["kind"], "conflict");
    let message = late["failed"][0]["message"].as_str().unwrap();
    assert!(message.contains("was published by the later request"), "{message}");
    assert_eq!(late["failed"][0]["state"], "unchanged");
    let explained = project.said(&["explain", "silver.orders", "2026-03-10"]).1;
    assert!(explained.contains("superseded") || explained.contains("later request"), "{explained}");
    project.equals_a_fresh_build();
}

#[test]
fn the_ledger_of_a_copied_folder_is_made_anew() {
    let seed = crate::numbers::seed();
    let mut numbers = Numbers(seed);
    let project = Project::run_once();
    for step in 0..12 {
        let day = DAYS[numbers.below(14) as usize];
        let mut rows = usual(day);
        match numbers.below(4) {
            0 => rows.clear(),
            1 => rows.truncate(1),
            2 => rows.push(format!("{},{day}T16:00:00Z,b,{step},more", 1000 + step)),
            _ => {}
        }
        project.write_day(day, &rows);
        match numbers.below(3) {
            0 => drop(project.run(&["--interval", day, "--stale-parents", "ok"])),
            1 => drop(project.run(&[])),
            _ => {}
        }
    }
    project.edit("models/gold/city_week.sql", "sum(amount)", "sum(amount + 1)");
    let moved = Project::empty();
    copy(project.folder.path(), moved.folder.path());
    let (code, said) = moved.said(&["ledger", "rebuild"]);
    assert_eq!(code, Some(0), "seed {seed}: {said}");
    let plan = |project: &Project| both(&project.command(&["plan", "--output", "json"]).output().unwrap());
    assert_eq!(plan(&moved), plan(&project), "seed {seed}");
    moved.run(&[]);
    project.run(&[]);
    assert_eq!(moved.tables(), project.tables(), "seed {seed}");
    moved.equals_a_fresh_build();
}

/// What a slice is, apart from when and by which attempt.
fn slices(project: &Project) -> Vec<String> {
    project.query(
        "SELECT model, \"interval\", rows, bytes, code_version, fingerprint, origin FROM oncemore.slices",
    )
}

/// Days in any order, some twice, side by side or one after the other, newest or oldest first: the same slices, down to
/// the size of their files, and the same rows.
#[test]
fn any_order_of_finishing_gives_the_same_state() {
    let straight = Project::run_once();
    let (expected, tables) = (slices(&straight), straight.tables());
    for round in 0..5 {
        let seed = crate::numbers::seed() + round;
        let mut numbers = Numbers(seed);
        let project = Project::new();
        let mut days = DAYS.to_vec();
        days.extend(DAYS.into_iter().filter(|_| numbers.below(4) == 0));
        numbers.shuffle(&mut days);
        days.truncate(8);
        for day in days {
            let jobs = ["1", "2", "4"][numbers.below(3) as usize];
            let order = ["oldest", "newest"][numbers.below(2) as usize];
            let mut arguments = vec!["--interval", day, "--jobs", jobs, "--order", order];
            if numbers.below(3) == 0 {
                arguments.extend(["--force", "--single-commits"]);
            }
            project.run(&arguments);
        }
        let jobs = ["1", "2", "4"][numbers.below(3) as usize];
        project.run(&["--jobs", jobs, "--order", "newest"]);
        assert_eq!(slices(&project), expected, "seed {seed}");
        assert_eq!(project.tables(), tables, "seed {seed}");
    }
}

#[test]
fn a_lost_or_damaged_ledger_is_said_and_made_anew() {
    let project = Project::run_once();
    let before = project.tables();
    for damage in
        [None, Some("this is no database, and longer than the header of one: 0123456789 0123456789")]
    {
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(project.path(&format!("warehouse/oncemore.db{suffix}")));
        }
        if let Some(text) = damage {
            project.write("warehouse/oncemore.db", text);
        }
        for command in [&["status"][..], &["run"], &["query", "SELECT 1"], &["gc"]] {
            let (code, said) = project.said(command);
            assert_eq!(code, Some(7), "{command:?}: {said}");
            assert!(said.contains("<folder>/warehouse/oncemore.db is "), "{said}");
            assert!(
                said.contains("help: `oncemore ledger rebuild` makes the ledger again from the tables"),
                "{said}"
            );
        }
        let (code, said) = project.said(&["ledger", "rebuild"]);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!((project.tasks(), project.tables()), (Vec::new(), before.clone()));
    }
}
