//! The loop that owns the texts: requests, changes, and what is found about them.

use super::document::Document;
use super::job::{Event, Job, News};
use super::options::Options;
use super::queue::{Notice, Queue};
use super::text::Text;
use super::{actions, hover, navigation};
use crate::cli::SharedOptions;
use crate::cli::options::interrupted;
use crate::report::counted;
use crate::syntax::Format;
use crossbeam_channel::{Receiver, after, never, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Request, Response};
use lsp_types::{PublishDiagnosticsParams, TextDocumentItem, Uri, notification, request};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often to look whether the process is asked to end.
const INTERVAL: Duration = Duration::from_millis(500);

/// How often to look whether there are other snapshots of harnesses.
const LOOK: Duration = Duration::from_secs(2);

/// What the editor can do.
#[derive(Clone, Copy, Debug, Default)]
struct Abilities {
    /// It shows progress.
    progress: bool,
    /// It asks again for lenses when it is told to.
    refreshes: bool,
    /// It takes changes of texts with their numbers.
    versions: bool,
}

/// The server.
pub(super) struct Server<'c> {
    connection: &'c Connection,
    shared: SharedOptions,
    options: Arc<Options>,
    abilities: Abilities,
    documents: BTreeMap<Uri, Document>,
    queue: Queue,
    events: Receiver<Event>,
    /// The number of the last text.
    generation: u64,
    /// The number of the last request to the editor.
    asked: i32,
    /// When to look for other snapshots.
    look: Instant,
}

/// Why the server ends.
pub(super) enum Leave {
    /// The editor has said that it leaves, or has left.
    Asked,
    /// The process is asked to end.
    Interrupted,
}

/// Why a request has no answer.
struct Refusal(ErrorCode, String);

impl<'c> Server<'c> {
    /// A server for an editor that has said what it can.
    pub(super) fn new(connection: &'c Connection, shared: &SharedOptions, parameters: &Value) -> Self {
        let (sender, events) = unbounded();
        let can = |path: &str| parameters.pointer(path) == Some(&Value::Bool(true));
        let abilities = Abilities {
            progress: can("/capabilities/window/workDoneProgress"),
            refreshes: can("/capabilities/workspace/codeLens/refreshSupport"),
            versions: can("/capabilities/workspace/workspaceEdit/documentChanges"),
        };
        let (options, objection) = Options::new(parameters.get("initializationOptions"));
        let mut server = Self {
            connection,
            shared: shared.clone(),
            options: Arc::new(options),
            abilities,
            documents: BTreeMap::new(),
            queue: Queue::new(sender),
            events,
            generation: 0,
            asked: 0,
            look: Instant::now() + LOOK,
        };
        server.object(objection);
        server
    }

    /// Serves the editor until it leaves.
    ///
    /// # Errors
    ///
    /// What the editor says is not the protocol.
    pub(super) fn run(&mut self) -> Result<Leave, ProtocolError> {
        loop {
            let due = self.queue.due().map(|due| due.saturating_duration_since(Instant::now()));
            let tick = after(due.map_or(INTERVAL, |due| due.min(INTERVAL)));
            // What was found waits until everything that the editor has said is heard.
            let nothing = never();
            let events = if self.connection.receiver.is_empty() { &self.events } else { &nothing };
            select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) => {
                        if self.connection.handle_shutdown(&request)? {
                            return Ok(Leave::Asked);
                        }
                        self.answer(request);
                    }
                    Ok(Message::Notification(notification)) => self.hear(&notification),
                    // Answers to what was asked of the editor change nothing.
                    Ok(Message::Response(_)) => {}
                    Err(_) => return Ok(Leave::Asked),
                },
                recv(events) -> event => {
                    if let Ok(event) = event {
                        self.found(event);
                    }
                }
                recv(tick) -> _ => {
                    if interrupted() {
                        return Ok(Leave::Interrupted);
                    }
                    let notices = self.queue.notices();
                    self.notify_all(notices);
                    self.look();
                }
            }
        }
    }

    /// Verifies the harnesses anew of which there are other snapshots now.
    fn look(&mut self) {
        if self.look > Instant::now() {
            return;
        }
        self.look = Instant::now() + LOOK;
        #[cfg(feature = "machine")]
        {
            let changed =
                self.documents.values_mut().filter_map(|own| own.has_other_snapshots().then(|| own.uri.clone()));
            let changed: Vec<Uri> = changed.collect();
            changed.iter().for_each(|uri| self.verify(uri));
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // An editor that has left hears nothing.
        let _ = self.connection.sender.send(message.into());
    }

    fn notify(&self, method: &str, parameters: impl serde::Serialize) {
        self.send(Notification::new(method.to_owned(), parameters));
    }

    /// Asks the editor for something of which the answer does not matter.
    fn ask(&mut self, method: &str, parameters: Value) {
        self.asked += 1;
        self.send(Request::new(self.asked.into(), method.to_owned(), parameters));
    }

    /// Says what of the settings was not understood.
    fn object(&mut self, objection: Option<String>) {
        if let Some(words) = objection {
            self.notify("window/showMessage", json!({ "type": 2, "message": format!("palisade: {words}") }));
        }
    }

    fn notify_all(&mut self, notices: Vec<Notice>) {
        let is_shown = self.abilities.progress;
        for notice in notices.into_iter().filter(|_| is_shown) {
            let (token, value) = match notice {
                Notice::Begin { token, uri } => {
                    self.ask("window/workDoneProgress/create", json!({ "token": token }));
                    let name = Path::new(&path_of(&uri)).file_name().map(|name| name.to_string_lossy().into_owned());
                    let title = format!("palisade: verifying {}", name.unwrap_or_default());
                    (token, json!({ "kind": "begin", "title": title, "cancellable": false }))
                }
                Notice::Report { token, explored } => {
                    (token, json!({ "kind": "report", "message": counted(explored, "configuration") }))
                }
                Notice::End { token } => (token, json!({ "kind": "end" })),
            };
            self.notify("$/progress", json!({ "token": token, "value": value }));
        }
    }

    fn hear(&mut self, heard: &Notification) {
        use notification::{DidChangeConfiguration, DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument};
        // What cannot be understood has no answer in the protocol.
        if let Some(opened) = told::<DidOpenTextDocument>(heard) {
            self.open(opened.text_document);
        } else if let Some(changed) = told::<DidChangeTextDocument>(heard) {
            let uri = changed.text_document.uri;
            if let Some(document) = self.documents.get_mut(&uri) {
                document.version = changed.text_document.version;
                document.text = Arc::new(document.text.changed(changed.content_changes));
                self.verify(&uri);
            }
        } else if let Some(closed) = told::<DidCloseTextDocument>(heard) {
            let uri = closed.text_document.uri;
            let notices = self.queue.cancel(&uri);
            self.notify_all(notices);
            if self.documents.remove(&uri).is_some() {
                self.notify("textDocument/publishDiagnostics", PublishDiagnosticsParams::new(uri, Vec::new(), None));
            }
        } else if let Some(changed) = told::<DidChangeConfiguration>(heard) {
            // Some editors say `null`, and mean that something may have changed.
            if let Some(settings) = changed.settings.get("palisade").filter(|settings| settings.is_object()) {
                let (options, objection) = Options::new(Some(settings));
                self.options = Arc::new(options);
                self.object(objection);
                let open: Vec<Uri> = self.documents.keys().cloned().collect();
                open.iter().for_each(|uri| self.verify(uri));
            }
        }
    }

    fn open(&mut self, item: TextDocumentItem) {
        let path = path_of(&item.uri);
        let by_language = match item.language_id.as_str() {
            "palisade" => Some(Format::Native),
            "litmus" => Some(Format::Litmus),
            "rust" if cfg!(feature = "machine") => Some(Format::Machine),
            _ => None,
        };
        let of_path = || Format::of_path(Path::new(&path)).filter(|format| *format != Format::Machine);
        let Some(format) = by_language.or_else(of_path) else { return };
        #[cfg_attr(not(feature = "machine"), expect(unused_mut, reason = "there are no snapshots"))]
        let mut document = Document::new(&item.uri, item.version, Text::new(&path, item.text), format);
        #[cfg(feature = "machine")]
        document.has_other_snapshots();
        self.documents.insert(item.uri.clone(), document);
        self.verify(&item.uri);
    }

    /// Reads and verifies a text anew.
    fn verify(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        self.generation += 1;
        document.begin(self.generation);
        let job = Job {
            uri: uri.clone(),
            generation: self.generation,
            text: document.text.clone(),
            format: document.format,
            heading: document.heading(),
            options: self.options.clone(),
            shared: self.shared.clone(),
            interrupt: Arc::default(),
            explored: Arc::default(),
        };
        let notices = self.queue.add(job);
        self.notify_all(notices);
    }

    /// Takes what was found about a text, unless there is a newer one.
    fn found(&mut self, event: Event) {
        let Event { uri, generation, news } = event;
        if matches!(news, News::Ended) {
            let notices = self.queue.ended(generation);
            self.notify_all(notices);
        }
        let Some(document) = self.documents.get_mut(&uri).filter(|own| own.generation == generation) else { return };
        let stage = document.take(news);
        let verdict = document.verdict().map(str::to_owned);
        let (version, diagnostics) = (document.version, document.diagnostics());
        if stage != "ended" {
            let parameters = PublishDiagnosticsParams::new(uri.clone(), diagnostics, Some(version));
            self.notify("textDocument/publishDiagnostics", parameters);
        }
        if stage == "checked" && self.abilities.refreshes {
            self.ask("workspace/codeLens/refresh", Value::Null);
        }
        if self.options.status {
            let status = json!({ "uri": uri, "version": version, "stage": stage, "verdict": verdict });
            self.notify("palisade/status", status);
        }
    }

    fn answer(&self, asked: Request) {
        use request::Request as _;
        let id = asked.id.clone();
        let answered = match asked.method.as_str() {
            request::HoverRequest::METHOD => self.about::<request::HoverRequest, _>(asked, |own, parameters| {
                hover::hover(own, parameters.text_document_position_params.position)
            }),
            request::GotoDefinition::METHOD => self.about::<request::GotoDefinition, _>(asked, |own, parameters| {
                navigation::definition(own, parameters.text_document_position_params.position)
            }),
            request::References::METHOD => self.about::<request::References, _>(asked, |own, parameters| {
                let is_with_declaration = parameters.context.include_declaration;
                Some(navigation::references(own, parameters.text_document_position.position, is_with_declaration))
            }),
            request::DocumentHighlightRequest::METHOD => self
                .about::<request::DocumentHighlightRequest, _>(asked, |own, parameters| {
                    Some(navigation::highlights(own, parameters.text_document_position_params.position))
                }),
            request::DocumentSymbolRequest::METHOD => {
                self.about::<request::DocumentSymbolRequest, _>(asked, |own, _| Some(navigation::symbols(own)))
            }
            request::Formatting::METHOD => {
                self.about::<request::Formatting, _>(asked, |own, _| actions::formatting(own))
            }
            request::CodeLensRequest::METHOD => {
                self.about::<request::CodeLensRequest, _>(asked, |own, _| Some(own.lenses()))
            }
            request::CodeActionRequest::METHOD => {
                let versions = self.abilities.versions;
                self.about::<request::CodeActionRequest, _>(asked, |own, parameters| {
                    Some(actions::actions(own, parameters.range, &parameters.context, versions))
                })
            }
            method => Err(Refusal(ErrorCode::MethodNotFound, format!("`{method}` is no method that the server knows"))),
        };
        self.send(match answered {
            Ok(value) => Response::new_ok(id, value),
            Err(Refusal(code, message)) => Response::new_err(id, code as i32, message),
        });
    }

    /// Answers a request about a text; with nothing where it is not open.
    fn about<R, T: serde::Serialize>(
        &self,
        asked: Request,
        answer: impl FnOnce(&Document, R::Params) -> Option<T>,
    ) -> Result<Value, Refusal>
    where
        R: request::Request,
        R::Params: DeserializeOwned + serde::Serialize,
    {
        let refuse = |error: serde_json::Error| Refusal(ErrorCode::InvalidParams, error.to_string());
        let uri = asked.params.pointer("/textDocument/uri").cloned().unwrap_or_default();
        let uri: Uri = serde_json::from_value(uri).map_err(refuse)?;
        let parameters: R::Params = serde_json::from_value(asked.params).map_err(refuse)?;
        let answer = self.documents.get(&uri).and_then(|document| answer(document, parameters));
        serde_json::to_value(answer).map_err(|error| Refusal(ErrorCode::InternalError, error.to_string()))
    }
}

/// What a notification says, where it is of a kind and is understood.
fn told<N: notification::Notification>(heard: &Notification) -> Option<N::Params> {
    (heard.method == N::METHOD).then(|| serde_json::from_value(heard.params.clone()).ok()).flatten()
}

/// The path of a document, as messages name it.
fn path_of(uri: &Uri) -> String {
    uri.path().as_estr().decode().into_string_lossy().into_owned()
}
