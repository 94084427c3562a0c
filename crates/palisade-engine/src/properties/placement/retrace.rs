//! A row's run as a computation of the program with every measure but those of the row: its copies
//! pass the fences on their way, which find nothing to order.

use super::place::PropertyRow;
use crate::properties::replay::witness;
use crate::properties::run::{Deed, Run};
use palisade_evidence::PropertyWitness;
use palisade_model::program::{InstructionId, LabelId, Program, ThreadId, Value};
use palisade_semantics::{CopyId, Effect, Machine, StepKind};
use rustc_hash::FxHashMap;

/// The computation of a changed program that a row's run becomes; none where it cannot be followed,
/// as where measures are more than fences.
pub(super) fn retraced(row: &PropertyRow, changed: &Program) -> Option<PropertyWitness> {
    let inserted = inserted(row, changed);
    let run = Retracing { row, changed, inserted, at: FxHashMap::default(), run: Run::default() }.run()?;
    let witness = witness(changed, &sliced(row, changed), &run, row.run.target, row.run.model)?;
    // Copies that take no step make no difference, but the program may fix how many there are.
    (witness.instance.counts() == row.run.instance.counts()).then_some(witness)
}

/// What the slice leaves of the changed program.
fn sliced(row: &PropertyRow, changed: &Program) -> Program {
    let mut sliced = changed.clone();
    for (thread, slice) in sliced.threads.iter_mut().zip(&row.slice.threads) {
        for (own, left) in thread.instructions.iter_mut().zip(&slice.instructions) {
            own.action = left.action.clone();
        }
    }
    sliced
}

/// The fences that the changed program has besides what the slice has, by thread and label: the
/// first one where there are several.
fn inserted(row: &PropertyRow, changed: &Program) -> FxHashMap<(ThreadId, LabelId), InstructionId> {
    let mut inserted = FxHashMap::default();
    for (thread, template) in changed.thread_ids() {
        let before = row.slice.thread(thread).instructions.len();
        for (id, fence) in template.instruction_ids().skip(before) {
            inserted.entry((thread, fence.source)).or_insert(id);
        }
    }
    inserted
}

struct Retracing<'a> {
    row: &'a PropertyRow,
    changed: &'a Program,
    inserted: FxHashMap<(ThreadId, LabelId), InstructionId>,
    /// Where copies stand in the changed program that have taken a step.
    at: FxHashMap<CopyId, LabelId>,
    run: Run,
}

impl Retracing<'_> {
    fn run(mut self) -> Option<Run> {
        let run = &self.row.run;
        let machine = Machine::new(&self.row.slice, &run.instance, run.model);
        let mut state = machine.initial_state();
        // For each copy, the deeds that issue the stores in its buffer, oldest first.
        let mut waiting: FxHashMap<CopyId, Vec<(Value, usize)>> = FxHashMap::default();
        self.run.copies = machine.copies().to_vec();
        for step in &run.steps {
            let event = machine.event(&state, *step).ok()?;
            machine.take(&mut state, &event);
            match (step.kind, event.effect) {
                (StepKind::Execute { instruction, chosen }, effect) => {
                    self.execute(step.copy, instruction, chosen)?;
                    if let Effect::Issue { address, .. } = effect {
                        let issue = self.run.deeds.len() - 1;
                        waiting.entry(step.copy).or_default().push((address, issue));
                    }
                }
                (_, Effect::Store { address, .. }) => {
                    let stores = waiting.get_mut(&step.copy)?;
                    let oldest = stores.iter().position(|(own, _)| *own == address)?;
                    let (_, issue) = stores.remove(oldest);
                    if let (_, Deed::Execute { is_flushed, .. }) = &mut self.run.deeds[issue] {
                        *is_flushed = true;
                    }
                    self.run.deeds.push((step.copy, Deed::Flush(address)));
                }
                _ => return None,
            }
        }
        Some(self.run)
    }

    /// Executes an instruction, and the fences before it that the changed program has besides.
    fn execute(&mut self, copy: CopyId, instruction: InstructionId, chosen: Option<Value>) -> Option<()> {
        let thread = self.changed.thread(copy.thread);
        let own = thread.instruction(instruction);
        let mut at = self.at.get(&copy).copied().unwrap_or(thread.initial);
        let mut deed = |instruction, chosen| {
            self.run.deeds.push((copy, Deed::Execute { instruction, chosen, is_flushed: false }));
        };
        while at != own.source {
            let fence = *self.inserted.get(&(copy.thread, at))?;
            deed(fence, None);
            at = thread.instruction(fence).target;
        }
        deed(instruction, chosen);
        self.at.insert(copy, own.target);
        Some(())
    }
}
