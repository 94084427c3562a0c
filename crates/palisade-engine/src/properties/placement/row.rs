//! Rows: which measures a violating run needs absent.
//!
//! A run needs `mfence` at a label absent when an instruction there is executed while the buffer is
//! not empty. It needs `sfence` at a label absent when a store issued at or after a passing of the
//! label reaches memory while one issued before it waits. It needs a store's exchange absent when
//! the store is issued while the buffer is not empty, or does not reach memory in the very next
//! step. A set of measures lets a run be exactly when it contains none of these. So every valid set
//! has a measure of each row of a violating run, and a set that has one of every row is valid.

use super::offer::Offer;
use crate::fences::catalogue::MeasureSet;
use palisade_model::program::{Action, InstructionId, LabelId, Program, Value};
use palisade_semantics::{CopyId, Effect, Machine, Model, Step, StepKind};

/// What stands in the order of a copy's buffer.
#[derive(Clone, Copy, Debug)]
enum Item {
    /// A store to an address waits.
    Store(Value),
    /// The copy has passed the label.
    Label(LabelId),
    /// The copy has passed a fence that is not kept.
    Fence(InstructionId),
}

/// The row of a run of a program without measures: the one that is changed, or a slice of it; where
/// fences are on offer to be kept, without all of these. The machine is one of that program.
pub(crate) fn row_of(offer: &Offer<'_>, machine: &Machine<'_>, steps: &[Step]) -> MeasureSet {
    let bare = machine.program();
    let mut state = machine.initial_state();
    let mut tracker =
        Tracker { offer, row: offer.nothing(), buffers: vec![Vec::new(); machine.copies().len()], issued_last: None };
    for step in steps {
        let event = machine.event(&state, *step).expect("the run is one of the program without measures");
        let position = machine.position(step.copy).expect("the copy acts");
        let buffer_is_empty = state.threads()[position].buffer.is_empty();
        if let StepKind::Execute { instruction, .. } = step.kind {
            tracker.executes(bare, step.copy, position, instruction, buffer_is_empty);
        }
        machine.take(&mut state, &event);
        match (step.kind, event.effect) {
            (StepKind::Execute { instruction, .. }, Effect::Issue { address, .. }) => {
                tracker.issues(step.copy, position, instruction, address);
            }
            (kind, Effect::Store { address, .. }) if kind.is_flush() => {
                tracker.flushes(step.copy, position, address);
            }
            _ => {}
        }
    }
    tracker.delays_last();
    tracker.row
}

struct Tracker<'a, 'p> {
    offer: &'a Offer<'p>,
    row: MeasureSet,
    /// For each copy, the stores that wait and what it has passed since the oldest of them was
    /// issued.
    buffers: Vec<Vec<Item>>,
    /// The exchange of the store that the last step issued, where that is on offer, and the copy.
    issued_last: Option<(usize, CopyId)>,
}

impl Tracker<'_, '_> {
    fn executes(
        &mut self,
        program: &Program,
        copy: CopyId,
        position: usize,
        instruction: InstructionId,
        buffer_is_empty: bool,
    ) {
        self.delays_last();
        if buffer_is_empty {
            self.buffers[position].clear();
            return;
        }
        if self.offer.watches(copy.thread, instruction) {
            return;
        }
        let template = program.thread(copy.thread).instruction(instruction);
        let label = template.source;
        self.row.extend(self.offer.fence_at(copy.thread, label));
        self.row.extend(self.offer.exchange_of(copy.thread, instruction));
        self.buffers[position].push(Item::Label(label));
        if self.offer.kept(copy.thread, instruction).is_some() {
            let original = &self.offer.program().thread(copy.thread).instruction(instruction).action;
            if *original == Action::Fence {
                self.row.extend(self.offer.kept(copy.thread, instruction));
            } else {
                self.buffers[position].push(Item::Fence(instruction));
            }
        }
    }

    fn issues(&mut self, copy: CopyId, position: usize, store: InstructionId, address: Value) {
        self.buffers[position].push(Item::Store(address));
        self.issued_last = self.offer.exchange_of(copy.thread, store).map(|exchange| (exchange, copy));
    }

    fn flushes(&mut self, copy: CopyId, position: usize, address: Value) {
        // The flush right after the issue is what an exchange does, if it is that of the same
        // store.
        let is_own = matches!(self.issued_last, Some((_, issuer)) if issuer == copy)
            && self.buffers[position].iter().filter(|item| matches!(item, Item::Store(_))).count() == 1;
        if is_own {
            self.issued_last = None;
        }
        self.delays_last();
        let items = &mut self.buffers[position];
        let own = |item: &Item| matches!(item, Item::Store(other) if *other == address);
        let index = items.iter().position(own).expect("the store that reaches memory has been issued");
        let first = items.iter().position(|item| matches!(item, Item::Store(_))).expect("a store waits");
        for item in &items[first..index] {
            match item {
                Item::Label(label) => self.row.extend(self.offer.store_fence_at(copy.thread, *label)),
                Item::Fence(fence) => self.row.extend(self.offer.kept(copy.thread, *fence)),
                Item::Store(_) => {}
            }
        }
        items.remove(index);
    }

    /// The store issued last waits while another step is taken.
    fn delays_last(&mut self) {
        self.row.extend(self.issued_last.take().map(|(exchange, _)| exchange));
    }
}

/// A run of a changed program, on a machine of it, as one of the program: inserted fences left out,
/// exchanges as stores that reach memory at once.
pub(crate) fn erased(program: &Program, machine: &Machine<'_>, steps: &[Step]) -> Vec<Step> {
    let mut state = machine.initial_state();
    let mut erased = Vec::with_capacity(steps.len());
    for step in steps {
        let event = machine.event(&state, *step).expect("the run is one of the changed program");
        machine.take(&mut state, &event);
        let StepKind::Execute { instruction, .. } = step.kind else {
            erased.push(*step);
            continue;
        };
        let Some(original) = program.thread(step.copy.thread).instructions.get(instruction.index()) else { continue };
        erased.push(*step);
        if let (Action::Store { .. }, Effect::Rmw { address, .. }) = (&original.action, event.effect) {
            match machine.model() {
                Model::Sc => {}
                Model::Tso => erased.push(Step { copy: step.copy, kind: StepKind::Flush }),
                Model::Pso => erased.push(Step { copy: step.copy, kind: StepKind::FlushAddress(address) }),
            }
        }
    }
    erased
}
