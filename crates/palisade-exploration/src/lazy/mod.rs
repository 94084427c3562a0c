//! Forward exploration of nets that are built while they are explored.
//!
//! A [`LazyNet`] is a Petri net in units: a *control* (one packed state for all units together,
//! hash-consed to a number by the net) and counters (the places that hold tokens). It is not listed
//! but asked for its steps. Where every place is bounded, [`Exploration`] enumerates markings;
//! otherwise it is Karp–Miller's construction \[KM69\] over ω-markings, per control state:
//!
//! * a new node that an old one with the same control covers is not explored: what it can cover,
//!   the old one can;
//! * a node not yet explored that a newer one covers is dropped for the same reason;
//! * a node that strictly covers an ancestor with the same control gets ω where it has more (the
//!   steps between them can be repeated);
//! * *copycat*: when a step from an ω-place leads to a control in which the same step is enabled
//!   again and changes nothing, its target becomes ω at once: the tokens left on the ω-place can
//!   all follow it. This is the acceleration above, applied before the first step instead of after
//!   the second, and makes programs without locked instructions cheap: the tokens of their
//!   replicated threads are then always 0 or ω.
//!
//! Termination with ω follows from Dickson's lemma as for Karp–Miller trees, as long as there are
//! finitely many controls: an infinite branch would contain two nodes with one control, the later
//! strictly covering the earlier, each time adding an ω.
//!
//! The work of a budget is counted in nodes. The room knows nothing of programs, and nothing of
//! nets that are listed.

mod acceleration;
mod covering;
mod frontier;
mod graph;
mod interner;
mod numbers;
mod search;
mod splits;
mod store;
mod tokens;
mod trail;

pub use covering::Mode;
pub(crate) use graph::{Graph, ReachedNode};
pub use interner::Interner;
pub(crate) use numbers::Numbers;
use palisade_model::limits::{Halt, Limits};
pub(crate) use search::check_periodically;
pub use search::{Exploration, Visit};
pub(crate) use splits::{MOST_WAYS, splits};
use std::convert::Infallible;
pub use tokens::{Entry, Tokens, is_covered, put_together, sort_entries, take};

/// One step of a lazily built net: it moves at most one token, and may make another
/// ([`LazyNet::also_puts`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The control after the step.
    pub control: u32,
    /// The place a token is taken from.
    pub take: Option<u32>,
    /// The place a token is put on.
    pub put: Option<u32>,
    /// What the step is, in the net's own numbering.
    pub label: u32,
}

/// Why a net lists no more steps.
pub trait NetError: Sized {
    /// How an exploration ends that meets it. A net that has looked at the limits says which was
    /// reached.
    fn halt(self) -> Halt<Self> {
        Halt::Fault(self)
    }
}

/// A net that lists all its steps.
impl NetError for Infallible {}

/// A Petri net in units that lists the steps of a marking on demand.
pub trait LazyNet {
    /// Why the net has no next marking: a fault of the modelled program, or a limit that was
    /// reached among its local steps.
    type Error: NetError;

    /// Looks at these limits while it lists steps from now on, where a single step may take long.
    fn limit(&mut self, limits: &Limits) {
        let _ = limits;
    }

    /// Appends every step enabled in a marking, in a fixed order.
    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Self::Error>;

    /// Whether a place may hold unboundedly many tokens.
    fn is_unbounded(&self, place: u32) -> bool;

    /// Whether the step, taken once more right after itself from the same place, is enabled, leads
    /// to the same place and leaves the control as it is.
    fn repeats(&mut self, step: &Step) -> Result<bool, Self::Error>;

    /// Puts a marking into the form that stands for it and all others that a symmetry of the net
    /// takes it to; the control then, and the number of the symmetry that does so, 0 for none.
    /// Steps, bounds and repetition have to be the same for all of them. Places may come together
    /// if the form can do all that they can. Nets without symmetries need not say.
    #[inline]
    fn normalise(&mut self, control: u32, entries: &mut Vec<Entry>) -> (u32, u32) {
        let _ = entries;
        (control, 0)
    }

    /// The symmetry that two symmetries make, one after the other.
    #[inline]
    fn together(&mut self, first: u32, second: u32) -> u32 {
        first.max(second)
    }

    /// The places that a place is taken to by the symmetry between two others, again and again,
    /// without end; none where they are too many.
    #[inline]
    fn orbit(&mut self, from: u32, to: u32, place: u32) -> Vec<u32> {
        debug_assert_eq!(from, to, "a net without symmetries");
        vec![place]
    }

    /// Takes away, from the tokens that a step leaves where they are, those that cannot be there
    /// after it.
    #[inline]
    fn make_room(&self, step: &Step, entries: &mut Vec<Entry>) {
        let _ = (step, entries);
    }

    /// A place on which the step puts one more token. Nets whose steps move tokens only need not
    /// say.
    #[inline]
    fn also_puts(&self, step: &Step) -> Option<u32> {
        let _ = step;
        None
    }
}
