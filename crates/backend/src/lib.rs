//! placeholder

pub mod source;
pub mod table;
