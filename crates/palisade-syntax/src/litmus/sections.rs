//! The sections of a litmus test: first line, information lines, initial state, program, condition.

use super::Architecture;
use super::cursor::Cursor;
use super::lexer::Token;
use crate::Diagnostic;
use palisade_model::text::Span;

/// Where the sections are, and what the first lines say.
#[derive(Debug)]
pub(super) struct Sections {
    /// The architecture named first.
    pub(super) architecture: Architecture,
    /// Everything before the initial state.
    pub(super) header: Header,
    /// Between the braces of the initial state.
    pub(super) initial: Span,
    /// The table of instructions.
    pub(super) program: Span,
    /// What follows the table, up to `<<`.
    pub(super) condition: Span,
}

/// Everything before the initial state.
#[derive(Debug)]
pub(super) struct Header {
    /// The test's name.
    pub(super) name: String,
    /// The quoted description, if any.
    pub(super) description: String,
    /// The lines `key=value` before the initial state.
    pub(super) information: Vec<(String, String)>,
    /// Doubts.
    pub(super) warnings: Vec<Diagnostic>,
}

/// Words that end the table.
const AFTER_PROGRAM: [&str; 6] = ["locations", "filter", "exists", "forall", "final", "observed"];

/// Finds the sections in a text without comments.
pub(super) fn sections(text: &str) -> Result<Sections, Diagnostic> {
    let open = initial_brace(text)?;
    let architecture = architecture(text, open)?;
    let header = header(text, open)?;
    let close = matching_brace(text, open)?;
    let mut start = close + 1;
    if text[start..].trim_start().starts_with(';') {
        start += text[start..].find(';').expect("just seen") + 1;
    }
    let end = text[start..].find("<<").map_or(text.len(), |offset| start + offset);
    let rest = Cursor::new(text, Span { start, end });
    let split = condition_start(rest?).unwrap_or(end);
    Ok(Sections {
        initial: Span { start: open + 1, end: close },
        program: Span { start, end: split },
        condition: Span { start: split, end },
        architecture,
        header,
    })
}

/// Where the initial state begins: at the first brace outside of strings.
pub(super) fn initial_brace(text: &str) -> Result<usize, Diagnostic> {
    let mut in_string = false;
    let found = text.bytes().position(|byte| {
        in_string ^= byte == b'"';
        byte == b'{' && !in_string
    });
    found.ok_or_else(|| {
        let span = Span { start: text.len(), end: text.len() };
        Diagnostic::error("the test has no initial state", span).with_expected(["`{`"])
    })
}

/// Where the initial state ends that begins at a brace.
pub(super) fn matching_brace(text: &str, open: usize) -> Result<usize, Diagnostic> {
    let mut depth = 0usize;
    for (offset, byte) in text[open..].bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(open + offset);
        }
    }
    let span = Span { start: open, end: open + 1 };
    Err(Diagnostic::error("this initial state is never closed", span).with_expected(["`}`"]))
}

/// Where the first word after the table stands.
fn condition_start(mut cursor: Cursor<'_>) -> Option<usize> {
    while let Some(token) = cursor.peek() {
        let span = cursor.span();
        let negated = token == Token::Symbol("~");
        if negated {
            cursor.take();
        }
        if let Some(Token::Name(name)) = cursor.peek()
            && AFTER_PROGRAM.iter().any(|word| name.eq_ignore_ascii_case(word))
        {
            return Some(span.start);
        }
        cursor.take();
    }
    None
}

/// Where the first word begins and ends.
fn first_word(text: &str, open: usize) -> Span {
    let before = &text[..open];
    let start = before.len() - before.trim_start().len();
    Span { start, end: before[start..].find(char::is_whitespace).map_or(open, |length| start + length) }
}

/// The architecture, which is the first word.
fn architecture(text: &str, open: usize) -> Result<Architecture, Diagnostic> {
    let span = first_word(text, open);
    Architecture::named(&text[span.start..span.end]).ok_or_else(|| {
        let written = &text[span.start..span.end];
        let message = match written {
            "" => "the test does not begin with an architecture".to_owned(),
            _ => format!("tests for `{written}` cannot be read: palisade is about x86"),
        };
        Diagnostic::error(message, span).with_expected(["`X86`", "`X86_64`", "`C`"])
    })
}

/// An error about the first word of a text with comments, where it names no architecture.
pub(super) fn foreign(text: &str) -> Option<Diagnostic> {
    let open = initial_brace(text).ok()?;
    if text.trim_start().starts_with("(*") { None } else { architecture(text, open).err() }
}

/// Reads everything between the first word and the brace.
pub(super) fn header(text: &str, open: usize) -> Result<Header, Diagnostic> {
    let before = &text[..open];
    let first = first_word(text, open);
    let at = first.start;
    let word_end = |start: usize| before[start..].find(char::is_whitespace).map_or(open, |length| start + length);
    let line_end = before[at..].find('\n').map_or(open, |length| at + length);
    let name_start = first.end + leading_blanks(&before[first.end..line_end]);
    if name_start >= line_end {
        let span = Span { start: line_end, end: line_end };
        return Err(Diagnostic::error("the test has no name", span).with_expected(["a name"]));
    }
    let name_end = word_end(name_start).min(line_end);
    let mut warnings = Vec::new();
    let mut information = Vec::new();
    let mut rest = name_end;
    // A second name in parentheses, for typesetting.
    let after_name = rest + leading_blanks(&before[rest..]);
    if before[after_name..].starts_with('(')
        && let Some(length) = before[after_name..line_end].find(')')
    {
        rest = after_name + length + 1;
    }
    let mut description = String::new();
    let quote = rest + before[rest..].len() - before[rest..].trim_start().len();
    if before[quote..].starts_with('"')
        && let Some(length) = before[quote + 1..].find('"')
    {
        before[quote + 1..quote + 1 + length].clone_into(&mut description);
        rest = quote + length + 2;
    }
    let mut line_start = rest;
    for line in before[rest..].split_inclusive('\n') {
        let trimmed = line.trim().trim_matches(';');
        if let Some((key, value)) = trimmed.split_once('=') {
            information.push((key.trim().to_owned(), value.trim().to_owned()));
        } else if !trimmed.is_empty() {
            let start = line_start + leading_blanks(line);
            let span = Span { start, end: start + line.trim().len() };
            warnings.push(Diagnostic::warning("this line before the initial state means nothing", span));
        }
        line_start += line.len();
    }
    Ok(Header { name: before[name_start..name_end].to_owned(), description, information, warnings })
}

fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t', '\r']).len()
}
