//! Packs `examples/flights` into one file for `oncemore demo`: for each file its path's length, its path, its length
//! and its bytes. And says how the binary is linked.

#![expect(clippy::disallowed_methods, reason = "how cargo talks to a build script")]

use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    // A position-independent binary of this size spends a third of the time of `oncemore plan` on relocations.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    pack()
}

fn pack() -> io::Result<()> {
    let root = Path::new("../../examples/flights");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut paths = Vec::new();
    // Without the example (a package of this crate alone) the demo says that it is not there.
    if root.is_dir() {
        collect(root, &mut paths)?;
    }
    paths.sort();
    let mut archive = Vec::new();
    for path in paths {
        let relative = path.strip_prefix(root).map_err(io::Error::other)?;
        let name = relative.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        for piece in [name.as_bytes(), &std::fs::read(&path)?] {
            archive.extend((piece.len() as u64).to_le_bytes());
            archive.extend(piece);
        }
    }
    let out = std::env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?;
    std::fs::write(Path::new(&out).join("flights.bin"), archive)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        // A warehouse is what a run of the example left behind; the rest is of use to its maintainers alone.
        let left_out = ["warehouse", "make_data.py", "expected.json"].iter().any(|other| name == *other);
        if left_out || name.to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), paths)?;
        } else {
            paths.push(entry.path());
        }
    }
    Ok(())
}
