//! A language server: texts of open files in, findings, pages and rewrites out. Synchronous: one thread, one message
//! after the other, and of several versions of a file only the newest is looked at.

mod actions;
mod analysis;
mod place;
mod server;
mod wire;

use std::io;

use lsp_server::Connection;
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, HoverProviderCapability,
    InitializeResult, SaveOptions, ServerCapabilities, ServerInfo, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
};

use wire::Wire;

/// Serves on stdin and stdout until the client says `exit`; gives the exit code.
///
/// # Errors
/// A client that does not keep to the protocol, streams that break.
pub fn serve() -> io::Result<u8> {
    let (connection, wire) = Wire::open()?;
    let served = session(&connection);
    // The writer ends when nobody can send any more.
    drop(connection);
    wire.close(served)?;
    Ok(0)
}

fn session(connection: &Connection) -> io::Result<()> {
    let (id, _) = connection.initialize_start().map_err(io::Error::other)?;
    let result = InitializeResult {
        capabilities: capabilities(),
        server_info: Some(ServerInfo {
            name: "oncemore".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    };
    let result = serde_json::to_value(result)?;
    connection.initialize_finish(id, result).map_err(io::Error::other)?;
    server::Server::new(connection).run()
}

fn capabilities() -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::FULL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        ..TextDocumentSyncOptions::default()
    };
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    }
}
