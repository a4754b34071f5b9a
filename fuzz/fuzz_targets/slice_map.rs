//! Hands inputs to `oncemore_fuzz::slice_map`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oncemore_fuzz::slice_map::run(bytes));
