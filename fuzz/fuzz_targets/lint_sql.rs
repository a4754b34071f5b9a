//! Hands inputs to `oncemore_fuzz::lint_sql`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oncemore_fuzz::lint_sql::run(bytes));
