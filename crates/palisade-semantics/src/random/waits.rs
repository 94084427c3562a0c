//! Random programs that wait: for values, for mutexes and semaphores, and asleep.

use super::{Randomness, instruction, thread_of, without_threads};
use palisade_model::program::{
    Action, BinaryOperator, Copies, Domain, DomainOrigin, Expression, Instruction, LabelId, Patience, Program, Queue,
    RegisterId, Value,
};
use std::collections::BTreeMap;

/// What random programs that wait look like.
#[derive(Clone, Debug)]
pub struct WaitShape {
    /// At most so many copies of all threads together, at least one; for threads with any number of
    /// copies, at most so many threads.
    pub copies: usize,
    /// At most so many statements in a thread, those inside of others not counted.
    pub statements: usize,
    /// The number of addresses.
    pub addresses: usize,
    /// How often, in percent, a statement sleeps or wakes sleepers.
    pub sleeps: u64,
    /// How often, in percent, a statement is about a mutex or a semaphore.
    pub locks: u64,
    /// How often, in percent, a statement waits for a value.
    pub awaits: u64,
    /// How often, in percent, a statement is a loop.
    pub loops: u64,
    /// How often, in percent, a statement is a fence.
    pub fences: u64,
    /// How often, in percent, a statement is a locked update.
    pub updates: u64,
    /// How often, in percent, what waits is marked, and a thread is a daemon.
    pub marks: u64,
    /// How often, in percent, a thread has any number of copies.
    pub any: u64,
}

impl Default for WaitShape {
    fn default() -> Self {
        Self {
            copies: 3,
            statements: 4,
            addresses: 2,
            sleeps: 20,
            locks: 12,
            awaits: 15,
            loops: 8,
            fences: 8,
            updates: 10,
            marks: 4,
            any: 0,
        }
    }
}

/// The program that belongs to a seed.
pub fn waiting_program(seed: u64, shape: &WaitShape) -> Program {
    let mut random = Randomness::new(seed);
    let high = [1, 2, 3][random.below(3)];
    let domain = Domain { low: 0, high, wrap: true, origin: DomainOrigin::File };
    let mut program = without_threads(format!("waits{seed}"), Some(domain), shape.addresses);
    if random.percent(15) {
        program.initial_memory = BTreeMap::from([(1, 1)]);
    }
    let mut left = 1 + random.below(shape.copies.max(1));
    while left > 0 {
        let count = if left > 1 && random.percent(25) { 2 } else { 1 };
        let mut body = Body { random: &mut random, shape, high, instructions: Vec::new(), labels: 1 };
        let mut at = LabelId::from_index(0);
        for _ in 0..=body.random.below(shape.statements.max(1)) {
            at = body.statement(at, 2);
        }
        let instructions = body.instructions;
        let mut thread = thread_of(format!("t{}", program.threads.len() + 1), instructions);
        thread.copies = Copies::Exactly(u64::try_from(count).expect("one or two"));
        if shape.any > 0 && random.percent(shape.any) {
            thread.copies = Copies::Any;
        }
        thread.is_daemon = random.percent(shape.marks);
        program.threads.push(thread);
        left -= count;
    }
    program
}

struct Body<'r> {
    random: &'r mut Randomness,
    shape: &'r WaitShape,
    high: Value,
    instructions: Vec<Instruction>,
    labels: usize,
}

impl Body<'_> {
    fn label(&mut self) -> LabelId {
        self.labels += 1;
        LabelId::from_index(self.labels - 1)
    }

    fn address(&mut self) -> Expression {
        Expression::Constant(
            Value::try_from(1 + self.random.below(self.shape.addresses.max(1))).expect("few addresses"),
        )
    }

    fn value(&mut self) -> Expression {
        let values = usize::try_from(self.high).expect("few values") + 1;
        Expression::Constant(Value::try_from(self.random.below(values)).expect("few values"))
    }

    fn register(&mut self) -> RegisterId {
        RegisterId::from_index(self.random.below(super::REGISTERS))
    }

    fn add(&mut self, from: LabelId, to: LabelId, action: Action) -> usize {
        self.instructions.push(instruction(from.index(), to.index(), action));
        self.instructions.len() - 1
    }

    /// An instruction to a label of its own.
    fn step(&mut self, from: LabelId, action: Action) -> LabelId {
        let to = self.label();
        self.add(from, to, action);
        to
    }

    /// A statement from a label on, with blocks inside of each other at most so deep; the label
    /// behind it.
    fn statement(&mut self, from: LabelId, depth: usize) -> LabelId {
        let shape = self.shape;
        let draw = self.random.number() % 100;
        let mut bound = 0;
        let mut is = |percent: u64| {
            bound += percent;
            draw < bound
        };
        if is(shape.sleeps) {
            self.sleeping(from)
        } else if is(shape.locks) {
            self.locking(from, depth)
        } else if is(shape.awaits) {
            self.awaited(from)
        } else if is(shape.loops) && depth > 0 {
            self.round(from, depth)
        } else if is(shape.fences) {
            self.step(from, Action::Fence)
        } else if is(shape.updates) {
            self.update(from)
        } else {
            self.plain(from, depth)
        }
    }

    fn plain(&mut self, from: LabelId, depth: usize) -> LabelId {
        let (address, register) = (self.address(), self.register());
        match self.random.below(5) {
            0 | 1 => {
                let value = self.value();
                self.step(from, Action::Store { address, value })
            }
            2 => self.step(from, Action::Load { register, address }),
            // A look: what comes next depends on it.
            _ => {
                let seen = self.step(from, Action::Load { register, address });
                let value = self.value();
                let [then, otherwise] = compared(&Expression::Register(register), &value);
                let inside = self.step(seen, Action::Assume(then));
                let end = if depth > 0 { self.statement(inside, depth - 1) } else { inside };
                let end = if end == inside { self.step(end, Action::Nop) } else { end };
                self.add(seen, end, Action::Assume(otherwise));
                end
            }
        }
    }

    fn update(&mut self, from: LabelId) -> LabelId {
        let (address, register) = (self.address(), Some(self.register()));
        let value = self.value();
        let action = match self.random.below(3) {
            0 => Action::Cas { register, address, expected: value, new: self.value() },
            1 => Action::Rmw { register, address, new: value },
            _ => {
                let new = Expression::binary(BinaryOperator::Add, Expression::Old, Expression::Constant(1));
                Action::Rmw { register, address, new }
            }
        };
        self.step(from, action)
    }

    /// What reads and waits: the instruction with what goes on and back behind it.
    fn guarded(&mut self, from: LabelId, action: Action, register: RegisterId, until: Expression) -> LabelId {
        let (read, to) = (self.label(), self.label());
        let number = self.add(from, read, action);
        let of_register = |part: &Expression| (*part == Expression::Old).then_some(Expression::Register(register));
        let condition = until.replaced(&of_register);
        self.instructions[number].set_waiting(until);
        self.mark(number);
        let back = Expression::binary(BinaryOperator::Equal, condition.clone(), Expression::Constant(0));
        self.add(read, to, Action::Assume(condition));
        self.add(read, from, Action::Assume(back));
        to
    }

    fn mark(&mut self, number: usize) {
        if self.random.percent(self.shape.marks) {
            let patience = [Patience::Idle, Patience::Timed][self.random.below(2)];
            self.instructions[number].set_patience(patience);
        }
    }

    fn awaited(&mut self, from: LabelId) -> LabelId {
        let (address, register, value) = (self.address(), self.register(), self.value());
        let [same, other] = compared(&Expression::Old, &value);
        let until = if self.random.percent(75) { same } else { other };
        self.guarded(from, Action::Load { register, address }, register, until)
    }

    fn lock(&mut self, from: LabelId, address: Expression) -> LabelId {
        let register = self.register();
        let (zero, one) = (Expression::Constant(0), Expression::Constant(1));
        let until = Expression::binary(BinaryOperator::Equal, Expression::Old, zero.clone());
        let action = Action::Cas { register: Some(register), address, expected: zero, new: one };
        self.guarded(from, action, register, until)
    }

    fn locking(&mut self, from: LabelId, depth: usize) -> LabelId {
        let address = self.address();
        let changed = |operator, by| Expression::binary(operator, Expression::Old, by);
        match self.random.below(4) {
            0 => {
                let register = self.register();
                let positive = changed(BinaryOperator::Greater, Expression::Constant(0));
                let new = changed(BinaryOperator::Subtract, positive.clone());
                let action = Action::Rmw { register: Some(register), address, new };
                self.guarded(from, action, register, positive)
            }
            1 => {
                let new = changed(BinaryOperator::Add, Expression::Constant(1));
                self.step(from, Action::Rmw { register: None, address, new })
            }
            _ => {
                let held = self.lock(from, address.clone());
                let end = if depth > 0 { self.statement(held, depth - 1) } else { held };
                // Now and then somebody forgets to unlock, and somebody does with a plain store.
                let new = Expression::Constant(0);
                match self.random.below(10) {
                    0 => end,
                    1..=3 => self.step(end, Action::Store { address, value: new }),
                    _ => self.step(end, Action::Rmw { register: None, address, new }),
                }
            }
        }
    }

    fn queued(&mut self, from: LabelId, (action, queue): (Action, Queue)) -> LabelId {
        let to = self.label();
        let number = self.add(from, to, action);
        let sleeps = matches!(queue, Queue::Sleep { .. });
        self.instructions[number].set_queue(queue);
        if sleeps {
            self.mark(number);
        }
        to
    }

    fn sleeping(&mut self, from: LabelId) -> LabelId {
        let (address, value) = (self.address(), self.value());
        match self.random.below(8) {
            0..=2 => {
                let all = self.random.percent(50);
                self.queued(from, Queue::wake(address, all))
            }
            3 | 4 => self.queued(from, Queue::sleep_if(address, value)),
            5 => {
                let mutex = self.address();
                let woken = self.queued(from, Queue::sleep(address, Some(mutex.clone())));
                self.lock(woken, mutex)
            }
            // As long as it has a value.
            _ => {
                let register = self.register();
                let seen = self.step(from, Action::Load { register, address: address.clone() });
                let [same, other] = compared(&Expression::Register(register), &value);
                let inside = self.step(seen, Action::Assume(same));
                let slept = self.queued(inside, Queue::sleep_if(address, value));
                self.add(slept, from, Action::Nop);
                self.step(seen, Action::Assume(other))
            }
        }
    }

    /// A loop: a spin on a value, or a block as often as anybody likes.
    fn round(&mut self, from: LabelId, depth: usize) -> LabelId {
        if self.random.percent(50) {
            let (address, register, value) = (self.address(), self.register(), self.value());
            let seen = self.step(from, Action::Load { register, address });
            let [same, other] = compared(&Expression::Register(register), &value);
            if self.shape.sleeps > 0 && self.random.percent(25) {
                // On its way round it wakes others.
                let (inside, place) = (self.step(seen, Action::Assume(other)), self.address());
                let woken = self.queued(inside, Queue::wake(place, true));
                self.add(woken, from, Action::Nop);
            } else {
                self.add(seen, from, Action::Assume(other));
            }
            return self.step(seen, Action::Assume(same));
        }
        let inside = self.step(from, Action::Nop);
        let end = self.statement(inside, depth - 1);
        self.add(end, from, Action::Nop);
        self.step(from, Action::Nop)
    }
}

/// That two expressions are the same, and that they are not.
fn compared(left: &Expression, right: &Expression) -> [Expression; 2] {
    [BinaryOperator::Equal, BinaryOperator::NotEqual]
        .map(|operator| Expression::binary(operator, left.clone(), right.clone()))
}
