//! Tests of the dbt front end.
