//! Numbers, sizes and times as people read and write them.

use oncemore_core::Instant;

/// `336,776`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 slice`, `365 slices`.
pub fn plural(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(number as u64))
}

/// `812 B`, `1.2 MiB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// `0.15 s`, `12 s`, `3 min 05 s`, `2 h 10 min`.
pub fn seconds(seconds: f64) -> String {
    let whole = seconds.round().max(0.0) as u64;
    match whole {
        0..10 => format!("{seconds:.2} s"),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

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

/// A duration from `90s`, `10m`, `2h`.
///
/// # Errors
/// A text that is no duration, as the fragment shown to the user.
pub fn parse_duration(text: &str) -> Result<std::time::Duration, String> {
    let wrong = || format!("`{text}` is no duration: write `90s`, `10m` or `2h`");
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = trimmed.split_at(split);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let factor = match unit.trim() {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        _ => return Err(wrong()),
    };
    number.checked_mul(factor).map(std::time::Duration::from_secs).ok_or_else(wrong)
}
