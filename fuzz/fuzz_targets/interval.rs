//! Hands inputs to `oncemore_fuzz::interval`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oncemore_fuzz::interval::run(bytes));
