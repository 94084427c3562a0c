//! Why the grammar failed: what was found and what was expected, cheap to make and to merge.
//!
//! A parser by alternatives makes and drops an error for every alternative that does not fit. Here
//! an error is a few machine words: the expectations are the bits of one number.

use super::lexer::{Spanned, begins_name};
use super::token::{DAEMON, FINALLY, ITEM_WORDS, Keyword, LOCKS, PLAIN, POST, Symbol, Token};
use crate::Diagnostic;
use crate::suggest::closest;
use chumsky::DefaultExpected;
use chumsky::error::{Error, LabelError};
use chumsky::input::ValueInput;
use chumsky::span::SimpleSpan;
use chumsky::util::MaybeRef;
use palisade_model::text::{SourceText, Span};

/// What a reader of the text would call a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Construct {
    ProgramName,
    ThreadName,
    AddressName,
    Label,
    Register,
    Number,
    Value,
    AnyValue,
    LockedUpdate,
    Operator,
    Instruction,
    EndOfText,
    Never,
    At,
    Event,
    EventName,
    Task,
    TaskName,
    Posts,
    Posting,
    Executor,
    When,
}

const CONSTRUCTS: [(Construct, &str); 22] = [
    (Construct::ProgramName, "the program's name"),
    (Construct::ThreadName, "the thread's name"),
    (Construct::AddressName, "an address name"),
    (Construct::Label, "a label"),
    (Construct::Register, "a register"),
    (Construct::Number, "a number"),
    (Construct::Value, "an expression"),
    (Construct::AnyValue, "`*`"),
    (Construct::LockedUpdate, "a locked update"),
    (Construct::Instruction, "an instruction"),
    (Construct::Operator, "an operator"),
    (Construct::EndOfText, "the end of the text"),
    (Construct::Never, "`never`"),
    (Construct::At, "`at`"),
    (Construct::Event, "`event`"),
    (Construct::EventName, "the event's name"),
    (Construct::Task, "`task`"),
    (Construct::TaskName, "the task's name"),
    (Construct::Posts, "`posts`"),
    (Construct::Posting, "`drain` or `plain`"),
    (Construct::Executor, "`main` or `any`"),
    (Construct::When, "`when`"),
];

/// A set of constructs, keywords and symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Expectations(u64);

impl Expectations {
    fn construct(construct: Construct) -> Self {
        Self(1 << construct as u32)
    }

    fn keyword(keyword: Keyword) -> Self {
        Self(1 << (CONSTRUCTS.len() + keyword as usize))
    }

    /// Symbols after `=` are operators, expected as such.
    fn symbol(symbol: Symbol) -> Self {
        if symbol as u32 > Symbol::Equal as u32 {
            return Self::construct(Construct::Operator);
        }
        Self(1 << (CONSTRUCTS.len() + Keyword::ALL.len() + symbol as usize))
    }

    fn token(token: Token<'_>) -> Self {
        match token {
            Token::Keyword(keyword) => Self::keyword(keyword),
            Token::Symbol(symbol) => Self::symbol(symbol),
            Token::Braced(_) => Self::keyword(Keyword::Thread),
            Token::Name(_) | Token::Integer(_) | Token::Decimal(_) | Token::Unknown => Self::default(),
        }
    }

    fn contains(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The members for people, constructs before keywords before symbols.
    fn names(self) -> Vec<String> {
        let constructs = CONSTRUCTS.iter().filter(|(construct, _)| self.contains(Self::construct(*construct)));
        let keywords = Keyword::ALL.iter().filter(|keyword| self.contains(Self::keyword(**keyword)));
        let symbols =
            Symbol::ALL.iter().filter(|symbol| symbol_itself(**symbol) && self.contains(Self::symbol(**symbol)));
        constructs
            .map(|(_, name)| (*name).to_owned())
            .chain(keywords.map(|keyword| format!("`{}`", keyword.spelling())))
            .chain(symbols.map(|symbol| format!("`{}`", symbol.spelling())))
            .collect()
    }
}

fn symbol_itself(symbol: Symbol) -> bool {
    symbol as u32 <= Symbol::Equal as u32
}

/// The furthest place the grammar got to, and what it looked for there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure<'s> {
    /// The number of the token there.
    at: usize,
    found: Option<Token<'s>>,
    expected: Expectations,
}

impl<'t, 's: 't, I> Error<'t, I> for Failure<'s>
where
    I: ValueInput<'t, Token = Token<'s>, Span = SimpleSpan>,
{
    fn merge(mut self, other: Self) -> Self {
        self.expected.0 |= other.expected.0;
        self
    }
}

impl<'t, 's: 't, I> LabelError<'t, I, DefaultExpected<'t, Token<'s>>> for Failure<'s>
where
    I: ValueInput<'t, Token = Token<'s>, Span = SimpleSpan>,
{
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'t, Token<'s>>>>(
        expected: E,
        found: Option<MaybeRef<'t, Token<'s>>>,
        span: SimpleSpan,
    ) -> Self {
        let mut all = Expectations::default();
        for item in expected {
            all.0 |= match item {
                DefaultExpected::Token(token) => Expectations::token(*token).0,
                DefaultExpected::EndOfInput => Expectations::construct(Construct::EndOfText).0,
                _ => 0,
            };
        }
        Self { at: span.start, found: found.map(|token| *token), expected: all }
    }
}

impl<'t, 's: 't, I> LabelError<'t, I, Construct> for Failure<'s>
where
    I: ValueInput<'t, Token = Token<'s>, Span = SimpleSpan>,
{
    fn expected_found<E: IntoIterator<Item = Construct>>(
        expected: E,
        found: Option<MaybeRef<'t, Token<'s>>>,
        span: SimpleSpan,
    ) -> Self {
        let all = expected.into_iter().fold(0, |all, construct| all | Expectations::construct(construct).0);
        Self { at: span.start, found: found.map(|token| *token), expected: Expectations(all) }
    }

    fn label_with(&mut self, construct: Construct) {
        self.expected = Expectations::construct(construct);
    }
}

impl Failure<'_> {
    /// The failure for people; suggestions come from the tokens around it. None where it is said
    /// already that something is no token.
    pub(crate) fn diagnostic(&self, tokens: &[Spanned<'_>], source: &SourceText) -> Option<Diagnostic> {
        let end = source.text.len();
        let span = tokens.get(self.at).map_or(Span { start: end, end }, |(_, span)| *span);
        let found = match self.found {
            Some(Token::Unknown) => return None,
            Some(Token::Integer(value)) if source.slice(span).starts_with(begins_name) => {
                format!("the constant `{}`, which stands for {value}", source.slice(span))
            }
            Some(Token::Keyword(keyword)) => format!("the keyword `{}`", keyword.spelling()),
            Some(token) => format!("`{token}`"),
            None => "the end of the text".to_owned(),
        };
        let mut expected = self.expected.names();
        if self.expects_item() {
            // What the grammar does not read itself.
            expected.extend([PLAIN, DAEMON, FINALLY, "proc", "const"].map(|word| format!("`{word}`")));
        }
        let message = match expected.as_slice() {
            [one] => format!("expected {one}, found {found}"),
            [one, other] => format!("expected {one} or {other}, found {found}"),
            _ => format!("unexpected {}", found.strip_prefix("the ").unwrap_or(&found)),
        };
        Some(Diagnostic::error(message, span).with_expected(expected).with_help_if(self.help(tokens)))
    }

    /// Whether an item of the program may stand there.
    fn expects_item(&self) -> bool {
        self.expected.contains(Expectations::construct(Construct::Never))
    }

    /// `post p();` does not say where, `post main();` not what.
    fn help_with_post(&self, before: &[Spanned<'_>]) -> Option<String> {
        let [.., (Token::Name(POST), _), (Token::Name(word), _)] = before else { return None };
        if !self.expected.contains(Expectations::construct(Construct::TaskName)) {
            return None;
        }
        Some(match *word {
            "main" | "any" => format!("`{word}` says where a task runs: `post {word} task()`"),
            task => {
                format!("say where `{task}` runs: `post main {task}()`, or `post any {task}()` on a thread of its own")
            }
        })
    }

    /// What to write for what people write who come from C or Rust.
    fn habit(&self, before: Option<Token<'_>>, tokens: &[Spanned<'_>], at: usize) -> Option<String> {
        let after = tokens.get(at + 1).map(|(token, _)| *token);
        let help = match (before, self.found?) {
            (_, Token::Symbol(Symbol::OpenBrace)) => {
                "a body in braces stands right behind the thread's name and copies, `thread t [2] { … }`; `let` declares its registers"
            }
            (_, Token::Symbol(Symbol::CloseBrace)) => "no brace is open here",
            (None, Token::Name(word)) if closest(word, [Keyword::Program.spelling()]).is_none() => {
                let item = of_item(word).map(|item| format!("; {item}"));
                return Some(format!("a text begins with `program` and a name{}", item.unwrap_or_default()));
            }
            (Some(before), Token::Symbol(Symbol::OpenParen)) if takes_no_operands(before) => {
                return Some(format!(
                    "`{before}` takes no operands; in a body in braces a lock is a procedure, `proc lock(l) {{ … }}`"
                ));
            }
            (_, Token::Symbol(symbol @ (Symbol::Plus | Symbol::Minus)))
                if after == Some(Token::Symbol(symbol)) || after == Some(Token::Symbol(Symbol::Equal)) =>
            {
                let sign = symbol.spelling();
                return Some(format!(
                    "write `r <- r {sign} 1`; in memory that is a load, an addition and a store, or `fetch_add(mem[x], {})`",
                    if sign == "+" { "1" } else { "-1" }
                ));
            }
            (_, Token::Name(word)) if self.expected.contains(Expectations::construct(Construct::Number)) => {
                return Some(format!("a constant is declared by `const {word} = …;`"));
            }
            (_, Token::Name(word)) if self.expected.contains(Expectations::keyword(Keyword::Address)) => of_item(word)?,
            (_, Token::Keyword(keyword @ (Keyword::Ensure | Keyword::Assert))) if self.expects_item() => {
                of_item(keyword.spelling())?
            }
            (Some(Token::Name(_)), Token::Symbol(Symbol::OpenParen))
                if self.expected.contains(Expectations::keyword(Keyword::Init)) =>
            {
                "a thread has no parameters: `thread t { … }`, `thread t [3] { … }` for three copies"
            }
            (_, Token::Name(word)) => of_word(word)?,
            (Some(Token::Name(word)), _)
                if self.expected.contains(Expectations::symbol(Symbol::Colon))
                    || self.expected.contains(Expectations::symbol(Symbol::Arrow)) =>
            {
                of_word(word)?
            }
            _ => return None,
        };
        Some(help.to_owned())
    }

    fn help(&self, tokens: &[Spanned<'_>]) -> Option<String> {
        let at = self.at;
        let before = at.checked_sub(1).map(|index| tokens[index].0);
        let expects_name = [Construct::Label, Construct::Register, Construct::ThreadName, Construct::AddressName]
            .into_iter()
            .any(|construct| self.expected.contains(Expectations::construct(construct)));
        let arrow_expected = self.expected.contains(Expectations::symbol(Symbol::Arrow));
        if let Some(help) = self.help_with_post(&tokens[..at]).or_else(|| self.habit(before, tokens, at)) {
            return Some(help);
        }
        match self.found {
            Some(Token::Symbol(Symbol::Equal)) if arrow_expected => {
                return Some("a value is assigned with `<-`".to_owned());
            }
            Some(Token::Symbol(Symbol::Arrow)) if !arrow_expected => {
                return Some("`<-` assigns; leave a space in `< -` to compare with a negative number".to_owned());
            }
            Some(Token::Name(word)) => {
                let keywords = Keyword::ALL.iter().filter(|keyword| {
                    self.expected.contains(Expectations::keyword(**keyword))
                        || (keyword.begins_instruction()
                            && self.expected.contains(Expectations::construct(Construct::Instruction)))
                });
                let words = ITEM_WORDS.into_iter().filter(|_| self.expects_item());
                if let Some(keyword) = closest(word, keywords.map(|keyword| keyword.spelling()).chain(words)) {
                    return Some(format!("did you mean `{keyword}`?"));
                }
            }
            Some(Token::Keyword(keyword)) if expects_name => {
                let word = keyword.spelling();
                if !self.expected.contains(Expectations::keyword(Keyword::End)) {
                    return Some(format!("`{word}` is a keyword and cannot be a name; `{word}_` can"));
                }
            }
            _ => {}
        }
        if self.found == Some(Token::Symbol(Symbol::Comma))
            && let Some(word) = called(&tokens[..at])
        {
            // `xhcg(mem[x], 1)`: the grammar took the misspelt word for a function.
            let updates = [Keyword::Cas, Keyword::Xchg, Keyword::FetchAdd, Keyword::Rmw];
            let keyword = closest(word, updates.map(Keyword::spelling))?;
            return Some(format!("did you mean `{keyword}`?"));
        }
        // `mfnce; goto l1;`: the grammar took the misspelt word for a register or a label.
        let Some(Token::Name(word)) = before else { return None };
        if LOCKS.contains(&word) {
            return None;
        }
        let keyword = closest(word, Keyword::ALL.iter().map(|keyword| keyword.spelling()).chain(LOCKS))?;
        Some(format!("is `{word}` meant to be `{keyword}`?"))
    }
}

/// What to write for a word of C or Rust where an item of the program is expected.
fn of_item(word: &str) -> Option<&'static str> {
    Some(match word {
        "int" | "unsigned" | "long" | "bool" | "char" | "static" | "shared" | "global" | "var" | "let"
        | "atomic_int" | "_Atomic" | "extern" => {
            "memory that threads share is declared by `address x, slot[4]`, its values at the start by `initial x = 1`"
        }
        "volatile" => {
            "`volatile` makes no access atomic, and orders nothing: declare `address x`, or `plain x` for data that is not atomic"
        }
        "void" | "fn" | "def" | "func" | "function" | "inline" => "a procedure is `proc name(parameters) { … }`",
        "define" | "enum" => "a constant is `const N = 3;`",
        "ensure" | "assert" | "exists" | "forall" => {
            "what memory must hold in the end is stated by `finally { ensure x == 1; }`"
        }
        _ => return None,
    })
}

/// What to write for a word of C or Rust where an instruction is expected.
fn of_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "if" | "else" | "while" | "loop" | "let" | "await" | "choose" | "break" | "continue" | "atomic" => {
            "statements like this one stand in a body in braces, `thread t { … }`; in the older form conditions are \
             `assert` at two lines with one label"
        }
        "for" | "do" | "switch" => "there is none; a body in braces, `thread t { … }`, has `while`, `loop` and `if`",
        "return" | "exit" | "stop" => "`goto end` stops the thread",
        "fence" | "barrier" | "atomic_thread_fence" | "smp_mb" => {
            "a full fence is `mfence`, one for stores alone `sfence`"
        }
        "pause" | "yield" => "write `nop`",
        "int" | "unsigned" | "var" => {
            "registers are declared behind the thread's name: `thread t regs r, s init a begin`"
        }
        _ => return None,
    })
}

/// Whether the word begins an instruction that people write with operands elsewhere.
fn takes_no_operands(word: Token<'_>) -> bool {
    match word {
        Token::Keyword(keyword) => matches!(keyword, Keyword::Mfence | Keyword::Sfence),
        Token::Name(word) => LOCKS.contains(&word),
        _ => false,
    }
}

/// The name before the innermost parenthesis that is open after the tokens.
fn called<'s>(tokens: &[Spanned<'s>]) -> Option<&'s str> {
    let mut closed = 0usize;
    let open = tokens.iter().rposition(|(token, _)| match token {
        Token::Symbol(Symbol::CloseParen) => {
            closed += 1;
            false
        }
        Token::Symbol(Symbol::OpenParen) if closed > 0 => {
            closed -= 1;
            false
        }
        token => *token == Token::Symbol(Symbol::OpenParen),
    })?;
    match tokens[..open].last() {
        Some((Token::Name(name), _)) => Some(name),
        _ => None,
    }
}
