//! Broken, deep and long texts: no panic, no overflow, and the time stays linear.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test reports, and is steered, from outside"
)]

use std::time::Instant;

use oncemore_lint::{Config, Dialect, Input, lint};

fn run(text: String, dialect: Dialect) -> usize {
    if std::env::var_os("ROBUST_VERBOSE").is_some() {
        println!("{}", text.chars().take(90).collect::<String>());
    }
    let input = Input { path: "case.sql".to_string(), text, dialect: Some(dialect) };
    lint(&[input], &Config::default()).findings.len()
}

/// All snippets of the corpus and of the pages.
fn texts() -> Vec<(Dialect, String)> {
    let mut all = Vec::new();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    let mut folders: Vec<_> =
        std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    for folder in folders {
        let dialect = folder
            .file_name()
            .and_then(|name| Dialect::named(&name.to_string_lossy()))
            .unwrap_or(Dialect::Ansi);
        let mut files: Vec<_> =
            std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        files.sort();
        all.extend(files.iter().filter_map(|file| Some((dialect, std::fs::read_to_string(file).ok()?))));
    }
    all
}

#[test]
fn deep_and_long_texts_are_refused_or_read() {
    let deep = format!("INSERT INTO t SELECT {}1{} FROM s", "(".repeat(50_000), ")".repeat(50_000));
    assert!(run(deep, Dialect::Postgres) > 0, "said to be not analysed");
    let nested =
        format!("INSERT INTO t {} SELECT 1 {}", "SELECT * FROM (".repeat(5_000), ") x".repeat(5_000));
    run(nested, Dialect::Postgres);
    let cases =
        format!("INSERT INTO t SELECT {} 1 {}", "CASE WHEN a THEN ".repeat(3_000), "END ".repeat(3_000));
    run(cases, Dialect::Postgres);
    for operator in ["AND x", "OR x", "+ 1", "|| 'a'", "- 1", "* 2", "= 1"] {
        let long = format!("INSERT INTO t SELECT a FROM s WHERE x {}", format!(" {operator}").repeat(5_000));
        run(long, Dialect::Postgres);
    }
    run(format!("INSERT INTO t SELECT {} x FROM s", "NOT ".repeat(10_000)), Dialect::Postgres);
    run(format!("INSERT INTO t SELECT {} 1 FROM s", "- ".repeat(10_000)), Dialect::Postgres);
    run(format!("SELECT 1 {}", "UNION ALL SELECT 1 ".repeat(3_000)), Dialect::Postgres);
    run("SELECT ${{{{'`\"[$$ BEGIN IF CASE %( {{ {% /* ".to_string(), Dialect::Postgres);
}

#[test]
fn a_name_that_stands_nowhere_makes_no_place_of_its_own() {
    let text = "DROP TABLE IF eamId,\n STRING_AGG(e.FullName, ', ') WITHIN GROUP (ORDER BY e.FullName) AS Members\n\
                INTO rpt.TeamList FROM hr.Team t";
    let input = Input { path: "case.sql".to_string(), text: text.to_string(), dialect: Some(Dialect::TSql) };
    let findings = lint(&[input], &Config::default()).findings;
    assert!(!findings.is_empty());
    assert!(findings.iter().all(|finding| text.get(finding.span.range()).is_some()), "{findings:?}");
}

#[test]
fn no_mutation_makes_it_panic() {
    let texts = texts();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap_or(0)
    };
    let seconds: u64 = std::env::var("FUZZ_SECONDS").ok().and_then(|value| value.parse().ok()).unwrap_or(2);
    let started = Instant::now();
    while started.elapsed().as_secs() < seconds && !texts.is_empty() {
        let (_, text) = &texts[next(texts.len())];
        let (_, other) = &texts[next(texts.len())];
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..=next(6) {
            let at = next(chars.len());
            match next(5) {
                0 => drop(chars.drain(at..(at + next(30)).min(chars.len()))),
                1 => {
                    chars.insert(at, ['(', ')', '\'', ';', '"', '$', '{', 'é', '\n', ',', '*', '`'][next(12)])
                }
                2 => {
                    let piece: Vec<char> = other.chars().skip(next(other.len())).take(next(60)).collect();
                    chars.splice(at..at, piece);
                }
                3 => chars.truncate(at),
                _ => {
                    let end = (at + next(40)).min(chars.len());
                    let piece: Vec<char> = chars.get(at..end).unwrap_or(&[]).to_vec();
                    chars.splice(at..at, piece);
                }
            }
        }
        let dialect = Dialect::ALL[next(Dialect::ALL.len())];
        let text: String = chars.into_iter().collect();
        let begun = Instant::now();
        run(text.clone(), dialect);
        assert!(begun.elapsed().as_secs_f64() < 1.0, "{} takes too long:\n{text}", dialect.name());
    }
}

#[test]
fn time_stays_linear() {
    let texts = texts();
    if texts.is_empty() {
        return;
    }
    let inputs: Vec<Input> = (0..10)
        .flat_map(|round| {
            texts.iter().enumerate().map(move |(at, (dialect, text))| Input {
                path: format!("{round}/{at}.sql"),
                text: text.clone(),
                dialect: Some(*dialect),
            })
        })
        .collect();
    let bytes: usize = inputs.iter().map(|input| input.text.len()).sum();
    let started = Instant::now();
    let report = lint(&inputs, &Config::default());
    let seconds = started.elapsed().as_secs_f64();
    let millions = bytes as f64 / 1e6;
    println!(
        "{} files, {millions:.2} MB in {seconds:.3} s on one core: {:.0} files/s, {:.1} MB/s, {} findings",
        inputs.len(),
        inputs.len() as f64 / seconds,
        millions / seconds,
        report.findings.len()
    );
    let (analysed, all) = report
        .coverage
        .iter()
        .fold((0, 0), |sum, (_, coverage)| (sum.0 + coverage.analysed, sum.1 + coverage.statements));
    println!("analysed {analysed} of {all} statements");
    let big: String =
        (0..20_000).map(|at| format!("INSERT INTO t VALUES ({at}, 'now', 'it''s');\n")).collect();
    let started = Instant::now();
    let found = run(big.clone(), Dialect::Postgres);
    println!(
        "{} KB of one file in {:.3} s, {found} findings",
        big.len() / 1000,
        started.elapsed().as_secs_f64()
    );
    let values =
        format!("INSERT INTO t (a, b) VALUES {}", vec!["(1, 'current_date now()')"; 20_000].join(", "));
    let started = Instant::now();
    run(values.clone(), Dialect::Postgres);
    println!("{} KB of VALUES in {:.3} s", values.len() / 1000, started.elapsed().as_secs_f64());
}

#[test]
fn aliases_that_lead_back_and_queries_read_twice_end() {
    // Over a table of which nothing is known, `a` may be the alias or the column.
    let back = "INSERT INTO t SELECT k, row_number() OVER (PARTITION BY k ORDER BY d) AS n, f(a, b) AS a, \
        g(b, a) AS b FROM s";
    run(back.to_string(), Dialect::TSql);
    let mut ctes = "c0 AS (SELECT id, day FROM raw.x WHERE day >= :start AND day < :end)".to_string();
    for at in 1..24 {
        let before = at - 1;
        ctes.push_str(&format!(
            ", c{at} AS (SELECT a.id, a.day FROM c{before} AS a JOIN c{before} AS b ON a.id = b.id)"
        ));
    }
    let started = Instant::now();
    run(
        format!(
            "BEGIN; DELETE FROM t WHERE day >= :start AND day < :end; INSERT INTO t (id, day) WITH {ctes} \
             SELECT id, day FROM c23; COMMIT;"
        ),
        Dialect::Postgres,
    );
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

/// The time of one very long line, three times as long, is not nine times as long.
#[test]
fn many_findings_on_one_line_take_linear_time() {
    let seconds = |rows: usize| {
        let values = (0..rows).map(|at| format!("({at}, 'é', now())")).collect::<Vec<_>>().join(",");
        let text = format!("INSERT INTO a VALUES {values}");
        let started = Instant::now();
        assert_eq!(run(text, Dialect::Postgres), rows + 1);
        started.elapsed().as_secs_f64()
    };
    let (one, three) = (seconds(10_000), seconds(30_000));
    assert!(three < one * 6.0 + 0.5, "{one:.2} s, then {three:.2} s");
}
