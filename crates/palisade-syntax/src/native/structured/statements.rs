//! Reads statements.

use super::outcomes;
use super::parser::{Parser, Read, Reported};
use crate::Diagnostic;
use crate::native::ast::{Annotation, ExpressionKind, Name, RawExpression, Target};
use crate::native::braced::{Block, For, Statement, StatementKind};
use crate::native::grammar::SPAWN;
use crate::native::token::{Keyword, PARK, POST, Symbol, Token};
use palisade_model::text::Span;

/// What stands in the parentheses of a `for`.
struct ForHead<'s> {
    start: Option<Statement<'s>>,
    condition: Option<RawExpression<'s>>,
    step: Option<Statement<'s>>,
}

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
                return Ok(StatementKind::Assume(self.condition()?));
            }
            Keyword::Ensure => {
                self.at += 1;
                return Ok(StatementKind::Ensure(self.condition()?));
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
    fn word(&mut self, word: &'s str) -> Read<StatementKind<'s>> {
        let start = self.at;
        self.at += 1;
        match word {
            "let" => self.declaration(),
            "if" => self.branches(),
            "while" => {
                let condition = self.condition()?;
                Ok(StatementKind::While { condition, body: self.block("the body of `while`")? })
            }
            "do" => self.do_while(),
            "for" => {
                // What is wrong in the head is passed over with all of it, and read again where it
                // does not end. It has no blocks: what is in them would be read twice on each
                // level.
                let Ok(ForHead { start, condition, step }) = self.for_head() else {
                    self.at = start;
                    return Err(Reported);
                };
                let body = self.block("the body of `for`")?;
                Ok(StatementKind::For(Box::new(For { start, condition, step, body })))
            }
            "loop" => Ok(StatementKind::Loop(self.block("the body of `loop`")?)),
            "atomic" => Ok(StatementKind::Atomic(self.block("the body of `atomic`")?)),
            "choose" => self.choice(),
            "await" => Ok(StatementKind::Await(self.condition()?)),
            "idle" | "timed" if self.begins_statement() => {
                let mark = Name { text: word, span: self.before() };
                let start = self.here();
                let kind = self.kind()?;
                let span = start.to(self.before());
                if !matches!(kind, StatementKind::Await(_) | StatementKind::Effect(_)) {
                    let error = Diagnostic::error(format!("`{word}` is said of what waits"), mark.span);
                    return Err(self.report(error.with_help("mark the `await` or the `wait` itself")));
                }
                let statement = Statement { annotations: Vec::new(), label: None, kind, span, extent: span };
                Ok(StatementKind::Marked { mark, statement: Box::new(statement) })
            }
            PARK if self.peek() == Some(Token::Symbol(Symbol::Semicolon)) => {
                let name = Name { text: word, span: self.before() };
                Ok(StatementKind::Effect(RawExpression::new(ExpressionKind::Apply(name, Vec::new()), name.span)))
            }
            "break" => Ok(StatementKind::Break),
            "continue" => Ok(StatementKind::Continue),
            "pause" => Ok(StatementKind::Pause),
            SPAWN if matches!(self.peek(), Some(Token::Name(_))) => self.post(None),
            POST if matches!(self.peek(), Some(Token::Name(_))) => {
                let executor = self.name("`main` or `any`")?;
                self.post(Some(executor))
            }
            "return" if self.peek() == Some(Token::Symbol(Symbol::Semicolon)) => Ok(StatementKind::Return(None)),
            "return" => Ok(StatementKind::Return(Some(self.expression()?))),
            _ => {
                self.at = start;
                self.assignment()
            }
        }
    }

    /// Whether the next token may begin a statement behind a mark.
    fn begins_statement(&self) -> bool {
        matches!(self.peek(), Some(Token::Name(_) | Token::Keyword(_)))
    }

    /// What is asked whether it holds.
    fn condition(&mut self) -> Read<RawExpression<'s>> {
        let condition = self.expression()?;
        outcomes::warnings(self.source, &condition, self.errors);
        Ok(condition)
    }

    /// What follows `let`.
    fn declaration(&mut self) -> Read<StatementKind<'s>> {
        self.unwanted_mut()?;
        let register = self.name("the register's name")?;
        self.unwanted_type()?;
        if self.peek() == Some(Token::Symbol(Symbol::Semicolon)) {
            return Ok(StatementKind::Let { register, value: None });
        }
        self.unwanted_list()?;
        self.assigns()?;
        let value = Some(self.assigned()?);
        self.unwanted_list()?;
        Ok(StatementKind::Let { register, value })
    }

    /// What follows `if`.
    fn branches(&mut self) -> Read<StatementKind<'s>> {
        let mut branches = Vec::new();
        loop {
            let condition = self.condition()?;
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

    /// What follows `do`.
    fn do_while(&mut self) -> Read<StatementKind<'s>> {
        let body = self.block("the body of `do`")?;
        if !self.take_word("while") {
            return Err(self.unexpected("`while`"));
        }
        Ok(StatementKind::DoWhile { body, condition: self.condition()? })
    }

    /// What follows `for`, up to its body.
    fn for_head(&mut self) -> Read<ForHead<'s>> {
        if let Some(error) = self.range_loop() {
            return Err(self.report(error));
        }
        self.expect(Symbol::OpenParen)?;
        let start = self.part_of_for(Symbol::Semicolon)?;
        let ends = self.peek() == Some(Token::Symbol(Symbol::Semicolon));
        let condition = if ends { None } else { Some(self.condition()?) };
        if !self.take(Symbol::Semicolon) {
            return Err(self.unexpected("`;`"));
        }
        let step = self.part_of_for(Symbol::CloseParen)?;
        Ok(ForHead { start, condition, step })
    }

    /// What is done first or behind the body of a `for`, up to a symbol.
    fn part_of_for(&mut self, end: Symbol) -> Read<Option<Statement<'s>>> {
        if self.take(end) {
            return Ok(None);
        }
        // The empty statement takes no token.
        if self.peek() == Some(Token::Symbol(Symbol::Semicolon)) {
            return Err(self.unexpected("`)`"));
        }
        let start = self.here();
        let is_first = end == Symbol::Semicolon;
        let unfit = |parser: &mut Self, what: &str, span: Span| {
            let place = if is_first { "begin a `for`" } else { "be the step of a `for`" };
            let error = Diagnostic::error(format!("{what} cannot {place}"), span);
            parser.report(error.with_help("a `for` counts in a register: `for (let i = 0; i < n; i++) { … }`"))
        };
        if self.at_block() {
            return Err(unfit(self, "this statement", start));
        }
        let kind = self.kind()?;
        let span = start.to(self.before());
        match &kind {
            StatementKind::Let { .. } if is_first => {}
            StatementKind::Let { .. } => return Err(unfit(self, "a declaration", span)),
            StatementKind::Assign { .. } | StatementKind::Change { .. } => {}
            _ => return Err(unfit(self, "this statement", span)),
        }
        self.expect(end)?;
        Ok(Some(Statement { annotations: Vec::new(), label: None, kind, span, extent: span }))
    }

    /// Whether a statement begins here that has blocks.
    fn at_block(&self) -> bool {
        const WITH_BLOCKS: [&str; 7] = ["if", "while", "do", "for", "loop", "atomic", "choose"];
        match self.peek() {
            Some(Token::Symbol(Symbol::OpenBrace)) => true,
            Some(Token::Name(word)) => WITH_BLOCKS.contains(&word),
            _ => false,
        }
    }

    /// What follows `post main`, `post any` and `spawn`.
    fn post(&mut self, executor: Option<Name<'s>>) -> Read<StatementKind<'s>> {
        let task = self.name("the name of a task")?;
        Ok(StatementKind::Post { executor, task, arguments: self.operands()? })
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

    /// `target = value`, `target += value`, `target++`, or an update or a call on its own.
    fn assignment(&mut self) -> Read<StatementKind<'s>> {
        if let Some((symbol, true)) = self.compound()
            && let Some(Token::Name(text)) = self.token(2)
        {
            // `++i`, which is `i++` in a statement.
            let operator = self.here().to(self.span(self.at + 1));
            self.at += 3;
            let name = Name { text, span: self.before() };
            let value = RawExpression::new(ExpressionKind::Literal(1), operator);
            return Ok(changed(name, symbol, value, operator));
        }
        let target = self.operand()?;
        if self.peek() == Some(Token::Symbol(Symbol::Equal)) && !self.is_compared() {
            self.at += 1;
            return Ok(StatementKind::Assign { target, value: self.assigned()? });
        }
        if let (ExpressionKind::Name(text), Some((symbol, is_step))) = (&target.kind, self.compound()) {
            let name = Name { text, span: target.span };
            let operator = self.here().to(self.span(self.at + 1));
            self.at += 2;
            let value = if is_step {
                RawExpression::new(ExpressionKind::Literal(1), operator)
            } else {
                let value = self.assigned()?;
                let extent = value.extent;
                value.parenthesised(extent)
            };
            return Ok(changed(name, symbol, value, operator));
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

/// `name operator= value`.
fn changed<'s>(name: Name<'s>, symbol: Symbol, value: RawExpression<'s>, operator: Span) -> StatementKind<'s> {
    let meant = symbol.operator().expect("it is one of an assignment");
    let old = RawExpression::new(ExpressionKind::Name(name.text), name.span);
    StatementKind::Change { target: name, value: RawExpression::binary(meant, old, value), operator }
}
