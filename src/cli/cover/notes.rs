//! What the answer to a question that needs no file is about: a transition, or a marking.

use crate::coverability::{ReachAnswer, ReachOutcome};
use crate::evidence::{NetRun, RunStep};
use crate::net::{Count, Net, OmegaCount};
use crate::report::counted;
use num_bigint::BigInt;
use num_traits::Zero;

/// So many places of a marking are named.
const MOST_NAMED: usize = 12;

/// What the answer to the question of this number says of the net, apart from so many places at its
/// end that nobody wrote.
pub(super) fn note(id: &str, number: usize, net: &Net, unwritten: usize, answer: &ReachAnswer) -> Option<String> {
    match (id, &answer.outcome) {
        ("quasi-live", ReachOutcome::Unreachable(_)) => {
            Some(format!("no run fires `{}`", net.transitions.get(number)?.name))
        }
        ("deadlock", ReachOutcome::Reachable(run)) => {
            let (steps, marking) = end(net, run);
            Some(format!("nothing fires {}, at {}", behind(&steps), named(net, unwritten, &marking, 1)))
        }
        ("one-safe", ReachOutcome::Reachable(run)) => {
            let (steps, marking) = end(net, run);
            Some(format!("{} {}", named(net, unwritten, &marking, 2), behind(&steps)))
        }
        _ => None,
    }
}

fn behind(steps: &BigInt) -> String {
    if steps.is_zero() { "at the beginning".to_owned() } else { format!("after {}", counted(steps, "firing")) }
}

/// The places with at least so many tokens, with these.
fn named(net: &Net, unwritten: usize, marking: &[BigInt], least: u32) -> String {
    let places = net.places.iter().zip(marking).take(net.places.len() - unwritten);
    let marked: Vec<String> = places
        .filter(|(_, tokens)| **tokens >= BigInt::from(least))
        .map(|(place, tokens)| format!("`{}` {tokens}", place.name))
        .collect();
    let more = marked.len().saturating_sub(MOST_NAMED);
    let names = marked[..marked.len() - more].join(", ");
    match more {
        _ if marked.is_empty() => "no tokens anywhere".to_owned(),
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

/// How many firings a run has, and the marking at its end.
fn end(net: &Net, run: &NetRun) -> (BigInt, Vec<BigInt>) {
    let tokens = |count: &OmegaCount| match count {
        OmegaCount::Finite(count) => big(count),
        OmegaCount::Omega => BigInt::zero(),
    };
    let mut marking: Vec<BigInt> = net.initial.iter().map(tokens).collect();
    run.initial_choice.iter().for_each(|(place, count)| marking[place.index()] = big(count));
    let mut steps = BigInt::zero();
    fire(net, &run.firings, &BigInt::from(1), &mut marking, &mut steps);
    (steps, marking)
}

fn fire(net: &Net, firings: &[(RunStep, Count)], times: &BigInt, marking: &mut [BigInt], steps: &mut BigInt) {
    for (step, count) in firings {
        let times = times * big(count);
        match step {
            RunStep::Fire(transition) => {
                for (place, taken, put) in net.transitions[transition.index()].effects() {
                    marking[place.index()] += (big(put) - big(taken)) * &times;
                }
                *steps += times;
            }
            RunStep::Sequence(firings) => fire(net, firings, &times, marking, steps),
        }
    }
}

fn big(count: &Count) -> BigInt {
    count.to_big().into()
}
