//! A race as a computation of the program.

use crate::properties::run::{Deed, Run, counts};
use palisade_model::program::{Action, InstructionId, Program};
use palisade_semantics::{CopyId, Effect, Event, Instance, Machine, Model, Step, StepKind};

/// A computation under SC that ends in a triangular race.
#[derive(Clone, Debug)]
pub struct Race {
    /// How many copies of each thread run.
    pub instance: Instance,
    /// The copies that states list, ascending. All that take steps are among them.
    pub acting: Vec<CopyId>,
    /// The steps with their effects. The last one is the store that races.
    pub events: Vec<Event>,
    /// The step, by its index, that is the load. The steps behind it are the store that races, or
    /// the section that ends in it.
    pub load_step: usize,
    /// The step, by its index, that is the load's thread's last store to another address before it.
    pub store_step: usize,
    /// Whether instances with fewer copies were all shown to have no race.
    pub instance_minimal: bool,
}

/// The computation in which a run ends in a load and a store to the same address.
pub(super) fn replay(
    program: &Program,
    run: &Run,
    (reader, load): (CopyId, InstructionId),
    (writer, store): (CopyId, InstructionId),
) -> Race {
    let mut acting = run.copies.clone();
    acting.sort_unstable();
    let machine = Machine::of_copies(program, acting.clone(), Model::Sc);
    let execute = |copy, instruction, chosen| Step { copy, kind: StepKind::Execute { instruction, chosen } };
    let of_run = run.deeds.iter().filter_map(|(copy, deed)| match *deed {
        Deed::Execute { instruction, chosen, .. } => Some(execute(*copy, instruction, chosen)),
        // Under SC a store has reached memory when it is executed.
        Deed::Flush(_) => None,
    });
    let mut steps: Vec<Step> = of_run.collect();
    let load_step = section_begin(&machine, &steps, writer).unwrap_or(steps.len());
    steps.insert(load_step, execute(reader, load, None));
    steps.push(execute(writer, store, None));
    let mut state = machine.initial_state();
    let mut events = Vec::with_capacity(steps.len());
    for step in steps {
        let event = machine.event(&state, step).expect("the exploration has taken this step");
        machine.take(&mut state, &event);
        events.push(event);
    }
    let instance = Instance::new(counts(program, &acting));
    let store_step = other_store(&events, load_step);
    Race { instance, acting, events, load_step, store_step, instance_minimal: true }
}

/// Where the section begins that a copy is in after these steps.
fn section_begin(machine: &Machine<'_>, steps: &[Step], copy: CopyId) -> Option<usize> {
    let action = |step: &Step| {
        let instruction = step.kind.instruction()?;
        Some(&machine.program().thread(copy.thread).instruction(instruction).action)
    };
    let own = steps.iter().enumerate().filter(|(_, step)| step.copy == copy);
    let mut begin = None;
    for (index, step) in own {
        match action(step) {
            Some(Action::Lock) => begin = Some(index),
            Some(Action::Unlock) => begin = None,
            _ => {}
        }
    }
    begin
}

/// The last store before a load, by the load's copy, to another address.
fn other_store(events: &[Event], load_step: usize) -> usize {
    let Event { step, effect: Effect::Load { address: loaded, .. } } = events[load_step] else {
        unreachable!("the step is a load")
    };
    let is_other = |event: &Event| match event.effect {
        Effect::Store { address, .. } => event.step.copy == step.copy && address != loaded,
        _ => false,
    };
    events[..load_step].iter().rposition(is_other).expect("a note tells of the store")
}
