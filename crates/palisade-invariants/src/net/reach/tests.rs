//! Evidence of reachability on a small net, as it is and with faults.

use super::*;
use crate::Obligation;
use palisade_evidence::{
    Contradiction, GoalShape, LinearCase, LinearProof, NetCertificate, ObservedProof, Observer, OmegaMarking,
    PlaceWeights, RunStep,
};
use palisade_model::net::{Count, TransitionId};
use std::sync::Arc;

const FREE: PlaceId = PlaceId(0);
const LEFT: PlaceId = PlaceId(1);
const RIGHT: PlaceId = PlaceId(2);

/// A token that goes from `free` to `left` or `right` and back.
fn switch() -> Net {
    let mut net = Net::default();
    net.add_place("free", OmegaCount::Finite(Count::ONE));
    net.add_place("left", OmegaCount::Finite(Count::ZERO));
    net.add_place("right", OmegaCount::Finite(Count::ZERO));
    for (from, to) in [(FREE, LEFT), (LEFT, FREE), (FREE, RIGHT), (RIGHT, FREE)] {
        net.add_transition(format!("t{}{}", from.0, to.0), vec![(from, Count::ONE)], vec![(to, Count::ONE)]);
    }
    net
}

fn bound(terms: &[(PlaceId, i64)], bound: i64) -> Formula {
    let terms = terms.iter().map(|(place, weight)| (*place, BigInt::from(*weight))).collect();
    Formula::AtLeast(LinearBound::new(terms, BigInt::from(bound)))
}

/// No token anywhere.
fn nowhere() -> Formula {
    Formula::All([FREE, LEFT, RIGHT].into_iter().map(|place| bound(&[(place, -1)], 0)).collect())
}

fn rejected(goal: &Formula, certificate: ReachCertificate) -> Option<Obligation> {
    check_unreachable(&switch(), goal, &certificate).err().map(|failure| failure.obligation)
}

fn weights(weights: &[(PlaceId, i64)]) -> PlaceWeights {
    weights.iter().map(|(place, weight)| (*place, BigInt::from(*weight))).collect()
}

#[test]
fn closed_sets() {
    let closed = |rows: &[[u32; 3]]| {
        let rows: Vec<Vec<u32>> = rows.iter().map(|row| row.to_vec()).collect();
        ReachCertificate::Closed(Arc::new(MarkingSet::of(vec![FREE, LEFT, RIGHT], &rows)))
    };
    let all = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    assert_eq!(rejected(&nowhere(), closed(&all)), None);
    assert_eq!(rejected(&Formula::Deadlock, closed(&all)), None);
    assert_eq!(rejected(&bound(&[(LEFT, 1), (RIGHT, 1)], 2), closed(&all)), None);
    assert_eq!(rejected(&bound(&[(LEFT, 1), (RIGHT, 1)], 1), closed(&all)), Some(Obligation::Safe));
    assert_eq!(rejected(&nowhere(), closed(&all[..2])), Some(Obligation::Inductive));
    assert_eq!(rejected(&nowhere(), closed(&all[1..])), Some(Obligation::Initial));
    assert_eq!(rejected(&nowhere(), closed(&[all[0], all[1], all[2], [0, 0, 0]])), Some(Obligation::Safe));
    let part = |rows: &[u32]| {
        let rows: Vec<Vec<u32>> = rows.iter().map(|count| vec![*count]).collect();
        ReachCertificate::Closed(Arc::new(MarkingSet::of(vec![LEFT], &rows)))
    };
    // On one place alone any number of tokens may come.
    assert_eq!(rejected(&nowhere(), part(&[0, 1])), Some(Obligation::Inductive));
    assert_eq!(rejected(&bound(&[(LEFT, 1), (RIGHT, 1)], 2), part(&[])), Some(Obligation::Initial));
}

#[test]
fn proofs_from_the_state_equation() {
    let sum = weights(&[(FREE, -1), (LEFT, -1), (RIGHT, -1)]);
    let proof = |facts: &[(usize, i64)], weights: &PlaceWeights, traps: Vec<Vec<PlaceId>>, multiplier: i64| {
        let facts = facts.iter().map(|(fact, multiplier)| (*fact, BigInt::from(*multiplier))).collect();
        let used = (0..traps.len()).map(|trap| (trap, BigInt::from(multiplier))).collect();
        let root = LinearCase::Refuted(Contradiction { weights: weights.clone(), facts, traps: used });
        ReachCertificate::Linear(LinearProof { siphon: Vec::new(), traps, root })
    };
    assert_eq!(rejected(&nowhere(), proof(&[(0, 1), (1, 1), (2, 1)], &sum, Vec::new(), 0)), None);
    // A fact forgotten, a negative multiplier, a fact that is none, and weights that a transition
    // increases.
    assert_eq!(rejected(&nowhere(), proof(&[(0, 1), (1, 1)], &sum, Vec::new(), 0)), Some(Obligation::Safe));
    assert_eq!(rejected(&nowhere(), proof(&[], &sum, Vec::new(), 0)), Some(Obligation::Safe));
    assert_eq!(rejected(&nowhere(), proof(&[(0, -1)], &sum, Vec::new(), 0)), Some(Obligation::Form));
    assert_eq!(rejected(&nowhere(), proof(&[(3, 1)], &sum, Vec::new(), 0)), Some(Obligation::Form));
    let uneven = weights(&[(FREE, -1), (LEFT, -1)]);
    assert_eq!(
        rejected(&nowhere(), proof(&[(0, 1), (1, 1), (2, 1)], &uneven, Vec::new(), 0)),
        Some(Obligation::Inductive)
    );
    // All places are a trap; two of them are none.
    let trap = vec![FREE, LEFT, RIGHT];
    let none = Vec::new();
    let with_trap = |trap: Vec<PlaceId>| proof(&[(0, 1), (1, 1), (2, 1)], &none, vec![trap], 1);
    assert_eq!(rejected(&nowhere(), with_trap(trap)), None);
    assert_eq!(rejected(&nowhere(), with_trap(vec![FREE, LEFT])), Some(Obligation::Inductive));
    assert_eq!(rejected(&nowhere(), with_trap(vec![LEFT])), Some(Obligation::Initial));
    assert_eq!(
        rejected(&nowhere(), proof(&[(0, 1)], &none, vec![vec![FREE, LEFT, RIGHT]], -1)),
        Some(Obligation::Form)
    );
}

#[test]
fn cases() {
    // Somebody is missing on each side, and a token is on both.
    let goal = Formula::Any(vec![bound(&[(LEFT, 1), (RIGHT, 1)], 2), bound(&[(FREE, 1)], 2)]);
    let leaf = |fact: usize| {
        let weights = weights(&[(FREE, 1), (LEFT, 1), (RIGHT, 1)]);
        LinearCase::Refuted(Contradiction { weights, facts: vec![(fact, BigInt::from(1))], traps: Vec::new() })
    };
    let proof = |root| ReachCertificate::Linear(LinearProof { siphon: Vec::new(), traps: Vec::new(), root });
    let split = |cases| LinearCase::Split { fact: 0, cases };
    assert_eq!(rejected(&goal, proof(split(vec![leaf(1), leaf(1)]))), None);
    assert_eq!(rejected(&goal, proof(split(vec![leaf(1)]))), Some(Obligation::Form));
    assert_eq!(rejected(&goal, proof(split(vec![leaf(1), leaf(0)]))), Some(Obligation::Form));
    assert_eq!(rejected(&goal, proof(leaf(0))), Some(Obligation::Form));
    // Deadlock on a net whose token is always somewhere: one choice for each transition, all
    // relaxed.
    let observer = || Observer { weights: weights(&[(FREE, 1), (LEFT, 1), (RIGHT, 1)]), divisor: BigInt::from(1) };
    let none = Contradiction {
        weights: weights(&[(FREE, -1), (LEFT, -1), (RIGHT, -1)]),
        facts: vec![(4, BigInt::from(1)), (5, BigInt::from(1)), (7, BigInt::from(1))],
        traps: Vec::new(),
    };
    let relaxed = |facts: Vec<usize>, observer: &dyn Fn() -> Observer, contradiction: Contradiction| {
        let facts = facts.into_iter().map(|fact| (fact, vec![observer()])).collect();
        proof(LinearCase::Relaxed { facts, case: Box::new(LinearCase::Refuted(contradiction)) })
    };
    assert_eq!(rejected(&Formula::Deadlock, relaxed(vec![0, 1, 2, 3], &observer, none.clone())), None);
    // A transition missed, and a bound that is too low.
    assert!(rejected(&Formula::Deadlock, relaxed(vec![0, 1, 2], &observer, none.clone())).is_some());
    let low = || Observer { weights: weights(&[(LEFT, 1), (RIGHT, 1)]), divisor: BigInt::from(1) };
    assert_eq!(rejected(&Formula::Deadlock, relaxed(vec![0, 1, 2, 3], &low, none)), Some(Obligation::Inductive));
}

/// An observed net that the engine might have built, with the certificate that all its markings
/// are.
fn observed(
    goal: &Formula,
    observers: Vec<Observer>,
    shape: GoalShape,
    markings: &[&[(u32, u64)]],
) -> Option<Obligation> {
    let marking = |marking: &&[(u32, u64)]| -> OmegaMarking {
        marking.iter().map(|(place, count)| (PlaceId(*place), OmegaCount::Finite((*count).into()))).collect()
    };
    let certificate = NetCertificate::Downward { markings: markings.iter().map(marking).collect() };
    rejected(goal, ReachCertificate::Observed(ObservedProof { observers, shape, certificate }))
}

#[test]
fn nets_with_observers() {
    let all = || Observer { weights: weights(&[(FREE, 1), (LEFT, 1), (RIGHT, 1)]), divisor: BigInt::from(1) };
    let three = || vec![all(), all(), all()];
    // The observers are places 3, 4 and 5: the complements of the three places.
    let markings: [&[(u32, u64)]; 3] =
        [&[(0, 1), (4, 1), (5, 1)], &[(1, 1), (3, 1), (5, 1)], &[(2, 1), (3, 1), (4, 1)]];
    assert_eq!(observed(&nowhere(), three(), GoalShape::Alternatives, &markings), None);
    // A complement forgotten where a token goes to the left.
    let forgotten: [&[(u32, u64)]; 3] =
        [&[(0, 1), (4, 1), (5, 1)], &[(1, 1), (4, 1), (5, 1)], &[(2, 1), (3, 1), (4, 1)]];
    assert_eq!(observed(&nowhere(), three(), GoalShape::Alternatives, &forgotten), Some(Obligation::Inductive));
    // A bound that is too low, one that is missing, and a condition that can be met.
    let low = Observer { weights: weights(&[(LEFT, 1)]), divisor: BigInt::from(1) };
    let lower = vec![all(), low, all()];
    assert_eq!(observed(&nowhere(), lower, GoalShape::Alternatives, &markings), Some(Obligation::Inductive));
    assert_eq!(observed(&nowhere(), vec![all()], GoalShape::Alternatives, &markings), Some(Obligation::Form));
    let left = bound(&[(LEFT, -1)], 0);
    let one: [&[(u32, u64)]; 3] = [&[(0, 1), (3, 1)], &[(1, 1)], &[(2, 1), (3, 1)]];
    assert_eq!(observed(&left, vec![all()], GoalShape::Alternatives, &one), Some(Obligation::Safe));
    // Deadlock by a token that goes through the four transitions: it waits in 6, ends in 7, and
    // passes 8, 9 and 10. The observers are the complements of `free`, `left` and `right`.
    let tested: [&[(u32, u64)]; 6] = [
        &[(0, 1), (4, 1), (5, 1), (6, 1)],
        &[(1, 1), (3, 1), (5, 1), (6, 1)],
        &[(2, 1), (3, 1), (4, 1), (6, 1)],
        &[(1, 1), (3, 1), (5, 1), (8, 1)],
        &[(2, 1), (3, 1), (4, 1), (8, 1)],
        &[(2, 1), (3, 1), (4, 1), (9, 1)],
    ];
    let more: Vec<&[(u32, u64)]> = tested.iter().copied().chain([&[(2, 1), (3, 1), (4, 1), (10, 1)][..]]).collect();
    assert_eq!(observed(&Formula::Deadlock, three(), GoalShape::Automaton, &more), None);
    // An automaton that misses the transition from the left would end in other places.
    let short: Vec<&[(u32, u64)]> = tested[..5].to_vec();
    assert_eq!(observed(&Formula::Deadlock, three(), GoalShape::Automaton, &short), Some(Obligation::Inductive));
}

#[test]
fn runs() {
    let run = |transitions: &[u32]| {
        let firings = transitions.iter().map(|id| (RunStep::Fire(TransitionId(*id)), Count::ONE)).collect();
        NetRun { initial_choice: Vec::new(), firings }
    };
    let check = |goal: &Formula, transitions: &[u32]| {
        check_reaching_run(&switch(), goal, &run(transitions)).err().map(|failure| failure.obligation)
    };
    let only_right = Formula::All(vec![bound(&[(RIGHT, 1)], 1), bound(&[(FREE, -1)], 0)]);
    assert_eq!(check(&only_right, &[0, 1, 2]), None);
    assert_eq!(check(&only_right, &[0, 1]), Some(Obligation::Run));
    assert_eq!(check(&only_right, &[2, 2]), Some(Obligation::Run));
    assert_eq!(check(&Formula::Deadlock, &[2]), Some(Obligation::Run));
}
