//! A run of the sliced program as a computation of the program itself.
//!
//! Steps that nobody sees are taken as early as can be: right after the last step of their copy
//! that needed memory. Then no other thread holds the lock, and what the slice has left out can be
//! executed: loads and locked instructions need memory, and have it. A store that was left out of
//! the slice, or is silent, reaches memory when it stands in the way of the next one that matters,
//! or of a drain.

use super::run::{Deed, Run, counts};
use palisade_evidence::PropertyWitness;
use palisade_model::program::{Action, InstructionId, Program, Value};
use palisade_semantics::{CopyId, Effect, Event, Instance, Machine, Model, State, Step, StepKind, Target};
use std::collections::VecDeque;

/// A computation that reaches a target, replayed.
#[derive(Clone, Debug)]
pub struct Violation {
    /// What is reached.
    pub target: Target,
    /// The model under which it is reached.
    pub model: Model,
    /// How many copies of each thread run.
    pub instance: Instance,
    /// The copies that states list, ascending. All that take steps are among them.
    pub acting: Vec<CopyId>,
    /// The steps with their effects.
    pub events: Vec<Event>,
    /// Whether no computation that reaches the target has fewer steps, as far as is known; of an
    /// interleaving, no other interleaving.
    pub shortest: bool,
    /// Whether instances with fewer copies were all shown not to reach the target.
    pub instance_minimal: bool,
}

impl Violation {
    /// Whether no store waits in a buffer while another step touches memory: then the computation
    /// is one of SC.
    pub fn is_interleaving(&self, program: &Program) -> bool {
        self.machine(program).is_interleaving(&self.events)
    }

    /// The machine whose steps these are.
    pub fn machine<'p>(&self, program: &'p Program) -> Machine<'p> {
        Machine::of_copies(program, self.acting.clone(), self.model)
    }
}

/// The computation of a program that a run of its slice becomes; nothing when it cannot be
/// followed.
pub(super) fn replay(
    program: &Program,
    sliced: &Program,
    run: &Run,
    target: Target,
    model: Model,
) -> Option<Violation> {
    let Followed { machine, events } = follow(program, sliced, run, target, model)?;
    let acting = machine.copies().to_vec();
    let instance = Instance::new(counts(program, &acting));
    Some(Violation { target, model, instance, acting, events, shortest: false, instance_minimal: false })
}

/// An interleaving as a computation under a model with store buffers: each store reaches memory at
/// once.
pub(super) fn at_once(program: &Program, interleaving: &Violation, model: Model) -> Option<Violation> {
    let machine = Machine::of_copies(program, interleaving.acting.clone(), model);
    let (mut events, mut state) = (Vec::new(), machine.initial_state());
    let mut take = |step| {
        let event = machine.event(&state, step).ok()?;
        machine.take(&mut state, &event);
        events.push(event);
        let position = machine.position(step.copy)?;
        Some(state.threads()[position].buffer.first().map(|(address, _)| *address))
    };
    for Event { step, .. } in &interleaving.events {
        if let Some(address) = take(*step)? {
            let kind = if model == Model::Pso { StepKind::FlushAddress(address) } else { StepKind::Flush };
            take(Step { copy: step.copy, kind })?;
        }
    }
    Some(Violation { model, events, ..interleaving.clone() })
}

/// The same as a witness, for which nobody looks at the states in between.
pub(super) fn witness(
    program: &Program,
    sliced: &Program,
    run: &Run,
    target: Target,
    model: Model,
) -> Option<PropertyWitness> {
    let Followed { machine, events } = follow(program, sliced, run, target, model)?;
    let instance = Instance::new(counts(program, machine.copies()));
    let steps = events.iter().map(|event| event.step).collect();
    Some(PropertyWitness { model, instance, target, steps })
}

/// A run of a slice as it is followed in the program.
struct Followed<'p> {
    machine: Machine<'p>,
    events: Vec<Event>,
}

fn follow<'p>(program: &'p Program, sliced: &Program, run: &Run, target: Target, model: Model) -> Option<Followed<'p>> {
    let mut acting = run.copies.clone();
    acting.sort_unstable();
    let machine = Machine::of_copies(program, acting.clone(), model);
    let mut replaying = Replaying {
        sliced,
        model,
        target,
        waiting: vec![VecDeque::new(); acting.len()],
        flushed_by_deed: vec![Vec::new(); acting.len()],
        events: Vec::new(),
        state: machine.initial_state(),
        machine,
        is_done: false,
    };
    replaying.follow(run)?;
    let Replaying { machine, events, is_done, .. } = replaying;
    (is_done || target == Target::FinalStates).then_some(Followed { machine, events })
}

struct Replaying<'s, 'p> {
    sliced: &'s Program,
    model: Model,
    target: Target,
    machine: Machine<'p>,
    /// For each copy, by position, what it has still to do.
    waiting: Vec<VecDeque<Deed>>,
    /// For each copy, whether the stores in its buffer, in the order of their issue, reach memory
    /// by deeds.
    flushed_by_deed: Vec<Vec<bool>>,
    events: Vec<Event>,
    /// The state after them.
    state: State,
    /// Whether the target has been violated.
    is_done: bool,
}

impl Replaying<'_, '_> {
    fn follow(&mut self, run: &Run) -> Option<()> {
        let position = |copy: CopyId, machine: &Machine<'_>| machine.position(copy);
        for (copy, deed) in &run.deeds {
            self.waiting[position(*copy, &self.machine)?].push_back(*deed);
        }
        for position in 0..self.waiting.len() {
            self.go_on_privately(position)?;
        }
        // What is left in the queues are the steps that need memory, each with the private ones
        // behind it, in the order of the run.
        for (copy, deed) in &run.deeds {
            if self.is_done {
                return Some(());
            }
            let position = position(*copy, &self.machine)?;
            if self.is_private(*copy, *deed) {
                continue;
            }
            let next = self.waiting[position].pop_front()?;
            debug_assert_eq!(next, *deed);
            self.perform(position, next)?;
            self.go_on_privately(position)?;
        }
        if self.target == Target::FinalStates {
            for position in 0..self.waiting.len() {
                self.drain(position)?;
            }
        }
        Some(())
    }

    /// Whether nobody sees what a copy does.
    fn is_private(&self, copy: CopyId, deed: Deed) -> bool {
        match deed {
            Deed::Flush(_) => false,
            Deed::Execute { instruction, is_flushed, .. } => {
                match self.sliced.thread(copy.thread).instruction(instruction).action {
                    Action::Load { .. } | Action::Cas { .. } | Action::Rmw { .. } | Action::Lock | Action::Unlock => {
                        false
                    }
                    Action::Store { .. } => self.model != Model::Sc || !is_flushed,
                    _ => true,
                }
            }
        }
    }

    fn go_on_privately(&mut self, position: usize) -> Option<()> {
        let copy = self.machine.copies()[position];
        while let Some(deed) = self.waiting[position].front().copied() {
            if self.is_done || !self.is_private(copy, deed) {
                break;
            }
            self.waiting[position].pop_front();
            self.perform(position, deed)?;
        }
        Some(())
    }

    fn perform(&mut self, position: usize, deed: Deed) -> Option<()> {
        match deed {
            // Under SC a store has reached memory when it is executed.
            Deed::Flush(_) if self.model == Model::Sc => Some(()),
            Deed::Flush(address) => self.flush(position, address),
            Deed::Execute { instruction, chosen, is_flushed } => {
                self.execute(position, instruction, chosen, is_flushed)
            }
        }
    }

    fn execute(
        &mut self,
        position: usize,
        instruction: InstructionId,
        chosen: Option<Value>,
        is_flushed: bool,
    ) -> Option<()> {
        let action = &self.machine.thread(position).instruction(instruction).action;
        if action.drains_buffer() {
            self.drain(position)?;
        }
        let chosen = match action {
            // What the slice has left out may choose any value.
            Action::Havoc { .. } => chosen.or(self.machine.program().domain.map(|domain| domain.low)),
            _ => None,
        };
        let event = self.take(position, StepKind::Execute { instruction, chosen })?;
        match event.effect {
            Effect::Issue { .. } => self.flushed_by_deed[position].push(is_flushed),
            Effect::Violation | Effect::Failure => {
                let thread = self.machine.copies()[position].thread;
                self.is_done = self.target == Target::Instruction { thread, instruction };
            }
            _ => {}
        }
        Some(())
    }

    /// Lets the oldest store to an address that is flushed by a deed reach memory, with all that
    /// must go before it.
    fn flush(&mut self, position: usize, address: Value) -> Option<()> {
        loop {
            let thread = &self.state.threads()[position];
            let by_deed = &self.flushed_by_deed[position];
            let wanted = (0..by_deed.len()).find(|index| by_deed[*index] && thread.buffer[*index].0 == address)?;
            let next = match self.model {
                Model::Pso => thread.flushable(address).unwrap_or(0),
                Model::Sc | Model::Tso => 0,
            };
            if next != wanted && by_deed[next] {
                return None;
            }
            self.leave(position, next)?;
            if next == wanted {
                return Some(());
            }
        }
    }

    /// Lets the stores reach memory that no deed flushes.
    fn drain(&mut self, position: usize) -> Option<()> {
        while let Some(by_deed) = self.flushed_by_deed[position].first() {
            if *by_deed {
                return None;
            }
            self.leave(position, 0)?;
        }
        Some(())
    }

    /// Lets the store at an index of the buffer reach memory.
    fn leave(&mut self, position: usize, index: usize) -> Option<()> {
        let kind = match self.model {
            Model::Pso => StepKind::FlushAddress(self.state.threads()[position].buffer[index].0),
            Model::Sc | Model::Tso => StepKind::Flush,
        };
        self.take(position, kind)?;
        self.flushed_by_deed[position].remove(index);
        Some(())
    }

    fn take(&mut self, position: usize, kind: StepKind) -> Option<Event> {
        let step = Step { copy: self.machine.copies()[position], kind };
        let event = self.machine.event(&self.state, step).ok()?;
        self.machine.take(&mut self.state, &event);
        self.events.push(event);
        Some(event)
    }
}
