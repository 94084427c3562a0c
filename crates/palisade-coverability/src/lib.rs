//! Coverability of Petri nets: strategies behind one trait, portfolio, reductions, certificates.
//!
//! [`solve`] answers a [`Problem`]: can one of its targets be covered? Every answer carries
//! evidence on the problem's own net, a [`NetRun`] or a [`NetCertificate`], and a strategy that
//! cannot answer says [`Outcome::Unknown`], never a guess. A [`Strategy`] works alone; `auto`
//! combines them ([`portfolio`]).
//!
//! | strategy | what it does | complete |
//! |---|---|---|
//! | `saturation` | the places that can be marked when tokens are never used up | no |
//! | `pair-saturation` | the pairs of places that can be marked together when tokens are never used up | no |
//! | `state-equation` | Farkas vector of the state equation, refined by traps | no |
//! | `continuous` | reachability with fractional firings | no |
//! | `backward` | minimal basis of the markings that can cover the target, pruned by invariants | yes |
//! | `karp-miller` | coverability set, forward, with accelerations | yes |
//! | `shared-state` | the same per control state, a control state standing for its strongly connected component | yes |
//! | `directed` | explicit forward search led by a distance to the target | runs only |
//! | `led` | walks led by a solution of the state equation | runs only |
//! | `enumerate` | all markings of a bounded net | on bounded nets |
//!
//! The strategies work on a compact copy of the problem ([`compact`]) in machine words, checked;
//! what does not fit is computed again with big numbers. Everything here may be wrong without a
//! wrong answer: `palisade-verify` checks the evidence.

mod backward;
mod change;
mod compact;
mod continuous;
mod directed;
mod engine;
mod enumerate;
mod formulas;
mod forward;
mod led;
mod many;
mod number;
mod pair_saturation;
mod pairs;
mod portfolio;
pub mod reduction;
mod rows;
mod run;
mod sample;
mod saturation;
mod semiflows;
mod slice;
mod state_equation;
mod traps;
mod units;

#[cfg(test)]
mod tests;

pub use formulas::{
    BoundAnswer, Inhibited, ReachAnswer, ReachOutcome, Rounds, Side, Uninhibited, bound_all, reach_all, reach_from,
    reach_once, without_inhibitors,
};
pub use many::{AskedNet, solve_all};
use number::{Overflow, Stop};
use palisade_evidence::{NetCertificate, NetRun};
use palisade_model::limits::{Budget, Limits, StopReason};
use palisade_model::net::Problem;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a strategy found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A target can be covered: by this run.
    Coverable(NetRun),
    /// No target can be covered, and why.
    Uncoverable(NetCertificate),
    /// No answer, and why.
    Unknown(StopReason),
}

impl Outcome {
    /// Whether a target can be covered, where that is known.
    pub fn is_coverable(&self) -> Option<bool> {
        match self {
            Self::Coverable(_) => Some(true),
            Self::Uncoverable(_) => Some(false),
            Self::Unknown(_) => None,
        }
    }
}

impl From<Stop> for Outcome {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Stopped(reason) => Self::Unknown(reason),
            // More than 2^32 markings or arcs.
            Stop::Fault(Overflow) => Self::Unknown(StopReason::TooLarge),
        }
    }
}

/// How much work an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Markings (or basis elements) that were kept.
    pub markings: u64,
    /// Steps of the main loop: markings expanded, pivots, rounds of refinement.
    pub iterations: u64,
    /// Units of work, of which one takes about a tenth of a microsecond.
    pub work: u64,
    /// Wall time.
    pub seconds: f64,
}

/// An outcome with the strategy that found it and the work it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What was found.
    pub outcome: Outcome,
    /// The name of the strategy that found it; `auto` when none did.
    pub strategy: &'static str,
    /// The work of that strategy (of all of them when none answered).
    pub statistics: Statistics,
    /// Whether a target can be covered, where a search has found that out and a limit was reached
    /// before its evidence was there. The outcome is unknown then.
    pub without_evidence: Option<bool>,
}

impl Answer {
    /// No answer, and why: nothing has been searched.
    pub fn none(reason: StopReason, strategy: &'static str) -> Self {
        let outcome = Outcome::Unknown(reason);
        Self { outcome, strategy, statistics: Statistics::default(), without_evidence: None }
    }

    /// Whether a target can be covered, where that is known, with or without evidence.
    pub fn is_coverable(&self) -> Option<bool> {
        self.outcome.is_coverable().or(self.without_evidence)
    }
}

/// What a strategy may use, and where it counts its work.
#[derive(Debug, Default)]
pub struct Context {
    /// When to stop; the work is what [`Context::count_work`] counts.
    pub budget: Budget,
    /// How many threads it may use; 0 means as many as there are processors.
    pub jobs: usize,
    /// Whether the evidence must be the same every time.
    pub deterministic: bool,
    /// Work done so far.
    work: AtomicU64,
    /// Markings kept so far.
    markings: AtomicU64,
    /// Main loop steps so far.
    iterations: AtomicU64,
    /// An answer whose evidence was not there in time.
    without_evidence: OnceLock<bool>,
    /// How often the limits were looked at.
    #[cfg(test)]
    looks: AtomicU64,
}

impl Context {
    /// A context for one thread with this budget.
    pub fn new(budget: Budget) -> Self {
        Self { budget, jobs: 1, ..Self::default() }
    }

    /// Whether to stop, and why: a limit is reached or the budget is used up.
    fn check(&self) -> Result<(), StopReason> {
        #[cfg(test)]
        self.looks.fetch_add(1, Ordering::Relaxed);
        self.budget.check(self.work.load(Ordering::Relaxed))
    }

    /// Whether another strategy has answered, or the user interrupts. Strategies ask this at every
    /// step, because the one that answers waits for the others to end.
    fn check_interrupts(&self) -> Result<(), StopReason> {
        self.budget.limits.check_interrupts()
    }

    /// How much time is left.
    fn remaining(&self) -> Option<Duration> {
        self.budget.remaining()
    }

    /// How many threads to use. Asking the system how many processors there are takes as long as a
    /// small net.
    fn threads(&self) -> usize {
        match self.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        }
    }

    /// Counts work for the budget: transitions tried, places looked at, entries of a tableau – what
    /// takes about a tenth of a microsecond. It depends on the problem alone, never on the clock.
    fn count_work(&self, work: usize) {
        self.work.fetch_add(work as u64, Ordering::Relaxed);
    }

    /// Counts markings kept.
    fn count_markings(&self, markings: usize) {
        self.markings.fetch_add(markings as u64, Ordering::Relaxed);
    }

    /// Counts steps of the main loop.
    fn count_iterations(&self, iterations: usize) {
        self.iterations.fetch_add(iterations as u64, Ordering::Relaxed);
    }

    /// Counts the work of another context as well.
    fn take_over(&self, other: &Context) {
        self.work.fetch_add(other.work.load(Ordering::Relaxed), Ordering::Relaxed);
        self.markings.fetch_add(other.markings.load(Ordering::Relaxed), Ordering::Relaxed);
        self.iterations.fetch_add(other.iterations.load(Ordering::Relaxed), Ordering::Relaxed);
        if let Some(is_coverable) = other.without_evidence.get() {
            self.note_without_evidence(*is_coverable);
        }
    }

    /// Notes an answer whose evidence was not there in time.
    fn note_without_evidence(&self, is_coverable: bool) {
        self.without_evidence.get_or_init(|| is_coverable);
    }

    /// The work counted so far.
    fn statistics(&self, since: Instant) -> Statistics {
        Statistics {
            markings: self.markings.load(Ordering::Relaxed),
            iterations: self.iterations.load(Ordering::Relaxed),
            work: self.work.load(Ordering::Relaxed),
            seconds: since.elapsed().as_secs_f64(),
        }
    }
}

/// A way to decide coverability.
pub trait Strategy: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Answers the problem, or says why it cannot.
    fn solve(&self, problem: &Problem, context: &Context) -> Outcome;
}

/// How to answer a problem.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The strategy's name; `auto` when there is none.
    pub strategy: Option<&'static str>,
    /// When to stop.
    pub limits: Limits,
    /// How many threads to use; 0 means as many as there are processors.
    pub jobs: usize,
    /// Meter the strategies in rounds, so that the evidence is the same every time.
    pub deterministic: bool,
    /// How much work to do before stopping when metered: transitions tried, places looked at – what
    /// takes about a tenth of a microsecond. `auto` takes more for nets of more than ordinary size,
    /// in proportion, and ends the round it is in. As much as it takes when not given.
    pub work: Option<u64>,
}

/// All strategies, `auto` first.
pub fn strategies() -> &'static [&'static dyn Strategy] {
    &[
        &portfolio::Auto,
        &saturation::Saturation,
        &pair_saturation::PairSaturation,
        &backward::Backward,
        &forward::KarpMiller,
        &forward::SharedState,
        &state_equation::StateEquation,
        &continuous::Continuous,
        &directed::Directed,
        &led::Led,
        &enumerate::Enumerate,
    ]
}

/// The strategy with this name.
pub fn strategy(name: &str) -> Option<&'static dyn Strategy> {
    strategies().iter().copied().find(|strategy| strategy.name() == name)
}

/// Answers a problem. About a net with inhibitor arcs nothing is known: [`without_inhibitors`]
/// comes before.
pub fn solve(problem: &Problem, options: &Options) -> Answer {
    if !problem.net.inhibitors.is_empty() {
        return Answer::none(StopReason::Inconclusive, "auto");
    }
    let start = Instant::now();
    let context = Context {
        budget: Budget::within(&options.limits).with_work(options.work),
        jobs: options.jobs,
        deterministic: options.deterministic,
        ..Context::default()
    };
    let (outcome, strategy) = match options.strategy {
        None | Some("auto") => portfolio::solve_named(problem, &context),
        Some(name) => {
            let chosen = strategy(name).expect("options name a strategy of the list");
            (chosen.solve(problem, &context), chosen.name())
        }
    };
    let without_evidence = match outcome {
        Outcome::Unknown(_) => context.without_evidence.get().copied(),
        _ => None,
    };
    Answer { outcome, strategy, statistics: context.statistics(start), without_evidence }
}
