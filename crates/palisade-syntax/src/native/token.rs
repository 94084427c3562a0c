//! Tokens of the native language.

/// Defines an enum whose variants have a spelling, with a list of all of them.
macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $spelling:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($variant,)+ }

        impl $name {
            /// Every variant, in order of declaration.
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)+];

            /// How it is written.
            pub(crate) fn spelling(self) -> &'static str {
                match self { $(Self::$variant => $spelling,)+ }
            }
        }
    };
}

spelled!(
    /// Words that cannot be names.
    Keyword {
        Program "program",
        Domain "domain",
        Address "address",
        Initial "initial",
        Thread "thread",
        Regs "regs",
        Init "init",
        Begin "begin",
        End "end",
        Goto "goto",
        Mem "mem",
        Mfence "mfence",
        Sfence "sfence",
        Assert "assert",
        Assume "assume",
        Nop "nop",
        Cas "cas",
        Xchg "xchg",
        FetchAdd "fetch_add",
        Rmw "rmw",
        Lock "lock",
        Unlock "unlock",
        Ensure "ensure",
        Fail "fail",
    }
);

/// The word that begins a joint control state; it may be a name elsewhere, as may those below.
pub(crate) const NEVER: &str = "never";

/// The word that begins an event.
pub(crate) const EVENT: &str = "event";

/// The word that begins a task.
pub(crate) const TASK: &str = "task";

/// The word that says what posts do to store buffers.
pub(crate) const POSTS: &str = "posts";

/// The words that begin an item and may be names elsewhere.
pub(crate) const ITEM_WORDS: [&str; 4] = [NEVER, EVENT, TASK, POSTS];

/// The word that begins a post.
pub(crate) const POST: &str = "post";

impl Keyword {
    /// The keyword a word is.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|keyword| keyword.spelling() == word)
    }

    /// Whether instructions begin with it.
    pub(crate) fn begins_instruction(self) -> bool {
        self as u8 >= Self::Mem as u8
    }
}

spelled!(
    /// Punctuation and operators.
    Symbol {
        Colon ":",
        Semicolon ";",
        Comma ",",
        DotDot "..",
        OpenParen "(",
        CloseParen ")",
        OpenBracket "[",
        CloseBracket "]",
        At "@",
        Arrow "<-",
        Equal "=",
        NotEqual "!=",
        LessOrEqual "<=",
        GreaterOrEqual ">=",
        ShiftLeft "<<",
        ShiftRight ">>",
        Less "<",
        Greater ">",
        Plus "+",
        Minus "-",
        Star "*",
        Slash "/",
        Percent "%",
        And "&&",
        Or "||",
        BitAnd "&",
        BitOr "|",
        Caret "^",
        Not "!",
        Tilde "~",
    }
);

/// A token; names and decimals are slices of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    /// A word that is no keyword.
    Name(&'s str),
    /// A keyword.
    Keyword(Keyword),
    /// A natural number.
    Integer(u64),
    /// A number with a decimal point.
    Decimal(&'s str),
    /// Punctuation or an operator.
    Symbol(Symbol),
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Keyword(keyword) => f.write_str(keyword.spelling()),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Decimal(text) => f.write_str(text),
            Self::Symbol(symbol) => f.write_str(symbol.spelling()),
        }
    }
}
