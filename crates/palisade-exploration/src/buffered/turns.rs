//! The turns that an exploration of buffers takes, by number, and what they make of its parts.

use crate::instrumented::Fault;
use crate::instrumented::system::Counting;
use crate::lazy::Interner;
use palisade_model::program::Value;
use rustc_hash::FxHashMap;

/// The turns that an exploration takes.
#[derive(Clone, Debug)]
pub(super) struct Turned {
    pub(super) counting: Counting,
    /// For each class by how much its members are turned. Turn 0 is none.
    pub(super) turns: Interner<Box<[Value]>>,
    /// What controls become, with the turn.
    pub(super) controls: FxHashMap<u32, (u32, u32)>,
    /// What places become by a turn.
    pub(super) places: FxHashMap<(u32, u32), u32>,
    /// The fault that turns have led to more values than are admitted.
    pub(super) overgrown: Option<Fault>,
}

impl Turned {
    /// No turn has been taken.
    pub(super) fn new(counting: Counting) -> Self {
        let mut turns = Interner::default();
        turns.intern(vec![0; counting.counters.classes().len()].into_boxed_slice());
        Self { counting, turns, controls: FxHashMap::default(), places: FxHashMap::default(), overgrown: None }
    }
}
