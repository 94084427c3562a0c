//! Why code is refused, and what to do about it.

use super::contexts::{ContextId, Place};

/// What is wrong at an instruction, before anything is known of where it stands in the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Objection {
    /// What is wrong, in a sentence without a full stop.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) help: Option<String>,
    /// Whether there may be nothing wrong on each of the ways that lead there.
    pub(crate) on_ways: OnWays,
}

/// What comes of keeping the ways to an instruction apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnWays {
    /// Nothing.
    Nothing,
    /// It may be understood on each of them.
    Understood,
    /// It is understood as it is, and more may be known of it on each of them.
    MoreKnown,
}

impl Objection {
    /// With nothing to do about it.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, on_ways: OnWays::Nothing }
    }

    /// As one that may not be one on each of the ways that lead there.
    pub(crate) fn on_some_ways(self) -> Self {
        Self { on_ways: OnWays::Understood, ..self }
    }

    /// No more than a wish to know more of an instruction.
    pub(crate) fn wish() -> Self {
        Self { on_ways: OnWays::MoreKnown, ..Self::new("more may be known of this on each way") }
    }

    /// With what to do about it.
    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// As one at a place.
    pub(crate) fn at(self, place: Place) -> ObjectionAt {
        ObjectionAt { address: place.address, context: place.context, objection: self }
    }
}

/// An objection at its instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectionAt {
    /// The instruction.
    pub(crate) address: u64,
    /// The calls that led there.
    pub(crate) context: ContextId,
    /// What is wrong.
    pub(crate) objection: Objection,
}

/// Beginnings of the names of functions that people call in roles, and what to do instead. What is
/// not understood lies far inside of them.
const CALLS: [(&str, &str); 5] = [
    ("std::io::stdio::_print", "a role cannot print: leave `println!` out"),
    ("std::io::stdio::_eprint", "a role cannot print: leave `eprintln!` out"),
    ("std::thread::builder::Builder::spawn", "a role starts no threads: make each thread a role"),
    ("std::thread::functions::spawn", "a role starts no threads: make each thread a role"),
    ("alloc::fmt::format", "a role makes no text: leave `format!` and `to_string` out"),
];

/// What to do about a call of a function that people know.
pub(crate) fn advice_on_call(function: &str) -> Option<&'static str> {
    CALLS.iter().find(|(name, _)| function.starts_with(name)).map(|(_, advice)| *advice)
}
