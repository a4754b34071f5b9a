//! The command line: arguments in, text or JSON out, an exit code.
//!
//! The only crate that prints or reads the environment. It owns words and pictures; what is to be done, and why, is
//! decided below, in `oncemore_run`.

mod allocator;
pub mod args;
pub mod commands;
pub mod context;
pub mod failure;
pub mod lint;
pub mod lsp;
pub mod observe;
pub mod render;
pub mod ui;
pub mod world;

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::context::Context;

/// Exit code of a bug of ours.
const BUG: u8 = 70;
/// Exit code of arguments that say nothing.
const WRONG_USE: u8 = 2;

/// Stack of the thread that commands run on: queries are walked by recursion, down to the depth that the loader takes on.
const STACK_BYTES: usize = 256 << 20;

/// The whole program.
pub fn main() -> ExitCode {
    let thread = std::thread::Builder::new().name("oncemore".to_owned()).stack_size(STACK_BYTES).spawn(run);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => ExitCode::from(BUG),
        // No second thread: queries that go deep may fail, all others work.
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(said) = commands::not_built(&error) {
                say(&said);
                return ExitCode::from(WRONG_USE);
            }
            // Help that nobody reads to its end is no failure.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(WRONG_USE));
        }
    };
    if cli.command.computes() {
        allocator::fit();
    }
    std::panic::set_hook(Box::new(report_panic));
    let result = catch_unwind(AssertUnwindSafe(|| {
        let context = Context::new(cli.global);
        let outcome = match context.global.check(&cli.command) {
            Ok(()) => cli.command.run(&context),
            Err(error) => Err(error.into()),
        };
        outcome.unwrap_or_else(|failure| {
            let failure = if cli.command.writes() { failure } else { failure.of_reading() };
            failure.report(context.root().ok().as_deref(), &context.ui)
        })
    }));
    ExitCode::from(result.unwrap_or(BUG))
}

/// Says what a bug of ours means for the tables, and what to do with it.
fn report_panic(info: &PanicHookInfo<'_>) {
    let text = format!(
        "error: a bug of ours: {info}\n\
         help: no table is damaged by it: readers see the slices as they were or as they were published\n\
         help: please report it with this text, the command and `oncemore --version` ({})\n",
        env!("CARGO_PKG_VERSION")
    );
    say(&text);
}

/// Writes to stderr before there is a [`ui::Ui`]; where nobody listens there is nobody to tell.
fn say(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(text.as_bytes());
}
