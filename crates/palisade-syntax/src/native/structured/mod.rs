//! Threads with bodies in braces: the native language in C's dress.
//!
//! [`split`] takes them out of the tokens of a text, [`parser`] reads them into the tree of
//! [`braced`](super::braced), and [`lower`] makes each a control-flow automaton of the language. A
//! label of the automaton is called after the line on which its statement stands, `L12`, unless the
//! text names it. [`edit`] puts fences into such texts. This room uses the tokens and expressions
//! of the language around it.

mod edit;
mod habits;
mod lower;
mod outcomes;
mod parser;
mod split;
mod statements;

pub(crate) use edit::inserted;
pub(crate) use habits::memory_change;
pub(crate) use lower::{Context, Layout, StoreText, lower, negated};
pub(crate) use parser::WORDS;
pub(crate) use split::split;
