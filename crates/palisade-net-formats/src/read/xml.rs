//! What the XML readers share: parsing with positions, text content, spans of tags.

use palisade_model::net::Count;
use palisade_model::text::{Diagnostic, Span};
use roxmltree::{Document, Node, ParsingOptions};

/// Parses a document; document types are tolerated, their entities are not needed.
pub(super) fn parse(text: &str) -> Result<Document<'_>, Diagnostic> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let position = error.pos();
        let line = usize::try_from(position.row).unwrap_or(1);
        let column = usize::try_from(position.col).unwrap_or(1);
        let start = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum::<usize>();
        let rest = text.get(start..).unwrap_or("");
        let offset = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(offset, _)| offset);
        Diagnostic::error(format!("no well-formed XML: {error}"), Span { start: start + offset, end: start + offset })
    })
}

/// A number of tokens, written with digits alone.
pub(super) fn count(text: &str) -> Option<Count> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The text inside a node, without blanks around it.
pub(super) fn text_of(node: Node<'_, '_>) -> String {
    node.descendants()
        .filter_map(|part| if part.is_text() { part.text() } else { None })
        .collect::<String>()
        .trim()
        .to_owned()
}

/// The span of an element's start tag (its first line), or of a text.
pub(super) fn span(node: Node<'_, '_>) -> Span {
    let range = node.range();
    let text = &node.document().input_text()[range.clone()];
    let length = if node.is_element() { text.find('>').map_or(text.len(), |at| at + 1) } else { text.len() };
    Span { start: range.start, end: range.start + length }
}
