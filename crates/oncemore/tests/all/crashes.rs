//! Processes that die, race or are started twice, and a ledger that is lost.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::project::{DAYS, Project, both, copy, usual};

fn files(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            found.insert(path.to_string_lossy().into_owned());
        }
    }
}

fn data_files(project: &Project) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    files(&project.path("warehouse"), &mut found);
    found
}

/// Small numbers that look random and are the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

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
    let kept = data_files(&project);
    // The fences of the dead attempts made metadata of their own; after those nothing is left to remove.
    for _ in 0..2 {
        let (_, said) = project.said(&["gc", "--older-than", "0s"]);
        assert_eq!(data_files(&project), kept, "{said}");
    }
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
    project.equals_a_fresh_build();
}

#[test]
fn the_ledger_of_a_copied_folder_is_made_anew() {
    let seed = u64::from(std::process::id());
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
