//! Column types in Arrow, and how text becomes typed values. Strict: what does not fit is an error, never
//! rounded or wrapped. Knows no file.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, Decimal128Builder, PrimitiveBuilder, StringBuilder,
};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Field, Float32Type, Float64Type, Int32Type, Int64Type, Schema,
    SchemaRef, TimestampMicrosecondType,
};
pub use oncemore_commit::types::arrow_type;
use oncemore_commit::types::stored_type;
use oncemore_core::{ColumnType, TimeType};

/// Name and type, as a source declares a column.
pub(crate) type Column = (String, ColumnType);

/// The declared type that an Arrow type is read as, where there is one.
pub fn column_type(kind: &DataType) -> Option<ColumnType> {
    stored_type("", kind).ok()
}

/// What a type is called: in SQL's words where there are such.
pub(crate) fn type_name(kind: &DataType) -> String {
    column_type(kind).map_or_else(|| kind.to_string(), |known| known.to_string())
}

/// How a type places a row in time, if it does.
pub fn time_type(kind: ColumnType) -> Option<TimeType> {
    match kind {
        ColumnType::Date => Some(TimeType::Date),
        ColumnType::Timestamp => Some(TimeType::Wall),
        ColumnType::TimestampTz => Some(TimeType::Instant),
        _ => None,
    }
}

/// The Arrow schema of `columns`, all nullable.
pub(crate) fn schema(columns: &[Column]) -> SchemaRef {
    let fields = columns.iter().map(|(name, kind)| Field::new(name, arrow_type(*kind), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A text that is no value of its column's type: which row of those given, and why.
pub(crate) struct BadValue {
    pub(crate) row: usize,
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
}

/// Why a text is no value; the help says more where the text alone can't.
struct Refused(Option<&'static str>);

/// Parses a column of texts.
pub(crate) fn parse_column<'a>(
    kind: ColumnType,
    rows: usize,
    values: impl Iterator<Item = Option<&'a str>>,
) -> Result<ArrayRef, BadValue> {
    match kind {
        ColumnType::Integer => primitive::<Int32Type>(kind, rows, values, plain),
        ColumnType::BigInt => primitive::<Int64Type>(kind, rows, values, plain),
        ColumnType::Real => primitive::<Float32Type>(kind, rows, values, |text| {
            plain::<f32>(text).and_then(|value| in_range(value, value.is_infinite(), text))
        }),
        ColumnType::Double => primitive::<Float64Type>(kind, rows, values, |text| {
            plain::<f64>(text).and_then(|value| in_range(value, value.is_infinite(), text))
        }),
        ColumnType::Date => primitive::<Date32Type>(kind, rows, values, |text| {
            date(text.as_bytes()).ok_or(Refused(Some("dates are written 2013-03-01")))
        }),
        ColumnType::Timestamp => primitive::<TimestampMicrosecondType>(kind, rows, values, |text| {
            let (micros, offset) = timestamp(text).ok_or(Refused(Some(WALL_HELP)))?;
            if offset.is_none() { Ok(micros) } else { Err(Refused(Some(OFFSET_HELP))) }
        }),
        ColumnType::TimestampTz => {
            let mut builder = PrimitiveBuilder::<TimestampMicrosecondType>::with_capacity(rows)
                .with_data_type(arrow_type(kind));
            each(kind, values, |value| {
                builder.append_option(value.map(instant).transpose()?);
                Ok(())
            })?;
            Ok(Arc::new(builder.finish()))
        }
        ColumnType::Decimal(precision, scale) => {
            let mut builder = Decimal128Builder::with_capacity(rows).with_data_type(arrow_type(kind));
            each(kind, values, |value| {
                let parsed = value.map(|text| decimal(text, precision, scale).ok_or(Refused(None)));
                builder.append_option(parsed.transpose()?);
                Ok(())
            })?;
            Ok(Arc::new(builder.finish()))
        }
        ColumnType::Boolean => {
            let mut builder = BooleanBuilder::with_capacity(rows);
            each(kind, values, |value| {
                builder.append_option(value.map(|text| boolean(text).ok_or(Refused(None))).transpose()?);
                Ok(())
            })?;
            Ok(Arc::new(builder.finish()))
        }
        ColumnType::Text => {
            let mut builder = StringBuilder::with_capacity(rows, rows * 8);
            values.for_each(|value| builder.append_option(value));
            Ok(Arc::new(builder.finish()))
        }
        ColumnType::Binary => {
            let mut builder = BinaryBuilder::with_capacity(rows, rows * 8);
            values.for_each(|value| builder.append_option(value.map(str::as_bytes)));
            Ok(Arc::new(builder.finish()))
        }
    }
}

const WALL_HELP: &str = "wall times are written 2013-03-01 05:00:00, with up to six fractional digits";
const OFFSET_HELP: &str = "a TIMESTAMP has no offset: declare the column as TIMESTAMPTZ";
const INSTANT_HELP: &str =
    "a TIMESTAMPTZ needs its offset, as in 2013-03-01T05:00:00Z: declare the column as TIMESTAMP";

fn each<'a>(
    kind: ColumnType,
    values: impl Iterator<Item = Option<&'a str>>,
    mut take: impl FnMut(Option<&'a str>) -> Result<(), Refused>,
) -> Result<(), BadValue> {
    for (row, value) in values.enumerate() {
        take(value).map_err(|Refused(help)| {
            let shown = |c: char| if c.is_control() { ' ' } else { c };
            let text: String = value.unwrap_or_default().chars().map(shown).take(60).collect();
            BadValue { row, message: format!("`{text}` is no {kind}"), help }
        })?;
    }
    Ok(())
}

fn primitive<'a, T: ArrowPrimitiveType>(
    kind: ColumnType,
    rows: usize,
    values: impl Iterator<Item = Option<&'a str>>,
    parse: impl Fn(&str) -> Result<T::Native, Refused>,
) -> Result<ArrayRef, BadValue> {
    let mut builder = PrimitiveBuilder::<T>::with_capacity(rows);
    each(kind, values, |value| {
        builder.append_option(value.map(&parse).transpose()?);
        Ok(())
    })?;
    Ok(Arc::new(builder.finish()))
}

fn plain<T: std::str::FromStr>(text: &str) -> Result<T, Refused> {
    text.parse().map_err(|_| Refused(None))
}

/// Infinity is a value where it is written, not where a number is too large.
fn in_range<T>(value: T, infinite: bool, text: &str) -> Result<T, Refused> {
    if infinite && text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err(Refused(Some("the number is too large for the type: declare the column as TEXT")));
    }
    Ok(value)
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "t" | "1" => Some(true),
        "false" | "f" | "0" => Some(false),
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn decimal(text: &str, precision: u8, scale: i8) -> Option<i128> {
    let scale = usize::try_from(scale).ok()?;
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    let point = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    let (whole, fraction) = (&digits[..point], digits.get(point + 1..).unwrap_or_default());
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (kept, dropped) = fraction.split_at(fraction.len().min(scale));
    if !dropped.iter().all(|byte| *byte == b'0') {
        return None;
    }
    let mut value: i128 = 0;
    for byte in whole.iter().chain(kept) {
        let digit = byte.is_ascii_digit().then(|| i128::from(byte - b'0'))?;
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    value = value.checked_mul(10_i128.checked_pow(u32::try_from(scale - kept.len()).ok()?)?)?;
    (value < 10_i128.pow(u32::from(precision))).then_some(if negative { -value } else { value })
}

fn number(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
}

/// Days since 1970 of `2013-03-01`.
fn date(text: &[u8]) -> Option<i32> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return None };
    let year = number(&[y1, y2, y3, y4])?;
    let (month, day) = (number(&[m1, m2])?, number(&[d1, d2])?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Days in the years that begin in March: the leap day comes last.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let in_year = (153 * months + 2) / 5 + day - 1;
    let days = years * 365 + years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400) + in_year;
    i32::try_from(days - 719_468).ok()
}

fn instant(text: &str) -> Result<i64, Refused> {
    let (micros, offset) = timestamp(text).ok_or(Refused(Some(
        "instants are written 2013-03-01T05:00:00Z, with up to six fractional digits",
    )))?;
    Ok(micros - offset.ok_or(Refused(Some(INSTANT_HELP)))? * 1_000_000)
}

/// Wall µs and the offset in seconds, if one is written: `2013-03-01[T
/// ]05:00[:00[.000000]][Z|+05:30|+0530|+05]`.
fn timestamp(text: &str) -> Option<(i64, Option<i64>)> {
    let bytes = text.as_bytes();
    let days = i64::from(date(bytes.get(..10)?)?) * 86_400_000_000;
    let Some((b'T' | b't' | b' ', clock)) = bytes[10..].split_first() else {
        return bytes.get(10).is_none().then_some((days, None));
    };
    let &[h1, h2, b':', m1, m2] = clock.get(..5)? else { return None };
    let (hour, minute) = (number(&[h1, h2])?, number(&[m1, m2])?);
    let mut rest = &clock[5..];
    let mut second = 0;
    let mut micros = 0;
    if let [b':', s1, s2, after @ ..] = rest {
        second = number(&[*s1, *s2])?;
        rest = after;
        if let [b'.' | b',', after @ ..] = rest {
            let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 || digits > 9 {
                return None;
            }
            let kept = digits.min(6);
            // Cut, two of them might become one.
            if after[kept..digits].iter().any(|byte| *byte != b'0') {
                return None;
            }
            micros = number(&after[..kept])? * 10_i64.pow(6 - u32::try_from(kept).ok()?);
            rest = &after[digits..];
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let micros = days + ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros;
    Some((micros, offset_seconds(rest)?))
}

/// Outer: malformed, inner: none written.
fn offset_seconds(text: &[u8]) -> Option<Option<i64>> {
    let (sign, digits) = match text {
        [] => return Some(None),
        [b'Z' | b'z'] => return Some(Some(0)),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match digits {
        &[h1, h2] => (number(&[h1, h2])?, 0),
        &[h1, h2, m1, m2] | &[h1, h2, b':', m1, m2] => (number(&[h1, h2])?, number(&[m1, m2])?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some(Some(sign * (hours * 3_600 + minutes * 60)))
}
