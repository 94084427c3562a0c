//! Trencher's format: threads as automata with prefix expressions, a state per label.
//!
//! A text is a sequence of words. `thread NAME`, `initial STATE`, `transition FROM TO INSTRUCTION`
//! and `end` describe the threads; instructions are `read REGISTER ADDRESS`, `write VALUE ADDRESS`
//! (the value first), `local REGISTER VALUE`, `check CONDITION`, `mfence`, `noop`, `lock` and
//! `unlock`. Every name in an expression is a register, every address a number. A word that starts
//! with `#` opens a comment up to the end of its line.

mod printer;
mod reader;
mod words;

pub(super) use printer::print;
pub(super) use reader::parse;
pub(super) use words::{Word, Words};
