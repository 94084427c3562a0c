//! Diagnostics: what is wrong in a text, where, what was expected, and what may have been meant.

use ariadne::{Config, IndexType, Label, Report, ReportKind, Source};
use palisade_model::program::{SourceText, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The text means something, perhaps not what was meant.
    Warning,
    /// The text means nothing.
    Error,
}

/// One finding about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// The text to underline.
    pub span: Span,
    /// A few words at the underlined text; empty for none.
    pub label: String,
    /// What could have stood there, most likely first.
    pub expected: Vec<String>,
    /// What to do about it, a suggestion where one is close.
    pub help: Option<String>,
    /// Further remarks.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Error, message.into(), span)
    }

    /// A warning at a place.
    pub fn warning(message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Warning, message.into(), span)
    }

    fn new(severity: Severity, message: String, span: Span) -> Self {
        Self { severity, message, span, label: String::new(), expected: Vec::new(), help: None, notes: Vec::new() }
    }

    /// With a few words at the underlined text.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With what could have stood there.
    #[must_use]
    pub fn with_expected<T: Into<String>>(mut self, expected: impl IntoIterator<Item = T>) -> Self {
        self.expected = expected.into_iter().map(Into::into).collect();
        self
    }

    /// With what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With what to do about it, where there is something to say.
    #[must_use]
    pub fn with_help_if(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// With a further remark.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The diagnostic for people: file, line and column, the text underlined, what was expected and what may help.
    pub fn render(&self, source: &SourceText, colour: bool) -> String {
        let excerpt = Excerpt::around(source, self.span);
        match excerpt {
            Some(excerpt) => self.render_excerpt(source, &excerpt, colour),
            None => self.render_plain(source),
        }
    }

    fn render_excerpt(&self, source: &SourceText, excerpt: &Excerpt, colour: bool) -> String {
        let kind = match self.severity {
            Severity::Error => ReportKind::Error,
            Severity::Warning => ReportKind::Warning,
        };
        let name = display_name(source);
        // The lines before are empty here, so that the line has its number.
        let before = excerpt.line_number - 1;
        let range = (name, before + excerpt.start..before + excerpt.end);
        let label = Label::new(range.clone()).with_message(if self.label.is_empty() { "here" } else { &self.label });
        let config = Config::new().with_color(colour).with_index_type(IndexType::Char).with_tab_width(1);
        let mut report = Report::build(kind, range).with_config(config).with_message(&self.message).with_label(label);
        if let Some(expected) = self.expected_sentence() {
            report = report.with_note(expected);
        }
        if let Some(help) = &self.help {
            report = report.with_help(help);
        }
        report.with_notes(&self.notes);
        let text = Source::from("\n".repeat(before) + &excerpt.line);
        let mut out = Vec::new();
        match report.finish().write((name, text), &mut out) {
            Ok(()) => String::from_utf8_lossy(&out).into_owned(),
            Err(_) => self.render_plain(source),
        }
    }

    /// Without the source line, for places in lines too long or too far down to show.
    fn render_plain(&self, source: &SourceText) -> String {
        let position = source.position(self.span.start);
        let kind = match self.severity {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
        };
        let mut text =
            format!("{kind}: {}\n  at {}:{}:{}\n", self.message, display_name(source), position.line, position.column);
        let remarks = [self.expected_sentence(), self.help.clone()];
        for remark in remarks.iter().flatten().chain(&self.notes) {
            text.push_str("  ");
            text.push_str(remark);
            text.push('\n');
        }
        text
    }

    /// "expected `a`, `b` or a label", where anything is known and the message does not say it.
    fn expected_sentence(&self) -> Option<String> {
        if self.message.starts_with("expected") {
            return None;
        }
        let (last, others) = self.expected.split_last()?;
        Some(if others.is_empty() {
            format!("expected {last}")
        } else {
            format!("expected {} or {last}", others.join(", "))
        })
    }
}

fn display_name(source: &SourceText) -> &str {
    if source.name.is_empty() { "<text>" } else { &source.name }
}

/// The longest line, in characters, that is shown under a message.
const LONGEST_LINE: usize = 400;

/// The last line that is shown under a message.
const LAST_LINE: usize = 100_000;

/// The line a diagnostic is about, made safe for a terminal, with the underlined stretch in characters.
struct Excerpt {
    line: String,
    line_number: usize,
    start: usize,
    end: usize,
}

impl Excerpt {
    /// The first line of a span, unless it is too long to show.
    fn around(source: &SourceText, span: Span) -> Option<Self> {
        let at = floor_boundary(&source.text, span.start);
        let line_start = source.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = source.text[at..].find('\n').map_or(source.text.len(), |newline| at + newline);
        if line_end - line_start > 4 * LONGEST_LINE {
            return None;
        }
        let text = source.text[line_start..line_end].trim_end_matches('\r');
        // A space at the end, so that there is something to underline there.
        let line: String = text.chars().map(printable).chain(std::iter::once(' ')).collect();
        let length = line.chars().count();
        let line_number = source.position(at).line;
        if length > LONGEST_LINE || line_number > LAST_LINE {
            return None;
        }
        let start = source.text[line_start..at].chars().count().min(length - 1);
        let end_byte = floor_boundary(&source.text, span.end).clamp(at, line_end);
        let end = (start + source.text[at..end_byte].chars().count()).clamp(start + 1, length);
        Some(Self { line, line_number, start, end })
    }
}

/// The character boundary at or before a byte.
fn floor_boundary(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Characters that would end the line or steer the terminal are shown as replacement characters.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        '\u{2028}' | '\u{2029}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_place_and_expectation() {
        let source = SourceText::new("m.pal", "program A\nthraed t1\n");
        let diagnostic = Diagnostic::error("unknown keyword `thraed`", Span { start: 10, end: 16 })
            .with_expected(["`thread`", "`domain`"])
            .with_help("did you mean `thread`?");
        let text = diagnostic.render(&source, false);
        assert!(text.contains("m.pal:2:1"), "{text}");
        assert!(text.contains("2 │ thraed t1"), "{text}");
        assert!(text.contains("──"), "{text}");
        assert!(text.contains("expected `thread` or `domain`"), "{text}");
    }

    #[test]
    fn any_place_renders() {
        for text in ["", "\n", "α\u{2028}β\r\n\tγ\u{1b}[31m", &"x".repeat(5000)] {
            let source = SourceText::new("t", text);
            for start in 0..=text.len() + 1 {
                if start > 40 && start + 3 < text.len() {
                    continue;
                }
                for end in [start, start + 1, text.len() + 9] {
                    let shown = Diagnostic::warning("w", Span { start, end }).render(&source, false);
                    assert!(shown.contains("t:"), "{shown}");
                    assert!(!shown.contains('\u{1b}'), "{shown}");
                }
            }
        }
    }
}
