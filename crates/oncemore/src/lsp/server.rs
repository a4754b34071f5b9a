//! The loop: messages in, answers and findings out.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Notification as _, PublishDiagnostics, ShowMessage,
};
use lsp_types::request::{CodeActionRequest, HoverRequest, Request as _};
use lsp_types::{
    CodeActionParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    HoverParams, MessageType, PublishDiagnosticsParams, ShowMessageParams, Uri,
};
use oncemore_lint::Finding;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::actions;
use super::analysis::{Analysis, Found};
use super::place::{Places, path};

/// Longest text that is looked at as one types: a dump of ten megabytes takes seconds, and half a gigabyte of memory.
const TEXT_MAX: usize = 16 << 20;

/// An open file.
pub(super) struct Document {
    pub(super) uri: Uri,
    place: PathBuf,
    version: i32,
    pub(super) text: String,
    /// Where what is in the text that was looked at.
    pub(super) places: Places,
    pub(super) findings: Vec<Finding>,
    /// Whether it changed since it was looked at.
    is_dirty: bool,
}

/// The state of a session.
pub(super) struct Server<'c> {
    connection: &'c Connection,
    documents: BTreeMap<String, Document>,
    analysis: Analysis,
    /// The last problem with settings that was told: once is enough.
    told: Option<String>,
}

impl<'c> Server<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Server { connection, documents: BTreeMap::new(), analysis: Analysis::default(), told: None }
    }

    /// Serves until the client is done.
    pub(super) fn run(mut self) -> io::Result<()> {
        while let Ok(message) = self.connection.receiver.recv() {
            if self.take(message)? {
                return Ok(());
            }
            // What has come in meanwhile first: of several versions only the newest is worth a look.
            while let Ok(message) = self.connection.receiver.try_recv() {
                if self.take(message)? {
                    return Ok(());
                }
            }
            self.publish()?;
        }
        Ok(())
    }

    /// Takes a message; true where it was the last.
    fn take(&mut self, message: Message) -> io::Result<bool> {
        match message {
            Message::Request(request) => {
                if self.connection.handle_shutdown(&request).map_err(io::Error::other)? {
                    return Ok(true);
                }
                let response = self.answer(request)?;
                self.send(Message::Response(response))?;
            }
            Message::Notification(notification) => self.hear(notification),
            Message::Response(_) => {}
        }
        Ok(false)
    }

    fn send(&self, message: Message) -> io::Result<()> {
        self.connection.sender.send(message).map_err(io::Error::other)
    }

    fn notify<P: Serialize>(&self, method: &str, params: P) -> io::Result<()> {
        self.send(Message::Notification(Notification::new(method.to_owned(), params)))
    }

    fn answer(&mut self, request: Request) -> io::Result<Response> {
        let id = request.id.clone();
        let wrong = |error: serde_json::Error| {
            Response::new_err(id.clone(), ErrorCode::InvalidParams as i32, error.to_string())
        };
        match request.method.as_str() {
            HoverRequest::METHOD => match serde_json::from_value::<HoverParams>(request.params) {
                Ok(params) => {
                    let asked = params.text_document_position_params;
                    let document = self.looked_at(&asked.text_document.uri)?;
                    let hover = document.and_then(|document| actions::hover(document, asked.position));
                    Ok(Response::new_ok(id, hover))
                }
                Err(error) => Ok(wrong(error)),
            },
            CodeActionRequest::METHOD => match serde_json::from_value::<CodeActionParams>(request.params) {
                Ok(params) => {
                    let document = self.looked_at(&params.text_document.uri)?;
                    let offered = document.map(|document| actions::actions(document, params.range));
                    Ok(Response::new_ok(id, offered.unwrap_or_default()))
                }
                Err(error) => Ok(wrong(error)),
            },
            other => {
                let message = format!("`{other}` is not answered here");
                Ok(Response::new_err(id, ErrorCode::MethodNotFound as i32, message))
            }
        }
    }

    /// An open file, its findings those of its newest version.
    fn looked_at(&mut self, uri: &Uri) -> io::Result<Option<&Document>> {
        self.publish()?;
        Ok(self.documents.get(uri.as_str()))
    }

    fn hear(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Some(params) = read::<DidOpenTextDocumentParams>(params) else { return };
                let opened = params.text_document;
                let Some(place) = path(&opened.uri) else { return };
                let document = Document {
                    place,
                    version: opened.version,
                    text: opened.text,
                    places: Places::default(),
                    findings: Vec::new(),
                    is_dirty: true,
                    uri: opened.uri,
                };
                self.documents.insert(document.uri.as_str().to_owned(), document);
            }
            DidChangeTextDocument::METHOD => {
                let Some(params) = read::<DidChangeTextDocumentParams>(params) else { return };
                let Some(document) = self.documents.get_mut(params.text_document.uri.as_str()) else {
                    return;
                };
                // Whole texts are asked for; the last one is how it is now.
                if let Some(change) = params.content_changes.into_iter().last() {
                    document.text = change.text;
                    document.version = params.text_document.version;
                    document.is_dirty = true;
                }
            }
            DidCloseTextDocument::METHOD => {
                let Some(params) = read::<DidCloseTextDocumentParams>(params) else { return };
                if let Some(document) = self.documents.remove(params.text_document.uri.as_str()) {
                    self.analysis.close(&document.place);
                    let cleared = PublishDiagnosticsParams::new(document.uri, Vec::new(), None);
                    // A client that has gone is met at the next message.
                    let _ = self.notify(PublishDiagnostics::METHOD, cleared);
                }
            }
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => {
                self.analysis.forget();
                self.told = None;
                for document in self.documents.values_mut() {
                    document.is_dirty = true;
                }
            }
            _ => {}
        }
    }

    /// Looks at what changed and says what is found.
    fn publish(&mut self) -> io::Result<()> {
        let mut notices = Vec::new();
        let mut problem = None;
        for document in self.documents.values_mut().filter(|document| document.is_dirty) {
            let found = if document.text.len() > TEXT_MAX {
                too_long(document)
            } else {
                self.analysis.look(&document.place, &document.text)
            };
            document.is_dirty = false;
            document.findings = found.findings;
            problem = problem.or(found.problem);
            document.places = Places::of(&document.text);
            let shown =
                document.findings.iter().map(|finding| actions::diagnostic(finding, &document.places));
            let version = Some(document.version);
            notices.push(PublishDiagnosticsParams::new(document.uri.clone(), shown.collect(), version));
        }
        for notice in notices {
            self.notify(PublishDiagnostics::METHOD, notice)?;
        }
        if problem.is_some() && problem != self.told {
            let message = problem.clone().unwrap_or_default();
            self.told = problem;
            self.notify(ShowMessage::METHOD, ShowMessageParams { typ: MessageType::WARNING, message })?;
        }
        Ok(())
    }
}

/// What is said of a text that is not looked at.
fn too_long(document: &Document) -> Found {
    let name = document.place.file_name().unwrap_or_default().to_string_lossy();
    let most = TEXT_MAX >> 20;
    let problem =
        format!("`{name}` is larger than {most} MB and is not looked at as you type; `oncemore lint` does");
    Found { problem: Some(problem), ..Found::default() }
}

/// The parameters of a notification; one that can't be read is passed over, as the protocol wants.
fn read<P: DeserializeOwned>(params: Value) -> Option<P> {
    serde_json::from_value(params).ok()
}
