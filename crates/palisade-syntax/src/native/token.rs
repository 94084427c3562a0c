//! Tokens of the native language.

use palisade_model::program::BinaryOperator;

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

/// The word that declares data.
pub(crate) const PLAIN: &str = "plain";

/// The word before a thread that may wait for ever.
pub(crate) const DAEMON: &str = "daemon";

/// The word before what must hold in the end.
pub(crate) const FINALLY: &str = "finally";

/// The words that begin an item and may be names elsewhere.
pub(crate) const ITEM_WORDS: [&str; 7] = [NEVER, EVENT, TASK, POSTS, PLAIN, DAEMON, FINALLY];

/// The word that waits for the token of the thread.
pub(crate) const PARK: &str = "park";

/// The word that gives a thread its token.
pub(crate) const UNPARK: &str = "unpark";

/// The words before an instruction that waits.
pub(crate) const MARKS: [&str; 2] = ["idle", "timed"];

/// The words that open and close a locked section; in a body in braces they may be procedures.
pub(crate) const LOCKS: [&str; 2] = ["lock", "unlock"];

/// The word for a fence with an ordering.
pub(crate) const FENCE: &str = "fence";

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
        OpenBrace "{",
        CloseBrace "}",
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

impl Symbol {
    /// The binary operator that it is.
    pub(crate) fn operator(self) -> Option<BinaryOperator> {
        use BinaryOperator as Op;
        Some(match self {
            Self::Star => Op::Multiply,
            Self::Slash => Op::Divide,
            Self::Percent => Op::Remainder,
            Self::Plus => Op::Add,
            Self::Minus => Op::Subtract,
            Self::ShiftLeft => Op::ShiftLeft,
            Self::ShiftRight => Op::ShiftRight,
            Self::Less => Op::Less,
            Self::LessOrEqual => Op::LessOrEqual,
            Self::Greater => Op::Greater,
            Self::GreaterOrEqual => Op::GreaterOrEqual,
            Self::Equal => Op::Equal,
            Self::NotEqual => Op::NotEqual,
            Self::BitAnd => Op::BitAnd,
            Self::Caret => Op::BitXor,
            Self::BitOr => Op::BitOr,
            Self::And => Op::And,
            Self::Or => Op::Or,
            _ => return None,
        })
    }
}

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
    /// Stands for a thread with a body in braces, by its number; it is read on its own.
    Braced(usize),
    /// What is no token; it is reported already.
    Unknown,
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Keyword(keyword) => f.write_str(keyword.spelling()),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Decimal(text) => f.write_str(text),
            Self::Symbol(symbol) => f.write_str(symbol.spelling()),
            Self::Braced(_) => f.write_str(Keyword::Thread.spelling()),
            Self::Unknown => f.write_str("?"),
        }
    }
}
