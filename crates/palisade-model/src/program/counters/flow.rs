//! What each instruction asks of the classes: where values flow, they are turned together.

use super::form::Form;
use super::partition::{Blame, Partition, Variable};
use super::shape::{Context, Shape, must_be_plain, shape};
use crate::program::{Action, Expression, Instruction, RegisterId};

/// Imposes on a partition what all instructions ask.
pub(super) fn impose(partition: &mut Partition<'_>) {
    let program = partition.program;
    for (thread, template) in program.thread_ids() {
        for (id, instruction) in template.instruction_ids() {
            let blame = Blame { thread, instruction: id };
            keep(partition, blame, instruction);
            act(partition, blame, instruction);
        }
    }
}

/// Registers that an instruction does not write keep their values.
fn keep(partition: &mut Partition<'_>, blame: Blame, instruction: &Instruction) {
    let written = instruction.action.written_register();
    let live: Vec<RegisterId> = partition.liveness[blame.thread.index()].at(instruction.target).collect();
    for register in live.into_iter().filter(|register| Some(*register) != written) {
        let before = partition.register(blame.thread, instruction.source, register);
        let after = partition.register(blame.thread, instruction.target, register);
        partition.unite(before, after);
        let form = partition.form(before);
        must_hold(partition, blame, after, form);
    }
}

/// What an instruction computes, reads and writes.
fn act(partition: &mut Partition<'_>, blame: Blame, instruction: &Instruction) {
    let cell = address(partition, blame, instruction);
    let context = Context { blame, label: instruction.source, old: cell, is_address: false };
    let written = instruction
        .action
        .written_register()
        .filter(|register| partition.liveness[blame.thread.index()].is_live(instruction.target, *register));
    let written = written.map(|register| partition.register(blame.thread, instruction.target, register));
    match &instruction.action {
        Action::Assume(condition) => {
            let truth = shape(partition, context, condition);
            must_be_plain(partition, blame, truth);
        }
        Action::Assign { value, .. } => {
            let value = shape(partition, context, value);
            flow(partition, blame, value, written);
        }
        Action::Havoc { .. } => flow(partition, blame, Shape::Plain, written),
        Action::Load { .. } => flow(partition, blame, of(partition, cell), written),
        Action::Store { value, .. } => {
            let value = shape(partition, context, value);
            flow_into_memory(partition, blame, value, cell);
        }
        Action::Cas { expected, new, .. } => {
            // Memory is compared with what is expected, and gets what is new: both are turned with
            // it.
            for value in [expected, new] {
                let value = shape(partition, context, value);
                flow_into_memory(partition, blame, value, cell);
            }
            flow(partition, blame, of(partition, cell), written);
        }
        Action::Rmw { new, .. } => {
            let value = shape(partition, context, new);
            flow_into_memory(partition, blame, value, cell);
            flow(partition, blame, of(partition, cell), written);
        }
        // Robustness does not depend on properties.
        Action::Ensure(_) | Action::Nop | Action::Fence | Action::StoreFence | Action::Lock | Action::Unlock => {}
        Action::Fail | Action::Post { .. } => {}
    }
}

/// What an instruction accesses, if that is known. A computed address does not depend on members.
fn address(partition: &mut Partition<'_>, blame: Blame, instruction: &Instruction) -> Option<Variable> {
    let address: &Expression = instruction.action.address()?;
    if !address.is_constant() {
        let context = Context { blame, label: instruction.source, old: None, is_address: true };
        let address = shape(partition, context, address);
        must_be_plain(partition, blame, address);
    }
    partition.accessed(blame)
}

/// What an address holds; one of which nothing is known is in no class.
fn of(partition: &Partition<'_>, cell: Option<Variable>) -> Shape {
    cell.filter(|cell| partition.is_member(*cell))
        .map_or(Shape::Plain, |cell| Shape::Member(cell, partition.form(cell)))
}

/// A variable takes a value of this form, or is compared with one: it has to be the variable's own.
fn must_hold(partition: &mut Partition<'_>, blame: Blame, variable: Variable, form: Form) {
    if form != partition.form(variable) || !form.can_be_held() {
        partition.strike_out(variable, blame);
    }
}

/// A value flows into a register, if that is live.
fn flow(partition: &mut Partition<'_>, blame: Blame, value: Shape, into: Option<Variable>) {
    match (value, into) {
        (Shape::Member(value, form), Some(into)) => {
            partition.unite(value, into);
            must_hold(partition, blame, into, form);
        }
        (Shape::Plain, Some(into)) => partition.strike_out(into, blame),
        (difference @ Shape::Difference(..), Some(into)) => {
            must_be_plain(partition, blame, difference);
            partition.strike_out(into, blame);
        }
        (_, None) => {}
    }
}

/// A value flows into memory, or is compared with it.
fn flow_into_memory(partition: &mut Partition<'_>, blame: Blame, value: Shape, cell: Option<Variable>) {
    match cell {
        Some(_) => flow(partition, blame, value, cell),
        None => must_be_plain(partition, blame, value),
    }
}
