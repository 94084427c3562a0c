//! Random programs in braces, as trees.

use palisade::semantics::random::Randomness;

/// The addresses.
pub(super) const ADDRESSES: [&str; 3] = ["x", "y", "z"];

/// The registers of a thread.
pub(super) const REGISTERS: [&str; 2] = ["r", "s"];

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(i64),
    Itself,
    Register(usize),
    /// The parameter that is a value.
    Argument,
    Load(Place),
    Sum(Box<Value>, Box<Value>),
    Xchg(Place, Box<Value>),
    Cas(Place, Box<Value>, Box<Value>),
    Add(Place, Box<Value>),
    /// `q(value, value)`: stores the first to `x`, and returns the second or, if that is what `y`
    /// holds, the first and 1.
    Call(Box<Value>, Box<Value>),
    /// 1 if a condition holds, otherwise 0.
    Truth(Box<Condition>),
}

/// A place in memory.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Address(usize),
    /// An element of the array `slot`, which has two.
    Element(Box<Value>),
    /// The parameter that is a place.
    Parameter,
}

/// A condition.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    Compare(Value, &'static str, Value),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
    Any,
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    Store(Place, Value),
    Set(usize, Value),
    /// `r += value;`.
    Increase(usize, Value),
    Effect(Value),
    If(Condition, Vec<Statement>, Option<Vec<Statement>>),
    While(Condition, Vec<Statement>),
    DoWhile(Vec<Statement>, Condition),
    /// `for (r = value; condition; s += value)`, each part there or not.
    For(Option<(usize, Value)>, Option<Condition>, Option<(usize, Value)>, Vec<Statement>),
    /// `for (let k = 0; k < 1; k++)`.
    Once(Vec<Statement>),
    Loop(Vec<Statement>),
    Await(Condition),
    Choose(Vec<Vec<Statement>>),
    Atomic(Vec<Statement>),
    Break,
    Continue,
    Return,
    Fence,
    Pause,
    Ensure(Condition),
    /// `p(place, value);`.
    Call(Place, Value),
}

/// A thread; one with two copies says `self`.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) copies: usize,
    pub(super) body: Vec<Statement>,
}

/// A program with one procedure.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) procedure: Vec<Statement>,
    pub(super) threads: Vec<Thread>,
}

impl Program {
    /// The program of a seed.
    pub(super) fn random(seed: u64) -> Self {
        let mut random = Randomness::new(seed);
        let mut generator = Generator { random: &mut random, inside: Inside::default(), left: 4 };
        generator.inside.procedure = true;
        let procedure = generator.block(1);
        generator.inside.procedure = false;
        let pair = generator.random.percent(40);
        let threads = (0..if pair { 1 } else { 2 }).map(|_| {
            generator.left = 7;
            generator.inside.pair = pair;
            Thread { copies: if pair { 2 } else { 1 }, body: generator.block(2) }
        });
        Self { threads: threads.collect(), procedure }
    }
}

/// What is around a statement.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    procedure: bool,
    pair: bool,
    a_loop: bool,
    once: bool,
    section: bool,
}

struct Generator<'r> {
    random: &'r mut Randomness,
    inside: Inside,
    /// How many more statements there may be.
    left: usize,
}

impl Generator<'_> {
    fn block(&mut self, depth: usize) -> Vec<Statement> {
        let length = 1 + self.random.below(4);
        (0..length)
            .map_while(|_| {
                self.left = self.left.checked_sub(1)?;
                Some(self.statement(depth))
            })
            .collect()
    }

    fn within(&mut self, depth: usize, change: impl FnOnce(&mut Inside)) -> Vec<Statement> {
        let around = self.inside;
        change(&mut self.inside);
        let block = self.block(depth);
        self.inside = around;
        block
    }

    fn statement(&mut self, depth: usize) -> Statement {
        let deeper = depth.saturating_sub(1);
        match self.random.below(if depth == 0 { 14 } else { 28 }) {
            0..=4 => Statement::Store(self.place(), self.value(1)),
            5..=6 => Statement::Set(self.register(), self.value(2)),
            7 => Statement::Effect(self.update()),
            8 => Statement::Fence,
            9 if self.inside.a_loop => Statement::Break,
            9 => Statement::Pause,
            10 if self.inside.a_loop => Statement::Continue,
            10 => Statement::Ensure(self.condition(1)),
            11 if self.inside.procedure => Statement::Return,
            11 => Statement::Await(self.loading_condition()),
            12 if self.inside.procedure || self.inside.section => Statement::Store(self.place(), self.value(0)),
            12 => Statement::Call(self.place(), self.value(1)),
            13 => Statement::Increase(self.register(), self.value(1)),
            14..=17 => {
                let (condition, then) = (self.condition(1), self.block(deeper));
                let otherwise = self.random.percent(50).then(|| self.block(deeper));
                Statement::If(condition, then, otherwise)
            }
            18 => Statement::While(self.condition(1), self.within(deeper, |inside| inside.a_loop = true)),
            19 => Statement::Loop(self.within(deeper, |inside| inside.a_loop = true)),
            20 => Statement::Choose(vec![self.block(deeper), self.block(deeper)]),
            21 if !self.inside.section && !self.inside.procedure => {
                Statement::Atomic(self.within(deeper, |inside| inside.section = true))
            }
            22 | 23 => {
                let body = self.within(deeper, |inside| inside.a_loop = true);
                Statement::DoWhile(body, self.condition(1))
            }
            24 | 25 => {
                // No calls in its head, as these store.
                let start = self.random.percent(70).then(|| (self.register(), self.value(0)));
                let condition = self.random.percent(70).then(|| self.condition(1));
                let step = self.random.percent(70).then(|| (self.register(), self.value(0)));
                Statement::For(start, condition, step, self.within(deeper, |inside| inside.a_loop = true))
            }
            26 if !self.inside.once => {
                Statement::Once(self.within(deeper, |inside| (inside.a_loop, inside.once) = (true, true)))
            }
            _ => Statement::Store(self.place(), self.value(2)),
        }
    }

    fn register(&mut self) -> usize {
        self.random.below(REGISTERS.len())
    }

    fn place(&mut self) -> Place {
        match self.random.below(8) {
            0 => Place::Element(Box::new(Value::Register(self.random.below(REGISTERS.len())))),
            1 if self.inside.pair => Place::Element(Box::new(Value::Itself)),
            2 => Place::Element(Box::new(Value::Load(Place::Address(self.random.below(ADDRESSES.len()))))),
            3 | 4 if self.inside.procedure => Place::Parameter,
            _ => Place::Address(self.random.below(2)),
        }
    }

    fn update(&mut self) -> Value {
        match self.random.below(3) {
            0 => Value::Xchg(self.place(), Box::new(self.value(0))),
            1 => Value::Cas(self.place(), Box::new(self.value(0)), Box::new(self.value(0))),
            _ => Value::Add(self.place(), Box::new(self.value(0))),
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.random.below(if depth == 0 { 7 } else { 12 }) {
            0 | 1 => Value::Number(i64::from(self.random.percent(70))),
            2 if self.inside.pair => Value::Itself,
            3 if self.inside.procedure => Value::Argument,
            2 | 3 => Value::Register(self.random.below(REGISTERS.len())),
            4..=6 => Value::Load(self.place()),
            7 | 8 => Value::Sum(Box::new(self.value(depth - 1)), Box::new(self.value(depth - 1))),
            9 => Value::Truth(Box::new(self.condition(1))),
            10 => self.update(),
            _ if self.inside.procedure => Value::Load(self.place()),
            _ => Value::Call(Box::new(self.value(depth - 1)), Box::new(self.value(depth - 1))),
        }
    }

    fn condition(&mut self, depth: usize) -> Condition {
        match self.random.below(if depth == 0 { 5 } else { 9 }) {
            0..=4 => {
                let operator = ["==", "!=", "<", ">="][self.random.below(4)];
                Condition::Compare(self.value(1), operator, self.value(0))
            }
            5 => Condition::And(Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1))),
            6 => Condition::Or(Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1))),
            7 => Condition::Not(Box::new(self.condition(depth - 1))),
            _ => Condition::Any,
        }
    }

    /// A condition that reads memory for certain.
    fn loading_condition(&mut self) -> Condition {
        let load = Condition::Compare(Value::Load(self.place()), "!=", Value::Number(0));
        if self.random.percent(40) { Condition::Or(Box::new(load), Box::new(self.condition(0))) } else { load }
    }
}
