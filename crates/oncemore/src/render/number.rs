//! Numbers, sizes and times as people read and write them.

use oncemore_core::Instant;
pub use oncemore_run::number::{bytes, count, plural, rows, seconds};

/// Least memory that queries get along with.
const MEMORY_MIN: usize = 16 << 20;

/// `2026-11-29 19:32:07 UTC`.
pub fn instant(instant: Instant) -> String {
    if instant == Instant::MIN || instant == Instant::MAX {
        return instant.to_string();
    }
    instant.to_timestamp().strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Bytes from `512`, `64KB`, `256MB`, `2GB`, `1.5GiB`; decimal and binary units are both taken as powers of 1024.
///
/// # Errors
/// A text that is no size, as the fragment shown to the user.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let wrong = || format!("`{text}` is no size: write `256MB` or `2GB`");
    let lower = text.trim().to_ascii_lowercase();
    let split = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, unit) = lower.split_at(split);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let power = match unit.trim() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return Err(wrong()),
    };
    let bytes = number * 1024f64.powi(power);
    if !(1.0..=1e17).contains(&bytes) {
        return Err(wrong());
    }
    Ok(bytes as usize)
}

/// Memory for computing: a size that is enough for it.
///
/// # Errors
/// A text that is no size, or too little, as the fragment shown to the user.
pub fn parse_memory(text: &str) -> Result<usize, String> {
    match parse_bytes(text)? {
        bytes if bytes < MEMORY_MIN => {
            Err(format!("{} is the least that computing gets along with", self::bytes(MEMORY_MIN as u64)))
        }
        bytes => Ok(bytes),
    }
}

/// A duration, written as in a project: `90s`, `10m`, `2 hours`.
///
/// # Errors
/// A text that is no duration, as the fragment shown to the user.
pub fn parse_duration(text: &str) -> Result<std::time::Duration, String> {
    let micros = oncemore_project::parse_duration(text).and_then(|micros| u64::try_from(micros).ok());
    let wrong = || format!("`{text}` is no duration: write `90s`, `10m`, `2 hours` or `1 day`");
    micros.map(std::time::Duration::from_micros).ok_or_else(wrong)
}
