//! The counters of a program as searches share them, and whether what is assumed of them holds.

use palisade_model::program::{Counters, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The classes that a search turns.
#[derive(Clone, Debug)]
pub(in crate::robustness) struct Counting {
    /// The classes.
    pub(in crate::robustness) counters: Arc<Counters>,
    /// Whether a computed address was one of theirs: then they are none, and what was explored means nothing.
    is_broken: Arc<AtomicBool>,
}

impl Counting {
    /// The classes, if there are any.
    pub(in crate::robustness) fn of(counters: Arc<Counters>) -> Option<Self> {
        (!counters.is_empty()).then(|| Self { counters, is_broken: Arc::default() })
    }

    /// Whether a computed address was one of theirs.
    pub(in crate::robustness) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Notes an access to a computed address.
    pub(super) fn note_access(&self, address: Value) {
        if self.counters.class_of_cell(address).is_some() {
            self.is_broken.store(true, Ordering::Relaxed);
        }
    }
}
