//! From a firing sequence of the slice to a run of the net: tokens are chosen, places are filled,
//! idle firings go.

use super::change::{Change, Demand as Tokens};
use super::slice::Slice;
use num_bigint::BigInt;
use palisade_evidence::{NetRun, RunStep};
use palisade_model::net::{Count, Net, OmegaCount, PlaceId, Problem, Transition, TransitionId};
use palisade_model::ordered::CollectOrdered;

/// The run of the net that fires `firings` (transitions of the slice, each so many times in a row)
/// and covers the target with this number.
///
/// Walks backwards with the demand at each point. A firing that lowers no demand is left out. At
/// the start unbounded places are filled by the slice's pumps, and places that are initially ω get
/// the tokens demanded.
///
/// # Panics
///
/// When the firings do not cover the target from the initial marking: the strategy that made them
/// is broken.
pub(super) fn finish(problem: &Problem, slice: &Slice, firings: Vec<(RunStep, Count)>, target: usize) -> NetRun {
    let mut demand = Demand::of_target(problem, target);
    let mut run: Vec<(RunStep, Count)> = Vec::with_capacity(firings.len());
    for (step, times) in firings.into_iter().rev() {
        match &step {
            RunStep::Fire(id) if demand.helps(*id) => demand.before(*id, &times),
            RunStep::Sequence(steps) if demand.before_sequence(steps, &times) => {}
            _ => continue,
        }
        push_front(&mut run, step, times);
    }
    for (place, id) in slice.pumps.iter().rev() {
        let lacking = demand.tokens[place.index()].saturating_minus(&initial(problem, *place));
        if !lacking.is_zero() {
            let times = lacking.div_ceil(&gain(&problem.net.transitions[id.index()], *place));
            demand.before(*id, &times);
            push_front(&mut run, (*id).into(), times);
        }
    }
    run.reverse();
    let mut initial_choice = Vec::new();
    for place in problem.net.place_ids() {
        let tokens = &demand.tokens[place.index()];
        match &problem.net.initial[place.index()] {
            OmegaCount::Omega if !tokens.is_zero() => initial_choice.push((place, tokens.clone())),
            OmegaCount::Omega => {}
            OmegaCount::Finite(count) => assert!(tokens <= count, "the firing sequence needs too much on {place}"),
        }
    }
    NetRun { initial_choice, firings: run }
}

/// Appends to a run that grows from its end.
fn push_front(run: &mut Vec<(RunStep, Count)>, step: RunStep, times: Count) {
    match run.last_mut() {
        Some((RunStep::Fire(last), count)) if step == RunStep::Fire(*last) => *count = count.plus(&times),
        _ => run.push((step, times)),
    }
}

/// What steps of a run need and change on the places of the net, by number.
pub(super) fn change_of(net: &Net, steps: &[(RunStep, Count)]) -> Change {
    let mut change = Change::default();
    for (step, times) in steps {
        let own = match step {
            RunStep::Fire(id) => {
                let effects = net.transitions[id.index()].effects();
                Change::of(effects.map(|(place, taken, put)| (place.0, taken, put)))
            }
            RunStep::Sequence(steps) => change_of(net, steps),
        };
        change.then(&own.repeated(&times.to_big()));
    }
    change
}

/// The tokens that a place starts with, without those to be chosen.
fn initial(problem: &Problem, place: PlaceId) -> Count {
    match &problem.net.initial[place.index()] {
        OmegaCount::Finite(count) => count.clone(),
        OmegaCount::Omega => Count::ZERO,
    }
}

/// What the place gains by a firing.
fn gain(transition: &Transition, place: PlaceId) -> Count {
    let (_, taken, put) =
        transition.effects().find(|(own, _, _)| *own == place).expect("a pump has an arc to what it fills");
    put.saturating_minus(taken)
}

/// The tokens demanded at a point of a run so that its rest can be fired and covers the target.
struct Demand<'a> {
    problem: &'a Problem,
    tokens: Vec<Count>,
}

impl<'a> Demand<'a> {
    fn of_target(problem: &'a Problem, target: usize) -> Self {
        let mut tokens = vec![Count::ZERO; problem.net.places.len()];
        for (place, count) in &problem.query.targets[target].demands {
            tokens[place.index()] = count.clone();
        }
        Self { problem, tokens }
    }

    /// Whether firing the transition lowers a demand.
    fn helps(&self, id: TransitionId) -> bool {
        let mut effects = self.problem.net.transitions[id.index()].effects();
        effects.any(|(place, taken, put)| self.tokens[place.index()] > *taken && put > taken)
    }

    /// Steps back over a sequence that is repeated so many times; says whether that lowers a
    /// demand, and does nothing else.
    fn before_sequence(&mut self, steps: &[(RunStep, Count)], times: &Count) -> bool {
        let change = change_of(&self.problem.net, steps).repeated(&times.to_big());
        let after = |place: u32| BigInt::from(self.tokens[place as usize].to_big());
        let mut demand: Tokens = change.places().map(|(place, _, _)| (place, after(place))).collect_map();
        change.step_back(&mut demand);
        let before = |place: u32| demand.get(&place).cloned().unwrap_or_default();
        if change.places().all(|(place, _, _)| before(place) >= after(place)) {
            return false;
        }
        for (place, _, _) in change.places() {
            self.tokens[place as usize] = before(place).magnitude().clone().into();
        }
        true
    }

    /// Steps back over `times` firings of a transition, one at least.
    fn before(&mut self, id: TransitionId, times: &Count) {
        let others = times.saturating_minus(&Count::ONE);
        for (place, taken, put) in self.problem.net.transitions[id.index()].effects() {
            let demanded = &mut self.tokens[place.index()];
            // The last firing needs what it takes, after the others have taken their part.
            let (rest, needed) = match taken.minus(put) {
                Some(loss) => (demanded.plus(&loss.times(times)), taken.plus(&loss.times(&others))),
                None => (demanded.saturating_minus(&put.saturating_minus(taken).times(times)), taken.clone()),
            };
            *demanded = rest.max(needed);
        }
    }
}
