//! Maps survive a round trip, grow by pages, and refuse damaged bytes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use oncemore_core::{AttemptId, Digest, Epoch, Fingerprint, Instant, Interval, Origin, Pin, Stamp};

use super::{Deletes, Entry, FileEntry, PAGE, Page, SliceMap, entry as page};

fn interval(day: i64) -> Interval {
    Interval::new(Instant(day * 10), Instant(day * 10 + 10)).unwrap()
}

fn entry(day: i64, attempt: u64) -> Entry {
    let digest = Digest::of(b"x");
    let stamp = Stamp {
        interval: interval(day),
        code: digest,
        code_seen: Instant(5),
        written_by: digest,
        inputs: vec![Pin { input: "raw.flights".to_owned(), version: Digest::of(&day.to_le_bytes()) }],
        audits: digest,
        epoch: Epoch { request: 7, attempt },
        attempt: AttemptId(u128::from(attempt) << 70),
        fingerprint: Fingerprint { rows: 3, first: u128::MAX, second: 1 },
        columns: Vec::new(),
        schema: digest,
        bytes: 1 << 40,
        changed_at: Instant(-3),
        verified_at: Instant(i64::MAX),
        engine: "e".to_owned(),
        origin: Origin::Accepted { because: "looked at".to_owned() },
    };
    let files = vec![FileEntry { name: format!("data/{day}/f-{attempt}"), rows: 3, bytes: 9 }];
    let gone = FileEntry { name: format!("data/{day}/p-{attempt}"), rows: 2, bytes: 7 };
    let deletes = if attempt.is_multiple_of(3) {
        Deletes { files: vec![gone], dead: vec![2] }
    } else {
        Deletes::default()
    };
    Entry { interval: interval(day), fence: stamp.epoch, stamp: Some(stamp), files, deletes }
}

#[test]
fn pages_fill_up_in_order_of_time_and_are_halved_elsewhere() {
    let sizes = |map: &SliceMap| map.pages.iter().map(|page| page.entries.len()).collect::<Vec<_>>();
    let mut map = SliceMap::default();
    for day in 0..=2 * PAGE as i64 {
        map.put(entry(2 * day, 1));
    }
    assert_eq!(sizes(&map), [PAGE, PAGE, 1]);
    // Behind all of a page, but not of the map.
    map.put(entry(2 * PAGE as i64 - 1, 1));
    assert_eq!(sizes(&map), [PAGE / 2, PAGE / 2 + 1, PAGE, 1]);
    map.put(entry(2 * PAGE as i64 - 1, 2));
    assert_eq!(sizes(&map), [PAGE / 2, PAGE / 2 + 1, PAGE, 1]);
    assert!(map.entries().is_sorted_by_key(|entry| entry.interval));
}

#[test]
fn maps_equal_a_tree_after_any_order_of_puts() {
    let mut map = SliceMap::default();
    let mut oracle = BTreeMap::new();
    let mut files: BTreeMap<String, Arc<Vec<u8>>> = BTreeMap::new();
    for round in 0..600u64 {
        let day = (round * 7919 % 311) as i64 - 100;
        map.put(entry(day, round));
        oracle.insert(interval(day), entry(day, round));
        if round % 50 == 49 {
            let name = format!("map-{round}");
            let bytes = map.encode(&name);
            files.insert(name.clone(), Arc::new(bytes));
            map = SliceMap::load(&name, |name| Ok(files[name].clone())).unwrap();
        }
    }
    assert!(map.entries().eq(oracle.values()));
    assert!(map.pages.iter().all(|page| page.entries.len() <= PAGE));
    for day in -120..320 {
        assert_eq!(map.get(interval(day)), oracle.get(&interval(day)));
        assert_eq!(map.starting(Some(day * 10)), oracle.get(&interval(day)));
    }
    let wide = Interval::new(Instant(-55), Instant(41)).unwrap();
    let expected: Vec<&Entry> = oracle.values().filter(|entry| entry.interval.overlaps(wide)).collect();
    assert_eq!(map.overlapping(wide), expected);
}

#[test]
fn a_commit_writes_one_page_and_a_root() {
    let mut map = SliceMap::default();
    (0..10_000).for_each(|day| map.put(entry(day, 1)));
    let all = map.encode("all").len();
    map.put(entry(5_000, 2));
    let one = map.encode("one").len();
    assert!(one * 40 < all, "{one} of {all} bytes");
}

#[test]
fn damaged_bytes_are_errors() {
    let mut map = SliceMap::default();
    (0..100).for_each(|day| map.put(entry(day, 1)));
    let bytes = map.encode("map");
    for at in (0..bytes.len()).step_by(37) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        SliceMap::load("map", |_| Ok(Arc::new(damaged.clone()))).unwrap_err();
    }
    for length in (0..bytes.len()).step_by(101) {
        let cut = bytes[..length].to_vec();
        SliceMap::load("map", |_| Ok(Arc::new(cut.clone()))).unwrap_err();
    }
}

#[test]
fn codes_last_up_to_a_number_and_keep_their_first_sight() {
    let code = |number: i64| Digest::of(&number.to_le_bytes());
    let mut map = SliceMap::default();
    for number in 0..150 {
        map.note_code(code(number), Instant(number));
        map.note_code(code(number), Instant(number + 1_000));
    }
    map.put(entry(1, 1));
    let bytes = Arc::new(map.encode("m"));
    let map = SliceMap::load("m", |_| Ok(bytes.clone())).unwrap();
    let expected: Vec<_> = (50..150).map(|number| (code(number), Instant(number))).collect();
    assert_eq!(*map.codes, expected);
}

/// Check sums are no defence against who writes them: slices are looked up by halving, and a page that is named a
/// thousand times would be held as often.
#[test]
fn slices_out_of_order_are_damage() {
    let page = |days: &[i64]| {
        let entries = days.iter().map(|day| entry(*day, 1)).collect();
        Page { entries: Arc::new(entries), home: None }
    };
    let load = |pages: Vec<Page>| {
        let mut map = SliceMap { pages, ..SliceMap::default() };
        let bytes = Arc::new(map.encode("map"));
        SliceMap::load("map", |_| Ok(bytes.clone()))
    };
    load(vec![page(&[1, 2]), page(&[3])]).unwrap();
    for pages in [
        vec![page(&[2, 1])],
        vec![page(&[1, 1])],
        vec![page(&[3]), page(&[1, 2])],
        vec![page(&[1, 2]), page(&[1, 2])],
        vec![page(&[1]), page(&[]), page(&[2])],
    ] {
        load(pages).unwrap_err();
    }
}

#[test]
fn a_floor_is_a_fence_of_slices_that_never_were() {
    let mut map = SliceMap::default();
    map.put(entry(1, 2));
    assert_eq!(
        (map.fence(interval(1)), map.fence(interval(9))),
        (Epoch { request: 7, attempt: 2 }, Epoch::default())
    );
    map.floor = Epoch { request: 8, attempt: 0 };
    let bytes = Arc::new(map.encode("map"));
    let read = SliceMap::load("map", |_| Ok(bytes.clone())).unwrap();
    assert_eq!((read.fence(interval(1)), read.fence(interval(9))), (map.floor, map.floor));
    assert_eq!(read.max_fence(), map.floor);
    let mut older = SliceMap::default();
    older.raise_fences(&read);
    assert_eq!(older.floor, map.floor);
}

/// What a later version puts behind an entry is not read past as if it were not there.
#[test]
fn what_an_entry_holds_is_known() {
    let bytes = page::encode(&[Entry::empty(interval(1))]);
    let with = |end: &[u8]| page::decode(&[&bytes[..bytes.len() - 1], end].concat());
    with(&[0]).unwrap();
    with(&[4]).unwrap_err();
    with(&[2, 0]).unwrap_err();
}
