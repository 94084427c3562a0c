//! Random small programs for tests: generated from a seed, and shrunk when one fails.
//!
//! The programs are loop-free unless the shape asks for loops, and no step of them computes a value
//! that does not exist. The same seed and shape give the same program on every machine.

mod counters;
mod cycle;
mod events;
mod join;
mod orderings;
mod waits;

pub use self::counters::{CounterShape, program_with_counters};
pub use self::events::{EventShape, event_chain, event_families, event_program, event_program_of, three_parties};
pub use self::orderings::{LanguageShape, language_program};
pub use self::waits::{WaitShape, waiting_program};

use self::events::{without_guards, without_template};
use self::join::{Meeting, join};
use palisade_model::program::{
    Action, AddressId, AddressName, BinaryOperator, Copies, Domain, DomainOrigin, Expression, Instruction,
    InstructionId, Label, LabelId, Posts, Program, Register, RegisterId, Role, SourceText, Span, Thread, Value,
};
use std::collections::BTreeMap;

/// What the random programs look like.
#[derive(Clone, Debug)]
pub struct Shape {
    /// At most so many thread copies, at least one thread.
    pub copies: usize,
    /// At most so many labels with instructions in a thread, at least one.
    pub labels: usize,
    /// At most so many labels with instructions in all copies together.
    pub total_labels: usize,
    /// The number of named addresses.
    pub addresses: usize,
    /// How often, in percent, a label branches.
    pub branches: u64,
    /// How often, in percent, an instruction is a fence.
    pub fences: u64,
    /// How often, in percent, an instruction is a locked read-modify-write.
    pub rmws: u64,
    /// How often, in percent, a thread has a locked section.
    pub sections: u64,
    /// How often, in percent, the action after a store is a load from elsewhere: where TSO differs
    /// from SC.
    pub overtaken: u64,
    /// How often, in percent, an address depends on a register.
    pub indirect: u64,
    /// How often, in percent, a program declares a domain, and may choose values with `r <- *`.
    pub domains: u64,
    /// How often, in percent, an instruction of a program with a domain is `r <- *`, besides those
    /// there are anyway.
    pub choices: u64,
    /// How often, in percent, a label may lead back. Without a domain values can then grow without
    /// end.
    pub loops: u64,
    /// How often, in percent, a thread has any number of copies.
    pub any: u64,
    /// How often, in percent, an instruction is an `sfence`.
    pub store_fences: u64,
    /// How often, in percent, an action in the first part of a thread is a store and one in the
    /// rest a load, wherever that begins: so that SC, TSO and PSO differ.
    pub stores_first: u64,
    /// How often, in percent, a label has an `ensure` or, seldom, `fail` in place of its action.
    pub properties: u64,
    /// How often, in percent, a program has a property of all threads together: at its end each
    /// copy asserts values of its registers and counts itself, and the last one to come violates an
    /// `ensure`.
    pub joined: u64,
    /// How often, in percent, a program is built around a critical cycle, as the classic litmus
    /// tests are, with a property that no interleaving violates: half of these distinguish SC, TSO
    /// and PSO.
    pub cycles: u64,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            copies: 3,
            labels: 5,
            total_labels: 10,
            addresses: 2,
            branches: 15,
            fences: 6,
            rmws: 10,
            sections: 15,
            overtaken: 50,
            indirect: 10,
            domains: 15,
            choices: 0,
            loops: 0,
            any: 0,
            store_fences: 0,
            stores_first: 0,
            properties: 0,
            joined: 0,
            cycles: 0,
        }
    }
}

/// A source of pseudo-random numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Randomness {
    state: u64,
}

impl Randomness {
    /// The sequence that belongs to a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("a bound fits 64 bits");
        usize::try_from(self.number() % bound).expect("smaller than the bound")
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.number() % 100 < percent
    }
}

const REGISTERS: usize = 2;
const NAMES: [&str; 4] = ["x", "y", "z", "w"];

/// The program that belongs to a seed.
pub fn program(seed: u64, shape: &Shape) -> Program {
    let mut random = Randomness::new(seed);
    if shape.cycles > 0 && random.percent(shape.cycles) {
        return cycle::program(format!("random{seed}"), &mut random, shape);
    }
    let domain = random.percent(shape.domains).then(|| {
        let high = [1, 3][random.below(2)];
        Domain { low: 0, high, wrap: true, origin: DomainOrigin::File }
    });
    let named = shape.addresses.clamp(1, NAMES.len());
    let mut program = without_threads(format!("random{seed}"), domain, named);
    if random.percent(10) {
        program.initial_memory = BTreeMap::from([(1, 1)]);
    }
    let copies = if random.percent(3) { 1 } else { shape.copies.min(2 + random.below(shape.copies.max(2) - 1)).max(1) };
    let mut left = copies;
    let mut labels_left = shape.total_labels.max(copies);
    while left > 0 {
        let count = if left > 1 && random.percent(20) { 2 } else { 1 };
        // Every later copy can have one label at least.
        let most = ((labels_left - (left - count)) / count).min(shape.labels).max(1);
        let length = 1 + random.below(most).max(random.below(most));
        let name = format!("t{}", program.threads.len() + 1);
        let mut thread =
            Generator { random: &mut random, shape, addresses: named, domain, stored: None }.thread(name, length);
        thread.copies = Copies::Exactly(u64::try_from(count).expect("one or two"));
        // Shapes that ask for nothing of a kind draw no numbers for it: their programs stay what
        // they were.
        if shape.any > 0 && random.percent(shape.any) {
            thread.copies = Copies::Any;
        }
        program.threads.push(thread);
        left -= count;
        labels_left = labels_left.saturating_sub(count * length).max(left);
    }
    if shape.joined > 0 && random.percent(shape.joined) {
        let meeting = Meeting::random(&program, &mut random);
        join(&mut program, &meeting);
    }
    program
}

/// A program with named addresses and no thread.
fn without_threads(name: String, domain: Option<Domain>, addresses: usize) -> Program {
    let addresses = (0..addresses.clamp(1, NAMES.len())).map(|index| AddressName {
        name: NAMES[index].to_owned(),
        address: Value::try_from(index + 1).expect("few addresses"),
        length: 1,
        span: Span::default(),
    });
    Program {
        name,
        domain,
        addresses: addresses.collect(),
        initial_memory: BTreeMap::new(),
        threads: Vec::new(),
        never: Vec::new(),
        finally: Vec::new(),
        accepted: Vec::new(),
        posts: Posts::default(),
        source: SourceText::new("", ""),
    }
}

/// A thread with these instructions, which go to the labels 0 to the highest target.
fn thread_of(name: String, instructions: Vec<Instruction>) -> Thread {
    let last = instructions.iter().map(|instruction| instruction.target.index()).max().unwrap_or(0);
    let register = |index: usize| Register {
        name: format!("r{}", index + 1),
        initial: 0,
        is_initialised: false,
        span: Span::default(),
    };
    Thread {
        name,
        span: Span::default(),
        role: Role::Thread,
        copies: Copies::Exactly(1),
        is_daemon: false,
        registers: (0..REGISTERS).map(register).collect(),
        labels: (0..=last).map(|index| Label::new(format!("l{index}"), Span::default())).collect(),
        initial: LabelId::from_index(0),
        instructions,
    }
}

struct Generator<'r> {
    random: &'r mut Randomness,
    shape: &'r Shape,
    addresses: usize,
    domain: Option<Domain>,
    /// The address that the last action stored to, if it was a store.
    stored: Option<usize>,
}

impl Generator<'_> {
    fn thread(&mut self, name: String, length: usize) -> Thread {
        let section = (length >= 3 && self.random.percent(self.shape.sections)).then(|| {
            let open = self.random.below(length - 2);
            (open, open + 2 + self.random.below(length - open - 2))
        });
        // Where the loads begin.
        let loads = if self.shape.stores_first > 0 { self.random.below(length + 1) } else { 0 };
        let mut instructions = Vec::new();
        for label in 0..length {
            let action = match section {
                Some((open, _)) if label == open => Action::Lock,
                Some((_, close)) if label == close => Action::Unlock,
                _ if self.shape.properties > 0 && self.random.percent(self.shape.properties) => self.property(),
                _ if self.shape.stores_first > 0 && self.random.percent(self.shape.stores_first) => {
                    self.early_or_late(label < loads)
                }
                _ => self.action(),
            };
            // A stray `unlock` or `lock` now and then: neither may do any harm.
            let action = if self.random.percent(1) {
                [Action::Lock, Action::Unlock][self.random.below(2)].clone()
            } else {
                action
            };
            if self.shape.loops > 0 && self.random.percent(self.shape.loops) {
                self.lead_back(label, &action, &mut instructions);
                continue;
            }
            let branches = label + 1 < length && self.random.percent(self.shape.branches);
            if branches {
                let target = label + 1 + self.random.below(length - label);
                self.branch(label, target, action, &mut instructions);
            } else {
                instructions.push(instruction(label, label + 1, action));
            }
        }
        thread_of(name, instructions)
    }

    /// A choice at a label: on a register's value, between two actions, or between an action and
    /// none.
    fn branch(&mut self, label: usize, target: usize, action: Action, instructions: &mut Vec<Instruction>) {
        match self.random.below(4) {
            0 => {
                instructions.push(instruction(label, label + 1, action));
                instructions.push(instruction(label, target, Action::Nop));
            }
            1 => {
                instructions.push(instruction(label, label + 1, action));
                let other = self.action();
                instructions.push(instruction(label, target, other));
            }
            _ => {
                let value = self.constant();
                let register = self.register();
                let compare = |operator| {
                    let left = Expression::Register(register);
                    Action::Assume(Expression::binary(operator, left, value.clone()))
                };
                instructions.push(instruction(label, label + 1, compare(BinaryOperator::Equal)));
                // Without the second half the thread blocks where the values differ.
                if self.random.percent(80) {
                    instructions.push(instruction(label, target, compare(BinaryOperator::NotEqual)));
                }
            }
        }
    }

    /// A label that may lead back, to itself or an earlier one: on a register's value, after its
    /// action, or at will.
    fn lead_back(&mut self, label: usize, action: &Action, instructions: &mut Vec<Instruction>) {
        let back = self.random.below(label + 1);
        match self.random.below(3) {
            0 => {
                let (register, value) = (self.register(), self.constant());
                for (operator, target) in [(BinaryOperator::Equal, back), (BinaryOperator::NotEqual, label + 1)] {
                    let compared = Expression::binary(operator, Expression::Register(register), value.clone());
                    instructions.push(instruction(label, target, Action::Assume(compared)));
                }
            }
            1 => {
                instructions.push(instruction(label, label + 1, action.clone()));
                instructions.push(instruction(label, back, action.clone()));
            }
            _ => {
                instructions.push(instruction(label, label + 1, action.clone()));
                instructions.push(instruction(label, back, Action::Nop));
            }
        }
    }

    fn action(&mut self) -> Action {
        if self.shape.choices > 0 && self.domain.is_some() && self.random.percent(self.shape.choices) {
            return Action::Havoc { register: self.register() };
        }
        if self.shape.store_fences > 0 && self.random.percent(self.shape.store_fences) {
            return Action::StoreFence;
        }
        let (fences, rmws) = (self.shape.fences, self.shape.rmws);
        let kind = self.random.number() % 100;
        let stored = self.stored.take();
        if kind < fences {
            return Action::Fence;
        }
        if kind < fences + rmws {
            return self.rmw();
        }
        if let Some(stored) = stored
            && self.random.percent(self.shape.overtaken)
        {
            let index = (stored + 1) % self.addresses;
            return Action::Load { register: self.register(), address: Self::named(index) };
        }
        match self.random.below(20) {
            0..9 => {
                let index = self.random.below(self.addresses);
                self.stored = Some(index);
                Action::Store { address: self.offset(index), value: self.value() }
            }
            9..18 => Action::Load { register: self.register(), address: self.address() },
            18 if self.domain.is_some() => Action::Havoc { register: self.register() },
            18 => Action::Nop,
            _ => Action::Assign { register: self.register(), value: self.value() },
        }
    }

    /// A store where a thread begins, a load where it ends.
    fn early_or_late(&mut self, early: bool) -> Action {
        if early {
            let index = self.random.below(self.addresses);
            self.stored = Some(index);
            return Action::Store { address: self.offset(index), value: self.value() };
        }
        Action::Load { register: self.register(), address: self.address() }
    }

    fn property(&mut self) -> Action {
        if self.random.percent(10) {
            return Action::Fail;
        }
        let operator = [BinaryOperator::Equal, BinaryOperator::NotEqual][self.random.below(2)];
        let register = Expression::Register(self.register());
        let compared = if self.random.percent(30) { Expression::Register(self.register()) } else { self.constant() };
        Action::Ensure(Expression::binary(operator, register, compared))
    }

    fn rmw(&mut self) -> Action {
        let register = self.random.percent(60).then(|| self.register());
        let address = self.address();
        let old = || Expression::Old;
        match self.random.below(4) {
            0 | 1 => Action::Cas { register, address, expected: self.constant(), new: self.value() },
            2 => Action::Rmw { register, address, new: self.value() },
            _ => {
                let operator =
                    [BinaryOperator::Add, BinaryOperator::BitOr, BinaryOperator::BitXor][self.random.below(3)];
                let operand = self.value();
                Action::Rmw { register, address, new: Expression::binary(operator, old(), operand) }
            }
        }
    }

    fn register(&mut self) -> RegisterId {
        RegisterId::from_index(self.random.below(REGISTERS))
    }

    fn address(&mut self) -> Expression {
        let index = self.random.below(self.addresses);
        self.offset(index)
    }

    fn named(index: usize) -> Expression {
        let value = Value::try_from(index + 1).expect("few addresses");
        Expression::Address { id: AddressId::from_index(index), value }
    }

    /// A named address, or one that lies a register's value behind it.
    fn offset(&mut self, index: usize) -> Expression {
        if self.random.percent(self.shape.indirect) {
            let register = Expression::Register(self.register());
            return Expression::binary(BinaryOperator::Add, Self::named(index), register);
        }
        Self::named(index)
    }

    fn constant(&mut self) -> Expression {
        let high = if self.domain.is_some_and(|domain| domain.high < 2) { 2 } else { 3 };
        Expression::Constant([0, 1, 2][self.random.below(high)])
    }

    fn value(&mut self) -> Expression {
        match self.random.below(10) {
            0 => Expression::Register(self.register()),
            1 => {
                let register = Expression::Register(self.register());
                Expression::binary(BinaryOperator::Add, register, Expression::Constant(1))
            }
            2 => Expression::Constant(0),
            3..8 => Expression::Constant(1),
            _ => self.constant(),
        }
    }
}

fn instruction(source: usize, target: usize, action: Action) -> Instruction {
    Instruction::new(LabelId::from_index(source), LabelId::from_index(target), action, Span::default())
}

/// A smaller program that still fails: takes away threads, copies and instructions while `fails`
/// holds.
pub fn shrink(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut smallest = program.clone();
    while let Some(smaller) = reductions(&smallest).into_iter().find(|candidate| fails(candidate)) {
        smallest = smaller;
    }
    smallest
}

/// All programs with one thread, one copy or one instruction less, the largest cuts first.
fn reductions(program: &Program) -> Vec<Program> {
    let mut smaller = Vec::new();
    for index in 0..program.threads.len() {
        if program.threads.len() > 1 {
            smaller.push(without_template(program, index));
        }
        let fewer = match program.threads[index].copies {
            Copies::Exactly(count @ 2..) => Some(count - 1),
            Copies::Exactly(_) => None,
            Copies::Any => Some(1),
        };
        if let Some(fewer) = fewer {
            let mut candidate = program.clone();
            candidate.threads[index].copies = Copies::Exactly(fewer);
            smaller.push(candidate);
        }
    }
    for (id, thread) in program.thread_ids() {
        for (instruction, _) in thread.instruction_ids() {
            smaller.extend(without(thread, instruction).into_iter().map(|thread| {
                let mut candidate = program.clone();
                candidate.threads[id.index()] = thread;
                candidate
            }));
        }
    }
    smaller.extend(without_guards(program));
    if program.domain.is_some() {
        smaller.push(Program { domain: None, ..program.clone() });
    }
    if !program.initial_memory.is_empty() {
        smaller.push(Program { initial_memory: BTreeMap::new(), ..program.clone() });
    }
    smaller
}

/// The thread without an instruction: with its label skipped, and with the label's other
/// instructions only.
fn without(thread: &Thread, id: InstructionId) -> Vec<Thread> {
    let removed = thread.instruction(id).clone();
    let mut cut = thread.clone();
    cut.instructions.remove(id.index());
    if cut.instructions.iter().any(|instruction| instruction.source == removed.source) {
        return vec![cut];
    }
    let mut skipped = cut.clone();
    for instruction in &mut skipped.instructions {
        if instruction.target == removed.source {
            instruction.target = removed.target;
        }
    }
    if skipped.initial == removed.source {
        skipped.initial = removed.target;
    }
    vec![skipped, cut]
}
