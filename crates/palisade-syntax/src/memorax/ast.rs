//! Texts in Memorax's language as read, before names are resolved.

use palisade_model::program::{BinaryOperator, Value};
use palisade_model::text::Span;

/// A name where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'s> {
    pub(super) text: &'s str,
    pub(super) span: Span,
}

/// A whole text.
#[derive(Debug)]
pub(super) struct Test<'s> {
    pub(super) rows: Vec<Row<'s>>,
    pub(super) globals: Vec<Variable<'s>>,
    pub(super) processes: Vec<Process<'s>>,
}

/// A forbidden row: a label for each process, or nothing where a `*` stands.
#[derive(Debug)]
pub(super) struct Row<'s> {
    pub(super) entries: Vec<(Option<&'s str>, Span)>,
    pub(super) span: Span,
}

/// A finite range of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: Value,
    pub(super) high: Value,
}

/// A variable or register with its value at the start.
#[derive(Debug)]
pub(super) struct Variable<'s> {
    pub(super) name: Name<'s>,
    /// Nothing: any value of the domain.
    pub(super) initial: Option<Value>,
    /// Nothing: all integers.
    pub(super) domain: Option<Range>,
}

/// `process(count)`.
#[derive(Debug)]
pub(super) struct Process<'s> {
    pub(super) count: u64,
    /// Where `process` stands.
    pub(super) span: Span,
    pub(super) variables: Vec<Variable<'s>>,
    pub(super) registers: Vec<Variable<'s>>,
    pub(super) text: Sequence<'s>,
    /// How many words it has.
    pub(super) size: usize,
}

/// Statements one after the other; never empty.
pub(super) type Sequence<'s> = Vec<Labelled<'s>>;

/// `label: statement`.
#[derive(Debug)]
pub(super) struct Labelled<'s> {
    pub(super) label: Option<Name<'s>>,
    pub(super) statement: Statement<'s>,
    /// The statement without what is nested in it, as far as it stands in one piece.
    pub(super) span: Span,
}

/// A statement.
#[derive(Debug)]
pub(super) enum Statement<'s> {
    /// `nop`, and `llfence`, which orders loads: they are in order under all models here.
    Nop,
    /// `fence`.
    Fence,
    /// `ssfence`.
    StoreFence,
    /// `read: register := place`.
    Read { register: Name<'s>, place: Place<'s> },
    /// `read: place = value`: waits for the value.
    Await { place: Place<'s>, value: Expression<'s> },
    /// `write: place := value`.
    Write { place: Place<'s>, value: Expression<'s>, kind: WriteKind },
    /// `cas(place, expected, new)`: waits for the expected value.
    Cas { place: Place<'s>, expected: Expression<'s>, new: Expression<'s> },
    /// `register := value`.
    Assign { register: Name<'s>, value: Expression<'s> },
    /// `assume: condition`.
    Assume(Condition<'s>),
    /// `goto label`.
    Goto(Name<'s>),
    /// `if condition then … else …`.
    If { condition: Condition<'s>, then: Box<Labelled<'s>>, otherwise: Option<Box<Labelled<'s>>> },
    /// `while condition do …`.
    While { condition: Condition<'s>, body: Box<Labelled<'s>> },
    /// `either { … or … }`.
    Either(Vec<Sequence<'s>>),
    /// `locked { … or … }`.
    Locked(Vec<Sequence<'s>>),
    /// `{ … }`.
    Block(Sequence<'s>),
}

/// What stands before `write`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteKind {
    /// Nothing.
    Plain,
    /// `locked`: a fence follows.
    Locked,
    /// `slocked`: a fence between stores follows.
    StoreLocked,
}

/// What is read or written.
#[derive(Debug)]
pub(super) struct Place<'s> {
    pub(super) kind: PlaceKind<'s>,
    pub(super) span: Span,
}

/// How it is named.
#[derive(Debug)]
pub(super) enum PlaceKind<'s> {
    /// `x`.
    Global(&'s str),
    /// `x[my]`.
    Own(&'s str),
    /// `x[k]`: of the k-th other process.
    Other(&'s str, u64),
    /// `[e]`: the e-th global variable.
    Pointer(Expression<'s>),
}

/// An expression over registers.
#[derive(Debug)]
pub(super) enum Expression<'s> {
    Register(Name<'s>),
    Number(Value),
    Negated(Box<Expression<'s>>),
    /// Addition or subtraction.
    Binary(BinaryOperator, Box<Expression<'s>>, Box<Expression<'s>>),
}

/// A condition over registers.
#[derive(Debug)]
pub(super) enum Condition<'s> {
    Constant(bool),
    /// A comparison.
    Compare(BinaryOperator, Expression<'s>, Expression<'s>),
    Not(Box<Condition<'s>>),
    And(Box<Condition<'s>>, Box<Condition<'s>>),
    Or(Box<Condition<'s>>, Box<Condition<'s>>),
}
