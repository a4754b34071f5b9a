//! Types of columns, as a user declares them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A column type in the words of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ColumnType {
    /// `BOOLEAN`
    Boolean,
    /// `INTEGER`, 32 bits
    Integer,
    /// `BIGINT`, 64 bits
    BigInt,
    /// `REAL`, 32 bits
    Real,
    /// `DOUBLE`, 64 bits
    Double,
    /// `DECIMAL(precision, scale)`
    Decimal(u8, i8),
    /// `TEXT`
    Text,
    /// `DATE`
    Date,
    /// `TIMESTAMP`: what a clock on the wall shows, µs
    Timestamp,
    /// `TIMESTAMPTZ`: an instant, µs
    TimestampTz,
    /// `BINARY`
    Binary,
}

/// A text that names no type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown type `{0}`")]
pub struct TypeError(pub String);

/// Every name of a type, the first one of each type is the one shown.
const NAMES: &[(&str, ColumnType)] = &[
    ("BOOLEAN", ColumnType::Boolean),
    ("BOOL", ColumnType::Boolean),
    ("INTEGER", ColumnType::Integer),
    ("INT", ColumnType::Integer),
    ("BIGINT", ColumnType::BigInt),
    ("REAL", ColumnType::Real),
    ("FLOAT", ColumnType::Real),
    ("DOUBLE", ColumnType::Double),
    ("DOUBLE PRECISION", ColumnType::Double),
    ("TEXT", ColumnType::Text),
    ("VARCHAR", ColumnType::Text),
    ("STRING", ColumnType::Text),
    ("DATE", ColumnType::Date),
    ("TIMESTAMP", ColumnType::Timestamp),
    ("TIMESTAMPTZ", ColumnType::TimestampTz),
    ("TIMESTAMP WITH TIME ZONE", ColumnType::TimestampTz),
    ("BINARY", ColumnType::Binary),
    ("BYTEA", ColumnType::Binary),
];

impl ColumnType {
    /// Every name that [`FromStr`] takes, but for `DECIMAL(p, s)`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }
}

impl FromStr for ColumnType {
    type Err = TypeError;

    fn from_str(text: &str) -> Result<Self, TypeError> {
        let wanted = text.trim().to_ascii_uppercase();
        if let Some((_, found)) = NAMES.iter().find(|(name, _)| *name == wanted) {
            return Ok(*found);
        }
        let wrong = || TypeError(text.to_owned());
        let digits = wanted
            .strip_prefix("DECIMAL(")
            .or_else(|| wanted.strip_prefix("NUMERIC("))
            .and_then(|rest| rest.strip_suffix(')'))
            .ok_or_else(wrong)?;
        let (precision, scale) = digits.split_once(',').unwrap_or((digits, "0"));
        let precision: u8 = precision.trim().parse().map_err(|_| wrong())?;
        let scale: i8 = scale.trim().parse().map_err(|_| wrong())?;
        let fits = (1..=38).contains(&precision) && scale >= 0 && scale.unsigned_abs() <= precision;
        fits.then_some(ColumnType::Decimal(precision, scale)).ok_or_else(wrong)
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnType::Decimal(precision, scale) => write!(f, "DECIMAL({precision}, {scale})"),
            other => {
                f.write_str(NAMES.iter().find(|(_, named)| named == other).map_or("?", |(name, _)| name))
            }
        }
    }
}

impl TryFrom<String> for ColumnType {
    type Error = TypeError;

    fn try_from(text: String) -> Result<Self, TypeError> {
        text.parse()
    }
}

impl From<ColumnType> for String {
    fn from(kind: ColumnType) -> String {
        kind.to_string()
    }
}

/// The types that place a row in time; each has its own form of an interval's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeType {
    /// DATE: local dates
    Date,
    /// TIMESTAMP: local wall times
    Wall,
    /// TIMESTAMPTZ: instants
    Instant,
}
