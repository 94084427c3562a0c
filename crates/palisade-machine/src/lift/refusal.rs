//! Why code is refused, and what to do about it.

use super::contexts::{ContextId, Place};

/// What is wrong at an instruction, before anything is known of where it stands in the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Objection {
    /// What is wrong, in a sentence without a full stop.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) help: Option<String>,
}

impl Objection {
    /// With nothing to do about it.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
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
