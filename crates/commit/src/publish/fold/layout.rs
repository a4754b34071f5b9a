//! Which files of a folded table are written anew in a commit, and which stay with some of their rows deleted. Pure.
//!
//! A table is files of buckets, *base* files, and over them files of rows that came later, *over* files; of both, rows
//! may be deleted. Each row that changes is written once when it comes. It is written again when its bucket is: at
//! once, where much of the bucket changes or the bucket is small; else when too much of the table lies over it, the
//! buckets that waited longest first, and no more of them in a commit than in proportion to what it changes. So the
//! hundredth commit costs what the first did.

use std::collections::BTreeMap;

use oncemore_core::Epoch;

use crate::fold::store::{Buckets, Unit};

/// When files are written anew.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Rows that a bucket holds before it is halved.
    pub(super) bucket_rows: u64,
    /// How many of 100 rows of a bucket may change, or of a table be deleted or lie over its buckets.
    pub(super) share: u64,
}

/// Rows written again for each that changes, while too many lie over buckets.
const PACE: u64 = 4;
/// Over files of about one size are merged when there are as many.
const MERGE: usize = 8;

impl Limits {
    /// Buckets of so few rows are written anew whatever changes.
    fn small(self) -> u64 {
        self.bucket_rows / 32
    }

    /// The units that a table of so many rows has when it is compact.
    pub(super) fn whole(self, rows: u64) -> Buckets {
        Buckets::ONE.grown(rows, self.bucket_rows)
    }

    /// The units that so many rows over buckets are spread over.
    pub(super) fn over(self, rows: u64) -> Buckets {
        Buckets::ONE.grown(rows, self.bucket_rows / 4)
    }

    /// The units that all rows of `unit` are spread over when it is written anew.
    pub(super) fn finer(self, unit: Unit, rows: u64) -> Buckets {
        let more = Buckets::ONE.grown(rows, self.bucket_rows);
        Buckets { bits: unit.buckets.bits + more.bits }.grown(0, 1)
    }
}

/// A bucket on its way through a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) unit: Unit,
    /// Rows in its base files, the deleted ones among them.
    pub(super) rows: u64,
    /// Those that were deleted before.
    pub(super) dead: u64,
    /// Those that this commit deletes.
    pub(super) dying: u64,
    /// Rows that this commit brings.
    pub(super) fresh: u64,
    /// When it was written.
    pub(super) age: Epoch,
}

/// An over file on its way through a commit.
#[derive(Clone, Debug)]
pub(super) struct Over {
    pub(super) unit: Unit,
    /// Rows that are not deleted.
    pub(super) rows: u64,
}

/// Buckets that cover all keys: those that are there, and where there is none, the largest that fit between.
pub(super) fn tiles(there: &BTreeMap<Unit, (u64, Epoch)>) -> Vec<Tile> {
    let mut found = Vec::new();
    let mut open = vec![Unit::ALL];
    while let Some(unit) = open.pop() {
        let inside = there.keys().any(|known| *known != unit && unit.covers(*known));
        if !there.contains_key(&unit) && inside {
            let [low, high] = unit.halves();
            open.extend([high, low]);
            continue;
        }
        let (rows, age) = there.get(&unit).copied().unwrap_or_default();
        found.push(Tile { unit, rows, dead: 0, dying: 0, fresh: 0, age });
    }
    found
}

/// The tile of a key; tiles are those of [`tiles`].
pub(super) fn tile_of(tiles: &[Tile], hash: u128) -> usize {
    tiles.partition_point(|tile| tile.unit.first() <= hash).saturating_sub(1)
}

/// Whether each tile is written anew.
pub(super) fn rewritten(tiles: &[Tile], over: &[Over], limits: Limits) -> Vec<bool> {
    let of = |part: u64, all: u64| u128::from(part) * 100 >= u128::from(limits.share) * u128::from(all);
    let now = |tile: &Tile| {
        let changed = tile.fresh + tile.dying;
        changed > 0 && (tile.rows <= limits.small() || of(changed, tile.rows))
    };
    let mut chosen: Vec<bool> = tiles.iter().map(now).collect();
    let laid: u64 = over.iter().map(|over| over.rows).sum();
    let all = laid + tiles.iter().map(|tile| tile.rows + tile.fresh - tile.dead - tile.dying).sum::<u64>();
    let stay = || tiles.iter().zip(&chosen).filter(|(_, chosen)| !**chosen).map(|(tile, _)| tile);
    let waste = laid + stay().map(|tile| tile.dead + tile.dying + tile.fresh).sum::<u64>();
    if waste == 0 || !of(waste, all) {
        return chosen;
    }
    let changed: u64 = tiles.iter().map(|tile| tile.fresh + tile.dying).sum();
    let mut pace = PACE * changed;
    let mut waiting: Vec<usize> = (0..tiles.len()).filter(|place| !chosen[*place]).collect();
    waiting.sort_by_key(|place| (tiles[*place].age, *place));
    for (nth, place) in waiting.into_iter().enumerate() {
        let cost = tiles[place].rows.max(1);
        if nth > 0 && cost > pace {
            break;
        }
        pace = pace.saturating_sub(cost);
        chosen[place] = true;
    }
    chosen
}

/// Over files that become one with what this commit brings: of one unit and about one size.
pub(super) fn merged(over: &[Over], fresh: u64) -> Vec<usize> {
    let mut tiers: BTreeMap<(u32, Unit), Vec<usize>> = BTreeMap::new();
    for (place, file) in over.iter().enumerate() {
        tiers.entry((tier(file.rows), file.unit)).or_default().push(place);
    }
    let mut pace = (PACE * fresh).max(1);
    let mut chosen = Vec::new();
    for places in tiers.into_values().filter(|places| places.len() + 1 >= MERGE) {
        let rows: u64 = places.iter().map(|place| over[*place].rows).sum();
        if !chosen.is_empty() && rows > pace {
            continue;
        }
        pace = pace.saturating_sub(rows);
        chosen.extend(places);
    }
    chosen
}

/// Delete files, by the number of places in them that count, that become one with `fresh` new places.
pub(super) fn absorbed(places: &[u64], mut fresh: u64) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    while fresh > 0 {
        let same =
            (0..places.len()).filter(|place| !chosen.contains(place) && tier(places[*place]) <= tier(fresh));
        let same: Vec<usize> = same.collect();
        if same.len() + 1 < MERGE {
            break;
        }
        fresh += same.iter().map(|place| places[*place]).sum::<u64>();
        chosen.extend(same);
    }
    chosen
}

fn tier(rows: u64) -> u32 {
    rows.max(1).ilog(MERGE as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { bucket_rows: 1_000, share: 25 };

    fn unit(bits: u32, bucket: u64) -> Unit {
        Unit { buckets: Buckets { bits }, bucket }
    }

    fn tile(bucket: u64, age: u64) -> Tile {
        let age = Epoch { request: age, attempt: 0 };
        Tile { unit: unit(2, bucket), rows: 900, dead: 0, dying: 0, fresh: 0, age }
    }

    #[test]
    fn tiles_cover_all_keys_with_the_largest_that_fit() {
        let units = |there: &[Unit]| -> Vec<Unit> {
            let there = there.iter().map(|unit| (*unit, (1, Epoch::default()))).collect();
            tiles(&there).into_iter().map(|tile| tile.unit).collect()
        };
        assert_eq!(units(&[]), [Unit::ALL]);
        assert_eq!(units(&[Unit::ALL]), [Unit::ALL]);
        assert_eq!(units(&[unit(2, 1)]), [unit(2, 0), unit(2, 1), unit(1, 1)]);
        assert_eq!(units(&[unit(1, 0), unit(2, 3)]), [unit(1, 0), unit(2, 2), unit(2, 3)]);
        let there =
            BTreeMap::from([(unit(1, 0), (1, Epoch::default())), (unit(2, 3), (1, Epoch::default()))]);
        let tiles = tiles(&there);
        for (hash, place) in [(0, 0), (1 << 127, 1), ((1 << 127) - 1, 0), (3 << 126, 2), (u128::MAX, 2)] {
            assert_eq!(tile_of(&tiles, hash), place, "{hash:x}");
        }
    }

    #[test]
    fn a_bucket_is_written_anew_where_much_of_it_changes() {
        let mut all: Vec<Tile> = (0..4).map(|bucket| tile(bucket, bucket)).collect();
        assert_eq!(rewritten(&all, &[], LIMITS), [false; 4]);
        (all[1].fresh, all[1].dying) = (100, 100);
        assert_eq!(rewritten(&all, &[], LIMITS), [false; 4]);
        all[1].dying = 125;
        assert_eq!(rewritten(&all, &[], LIMITS), [false, true, false, false]);
        all[2] = Tile { rows: 30, fresh: 1, ..all[2].clone() };
        assert_eq!(rewritten(&all, &[], LIMITS), [false, true, true, false]);
    }

    #[test]
    fn the_bucket_that_waited_longest_is_next_where_too_much_lies_over_the_table() {
        let mut all = vec![tile(0, 3), tile(1, 1), tile(2, 2), tile(3, 1)];
        all[0].fresh = 10;
        let over = [Over { unit: Unit::ALL, rows: 2_000 }];
        assert_eq!(rewritten(&all, &over, LIMITS), [false, true, false, false]);
        all[0].fresh = 210;
        all[0].dying = 10;
        assert_eq!(rewritten(&all, &over, LIMITS), [false, true, false, false]);
        all[0].dying = 100;
        assert_eq!(rewritten(&all, &over, LIMITS), [true, true, false, false]);
        all[1].fresh = 150;
        assert_eq!(rewritten(&all, &over, LIMITS), [true, true, false, true]);
        all[2].fresh = 220;
        assert_eq!(rewritten(&all, &over, LIMITS), [true, true, true, true]);
    }

    #[test]
    fn a_quarter_is_one_of_the_rows_that_are_there() {
        let begins = |tile: Tile, rows: u64| {
            let all: Vec<Tile> =
                [tile].into_iter().chain((1..4).map(|bucket| self::tile(bucket, 9))).collect();
            rewritten(&all, &[Over { unit: Unit::ALL, rows }], LIMITS)[0]
        };
        // 3,200 rows and what lies over them, and 400 that were deleted.
        let dead = Tile { dead: 400, ..tile(0, 0) };
        assert!(!begins(dead.clone(), 533) && begins(dead, 534));
        // 3,500 rows and what lies over them, and 100 that go now.
        let dying = Tile { dying: 100, ..tile(0, 0) };
        assert!(!begins(dying.clone(), 1_033) && begins(dying, 1_034));
    }

    /// Whatever comes, in whatever size: what lies over the table stays in bounds, and so does what a commit writes.
    #[test]
    fn a_thousand_commits_in_a_row_stay_in_bounds() {
        let limits = Limits { bucket_rows: 10_000, share: 25 };
        for changed in [10u64, 1_000, 20_000] {
            let mut rows: Vec<(u64, u64, u64)> = vec![(10_000, 0, 0); 64]; // rows, waste, age
            let mut most = (0, 0);
            for commit in 1..1_000 {
                let tiles: Vec<Tile> = rows
                    .iter()
                    .enumerate()
                    .map(|(place, (rows, waste, age))| {
                        let share = (changed / 64).max(u64::from(place as u64 == commit % 64));
                        let age = Epoch { request: *age, attempt: 0 };
                        let unit = unit(6, place as u64);
                        Tile { unit, rows: *rows, dead: waste / 2, dying: share, fresh: share, age }
                    })
                    .collect();
                let laid = rows.iter().map(|(_, waste, _)| waste / 2).sum();
                let chosen = rewritten(&tiles, &[Over { unit: Unit::ALL, rows: laid }], limits);
                let mut written = 0;
                for ((own, tile), chosen) in rows.iter_mut().zip(&tiles).zip(chosen) {
                    own.1 += 2 * tile.fresh;
                    if chosen {
                        written += own.0;
                        (own.1, own.2) = (0, commit);
                    }
                }
                most = (most.0.max(written), most.1.max(rows.iter().map(|own| own.1).sum::<u64>()));
            }
            assert!(most.0 <= 10_000 + 8 * changed, "{changed}: {most:?}");
            assert!(most.1 <= 640_000 * 2 / 5, "{changed}: {most:?}");
        }
    }

    #[test]
    fn files_of_one_size_become_one_when_there_are_eight() {
        let file = |rows| Over { unit: Unit::ALL, rows };
        let mut over: Vec<Over> = (0..6).map(|_| file(100)).collect();
        assert!(merged(&over, 100).is_empty());
        over.push(file(100));
        over.push(file(5_000));
        assert_eq!(merged(&over, 100), [0, 1, 2, 3, 4, 5, 6]);
        // Larger ones wait for a commit that brings as much.
        over.extend((0..6).map(|_| file(5_000)));
        assert_eq!(merged(&over, 100), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(merged(&over, 10_000).len(), 14);
        assert!(absorbed(&[9; 6], 9).is_empty());
        assert_eq!(absorbed(&[9, 9, 9, 9, 9, 9, 9, 600], 9), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(absorbed(&[9, 9, 9, 9, 9, 9, 9, 70], 60), [0, 1, 2, 3, 4, 5, 6]);
    }
}
