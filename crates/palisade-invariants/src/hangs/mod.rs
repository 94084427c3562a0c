//! Checks that a program has no stuck state under a memory model, and that it has one, from its
//! text and the evidence alone.
//!
//! A proof is a set of configurations that holds the initial ones, is closed under every step
//! ([`closed`], by what copies do in [`copies`]), and in which nobody is [stuck](`resting`). It is
//! about interleavings where the program is robust. Of a program without loops by its language, all
//! [execution graphs](`executions`) are made instead. A computation is replayed ([`stuck`]), and
//! then each copy is followed alone.

mod closed;
mod copies;
mod counters;
mod executions;
mod few;
mod hopeful;
mod resting;
mod stuck;
mod sums;

pub use executions::{MOST_EVENTS, MOST_GRAPHS};
pub use stuck::check_stuck;

use crate::CheckFailure;
use crate::failure::reject;
use crate::program::{check_pso_certificate, check_robust_certificate, check_stale_certificate};
use crate::property::Buffering;
use closed::check_closed;
use executions::check_executions;
use palisade_evidence::{FreeCertificate, WaitingSet, WhyRobust};
use palisade_model::program::{Action, Copies, Program, Queue, Thread};
use palisade_semantics::Model;
use palisade_semantics::graphs::by_language;

/// Checks that `certificate` shows `program` (with its copies and domain) to have no stuck state.
pub fn check_free(program: &Program, certificate: &FreeCertificate) -> Result<(), CheckFailure> {
    if program.threads.iter().all(|thread| thread.copies == Copies::Exactly(0)) {
        reject!(Form, "no thread has copies, so the evidence is about nothing");
    }
    let program = &(if certificate.ignores_timeouts { program.ignoring_timeouts() } else { program.clone() });
    // Stuck states are those of all executions, also of those with a delay that is accepted.
    let program = &Program { accepted: Vec::new(), ..program.clone() };
    // Whether there is hope is asked without what holds in the end.
    let program = &Program {
        finally: if certificate.is_hopeful { Vec::new() } else { program.finally.clone() },
        ..program.clone()
    };
    if let Some(axioms) = certificate.graphs {
        let is_bare = certificate.model == Model::Sc && certificate.robust.is_none() && !certificate.is_hopeful;
        if !is_bare || certificate.set != WaitingSet::default() {
            reject!(Form, "that all graphs of a language are free is not shown by a set, or for a model of machines");
        }
        return check_executions(program, axioms);
    }
    if let Some(WhyRobust::Language(robust)) = &certificate.robust {
        if certificate.model != Model::Sc || certificate.is_hopeful {
            reject!(Form, "a program that is robust against a language has the stuck states of interleavings");
        }
        check_stale_certificate(program, robust)?;
        return check_closed(&by_language(program), Buffering::of(Model::Sc), &certificate.set, false);
    }
    let buffering = match (certificate.model, &certificate.robust) {
        (model, None) => Buffering::of(model),
        (_, Some(_)) if !program.threads.iter().all(traces_tell_sleepers) => {
            reject!(
                Form,
                "robustness says nothing of who sleeps where one of several is woken, or another word released"
            )
        }
        (Model::Tso, Some(WhyRobust::Tso(robust))) => {
            check_robust_certificate(program, robust)?;
            Buffering::of(Model::Sc)
        }
        (Model::Pso, Some(WhyRobust::Pso(robust))) => {
            check_pso_certificate(program, robust)?;
            Buffering::of(Model::Sc)
        }
        _ => reject!(Form, "the program is robust against another model"),
    };
    if certificate.is_hopeful {
        let mut all = program.threads.iter().flat_map(|thread| &thread.instructions);
        if all.any(|own| own.action == Action::Lock) {
            reject!(Form, "that a copy gives the lock back is no hope for what it waits for");
        }
        if certificate.set.leaves_out {
            reject!(Form, "steps that are left out may give hope");
        }
    }
    check_closed(program, buffering, &certificate.set, certificate.is_hopeful)
}

/// Whether a trace says who sleeps: copies fall asleep by an update of the address at which they
/// sleep, and are woken all together.
fn traces_tell_sleepers(thread: &Thread) -> bool {
    thread.instructions.iter().all(|own| match own.queue() {
        Some(Queue::Sleep { address }) => own.action.address() == Some(address),
        Some(Queue::Wake { all, .. }) => *all,
        None => true,
    })
}
