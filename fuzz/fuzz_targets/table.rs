//! Hands inputs to `oncemore_fuzz::table`.
#![no_main]

// Decoders of others panic at some bytes, which ends as an error: the fuzzer's own hook would end the process before.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |bytes: &[u8]| oncemore_fuzz::table::run(bytes)
);
