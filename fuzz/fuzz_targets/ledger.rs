//! Hands inputs to `oncemore_fuzz::ledger`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oncemore_fuzz::ledger::run(bytes));
