//! Values that registers and memory can have: closed under every instruction by itself, whatever
//! has come before.

use super::ranges::{Purpose, Range, Values};
use crate::CheckFailure;
use crate::failure::reject;
use palisade_evidence::{Interval, ValueInvariant};
use palisade_model::program::{Action, Copies, Expression, InstructionId, Program, Thread, ThreadId, Value};

/// A value invariant of a program, checked.
pub(super) struct Bounds {
    /// For each thread and each of its registers, the values it can have.
    registers: Vec<Vec<Range>>,
    /// Ranges of addresses with the values they can hold, ascending.
    memory: Vec<((i128, i128), Range)>,
}

/// Checks that an invariant is well formed, contains the initial values, and is closed under every
/// instruction of the threads that have copies.
pub(super) fn check_values(program: &Program, invariant: &ValueInvariant) -> Result<Bounds, CheckFailure> {
    let bounds = decode(program, invariant)?;
    check_initial(program, &bounds)?;
    for (id, thread) in program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)) {
        for (number, instruction) in thread.instruction_ids() {
            if !bounds.is_closed_under(program, id, &instruction.action) {
                let (name, text) = (&thread.name, program.source.slice(instruction.span));
                reject!(Inductive, "the values are not closed under instruction {number} `{text}` of thread `{name}`");
            }
        }
    }
    Ok(bounds)
}

/// The invariant in the form that is worked with.
fn decode(program: &Program, invariant: &ValueInvariant) -> Result<Bounds, CheckFailure> {
    if invariant.registers.len() != program.threads.len() {
        reject!(Form, "values are given for {} threads of {}", invariant.registers.len(), program.threads.len());
    }
    let mut registers = Vec::with_capacity(program.threads.len());
    for (thread, given) in program.threads.iter().zip(&invariant.registers) {
        if given.len() != thread.registers.len() {
            let (name, given, own) = (&thread.name, given.len(), thread.registers.len());
            reject!(Form, "thread `{name}`: values of {given} registers of {own}");
        }
        registers.push(given.iter().map(|values| range(values)).collect::<Result<Vec<Range>, _>>()?);
    }
    let mut memory: Vec<((i128, i128), Range)> = Vec::with_capacity(invariant.memory.len());
    for given in &invariant.memory {
        let (low, high) = (i128::from(given.addresses.low), i128::from(given.addresses.high));
        if low > high || memory.last().is_some_and(|(before, _)| before.1 >= low) {
            reject!(Form, "the addresses {low} to {high} are not in ascending order");
        }
        memory.push(((low, high), range(&given.values)?));
    }
    Ok(Bounds { registers, memory })
}

/// A set of values from its intervals.
fn range(given: &[Interval]) -> Result<Range, CheckFailure> {
    let intervals: Vec<(i128, i128)> =
        given.iter().map(|interval| (i128::from(interval.low), i128::from(interval.high))).collect();
    let range = Range::of(intervals.clone());
    if given.is_empty() || range.intervals() != intervals {
        reject!(Form, "a set of values is not a list of intervals in ascending order, apart from each other");
    }
    Ok(range)
}

/// Checks that the values contain the initial ones.
fn check_initial(program: &Program, bounds: &Bounds) -> Result<(), CheckFailure> {
    for (thread, ranges) in program.threads.iter().zip(&bounds.registers) {
        for (register, range) in thread.registers.iter().zip(ranges) {
            if !range.contains(i128::from(register.initial)) {
                let (name, own) = (&thread.name, &register.name);
                reject!(Initial, "the values of register `{own}` of thread `{name}` leave out the initial one");
            }
        }
    }
    for (addresses, values) in &bounds.memory {
        if !initial_values(program, *addresses).is_within(values) {
            let (low, high) = addresses;
            reject!(Initial, "the values at addresses {low} to {high} leave out an initial one");
        }
    }
    Ok(())
}

/// The initial values at some addresses.
fn initial_values(program: &Program, (low, high): (i128, i128)) -> Range {
    let inside = program.initial_memory.iter().filter(|(address, _)| (low..=high).contains(&i128::from(**address)));
    let given: Vec<(i128, i128)> = inside.map(|(_, value)| (i128::from(*value), i128::from(*value))).collect();
    let is_zero_somewhere = high.abs_diff(low) >= given.len() as u128;
    Range::of(given.into_iter().chain(is_zero_somewhere.then_some((0, 0))).collect())
}

impl Bounds {
    /// What an expression of a thread can come to, where no old value is read.
    fn of(&self, program: &Program, thread: ThreadId, expression: &Expression, purpose: Purpose) -> Range {
        self.with_old(program, thread, expression, purpose, &Range::default())
    }

    fn with_old(
        &self,
        program: &Program,
        thread: ThreadId,
        expression: &Expression,
        purpose: Purpose,
        old: &Range,
    ) -> Range {
        Values { registers: &self.registers[thread.index()], old, domain: program.domain }.of(expression, purpose)
    }

    /// What an address expression of a thread can come to.
    pub(super) fn addresses(&self, program: &Program, thread: ThreadId, address: &Expression) -> Range {
        self.of(program, thread, address, Purpose::Address)
    }

    /// Whether a condition of a thread can be 0.
    pub(super) fn can_be_false(&self, program: &Program, thread: ThreadId, condition: &Expression) -> bool {
        self.of(program, thread, condition, Purpose::Condition).contains(0)
    }

    /// Whether whatever the action does with these values keeps to them.
    fn is_closed_under(&self, program: &Program, thread: ThreadId, action: &Action) -> bool {
        let data = |expression| self.of(program, thread, expression, Purpose::Data);
        let addresses = |expression| self.addresses(program, thread, expression);
        let holds = |register: usize, values: &Range| values.is_within(&self.registers[thread.index()][register]);
        match action {
            Action::Load { register, address } => holds(register.index(), &self.loaded(program, &addresses(address))),
            Action::Store { address, value } => self.holds_at(&addresses(address), &data(value)),
            Action::Assign { register, value } => holds(register.index(), &data(value)),
            Action::Havoc { register } => program.domain.is_none_or(|domain| {
                holds(register.index(), &Range::of(vec![(i128::from(domain.low), i128::from(domain.high))]))
            }),
            Action::Cas { register, address, expected: _, new } => {
                let addresses = addresses(address);
                register.is_none_or(|register| holds(register.index(), &self.loaded(program, &addresses)))
                    && self.holds_at(&addresses, &data(new))
            }
            Action::Rmw { register, address, new } => {
                let addresses = addresses(address);
                let old = self.loaded(program, &addresses);
                register.is_none_or(|register| holds(register.index(), &old))
                    && self.holds_at(&addresses, &self.with_old(program, thread, new, Purpose::Data, &old))
            }
            Action::Fence
            | Action::StoreFence
            | Action::Assume(_)
            | Action::Nop
            | Action::Lock
            | Action::Unlock
            | Action::Ensure(_)
            | Action::Fail => true,
            // Evidence about a program with tasks is rejected before; nothing is shown about them
            // here.
            Action::Post { .. } => false,
        }
    }

    /// What can be loaded from some addresses.
    fn loaded(&self, program: &Program, addresses: &Range) -> Range {
        let mut all = Vec::new();
        for (low, high) in addresses.intervals() {
            let mut next = *low;
            for ((first, last), values) in &self.memory {
                if *last < next || *high < *first {
                    continue;
                }
                if next < *first {
                    all.extend(initial_values(program, (next, *first - 1)).intervals());
                }
                all.extend(values.intervals());
                next = *last + 1;
            }
            if next <= *high {
                all.extend(initial_values(program, (next, *high)).intervals());
            }
        }
        Range::of(all)
    }

    /// Whether each of some addresses can hold each of some values.
    fn holds_at(&self, addresses: &Range, values: &Range) -> bool {
        values.intervals().is_empty()
            || addresses.intervals().iter().all(|(low, high)| {
                let mut next = *low;
                for ((first, last), held) in &self.memory {
                    if (*first..=*last).contains(&next) && next <= *high {
                        if !values.is_within(held) {
                            return false;
                        }
                        next = *last + 1;
                    }
                }
                next > *high
            })
    }
}

/// The addresses that an instruction may access: the one it names, or what the bounds say. Nothing
/// when it accesses none, and all without bounds.
pub(super) fn accessed(
    program: &Program,
    bounds: Option<&Bounds>,
    thread: ThreadId,
    instruction: InstructionId,
) -> Option<Range> {
    let address = program.thread(thread).instruction(instruction).action.address()?;
    if address.is_constant() {
        // One without a value is never accessed.
        return Some(address.evaluate_address(&[]).map(Range::only).unwrap_or_default());
    }
    let everything = || Range::of(vec![(i128::from(Value::MIN), i128::from(Value::MAX))]);
    Some(bounds.map_or_else(everything, |bounds| bounds.addresses(program, thread, address)))
}

/// Whether copies of the thread run.
pub(super) fn runs(thread: &Thread) -> bool {
    thread.copies != Copies::Exactly(0)
}
