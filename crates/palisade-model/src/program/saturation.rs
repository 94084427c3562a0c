//! Counters that only fall, or only rise, and are compared with constants alone: beyond the last
//! constant, one value stands for all.
//!
//! A lock that each copy which tries takes one off falls without end where there are any number of
//! copies. But what is below all constants that it is compared with stays there until it is
//! overwritten, and looks the same. So the *saturated* program keeps such an address, and all
//! registers that hold its value, at the *end*, which lies one beyond these constants, in place of
//! anything further. It does what the program does, step by step (THEORY.md, "Saturation"), and has
//! the same labels, accesses and attacks.

use super::{Action, BinaryOperator, Expression, LabelId, Program, RegisterId, Role, Thread, UnaryOperator, Value};
use crate::ordered::CollectOrdered;
use std::collections::BTreeSet;
use std::iter;

/// A program whose counters stop at their ends.
#[derive(Clone, Debug)]
pub struct Saturated {
    /// The addresses, ascending, with their ends.
    pub ends: Vec<(Value, Value)>,
    /// The program.
    pub program: Program,
}

/// The saturated program; nothing where no address only falls or only rises.
pub fn saturated(program: &Program) -> Option<Saturated> {
    let is_thread = program.threads.iter().all(|thread| thread.role == Role::Thread);
    let computes = |action: &Action| action.address().is_some_and(|address| !address.is_constant());
    let moved: BTreeSet<Value> = actions(program).filter_map(|own| Some(own.addition()?.0)).collect_set();
    if program.domain.is_some() || moved.is_empty() || !is_thread || actions(program).any(computes) {
        return None;
    }
    let mut result = Saturated { ends: Vec::new(), program: program.clone() };
    for cell in moved {
        for falls in [true, false] {
            if let Some((end, saturated)) = Way::of(&result.program, cell, falls) {
                result.ends.push((cell, end));
                result.program = saturated;
                break;
            }
        }
    }
    (!result.ends.is_empty()).then_some(result)
}

fn actions(program: &Program) -> impl Iterator<Item = &Action> {
    program.threads.iter().flat_map(|thread| &thread.instructions).map(|instruction| &instruction.action)
}

/// One address that goes one way.
struct Way {
    cell: Value,
    falls: bool,
    /// What its values are compared with.
    thresholds: BTreeSet<Value>,
}

/// What an expression's value has to do with that of the address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is the same in the saturated program.
    Same,
    /// It is the address's value, or what a register holds of it, plus so much.
    Moved(Value),
}

/// Where an expression stands: the registers that may hold what the address held, and whether the
/// instruction reads it.
struct Site<'s> {
    held: &'s BTreeSet<RegisterId>,
    is_cell: bool,
}

impl Way {
    /// The end of an address, and the program saturated there, if it goes this way alone.
    fn of(program: &Program, cell: Value, falls: bool) -> Option<(Value, Program)> {
        let mut way = Way { cell, falls, thresholds: iter::once(program.initial_value(cell)).collect_set() };
        let mut moved = Vec::new();
        for (id, thread) in program.thread_ids() {
            let held = way.held(thread)?;
            for (number, instruction) in thread.instruction_ids() {
                let held = &held[instruction.source.index()];
                if way.follow(&instruction.action, held)? {
                    moved.push((id, number));
                }
            }
        }
        let (first, last) = (way.thresholds.first()?, way.thresholds.last()?);
        let end = if falls { first.checked_sub(1)? } else { last.checked_add(1)? };
        let mut saturated = program.clone();
        for (thread, instruction) in moved {
            let action = &mut saturated.threads[thread.index()].instructions[instruction.index()].action;
            if let Action::Assign { value, .. }
            | Action::Store { value, .. }
            | Action::Rmw { new: value, .. }
            | Action::Cas { new: value, .. } = action
            {
                *value = way.stopped(value, end);
            }
        }
        Some((end, saturated))
    }

    /// For each label of a thread, the registers that may hold what the address held, perhaps
    /// moved; nothing where that is not clear.
    fn held(&self, thread: &Thread) -> Option<Vec<BTreeSet<RegisterId>>> {
        let mut held: Vec<Option<BTreeSet<RegisterId>>> = vec![None; thread.labels.len()];
        held[thread.initial.index()] = Some(BTreeSet::new());
        let mut open = vec![thread.initial];
        let by_label = thread.instructions_by_label();
        while let Some(label) = open.pop() {
            let before = held[label.index()].clone()?;
            for instruction in by_label[label.index()].iter().map(|id| thread.instruction(*id)) {
                let mut after = before.clone();
                if let Some(register) = instruction.action.written_register() {
                    let site = Site { held: &before, is_cell: self.is_it(&instruction.action) };
                    let holds = match &instruction.action {
                        Action::Assign { value, .. } => site.moved(value).is_some(),
                        _ => site.is_cell,
                    };
                    if holds {
                        after.insert(register)
                    } else {
                        after.remove(&register)
                    };
                }
                let target: LabelId = instruction.target;
                let own = held[target.index()].get_or_insert_with(|| {
                    open.push(target);
                    BTreeSet::new()
                });
                let size = own.len();
                own.extend(after);
                if own.len() > size {
                    open.push(target);
                }
            }
        }
        Some(held.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn is_it(&self, action: &Action) -> bool {
        action.address().is_some_and(|address| address.evaluate_address(&[]) == Ok(self.cell))
    }

    /// Whether what an action writes has to be stopped at the end; nothing where it does what does
    /// not survive that.
    fn follow(&mut self, action: &Action, held: &BTreeSet<RegisterId>) -> Option<bool> {
        let site = Site { held, is_cell: self.is_it(action) };
        match action {
            Action::Assume(condition) | Action::Ensure(condition) => {
                (self.kind(&site, condition)? == Kind::Same).then_some(false)
            }
            Action::Assign { value, .. } => self.written(&site, value, true),
            Action::Store { value, .. } => self.written(&site, value, site.is_cell),
            Action::Rmw { new, .. } => self.written(&site, new, site.is_cell),
            Action::Cas { expected, new, .. } => {
                if site.is_cell {
                    let Expression::Constant(expected) = expected else { return None };
                    self.thresholds.insert(*expected);
                } else if self.kind(&site, expected)? != Kind::Same {
                    return None;
                }
                self.written(&site, new, site.is_cell)
            }
            Action::Havoc { .. } | Action::Post { .. } => None,
            _ => Some(false),
        }
    }

    /// Whether a value that is written has to be stopped at the end: what is moved, and goes where
    /// it may, and whatever is stored to the address.
    fn written(&mut self, site: &Site<'_>, value: &Expression, may_move: bool) -> Option<bool> {
        match self.kind(site, value)? {
            Kind::Moved(by) => (may_move && if self.falls { by <= 0 } else { by >= 0 }).then_some(by != 0),
            Kind::Same => Some(site.is_cell),
        }
    }

    /// What a value is. What it is compared with is noted.
    fn kind(&mut self, site: &Site<'_>, value: &Expression) -> Option<Kind> {
        use BinaryOperator as Op;
        if let Some(by) = site.moved(value) {
            return Some(Kind::Moved(by));
        }
        match value {
            Expression::Unary(UnaryOperator::Not, operand) if site.moved(operand).is_some() => {
                self.thresholds.insert(site.moved(operand)?.checked_neg()?);
                Some(Kind::Same)
            }
            Expression::Unary(_, operand) => self.same(site, operand),
            Expression::Binary(operator, left, right) => {
                let is_comparison = matches!(
                    operator,
                    Op::Equal | Op::NotEqual | Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual
                );
                if is_comparison {
                    let compared = match (&**left, &**right) {
                        (own, Expression::Constant(number)) | (Expression::Constant(number), own) => {
                            site.moved(own).map(|by| (by, *number))
                        }
                        _ => None,
                    };
                    if let Some((by, number)) = compared {
                        self.thresholds.insert(number.checked_sub(by)?);
                        return Some(Kind::Same);
                    }
                }
                self.same(site, left)?;
                self.same(site, right)
            }
            _ => Some(Kind::Same),
        }
    }

    fn same(&mut self, site: &Site<'_>, value: &Expression) -> Option<Kind> {
        self.kind(site, value).filter(|kind| *kind == Kind::Same)
    }

    /// A value, or the end where it is beyond: `e + (end - e) * (e < end)`.
    fn stopped(&self, value: &Expression, end: Value) -> Expression {
        let number = || Expression::Constant(end);
        let beyond = if self.falls { BinaryOperator::Less } else { BinaryOperator::Greater };
        let missing = Expression::binary(BinaryOperator::Subtract, number(), value.clone());
        let is_beyond = Expression::binary(beyond, value.clone(), number());
        let missing = Expression::binary(BinaryOperator::Multiply, missing, is_beyond);
        Expression::binary(BinaryOperator::Add, value.clone(), missing)
    }
}

impl Site<'_> {
    /// How far a value is moved from what the address holds, or a register holds of it.
    fn moved(&self, value: &Expression) -> Option<Value> {
        match value {
            Expression::Register(register) => self.held.contains(register).then_some(0),
            Expression::Old => self.is_cell.then_some(0),
            Expression::Binary(BinaryOperator::Add, left, right) => match (&**left, &**right) {
                (own, Expression::Constant(by)) | (Expression::Constant(by), own) => self.moved(own)?.checked_add(*by),
                _ => None,
            },
            Expression::Binary(BinaryOperator::Subtract, left, right) => match &**right {
                Expression::Constant(by) => self.moved(left)?.checked_sub(*by),
                _ => None,
            },
            _ => None,
        }
    }
}
