//! Keeps what the process holds near the memory that a user allowed: the C library's allocator keeps freed blocks of up
//! to 32 MB for later, several times of what is in use, unless it is told otherwise before the process begins.

/// Begins the process once more with an allocator that gives freed blocks of batches back to the system, where
/// `--memory` was written. Page faults for fresh blocks cost processor time, so nobody pays who named no limit.
///
/// Returns where there is nothing to change, and where the system refuses: then more is held, and nothing else differs.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(clippy::disallowed_methods, reason = "the allocator listens to the environment alone")]
pub(crate) fn obey_memory() {
    use std::os::unix::process::CommandExt;

    /// Blocks from this size on are mapped and unmapped one by one. With little memory a batch's columns are of a
    /// hundred kB: below the threshold, each of many arenas kept megabytes of what merges of spilled runs had freed.
    const THRESHOLD: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "65536");
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let arguments: Vec<_> = arguments.collect();
    let named = arguments.iter().any(|argument| argument.to_string_lossy().starts_with("--memory"));
    let Ok(own) = std::env::current_exe() else { return };
    if named && std::env::var_os(THRESHOLD.0).is_none() {
        // Comes back only with an error.
        let _ =
            std::process::Command::new(own).arg0(name).args(arguments).env(THRESHOLD.0, THRESHOLD.1).exec();
    }
}

/// Other allocators are not told anything.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn obey_memory() {}
