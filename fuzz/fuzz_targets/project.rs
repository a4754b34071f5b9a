//! Hands inputs to `oncemore_fuzz::project`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oncemore_fuzz::project::run(bytes));
