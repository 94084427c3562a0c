//! The heads of the threads of a test in C: `P0 (atomic_int* x, int r1) { … }`.

use super::lexer::{Token, tokens};
use super::types::{Pointee, type_of};
use crate::Diagnostic;
use crate::litmus::cursor::thread_number;
use crate::litmus::initial::CellType;
use crate::native::ast::Name;
use palisade_model::text::Span;

/// A thread before its body is read.
#[derive(Debug)]
pub(super) struct Head<'s> {
    /// Its number.
    pub(super) number: u32,
    /// Its name.
    pub(super) name: Name<'s>,
    /// Its parameters.
    pub(super) parameters: Vec<Parameter<'s>>,
    /// Its body, from brace to brace.
    pub(super) body: Span,
}

/// The words that may stand before a thread's name.
const BEFORE: [&str; 2] = ["void", "static"];

/// A parameter: the address of a location, or a variable with a value of the initial state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter<'s> {
    /// Its name: that of the location, if it is an address.
    pub(super) name: Name<'s>,
    /// The type of the location or the variable.
    pub(super) cell: CellType,
    /// Whether it is an address.
    pub(super) is_address: bool,
    /// What the address points to, or as such an object.
    pub(super) object: Pointee,
    /// The word that calls what is no atomic object volatile.
    pub(super) volatile: Option<Span>,
}

impl Parameter<'_> {
    /// That `volatile` is left out: in C11 such an access is a plain one.
    pub(super) fn doubt(&self) -> Option<Diagnostic> {
        let message = "`volatile` makes no access atomic, and orders nothing: it is left out";
        let warning = Diagnostic::warning(message, self.volatile?);
        Some(warning.with_help("declare the object atomic, as in `atomic_int* x`, if threads access it at once"))
    }
}

/// Reads the heads of all threads from a byte on; also where the last body ends.
pub(super) fn heads(text: &str, start: usize, end: usize) -> Result<(Vec<Head<'_>>, usize), Diagnostic> {
    let mut heads: Vec<Head<'_>> = Vec::new();
    let mut at = start;
    loop {
        let rest = &text[at..end];
        let begin = at + rest.len() - rest.trim_start().len();
        let word = &text[begin..end];
        if let Some(before) = BEFORE
            .iter()
            .find(|before| word.strip_prefix(**before).is_some_and(|rest| rest.starts_with(char::is_whitespace)))
        {
            at = begin + before.len();
            continue;
        }
        let length = word.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(word.len());
        let name = Name { text: &word[..length], span: Span { start: begin, end: begin + length } };
        let Some(number) = thread_number(name.text) else { break };
        if heads.iter().any(|head| head.number == number) {
            return Err(Diagnostic::error(format!("there are two threads `{}`", name.text), name.span));
        }
        let open = name.span.end;
        let brace = text[open..end].find('{').map(|length| open + length);
        let Some(brace) = brace else {
            return Err(Diagnostic::error("this thread has no body", name.span).with_expected(["`{`"]));
        };
        let parameters = parameters(text, Span { start: open, end: brace })?;
        let body = Span { start: brace, end: body_end(text, brace, end)? };
        at = body.end;
        heads.push(Head { number, name, parameters, body });
    }
    if heads.is_empty() {
        let span = Span { start: at, end: at };
        return Err(Diagnostic::error("the test has no threads", span).with_expected(["`P0 (int* x, …) { … }`"]));
    }
    Ok((heads, at))
}

/// Where a body ends.
fn body_end(text: &str, open: usize, end: usize) -> Result<usize, Diagnostic> {
    let mut depth = 0_usize;
    for (offset, byte) in text[open..end].bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(open + offset + 1);
        }
    }
    let span = Span { start: open, end: open + 1 };
    Err(Diagnostic::error("this body is never closed", span).with_expected(["`}`"]))
}

/// Reads `(type* name, …)`.
fn parameters(text: &str, within: Span) -> Result<Vec<Parameter<'_>>, Diagnostic> {
    let tokens = tokens(text, within)?;
    let missing = |span: Span| Diagnostic::error("a thread's name is followed by its parameters", span);
    let (Some((Token::Symbol("("), _)), Some((Token::Symbol(")"), close))) = (tokens.first(), tokens.last()) else {
        let span = Span { start: within.end, end: within.end };
        return Err(missing(span).with_expected(["`(int* x, …)`"]));
    };
    let inside = &tokens[1..tokens.len() - 1];
    let mut found: Vec<Parameter<'_>> = Vec::new();
    let is_empty = inside.is_empty() || matches!(inside, [(Token::Name("void"), _)]);
    for written in inside.split(|(token, _)| *token == Token::Symbol(",")) {
        if is_empty {
            break;
        }
        let span = written.first().map_or(*close, |(_, span)| *span);
        let parameter = parameter(written, span)?;
        if let Some(first) = found.iter().find(|first| first.name.text == parameter.name.text) {
            let message = format!("the parameter `{}` is declared twice", first.name.text);
            return Err(Diagnostic::error(message, parameter.name.span));
        }
        found.push(parameter);
    }
    Ok(found)
}

fn parameter<'s>(written: &[(Token<'s>, Span)], start: Span) -> Result<Parameter<'s>, Diagnostic> {
    let expected = ["a parameter such as `atomic_int* x` or `int r1`"];
    let Some(((Token::Name(name), span), words)) = written.split_last() else {
        let at = written.last().map_or(start, |(_, span)| *span);
        return Err(Diagnostic::error("this is no parameter", at).with_expected(expected));
    };
    let whole = start.to(*span);
    let mut stars = 0_u8;
    let mut names = Vec::new();
    let mut volatile = None;
    for (token, at) in words {
        match token {
            Token::Symbol("*") => stars = stars.saturating_add(1),
            Token::Name("restrict" | "volatile" | "const") if stars > 0 => {}
            Token::Name(word) if stars == 0 => {
                names.push(*word);
                volatile = volatile.or((*word == "volatile").then_some(*at));
            }
            // `_Atomic(int)`.
            Token::Symbol("(" | ")") if names.first() == Some(&"_Atomic") => {}
            token => {
                let message = format!("unexpected {}", token.describe());
                return Err(Diagnostic::error(message, *at).with_expected(expected));
            }
        }
    }
    let Some((cell, is_atomic)) = type_of(&names) else {
        let message = format!("`{}` is not a type that is understood", names.join(" "));
        return Err(Diagnostic::error(message, whole).with_expected([
            "an integer type such as `int`, `atomic_int`, `atomic_t` or `uint64_t`",
            "a lock's, such as `spinlock_t` or `pthread_mutex_t`",
        ]));
    };
    if name == &"self" {
        return Err(
            Diagnostic::error("`self` is a word of the native language", *span).with_help("give it another name")
        );
    }
    let name = Name { text: name, span: *span };
    let object = Pointee { base: cell, is_atomic: is_atomic && stars < 2, stars: stars.saturating_sub(1) };
    let volatile = volatile.filter(|_| !is_atomic);
    Ok(Parameter { name, cell: object.cell(), is_address: stars > 0, object, volatile })
}
