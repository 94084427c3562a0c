//! A search for a marking that satisfies a condition: the markings that are nearest to it come
//! first.
//!
//! How near a marking is, its [`Machine::distance`] says, which counts the tokens that inequalities
//! miss. Of markings that are as near the one that was found last is taken, so the search goes on
//! from where it has come closer. In each marking only those transitions fire that are
//! [enough](super::stubborn).

use super::machine::{Goal, Machine};
use super::packed::{NotInserted, Packed};
use super::stubborn::Stubborn;
use crate::Context;
use palisade_evidence::NetRun;
use palisade_model::limits::StopReason;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The search gives up when its markings take more words than this: 64 megabytes.
const MOST_WORDS: usize = 1 << 23;

/// Markings between two looks at the budget.
const INTERVAL: usize = 64;

/// What came of a search.
pub(super) enum Sought {
    /// A run to a marking that satisfies the condition.
    Found(NetRun),
    /// There is none.
    Nothing,
    /// There are too many markings.
    TooMany,
}

/// Searches until the budget ends.
pub(super) fn seek(
    machine: &Machine,
    stubborn: &mut Stubborn<'_>,
    goal: &Goal,
    context: &Context,
) -> Result<Sought, StopReason> {
    let mut known = Packed::new(machine);
    let mut marking = vec![0; machine.initial.len()];
    let mut enabled = Vec::new();
    let mut pending = BinaryHeap::from([(Reverse(0), 0)]);
    let mut expanded = 0_usize;
    while let Some((_, number)) = pending.pop() {
        if expanded.is_multiple_of(INTERVAL) {
            context.check()?;
        }
        expanded += 1;
        known.unpack(number, &mut marking);
        known.enabled(&marking, &mut enabled);
        let mut sums = machine.sums(&marking);
        let here = machine.distance(goal, &sums, enabled.len());
        if here == 0 {
            return Ok(Sought::Found(machine.run(&known.path(number))));
        }
        context.count_work(10 + 10 * enabled.len());
        context.count_markings(1);
        stubborn.retain(goal, &marking, &sums, &mut enabled);
        for transition in &enabled {
            if known.words() > MOST_WORDS {
                return Ok(Sought::TooMany);
            }
            let new = match known.insert_after(number, *transition, context) {
                Ok(Some(new)) => new,
                Ok(None) => continue,
                Err(NotInserted::TooManyTokens) => return Ok(Sought::TooMany),
                Err(NotInserted::Stopped(reason)) => return Err(reason),
            };
            let deltas = &machine.deltas[*transition as usize];
            let distance = if deltas.is_empty() {
                here
            } else {
                deltas.iter().for_each(|(atom, delta)| sums[*atom as usize] += delta);
                let distance = machine.distance(goal, &sums, enabled.len());
                deltas.iter().for_each(|(atom, delta)| sums[*atom as usize] -= delta);
                distance
            };
            pending.push((Reverse(distance), new));
        }
    }
    Ok(Sought::Nothing)
}
