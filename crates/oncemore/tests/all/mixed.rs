//! Ten thousand mixed operations, a slice's publish counted as one; then the folder is copied and its ledger thrown
//! away: what is planned, shown and explained after `ledger rebuild` is the same, byte for byte.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::numbers::Numbers;
use crate::project::{Project, both, copy};

/// What must have been done before the ledger is thrown away.
const OPERATIONS: u64 = 10_000;

/// Ten local days, one of them of 23 hours.
const DAYS: std::ops::Range<u64> = 2..12;

const SETTINGS: &str = "\
name: mill
start: 2026-03-02
end: 2026-03-12
time_zone: America/New_York
limits:
  tasks: 100000
sources:
  raw.orders:
    path: data/orders/{interval:%Y-%m-%d}.csv
    time: ordered_at
    key: [id]
    columns: {id: BIGINT, ordered_at: TIMESTAMPTZ, shop: TEXT, amount: BIGINT}
  raw.returns:
    path: data/returns/*.csv
    time: returned_at
    columns: {id: BIGINT, returned_at: TIMESTAMPTZ, shop: TEXT}
  raw.shops:
    path: data/shops.csv
    columns: {shop: TEXT, city: TEXT}
";

/// Models with the place of a literal, `$code`, and of audits, `$audits`: each literal is another code version.
const MODELS: [(&str, &str); 6] = [
    (
        "gold.shops",
        "/* oncemore\nkind: full\nkey: [shop]\n*/\nSELECT shop, upper(city) AS city FROM raw.shops\n",
    ),
    (
        "silver.orders",
        "/* oncemore\nkind: slice\ninterval: hour\ntime: ordered_at\nkey: [id]\n$audits*/
SELECT o.id, o.ordered_at, o.shop, s.city, o.amount + $code AS amount
  FROM raw.orders AS o
  LEFT JOIN gold.shops AS s ON s.shop = o.shop
 WHERE o.ordered_at >= :interval_start AND o.ordered_at < :interval_end\n",
    ),
    (
        "silver.returns",
        "/* oncemore\nkind: slice\ninterval: hour\ntime: returned_at\n$audits*/
SELECT id, returned_at, shop, $code AS weight
  FROM raw.returns
 WHERE returned_at >= :interval_start AND returned_at < :interval_end\n",
    ),
    (
        "gold.shop_hour",
        "/* oncemore\nkind: slice\ninterval: hour\ntime: hour\nkey: [hour, shop]\n$audits*/
SELECT date_trunc('hour', ordered_at) AS hour, shop, count(*) AS orders, sum(amount) + $code AS amount
  FROM silver.orders
 WHERE ordered_at >= :interval_start AND ordered_at < :interval_end
 GROUP BY date_trunc('hour', ordered_at), shop\n",
    ),
    (
        "gold.return_hour",
        "/* oncemore\nkind: slice\ninterval: hour\ntime: hour\n$audits*/
SELECT date_trunc('hour', returned_at) AS hour, count(*) + $code AS returns
  FROM silver.returns
 WHERE returned_at >= :interval_start AND returned_at < :interval_end
 GROUP BY date_trunc('hour', returned_at)\n",
    ),
    (
        "gold.shop_day",
        "/* oncemore\nkind: slice\ninterval: day\ntime: day\nkey: [day, shop]\n*/
SELECT CAST(hour AT TIME ZONE 'America/New_York' AS DATE) AS day, shop, sum(amount) AS amount
  FROM gold.shop_hour
 WHERE hour >= :interval_start AND hour < :interval_end
 GROUP BY CAST(hour AT TIME ZONE 'America/New_York' AS DATE), shop\n",
    ),
];

const HOURLY: [&str; 4] = ["silver.orders", "silver.returns", "gold.shop_hour", "gold.return_hour"];

/// The column that an audit of a model asks for.
fn audited(model: &str) -> &'static str {
    match model {
        "silver.orders" => "amount",
        "silver.returns" => "id",
        "gold.shop_hour" => "orders",
        _ => "returns",
    }
}

/// The mill, with what was done to it.
struct Mill {
    project: Project,
    numbers: Numbers,
    /// By model of [`MODELS`]: the literal, and the audits.
    written: Vec<(String, u64)>,
    fresh: u64,
    operations: u64,
    by_kind: std::collections::BTreeMap<&'static str, (u64, Duration)>,
}

impl Mill {
    fn new(seed: u64) -> Mill {
        let project = Project::empty();
        project.write("oncemore.yml", SETTINGS);
        let written = MODELS.iter().map(|_| ("0".to_owned(), 0)).collect();
        let by_kind = std::collections::BTreeMap::new();
        let numbers = Numbers(seed);
        let mut mill = Mill { project, numbers, written, fresh: 0, operations: 0, by_kind };
        for at in 0..MODELS.len() {
            mill.write_model(at);
        }
        mill.write_shops("Albany");
        for day in DAYS {
            mill.write_orders(day);
            mill.write_returns(day);
        }
        mill
    }

    fn write_model(&self, at: usize) {
        let (name, text) = MODELS[at];
        let (code, audits) = &self.written[at];
        let audits = match audits {
            0 => String::new(),
            count => format!("audits:\n  - expression: {} IS NOT NULL OR {count} > 0\n", audited(name)),
        };
        let text = text.replace("$code", code).replace("$audits", &audits);
        self.project.write(&format!("models/{}.sql", name.replace('.', "/")), text);
    }

    fn write_shops(&self, city: &str) {
        self.project.write("data/shops.csv", format!("shop,city\na,{city}\nb,Boston\nc,Chicago\n"));
    }

    /// Up to three orders an hour; some hours have none.
    fn write_orders(&mut self, day: u64) {
        let mut text = "id,ordered_at,shop,amount\n".to_owned();
        for hour in 0..24 {
            for order in 0..self.numbers.below(4) {
                let id = (day * 24 + hour) * 10 + order;
                let shop = ["a", "b", "c"][self.numbers.below(3) as usize];
                let amount = self.numbers.below(1_000);
                // 05:00Z is midnight before the clock change and within the day after it.
                let at = format!("2026-03-{:02}T{:02}:30:00Z", day + (hour + 5) / 24, (hour + 5) % 24);
                writeln!(text, "{id},{at},{shop},{amount}").unwrap();
            }
        }
        self.project.write(&format!("data/orders/2026-03-{day:02}.csv"), text);
    }

    fn write_returns(&mut self, day: u64) {
        let mut text = "id,returned_at,shop\n".to_owned();
        for hour in (0..24).filter(|hour| !(day + hour).is_multiple_of(3)) {
            let id = self.numbers.below(100_000);
            writeln!(text, "{id},2026-03-{day:02}T{hour:02}:15:00Z,a").unwrap();
        }
        self.project.write(&format!("data/returns/{day:02}.csv"), text);
    }

    /// A day on which the local day and the day of the file's times are the same hours.
    fn day(&mut self) -> u64 {
        DAYS.start + self.numbers.below(DAYS.end - DAYS.start)
    }

    fn label(day: u64) -> String {
        format!("2026-03-{day:02}")
    }

    fn at(model: &str) -> usize {
        MODELS.iter().position(|(name, _)| *name == model).unwrap()
    }

    /// Runs a command that may end with one of `codes`; its JSON.
    #[track_caller]
    fn does(&self, arguments: &[&str], codes: &[i32]) -> Value {
        let output = self.project.command(arguments).args(["--output", "json"]).output().unwrap();
        let code = output.status.code().unwrap();
        assert!(codes.contains(&code), "{arguments:?} ended with {code}: {}", both(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs, and counts what was done to slices.
    #[track_caller]
    fn runs(&self, arguments: &[&str], codes: &[i32]) -> u64 {
        let done = self.does(&[&["run", "--yes"], arguments].concat(), codes);
        let count = |key: &str| done[key].as_u64().unwrap();
        count("published")
            + count("unchanged")
            + count("audited")
            + done["failed"].as_array().unwrap().len() as u64
    }

    /// Another literal that was never there before, with the same value.
    fn new_code(&mut self, model: &str, value: &str) {
        self.fresh += 1;
        let at = Mill::at(model);
        self.written[at].0 = format!("{value} + 0 * {}", self.fresh);
        self.write_model(at);
    }

    fn hourly(&mut self) -> &'static str {
        HOURLY[self.numbers.below(4) as usize]
    }

    fn changed_days(&mut self) -> u64 {
        for _ in 0..=self.numbers.below(2) {
            let day = self.day();
            if self.numbers.below(2) == 0 { self.write_orders(day) } else { self.write_returns(day) }
        }
        self.runs(&[], &[0])
    }

    fn one_day_alone(&mut self) -> u64 {
        let day = self.day();
        self.write_orders(day);
        self.runs(&["silver.orders", "--interval", &Mill::label(day), "--stale-parents", "ok"], &[0])
    }

    fn same_rows_by_new_code(&mut self) -> u64 {
        let model = self.hourly();
        let at = Mill::at(model);
        let value = self.written[at].0.split(' ').next().unwrap().to_owned();
        self.new_code(model, &value);
        self.runs(&[], &[0])
    }

    fn other_rows_by_new_code(&mut self) -> u64 {
        let value = (1 + self.numbers.below(3)).to_string();
        self.new_code("gold.return_hour", &value);
        self.runs(&[], &[0])
    }

    fn accepted(&mut self) -> u64 {
        let model = self.hourly();
        self.new_code(model, "0");
        let because = format!("checked by hand, {}", self.fresh);
        let done = self.does(&["accept", model, "--interval", "2026-03", "--because", &because], &[0]);
        done["accepted"].as_array().unwrap().len() as u64
    }

    fn other_audits(&mut self) -> u64 {
        let model = self.hourly();
        self.fresh += 1;
        let at = Mill::at(model);
        self.written[at].1 = if self.written[at].1 == 0 { self.fresh } else { 0 };
        self.write_model(at);
        self.runs(&[], &[0])
    }

    /// A file with a key twice is refused, and with it what reads it; then it is mended.
    fn failed_and_mended(&mut self) -> u64 {
        let day = self.day();
        let path = format!("data/orders/2026-03-{day:02}.csv");
        let text = std::fs::read_to_string(self.project.path(&path)).unwrap();
        let Some(row) = text.lines().nth(1) else { return 0 };
        self.project.write(&path, format!("{text}{row}\n"));
        let failed = self.runs(&[], &[0, 7]);
        self.project.write(&path, text);
        failed + self.forced(day)
    }

    /// A day once more, all of it: no last attempt that failed is left, of which a rebuilt ledger would know nothing.
    fn forced(&mut self, day: u64) -> u64 {
        let (before, day) = (self.runs(&[], &[0]), Mill::label(day));
        before + self.runs(&["--force", "--interval", &day, "--stale-parents", "ok"], &[0])
    }

    fn cleaned(&mut self) -> u64 {
        self.does(&["gc", "--older-than", "0s"], &[0]);
        1
    }

    /// Files vanish: held, then accepted or delivered again.
    fn gone(&mut self) -> u64 {
        let day = self.day();
        self.project.remove(&format!("data/returns/{day:02}.csv"));
        let mut done = self.runs(&[], &[0]);
        if self.numbers.below(2) == 0 {
            done += self.runs(&["--accept-gone"], &[0]);
        }
        self.write_returns(day);
        done + self.runs(&[], &[0])
    }

    fn retried_request(&mut self) -> u64 {
        let day = Mill::label(self.day());
        self.fresh += 1;
        let key = format!("nightly-{}", self.fresh);
        let first =
            self.runs(&["--request", &key, "--force", "--interval", &day, "--stale-parents", "ok"], &[0]);
        first + self.runs(&["--request", &key, "--force", "--interval", &day, "--stale-parents", "ok"], &[0])
    }

    fn other_dimension(&mut self) -> u64 {
        let city = ["Albany", "Auburn", "Albany"][self.numbers.below(3) as usize];
        self.write_shops(city);
        self.runs(&[], &[0])
    }

    fn killed(&mut self) -> u64 {
        let day = self.day();
        self.write_orders(day);
        let mut command = self.project.command(&["run", "--yes", "--force", "--interval", &Mill::label(day)]);
        let mut child =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(50 + self.numbers.below(150)));
        child.kill().unwrap();
        child.wait().unwrap();
        self.forced(day)
    }

    /// Somebody else puts an older state of a table back, as a snapshot of theirs; it is adopted or replaced.
    fn written_by_somebody_else(&mut self) -> u64 {
        let model = self.hourly();
        if !foreign_snapshot(&self.project, model) {
            return 0;
        }
        if self.numbers.below(2) == 0 {
            let accepted = self.does(
                &["accept", model, "--interval", "2026-03", "--because", "theirs is right", "--adopt"],
                &[0],
            );
            1 + accepted["accepted"].as_array().unwrap().len() as u64 + self.runs(&[], &[0])
        } else {
            1 + self.runs(&["--replace-foreign"], &[0])
        }
    }

    /// Every kind of step once, in an order that the seed gives; then, mostly cheap ones, as many as it takes.
    fn operate(&mut self, operations: u64) {
        type Step = fn(&mut Mill) -> u64;
        const STEPS: [(&str, usize, Step); 13] = [
            ("changed days", 3, Mill::changed_days),
            ("one day alone", 2, Mill::one_day_alone),
            ("same rows by new code", 2, Mill::same_rows_by_new_code),
            ("other rows by new code", 1, Mill::other_rows_by_new_code),
            ("accepted", 8, Mill::accepted),
            ("other audits", 6, Mill::other_audits),
            ("failed and mended", 1, Mill::failed_and_mended),
            ("cleaned", 1, Mill::cleaned),
            ("gone", 2, Mill::gone),
            ("retried request", 1, Mill::retried_request),
            ("other dimension", 1, Mill::other_dimension),
            ("killed", 1, Mill::killed),
            ("written by somebody else", 1, Mill::written_by_somebody_else),
        ];
        let mut steps: Vec<usize> = (0..STEPS.len()).collect();
        self.numbers.shuffle(&mut steps);
        let drawn: Vec<usize> =
            STEPS.iter().enumerate().flat_map(|(at, (_, weight, _))| vec![at; *weight]).collect();
        while self.operations < operations {
            let at = match steps.pop() {
                Some(at) => at,
                None => drawn[self.numbers.below(drawn.len() as u64) as usize],
            };
            let (name, _, step) = STEPS[at];
            let start = Instant::now();
            let done = step(self);
            self.operations += done;
            let (count, time) = self.by_kind.entry(name).or_default();
            *count += done;
            *time += start.elapsed();
        }
    }

    /// Leaves something of every kind to be planned: changed, gone, older code, accepted, somebody else's.
    fn leave_open(&mut self) {
        // A code that published once and was replaced since comes back: it is older than what owns the slices.
        let at = Mill::at("gold.return_hour");
        let older = self.written[at].clone();
        self.new_code("gold.return_hour", "7");
        self.operations += self.runs(&[], &[0]);
        self.written[at] = older;
        self.write_model(at);
        self.new_code("silver.orders", "1");
        self.write_shops("Amherst");
        self.write_returns(9);
        self.project.remove("data/orders/2026-03-04.csv");
        self.project.remove("data/returns/06.csv");
        self.operations += u64::from(foreign_snapshot(&self.project, "gold.shop_hour"));
    }
}

/// Commits a snapshot as another engine would that sets a table back: the files of an older snapshot, in a new one that
/// says nothing of us. False where no older snapshot is kept.
fn foreign_snapshot(project: &Project, model: &str) -> bool {
    let (schema, name) = model.split_once('.').unwrap();
    let catalog = Connection::open(project.path("warehouse/oncemore.db")).unwrap();
    let find = "SELECT metadata_location FROM iceberg_tables WHERE table_namespace = ?1 AND table_name = ?2";
    let location: String = catalog.query_row(find, [schema, name], |row| row.get(0)).unwrap();
    let mut metadata: Value = serde_json::from_slice(&std::fs::read(&location).unwrap()).unwrap();
    let current = metadata["current-snapshot-id"].as_i64().unwrap();
    let mut snapshots = metadata["snapshots"].as_array().unwrap().clone();
    snapshots.sort_by_key(|snapshot| snapshot["sequence-number"].as_i64());
    let Some(older) = snapshots.len().checked_sub(2).map(|at| snapshots[at].clone()) else { return false };
    let sequence = metadata["last-sequence-number"].as_i64().unwrap() + 1;
    let now = metadata["last-updated-ms"].as_i64().unwrap() + 1;
    let id = current / 2 + sequence;
    metadata["snapshots"].as_array_mut().unwrap().push(json!({
        "snapshot-id": id, "parent-snapshot-id": current, "sequence-number": sequence, "timestamp-ms": now,
        "manifest-list": older["manifest-list"], "summary": {"operation": "overwrite"}, "schema-id": older["schema-id"],
    }));
    metadata["current-snapshot-id"] = json!(id);
    metadata["last-sequence-number"] = json!(sequence);
    metadata["last-updated-ms"] = json!(now);
    metadata["refs"]["main"]["snapshot-id"] = json!(id);
    let log = json!({"timestamp-ms": now, "snapshot-id": id});
    metadata["snapshot-log"].as_array_mut().unwrap().push(log);
    let log = json!({"timestamp-ms": now - 1, "metadata-file": location});
    metadata["metadata-log"].as_array_mut().unwrap().push(log);
    let mut path = PathBuf::from(&location);
    let version: u64 =
        path.file_name().unwrap().to_str().unwrap().split('-').next().unwrap().parse().unwrap();
    path.set_file_name(format!("{:05}-{id:032x}.metadata.json", version + 1));
    std::fs::write(&path, metadata.to_string()).unwrap();
    let swap = "UPDATE iceberg_tables SET metadata_location = ?3, previous_metadata_location = ?4
                 WHERE table_namespace = ?1 AND table_name = ?2";
    assert_eq!(catalog.execute(swap, [schema, name, path.to_str().unwrap(), &location]).unwrap(), 1);
    true
}

/// What a command says to programs.
fn said(project: &Project, arguments: &[&str]) -> String {
    let output = project.command(arguments).args(["--output", "json"]).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", both(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// A slice's story without its attempts: of these a rebuilt ledger knows the last that published.
fn story(project: &Project, model: &str, interval: &str) -> Value {
    let mut story: Value = serde_json::from_str(&said(project, &["explain", model, interval])).unwrap();
    story["attempts"] = Value::Null;
    story
}

#[test]
fn ten_thousand_operations_and_a_ledger_made_anew() {
    let seed = crate::numbers::seed();
    let begun = Instant::now();
    let mut mill = Mill::new(seed);
    mill.operations += mill.runs(&[], &[0]);
    mill.operate(OPERATIONS);
    mill.leave_open();
    let mut told = format!("seed {seed}: {} operations in {:?}\n", mill.operations, begun.elapsed());
    for (kind, (count, time)) in &mill.by_kind {
        writeln!(told, "  {count:6} {kind}, {time:?}").unwrap();
    }
    std::io::stderr().write_all(told.as_bytes()).unwrap();

    // What the plan knows of failures is the one thing that a rebuilt ledger lacks.
    let project = mill.project;
    let plan = said(&project, &["plan"]);
    let status = said(&project, &["status"]);
    let planned: Value = serde_json::from_str(&plan).unwrap();
    for open in ["\"code\"", "\"input\"", "\"gone\"", "\"older_code\"", "\"foreign\""] {
        assert!(plan.contains(open), "seed {seed}: nothing is left open that is {open}");
    }
    assert!(planned["tasks"].as_array().unwrap().len() > 100, "seed {seed}");
    let moved = Project::empty();
    copy(project.folder.path(), moved.folder.path());
    for file in std::fs::read_dir(moved.path("warehouse")).unwrap() {
        let path = file.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("oncemore.db") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let (code, rebuilt) = moved.said(&["ledger", "rebuild"]);
    assert_eq!(code, Some(0), "seed {seed}: {rebuilt}");
    assert!(
        said(&moved, &["plan"]) == plan,
        "seed {seed}: {}",
        first_difference(&plan, &said(&moved, &["plan"]))
    );
    let shown = said(&moved, &["status"]);
    assert!(shown == status, "seed {seed}: {}", first_difference(&status, &shown));
    for (model, _) in MODELS {
        for hour in ["2026-03-04T07:00:00", "2026-03-06T12:00:00"] {
            let interval = match model {
                "gold.shops" => "all",
                "gold.shop_day" => &hour[..10],
                _ => hour,
            };
            assert_eq!(story(&moved, model, interval), story(&project, model, interval), "seed {seed}");
        }
    }
    // And both go on alike.
    let rest =
        ["run", "--yes", "--replace-foreign", "--allow-older-code", "--accept-gone", "--output", "json"];
    let ended = |project: &Project| {
        let output = project.command(&rest).output().unwrap();
        let mut done: Value = serde_json::from_slice(&output.stdout).unwrap();
        done["request"] = Value::Null;
        assert_eq!(output.status.code(), Some(0), "seed {seed}: {}", both(&output));
        done
    };
    assert_eq!(ended(&moved), ended(&project), "seed {seed}");
    for model in ["silver.orders", "silver.returns", "gold.shop_hour", "gold.return_hour", "gold.shop_day"] {
        let all = format!("SELECT * FROM {model}");
        assert_eq!(moved.query(&all), project.query(&all), "seed {seed}");
    }
}

/// The surroundings of the first byte that differs.
fn first_difference(left: &str, right: &str) -> String {
    let at = left.bytes().zip(right.bytes()).position(|(left, right)| left != right);
    let at = at.unwrap_or(left.len().min(right.len()));
    let around = |text: &str| {
        String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(300)..text.len().min(at + 200)])
            .into_owned()
    };
    format!("at byte {at}:\n{}\n--- and ---\n{}", around(left), around(right))
}
