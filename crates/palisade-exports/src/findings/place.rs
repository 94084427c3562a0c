//! Places of findings in texts, and changes of texts that remove them.

use palisade_model::program::{InstructionId, Program, ThreadId};
use palisade_model::text::{Position, SourceText, Span};
use palisade_report::source_place::SourcePlace;
use palisade_syntax::Format;

/// A stretch of a text by lines and columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The text, where it is another one than that of the input: a source that machine code was
    /// made of.
    pub file: Option<String>,
    /// Where it starts.
    pub start: Position,
    /// One past its last character.
    pub end: Position,
}

impl Region {
    /// A stretch of a text by its bytes; of a listing the place that it comes from, or where nobody
    /// knows that, the beginning of the file that says what is listed.
    pub fn of(source: &SourceText, span: Span) -> Self {
        match SourcePlace::of(source, span) {
            Some(place) => Self::in_sources(&place, source),
            None if source.is_listing => Self::point(Position { line: 1, column: 1 }),
            None => {
                Self { file: None, start: source.position(span.start), end: source.position(span.end.max(span.start)) }
            }
        }
    }

    /// A place in the sources of a listing.
    pub fn in_sources(place: &SourcePlace<'_>, listing: &SourceText) -> Self {
        let position = Position { line: place.line, column: place.column.max(1) };
        Self { file: Some(place.path(listing)), ..Self::point(position) }
    }

    /// A place without a stretch.
    pub fn point(position: Position) -> Self {
        Self { file: None, start: position, end: position }
    }

    /// An instruction of a program.
    pub fn instruction(program: &Program, thread: ThreadId, instruction: InstructionId) -> Self {
        Self::of(&program.source, program.thread(thread).instruction(instruction).span)
    }
}

/// A change of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, in a few words.
    pub message: String,
    /// The stretch that goes.
    pub deleted: Region,
    /// What comes in its place.
    pub inserted: String,
}

impl Fix {
    /// The lines in which two texts differ, as one change; nothing where they are the same.
    pub fn between(old: &SourceText, new: &str, message: impl Into<String>) -> Option<Self> {
        if old.text == new {
            return None;
        }
        let (before, after) = (lines(&old.text), lines(new));
        let same = |(one, other): &(&&str, &&str)| one == other;
        let head = before.iter().zip(&after).take_while(same).count();
        let most = before.len().min(after.len()) - head;
        let tail = before.iter().rev().zip(after.iter().rev()).take(most).take_while(same).count();
        let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
        let start = bytes(&before[..head]);
        let span = Span { start, end: start + bytes(&before[head..before.len() - tail]) };
        let inserted = after[head..after.len() - tail].concat();
        Some(Self { message: message.into(), deleted: Region::of(old, span), inserted })
    }

    /// The text with the change made.
    pub fn apply(&self, text: &str) -> String {
        let place = |position: Position| {
            let start: usize = lines(text).iter().take(position.line - 1).map(|line| line.len()).sum();
            let columns = text[start..].chars().take(position.column - 1).map(char::len_utf8).sum::<usize>();
            start + columns
        };
        format!("{}{}{}", &text[..place(self.deleted.start)], self.inserted, &text[place(self.deleted.end)..])
    }
}

/// The lines of a text, each with its end.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The text of a program without the fence that is written at an instruction; nothing where the
/// fence has no word of its own. A statement that stands alone on its line goes with its line;
/// elsewhere what does nothing takes its place.
pub(super) fn without_fence(program: &Program, format: Format, span: Span) -> Option<String> {
    const WORD: &str = "mfence";
    let text = &program.source.text;
    let written = text.get(span.start..span.end)?.to_ascii_lowercase();
    let mut found = written.match_indices(WORD);
    let (at, _) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let (start, end) = (span.start + at, span.start + at + WORD.len());
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
    if format == Format::Native && text[line_start..line_end].trim() == "mfence;" {
        return Some(format!("{}{}", &text[..line_start], &text[line_end..]));
    }
    let nothing = match format {
        Format::Native => "nop",
        Format::Trencher => "noop",
        Format::Litmus => "      ",
        Format::Memorax | Format::Tpl | Format::Machine => return None,
    };
    Some(format!("{}{nothing}{}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_made_where_it_says() {
        for (old, new) in [
            ("a\nb\nc\n", "a\nx\ny\nc\n"),
            ("a\nb\nc\n", "a\nc\n"),
            ("a\nb", "a\nb\nc"),
            ("a\na\n", "a\na\na\n"),
            ("ä ö\nü", "ä ö\nü ß"),
            ("", "a\n"),
        ] {
            let source = SourceText::new("f", old);
            let fix = Fix::between(&source, new, "change").expect("they differ");
            assert_eq!(fix.apply(old), new, "{fix:?}");
        }
        assert_eq!(Fix::between(&SourceText::new("f", "a\n"), "a\n", "nothing"), None);
    }
}
