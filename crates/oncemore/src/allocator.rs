//! What the C library's allocator is told: to keep what the process holds near the memory that a user allowed, or else to
//! ask the system for memory seldom. It reads that from the environment before the process begins; the way to tell it
//! later is unsafe code, which we have none of.

/// Begins a process that computes once more, with an allocator that fits. Where `--memory` was written, it gives freed
/// blocks of batches back to the system: page faults for fresh blocks cost processor time, so nobody pays who named no
/// limit.
///
/// Returns where it is told already, and where the system refuses: then more is held, or more time spent, and nothing
/// else differs.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(clippy::disallowed_methods, reason = "the allocator listens to the environment alone")]
pub(crate) fn fit() {
    use std::os::unix::process::CommandExt;

    /// It keeps freed blocks of up to 32 MB for later, several times of what is in use. From this size on they are mapped and
    /// unmapped one by one. With little memory a batch's columns are of a hundred kB: below the threshold, each of many arenas
    /// kept megabytes of what merges of spilled runs had freed.
    const THRESHOLD: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "65536");

    /// What is asked for beyond what is needed, and kept, by each arena. Half of the page faults of a first load were for
    /// blocks that had been given back right before. It ends the threshold's own growth as well, which none of ours needs.
    const PIECE: (&str, &str) = ("MALLOC_TOP_PAD_", "67108864");

    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let arguments: Vec<_> = arguments.collect();
    let named = arguments.iter().any(|argument| argument.to_string_lossy().starts_with("--memory"));
    let (variable, value) = if named { THRESHOLD } else { PIECE };
    let Ok(own) = std::env::current_exe() else { return };
    // Begun by the loader, the process is the loader's.
    let called = std::path::Path::new(&name);
    if called.components().count() > 1 && called.canonicalize().ok().as_deref() != Some(own.as_path()) {
        return;
    }
    if std::env::var_os(variable).is_none() {
        // Comes back only with an error.
        let _ = std::process::Command::new(own).arg0(name).args(arguments).env(variable, value).exec();
    }
}

/// Other allocators are not told anything.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn fit() {}
