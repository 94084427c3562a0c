//! Counters: registers and addresses whose values matter only relative to each other.
//!
//! A *class* of counters is a set of addresses and of registers at labels. *Turning* the class adds
//! one number to the values of all its members (modulo the size of a domain that wraps).
//! [`Counters::of`] finds classes for which turning commutes with every step of the program:
//! members are copied, moved by numbers, compared with each other, and masked where the mask does
//! not see the turn. Nothing else that the program does depends on them, least of all an address.
//!
//! Registers are members label by label, where they are live: a register may hold a counter here
//! and something else there. Dead registers hold 0 wherever states are compared, and are not
//! turned.
//!
//! An access to a *computed* address is assumed to be to the region that its expression has, such
//! as the slots of a ring (`blocks`), and to miss the addresses of all classes where it has none.
//! Whoever turns has to watch that it does ([`Counters::is_broken_by`]).

mod blocks;
mod classes;
mod flow;
mod form;
mod forms;
mod modulo;
mod outcomes;
mod partition;
mod shape;

pub(super) use blocks::Blocks;
pub use form::Form;
pub use modulo::modulo;
pub use outcomes::OutcomeCounters;

use super::{Domain, InstructionId, LabelId, Liveness, Program, RegisterId, ThreadId, Value, truncate};
use std::collections::BTreeMap;

/// A class of counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterClass {
    /// Its addresses, ascending; at least one.
    pub cells: Vec<Value>,
    /// The address whose value says by how much the others are turned: the first that holds its
    /// counter whole or, where none does, the first.
    pub reference: Value,
    /// What turns are multiples of: 1, or as far as the masks see.
    pub step: Value,
}

/// A register or an address that is in a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The number of the class.
    pub class: usize,
    /// How it holds the counter; the interval of a residue is known, and one of 64-bit values.
    pub form: Form,
}

/// An address that is in no class, with the instruction to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptOut {
    /// The address.
    pub address: Value,
    /// The thread of the instruction.
    pub thread: ThreadId,
    /// The instruction that does with a member what no turn commutes with.
    pub instruction: InstructionId,
}

/// The classes of counters of a program.
#[derive(Clone, Debug)]
pub struct Counters {
    classes: Vec<CounterClass>,
    /// Each address that is in a class.
    cells: BTreeMap<Value, Member>,
    /// Each access to addresses that are in a class.
    accesses: BTreeMap<(ThreadId, InstructionId), Member>,
    /// For each thread and label, the live registers that are members.
    registers: Vec<Vec<Vec<(RegisterId, Member)>>>,
    domain: Option<Domain>,
    kept_out: Vec<KeptOut>,
}

impl Counters {
    /// The classes of a program; none for a program of events or with a domain that does not wrap.
    pub fn of(program: &Program) -> Self {
        classes::classes(program, program.threads.iter().map(Liveness::of).collect())
    }

    /// No classes.
    fn none(program: &Program) -> Self {
        let registers = program.threads.iter().map(|thread| vec![Vec::new(); thread.labels.len()]).collect();
        Counters {
            classes: Vec::new(),
            cells: BTreeMap::new(),
            accesses: BTreeMap::new(),
            registers,
            domain: program.domain,
            kept_out: Vec::new(),
        }
    }

    /// Whether some instruction of a program cuts a value to some bits.
    pub fn cut_in(program: &Program) -> bool {
        forms::has_cuts(program)
    }

    /// Whether there is no class.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The classes.
    #[inline]
    pub fn classes(&self) -> &[CounterClass] {
        &self.classes
    }

    /// Whether no member is cut to some bits, so that turns never go around but where the domain
    /// does.
    pub fn are_whole(&self) -> bool {
        let is_whole = |member: &Member| member.form == Form::Whole;
        let mut registers = self.registers.iter().flatten().flatten();
        self.cells.values().all(is_whole) && registers.all(|(_, member)| is_whole(member))
    }

    /// The addresses that instructions keep out of classes, ascending.
    pub fn kept_out(&self) -> &[KeptOut] {
        &self.kept_out
    }

    /// The class of an address.
    #[inline]
    pub fn class_of_cell(&self, address: Value) -> Option<usize> {
        self.cells.get(&address).map(|member| member.class)
    }

    /// An address as a member of its class.
    #[inline]
    pub fn member_at(&self, address: Value) -> Option<Member> {
        self.cells.get(&address).copied()
    }

    /// The live registers at a label that are members.
    #[inline]
    pub fn registers_at(&self, thread: ThreadId, label: LabelId) -> &[(RegisterId, Member)] {
        // A thread that has stopped stands at no label of its own.
        self.registers[thread.index()].get(label.index()).map_or(&[], Vec::as_slice)
    }

    /// What an instruction accesses as a member of a class.
    #[inline]
    pub fn member_accessed(&self, thread: ThreadId, instruction: InstructionId) -> Option<Member> {
        self.accesses.get(&(thread, instruction)).copied()
    }

    /// Whether an access by an instruction to an address keeps what is assumed here from being
    /// true.
    #[inline]
    pub fn is_broken_by(&self, (thread, instruction): (ThreadId, InstructionId), address: Value) -> bool {
        self.member_accessed(thread, instruction) != self.member_at(address)
    }

    /// A value of a member's form after a turn.
    #[inline]
    pub fn turned(&self, member: Member, value: Value, by: Value) -> Value {
        if let Form::Residue { bits, low: Some(low) } = member.form {
            return Form::turned_residue(low, bits, value, by);
        }
        let sum = i128::from(value) + i128::from(by);
        match self.domain {
            Some(domain) => domain.wrapped(sum),
            None => Value::try_from(sum).expect("counters are admitted within few values of each other"),
        }
    }

    /// The turns after two turns, one after the other, as numbers that are equal when the turns
    /// are.
    #[inline]
    pub fn together(&self, first: Value, second: Value) -> Value {
        let sum = i128::from(first) + i128::from(second);
        match self.domain {
            Some(domain) => Value::try_from(sum.rem_euclid(size(domain))).expect("less than the size of a domain"),
            None => sum.clamp(i128::from(Value::MIN), i128::from(Value::MAX)).try_into().expect("clamped"),
        }
    }

    /// The turn of a class that takes a value of its reference at most `step - 1` above another
    /// one, as a number that is 0 only for no turn.
    #[inline]
    pub fn turn_to(&self, class: usize, value: Value, to: Value) -> Value {
        let step = i128::from(self.classes[class].step);
        let ahead = i128::from(value) - i128::from(to);
        let ahead = match (self.domain, self.cells[&self.classes[class].reference].form) {
            (Some(domain), _) => ahead.rem_euclid(size(domain)),
            // The shorter way around.
            (None, Form::Residue { bits, .. }) => truncate(ahead, bits, true),
            (None, Form::Whole) => ahead,
        };
        let back = ahead - ahead.rem_euclid(step);
        let turn = self.domain.map_or(-back, |domain| (-back).rem_euclid(size(domain)));
        Value::try_from(turn).expect("counters are admitted within few values of each other")
    }

    /// The turn that takes another one back.
    #[inline]
    pub fn back(&self, turn: Value) -> Value {
        self.domain.map_or(-turn, |domain| {
            Value::try_from((-i128::from(turn)).rem_euclid(size(domain))).expect("less than the size of a domain")
        })
    }
}

/// The number of values of a domain.
fn size(domain: Domain) -> i128 {
    i128::try_from(domain.size()).expect("a domain of 64-bit values")
}
