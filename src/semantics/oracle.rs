//! The brute-force robustness oracle: all TSO computations of a small instance against all SC computations.
//!
//! An instance is robust when every TSO trace is an SC trace ([ESOP13, §3]). The oracle enumerates both sets of traces
//! with unbounded buffers, compares them, looks for happens-before cycles as well, and insists that both agree
//! ([ESOP13, Lemma 1]). It knows nothing of attacks, so that everything built on attacks can be tested against it.
//!
//! On the TSO side traces of computations that cannot be extended suffice: a trace is part of the trace of each
//! extension, and SC traces are closed under taking such parts. Where a thread's stores can never leave its buffer,
//! because another one keeps the lock, the computation is the one in which the thread stopped before them
//! ([`TraceBuilder::finished`](super::TraceBuilder::finished)).

use super::exploration::{Bounds, ExplorationError, Search, explore};
use super::happens_before::is_cyclic;
use super::instance::Instance;
use super::machine::{Machine, Model};
use super::step::Step;
use super::trace::Trace;
use crate::program::Program;
use hashbrown::HashSet;
use std::ops::ControlFlow;

/// What the oracle found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Every TSO trace is an SC trace.
    Robust {
        /// Whether the bound on the steps cut computations short: then this is said of the bounded ones only.
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
/// When the comparison of the trace sets and the search for cycles disagree, which [ESOP13, Lemma 1] excludes.
pub fn robust(program: &Program, instance: &Instance, bounds: &Bounds) -> Result<Answer, ExplorationError> {
    decide(program, instance, bounds, Search::Reduced)
}

pub(super) fn decide(
    program: &Program,
    instance: &Instance,
    bounds: &Bounds,
    search: Search,
) -> Result<Answer, ExplorationError> {
    let mut sc_traces: HashSet<Box<[u8]>> = HashSet::new();
    let mut maximal_sc_traces: Vec<Box<[u8]>> = Vec::new();
    let sc = Machine::new(program, instance, Model::Sc);
    explore(&sc, search, bounds, &mut |visit| {
        let trace = visit.trace();
        let form = trace.canonical_form();
        if visit.terminal {
            assert!(!is_cyclic(&trace), "an SC computation has an acyclic trace");
            maximal_sc_traces.push(form.clone());
        }
        sc_traces.insert(form);
        ControlFlow::Continue(())
    })?;
    let tso = Machine::new(program, instance, Model::Tso);
    let mut tso_traces: HashSet<Box<[u8]>> = HashSet::new();
    let mut violation = None;
    let mut any_truncated = false;
    explore(&tso, search, bounds, &mut |visit| {
        any_truncated |= visit.truncated;
        if !visit.terminal && !(search == Search::Full && visit.state.buffers_are_empty()) {
            return ControlFlow::Continue(());
        }
        let trace = visit.trace();
        let form = trace.canonical_form();
        let cyclic = is_cyclic(&trace);
        assert_eq!(!cyclic, sc_traces.contains(&form), "a TSO trace is an SC trace exactly when it is acyclic");
        if cyclic {
            violation = Some(Answer::Violated { computation: visit.computation(&tso), trace });
            return ControlFlow::Break(());
        }
        tso_traces.insert(form);
        ControlFlow::Continue(())
    })?;
    if let Some(violation) = violation {
        return Ok(violation);
    }
    assert!(maximal_sc_traces.iter().all(|form| tso_traces.contains(form)), "every SC trace is a TSO trace");
    Ok(Answer::Robust { truncated: any_truncated })
}
