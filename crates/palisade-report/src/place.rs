//! Places and statements of a program in the words of its text: lines, the names it gives, its
//! conditions as they are written.

use palisade_model::program::{Action, FinalClaim, InstructionId, Label, Program, Thread, ThreadId};
use palisade_model::text::Span;
use palisade_syntax::{expression_text, final_claim_text};

/// A longer line of the text is cut.
const LONGEST: usize = 60;

/// Where somebody does something, behind the words for it: ` at l0 (line 3)`; where the text has no
/// name, ` (line 3)`.
pub fn doing_at(program: &Program, thread: ThreadId, instruction: InstructionId) -> String {
    let thread = program.thread(thread);
    let own = thread.instruction(instruction);
    let label = thread.label(own.source);
    let at = program.at(label, own.span);
    if label.written().is_some() { format!(" at{at}") } else { at }
}

/// What `finally` states, as it is written; as the language writes it where a reader has made it.
pub fn claim_text(program: &Program, claim: &FinalClaim) -> String {
    let written = program.source.text.get(claim.span.start..claim.span.end).map(str::trim);
    let written = written.filter(|text| !text.is_empty() && !text.contains('\n')).map(str::to_owned);
    written.unwrap_or_else(|| final_claim_text(program, claim))
}

/// A label behind the name of a copy that does something there: its name in the text, or
/// `(line 3)`.
pub fn brief(program: &Program, label: &Label) -> String {
    label.written().map_or_else(|| format!("({})", program.line_words(label, label.span)), str::to_owned)
}

/// A label where room is short: its name in the text, or its line without the calls around it.
pub fn short_words(program: &Program, label: &Label) -> String {
    let line = || format!("line {}", program.source.position(label.span.start).line);
    label.written().map_or_else(line, str::to_owned)
}

/// A label for people: its name in the text, or its line.
pub fn label_words(program: &Program, label: &Label) -> String {
    label.written().map_or_else(|| program.line_words(label, label.span), str::to_owned)
}

/// The line on which an instruction stands, as it is written, behind its number and the lines of
/// calls; nothing where the text has no lines that people know. Of litmus tests, whose lines hold
/// one instruction of each thread, and of long lines the statement alone.
pub fn source_line(program: &Program, thread: &Thread, instruction: InstructionId) -> Option<String> {
    let source = &program.source;
    if source.is_listing || source.text.is_empty() {
        return None;
    }
    let own = thread.instruction(instruction);
    let number = source.position(own.span.start).line;
    let line = source.line(number).trim();
    let text = match source.is_litmus {
        true => source.slice(own.span),
        false if line.chars().count() > LONGEST => statement(&source.text, own.span),
        false => line,
    };
    let text = if text.is_empty() { one_line(line) } else { one_line(text) };
    let calls = thread.label(own.source).calls().iter().rev().map(|line| format!(" (called on line {line})"));
    Some(format!("{number}: {}{}", cut(&text), calls.collect::<String>()))
}

/// The condition of an `ensure`, `assert` or `assume`, or one that a thread goes by, as it is
/// written; nothing for other instructions.
pub fn condition(program: &Program, thread: ThreadId, instruction: InstructionId) -> Option<String> {
    stated(program, thread, instruction).map(|(_, condition)| condition)
}

/// The same behind the word that states it.
pub fn stated(program: &Program, thread: ThreadId, instruction: InstructionId) -> Option<(&'static str, String)> {
    let template = program.thread(thread);
    let own = template.instruction(instruction);
    let (condition, words): (_, &[&str]) = match &own.action {
        Action::Ensure(condition) => (condition, &["ensure"]),
        Action::Assume(condition) => (condition, &["assert", "assume"]),
        _ => return None,
    };
    let text = if program.source.is_listing { String::new() } else { one_line(program.source.slice(own.span)) };
    if template.branch(instruction).is_some() && !text.is_empty() {
        return Some((words[0], text));
    }
    let found = words.iter().find_map(|word| Some((*word, text.split_once(&format!("{word} "))?.1)));
    let written = found.map(|(word, behind)| (word, behind.split(';').next().unwrap_or(behind).trim()));
    Some(match written.filter(|(_, written)| !written.is_empty()) {
        Some((word, written)) => (word, written.to_owned()),
        None => (words[0], expression_text(program, thread, condition)),
    })
}

/// The statement on one line that a span is a part of.
fn statement(text: &str, span: Span) -> &str {
    let ends = |letter: char| ";{}\n".contains(letter);
    let start = text[..span.start].rfind(ends).map_or(0, |end| end + 1);
    let behind = text[span.start..].find(ends).map_or(text.len(), |end| span.start + end);
    text[start..behind].trim()
}

/// A text with single blanks in place of all white space.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text of a length that a table can show.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
