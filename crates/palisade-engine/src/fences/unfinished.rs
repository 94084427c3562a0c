//! Why the search for fences was left unfinished.

use palisade_exploration::instrumented::Fault;
use palisade_model::limits::{Halt, StopReason};
use palisade_model::program::Program;
use std::borrow::Cow;

/// Why the search for fences was left unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// A limit was reached.
    Limit(StopReason),
    /// Values grow without a declared domain, at this step: no search comes to an end. What fences
    /// do is then known from control flow alone, and from violations among the first values.
    Growth(Fault),
}

impl Unfinished {
    /// What a halt means: where values grow, that is the reason in the first place.
    pub(super) fn at(halt: &Halt<Fault>, growth: Option<&Fault>) -> Self {
        match (growth, halt) {
            (Some(fault), _) => Self::Growth(fault.clone()),
            (None, Halt::Stopped(StopReason::Budget) | Halt::Fault(_)) => Self::Limit(StopReason::Inconclusive),
            (None, Halt::Stopped(reason)) => Self::Limit(*reason),
        }
    }

    /// The reason in words, with names.
    pub fn describe(&self, program: &Program) -> String {
        match self {
            Self::Limit(reason) => reason.to_string(),
            Self::Growth(fault) => fault.describe(program),
        }
    }

    /// What the user can do about it, where that is not plain.
    pub fn advice(&self, program: &Program) -> Option<Cow<'static, str>> {
        match self {
            Self::Limit(_) => None,
            Self::Growth(fault) => Some(fault.advice(program)),
        }
    }
}
