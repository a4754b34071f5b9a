//! A process that keeps the catalog locked is named, where the ledger knows it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use oncemore_core::{Instant, Interval, World};
use rusqlite::Connection;

use crate::error::CommitError;
use crate::ledger::ClaimRequest;
use crate::recover::process_name;
use crate::warehouse::Warehouse;

/// A world of one process, which neither asks for ids nor minds the time.
#[derive(Debug)]
struct Named(String);

impl World for Named {
    fn now(&self) -> Instant {
        Instant(1_700_000_000_000_000)
    }

    fn fresh_id(&self) -> u128 {
        1
    }

    fn process(&self) -> String {
        self.0.clone()
    }
}

fn open(root: &std::path::Path, pid: u32) -> Warehouse {
    let warehouse = Warehouse::open(root, Arc::new(Named(process_name("here", pid)))).unwrap();
    // Else the test waits as long as a run would.
    warehouse.catalog().lock().busy_timeout(Duration::from_millis(20)).unwrap();
    warehouse
}

#[test]
fn who_keeps_the_catalog_locked_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut sleeper = Command::new("sleep").arg("600").spawn().unwrap();
    let (own, other) = (open(folder.path(), std::process::id()), open(folder.path(), sleeper.id()));
    let locking = Connection::open(folder.path().join(super::FILE)).unwrap();
    let locked = || {
        locking.execute_batch("BEGIN IMMEDIATE").unwrap();
        let errors = [own.begin_request(None).unwrap_err(), own.end_attempts(&[]).unwrap_err()];
        locking.execute_batch("ROLLBACK").unwrap();
        assert_eq!(errors[0], errors[1]);
        errors[0].clone()
    };
    let nobody = CommitError::Locked { seconds: 30, by: Vec::new(), stopped: None };
    assert_eq!(locked(), nobody);
    assert_eq!(nobody.to_string(), "the catalog has been locked by another process for 30 s");
    let wanted = ClaimRequest {
        request: 1,
        user: "ana".to_owned(),
        command: "oncemore run".to_owned(),
        lease_micros: 60_000_000,
        slices: vec![("silver.flights".parse().unwrap(), Interval::WHOLE)],
    };
    other.claim(&wanted).unwrap();
    let text = locked().to_string();
    let said = format!("; at work: `oncemore run` of ana (process {} on here, claim 1)", sleeper.id());
    assert!(text.ends_with(&said), "{text}");
    Command::new("kill").args(["-STOP", &sleeper.id().to_string()]).status().unwrap();
    // The signal is sent before it is seen to have stopped.
    for _ in 0..500 {
        if matches!(locked(), CommitError::Locked { stopped: Some(_), .. }) {
            break;
        }
    }
    let text = locked().to_string();
    assert!(text.ends_with(", claim 1, stopped)"), "{text}");
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    // One that is dead holds nothing.
    assert_eq!(locked(), nobody);
}
