//! A small shop in a temporary folder: orders a day a file, a slice by New York day with a dimension joined in, a view,
//! a mart by day and one by week.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) const DAYS: [&str; 14] = [
    "2026-03-02",
    "2026-03-03",
    "2026-03-04",
    "2026-03-05",
    "2026-03-06",
    "2026-03-07",
    "2026-03-08",
    "2026-03-09",
    "2026-03-10",
    "2026-03-11",
    "2026-03-12",
    "2026-03-13",
    "2026-03-14",
    "2026-03-15",
];

const TABLES: [(&str, &str); 4] = [
    ("silver.orders", "id, day, shop, city, amount, note"),
    ("gold.shops", "shop, city"),
    ("gold.city_day", "day, city, orders, amount"),
    ("gold.city_week", "monday, city, amount"),
];

pub(crate) const SETTINGS: &str = "\
name: shop
start: 2026-03-02
end: 2026-03-16
time_zone: America/New_York
limits:
  tasks: 1000
sources:
  raw.orders:
    path: data/orders/{interval:%Y-%m-%d}.csv
    time: ordered_at
    key: [id]
    columns: {id: BIGINT, ordered_at: TIMESTAMPTZ, shop: TEXT, amount: BIGINT, note: TEXT}
  raw.shops:
    path: data/shops.csv
    key: [shop]
    columns: {shop: TEXT, city: TEXT}
";

pub(crate) const ORDERS: &str = "\
/* oncemore
kind: slice
interval: day
time: day
key: [id]
*/
WITH placed AS (
  SELECT id, CAST(ordered_at AT TIME ZONE 'America/New_York' AS DATE) AS day, shop, amount, note
    FROM raw.orders
   WHERE ordered_at >= :interval_start AND ordered_at < :interval_end
)
SELECT p.id, p.day, p.shop, s.city, p.amount, p.note
  FROM placed AS p
  LEFT JOIN gold.shops AS s ON s.shop = p.shop
";

const SHOPS: &str = "\
/* oncemore
kind: full
key: [shop]
*/
SELECT shop, upper(city) AS city FROM raw.shops
";

const VALID: &str = "\
/* oncemore
kind: view
*/
SELECT id, day, city, amount FROM silver.orders WHERE amount >= 0
";

pub(crate) const CITY_DAY: &str = "\
/* oncemore
kind: slice
interval: day
time: day
key: [day, city]
*/
SELECT day, city, count(*) AS orders, sum(amount) AS amount
  FROM gold.valid_orders
 WHERE day >= :interval_start AND day < :interval_end
 GROUP BY day, city
";

const CITY_WEEK: &str = "\
/* oncemore
kind: slice
interval: week
time: monday
key: [monday, city]
*/
SELECT CAST(date_trunc('week', day) AS DATE) AS monday, city, sum(amount) AS amount
  FROM gold.city_day
 WHERE day >= :interval_start AND day < :interval_end
 GROUP BY CAST(date_trunc('week', day) AS DATE), city
";

pub(crate) struct Project {
    pub(crate) folder: tempfile::TempDir,
}

impl Project {
    /// A folder without anything.
    pub(crate) fn empty() -> Project {
        Project { folder: tempfile::tempdir().unwrap() }
    }

    /// The shop, not run yet.
    pub(crate) fn new() -> Project {
        let project = Project::empty();
        project.write("oncemore.yml", SETTINGS);
        project.write("models/silver/orders.sql", ORDERS);
        project.write("models/gold/shops.sql", SHOPS);
        project.write("models/gold/valid_orders.sql", VALID);
        project.write("models/gold/city_day.sql", CITY_DAY);
        project.write("models/gold/city_week.sql", CITY_WEEK);
        project.write("data/shops.csv", "shop,city\na,Albany\nb,Boston\n");
        for day in DAYS {
            project.write_day(day, &usual(day));
        }
        project
    }

    /// The shop with all its slices.
    pub(crate) fn run_once() -> Project {
        let project = Project::new();
        project.run(&[]);
        project
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    pub(crate) fn write(&self, relative: &str, text: impl AsRef<[u8]>) {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn write_day(&self, day: &str, rows: &[String]) {
        let text = format!("id,ordered_at,shop,amount,note\n{}\n", rows.join("\n"));
        self.write(&format!("data/orders/{day}.csv"), text.replace("\n\n", "\n"));
    }

    pub(crate) fn remove(&self, relative: &str) {
        std::fs::remove_file(self.path(relative)).unwrap();
    }

    pub(crate) fn edit(&self, relative: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path(relative)).unwrap();
        assert!(text.contains(from), "{relative} holds no {from:?}");
        self.write(relative, text.replace(from, to));
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oncemore"));
        command.current_dir(self.folder.path()).args(arguments);
        command
    }

    /// Runs a command and gives its exit code and what it said, without the folder's name.
    pub(crate) fn said(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.command(arguments).output().unwrap();
        let folder = self.folder.path().to_string_lossy().into_owned();
        (output.status.code(), both(&output).replace(&folder, "<folder>"))
    }

    fn json(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.command(arguments).args(["--output", "json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", both(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// `run` with exit code 0.
    pub(crate) fn run(&self, arguments: &[&str]) -> Value {
        self.run_to(0, arguments)
    }

    /// `run` with another exit code.
    pub(crate) fn run_to(&self, code: i32, arguments: &[&str]) -> Value {
        self.json(&[&["run"], arguments].concat(), code)
    }

    pub(crate) fn plan_with(&self, arguments: &[&str]) -> Value {
        self.json(&[&["plan"], arguments].concat(), 0)
    }

    /// Planned tasks as `model label why`.
    pub(crate) fn tasks(&self) -> Vec<String> {
        lines(&self.plan_with(&[])["tasks"], |task| text(&task["reason"]["why"]))
    }

    /// Slices held back as `model label hold`.
    pub(crate) fn held(&self) -> Vec<String> {
        lines(&self.plan_with(&[])["held"], |held| text(&held["hold"]["hold"]))
    }

    /// Rows of a query as JSON objects, sorted.
    pub(crate) fn query(&self, sql: &str) -> Vec<String> {
        let json = self.json(&["query", sql, "--limit", "0"], 0);
        let mut rows: Vec<String> = json["rows"].as_array().unwrap().iter().map(Value::to_string).collect();
        rows.sort_unstable();
        rows
    }

    /// All rows of all tables.
    pub(crate) fn tables(&self) -> BTreeMap<&'static str, Vec<String>> {
        let rows = |(table, columns)| (table, self.query(&format!("SELECT {columns} FROM {table}")));
        TABLES.into_iter().map(rows).collect()
    }

    /// Nothing is left to do, and all rows are those of a build of the same inputs in another folder.
    #[track_caller]
    pub(crate) fn equals_a_fresh_build(&self) {
        assert_eq!(self.tasks(), Vec::<String>::new());
        let fresh = Project::empty();
        for part in ["oncemore.yml", "models", "data"] {
            copy(&self.path(part), &fresh.path(part));
        }
        fresh.run(&["--yes"]);
        assert_eq!(self.tables(), fresh.tables());
    }
}

/// What a shop sells on an ordinary day; the last order is after midnight UTC and before midnight in New York.
pub(crate) fn usual(day: &str) -> Vec<String> {
    let number = DAYS.iter().position(|other| *other == day).unwrap() * 10;
    vec![
        format!("{},{day}T13:00:00Z,a,10,morning", number + 1),
        format!("{},{day}T18:30:00Z,b,20,", number + 2),
        format!("{},{day}T23:59:59-04:00,a,5,late", number + 3),
    ]
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn lines(list: &Value, last: impl Fn(&Value) -> String) -> Vec<String> {
    let line = |task: &Value| format!("{} {} {}", text(&task["model"]), text(&task["label"]), last(task));
    list.as_array().unwrap().iter().map(line).collect()
}

pub(crate) fn both(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

pub(crate) fn copy(from: &std::path::Path, to: &std::path::Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        std::fs::copy(from, to).unwrap();
    }
}
