//! Certificates about programs whose counters stop at an end.
//!
//! Of an address that goes one way and is compared with constants, the certificate may know no more
//! than that its value has gone beyond the *end*. The checker follows which registers hold what the
//! address held, looks at every use of these and of the address, and writes down the program in
//! which values beyond the end are the end. docs/certificate/counters.md says what is accepted, and
//! THEORY.md ("Saturation") why the program does nothing that this one does not do.

use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::program::{
    Action, BinaryOperator as Op, Expression, InstructionId, Program, RegisterId, Role, Thread, ThreadId,
    UnaryOperator, Value,
};
use std::collections::BTreeSet;

/// An address whose values stop at an end.
struct Stopping<'p> {
    program: &'p Program,
    cell: Value,
    end: Value,
    /// Whether values below the end are beyond it, or those above.
    is_floor: bool,
}

/// The place of an expression.
struct At<'s> {
    thread: ThreadId,
    instruction: InstructionId,
    /// Registers with values of the address.
    carriers: &'s BTreeSet<RegisterId>,
    /// Whether the instruction accesses the address.
    on_cell: bool,
}

/// The program whose values at these addresses stop at these ends.
pub(super) fn saturate(program: &Program, ends: &[(Value, Value)]) -> Result<Program, CheckFailure> {
    if program.domain.is_some() {
        reject!(Form, "values stop at an end in integers alone, and the program has a domain");
    }
    if !ends.windows(2).all(|pair| pair[0].0 < pair[1].0) {
        reject!(Form, "the addresses whose values stop are not ascending");
    }
    for (id, thread) in program.thread_ids() {
        if thread.role != Role::Thread {
            reject!(Form, "values stop at an end in programs of threads alone");
        }
        for (number, instruction) in thread.instruction_ids() {
            if instruction.action.address().is_some_and(|address| !address.is_constant()) {
                reject!(Form, "instruction {number} of thread {id} computes an address");
            }
        }
    }
    let mut result = program.clone();
    for (cell, end) in ends {
        let initial = program.initial_value(*cell);
        if initial == *end {
            reject!(Form, "address {cell} is at its end, {end}, at first");
        }
        let stopping = Stopping { program: &result, cell: *cell, end: *end, is_floor: initial > *end };
        result = stopping.applied()?;
    }
    Ok(result)
}

impl Stopping<'_> {
    fn applied(&self) -> Result<Program, CheckFailure> {
        let mut result = self.program.clone();
        for (thread, template) in self.program.thread_ids() {
            let carriers = self.carriers(template);
            for (id, instruction) in template.instruction_ids() {
                let own = &carriers[instruction.source.index()];
                let on_cell = self.accesses(&instruction.action);
                let at = At { thread, instruction: id, carriers: own, on_cell };
                let action = &mut result.threads[thread.index()].instructions[id.index()].action;
                self.rewrite(&at, action)?;
            }
        }
        Ok(result)
    }

    fn accesses(&self, action: &Action) -> bool {
        action.address().and_then(|address| address.evaluate_address(&[]).ok()) == Some(self.cell)
    }

    /// For each label, registers that may have come by a value of the address. Rounds over all
    /// instructions, until nothing is new.
    fn carriers(&self, thread: &Thread) -> Vec<BTreeSet<RegisterId>> {
        let mut carriers = vec![BTreeSet::new(); thread.labels.len()];
        loop {
            let mut has_changed = false;
            for instruction in &thread.instructions {
                let before: BTreeSet<RegisterId> = carriers[instruction.source.index()].clone();
                let mut after = before.clone();
                if let Some(register) = instruction.action.written_register() {
                    let carries = match &instruction.action {
                        Action::Assign { value, .. } => distance(value, &before, false).is_some(),
                        action => self.accesses(action),
                    };
                    after.remove(&register);
                    if carries {
                        after.insert(register);
                    }
                }
                let target = &mut carriers[instruction.target.index()];
                let size = target.len();
                target.extend(after);
                has_changed |= target.len() != size;
            }
            if !has_changed {
                return carriers;
            }
        }
    }

    fn rewrite(&self, at: &At<'_>, action: &mut Action) -> Result<(), CheckFailure> {
        match action {
            Action::Assume(condition) | Action::Ensure(condition) => {
                if distance(condition, at.carriers, at.on_cell).is_some() {
                    return self.refuse(at, "asks more of the address's value than on which side of a constant it is");
                }
                self.look(at, condition)
            }
            Action::Assign { value, .. } => self.write(at, value, true),
            Action::Store { value, .. } | Action::Rmw { new: value, .. } => self.write(at, value, at.on_cell),
            Action::Cas { expected, new, .. } => {
                if at.on_cell {
                    match expected {
                        Expression::Constant(constant) if self.is_inside(i128::from(*constant)) => {}
                        _ => return self.refuse(at, "expects more than a constant before the end"),
                    }
                } else {
                    self.plain(at, expected)?;
                }
                self.write(at, new, at.on_cell)
            }
            Action::Havoc { .. } | Action::Post { .. } => self.refuse(at, "chooses among values, or posts"),
            _ => Ok(()),
        }
    }

    /// A value that is written to a register, or to memory: what carries the address's value must
    /// go there and towards the end, and stops there.
    fn write(&self, at: &At<'_>, value: &mut Expression, is_place: bool) -> Result<(), CheckFailure> {
        let moves = distance(value, at.carriers, at.on_cell);
        match moves {
            Some(_) if !is_place => return self.refuse(at, "stores the address's value elsewhere"),
            Some(by) if by != 0 && (by < 0) != self.is_floor => {
                return self.refuse(at, "moves the address's value away from its end");
            }
            Some(0) => return Ok(()),
            None => {
                self.look(at, value)?;
                if !at.on_cell {
                    return Ok(());
                }
            }
            Some(_) => {}
        }
        let end = Expression::Constant(self.end);
        let beyond = if self.is_floor { Op::Less } else { Op::Greater };
        let over = Expression::binary(beyond, value.clone(), end.clone());
        let back = Expression::binary(Op::Multiply, Expression::binary(Op::Subtract, end, value.clone()), over);
        *value = Expression::binary(Op::Add, value.clone(), back);
        Ok(())
    }

    /// Rejects an expression that carries the address's value.
    fn plain(&self, at: &At<'_>, value: &Expression) -> Result<(), CheckFailure> {
        match distance(value, at.carriers, at.on_cell) {
            Some(_) => self.refuse(at, "uses the address's value other than to compare it with a constant"),
            None => self.look(at, value),
        }
    }

    /// Rejects an expression whose value depends on how far beyond the end the address's is.
    fn look(&self, at: &At<'_>, expression: &Expression) -> Result<(), CheckFailure> {
        match expression {
            Expression::Unary(operator, operand) => match (operator, distance(operand, at.carriers, at.on_cell)) {
                (UnaryOperator::Not, Some(by)) if self.is_inside(-by) => Ok(()),
                _ => self.plain(at, operand),
            },
            Expression::Binary(
                Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual | Op::Equal | Op::NotEqual,
                left,
                right,
            ) => {
                let compared = match (&**left, &**right) {
                    (own, Expression::Constant(constant)) | (Expression::Constant(constant), own) => {
                        distance(own, at.carriers, at.on_cell).map(|by| i128::from(*constant) - by)
                    }
                    _ => None,
                };
                if compared.is_some_and(|constant| self.is_inside(constant)) {
                    return Ok(());
                }
                self.plain(at, left)?;
                self.plain(at, right)
            }
            Expression::Binary(_, left, right) => {
                self.plain(at, left)?;
                self.plain(at, right)
            }
            _ => Ok(()),
        }
    }

    /// Whether a number is on the near side of the end, and not the end.
    fn is_inside(&self, number: i128) -> bool {
        let end = i128::from(self.end);
        if self.is_floor { number > end } else { number < end }
    }

    fn refuse<T>(&self, at: &At<'_>, what: &str) -> Result<T, CheckFailure> {
        reject!(Form, "instruction {} of thread {} {what} (address {})", at.instruction, at.thread, self.cell);
    }
}

/// How far a value is from one of the address that a register carries, or that a read-modify-write
/// reads, by constants; nothing if it is none.
fn distance(value: &Expression, carriers: &BTreeSet<RegisterId>, on_cell: bool) -> Option<i128> {
    match value {
        Expression::Register(register) => carriers.contains(register).then_some(0),
        Expression::Old => on_cell.then_some(0),
        Expression::Binary(Op::Add, left, right) => match (&**left, &**right) {
            (own, Expression::Constant(by)) | (Expression::Constant(by), own) => {
                Some(distance(own, carriers, on_cell)? + i128::from(*by))
            }
            _ => None,
        },
        Expression::Binary(Op::Subtract, left, right) => match &**right {
            Expression::Constant(by) => Some(distance(left, carriers, on_cell)? - i128::from(*by)),
            _ => None,
        },
        _ => None,
    }
}
