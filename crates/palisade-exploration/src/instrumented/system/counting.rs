//! The counters of a program as searches share them, and whether what is assumed of them holds.

use palisade_model::program::{Counters, InstructionId, Member, ThreadId, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The classes that a search turns.
#[derive(Clone, Debug)]
pub struct Counting {
    /// The classes.
    pub(crate) counters: Arc<Counters>,
    /// Whether a computed address was not where it was assumed to be: then what was explored means
    /// nothing.
    is_broken: Arc<AtomicBool>,
    /// Of each class the address whose value says which turn is taken.
    references: Arc<[Value]>,
    /// Of each class the greatest value that stands for all that are less, where what is far behind
    /// is one value.
    ends: Arc<[Option<Value>]>,
}

impl Counting {
    /// The classes, if there are any.
    pub fn of(counters: Arc<Counters>) -> Option<Self> {
        let references = counters.classes().iter().map(|class| class.reference).collect();
        let ends = vec![None; counters.classes().len()].into();
        (!counters.is_empty()).then(|| Self { counters, is_broken: Arc::default(), references, ends })
    }

    /// The classes, in which what is at most an end is one value for each residue; each relative to
    /// one of its addresses.
    #[must_use]
    pub fn with_ends(self, references: Vec<Value>, ends: Vec<Value>) -> Self {
        Self { references: references.into(), ends: ends.into_iter().map(Some).collect(), ..self }
    }

    /// Of each class the address whose value says which turn is taken.
    pub(super) fn references(&self) -> &[Value] {
        &self.references
    }

    /// Whether values of a class stand for others.
    pub(super) fn has_end(&self, class: usize) -> bool {
        self.ends[class].is_some()
    }

    /// Whether any values stand for others.
    pub(in crate::instrumented) fn has_ends(&self) -> bool {
        self.ends.iter().any(Option::is_some)
    }

    /// A member's value after a turn, or the one that stands for it.
    pub(super) fn turned(&self, member: Member, value: Value, by: Value) -> Value {
        let value = self.counters.turned(member, value, by);
        match self.ends[member.class] {
            Some(end) if value <= end => end - (end - value).rem_euclid(self.counters.classes()[member.class].step),
            _ => value,
        }
    }

    /// Whether a computed address was not where it was assumed to be.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Notes an access of an instruction to a computed address.
    pub(super) fn note_access(&self, at: (ThreadId, InstructionId), address: Value) {
        if self.counters.is_broken_by(at, address) {
            self.is_broken.store(true, Ordering::Relaxed);
        }
    }
}
