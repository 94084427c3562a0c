//! From posts that drain to plain ones, under TSO.
//!
//! Threads say a program of events and tasks where posts drain. What they violate, plain posts
//! violate, too: a computation in which buffers are empty at each post and at each return on the
//! main thread is one of plain posts. What they keep, plain posts keep *if the program is robust
//! with these*: a violation then has the happens-before relation of an interleaving, whose
//! invocations read the same values, and the interleavings are the same for both kinds of posts.

use super::{Answer, Proof, ProveOptions, Why};
use crate::robustness::{Verdict, check_tasks};
use palisade_evidence::PropertyReason;
use palisade_exploration::instrumented::Fault;
use palisade_model::program::Program;

/// Makes what was proved of the threads that say `program`, under TSO, a proof about `program`,
/// whose posts are plain. Of targets for which that cannot be done, the answers become open.
///
/// # Errors
///
/// A [`Fault`] when a step that the program reaches with its plain posts has no meaning, or when
/// values grow.
pub fn carry_over(proof: &mut Proof, program: &Program, options: &ProveOptions) -> Result<(), Fault> {
    let needs_order: Vec<bool> =
        proof.proofs.iter().map(|it| !matches!(it.reason, PropertyReason::Values(_))).collect();
    if !needs_order.contains(&true) {
        return Ok(());
    }
    let checked = check_tasks(program, options.values, &options.limits)?;
    proof.states += checked.configurations;
    let why = match checked.verdict {
        Verdict::Robust => {
            proof.plain_posts = checked.certificate;
            return Ok(());
        }
        Verdict::NotRobust => Why::PlainPosts,
        Verdict::Unknown(reason) => Why::Stopped(reason),
    };
    let mut kept = 0..;
    let positions: Vec<Option<usize>> =
        needs_order.iter().map(|needs_order| if *needs_order { None } else { kept.next() }).collect();
    for answer in &mut proof.answers {
        if let Answer::Holds(position) = answer.answer {
            answer.answer = positions[position].map_or(Answer::Open(why), Answer::Holds);
        }
    }
    let mut needs_order = needs_order.iter();
    proof.proofs.retain(|_| needs_order.next().is_some_and(|needs_order| !needs_order));
    Ok(())
}
