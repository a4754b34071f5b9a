//! `oncemore init`: a small project to start from.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use oncemore_run::{ErrorKind, RunError};

use crate::context::Context;
use crate::failure::Failure;

/// Files of the project, by path.
const FILES: [(&str, &str); 5] = [
    ("oncemore.yml", include_str!("init/oncemore.yml")),
    ("models/silver/orders.sql", include_str!("init/orders.sql")),
    ("models/gold/revenue_month.sql", include_str!("init/revenue_month.sql")),
    ("data/orders.csv", include_str!("init/orders.csv")),
    (".gitignore", "/warehouse\n"),
];

/// Write a small, commented project to start from.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder; the current one by default.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
}

/// Writes the project. Nothing that is there is touched.
///
/// # Errors
/// One of its files is there already, or the folder can't be written.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let there = FILES.iter().map(|(path, _)| args.dir.join(path)).find(|path| path.exists());
    if let Some(path) = there {
        return Err(RunError::usage(
            format!("`{}` is there already, and nothing was written", path.display()),
            "`oncemore init DIR` begins a project in another folder",
        )
        .into());
    }
    for (path, text) in FILES {
        write_new(&args.dir.join(path), text.as_bytes())?;
    }
    let paths: Vec<String> =
        FILES.iter().map(|(path, _)| args.dir.join(path).display().to_string()).collect();
    if context.ui.is_json() {
        context.ui.json(&serde_json::json!({ "files": paths }))?;
        return Ok(0);
    }
    context.ui.data(&format!("{}\n", paths.join("\n")))?;
    let here =
        if args.dir == Path::new(".") { String::new() } else { format!("cd {}; ", args.dir.display()) };
    context.ui.talk(&format!("next: `{here}oncemore plan`, then `oncemore run`, then `oncemore status`"));
    Ok(0)
}

/// Writes a file that must not be there yet, and its folders.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    let failed = |error: std::io::Error| {
        RunError::new(ErrorKind::Usage, format!("can't write `{}`: {error}", path.display()))
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = fs::File::create_new(path).map_err(failed)?;
    file.write_all(bytes).map_err(failed)
}
