//! The portfolio `auto`: cheap proofs first, then all strategies in rounds of growing budgets.
//!
//! Slicing alone settles many problems, and a few sample walks find most of the targets that can be
//! covered. What is left goes to the strategies in order, each with a small budget, on as many
//! threads as are allowed. A strategy that has not answered in a round starts again in the next
//! with four times the budget, so that little is lost on strategies that do not suit the net and at
//! most about a third on one that does. The first answer ends the race. All strategies work on the
//! same compact form, with the same units and unreachable places.
//!
//! In deterministic mode budgets count work instead of time, and within a round the first strategy
//! in order that answers is taken, however long the later ones took: the evidence is then always
//! the same.

use super::backward::{Backward, Walks};
use super::directed::Directed;
use super::engine::{Engine, OnReduced, Prepared};
use super::forward::{KarpMiller, SharedState};
use super::led::Led;
use super::pair_saturation::PairSaturation;
use super::saturation::settle;
use super::state_equation::StateEquation;
use super::{Context, Outcome, Strategy};
use palisade_model::limits::{Budget, Limits, StopReason};
use palisade_model::net::Problem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The strategy `auto`.
pub(super) struct Auto;

/// The strategies of the first round, in the order in which they start: those first that answer
/// most of what the walks leave. [`Led`] says at once that it is of no use unless a target has many
/// tokens.
const FIRST: [&dyn Engine; 7] =
    [&Led, &SharedState, &Backward, &StateEquation, &Directed, &PairSaturation, &KarpMiller];

/// The strategies of later rounds. The state equation is worth a reduction now, and says soon if it
/// is of no use.
const LATER: [&dyn Engine; 7] =
    [&OnReduced(&StateEquation), &Directed, &SharedState, &PairSaturation, &Backward, &Led, &KarpMiller];

/// The budgets of the walkers that set out before the first round, one after the other, for nets of
/// ordinary size: the time, and the work in deterministic mode. Each walker has other luck, and
/// most of those that meet a target meet it soon. They need no threads.
const WALKS: [(Duration, u64); 2] =
    [(Duration::from_millis(2), FIRST_WORK / 3), (Duration::from_millis(4), FIRST_WORK * 2 / 3)];

/// The budget of the first round, for nets of up to so many transitions; larger ones get more, in
/// proportion.
const FIRST_TIME: Duration = Duration::from_millis(16);

/// See [`FIRST_TIME`].
const ORDINARY_TRANSITIONS: usize = 4_000;

/// The budget of the first round in deterministic mode.
const FIRST_WORK: u64 = 50_000;

/// How much larger each round's budget is.
const GROWTH: u32 = 4;

impl Strategy for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn solve(&self, problem: &Problem, context: &Context) -> Outcome {
        solve_named(problem, context).0
    }
}

/// The outcome and the strategy that found it.
pub(super) fn solve_named(problem: &Problem, context: &Context) -> (Outcome, &'static str) {
    let prepared = Prepared::new(problem);
    if let Some(outcome) = settle(problem, &prepared.slice) {
        return (outcome, "saturation");
    }
    race(&prepared, context)
}

/// Walks, and then runs the contenders until one answers.
fn race(prepared: &Prepared<'_>, context: &Context) -> (Outcome, &'static str) {
    let mut tally = Tally { done: Vec::new(), reason: StopReason::Inconclusive };
    // The compact form is needed by all strategies and does not count.
    let _ = prepared.small();
    let factor = u32::try_from((prepared.slice.transitions.len() / ORDINARY_TRANSITIONS).max(1)).unwrap_or(u32::MAX);
    for (time, work) in WALKS {
        let share = Share { time: time.saturating_mul(factor), work: work.saturating_mul(factor.into()) };
        let own = share.context(context, context.budget.limits.clone());
        let outcome = Walks.attempt(prepared, &own);
        context.take_over(&own);
        if !matches!(outcome, Outcome::Unknown(_)) {
            return (outcome, Engine::name(&Walks));
        }
    }
    let threads = context.threads();
    let mut share = Share { time: FIRST_TIME.saturating_mul(factor), work: FIRST_WORK.saturating_mul(factor.into()) };
    let most = context.budget.work.map(|most| most.saturating_mul(factor.into()));
    let mut contenders = FIRST.to_vec();
    loop {
        let goes_on = |engine: &&dyn Engine| !tally.done.contains(&engine.name());
        let running: Vec<&dyn Engine> = contenders.into_iter().filter(goes_on).collect();
        if running.is_empty() {
            return (Outcome::Unknown(tally.reason), "auto");
        }
        if let Err(limit) = context.budget.limits.check() {
            return (Outcome::Unknown(limit), "auto");
        }
        if most.is_some_and(|most| context.work.load(Ordering::Relaxed) >= most) {
            return (Outcome::Unknown(StopReason::Budget), "auto");
        }
        if let Some(answer) = tally.answer(&running, round(prepared, context, threads, &running, share)) {
            return answer;
        }
        contenders = LATER.to_vec();
        share = Share { time: share.time.saturating_mul(GROWTH), work: share.work.saturating_mul(GROWTH.into()) };
    }
}

/// What has come of the rounds so far.
struct Tally {
    /// The strategies that it is no use to ask again.
    done: Vec<&'static str>,
    /// What the last of them said.
    reason: StopReason,
}

impl Tally {
    /// The first answer of a round; notes the strategies that cannot answer.
    fn answer(&mut self, engines: &[&dyn Engine], outcomes: Vec<Option<Outcome>>) -> Option<(Outcome, &'static str)> {
        for (engine, outcome) in engines.iter().zip(outcomes) {
            match outcome {
                Some(Outcome::Unknown(StopReason::Timeout | StopReason::Interrupted | StopReason::Budget)) | None => {}
                Some(Outcome::Unknown(why)) => {
                    self.reason = why;
                    self.done.push(engine.name());
                }
                Some(outcome) => return Some((outcome, engine.name())),
            }
        }
        None
    }
}

/// What a contender may use up in a round: of its thread's time, or in deterministic mode of work.
#[derive(Clone, Copy, Debug)]
struct Share {
    time: Duration,
    work: u64,
}

impl Share {
    /// A context with this share, which begins now.
    fn context(self, whole: &Context, limits: Limits) -> Context {
        let deterministic = whole.deterministic;
        let budget = Budget { limits, ..Budget::default() };
        let budget = if deterministic { budget.with_work(self.work) } else { budget.with_turn(self.time) };
        Context { deterministic, ..Context::new(budget) }
    }
}

/// Gives each contender its budget, on so many threads. Those after one that answers may be left
/// without an outcome.
fn round(
    prepared: &Prepared<'_>,
    context: &Context,
    threads: usize,
    engines: &[&dyn Engine],
    share: Share,
) -> Vec<Option<Outcome>> {
    let stops: Vec<Arc<AtomicBool>> = engines.iter().map(|_| Arc::new(AtomicBool::new(false))).collect();
    let outcomes: Mutex<Vec<Option<Outcome>>> = Mutex::new(vec![None; engines.len()]);
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let (Some(engine), Some(stop)) = (engines.get(index), stops.get(index)) else { return };
            if stop.load(Ordering::Relaxed) {
                continue;
            }
            let own = share.context(context, context.budget.limits.clone().with_interrupt(stop.clone()));
            let outcome = engine.attempt(prepared, &own);
            if !matches!(outcome, Outcome::Unknown(_)) {
                // In deterministic mode a strategy earlier in order may still answer, and then
                // counts.
                let first = if context.deterministic { index + 1 } else { 0 };
                stops[first..].iter().for_each(|stop| stop.store(true, Ordering::Relaxed));
            }
            context.take_over(&own);
            outcomes.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(outcome);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(engines.len()) {
            scope.spawn(work);
        }
        work();
    });
    outcomes.into_inner().unwrap_or_else(PoisonError::into_inner)
}
