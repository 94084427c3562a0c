//! Reductions: a smaller problem with the same answer, and the way back for its evidence.
//!
//! Every rule keeps the answer in both directions and says how runs and all three forms of
//! certificates of the smaller net become evidence on the larger one, exactly. Rules are applied in
//! rounds until none does anything; each writes a [`Removal`](log::Removal) into a log, and the way
//! [`Back`] reads the log from its end. Places are only ever taken away, and new transitions are
//! sequences of old ones, so that all steps speak of the original net's places.
//!
//! | rule | what goes | certificates on the way back |
//! |---|---|---|
//! | empty places | places that stay empty even when tokens are never used up, transitions that need them, targets that ask for them | the places join the siphon |
//! | unbounded places | places that hold ω, or are fed by a transition that needs unbounded places only | ω there in ω-markings; weight 0; no demand |
//! | idle places | places whose tokens help no target | the same |
//! | implied places | places that always hold enough when another one does, or from the start (constant places) | the same |
//! | losses | transitions without gain, and those that another transition does better | nothing to do, but see below |
//! | agglomeration | a place with only one way in or out between two steps: the steps become one | see [`agglomeration`] |
//!
//! A transition that only loses tokens matters to no run, no closure and no inequality, but it can
//! empty a trap. So a certificate with traps may be lost on the way back;
//! [`ReductionOptions::keep_losses`] leaves those transitions in for methods that reason with
//! traps.

mod agglomeration;
mod arcs;
mod back;
mod log;
mod places;
mod slicing;
mod transitions;
mod working_net;

#[cfg(test)]
mod tests;

pub use back::Back;

use palisade_model::limits::Limits;
use palisade_model::net::{Problem, Query};
use std::ops::Range;
use working_net::WorkingNet;

/// Which reductions to use.
#[derive(Clone, Debug)]
pub struct ReductionOptions {
    /// Keep transitions that only lose tokens, so that certificates with traps find their way back.
    pub keep_losses: bool,
    /// Merge steps around places with one way in or out.
    pub agglomerate: bool,
    /// Rounds of all rules after which to stop.
    pub rounds: usize,
    /// When to stop: what has been reduced by then is used.
    pub limits: Limits,
}

impl Default for ReductionOptions {
    fn default() -> Self {
        Self { keep_losses: false, agglomerate: true, rounds: 20, limits: Limits::none() }
    }
}

/// A smaller problem with the same answer.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The smaller problem. It has no target when all are refuted, and a target without demands
    /// when one is trivial.
    pub problem: Problem,
    /// The way back for its evidence.
    pub back: Back,
}

impl Reduced {
    /// The reduced problem of a part of the targets, by their original numbers. What was left out
    /// helps none of all targets, so none of these.
    #[must_use]
    pub fn for_targets(&self, targets: Range<usize>) -> Self {
        let kept = self.back.targets.iter().enumerate().filter(|(_, number)| targets.contains(number));
        let kept: Vec<(usize, usize)> = kept.map(|(reduced, number)| (reduced, number - targets.start)).collect();
        let query =
            Query { targets: kept.iter().map(|(reduced, _)| self.problem.query.targets[*reduced].clone()).collect() };
        let mut back = self.back.clone();
        back.targets = kept.iter().map(|(_, number)| *number).collect();
        back.original.query.targets = back.original.query.targets[targets].to_vec();
        Self { problem: Problem { net: self.problem.net.clone(), query }, back }
    }
}

/// Reduces a problem.
pub fn reduce(problem: &Problem, options: &ReductionOptions) -> Reduced {
    let mut net = WorkingNet::new(problem, &options.limits);
    for _ in 0..options.rounds {
        let mut changed = false;
        for rule in rules(options) {
            // Between any two rules the net is a whole one.
            if net.is_over() {
                break;
            }
            changed |= rule(&mut net);
        }
        if !changed {
            break;
        }
    }
    let (reduced, back) = net.finish(problem);
    Reduced { problem: reduced, back }
}

/// The rules of one round, in order.
fn rules(options: &ReductionOptions) -> Vec<fn(&mut WorkingNet) -> bool> {
    let mut rules: Vec<fn(&mut WorkingNet) -> bool> =
        vec![slicing::remove_empty, slicing::remove_unbounded, slicing::remove_idle];
    if options.keep_losses {
        rules.push(transitions::remove_alike);
    } else {
        rules.extend([transitions::remove_losses, transitions::remove_outdone]);
    }
    rules.push(places::remove_implied);
    if options.agglomerate {
        rules.push(agglomeration::agglomerate);
    }
    rules
}
