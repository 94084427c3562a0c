//! Values that registers and memory can have, in any order of steps: an invariant for every model
//! and any number of threads.
//!
//! Flow-insensitive: every instruction may be executed at any time, a load takes any value ever
//! stored to one of its addresses. Sets grow to a fixed point; one that keeps growing is widened to
//! the ends of the domain. An instruction is executed again when something that it reads has grown.

use super::range::{Purpose, Range, Surroundings};
use palisade_evidence::{AddressInterval, Interval, ValueInvariant};
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Action, Copies, Domain, Expression, Program, Thread, ThreadId, Value};
use std::collections::BTreeMap;

/// So often a set grows before it is widened.
const PATIENCE: u32 = 64;

/// A set with more intervals than this becomes one.
const MOST_INTERVALS: usize = 128;

/// Accesses to more addresses than this may be to all.
const MOST_ADDRESSES: u128 = 256;

/// How a set of values grows.
#[derive(Clone, Copy, Debug, Default)]
struct Growth {
    /// How often it has grown.
    times: u32,
    /// When it grew last.
    last: u32,
}

/// A set of values that grows.
#[derive(Clone, Debug, Default)]
struct Growing {
    range: Range,
    growth: Growth,
}

/// The values of a program.
#[derive(Clone, Debug)]
pub struct Values<'p> {
    program: &'p Program,
    registers: Vec<Vec<Range>>,
    /// How they have grown.
    register_growth: Vec<Vec<Growth>>,
    /// What addresses can hold that are known one by one.
    memory: BTreeMap<Value, Growing>,
    /// What is stored to addresses that are not known.
    anywhere: Growing,
    /// When memory grew last.
    memory_grew: u32,
    /// How many instructions have been executed.
    now: u32,
}

/// What an instruction reads.
struct Reads {
    registers: Vec<usize>,
    memory: Option<Reading>,
}

/// The memory that an instruction reads.
enum Reading {
    /// One address.
    At(Value),
    /// What registers say.
    Computed,
}

impl Reads {
    fn of(action: &Action) -> Self {
        let mut registers = Vec::new();
        for expression in action.expressions() {
            expression.for_each_register(&mut |register| registers.push(register.index()));
        }
        registers.sort_unstable();
        registers.dedup();
        let memory = match action {
            Action::Load { address, .. } | Action::Cas { address, .. } | Action::Rmw { address, .. } => {
                let constant = address.is_constant().then(|| address.evaluate_address(&[]).ok()).flatten();
                Some(constant.map_or(Reading::Computed, Reading::At))
            }
            _ => None,
        };
        Self { registers, memory }
    }
}

impl<'p> Values<'p> {
    /// The least values found that are closed under all instructions of the threads that run.
    pub fn of(program: &'p Program) -> Self {
        let registers: Vec<Vec<Range>> = program
            .threads
            .iter()
            .map(|thread| thread.registers.iter().map(|register| Range::only(register.initial)).collect())
            .collect();
        let initial = |value| Growing { range: Range::only(value), growth: Growth::default() };
        let memory = program.initial_memory.iter().map(|(address, value)| (*address, initial(*value)));
        let mut values = Self {
            program,
            register_growth: registers.iter().map(|registers| vec![Growth::default(); registers.len()]).collect(),
            registers,
            memory: memory.collect_map(),
            anywhere: Growing::default(),
            memory_grew: 0,
            now: 0,
        };
        values.grow();
        values
    }

    /// Executes instructions until no set grows.
    fn grow(&mut self) {
        let runs = |(_, thread): &(ThreadId, &Thread)| thread.copies != Copies::Exactly(0);
        let of_thread = |(id, thread): (ThreadId, &'p Thread)| {
            thread.instructions.iter().map(move |it| (id, &it.action, Reads::of(&it.action)))
        };
        let instructions: Vec<(ThreadId, &Action, Reads)> =
            self.program.thread_ids().filter(runs).flat_map(of_thread).collect();
        let mut executed: Vec<Option<u32>> = vec![None; instructions.len()];
        loop {
            let mut grew = false;
            for ((thread, action, reads), executed) in instructions.iter().zip(&mut executed) {
                if executed.is_none_or(|last| self.read_grew(*thread, reads, last)) {
                    self.now += 1;
                    *executed = Some(self.now);
                    grew |= self.execute(*thread, action);
                }
            }
            if !grew {
                return;
            }
        }
    }

    /// Whether something that an instruction reads has grown when it was executed last, or since.
    fn read_grew(&self, thread: ThreadId, reads: &Reads, executed: u32) -> bool {
        let growth = &self.register_growth[thread.index()];
        reads.registers.iter().any(|register| growth[*register].last >= executed)
            || match reads.memory {
                None => false,
                Some(Reading::Computed) => self.memory_grew >= executed,
                Some(Reading::At(address)) => {
                    let own = self.memory.get(&address).map_or(0, |known| known.growth.last);
                    own.max(self.anywhere.growth.last) >= executed
                }
            }
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
        let registers = &self.registers[thread.index()];
        Surroundings { registers, old, domain: self.program.domain }.of(expression, purpose)
    }

    /// The addresses that an expression of a thread can come to.
    pub(super) fn addresses_in(&self, thread: ThreadId, address: &Expression) -> Range {
        self.value(thread, address, Purpose::Address, &Range::default())
    }

    /// Whether a condition of a thread can be 0.
    pub fn can_be_false(&self, thread: ThreadId, condition: &Expression) -> bool {
        self.value(thread, condition, Purpose::Condition, &Range::default()).contains(0)
    }

    fn write(&mut self, thread: ThreadId, register: usize, values: &Range) -> bool {
        let growth = &mut self.register_growth[thread.index()][register];
        add(&mut self.registers[thread.index()][register], growth, values, self.program.domain, self.now)
    }

    fn initially(&self, address: Value) -> Growing {
        Growing { range: Range::only(self.program.initial_value(address)), growth: Growth::default() }
    }

    fn store(&mut self, addresses: &Range, values: &Range) -> bool {
        let domain = self.program.domain;
        if values.intervals().is_empty() || addresses.intervals().is_empty() {
            return false;
        }
        let mut grew = false;
        if addresses.count() > MOST_ADDRESSES {
            grew = add(&mut self.anywhere.range, &mut self.anywhere.growth, values, domain, self.now);
        } else {
            for address in addresses.values() {
                let initially = self.initially(address);
                let known = self.memory.entry(address).or_insert(initially);
                grew |= add(&mut known.range, &mut known.growth, values, domain, self.now);
            }
        }
        if grew {
            self.memory_grew = self.now;
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
    pub fn evidence(&self) -> ValueInvariant {
        let registers = self.registers.iter();
        let registers = registers.map(|registers| registers.iter().map(intervals).collect());
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

/// Adds values to a set; whether there are more now. A set that has grown often takes the ends of
/// the domain where it grows further.
fn add(range: &mut Range, growth: &mut Growth, values: &Range, domain: Option<Domain>, now: u32) -> bool {
    if range.includes(values) {
        return false;
    }
    let mut more = range.union(values);
    *growth = Growth { times: growth.times + 1, last: now };
    if growth.times > PATIENCE || more.intervals().len() > MOST_INTERVALS {
        let (least, greatest) = Range::all(domain).hull().expect("there are values");
        let (low, high) = more.hull().expect("it has grown");
        let before = range.hull().unwrap_or((low, high));
        let low = if low < before.0 && growth.times > PATIENCE { least.min(low) } else { low };
        let high = if high > before.1 && growth.times > PATIENCE { greatest.max(high) } else { high };
        more = Range::of([(low, high)]);
    }
    *range = more;
    true
}

fn intervals(range: &Range) -> Vec<Interval> {
    let end = |value: i128| Value::try_from(value).expect("values fit 64 bits");
    range.intervals().iter().map(|(low, high)| Interval { low: end(*low), high: end(*high) }).collect()
}
