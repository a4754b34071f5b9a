//! Tests of the crate: fixtures in one string, diagnostics as text.
