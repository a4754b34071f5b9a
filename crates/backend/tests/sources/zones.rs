//! DATE, TIMESTAMP and TIMESTAMPTZ in zones of -5 h, 0, +5:30 and +13 h, over both days on which clocks
//! change: each row lies in exactly one cell, and the guard of a slice agrees with the cells.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Date32Array, RecordBatch, TimestampMicrosecondArray};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::TryStreamExt;
use oncemore_backend::audit::time_guard;
use oncemore_backend::source;
use oncemore_core::{Calendar, Format, Instant, Interval, IntervalLength, SourceSpec, Zone};

use crate::support::{LATER, Project, spec};

const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;

/// Zone, and noon UTC of a day near each of its clock changes in 2013 (UTC and Kolkata have none: New
/// York's).
const ZONES: [(&str, [&str; 2]); 4] = [
    ("America/New_York", ["2013-03-10", "2013-11-03"]),
    ("UTC", ["2013-03-10", "2013-11-03"]),
    ("Asia/Kolkata", ["2013-03-10", "2013-11-03"]),
    ("Pacific/Auckland", ["2013-04-07", "2013-09-29"]),
];

/// Values every ten minutes and at the microsecond before, over two days around a change.
fn values(date: &str) -> Vec<i64> {
    let noon = Calendar::new(IntervalLength::Day, Zone::utc()).parse_instant(date).unwrap().0 + 12 * HOUR;
    let steps = (noon - 36 * HOUR..noon + 36 * HOUR).step_by(600_000_000);
    steps.flat_map(|value| [value - 1, value]).collect()
}

fn batches(values: &[i64]) -> [(&'static str, RecordBatch); 3] {
    let days: Vec<i32> = values.iter().map(|value| i32::try_from(value.div_euclid(DAY)).unwrap()).collect();
    let micros = TimestampMicrosecondArray::from(values.to_vec());
    let arrays: [(&str, ArrayRef); 3] = [
        ("DATE", Arc::new(Date32Array::from(days))),
        ("TIMESTAMP", Arc::new(micros.clone())),
        ("TIMESTAMPTZ", Arc::new(micros.with_timezone("UTC"))),
    ];
    arrays.map(|(kind, array)| (kind, RecordBatch::try_from_iter([("t", array)]).unwrap()))
}

/// Where a row belongs, told without bounds: by the local date that the row shows or, for an instant, by
/// containment.
fn belongs(kind: &str, value: i64, calendar: &Calendar, cell: Interval) -> bool {
    if kind == "TIMESTAMPTZ" {
        return cell.contains(Instant(value));
    }
    let shown = Calendar::new(IntervalLength::Day, Zone::utc());
    shown.label(shown.containing(Instant(value))) == calendar.label(cell)
}

async fn guarded(batch: &RecordBatch, cell: Interval, zone: &Zone) -> bool {
    let stream = futures::stream::iter([Ok(batch.clone())]);
    let stream = Box::pin(RecordBatchStreamAdapter::new(batch.schema(), stream));
    time_guard(stream, "t", cell, zone).unwrap().try_collect::<Vec<_>>().await.is_ok()
}

#[tokio::test]
async fn each_row_is_in_exactly_one_cell() {
    for (name, dates) in ZONES {
        let zone = Zone::named(name).unwrap();
        for (date, length) in
            dates.into_iter().flat_map(|d| [(d, IntervalLength::Day), (d, IntervalLength::Hour)])
        {
            let calendar = Calendar::new(length, zone.clone());
            for (kind, batch) in batches(&values(date)) {
                if kind == "DATE" && length.is_below_day() {
                    continue;
                }
                each_row_once(kind, &batch, &calendar).await;
            }
        }
    }
}

async fn each_row_once(kind: &str, batch: &RecordBatch, calendar: &Calendar) {
    let project = Project::new();
    project.parquet("in/a.parquet", batch);
    let declared = SourceSpec {
        time_zone: calendar.zone.name().to_owned(),
        ..spec("in/a.parquet", Format::Parquet, "", Some("t"))
    };
    let index = source::scan(&declared, &project.store(), None, calendar, LATER).await.unwrap();
    let cells: BTreeMap<Interval, u64> =
        index.cells().iter().map(|cell| (cell.interval, cell.fingerprint.rows)).collect();
    let rows = batch.num_rows();
    assert_eq!(cells.values().sum::<u64>(), rows as u64, "{kind} {calendar:?}");
    let intervals: Vec<Interval> = cells.keys().copied().collect();
    assert!(intervals.windows(2).all(|pair| pair[0].end() <= pair[1].start()));
    let mut counted: BTreeMap<Interval, u64> = BTreeMap::new();
    for row in 0..rows {
        let one = batch.slice(row, 1);
        let mut owner = None;
        // Neighbours are asked by the guard, the cells by their counts.
        for cell in intervals.iter().copied() {
            if guarded(&one, cell, &calendar.zone).await {
                assert!(owner.replace(cell).is_none(), "{kind} {calendar:?}: row {row} is in two cells");
            }
        }
        let owner = owner.unwrap_or_else(|| panic!("{kind} {calendar:?}: row {row} is in no cell"));
        if calendar.length == IntervalLength::Day {
            assert!(belongs(kind, value(batch, row), calendar, owner), "{kind} {calendar:?}: row {row}");
        }
        *counted.entry(owner).or_default() += 1;
    }
    assert_eq!(counted, cells, "{kind} {calendar:?}");
}

fn value(batch: &RecordBatch, row: usize) -> i64 {
    use arrow::array::AsArray;
    use arrow::datatypes::{Date32Type, TimestampMicrosecondType};
    let column = batch.column(0);
    match column.as_primitive_opt::<Date32Type>() {
        Some(days) => i64::from(days.value(row)) * DAY,
        None => column.as_primitive::<TimestampMicrosecondType>().value(row),
    }
}
