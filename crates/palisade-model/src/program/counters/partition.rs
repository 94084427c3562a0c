//! The partition of registers and addresses into classes under construction.

use super::blocks::Blocks;
use super::forms::{Numbering, guess};
use super::{CounterClass, Counters, Form, KeptOut, Member, size};
use crate::program::{Domain, InstructionId, LabelId, Liveness, Program, RegisterId, ThreadId, Value};
use std::collections::BTreeMap;

/// A register at a label, or a block of addresses.
pub(super) type Variable = usize;

/// The instruction that strikes a class out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blame {
    pub(super) thread: ThreadId,
    pub(super) instruction: InstructionId,
}

/// The partition of the variables under construction.
pub(super) struct Partition<'p> {
    pub(super) program: &'p Program,
    pub(super) liveness: Vec<Liveness>,
    /// The number of the first variable of each thread.
    first: Vec<usize>,
    /// The variable of each address of a block.
    cells: BTreeMap<Value, Variable>,
    /// The variable that each instruction accesses.
    accessed: BTreeMap<(ThreadId, InstructionId), Variable>,
    /// How each variable holds a counter, if it does.
    forms: Vec<Form>,
    /// Union–find.
    parent: Vec<Variable>,
    /// At roots: who struck the class out.
    blame: Vec<Option<Blame>>,
    /// At roots: what turns have to be multiples of.
    step: Vec<i128>,
    /// At roots: who made turns multiples of what they are.
    seen_by: Vec<Option<Blame>>,
    /// At roots: whether a number is added to a member.
    moves: Vec<bool>,
    /// Whether anything has changed since this was last set to false.
    pub(super) has_changed: bool,
}

/// Values and numbers beyond this are not counted with.
const LARGEST: Value = 1 << 32;

/// Steps beyond this see so much of a counter that turning gains nothing.
const LARGEST_STEP: i128 = 1 << 16;

impl<'p> Partition<'p> {
    /// Every variable in a class of its own.
    pub(super) fn new(program: &'p Program, liveness: Vec<Liveness>) -> Self {
        let mut count = 0;
        let mut first = Vec::with_capacity(program.threads.len());
        for thread in &program.threads {
            first.push(count);
            count += thread.labels.len() * thread.registers.len();
        }
        let blocks = Blocks::of(program);
        let variable = |block: usize| count + block;
        let cells: BTreeMap<Value, Variable> =
            blocks.of.into_iter().map(|(address, block)| (address, variable(block))).collect();
        let accessed: BTreeMap<_, _> = blocks.accessed.into_iter().map(|(at, block)| (at, variable(block))).collect();
        let count = count + blocks.count;
        let forms = guess(Numbering { program, liveness: &liveness, first: &first, accessed: &accessed }, count);
        Self {
            program,
            liveness,
            first,
            cells,
            accessed,
            forms,
            parent: (0..count).collect(),
            blame: vec![None; count],
            step: vec![1; count],
            seen_by: vec![None; count],
            moves: vec![false; count],
            has_changed: false,
        }
    }

    /// A register at a label.
    pub(super) fn register(&self, thread: ThreadId, label: LabelId, register: RegisterId) -> Variable {
        let registers = self.program.thread(thread).registers.len();
        self.first[thread.index()] + label.index() * registers + register.index()
    }

    /// What an instruction accesses, where that is known.
    pub(super) fn accessed(&self, at: Blame) -> Option<Variable> {
        self.accessed.get(&(at.thread, at.instruction)).copied()
    }

    /// Whether the variable's class is not struck out.
    pub(super) fn is_member(&self, variable: Variable) -> bool {
        self.blame[self.root(variable)].is_none()
    }

    /// The domain, which wraps.
    pub(super) fn domain(&self) -> Option<Domain> {
        self.program.domain
    }

    /// How a variable holds a counter, if it does.
    pub(super) fn form(&self, variable: Variable) -> Form {
        self.forms[variable]
    }

    fn root(&self, mut variable: Variable) -> Variable {
        while self.parent[variable] != variable {
            variable = self.parent[variable];
        }
        variable
    }

    /// Two variables have to be turned together.
    pub(super) fn unite(&mut self, a: Variable, b: Variable) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        self.has_changed = true;
        let (root, child) = (a.min(b), a.max(b));
        self.parent[child] = root;
        self.blame[root] = self.blame[root].or(self.blame[child]);
        self.moves[root] |= self.moves[child];
        let (step, blame) = (self.step[child], self.seen_by[child]);
        self.see(root, step, blame);
    }

    /// A variable cannot be turned.
    pub(super) fn strike_out(&mut self, variable: Variable, blame: Blame) {
        let root = self.root(variable);
        if self.blame[root].is_none() {
            self.blame[root] = Some(blame);
            self.has_changed = true;
        }
    }

    /// A number is added to a variable.
    pub(super) fn move_by_number(&mut self, variable: Variable) {
        let root = self.root(variable);
        self.has_changed |= !std::mem::replace(&mut self.moves[root], true);
    }

    /// An instruction sees a variable modulo a number.
    pub(super) fn see(&mut self, variable: Variable, modulus: i128, blame: Option<Blame>) {
        let root = self.root(variable);
        let step = self.step[root] / gcd(self.step[root], modulus) * modulus;
        if step != self.step[root] {
            // Beyond the largest step it no longer matters by how much.
            self.has_changed |= self.step[root] <= LARGEST_STEP;
            self.step[root] = step.min(LARGEST_STEP + 1);
            self.seen_by[root] = blame;
        }
    }

    /// Whether turns by multiples of a class's step are whole ones.
    fn can_turn(&self, root: Variable) -> bool {
        let step = self.step[root];
        let fits = self.program.domain.map(size).is_none_or(|size| size % step == 0);
        self.blame[root].is_none() && self.moves[root] && step <= LARGEST_STEP && fits
    }

    /// Whether turns by multiples of a class's step take the values of each of its addresses
    /// around, and not only to where they are.
    fn turns_addresses(&self, root: Variable) -> bool {
        let step = self.step[root];
        let mut own = self.cells.values().filter(|cell| self.root(**cell) == root);
        own.all(|cell| match self.forms[*cell] {
            Form::Residue { bits, .. } => (1 << bits) % step == 0 && step < 1 << bits,
            Form::Whole => self.program.domain.map(size).is_none_or(|size| step < size),
        })
    }

    /// Whether turns come to an end where the program does: in integers, turns that follow an
    /// address around would take registers that hold whole counters ever further away.
    fn is_anchored(&self, root: Variable) -> bool {
        let is_whole = |variable: Variable| self.root(variable) == root && self.forms[variable] == Form::Whole;
        let is_held_whole = |(id, thread): (ThreadId, &crate::program::Thread)| {
            (0..thread.labels.len()).map(LabelId::from_index).any(|label| {
                self.liveness[id.index()].at(label).any(|register| is_whole(self.register(id, label, register)))
            })
        };
        self.program.domain.is_some()
            || self.cells.values().any(|cell| is_whole(*cell))
            || !self.program.thread_ids().any(is_held_whole)
    }

    /// Whether values that members have at first are values that turns are defined on.
    fn starts_well(&self, root: Variable) -> bool {
        let is_fine = |variable: Variable, value: Value| {
            let is_countable = match self.program.domain {
                Some(domain) => domain.contains(value),
                None => value.abs() <= LARGEST,
            };
            self.root(variable) != root || is_countable && self.forms[variable].has(value)
        };
        let cells =
            self.cells.iter().all(|(address, variable)| is_fine(*variable, self.program.initial_value(*address)));
        let registers = |(id, thread): (ThreadId, &crate::program::Thread)| {
            thread.registers.iter().enumerate().all(|(index, register)| {
                is_fine(self.register(id, thread.initial, RegisterId::from_index(index)), register.initial)
            })
        };
        cells && self.program.thread_ids().all(registers)
    }

    pub(super) fn into_counters(self) -> Counters {
        let mut counters = Counters::none(self.program);
        let mut numbers: BTreeMap<Variable, usize> = BTreeMap::new();
        for (address, variable) in &self.cells {
            let root = self.root(*variable);
            let turns = self.can_turn(root) && self.turns_addresses(root);
            // All of a value that is cut is seen.
            let is_seen = !turns && matches!(self.forms[*variable], Form::Residue { .. });
            let seen_by = self.seen_by[root].filter(|_| is_seen);
            if let Some(Blame { thread, instruction }) = self.blame[root].or(seen_by) {
                counters.kept_out.push(KeptOut { address: *address, thread, instruction });
            }
            if !turns || !self.starts_well(root) || !self.is_anchored(root) {
                continue;
            }
            let number = *numbers.entry(root).or_insert_with(|| {
                let step = Value::try_from(self.step[root]).expect("steps are small");
                counters.classes.push(CounterClass { cells: Vec::new(), reference: *address, step });
                counters.classes.len() - 1
            });
            let class = &mut counters.classes[number];
            let has_reference = counters.cells.get(&class.reference).is_some_and(|own| own.form == Form::Whole);
            if self.forms[*variable] == Form::Whole && !has_reference {
                class.reference = *address;
            }
            class.cells.push(*address);
            counters.cells.insert(*address, Member { class: number, form: self.forms[*variable] });
        }
        for (id, thread) in self.program.thread_ids() {
            for label in (0..thread.labels.len()).map(LabelId::from_index) {
                let members = self.liveness[id.index()].at(label).filter_map(|register| {
                    let variable = self.register(id, label, register);
                    let class = *numbers.get(&self.root(variable))?;
                    Some((register, Member { class, form: self.forms[variable] }))
                });
                counters.registers[id.index()][label.index()] = members.collect();
            }
        }
        for (at, variable) in &self.accessed {
            if let Some(class) = numbers.get(&self.root(*variable)) {
                counters.accesses.insert(*at, Member { class: *class, form: self.forms[*variable] });
            }
        }
        counters
    }
}

/// Whether a number may be added to counters.
pub(super) fn is_countable(number: i128) -> bool {
    number.abs() <= i128::from(LARGEST)
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
