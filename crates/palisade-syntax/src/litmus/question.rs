//! The last lines: `locations`, `filter` and the condition, as written.

use super::cursor::{Cursor, thread_number};
use super::initial::{WrittenValue, value};
use super::lexer::Token;
use crate::Diagnostic;
use palisade_model::text::Span;
use palisade_semantics::Quantifier;

/// A location as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WrittenLocation {
    /// `0:EAX`.
    Register {
        /// The thread's number.
        thread: u32,
        /// The register's name.
        name: String,
        /// Where it is written.
        span: Span,
    },
    /// `x`, `[x]`, `t[1]`.
    Memory {
        /// The location's name.
        name: String,
        /// The element, of an array.
        element: Option<u32>,
        /// Where it is written.
        span: Span,
    },
}

/// A proposition as written.
#[derive(Clone, Debug)]
pub(super) enum WrittenProposition {
    True,
    False,
    Equals(WrittenLocation, WrittenValue, String),
    Same(WrittenLocation, WrittenLocation),
    Not(Box<WrittenProposition>),
    And(Vec<WrittenProposition>),
    Or(Vec<WrittenProposition>),
    Implies(Box<WrittenProposition>, Box<WrittenProposition>),
}

/// Everything after the table.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenQuestion {
    pub(super) locations: Vec<WrittenLocation>,
    pub(super) filter: Option<WrittenProposition>,
    pub(super) condition: Option<(Quantifier, WrittenProposition)>,
    /// The condition's quantifier per memory model, of `with tso: ~exists; …`.
    pub(super) kinds: Vec<(String, Quantifier)>,
}

impl WrittenQuestion {
    /// Calls `visit` with every location.
    pub(super) fn locations(&self, visit: &mut impl FnMut(&WrittenLocation)) {
        self.locations.iter().for_each(&mut *visit);
        for proposition in self.filter.iter().chain(self.condition.iter().map(|(_, proposition)| proposition)) {
            proposition.locations(visit);
        }
    }
}

impl WrittenProposition {
    fn locations(&self, visit: &mut impl FnMut(&WrittenLocation)) {
        match self {
            Self::True | Self::False => {}
            Self::Equals(location, ..) => visit(location),
            Self::Same(left, right) => {
                visit(left);
                visit(right);
            }
            Self::Not(inner) => inner.locations(visit),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.locations(visit)),
            Self::Implies(premise, conclusion) => {
                premise.locations(visit);
                conclusion.locations(visit);
            }
        }
    }
}

/// How deep propositions may be nested.
const DEEPEST: usize = 200;

/// Reads what follows the table.
pub(super) fn question(text: &str, within: Span) -> Result<WrittenQuestion, Diagnostic> {
    let mut reader = Reader { text, cursor: Cursor::new(text, within)?, depth: 0 };
    let mut question = WrittenQuestion::default();
    if reader.cursor.eat_word("locations") {
        reader.cursor.expect("[")?;
        while !reader.cursor.eat("]") {
            question.locations.push(reader.location()?);
            // A type may follow, for other tools.
            while !(reader.cursor.is_done() || reader.cursor.at(";") || reader.cursor.at("]")) {
                reader.cursor.take();
            }
            if !reader.cursor.at("]") {
                reader.cursor.expect(";")?;
            }
        }
        reader.cursor.eat(";");
    }
    if reader.cursor.eat_word("filter") {
        question.filter = Some(reader.disjunction()?);
        reader.cursor.eat(";");
    }
    if reader.cursor.is_done() {
        return Ok(question);
    }
    let quantifier = if reader.cursor.eat_word("final") || reader.cursor.at("(") {
        Quantifier::Exists
    } else {
        reader.quantifier()?
    };
    question.condition = Some((quantifier, reader.disjunction()?));
    reader.cursor.eat(";");
    if reader.cursor.eat_word("with") {
        while !reader.cursor.is_done() {
            let (model, _) = reader.cursor.name("a memory model's name")?;
            reader.cursor.expect(":")?;
            question.kinds.push((model.to_owned(), reader.quantifier()?));
            if !reader.cursor.is_done() {
                reader.cursor.expect(";")?;
            }
        }
    }
    if reader.cursor.is_done() { Ok(question) } else { Err(reader.cursor.unexpected(&["the end of the test"])) }
}

struct Reader<'a> {
    text: &'a str,
    cursor: Cursor<'a>,
    depth: usize,
}

impl Reader<'_> {
    fn quantifier(&mut self) -> Result<Quantifier, Diagnostic> {
        if self.cursor.eat_word("exists") {
            return Ok(Quantifier::Exists);
        }
        if self.cursor.eat_word("forall") {
            return Ok(Quantifier::ForAll);
        }
        let negated = self.cursor.eat("~") || self.cursor.eat_word("not");
        if negated && self.cursor.eat_word("exists") {
            return Ok(Quantifier::NotExists);
        }
        Err(self.cursor.unexpected(&["`exists`", "`~exists`", "`forall`"]))
    }

    fn disjunction(&mut self) -> Result<WrittenProposition, Diagnostic> {
        let mut parts = vec![self.conjunction()?];
        while self.cursor.eat("\\/") {
            parts.push(self.conjunction()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { WrittenProposition::Or(parts) })
    }

    fn conjunction(&mut self) -> Result<WrittenProposition, Diagnostic> {
        let mut parts = vec![self.implication()?];
        while self.cursor.eat("/\\") {
            parts.push(self.implication()?);
        }
        for (symbol, meant) in [("&", "/\\"), ("|", "\\/")] {
            if self.cursor.at(symbol) && self.cursor.peek_at(1) == self.cursor.peek() {
                let start = self.cursor.span();
                let span = Span { start: start.start, end: start.end + 1 };
                let error = Diagnostic::error(format!("`{symbol}{symbol}` is no word of conditions"), span);
                return Err(error.with_help(format!("write `{meant}`")));
            }
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { WrittenProposition::And(parts) })
    }

    /// `=>` binds tighter than the other connectives, as in herd, and to the right.
    fn implication(&mut self) -> Result<WrittenProposition, Diagnostic> {
        let premise = self.negation()?;
        if !self.cursor.eat("=>") {
            return Ok(premise);
        }
        let conclusion = self.nested(Self::implication)?;
        Ok(WrittenProposition::Implies(Box::new(premise), Box::new(conclusion)))
    }

    fn negation(&mut self) -> Result<WrittenProposition, Diagnostic> {
        if self.cursor.eat("~") || self.cursor.eat_word("not") {
            return Ok(WrittenProposition::Not(Box::new(self.nested(Self::negation)?)));
        }
        if self.cursor.eat("(") {
            let inner = self.nested(Self::disjunction)?;
            self.cursor.expect(")")?;
            return Ok(inner);
        }
        if self.cursor.eat_word("true") {
            return Ok(WrittenProposition::True);
        }
        if self.cursor.eat_word("false") {
            return Ok(WrittenProposition::False);
        }
        self.comparison()
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
        if self.depth == DEEPEST {
            return Err(Diagnostic::error("this proposition is nested too deeply", self.cursor.span()));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn comparison(&mut self) -> Result<WrittenProposition, Diagnostic> {
        let left = self.location()?;
        let negated = if self.cursor.eat("!=") || self.cursor.eat("<>") {
            true
        } else if self.cursor.eat("=") || self.cursor.eat("==") {
            false
        } else {
            return Err(self.cursor.unexpected(&["`=`", "`!=`"]));
        };
        let right_is_location = self.cursor.at("[")
            || self.cursor.at("*")
            || (self.cursor.peek_at(1) == Some(Token::Symbol(":")) && !self.cursor.at("-"));
        let comparison = if right_is_location {
            WrittenProposition::Same(left, self.location()?)
        } else {
            let start = self.cursor.span();
            let right = value(&mut self.cursor)?;
            let written = start.to(self.cursor.previous_span());
            WrittenProposition::Equals(left, right, self.text[written.start..written.end].to_owned())
        };
        Ok(if negated { WrittenProposition::Not(Box::new(comparison)) } else { comparison })
    }

    fn location(&mut self) -> Result<WrittenLocation, Diagnostic> {
        let start = self.cursor.span();
        self.cursor.eat("*");
        if let Some(thread) = self.cursor.eat_thread_prefix() {
            let (name, span) = self.cursor.name("a register")?;
            return Ok(WrittenLocation::Register { thread, name: name.to_owned(), span: start.to(span) });
        }
        if matches!(self.cursor.peek(), Some(Token::Name(name)) if thread_number(name).is_some())
            && self.cursor.peek_at(1) == Some(Token::Symbol(":"))
        {
            return Err(Diagnostic::error("this thread's number is too large", start));
        }
        let bracketed = self.cursor.eat("[");
        let (name, _) = self.cursor.name("a location such as `x` or `0:EAX`")?;
        let mut element = None;
        if self.cursor.eat("[") {
            let span = self.cursor.span();
            let number = u32::try_from(self.cursor.number()?)
                .map_err(|_| Diagnostic::error("an element's number is not negative", span))?;
            element = Some(number);
            self.cursor.expect("]")?;
        }
        if bracketed {
            self.cursor.expect("]")?;
        }
        let span = start.to(self.cursor.previous_span());
        Ok(WrittenLocation::Memory { name: name.to_owned(), element, span })
    }
}
