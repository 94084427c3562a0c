//! Joint control states as properties of one thread: for everything that knows `ensure` and nothing
//! of joint states.
//!
//! A joint state names labels, one for each place. In the *monitored program* a copy that stands at
//! such a label may *freeze* instead of going on: it stores 1 to a cell that belongs to the place,
//! and stops for ever. A thread of its own loads the cells and ensures that not all of them are
//! set.
//!
//! **The `ensure` fails if and only if the joint state is reached**, under SC, TSO and PSO, for any
//! numbers of copies. *If* the state is reached, let the copies that stand at its places freeze
//! there, and leave out what others do after a `lock` that is never given back: nobody has seen it.
//! Then all buffers can drain, the cells are set, and the monitor sees them. *Only if*: a copy
//! freezes once, so different cells are set by different copies. When the last one freezes, all of
//! them stand at their labels: a copy that has frozen has not moved since, and that its stores
//! reach memory or the cell's store waits moves no copy. ∎ A copy that freezes while it holds the
//! lock would keep the monitor from memory; such labels are refused.

use super::{
    Action, AddressId, AddressName, BinaryOperator, Copies, Expression, Instruction, Label, LabelId, NameSpace, Naming,
    Place, Program, Register, RegisterId, Role, Thread, ThreadId, UnaryOperator, Value, lock_states,
};
use crate::text::Span;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a program cannot be monitored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoMonitor {
    /// A copy may hold the lock at a place.
    #[error("a thread can hold the lock where the joint control state wants it to stand")]
    HoldsLock {
        /// Where the joint state is forbidden.
        span: Span,
    },
    /// The domain has no value but 0.
    #[error("the domain has no value but 0")]
    OnlyZero,
}

/// Cells begin here, or behind all addresses with a name or an initial value.
const FIRST_CELL: Value = 1 << 40;

impl Program {
    /// The program in which each joint control state is an `ensure` at the end of a thread of its
    /// own, in their order behind the other threads. Threads, labels, registers and instructions
    /// that there are keep their numbers.
    ///
    /// # Errors
    ///
    /// [`NoMonitor`], where a joint state cannot be watched in this way.
    pub fn monitored(&self) -> Result<Self, NoMonitor> {
        self.clone().into_monitored()
    }

    /// The same, of a program that nobody needs as it is.
    ///
    /// # Errors
    ///
    /// [`NoMonitor`], where a joint state cannot be watched in this way.
    pub fn into_monitored(self) -> Result<Self, NoMonitor> {
        self.check_unlocked()?;
        let mut monitored = self;
        let never = std::mem::take(&mut monitored.never);
        if never.is_empty() {
            return Ok(monitored);
        }
        let set = match monitored.domain {
            Some(domain) if domain.contains(1) => 1,
            Some(domain) if domain.contains(-1) => -1,
            Some(_) => return Err(NoMonitor::OnlyZero),
            None => 1,
        };
        let mut cells = Cells::of(&mut monitored, never.iter().map(|joint| joint.places().len()).sum());
        let mut thread_names = NameSpace::with_taken(monitored.threads.iter().map(|thread| &*thread.name));
        let mut label_names: BTreeMap<ThreadId, NameSpace> = BTreeMap::new();
        for (number, joint) in never.iter().enumerate() {
            let watched: Vec<Expression> = joint
                .places()
                .iter()
                .enumerate()
                .map(|(place, _)| cells.add(&mut monitored, &format!("never{}_{}", number + 1, place + 1), joint.span))
                .collect();
            for (place, cell) in joint.places().iter().zip(&watched) {
                let thread = &mut monitored.threads[place.thread.index()];
                let names = label_names
                    .entry(place.thread)
                    .or_insert_with(|| NameSpace::with_taken(thread.labels.iter().map(|label| &*label.name)));
                freeze(thread, names.fresh("frozen"), *place, cell, set, joint.span);
            }
            let name = thread_names.fresh(&format!("never{}", number + 1));
            monitored.threads.push(monitor(name, &watched, joint.span));
        }
        Ok(monitored)
    }

    fn check_unlocked(&self) -> Result<(), NoMonitor> {
        let mut states: BTreeMap<ThreadId, Vec<[bool; 2]>> = BTreeMap::new();
        for joint in &self.never {
            for place in joint.places() {
                let own = states.entry(place.thread).or_insert_with(|| lock_states(self.thread(place.thread)));
                if own[place.label.index()][1] {
                    return Err(NoMonitor::HoldsLock { span: joint.span });
                }
            }
        }
        Ok(())
    }
}

/// The addresses of the cells.
pub(super) struct Cells {
    next: Value,
    names: NameSpace,
}

impl Cells {
    /// Makes room for so many cells: accesses to computed addresses that could meet them go around
    /// them.
    pub(super) fn of(program: &mut Program, count: usize) -> Self {
        let count = Value::try_from(count).expect("a text has few places");
        let named = program.addresses.iter().map(|entry| entry.address.saturating_add(Value::from(entry.length)));
        let initial = program.initial_memory.keys().map(|address| address.saturating_add(1));
        let first = named.chain(initial).fold(FIRST_CELL, Value::max);
        let range = program.domain.map(|domain| (domain.low.into(), domain.high.into()));
        for instruction in program.threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
            let Some(address) = address_mut(&mut instruction.action) else { continue };
            if values(address, range).is_none_or(|(_, high)| high >= first.into()) {
                let beyond =
                    Expression::binary(BinaryOperator::GreaterOrEqual, address.clone(), Expression::Constant(first));
                let further = Expression::binary(BinaryOperator::Multiply, beyond, Expression::Constant(count));
                *address = Expression::binary(BinaryOperator::Add, address.clone(), further);
            }
        }
        let names = NameSpace::with_taken(program.addresses.iter().map(|entry| &*entry.name));
        Self { next: first, names }
    }

    /// One more cell, as an expression.
    pub(super) fn add(&mut self, program: &mut Program, name: &str, span: Span) -> Expression {
        let name = self.names.fresh(name);
        let (id, value) = (AddressId::from_index(program.addresses.len()), self.next);
        program.addresses.push(AddressName { name, address: value, length: 1, span });
        self.next += 1;
        Expression::Address { id, value }
    }
}

/// The least and the greatest value that an expression can have, where that is easy to tell.
fn values(expression: &Expression, registers: Option<(i128, i128)>) -> Option<(i128, i128)> {
    use BinaryOperator as Op;
    Some(match expression {
        Expression::Constant(value) | Expression::Address { value, .. } => ((*value).into(), (*value).into()),
        Expression::Register(_) | Expression::Old => registers?,
        Expression::Unary(UnaryOperator::Negate, operand) => {
            let (low, high) = values(operand, registers)?;
            (high.checked_neg()?, low.checked_neg()?)
        }
        Expression::Unary(UnaryOperator::Not, _)
        | Expression::Binary(
            Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual | Op::Equal | Op::NotEqual | Op::And | Op::Or,
            ..,
        ) => (0, 1),
        Expression::Binary(Op::Add, left, right) => {
            let (left, right) = (values(left, registers)?, values(right, registers)?);
            (left.0.checked_add(right.0)?, left.1.checked_add(right.1)?)
        }
        Expression::Binary(Op::Subtract, left, right) => {
            let (left, right) = (values(left, registers)?, values(right, registers)?);
            (left.0.checked_sub(right.1)?, left.1.checked_sub(right.0)?)
        }
        Expression::Binary(Op::Multiply, left, right) => {
            let (left, right) = (values(left, registers)?, values(right, registers)?);
            let products = [
                left.0.checked_mul(right.0)?,
                left.0.checked_mul(right.1)?,
                left.1.checked_mul(right.0)?,
                left.1.checked_mul(right.1)?,
            ];
            (*products.iter().min()?, *products.iter().max()?)
        }
        Expression::Unary(..) | Expression::Binary(..) => return None,
    })
}

/// The address expression of a memory access.
fn address_mut(action: &mut Action) -> Option<&mut Expression> {
    match action {
        Action::Load { address, .. }
        | Action::Store { address, .. }
        | Action::Cas { address, .. }
        | Action::Rmw { address, .. } => Some(address),
        _ => None,
    }
}

/// Lets a copy freeze at a place.
fn freeze(thread: &mut Thread, name: String, place: Place, cell: &Expression, set: Value, span: Span) {
    let target = LabelId::from_index(thread.labels.len());
    thread.labels.push(watch(name, span));
    let action = Action::Store { address: cell.clone(), value: Expression::Constant(set) };
    thread.instructions.push(Instruction::new(place.label, target, action, span));
}

/// A label that is not of the text.
fn watch(name: impl Into<SmolStr>, span: Span) -> Label {
    Label { naming: Naming::Watch, ..Label::new(name, span) }
}

/// The thread that looks at all cells and ensures that some are not set.
fn monitor(name: String, cells: &[Expression], span: Span) -> Thread {
    let mut labels: Vec<Label> = (0..cells.len()).map(|index| watch(format!("look{}", index + 1), span)).collect();
    labels.extend(["ensure", "end"].map(|name| watch(name, span)));
    let register =
        |index: usize| Register { name: format!("stands{}", index + 1), initial: 0, is_initialised: false, span };
    let mut instructions = Vec::with_capacity(cells.len() + 1);
    let mut emit = |at: usize, action| {
        let (source, target) = (LabelId::from_index(at), LabelId::from_index(at + 1));
        instructions.push(Instruction::new(source, target, action, span));
    };
    for (index, cell) in cells.iter().enumerate() {
        emit(index, Action::Load { register: RegisterId::from_index(index), address: cell.clone() });
    }
    let missing = |index: usize| {
        let register = Expression::Register(RegisterId::from_index(index));
        Expression::binary(BinaryOperator::Equal, register, Expression::Constant(0))
    };
    emit(cells.len(), Action::Ensure(any(&missing, 0, cells.len())));
    Thread {
        name,
        span,
        role: Role::Thread,
        copies: Copies::Exactly(1),
        is_daemon: false,
        registers: (0..cells.len()).map(register).collect(),
        labels,
        initial: LabelId::from_index(0),
        instructions,
    }
}

/// That one of the conditions numbered `from` to `to` holds; halves, so that the expression is not
/// deep.
fn any(condition: &impl Fn(usize) -> Expression, from: usize, to: usize) -> Expression {
    if to - from == 1 {
        return condition(from);
    }
    let middle = from.midpoint(to);
    Expression::binary(BinaryOperator::Or, any(condition, from, middle), any(condition, middle, to))
}
