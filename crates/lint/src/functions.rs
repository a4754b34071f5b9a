//! What functions depend on besides their arguments, by dialect. The lists are data: `data/functions/`; those of engines'
//! catalogues are written by `data/catalogue.py`.

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

/// A function as a list has it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    name: &'static str,
    /// The number of arguments it counts for.
    arity: Option<usize>,
    class: Class,
    /// May be written without parentheses.
    bare: bool,
}

/// Entries in order of their names. A name may have several, for several numbers of arguments.
type Table = Vec<Entry>;

const COMMON: &str = include_str!("../data/functions/common.txt");
const POSTGRES: &str = include_str!("../data/functions/postgres.txt");
const SNOWFLAKE: &str = include_str!("../data/functions/snowflake.txt");
const TSQL: &str = include_str!("../data/functions/tsql.txt");
const DUCKDB: &str = include_str!("../data/functions/duckdb.txt");
const DATAFUSION_CATALOGUE: &str = include_str!("../data/functions/datafusion-catalogue.txt");

/// What is said of a dialect's functions: what is known by reading first, then what the engine's catalogue says.
fn data(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Postgres => &[POSTGRES, include_str!("../data/functions/postgres-catalogue.txt")],
        Dialect::Redshift => &[include_str!("../data/functions/redshift.txt")],
        Dialect::Snowflake => &[SNOWFLAKE],
        Dialect::BigQuery => &[include_str!("../data/functions/bigquery.txt")],
        Dialect::Spark => &[include_str!("../data/functions/spark.txt")],
        Dialect::DuckDb => &[DUCKDB, include_str!("../data/functions/duckdb-catalogue.txt")],
        Dialect::Trino => &[include_str!("../data/functions/trino.txt")],
        Dialect::MySql => &[include_str!("../data/functions/mysql.txt")],
        Dialect::TSql => &[TSQL],
        Dialect::ClickHouse => &[
            include_str!("../data/functions/clickhouse.txt"),
            include_str!("../data/functions/clickhouse-catalogue.txt"),
        ],
        Dialect::Oracle => &[include_str!("../data/functions/oracle.txt")],
        // No dialect is known, or it is that of our own models.
        Dialect::Ansi => &[POSTGRES, SNOWFLAKE, TSQL, DUCKDB, DATAFUSION_CATALOGUE],
    }
}

/// The words of a list, with what stands before the colon of their line: `class: name name/0 name*`; `/n` counts only with
/// n arguments, `*` also without parentheses. Class `none` are names of the common list that the dialect does not have.
fn words(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(':'))
        .flat_map(|(class, names)| names.split_whitespace().map(move |word| (class, word)))
}

fn entry(class: Class, word: &'static str) -> Entry {
    let (word, bare) = word.strip_suffix('*').map_or((word, false), |word| (word, true));
    let (name, arity) = match word.split_once('/') {
        Some((name, arity)) => (name, arity.parse().ok()),
        None => (word, None),
    };
    Entry { name, arity, class, bare }
}

/// Of a name the entries of the first text that has it count; it may stand bare if any says so.
fn build(dialect: Dialect) -> Table {
    let mut ranked: Vec<(usize, Entry)> = Vec::with_capacity(512);
    let mut none: Vec<&str> = Vec::new();
    for (rank, text) in data(dialect).iter().copied().enumerate() {
        for (class, word) in words(text) {
            match Class::named(class) {
                Some(class) => ranked.push((rank, entry(class, word))),
                None if dialect != Dialect::Ansi => none.push(word),
                None => {}
            }
        }
    }
    let common = words(COMMON).filter_map(|(class, word)| Some(entry(Class::named(class)?, word)));
    ranked.extend(common.filter(|entry| !none.contains(&entry.name)).map(|entry| (usize::MAX, entry)));
    ranked.sort_by_key(|(rank, entry)| (entry.name, *rank));
    let mut table = Table::with_capacity(ranked.len());
    for group in ranked.chunk_by(|a, b| a.1.name == b.1.name) {
        let bare = group.iter().any(|(_, entry)| entry.bare);
        let first = group.iter().take_while(|(rank, _)| group.first().is_some_and(|first| first.0 == *rank));
        table.extend(first.map(|(_, entry)| Entry { bare, ..*entry }));
    }
    table
}

fn table(dialect: Dialect) -> &'static Table {
    static TABLES: [OnceLock<Table>; Dialect::ALL.len()] = [const { OnceLock::new() }; Dialect::ALL.len()];
    TABLES[dialect as usize].get_or_init(|| build(dialect))
}

/// The entries of a name.
fn entries(dialect: Dialect, name: &str) -> &'static [Entry] {
    let table = table(dialect);
    let start = table.partition_point(|entry| entry.name < name);
    let rest = table.get(start..).unwrap_or(&[]);
    rest.get(..rest.iter().take_while(|entry| entry.name == name).count()).unwrap_or(&[])
}

/// What a call depends on besides its arguments.
#[must_use]
pub fn class(dialect: Dialect, name: &str, args: usize) -> Option<Class> {
    let found = match name.rsplit_once('.') {
        None => entries(dialect, name),
        Some((schema, last)) => match entries(dialect, name) {
            [] if matches!(schema, "pg_catalog" | "system" | "builtin" | "sys") => entries(dialect, last),
            [] if matches!(last, "nextval" | "currval") => entries(dialect, "nextval"),
            found => found,
        },
    };
    found.iter().find(|entry| entry.arity.is_none_or(|arity| arity == args)).map(|entry| entry.class)
}

/// What a bare word depends on where it is no column: `SYSDATE`.
#[must_use]
pub fn bare(dialect: Dialect, name: &str) -> Option<Class> {
    // Asked of each column: the few that may stand bare are kept apart.
    static TABLES: [OnceLock<Table>; Dialect::ALL.len()] = [const { OnceLock::new() }; Dialect::ALL.len()];
    let bare = TABLES[dialect as usize].get_or_init(|| {
        let mut bare: Table = table(dialect).iter().copied().filter(|entry| entry.bare).collect();
        bare.dedup_by_key(|entry| entry.name);
        bare
    });
    let at = bare.binary_search_by(|entry| entry.name.cmp(name)).ok()?;
    bare.get(at).map(|entry| entry.class)
}

/// A list of names of `data/names/`: words, and lines of remarks. Sorted when it is first asked.
pub struct Names {
    text: &'static str,
    sorted: OnceLock<Vec<&'static str>>,
}

impl Names {
    /// A list by its text.
    #[must_use]
    pub const fn of(text: &'static str) -> Self {
        Self { text, sorted: OnceLock::new() }
    }

    /// Its words, sorted.
    #[must_use]
    pub fn words(&self) -> &[&'static str] {
        self.sorted.get_or_init(|| {
            let lines = self.text.lines().filter(|line| !line.starts_with('#'));
            let mut sorted: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
            sorted.sort_unstable();
            sorted
        })
    }
}

/// Whether a name stands in a list.
#[must_use]
pub fn listed(list: &Names, name: &str) -> bool {
    list.words().binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What engines call decided by their arguments, and how each engine's list is called.
    const PURE: &[(Dialect, &[&str], &str)] = &[
        (Dialect::Postgres, &[POSTGRES], include_str!("../data/functions/postgres-pure.txt")),
        (Dialect::DuckDb, &[DUCKDB], include_str!("../data/functions/duckdb-pure.txt")),
        (
            Dialect::ClickHouse,
            &[include_str!("../data/functions/clickhouse.txt")],
            include_str!("../data/functions/clickhouse-pure.txt"),
        ),
        (Dialect::Ansi, &[DATAFUSION_CATALOGUE], include_str!("../data/functions/datafusion-pure.txt")),
    ];

    /// Of newer versions than the catalogue's, and syntax that only looks like a function.
    const ELSEWHERE: &[&str] = &[
        // PostgreSQL 16 and 18.
        "random_normal",
        "uuidv4",
        "uuidv7",
        "array",
        // ClickHouse has it in other builds than the one that was asked.
        "generateulid",
        // Its table functions are not listed with the others.
        "s3",
        "remote",
        "s3cluster",
        "url",
        "mysql",
        "postgresql",
    ];

    fn is_pure(pure: &str, name: &str, arity: Option<usize>) -> bool {
        let with = arity.map(|arity| format!("{name}/{arity}"));
        let mut words = pure.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
        words.any(|word| word == name || Some(word) == with.as_deref())
    }

    #[test]
    fn no_entry_is_contradicted_by_the_engine() {
        for (dialect, texts, pure) in PURE {
            let common = words(COMMON).map(|(class, word)| (class, word, true));
            let own = texts.iter().flat_map(|text| words(text).map(|(class, word)| (class, word, false)));
            for (class, word, is_common) in own.chain(common) {
                // An aggregate is pure to its engine where the order of its rows decides.
                let Some(class) = Class::named(class).filter(|class| *class != Class::Order) else {
                    continue;
                };
                let entry = entry(class, word);
                // What is common counts where the dialect's own list does not say otherwise.
                if is_common && super::class(*dialect, entry.name, entry.arity.unwrap_or(0)) != Some(class) {
                    continue;
                }
                assert!(
                    !is_pure(pure, entry.name, entry.arity),
                    "{}: the engine says that `{word}` is decided by its arguments",
                    dialect.name()
                );
            }
        }
    }

    #[test]
    fn entries_of_lists_agree_with_the_catalogue() {
        for (dialect, texts, pure) in PURE {
            let catalogue: Vec<Entry> = data(*dialect)
                .iter()
                .filter(|text| text.contains("Made by data/catalogue.py"))
                .flat_map(|text| words(text))
                .filter_map(|(class, word)| Some(entry(Class::named(class)?, word)))
                .collect();
            assert!(!catalogue.is_empty(), "{}", dialect.name());
            let own = texts.iter().flat_map(|text| words(text));
            for (class, word) in own {
                let Some(class) = Class::named(class).filter(|class| *class != Class::Order) else {
                    continue;
                };
                let written = entry(class, word);
                let mut named = catalogue.iter().filter(|entry| entry.name == written.name).peekable();
                let is_known = named.peek().is_some()
                    || is_pure(pure, written.name, None)
                    || ELSEWHERE.contains(&written.name)
                    // Stable or not by the types of its arguments, of which the catalogue's lists say nothing.
                    || written.name == "age";
                assert!(is_known, "{}: the engine has no `{}`", dialect.name(), written.name);
                assert!(
                    named.all(|entry| entry.class == class),
                    "{}: the catalogue puts `{word}` elsewhere",
                    dialect.name()
                );
            }
        }
    }

    #[test]
    fn tables_are_sorted_and_told_apart_by_arguments() {
        for dialect in Dialect::ALL {
            assert!(table(dialect).is_sorted_by_key(|entry| entry.name), "{}", dialect.name());
        }
        assert_eq!(class(Dialect::Postgres, "age", 1), Some(Class::Clock));
        assert_eq!(class(Dialect::Postgres, "age", 2), None);
        assert_eq!(class(Dialect::Postgres, "pg_catalog.now", 0), Some(Class::Clock));
        assert_eq!(class(Dialect::Postgres, "pg_postmaster_start_time", 0), Some(Class::Clock));
        assert_eq!(class(Dialect::DuckDb, "ago", 1), Some(Class::Clock));
        assert_eq!(class(Dialect::ClickHouse, "randuniform", 2), Some(Class::Random));
        assert_eq!(class(Dialect::ClickHouse, "uuid", 0), None);
        assert_eq!(class(Dialect::Ansi, "today", 0), Some(Class::Clock));
        assert_eq!(bare(Dialect::DuckDb, "current_date"), Some(Class::Clock));
        assert_eq!(bare(Dialect::Oracle, "sysdate"), Some(Class::Clock));
        assert_eq!(bare(Dialect::Postgres, "now"), None);
    }
}
