//! The counters up to whose turns final states were told apart.

use super::Simulation;
use palisade_model::program::Value;
use palisade_semantics::{Machine, State, Turns};

/// A class of counters: what a turn adds one number to.
#[derive(Clone, Debug)]
pub struct TurnedClass {
    /// Its addresses by their names.
    pub addresses: Vec<String>,
    /// The columns of final states that belong to it: `[x]` for an address, `0:r` for a register.
    pub columns: Vec<String>,
    /// What the number is a multiple of.
    pub step: Value,
}

/// The classes up to whose turns a simulation tells states apart; none where it tells all apart.
pub fn turned_classes(simulation: &Simulation<'_>) -> Vec<TurnedClass> {
    let Simulation { program, instance, finals, .. } = simulation;
    let Some(turns) = &finals.turns else { return Vec::new() };
    let machine = Machine::new(program, instance, simulation.model);
    let class = |number: usize| {
        let class = &turns.classes()[number];
        let addresses: Vec<String> = class.cells.iter().map(|cell| program.address_name(*cell)).collect();
        let cells = addresses.iter().map(|name| format!("[{name}]"));
        let columns = cells.chain(registers(simulation, turns, &machine, number, &finals.completed)).collect();
        TurnedClass { addresses, columns, step: class.step }
    };
    (0..turns.classes().len()).map(class).collect()
}

/// The columns of registers that belong to a class in some final state.
fn registers(
    simulation: &Simulation<'_>,
    turns: &Turns,
    machine: &Machine<'_>,
    class: usize,
    ends: &[State],
) -> Vec<String> {
    let single = simulation.instance.counts().iter().all(|count| *count <= 1);
    let column = |(position, register): (usize, usize)| {
        let thread = machine.copies()[position].thread;
        let owner = if single { thread.index() } else { position };
        format!("{owner}:{}", simulation.program.thread(thread).registers[register].name)
    };
    turns.registers(machine, class, ends).into_iter().map(column).collect()
}

/// What a turn adds to all members of a class, in words.
pub(super) fn number(simulation: &Simulation<'_>, class: &TurnedClass) -> String {
    let number = match class.step {
        1 => "one number".to_owned(),
        step => format!("one multiple of {step}"),
    };
    match simulation.program.domain {
        Some(domain) => format!("{number} (modulo {})", domain.size()),
        None => number,
    }
}
