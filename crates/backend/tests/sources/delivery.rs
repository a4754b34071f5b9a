//! What is there, what is not yet, and what is there no more.

use std::fs;

use oncemore_backend::source::{Delivery, SourceIndex};
use oncemore_core::{CompleteWhen, Interval, IntervalLength, Missing, SourceSpec};

use crate::support::{Project, csv, day, spec};

fn daily() -> SourceSpec {
    SourceSpec {
        time_zone: "America/New_York".to_owned(),
        ..spec("in/{interval:%Y-%m-%d}.csv", csv(), "a INTEGER, d DATE", Some("d"))
    }
}

fn on(text: &str) -> Interval {
    day("America/New_York", text)
}

#[tokio::test]
async fn a_path_names_its_interval() {
    let project = Project::new();
    project.write("in/2013-03-10.csv", "a,d\n1,2013-03-10\n").write("in/2013-03-11.csv", "a,d\n");
    project.write("in/notes.csv", "no\n").write("in/2013-03-12.csv.tmp", "no\n");
    let index = project.scan(&daily()).await.unwrap();
    assert_eq!(index.files().len(), 2);
    assert_eq!(index.file_for(on("2013-03-10")).unwrap().path, "in/2013-03-10.csv");
    // The short day of the clock change.
    assert_eq!(index.cells()[0].interval, on("2013-03-10"));
    assert_eq!(index.delivered(on("2013-03-10")), Delivery::Ready);
    // There, and without rows: that is delivered.
    assert_eq!(index.delivered(on("2013-03-11")), Delivery::Ready);
    let what = "`in/2013-03-12.csv`".to_owned();
    assert_eq!(index.delivered(on("2013-03-12")), Delivery::Waiting { what: what.clone() });
    // A coarser reader needs every day.
    let both = Interval::new(on("2013-03-11").start(), on("2013-03-12").end()).unwrap();
    assert_eq!(index.delivered(both), Delivery::Waiting { what: what.clone() });
    let with = async |missing| project.scan(&SourceSpec { missing, ..daily() }).await.unwrap();
    assert_eq!(with(Missing::Empty).await.delivered(on("2013-03-12")), Delivery::Ready);
    assert_eq!(with(Missing::Error).await.delivered(on("2013-03-12")), Delivery::Missing { what });
}

#[tokio::test]
async fn intervals_may_be_spread_over_folders_and_hours() {
    let project = Project::new();
    project.write("in/y=2013/m=03/x-09T05.csv", "a,d\n1,2013-03-09\n");
    let hourly = SourceSpec {
        path: "in/y={interval:%Y}/m={interval:%m}/*-{interval:%dT%H}.csv".to_owned(),
        ..daily()
    };
    let index = project.scan(&hourly).await.unwrap();
    let hours = oncemore_core::Calendar::new(
        IntervalLength::Hour,
        oncemore_core::Zone::named("America/New_York").unwrap(),
    );
    assert_eq!(index.files()[0].interval, hours.parse_range("2013-03-09T05"));
    let next = hours.parse_range("2013-03-09T06").unwrap();
    let what = "`in/y=2013/m=03/*-09T06.csv`".to_owned();
    assert_eq!(index.delivered(next), Delivery::Waiting { what });
}

#[tokio::test]
async fn complete_by_marker_rows_and_watermark() {
    let project = Project::new();
    project.write("in/2013-03-10.csv", "a,d\n1,2013-03-10\n2,2013-03-10\n");
    let with = async |complete| {
        let index = project.scan(&SourceSpec { complete_when: Some(complete), ..daily() }).await.unwrap();
        index.delivered(on("2013-03-10"))
    };
    let marker = CompleteWhen::Marker("in/{interval:%Y-%m-%d}.done".to_owned());
    let what = "marker `in/2013-03-10.done`".to_owned();
    assert_eq!(with(marker.clone()).await, Delivery::Waiting { what });
    project.write("in/2013-03-10.done", "");
    assert_eq!(with(marker).await, Delivery::Ready);
    assert_eq!(with(CompleteWhen::Rows(2)).await, Delivery::Ready);
    let what = "3 rows, 2 are there".to_owned();
    assert_eq!(with(CompleteWhen::Rows(3)).await, Delivery::Waiting { what });
    let what = "a row at or after 2013-03-11T04:00:00Z (latest 2013-03-10T05:00:00Z)".to_owned();
    assert_eq!(with(CompleteWhen::Watermark(0)).await, Delivery::Waiting { what });
    assert_eq!(with(CompleteWhen::Watermark(86_400_000_000)).await, Delivery::Ready);
}

#[tokio::test]
async fn gone_is_not_empty() {
    let project = Project::new();
    project
        .write("in/2013-03-10.csv", "a,d\n1,2013-03-10\n")
        .write("in/2013-03-11.csv", "a,d\n2,2013-03-11\n");
    let first = project.scan(&daily()).await.unwrap();
    fs::remove_file(project.root().join("in/2013-03-10.csv")).unwrap();
    let second = project.rescan(&daily(), &first).await.unwrap();
    let paths = |index: &SourceIndex| index.gone().iter().map(|gone| gone.path.clone()).collect::<Vec<_>>();
    assert_eq!(paths(&second), ["in/2013-03-10.csv"]);
    assert_eq!(second.gone_since(&first).count(), 1);
    let gone = Delivery::Gone { path: "in/2013-03-10.csv".to_owned() };
    assert_eq!(second.delivered(on("2013-03-10")), gone);
    assert_eq!(second.delivered(on("2013-03-11")), Delivery::Ready);
    // It stays so over scans and storing, until it is accepted or comes back.
    let stored: SourceIndex = serde_json::from_str(&serde_json::to_string(&second).unwrap()).unwrap();
    let mut third = project.rescan(&daily(), &stored).await.unwrap();
    assert_eq!(third.delivered(on("2013-03-10")), gone);
    let mut back = third.clone();
    third.accept_gone("in/2013-03-10.csv");
    assert_eq!(third.delivered(on("2013-03-10")), Delivery::Ready);
    // Nor is it asked again, until another one vanishes.
    let fourth = project.rescan(&daily(), &third).await.unwrap();
    assert_eq!((fourth.gone(), fourth.delivered(on("2013-03-10"))), (&[][..], Delivery::Ready));
    assert!(matches!(fourth.delivered(on("2013-03-12")), Delivery::Waiting { .. }));
    project.write("in/2013-03-10.csv", "a,d\n9,2013-03-10\n");
    back = project.rescan(&daily(), &back).await.unwrap();
    assert!(back.gone().is_empty());
    let came = project.rescan(&daily(), &fourth).await.unwrap();
    fs::remove_file(project.root().join("in/2013-03-10.csv")).unwrap();
    assert_eq!(project.rescan(&daily(), &came).await.unwrap().delivered(on("2013-03-10")), gone);
    // The whole folder: each file is told.
    fs::remove_dir_all(project.root().join("in")).unwrap();
    let none = project.rescan(&daily(), &back).await.unwrap();
    assert_eq!(none.gone().len(), 2);
    // Renamed is not gone.
    let all = spec("all/*.csv", csv(), "a INTEGER", None);
    project.write("all/a.csv", "a\n1\n").write("all/b.csv", "a\n2\n");
    let first = project.scan(&all).await.unwrap();
    fs::rename(project.root().join("all/a.csv"), project.root().join("all/c.csv")).unwrap();
    assert!(project.rescan(&all, &first).await.unwrap().gone().is_empty());
}

#[tokio::test]
async fn what_can_t_be_read_is_missing_wherever_it_held_rows() {
    let project = Project::new();
    let late = "a,d\n2,2013-03-11\n1,2013-03-10\n";
    project.write("in/2013-03-10.csv", "a,d\n1,2013-03-10\n").write("in/2013-03-11.csv", late);
    let days = crate::support::days("America/New_York");
    let look = async |known: Option<&SourceIndex>| {
        let now = oncemore_core::Instant(i64::MAX);
        oncemore_backend::source::look(&daily(), &project.store(), known, &days, now).await.unwrap()
    };
    let is_broken =
        |index: &SourceIndex, day: &str| matches!(index.lost(on(day)), Some(Delivery::Broken { .. }));
    let first = look(None).await;
    assert_eq!(first.lost(Interval::WHOLE), None);
    project.write("in/2013-03-11.csv", "a,d\nno,2013-03-11\n");
    let second = look(Some(&first)).await;
    assert!(is_broken(&second, "2013-03-10") && is_broken(&second, "2013-03-11"));
    assert_eq!(second.lost(on("2013-03-12")), None);
    assert!(second.hides(&first) && !first.hides(&first));
    // Nothing was known of it: then its name says which day it is of.
    let unknown = look(None).await;
    assert!(!is_broken(&unknown, "2013-03-10") && is_broken(&unknown, "2013-03-11"));
    // Gone, and back in another state than it went.
    fs::remove_file(project.root().join("in/2013-03-11.csv")).unwrap();
    let gone = look(Some(&first)).await;
    assert_eq!(gone.lost(on("2013-03-10")), Some(Delivery::Gone { path: "in/2013-03-11.csv".to_owned() }));
    project.write("in/2013-03-11.csv", "a,d\nno,2013-03-11\n");
    let back = look(Some(&gone)).await;
    assert!(is_broken(&back, "2013-03-10") && back.hides(&gone));
}

#[tokio::test]
async fn young_files_are_looked_at_again() {
    let project = Project::new();
    project.write("in/a.csv", "a\n1\n");
    let all = spec("in/*.csv", csv(), "a INTEGER", None);
    let now = {
        let changed = fs::metadata(project.root().join("in/a.csv")).unwrap().modified().unwrap();
        let since = changed.duration_since(std::time::UNIX_EPOCH).unwrap();
        oncemore_core::Instant(i64::try_from(since.as_micros()).unwrap() + 1_000_000)
    };
    let days = crate::support::days("UTC");
    let scan = async |known: Option<&SourceIndex>| {
        oncemore_backend::source::scan(&all, &project.store(), known, &days, now).await.unwrap()
    };
    let first = scan(None).await;
    let second = scan(Some(&first)).await;
    assert_eq!(second.files_read(), 1);
    assert_eq!(second.cells(), first.cells());
    let later = project.rescan(&all, &second).await.unwrap();
    assert_eq!(later.files_read(), 1);
    assert_eq!(project.rescan(&all, &later).await.unwrap().files_read(), 0);
}
