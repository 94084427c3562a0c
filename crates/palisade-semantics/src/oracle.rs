//! The brute-force robustness oracle: all TSO computations of a small instance against all SC
//! computations.
//!
//! An instance is robust when every TSO trace is an SC trace ([ESOP13, §3]). The oracle enumerates
//! both sets of traces with unbounded buffers, compares them, looks for happens-before cycles as
//! well, and insists that both agree ([ESOP13, Lemma 1]). It knows nothing of attacks, so that
//! tests can compare everything built on attacks with it.
//!
//! On the TSO side traces of computations that cannot be extended suffice: a trace is part of the
//! trace of each extension, and SC traces are closed under taking such parts. Where a thread's
//! stores can never leave its buffer, because another one keeps the lock, the computation is the
//! one in which the thread stopped before them
//! ([`TraceBuilder::finished`](super::TraceBuilder::finished)).

use super::exploration::{Bounds, ExplorationError, Successors, explore};
use super::happens_before::is_cyclic;
use super::instance::Instance;
use super::machine::{Machine, Model};
use super::step::Step;
use super::trace::Trace;
use hashbrown::HashSet;
use palisade_model::program::Program;
use std::ops::ControlFlow;

/// What the oracle found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Every TSO trace is an SC trace.
    Robust {
        /// Whether the bound on the steps cut computations short: then the answer speaks of the
        /// bounded ones only.
        truncated: bool,
    },
    /// A TSO computation without an SC computation of the same trace.
    Violated {
        /// The computation; it ends with empty buffers.
        computation: Vec<Step>,
        /// Its trace.
        trace: Trace,
    },
}

impl Answer {
    /// Whether the answer is robust.
    pub fn is_robust(&self) -> bool {
        matches!(self, Self::Robust { .. })
    }
}

/// Whether an instance is robust, by enumeration of its traces.
///
/// # Panics
///
/// When the comparison of the trace sets and the search for cycles disagree, which [ESOP13, Lemma
/// 1] excludes.
pub fn robust(program: &Program, instance: &Instance, bounds: &Bounds) -> Result<Answer, ExplorationError> {
    decide(program, instance, bounds, Successors::Reduced)
}

pub(super) fn decide(
    program: &Program,
    instance: &Instance,
    bounds: &Bounds,
    successors: Successors,
) -> Result<Answer, ExplorationError> {
    let sc = Machine::new(program, instance, Model::Sc).awaiting();
    let maximal_sc_traces = traces(&sc, successors, bounds, true)?;
    let mut all_sc_traces = None;
    let tso = Machine::new(program, instance, Model::Tso).awaiting();
    let mut tso_traces: HashSet<Box<[u8]>> = HashSet::new();
    let mut violation = None;
    let mut any_truncated = false;
    let mut failed = Ok(());
    explore(&tso, successors, bounds, &mut |visit| {
        any_truncated |= visit.truncated;
        if !(visit.terminal || successors == Successors::Full && visit.state.buffers_are_empty()) {
            return ControlFlow::Continue(());
        }
        let trace = visit.trace(&tso);
        if is_cyclic(&trace) {
            violation = Some(Answer::Violated { computation: visit.computation(&tso), trace });
            return ControlFlow::Break(());
        }
        let form = trace.canonical_form();
        if !maximal_sc_traces.contains(&form) {
            // An SC computation may be able to go on where a TSO computation stops with a store it
            // cannot flush.
            let all = all_sc_traces.get_or_insert_with(|| traces(&sc, successors, bounds, false));
            match all {
                Ok(all) => assert!(all.contains(&form), "an acyclic TSO trace is an SC trace"),
                Err(error) => {
                    failed = Err(error.clone());
                    return ControlFlow::Break(());
                }
            }
        }
        tso_traces.insert(form);
        ControlFlow::Continue(())
    })?;
    failed?;
    if let Some(violation) = violation {
        return Ok(violation);
    }
    assert!(maximal_sc_traces.is_subset(&tso_traces), "every SC trace is a TSO trace");
    Ok(Answer::Robust { truncated: any_truncated })
}

/// The traces of computations in canonical form: of all that the search visits, or of those that
/// cannot be extended. SC traces are acyclic, so that a cyclic TSO trace is not among them.
fn traces(
    machine: &Machine<'_>,
    successors: Successors,
    bounds: &Bounds,
    maximal: bool,
) -> Result<HashSet<Box<[u8]>>, ExplorationError> {
    let mut forms = HashSet::new();
    explore(machine, successors, bounds, &mut |visit| {
        if visit.terminal || !maximal {
            let trace = visit.trace(machine);
            assert!(!is_cyclic(&trace), "an SC computation has an acyclic trace");
            forms.insert(trace.canonical_form());
        }
        ControlFlow::Continue(())
    })?;
    Ok(forms)
}

#[cfg(test)]
mod tests {
    use super::super::random::{self, Shape};
    use super::*;

    /// The reduced search is right when it answers as the search that follows every interleaving
    /// and looks at every computation that ends with empty buffers.
    #[test]
    fn reduced_and_full_search_agree() {
        let shape = Shape { copies: 3, labels: 4, total_labels: 7, sections: 35, ..Shape::default() };
        for seed in 0..1000 {
            let program = random::program(seed, &shape);
            let instance = Instance::of(&program).expect("random programs fix their copies");
            let decide = |successors| decide(&program, &instance, &Bounds::default(), successors).expect("loop-free");
            assert_eq!(decide(Successors::Reduced).is_robust(), decide(Successors::Full).is_robust(), "seed {seed}");
            for model in [Model::Sc, Model::Tso, Model::Pso] {
                let machine = Machine::new(&program, &instance, model);
                let maximal = |successors| {
                    let mut forms = HashSet::new();
                    explore(&machine, successors, &Bounds::default(), &mut |visit| {
                        if visit.terminal {
                            forms.insert(visit.trace(&machine).canonical_form());
                        }
                        ControlFlow::Continue(())
                    })
                    .expect("loop-free");
                    forms
                };
                assert_eq!(maximal(Successors::Reduced), maximal(Successors::Full), "seed {seed} {model:?}");
            }
        }
    }
}
