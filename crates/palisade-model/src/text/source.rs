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

/// Where a line of a listing comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The place as the listing names it at the end of the line. Lines with the same name come from
    /// the same place.
    pub place: String,
    /// The file, by its path, with line and column, where that is known.
    pub position: Option<(String, Position)>,
    /// Under which path the file is at hand, if it is.
    pub at_hand: Option<String>,
    /// What stands on that line, where the file is at hand.
    pub text: Option<String>,
    /// Why the code of this line is not understood, if it is not: a program that comes there is
    /// refused.
    pub obstacle: Option<Obstacle>,
}

/// Why code was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The file with the code, or its address where that is all that is known.
    pub name: String,
    /// Where it is in the file.
    pub position: Option<Position>,
    /// What is not understood, in a sentence without a full stop, with the calls that lead there
    /// line by line.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// A text with its name.
#[derive(Clone, Debug, Default)]
pub struct SourceText {
    /// The path, `<stdin>`, or empty for programs built in memory.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Whether the text was made of something else, so that its lines are no places that people
    /// know.
    pub is_listing: bool,
    /// Whether it is a litmus test, whose readers know events and relations by the names of herd.
    pub is_litmus: bool,
    line_starts: Vec<usize>,
    /// For listings, where each line comes from; its number counts from 0.
    origins: Vec<Option<Arc<Origin>>>,
}

impl SourceText {
    /// A text under a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(index, _)| index + 1)).collect();
        Arc::new(Self {
            name: name.into(),
            text,
            is_listing: false,
            is_litmus: false,
            line_starts,
            origins: Vec::new(),
        })
    }

    /// A text that was made of something else, with the places that its lines come from.
    pub fn listing(
        name: impl Into<String>,
        text: impl Into<String>,
        origins: impl IntoIterator<Item = (usize, Arc<Origin>)>,
    ) -> Arc<Self> {
        let mut listing = Arc::unwrap_or_clone(Self::new(name, text));
        listing.is_listing = true;
        listing.origins = vec![None; listing.line_starts.len()];
        for (byte, origin) in origins {
            let line = listing.position(byte).line;
            listing.origins[line - 1] = Some(origin);
        }
        Arc::new(listing)
    }

    /// Where the text under a span comes from, in a listing.
    pub fn origin(&self, span: Span) -> Option<&Arc<Origin>> {
        if self.origins.is_empty() {
            return None;
        }
        self.origins.get(self.position(span.start).line - 1)?.as_ref()
    }

    /// The text as that of a litmus test.
    #[must_use]
    pub fn as_litmus(self: Arc<Self>) -> Arc<Self> {
        Arc::new(Self { is_litmus: true, ..Arc::unwrap_or_clone(self) })
    }

    /// The line and column of a byte.
    pub fn position(&self, byte: usize) -> Position {
        let line = self.line_starts.partition_point(|start| *start <= byte).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..byte.min(self.text.len())).map_or(1, |text| text.chars().count() + 1);
        Position { line, column }
    }

    /// A line, from 1, without its end; empty when there is none.
    pub fn line(&self, number: usize) -> &str {
        let start = |number: usize| self.line_starts.get(number).copied();
        let Some(begin) = number.checked_sub(1).and_then(start) else { return "" };
        let line = &self.text[begin..start(number).unwrap_or(self.text.len())];
        line.trim_end_matches(['\n', '\r'])
    }

    /// The text under a span, empty when it is not inside.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or("")
    }
}
