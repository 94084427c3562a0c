//! Diagnostics for people: each with its line of the text, underlined.

use ariadne::{Config, IndexType, Label, Report, ReportKind, Source};
use palisade_model::text::{Diagnostic, Severity, SourceText, Span};

/// A diagnostic for people: file, line and column, the text underlined, what was expected and what
/// may help.
pub fn render(diagnostic: &Diagnostic, source: &SourceText, colour: bool) -> String {
    // Nobody has written the lines of a listing.
    match Excerpt::around(source, diagnostic.span).filter(|_| !source.is_listing) {
        Some(excerpt) => render_excerpt(diagnostic, source, &excerpt, colour),
        None => render_plain(diagnostic, source),
    }
}

fn render_excerpt(diagnostic: &Diagnostic, source: &SourceText, excerpt: &Excerpt, colour: bool) -> String {
    let kind = match diagnostic.severity {
        Severity::Error => ReportKind::Error,
        Severity::Warning => ReportKind::Warning,
    };
    let name = display_name(source);
    // The lines before are empty here, so that the line has its number.
    let before = excerpt.line_number - 1;
    let range = (name, before + excerpt.start..before + excerpt.end);
    let label =
        Label::new(range.clone()).with_message(if diagnostic.label.is_empty() { "here" } else { &diagnostic.label });
    let config = Config::new().with_color(colour).with_index_type(IndexType::Char).with_tab_width(1);
    let mut report = Report::build(kind, range).with_config(config).with_message(&diagnostic.message).with_label(label);
    if let Some(expected) = expected_sentence(diagnostic) {
        report = report.with_note(expected);
    }
    if let Some(help) = &diagnostic.help {
        report = report.with_help(help);
    }
    report.with_notes(&diagnostic.notes);
    let text = Source::from("\n".repeat(before) + &excerpt.line);
    let mut out = Vec::new();
    match report.finish().write((name, text), &mut out) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        Err(_) => render_plain(diagnostic, source),
    }
}

/// Without the source line, for places in lines too long or too far down to show.
fn render_plain(diagnostic: &Diagnostic, source: &SourceText) -> String {
    let position = source.position(diagnostic.span.start);
    let kind = match diagnostic.severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
    };
    let line = if source.is_listing { String::new() } else { format!(":{}:{}", position.line, position.column) };
    let mut text = format!("{kind}: {}\n  at {}{line}\n", diagnostic.message, display_name(source));
    let remarks = [expected_sentence(diagnostic), diagnostic.help.clone()];
    for remark in remarks.iter().flatten().chain(&diagnostic.notes) {
        text.push_str("  ");
        text.push_str(remark);
        text.push('\n');
    }
    text
}

/// "expected `a`, `b` or a label", where anything is known and the message does not say it.
pub fn expected_sentence(diagnostic: &Diagnostic) -> Option<String> {
    if diagnostic.message.starts_with("expected") {
        return None;
    }
    let (last, others) = diagnostic.expected.split_last()?;
    Some(if others.is_empty() {
        format!("expected {last}")
    } else {
        format!("expected {} or {last}", others.join(", "))
    })
}

fn display_name(source: &SourceText) -> &str {
    if source.name.is_empty() { "<text>" } else { &source.name }
}

/// The longest line, in characters, that is shown under a message.
const LONGEST_LINE: usize = 400;

/// The last line that is shown under a message.
const LAST_LINE: usize = 100_000;

/// The line a diagnostic is about, made safe for a terminal, with the underlined stretch in
/// characters.
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
        let text = render(&diagnostic, &source, false);
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
                    let shown = render(&Diagnostic::warning("w", Span { start, end }), &source, false);
                    assert!(shown.contains("t:"), "{shown}");
                    assert!(!shown.contains('\u{1b}'), "{shown}");
                }
            }
        }
    }
}
