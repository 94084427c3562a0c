//! Properties: can an `ensure` fail, a `fail` be reached, a final state answer a litmus test's
//! question, under SC, TSO or PSO?
//!
//! Targets with the same slice are asked together. What answers is a ladder of *rungs*, the
//! cheapest first; each can be asked alone:
//!
//! | rung | what it explores | what it proves |
//! |---|---|---|
//! | `values` | sets of values for registers and addresses, in any order of steps | conditions that hold whatever happens, for every model |
//! | `sc` | interleavings of the sliced program | the answer under SC; what is violated there is violated under every model |
//! | `buffers` | store buffers of 2, 4, 8, … stores | everything, if no store ever has to wait for room; violations in any case |
//! | `snapshots` | loads that lag behind on snapshots of memory, in place of buffers | everything under TSO, if a thread never needs more of them than it may have; also where buffers grow without end |
//! | `sc-robust` | robustness of the sliced program | under TSO it reaches what it reaches under SC |
//! | `enriched` | robustness and interleavings of a program whose threads keep some stores themselves | everything under TSO, once that program is robust and has room for these stores |
//! | `counters` | interleavings up to turns of counters, or by residues, turns, ends and distances, and robustness likewise | everything under SC, and under TSO where the sliced program is robust: for integers, and domains of any size |
//!
//! `sc-robust` and those after it rest on a lemma: *if a program is robust, a thread of it violates
//! a property under TSO only if one does under SC.* Take a TSO run to the violation by a thread t.
//! Leave out every step of others that comes after another thread's `lock` which is never given
//! back: t was blocked since, so it has read nothing of it. Let all buffers drain; local states
//! stay. The trace of this complete computation is one of SC, whose computation gives t the same
//! loads, and with them the same local states. ∎
//!
//! Everything here may be wrong without a wrong verdict: each answer carries evidence that
//! `palisade-verify` checks.

mod climb;
mod counters;
mod crowd;
mod enrich;
mod known;
mod ladder;
mod posts;
mod replay;
mod run;
mod shorten;
#[cfg(test)]
mod tests;

pub mod placement;
pub mod races;

pub use ladder::{has_end, prove};
pub use palisade_exploration::buffered::targets;
pub use posts::carry_over;
pub use replay::Violation;

use palisade_evidence::{PropertyEvidence, PropertyProof, PropertyWitness, TaskCertificate};
use palisade_model::limits::{Limits, StopReason};
use palisade_semantics::{Model, Target};

/// What answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// Sets of values that know no order of steps.
    Values,
    /// The interleavings.
    Sc,
    /// The interleavings, and robustness.
    ScRobust,
    /// Bounded store buffers that turn out large enough.
    Buffers,
    /// Loads that lag behind on snapshots of memory, of which a bounded number turns out enough.
    Snapshots,
    /// A robust program in which threads keep the stores themselves that some loads overtake.
    Enriched,
    /// The interleavings up to what counters tell, and robustness.
    Counters,
}

impl Rung {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Sc => "sc",
            Self::ScRobust => "sc-robust",
            Self::Buffers => "buffers",
            Self::Snapshots => "snapshots",
            Self::Enriched => "enriched",
            Self::Counters => "counters",
        }
    }
}

/// How to prove.
#[derive(Clone, Debug)]
pub struct ProveOptions {
    /// The memory model.
    pub model: Model,
    /// The only rung to ask, instead of all in turn.
    pub by: Option<Rung>,
    /// The targets to ask about; all of them when there are none.
    pub only: Vec<Target>,
    /// The most stores in a buffer before the rung `buffers` gives up, kept by a thread before
    /// `enriched` does, and the most snapshots before `snapshots` does.
    pub buffer: usize,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
    /// The configurations that one exploration may have before there is no answer.
    pub most: u64,
    /// Whether to leave out what does not matter for a target.
    pub slice: bool,
    /// Whether to look for computations as short as can be.
    pub shorten: bool,
    /// Time, memory, interruption.
    pub limits: Limits,
}

/// The most stores in a buffer, unless told otherwise.
pub const DEFAULT_BUFFER: usize = 64;

impl ProveOptions {
    /// All targets under a model, by all rungs.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            by: None,
            only: Vec::new(),
            buffer: DEFAULT_BUFFER,
            values: crate::robustness::DEFAULT_VALUES,
            most: u64::MAX,
            slice: true,
            shorten: true,
            limits: Limits::none(),
        }
    }
}

/// Why a rung has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A limit was reached.
    Stopped(StopReason),
    /// Stores had to wait in buffers with room for so many.
    BuffersLonger(usize),
    /// Explorations have more configurations than these.
    Larger(u64),
    /// Threads had to do with queues of so many snapshots.
    SnapshotsMore(usize),
    /// The rung reaches the target and gives no computation; `buffers` does.
    ReachedOnly,
    /// The program is not robust.
    NotRobust,
    /// Copies of threads can begin in too many ways.
    TooManyBeginnings,
    /// The question about final states needs fixed numbers of copies.
    AnyNumber,
    /// The rung says nothing about this target or model.
    NotForThis,
    /// It holds where posts drain; the posts are plain, and the program is not robust with them.
    PlainPosts,
    /// A run of the slice could not be followed in the program.
    NotReplayed,
}

/// The answer about a target.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It is never reached: the position of the proof in [`Proof::proofs`].
    Holds(usize),
    /// It is reached.
    Violated(Box<Violation>),
    /// There is no answer.
    Open(Why),
}

/// What was found out about a target.
#[derive(Clone, Debug)]
pub struct TargetAnswer {
    /// The target.
    pub target: Target,
    /// The answer.
    pub answer: Answer,
    /// What answered, or had no answer last.
    pub rung: Rung,
    /// Whether it is reached under SC already; nothing where that is not known.
    pub under_sc: Option<bool>,
    /// How many stores a buffer could hold in the exploration that answered, a thread keep itself,
    /// or how many snapshots a queue; nothing where there were none of these.
    pub buffer: Option<usize>,
    /// The configurations explored by what answered.
    pub states: usize,
    /// How many instructions were left out.
    pub sliced: usize,
    /// Seconds spent on it and the targets asked together with it.
    pub seconds: f64,
}

/// Everything a proof found.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The memory model.
    pub model: Model,
    /// The targets asked, in order.
    pub answers: Vec<TargetAnswer>,
    /// Why targets are never reached; several may share one.
    pub proofs: Vec<PropertyProof>,
    /// Configurations explored in all.
    pub states: usize,
    /// Why a program of events and tasks is robust with its plain posts, so that it keeps what it
    /// keeps where posts drain.
    pub plain_posts: Option<TaskCertificate>,
    /// Of a question about final states that holds: whether some computation ends in one that it is
    /// asked of; nothing where that is not known, or was not asked ([`has_end`]).
    pub has_end: Option<bool>,
}

impl Proof {
    /// Whether no target is reached.
    pub fn holds(&self) -> bool {
        self.answers.iter().all(|answer| matches!(answer.answer, Answer::Holds(_)))
    }

    /// The violations, in the order of their targets.
    pub fn violations(&self) -> impl Iterator<Item = &Violation> {
        self.answers.iter().filter_map(|answer| match &answer.answer {
            Answer::Violated(violation) => Some(&**violation),
            _ => None,
        })
    }

    /// Takes all answers back, when a limit was reached before their evidence was checked.
    pub fn forget_answers(&mut self, reason: StopReason) {
        self.proofs.clear();
        self.answers.iter_mut().for_each(|answer| answer.answer = Answer::Open(Why::Stopped(reason)));
    }

    /// Why targets are never reached; nothing where none was shown so.
    pub fn evidence(&self) -> Option<PropertyEvidence> {
        let evidence = || PropertyEvidence {
            model: self.model,
            proofs: self.proofs.clone(),
            plain_posts: self.plain_posts.clone(),
        };
        (!self.proofs.is_empty()).then(evidence)
    }
}

impl Violation {
    /// The computation as evidence.
    pub fn witness(&self) -> PropertyWitness {
        PropertyWitness {
            model: self.model,
            instance: self.instance.clone(),
            target: self.target,
            steps: self.events.iter().map(|event| event.step).collect(),
        }
    }
}
