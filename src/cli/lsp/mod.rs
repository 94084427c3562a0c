//! `palisade lsp`: a server for editors, which speaks the Language Server Protocol over standard
//! input and output.
//!
//! The loop of [`server`] owns all texts and answers requests from what it has; [`job`] reads and
//! verifies a text on a thread of its own, with what `palisade check` and `palisade fences` ask.
//! What an editor shows is a rendering of the same findings that SARIF has, and knows no kinds of
//! questions.

mod actions;
mod diagnostics;
mod document;
#[cfg(feature = "machine")]
mod harnesses;
mod hover;
mod job;
mod navigation;
mod options;
mod queue;
mod server;
mod text;
mod words;

use super::output::remark_line;
use super::{Exit, SharedOptions};
use clap::Args;
use lsp_server::{Connection, ProtocolError};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions, HoverProviderCapability, OneOf,
    PositionEncodingKind, ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind,
};
use serde_json::json;
use server::{Leave, Server};
use std::io::IsTerminal;

/// Options of `palisade lsp`.
#[derive(Clone, Debug, Args)]
pub(super) struct LspArguments {
    /// Speak over standard input and output, as is done anyway: many editors say so.
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Serves an editor until it leaves.
pub(super) fn run(_: &LspArguments, shared: &SharedOptions) -> Exit {
    if std::io::stdin().is_terminal() {
        remark_line("Note: this serves editors, which start it themselves; docs/src/editor.md says how.");
    }
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection, shared);
    drop(connection);
    let left = match served {
        // The editor may leave its end open, for which the thread that reads would wait.
        Ok(Leave::Interrupted) => return Exit::Holds,
        Ok(Leave::Asked) => threads.join().map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match left {
        Ok(()) => Exit::Holds,
        Err(error) => {
            remark_line(format_args!("Error: {error}"));
            Exit::BadInput
        }
    }
}

fn serve(connection: &Connection, shared: &SharedOptions) -> Result<Leave, ProtocolError> {
    let (id, parameters) = connection.initialize_start()?;
    let information = json!({ "name": "palisade", "version": env!("CARGO_PKG_VERSION") });
    connection.initialize_finish(id, json!({ "capabilities": capabilities(), "serverInfo": information }))?;
    Server::new(connection, shared, &parameters).run()
}

/// What the server can do.
fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(PositionEncodingKind::UTF16),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR_REWRITE]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    }
}
