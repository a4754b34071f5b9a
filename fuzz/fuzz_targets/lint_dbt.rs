//! Hands inputs to `oncemore_fuzz::lint_dbt`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oncemore_fuzz::lint_dbt::run(bytes));
