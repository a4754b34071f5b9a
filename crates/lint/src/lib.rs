//! What breaks repeatability in the SQL people already have. Pure: files come in as text, findings go out as data.

pub mod dbt;
