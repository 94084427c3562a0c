//! The portfolio `auto`: cheap proofs first, then all strategies in rounds of growing budgets.
//!
//! Slicing alone settles many problems. What is left goes to the strategies in order, each with a small budget, on as
//! many threads as are allowed; who has not answered in a round starts again in the next with ten times the budget, so
//! that little is lost on strategies that do not suit the net and at most about a ninth on one that does. The first
//! answer ends the race. All strategies work on the same compact form, with the same units and unreachable places.
//!
//! In deterministic mode budgets count steps instead of time, and within a round the first strategy in order that
//! answers is taken, however long the later ones took: the evidence is then always the same.

use super::backward::Backward;
use super::directed::Directed;
use super::engine::{Engine, Prepared};
use super::forward::{KarpMiller, SharedState};
use super::saturation::settle;
use super::state_equation::StateEquation;
use super::{Context, Outcome, Strategy};
use crate::limits::StopReason;
use crate::net::Problem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The strategy `auto`.
pub(super) struct Auto;

/// The strategies in the order in which they start.
const CONTENDERS: [&dyn Engine; 5] = [&SharedState, &Directed, &StateEquation, &Backward, &KarpMiller];

/// The budget of the first round.
const FIRST_TIME: Duration = Duration::from_millis(30);

/// The budget of the first round in deterministic mode.
const FIRST_STEPS: u64 = 300;

/// How much larger each round's budget is.
const GROWTH: u32 = 10;

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

/// Runs the contenders until one answers.
fn race(prepared: &Prepared<'_>, context: &Context) -> (Outcome, &'static str) {
    let mut running: Vec<&dyn Engine> = CONTENDERS.to_vec();
    let mut reason = StopReason::Inconclusive;
    let mut time = FIRST_TIME;
    let mut steps = FIRST_STEPS;
    while !running.is_empty() {
        if let Err(limit) = context.check() {
            return (Outcome::Unknown(limit), "auto");
        }
        let budget = if context.deterministic { Budget::Steps(steps) } else { Budget::Time(time) };
        let outcomes = round(prepared, context, &running, budget);
        let mut next = Vec::new();
        for (engine, outcome) in running.into_iter().zip(outcomes) {
            match outcome {
                Some(Outcome::Unknown(StopReason::Timeout | StopReason::Interrupted)) | None => next.push(engine),
                // It is no use to ask again.
                Some(Outcome::Unknown(why)) => reason = why,
                Some(outcome) => return (outcome, engine.name()),
            }
        }
        running = next;
        time = time.saturating_mul(GROWTH);
        steps = steps.saturating_mul(GROWTH.into());
    }
    (Outcome::Unknown(reason), "auto")
}

/// What a contender may use up in a round.
#[derive(Clone, Copy, Debug)]
enum Budget {
    Time(Duration),
    Steps(u64),
}

/// Gives each contender its budget. Those after one that answers may be left without an outcome.
fn round(prepared: &Prepared<'_>, context: &Context, engines: &[&dyn Engine], budget: Budget) -> Vec<Option<Outcome>> {
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
            let limits = context.limits.clone().with_interrupt(stop.clone());
            let own = match budget {
                Budget::Time(time) => Context::new(limits.with_timeout(time)),
                Budget::Steps(steps) => Context { steps: Some(steps), deterministic: true, ..Context::new(limits) },
            };
            let outcome = engine.attempt(prepared, &own);
            if !matches!(outcome, Outcome::Unknown(_)) {
                // In deterministic mode a strategy earlier in order may still answer, and then counts.
                let first = if matches!(budget, Budget::Steps(_)) { index + 1 } else { 0 };
                stops[first..].iter().for_each(|stop| stop.store(true, Ordering::Relaxed));
            }
            context.take_over(&own);
            outcomes.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(outcome);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..context.jobs.min(engines.len()) {
            scope.spawn(work);
        }
        work();
    });
    outcomes.into_inner().unwrap_or_else(PoisonError::into_inner)
}
