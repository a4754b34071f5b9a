//! Every input of every corpus through its target, without a fuzzer; and targets, binaries and corpora go together.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use oncemore_fuzz::TARGETS;

/// Most inputs of one corpus, and bytes of all corpora.
const INPUTS_MAX: usize = 40;
const BYTES_MAX: u64 = 300_000;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable();
    files
}

#[test]
fn no_input_of_a_corpus_makes_a_target_panic() {
    for (name, body) in TARGETS {
        for path in files(&fuzz().join("corpus").join(name)) {
            let bytes = fs::read(&path).unwrap();
            assert!(catch_unwind(|| body(&bytes)).is_ok(), "{name}: {}", path.display());
        }
    }
}

#[test]
fn targets_binaries_and_corpora_go_together() {
    let names: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let stems = |folder: &str| -> BTreeSet<String> {
        files(&fuzz().join(folder))
            .iter()
            .map(|path| path.file_stem().unwrap().to_string_lossy().into())
            .collect()
    };
    assert_eq!(stems("fuzz_targets"), names);
    assert_eq!(stems("corpus"), names);
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let mut bytes = 0;
    for name in &names {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name} is no binary");
        let inputs = files(&fuzz().join("corpus").join(name));
        assert!((1..=INPUTS_MAX).contains(&inputs.len()), "{name}: {} inputs", inputs.len());
        bytes += inputs.iter().map(|path| fs::metadata(path).unwrap().len()).sum::<u64>();
    }
    assert!(bytes <= BYTES_MAX, "{bytes} bytes");
}
