//! Conditions on random small nets against explicit enumeration, every answer through the checker.

use super::*;
use crate::tests::Random;
use num_bigint::BigInt;
use palisade_model::net::{Count, LinearBound, OmegaCount};
use palisade_verify::{check_reaching_run, check_unreachable};
use std::collections::BTreeSet;

/// Nets with more markings are left out.
const MOST_MARKINGS: usize = 300;

fn number(random: &mut Random, below: usize) -> usize {
    usize::try_from(random.below(below as u64)).expect("it is less than a usize")
}

fn net(random: &mut Random) -> Net {
    let mut net = Net::default();
    for place in 0..2 + number(random, 4) {
        let count = if number(random, 3) == 0 { 0 } else { number(random, 3) as u64 };
        net.add_place(format!("p{place}"), OmegaCount::Finite(count.into()));
    }
    let places = net.places.len();
    for transition in 0..1 + number(random, 5) {
        let mut arcs = || {
            let length = number(random, 3) + 1;
            let arc = |_| (PlaceId::from_index(number(random, places)), Count::from(1 + number(random, 8) as u64 / 6));
            (0..length).map(arc).collect::<Vec<_>>()
        };
        let (pre, post) = (arcs(), arcs());
        net.add_transition(format!("t{transition}"), pre, post);
    }
    net
}

fn goal(random: &mut Random, net: &Net, depth: usize) -> Formula {
    let parts = |random: &mut Random| -> Vec<Formula> {
        (0..1 + number(random, 3)).map(|_| goal(random, net, depth + 1)).collect()
    };
    match number(random, if depth > 2 { 6 } else { 12 }) {
        0 if depth > 0 => Formula::Constant(number(random, 2) == 0),
        1 => Formula::Deadlock,
        2 => Formula::Deadlock.contrary(net),
        0 | 3..=5 => {
            let term = |_| {
                let place = PlaceId::from_index(number(random, net.places.len()));
                (place, BigInt::from(number(random, 5)) - 2)
            };
            let terms = (0..3).map(term).collect();
            Formula::AtLeast(LinearBound::new(terms, BigInt::from(number(random, 7)) - 2))
        }
        6..=8 => Formula::All(parts(random)),
        _ => Formula::Any(parts(random)),
    }
}

/// All markings, unless they are many.
fn markings(net: &Net) -> Option<BTreeSet<Vec<u64>>> {
    let tokens = |count: &OmegaCount| match count {
        OmegaCount::Finite(count) => count.to_u64(),
        OmegaCount::Omega => None,
    };
    let initial: Vec<u64> = net.initial.iter().map(tokens).collect::<Option<_>>()?;
    let mut known = BTreeSet::from([initial.clone()]);
    let mut pending = vec![initial];
    while let Some(marking) = pending.pop() {
        for transition in &net.transitions {
            let mut after = marking.clone();
            let taken = transition.pre.iter().try_for_each(|(place, count)| {
                after[place.index()] = after[place.index()].checked_sub(count.to_u64()?)?;
                Some(())
            });
            if taken.is_none() {
                continue;
            }
            for (place, count) in &transition.post {
                after[place.index()] += count.to_u64()?;
            }
            if known.insert(after.clone()) {
                pending.push(after);
            }
        }
        if known.len() > MOST_MARKINGS {
            return None;
        }
    }
    Some(known)
}

fn holds(net: &Net, goal: &Formula, marking: &[u64]) -> bool {
    match goal {
        Formula::Constant(value) => *value,
        Formula::AtLeast(bound) => {
            let sum: BigInt = bound.terms.iter().map(|(place, weight)| weight * marking[place.index()]).sum();
            sum >= bound.bound
        }
        Formula::Deadlock => net
            .transitions
            .iter()
            .all(|transition| transition.pre.iter().any(|(place, count)| Count::from(marking[place.index()]) < *count)),
        Formula::All(parts) => parts.iter().all(|part| holds(net, part, marking)),
        Formula::Any(parts) => parts.iter().any(|part| holds(net, part, marking)),
    }
}

fn check(net: &Net, goal: &Formula, outcome: &ReachOutcome) {
    let checked = match outcome {
        ReachOutcome::Reachable(run) => check_reaching_run(net, goal, run),
        ReachOutcome::Unreachable(certificate) => check_unreachable(net, goal, certificate),
        ReachOutcome::Unknown(_) => Ok(()),
    };
    checked.unwrap_or_else(|failure| panic!("{failure}\n{goal:?}\n{outcome:?}\n{net:?}"));
}

/// The methods one by one and together: those that answer agree with the enumeration, and most answer.
#[test]
fn all_methods_agree_with_the_enumeration() {
    let mut random = Random(7);
    let cases = if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 20_000 } else { 600 };
    let mut answered = [0, 0, 0, 0];
    let mut reachable = [0, 0];
    for _ in 0..cases {
        let net = net(&mut random);
        let Some(markings) = markings(&net) else { continue };
        let goals: Vec<Formula> = (0..4).map(|_| goal(&mut random, &net, 0)).collect();
        let expected: Vec<bool> =
            goals.iter().map(|goal| markings.iter().any(|marking| holds(&net, goal, marking))).collect();
        expected.iter().for_each(|it| reachable[usize::from(*it)] += 1);
        let options = Options { deterministic: true, jobs: 1, ..Options::default() };
        let machine = Machine::new(&net, &goals).expect("the numbers are small");
        for method in 0..4 {
            let mut search = Search::new(&net, &goals, &machine, &options, Instant::now());
            let share = Share { time: FIRST.0, work: 20_000 };
            let mut found = |number: usize, answer: ReachAnswer| {
                check(&net, &goals[number], &answer.outcome);
                let is_reachable = answer.outcome.is_reachable();
                assert_eq!(is_reachable, Some(expected[number]), "{}: {:?}\n{net:?}", answer.strategy, goals[number]);
                answered[method] += 1;
            };
            let stopped = match method {
                0 => search.walk(share, &mut found),
                1 => search.explore(share, &mut found),
                2 => search.equate(share, &mut found),
                _ => search.observe(share, &mut found),
            };
            assert_eq!(stopped, Ok(()));
        }
        reach_all(&net, &goals, &options, |number, answer| {
            check(&net, &goals[number], &answer.outcome);
            assert_eq!(answer.outcome.is_reachable(), Some(expected[number]), "{:?}\n{net:?}", goals[number]);
        });
    }
    let all = reachable[0] + reachable[1];
    let [walked, explored, equated, observed] = answered;
    assert!(reachable[0] > all / 5 && reachable[1] > all / 5, "{reachable:?}");
    assert!(walked > reachable[1] * 3 / 4 && explored > all * 3 / 4, "{answered:?} of {reachable:?}");
    assert!(equated > reachable[0] / 4 && observed > all / 4, "{answered:?} of {reachable:?}");
}
