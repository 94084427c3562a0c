//! Source texts and positions in them.

use std::sync::Arc;

/// A stretch of a source text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From the start of `self` to the end of `other`.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }
}

/// A place in a text for people: lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A text with its name.
#[derive(Clone, Debug, Default)]
pub struct SourceText {
    /// The path, `<stdin>`, or empty for programs built in memory.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Whether the text was made of something else, so that its lines are no places that people know.
    pub is_listing: bool,
    line_starts: Vec<usize>,
}

impl SourceText {
    /// A text under a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(index, _)| index + 1)).collect();
        Arc::new(Self { name: name.into(), text, is_listing: false, line_starts })
    }

    /// A text that was made of something else.
    pub fn listing(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        let text = Arc::unwrap_or_clone(Self::new(name, text));
        Arc::new(Self { is_listing: true, ..text })
    }

    /// The line and column of a byte.
    pub fn position(&self, byte: usize) -> Position {
        let line = self.line_starts.partition_point(|start| *start <= byte).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..byte.min(self.text.len())).map_or(1, |text| text.chars().count() + 1);
        Position { line, column }
    }

    /// The text under a span, empty when it is not inside.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or("")
    }
}
