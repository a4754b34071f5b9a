//! `oncemore lsp`: findings in an editor, as you type.

use crate::context::Context;
use crate::failure::Failure;

/// Speak the language server protocol on stdin and stdout: an editor starts this and shows findings as you type.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Speak on stdin and stdout; there is no other way, editors like to say it.
    #[arg(long)]
    pub stdio: bool,
}

/// Serves until the editor says that it is done.
///
/// # Errors
/// A client that does not keep to the protocol, streams that break.
pub fn run(_args: &Args, _context: &Context) -> Result<u8, Failure> {
    Ok(crate::lsp::serve()?)
}
