//! What functions depend on besides their arguments, by dialect. The lists are data: `data/functions/`.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::dialect::Dialect;

/// What a function depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// The clock.
    Clock,
    /// Chance.
    Random,
    /// A counter of the engine: sequences, identities, physical position.
    Identity,
    /// The session: user, zone, settings.
    Session,
    /// The order in which rows come.
    Order,
    /// Something outside: files, models, networks.
    External,
}

impl Class {
    fn named(word: &str) -> Option<Self> {
        Some(match word {
            "clock" => Self::Clock,
            "random" => Self::Random,
            "identity" => Self::Identity,
            "session" => Self::Session,
            "order" => Self::Order,
            "external" => Self::External,
            _ => return None,
        })
    }
}

/// When an entry counts.
#[derive(Clone, Copy, Debug)]
struct Entry {
    class: Class,
    /// The number of arguments it counts for.
    arity: Option<usize>,
    /// May be written without parentheses.
    bare: bool,
}

type Table = HashMap<&'static str, Entry>;

const COMMON: &str = include_str!("../data/functions/common.txt");

fn data(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Postgres => &[
            include_str!("../data/functions/postgres.txt"),
            include_str!("../data/functions/postgres-catalogue.txt"),
        ],
        Dialect::Redshift => &[include_str!("../data/functions/redshift.txt")],
        Dialect::Snowflake => &[include_str!("../data/functions/snowflake.txt")],
        Dialect::BigQuery => &[include_str!("../data/functions/bigquery.txt")],
        Dialect::Spark => &[include_str!("../data/functions/spark.txt")],
        Dialect::DuckDb => &[
            include_str!("../data/functions/duckdb.txt"),
            include_str!("../data/functions/duckdb-catalogue.txt"),
        ],
        Dialect::Trino => &[include_str!("../data/functions/trino.txt")],
        Dialect::MySql => &[include_str!("../data/functions/mysql.txt")],
        Dialect::TSql => &[include_str!("../data/functions/tsql.txt")],
        Dialect::ClickHouse => &[
            include_str!("../data/functions/clickhouse.txt"),
            include_str!("../data/functions/clickhouse-catalogue.txt"),
        ],
        Dialect::Oracle => &[include_str!("../data/functions/oracle.txt")],
        Dialect::Ansi => &[
            include_str!("../data/functions/postgres.txt"),
            include_str!("../data/functions/snowflake.txt"),
            include_str!("../data/functions/tsql.txt"),
            include_str!("../data/functions/duckdb.txt"),
            include_str!("../data/functions/datafusion-catalogue.txt"),
        ],
    }
}

/// Reads lines `class: name name/0 name*`; `/n` counts only with n arguments, `*` also without parentheses.
/// What stands in
/// an earlier text wins; class `none` takes a name out.
fn build(dialect: Dialect) -> Table {
    let mut table = Table::new();
    let mut none: Vec<&str> = Vec::new();
    for text in data(dialect).iter().copied().chain([COMMON]) {
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((class, names)) = line.split_once(':') else { continue };
            for word in names.split_whitespace() {
                let bare = word.ends_with('*');
                let word = word.trim_end_matches('*');
                let (name, arity) = match word.split_once('/') {
                    Some((name, arity)) => (name, arity.parse().ok()),
                    None => (word, None),
                };
                match Class::named(class) {
                    Some(class) if !none.contains(&name) => {
                        table.entry(name).or_insert(Entry { class, arity, bare });
                    }
                    Some(_) => {}
                    None => none.push(name),
                }
            }
        }
    }
    table
}

fn table(dialect: Dialect) -> &'static Table {
    static TABLES: [OnceLock<Table>; Dialect::ALL.len()] = [const { OnceLock::new() }; Dialect::ALL.len()];
    let index = Dialect::ALL.iter().position(|other| *other == dialect).unwrap_or(0);
    TABLES[index].get_or_init(|| build(dialect))
}

/// What a call depends on besides its arguments.
#[must_use]
pub fn class(dialect: Dialect, name: &str, args: usize) -> Option<Class> {
    let table = table(dialect);
    let entry = table.get(name).or_else(|| {
        let last = name.rsplit('.').next()?;
        let schema = name.get(..name.len() - last.len())?;
        if matches!(schema, "pg_catalog." | "system." | "builtin." | "sys.") {
            table.get(last)
        } else if last == "nextval" || last == "currval" {
            table.get("nextval")
        } else {
            None
        }
    })?;
    (entry.arity.is_none_or(|arity| arity == args)).then_some(entry.class)
}

/// What a bare word depends on where it is no column: `SYSDATE`.
#[must_use]
pub fn bare(dialect: Dialect, name: &str) -> Option<Class> {
    table(dialect).get(name).filter(|entry| entry.bare).map(|entry| entry.class)
}

/// Whether a name stands in a list of `data/names/`: words, and lines of remarks.
#[must_use]
pub fn listed(list: &str, name: &str) -> bool {
    list.lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .any(|word| word == name)
}
