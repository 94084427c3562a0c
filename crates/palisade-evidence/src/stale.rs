//! Evidence about robustness against C11 and release/acquire: an invariant of the instrumented
//! semantics, or an execution graph.

use crate::{LocalIndex, LocalState, MemoryIndex, Tokens};
use palisade_model::program::{LabelId, RegisterId, ThreadId, Value};
use palisade_semantics::graphs::Axioms;
use palisade_semantics::{Instance, Step};

/// What a thread knows of the guessed access, as numbers: whether a path leads from the access to
/// it, what it knows now, what it will know behind an acquire fence, what it knew at its last
/// release fence, and the families of paths of which it has made a reached sequentially consistent
/// access. CERTIFICATE.md lists the bits.
pub type StaleView = [u8; 5];

/// What is known at an address, as numbers: the strongest access on a path, the message of its last
/// write, by family the strongest access behind a reached fence, and the families of which an
/// access, and the last write, is reached. CERTIFICATE.md lists the bits.
pub type StaleLocation = [u8; 6];

/// Why a program is robust: a set of configurations of its instrumented semantics that contains the
/// initial ones, is closed under all steps and has no success. CERTIFICATE.md restates the
/// semantics in full.
///
/// ω and downward closure are as in [`RobustCertificate`](crate::RobustCertificate).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleCertificate {
    /// Against what.
    pub axioms: Axioms,
    /// For each thread and each of its labels, the registers (ascending) whose values may matter
    /// from there on.
    pub live: Vec<Vec<Vec<RegisterId>>>,
    /// What configurations leave out of what threads know.
    pub forgotten: Vec<Forgotten>,
    /// The addresses at which configurations do not say what the last write's message is,
    /// ascending.
    pub unheard: Vec<Value>,
    /// Where the set is closed up to shifts of counters alone: the address of a class of which
    /// values are not told apart that are as far behind, or farther, ascending, with the distance.
    /// It may be empty. Nothing where it is closed as it stands.
    pub shifts: Option<Vec<(Value, Value)>>,
    /// The local states that configurations refer to.
    pub locals: Vec<LocalState>,
    /// The memories that configurations refer to.
    pub memories: Vec<Vec<(Value, Value)>>,
    /// The set.
    pub configurations: Vec<StaleConfiguration>,
}

/// What configurations leave out of what threads at a label know. To leave out facts is sound: a
/// thread that knows less can do more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Forgotten {
    /// The thread.
    pub thread: ThreadId,
    /// The label.
    pub label: LabelId,
    /// Whether it will know no more behind an acquire fence than now.
    pub acquirable: bool,
    /// Whether it knew nothing at its last release fence.
    pub released: bool,
    /// Whether it knows nothing at all.
    pub everything: bool,
}

/// A configuration: under SC, or with a guessed access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StaleConfiguration {
    /// The memory.
    pub memory: MemoryIndex,
    /// The attack.
    pub attack: Option<StaleAttack>,
    /// How many copies are in which local state, with what they know; each at most once.
    pub tokens: Vec<(LocalIndex, StaleView, Tokens)>,
}

/// A guessed access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StaleAttack {
    /// Its address.
    pub address: Value,
    /// What it is the first access of.
    pub goal: StaleGoal,
    /// What is known at addresses, ascending.
    pub locations: Vec<(Value, StaleLocation)>,
}

/// What a guessed access is to lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StaleGoal {
    /// A later event reads what it has overwritten, or comes right before it in modification order.
    Stale {
        /// The overwritten value, where an access of the address waits or compares.
        old: Option<Value>,
        /// Whether it is part of an update, and another copy may write the address.
        is_update: bool,
    },
    /// A race with it.
    Race {
        /// Whether it writes.
        writes: bool,
        /// Whether it is plain.
        is_plain: bool,
    },
}

/// Why a program is not robust, or has a race: an interleaving and one event more.
///
/// It is valid when the steps are an interleaving of the instance, the last step can be taken where
/// its address holds what `reads_from` has written, and
///
/// - for [`StaleClaim::BeyondSc`], the execution graph of the steps with the last event, which
///   reads from that write and stands directly behind it in modification order, is consistent and
///   not one of an interleaving;
/// - for [`StaleClaim::Race`], the last event reads from the last write, and the graph has a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphWitness {
    /// By what axioms.
    pub axioms: Axioms,
    /// What it shows.
    pub claim: StaleClaim,
    /// How many copies of each thread run: as many as the program says where it says so.
    pub instance: Instance,
    /// The interleaving.
    pub steps: Vec<Step>,
    /// The last event.
    pub last: Step,
    /// The position in `steps` of the write; nothing for the initial value.
    pub reads_from: Option<usize>,
}

/// What a graph shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StaleClaim {
    /// No interleaving makes it.
    BeyondSc,
    /// It has a race.
    Race,
}
