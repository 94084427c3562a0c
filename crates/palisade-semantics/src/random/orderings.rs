//! Random programs in the words of C and Rust: all orderings, fences, updates, awaits and plain
//! data.

use super::{REGISTERS, Randomness, instruction, thread_of, without_threads};
use palisade_model::program::{
    Action, AddressId, BinaryOperator, Copies, Expression, Instruction, LabelId, Operation, Ordering, Program,
    RegisterId, Thread, Value,
};

/// What they look like.
#[derive(Clone, Debug)]
pub struct LanguageShape {
    /// The number of threads, at least two.
    pub threads: usize,
    /// At most so many labels with instructions in a thread.
    pub labels: usize,
    /// At most so many of them in all threads together.
    pub total_labels: usize,
    /// The number of addresses, at most four.
    pub addresses: usize,
    /// How often, in percent, an instruction is a fence.
    pub fences: u64,
    /// How often, in percent, a fence is sequentially consistent.
    pub strong_fences: u64,
    /// How often, in percent, an access is an update.
    pub updates: u64,
    /// How often, in percent, an access waits.
    pub awaits: u64,
    /// How often, in percent, an access is sequentially consistent.
    pub seq_cst: u64,
    /// How often, in percent, an access that is not has the strongest of the other orderings.
    pub synchronised: u64,
    /// How often, in percent, an access of the first address is plain.
    pub plain: u64,
    /// How often, in percent, a label branches.
    pub branches: u64,
    /// How often, in percent, a thread has any number of copies.
    pub any: u64,
    /// How often, in percent, a thread has the code of the one before it.
    pub twins: u64,
}

impl Default for LanguageShape {
    fn default() -> Self {
        Self {
            threads: 3,
            labels: 4,
            total_labels: 9,
            addresses: 2,
            fences: 12,
            strong_fences: 50,
            updates: 20,
            awaits: 8,
            seq_cst: 0,
            synchronised: 50,
            plain: 0,
            branches: 10,
            any: 0,
            twins: 10,
        }
    }
}

/// The program that belongs to a seed.
pub fn language_program(seed: u64, shape: &LanguageShape) -> Program {
    let mut random = Randomness::new(seed);
    let mut program = without_threads(format!("language{seed}"), None, shape.addresses);
    let threads = 2 + random.below(shape.threads.max(2) - 1);
    let mut left = shape.total_labels.max(threads);
    for number in 0..threads {
        let most = (left - (threads - number - 1)).min(shape.labels).max(1);
        let length = 1 + random.below(most).max(random.below(most));
        left -= length;
        let name = format!("t{}", number + 1);
        let twin = program.threads.last().filter(|_| random.percent(shape.twins)).cloned();
        let mut thread = match twin {
            Some(twin) => Thread { name, ..twin },
            None => Generator { random: &mut random, shape }.thread(name, length),
        };
        if shape.any > 0 && random.percent(shape.any) {
            thread.copies = Copies::Any;
        }
        program.threads.push(thread);
    }
    program
}

struct Generator<'r> {
    random: &'r mut Randomness,
    shape: &'r LanguageShape,
}

impl Generator<'_> {
    fn thread(&mut self, name: String, length: usize) -> Thread {
        let mut instructions = Vec::new();
        for label in 0..length {
            let last = LabelId::from_index(length);
            if label + 1 < length && self.random.percent(self.shape.branches) {
                let target = label + 1 + self.random.below(length - label);
                let (register, value) = (self.register(), self.constant());
                for (operator, target) in [(BinaryOperator::Equal, label + 1), (BinaryOperator::NotEqual, target)] {
                    let compared = Expression::binary(operator, Expression::Register(register), value.clone());
                    instructions.push(instruction(label, target, Action::Assume(compared)));
                }
                continue;
            }
            let operation = self.operation(LabelId::from_index(label + 1), last);
            let mut own: Instruction = instruction(label, label + 1, Action::Nop);
            own.set_operation(operation);
            instructions.push(own);
        }
        thread_of(name, instructions)
    }

    fn operation(&mut self, next: LabelId, last: LabelId) -> Operation {
        if self.random.percent(self.shape.fences) {
            let ordering = match self.random.percent(self.shape.strong_fences) {
                true => Ordering::SeqCst,
                false => [Ordering::Acquire, Ordering::Release, Ordering::AcqRel][self.random.below(3)],
            };
            return Operation::Fence { ordering };
        }
        let index = self.random.below(self.shape.addresses);
        let address =
            Expression::Address { id: AddressId::from_index(index), value: Value::try_from(index + 1).expect("few") };
        let is_plain = index == 0 && self.random.percent(self.shape.plain);
        let waits = !is_plain && self.random.percent(self.shape.awaits);
        if !is_plain && self.random.percent(self.shape.updates) {
            return self.update(address, waits, next, last);
        }
        if self.random.percent(50) {
            let ordering =
                if is_plain { Ordering::Plain } else { self.ordering(&[Ordering::Relaxed, Ordering::Acquire]) };
            let until = waits.then(|| self.awaited());
            return Operation::Load { register: self.register(), address, ordering, until };
        }
        let ordering = if is_plain { Ordering::Plain } else { self.ordering(&[Ordering::Relaxed, Ordering::Release]) };
        Operation::Store { address, value: self.value(), ordering }
    }

    fn update(&mut self, address: Expression, waits: bool, next: LabelId, last: LabelId) -> Operation {
        let success = self.ordering(&[Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel]);
        let register = self.random.percent(70).then(|| self.register());
        let kind = self.random.below(4);
        let (expected, new) = match kind {
            0 => (None, self.constant()),
            1 => (None, Expression::binary(BinaryOperator::Add, Expression::Old, Expression::Constant(1))),
            _ => (Some(self.constant()), self.constant()),
        };
        let until = waits.then(|| match &expected {
            Some(expected) => Expression::binary(BinaryOperator::Equal, Expression::Old, expected.clone()),
            None => self.awaited(),
        });
        let failure = match self.random.percent(50) {
            true => success.of_failure(),
            false => Ordering::Relaxed,
        };
        let is_weak = expected.is_some() && !waits && kind == 3;
        let spurious = is_weak.then(|| if self.random.percent(50) { next } else { last });
        Operation::Update { register, address, expected, new, success, failure, until, spurious }
    }

    /// One of some orderings, from weak to strong, or sequentially consistent.
    fn ordering(&mut self, weaker: &[Ordering]) -> Ordering {
        if self.random.percent(self.shape.seq_cst) {
            return Ordering::SeqCst;
        }
        if self.random.percent(self.shape.synchronised) {
            return weaker[weaker.len() - 1];
        }
        weaker[self.random.below(weaker.len())]
    }

    fn awaited(&mut self) -> Expression {
        Expression::binary(BinaryOperator::Equal, Expression::Old, self.constant())
    }

    fn register(&mut self) -> RegisterId {
        RegisterId::from_index(self.random.below(REGISTERS))
    }

    fn constant(&mut self) -> Expression {
        Expression::Constant([0, 1, 1, 2][self.random.below(4)])
    }

    fn value(&mut self) -> Expression {
        if self.random.percent(15) { Expression::Register(self.register()) } else { self.constant() }
    }
}
