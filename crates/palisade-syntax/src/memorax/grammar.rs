//! The grammar of Memorax's language, over words whose macros are expanded: a reader by recursive
//! descent.
//!
//! After an error the reader goes on at the next process, so that several errors are reported at
//! once.

use super::ast::{Labelled, Name, Process, Range, Row, Sequence, Statement, Test, Variable};
use super::lexer::{Kind, Token};
use super::macros::in_call;
use crate::suggest::closest;
use crate::{Diagnostic, MAX_ERRORS, MAX_EXPRESSION_DEPTH};
use palisade_model::program::Value;
use palisade_model::text::Span;

/// The most operators in a statement, so that its expressions are no deeper than those of other
/// languages.
const MOST_OPERATORS: usize = MAX_EXPRESSION_DEPTH * 3 / 4;

/// An error was recorded; go on where the text can be understood again.
#[derive(Debug)]
pub(super) struct Recorded;

/// Something of the text, or nothing and an error on record.
pub(super) type Parsed<T> = Result<T, Recorded>;

/// Reads the words of a text of a given length; notes go to `remarks`.
pub(super) fn parse<'s>(
    words: &[Token<'s>],
    length: usize,
    remarks: &mut Vec<Diagnostic>,
) -> Result<Test<'s>, Vec<Diagnostic>> {
    let mut reader = Reader { words, at: 0, length, depth: 0, operators: 0, errors: Vec::new(), remarks };
    let test = reader.test();
    if reader.errors.is_empty()
        && let Ok(test) = test
    {
        return Ok(test);
    }
    reader.errors.truncate(MAX_ERRORS);
    Err(reader.errors)
}

/// Reads one word after the other.
pub(super) struct Reader<'w, 's> {
    words: &'w [Token<'s>],
    at: usize,
    /// The length of the text.
    length: usize,
    /// How deeply what is read lies in blocks and parentheses.
    depth: usize,
    /// The operators of the statement that is being read.
    operators: usize,
    errors: Vec<Diagnostic>,
    remarks: &'w mut Vec<Diagnostic>,
}

impl<'s> Reader<'_, 's> {
    fn test(&mut self) -> Parsed<Test<'s>> {
        self.word("forbidden")?;
        let mut rows = vec![self.row()?];
        while self.take(";") {
            rows.push(self.row()?);
        }
        if self.take("predicates") {
            // A hint for one of Memorax's abstractions.
            self.condition()?;
            while self.take(";") {
                self.condition()?;
            }
        }
        let globals = if self.take("data") { self.variables(false)? } else { Vec::new() };
        let mut processes = Vec::new();
        loop {
            match self.process() {
                Ok(process) => processes.push(process),
                Err(Recorded) if self.errors.len() >= MAX_ERRORS => return Err(Recorded),
                Err(Recorded) => {
                    while self.peek().is_some_and(|word| !word.is("process")) {
                        self.at += 1;
                    }
                }
            }
            if self.peek().is_none() {
                return Ok(Test { rows, globals, processes });
            }
        }
    }

    fn row(&mut self) -> Parsed<Row<'s>> {
        let start = self.span();
        let mut entries = Vec::new();
        loop {
            match self.peek() {
                Some(word) if word.is("*") => entries.push((None, word.span)),
                Some(Token { kind: Kind::Name(label), span, .. }) => entries.push((Some(label), span)),
                _ if entries.is_empty() => return Err(self.unexpected("a label or `*`")),
                _ => return Ok(Row { entries, span: whole(start, self.last()) }),
            }
            self.at += 1;
        }
    }

    /// Variables, or registers, up to a word that begins something else.
    fn variables(&mut self, registers: bool) -> Parsed<Vec<Variable<'s>>> {
        let mut all = Vec::new();
        loop {
            let name = match self.peek() {
                Some(Token { kind: Kind::Register(text), span, .. }) if registers => Name { text, span },
                Some(Token { kind: Kind::Name(text), span, .. }) if !registers => Name { text, span },
                Some(word) if matches!(word.kind, Kind::Register(_) | Kind::Name(_)) || all.is_empty() => {
                    return Err(self.unexpected(if registers { "a register" } else { "a variable" }));
                }
                _ => return Ok(all),
            };
            self.at += 1;
            self.word("=")?;
            let initial = if self.take("*") { None } else { Some(self.integer()?) };
            let domain = if self.take(":") { self.domain()? } else { None };
            all.push(Variable { name, initial, domain });
            if self.peek().is_some_and(|word| word.is(",")) {
                return Err(
                    self.unexpected_with("another declaration", Some("declarations follow each other without commas"))
                );
            }
        }
    }

    fn domain(&mut self) -> Parsed<Option<Range>> {
        if let Some(Token { kind: Kind::Name("Z"), .. }) = self.peek() {
            self.at += 1;
            return Ok(None);
        }
        let start = self.span();
        if !self.take("[") {
            return Err(self.unexpected("`Z` or `[`"));
        }
        let low = self.integer()?;
        self.word(":")?;
        let high = self.integer()?;
        self.word("]")?;
        if low > high {
            let span = whole(start, self.last());
            return Err(self.record(Diagnostic::error(format!("no value lies between {low} and {high}"), span)));
        }
        Ok(Some(Range { low, high }))
    }

    /// A number with its sign.
    pub(super) fn integer(&mut self) -> Parsed<Value> {
        let negative = self.take("-");
        match self.peek() {
            Some(Token { kind: Kind::Number(number), .. }) => {
                self.at += 1;
                Ok(if negative { -number } else { number })
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    fn process(&mut self) -> Parsed<Process<'s>> {
        let (span, start) = (self.span(), self.at);
        self.word("process")?;
        let count = if self.take("(") {
            let number = self.span();
            let count = u64::try_from(self.integer()?).ok().filter(|count| *count > 0);
            self.word(")")?;
            let Some(count) = count else {
                return Err(self.record(Diagnostic::error("there is at least one process", number)));
            };
            count
        } else {
            1
        };
        let (mut variables, mut registers) = (Vec::new(), Vec::new());
        loop {
            if self.take("data") {
                variables.extend(self.variables(false)?);
            } else if self.take("registers") {
                registers.extend(self.variables(true)?);
            } else if self.take("text") {
                break;
            } else {
                return Err(self.unexpected("`data`, `registers` or `text`"));
            }
        }
        let text = self.sequence()?;
        if self.peek().is_some_and(|word| !word.is("process")) {
            return Err(self.unexpected("`;` or `process`"));
        }
        Ok(Process { count, span, variables, registers, text, size: self.at - start })
    }

    /// Statements between semicolons.
    pub(super) fn sequence(&mut self) -> Parsed<Sequence<'s>> {
        let mut all = vec![self.labelled()?];
        while self.take(";") {
            all.push(self.labelled()?);
        }
        Ok(all)
    }

    /// A statement that may have a label.
    pub(super) fn labelled(&mut self) -> Parsed<Labelled<'s>> {
        let next = self.words.get(self.at + 1);
        let label = match self.peek() {
            Some(Token { kind: Kind::Name(text), span, .. }) if next.is_some_and(|next| next.is(":")) => {
                self.at += 2;
                Some(Name { text, span })
            }
            _ => None,
        };
        let start = self.at;
        self.operators = 0;
        let (statement, end) = self.nested(Self::statement)?;
        let (first, last) = (self.words[start], self.words[end - 1]);
        let span = if first.call == last.call { whole(first.span, last.span) } else { first.span };
        Ok(Labelled { label, statement, span })
    }

    /// Reads something that lies one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_EXPRESSION_DEPTH {
            let message = format!("more than {MAX_EXPRESSION_DEPTH} statements or parentheses inside of each other");
            let error = in_call(Diagnostic::error(message, self.span()), self.peek().and_then(|word| word.call));
            return Err(self.record(error));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// `{ … or … }`, the brace included.
    pub(super) fn alternatives(&mut self) -> Parsed<Vec<Sequence<'s>>> {
        self.word("{")?;
        let mut all = vec![self.sequence()?];
        while self.take("or") {
            all.push(self.sequence()?);
        }
        self.closing("`;`, `or` or `}`")?;
        Ok(all)
    }

    /// `}`, where `what` could stand.
    pub(super) fn closing(&mut self, what: &str) -> Parsed<()> {
        if self.take("}") { Ok(()) } else { Err(self.unexpected(what)) }
    }

    /// The word here; nothing at the end.
    pub(super) fn peek(&self) -> Option<Token<'s>> {
        self.words.get(self.at).copied()
    }

    /// How many words have been read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Counts an operator of the statement that is being read: expressions are at most as deep as
    /// everywhere.
    pub(super) fn one_more_operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        if self.operators <= MOST_OPERATORS {
            return Ok(());
        }
        let message = format!("more than {MOST_OPERATORS} operators in one statement");
        let span = self.last();
        Err(self.record(Diagnostic::error(message, span)))
    }

    /// Goes back by a word.
    pub(super) fn retreat(&mut self) {
        self.at -= 1;
    }

    /// Goes past a word.
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    /// Goes past a keyword or symbol, if it is here.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let here = self.peek().is_some_and(|word| word.is(text));
        self.at += usize::from(here);
        here
    }

    /// Goes past a keyword or symbol, which must be here.
    pub(super) fn word(&mut self, text: &str) -> Parsed<()> {
        if self.take(text) { Ok(()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    /// The place of the word here, or of the text's end.
    pub(super) fn span(&self) -> Span {
        self.peek().map_or(Span { start: self.length, end: self.length }, |word| word.span)
    }

    /// The place of the last word read.
    pub(super) fn last(&self) -> Span {
        self.at.checked_sub(1).map_or(Span::default(), |at| self.words[at].span)
    }

    /// Records an error.
    pub(super) fn record(&mut self, error: Diagnostic) -> Recorded {
        self.errors.push(error);
        Recorded
    }

    /// Remarks on something once.
    pub(super) fn remark(&mut self, message: &str, span: Span) {
        if !self.remarks.iter().any(|remark| remark.message == message) {
            self.remarks.push(Diagnostic::warning(message, span));
        }
    }

    /// Records that something else was expected here.
    pub(super) fn unexpected(&mut self, what: &str) -> Recorded {
        self.unexpected_with(what, None)
    }

    /// Records that something else was expected here, with what to do about it.
    pub(super) fn unexpected_with(&mut self, what: &str, help: Option<&str>) -> Recorded {
        let word = self.peek();
        let found = match word.map(|word| word.kind) {
            Some(Kind::Keyword(text)) => format!("the keyword `{text}`"),
            Some(kind) => format!("`{kind}`"),
            None => "the end of the text".to_owned(),
        };
        let error = Diagnostic::error(format!("expected {what}, found {found}"), self.span()).with_expected([what]);
        let help = help.map(str::to_owned).or_else(|| self.meant(what));
        self.record(in_call(error.with_help_if(help), word.and_then(|word| word.call)))
    }

    /// What a misspelt or misplaced word may have been.
    fn meant(&self, what: &str) -> Option<String> {
        let before = self.at.checked_sub(1).map(|at| self.words[at]);
        match self.peek()?.kind {
            Kind::Name(text) => {
                let candidates = super::lexer::KEYWORDS.into_iter().chain(["data", "registers", "predicates"]);
                // `Z` stands before what is meant to be a keyword as often as not.
                let keyword = closest(text, candidates.filter(|keyword| keyword.len() > 1))?;
                Some(format!("did you mean `{keyword}`?"))
            }
            Kind::Symbol("}") | Kind::Keyword("process" | "or") if before.is_some_and(|word| word.is(";")) => {
                Some("`;` stands between statements: none after the last one".to_owned())
            }
            Kind::Symbol(":=") if what.contains("`=`") => Some("a value is compared with `=`".to_owned()),
            Kind::Symbol("=") if what.contains("`:=`") => Some("a value is assigned with `:=`".to_owned()),
            Kind::Keyword(text) if what.contains("label") || what.contains("variable") => {
                Some(format!("`{text}` is a keyword and cannot be a name"))
            }
            _ => None,
        }
    }
}

/// From one place to another, where they follow each other; else the first one.
pub(super) fn whole(start: Span, end: Span) -> Span {
    if start.start <= end.end && start.end <= end.end { start.to(end) } else { start }
}

/// A statement with how many words were read when what may be nested in it began, or all of it.
pub(super) type WithEnd<'s> = (Statement<'s>, usize);
