//! The state equation, refined by traps: a linear proof that no marking reachable over ℚ covers the
//! target.
//!
//! Every reachable marking is `m0 + C·x` for some `x ≥ 0`. When no such marking covers the target
//! `g`, Farkas' lemma gives weights `y ≥ 0` with `y·C ≤ 0` and `y·g > y·m0`: a [`Refutation`].
//! Instead of asking whether `x` exists, we look for `y` of least sum, and generate its constraints
//! as they are violated: `y` starts at the target, a transition that increases `y·m` brings in its
//! preset, and so on. Every place has a column, but the transitions that bear on the proof are few
//! even in nets of ten thousand.
//!
//! When there is no `y`, the transitions generated have a solution `x`, whose marking covers the
//! target. A trap that is marked initially and empty in it rules it out [EM00]: traps stay marked.
//! Its constraint `m(Q) ≥ 1` becomes a column `z` of the dual program, and the search for `y` goes
//! on.
//!
//! The solver computes in floating point. Its answer is turned into integers and checked exactly
//! before it is believed; when it fails the strategy says that it is inconclusive.

mod exact;
mod marking;
mod program;
mod solved;

pub(super) use self::exact::{integers, to_integers};
pub(super) use self::marking::optimize;
use self::program::Program;
pub(super) use self::solved::{Row, Solved};
use super::compact::CompactNet;
use super::engine::{Method, Prepared};
use super::number::{Number, Stop};
use super::slice::{Fate, Slice};
use super::traps::Traps;
use super::{Context, Outcome};
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use palisade_evidence::{NetCertificate, Refutation, WeightedTrap};
use palisade_model::limits::StopReason;
use palisade_model::net::{Count, OmegaCount, PlaceId, Problem};
use std::collections::BTreeMap;

/// The strategy `state-equation`.
pub(super) struct StateEquation;

/// The number of traps to try for a target.
const MOST_TRAPS: usize = 60;

impl Method for StateEquation {
    const NAME: &'static str = "state-equation";

    /// Refutes every target, if it can.
    fn run<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop> {
        let Prepared { problem, slice, .. } = prepared;
        let mut refutations = vec![Refutation::default(); problem.query.targets.len()];
        for (target, number) in compact.targets.iter().zip(&slice.targets) {
            // The targets of a query are often alike, and so are their refutations.
            let known = refutations.iter().find(|known| refutes(compact, slice, known, target)).cloned();
            refutations[*number] = match known {
                Some(known) => known,
                None => refute(problem, slice, compact, target, context)?,
            };
        }
        Ok(Outcome::Uncoverable(NetCertificate::Separator { siphon: slice.siphon(), refutations }))
    }
}

/// A refutation of one target.
fn refute<N: Number>(
    problem: &Problem,
    slice: &Slice,
    compact: &CompactNet<N>,
    target: &[(u32, N)],
    context: &Context,
) -> Result<Refutation, Stop> {
    let inconclusive = Stop::Stopped(StopReason::Inconclusive);
    let mut program = Program::new(compact, target);
    let mut traps = None;
    loop {
        if let Some(solution) = program.separate(context)? {
            let assembled = integers(&solution.weights, &solution.multipliers)
                .map(|(weights, multipliers)| assemble(slice, &program, &weights, &multipliers));
            let holds = |it: &Refutation| is_inductive(compact, slice, it) && refutes(compact, slice, it, target);
            return assembled.into_iter().find(holds).ok_or(inconclusive);
        }
        if program.traps.len() >= MOST_TRAPS {
            return Err(inconclusive);
        }
        let marking = program.solution(context)?;
        let trap = find_trap(problem, slice, traps.get_or_insert_with(|| traps_of(problem, slice)), &marking)
            .ok_or(inconclusive)?;
        if program.traps.contains(&trap) {
            return Err(inconclusive);
        }
        program.traps.push(trap);
    }
}

/// The refutation with these weights `w` and multipliers, as evidence: its weights are
/// `y = w + Σ z` over the traps.
fn assemble<N: Number>(
    slice: &Slice,
    program: &Program<'_, N>,
    weights: &[(u32, BigInt)],
    multipliers: &[BigInt],
) -> Refutation {
    let mut sums: BTreeMap<PlaceId, BigInt> = BTreeMap::new();
    for (place, weight) in weights {
        *sums.entry(slice.places[*place as usize]).or_default() += weight;
    }
    let mut traps = Vec::new();
    for (trap, multiplier) in program.traps.iter().zip(multipliers).filter(|(_, multiplier)| !multiplier.is_zero()) {
        let mut places: Vec<PlaceId> = trap.iter().map(|place| slice.places[*place as usize]).collect();
        places.sort_unstable();
        for place in &places {
            *sums.entry(*place).or_default() += multiplier;
        }
        traps.push(WeightedTrap { places, multiplier: multiplier.clone() });
    }
    Refutation { weights: sums.into_iter().filter(|(_, weight)| !weight.is_zero()).collect(), traps }
}

/// The weights of a refutation by place of the slice.
fn dense(slice: &Slice, refutation: &Refutation) -> Vec<BigInt> {
    let mut weights = vec![BigInt::zero(); slice.places.len()];
    for (place, weight) in &refutation.weights {
        if let Fate::Kept(number) = slice.fates[place.index()] {
            weights[number as usize].clone_from(weight);
        }
    }
    weights
}

/// Whether no transition increases the weighted sum. Transitions outside the slice put nothing
/// there that they do not take, and the weights are not negative.
fn is_inductive<N: Number>(compact: &CompactNet<N>, slice: &Slice, refutation: &Refutation) -> bool {
    let weights = dense(slice, refutation);
    weights.iter().all(|weight| !weight.is_negative())
        && (0u32..).zip(&compact.transitions).all(|(number, _)| {
            let change: BigInt = compact
                .effects(number)
                .iter()
                .filter(|effect| !weights[effect.place as usize].is_zero())
                .map(|effect| {
                    let change = BigInt::from(effect.post.count().to_big()) - BigInt::from(effect.pre.count().to_big());
                    change * &weights[effect.place as usize]
                })
                .sum();
            !change.is_positive()
        })
}

/// Whether an inductive refutation rules a target out.
fn refutes<N: Number>(compact: &CompactNet<N>, slice: &Slice, refutation: &Refutation, target: &[(u32, N)]) -> bool {
    if refutation.weights.is_empty() {
        return false;
    }
    let mut weights = dense(slice, refutation);
    let mut bound = BigInt::zero();
    for (weight, count) in weights.iter().zip(&compact.initial).filter(|(weight, _)| !weight.is_zero()) {
        bound += weight * BigInt::from(count.count().to_big());
    }
    for trap in &refutation.traps {
        bound -= &trap.multiplier;
        for place in &trap.places {
            let number = slice.number(*place).expect("traps are over places of the slice");
            weights[number as usize] -= &trap.multiplier;
        }
    }
    let demand: BigInt =
        target.iter().map(|(place, count)| &weights[*place as usize] * BigInt::from(count.count().to_big())).sum();
    weights.iter().all(|weight| !weight.is_negative()) && demand > bound
}

/// The largest trap among the places of the slice that are empty in a marking, if it is marked
/// initially.
fn find_trap(problem: &Problem, slice: &Slice, traps: &Traps, marked: &[bool]) -> Option<Vec<u32>> {
    let mut inside: Vec<bool> = marked.iter().map(|marked| !marked).collect();
    traps.shrink(&mut inside);
    let starts = |place: &PlaceId| problem.net.initial[place.index()] != OmegaCount::Finite(Count::ZERO);
    let trap: Vec<u32> = (0u32..).zip(&inside).filter(|(_, inside)| **inside).map(|(place, _)| place).collect();
    trap.iter().any(|place| starts(&slice.places[*place as usize])).then_some(trap)
}

/// The arcs by which sets of places of the slice are no traps.
fn traps_of(problem: &Problem, slice: &Slice) -> Traps {
    let net = &problem.net;
    let fires =
        |index: usize| net.transitions[index].pre.iter().all(|(place, _)| slice.fates[place.index()] != Fate::Empty);
    Traps::of(net, fires, slice.places.len(), |place| slice.number(place))
}
