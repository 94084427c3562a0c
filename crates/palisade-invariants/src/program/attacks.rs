//! The attacks of a program, and cuts of the control flow that rule some of them out.

use crate::CheckFailure;
use crate::failure::reject;
use crate::listing::{listed_place, rests_on_sets};
use hashbrown::HashSet;
use palisade_evidence::{AttackEvidence, AttackReason};
use palisade_model::program::{Action, Copies, InstructionId, LabelId, Program, ThreadId};

/// Checks that `given` answers every attack, in order, and that the cuts of the pruned ones hold.
pub(super) fn check(program: &Program, given: &[AttackEvidence]) -> Result<(), CheckFailure> {
    let attacks = attacks(program);
    if attacks.is_empty() && !program.accepted.is_empty() {
        reject!(Form, "all delays are accepted, so the certificate is about nothing");
    }
    if attacks.len() != given.len() {
        reject!(Form, "the program has {} attacks, the certificate answers {}", attacks.len(), given.len());
    }
    for (number, (attack, evidence)) in (1..).zip(attacks.into_iter().zip(given)) {
        if attack != (evidence.thread, evidence.store, evidence.load) {
            let (thread, store, load) = attack;
            reject!(Form, "attack {number} is ({thread}, {store}, {load}), not the one the certificate answers there");
        }
        if let AttackReason::Pruned { .. } = evidence.reason {
            if rests_on_sets(program) {
                reject!(
                    Form,
                    "attack {number}: control flow says nothing where machine code computes addresses or has hints"
                );
            }
            check_cut(program, number, evidence)?;
        }
    }
    Ok(())
}

/// Every store with every load of each thread that has copies, by thread and in text order; without
/// those whose delay is accepted, which the evidence states.
fn attacks(program: &Program) -> Vec<(ThreadId, InstructionId, InstructionId)> {
    let mut attacks = Vec::new();
    for (id, thread) in program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)) {
        let instructions = || thread.instruction_ids();
        let loads = instructions().filter(|(_, instruction)| matches!(instruction.action, Action::Load { .. }));
        let loads: Vec<InstructionId> = loads.map(|(load, _)| load).collect();
        let is_accepted = |store: InstructionId, load: InstructionId| {
            let places = [store, load].map(|own| listed_place(program, thread.instruction(own)));
            let accepted = program.accepted.iter();
            accepted.map(|delay| [Some(delay.store.as_str()), Some(delay.load.as_str())]).any(|delay| delay == places)
        };
        for (store, _) in instructions().filter(|(_, instruction)| matches!(instruction.action, Action::Store { .. })) {
            attacks.extend(loads.iter().filter(|load| !is_accepted(store, **load)).map(|load| (id, store, *load)));
        }
    }
    attacks
}

/// Checks that the labels of the cut contain the store's target, are closed under instructions that
/// leave the store buffer alone, and do not contain the load's source.
fn check_cut(program: &Program, number: usize, evidence: &AttackEvidence) -> Result<(), CheckFailure> {
    let AttackReason::Pruned { reachable } = &evidence.reason else { return Ok(()) };
    let thread = program.thread(evidence.thread);
    if let Some(label) = reachable.iter().find(|label| label.index() >= thread.labels.len()) {
        reject!(
            Form,
            "the cut of attack {number} contains label {label}, which thread `{}` does not have",
            thread.name
        );
    }
    let following = reachable.iter().skip(1);
    if let Some((_, label)) = reachable.iter().zip(following).find(|(before, label)| before >= label) {
        reject!(Form, "the cut of attack {number}: label {label} is not in ascending order");
    }
    let reachable: HashSet<LabelId> = reachable.iter().copied().collect();
    let target = thread.instruction(evidence.store).target;
    if !reachable.contains(&target) {
        reject!(Initial, "the cut of attack {number} leaves out label {target}, where the store leads");
    }
    let source = thread.instruction(evidence.load).source;
    if reachable.contains(&source) {
        reject!(Safe, "the cut of attack {number} contains label {source}, where the load stands");
    }
    for (id, instruction) in thread.instruction_ids() {
        if !instruction.action.drains_buffer()
            && reachable.contains(&instruction.source)
            && !reachable.contains(&instruction.target)
        {
            reject!(Inductive, "the cut of attack {number} is left by instruction {id}");
        }
    }
    Ok(())
}
