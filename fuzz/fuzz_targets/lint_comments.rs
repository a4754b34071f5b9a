//! Hands inputs to `oncemore_fuzz::lint_comments`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oncemore_fuzz::lint_comments::run(bytes));
