//! The part of `palisade/fences/1` that is about pairs of statements.

use palisade_engine::properties::placement::pairs::Pair;
use palisade_model::program::{InstructionId, Program, ThreadId};
use serde::Serialize;

/// The pairs of statements that must not be reordered.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PairsDocument<'a> {
    /// The method: `te`, `fi`, `robmc` or `robmc-et`.
    pub method: &'static str,
    /// A smallest set of pairs to ban; null when none is known.
    pub bans: Option<Vec<PairPlace<'a>>>,
    /// Whether it is proved that the bans suffice.
    pub proved: bool,
    /// Minimal sets of pairs that runs to a violation reorder.
    pub culprits: Vec<Vec<PairPlace<'a>>>,
    /// How many pairs control flow and the model admit.
    pub candidates: usize,
    /// The bounds on reordered pairs that were asked, in order.
    pub bounds: Vec<usize>,
    /// All smallest sets known, where they were asked for.
    pub alternatives: Vec<Vec<PairPlace<'a>>>,
}

/// A pair of statements.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PairPlace<'a> {
    /// The thread.
    pub thread: &'a str,
    /// The store.
    pub store: StatementPlace<'a>,
    /// The access that must not overtake it.
    pub access: StatementPlace<'a>,
}

/// A statement of a thread.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatementPlace<'a> {
    /// Its label.
    pub label: &'a str,
    /// Its line.
    pub line: usize,
}

impl<'a> PairPlace<'a> {
    fn new(program: &'a Program, pair: Pair) -> Self {
        let place = |instruction| StatementPlace::new(program, pair.thread, instruction);
        Self { thread: &program.thread(pair.thread).name, store: place(pair.store), access: place(pair.access) }
    }

    pub(super) fn all(program: &'a Program, pairs: &[Pair]) -> Vec<Self> {
        pairs.iter().map(|pair| Self::new(program, *pair)).collect()
    }
}

impl<'a> StatementPlace<'a> {
    fn new(program: &'a Program, thread: ThreadId, instruction: InstructionId) -> Self {
        let template = program.thread(thread);
        let found = template.instruction(instruction);
        Self { label: &template.label(found.source).name, line: program.source.position(found.span.start).line }
    }
}
