//! placeholder

pub mod audit;
pub mod source;
pub mod table;
