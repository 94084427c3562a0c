//! The words of a Trencher text, comments left out.

use palisade_model::text::Span;

/// A word with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'s> {
    /// The word.
    pub(crate) text: &'s str,
    /// Where it stands.
    pub(crate) span: Span,
    /// Whether no word stands before it on its line.
    pub(crate) first_on_line: bool,
}

/// The words of a text, in order.
#[derive(Clone, Debug)]
pub(crate) struct Words<'s> {
    text: &'s str,
    at: usize,
    first_on_line: bool,
}

impl<'s> Words<'s> {
    /// The words of a text.
    pub(crate) fn new(text: &'s str) -> Self {
        Self { text, at: 0, first_on_line: true }
    }
}

impl<'s> Iterator for Words<'s> {
    type Item = Word<'s>;

    fn next(&mut self) -> Option<Word<'s>> {
        loop {
            let rest = &self.text[self.at..];
            let space = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
            self.first_on_line |= rest[..space].contains('\n');
            self.at += space;
            let rest = &self.text[self.at..];
            if rest.is_empty() {
                return None;
            }
            if rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let span = Span { start: self.at, end: self.at + length };
            self.at += length;
            return Some(Word { text: &rest[..length], span, first_on_line: std::mem::take(&mut self.first_on_line) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_words() {
        let words: Vec<_> = Words::new("# a\n  b c # d\ne#f").map(|word| (word.text, word.first_on_line)).collect();
        assert_eq!(words, [("b", true), ("c", false), ("e#f", true)]);
    }
}
