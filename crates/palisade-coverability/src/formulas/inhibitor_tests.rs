//! Random nets with inhibitor arcs, and sums without bounds, against explicit enumeration.

use super::tests::{check, holds, net, number};
use super::*;
use crate::tests::Random;
use num_bigint::BigInt;
use palisade_model::limits::Limits;
use palisade_model::net::{Count, Inhibitor, LinearBound, OmegaCount, TransitionId, UpperBound};
use palisade_verify::check_unbounded;
use std::collections::BTreeSet;

/// More markings are not looked at.
const MOST_MARKINGS: usize = 300;

/// Markings of a net with inhibitor arcs, by their definition, until they are many; whether they
/// are all.
fn markings(net: &Net) -> (BTreeSet<Vec<u64>>, bool) {
    let tokens = |count: &OmegaCount| match count {
        OmegaCount::Finite(count) => count.to_u64().expect("it is small"),
        OmegaCount::Omega => unreachable!("all numbers are given"),
    };
    let initial: Vec<u64> = net.initial.iter().map(tokens).collect();
    let mut known = BTreeSet::from([initial.clone()]);
    let mut pending = vec![initial];
    let small = |count: &Count| count.to_u64().expect("it is small");
    while let Some(marking) = pending.pop() {
        for (id, transition) in net.transition_ids() {
            let own = net.inhibitors.iter().filter(|inhibitor| inhibitor.transition == id);
            let is_inhibited = own.into_iter().any(|it| marking[it.place.index()] >= small(&it.count));
            let lacks = transition.pre.iter().any(|(place, count)| marking[place.index()] < small(count));
            if is_inhibited || lacks {
                continue;
            }
            let mut after = marking.clone();
            transition.pre.iter().for_each(|(place, count)| after[place.index()] -= small(count));
            transition.post.iter().for_each(|(place, count)| after[place.index()] += small(count));
            if known.insert(after.clone()) {
                pending.push(after);
            }
        }
        if known.len() > MOST_MARKINGS {
            return (known, false);
        }
    }
    (known, true)
}

#[test]
fn complements_take_the_part_of_inhibitor_arcs() {
    let mut random = Random(23);
    let cases = if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 20_000 } else { 600 };
    let (mut compared, mut refused, mut restricted) = (0, 0, 0);
    for _ in 0..cases {
        let mut net = net(&mut random);
        let free = markings(&net).0.len();
        for _ in 0..1 + number(&mut random, 3) {
            let transition = TransitionId::from_index(number(&mut random, net.transitions.len()));
            let place = PlaceId::from_index(number(&mut random, net.places.len()));
            let count = Count::from(1 + number(&mut random, 3) as u64);
            net.inhibitors.push(Inhibitor { transition, place, count });
        }
        let (expected, true) = markings(&net) else { continue };
        let plain = match without_inhibitors(net.clone(), &Limits::none()) {
            Ok(plain) => plain,
            Err(Inhibited::Unproved(_)) => {
                refused += 1;
                continue;
            }
            Err(why) => panic!("{why}: {net:?}"),
        };
        let own = palisade_verify::without_inhibitors(&net, &plain.complements).expect("the bounds are shown");
        assert_eq!(own, plain.net);
        // Where complements take their part there are the same markings, and no others.
        let (found, true) = markings(&plain.net) else { panic!("there are more markings: {net:?}") };
        let places = net.places.len();
        assert_eq!(found.into_iter().map(|it| it[..places].to_vec()).collect::<BTreeSet<_>>(), expected, "{net:?}");
        restricted += usize::from(expected.len() < free);
        compared += 1;
        // Which transitions can fire together, and deadlock, are questions about the net as it is
        // read.
        let goals: Vec<Formula> =
            net.transition_ids().map(|(id, _)| Formula::fireable(&net, id)).chain([Formula::Deadlock]).collect();
        let options = Options { deterministic: true, jobs: 1, ..Options::default() };
        reach_all(&plain.net, &goals, &options, |number, answer| {
            check(&plain.net, &goals[number], &answer.outcome);
            let is_dead = |marking: &Vec<u64>| {
                net.transition_ids().all(|(id, _)| !holds(&net, &Formula::fireable(&net, id), marking))
            };
            let is_met = |marking: &Vec<u64>| match &goals[number] {
                Formula::Deadlock => is_dead(marking),
                goal => holds(&net, goal, marking),
            };
            assert_eq!(answer.outcome.is_reachable(), Some(expected.iter().any(is_met)), "{number} of {net:?}");
        });
        // A bound that is too low shows nothing.
        let mut forged = plain.complements.clone();
        for complement in &mut forged {
            complement.observer.weights.iter_mut().for_each(|(_, weight)| *weight = BigInt::from(1));
            complement.observer.divisor = BigInt::from(1_000);
        }
        assert!(palisade_verify::without_inhibitors(&net, &forged).is_err(), "{net:?}");
        assert!(palisade_verify::without_inhibitors(&net, &forged[1..]).is_err(), "{net:?}");
    }
    assert!(compared > cases / 4 && restricted > cases / 20, "{compared} compared, {refused} refused, {restricted}");
}

#[test]
fn sums_without_bounds_have_runs_that_go_on() {
    let mut random = Random(29);
    let cases = if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 20_000 } else { 300 };
    let (mut pumped, mut bounded) = (0, 0);
    for _ in 0..cases {
        let net = net(&mut random);
        let (markings, are_all) = markings(&net);
        let sums: Vec<UpperBound> =
            net.place_ids().map(|place| UpperBound { terms: vec![(place, BigInt::from(1))] }).collect();
        let options = Options { deterministic: true, jobs: 1, work: Some(1_000_000), ..Options::default() };
        bound_all(&net, &sums, &options, |number, answer| {
            let Some(side) = &answer.unbounded else {
                bounded += usize::from(answer.bound().is_some());
                return;
            };
            assert!(!are_all, "{number} is bounded: {net:?}");
            assert!(answer.excluded.is_none(), "{number} of {net:?}");
            let ReachOutcome::Reachable(run) = &side.answer.outcome else { panic!("a run is the evidence") };
            let goal = sums[number].at_least(side.tokens.clone());
            check_unbounded(&net, &goal, run).unwrap_or_else(|failure| panic!("{failure}: {run:?}\n{net:?}"));
            // What the run repeats increases this sum alone or with others; a sum that it leaves
            // shows nothing.
            let negated = Formula::AtLeast(LinearBound {
                terms: vec![(sums[number].terms[0].0, BigInt::from(-1))],
                bound: BigInt::from(-1_000),
            });
            assert!(check_unbounded(&net, &negated, run).is_err());
            let mut shorter = run.clone();
            shorter.firings.pop();
            assert!(
                check_unbounded(&net, &sums[number].at_least(BigInt::ZERO), &NetRun { firings: Vec::new(), ..shorter })
                    .is_err()
            );
            pumped += 1;
        });
        assert!(!markings.is_empty());
    }
    assert!(pumped > cases / 4 && bounded > cases, "{pumped} without bounds, {bounded} with");
}
