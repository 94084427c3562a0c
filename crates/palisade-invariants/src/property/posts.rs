//! Properties of events and tasks: evidence about the threads that say them, and what it shows
//! where posts are plain (THEORY.md, "Events as threads").

use super::{PropertyFacts, check_proofs};
use crate::CheckFailure;
use crate::check_task_certificate;
use crate::failure::reject;
use palisade_evidence::{PropertyEvidence, PropertyReason};
use palisade_model::program::{Posts, Program};
use palisade_semantics::Model;

/// The threads that say a program of events and tasks: evidence about its properties under a model
/// is about them.
pub fn threads_that_say(program: &Program, model: Model) -> Result<Program, CheckFailure> {
    if model == Model::Pso {
        reject!(Form, "events and tasks run under SC or under TSO");
    }
    match program.queued() {
        Ok(queued) => Ok(queued.program),
        Err(error) => reject!(Form, "no threads say the events and tasks: {error}"),
    }
}

/// Checks that `evidence` shows a program of events and tasks never to reach the targets that it
/// names, by what `threads` never reach.
///
/// Where posts are plain under TSO, closed value sets are enough, as they know no order of steps.
/// All else speaks of posts that drain, and the program must be robust with its plain posts.
pub fn check_posted_property(
    program: &Program,
    threads: &Program,
    evidence: &PropertyEvidence,
) -> Result<PropertyFacts, CheckFailure> {
    let is_plain = evidence.model == Model::Tso && program.posts == Posts::Plain;
    let knows_no_order = evidence.proofs.iter().all(|proof| matches!(proof.reason, PropertyReason::Values(_)));
    match &evidence.plain_posts {
        Some(certificate) if is_plain => {
            check_task_certificate(program, certificate).map_err(|failure| failure.within("plain posts"))?;
        }
        Some(_) => reject!(Form, "plain posts need a reason under TSO alone, and where the program has such"),
        None if is_plain && !knows_no_order => {
            reject!(Form, "the posts are plain, and nothing shows that the program is robust with them")
        }
        None => {}
    }
    check_proofs(threads, None, evidence)
}
