//! What strategies have in common: the sliced problem in compact form, first in machine words,
//! exactly when need be.

use super::compact::CompactNet;
use super::number::{Number, Overflow, Stop};
use super::pairs::Pairs;
use super::reduction::{Reduced, ReductionOptions, reduce};
use super::sample::Sampler;
use super::saturation::settle;
use super::semiflows::{Semiflow, semiflows};
use super::slice::Slice;
use super::units::find_units;
use super::{Context, Outcome, Strategy};
use palisade_model::limits::{Budget, StopReason};
use palisade_model::net::{Count, Problem};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A problem made ready for several strategies.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) problem: &'a Problem,
    pub(super) slice: Slice,
    small: OnceLock<Result<CompactNet<u32>, Stop>>,
    exact: OnceLock<Result<CompactNet<Count>, Stop>>,
    units: OnceLock<Vec<Vec<u32>>>,
    reduced: OnceLock<Reduced>,
    /// What was found on the reduced net, where its evidence was not taken back in time.
    on_reduced: Mutex<Option<Outcome>>,
    pairs: Shared<Option<Pairs>>,
    semiflows: Shared<Vec<Semiflow>>,
    /// How many walkers there have been.
    walkers: AtomicU64,
}

/// What strategies share and the first that asks for it finds out, while others wait. If it is
/// interrupted, the next one begins again.
#[derive(Debug)]
struct Shared<T> {
    value: OnceLock<T>,
    turn: Mutex<()>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self { value: OnceLock::new(), turn: Mutex::new(()) }
    }
}

impl<T> Shared<T> {
    fn get(&self, find: impl FnOnce() -> Result<T, StopReason>) -> Result<&T, StopReason> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        match self.value.get() {
            Some(value) => Ok(value),
            None => find().map(|value| self.value.get_or_init(|| value)),
        }
    }
}

/// How many operations on machine words the pairs that all strategies share may take: some
/// hundredths of a second.
const SHARED_PAIRS: u64 = 100_000_000;

impl<'a> Prepared<'a> {
    /// Slices a problem.
    pub(super) fn new(problem: &'a Problem) -> Self {
        Self {
            problem,
            slice: Slice::new(problem),
            small: OnceLock::new(),
            exact: OnceLock::new(),
            units: OnceLock::new(),
            reduced: OnceLock::new(),
            on_reduced: Mutex::default(),
            pairs: Shared::default(),
            semiflows: Shared::default(),
            walkers: AtomicU64::new(0),
        }
    }

    /// The compact form in machine words, if its counts fit.
    pub(super) fn small(&self) -> Result<&CompactNet<u32>, Stop> {
        self.small.get_or_init(|| CompactNet::new(self.problem, &self.slice)).as_ref().map_err(|stop| *stop)
    }

    /// The compact form with exact counts.
    pub(super) fn exact(&self) -> Result<&CompactNet<Count>, Stop> {
        self.exact.get_or_init(|| CompactNet::new(self.problem, &self.slice)).as_ref().map_err(|stop| *stop)
    }

    /// A new walker.
    pub(super) fn walker<'s, N: Number>(&self, compact: &'s CompactNet<N>) -> Sampler<'s, N> {
        Sampler::new(compact, self.walkers.fetch_add(1, Ordering::Relaxed))
    }

    /// Disjoint sets of places that never hold more than one token together.
    pub(super) fn units(&self) -> &[Vec<u32>] {
        self.units.get_or_init(|| find_units(self.problem, &self.slice))
    }

    /// The semiflows, where they are found out quickly.
    pub(super) fn semiflows<N: Number>(&self, compact: &CompactNet<N>, context: &Context) -> Result<&[Semiflow], Stop> {
        Ok(self.semiflows.get(|| semiflows(compact, context))?)
    }

    /// Which places can be marked together, where that is found out quickly.
    pub(super) fn pairs(&self, context: &Context) -> Result<Option<&Pairs>, Stop> {
        // They are for all strategies: turns and budgets of one do not count.
        let context = Context::new(Budget::within(&context.budget.limits));
        let pairs = self.pairs.get(|| {
            let pairs = match self.small() {
                Ok(compact) => Pairs::new(compact, SHARED_PAIRS, &context),
                Err(_) => self.exact().and_then(|compact| Pairs::new(compact, SHARED_PAIRS, &context)),
            };
            match pairs {
                Ok(pairs) => Ok(pairs),
                Err(Stop::Fault(Overflow)) => Ok(None),
                Err(Stop::Stopped(limit)) => Err(limit),
            }
        })?;
        Ok(pairs.as_ref())
    }
}

/// An engine on the reduced net.
pub(super) struct OnReduced(pub(super) &'static dyn Engine);

/// Larger slices are not reduced: it would take longer than many an answer.
const LARGEST_REDUCED: usize = 20_000;

impl OnReduced {
    /// The answer on the reduced net, with its evidence taken back.
    fn attempt_reduced(&self, prepared: &Prepared<'_>, context: &Context) -> Option<Outcome> {
        if prepared.slice.transitions.len() > LARGEST_REDUCED {
            return None;
        }
        let options = ReductionOptions { limits: context.budget.limits.clone(), ..ReductionOptions::default() };
        let reduced = prepared.reduced.get_or_init(|| reduce(prepared.problem, &options));
        let found = prepared.on_reduced.lock().unwrap_or_else(PoisonError::into_inner).take();
        let outcome = found.unwrap_or_else(|| {
            let smaller = Prepared::new(&reduced.problem);
            settle(&reduced.problem, &smaller.slice).unwrap_or_else(|| self.0.attempt(&smaller, context))
        });
        match reduced.take_back(&outcome, &context.budget) {
            Ok(outcome) => outcome,
            Err(reason) => {
                outcome.is_coverable().into_iter().for_each(|it| context.note_without_evidence(it));
                *prepared.on_reduced.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
                Some(Outcome::Unknown(reason))
            }
        }
    }
}

impl Reduced {
    /// The outcome with its evidence taken back; nothing where that finds no way.
    ///
    /// # Errors
    ///
    /// When the budget ends first.
    pub(super) fn take_back(&self, outcome: &Outcome, budget: &Budget) -> Result<Option<Outcome>, StopReason> {
        Ok(match outcome {
            Outcome::Coverable(run) => self.back.run(run, budget)?.map(Outcome::Coverable),
            Outcome::Uncoverable(certificate) => self.back.certificate(certificate, budget)?.map(Outcome::Uncoverable),
            Outcome::Unknown(reason) => Some(Outcome::Unknown(*reason)),
        })
    }
}

impl Engine for OnReduced {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run_small(
        &self,
        prepared: &Prepared<'_>,
        compact: &CompactNet<u32>,
        context: &Context,
    ) -> Result<Outcome, Stop> {
        self.0.run_small(prepared, compact, context)
    }

    fn run_exact(
        &self,
        prepared: &Prepared<'_>,
        compact: &CompactNet<Count>,
        context: &Context,
    ) -> Result<Outcome, Stop> {
        self.0.run_exact(prepared, compact, context)
    }

    /// On the reduced net; on the net itself when that is large or the evidence does not find its
    /// way back.
    fn attempt(&self, prepared: &Prepared<'_>, context: &Context) -> Outcome {
        self.attempt_reduced(prepared, context).unwrap_or_else(|| self.0.attempt(prepared, context))
    }
}

/// A strategy that works on the compact form.
pub(super) trait Engine: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Answers in machine words, or says that they overflow.
    fn run_small(&self, prepared: &Prepared<'_>, compact: &CompactNet<u32>, context: &Context)
    -> Result<Outcome, Stop>;

    /// Answers exactly.
    fn run_exact(
        &self,
        prepared: &Prepared<'_>,
        compact: &CompactNet<Count>,
        context: &Context,
    ) -> Result<Outcome, Stop>;

    /// Answers in machine words, and exactly where these overflow.
    fn attempt(&self, prepared: &Prepared<'_>, context: &Context) -> Outcome {
        let small = prepared.small().and_then(|compact| self.run_small(prepared, compact, context));
        let result = match small {
            Err(Stop::Fault(Overflow)) => {
                prepared.exact().and_then(|compact| self.run_exact(prepared, compact, context))
            }
            result => result,
        };
        result.unwrap_or_else(Outcome::from)
    }
}

impl<E: Engine> Strategy for E {
    fn name(&self) -> &'static str {
        Engine::name(self)
    }

    fn solve(&self, problem: &Problem, context: &Context) -> Outcome {
        let prepared = Prepared::new(problem);
        settle(problem, &prepared.slice).unwrap_or_else(|| self.attempt(&prepared, context))
    }
}

/// A method in every type of numbers.
pub(super) trait Method: Sync {
    /// Its name on the command line.
    const NAME: &'static str;

    /// Answers in one type of numbers.
    fn run<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop>;
}

impl<M: Method + Sync> Engine for M {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn run_small(
        &self,
        prepared: &Prepared<'_>,
        compact: &CompactNet<u32>,
        context: &Context,
    ) -> Result<Outcome, Stop> {
        M::run(prepared, compact, context)
    }

    fn run_exact(
        &self,
        prepared: &Prepared<'_>,
        compact: &CompactNet<Count>,
        context: &Context,
    ) -> Result<Outcome, Stop> {
        M::run(prepared, compact, context)
    }
}
