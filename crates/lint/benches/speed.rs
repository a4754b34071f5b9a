//! How fast a folder of files is judged, cold and warm, on one thread and on two.
//!
//! `cargo bench --workspace --locked --bench speed -- folder [rounds [dialect]]`. The texts are in memory: what reading
//! them costs is no part of it. The first round of a process starts cold, function tables and the like are built in it.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::path::Path;
use std::time::Instant;

use oncemore_lint::spread::InTurn;
use oncemore_lint::{Config, Dialect, Input, Spread, lint_on};

/// Items in turn to threads.
struct Threads(usize);

impl Spread for Threads {
    fn map<'t, T: Sync, R: Send>(&self, items: &'t [T], work: impl Fn(&'t T) -> R + Sync) -> Vec<R> {
        let threads = self.0;
        let work = &work;
        let parts: Vec<Vec<R>> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads)
                .map(|thread| {
                    scope.spawn(move || items.iter().skip(thread).step_by(threads).map(work).collect())
                })
                .collect();
            running.into_iter().map(|thread| thread.join().expect("a thread")).collect()
        });
        let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
        (0..items.len()).filter_map(|at| parts[at % threads].next()).collect()
    }
}

fn read(folder: &Path, under: &Path, dialect: Option<Dialect>, inputs: &mut Vec<Input>) {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        if path.is_dir() {
            read(&path, under, dialect, inputs);
        } else if ["sql", "yml", "yaml"].contains(&ending)
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            let path = path.strip_prefix(under).expect("below").to_string_lossy().into_owned();
            inputs.push(Input { path, text, dialect });
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

fn main() {
    let mut given = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    // `cargo test --benches` gives none.
    let Some(folder) = given.next() else { return };
    let rounds: u32 = given.next().and_then(|rounds| rounds.parse().ok()).unwrap_or(3);
    let dialect = given.next().and_then(|name| Dialect::named(&name));
    let mut inputs = Vec::new();
    read(Path::new(&folder), Path::new(&folder), dialect, &mut inputs);
    let sql = inputs.iter().filter(|input| input.path.ends_with(".sql"));
    let (files, bytes) = sql.fold((0, 0), |(files, bytes), input| (files + 1, bytes + input.text.len()));
    println!("{files} files of SQL, {} KB", bytes / 1000);
    let (files, millions) = (f64::from(files), bytes as f64 / 1e6);
    let config = Config::default();
    for threads in [2, 1] {
        for round in 0..rounds {
            let (begun, before) = (Instant::now(), on_cpu());
            let report = match threads {
                1 => lint_on(&inputs, &config, &InTurn),
                threads => lint_on(&inputs, &config, &Threads(threads)),
            };
            let (seconds, cpu) = (begun.elapsed().as_secs_f64(), on_cpu() - before);
            println!(
                "{threads} threads, round {round}: {seconds:.3} s, {cpu:.2} s on cores: {:.0} files/s, {:.2} MB/s; of a \
                 core {:.0} files/s; {} findings",
                files / seconds,
                millions / seconds,
                files / cpu,
                report.findings.len(),
            );
        }
    }
    let slowest = inputs.iter().filter(|input| input.path.ends_with(".sql")).map(|input| {
        let begun = Instant::now();
        let _ = lint_on(std::slice::from_ref(input), &config, &InTurn);
        (begun.elapsed().as_secs_f64(), input)
    });
    if let Some((seconds, input)) = slowest.max_by(|a, b| a.0.total_cmp(&b.0)) {
        println!("slowest alone: {:.2} ms, {} ({} bytes)", seconds * 1e3, input.path, input.text.len());
    }
}
