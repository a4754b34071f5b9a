//! The hash of one value, and how hashes of values become the hashes of a row.
//!
//! A value of up to 15 bytes passes a few rounds of a Feistel network over 64x64→128-bit products, keyed by the
//! column: for one column a bijection, so that two values never collide. Longer values pass xxh3, with two seeds for the
//! two hashes. A row adds up the hashes of its cells in two ways: as they are, and as products of their halves, which is
//! NH (Black, Halevi, Krawczyk, Krovetz, Rogaway: UMAC, 1999) with the column's seeds for its key. Both sums pass a
//! bijection, so that cells can't be swapped between rows unseen. A cell is tied to its key by NH as well, with the hash of
//! the key for its key.
//!
//! NH promises 2^-64 for inputs that know nothing of the key. Here they are hashes themselves, and two products of random
//! halves are equal about once in 2^120. All of this is against accidents: the seeds are known, and who wants to can make
//! values whose hashes are equal.

use oncemore_core::ColumnType;
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// Keys of the two hashes of a row, and of its key: digits of pi.
pub(super) const FIRST: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344];
pub(super) const SECOND: [u64; 2] = [0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];
pub(super) const KEY: [u64; 2] = [0x4528_21e6_38d0_1377, 0xbe54_66cf_34e9_0c6c];

const ROUND_0: u64 = 0x9e37_79b9_7f4a_7c15;
const ROUND_1: u64 = 0xd6e8_feb8_6659_fd93;
const ROUND_2: u64 = 0xa076_1d64_78bd_642f;
const ROUND_3: u64 = 0xe703_7ed1_a0b4_28db;

/// What a column's name and class of type contribute to the hash of its values.
#[derive(Clone, Debug)]
pub(super) struct Seeds {
    hash: [u64; 2],
    product: [u64; 2],
    null: u128,
}

/// What a value adds to both hashes of its row; the first is the hash of the value.
pub(super) type Pair = (u128, u128);

impl Seeds {
    pub(super) fn new(name: &str, kind: ColumnType) -> Seeds {
        let named = format!("{}\0{name}", class(kind));
        let seeds = |seed| halves(xxh3_128_with_seed(named.as_bytes(), seed));
        let null = xxh3_128_with_seed(format!("null\0{named}").as_bytes(), FIRST[1]);
        Seeds { hash: seeds(FIRST[0]), product: seeds(SECOND[0]), null }
    }

    /// NULL.
    pub(super) fn null(&self) -> Pair {
        self.pair(self.null)
    }

    /// A value of up to 8 bytes.
    #[inline]
    pub(super) fn word(&self, value: u64) -> Pair {
        self.pair(rounds(value, 0, self.hash))
    }

    /// A value of 16 bytes.
    #[inline]
    pub(super) fn wide(&self, value: i128) -> Pair {
        let [low, high] = halves(value as u128);
        self.pair(rounds(low, high, self.hash))
    }

    /// A value of any length.
    #[inline]
    pub(super) fn bytes(&self, value: &[u8]) -> Pair {
        if value.len() < 16 {
            let [low, high] = pack(value);
            return self.pair(rounds(low, high, self.hash));
        }
        // xxh3 keeps a fast path for a seed of up to 240 bytes; the second half of the seed is mixed in after.
        let hash = xxh3_128_with_seed(value, self.hash[0]) ^ u128::from(self.hash[1]);
        let other = xxh3_64_with_seed(value, self.product[0]);
        (hash, product(hash, [self.product[0] ^ other, self.product[1] ^ other.rotate_left(32)]))
    }

    #[inline]
    fn pair(&self, hash: u128) -> Pair {
        (hash, product(hash, self.product))
    }
}

/// Classes of types: values of one class hash alike in whatever width they come.
fn class(kind: ColumnType) -> String {
    match kind {
        ColumnType::Boolean => "boolean".to_owned(),
        ColumnType::Integer | ColumnType::BigInt => "integer".to_owned(),
        ColumnType::Real | ColumnType::Double => "float".to_owned(),
        ColumnType::Decimal(_, scale) => format!("decimal {scale}"),
        ColumnType::Text => "text".to_owned(),
        ColumnType::Binary => "binary".to_owned(),
        ColumnType::Date => "date".to_owned(),
        ColumnType::Timestamp => "timestamp".to_owned(),
        ColumnType::TimestampTz => "timestamptz".to_owned(),
    }
}

/// Up to 15 bytes, zeros after them, and their number last: 16 bytes that no other value gives.
#[inline]
fn pack(value: &[u8]) -> [u64; 2] {
    let length = value.len();
    let number = (length as u64) << 56;
    // Whole words, the second one overlapping the first: no loop over bytes.
    if let (Some(first), Some(last)) = (value.first_chunk::<8>(), value.last_chunk::<8>()) {
        let rest = if length == 8 { 0 } else { u64::from_le_bytes(*last) >> (8 * (16 - length)) };
        return [u64::from_le_bytes(*first), rest | number];
    }
    if let (Some(first), Some(last)) = (value.first_chunk::<4>(), value.last_chunk::<4>()) {
        let last = u64::from(u32::from_le_bytes(*last));
        let rest = if length == 4 { 0 } else { last >> (8 * (8 - length)) << 32 };
        return [u64::from(u32::from_le_bytes(*first)) | rest, number];
    }
    let low = value.iter().rev().fold(0, |low, byte| low << 8 | u64::from(*byte));
    [low, number]
}

fn halves(value: u128) -> [u64; 2] {
    [value as u64, (value >> 64) as u64]
}

#[inline]
fn fold(value: u64, by: u64) -> u64 {
    let product = u128::from(value).wrapping_mul(u128::from(by));
    (product as u64) ^ ((product >> 64) as u64)
}

#[inline]
fn rounds(low: u64, high: u64, seeds: [u64; 2]) -> u128 {
    let (mut low, mut high) = (low ^ seeds[0], high ^ seeds[1]);
    high ^= fold(low, ROUND_0);
    low ^= fold(high, ROUND_1);
    high ^= fold(low, ROUND_2);
    u128::from(low) | (u128::from(high) << 64)
}

/// The product of both halves of a hash, each after its own half of the key was added.
#[inline]
fn product(hash: u128, key: [u64; 2]) -> u128 {
    let [low, high] = halves(hash);
    u128::from(low.wrapping_add(key[0])).wrapping_mul(u128::from(high.wrapping_add(key[1])))
}

/// The hash of a cell together with the key of its row.
#[inline]
pub(super) fn tie(cell: u128, key: u128) -> u128 {
    product(cell, halves(key))
}

/// Four rounds over the sum of a row's cells.
#[inline]
pub(super) fn finish(sum: u128, key: [u64; 2]) -> u128 {
    let [low, high] = halves(sum);
    let (mut low, mut high) = (low ^ key[0], high ^ key[1]);
    high ^= fold(low, ROUND_3);
    low ^= fold(high, ROUND_0);
    high ^= fold(low, ROUND_1);
    low ^= fold(high, ROUND_2);
    u128::from(low) | (u128::from(high) << 64)
}

#[cfg(test)]
mod tests {
    use super::pack;

    #[test]
    fn packing_is_padding() {
        let bytes: Vec<u8> = (1..=15).map(|byte| byte * 17).collect();
        for length in 0..=15 {
            let mut padded = [0; 16];
            padded[..length].copy_from_slice(&bytes[..length]);
            padded[15] = length as u8;
            let [low, high] = pack(&bytes[..length]);
            assert_eq!(u128::from(low) | u128::from(high) << 64, u128::from_le_bytes(padded), "{length}");
        }
    }
}
