//! Slices of ten times the memory that a run is given: sorted, aggregated, joined, audited and compared through the
//! disk, with the rows that come out of plenty of memory.

use std::process::Stdio;

use crate::project::{Project, both};

/// Given to the queries.
const MEMORY_MB: u64 = 16;
/// Rows of one slice; each is [`ROW_BYTES`] in memory.
const ROWS: u64 = 1_360_000;
/// Two numbers, a sum and 96 characters with their place.
const ROW_BYTES: u64 = 8 + 8 + 8 + 4 + 96;
/// What a process holds beside its queries: code, buffers of readers and writers, what the allocator keeps.
const BESIDE_MB: u64 = 256;

const SETTINGS: &str = "\
name: big
sources:
  raw.seeds:
    path: data/seeds.csv
    columns: {id: BIGINT}
";

/// Twenty rows of each seed, in an order that is not that of the key.
const ROWS_SQL: &str = "\
/* oncemore
kind: full
key: [id]
audits:
  - not_null: [text]
*/
SELECT (s.id * 20 + v.n) * 1299709 % 1360027 AS id, s.id AS seed, CAST(s.id AS DOUBLE) / 7 + v.n AS x,
       repeat(md5(CAST(s.id * 20 + v.n AS TEXT)), 3) AS text
  FROM raw.seeds AS s
 CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16), (17), (18), (19)) AS v(n)
";

/// As many groups as half the rows.
const GROUPS_SQL: &str = "\
/* oncemore
kind: full
key: [pair]
*/
SELECT id / 2 AS pair, sum(x) AS x, avg(x) AS mean, max(text) AS text, count(*) AS rows FROM big.rows GROUP BY id / 2
";

/// Two sides of the full size.
const JOINED_SQL: &str = "\
/* oncemore
kind: full
key: [id]
audits:
  - relationship: {columns: [id], to: big.rows, to_columns: [id]}
*/
SELECT a.id, a.text, b.x, b.text AS other
  FROM big.rows AS a
  JOIN big.rows AS b ON b.id = 1360026 - a.id
";

fn project() -> Project {
    let project = Project::empty();
    project.write("oncemore.yml", SETTINGS);
    project.write("models/big/rows.sql", ROWS_SQL);
    project.write("models/big/groups.sql", GROUPS_SQL);
    project.write("models/big/joined.sql", JOINED_SQL);
    let ids: Vec<String> = (0..ROWS / 20).map(|id| id.to_string()).collect();
    project.write("data/seeds.csv", format!("id\n{}\n", ids.join("\n")));
    project
}

/// Runs a command and gives what it printed, and the most memory that it held, in MB.
fn peak(project: &Project, arguments: &[&str]) -> (String, u64) {
    let mut command = project.command(arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let watched = std::thread::spawn(move || {
        let mut peak = 0;
        // The mark only rises; what a process holds at its very end does not matter.
        while let Some(mark) = mark(&status) {
            peak = mark;
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        peak
    });
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", both(&output));
    (String::from_utf8(output.stdout).unwrap(), watched.join().unwrap() / 1024)
}

/// The high-water mark of a process in kB; none where it has ended, or where there is no such file.
fn mark(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().split(' ').next()?.parse().ok()
}

fn prints(project: &Project) -> Vec<String> {
    project.query("SELECT model, rows, fingerprint FROM oncemore.slices")
}

#[test]
fn slices_of_ten_times_the_memory() {
    const { assert!(ROWS * ROW_BYTES >= 10 * (MEMORY_MB << 20)) };
    let memory = format!("{MEMORY_MB}MB");
    let (little, plenty) = (project(), project());
    let (_, held) = peak(&little, &["run", "--memory", &memory]);
    plenty.run(&["--memory", "4GB"]);
    assert_eq!(prints(&little), prints(&plenty));
    assert_eq!(prints(&little).len(), 3);
    // One row in a hundred changes, and the two versions are compared.
    little.edit(
        "models/big/rows.sql",
        "+ v.n AS x",
        "+ v.n + CASE WHEN s.id % 100 = 0 THEN 1 ELSE 0 END AS x",
    );
    let (_, held_again) = peak(&little, &["run", "big.rows", "--memory", &memory]);
    let (diff, held_by_diff) = peak(&little, &["diff", "big.rows", "--memory", &memory, "--output", "json"]);
    let diff: serde_json::Value = serde_json::from_str(&diff).unwrap();
    let counts = ["gone", "new", "changed", "same"].map(|count| diff[count].as_u64().unwrap());
    assert_eq!(counts, [0, 0, ROWS / 100, ROWS - ROWS / 100]);
    let said = format!(
        "{} MB of rows at {memory}: {held}, {held_again}, {held_by_diff} MB held\n",
        (ROWS * ROW_BYTES) >> 20
    );
    std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes()).unwrap();
    for held in [held, held_again, held_by_diff] {
        assert!(held < MEMORY_MB + BESIDE_MB, "{said}");
    }
}

/// A process that computes begins itself once more, for the allocator's sake: not where it was begun by the loader, of
/// which the process is one then.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[test]
fn the_loader_may_begin_it() {
    let project = Project::run_once();
    let mut command = std::process::Command::new("/lib64/ld-linux-x86-64.so.2");
    command.arg(env!("CARGO_BIN_EXE_oncemore")).arg("--project").arg(project.path("."));
    let output = command.args(["query", "SELECT 40 + 2 AS n", "--output", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("42"), "{}", both(&output));
}
