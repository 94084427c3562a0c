//! Checks that a program is not robust against PSO: replays a computation that delays a single
//! store, and follows its happens-before cycle.

use super::{Replayed, attack_nodes, check_cycle, check_instance, executes, reachable_from, replay};
use crate::CheckFailure;
use palisade_evidence::Witness;
use palisade_invariants::reject;
use palisade_model::program::Program;
use palisade_semantics::{Effect, Model, StepKind};

/// Checks that `witness` is a witness under PSO of `program` (with its copies and domain), so that
/// it is not robust against PSO.
pub fn check_pso_witness(program: &Program, witness: &Witness) -> Result<(), CheckFailure> {
    check_instance(program, &witness.instance)?;
    let replayed = replay(program, witness, Model::Pso)?;
    check_delays(witness, &replayed)?;
    check_access(witness, &replayed)?;
    check_cycle(witness, &replayed)
}

/// Every store but one reaches memory at once, and that one in the last step. Crowds are not for
/// PSO.
fn check_delays(witness: &Witness, replayed: &Replayed) -> Result<(), CheckFailure> {
    for (index, event) in replayed.events.iter().enumerate() {
        if matches!(event.step.kind, StepKind::Crowd { .. }) {
            reject!(Witness, "step {index}: a crowd takes no step under PSO");
        }
        let next = replayed.events.get(index + 1).map(|event| event.step);
        let at_once = next.is_some_and(|step| step.copy == event.step.copy && step.kind.is_flush());
        if index != witness.store_step && matches!(event.effect, Effect::Issue { .. }) && !at_once {
            reject!(
                Witness,
                "step {index}: a store other than the attacker's delayed one does not reach memory at once"
            );
        }
    }
    let last = replayed.events.last();
    if !last.is_some_and(|event| event.step.copy == witness.attacker && event.step.kind.is_flush()) {
        reject!(Witness, "the computation does not end when the delayed store reaches memory");
    }
    Ok(())
}

/// The attacker's delayed store and its later access to another address, from which happens-before
/// leads back to the store.
fn check_access(witness: &Witness, replayed: &Replayed) -> Result<(), CheckFailure> {
    if !executes(witness, replayed, witness.store_step, witness.store) {
        reject!(Witness, "step {} is not the attacker's delayed store {}", witness.store_step, witness.store);
    }
    let Effect::Issue { address: stored, .. } = replayed.events[witness.store_step].effect else {
        reject!(Witness, "step {} issues no store", witness.store_step);
    };
    if witness.load_step <= witness.store_step || !executes(witness, replayed, witness.load_step, witness.load) {
        reject!(Witness, "step {} is not the attacker's access {} after the store", witness.load_step, witness.load);
    }
    match replayed.events[witness.load_step].effect {
        Effect::Load { address, .. } | Effect::Issue { address, .. } if address != stored => {}
        _ => reject!(Witness, "step {} does not access another address", witness.load_step),
    }
    let (store, access) = attack_nodes(witness, replayed)?;
    if !reachable_from(&replayed.trace, access).contains(&store) {
        reject!(Witness, "happens-before does not lead from the attacker's access back to its delayed store");
    }
    Ok(())
}
