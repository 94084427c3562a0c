//! Hangs: is there a stuck state, in which nobody goes on and somebody waits who must not?
//!
//! | method | what it explores | what it shows |
//! |---|---|---|
//! | `sc` | interleavings | the answer under SC; a stuck state of SC is one under every model |
//! | `buffers` | buffers of 2, 4, 8, … stores | a stuck state; none, if no store ever waits for room |
//! | `sc-robust` | robustness | a robust program has the stuck states of SC |
//! | `counts` | copies counted up to k = 0, 1, 2, and more | none for any number, by SC or buffers |
//! | `graphs` | execution graphs of a language | a stuck state; none, if there are no loops |
//!
//! *A robust program has the same stuck states under TSO (PSO) as under SC, if a trace tells who
//! sleeps.* A stuck state ends a computation with empty buffers. An interleaving with the same
//! trace executes the same events with the same values, so registers and places agree; the last
//! write of each address is in the trace, so memory agrees. To be stuck is a property of memory,
//! local states and sleepers. ∎ A trace does not tell which one of several sleepers is woken, nor
//! in which order copies fall asleep that release another word: such programs are left to the other
//! methods.
//!
//! Everything here may be wrong without a wrong verdict: each answer carries evidence that
//! `palisade-verify` checks.

mod any_number;
mod asking;
mod decide;
mod graphs;
mod hopeless;
mod language;
mod repair;
mod replay;
#[cfg(test)]
mod tests;

pub use decide::hangs;
pub use hopeless::hopeless;
pub use language::repair_hangs_in_language;
pub use repair::repair_hangs;
pub use replay::{Stuck, Waiter};

use palisade_evidence::FreeCertificate;
use palisade_model::limits::{Limits, StopReason};
use palisade_model::program::{Program, ThreadId};
use palisade_semantics::graphs::Axioms;
use palisade_semantics::{Instance, Model};
use std::sync::Arc;

/// How to look for stuck states.
#[derive(Clone, Debug)]
pub struct HangOptions {
    /// The memory model.
    pub model: Model,
    /// Whether no time is taken to run out.
    pub ignore_timeouts: bool,
    /// Whether a stuck state must be one in which somebody waits within a round
    /// ([`Program::resting_between_rounds`]).
    pub rest_between_rounds: bool,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
    /// The most stores in a buffer.
    pub buffer: usize,
    /// The most configurations of one exploration; any number where it is not given. Where they
    /// are few, robustness is not asked.
    pub most: Option<u64>,
    /// Configurations of a fixed number of copies that are explored with all steps. Where there are
    /// more, steps are left out that stuck states do not need.
    pub all_steps: u64,
    /// The language among whose execution graphs stuck states are sought, in place of those of a
    /// model of machines.
    pub graphs: Option<Axioms>,
    /// Time, memory, interruption.
    pub limits: Limits,
}

impl HangOptions {
    /// Under a model, with the usual bounds.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            ignore_timeouts: false,
            rest_between_rounds: false,
            values: crate::robustness::DEFAULT_VALUES,
            buffer: crate::properties::DEFAULT_BUFFER,
            most: None,
            all_steps: 4_000,
            graphs: None,
            limits: Limits::none(),
        }
    }
}

/// What has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Interleavings.
    Sc,
    /// Store buffers.
    Buffers,
    /// Robustness, and interleavings.
    ScRobust,
    /// Copies counted up to so many.
    Counts(u64),
    /// Execution graphs of a language.
    Graphs,
}

impl Method {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => "sc",
            Self::Buffers => "buffers",
            Self::ScRobust => "sc-robust",
            Self::Counts(_) => "counts",
            Self::Graphs => "graphs",
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// How others go on is followed for fixed numbers of copies alone.
    AnyNumber,
    /// A limit was reached.
    Stopped(StopReason),
    /// Stores had to wait in buffers with room for so many, and the program is not known to be
    /// robust.
    BuffersLonger(usize),
    /// Copies counted up to so many may hang, and no instance with few copies does.
    CountsTooFew(u64),
    /// Copies counted as none or some are in more than so many combinations, and no instance with
    /// up to so many copies is stuck.
    CountsTooMany(u64, u64),
    /// With ever more copies values grow: in words.
    Grows(String),
    /// A copy rests inside a locked section for ever, while stores wait in buffers.
    LockedForEver,
    /// The computation could not be followed in the program.
    NotReplayed,
    /// No graph with up to so many loads that read older writes is stuck.
    NoGraph(usize),
    /// No graph is stuck, and one has a race: then the language says nothing.
    Race,
    /// Who repeats waits for ever between two rounds, and nobody else does.
    BetweenRounds,
    /// Whether a copy in a locked section goes on is not followed.
    Sections,
    /// There is a stuck state if any number of sleepers may be said to be woken at a place.
    Guessed(String),
}

impl Why {
    /// The reason in words.
    pub fn words(&self) -> String {
        match self {
            Self::AnyNumber => "how others go on is followed for fixed numbers alone: say `--threads all=2`".to_owned(),
            Self::Stopped(reason) => reason.to_string(),
            Self::BuffersLonger(room) => {
                format!("stores wait in buffers with room for {room}, and the program is not known to be robust")
            }
            Self::CountsTooFew(most) => format!(
                "no instance with few copies is stuck, and counting copies up to {most} does not show that none is: \
                 fixed numbers of copies may have an answer, as `--threads all=2`"
            ),
            Self::CountsTooMany(combinations, copies) => format!(
                "any number of copies, of which no or some are at each place, has more than {combinations} \
                 combinations of places, and {}: fixed numbers of copies may have an answer, as `--threads all=2`",
                match copies {
                    0 => "no instance was looked through".to_owned(),
                    1 => "no instance with one copy is stuck".to_owned(),
                    _ => format!("no instance with up to {copies} copies is stuck"),
                }
            ),
            Self::Grows(what) => format!("{what}: a domain, or fixed numbers of copies, may have an answer"),
            Self::LockedForEver => "a copy rests inside a locked section while stores wait in buffers".to_owned(),
            Self::Sections => "how others go on is not followed through locked sections (`atomic`)".to_owned(),
            Self::NoGraph(most) => format!("no execution in which up to {most} loads read older values ends so"),
            Self::Race => "no execution ends so, but one has a race of plain data".to_owned(),
            Self::NotReplayed => "a computation that was found cannot be followed".to_owned(),
            Self::BetweenRounds => "who repeats waits between two rounds, and nobody else does".to_owned(),
            Self::Guessed(place) => {
                format!("a state is stuck, but may rest on how many sleepers were woken, which {place} asks")
            }
        }
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// There is no stuck state.
    Free(Arc<FreeCertificate>),
    /// There is one.
    Stuck(Box<Stuck>),
    /// Nobody knows.
    Unknown(Why),
}

/// What is found.
#[derive(Clone, Debug)]
pub struct Hangs {
    /// The answer.
    pub verdict: Verdict,
    /// What has answered, or was asked last.
    pub by: Method,
    /// Configurations explored.
    pub states: usize,
    /// Where there is no stuck state: threads that neither end nor wait. While one of their copies
    /// runs, nobody is stuck, so hangs of others are not seen.
    pub never_resting: Vec<ThreadId>,
    /// Where there is no stuck state: whether somebody goes on in every state, so that what is to
    /// hold in the end was asked of none.
    pub is_endless: bool,
}

impl Hangs {
    /// Of a stuck state of a program, whether interleavings have one; nothing where that is not
    /// known.
    pub fn under_sc(&self, program: &Program) -> Option<bool> {
        let Verdict::Stuck(stuck) = &self.verdict else { return None };
        // Buffers are asked about fixed numbers of copies once no interleaving has a stuck state.
        let is_of_fixed = stuck.hopeless.is_none() && Instance::of(program).is_some();
        let is_beyond = self.by == Method::Buffers && is_of_fixed;
        if stuck.is_interleaving { Some(true) } else { is_beyond.then_some(false) }
    }
}
