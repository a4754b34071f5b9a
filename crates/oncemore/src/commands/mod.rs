//! One command, one file: its arguments and `run`. A new one is a file, its `mod` line and its line in `commands!`.

pub mod accept;
pub mod check;
pub mod claims;
pub mod compile;
pub mod demo;
pub mod diff;
pub mod explain;
pub mod gc;
pub mod init;
pub mod ledger;
pub mod lint;
pub mod lsp;
pub mod plan;
pub mod query;
pub mod rebuild;
pub mod resolve;
pub mod run;
pub mod status;

use clap::Subcommand;
use clap::error::{ContextKind, ContextValue};

use crate::context::Context;
use crate::failure::Failure;

/// Exit code of `lint` with findings, and of `plan --exit-code` where there is something to do.
pub const FINDINGS: u8 = 1;

/// Commands that are designed and not built yet. One that gets built goes from here into `commands!`.
pub const NOT_BUILT: [&str; 6] = ["monitor", "promote", "prove", "serve", "test", "verify"];

/// What is said where the arguments name a command of [`NOT_BUILT`].
pub fn not_built(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let name = NOT_BUILT.into_iter().find(|known| known == name)?;
    Some(format!(
        "error: `{name}` is not built yet: it is designed, and a later version will have it\n\
         help: `oncemore --help` lists the commands that are there\n"
    ))
}

macro_rules! commands {
    ($($variant:ident => $module:ident),* $(,)?) => {
        /// What to do.
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $(
                $variant($module::Args),
            )*
        }

        impl Command {
            /// Does it and gives the exit code.
            ///
            /// # Errors
            /// Whatever keeps it from being done.
            pub fn run(&self, context: &Context) -> Result<u8, Failure> {
                match self {
                    $(Command::$variant(args) => $module::run(args, context),)*
                }
            }
        }
    };
}

impl Command {
    /// Whether it runs queries over rows.
    pub fn computes(&self) -> bool {
        matches!(self, Command::Run(_) | Command::Rebuild(_) | Command::Diff(_) | Command::Query(_))
    }

    /// Whether it may change a table.
    pub fn writes(&self) -> bool {
        matches!(
            self,
            Command::Demo(_)
                | Command::Run(_)
                | Command::Rebuild(_)
                | Command::Accept(_)
                | Command::Resolve(_)
                | Command::Claims(_)
                | Command::Ledger(_)
        )
    }
}

commands! {
    Init => init,
    Demo => demo,
    Check => check,
    Compile => compile,
    Plan => plan,
    Run => run,
    Status => status,
    Explain => explain,
    Query => query,
    Diff => diff,
    Accept => accept,
    Rebuild => rebuild,
    Resolve => resolve,
    Claims => claims,
    Gc => gc,
    Ledger => ledger,
    Lint => lint,
    Lsp => lsp,
}
