//! Pairs of statements, which of them a run reorders, and which are candidates.

use fixedbitset::FixedBitSet;
use palisade_model::program::{Action, InstructionId, Program, Thread, ThreadId, Value};
use palisade_semantics::{Effect, Event, Machine, Model, State, StepKind};
use rustc_hash::FxHashMap;

/// Two statements of a thread, of which the second can be performed before the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The thread.
    pub thread: ThreadId,
    /// The store.
    pub store: InstructionId,
    /// The access that overtakes it.
    pub access: InstructionId,
}

/// A set of candidates, by their numbers.
pub(super) type PairSet = FixedBitSet;

/// The pairs that control flow and the model admit, numbered.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    /// The pairs, ascending.
    pub(super) pairs: Vec<Pair>,
    numbers: FxHashMap<Pair, usize>,
}

impl Candidates {
    /// The candidates of a program: an access that control reaches from a store before a drain, and
    /// whose address is not known to be the same.
    pub(super) fn of(program: &Program, model: Model) -> Self {
        let mut pairs = Vec::new();
        for (thread, template) in program.thread_ids() {
            for (store, instruction) in template.instruction_ids() {
                if !matches!(instruction.action, Action::Store { .. }) {
                    continue;
                }
                let reached = labels_before_drain(template, store);
                for (access, other) in template.instruction_ids() {
                    let overtakes = match other.action {
                        Action::Load { .. } => true,
                        Action::Store { .. } => model == Model::Pso,
                        _ => false,
                    };
                    let constant = |action: &Action| {
                        action.address().filter(|it| it.is_constant()).and_then(|it| it.evaluate_address(&[]).ok())
                    };
                    let here = constant(&instruction.action);
                    let is_same = here.is_some() && here == constant(&other.action);
                    if overtakes && !is_same && reached.contains(other.source.index()) {
                        pairs.push(Pair { thread, store, access });
                    }
                }
            }
        }
        let numbers = pairs.iter().copied().zip(0..).collect();
        Self { pairs, numbers }
    }

    /// The empty set.
    pub(super) fn nothing(&self) -> PairSet {
        PairSet::with_capacity(self.pairs.len())
    }

    /// The pairs that an event of the copy at a position reorders, given the statements of its
    /// buffered stores.
    pub(super) fn reordered(
        &self,
        machine: &Machine<'_>,
        state: &State,
        position: usize,
        issuers: &[InstructionId],
        event: &Event,
    ) -> PairSet {
        let mut set = self.nothing();
        let thread = machine.copies()[position].thread;
        let buffer = &state.threads()[position].buffer;
        let mut add = |older: usize, access: InstructionId, address: Value| {
            for (store, (other, _)) in issuers[..older].iter().zip(buffer) {
                if *other != address {
                    let pair = Pair { thread, store: *store, access };
                    set.insert(*self.numbers.get(&pair).expect("control flow admits what happens"));
                }
            }
        };
        match (event.step.kind, event.effect) {
            (StepKind::Execute { instruction, .. }, Effect::Load { address, .. }) => {
                add(buffer.len(), instruction, address);
            }
            (StepKind::FlushAddress(address), _) => {
                let index = state.threads()[position].flushable(address).expect("the event has found a store to flush");
                add(index, issuers[index], address);
            }
            _ => {}
        }
        set
    }
}

/// The statements of the buffered stores after an event, given those before it.
pub(super) fn issuers_after(state: &State, position: usize, issuers: &mut Vec<InstructionId>, event: &Event) {
    match (event.step.kind, event.effect) {
        (StepKind::Execute { instruction, .. }, Effect::Issue { .. }) => issuers.push(instruction),
        (StepKind::Flush, _) => drop(issuers.remove(0)),
        (StepKind::FlushAddress(address), _) => {
            let index = state.threads()[position].flushable(address).expect("the event has found a store to flush");
            issuers.remove(index);
        }
        _ => {}
    }
}

/// The labels that control reaches from a store's target before the buffer is drained.
fn labels_before_drain(thread: &Thread, store: InstructionId) -> FixedBitSet {
    let mut reached = FixedBitSet::with_capacity(thread.labels.len());
    let mut open = vec![thread.instruction(store).target];
    while let Some(label) = open.pop() {
        if reached.put(label.index()) {
            continue;
        }
        let here = thread.instructions.iter().filter(|it| it.source == label && !it.action.drains_buffer());
        open.extend(here.map(|it| it.target));
    }
    reached
}
