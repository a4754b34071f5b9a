//! Inputs and code change; the plan names what that concerns and nothing else, and the tables end as a fresh build.

use crate::project::{CITY_DAY, DAYS, ORDERS, Project, usual};

const ORDERS_FILE: &str = "models/silver/orders.sql";
const CITY_DAY_FILE: &str = "models/gold/city_day.sql";
const TENTH: &str = "2026-03-10";
const TENTH_AND_READERS: [&str; 3] =
    ["silver.orders 2026-03-10 input", "gold.city_day 2026-03-10 input", "gold.city_week 2026-03-09 input"];

fn none() -> Vec<String> {
    Vec::new()
}

#[test]
fn the_second_run_has_nothing_to_do() {
    let project = Project::new();
    let first = project.run(&[]);
    assert_eq!((first["published"].as_u64(), first["held"].as_u64()), (Some(31), Some(0)));
    let second = project.run(&[]);
    assert_eq!((second["published"].as_u64(), second["unchanged"].as_u64()), (Some(0), Some(0)));
    project.equals_a_fresh_build();
}

#[test]
fn late_rows_concern_their_day_and_what_reads_it() {
    let project = Project::run_once();
    let mut rows = usual(TENTH);
    rows.push("999,2026-03-10T15:00:00Z,b,7,late row".to_owned());
    project.write_day(TENTH, &rows);
    assert_eq!(project.tasks(), TENTH_AND_READERS);
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn a_corrected_value_concerns_its_day_and_what_reads_it() {
    let project = Project::run_once();
    project.edit("data/orders/2026-03-10.csv", ",10,morning", ",11,morning");
    assert_eq!(project.tasks(), TENTH_AND_READERS);
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn a_file_without_rows_empties_the_slice() {
    let project = Project::run_once();
    project.write_day(TENTH, &[]);
    assert_eq!(project.tasks(), TENTH_AND_READERS);
    project.run(&[]);
    assert_eq!(project.query("SELECT * FROM silver.orders WHERE day = DATE '2026-03-10'"), none());
    project.equals_a_fresh_build();
}

#[test]
fn a_vanished_file_is_listed_and_runs_when_accepted() {
    let project = Project::run_once();
    project.remove("data/orders/2026-03-10.csv");
    assert_eq!(project.tasks(), none());
    assert_eq!(project.held()[0], "silver.orders 2026-03-10 gone");
    let before = project.tables();
    project.run(&[]);
    assert_eq!(project.tables(), before);
    project.run(&["--accept-gone"]);
    assert_eq!(project.query("SELECT * FROM silver.orders WHERE day = DATE '2026-03-10'"), none());
    assert_eq!((project.tasks(), project.held()), (none(), none()));
}

#[test]
fn files_that_have_not_arrived_are_waited_for() {
    let project = Project::new();
    project.remove("data/orders/2026-03-09.csv");
    project.remove("data/orders/2026-03-10.csv");
    project.run(&[]);
    assert_eq!(
        project.held(),
        [
            "silver.orders 2026-03-09 waiting",
            "silver.orders 2026-03-10 waiting",
            "gold.city_day 2026-03-09 waiting",
            "gold.city_day 2026-03-10 waiting",
            "gold.city_week 2026-03-09 waiting",
        ]
    );
    project.write_day("2026-03-09", &usual("2026-03-09"));
    project.write_day(TENTH, &usual(TENTH));
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn comments_layout_and_the_name_of_a_cte_change_nothing() {
    let project = Project::run_once();
    project.edit(ORDERS_FILE, "WITH placed AS (", "-- orders of one day\nwith\n\n  bought as (");
    project.edit(ORDERS_FILE, "FROM placed AS p", "FROM bought AS p /* renamed */");
    assert_eq!(project.tasks(), none());
}

#[test]
fn other_logic_concerns_every_interval_and_readers_are_cut_off() {
    let project = Project::run_once();
    // Another meaning for the code, the same rows of this input.
    project.edit(ORDERS_FILE, "p.amount, p.note", "p.amount + 0 AS amount, p.note");
    let tasks = project.tasks();
    let of = |model: &str| tasks.iter().filter(|task| task.starts_with(model)).count();
    assert_eq!((of("silver.orders"), tasks[0].as_str()), (14, "silver.orders 2026-03-02 code"));
    let done = project.run(&[]);
    assert_eq!((done["published"].as_u64(), done["unchanged"].as_u64()), (Some(0), Some(14)));
    assert_eq!(done["cut_off"].as_u64(), Some(16));
    project.equals_a_fresh_build();
}

#[test]
fn a_fix_that_changes_one_day_costs_its_readers_that_day() {
    let project = Project::run_once();
    let fixed = "CASE WHEN p.day = DATE '2026-03-10' THEN p.amount * 2 ELSE p.amount END AS amount, p.note";
    project.edit(ORDERS_FILE, "p.amount, p.note", fixed);
    let done = project.run(&[]);
    assert_eq!((done["published"].as_u64(), done["unchanged"].as_u64()), (Some(3), Some(13)));
    project.equals_a_fresh_build();
}

#[test]
fn a_column_that_nobody_reads_concerns_nobody() {
    let project = Project::run_once();
    project.edit("data/orders/2026-03-10.csv", ",10,morning", ",10,evening");
    let done = project.run(&[]);
    assert_eq!((done["published"].as_u64(), done["cut_off"].as_u64()), (Some(1), Some(2)));
    project.equals_a_fresh_build();
}

#[test]
fn a_dimension_with_equal_content_concerns_nobody() {
    let project = Project::run_once();
    project.write("data/shops.csv", "shop,city\nb,Boston\na,Albany\n");
    assert_eq!(project.tasks(), none());
    // Other bytes of the source, the same rows of the dimension.
    project.write("data/shops.csv", "shop,city\na,ALBANY\nb,Boston\n");
    let done = project.run(&[]);
    assert_eq!((done["published"].as_u64(), done["unchanged"].as_u64()), (Some(0), Some(1)));
    project.equals_a_fresh_build();
}

#[test]
fn a_changed_dimension_reaches_the_facts() {
    let project = Project::run_once();
    project.edit("data/shops.csv", "Boston", "Buffalo");
    project.run(&[]);
    assert_eq!(project.query("SELECT id FROM silver.orders WHERE city = 'BUFFALO'").len(), 14);
    project.equals_a_fresh_build();
}

#[test]
fn changed_audits_are_audited_and_nothing_is_computed() {
    let project = Project::run_once();
    project.edit(CITY_DAY_FILE, "key: [day, city]\n", "key: [day, city]\naudits:\n  - not_null: [city]\n");
    let tasks = project.tasks();
    let audits = tasks.iter().filter(|task| task.ends_with("audits"));
    assert_eq!((audits.count(), tasks[0].as_str()), (14, "gold.city_day 2026-03-02 audits"));
    let done = project.run(&[]);
    let counts = ["published", "unchanged", "audited"].map(|count| done[count].as_u64().unwrap());
    assert_eq!(counts, [0, 0, 14]);
    assert_eq!(project.tasks(), none());
}

#[test]
fn a_failed_audit_stops_what_depends_on_it_alone() {
    let project = Project::new();
    let audited =
        ORDERS.replace("key: [id]\n", "key: [id]\naudits:\n  - range: {column: amount, max: 100}\n");
    project.write(ORDERS_FILE, audited);
    project.run(&[]);
    let before = project.tables();
    project.edit("data/orders/2026-03-10.csv", ",10,morning", ",1000,morning");
    project.edit("data/orders/2026-03-03.csv", ",10,morning", ",11,morning");
    let done = project.run_to(5, &[]);
    assert_eq!(done["failed"][0]["label"], "2026-03-10");
    assert_eq!(done["failed"][0]["state"], "unchanged");
    let tenth = "SELECT * FROM gold.city_day WHERE day = DATE '2026-03-10'";
    let old: Vec<_> = before["gold.city_day"].iter().filter(|row| row.contains(TENTH)).cloned().collect();
    assert_eq!(project.query(tenth), old);
    let third = "SELECT amount FROM gold.city_day WHERE day = DATE '2026-03-03' AND city = 'ALBANY'";
    assert_eq!(project.query(third), [r#"{"amount":16}"#]);
    project.edit("data/orders/2026-03-10.csv", ",1000,morning", ",12,morning");
    project.run(&[]);
    project.equals_a_fresh_build();
}

/// The tenth fails: what read it does not run, all else does.
fn only_the_tenth_fails(project: &Project) {
    let done = project.run_to(7, &[]);
    assert_eq!(done["failed"][0]["label"], TENTH);
    assert_eq!(project.query("SELECT DISTINCT day FROM gold.city_day").len(), DAYS.len() - 1);
    assert_eq!(project.query("SELECT DISTINCT monday FROM gold.city_week").len(), 1);
    project.write_day(TENTH, &usual(TENTH));
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn an_error_in_one_slice_stops_what_depends_on_it_alone() {
    let project = Project::new();
    project.edit(ORDERS_FILE, "p.amount, p.note", "1000 / p.amount AS amount, p.note");
    project.edit("data/orders/2026-03-10.csv", ",a,10,", ",a,0,");
    only_the_tenth_fails(&project);
}

#[test]
fn a_broken_file_stops_what_reads_it_alone() {
    let project = Project::new();
    project.edit("data/orders/2026-03-10.csv", ",a,10,", ",a,ten,");
    let (code, said) = project.said(&["query", "SELECT count(*) FROM raw.orders"]);
    assert_eq!(code, Some(7), "{said}");
    only_the_tenth_fails(&project);
}

/// The plan, then a run: these slices are held for a broken file, and nothing else is done.
fn broken_and_held(project: &Project, slices: &[&str]) {
    assert_eq!(project.tasks(), none());
    let held = project.held();
    assert_eq!(held.iter().filter(|held| held.ends_with(" broken")).collect::<Vec<_>>(), slices);
    let (code, said) = project.said(&["run"]);
    assert_eq!(code, Some(7), "{said}");
}

#[test]
fn a_slice_that_was_empty_is_not_fresh_once_its_file_is_broken() {
    let project = Project::new();
    project.write_day(TENTH, &[]);
    project.run(&[]);
    let (path, empty) = (
        "data/orders/2026-03-10.csv",
        std::fs::read_to_string(project.path("data/orders/2026-03-10.csv")).unwrap(),
    );
    project.write(path, format!("{empty}ten,2026-03-10T15:00:00Z,b,7,late row\n"));
    broken_and_held(&project, &["silver.orders 2026-03-10 broken"]);
    project.write(path, "nothing\nthat,was,declared\n");
    broken_and_held(&project, &["silver.orders 2026-03-10 broken"]);
    project.write(path, &empty);
    assert_eq!((project.tasks(), project.held()), (none(), none()));
}

#[test]
fn a_slice_whose_file_never_came_is_not_fresh_once_it_comes_broken() {
    let project = Project::new();
    project.edit(
        "oncemore.yml",
        "path: data/orders/{interval:%Y-%m-%d}.csv",
        "path: data/orders/{interval:%Y-%m-%d}.csv\n    missing: empty",
    );
    project.remove("data/orders/2026-03-10.csv");
    project.run(&[]);
    project.write("data/orders/2026-03-10.csv", "nothing\nthat,was,declared\n");
    broken_and_held(&project, &["silver.orders 2026-03-10 broken"]);
}

#[test]
fn a_reader_of_what_reads_a_stale_parent_is_not_called_fresh() {
    let project = Project::run_once();
    project.edit("data/orders/2026-03-10.csv", ",10,morning", ",11,morning");
    for reader in ["gold.city_day", "gold.city_week"] {
        let (code, said) = project.said(&["run", reader]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("stale parents are not selected"), "{said}");
    }
    let before = project.tables();
    project.run(&["gold.city_week", "--stale-parents", "ok"]);
    assert_eq!(project.tables(), before);
}

#[test]
fn slices_that_lack_a_new_column_read_as_null_until_they_run() {
    let project = Project::run_once();
    project.edit(ORDERS_FILE, "SELECT p.id,", "SELECT p.id, 1 AS part,");
    project.run(&["silver.orders", "--interval", TENTH, "--stale-parents", "ok"]);
    let sql = "SELECT count(*) FILTER (WHERE part = 1) AS new, count(*) FILTER (WHERE part IS NULL) AS old FROM silver.orders";
    let counted = project.query(sql);
    let row: serde_json::Value = serde_json::from_str(&counted[0]).unwrap();
    assert!(row["new"].as_u64() > Some(0) && row["old"].as_u64() > Some(0), "{counted:?}");
    project.write(
        "models/gold/parts.sql",
        "/* oncemore\nkind: full\n*/\nSELECT part, count(*) AS n FROM silver.orders GROUP BY part\n",
    );
    project.run(&["gold.parts", "--stale-parents", "ok"]);
    assert_eq!(project.query("SELECT part FROM gold.parts WHERE part IS NULL").len(), 1);
    project.run(&[]);
    assert_eq!(project.query("SELECT part FROM gold.parts WHERE part IS NULL").len(), 0);
}

#[test]
fn diff_shows_a_column_that_the_older_rows_lack() {
    let project = Project::run_once();
    project.edit(ORDERS_FILE, "SELECT p.id,", "SELECT p.id, 1 AS part,");
    project.run(&[]);
    let (code, said) = project.said(&["diff", "silver.orders", "--output", "json"]);
    assert_eq!(code, Some(0), "{said}");
    let diff: serde_json::Value = serde_json::from_str(&said).unwrap();
    let column = &diff["rows"][0]["columns"][0];
    assert_eq!((&column[0], &column[1], &column[2]), (&"part".into(), &serde_json::Value::Null, &"1".into()));
    assert_eq!((diff["gone"].as_u64(), diff["same"].as_u64()), (Some(0), Some(0)));
}

#[test]
fn older_code_is_refused_unless_meant() {
    let project = Project::run_once();
    project.edit(CITY_DAY_FILE, "sum(amount)", "sum(amount + 1)");
    project.run(&[]);
    let newer = project.tables();
    project.write(CITY_DAY_FILE, CITY_DAY);
    let held = project.held();
    assert_eq!((held.len() >= 14, held[0].as_str()), (true, "gold.city_day 2026-03-02 older_code"));
    project.run(&[]);
    assert_eq!(project.tables(), newer);
    let (_, said) = project.said(&["run"]);
    assert!(said.contains("gold.city_day: 14 slices held back, older code"), "{said}");
    assert!(said.contains("`oncemore run gold.city_day --allow-older-code`"), "{said}");
    project.run(&["--allow-older-code"]);
    project.equals_a_fresh_build();
}

#[test]
fn more_tasks_than_the_limit_want_a_yes() {
    let project = Project::run_once();
    project.edit("oncemore.yml", "tasks: 1000", "tasks: 10");
    project.edit(ORDERS_FILE, "p.amount, p.note", "p.amount + 1 AS amount, p.note");
    let (code, said) = project.said(&["run"]);
    assert_eq!(code, Some(2), "{said}");
    project.run(&["--yes"]);
    project.equals_a_fresh_build();
}

#[test]
fn changed_audits_concern_no_reader() {
    let project = Project::run_once();
    project.edit(ORDERS_FILE, "key: [id]\n", "key: [id]\naudits:\n  - not_null: [shop]\n");
    let audits: Vec<String> = DAYS.iter().map(|day| format!("silver.orders {day} audits")).collect();
    assert_eq!(project.tasks(), audits);
    let report = project.run(&[]);
    assert_eq!((report["audited"].as_u64(), report["published"].as_u64()), (Some(14), Some(0)));
    project.equals_a_fresh_build();
}

/// `gold.city_day` reads no `note`; of code and late rows together nobody can tell what they change.
#[test]
fn a_changed_expression_concerns_the_readers_of_its_column() {
    let project = Project::run_once();
    project.edit(ORDERS_FILE, "p.amount, p.note", "p.amount, upper(p.note) AS note");
    let code = |day: &str| format!("silver.orders {day} code");
    assert_eq!(project.tasks(), DAYS.map(code));
    project.edit("data/orders/2026-03-10.csv", ",10,morning", ",11,morning");
    let readers = ["gold.city_day 2026-03-10 input", "gold.city_week 2026-03-09 input"].map(str::to_owned);
    assert_eq!(project.tasks(), [&DAYS.map(code)[..], &readers].concat());
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn a_changed_filter_concerns_all_readers() {
    let project = Project::run_once();
    project.edit(ORDERS_FILE, "LEFT JOIN gold.shops", "INNER JOIN gold.shops");
    assert_eq!(project.tasks().len(), 14 + 14 + 2);
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn the_limit_says_what_the_plan_costs() {
    let project = Project::run_once();
    project.edit("oncemore.yml", "tasks: 1000", "tasks: 5");
    project.edit(ORDERS_FILE, "p.amount, p.note", "p.amount, upper(p.note) AS note");
    for command in ["plan", "run"] {
        let (code, said) = project.said(&[command]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("(silver.orders 14); all 14 take about "), "{said}");
        assert!(said.contains(" s, going by earlier runs"), "{said}");
    }
}

#[test]
fn an_older_request_is_told_what_to_do() {
    let project = Project::run_once();
    let one = ["run", "gold.shops", "--force", "--request", "nightly"];
    assert_eq!(project.said(&one).0, Some(0));
    project.run(&["gold.shops", "--force"]);
    let (code, said) = project.said(&one);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("next: the rows that are there come from a later request and stay"), "{said}");
    assert!(!said.contains("run the same command again"), "{said}");
}

#[test]
fn an_interval_past_the_end_is_no_slice() {
    let project = Project::run_once();
    let (code, said) = project.said(&["explain", "silver.orders", "2026-03-16"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("`silver.orders` has no slice 2026-03-16: its slices go from 2026-03-02 to 2026-03-15"),
        "{said}"
    );
}

#[test]
fn a_folder_that_is_not_there_yet_is_waited_for() {
    let project = Project::new();
    std::fs::rename(project.path("data/orders"), project.path("data/later")).unwrap();
    let held: Vec<String> = DAYS.iter().map(|day| format!("silver.orders {day} waiting")).collect();
    assert_eq!(project.held()[..14], held);
    project.run(&[]);
    std::fs::rename(project.path("data/later"), project.path("data/orders")).unwrap();
    project.run(&[]);
    project.equals_a_fresh_build();
}

#[test]
fn two_sums_that_differ_in_a_cast_are_two_columns() {
    let project = Project::new();
    project.edit(
        CITY_DAY_FILE,
        "sum(amount) AS amount",
        "sum(CAST(amount AS REAL)) AS rough, sum(amount) AS amount",
    );
    project.run(&[]);
    let sql = "SELECT rough, amount FROM gold.city_day WHERE day = DATE '2026-03-10' AND city = 'ALBANY'";
    assert_eq!(project.query(sql), [r#"{"amount":15,"rough":15.0}"#]);
}

#[test]
fn a_long_chain_runs_and_a_longer_one_is_refused() {
    let project = Project::new();
    let chain = |terms: usize| format!("p.amount{}", " + 0".repeat(terms));
    project.edit(ORDERS_FILE, "p.amount, p.note", &format!("{} AS amount, p.note", chain(900)));
    project.run(&["+silver.orders"]);
    project.edit(ORDERS_FILE, &chain(900), &chain(20_000));
    for command in [&["check"][..], &["run"]] {
        let (code, said) = project.said(command);
        assert_eq!(code, Some(3));
        assert!(said.contains("the expression goes too deep"), "{}", &said[..300]);
    }
    let (code, said) = project.said(&["query", &format!("SELECT 1{}", " + 1".repeat(20_000))]);
    assert_eq!(code, Some(3), "{said}");
}

/// Facts and marts are slices, computed again from slices: nothing is added up twice or forgotten.
#[test]
fn sums_never_drift_from_their_facts() {
    let project = Project::run_once();
    let mut seed: u32 = 11;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) as usize % below
    };
    let mut days: Vec<Vec<String>> = DAYS.iter().map(|day| usual(day)).collect();
    for round in 0..30 {
        let at = random(DAYS.len());
        let (day, rows) = (DAYS[at], &mut days[at]);
        match random(4) {
            0 if !rows.is_empty() => drop(rows.remove(random(rows.len()))),
            1 if !rows.is_empty() => {
                let row = random(rows.len());
                let mut cells: Vec<String> = rows[row].split(',').map(str::to_owned).collect();
                cells[3] = random(500).to_string();
                rows[row] = cells.join(",");
            }
            2 if rows.len() > 3 => *rows = usual(day),
            _ => rows.push(format!(
                "{},{day}T15:00:00Z,{},{},late",
                1_000 + round,
                ["a", "b"][random(2)],
                random(90)
            )),
        }
        project.write_day(day, rows);
        project.run(&["--yes"]);
        let drifted = project.query(
            "SELECT f.day, f.city FROM (SELECT day, city, sum(amount) AS amount, count(*) AS n FROM silver.orders \
             WHERE amount >= 0 GROUP BY day, city) AS f \
             FULL JOIN gold.city_day AS m ON m.day = f.day AND m.city = f.city \
             WHERE (f.amount IS DISTINCT FROM m.amount) OR (f.n IS DISTINCT FROM m.orders)",
        );
        assert_eq!(drifted, none(), "after {} corrections", round + 1);
    }
    project.equals_a_fresh_build();
}

#[test]
fn slices_of_an_old_shape_are_named_until_they_run() {
    let project = Project::run_once();
    project.edit(ORDERS_FILE, "SELECT p.id, ", "SELECT p.id, p.amount * 2 AS twice, ");
    let (code, _) =
        project.said(&["accept", "silver.orders", "--interval", "2026-03", "--because", "new column"]);
    assert_eq!(code, Some(0));
    let (_, said) = project.said(&["status", "--why"]);
    assert!(said.contains("old shape: ") && said.contains("silver.orders  14 slices"), "{said}");
    project.run(&["silver.orders", "--interval", "2026-03-10", "--force"]);
    assert_eq!(project.query("SELECT count(twice) AS n FROM silver.orders"), [r#"{"n":3}"#]);
    let (_, said) = project.said(&["status", "--why"]);
    assert!(
        said.contains("silver.orders  13 slices  2026-03-02 … 2026-03-09, 2026-03-11 … 2026-03-15"),
        "{said}"
    );
    project.run(&["silver.orders", "--force"]);
    let (_, said) = project.said(&["status", "--why"]);
    assert!(!said.contains("old shape"), "{said}");
}
