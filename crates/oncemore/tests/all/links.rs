//! Links: what a project names stays in its folder, whatever way it is led out.

use std::os::unix::fs::symlink;

use crate::project::Project;

/// Moves `part` of the shop elsewhere, leaves a link, and gives what `status` and `run` say.
fn moved_away(project: &Project, part: &str) -> Vec<(Option<i32>, String)> {
    let elsewhere = tempfile::tempdir().unwrap();
    let there = elsewhere.path().join("moved");
    crate::project::copy(&project.path(part), &there);
    let here = project.path(part);
    if here.is_dir() {
        std::fs::remove_dir_all(&here).unwrap()
    } else {
        std::fs::remove_file(&here).unwrap()
    }
    symlink(&there, &here).unwrap();
    let said = [&["status"][..], &["run", "--force", "--yes"]].map(|command| project.said(command));
    let elsewhere = elsewhere.path().canonicalize().unwrap().to_string_lossy().into_owned();
    said.into_iter().map(|(code, said)| (code, said.replace(&elsewhere, "<elsewhere>"))).collect()
}

#[track_caller]
fn refused(part: &str, code: i32, message: &str) {
    for (ended, said) in moved_away(&Project::run_once(), part) {
        assert!(said.contains(message), "{part}: {said}");
        assert_eq!(ended, Some(code), "{part}: {said}");
    }
}

#[test]
fn a_link_out_of_the_project_is_refused() {
    refused(
        "warehouse",
        3,
        "`warehouse` leads out of the project's folder by a link, to `<elsewhere>/moved`",
    );
    refused("models", 3, "`models` leads out of the project's folder by a link");
    refused("models/gold", 3, "`models/gold` leads out of the project's folder by a link");
    refused(
        "models/gold/shops.sql",
        3,
        "`models/gold/shops.sql` leads out of the project's folder by a link",
    );
    refused("oncemore.yml", 3, "`oncemore.yml` leads out of the project's folder by a link");
    refused("warehouse/silver", 3, "leads out of the warehouse by a link");
    refused("warehouse/silver/orders/data", 3, "leads out of the warehouse by a link");
}

#[test]
fn a_link_of_a_source_out_of_the_project_is_refused() {
    for part in ["data", "data/orders", "data/orders/2026-03-10.csv", "data/shops.csv"] {
        let said = moved_away(&Project::run_once(), part);
        let [(seen, status), (ended, run)] = &said[..] else { panic!("{said:?}") };
        assert!(status.contains("source broken") && *seen == Some(0), "{part}: {status}");
        assert!(run.contains("a link leads out of the project's folder"), "{part}: {run}");
        assert_eq!(*ended, Some(7), "{part}: {run}");
    }
}

#[test]
fn a_link_within_the_project_is_followed() {
    let project = Project::new();
    std::fs::rename(project.path("models"), project.path("sql")).unwrap();
    symlink("sql", project.path("models")).unwrap();
    std::fs::create_dir(project.path("tables")).unwrap();
    symlink("tables", project.path("warehouse")).unwrap();
    std::fs::rename(project.path("data/shops.csv"), project.path("data/all.csv")).unwrap();
    symlink("all.csv", project.path("data/shops.csv")).unwrap();
    project.run(&["--yes"]);
    assert_eq!(project.query("SELECT count(*) AS n FROM silver.orders"), [r#"{"n":42}"#]);
}
