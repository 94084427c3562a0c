//! Reads statements.

use super::parser::{Parser, Read, Reported};
use crate::Diagnostic;
use crate::native::ast::{Annotation, ExpressionKind, Name, RawExpression, Target};
use crate::native::braced::{Block, Statement, StatementKind};
use crate::native::token::{Keyword, Symbol, Token};

impl<'s> Parser<'_, 's> {
    /// A statement with what stands before it.
    pub(super) fn statement(&mut self) -> Read<Statement<'s>> {
        let start = self.here();
        let annotations = self.annotations()?;
        let label = self.label()?;
        let own = self.here();
        let kind = if label.is_some() && self.peek() == Some(Token::Symbol(Symbol::CloseBrace)) {
            StatementKind::Empty
        } else {
            let kind = self.kind()?;
            if !kind.ends_in_braces() {
                self.semicolon()?;
            }
            kind
        };
        let end = self.before();
        let span = if own.start < end.end { own.to(end) } else { end };
        Ok(Statement { annotations, label, kind, span, extent: start.to(end) })
    }

    /// `@cost(2.5)`, any number of them.
    fn annotations(&mut self) -> Read<Vec<Annotation<'s>>> {
        let mut annotations = Vec::new();
        while self.take(Symbol::At) {
            let Some(Token::Name(text)) = self.peek() else { return Err(self.unexpected("`cost`")) };
            let name = Name { text, span: self.here() };
            self.at += 1;
            self.expect(Symbol::OpenParen)?;
            let start = self.here();
            self.take(Symbol::Minus);
            if !matches!(self.peek(), Some(Token::Integer(_) | Token::Decimal(_))) {
                return Err(self.unexpected("a number"));
            }
            self.at += 1;
            annotations.push(Annotation { name, value: start.to(self.before()) });
            self.expect(Symbol::CloseParen)?;
        }
        Ok(annotations)
    }

    /// `spin:`.
    fn label(&mut self) -> Read<Option<Name<'s>>> {
        let is_label = self.token(1) == Some(Token::Symbol(Symbol::Colon));
        if !is_label || !matches!(self.peek(), Some(Token::Name(_) | Token::Keyword(_))) {
            return Ok(None);
        }
        let name = self.name("a label")?;
        self.at += 1;
        if self.token(1) == Some(Token::Symbol(Symbol::Colon)) && matches!(self.peek(), Some(Token::Name(_))) {
            let error = Diagnostic::error(format!("this place has the label `{}` already", name.text), self.here());
            return Err(self.report(error.with_help("one label names a place")));
        }
        Ok(Some(name))
    }

    /// The semicolon that ends a statement.
    fn semicolon(&mut self) -> Read<()> {
        if self.take(Symbol::Semicolon) { Ok(()) } else { Err(self.no_semicolon()) }
    }

    fn kind(&mut self) -> Read<StatementKind<'s>> {
        if let Some(error) = self.habit() {
            return Err(self.report(error));
        }
        match self.peek() {
            Some(Token::Symbol(Symbol::OpenBrace)) => Ok(StatementKind::Block(self.block("a block")?)),
            Some(Token::Symbol(Symbol::Semicolon)) => Ok(StatementKind::Empty),
            Some(Token::Keyword(keyword)) if self.token(1) != Some(Token::Symbol(Symbol::OpenParen)) => {
                self.keyword(keyword)
            }
            Some(Token::Keyword(keyword @ (Keyword::Assume | Keyword::Ensure | Keyword::Assert))) => {
                self.keyword(keyword)
            }
            Some(Token::Name(word)) => self.word(word),
            _ => self.assignment(),
        }
    }

    /// A statement that begins with a keyword of the older form.
    fn keyword(&mut self, keyword: Keyword) -> Read<StatementKind<'s>> {
        let plain = match keyword {
            Keyword::Mfence => StatementKind::Fence,
            Keyword::Sfence => StatementKind::StoreFence,
            Keyword::Nop => StatementKind::Pause,
            Keyword::Fail => StatementKind::Fail,
            Keyword::Assume => {
                self.at += 1;
                return Ok(StatementKind::Assume(self.expression()?));
            }
            Keyword::Ensure => {
                self.at += 1;
                return Ok(StatementKind::Ensure(self.expression()?));
            }
            Keyword::Goto => return self.goto(),
            Keyword::Mem => return self.assignment(),
            _ => return Err(self.foreign_keyword(keyword)),
        };
        self.at += 1;
        Ok(plain)
    }

    fn goto(&mut self) -> Read<StatementKind<'s>> {
        self.at += 1;
        if self.peek() == Some(Token::Keyword(Keyword::End)) {
            self.at += 1;
            return Ok(StatementKind::Goto(Target::End(self.before())));
        }
        Ok(StatementKind::Goto(Target::Label(self.name("a label")?)))
    }

    /// A statement that begins with a word.
    fn word(&mut self, word: &str) -> Read<StatementKind<'s>> {
        let start = self.at;
        self.at += 1;
        match word {
            "let" => self.declaration(),
            "if" => self.branches(),
            "while" => {
                let condition = self.expression()?;
                Ok(StatementKind::While { condition, body: self.block("the body of `while`")? })
            }
            "loop" => Ok(StatementKind::Loop(self.block("the body of `loop`")?)),
            "atomic" => Ok(StatementKind::Atomic(self.block("the body of `atomic`")?)),
            "choose" => self.choice(),
            "await" => Ok(StatementKind::Await(self.expression()?)),
            "break" => Ok(StatementKind::Break),
            "continue" => Ok(StatementKind::Continue),
            "pause" => Ok(StatementKind::Pause),
            "return" if self.peek() == Some(Token::Symbol(Symbol::Semicolon)) => Ok(StatementKind::Return(None)),
            "return" => Ok(StatementKind::Return(Some(self.expression()?))),
            _ => {
                self.at = start;
                self.assignment()
            }
        }
    }

    /// What follows `let`.
    fn declaration(&mut self) -> Read<StatementKind<'s>> {
        self.unwanted_mut()?;
        let register = self.name("the register's name")?;
        self.unwanted_type()?;
        if self.peek() == Some(Token::Symbol(Symbol::Semicolon)) {
            return Ok(StatementKind::Let { register, value: None });
        }
        self.assigns()?;
        Ok(StatementKind::Let { register, value: Some(self.assigned()?) })
    }

    /// What follows `if`.
    fn branches(&mut self) -> Read<StatementKind<'s>> {
        let mut branches = Vec::new();
        loop {
            let condition = self.expression()?;
            branches.push((condition, self.block("the body of `if`")?));
            if !self.take_word("else") {
                return Ok(StatementKind::If { branches, otherwise: None });
            }
            if !self.take_word("if") {
                let otherwise = Some(self.block("the body of `else`")?);
                return Ok(StatementKind::If { branches, otherwise });
            }
        }
    }

    /// What follows `choose`.
    fn choice(&mut self) -> Read<StatementKind<'s>> {
        let mut blocks: Vec<Block<'s>> = vec![self.block("what may be chosen")?];
        while self.take_word("or") {
            blocks.push(self.block("what may be chosen")?);
        }
        if blocks.len() == 1 {
            let error = Diagnostic::error("a choice with one way to go", self.before());
            return Err(self.report(error.with_help("write `choose { … } or { … }`")));
        }
        Ok(StatementKind::Choose(blocks))
    }

    /// `target = value`, or an update or a call on its own.
    fn assignment(&mut self) -> Read<StatementKind<'s>> {
        let target = self.operand()?;
        if self.peek() == Some(Token::Symbol(Symbol::Equal)) && !self.is_compared() {
            self.at += 1;
            return Ok(StatementKind::Assign { target, value: self.assigned()? });
        }
        if let Some(error) = self.after_target(&target) {
            return Err(self.report(error));
        }
        if matches!(target.kind, ExpressionKind::Apply(..)) {
            return Ok(StatementKind::Effect(target));
        }
        Err(self.unexpected("`=`"))
    }

    /// The value behind `=`. A chain of assignments as in C is none.
    fn assigned(&mut self) -> Read<RawExpression<'s>> {
        let value = self.expression()?;
        match self.chained(&value) {
            Some(error) => Err(self.report(error)),
            None => Ok(value),
        }
    }

    /// The `=` of an assignment.
    fn assigns(&mut self) -> Result<(), Reported> {
        if self.peek() == Some(Token::Symbol(Symbol::Equal)) && !self.is_compared() {
            self.at += 1;
            return Ok(());
        }
        match self.wrong_assignment() {
            Some(error) => Err(self.report(error)),
            None => Err(self.unexpected("`=`")),
        }
    }

    /// Whether the next token is `==`, which is the same token as `=`.
    pub(super) fn is_compared(&self) -> bool {
        self.source.slice(self.here()) == "=="
    }
}
