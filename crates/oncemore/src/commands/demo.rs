//! `oncemore demo`: the flights project with a planted bug, its year run, and five commands to find and mend it.

use std::path::{Path, PathBuf};

use oncemore_run::{ErrorKind, RunError, Stop};

use super::init::write_new;
use super::run::{Args as RunArgs, once, stop_on_interrupt};
use crate::args::Cli;
use crate::commands::Command;
use crate::context::{Context, cores};
use crate::failure::Failure;
use crate::render::Paint;
use crate::render::number::plural;

/// The project and its data, made by build.rs: for each file the length of its path, the path, its length, its bytes.
const ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/flights.bin"));

/// Make a project with a year of real flights and a planted bug, run it, and say how to find and mend the bug.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to make.
    #[arg(default_value = "flights-demo")]
    pub dir: PathBuf,
    /// Make the folder, run nothing.
    #[arg(long)]
    pub no_run: bool,
}

/// Makes the demo.
///
/// # Errors
/// The folder is there already, or can't be written; a run that failed gives its exit code.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let files = unpack(ARCHIVE)?;
    if args.dir.exists() {
        return Err(RunError::usage(
            format!("`{}` is there already", args.dir.display()),
            "`oncemore demo OTHER` takes another folder",
        )
        .into());
    }
    for file in &files {
        write_new(&args.dir.join(placed(file.path)), file.bytes)?;
    }
    let code = if args.no_run { 0 } else { run_year(args, context)? };
    if context.ui.is_json() {
        context.ui.json(&serde_json::json!({ "dir": args.dir.display().to_string(), "files": files.len(), "run": !args.no_run }))?;
    } else {
        context.ui.data(&story(&args.dir, files.len(), context))?;
    }
    Ok(code)
}

fn run_year(args: &Args, context: &Context) -> Result<u8, Failure> {
    let mut global = context.global.clone();
    global.project = Some(args.dir.clone());
    let inside = Context::new(global);
    let work = default_run_args()?;
    let options = work.work.run_options(cores());
    let report = inside.block_on(options.jobs, async {
        let stop = Stop::default();
        stop_on_interrupt(stop.clone(), inside.ui);
        once(&inside, &work, &options, &stop).await
    })?;
    Ok(report.exit_code())
}

/// What `oncemore run --yes` parses to.
fn default_run_args() -> Result<RunArgs, RunError> {
    use clap::Parser;
    match Cli::try_parse_from(["oncemore", "run", "--yes"]) {
        Ok(Cli { command: Command::Run(args), .. }) => Ok(args),
        _ => Err(RunError::new(ErrorKind::Internal, "`oncemore run --yes` does not parse")),
    }
}

/// Where a file of the archive goes: the bug takes the place of the right model, which lies in `fix/`.
fn placed(path: &str) -> String {
    match path.strip_prefix("models_bug/") {
        Some(rest) => format!("models/{rest}"),
        None => path.to_owned(),
    }
}

/// One file of the archive.
#[derive(Debug, PartialEq, Eq)]
struct File<'a> {
    path: &'a str,
    bytes: &'a [u8],
}

/// The files of the demo: right versions of models that have a bug are moved to `fix/`.
fn unpack(mut archive: &'static [u8]) -> Result<Vec<File<'static>>, RunError> {
    let broken = || RunError::new(ErrorKind::Internal, "the demo's data in this binary are damaged");
    let mut files = Vec::new();
    while !archive.is_empty() {
        let path = take(&mut archive).and_then(|bytes| std::str::from_utf8(bytes).ok()).ok_or_else(broken)?;
        let bytes = take(&mut archive).ok_or_else(broken)?;
        files.push(File { path, bytes });
    }
    if files.is_empty() {
        return Err(RunError::usage(
            "this build of `oncemore` holds no demo: it was made without `examples/flights`",
            "`oncemore init` begins a small project",
        ));
    }
    let bugs: Vec<String> =
        files.iter().filter_map(|file| file.path.strip_prefix("models_bug/")).map(str::to_owned).collect();
    for file in &mut files {
        if let Some(rest) = file.path.strip_prefix("models/")
            && bugs.iter().any(|bug| bug == rest)
        {
            file.path = Box::leak(format!("fix/{rest}").into_boxed_str());
        }
    }
    Ok(files)
}

/// A length-prefixed piece of the archive.
fn take(archive: &mut &'static [u8]) -> Option<&'static [u8]> {
    let (length, rest) = archive.split_at_checked(8)?;
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let (piece, rest) = rest.split_at_checked(length)?;
    *archive = rest;
    Some(piece)
}

fn story(dir: &Path, files: usize, context: &Context) -> String {
    let look = &context.ui.out;
    let commands = [
        (
            "how late flights were, month by month: March stands out",
            "oncemore query \"SELECT month, round(CAST(sum(arr_delay_minutes) AS DOUBLE) / sum(completed), 1) AS minutes_late, sum(late) AS late FROM gold.carrier_month GROUP BY month ORDER BY month\"",
        ),
        (
            "the fix, and what is stale because of it",
            "cp fix/silver/flights.sql models/silver/flights.sql && oncemore status --why",
        ),
        ("what a run would do: it asks before it computes a year", "oncemore plan"),
        ("the repair: what comes out equal stays, and what reads it is cut off", "oncemore run --yes"),
        ("the proof that only March changed", "oncemore diff silver.flights --interval 2013"),
    ];
    let mut out = format!(
        "{}: {}, a year of flights from New York. One model has a bug, on purpose. Type:\n\n  cd {}\n",
        dir.display(),
        plural(files, "file"),
        dir.display()
    );
    for (at, (what, command)) in commands.iter().enumerate() {
        out += &format!("\n{}. {}\n   {command}\n", at + 1, look.paint(Paint::Dim, what));
    }
    out += "\nSTORY.md tells more of it.\n";
    out
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

    use super::{placed, unpack};

    fn archive(files: &[(&str, &str)]) -> &'static [u8] {
        let mut bytes = Vec::new();
        for piece in files.iter().flat_map(|(path, text)| [path, text]) {
            bytes.extend((piece.len() as u64).to_le_bytes());
            bytes.extend(piece.as_bytes());
        }
        bytes.leak()
    }

    #[test]
    fn the_bug_takes_the_place_of_the_right_model() {
        let archive =
            archive(&[("models/a.sql", "right"), ("models/b.sql", "b"), ("models_bug/a.sql", "wrong")]);
        let files = unpack(archive).unwrap();
        let placed: Vec<(String, &[u8])> = files.iter().map(|file| (placed(file.path), file.bytes)).collect();
        assert_eq!(
            placed,
            [
                ("fix/a.sql".to_owned(), &b"right"[..]),
                ("models/b.sql".to_owned(), &b"b"[..]),
                ("models/a.sql".to_owned(), &b"wrong"[..])
            ]
        );
    }

    #[test]
    fn a_damaged_archive_is_an_error() {
        let whole = archive(&[("a", "text")]);
        assert!((1..whole.len()).all(|length| unpack(&whole[..length]).is_err()));
        assert!(unpack(&[]).unwrap_err().message.contains("holds no demo"));
    }
}
