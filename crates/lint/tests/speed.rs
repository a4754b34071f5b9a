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

/// Seconds that this thread has run; on a busy machine less than have passed. Zero where the system does not tell.
fn on_cpu() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// Files in turn to threads: parsed, facts gathered, judged. Findings, seconds of each step, and seconds that the threads ran.
fn once(inputs: &[Input], threads: usize) -> (usize, [f64; 3], f64) {
    let config = Config::default();
    let begun = Instant::now();
    let mut scripts: Vec<Script> = Vec::with_capacity(inputs.len());
    let (mut cpu, before) = (0.0, on_cpu());
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                let config = &config;
                scope.spawn(move || {
                    let own = inputs.iter().skip(thread).step_by(threads);
                    let parsed: Vec<Script> = own.map(|input| parse(input, config)).collect();
                    (parsed, on_cpu())
                })
            })
            .collect();
        for thread in running {
            let (part, time) = thread.join().expect("parsed");
            scripts.extend(part);
            cpu += time;
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
                    (own.map(|script| judge(script, knowledge, config).len()).sum::<usize>(), on_cpu())
                })
            })
            .collect();
        for thread in running {
            let (count, time) = thread.join().expect("judged");
            found += count;
            cpu += time;
        }
    });
    let judged = begun.elapsed().as_secs_f64();
    (found, [parsed, gathered - parsed, judged - gathered], cpu + on_cpu() - before)
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
    for threads in [1, 2] {
        // The first round starts cold: function tables and the like are built in it.
        for round in 0..rounds {
            let (found, [parsed, gathered, judged], cpu) = once(&inputs, threads);
            let seconds = parsed + gathered + judged;
            println!(
                "{threads} threads, round {round}: {seconds:.3} s ({parsed:.3} parsed, {gathered:.3} facts, \
                 {judged:.3} judged): {:.0} files/s, {:.2} MB/s, {found} findings; {cpu:.3} s on cores: {:.0} \
                 files/s and {:.2} MB/s of each",
                inputs.len() as f64 / seconds,
                bytes as f64 / 1e6 / seconds,
                inputs.len() as f64 / cpu,
                bytes as f64 / 1e6 / cpu
            );
        }
    }
    let slowest = inputs.iter().map(|input| {
        let (_, _, cpu) = once(std::slice::from_ref(input), 1);
        (cpu, input)
    });
    if let Some((cpu, input)) = slowest.max_by(|a, b| a.0.total_cmp(&b.0)) {
        println!("slowest: {:.2} ms on a core, {} ({} bytes)", cpu * 1e3, input.path, input.text.len());
    }
}
