//! How much work each round allows: all schedules of the engine, side by side.
//!
//! The unit is a node of an exploration. Exact explorations of fixed copies are cheap per node and
//! take many; for any number of copies a node with ω is dear, and where the ω-search needs many
//! nets are the better method.

use palisade_model::decide::Schedule;

/// The attacks of a program: search, instances and nets until one of them has a verdict.
pub(crate) const CHECK: Schedule = Schedule::growing_from(20_000);

/// Properties, rung by rung: nodes of each exploration.
pub(crate) const PROPERTIES: Schedule = Schedule::growing_from(50_000);

/// Triangular races.
pub(crate) const RACES: Schedule = Schedule::growing_from(50_000);

/// All fences of a program with fixed copies. An exact search takes few nodes for each of its many
/// questions.
pub(crate) const FENCES_FIXED: Schedule = Schedule::growing_from(400_000);

/// All fences of a program with replicated threads.
pub(crate) const FENCES_ANY_NUMBER: Schedule = Schedule::growing_from(20_000);

/// As much work as it takes.
pub(crate) const UNLIMITED: u64 = u64::MAX;

/// Instances with one copy more each that are searched in one round at most.
pub(crate) const INSTANCES: usize = 4;

/// Distinct values of a register or an address admitted, in turn, where a violation is sought among
/// the first values of data that grows.
pub(crate) const CUTS: [usize; 2] = [3, 8];

/// The same where all attacks are one question.
pub(crate) const CUT_IN_ONE_EXPLORATION: usize = 4;

/// Nodes of one exploration of the first values of data that grows: once, whatever the round.
pub(crate) const FIRST_VALUES: u64 = 400_000;

/// Nodes among the first values of counters in a large domain.
pub(crate) const FIRST_COUNTER_VALUES: u64 = 1 << 14;

/// Nodes beside a crowd.
pub(crate) const CROWD: u64 = 1 << 14;

/// Nodes in which two copies act, and all others idle.
pub(crate) const AMONG_TWO: u64 = 50_000;

/// Nodes of an abstraction with few values.
pub(crate) const FEW_RESIDUES: u64 = 1 << 13;

/// Nodes of an abstraction with as many values as there are copies.
pub(crate) const MANY_RESIDUES: u64 = 1 << 17;

/// Nodes of an abstraction in which counts above a few are not told apart.
pub(crate) const BALANCES: u64 = 1 << 13;

/// Nodes of an abstraction in which far counters are not told apart.
pub(crate) const FAR: u64 = 1 << 15;

/// Nodes of an abstraction in which values that grow have their low bits alone.
pub(crate) const LOW_BITS: u64 = 1 << 16;

/// Nodes explored for the labels that are reached, where nothing else explores them.
pub(crate) const REACH: u64 = 20_000;

/// The work that a method may do for one question about fences, for fixed copies, before the next
/// method has its turn.
pub(crate) const QUESTION_FIXED: u64 = 50_000;

/// The same for any number of copies.
pub(crate) const QUESTION_ANY_NUMBER: u64 = 2_000;

/// Nodes of each exploration for all fences, among the first values of data that grows: once.
pub(crate) const FENCES_FIRST_VALUES: u64 = 100_000;

/// Nodes of one exploration for the violations that rows stand for, in an instance with few copies:
/// once.
pub(crate) const ROWS: u64 = 50_000;

/// States that a search for a row of a property visits where it cannot prove anything: with larger
/// buffers, or of instances of a program with any number of copies.
pub(crate) const PROPERTY_ROW: usize = 50_000;

/// The stores that a buffer holds in the first of these searches.
pub(crate) const PROPERTY_ROW_CAPACITY: usize = 4;

/// The states that such a search visits where a proof is tried next.
pub(crate) const PROPERTY_GLANCE: usize = 10_000;

/// Nodes that the rungs for properties have before counters are asked: what takes few needs no more
/// than these.
pub(crate) const BEFORE_COUNTERS: u64 = 1 << 13;

/// The first bound on the stores in a buffer, or the snapshots in a queue; the next is twice as
/// large.
pub(crate) const FIRST_CAPACITY: usize = 2;

/// Beside an exploration, in the same turn, what the nets of attacks may take.
pub(crate) mod nets {
    /// Work on one net for each node that the exploration may have: they take about as long.
    pub(crate) const WORK_PER_NODE: u64 = 15;

    /// All nets of a turn may take so many times the work of the exploration, which decides all
    /// attacks at once.
    pub(crate) const EXPLORATIONS: u64 = 32;

    /// Transitions listed for one net for each such node.
    pub(crate) const TRANSITIONS_PER_NODE: u64 = 4;

    /// Work to list a transition.
    pub(crate) const WORK_PER_TRANSITION: u64 = 12;

    /// So many nets are asked before their work is looked at; then twice as many, and so on.
    pub(crate) const FIRST: usize = 4;
}
