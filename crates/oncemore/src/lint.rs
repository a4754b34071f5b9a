//! The rim of lint: files in, findings out, on all cores. What is wrong with a statement is decided in `oncemore_lint`;
//! here is found which files there are, what each is, and what its settings say. No runtime, no warehouse, no engine.

pub mod baseline;
pub mod check;
pub mod collect;
pub mod fix;
pub mod parallel;
pub mod text;
