//! The observed places that may hold addresses.
//!
//! In a test that treats addresses as values, a number and an address may coincide. A place is
//! shown by an address's name only where an address can have got to: by assignments, loads and
//! stores, whatever the order they come in.

use palisade_model::program::{Action, BinaryOperator, Expression, Program, RegisterId, UnaryOperator, Value};
use palisade_semantics::{Location, Observable, Proposition, Question};
use std::collections::BTreeSet;

/// The question with only those locations seen as pointers that may hold an address.
pub(super) fn only_pointers(program: &Program, mut question: Question) -> Question {
    let flow = Flow::of(program);
    let restrict = |location: &mut Location| {
        location.view.pointer &= match location.observable {
            Observable::Register { thread, register } => flow.registers.contains(&(thread.index(), register.index())),
            Observable::Address(address) => flow.anywhere || flow.cells.contains(&address),
        };
    };
    question.locations.iter_mut().for_each(restrict);
    if let Some(filter) = &mut question.filter {
        for_each_location(filter, &restrict);
    }
    if let Some(condition) = &mut question.condition {
        for_each_location(&mut condition.proposition, &restrict);
    }
    question
}

fn for_each_location(proposition: &mut Proposition, change: &impl Fn(&mut Location)) {
    match proposition {
        Proposition::True | Proposition::False => {}
        Proposition::Equals(location, _) | Proposition::NotEquals(location, _) => change(location),
        Proposition::Same(left, right) => {
            change(left);
            change(right);
        }
        Proposition::Not(inner) => for_each_location(inner, change),
        Proposition::And(parts) | Proposition::Or(parts) => {
            parts.iter_mut().for_each(|part| for_each_location(part, change));
        }
        Proposition::Implies(premise, conclusion) => {
            for_each_location(premise, change);
            for_each_location(conclusion, change);
        }
    }
}

/// Where addresses can get to.
#[derive(Default)]
struct Flow {
    registers: BTreeSet<(usize, usize)>,
    cells: BTreeSet<Value>,
    /// An address was stored at an address that is computed.
    anywhere: bool,
}

impl Flow {
    fn of(program: &Program) -> Self {
        let addresses: BTreeSet<Value> = program.addresses.iter().map(|name| name.address).collect();
        let mut flow = Self::default();
        for (&cell, value) in &program.initial_memory {
            if addresses.contains(value) {
                flow.cells.insert(cell);
            }
        }
        for (index, thread) in program.threads.iter().enumerate() {
            for (number, register) in thread.registers.iter().enumerate() {
                if addresses.contains(&register.initial) {
                    flow.registers.insert((index, number));
                }
            }
        }
        while flow.grow(program) {}
        flow
    }

    fn grow(&mut self, program: &Program) -> bool {
        let before = (self.registers.len(), self.cells.len(), self.anywhere);
        for (index, thread) in program.threads.iter().enumerate() {
            for instruction in &thread.instructions {
                self.action(index, &instruction.action);
            }
        }
        before != (self.registers.len(), self.cells.len(), self.anywhere)
    }

    fn action(&mut self, thread: usize, action: &Action) {
        match action {
            Action::Assign { register, value } if self.may_be_address(thread, value) => {
                self.registers.insert((thread, register.index()));
            }
            Action::Load { register, address } => self.loaded(thread, Some(*register), address),
            Action::Store { address, value } => self.stored(thread, address, value),
            Action::Cas { register, address, new, .. } | Action::Rmw { register, address, new } => {
                self.loaded(thread, *register, address);
                self.stored(thread, address, new);
            }
            _ => {}
        }
    }

    fn loaded(&mut self, thread: usize, register: Option<RegisterId>, address: &Expression) {
        let holds = match constant_address(address) {
            Some(cell) => self.anywhere || self.cells.contains(&cell),
            None => self.anywhere || !self.cells.is_empty(),
        };
        if let (true, Some(register)) = (holds, register) {
            self.registers.insert((thread, register.index()));
        }
    }

    fn stored(&mut self, thread: usize, address: &Expression, value: &Expression) {
        if !self.may_be_address(thread, value) {
            return;
        }
        match constant_address(address) {
            Some(cell) => {
                self.cells.insert(cell);
            }
            None => self.anywhere = true,
        }
    }

    fn may_be_address(&self, thread: usize, value: &Expression) -> bool {
        match value {
            Expression::Address { .. } => true,
            Expression::Register(register) => self.registers.contains(&(thread, register.index())),
            Expression::Constant(_) | Expression::Old | Expression::Unary(UnaryOperator::Not, _) => false,
            Expression::Unary(_, operand) => self.may_be_address(thread, operand),
            Expression::Binary(operator, left, right) => {
                let arithmetic = matches!(
                    operator,
                    BinaryOperator::Add
                        | BinaryOperator::Subtract
                        | BinaryOperator::Multiply
                        | BinaryOperator::BitAnd
                        | BinaryOperator::BitOr
                        | BinaryOperator::BitXor
                );
                arithmetic && (self.may_be_address(thread, left) || self.may_be_address(thread, right))
            }
        }
    }
}

fn constant_address(address: &Expression) -> Option<Value> {
    if address.is_constant() { address.evaluate_address(&[]).ok() } else { None }
}
