//! SQL dialects: their names, how text is quoted in each, and which one a file is probably written in.

use std::fmt;

/// A dialect of SQL.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Dialect {
    /// PostgreSQL and what speaks like it.
    Postgres,
    /// Amazon Redshift.
    Redshift,
    /// Snowflake.
    Snowflake,
    /// Google `BigQuery`.
    BigQuery,
    /// Spark SQL and Databricks.
    Spark,
    /// `DuckDB`.
    DuckDb,
    /// Trino, Presto, Athena.
    Trino,
    /// `MySQL` and `MariaDB`.
    MySql,
    /// SQL Server, Fabric, Synapse.
    TSql,
    /// `ClickHouse`.
    ClickHouse,
    /// Oracle.
    Oracle,
    /// Standard SQL: nothing is known of the engine.
    Ansi,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 12] = [
        Self::Postgres,
        Self::Redshift,
        Self::Snowflake,
        Self::BigQuery,
        Self::Spark,
        Self::DuckDb,
        Self::Trino,
        Self::MySql,
        Self::TSql,
        Self::ClickHouse,
        Self::Oracle,
        Self::Ansi,
    ];

    /// The name users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Redshift => "redshift",
            Self::Snowflake => "snowflake",
            Self::BigQuery => "bigquery",
            Self::Spark => "spark",
            Self::DuckDb => "duckdb",
            Self::Trino => "trino",
            Self::MySql => "mysql",
            Self::TSql => "tsql",
            Self::ClickHouse => "clickhouse",
            Self::Oracle => "oracle",
            Self::Ansi => "ansi",
        }
    }

    /// The dialect of a name; also common other names and dbt adapters.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "postgres" | "postgresql" | "pg" | "materialize" | "cockroachdb" => Self::Postgres,
            "redshift" => Self::Redshift,
            "snowflake" => Self::Snowflake,
            "bigquery" | "googlesql" => Self::BigQuery,
            "spark" | "sparksql" | "databricks" | "hive" | "hql" | "impala" => Self::Spark,
            "duckdb" | "motherduck" => Self::DuckDb,
            "trino" | "presto" | "athena" | "starburst" => Self::Trino,
            "mysql" | "mariadb" | "tidb" | "singlestore" => Self::MySql,
            "tsql" | "mssql" | "sqlserver" | "fabric" | "synapse" => Self::TSql,
            "clickhouse" => Self::ClickHouse,
            "oracle" => Self::Oracle,
            "ansi" | "generic" | "sqlite" => Self::Ansi,
            _ => return None,
        })
    }

    /// Whether a backslash escapes within a plain string.
    pub(crate) fn backslash_escapes(self) -> bool {
        matches!(self, Self::MySql | Self::BigQuery | Self::Spark | Self::ClickHouse | Self::Snowflake)
    }

    /// Whether double quotes hold a string.
    pub(crate) fn double_quoted_strings(self) -> bool {
        matches!(self, Self::MySql | Self::BigQuery | Self::Spark)
    }

    /// Whether `#` begins a comment.
    pub(crate) fn hash_comments(self) -> bool {
        matches!(self, Self::MySql | Self::BigQuery)
    }

    /// Whether `$$` quotes.
    pub(crate) fn dollar_quotes(self) -> bool {
        matches!(self, Self::Postgres | Self::Redshift | Self::Snowflake | Self::DuckDb | Self::Ansi)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Words that only one dialect uses, each with its weight. Counted on lower-cased text, cheap substrings
/// only.
const SIGNS: &[(Dialect, &str, u32)] = &[
    (Dialect::TSql, "\ngo\n", 3),
    (Dialect::TSql, "getdate()", 2),
    (Dialect::TSql, "[dbo]", 4),
    (Dialect::TSql, "dbo.", 3),
    (Dialect::TSql, "nvarchar", 3),
    (Dialect::TSql, "begin tran", 1),
    (Dialect::TSql, "set nocount on", 4),
    (Dialect::TSql, "select top ", 2),
    (Dialect::BigQuery, "safe_cast(", 2),
    (Dialect::BigQuery, "generate_uuid(", 3),
    (Dialect::BigQuery, "date_trunc(", 0),
    (Dialect::BigQuery, "_table_suffix", 4),
    (Dialect::BigQuery, "int64", 2),
    (Dialect::BigQuery, "array_agg(struct", 2),
    (Dialect::BigQuery, "select as struct", 3),
    (Dialect::BigQuery, "safe_offset(", 4),
    (Dialect::Snowflake, "dateadd(", 1),
    (Dialect::Snowflake, "qualify ", 1),
    (Dialect::Snowflake, "flatten(", 2),
    (Dialect::Snowflake, "create or replace transient", 4),
    (Dialect::Snowflake, "timestamp_ntz", 3),
    (Dialect::Snowflake, "variant", 1),
    (Dialect::Snowflake, "file_format", 1),
    (Dialect::Redshift, "distkey", 4),
    (Dialect::Redshift, "sortkey", 4),
    (Dialect::Redshift, "diststyle", 4),
    (Dialect::Redshift, "iam_role", 3),
    (Dialect::ClickHouse, "mergetree", 5),
    (Dialect::ClickHouse, "tostartof", 4),
    (Dialect::ClickHouse, "lowcardinality(", 4),
    (Dialect::Spark, "insert overwrite", 3),
    (Dialect::Spark, "using delta", 4),
    (Dialect::Spark, "lateral view", 3),
    (Dialect::Spark, "tblproperties", 3),
    (Dialect::Spark, "distribute by", 3),
    (Dialect::MySql, "on duplicate key update", 5),
    (Dialect::MySql, "insert ignore", 4),
    (Dialect::MySql, "auto_increment", 4),
    (Dialect::MySql, "engine=innodb", 5),
    (Dialect::MySql, "engine = innodb", 5),
    (Dialect::MySql, "delimiter ", 3),
    (Dialect::DuckDb, "read_parquet(", 4),
    (Dialect::DuckDb, "read_csv(", 3),
    (Dialect::DuckDb, "read_csv_auto(", 4),
    (Dialect::DuckDb, "create or replace table", 1),
    (Dialect::Oracle, "varchar2", 4),
    (Dialect::Oracle, "from dual", 2),
    (Dialect::Oracle, "nvl(", 1),
    (Dialect::Postgres, "on conflict", 2),
    (Dialect::Postgres, "timestamptz", 2),
    (Dialect::Postgres, "jsonb", 3),
    (Dialect::Postgres, "language plpgsql", 5),
    (Dialect::Trino, "approx_distinct(", 2),
    (Dialect::Trino, "date_parse(", 3),
    (Dialect::Trino, "from_iso8601_", 4),
    (Dialect::Trino, "partitioning = array", 4),
];

/// The dialect a file is probably written in: a folder or file name that names one, else words of which at
/// least two
/// points more speak for it than for any other. Otherwise nothing is claimed.
#[must_use]
pub fn guess(path: &str, text: &str) -> Option<Dialect> {
    let named = path
        .split(['/', '\\', '.', '_', '-'])
        .filter(|part| !part.eq_ignore_ascii_case("generic") && part.len() > 2)
        .find_map(Dialect::named);
    if named.is_some() {
        return named;
    }
    let head = text.get(..text.len().min(20_000)).unwrap_or(text).to_ascii_lowercase();
    let mut scores: Vec<(u32, Dialect)> = Dialect::ALL
        .into_iter()
        .map(|dialect| {
            let signs = SIGNS.iter().filter(|sign| sign.0 == dialect);
            (signs.filter(|sign| head.contains(sign.1)).map(|sign| sign.2).sum(), dialect)
        })
        .collect();
    scores.sort_unstable_by(|a, b| b.cmp(a));
    match scores.as_slice() {
        [best, second, ..] if best.0 >= second.0 + 2 => Some(best.1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, guess};

    #[test]
    fn the_ending_tells_of_hive() {
        assert_eq!(guess("jobs/day.hql", "SELECT 1"), Some(Dialect::Spark));
        assert_eq!(guess("jobs/day.sql", "SELECT 1"), None);
    }
}
