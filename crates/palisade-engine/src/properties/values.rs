//! Values that registers and memory can have, in any order of steps: an invariant for every model and any number of threads.
//!
//! Flow-insensitive: every instruction may be executed at any time, a load takes any value ever stored to one of its
//! addresses. Sets grow to a fixed point; one that keeps growing is widened to the ends of the domain.

use super::range::{Purpose, Range, Surroundings};
use palisade_evidence::{AddressInterval, Interval, ValueInvariant};
use palisade_model::program::{Action, Copies, Expression, Program, ThreadId, Value};
use std::collections::BTreeMap;

/// So often a set grows before it is widened.
const PATIENCE: u32 = 64;

/// A set with more intervals than this becomes one.
const MOST_INTERVALS: usize = 128;

/// Accesses to more addresses than this may be to all.
const MOST_ADDRESSES: u128 = 256;

/// A set of values that grows.
#[derive(Clone, Debug, Default)]
struct Growing {
    range: Range,
    /// How often it has grown.
    times: u32,
}

/// The values of a program.
#[derive(Clone, Debug)]
pub(super) struct Values<'p> {
    program: &'p Program,
    registers: Vec<Vec<Growing>>,
    /// What addresses can hold that are known one by one.
    memory: BTreeMap<Value, Growing>,
    /// What is stored to addresses that are not known.
    anywhere: Growing,
}

impl<'p> Values<'p> {
    /// The least values found that are closed under all instructions of the threads that run.
    pub(super) fn of(program: &'p Program) -> Self {
        let initial = |value| Growing { range: Range::only(value), times: 0 };
        let registers = program
            .threads
            .iter()
            .map(|thread| thread.registers.iter().map(|register| initial(register.initial)).collect());
        let memory = program.initial_memory.iter().map(|(address, value)| (*address, initial(*value)));
        let mut values =
            Self { program, registers: registers.collect(), memory: memory.collect(), anywhere: Growing::default() };
        while values.grow() {}
        values
    }

    /// Executes every instruction once; whether a set has grown.
    fn grow(&mut self) -> bool {
        let mut grew = false;
        for (id, thread) in self.program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)) {
            for instruction in &thread.instructions {
                grew |= self.execute(id, &instruction.action);
            }
        }
        grew
    }

    fn execute(&mut self, thread: ThreadId, action: &Action) -> bool {
        match action {
            Action::Load { register, address } => {
                let loaded = self.loaded(&self.addresses_in(thread, address));
                self.write(thread, register.index(), &loaded)
            }
            Action::Store { address, value } => {
                let value = self.value(thread, value, Purpose::Data, &Range::default());
                self.store(&self.addresses_in(thread, address), &value)
            }
            Action::Assign { register, value } => {
                let value = self.value(thread, value, Purpose::Data, &Range::default());
                self.write(thread, register.index(), &value)
            }
            Action::Havoc { register } => {
                let all = self.program.domain.map(|domain| Range::all(Some(domain))).unwrap_or_default();
                self.write(thread, register.index(), &all)
            }
            Action::Cas { register, address, new, .. } => {
                let addresses = self.addresses_in(thread, address);
                let loaded = self.loaded(&addresses);
                let new = self.value(thread, new, Purpose::Data, &Range::default());
                register.is_some_and(|register| self.write(thread, register.index(), &loaded))
                    | self.store(&addresses, &new)
            }
            Action::Rmw { register, address, new } => {
                let addresses = self.addresses_in(thread, address);
                let loaded = self.loaded(&addresses);
                let new = self.value(thread, new, Purpose::Data, &loaded);
                register.is_some_and(|register| self.write(thread, register.index(), &loaded))
                    | self.store(&addresses, &new)
            }
            _ => false,
        }
    }

    /// What an expression of a thread can come to.
    fn value(&self, thread: ThreadId, expression: &Expression, purpose: Purpose, old: &Range) -> Range {
        let registers: Vec<Range> = self.registers[thread.index()].iter().map(|it| it.range.clone()).collect();
        Surroundings { registers: &registers, old, domain: self.program.domain }.of(expression, purpose)
    }

    /// The addresses that an expression of a thread can come to.
    pub(super) fn addresses_in(&self, thread: ThreadId, address: &Expression) -> Range {
        self.value(thread, address, Purpose::Address, &Range::default())
    }

    /// Whether a condition of a thread can be 0.
    pub(super) fn can_be_false(&self, thread: ThreadId, condition: &Expression) -> bool {
        self.value(thread, condition, Purpose::Condition, &Range::default()).contains(0)
    }

    fn write(&mut self, thread: ThreadId, register: usize, values: &Range) -> bool {
        let domain = self.program.domain;
        self.registers[thread.index()][register].add(values, || Range::all(domain))
    }

    fn initially(&self, address: Value) -> Growing {
        Growing { range: Range::only(self.program.initial_value(address)), times: 0 }
    }

    fn store(&mut self, addresses: &Range, values: &Range) -> bool {
        let domain = self.program.domain;
        if values.intervals().is_empty() || addresses.intervals().is_empty() {
            return false;
        }
        if addresses.count() > MOST_ADDRESSES {
            return self.anywhere.add(values, || Range::all(domain));
        }
        let mut grew = false;
        for address in addresses.values() {
            let initially = self.initially(address);
            grew |= self.memory.entry(address).or_insert(initially).add(values, || Range::all(domain));
        }
        grew
    }

    fn loaded(&self, addresses: &Range) -> Range {
        let mut found = self.anywhere.range.clone();
        if addresses.count() > MOST_ADDRESSES {
            let known = self.memory.values().flat_map(|it| it.range.intervals().iter().copied());
            let initial = self.program.initial_memory.values().map(|value| (i128::from(*value), i128::from(*value)));
            return found.union(&Range::of(known.chain(initial).chain([(0, 0)])));
        }
        for address in addresses.values() {
            match self.memory.get(&address) {
                Some(known) => found = found.union(&known.range),
                None => found = found.union(&self.initially(address).range),
            }
        }
        found
    }

    /// The values as evidence.
    pub(super) fn evidence(&self) -> ValueInvariant {
        let registers = self.registers.iter();
        let registers = registers.map(|registers| registers.iter().map(|it| intervals(&it.range)).collect());
        let mut memory = Vec::new();
        let mut next = i128::from(Value::MIN);
        for (address, known) in &self.memory {
            self.elsewhere(next, i128::from(*address) - 1, &mut memory);
            let values = intervals(&known.range.union(&self.anywhere.range));
            memory.push(AddressInterval { addresses: Interval { low: *address, high: *address }, values });
            next = i128::from(*address) + 1;
        }
        self.elsewhere(next, i128::from(Value::MAX), &mut memory);
        ValueInvariant { registers: registers.collect(), memory }
    }

    /// Adds what addresses can hold that are not known one by one; all of them hold 0 at first.
    fn elsewhere(&self, low: i128, high: i128, memory: &mut Vec<AddressInterval>) {
        if self.anywhere.range.intervals().is_empty() || low > high {
            return;
        }
        let addresses = intervals(&Range::of([(low, high)]))[0];
        let values = intervals(&self.anywhere.range.union(&Range::only(0)));
        memory.push(AddressInterval { addresses, values });
    }
}

impl Growing {
    /// Adds values; whether there are more now. A set that has grown often takes the ends of `all` where it grows further.
    fn add(&mut self, values: &Range, all: impl FnOnce() -> Range) -> bool {
        let mut more = self.range.union(values);
        if more == self.range {
            return false;
        }
        self.times += 1;
        if self.times > PATIENCE || more.intervals().len() > MOST_INTERVALS {
            let (least, greatest) = all().hull().expect("there are values");
            let (low, high) = more.hull().expect("it has grown");
            let before = self.range.hull().unwrap_or((low, high));
            let low = if low < before.0 && self.times > PATIENCE { least.min(low) } else { low };
            let high = if high > before.1 && self.times > PATIENCE { greatest.max(high) } else { high };
            more = Range::of([(low, high)]);
        }
        self.range = more;
        true
    }
}

fn intervals(range: &Range) -> Vec<Interval> {
    let end = |value: i128| Value::try_from(value).expect("values fit 64 bits");
    range.intervals().iter().map(|(low, high)| Interval { low: end(*low), high: end(*high) }).collect()
}
