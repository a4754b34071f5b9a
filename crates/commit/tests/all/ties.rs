//! Changes of two slices that are equal in order and differ otherwise: what the sequences of `folds` do not reach, or do not
//! say plainly.

use arrow::array::{RecordBatch, new_null_array};
use arrow::datatypes::DataType;
use oncemore_commit::{CommitError, OnTie, Publish, Published};

use crate::folds::{begin, log, row, rows, scene, spec, staged, state, wider};
use crate::oracle::{self, Kind};
use crate::support::Scene;

fn tied(answers: Vec<Result<Published, CommitError>>) -> Vec<Option<(u64, String)>> {
    let found = answers.into_iter().map(|answer| match answer {
        Ok(Published::Replaced { ties, .. }) => ties.map(|tied| (tied.keys, tied.example)),
        other => panic!("{other:?}"),
    });
    found.collect()
}

/// Changes, about to be published where ties are counted or refused.
fn seeking(scene: &Scene, on_tie: OnTie, day: i64, rows: &RecordBatch) -> Publish {
    let attempt = begin(&scene.warehouse, day).unwrap();
    Publish { on_tie, ..staged(&scene.warehouse, &spec(Kind::Merge), &attempt, rows).unwrap() }
}

/// Where all of a log is folded again, the ties of a slice are those of what it changes all the same.
#[test]
fn ties_are_those_of_what_changed_also_where_all_is_folded_again() {
    let scene = scene();
    let publish = |group: Vec<(i64, RecordBatch)>| {
        let publishes = group.into_iter().map(|(day, rows)| seeking(&scene, OnTie::Count, day, &rows));
        tied(scene.warehouse.publish(publishes.collect()))
    };
    let second = |b, c| oracle::batch(&[row("a", 1, 1, 2), row("b", 1, 1, b), row("c", 2, 1, c)]);
    // Of two days of one commit the later one brings them.
    let first = oracle::batch(&[row("a", 1, 0, 1), row("b", 1, 0, 1)]);
    let found = publish(vec![(0, first), (1, second(2, 1))]);
    assert_eq!((&found[0], found[1].as_ref().map(|(keys, _)| *keys)), (&None, Some(2)));
    assert_eq!(publish(vec![(1, second(2, 5))]), [None]);
    // Another column: all is folded again.
    scene.warehouse.ensure_fold(&log(), &wider(&oracle::user_schema()), true, &spec(Kind::Merge)).unwrap();
    let narrow = second(3, 5);
    let mut columns = narrow.columns().to_vec();
    columns.push(new_null_array(&DataType::Int64, narrow.num_rows()));
    let wide = RecordBatch::try_new(wider(narrow.schema_ref()), columns).unwrap();
    let example = "value = 1, text = b, number = , version = 1, at = 1970-01-01T00:00:00Z, more = , _deleted = false, \
                   _interval_start = 1970-01-01T00:00:00Z";
    assert_eq!(publish(vec![(1, wide)]), [Some((1, example.to_owned()))]);
}

/// Of a commit of three days the second ties with the first, and the third with the second alone.
#[test]
fn a_slice_that_is_refused_brings_nothing_for_those_after_it() {
    let scene = scene();
    let days = [
        vec![row("a", 1, 0, 1)],
        vec![row("a", 1, 1, 1), row("b", 1, 1, 1), row("c", 9, 1, 1)],
        vec![row("b", 1, 2, 2), row("c", 1, 2, 2)],
    ];
    let publishes = (0..).zip(&days);
    let publishes =
        publishes.map(|(day, rows)| seeking(&scene, OnTie::Refuse, day, &oracle::batch(rows))).collect();
    let answers = scene.warehouse.publish(publishes);
    let went_well: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(went_well, [true, false, true], "{answers:?}");
    let error = answers[1].as_ref().unwrap_err();
    let said = "1 key has differing changes of equal order (version) in two intervals; one of them: value = 1, text = a, ";
    assert!(error.to_string().starts_with(said), "{error}");
    assert_eq!(error.slice_state(), oncemore_core::SliceState::Unchanged);
    let there = rows(&scene.warehouse, &state(), false);
    assert_eq!(there.values().map(|rank| rank.value).collect::<Vec<_>>(), [Some(1), Some(2), Some(2)]);
}

/// A key of which two changes tie below its last one has no tie until that goes.
#[test]
fn a_change_that_hides_a_tie_brings_it_where_it_goes() {
    let scene = scene();
    let publish = |day, rows: &[_]| {
        scene.warehouse.publish(vec![seeking(&scene, OnTie::Refuse, day, &oracle::batch(rows))]).remove(0)
    };
    for (day, version) in [(0, 1), (1, 2), (2, 1)] {
        publish(day, &[row("a", version, day, day)]).unwrap();
    }
    assert!(matches!(publish(1, &[]), Err(CommitError::Tied { .. })));
    assert_eq!(rows(&scene.warehouse, &state(), false).values().next().unwrap().version, Some(2));
    publish(2, &[]).unwrap();
    publish(1, &[]).unwrap();
    assert_eq!(rows(&scene.warehouse, &state(), false).values().next().unwrap().value, Some(0));
}

/// A change that comes again on another day, as feeds that are delivered whole do, differs by its day.
#[test]
fn what_differs_in_the_day_alone_ties_with_nothing() {
    for (dated_by, refused) in [(Some("at".to_owned()), false), (None, true)] {
        let scene = scene();
        let publish = |day, rows: &[_]| {
            let publish = seeking(&scene, OnTie::Refuse, day, &oracle::batch(rows));
            scene.warehouse.publish(vec![Publish { dated_by: dated_by.clone(), ..publish }]).remove(0)
        };
        publish(0, &[row("a", 1, 0, 1), row("b", 1, 0, 1)]).unwrap();
        let again = publish(1, &[row("a", 1, 1, 1)]);
        assert_eq!(matches!(again, Err(CommitError::Tied { .. })), refused, "{again:?}");
        assert!(matches!(publish(1, &[row("a", 1, 1, 1), row("b", 1, 1, 2)]), Err(CommitError::Tied { .. })));
    }
}
