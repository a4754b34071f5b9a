//! Changes in plain Rust: made from a seed, folded by looking at all of them, and as record batches. Shared by tests of
//! the fold alone and of the warehouse.

#![allow(dead_code, reason = "shared by two tests, each of which uses a part")]

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Schema};

/// Random numbers that a seed gives again.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }

    fn maybe(&mut self, most: u64) -> Option<i64> {
        let value = self.below(most + 1);
        value.checked_sub(1).map(|value| value as i64)
    }

    /// Any order of things.
    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for place in (1..things.len()).rev() {
            things.swap(place, self.below(place as u64 + 1) as usize);
        }
    }
}

pub(crate) type Key = (Option<String>, Option<i64>);

/// What of a change decides, in the order in which it does; the last two are what remains, by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) version: Option<i64>,
    pub(crate) deleted: bool,
    pub(crate) at: i64,
    pub(crate) value: Option<i64>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub(crate) key: Key,
    pub(crate) rank: Rank,
}

pub(crate) const DAY: i64 = 86_400_000_000;

/// Changes of a day; few keys and few values, so that they meet.
pub(crate) fn changes(random: &mut Random, day: i64) -> Vec<Row> {
    let count = random.below(8);
    let row = |random: &mut Random| {
        let text = random.maybe(3).map(|number| ["a", "b", "cc"][number as usize].to_owned());
        let version = random.maybe(4);
        let (deleted, at) = (random.below(5) == 0, day * DAY + random.below(3) as i64);
        Row { key: (text, random.maybe(1)), rank: Rank { version, deleted, at, value: random.maybe(3) } }
    };
    (0..count).map(|_| row(random)).collect()
}

/// The changes of each day.
pub(crate) type Log = BTreeMap<i64, Vec<Row>>;

/// What is made of the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The greatest change a key, by version.
    Merge,
    /// Stretches of time, dated by the column that decides the slice.
    Changes,
    /// Stretches of versions: changes of all slices may be dated alike.
    Dated,
    /// The same, ordered by nothing else: all changes of a key and version are equal in order.
    Even,
    /// Stretches of time between days that hold all keys that are there.
    Snapshots,
}

const KINDS: [Kind; 5] = [Kind::Merge, Kind::Changes, Kind::Dated, Kind::Even, Kind::Snapshots];

impl Kind {
    /// One of them for each number.
    pub(crate) fn of(seed: u64) -> Kind {
        KINDS[(seed % KINDS.len() as u64) as usize]
    }

    /// Whether changes of two days may be equal in order.
    pub(crate) fn ties(self) -> bool {
        matches!(self, Kind::Merge | Kind::Even)
    }

    /// The column that dates changes, and whether it decides the slice.
    pub(crate) fn date(self) -> Option<(&'static str, bool)> {
        match self {
            Kind::Merge | Kind::Snapshots => None,
            Kind::Changes => Some(("at", true)),
            Kind::Dated | Kind::Even => Some(("version", false)),
        }
    }

    pub(crate) fn order(self) -> Vec<String> {
        vec![if self == Kind::Dated { "at" } else { "version" }.to_owned()]
    }

    fn date_of(self, day: i64, rank: &Rank) -> Option<i64> {
        match self {
            Kind::Merge => None,
            Kind::Changes => Some(rank.at),
            Kind::Dated | Kind::Even => rank.version,
            Kind::Snapshots => Some(day * DAY),
        }
    }

    /// What decides between changes of one key and date, the greatest wins.
    fn order_of(self, rank: &Rank) -> (Option<i64>, bool, i64, Option<i64>) {
        let first = if self == Kind::Dated { Some(rank.at) } else { rank.version };
        (first, rank.deleted, rank.at, rank.value)
    }
}

/// The changes that count: one a key and date, by day of its slice.
pub(crate) fn counting(log: &Log, kind: Kind) -> BTreeMap<(Key, Option<i64>), Rank> {
    let mut greatest: BTreeMap<(Key, Option<i64>), Rank> = BTreeMap::new();
    for (day, rows) in log {
        for row in rows {
            let identity = (row.key.clone(), kind.date_of(*day, &row.rank));
            let known = greatest.entry(identity).or_insert_with(|| row.rank.clone());
            if kind.order_of(known) < kind.order_of(&row.rank) {
                *known = row.rank.clone();
            }
        }
    }
    greatest
}

/// The greatest change of each key, deletions among them.
pub(crate) fn fold(log: &Log) -> BTreeMap<Key, Rank> {
    counting(log, Kind::Merge).into_iter().map(|((key, _), rank)| (key, rank)).collect()
}

/// Key, value, from, to, whether it still holds.
pub(crate) type Stretch = (Key, Option<i64>, Option<i64>, Option<i64>, bool);

/// The stretches of a history: every key looked at on every date.
pub(crate) fn stretches(log: &Log, kind: Kind) -> Vec<Stretch> {
    let counting = counting(log, kind);
    let mut keys: Vec<&Key> = counting.keys().map(|(key, _)| key).collect();
    keys.dedup();
    let mut found = Vec::new();
    for key in keys {
        let dates: Vec<Option<i64>> = match kind {
            Kind::Snapshots => log.keys().map(|day| Some(day * DAY)).collect(),
            _ => counting.keys().filter(|(own, _)| own == key).map(|(_, date)| *date).collect(),
        };
        // What holds from each date on, `None`: nothing.
        let held = |date: &Option<i64>| {
            let rank = counting.get(&(key.clone(), *date)).filter(|rank| !rank.deleted);
            rank.map(|rank| rank.value)
        };
        let mut open: Option<(Option<i64>, Option<i64>)> = None;
        for date in dates {
            let value = held(&date);
            if open.map(|(value, _)| value) == value {
                continue;
            }
            if let Some((value, from)) = open {
                found.push((key.clone(), value, from, date, false));
            }
            open = value.map(|value| (value, date));
        }
        found.extend(open.map(|(value, from)| (key.clone(), value, from, None, true)));
    }
    found.sort();
    found
}

/// Keys of a day whose greatest version came with differing changes.
pub(crate) fn ties(rows: &[Row]) -> u64 {
    let mut keys: BTreeMap<&Key, Vec<&Rank>> = BTreeMap::new();
    rows.iter().for_each(|row| keys.entry(&row.key).or_default().push(&row.rank));
    let tied = |ranks: &Vec<&Rank>| {
        let version = ranks.iter().map(|rank| rank.version).max().unwrap_or_default();
        let mut greatest: Vec<_> = ranks.iter().filter(|rank| rank.version == version).collect();
        greatest.sort_unstable();
        greatest.dedup();
        greatest.len() > 1
    };
    keys.values().filter(|ranks| tied(ranks)).count() as u64
}

/// Keys (and dates) for which each day of a group brings a tie between days: after it the greatest order comes from two
/// days, and the day's change of it is among these, or hid them before. Of days that bring equals the first stands for
/// those that were there, where there are none. `refusing`: a day that is counted brings nothing for those after it.
fn brought(log: &Log, group: &Log, kind: Kind, refusing: bool) -> BTreeMap<i64, u64> {
    let mut after = log.clone();
    after.extend(group.clone());
    let each = |log: &Log| -> BTreeMap<i64, BTreeMap<(Key, Option<i64>), Rank>> {
        log.iter().map(|(day, rows)| (*day, counting(&Log::from([(*day, rows.clone())]), kind))).collect()
    };
    let (was, is) = (each(log), each(&after));
    let mut found: Vec<(bool, Vec<i64>)> = Vec::new();
    for identity in counting(&after, kind).keys() {
        let order = |rank: &Rank| kind.order_of(rank).0;
        let before = |day: &i64| was.get(day).and_then(|own| own.get(identity));
        let now = |day: &i64| is[day].get(identity);
        let differs = |day: &i64| group.contains_key(day) && before(day) != now(day);
        let top = is.keys().filter_map(now).map(order).max().unwrap();
        let equals: Vec<i64> = is.keys().filter(|day| now(day).map(order) == Some(top)).copied().collect();
        if equals.len() < 2 {
            continue;
        }
        let bring: Vec<i64> = equals.iter().copied().filter(differs).collect();
        if bring.is_empty() {
            let hid = |day: &&i64| differs(day) && before(day).map(order) > Some(top);
            found.extend(group.keys().filter(hid).max().map(|day| (true, vec![*day])));
        } else {
            found.push((bring.len() < equals.len(), bring));
        }
    }
    let mut counts = BTreeMap::new();
    for day in group.keys() {
        let stands = |other: &&i64| *other < day && !(refusing && counts.contains_key(*other));
        let tied = |(before, bring): &&(bool, Vec<i64>)| {
            bring.contains(day) && (*before || bring.iter().any(|other| stands(&other)))
        };
        let count = found.iter().filter(tied).count() as u64;
        if count > 0 {
            counts.insert(*day, count);
        }
    }
    counts
}

/// The ties that a group brings by day, all of it being published.
pub(crate) fn counted(log: &Log, group: &Log, kind: Kind) -> BTreeMap<i64, u64> {
    if kind.ties() { brought(log, group, kind, false) } else { BTreeMap::new() }
}

/// What of a group is published where days that bring ties are refused, and the ties of those.
pub(crate) fn admitted(log: &Log, group: &Log, kind: Kind) -> (Log, BTreeMap<i64, u64>) {
    let (mut group, mut refused) = (group.clone(), BTreeMap::new());
    while kind.ties() {
        let found = brought(log, &group, kind, true);
        if found.is_empty() {
            break;
        }
        group.retain(|day, _| !found.contains_key(day));
        refused.extend(found);
    }
    (group, refused)
}

pub(crate) fn key() -> Vec<String> {
    vec!["text".to_owned(), "number".to_owned()]
}

/// The changes as a batch, `_deleted` last.
pub(crate) fn batch(rows: &[Row]) -> RecordBatch {
    let numbers = |value: &dyn Fn(&Row) -> Option<i64>| -> ArrayRef {
        Arc::new(rows.iter().map(value).collect::<Int64Array>())
    };
    let texts: ArrayRef = Arc::new(rows.iter().map(|row| row.key.0.clone()).collect::<StringArray>());
    let times = TimestampMicrosecondArray::from_iter_values(rows.iter().map(|row| row.rank.at));
    let deleted: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.rank.deleted)).collect::<BooleanArray>());
    RecordBatch::try_from_iter_with_nullable([
        ("value", numbers(&|row| row.rank.value), true),
        ("text", texts, true),
        ("number", numbers(&|row| row.key.1), true),
        ("version", numbers(&|row| row.rank.version), true),
        ("at", Arc::new(times.with_timezone("UTC")) as ArrayRef, true),
        ("_deleted", deleted, true),
    ])
    .unwrap()
}

/// The columns without `_deleted`.
pub(crate) fn user_schema() -> Schema {
    let schema = batch(&[]).schema();
    Schema::new(
        schema
            .fields()
            .iter()
            .filter(|field| *field.data_type() != DataType::Boolean)
            .cloned()
            .collect::<Vec<_>>(),
    )
}
