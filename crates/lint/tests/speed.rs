//! How fast a folder of files is judged: `SPEED=folder cargo test --release -p oncemore-lint --test speed -- --ignored
//! --nocapture`. `SPEED_DIALECT` names the dialect, `SPEED_ROUNDS` how often each core goes over the files.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement reports, and is steered, from outside"
)]

use std::path::Path;
use std::time::Instant;

use oncemore_lint::{Config, Dialect, Input, Knowledge, Script, judge, parse};

fn read(folder: &Path, dialect: Option<Dialect>, inputs: &mut Vec<Input>) {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read(&path, dialect, inputs);
        } else if path.extension().is_some_and(|extension| extension == "sql")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            inputs.push(Input { path: path.to_string_lossy().into_owned(), text, dialect });
        }
    }
}

/// Seconds that this process has run on cores, in hundredths; on a busy machine fewer than have passed on the clock. Zero
/// where the system does not tell.
fn on_cpu() -> f64 {
    let told = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = told.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// Files in turn to threads: parsed, facts gathered, judged. Findings, and seconds of each step.
fn once(inputs: &[Input], threads: usize) -> (usize, [f64; 3]) {
    let config = Config::default();
    let begun = Instant::now();
    let mut scripts: Vec<Script> = Vec::with_capacity(inputs.len());
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                let config = &config;
                scope.spawn(move || {
                    let own = inputs.iter().skip(thread).step_by(threads);
                    own.map(|input| parse(input, config)).collect()
                })
            })
            .collect();
        for thread in running {
            let part: Vec<Script> = thread.join().expect("parsed");
            scripts.extend(part);
        }
    });
    let parsed = begun.elapsed().as_secs_f64();
    let knowledge = Knowledge::gather(&scripts);
    let gathered = begun.elapsed().as_secs_f64();
    let mut found = 0;
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                let (scripts, knowledge, config) = (&scripts, &knowledge, &config);
                scope.spawn(move || {
                    let own = scripts.iter().skip(thread).step_by(threads);
                    own.map(|script| judge(script, knowledge, config).findings.len()).sum::<usize>()
                })
            })
            .collect();
        found = running.into_iter().map(|thread| thread.join().expect("judged")).sum();
    });
    let judged = begun.elapsed().as_secs_f64();
    (found, [parsed, gathered - parsed, judged - gathered])
}

#[test]
#[ignore = "measures, and needs a folder"]
fn speed() {
    let Some(folder) = std::env::var_os("SPEED") else { panic!("SPEED names no folder") };
    let dialect = std::env::var("SPEED_DIALECT").ok().and_then(|name| Dialect::named(&name));
    let rounds: usize =
        std::env::var("SPEED_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    let mut inputs = Vec::new();
    read(Path::new(&folder), dialect, &mut inputs);
    let bytes: usize = inputs.iter().map(|input| input.text.len()).sum();
    let lines: usize = inputs.iter().map(|input| input.text.lines().count()).sum();
    println!("{} files, {lines} lines, {} KB", inputs.len(), bytes / 1000);
    let files = inputs.len() as f64;
    let millions = bytes as f64 / 1e6;
    for threads in [1, 2] {
        let before = on_cpu();
        // The first round starts cold: function tables and the like are built in it.
        for round in 0..rounds {
            let (found, [parsed, gathered, judged]) = once(&inputs, threads);
            let seconds = parsed + gathered + judged;
            println!(
                "{threads} threads, round {round}: {seconds:.3} s ({parsed:.3} parsed, {gathered:.3} facts, \
                 {judged:.3} judged): {:.0} files/s, {:.2} MB/s, {found} findings",
                files / seconds,
                millions / seconds,
            );
        }
        let cpu = (on_cpu() - before) / rounds as f64;
        println!(
            "{threads} threads: {cpu:.3} s on cores a round: {:.0} files/s and {:.2} MB/s on each",
            files / cpu,
            millions / cpu
        );
    }
    let slowest = inputs.iter().map(|input| {
        let (_, steps) = once(std::slice::from_ref(input), 1);
        (steps.iter().sum::<f64>(), input)
    });
    if let Some((seconds, input)) = slowest.max_by(|a, b| a.0.total_cmp(&b.0)) {
        println!("slowest: {:.2} ms, {} ({} bytes)", seconds * 1e3, input.path, input.text.len());
    }
}
