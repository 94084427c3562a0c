//! Checks that a repaired text says the program with a set of measures: the same, but for the names
//! of labels.
//!
//! Two threads are walked side by side from where they start. Labels met together correspond; each
//! corresponds to one only, and corresponding labels have the same actions in the same order; where
//! a language is asked about, the same operations; and where it is asked who waits for ever, the
//! same waits. The text waits for nothing that the program does not wait for. Labels that control
//! does not reach do not matter.

use crate::CheckFailure;
use palisade_invariants::reject;
use palisade_model::program::{
    BinaryOperator, Expression, Instruction, InstructionId, LabelId, Operation, Patience, Program, Queue, Register,
    Thread,
};
use std::collections::BTreeMap;

/// For each thread, the instruction of the text that corresponds to one of the program, for those
/// that control reaches.
pub(super) type Corresponding = Vec<BTreeMap<InstructionId, InstructionId>>;

/// What is compared besides what instructions do on x86.
#[derive(Clone, Copy)]
pub(super) struct By {
    /// What they do by the language.
    pub(super) operations: bool,
    /// What they wait for, who sleeps and wakes, and who may wait for ever.
    pub(super) waits: bool,
}

/// Checks that two programs are the same.
pub(super) fn check_same(expected: &Program, text: &Program, by: By) -> Result<Corresponding, CheckFailure> {
    let range = |program: &Program| program.domain.map(|domain| (domain.low, domain.high, domain.wrap));
    if range(expected) != range(text) || expected.initial_memory != text.initial_memory {
        reject!(Form, "the repaired text has another domain or other initial values");
    }
    if expected.posts != text.posts {
        reject!(Form, "the repaired text has other posts");
    }
    let claims = |program: &Program| -> Vec<(Expression, Vec<i64>)> {
        program.finally.iter().map(|claim| (claim.condition.clone(), claim.reads.clone())).collect()
    };
    if by.waits && claims(expected) != claims(text) {
        reject!(Form, "the repaired text states something else of the end");
    }
    if expected.threads.len() != text.threads.len() {
        reject!(Form, "the repaired text has another number of threads");
    }
    expected.threads.iter().zip(&text.threads).map(|(one, other)| check_thread(one, other, by)).collect()
}

/// What starts a thread, an event or a task: its kind, the number of its parameters, and its guard.
fn started(thread: &Thread) -> (&'static str, usize, Option<(&Expression, BinaryOperator, &Expression)>) {
    let guard = thread.guard().map(|guard| (&guard.address, guard.operator, &guard.value));
    (thread.role.word(), thread.parameters(), guard)
}

/// Checks that two threads are the same.
fn check_thread(one: &Thread, other: &Thread, by: By) -> Result<BTreeMap<InstructionId, InstructionId>, CheckFailure> {
    let registers = |thread: &Thread| -> Vec<(String, i64)> {
        thread.registers.iter().map(|Register { name, initial, .. }| (name.clone(), *initial)).collect()
    };
    if one.name != other.name || one.copies != other.copies || registers(one) != registers(other) {
        reject!(Form, "the repaired text has another name, number of copies or registers for thread `{}`", one.name);
    }
    if by.waits && one.is_daemon != other.is_daemon {
        reject!(Form, "who may wait for ever is another matter in the repaired text, for thread `{}`", one.name);
    }
    if started(one) != started(other) {
        reject!(Form, "the repaired text has another guard, parameters or kind for `{}`", one.name);
    }
    let (here, there) = (one.instructions_by_label(), other.instructions_by_label());
    let mut corresponding: BTreeMap<LabelId, LabelId> = BTreeMap::new();
    let mut back: BTreeMap<LabelId, LabelId> = BTreeMap::new();
    let mut instructions_there = BTreeMap::new();
    let mut open = vec![(one.initial, other.initial)];
    while let Some((label, other_label)) = open.pop() {
        match (corresponding.insert(label, other_label), back.insert(other_label, label)) {
            (None, None) => {}
            (Some(before), Some(_)) if before == other_label => continue,
            _ => reject!(Form, "the repaired text goes on otherwise in thread `{}`", one.name),
        }
        let (instructions, others) = (&here[label.index()], &there[other_label.index()]);
        let pairs: Vec<(&InstructionId, &InstructionId)> = instructions.iter().zip(others).collect();
        let is_same = |(id, other_id): &(&InstructionId, &InstructionId)| {
            let (own, others) = (one.instruction(**id), other.instruction(**other_id));
            own.action == others.action
                && (others.until().is_none() || own.until() == others.until())
                && (!by.operations || unplaced(own) == unplaced(others))
                && (!by.waits || waiting(own) == waiting(others))
        };
        if instructions.len() != others.len() || !pairs.iter().all(is_same) {
            let name = &other.label(other_label).name;
            reject!(Form, "the repaired text has other instructions at `{name}` of thread `{}`", one.name);
        }
        instructions_there.extend(pairs.iter().map(|(id, other_id)| (**id, **other_id)));
        open.extend(
            pairs.iter().map(|(id, other_id)| (one.instruction(**id).target, other.instruction(**other_id).target)),
        );
        open.extend(pairs.iter().filter(|_| by.operations).filter_map(|(id, other_id)| {
            Some((one.instruction(**id).spurious()?, other.instruction(**other_id).spurious()?))
        }));
    }
    Ok(instructions_there)
}

/// What an instruction waits for, whether it sleeps or wakes sleepers, and who may wait for ever
/// there.
fn waiting(instruction: &Instruction) -> (Option<&Expression>, Option<&Queue>, Patience) {
    (instruction.until(), instruction.queue(), instruction.patience())
}

/// What an instruction does by the language, but for where it goes.
fn unplaced(instruction: &Instruction) -> Option<Operation> {
    let mut operation = instruction.operation()?;
    if let Operation::Update { spurious: Some(label), .. } = &mut operation {
        *label = LabelId::from_index(0);
    }
    Some(operation)
}
