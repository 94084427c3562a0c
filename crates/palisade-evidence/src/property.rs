//! Evidence that a program never reaches its targets under a memory model, and that it does.
//!
//! A [`PropertyEvidence`] gives a reason for each target: closed value sets, robustness with a
//! closed set of SC configurations – of the program or an enriched one –, a closed set of
//! configurations with store buffers, or one of configurations with snapshots. Store buffers are
//! *unbounded* in the semantics that a checker follows: whatever bound a search has used is no part
//! of the evidence, and a set that such a bound has cut off is not closed. CERTIFICATE.md states
//! the semantics and the reductions in full.

use super::program::{MemoryIndex, RobustCertificate};
use super::pso::PsoCertificate;
use super::state::{LocalIndex, Tokens};
use super::tasks::TaskCertificate;
use palisade_model::program::{InstructionId, LabelId, RegisterId, ThreadId, Value};
use palisade_semantics::{Instance, Model, Step, Target};

/// Why a program never reaches some targets under a memory model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyEvidence {
    /// The memory model.
    pub model: Model,
    /// The proofs. Each target is shown by one of them at most; a target that none shows is not
    /// claimed.
    pub proofs: Vec<PropertyProof>,
    /// Of a program of events and tasks whose posts are plain, under TSO: why it is robust. The
    /// proofs are then about posts that drain.
    pub plain_posts: Option<TaskCertificate>,
}

/// Why a program never reaches these targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyProof {
    /// The targets, strictly ascending; at least one.
    pub targets: Vec<Target>,
    /// For each thread, the instructions (strictly ascending) that do not matter for these targets.
    /// The reason is about the *sliced program*: assignments, `r <- *`, `assert`, `nop`, loads,
    /// stores and `ensure` of the slice are `nop` there, and its locked read-modify-writes are
    /// `mfence`. Other instructions cannot be in a slice.
    pub slice: Vec<Vec<InstructionId>>,
    /// Bounds on the values of the *whole* program. They bound the addresses of accesses whose
    /// address is not a constant, which the slice and the silent addresses depend on. Without them
    /// such an access may be to any address.
    pub bounds: Option<ValueInvariant>,
    /// Why the sliced program never reaches the targets.
    pub reason: PropertyReason,
}

/// Why the sliced program never reaches the targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyReason {
    /// Values that registers and memory can have, in any order of steps: for every model and any
    /// number of threads.
    Values(ValueInvariant),
    /// The sliced program is robust, and its SC configurations reach no target. Only for TSO.
    Robust {
        /// Why the sliced program is robust.
        certificate: Box<RobustCertificate>,
        /// A closed set of SC configurations of the sliced program.
        sc: BufferInvariant,
    },
    /// The sliced program is robust against PSO, and its SC configurations reach no target. Only
    /// for PSO, and not about final states.
    Pso {
        /// Why the sliced program is robust against PSO.
        certificate: Box<PsoCertificate>,
        /// A closed set of SC configurations of the sliced program.
        sc: BufferInvariant,
    },
    /// The interleavings of the sliced program, known up to what its counters tell, reach no
    /// target; under TSO the sliced program is robust besides. Only for SC and TSO, and not about
    /// final states.
    Counters {
        /// Under TSO, why the sliced program is robust.
        certificate: Option<Box<RobustCertificate>>,
        /// A set of SC configurations, closed up to what the certificate says of counters, of the
        /// sliced program with a `fail` wherever a target is violated. It answers no attack.
        sc: Box<RobustCertificate>,
    },
    /// The sliced program *enriched* for some loads is robust, and its SC configurations reach
    /// neither a target nor the end of the room that its threads have. Only for TSO.
    Enriched {
        /// For each thread, the loads (strictly ascending) that drain the store buffer.
        loads: Vec<Vec<InstructionId>>,
        /// How many stores a thread has room for to keep.
        room: usize,
        /// Why the enriched program is robust.
        certificate: Box<RobustCertificate>,
        /// A closed set of SC configurations of the enriched program.
        sc: BufferInvariant,
    },
    /// A closed set of configurations with store buffers; under SC the buffers are empty.
    Buffers(BufferInvariant),
    /// A closed set of configurations in which stores reach memory at once and loads lag behind on
    /// snapshots. Only for TSO.
    Snapshots(BufferInvariant),
}

/// The values from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// The least value.
    pub low: Value,
    /// The greatest value.
    pub high: Value,
}

/// Values that registers and memory can have: the initial ones, and closed under every instruction
/// by itself, in whichever thread it stands and whatever has come before. A load may take any value
/// that its addresses can have.
///
/// A set of values is a list of intervals, at least one, ascending, which neither overlap nor
/// touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueInvariant {
    /// For each thread and each of its registers, the values it can have.
    pub registers: Vec<Vec<Vec<Interval>>>,
    /// What addresses can hold, ascending and disjoint. Addresses left out hold their initial
    /// values for ever.
    pub memory: Vec<AddressInterval>,
}

/// The values that each of some consecutive addresses can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressInterval {
    /// The addresses.
    pub addresses: Interval,
    /// The values that each of them can hold.
    pub values: Vec<Interval>,
}

/// A closed set of configurations of the sliced program with unbounded store buffers, or (under SC)
/// without.
///
/// As in a [`RobustCertificate`], a configuration with ω stands for all that have any number of
/// tokens there, and a set stands for its downward closure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferInvariant {
    /// For each thread and each of its labels, the registers (ascending) whose values may matter
    /// from there on in the sliced program: any solution of the liveness inequalities. Where a
    /// target is the final states, the registers in the question are live at labels without
    /// instructions.
    pub live: Vec<Vec<Vec<RegisterId>>>,
    /// Addresses, strictly ascending, at which silent stores are left out: a store of the value
    /// that its thread sees there already. Each of them is written by one thread of one copy at
    /// most. Empty under SC.
    pub silent: Vec<Value>,
    /// The local states that configurations refer to.
    pub locals: Vec<BufferedLocal>,
    /// The memories that configurations refer to: ascending addresses with their values. Addresses
    /// left out hold their initial value.
    pub memories: Vec<Vec<(Value, Value)>>,
    /// Configurations: every initial one, and closed under the steps of the model.
    pub configurations: Vec<BufferConfiguration>,
}

/// A state of one thread with its store buffer, after local instructions have been executed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BufferedLocal {
    /// Which thread.
    pub thread: ThreadId,
    /// Where it stands: a label with an instruction that is not local, or, where a target is the
    /// final states, one without instructions. Nothing when the thread executes no further
    /// instruction that is not local; it has stores in its buffer then.
    pub label: Option<LabelId>,
    /// The values of all its registers, 0 for those that are not live at the label, and all 0
    /// without a label.
    pub registers: Vec<Value>,
    /// Whether it has executed `lock` and not yet `unlock`.
    pub holding: bool,
    /// The stores that have not reached memory, oldest first. Where loads lag on snapshots: what
    /// they read, oldest first.
    ///
    /// Under PSO with the marks of `sfence`, in one form: no mark stands first or next to another,
    /// and between two marks the stores are ascending by address, those to one address oldest
    /// first. (The order of stores to different addresses has no meaning there.)
    pub buffer: Vec<BufferEntry>,
}

/// An entry of a store buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BufferEntry {
    /// A store to an address of a value.
    Store(Value, Value),
    /// The mark of an `sfence` (PSO): younger stores wait until all older ones have reached memory.
    Mark,
    /// In a queue of snapshots: memory as it was, with the initial value wherever the thread loads
    /// no more before it drains its buffer. Stores in such a queue are the thread's own ones that
    /// have reached memory since.
    Snapshot(MemoryIndex),
}

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BufferConfiguration {
    /// The memory.
    pub memory: MemoryIndex,
    /// Whether some thread holds the lock.
    pub locked: bool,
    /// How many threads are in which local state, each local state at most once, in any order.
    /// Threads that execute no further instruction that is not local and have nothing in their
    /// buffers are left out.
    pub tokens: Vec<(LocalIndex, Tokens)>,
}

/// A computation that reaches a target under a memory model.
///
/// Its last step executes the target's instruction, an `ensure` whose condition is 0 or a `fail`;
/// stores may be buffered then. Where the target is the final states, it ends in one that answers
/// the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyWitness {
    /// The memory model.
    pub model: Model,
    /// How many copies of each thread run: as many as the program says where it says so.
    pub instance: Instance,
    /// What is reached.
    pub target: Target,
    /// The computation.
    pub steps: Vec<Step>,
}
