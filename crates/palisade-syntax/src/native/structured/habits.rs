//! What people write who come from C or Rust, with what to write here.

use super::parser::{Parser, Read, Reported};
use crate::Diagnostic;
use crate::native::ast::{ExpressionKind, RawExpression};
use crate::native::token::{FENCE, Keyword, LOCKS, Symbol, Token};
use crate::suggest::closest;
use palisade_model::program::BinaryOperator;
use palisade_model::text::Span;

/// Words that begin a declaration in C.
const TYPES: &[&str] = &[
    "int",
    "unsigned",
    "signed",
    "long",
    "short",
    "char",
    "bool",
    "_Bool",
    "auto",
    "var",
    "const",
    "static",
    "volatile",
    "size_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uintptr_t",
    "_Atomic",
    "atomic_int",
    "atomic_bool",
    "register",
];

/// Words for a full fence elsewhere.
const FENCES: &[&str] = &[
    "fence",
    "barrier",
    "smp_mb",
    "mb",
    "atomic_thread_fence",
    "_mm_mfence",
    "__sync_synchronize",
    "memory_barrier",
    "full_fence",
    "MemoryBarrier",
];

/// The words with which statements begin.
const STATEMENTS: &[&str] = &[
    "let", "if", "while", "loop", "break", "continue", "await", "choose", "atomic", "return", "pause", "goto",
    "mfence", "sfence", "ensure", "assume", "fail", "nop",
];

impl<'s> Parser<'_, 's> {
    /// The error for a statement that begins as one of C or Rust does.
    pub(super) fn habit(&self) -> Option<Diagnostic> {
        let here = self.here();
        let is_call = self.token(1) == Some(Token::Symbol(Symbol::OpenParen));
        match self.peek()? {
            Token::Keyword(Keyword::Assert) => {
                let message = "in C `assert` claims, in the older form it waits: it is ambiguous here";
                let help = "`ensure …;` states what must hold, `assume …;` lets nobody pass for whom it does not";
                Some(Diagnostic::error(message, here).with_help(help))
            }
            Token::Name(word) if LOCKS.contains(&word) && self.token(1) == Some(Token::Symbol(Symbol::Semicolon)) => {
                let message = format!("`{word}` alone belongs to the older form");
                Some(Diagnostic::error(message, here).with_help("a locked section is `atomic { … }`"))
            }
            Token::Keyword(keyword @ (Keyword::Mfence | Keyword::Sfence | Keyword::Nop | Keyword::Fail)) if is_call => {
                let word = keyword.spelling();
                Some(
                    Diagnostic::error(format!("`{word}` takes no parentheses"), here)
                        .with_help(format!("write `{word};`")),
                )
            }
            Token::Name(word) => self.habitual_word(word, is_call),
            _ => None,
        }
    }

    /// The error for a word that begins a statement in C or Rust.
    fn habitual_word(&self, word: &str, is_call: bool) -> Option<Diagnostic> {
        let here = self.here();
        let is_name = matches!(self.token(1), Some(Token::Name(_) | Token::Symbol(Symbol::Star)));
        let (message, help) = match word {
            // A procedure may have the name that a fence or a pause has elsewhere.
            word if is_call && self.procedures.contains(word) => return None,
            FENCE if is_call && matches!(self.token(2), Some(Token::Name(_))) => return None,
            "switch" | "match" => ("there is no `switch`", "write `if (…) { … } else if (…) { … }`".to_owned()),
            "elif" | "elseif" | "elsif" if is_call => {
                ("an `if` goes on with `else if`", "write `} else if (…) { … }`".to_owned())
            }
            "else" => ("`else` without `if`", "it follows the closing brace of an `if`".to_owned()),
            "until" => ("there is no `until`", "`await (…);` waits until a condition holds".to_owned()),
            "yield" | "cpu_relax" | "spin_loop" | "sched_yield" => {
                ("this has no meaning here", "write `pause;`".to_owned())
            }
            word if FENCES.contains(&word) && (is_call || self.token(1) == Some(Token::Symbol(Symbol::Semicolon))) => {
                ("fences have the names of x86", "a full fence is `mfence;`, one for stores alone `sfence;`".to_owned())
            }
            word if TYPES.contains(&word) && is_name => {
                let is_type = |index: &usize| match self.token_at(*index) {
                    Some(Token::Name(word)) => TYPES.contains(&word),
                    token => token == Some(Token::Symbol(Symbol::Star)),
                };
                let name = (self.at + 1..).find(|index| !is_type(index))?;
                let declared = self.source.slice(self.span(name));
                ("registers have no types", format!("write `let {declared} = …;`"))
            }
            "mut" if is_name => ("every register can be assigned", "leave `mut` out".to_owned()),
            _ => return None,
        };
        Some(Diagnostic::error(message, here).with_help(help))
    }

    /// The error for what follows a place or a register at the beginning of a statement.
    pub(super) fn after_target(&self, target: &RawExpression<'s>) -> Option<Diagnostic> {
        if let Some(error) = self.wrong_assignment() {
            return Some(error);
        }
        let text = self.source.slice(target.span);
        let here = self.here();
        match self.compound() {
            Some((symbol, is_step)) => {
                let value = if is_step { "1".to_owned() } else { self.rest_of_statement(self.at + 2) };
                let operator = here.to(self.span(self.at + 1));
                Some(memory_change(self.source.slice(operator), operator, symbol.spelling(), text, &value))
            }
            None if self.is_arrow() => Some(self.field()),
            None if self.is_misspelt_statement(target) => {
                let meant = closest(text, STATEMENTS.iter().copied())?;
                Some(
                    Diagnostic::error(format!("`{text}` begins no statement"), target.span)
                        .with_help(format!("did you mean `{meant}`?")),
                )
            }
            None => None,
        }
    }

    /// Whether `->` is next.
    fn is_arrow(&self) -> bool {
        self.peek() == Some(Token::Symbol(Symbol::Minus)) && self.token(1) == Some(Token::Symbol(Symbol::Greater))
    }

    /// Whether a word stands where `=` does not follow and resembles a statement.
    fn is_misspelt_statement(&self, target: &RawExpression<'s>) -> bool {
        matches!(target.kind, ExpressionKind::Name(_)) && self.peek() != Some(Token::Symbol(Symbol::Equal))
    }

    /// The error for `x = y = 0`, where the second `=` would compare.
    pub(super) fn chained(&self, value: &RawExpression<'s>) -> Option<Diagnostic> {
        let (BinaryOperator::Equal, left, right) = value.bare_binary()? else { return None };
        let between = Span { start: left.extent.end, end: right.extent.start };
        if self.source.slice(between).trim() != "=" {
            return None;
        }
        let error = Diagnostic::error("a second `=` would compare, not assign", between);
        Some(error.with_help("assign in two statements; to compare, write `==`"))
    }

    /// The error for `<-`, `:=` and `==` where `=` assigns.
    pub(super) fn wrong_assignment(&self) -> Option<Diagnostic> {
        let here = self.here();
        match self.peek()? {
            Token::Symbol(Symbol::Equal) if self.is_compared() => {
                let error = Diagnostic::error("`==` compares, and nobody uses the outcome", here);
                Some(error.with_help("`=` assigns; what must hold is stated by `ensure`"))
            }
            Token::Symbol(Symbol::Arrow) => {
                let spelling = self.source.slice(here);
                let error = Diagnostic::error(format!("`{spelling}` assigns in the older form"), here);
                Some(error.with_help("in braces `=` assigns, and an address stands for itself: `x = 1;`, not `mem[x]`"))
            }
            _ => None,
        }
    }

    /// `++`, `--` (true) or an operator with `=` (false), if that is next.
    pub(super) fn compound(&self) -> Option<(Symbol, bool)> {
        let Some(Token::Symbol(symbol)) = self.peek() else { return None };
        if matches!(symbol, Symbol::Plus | Symbol::Minus) && self.is_doubled(0, symbol) {
            // `a - -b` has a blank, `a--b` is read as in C.
            return Some((symbol, true));
        }
        let is_operator = symbol.operator().is_some()
            && !matches!(symbol, Symbol::Equal | Symbol::NotEqual | Symbol::LessOrEqual | Symbol::GreaterOrEqual);
        let adjacent = self.here().end == self.span(self.at + 1).start;
        let assigns =
            self.token(1) == Some(Token::Symbol(Symbol::Equal)) && self.source.slice(self.span(self.at + 1)) == "=";
        (is_operator && adjacent && assigns).then_some((symbol, false))
    }

    /// Whether a symbol stands twice without a blank.
    fn is_doubled(&self, ahead: usize, symbol: Symbol) -> bool {
        self.token(ahead) == Some(Token::Symbol(symbol))
            && self.token(ahead + 1) == Some(Token::Symbol(symbol))
            && self.span(self.at + ahead).end == self.span(self.at + ahead + 1).start
    }

    /// The text from a token to the end of the statement, if that is short.
    fn rest_of_statement(&self, from: usize) -> String {
        let start = self.span(from).start;
        let rest = self.source.text.get(start..).unwrap_or_default();
        let text = rest.split([';', '\n', '}']).next().unwrap_or_default().trim();
        if text.is_empty() || text.len() > 40 { "…".to_owned() } else { text.to_owned() }
    }

    /// The error for a keyword of the older form that begins no statement in braces.
    pub(super) fn foreign_keyword(&mut self, keyword: Keyword) -> Reported {
        let help = match keyword {
            Keyword::End => "a body in braces ends with `}`; `goto end;` or `return;` stops the thread",
            Keyword::Regs => "registers are declared where they are needed: `let r = …;`",
            Keyword::Cas | Keyword::Xchg | Keyword::FetchAdd | Keyword::Rmw => {
                "locked updates take operands in parentheses, as in `fetch_add(x, 1)`"
            }
            _ => "it belongs outside of threads, or to the older form `thread … begin … end`",
        };
        let error = Diagnostic::error(format!("the keyword `{}` begins no statement", keyword.spelling()), self.here());
        self.report(error.with_help(help))
    }

    /// The error where a statement or a block should end in a semicolon.
    pub(super) fn no_semicolon(&mut self) -> Reported {
        if self.peek() == Some(Token::Unknown) {
            return Reported;
        }
        if let Some(error) = self.after_expression() {
            return self.report(error);
        }
        let Span { start, end } = self.before();
        let message = format!("expected `;`, found {}", self.found());
        // The last character before is where it is missing.
        let last = self.source.slice(Span { start, end }).chars().next_back().map_or(0, char::len_utf8);
        let span = Span { start: end - last, end };
        let error =
            Diagnostic::error(message, span).with_label("a semicolon is missing after this").with_expected(["`;`"]);
        self.report(error)
    }

    /// The error for what follows an expression in C.
    fn after_expression(&self) -> Option<Diagnostic> {
        let here = self.here();
        match (self.compound(), self.peek()?) {
            (_, Token::Symbol(Symbol::Minus)) if self.token(1) == Some(Token::Symbol(Symbol::Greater)) => {
                Some(self.field())
            }
            (_, Token::Symbol(Symbol::OpenBrace)) => {
                let word = self.called_before()?;
                let meant = closest(word, ["while", "if", "loop", "choose", "atomic"])?;
                let error = Diagnostic::error(format!("`{word}` begins no statement"), here);
                Some(error.with_help(format!("did you mean `{meant}`?")))
            }
            (Some((symbol, true)), _) => {
                let error = Diagnostic::error(
                    format!("there is no `{0}{0}`", symbol.spelling()),
                    here.to(self.span(self.at + 1)),
                );
                Some(error.with_help("assign in a statement of its own: `x = x + 1;`"))
            }
            (_, Token::Symbol(Symbol::Arrow)) => {
                let error = Diagnostic::error("`<-` assigns in the older form", here);
                Some(error.with_help("leave a blank in `< -` to compare with a negative number"))
            }
            (_, Token::Name("as")) => {
                let error = Diagnostic::error("there is no `as`", here);
                Some(error.with_help("`u8(…)` cuts a value to eight bits; otherwise values have no types"))
            }
            _ => None,
        }
    }

    /// The word before the parenthesis that was closed last.
    fn called_before(&self) -> Option<&'s str> {
        let mut closed = 0_usize;
        for index in (0..self.at).rev() {
            match self.token_at(index)? {
                Token::Symbol(Symbol::CloseParen) => closed += 1,
                Token::Symbol(Symbol::OpenParen) if closed == 1 => {
                    return match self.token_at(index.checked_sub(1)?)? {
                        Token::Name(word) => Some(word),
                        _ => None,
                    };
                }
                Token::Symbol(Symbol::OpenParen) => closed = closed.checked_sub(1)?,
                _ if closed == 0 => return None,
                _ => {}
            }
        }
        None
    }

    /// The error for `->`.
    fn field(&self) -> Diagnostic {
        let error = Diagnostic::error("there are no fields", self.here().to(self.span(self.at + 1)));
        error.with_help("give each field an array: `address next[4]`, and write `next[node]`")
    }

    /// The error where a body should stand in braces.
    pub(super) fn no_brace(&mut self, what: &str) -> Reported {
        if let Some(error) = self.after_expression() {
            return self.report(error);
        }
        let message = format!("{what} stands in braces, found {}", self.found());
        let help = match self.peek() {
            Some(Token::Symbol(Symbol::Semicolon)) => {
                "write `{ }` for an empty body; `await (…);` waits for a condition"
            }
            _ => "put `{` and `}` around it",
        };
        let error = Diagnostic::error(message, self.here()).with_expected(["`{`"]).with_help(help);
        self.report(error)
    }

    /// The error for Rust's `for i in 0..3 { … }`, behind the `for`.
    pub(super) fn range_loop(&self) -> Option<Diagnostic> {
        let (Some(Token::Name(name)), Some(Token::Name("in"))) = (self.peek(), self.token(1)) else { return None };
        let help = format!("write `for (let {name} = 0; {name} < n; {name}++) {{ … }}`");
        Some(Diagnostic::error("there are no ranges", self.here().to(self.span(self.at + 1))).with_help(help))
    }

    /// The error for `let a, b`.
    pub(super) fn unwanted_list(&mut self) -> Read<()> {
        if self.peek() != Some(Token::Symbol(Symbol::Comma)) {
            return Ok(());
        }
        let error = Diagnostic::error("one `let` declares one register", self.here());
        Err(self.report(error.with_help("write `let a; let b;`")))
    }

    /// The error for `let mut`.
    pub(super) fn unwanted_mut(&mut self) -> Read<()> {
        if self.peek() != Some(Token::Name("mut")) || !matches!(self.token(1), Some(Token::Name(_))) {
            return Ok(());
        }
        let error = Diagnostic::error("every register can be assigned", self.here()).with_help("leave `mut` out");
        Err(self.report(error))
    }

    /// The error for `let r: u32`.
    pub(super) fn unwanted_type(&mut self) -> Read<()> {
        if self.peek() != Some(Token::Symbol(Symbol::Colon)) {
            return Ok(());
        }
        let error = Diagnostic::error("registers have no types", self.here().to(self.span(self.at + 1)));
        Err(self.report(error.with_help("leave the type out; `domain 0..255 wrap` makes all values bytes")))
    }

    /// The error for a token that nothing explains.
    pub(super) fn unexpected(&mut self, expected: &str) -> Reported {
        if self.peek() == Some(Token::Unknown) {
            return Reported;
        }
        let message = format!("expected {expected}, found {}", self.found());
        let error = Diagnostic::error(message, self.here()).with_expected([expected]);
        self.report(error)
    }

    /// The next token for people.
    fn found(&self) -> String {
        match self.peek() {
            Some(Token::Keyword(keyword)) => format!("the keyword `{}`", keyword.spelling()),
            Some(_) => format!("`{}`", self.source.slice(self.here())),
            None if self.source.text[self.here().end..].trim().is_empty() => "the end of the text".to_owned(),
            None => "the end of the declaration".to_owned(),
        }
    }
}

/// The error for `x++`, `x += 2` and the like on memory. What it is in C depends on the type of
/// `x`.
pub(crate) fn memory_change(spelling: &str, operator: Span, sign: &str, target: &str, value: &str) -> Diagnostic {
    let update = match sign {
        "+" => "fetch_add",
        "-" => "fetch_sub",
        "&" => "fetch_and",
        "|" => "fetch_or",
        "^" => "fetch_xor",
        _ => "",
    };
    let error = Diagnostic::error(format!("`{spelling}` is for registers, and `{target}` is memory"), operator);
    let error = error.with_help(format!("write `{target} = {target} {sign} {value};`, a load and a store"));
    if update.is_empty() {
        return error;
    }
    error.with_note(format!(
        "`{update}({target}, {value});` is one locked instruction, as in C where `{target}` is atomic"
    ))
}
