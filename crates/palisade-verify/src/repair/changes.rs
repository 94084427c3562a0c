//! Programs with some of the measures on offer, made from the program by code of the checker's own.

use super::orderings::{self, Orderings};
use super::sites::Together;
use crate::CheckFailure;
use palisade_evidence::RepairEvidence;
use palisade_invariants::reject;
use palisade_model::program::{
    Action, ByLabel, Instruction, InstructionId, Label, LabelId, Measure, Program, Thread, ThreadId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Checks that every change can be made in the program, and that none is there twice.
pub(super) fn check_changes(program: &Program, evidence: &RepairEvidence) -> Result<(), CheckFailure> {
    let mut seen = BTreeSet::new();
    let together = Together::of(program);
    let by_label: Vec<ByLabel> = program.threads.iter().map(Thread::instructions_by_label).collect();
    let offered = evidence.measures.iter().map(|(change, _)| *change);
    for (number, change) in evidence.taken.iter().copied().chain(offered).enumerate() {
        check_change(program, &by_label, &together, change)?;
        if matches!(change, Measure::Kept { .. } | Measure::Ordered { .. }) && number < evidence.taken.len() {
            reject!(Form, "what stays in any case is no change");
        }
        let is_of_language = evidence.claim.language().is_some();
        let is_known = match change {
            Measure::Fence { .. } => true,
            Measure::Ordered { .. } => is_of_language,
            Measure::StoreFence { .. } | Measure::Exchange { .. } | Measure::Kept { .. } => !is_of_language,
        };
        if !is_known {
            reject!(Form, "the change {change:?} is none of those that the claim is about");
        }
        if !seen.insert(change) {
            reject!(Form, "the change {change:?} is there twice");
        }
    }
    Ok(())
}

/// Checks that a change is one of the program.
fn check_change(
    program: &Program,
    by_label: &[ByLabel],
    together: &Together,
    change: Measure,
) -> Result<(), CheckFailure> {
    let (Measure::Fence { thread, .. }
    | Measure::StoreFence { thread, .. }
    | Measure::Exchange { thread, .. }
    | Measure::Kept { thread, .. }
    | Measure::Ordered { thread, .. }) = change;
    let Some(template) = program.threads.get(thread.index()) else {
        reject!(Form, "the program has no thread {thread}");
    };
    let action = |instruction: usize| template.instructions.get(instruction).map(|found| &found.action);
    let is_possible = match change {
        Measure::Fence { label, .. } | Measure::StoreFence { label, .. } => {
            by_label[thread.index()].get(label.index()).is_some_and(|standing| !standing.is_empty())
        }
        Measure::Exchange { store, .. } => matches!(action(store.index()), Some(Action::Store { .. })),
        Measure::Kept { fence, .. } => matches!(action(fence.index()), Some(Action::Fence | Action::StoreFence)),
        Measure::Ordered { access, failing, ordering, .. } => {
            let operation = template.instructions.get(access.index()).and_then(Instruction::operation);
            operation.is_some_and(|operation| orderings::may_have(&operation, failing, ordering))
        }
    };
    if !is_possible {
        reject!(Form, "the change {change:?} cannot be made in thread `{}`", template.name);
    }
    if parts(together, change).is_none() {
        reject!(
            Form,
            "the change {change:?} in thread `{}` is not the first of its place in the sources",
            template.name
        );
    }
    Ok(())
}

/// The changes of labels and instructions that a change of the source is; none where another one
/// stands for it.
fn parts(together: &Together, change: Measure) -> Option<Vec<Measure>> {
    Some(match change {
        Measure::Fence { thread, label } => {
            let labels = together.labels(thread, label)?.into_iter();
            labels.map(|(thread, label)| Measure::Fence { thread, label }).collect()
        }
        Measure::StoreFence { thread, label } => {
            let labels = together.labels(thread, label)?.into_iter();
            labels.map(|(thread, label)| Measure::StoreFence { thread, label }).collect()
        }
        Measure::Exchange { thread, store } => {
            let stores = together.instructions(thread, store)?.into_iter();
            stores.map(|(thread, store)| Measure::Exchange { thread, store }).collect()
        }
        Measure::Kept { thread, fence } => {
            let fences = together.instructions(thread, fence)?.into_iter();
            fences.map(|(thread, fence)| Measure::Kept { thread, fence }).collect()
        }
        Measure::Ordered { thread, access, failing, ordering } => {
            let accesses = together.accesses(thread, access)?.into_iter();
            accesses.map(|(thread, access)| Measure::Ordered { thread, access, failing, ordering }).collect()
        }
    })
}

/// The program with the changes made in any case and the measures of a set, in this order.
pub(super) fn program_with(program: &Program, evidence: &RepairEvidence, is_in_set: impl Fn(usize) -> bool) -> Program {
    let together = Together::of(program);
    let mut changed = Changed::of(program);
    let mut orderings = Orderings::default();
    for change in evidence.taken.iter().filter_map(|change| parts(&together, *change)).flatten() {
        changed.make(change);
    }
    for (position, (change, _)) in evidence.measures.iter().enumerate() {
        for part in parts(&together, *change).into_iter().flatten() {
            match part {
                Measure::Ordered { .. } => orderings.note(program, part, is_in_set(position)),
                _ if is_in_set(position) => changed.make(part),
                Measure::Kept { thread, fence } => {
                    changed.program.threads[thread.index()].instructions[fence.index()].action = Action::Nop;
                }
                _ => {}
            }
        }
    }
    orderings.give(&mut changed.program);
    changed.program
}

/// A program in which changes are made.
struct Changed {
    program: Program,
    /// For each thread, the instructions at each of its labels before any change.
    before: Vec<ByLabel>,
    /// The fence that stands alone at a label since it was put there.
    fences: BTreeMap<(ThreadId, LabelId), InstructionId>,
}

impl Changed {
    fn of(program: &Program) -> Self {
        let before = program.threads.iter().map(Thread::instructions_by_label).collect();
        Self { program: program.clone(), before, fences: BTreeMap::new() }
    }

    /// Makes a change of one label or instruction. Labels and instructions keep their numbers; what
    /// a fence adds comes after them.
    fn make(&mut self, change: Measure) {
        match change {
            Measure::Fence { thread, label } => self.fence(thread, label, Action::Fence),
            Measure::StoreFence { thread, label } => self.fence(thread, label, Action::StoreFence),
            Measure::Exchange { thread, store } => {
                let action = &mut self.program.threads[thread.index()].instructions[store.index()].action;
                if let Action::Store { address, value } = action.clone() {
                    *action = Action::Rmw { register: None, address, new: value };
                }
            }
            Measure::Kept { .. } | Measure::Ordered { .. } => {}
        }
    }

    /// A fence of some kind at a label: what stands there moves behind it.
    fn fence(&mut self, id: ThreadId, label: LabelId, kind: Action) {
        let thread = &mut self.program.threads[id.index()];
        let fresh = LabelId::from_index(thread.labels.len());
        let Label { name, span, .. } = thread.label(label).clone();
        thread.labels.push(Label::new([name.as_str(), " after its fence"].concat(), span));
        let own = InstructionId::from_index(thread.instructions.len());
        match self.fences.insert((id, label), own) {
            Some(fence) => thread.instructions[fence.index()].source = fresh,
            None => {
                for moved in &self.before[id.index()][label.index()] {
                    thread.instructions[moved.index()].source = fresh;
                }
            }
        }
        thread.instructions.push(Instruction::new(label, fresh, kind, span));
    }
}
