//! Statements of C.

use super::arithmetic::combined;
use super::body::{Local, Read, Reader, statement};
use super::calls::{Called, store};
use super::lexer::Token;
use super::types::{POINTER, Pointee, Typed, is_type_word, type_of};
use crate::Diagnostic;
use crate::litmus::initial::CellType;
use crate::native::ast::{ExpressionKind, Name, RawExpression};
use crate::native::braced::{Block, Statement, StatementKind};
use crate::native::{operator, strength};
use palisade_model::program::{BinaryOperator, Ordering};
use palisade_model::text::Span;

/// Words that begin statements which are not understood, and what to write.
const FOREIGN: [(&str, &str); 5] = [
    ("for", "write it with `while`"),
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
        let before = self.before_statement(statements);
        if let Some(Token::Name(word)) = self.peek()
            && is_type_word(word)
        {
            self.declaration(statements)?;
            self.fence_full_update(before.0, start, statements);
            return self.may_pass_before(before, start, statements);
        }
        let first = self.peek();
        let kind = match first {
            Some(Token::Symbol("{")) => StatementKind::Block(self.block()?),
            Some(Token::Symbol(";")) => StatementKind::Empty,
            Some(Token::Name(word)) => match word {
                "if" => self.branches()?,
                "while" => {
                    self.at += 1;
                    let accesses = self.accesses;
                    let condition = self.condition()?;
                    self.reads_no_memory(accesses, start)?;
                    let body = self.inside(start, true, Self::body)?;
                    StatementKind::While { condition, body }
                }
                "do" => {
                    self.at += 1;
                    let body = self.inside(start, true, Self::body)?;
                    if !self.take_word("while") {
                        return Err(self.unexpected("`while (…);`, which ends a `do`"));
                    }
                    let accesses = self.accesses;
                    let condition = self.condition()?;
                    self.reads_no_memory(accesses, start)?;
                    StatementKind::DoWhile { body, condition }
                }
                "break" | "continue" | "return" => {
                    self.sections.leave(start)?;
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
        let has_blocks =
            matches!(kind, StatementKind::If { .. } | StatementKind::While { .. } | StatementKind::DoWhile { .. });
        let is_block = matches!(kind, StatementKind::Block(_)) && first == Some(Token::Symbol("{"));
        // The end of the thread, and what is read in a condition.
        let is_point = matches!(kind, StatementKind::Return(_) | StatementKind::If { .. });
        if is_point {
            self.pass_quiescent(start, statements);
        }
        statements.push(statement(kind, span, start.to(self.before())));
        self.fence_full_update(before.0, start, statements);
        if has_blocks || is_block { Ok(()) } else { self.may_pass_before(before, start, statements) }
    }

    /// A condition in parentheses.
    fn condition(&mut self) -> Read<RawExpression<'s>> {
        self.expect("(")?;
        let condition = self.nested(Self::expression)?;
        self.expect(")")?;
        // A condition has no place for fences around it.
        self.is_full_barrier = false;
        Ok(condition.raw)
    }

    /// What begins with `if`.
    fn branches(&mut self) -> Read<StatementKind<'s>> {
        let mut branches = Vec::new();
        while self.take_word("if") {
            let (start, accesses) = (self.here(), self.accesses);
            let condition = self.condition()?;
            // A point at which a quiescent state may be passed stands before the first condition
            // alone.
            if branches.is_empty() && self.accesses == accesses + 1 {
                self.accesses = accesses;
            }
            self.reads_no_memory(accesses, start)?;
            branches.push((condition, self.inside(start, false, Self::body)?));
            if !self.take_word("else") {
                return Ok(StatementKind::If { branches, otherwise: None });
            }
        }
        let start = self.here();
        Ok(StatementKind::If { branches, otherwise: Some(self.inside(start, false, Self::body)?) })
    }

    /// `int r0 = 1, r1;`.
    fn declaration(&mut self, statements: &mut Vec<Statement<'s>>) -> Read<()> {
        let start = self.here();
        let (base, is_atomic) = self.written_type()?;
        let mut first = start;
        loop {
            let points = self.stars().checked_sub(1).map(|stars| Pointee { base, is_atomic, stars });
            let cell = if points.is_some() { POINTER } else { base };
            let name = self.name("the variable's name")?;
            if self.sees("[") {
                return Err(Diagnostic::error("a variable is no array here", self.here())
                    .with_help("declare one variable for each element"));
            }
            let kind = if self.take("=") {
                self.value_into(name, (cell, points), true)?
            } else {
                self.declare(name, cell, points)?;
                StatementKind::Let { register: name, value: None }
            };
            let span = first.to(self.before());
            let more = self.take(",");
            if !more {
                self.expect(";")?;
            }
            // A fence before the declaration does what one between its parts does, as no part
            // stores without emptying the buffer.
            statements.push(statement(kind, span, start.to(self.before())));
            if !more {
                return Ok(());
            }
            first = self.here();
        }
    }

    /// The words of a type, and whether objects of it are atomic.
    pub(super) fn written_type(&mut self) -> Read<(CellType, bool)> {
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
        type_of(&words).ok_or_else(|| {
            let message = format!("`{}` is not a type that is understood", words.join(" "));
            Diagnostic::error(message, span).with_expected(["an integer type such as `int` or `uint64_t`"])
        })
    }

    /// A statement that begins with a name.
    fn simple(&mut self, word: &'s str) -> Read<StatementKind<'s>> {
        if let Some((_, help)) = FOREIGN.iter().find(|(foreign, _)| *foreign == word) {
            return Err(Diagnostic::error(format!("`{word}` is not understood"), self.here()).with_help(*help));
        }
        if self.token(1) == Some(Token::Symbol(":")) {
            let error = Diagnostic::error("labels are not understood", self.here());
            return Err(error.with_help("write what `goto` does with `if` and `while`"));
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
        self.value_into(name, (local.cell, local.points), false)
    }

    /// What follows `=`, as the value of a variable of a type that points to something or not.
    fn value_into(
        &mut self,
        name: Name<'s>,
        (cell, points): (CellType, Option<Pointee>),
        is_new: bool,
    ) -> Read<StatementKind<'s>> {
        let value = self.nested(Self::expression)?;
        let value = self.fitted(value, cell, points)?.raw;
        if self.sees("=") {
            return Err(Diagnostic::error("an assignment is no value here", self.here())
                .with_help("write one statement for each assignment"));
        }
        if is_new {
            self.declare(name, cell, points)?;
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
        let value = self.nested(Self::expression)?;
        let value = self.fitted(value, place.cell(), place.object.further())?.raw;
        self.accesses += 1;
        if place.is_atomic() {
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
