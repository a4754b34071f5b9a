//! Names of files that a path or a URL would have to write in another way: each file is read as itself, or
//! not at all.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use oncemore_core::{Format, Interval};

use crate::support::{LATER, Project, csv, days, query, spec};

/// Pairs beside each other that some encoding takes for one.
const NAMES: [&str; 25] = [
    "a b.csv",
    "a%20b.csv",
    "a%2520b.csv",
    "a+b.csv",
    "a b%20c#?.csv",
    "a b c#?.csv",
    "a#b.csv",
    "a?b.csv",
    "x%2Fy.csv",
    "%2e%2e.csv",
    "dots..csv",
    "é.csv",
    "e\u{301}.csv",
    "%C3%A9.csv",
    "日本 語.csv",
    "[1].csv",
    "{1}.csv",
    "1~.csv",
    "back\\slash.csv",
    "back%5Cslash.csv",
    "c:d|e.csv",
    "\"quoted\" & `ticked`; <x>.csv",
    "' '.csv",
    "100%.csv",
    "#1.csv",
];

#[tokio::test]
async fn each_file_is_read_as_itself() {
    let project = Project::new();
    let mut rows = BTreeMap::new();
    for name in NAMES {
        for folder in ["in", "in/a b%20c#?"] {
            let number = rows.len();
            project.write(&format!("{folder}/{name}"), format!("a\n{number}\n"));
            rows.insert(format!("{folder}/{name}"), number);
        }
    }
    // Hidden: not delivered yet.
    project.write("in/.hidden.csv", "a\n-1\n");
    let declared = spec("in/**/*.csv", csv(), "a BIGINT", None);
    let index = project.scan(&declared).await.unwrap();
    let paths: Vec<&str> = index.files().iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, rows.keys().collect::<Vec<_>>());
    for (path, number) in &rows {
        let single = project.scan(&spec(&glob(path), csv(), "a BIGINT", None)).await.unwrap();
        assert_eq!(single.files().len(), 1, "{path}");
        let shown = query(project.table(&single, Interval::WHOLE), "SELECT a FROM t").await.unwrap();
        assert!(shown.contains(&format!("| {number} ")), "{path}: {shown}");
    }
    let all = query(project.table(&index, Interval::WHOLE), "SELECT count(DISTINCT a) AS n FROM t").await;
    assert!(all.unwrap().contains(&format!("| {} ", rows.len())));
}

/// A path that means `path` and nothing else.
fn glob(path: &str) -> String {
    let one = |c: char| match c {
        '[' | ']' | '{' | '}' | '*' | '?' => format!("[{c}]"),
        '\\' => "?".to_owned(),
        c => c.to_string(),
    };
    path.chars().map(one).collect()
}

#[tokio::test]
async fn what_the_store_has_no_name_for_is_said_and_not_read() {
    let project = Project::new();
    project.write("in/good.csv", "a\n1\n");
    // Beside each, what a careless reader would take for it.
    for name in ["tab\there.csv", "tabhere.csv", "line\nend.csv", "lineend.csv", "a.csv#12", "a.csv"] {
        project.write(&format!("in/{name}"), "a\n2\n");
    }
    for (name, content) in [(&b"b\xff.csv"[..], "a\n3\n"), (b"c\xff.csv", "a\n4\n")] {
        fs::write(project.root().join("in").join(OsStr::from_bytes(name)), content).unwrap();
    }
    project.write("in/c\u{fffd}.csv", "a\n5\n");
    let declared = spec("in/*", csv(), "a BIGINT", None);
    let index =
        oncemore_backend::source::look(&declared, &project.store(), None, &days("UTC"), LATER).await.unwrap();
    let read: Vec<&str> = index.files().iter().map(|file| file.path.as_str()).collect();
    assert_eq!(read, ["in/a.csv", "in/c\u{fffd}.csv", "in/good.csv", "in/lineend.csv", "in/tabhere.csv"]);
    let broken: Vec<String> = index.broken().iter().map(|broken| broken.error.to_string()).collect();
    insta::assert_snapshot!(broken.join("\n").replace('\t', "<tab>"), @"
    in/a.csv#12: a file of this name can't be opened
    help: rename it: in UTF-8, without control characters, without `#` and a number at its end
    in/b\u{fffd}.csv: a file of this name can't be opened
    help: rename it: in UTF-8, without control characters, without `#` and a number at its end
    in/c\u{fffd}.csv: input moved: the file changed while it was read
    help: run again; deliver files under another name and rename them when complete
    in/line
    end.csv: a file of this name can't be opened
    help: rename it: in UTF-8, without control characters, without `#` and a number at its end
    in/tab<tab>here.csv: a file of this name can't be opened
    help: rename it: in UTF-8, without control characters, without `#` and a number at its end
    ");
}

/// What a task reads is the file that it opened, whatever its name leads to by then.
#[tokio::test]
async fn a_file_replaced_by_a_link_out_of_the_folder() {
    let project = Project::new();
    let outside = Project::new();
    outside.write("secret.csv", "a\n7\n");
    project.write("in/a.csv", "a\n1\n");
    let declared = spec("in/a.csv", csv(), "a BIGINT", None);
    let index = project.scan(&declared).await.unwrap();
    fs::remove_file(project.root().join("in/a.csv")).unwrap();
    std::os::unix::fs::symlink(outside.root().join("secret.csv"), project.root().join("in/a.csv")).unwrap();
    let error = query(project.table(&index, Interval::WHOLE), "SELECT a FROM t").await.unwrap_err();
    let error = oncemore_backend::source::SourceError::find(&error).unwrap().to_string();
    insta::assert_snapshot!(error, @"
    in/a.csv: input moved: the file is not the one that was indexed
    help: run again; deliver files under another name and rename them when complete
    ");
    insta::assert_snapshot!(project.scan(&declared).await.unwrap_err(), @"
    in/a.csv: a link leads out of the project's folder
    help: copy the data into the project's folder, or mount it there
    ");
}

/// A path with `.` in it, and one of another format: the same port.
#[tokio::test]
async fn a_path_from_here() {
    let project = Project::new();
    project.write("in/a.csv", "a\n1\n").write("in/a.ndjson", "{\"a\": 1}\n");
    for (path, format) in [("./in/*.csv", csv()), ("./in/*.ndjson", Format::NdJson)] {
        let index = project.scan(&spec(path, format, "a BIGINT", None)).await.unwrap();
        let shown = query(project.table(&index, Interval::WHOLE), "SELECT a FROM t").await.unwrap();
        assert!(shown.contains("| 1 |"), "{shown}");
    }
}
