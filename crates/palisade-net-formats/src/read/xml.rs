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

/// Whether PNML nets of this type are no place/transition nets.
pub(super) fn is_unsupported(kind: &str) -> bool {
    let unsupported = ["symmetricnet", "highlevelnet", "hlpng", "hlnet", "timed", "colored", "coloured"];
    unsupported.iter().any(|unsupported| kind.contains(unsupported))
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

/// The elements of the contest's formulas.
const KNOWN: [&str; 25] = [
    "all-paths",
    "before",
    "conjunction",
    "deadlock",
    "disjunction",
    "equivalence",
    "exclusive-disjunction",
    "exists-path",
    "false",
    "finally",
    "globally",
    "implication",
    "integer-constant",
    "integer-eq",
    "integer-ge",
    "integer-gt",
    "integer-le",
    "integer-lt",
    "integer-ne",
    "is-fireable",
    "negation",
    "next",
    "tokens-count",
    "true",
    "until",
];

/// The complaint about an element that says something else.
pub(super) fn not_coverability(node: Node<'_, '_>, expected: &[&str]) -> Diagnostic {
    let name = node.tag_name().name();
    if name == "place-bound" {
        let message = "`<place-bound>` asks for an upper bound, which `--all` answers";
        return Diagnostic::error(message, span(node));
    }
    let message = match KNOWN.contains(&name) {
        true => format!("`<{name}>` is not supported here: the formula asks more than coverability"),
        false => format!("`<{name}>` is not known here"),
    };
    Diagnostic::error(message, span(node)).with_expected(expected.iter().copied())
}

/// The number in an `<integer-constant>`.
pub(super) fn constant(node: Node<'_, '_>) -> Result<Count, Diagnostic> {
    let text = text_of(node);
    count(&text).ok_or_else(|| {
        Diagnostic::error(format!("`{text}` is not a number of tokens"), span(node)).with_expected(["a natural number"])
    })
}

/// The id in an element that has to be a `<place>` or `<transition>`.
pub(super) fn named(node: Node<'_, '_>, kind: &str) -> Result<String, Diagnostic> {
    if is(node, kind) {
        return Ok(text_of(node));
    }
    let message = format!("unexpected `<{}>`", node.tag_name().name());
    Err(Diagnostic::error(message, span(node)).with_expected([format!("`<{kind}>`")]))
}

/// The elements in a node that has to hold some, and no text besides.
pub(super) fn several<'a>(node: Node<'a, 'a>) -> Result<Vec<Node<'a, 'a>>, Diagnostic> {
    if let Some(text) = node.children().find(|child| child.is_text() && !text_of(*child).is_empty()) {
        return Err(Diagnostic::error(
            format!("text between the elements of `<{}>`", node.tag_name().name()),
            span(text),
        ));
    }
    let parts: Vec<Node<'_, '_>> = elements(node).collect();
    if parts.is_empty() {
        let message = format!("`<{}>` holds nothing", node.tag_name().name());
        return Err(Diagnostic::error(message, span(node)).with_expected(["at least one element"]));
    }
    Ok(parts)
}

pub(super) fn only_child<'a>(node: Node<'a, 'a>) -> Result<Node<'a, 'a>, Diagnostic> {
    match several(node)?.as_slice() {
        [child] => Ok(*child),
        _ => Err(Diagnostic::error(format!("`<{}>` has to hold one element", node.tag_name().name()), span(node))),
    }
}

/// Whether a node is an element of this name.
pub(super) fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

/// The elements in a node.
pub(super) fn elements<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(Node::is_element)
}
