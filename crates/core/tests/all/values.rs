//! Names, types, versions and read ranges.

use oncemore_core::{
    Bound, Calendar, ColumnPrint, ColumnType, ColumnsRead, Digester, Edge, Fingerprint, Interval, Offset,
    Read, TableName, TimeType, Zone, fingerprint::columns_version,
};

#[test]
fn names_stay_in_their_folder() {
    for good in ["silver.flights", "a.b", "raw.f_1"] {
        assert_eq!(good.parse::<TableName>().unwrap().to_string(), good);
    }
    for bad in [
        "flights",
        "a.b.c",
        "../x.y",
        "a/b.c",
        "A.b",
        "a.B",
        "a.",
        ".b",
        "",
        "a. b",
        "a.b\0",
        "a.b\\c",
        "c:.x",
        "é.a",
        "1a.b",
        "a.\u{202e}b",
    ] {
        assert!(bad.parse::<TableName>().is_err(), "{bad:?}");
    }
    assert!(format!("a.{}", "b".repeat(65)).parse::<TableName>().is_err());
}

#[test]
fn types_are_written_as_they_are_read() {
    for (text, shown) in [
        ("bigint", "BIGINT"),
        ("decimal(10,2)", "DECIMAL(10, 2)"),
        ("numeric(5)", "DECIMAL(5, 0)"),
        ("timestamp with time zone", "TIMESTAMPTZ"),
        ("varchar", "TEXT"),
    ] {
        assert_eq!(text.parse::<ColumnType>().unwrap().to_string(), shown);
    }
    for bad in ["decimal(39,1)", "decimal(2,3)", "decimal(0)", "json", ""] {
        assert!(bad.parse::<ColumnType>().is_err(), "{bad}");
    }
}

#[test]
fn no_two_field_lists_digest_alike() {
    let one = Digester::new("x").field("ab", "c").finish();
    let other = Digester::new("x").field("a", "bc").finish();
    assert_ne!(one, other);
    assert_ne!(one, Digester::new("y").field("ab", "c").finish());
    assert_eq!(one.to_string().parse::<oncemore_core::Digest>().unwrap(), one);
}

#[test]
fn equal_rows_do_not_cancel_out() {
    let mut twice = Fingerprint::default();
    twice.add_row(7, 9);
    twice.add_row(7, 9);
    assert_ne!(twice, Fingerprint::default());
    assert_eq!(twice.rows, 2);
}

#[test]
fn a_reader_of_other_columns_sees_no_change() {
    let print = |name: &str, print| ColumnPrint { name: name.to_owned(), print };
    let before = [print("id", 1), print("a", 2), print("b", 3)];
    let after = [print("id", 1), print("a", 2), print("b", 4)];
    let rows = |first| Fingerprint { rows: 2, first, second: first };
    let (id, a, b) = ("id".to_owned(), "a".to_owned(), "b".to_owned());
    let reads = |columns: &[String], fingerprint, prints: &[ColumnPrint]| {
        columns_version(fingerprint, prints, Some(columns))
    };
    let some = [id.clone(), a];
    assert_eq!(reads(&some, rows(5), &before), reads(&some, rows(6), &after));
    let other = [id, b];
    assert_ne!(reads(&other, rows(5), &before), reads(&other, rows(6), &after));
    // Without prints the whole row speaks.
    assert_ne!(reads(&some, rows(5), &[]), reads(&some, rows(6), &[]));
}

#[test]
fn read_ranges_follow_the_type_that_is_compared() {
    let zone = Zone::named("America/New_York").unwrap();
    let day = Calendar::new("day".parse().unwrap(), zone.clone()).parse_range("2013-03-10").unwrap();
    let bound = |edge, time_type, days| Bound {
        edge,
        time_type,
        offsets: vec![Offset { days, ..Offset::default() }],
    };
    let read = |time_type, back: i32| Read {
        input: "raw.x".to_owned(),
        columns: ColumnsRead::All,
        from: Some(bound(Edge::Start, time_type, -back)),
        to: Some(bound(Edge::End, time_type, 0)),
    };
    let range = |time_type, back, input: &Zone| {
        let range = read(time_type, back).range(day, &zone, input).unwrap();
        format!("{} {}", range.start(), range.end())
    };
    let utc = Zone::utc();
    assert_eq!(range(TimeType::Instant, 0, &utc), "2013-03-10T05:00:00Z 2013-03-11T04:00:00Z");
    assert_eq!(range(TimeType::Date, 1, &zone), "2013-03-09T05:00:00Z 2013-03-11T04:00:00Z");
    // Dates of a table that is cut in another zone: the same dates, other instants.
    assert_eq!(range(TimeType::Date, 0, &utc), "2013-03-10T00:00:00Z 2013-03-11T00:00:00Z");
    assert_eq!(range(TimeType::Wall, 0, &zone), "2013-03-10T05:00:00Z 2013-03-11T04:00:00Z");
}

#[test]
fn bounds_beyond_the_calendar_are_open() {
    let zone = Zone::named("America/New_York").unwrap();
    let day = Calendar::new("day".parse().unwrap(), zone.clone()).parse_range("2013-03-10").unwrap();
    let most = [
        Offset { months: i32::MAX, ..Offset::default() },
        Offset { days: i32::MAX, ..Offset::default() },
        Offset { micros: i64::MAX, ..Offset::default() },
    ];
    let back =
        |offset: &Offset| Offset { months: -offset.months, days: -offset.days, micros: -offset.micros };
    for (time_type, offset) in [TimeType::Instant, TimeType::Wall, TimeType::Date]
        .iter()
        .flat_map(|kind| most.map(|most| (*kind, most)))
    {
        let bound = |edge, offset| Some(Bound { edge, time_type, offsets: vec![offset] });
        let read = Read {
            input: "raw.x".to_owned(),
            columns: ColumnsRead::All,
            from: bound(Edge::Start, back(&offset)),
            to: bound(Edge::End, offset),
        };
        assert_eq!(read.range(day, &zone, &zone), Some(Interval::WHOLE), "{time_type:?} {offset:?}");
    }
}
