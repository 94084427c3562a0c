//! A text as an editor sees it: lines that end as the protocol says, columns in units of UTF-16.

use crate::program::{SourceText, Span};
use crate::report::findings::Region;
use lsp_types::{Position, Range, TextDocumentContentChangeEvent, TextEdit};
use similar::{DiffOp, TextDiff};
use std::sync::Arc;

/// A text with its lines.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// The text, under its path.
    pub(super) source: Arc<SourceText>,
    /// Where lines begin; they end with `\n`, `\r\n` or `\r`.
    starts: Vec<usize>,
}

impl Text {
    /// A text under a name.
    pub(super) fn new(name: &str, text: impl Into<String>) -> Self {
        let source = SourceText::new(name, text);
        let bytes = source.text.as_bytes();
        let ends = |(at, byte): (usize, &u8)| match byte {
            b'\n' => Some(at + 1),
            b'\r' if bytes.get(at + 1) != Some(&b'\n') => Some(at + 1),
            _ => None,
        };
        let starts = std::iter::once(0).chain(bytes.iter().enumerate().filter_map(ends)).collect();
        Self { source, starts }
    }

    /// The text itself.
    pub(super) fn as_str(&self) -> &str {
        &self.source.text
    }

    /// The same text with changes made one after the other.
    pub(super) fn changed(&self, changes: Vec<TextDocumentContentChangeEvent>) -> Self {
        let mut changed = self.clone();
        for change in changes {
            let text = match change.range {
                None => change.text,
                Some(range) => {
                    let (start, end) = (changed.byte(range.start), changed.byte(range.end));
                    let (before, after) = (&changed.as_str()[..start], &changed.as_str()[end.max(start)..]);
                    [before, &change.text, after].concat()
                }
            };
            changed = Self::new(&self.source.name, text);
        }
        changed
    }

    /// The byte at a position; one beyond the end of its line is the end of the line, one beyond
    /// the text its end.
    pub(super) fn byte(&self, position: Position) -> usize {
        let Some(start) = usize::try_from(position.line).ok().and_then(|line| self.starts.get(line)) else {
            return self.as_str().len();
        };
        let mut left = position.character;
        let mut at = *start;
        for character in self.line_at(*start).chars() {
            let units = if character.len_utf16() == 1 { 1 } else { 2 };
            if left < units {
                break;
            }
            left -= units;
            at += character.len_utf8();
        }
        at
    }

    /// The line that begins at a byte, without its end.
    fn line_at(&self, start: usize) -> &str {
        let rest = &self.as_str()[start..];
        &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())]
    }

    /// The position of a byte; what is inside of a character counts as its beginning.
    pub(super) fn position(&self, byte: usize) -> Position {
        let mut byte = byte.min(self.as_str().len());
        while !self.as_str().is_char_boundary(byte) {
            byte -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= byte) - 1;
        let start = self.starts[line];
        let end = start + self.line_at(start).len();
        let units = self.as_str()[start..byte.min(end)].encode_utf16().count();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position { line: number(line), character: number(units) }
    }

    /// A stretch by its bytes.
    pub(super) fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start), end: self.position(span.end.max(span.start)) }
    }

    /// A stretch by lines and columns. Of a place alone it is what stands on the line from there
    /// on.
    pub(super) fn region(&self, region: &Region) -> Range {
        let byte = |place: crate::program::Position| {
            let line = self.as_str().split_inclusive('\n').take(place.line.saturating_sub(1));
            let start: usize = line.map(str::len).sum();
            let columns = self.as_str()[start..].chars().take(place.column.saturating_sub(1));
            start + columns.map(char::len_utf8).sum::<usize>()
        };
        let start = byte(region.start);
        if region.start != region.end {
            return self.range(Span { start, end: byte(region.end) });
        }
        let line = self.line_at(start);
        let start = start + line.len() - line.trim_start().len();
        self.range(Span { start, end: start + line.trim().len() })
    }

    /// The changes that make another text of this one, line by line.
    pub(super) fn edits_to(&self, new: &str) -> Vec<TextEdit> {
        let new = self.with_own_line_ends(new);
        let diff = TextDiff::from_lines(self.as_str(), new.as_str());
        let (old_lines, new_lines) = (lengths(diff.old_slices()), lengths(diff.new_slices()));
        let edit = |op: &DiffOp| {
            let (old, new_range) = (op.old_range(), op.new_range());
            let range = self.range(Span { start: old_lines[old.start], end: old_lines[old.end] });
            TextEdit { range, new_text: new[new_lines[new_range.start]..new_lines[new_range.end]].to_owned() }
        };
        diff.ops().iter().filter(|op| !matches!(op, DiffOp::Equal { .. })).map(edit).collect()
    }

    /// Another text with the line ends that this one has.
    fn with_own_line_ends(&self, other: &str) -> String {
        let plain = other.replace("\r\n", "\n");
        if self.as_str().contains("\r\n") { plain.replace('\n', "\r\n") } else { plain }
    }
}

/// Where lines begin, and the end of the last one.
fn lengths(lines: &[&str]) -> Vec<usize> {
    let ends = lines.iter().scan(0, |at, line| {
        *at += line.len();
        Some(*at)
    });
    std::iter::once(0).chain(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_count_units_of_utf16() {
        let text = Text::new("t", "aä𝄞b\r\nc\rd\n");
        // 𝄞 has four bytes and two units.
        for (position, byte) in
            [(at(0, 0), 0), (at(0, 2), 3), (at(0, 4), 7), (at(0, 5), 8), (at(1, 0), 10), (at(2, 1), 13)]
        {
            assert_eq!((text.byte(position), text.position(byte)), (byte, position), "{position:?}");
        }
        assert_eq!(text.byte(at(0, 3)), 3, "the middle of a character is its beginning");
        assert_eq!((text.byte(at(0, 99)), text.byte(at(9, 0)), text.byte(at(3, 0))), (8, 14, 14));
        assert_eq!((text.position(9), text.position(99)), (at(0, 5), at(3, 0)));
    }

    #[test]
    fn changes_are_made_one_after_the_other() {
        let change =
            |range, text: &str| TextDocumentContentChangeEvent { range, range_length: None, text: text.into() };
        let range = |start, end| Some(Range { start, end });
        let text = Text::new("t", "one\ntwo\n").changed(vec![
            change(range(at(0, 0), at(0, 1)), "O"),
            change(range(at(1, 3), at(1, 3)), "!\nthree"),
            change(range(at(2, 5), at(1, 0)), "?"),
        ]);
        assert_eq!(text.as_str(), "One\ntwo!\nthree?\n");
        assert_eq!(text.changed(vec![change(None, "all")]).as_str(), "all");
        assert_eq!(text.changed(Vec::new()).as_str(), text.as_str());
    }

    #[test]
    fn edits_make_the_other_text() {
        for (old, new) in
            [("a\nb\nc\n", "a\nx\nc\nd\n"), ("a\r\nb\r\n", "a\nx\nb\n"), ("a", "b"), ("", "a\n"), ("a\n", "")]
        {
            let text = Text::new("t", old);
            let changes = text.edits_to(new).into_iter().rev();
            let change = |edit: TextEdit| TextDocumentContentChangeEvent {
                range: Some(edit.range),
                range_length: None,
                text: edit.new_text,
            };
            let made = text.changed(changes.map(change).collect());
            assert_eq!(made.as_str(), text.with_own_line_ends(new), "{old:?}");
        }
    }

    #[test]
    fn a_place_alone_is_its_line() {
        let text = Text::new("t", "a\n  ä b  \r\n");
        let place = |line, column| crate::program::Position { line, column };
        let region = |start, end| Region { file: None, start, end };
        assert_eq!(text.region(&region(place(2, 1), place(2, 1))), Range { start: at(1, 2), end: at(1, 5) });
        assert_eq!(text.region(&region(place(2, 3), place(2, 4))), Range { start: at(1, 2), end: at(1, 3) });
        assert_eq!(text.region(&region(place(9, 9), place(9, 9))), Range { start: at(2, 0), end: at(2, 0) });
    }
}
