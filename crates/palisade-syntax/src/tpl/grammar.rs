//! The grammar of TPL: declarations and functions.

use super::cursor::{Cursor, Read};
use super::lexer::Token;
use super::statements::block;
use crate::native::ast::{Head, Name};
use crate::native::braced::{Block, BracedThread, Statement, StatementKind};
use crate::{Diagnostic, MAX_ERRORS};
use palisade_model::program::Value;
use palisade_model::text::Span;

/// A whole text.
pub(super) struct Test<'s> {
    /// What `max_value` says.
    pub(super) greatest: Option<Value>,
    pub(super) variables: Vec<Variable<'s>>,
    pub(super) threads: Vec<Function<'s>>,
}

/// A location.
pub(super) struct Variable<'s> {
    pub(super) name: Name<'s>,
    pub(super) initial: i64,
}

/// `fn name { local r; … }`.
pub(super) struct Function<'s> {
    name: Name<'s>,
    body: Block<'s>,
    /// The statements in place of blocks, without braces around them.
    bare: Vec<Span>,
}

impl<'s> Function<'s> {
    /// The function as a thread, and its statements without braces.
    pub(super) fn into_thread(self) -> (BracedThread<'s>, Vec<Span>) {
        let Self { name, body, bare } = self;
        (BracedThread { head: Head::Thread, name, parameters: None, copies: None, guard: None, body }, bare)
    }
}

/// Reads the tokens of a text of a given length. After an error the next function is read.
pub(super) fn parse<'s>(tokens: &[(Token<'s>, Span)], length: usize) -> Result<Test<'s>, Vec<Diagnostic>> {
    let mut cursor = Cursor::new(tokens, length);
    let mut test = Test { greatest: None, variables: Vec::new(), threads: Vec::new() };
    let mut errors = Vec::new();
    while cursor.peek().is_some() && errors.len() < MAX_ERRORS {
        if let Err(error) = item(&mut cursor, &mut test) {
            errors.push(error);
            cursor.at += usize::from(cursor.peek().is_some());
            while cursor.peek().is_some_and(|token| token != Token::Name("fn")) {
                cursor.at += 1;
            }
        }
    }
    for (index, variable) in test.variables.iter().enumerate() {
        if test.variables[..index].iter().any(|before| before.name.text == variable.name.text) {
            errors.push(declared_twice(variable.name));
        }
    }
    for (index, function) in test.threads.iter().enumerate() {
        if test.threads[..index].iter().any(|before| before.name.text == function.name.text) {
            errors.push(declared_twice(function.name));
        }
    }
    if errors.is_empty() && test.threads.is_empty() {
        let end = Span { start: length, end: length };
        errors.push(Diagnostic::error("the program has no thread", end).with_expected(["`fn`"]));
    }
    if errors.is_empty() { Ok(test) } else { Err(errors) }
}

fn declared_twice(name: Name<'_>) -> Diagnostic {
    Diagnostic::error(format!("`{}` is declared twice", name.text), name.span)
}

/// A declaration or a function.
fn item<'s>(cursor: &mut Cursor<'_, 's>, test: &mut Test<'s>) -> Read<()> {
    let start = cursor.here();
    if cursor.take_word("max_value") {
        let greatest = cursor.number()?;
        if greatest < 0 {
            return Err(Diagnostic::error("values are not negative", cursor.since(start)));
        }
        test.greatest = Some(greatest);
    } else if cursor.take_word("global") || cursor.take_word("na") {
        // An access says itself whether it is atomic.
        loop {
            let name = cursor.name("a location")?;
            let initial = if cursor.take("=") { cursor.number()? } else { 0 };
            cursor.locations.insert(name.text);
            test.variables.push(Variable { name, initial });
            if !cursor.take(",") {
                break;
            }
        }
    } else if cursor.take_word("track") {
        // A hint for another question than robustness.
        while cursor.peek().is_some_and(|token| token != Token::Symbol(";")) {
            cursor.at += 1;
        }
    } else if cursor.take_word("fn") {
        let function = function(cursor)?;
        test.threads.push(function);
        return Ok(());
    } else {
        return Err(cursor.unexpected("`global`, `na` or `fn`"));
    }
    cursor.expect(";")
}

/// What follows `fn`.
fn function<'s>(cursor: &mut Cursor<'_, 's>) -> Read<Function<'s>> {
    let name = cursor.name("the name of a thread")?;
    let open = cursor.here();
    cursor.expect("{")?;
    let mut locals = Vec::new();
    cursor.locals.clear();
    while cursor.take_word("local") {
        loop {
            let start = cursor.here();
            let register = cursor.name("a local variable")?;
            cursor.locals.insert(register.text);
            let kind = StatementKind::Let { register, value: None };
            let (span, extent) = (cursor.since(start), cursor.since(start));
            locals.push(Statement { annotations: Vec::new(), label: None, kind, span, extent });
            if !cursor.take(",") {
                break;
            }
        }
        cursor.expect(";")?;
    }
    cursor.bare.clear();
    let mut body = block(cursor, open)?;
    body.statements.splice(0..0, locals);
    Ok(Function { name, body, bare: std::mem::take(&mut cursor.bare) })
}
