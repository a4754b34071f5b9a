//! Several runs on the same slices: one works, the others wait or are told who does; a run that is stopped, killed or
//! pushed aside takes nothing from those that came after it.

use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::project::{Project, both};

const DAY: &str = "2026-03-10";
const RUN: [&str; 4] = ["run", "silver.orders", "--interval", DAY];

/// The shop with all its slices and a day that takes a while to compute.
pub(crate) fn busy_shop(lease: &str) -> Project {
    let project = Project::new();
    project.edit("oncemore.yml", "  tasks: 1000\n", &format!("  tasks: 1000\n  lease: {lease}\n"));
    project.run(&[]);
    let row = |number: u32| format!("{},{DAY}T13:00:00Z,a,{},busy", 1_000 + number, number % 97);
    project.write_day(DAY, &(0..400_000).map(row).collect::<Vec<_>>());
    project
}

/// A run that was stopped in the middle of its work.
pub(crate) struct Stopped(Option<Child>);

impl Stopped {
    /// Starts a run and stops it once its attempt has begun and nothing is published.
    pub(crate) fn start(project: &Project) -> Stopped {
        let database = project.path("warehouse/oncemore.db");
        let child = project.command(&RUN).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let connection = rusqlite::Connection::open(database).unwrap();
        connection.busy_timeout(Duration::from_secs(30)).unwrap();
        let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        while count("SELECT count(*) FROM om_attempts WHERE state = 'open'") == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
        // Past the ledger's transaction, which would keep everybody out.
        std::thread::sleep(Duration::from_millis(10));
        let mut stopped = Stopped(Some(child));
        stopped.signal("STOP");
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(count("SELECT count(*) FROM om_claims"), 1, "stopped too late to test anything");
        stopped
    }

    fn signal(&mut self, name: &str) {
        let id = self.0.as_ref().unwrap().id();
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {id}")]).status().unwrap();
        assert!(sent.success());
    }

    /// Lets it go on to its end.
    fn go_on(mut self) -> Output {
        self.signal("CONT");
        self.0.take().unwrap().wait_with_output().unwrap()
    }

    pub(crate) fn kill(mut self) {
        let mut child = self.0.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn claims(project: &Project) -> Value {
    let output = project.command(&["claims", "--output", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_second_run_is_told_who_works_and_what_to_type() {
    let project = busy_shop("10 minutes");
    let first = Stopped::start(&project);
    let (code, said) = project.said(&RUN);
    assert_eq!(code, Some(4), "{said}");
    for part in [
        "failed: silver.orders 2026-03-10: another run is working on it: `oncemore run silver.orders --interval 2026-03-10` of ",
        "; slice unchanged\n",
        "wait for it with `--wait 10m`; `oncemore claims` shows who is at work, `oncemore claims break 5` pushes it aside",
    ] {
        assert!(said.contains(part), "{part:?} is not in {said}");
    }
    let (code, said) = project.said(&["claims"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("live") && said.contains("silver.orders 2026-03-10 to 2026-03-11"), "{said}");
    let shown = claims(&project);
    let claim = &shown[0];
    assert_eq!((claim["state"].as_str(), claim["tasks"].as_u64()), (Some("live"), Some(1)));
    assert_eq!(claim["process"].as_str().unwrap(), first.0.as_ref().unwrap().id().to_string());
    // What nobody works on is free.
    let (code, said) = project.said(&["run", "silver.orders", "--interval", "2026-03-11", "--force"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(first.go_on().status.code(), Some(0));
    assert_eq!(claims(&project), Value::Array(Vec::new()));
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn a_run_that_waited_computes_nothing_twice() {
    let project = busy_shop("10 minutes");
    let first = Stopped::start(&project);
    let waiting = project
        .command(&[&RUN[..], &["--wait", "2m", "--output", "json"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(first.go_on().status.code(), Some(0));
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", both(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("waiting for another run: `oncemore run silver.orders --interval 2026-03-10` of "),
        "{said}"
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((report["elsewhere"].as_u64(), report["published"].as_u64()), (Some(1), Some(0)), "{report}");
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn waiting_ends_in_time() {
    let project = busy_shop("10 minutes");
    let first = Stopped::start(&project);
    let (code, said) = project.said(&[&RUN[..], &["--wait", "1s"]].concat());
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("waiting for another run") && said.contains("is working on it"), "{said}");
    first.kill();
}

/// A process that died holds nothing up, whatever its lease.
#[test]
fn a_claim_of_a_killed_run_is_free_at_once() {
    let project = busy_shop("10 minutes");
    Stopped::start(&project).kill();
    assert_eq!(claims(&project)[0]["state"], "dead");
    let report = project.run(&RUN[1..]);
    assert_eq!(report["published"], 1);
    assert_eq!(claims(&project), Value::Array(Vec::new()));
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn a_run_stopped_beyond_its_lease_can_not_land_and_says_why() {
    let project = busy_shop("2 seconds");
    let first = Stopped::start(&project);
    let (code, said) = project.said(&[&RUN[..], &["--wait", "2m"]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("waiting for another run"), "{said}");
    let before = project.query("SELECT changed_at FROM silver.orders__slices");
    let output = first.go_on();
    let said = both(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("was published by the later request"), "{said}");
    assert!(said.contains("slice unchanged"), "{said}");
    assert_eq!(project.query("SELECT changed_at FROM silver.orders__slices"), before);
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn a_run_whose_claim_is_broken_can_not_land() {
    let project = busy_shop("10 minutes");
    let first = Stopped::start(&project);
    let id = claims(&project)[0]["claim"].to_string();
    let (code, said) = project.said(&["claims", "break", &id]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("is broken: 1 slice closed against what it had begun"), "{said}");
    let (code, said) = project.said(&["claims", "break", &id]);
    assert_eq!(code, Some(2), "{said}");
    let output = first.go_on();
    let said = both(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.contains("closed against this attempt") || said.contains("the claim on it is gone"),
        "{said}"
    );
    let (code, said) = project.said(&RUN);
    assert_eq!(code, Some(0), "{said}");
    project.run(&[]);
    project.equals_a_fresh_build();
}

/// Ten at once on a slice that holds nothing yet, twice: waiting for each other, and not. It is computed once.
#[test]
fn of_ten_first_loads_at_once_one_lands() {
    let project = Project::new();
    project.run(&["gold.shops"]);
    for (day, wait, codes) in [(DAY, &["--wait", "5m"][..], &[0][..]), ("2026-03-11", &[], &[0, 4])] {
        let arguments = [&["run", "silver.orders", "--interval", day, "--output", "json"], wait].concat();
        let spawn =
            |_| project.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let children: Vec<Child> = (0..10).map(spawn).collect();
        let mut published = 0;
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(codes.contains(&output.status.code().unwrap()), "{}", both(&output));
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            published += report["published"].as_u64().unwrap();
        }
        assert_eq!(published, 1, "{day}");
    }
    assert_eq!(project.query("SELECT count(*) AS n FROM silver.orders"), ["{\"n\":6}"]);
    project.run(&[]);
    project.equals_a_fresh_build();
}
