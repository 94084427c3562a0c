//! Reads the body of a thread in C as the tree of a body in braces: a cursor over tokens, and what
//! names stand for.

use super::graces::Sections;
use super::lexer::{Token, tokens};
use super::locations::Locations;
use super::threads::{Head, Parameter};
use super::types::{INT, Pointee, Pointers, is_type_word};
use crate::Diagnostic;
use crate::litmus::initial::CellType;
use crate::native::ast::{Name, RawExpression};
use crate::native::braced::{Block, Statement, StatementKind};
use crate::suggest::did_you_mean;
use palisade_model::text::Span;

/// What is read, unless there is an error in it.
pub(super) type Read<T> = Result<T, Diagnostic>;

/// How deeply expressions and statements may be nested.
const DEEPEST: usize = 150;

/// A place in memory.
#[derive(Debug)]
pub(super) struct Place<'s> {
    /// The place in the native language.
    pub(super) raw: RawExpression<'s>,
    /// What it is.
    pub(super) object: Pointee,
}

impl Place<'_> {
    /// Its type.
    pub(super) fn cell(&self) -> CellType {
        self.object.cell()
    }

    /// Whether objects of its type are atomic in C11.
    pub(super) fn is_atomic(&self) -> bool {
        self.object.is_atomic && self.object.stars == 0
    }
}

/// A variable of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local<'s> {
    /// Its name.
    pub(super) name: Name<'s>,
    /// Its type.
    pub(super) cell: CellType,
    /// What it points to, if it holds an address.
    pub(super) points: Option<Pointee>,
}

/// What kinds of calls a test has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dialects {
    /// Calls of the Linux kernel.
    pub(super) kernel: bool,
    /// Calls of C11.
    pub(super) c11: bool,
}

/// A body that was read.
#[derive(Debug)]
pub(super) struct Body<'s> {
    /// What it does.
    pub(super) statements: Block<'s>,
    /// All its variables.
    pub(super) locals: Vec<Local<'s>>,
    /// The statements after `if`, `else` and `while` that have no braces around them.
    pub(super) bare: Vec<Span>,
    /// Doubts.
    pub(super) warnings: Vec<Diagnostic>,
    /// The kinds of its calls.
    pub(super) dialects: Dialects,
    /// What it does with addresses.
    pub(super) pointers: Pointers,
}

/// Reads a body.
pub(super) struct Reader<'a, 's> {
    pub(super) tokens: Vec<(Token<'s>, Span)>,
    /// The next token.
    pub(super) at: usize,
    end: Span,
    pub(super) locations: &'s Locations,
    /// The number of the thread.
    pub(super) thread: u32,
    parameters: &'a [Parameter<'s>],
    pub(super) locals: Vec<Local<'s>>,
    /// The variables that can be seen, the innermost last.
    pub(super) visible: Vec<Local<'s>>,
    pub(super) bare: Vec<Span>,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) dialects: Dialects,
    /// How many accesses to memory were read.
    pub(super) accesses: usize,
    pub(super) pointers: Pointers,
    /// Whether the statement has an update that is a full barrier.
    pub(super) is_full_barrier: bool,
    /// Where the thread stands with respect to grace periods.
    pub(super) sections: Sections,
    depth: usize,
}

/// Reads the body of a thread; `first` are the statements that give its parameters their values.
pub(super) fn body<'s>(
    text: &'s str,
    head: &Head<'s>,
    locations: &'s Locations,
    first: Vec<Statement<'s>>,
) -> Read<Body<'s>> {
    let end = Span { start: head.body.end, end: head.body.end };
    let variables = head.parameters.iter().filter(|parameter| !parameter.is_address);
    let mut locals: Vec<Local<'s>> = variables.map(|it| Local { name: it.name, cell: it.cell, points: None }).collect();
    let tokens = tokens(text, head.body)?;
    let undeclared = undeclared(&tokens, head, locations);
    locals.extend(&undeclared);
    let mut reader = Reader {
        tokens,
        at: 0,
        end,
        locations,
        thread: head.number,
        parameters: &head.parameters,
        visible: locals.clone(),
        locals,
        bare: Vec::new(),
        warnings: Vec::new(),
        dialects: Dialects::default(),
        accesses: 0,
        pointers: Pointers::default(),
        is_full_barrier: false,
        sections: Sections::default(),
        depth: 0,
    };
    let mut statements = reader.block()?;
    reader.sections.end()?;
    let close = Span { start: head.body.end - 1, end: head.body.end };
    reader.pass_quiescent(close, &mut statements.statements);
    let declared = undeclared.iter().map(|local| {
        let kind = StatementKind::Let { register: local.name, value: None };
        statement(kind, local.name.span, local.name.span)
    });
    statements.statements.splice(0..0, first.into_iter().chain(declared));
    let Reader { locals, bare, warnings, dialects, pointers, .. } = reader;
    Ok(Body { statements, locals, bare, warnings, dialects, pointers })
}

/// A statement that does something at a place of the text.
pub(super) fn statement(kind: StatementKind<'_>, span: Span, extent: Span) -> Statement<'_> {
    Statement { annotations: Vec::new(), label: None, kind, span, extent }
}

/// The variables that are assigned to and declared nowhere, in order. Tests in C may leave
/// declarations out; such a variable is an `int`.
fn undeclared<'s>(tokens: &[(Token<'s>, Span)], head: &Head<'s>, locations: &Locations) -> Vec<Local<'s>> {
    let mut found: Vec<Local<'s>> = Vec::new();
    let declarations = outside_parentheses(tokens);
    for pair in tokens.windows(2) {
        let [(Token::Name(text), span), (Token::Symbol("="), _)] = *pair else { continue };
        let is_parameter = head.parameters.iter().any(|parameter| parameter.name.text == text);
        // What stands behind a type, or may go on with a declaration, may be declared.
        let may_be_declared = |before: &[(Token<'s>, Span)]| match *before {
            [(Token::Name(word), _), (Token::Name(name), _)] => name == text && is_type_word(word),
            [(Token::Symbol("," | "*"), _), (Token::Name(name), _)] => name == text,
            _ => false,
        };
        if !is_parameter
            && locations.named(text).is_none()
            && !declarations.windows(2).any(may_be_declared)
            && found.iter().all(|local| local.name.text != text)
        {
            found.push(Local { name: Name { text, span }, cell: INT, points: None });
        }
    }
    found
}

/// The tokens that stand in no parentheses, where declarations are.
fn outside_parentheses<'s>(tokens: &[(Token<'s>, Span)]) -> Vec<(Token<'s>, Span)> {
    let mut depth = 0_usize;
    let is_outside = |(token, _): &&(Token<'s>, Span)| {
        match token {
            Token::Symbol("(") => depth += 1,
            Token::Symbol(")") => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    };
    tokens.iter().filter(is_outside).copied().collect()
}

impl<'s> Reader<'_, 's> {
    /// The next token.
    pub(super) fn peek(&self) -> Option<Token<'s>> {
        self.token(0)
    }

    /// The token so many places ahead.
    pub(super) fn token(&self, ahead: usize) -> Option<Token<'s>> {
        self.token_at(self.at + ahead)
    }

    /// The token at a place.
    pub(super) fn token_at(&self, place: usize) -> Option<Token<'s>> {
        self.tokens.get(place).map(|(token, _)| *token)
    }

    /// Where the next token stands.
    pub(super) fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |(_, span)| *span)
    }

    /// Where the token before stands.
    pub(super) fn before(&self) -> Span {
        self.at.checked_sub(1).map_or(self.end, |at| self.tokens[at].1)
    }

    /// Whether the next token is a symbol.
    pub(super) fn sees(&self, symbol: &str) -> bool {
        matches!(self.peek(), Some(Token::Symbol(found)) if found == symbol)
    }

    /// Takes a symbol if it comes next.
    pub(super) fn take(&mut self, symbol: &str) -> bool {
        let found = self.sees(symbol);
        self.at += usize::from(found);
        found
    }

    /// Takes a word if it comes next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(Token::Name(word));
        self.at += usize::from(found);
        found
    }

    /// Takes a symbol, which must come next.
    pub(super) fn expect(&mut self, symbol: &str) -> Read<()> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    /// Takes a name, which must come next.
    pub(super) fn name(&mut self, what: &str) -> Read<Name<'s>> {
        let Some(Token::Name(text)) = self.peek() else { return Err(self.unexpected(what)) };
        let span = self.here();
        self.at += 1;
        Ok(Name { text, span })
    }

    /// The error that something else was expected.
    pub(super) fn unexpected(&self, expected: &str) -> Diagnostic {
        let found = self.peek().map_or_else(|| "the end of the body".to_owned(), Token::describe);
        Diagnostic::error(format!("unexpected {found}"), self.here()).with_expected([expected])
    }

    /// Reads something inside of something.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEEPEST {
            let message = format!("this is nested deeper than {DEEPEST} levels");
            return Err(Diagnostic::error(message, self.here()));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// The parameter with a name that is an address.
    pub(super) fn address(&self, name: &str) -> Option<Parameter<'s>> {
        self.parameters.iter().find(|parameter| parameter.is_address && parameter.name.text == name).copied()
    }

    /// The variable with a name.
    pub(super) fn variable(&self, name: &str) -> Option<Local<'s>> {
        self.visible.iter().rev().find(|local| local.name.text == name).copied()
    }

    /// The error that a name stands for nothing here.
    pub(super) fn unknown(&self, name: Name<'s>) -> Diagnostic {
        let known = self.visible.iter().map(|local| local.name.text);
        let help = if self.locations.named(name.text).is_some() {
            format!(
                "`{0}` is a location: list it among the thread's parameters, `int* {0}`, and write `*{0}`",
                name.text
            )
        } else if self.is_dereferenced(name) {
            format!("make it a parameter of the thread: `int *{}`", name.text)
        } else {
            did_you_mean(name.text, known.chain(self.parameters.iter().map(|parameter| parameter.name.text)))
                .unwrap_or_else(|| format!("declare the variable: `int {};`", name.text))
        };
        Diagnostic::error(format!("there is no `{}` here", name.text), name.span).with_help(help)
    }

    /// Whether a name stands behind a star that is no product's.
    fn is_dereferenced(&self, name: Name<'s>) -> bool {
        let Some(at) = self.tokens.iter().position(|(_, span)| *span == name.span) else { return false };
        let before = |back: usize| at.checked_sub(back).and_then(|at| self.token_at(at));
        let is_value = |token| matches!(token, Token::Name(_) | Token::Number(_) | Token::Symbol(")" | "]"));
        before(1) == Some(Token::Symbol("*")) && !before(2).is_some_and(is_value)
    }

    /// Declares a variable.
    pub(super) fn declare(&mut self, name: Name<'s>, cell: CellType, points: Option<Pointee>) -> Read<()> {
        let taken =
            |what: &str, help: &str| Diagnostic::error(format!("`{}` is {what}", name.text), name.span).with_help(help);
        if self.address(name.text).is_some() || self.locations.named(name.text).is_some() {
            return Err(taken("the name of a location", "give the variable a name of its own"));
        }
        if self.variable(name.text).is_some() {
            return Err(taken("declared already", "assign to it, or give the variable a name of its own"));
        }
        if self.locals.iter().any(|local| local.name.text == name.text && local.cell != cell) {
            let help = "give one of the two variables another name, so that conditions can tell them apart";
            return Err(taken("declared elsewhere in this thread with another type", help));
        }
        let local = Local { name, cell, points };
        self.visible.push(local);
        self.locals.push(local);
        Ok(())
    }
}
