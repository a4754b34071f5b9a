//! Rows of the ledger and of the catalog, as a damaged or hostile SQLite file may hold them.
//!
//! An input is lines of cells, tab between them: the table first, one of `TABLES`, then its columns; an empty cell is
//! NULL, digits are a number, `x` and hex digits a blob, all else text.

use std::path::PathBuf;
use std::sync::Arc;

use oncemore_commit::{AttemptEnd, AttemptState, CATALOG_FILE, ClaimRequest, Claimed, Warehouse};
use oncemore_core::world::SeededWorld;
use oncemore_core::{Digest, Instant, Interval, TableName, World};
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

/// Lines looked at.
const LINES: usize = 64;
/// A day, in microseconds.
const DAY: i64 = 86_400_000_000;

/// Names of tables in an input, and how a row gets in.
const TABLES: &[(&str, &str, usize)] = &[
    (
        "attempt",
        "INSERT OR REPLACE INTO om_attempts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        14,
    ),
    ("claim", "INSERT OR REPLACE INTO om_claims VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", 9),
    ("claimed", "INSERT OR REPLACE INTO om_claimed VALUES (?1, ?2, ?3, ?4)", 4),
    ("request", "INSERT OR REPLACE INTO om_requests VALUES (?1, ?2, ?3)", 3),
    ("code", "INSERT OR REPLACE INTO om_code VALUES (?1, ?2, ?3)", 3),
    ("index", "INSERT OR REPLACE INTO om_index VALUES (?1, ?2, ?3)", 3),
    ("cache", "INSERT OR REPLACE INTO om_cache VALUES (?1, ?2, ?3, ?4)", 4),
    ("garbage", "INSERT OR REPLACE INTO om_garbage VALUES (?1, ?2, ?3)", 3),
    ("meta", "UPDATE om_meta SET value = ?2 WHERE key = ?1 AND key != 'format'", 2),
    ("table", "INSERT OR REPLACE INTO iceberg_tables VALUES ('default', ?1, ?2, ?3, NULL, ?4)", 4),
];

const CLEAR: &str = "DELETE FROM om_attempts; DELETE FROM om_claims; DELETE FROM om_claimed; DELETE FROM om_requests;
    DELETE FROM om_code; DELETE FROM om_index; DELETE FROM om_cache; DELETE FROM om_garbage; DELETE FROM iceberg_tables;
    DELETE FROM iceberg_namespace_properties; UPDATE om_meta SET value = 0 WHERE key != 'format';";

/// A warehouse without tables, and a way to write into its ledger what it would not.
struct Scene {
    folder: TempDir,
    rows: Connection,
}

impl Scene {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        Warehouse::open(folder.path(), world()).unwrap();
        let rows = Connection::open(folder.path().join(CATALOG_FILE)).unwrap();
        rows.pragma_update(None, "synchronous", "OFF").unwrap();
        Scene { folder, rows }
    }

    fn put(&self, line: &str) {
        let mut cells = line.split('\t');
        let name = cells.next().unwrap_or_default();
        let Some((_, insert, columns)) = TABLES.iter().find(|(own, ..)| *own == name) else { return };
        let values: Vec<Value> =
            cells.map(value).chain(std::iter::repeat(Value::Null)).take(*columns).collect();
        // What SQLite itself refuses can't be there.
        let _ = self.rows.prepare_cached(insert).unwrap().execute(rusqlite::params_from_iter(values));
    }
}

thread_local! {
    static SCENE: Scene = Scene::new();
}

/// Writes the rows and uses the ledger.
///
/// # Panics
/// Where the ledger does not keep what it says.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    SCENE.with(|scene| {
        scene.rows.execute_batch(CLEAR).unwrap();
        text.lines().take(LINES).for_each(|line| scene.put(line));
        let root: PathBuf = scene.folder.path().to_owned();
        if let Ok(warehouse) = Warehouse::open_read_only(&root, world()) {
            look(&warehouse);
        }
        let warehouse = Warehouse::open(&root, world()).unwrap();
        look(&warehouse);
        work(&warehouse);
    });
}

fn look(warehouse: &Warehouse) {
    let (table, day) = (table(), day());
    let _ = (warehouse.tables(), warehouse.stamps(&table), warehouse.head(&table), warehouse.pace(&table));
    let _ = (warehouse.attempts(&table, day), warehouse.last_attempts(&table), warehouse.open_attempts());
    let _ = (warehouse.codes(&table), warehouse.code_seen(&table, Digest::of(b"1")));
    let _ = (warehouse.cache_all("plan", "silver"), warehouse.cache_get("plan", "silver", "a"));
    for slice in warehouse.failed_slices(&table).unwrap_or_default().intervals() {
        assert!(slice.start() < slice.end());
    }
    for (claim, _) in warehouse.claims().unwrap_or_default() {
        let _ = (claim.holder(), claim.touches(&table, day), claim.life("here:1:2", Instant(0)));
    }
}

fn work(warehouse: &Warehouse) {
    let (table, day) = (table(), day());
    if let Ok(request) = warehouse.begin_request(Some("again")) {
        assert_eq!(warehouse.begin_request(Some("again")).ok(), Some(request));
        let attempts = warehouse.begin_attempts(request, &[(table.clone(), day, Digest::of(b"1"))]);
        let wanted = ClaimRequest {
            request,
            user: "somebody".to_owned(),
            command: "oncemore run".to_owned(),
            lease_micros: 60_000_000,
            slices: vec![(table.clone(), day)],
        };
        match warehouse.claim(&wanted) {
            Ok(Claimed::Granted(id)) => assert!(warehouse.renew_claim(id).is_ok_and(|renewed| renewed)),
            Ok(Claimed::Held(claims)) => {
                let _ = claims.first().map(|claim| warehouse.break_claim(claim.id));
            }
            Err(_) => {}
        }
        let end = |id| AttemptEnd { id, state: AttemptState::Failed, error: None };
        let ends: Vec<_> = attempts.into_iter().flatten().map(|attempt| end(attempt.id)).collect();
        let _ = warehouse.end_attempts(&ends);
    }
    let _ = warehouse.cache_retain("plan", "silver", &["a"]);
    let _ = warehouse.resolve();
}

fn value(cell: &str) -> Value {
    let digits = |text: &str| {
        let bytes = text.as_bytes().as_chunks::<2>().0.iter();
        bytes.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
    };
    match cell.strip_prefix('x').and_then(digits) {
        Some(blob) => return Value::Blob(blob),
        None if cell.is_empty() => return Value::Null,
        None => {}
    }
    let real = || cell.contains('.').then(|| cell.parse().map(Value::Real).ok()).flatten();
    let number = cell.parse().map(Value::Integer).ok();
    number.or_else(real).unwrap_or_else(|| Value::Text(cell.to_owned()))
}

fn world() -> Arc<dyn World> {
    Arc::new(SeededWorld::new(1, Instant(1_700_000_000_000_000)))
}

fn table() -> TableName {
    TableName::new("silver", "flights").unwrap()
}

fn day() -> Interval {
    Interval::new(Instant(15_000 * DAY), Instant(15_001 * DAY)).unwrap()
}
