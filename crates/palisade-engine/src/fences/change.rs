//! Programs with measures taken.

use super::measure::Measure;
use palisade_model::program::{Action, Instruction, InstructionId, Label, LabelId, Program, Sites, Thread, ThreadId};

/// The program with measures taken. A fence at label l is the change of [ESOP13, §7]: the instructions at l move to a fresh
/// label, which a fence at l leads to. Instructions keep their numbers; fences come after them.
#[must_use]
pub fn with_measures(program: &Program, measures: &[Measure]) -> Program {
    with_measures_at(program, &Sites::of(program), measures)
}

/// The same where the sites are known: those of the program as it is written, where this one is made of it.
pub(crate) fn with_measures_at(program: &Program, sites: &Sites, measures: &[Measure]) -> Program {
    let mut changed = program.clone();
    for measure in measures.iter().flat_map(|measure| measure.parts(sites)) {
        let thread = &mut changed.threads[measure.thread().index()];
        match measure {
            Measure::Fence { label, .. } => insert_fence(thread, label, Action::Fence),
            Measure::StoreFence { label, .. } => insert_fence(thread, label, Action::StoreFence),
            Measure::Exchange { store, .. } => exchange(&mut thread.instructions[store.index()]),
            Measure::Kept { .. } => {}
        }
    }
    changed
}

/// The program without some of its fences: nothing happens where they stood.
#[must_use]
pub fn fences_removed(program: &Program, fences: impl IntoIterator<Item = (ThreadId, InstructionId)>) -> Program {
    let mut changed = program.clone();
    for (thread, fence) in fences {
        let action = &mut changed.threads[thread.index()].instructions[fence.index()].action;
        debug_assert!(matches!(action, Action::Fence | Action::StoreFence));
        *action = Action::Nop;
    }
    changed
}

fn insert_fence(thread: &mut Thread, label: LabelId, fence: Action) {
    let moved = LabelId::from_index(thread.labels.len());
    let mut name = format!("{}_fenced", thread.label(label).name);
    while thread.label_named(&name).is_some() {
        name.push('_');
    }
    thread.labels.push(Label { name, span: thread.label(label).span, fence_cost: None });
    let mut span = thread.label(label).span;
    for instruction in thread.instructions.iter_mut().filter(|instruction| instruction.source == label) {
        instruction.source = moved;
        span = instruction.span;
    }
    thread.instructions.push(Instruction { source: label, target: moved, action: fence, span });
}

fn exchange(instruction: &mut Instruction) {
    if let Action::Store { address, value } = &instruction.action {
        instruction.action = Action::Rmw { register: None, address: address.clone(), new: value.clone() };
    }
}
