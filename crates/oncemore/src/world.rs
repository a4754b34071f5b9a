//! The real world: the clock, ids from the system's randomness, and who this process is.

use oncemore_core::{Instant, World};

/// The world outside of tests.
#[derive(Debug)]
pub struct SystemWorld {
    process: String,
}

impl SystemWorld {
    /// This process in its world.
    #[expect(clippy::disallowed_methods, reason = "the binary is the one place that reads the environment")]
    pub fn new() -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .ok()
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .or_else(|| std::env::var("HOSTNAME").ok())
            .unwrap_or_else(|| "localhost".to_owned());
        let id = std::process::id();
        SystemWorld { process: format!("{host}:{id}:{}", start_time(id)) }
    }
}

impl Default for SystemWorld {
    fn default() -> Self {
        Self::new()
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the world that libraries are given")]
impl World for SystemWorld {
    fn now(&self) -> Instant {
        jiff::Timestamp::now().into()
    }

    fn fresh_id(&self) -> u128 {
        let mut bytes = [0; 16];
        if getrandom::fill(&mut bytes).is_err() {
            // No randomness from the system (a bare container): the clock to the nanosecond and this process are unique.
            let nanos = jiff::Timestamp::now().as_nanosecond();
            return nanos.unsigned_abs() << 32 | u128::from(std::process::id());
        }
        u128::from_le_bytes(bytes)
    }

    fn process(&self) -> String {
        self.process.clone()
    }
}

/// Who runs this process, as other people know them.
#[expect(clippy::disallowed_methods, reason = "the binary is the one place that reads the environment")]
pub fn user() -> String {
    let named = ["USER", "LOGNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let named = named.map(|name| one_line(&name)).find(|name| !name.is_empty());
    let numbered = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let id = status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().next()?;
        Some(format!("user {id}"))
    };
    named.or_else(numbered).unwrap_or_else(|| "somebody".to_owned())
}

/// What was typed, as far as it fits a line.
pub fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    one_line(&std::iter::once("oncemore".to_owned()).chain(words).collect::<Vec<_>>().join(" "))
}

/// `text` without what would move a cursor, cut to a length that can be shown.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect::<String>().trim().to_owned()
}

/// When the process began, in the kernel's ticks: tells it from a later one with the same number.
#[expect(clippy::disallowed_methods, reason = "the binary is the one place with a clock")]
fn start_time(id: u32) -> String {
    let ticks = std::fs::read_to_string(format!("/proc/{id}/stat")).ok().and_then(|stat| {
        // The second field, the name, may hold blanks; field 22 counts from the end of its bracket.
        let after_name = stat.rsplit_once(')')?.1;
        after_name.split_whitespace().nth(19).map(str::to_owned)
    });
    ticks.unwrap_or_else(|| jiff::Timestamp::now().as_microsecond().to_string())
}
