//! The command line: arguments in, text or JSON out, an exit code.
//!
//! The only crate that prints or reads the environment. It owns words and pictures; what is to be done, and why, is
//! decided below, in `oncemore_run`.

pub mod observe;
pub mod render;
pub mod ui;
pub mod world;
