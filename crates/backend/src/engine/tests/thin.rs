//! The thinnest path: parameters typed, ranges derived, a day computed.

use std::sync::Arc;

use arrow::array::{Date32Array, Float64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use oncemore_core::{Bound, ColumnsRead, Edge, TimeType};

use super::support::*;

fn flights() -> (SchemaRef, RecordBatch) {
    let schema = Arc::new(Schema::new(vec![
        Field::new("d", DataType::Date32, true),
        Field::new("carrier", DataType::Utf8, true),
        Field::new("delay", DataType::Float64, true),
    ]));
    let batch = RecordBatch::try_new(
        Arc::clone(&schema),
        vec![
            Arc::new(Date32Array::from(vec![15765, 15765, 15766, 15766])),
            Arc::new(StringArray::from(vec!["UA", "AA", "UA", "AA"])),
            Arc::new(Float64Array::from(vec![Some(1.0), None, Some(2.5), Some(3.0)])),
        ],
    )
    .unwrap();
    (schema, batch)
}

#[test]
fn a_day_of_a_date_column() {
    let (schema, batch) = flights();
    let sql = "SELECT d, carrier, delay FROM raw.flights WHERE d >= :interval_start AND d < :interval_end";
    let query = query(sql, vec![input("raw.flights", &schema, Some(("d", TimeType::Date)))]);
    let engine = engine(2, 8192);
    let analysis = engine.analyse(&query).unwrap();
    let bound = |edge| Some(Bound { edge, time_type: TimeType::Date, offsets: vec![] });
    assert_eq!(analysis.reads[0].from, bound(Edge::Start));
    assert_eq!(analysis.reads[0].to, bound(Edge::End));
    assert_eq!(
        analysis.reads[0].columns,
        ColumnsRead::Some(vec!["carrier".into(), "d".into(), "delay".into()])
    );
    let rows =
        run(&engine, &query, day("2013-03-01"), vec![("raw.flights".into(), table(&[batch], 1))]).unwrap();
    assert_eq!(
        text(&rows),
        "+------------+---------+-------+\n\
         | d          | carrier | delay |\n\
         +------------+---------+-------+\n\
         | 2013-03-01 | AA      |       |\n\
         | 2013-03-01 | UA      | 1.0   |\n\
         +------------+---------+-------+"
    );
}
