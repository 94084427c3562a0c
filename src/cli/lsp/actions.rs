//! Changes of the text that an editor offers: fences and orderings, and the text laid out afresh.

use super::document::Document;
use super::job::Fix;
use super::text::Text;
use crate::syntax::{Format, laid_out};
use lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionOrCommand, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, Range, TextDocumentEdit, TextEdit, WorkspaceEdit,
};
use serde_json::json;

/// The changes that are offered on some lines.
pub(super) fn actions(
    document: &Document,
    range: Range,
    context: &CodeActionContext,
    versions: bool,
) -> Vec<CodeActionOrCommand> {
    let kind = |fix: &Fix| if fix.repairs { CodeActionKind::QUICKFIX } else { CodeActionKind::REFACTOR_REWRITE };
    let is_wanted = |fix: &&Fix| {
        let own = kind(fix);
        let is_asked = |kind: &CodeActionKind| own.as_str().starts_with(kind.as_str());
        let touches = |own: &Range| own.start.line <= range.end.line && range.start.line <= own.end.line;
        context.only.as_ref().is_none_or(|kinds| kinds.iter().any(is_asked)) && fix.ranges.iter().any(touches)
    };
    // What is all that has to be done comes first.
    let mut fixes: Vec<&Fix> = document.fixes.iter().filter(is_wanted).collect();
    fixes.sort_by_key(|fix| !fix.is_whole);
    let action = |fix: &Fix| {
        CodeActionOrCommand::CodeAction(CodeAction {
            title: fix.title.clone(),
            kind: Some(kind(fix)),
            edit: Some(workspace_edit(document, fix.edits.clone(), versions)),
            is_preferred: (fix.is_whole && fix.repairs).then_some(true),
            ..CodeAction::default()
        })
    };
    fixes.into_iter().map(action).collect()
}

fn workspace_edit(document: &Document, edits: Vec<TextEdit>, versions: bool) -> WorkspaceEdit {
    if !versions {
        // By its JSON: as keys of a map, addresses of documents are not plain data in Rust.
        let changes = json!({ "changes": { document.uri.as_str(): edits } });
        return serde_json::from_value(changes).expect("an edit of the protocol");
    }
    let (uri, version) = (document.uri.clone(), Some(document.version));
    let edit = TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
        edits: edits.into_iter().map(OneOf::Left).collect(),
    };
    WorkspaceEdit { document_changes: Some(DocumentChanges::Edits(vec![edit])), ..WorkspaceEdit::default() }
}

/// The changes that lay the text out afresh; nothing where there are errors in it, or where it is
/// in another language.
pub(super) fn formatting(document: &Document) -> Option<Vec<TextEdit>> {
    if document.format != Format::Native {
        return None;
    }
    let plain = Text::new(&document.text.source.name, document.text.as_str().replace("\r\n", "\n"));
    let text = laid_out(&plain.source).ok()?;
    Some(document.text.edits_to(&text))
}
