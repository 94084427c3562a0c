//! Statements of C.

use super::arithmetic::combined;
use super::body::{Local, Read, Reader, statement};
use super::calls::{Called, store};
use super::lexer::Token;
use super::types::{Typed, is_type_word, type_of};
use crate::Diagnostic;
use crate::litmus::initial::CellType;
use crate::native::ast::{ExpressionKind, Name, RawExpression};
use crate::native::braced::{Block, Statement, StatementKind};
use crate::native::{operator, strength};
use palisade_model::program::{BinaryOperator, Ordering};
use palisade_model::text::Span;

/// Words that begin statements which are not understood, and what to write.
const FOREIGN: [(&str, &str); 6] = [
    ("for", "write it with `while`"),
    ("do", "write it with `while`: the body, and then a loop with the body again"),
    ("switch", "write it with `if` and `else`"),
    ("goto", "write it with `if` and `while`"),
    ("asm", "write what it does in C"),
    ("__asm__", "write what it does in C"),
];

impl<'s> Reader<'_, 's> {
    /// `{ … }`.
    pub(super) fn block(&mut self) -> Read<Block<'s>> {
        let open = self.here();
        self.expect("{")?;
        let visible = self.visible.len();
        let mut statements = Vec::new();
        while !self.take("}") {
            if self.peek().is_none() {
                return Err(Diagnostic::error("this brace is never closed", open).with_expected(["`}`"]));
            }
            self.nested(|reader| reader.statement(&mut statements))?;
        }
        self.visible.truncate(visible);
        Ok(Block { statements, span: open.to(self.before()) })
    }

    /// The body of `if`, `else` or `while`.
    fn body(&mut self) -> Read<Block<'s>> {
        if self.sees("{") {
            return self.block();
        }
        let (start, visible) = (self.here(), self.visible.len());
        let mut statements = Vec::new();
        self.nested(|reader| reader.statement(&mut statements))?;
        self.visible.truncate(visible);
        let span = start.to(self.before());
        self.bare.push(span);
        Ok(Block { statements, span })
    }

    /// Reads a statement; a declaration is one for each of its variables.
    fn statement(&mut self, statements: &mut Vec<Statement<'s>>) -> Read<()> {
        let start = self.here();
        if let Some(Token::Name(word)) = self.peek()
            && is_type_word(word)
        {
            return self.declaration(statements);
        }
        let kind = match self.peek() {
            Some(Token::Symbol("{")) => StatementKind::Block(self.block()?),
            Some(Token::Symbol(";")) => StatementKind::Empty,
            Some(Token::Name(word)) => match word {
                "if" => self.branches()?,
                "while" => {
                    self.at += 1;
                    let condition = self.condition()?;
                    StatementKind::While { condition, body: self.body()? }
                }
                "break" | "continue" | "return" => {
                    self.at += 1;
                    match word {
                        "break" => StatementKind::Break,
                        "continue" => StatementKind::Continue,
                        _ if self.sees(";") => StatementKind::Return(None),
                        _ => return Err(self.unexpected("`;`, as a thread returns no value")),
                    }
                }
                _ => self.simple(word)?,
            },
            _ => self.assignment()?,
        };
        let span = start.to(if self.sees(";") && self.here() == start { start } else { self.before() });
        if !kind.ends_in_braces() {
            self.expect(";")?;
        }
        statements.push(statement(kind, span, start.to(self.before())));
        Ok(())
    }

    /// A condition in parentheses.
    fn condition(&mut self) -> Read<RawExpression<'s>> {
        self.expect("(")?;
        let condition = self.nested(Self::expression)?;
        self.expect(")")?;
        Ok(condition.raw)
    }

    /// What begins with `if`.
    fn branches(&mut self) -> Read<StatementKind<'s>> {
        let mut branches = Vec::new();
        while self.take_word("if") {
            let condition = self.condition()?;
            branches.push((condition, self.body()?));
            if !self.take_word("else") {
                return Ok(StatementKind::If { branches, otherwise: None });
            }
        }
        Ok(StatementKind::If { branches, otherwise: Some(self.body()?) })
    }

    /// `int r0 = 1, r1;`.
    fn declaration(&mut self, statements: &mut Vec<Statement<'s>>) -> Read<()> {
        let start = self.here();
        let cell = self.written_type()?;
        let mut first = start;
        loop {
            let star = self.here();
            if self.take("*") {
                return Err(Diagnostic::error("a variable holds no address here", start.to(star))
                    .with_help("use the parameters that are addresses directly"));
            }
            let name = self.name("the variable's name")?;
            if self.sees("[") {
                return Err(Diagnostic::error("a variable is no array here", self.here())
                    .with_help("declare one variable for each element"));
            }
            let kind = if self.take("=") {
                self.value_into(name, cell, true)?
            } else {
                self.declare(name, cell)?;
                StatementKind::Let { register: name, value: None }
            };
            let span = first.to(self.before());
            let more = self.take(",");
            if !more {
                self.expect(";")?;
            }
            // A fence before the declaration does what one between its parts does, as no part stores without emptying the buffer.
            statements.push(statement(kind, span, start.to(self.before())));
            if !more {
                return Ok(());
            }
            first = self.here();
        }
    }

    /// The words of a type.
    pub(super) fn written_type(&mut self) -> Read<CellType> {
        let start = self.here();
        let mut words = Vec::new();
        while let Some(Token::Name(word)) = self.peek()
            && is_type_word(word)
        {
            words.push(word);
            self.at += 1;
        }
        let span = start.to(self.before());
        if words.contains(&"volatile") {
            return Err(Diagnostic::error("`volatile` makes no access atomic, and orders nothing", span)
                .with_help("leave it out, or declare the object atomic: `atomic_int`"));
        }
        type_of(&words).map(|(cell, _)| cell).ok_or_else(|| {
            let message = format!("`{}` is not a type that is understood", words.join(" "));
            Diagnostic::error(message, span).with_expected(["an integer type such as `int` or `uint64_t`"])
        })
    }

    /// A statement that begins with a name.
    fn simple(&mut self, word: &'s str) -> Read<StatementKind<'s>> {
        if let Some((_, help)) = FOREIGN.iter().find(|(foreign, _)| *foreign == word) {
            return Err(Diagnostic::error(format!("`{word}` is not understood"), self.here()).with_help(*help));
        }
        if self.token(1) == Some(Token::Symbol("(")) {
            let start = self.here();
            let called = self.call()?;
            return Ok(performed(called, start.to(self.before())));
        }
        let Some(local) = self.variable(word) else { return self.assignment() };
        let name = self.name("a variable")?;
        if self.sees("++") || self.sees("--") {
            let operator = if self.sees("++") { BinaryOperator::Add } else { BinaryOperator::Subtract };
            self.at += 1;
            let one = Typed::known(1, local.cell, name.span);
            return changed(name, local, operator, one);
        }
        if let Some(Token::Symbol(symbol)) = self.peek()
            && let Some(operator) = symbol.strip_suffix('=').and_then(operator)
            && strength(operator) != strength(BinaryOperator::Less)
        {
            self.at += 1;
            let value = self.nested(Self::expression)?;
            return changed(name, local, operator, value);
        }
        self.expect("=")?;
        self.value_into(name, local.cell, false)
    }

    /// What follows `=`, as the value of a variable.
    fn value_into(&mut self, name: Name<'s>, cell: CellType, is_new: bool) -> Read<StatementKind<'s>> {
        let value = self.nested(Self::expression)?.converted(cell).raw;
        if self.sees("=") {
            return Err(Diagnostic::error("an assignment is no value here", self.here())
                .with_help("write one statement for each assignment"));
        }
        if is_new {
            self.declare(name, cell)?;
            return Ok(StatementKind::Let { register: name, value: Some(value) });
        }
        let target = RawExpression::new(ExpressionKind::Name(name.text), name.span);
        Ok(StatementKind::Assign { target, value })
    }

    /// A plain write: `*x = value`, `x[1] = value`.
    fn assignment(&mut self) -> Read<StatementKind<'s>> {
        let start = self.here();
        let place = self.lvalue()?;
        if !self.sees("=") {
            let error = self.unexpected("`=`");
            return Err(error.with_help("write a load and a store, or `atomic_fetch_add` for one atomic action"));
        }
        self.at += 1;
        let value = self.nested(Self::expression)?.converted(place.cell).raw;
        if place.is_atomic {
            let span = start.to(self.before());
            let message =
                "a plain write of an atomic object is sequentially consistent in C: it is read as a locked exchange";
            self.warnings.push(
                Diagnostic::warning(message, span)
                    .with_help("write `atomic_store_explicit(…, memory_order_relaxed)` for a plain store"),
            );
            return Ok(store(place, value, Ordering::SeqCst, span));
        }
        Ok(store(place, value, Ordering::Plain, start.to(self.before())))
    }
}

/// `r0 += value`.
fn changed<'s>(
    name: Name<'s>,
    local: Local<'s>,
    operator: BinaryOperator,
    value: Typed<'s>,
) -> Read<StatementKind<'s>> {
    let old = Typed::held(RawExpression::new(ExpressionKind::Name(name.text), name.span), local.cell);
    let value = combined(operator, old, value)?.converted(local.cell);
    let target = RawExpression::new(ExpressionKind::Name(name.text), name.span);
    Ok(StatementKind::Assign { target, value: value.raw })
}

/// A call as a statement.
fn performed(called: Called<'_>, span: Span) -> StatementKind<'_> {
    match called {
        Called::Statement(kind) => kind,
        Called::Update { raw, .. } => StatementKind::Effect(raw),
        Called::Load(value) => {
            let register = Name { text: "unused'", span };
            let kind = StatementKind::Let { register, value: Some(value.raw) };
            StatementKind::Block(Block { statements: vec![statement(kind, span, span)], span })
        }
    }
}
