//! A transaction whose COMMIT failed while its pages were all written: this process sees that nothing happened, recovery
//! after its end sees the whole of it. Nothing may be removed, or said, before another transaction has settled that.

use std::io;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use oncemore_commit::{CommitError, Faults, Step, Warehouse, When};
use oncemore_core::Instant;

use crate::support::{Scene, attempt, by_slice, day, ids, publishing, replace, world};

/// Loses the answer of the first COMMIT, and keeps what comes after it.
#[derive(Debug, Default)]
struct Losing {
    armed: Mutex<bool>,
    after: Mutex<Vec<(Step, When)>>,
}

impl Faults for Losing {
    fn at(&self, step: Step, when: When) -> io::Result<()> {
        let mut armed = self.armed.lock().unwrap();
        if *armed && (step, when) == (Step::Commit, When::Before) {
            *armed = false;
            self.after.lock().unwrap().clear();
            return Err(io::Error::from_raw_os_error(5));
        }
        self.after.lock().unwrap().push((step, when));
        Ok(())
    }
}

#[test]
fn nothing_is_removed_before_another_transaction_is_written() {
    let faults = Arc::new(Losing::default());
    let scene = Scene::empty(Some(faults.clone()));
    scene.warehouse.ensure_table(&crate::support::table(), rows(), &crate::support::key(), true).unwrap();
    scene.replace(day(0), &[1]).unwrap();
    let attempt = attempt(&scene.warehouse, day(0)).unwrap();
    let publish = publishing(&scene.warehouse, &attempt, &[2], None).unwrap();
    *faults.armed.lock().unwrap() = true;
    let error = scene.warehouse.publish(vec![publish]).remove(0).unwrap_err();
    assert!(matches!(error, CommitError::Unavailable { .. }), "{error}");
    let after = faults.after.lock().unwrap();
    let place = |call| after.iter().position(|found| *found == call);
    let (settled, removed) = (place((Step::Commit, When::After)), place((Step::Remove, When::Before)));
    assert!(settled.is_some() && removed.is_some() && settled < removed, "{after:?}");
    assert_eq!(ids(&scene.other(2)), [1]);
}

fn rows() -> &'static arrow::datatypes::Schema {
    static SCHEMA: std::sync::OnceLock<arrow::datatypes::SchemaRef> = std::sync::OnceLock::new();
    SCHEMA.get_or_init(|| crate::support::rows(&[]).schema())
}

/// Fails syncs of a write-ahead log while a file is there; removes it first, if that is asked for.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int fails(int fd) {
    char link[64], path[4096];
    const char *flag = getenv("ONCEMORE_TEST_FLAG");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!flag || length < 4 || memcmp(path + length - 4, "-wal", 4) || access(flag, F_OK)) return 0;
    if (getenv("ONCEMORE_TEST_ONCE")) unlink(flag);
    errno = EIO;
    return 1;
}
int fsync(int fd) { return fails(fd) ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { return fails(fd) ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd); }
"#;

const ROOT: &str = "ONCEMORE_TEST_LIMBO";
const FLAG: &str = "ONCEMORE_TEST_FLAG";
const ONCE: &str = "ONCEMORE_TEST_ONCE";
const DIES: &str = "ONCEMORE_TEST_DIES";

/// Ends the process before the second transaction from now on.
#[derive(Debug, Default)]
struct Dying {
    armed: AtomicBool,
    begun: AtomicUsize,
}

impl Faults for Dying {
    fn at(&self, step: Step, when: When) -> io::Result<()> {
        let counts = self.armed.load(Ordering::Relaxed) && (step, when) == (Step::Begin, When::Before);
        if counts && self.begun.fetch_add(1, Ordering::Relaxed) == 1 {
            std::process::abort();
        }
        Ok(())
    }
}

/// Not a test of its own: the process that dies in the tests below.
#[test]
fn child_publishes_and_dies() {
    let (Ok(root), Ok(flag)) = (std::env::var(ROOT), std::env::var(FLAG)) else { return };
    let dying = Arc::new(Dying::default());
    let warehouse = Warehouse::open_with(root.as_ref(), world(7), Some(dying.clone())).unwrap();
    let attempt = attempt(&warehouse, day(0)).unwrap();
    let publish = publishing(&warehouse, &attempt, &[2], None).unwrap();
    std::fs::write(&flag, "").unwrap();
    dying.armed.store(std::env::var(DIES).is_ok(), Ordering::Relaxed);
    let answer = warehouse.publish(vec![publish]).remove(0);
    let said = match answer {
        Ok(_) => "published".to_owned(),
        Err(error) => format!("{:?}", error.slice_state()),
    };
    std::fs::write(format!("{flag}.answer"), said).unwrap();
    // As kill -9 would: no connection is closed, the log stays.
    std::process::abort();
}

/// What the process said, nothing where it died before, and what the table holds after its death.
fn dying(way: Option<&str>) -> Option<(String, Vec<i64>)> {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let (root, folder) = (scene.root(), scene.folder);
    // As long as a process has the catalog open nothing is recovered.
    drop(scene.warehouse);
    let (source, shim, flag) =
        (folder.path().join("shim.c"), folder.path().join("shim.so"), folder.path().join("flag"));
    std::fs::write(&source, SHIM).unwrap();
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&shim).arg(&source).arg("-ldl").status();
    if !built.is_ok_and(|status| status.success()) || !cfg!(target_os = "linux") {
        return None;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "limbo::child_publishes_and_dies", "--nocapture"]);
    child.env(ROOT, &root).env(FLAG, &flag).env("LD_PRELOAD", &shim).stderr(Stdio::null());
    child.envs(way.map(|name| (name, "1")));
    assert!(!child.stdout(Stdio::null()).status().unwrap().success());
    let said = std::fs::read_to_string(folder.path().join("flag.answer")).unwrap_or_default();
    let warehouse = Warehouse::open(&root, world(8)).unwrap();
    let now: Vec<i64> = by_slice(&warehouse).into_values().flatten().collect();
    warehouse.resolve().unwrap();
    warehouse.gc(Instant::MAX).unwrap();
    assert_eq!(ids(&warehouse), now);
    replace(&warehouse, day(0), &[3]).unwrap();
    assert_eq!(ids(&warehouse), [3]);
    Some((said, now))
}

/// It died before it could write another transaction: recovery brings the commit in, with all that it names.
#[test]
fn a_commit_that_recovery_brings_in_is_whole() {
    if let Some((said, now)) = dying(Some(DIES)) {
        assert_eq!((said.as_str(), now), ("", vec![2]));
    }
}

/// The next sync works: it says that nothing changed, and recovery brings in nothing.
#[test]
fn a_commit_that_was_settled_is_gone_for_good() {
    if let Some((said, now)) = dying(Some(ONCE)) {
        assert_eq!((said.as_str(), now), ("Unchanged", vec![1]));
    }
}

/// No sync works any more: it says that it does not know, and whatever recovery brings in is whole.
#[test]
fn a_commit_that_could_not_be_settled_is_unknown() {
    if let Some((said, now)) = dying(None) {
        assert_eq!(said, "Unknown");
        assert!(now == [1] || now == [2], "{now:?}");
    }
}
