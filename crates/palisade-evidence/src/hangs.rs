//! Evidence about who waits for ever: that a program has no stuck state under a memory model, and
//! that it has one.
//!
//! A state is *stuck* when all buffers are empty, every copy has ended, sleeps, or waits, and one
//! of those that sleep or wait must not do so for ever. A copy *waits* when alone, while memory
//! stays as it is, it neither ends, nor stores, changes memory, sleeps, wakes others, or comes to
//! an `assume` that stops it, on any way. CERTIFICATE.md has the definitions in full.

use super::program::RobustCertificate;
use super::property::{BufferConfiguration, BufferedLocal};
use super::pso::PsoCertificate;
use super::stale::StaleCertificate;
use super::state::LocalIndex;
use palisade_model::program::{InstructionId, RegisterId, Value};
use palisade_semantics::graphs::Axioms;
use palisade_semantics::{CopyId, Instance, Model, Step};

/// Why a program has no stuck state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeCertificate {
    /// The memory model.
    pub model: Model,
    /// By the axioms of a language, in place of a model of machines: there are few execution
    /// graphs, none of which ends in a stuck state, or has a race. The set is empty.
    pub graphs: Option<Axioms>,
    /// Whether it is about the program in which no time runs out.
    pub ignores_timeouts: bool,
    /// Whether it shows more: from each configuration, some way lets each copy go on that waits
    /// there and must not wait for ever. No sleeper goes on for no reason on that way.
    pub is_hopeful: bool,
    /// Why interleavings are enough; nothing where the set has store buffers, or the model is SC.
    pub robust: Option<WhyRobust>,
    /// A closed set of configurations, none of which is stuck.
    pub set: WaitingSet,
}

impl FreeCertificate {
    /// The language that it is about, if it is about one.
    pub fn language(&self) -> Option<Axioms> {
        match &self.robust {
            Some(WhyRobust::Language(robust)) => Some(robust.axioms),
            _ => self.graphs,
        }
    }
}

/// Why interleavings are enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyRobust {
    /// The program is robust against TSO.
    Tso(Box<RobustCertificate>),
    /// The program is robust against PSO.
    Pso(Box<PsoCertificate>),
    /// The program is robust against a language. The set is about the program by its language,
    /// under SC.
    Language(Box<StaleCertificate>),
}

/// A set of configurations that holds the initial ones and is closed under all steps, or under
/// enough of them.
///
/// Copies of threads with a fixed number are counted exactly. Those of replicated threads are
/// counted up to [`most`](Self::most); [`Tokens::Omega`](crate::Tokens::Omega) stands for any
/// larger number. Copies that have not moved are not counted: there are as many as one likes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingSet {
    /// For each thread and each of its labels, the registers (ascending) whose values may matter
    /// from there on.
    pub live: Vec<Vec<Vec<RegisterId>>>,
    /// Up to which number copies of replicated threads are counted.
    pub most: u64,
    /// Addresses, ascending, whose values are told apart up to [`most`](Self::most); one more
    /// stands for any larger value.
    pub counters: Vec<Value>,
    /// Sums that no step changes. What breaks one is not listed.
    pub rows: Vec<WaitingRow>,
    /// The local states that configurations refer to.
    pub locals: Vec<WaitingLocal>,
    /// The memories that configurations refer to: ascending addresses with their values. Addresses
    /// left out hold their initial value.
    pub memories: Vec<Vec<(Value, Value)>>,
    /// Whether the set is closed only under the steps of a few copies at each configuration: such
    /// that no other copy ever touches what they touch next, and one of them does not rest.
    pub leaves_out: bool,
    /// The configurations. Copies that have ended and have nothing in their buffers are left out.
    pub configurations: Vec<BufferConfiguration>,
}

/// A weighted sum that no step changes. What it does not list has weight 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingRow {
    /// The sum.
    pub constant: i64,
    /// Weights of local states, for each copy there. States in which copies of replicated threads
    /// begin have none.
    pub locals: Vec<(LocalIndex, i64)>,
    /// Weights of addresses that are no counters holding a value.
    pub values: Vec<(Value, Value, i64)>,
    /// Weights of the values of counters.
    pub counters: Vec<(Value, i64)>,
}

/// A state of one copy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WaitingLocal {
    /// The state, after local instructions have been executed; without a label at its end. Where
    /// local instructions go round without a way out, any label of theirs.
    pub local: BufferedLocal,
    /// The instruction by which it sleeps, at whose label it stands.
    pub asleep: Option<InstructionId>,
}

/// A computation to a stuck state, or to one in which a copy waits that no way lets go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckWitness {
    /// The memory model.
    pub model: Model,
    /// By the axioms of a language, in place of a model of machines: the steps are those of the
    /// program by its language, and make an execution graph that is consistent.
    pub graph: Option<StuckGraph>,
    /// Whether it is about the program in which no time runs out.
    pub ignores_timeouts: bool,
    /// The copy that waits in the last state, and in all that come of it unless sleepers go on for
    /// no reason, whatever others do; nothing where nobody goes on there.
    pub hopeless: Option<CopyId>,
    /// How many copies of each thread run: as many as the program says where it says so.
    pub instance: Instance,
    /// The computation, on a machine on which what waits does wait, and who sleeps does sleep.
    pub steps: Vec<Step>,
}

/// What a computation has besides its steps, where it is an execution graph of a language.
///
/// A step reads the last write of its address and comes last in modification order, unless it is
/// listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckGraph {
    /// By what axioms.
    pub axioms: Axioms,
    /// The steps that read from older writes and come directly behind these, by their positions,
    /// ascending, each with the position of the step that has written; nothing for the initial
    /// value.
    pub older: Vec<(usize, Option<usize>)>,
}
