//! Random programs with counters: they copy, move and compare the values of a few addresses, and
//! seldom do what no turn commutes with.

use super::{Randomness, thread_of, without_threads};
use palisade_model::program::{
    Action, BinaryOperator, Copies, Domain, DomainOrigin, Expression, Instruction, Label, LabelId, Program, Register,
    RegisterId, Span, Thread, UnaryOperator, Value,
};

/// What random programs with counters look like.
#[derive(Clone, Debug)]
pub struct CounterShape {
    /// How many values the domain has, which wraps; without one there is no domain.
    pub size: Option<Value>,
    /// The least value of the domain.
    pub low: Value,
    /// How many copies a thread may have.
    pub copies: Vec<Copies>,
    /// How many threads there are at most.
    pub threads: usize,
    /// How many labels a thread has at most.
    pub labels: usize,
    /// How many instructions of a hundred go back, or skip some.
    pub jumps: u64,
    /// To how many bits what is stored to counters is cut, seldom with a sign or to others, and
    /// some of what is compared; without them nothing is.
    pub bits: Option<u8>,
}

/// Registers 0 and 1 hold counters, register 2 something else.
const PLAIN: usize = 2;

/// The program with counters that belongs to a seed.
pub fn program_with_counters(seed: u64, shape: &CounterShape) -> Program {
    let mut random = Randomness::new(seed);
    let domain = shape.size.map(|size| Domain {
        low: shape.low,
        high: shape.low + size - 1,
        wrap: true,
        origin: DomainOrigin::File,
    });
    // Addresses 1 and 2 hold counters, 3 and 4 something else.
    let mut program = without_threads(format!("counters{seed}"), domain, 4);
    for index in 0..=random.below(shape.threads) {
        let mut generator = Generator { random: &mut random, shape };
        let mut thread = generator.thread(format!("t{}", index + 1));
        thread.copies = shape.copies[random.below(shape.copies.len())];
        program.threads.push(thread);
    }
    program
}

struct Generator<'a> {
    random: &'a mut Randomness,
    shape: &'a CounterShape,
}

impl Generator<'_> {
    fn thread(&mut self, name: String) -> Thread {
        let length = 2 + self.random.below(self.shape.labels - 1);
        let mut instructions = Vec::new();
        for label in 0..length {
            let target = if self.random.percent(self.shape.jumps) { self.random.below(length + 1) } else { label + 1 };
            for action in self.actions() {
                let other = self.random.below(length + 1);
                let target = if instructions.last().is_some_and(|last: &Instruction| last.source.index() == label) {
                    if self.shape.jumps > 0 { other } else { length }
                } else {
                    target
                };
                instructions.push(Instruction::new(
                    LabelId::from_index(label),
                    LabelId::from_index(target),
                    action,
                    Span::default(),
                ));
            }
        }
        let mut thread = thread_of(name, instructions);
        let third = Register { name: "r3".to_owned(), ..thread.registers[0].clone() };
        thread.registers.push(third);
        // The last label, even where nothing leads there.
        let label = |index: usize| Label { name: format!("l{index}").into(), ..thread.labels[0].clone() };
        let missing: Vec<Label> = (thread.labels.len()..=length).map(label).collect();
        thread.labels.extend(missing);
        thread
    }

    /// What stands at a label: one action, or a branch.
    fn actions(&mut self) -> Vec<Action> {
        let action = match self.random.below(100) {
            0..16 => Action::Load { register: self.register(), address: self.cell() },
            16..32 => Action::Store { address: self.cell(), value: self.moved_register() },
            32..37 => Action::Store { address: self.cell(), value: self.counter() },
            37..47 => {
                let new = self.plus(Expression::Old);
                Action::Rmw { register: Some(self.register()), address: self.cell(), new }
            }
            47..52 => {
                let expected = self.counter();
                Action::Cas {
                    register: Some(self.register()),
                    address: self.cell(),
                    expected,
                    new: self.moved_register(),
                }
            }
            // Machine code has what it compares in a flag.
            52..60 if self.shape.bits.is_some() => {
                Action::Assign { register: RegisterId::from_index(PLAIN), value: self.condition() }
            }
            52..68 => {
                let condition = self.condition();
                let contrary = Expression::unary(UnaryOperator::Not, condition.clone());
                return vec![Action::Assume(condition), Action::Assume(contrary)];
            }
            // What is not cut goes no further where control does not come back.
            68..73 if self.shape.bits.is_some() && self.shape.jumps == 0 => {
                let value = Expression::binary(BinaryOperator::Add, self.counter(), Expression::Constant(1));
                Action::Assign { register: self.register(), value }
            }
            68..73 => Action::Assign { register: self.register(), value: self.moved_register() },
            73..84 => Action::Store { address: self.plain_address(), value: self.plain_value() },
            84..93 => Action::Load { register: RegisterId::from_index(PLAIN), address: self.plain_address() },
            93..95 => Action::Store {
                address: self.cell(),
                value: Expression::Constant(Value::from(self.random.percent(50))),
            },
            95..96 => Action::Load { register: RegisterId::from_index(PLAIN), address: self.computed() },
            96..97 => Action::Store { address: self.computed(), value: Expression::Constant(1) },
            97 => Action::Fence,
            98 => Action::Lock,
            _ => Action::Unlock,
        };
        vec![action]
    }

    fn register(&mut self) -> RegisterId {
        RegisterId::from_index(self.random.below(PLAIN))
    }

    fn counter(&mut self) -> Expression {
        register(self.random.below(PLAIN))
    }

    fn cell(&mut self) -> Expression {
        Expression::Constant([1, 2][self.random.below(2)])
    }

    fn plain_address(&mut self) -> Expression {
        Expression::Constant([3, 4][self.random.below(2)])
    }

    /// An address computed from what a mask leaves of a counter, or from what is no counter, which
    /// may come to one.
    fn computed(&mut self) -> Expression {
        let offset = if self.random.percent(70) {
            Expression::binary(BinaryOperator::BitAnd, self.counter(), Expression::Constant(1))
        } else {
            register(PLAIN)
        };
        Expression::binary(BinaryOperator::Add, Expression::Constant([2, 3][self.random.below(2)]), offset)
    }

    fn plus(&mut self, value: Expression) -> Expression {
        let by = [1, 1, 1, 2, 3, -1][self.random.below(6)];
        let sum = Expression::binary(BinaryOperator::Add, value, Expression::Constant(by));
        self.cut(sum, 100)
    }

    fn moved_register(&mut self) -> Expression {
        let counter = self.counter();
        self.plus(counter)
    }

    /// The expression, so often of a hundred cut; seldom to other bits, or with a sign.
    fn cut(&mut self, expression: Expression, often: u64) -> Expression {
        let Some(bits) = self.shape.bits else { return expression };
        if !self.random.percent(often) {
            return expression;
        }
        let cut = match self.random.below(20) {
            0 => UnaryOperator::Truncate { bits, signed: true },
            1 => UnaryOperator::Truncate { bits: 1 + bits % 4, signed: false },
            2 => UnaryOperator::Truncate { bits: 8, signed: false },
            _ => UnaryOperator::Truncate { bits, signed: false },
        };
        Expression::unary(cut, expression)
    }

    /// A counter that may be cut, beside others.
    fn cut_register(&mut self, index: usize) -> Expression {
        self.cut(register(index), 50)
    }

    fn plain_value(&mut self) -> Expression {
        match self.random.below(4) {
            0 => Expression::Constant(0),
            1 => {
                let difference = Expression::binary(BinaryOperator::Subtract, register(0), register(1));
                self.cut(difference, 80)
            }
            _ => Expression::Constant(1),
        }
    }

    fn condition(&mut self) -> Expression {
        use BinaryOperator as Op;
        let zero = || Expression::Constant(0);
        match self.random.below(10) {
            0..4 => {
                let (one, other) = (self.cut_register(0), self.cut_register(1));
                Expression::binary(Op::Equal, one, other)
            }
            4..6 => {
                let moved = match self.shape.bits {
                    Some(_) if self.random.percent(30) => {
                        Expression::binary(Op::Add, register(1), Expression::Constant(1))
                    }
                    _ => self.plus(register(1)),
                };
                Expression::binary(Op::Equal, register(0), moved)
            }
            6 => {
                let two = Expression::Constant([2, 3][self.random.below(2)]);
                let counter = self.counter();
                Expression::binary(Op::Equal, Expression::binary(Op::Remainder, counter, two), zero())
            }
            7 => {
                let counter = self.moved_register();
                Expression::binary(
                    Op::NotEqual,
                    Expression::binary(Op::BitAnd, counter, Expression::Constant(1)),
                    zero(),
                )
            }
            8 if self.shape.size.is_none() => Expression::binary(Op::Less, register(0), register(1)),
            _ => Expression::binary(Op::Equal, register(PLAIN), zero()),
        }
    }
}

fn register(index: usize) -> Expression {
    Expression::Register(RegisterId::from_index(index))
}
