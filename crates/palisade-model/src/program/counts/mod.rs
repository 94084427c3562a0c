//! Counts that go up and down: references, readers.
//!
//! Where each copy takes away only what it has added, the value of an address is at least what it
//! was at first plus what the copies hold (THEORY.md, "Counts"). So copies keep their *balance* in
//! a register, and values above a few are one value, *many*. A copy that takes away from many
//! chooses what is left, but nobody stays whose balance would be more than that: this is what
//! searches see to ([`Counted::balances`]). The *counted* program does what the program does, and
//! has the same loads and stores, with the same numbers.
//!
//! In place of what an expression computes of many stands each value that it may have; where these
//! are too many, it must not be computed, and is divided by 0. docs/src/counts.md says it in full.

mod range;
mod rewriting;
mod site;

use super::{
    Action, BinaryOperator, Copies, Expression, InstructionId, LabelId, Program, RegisterId, Role, Thread, ThreadId,
    UnaryOperator, Value,
};
use crate::ordered::CollectOrdered;
use rewriting::Rewriting;
use site::{Site, moved};
use std::collections::BTreeSet;

/// Registers are moved from what an address held by so much at most.
const MARGIN: Value = 1 << 10;

/// Constants so far above the initial value are among the few values that are told apart, if
/// something is compared with them.
const NEAR: Value = 8;

/// What counts of 64 bits are taken to stay below, and shorter ones.
const MOST: [Value; 2] = [1 << 61, 1 << 29];

/// An address that counts what copies hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The address.
    pub cell: Value,
    /// The greatest value that is told apart.
    pub few: Value,
    /// What is said holds as long as values that are many are at most so much; nothing where that
    /// does not matter.
    pub most: Option<Value>,
    /// What each copy of a thread holds of the initial value, by thread.
    pub owned: Vec<Value>,
}

/// The registers that keep a count's balances.
#[derive(Clone, Debug)]
pub struct Balances {
    /// The count.
    pub count: Count,
    /// What the address holds when nobody holds anything.
    pub floor: i128,
    /// The register of each thread.
    pub registers: Vec<RegisterId>,
}

/// A program with balances.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Its counts, by address.
    pub balances: Vec<Balances>,
    /// The program.
    pub program: Program,
}

impl Counted {
    /// The programs that tell few values of counts apart, and then more.
    pub fn all_of(program: &Program) -> Vec<Self> {
        let is_thread = program.threads.iter().all(|thread| thread.role == Role::Thread);
        if program.domain.is_some() || !is_thread || !program.is_parameterized() {
            return Vec::new();
        }
        let cells =
            program.threads.iter().flat_map(|thread| &thread.instructions).filter_map(|own| changed(&own.action));
        let cells: BTreeSet<Value> = cells.collect_set();
        let owned = |cell: &Value| program.threads.iter().map(|thread| owed(thread, *cell)).collect();
        let owed: Vec<Vec<Value>> = cells.iter().map(owned).collect();
        let none = vec![vec![0; program.threads.len()]; cells.len()];
        let mut choices = vec![none];
        if owed != choices[0] {
            choices.push(owed);
        }
        let tried = (0..2).flat_map(|more| choices.iter().map(move |owned| (more, owned)));
        tried.filter_map(|(more, owned)| Self::of(program, (&cells, owned), more)).collect()
    }

    /// The program in which as many of these addresses count as can; nothing where none does.
    fn of(program: &Program, (cells, owned): (&BTreeSet<Value>, &[Vec<Value>]), more: Value) -> Option<Self> {
        let mut result = Self { balances: Vec::new(), program: program.clone() };
        for (cell, owned) in cells.iter().zip(owned) {
            let Some(count) = Count::of(program, *cell, owned.clone(), more) else { continue };
            if let Some((balances, counted)) = count.apply(&result.program) {
                result.balances.push(balances);
                result.program = counted;
            }
        }
        (!result.balances.is_empty()).then_some(result)
    }
}

impl Count {
    /// A count that tells apart what is near the initial value and compared with, and so many more
    /// values.
    fn of(program: &Program, cell: Value, owned: Vec<Value>, more: Value) -> Option<Self> {
        let initial = program.initial_value(cell);
        let actions = || program.threads.iter().flat_map(|thread| &thread.instructions).map(|own| &own.action);
        let is_added_to = |action: &Action| at(action) == Some(cell) && adds(action).is_some_and(|by| by != 0);
        let is_swapped = |action: &Action| at(action) == Some(cell) && matches!(action, Action::Cas { .. });
        if !actions().any(|action| is_added_to(action) || is_swapped(action)) {
            return None;
        }
        let mut near = BTreeSet::new();
        let mut least_bits = None;
        for expression in actions().flat_map(Action::expressions) {
            looked_at(expression, &mut near, &mut least_bits);
        }
        let near = near.range(initial..=initial.checked_add(NEAR)?).next_back().copied();
        let few = near.unwrap_or(initial).max(initial).max(0).max(1) + more;
        let mut written = BTreeSet::new();
        let writing = actions().filter(|action| at(action) == Some(cell)).flat_map(Action::expressions);
        writing.for_each(|expression| constants(expression, &mut written));
        // A number that says something else than how many there are.
        let is_mark = written.iter().any(|own| own.unsigned_abs() > 2 * MOST[1].unsigned_abs());
        let most = match least_bits {
            None if is_mark => Some(MOST[1]),
            bits => bits.map(|bits| MOST[usize::from(bits < 64)]),
        };
        Some(Self { cell, few, most, owned })
    }

    /// The value that stands for all that are many.
    pub fn many(&self) -> Value {
        self.few + 1
    }

    /// The least and the greatest value that are many.
    fn many_values(&self) -> (i128, i128) {
        let most = self.most.map_or(1 << 100, |most| i128::from(most) + i128::from(MARGIN));
        (i128::from(self.many()), most)
    }

    /// Whether a value is many.
    fn is_many(&self, value: Value) -> bool {
        let (low, high) = self.many_values();
        (low..=high).contains(&i128::from(value))
    }

    /// Whether an action accesses the address.
    fn is_at(&self, action: &Action) -> bool {
        at(action) == Some(self.cell)
    }

    /// What the address holds when nobody holds anything.
    fn floor(&self, program: &Program) -> Option<i128> {
        let mut floor = i128::from(program.initial_value(self.cell));
        for (thread, owned) in program.threads.iter().zip(&self.owned) {
            floor -= match thread.copies {
                Copies::Exactly(copies) => i128::from(copies) * i128::from(*owned),
                Copies::Any if *owned == 0 => 0,
                Copies::Any => return None,
            };
        }
        Some(floor).filter(|floor| self.most.is_none() || *floor >= 0)
    }

    /// The program in which this address counts.
    fn apply(self, program: &Program) -> Option<(Balances, Program)> {
        let floor = self.floor(program)?;
        let mut counted = program.clone();
        let mut registers = Vec::with_capacity(program.threads.len());
        for (id, thread) in program.thread_ids() {
            let sites = self.sites(thread)?;
            let owned = self.owned[id.index()];
            let rewriting = Rewriting::new(&self, floor, &mut counted.threads[id.index()], owned);
            registers.push(rewriting.balance());
            rewriting.apply(thread, &sites)?;
        }
        Some((Balances { count: self, floor, registers }, counted))
    }

    /// What is known at each label of a thread; nothing of those that no path leads to, and nothing
    /// at all where a register is moved too far.
    fn sites(&self, thread: &Thread) -> Option<Vec<Option<Site>>> {
        let mut sites: Vec<Option<Site>> = vec![None; thread.labels.len()];
        sites[thread.initial.index()] = Some(Site::initial(self, thread));
        let by_label = thread.instructions_by_label();
        let mut open = vec![thread.initial];
        while let Some(label) = open.pop() {
            let before = sites[label.index()].clone()?;
            for instruction in by_label[label.index()].iter().map(|id| thread.instruction(*id)) {
                let after = before.after(self, instruction)?;
                let target: LabelId = instruction.target;
                let has_changed = match &mut sites[target.index()] {
                    Some(known) => known.join(&after),
                    unknown => {
                        *unknown = Some(after);
                        true
                    }
                };
                if has_changed {
                    open.push(target);
                }
            }
        }
        Some(sites)
    }
}

impl Balances {
    /// The balance of a copy of a thread.
    pub fn of(&self, thread: ThreadId, registers: &[Value]) -> Value {
        registers[self.registers[thread.index()].index()]
    }

    /// What all copies together hold at most where the address has a value; nothing where that is
    /// not known.
    pub fn held(&self, value: Value) -> Option<i128> {
        let value = if value == self.count.many() {
            i128::from(self.count.most?) + i128::from(MARGIN)
        } else {
            i128::from(value)
        };
        Some(value - self.floor)
    }
}

/// The address that an action accesses, if a constant names it.
fn at(action: &Action) -> Option<Value> {
    action.address().filter(|address| address.is_constant())?.evaluate_address(&[]).ok()
}

/// The address that a locked instruction changes.
fn changed(action: &Action) -> Option<Value> {
    matches!(action, Action::Rmw { .. } | Action::Cas { .. }).then(|| at(action))?
}

/// What a read-modify-write adds, if it does nothing else.
fn adds(action: &Action) -> Option<i128> {
    let Action::Rmw { new, .. } = action else { return None };
    moved(new, &Expression::Old)
}

/// How much each of a number of copies takes away at most that it has not added before, on any
/// path; 0 where that grows, and for any number of copies.
fn owed(thread: &Thread, cell: Value) -> Value {
    if thread.copies == Copies::Any {
        return 0;
    }
    let by = |id: InstructionId| {
        let action = &thread.instruction(id).action;
        adds(action).filter(|_| at(action) == Some(cell)).unwrap_or(0)
    };
    let mut least: Vec<Option<i128>> = vec![None; thread.labels.len()];
    least[thread.initial.index()] = Some(0);
    // As often as there are labels, and no label is passed twice on a path that does not grow.
    for _ in 0..=thread.labels.len() {
        let mut has_changed = false;
        for (id, instruction) in thread.instruction_ids() {
            let Some(before) = least[instruction.source.index()] else { continue };
            let after = before + by(id);
            let known = &mut least[instruction.target.index()];
            if known.is_none_or(|known| after < known) {
                *known = Some(after);
                has_changed = true;
            }
        }
        if !has_changed {
            let most = least.iter().flatten().min().copied().unwrap_or(0).min(0);
            return Value::try_from(-most).unwrap_or(0);
        }
    }
    0
}

/// Notes the constants in an expression.
fn constants(expression: &Expression, numbers: &mut BTreeSet<Value>) {
    match expression {
        Expression::Constant(value) => {
            numbers.insert(*value);
        }
        Expression::Unary(_, operand) => constants(operand, numbers),
        Expression::Binary(_, left, right) => {
            constants(left, numbers);
            constants(right, numbers);
        }
        Expression::Address { .. } | Expression::Register(_) | Expression::Old => {}
    }
}

/// Notes what an expression compares with, and the fewest bits that it keeps.
fn looked_at(expression: &Expression, compared: &mut BTreeSet<Value>, least_bits: &mut Option<u8>) {
    match expression {
        Expression::Unary(operator, operand) => {
            if let UnaryOperator::Truncate { bits, .. } = operator {
                *least_bits = Some(least_bits.map_or(*bits, |own| own.min(*bits)));
            }
            looked_at(operand, compared, least_bits);
        }
        Expression::Binary(operator, left, right) => {
            if operator.contrary().is_some() {
                let constants = [left, right].into_iter().filter_map(|own| match &**own {
                    Expression::Constant(value) => Some(*value),
                    _ => None,
                });
                compared.extend(constants);
            }
            // Bits are looked at in machine code.
            if matches!(operator, BinaryOperator::BitAnd | BinaryOperator::BitOr) {
                *least_bits = Some(least_bits.unwrap_or(64));
            }
            looked_at(left, compared, least_bits);
            looked_at(right, compared, least_bits);
        }
        _ => {}
    }
}
