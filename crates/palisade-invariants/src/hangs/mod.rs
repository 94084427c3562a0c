//! Checks that a program has no stuck state under a memory model, and that it has one, from its
//! text and the evidence alone.
//!
//! A proof is a set of configurations that holds the initial ones, is closed under every step
//! ([`closed`], by what copies do in [`copies`]), and in which nobody is [stuck](`resting`). It is
//! about interleavings where the program is robust. A computation is replayed ([`stuck`]), and then
//! each copy is followed alone.

mod closed;
mod copies;
mod counters;
mod few;
mod hopeful;
mod resting;
mod stuck;
mod sums;

pub use stuck::check_stuck;

use crate::CheckFailure;
use crate::failure::reject;
use crate::program::{check_pso_certificate, check_robust_certificate};
use crate::property::Buffering;
use closed::check_closed;
use palisade_evidence::{FreeCertificate, WhyRobust};
use palisade_model::program::{Action, Copies, Program, Queue, Thread};
use palisade_semantics::Model;

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
