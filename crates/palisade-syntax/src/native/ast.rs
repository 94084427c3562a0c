//! Native texts as read, before names are resolved.

use crate::MAX_EXPRESSION_DEPTH;
use palisade_model::program::{BinaryOperator, Copies, Ordering, Span, UnaryOperator};

/// A name where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'s> {
    pub(crate) text: &'s str,
    pub(crate) span: Span,
}

/// A number with its sign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub(crate) value: i128,
    pub(crate) span: Span,
}

/// A whole text.
#[derive(Debug)]
pub(crate) struct RawProgram<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) items: Vec<Item<'s>>,
}

/// What a program consists of.
#[derive(Debug)]
pub(crate) enum Item<'s> {
    /// `domain low..high [wrap]`; the word after the range, if any.
    Domain { low: Number, high: Number, wrap: Option<Name<'s>>, span: Span },
    /// `address name[length] = number, …`.
    Addresses(Vec<RawAddress<'s>>),
    /// `initial place = value, …`.
    Initial(Vec<RawInitial<'s>>),
    /// `thread … end`, `event … end` or `task … end`.
    Thread(Box<RawThread<'s>>),
    /// `daemon`; a thread follows.
    Daemon(Span),
    /// `posts drain` or `posts plain`; the word after `posts`.
    Posts(Name<'s>),
    /// `thread … { … }`, by its number among the threads with bodies in braces.
    Braced(usize),
    /// `never thread at label, …`.
    Never { places: Vec<RawPlace<'s>>, span: Span },
    /// A stretch with an error in it, reported already.
    Error,
}

/// A declared address.
#[derive(Debug)]
pub(crate) struct RawAddress<'s> {
    /// Whether it is data, accessed without atomics.
    pub(crate) is_plain: bool,
    pub(crate) name: Name<'s>,
    pub(crate) length: Option<Number>,
    pub(crate) number: Option<Number>,
}

/// An initial value.
#[derive(Debug)]
pub(crate) struct RawInitial<'s> {
    pub(crate) place: Place<'s>,
    pub(crate) value: RawExpression<'s>,
    pub(crate) span: Span,
}

/// Where an initial value goes.
#[derive(Debug)]
pub(crate) enum Place<'s> {
    /// `x`, `slot[2]`.
    Named { name: Name<'s>, index: Option<Number> },
    /// `mem[5]`.
    Memory(RawExpression<'s>),
}

/// `thread at label`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawPlace<'s> {
    pub(crate) thread: Name<'s>,
    pub(crate) label: Name<'s>,
}

/// Copies as written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RawCopies {
    /// `[*]`.
    Any,
    /// `[k]`.
    Number(Number),
}

/// A register with its value at the start.
#[derive(Debug)]
pub(crate) struct RawRegister<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) initial: Option<Number>,
}

/// What begins a thread, an event or a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    Thread,
    Event,
    Task,
}

impl Head {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Event => "event",
            Self::Task => "task",
        }
    }

    /// The word for it with its article.
    pub(crate) fn with_article(self) -> &'static str {
        match self {
            Self::Thread => "a thread",
            Self::Event => "an event",
            Self::Task => "a task",
        }
    }

    /// How many copies there are when the text does not say so.
    pub(crate) fn default_copies(self) -> Copies {
        match self {
            Self::Thread => Copies::Exactly(1),
            Self::Event => Copies::Any,
            Self::Task => Copies::Exactly(0),
        }
    }
}

/// A thread, an event or a task.
#[derive(Debug)]
pub(crate) struct RawThread<'s> {
    pub(crate) head: Head,
    pub(crate) name: Name<'s>,
    /// The names in parentheses, and where these stand.
    pub(crate) parameters: Option<(Vec<Name<'s>>, Span)>,
    pub(crate) copies: Option<(RawCopies, Span)>,
    /// What follows `when`, and the whole guard.
    pub(crate) guard: Option<(RawExpression<'s>, Span)>,
    pub(crate) registers: Vec<RawRegister<'s>>,
    /// The label after `init`; the first one when there is none.
    pub(crate) initial: Option<Name<'s>>,
    /// `None` for lines with an error in them, reported already.
    pub(crate) lines: Vec<Option<RawLine<'s>>>,
    /// The `end`.
    pub(crate) end: Span,
}

/// `@annotation(value) label: instruction; goto target;`.
#[derive(Debug)]
pub(crate) struct RawLine<'s> {
    pub(crate) annotations: Vec<Annotation<'s>>,
    pub(crate) label: Name<'s>,
    /// `idle` or `timed` before the instruction.
    pub(crate) mark: Option<Name<'s>>,
    pub(crate) instruction: RawInstruction<'s>,
    pub(crate) target: Option<Target<'s>>,
    /// From the label to the last token.
    pub(crate) span: Span,
}

/// Where a line goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'s> {
    /// `goto l`.
    Label(Name<'s>),
    /// `goto end`.
    End(Span),
}

/// `@name(value)`.
#[derive(Debug)]
pub(crate) struct Annotation<'s> {
    pub(crate) name: Name<'s>,
    /// Where the number stands.
    pub(crate) value: Span,
}

/// An instruction.
#[derive(Debug)]
pub(crate) enum RawInstruction<'s> {
    /// `mem[address] <- value`.
    Store { address: RawExpression<'s>, value: RawExpression<'s> },
    /// `register <- value`, a load where the value is `mem[…]`.
    Assign { register: Name<'s>, value: RawExpression<'s> },
    /// `register <- *`.
    Havoc { register: Name<'s> },
    /// `register <- operation(mem[address], operands)`, with or without the register.
    Locked {
        register: Option<Name<'s>>,
        operation: Operation,
        address: RawExpression<'s>,
        operands: Operands<'s>,
        /// Where a weak compare-exchange goes that fails for no reason.
        otherwise: Option<Name<'s>>,
        span: Span,
    },
    /// `sleep mem[address] if = expected`, `sleep mem[address] releasing mem[released]`.
    Sleep {
        address: RawExpression<'s>,
        expected: Option<RawExpression<'s>>,
        released: Option<RawExpression<'s>>,
        /// `into register`: what the update has found.
        register: Option<Name<'s>>,
        span: Span,
    },
    /// `wake mem[address] 1`, `wake mem[address] all`; what stands behind the address.
    Wake { address: RawExpression<'s>, count: RawExpression<'s> },
    /// `fence(ordering)`.
    Fence { ordering: RawExpression<'s> },
    /// `assert` and `assume`.
    Assume(RawExpression<'s>),
    /// `ensure`.
    Ensure(RawExpression<'s>),
    /// `mfence`, `sfence`, `nop`, `lock`, `unlock` and `fail`.
    Plain(Plain),
    /// `post executor task(arguments)`, or `spawn task(arguments)` without an executor.
    Post { executor: Option<Name<'s>>, task: Name<'s>, arguments: Vec<RawExpression<'s>>, span: Span },
}

impl<'s> RawInstruction<'s> {
    /// A locked read-modify-write whose outcome goes to a register.
    pub(crate) fn into_register(self, register: Name<'s>) -> Self {
        match self {
            Self::Locked { operation, address, operands, otherwise, span, .. } => {
                Self::Locked { register: Some(register), operation, address, operands, otherwise, span }
            }
            other => other,
        }
    }
}

/// Instructions without operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Plain {
    Fence,
    StoreFence,
    Nop,
    Lock,
    Unlock,
    Fail,
}

/// The locked read-modify-writes, and what is written like them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `load(mem[a], ordering)`.
    Load,
    /// `store(mem[a], value, ordering)`.
    Store,
    /// `await(mem[a], condition, ordering)`.
    Await,
    /// `await_cas(mem[a], expected, new, orderings)`.
    AwaitCas,
    /// `acquire(mem[a], ordering)`: waits for more than 0 and takes 1.
    Acquire,
    /// `weak_cas(mem[a], expected, new, orderings) else label`.
    WeakCas,
    Cas,
    Xchg,
    FetchAdd,
    Rmw,
}

/// The orderings of an operation as the text gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Orderings {
    /// The one of the access or fence; of a compare-exchange, when it stores.
    pub(crate) success: Ordering,
    /// The one of a compare-exchange that only loads.
    pub(crate) failure: Option<Ordering>,
}

impl Orderings {
    /// One ordering.
    pub(crate) fn one(success: Ordering) -> Self {
        Self { success, failure: None }
    }
}

/// What follows the address of a locked read-modify-write.
pub(crate) type Operands<'s> = Vec<RawExpression<'s>>;

/// An expression with its place.
#[derive(Debug)]
pub(crate) struct RawExpression<'s> {
    pub(crate) kind: ExpressionKind<'s>,
    pub(crate) span: Span,
    /// The span with the parentheses around it.
    pub(crate) extent: Span,
    /// Whether there are any.
    parenthesised: bool,
    /// How many operators are nested in it.
    height: usize,
}

/// What an expression is.
#[derive(Debug)]
pub(crate) enum ExpressionKind<'s> {
    /// A number as it stands in the text; a minus directly before it belongs to it.
    Literal(u64),
    /// A number with its sign.
    Constant(i128),
    /// A register or an address.
    Name(&'s str),
    /// `name(operand)`.
    Call(Name<'s>, Box<RawExpression<'s>>),
    /// `mem[address]`, allowed only as the whole right-hand side of a load.
    Memory(Box<RawExpression<'s>>),
    /// `name[index]`, not an expression of the language.
    Index(Name<'s>, Box<RawExpression<'s>>),
    /// An operator applied to its operand.
    Unary(UnaryOperator, Box<RawExpression<'s>>),
    /// An operator applied to its operands.
    Binary(BinaryOperator, Box<RawExpression<'s>>, Box<RawExpression<'s>>),
    /// `name(operands)`: a locked update or a call, in bodies in braces.
    Apply(Name<'s>, Vec<RawExpression<'s>>),
    /// `&place`, in bodies in braces.
    AddressOf(Box<RawExpression<'s>>),
    /// `*`: any value, in bodies in braces.
    Any,
    /// C's compare-exchange, of litmus tests in C: whether what is stored at the place was what the
    /// register has, which has what was stored there from then on.
    CompareExchange(Box<CompareExchange<'s>>),
    /// An expression nested too deeply.
    TooDeep,
}

/// What C's compare-exchange is about. It stands in a box of its own, as expressions are moved on
/// every level of what is nested.
#[derive(Debug)]
pub(crate) struct CompareExchange<'s> {
    pub(crate) place: RawExpression<'s>,
    pub(crate) expected: Name<'s>,
    pub(crate) new: RawExpression<'s>,
    pub(crate) orderings: Orderings,
    pub(crate) is_weak: bool,
}

impl<'s> RawExpression<'s> {
    /// An expression without operands, or around the given ones.
    pub(crate) fn new(kind: ExpressionKind<'s>, span: Span) -> Self {
        use ExpressionKind as Kind;
        let height = match &kind {
            Kind::Literal(_) | Kind::Constant(_) | Kind::Name(_) | Kind::Any | Kind::TooDeep => 0,
            Kind::Call(_, operand)
            | Kind::Memory(operand)
            | Kind::Index(_, operand)
            | Kind::Unary(_, operand)
            | Kind::AddressOf(operand) => operand.height + 1,
            Kind::Apply(_, operands) => operands.iter().map(|operand| operand.height + 1).max().unwrap_or(0),
            Kind::Binary(_, left, right) => left.height.max(right.height) + 1,
            Kind::CompareExchange(it) => it.place.height.max(it.new.height) + 1,
        };
        if height > MAX_EXPRESSION_DEPTH {
            return Self { kind: Kind::TooDeep, span, extent: span, parenthesised: false, height: 0 };
        }
        Self { kind, span, extent: span, parenthesised: false, height }
    }

    /// A binary operator applied to its operands.
    pub(crate) fn binary(operator: BinaryOperator, left: Self, right: Self) -> Self {
        let (span, extent) = (left.span.to(right.span), left.extent.to(right.extent));
        Self { extent, ..Self::new(ExpressionKind::Binary(operator, Box::new(left), Box::new(right)), span) }
    }

    /// The expression in parentheses: a literal inside is a number of its own.
    pub(crate) fn parenthesised(mut self, extent: Span) -> Self {
        if let ExpressionKind::Literal(value) = self.kind {
            self.kind = ExpressionKind::Constant(i128::from(value));
        }
        (self.extent, self.parenthesised) = (extent, true);
        self
    }

    /// The operator and the operands of an operator without parentheses around it.
    pub(crate) fn bare_binary(&self) -> Option<(BinaryOperator, &Self, &Self)> {
        match &self.kind {
            ExpressionKind::Binary(operator, left, right) if !self.parenthesised => Some((*operator, left, right)),
            _ => None,
        }
    }

    /// A prefix operator at `start` applied to the expression.
    pub(crate) fn prefixed(self, operator: UnaryOperator, start: Span) -> Self {
        let span = start.to(self.span);
        match (operator, &self.kind) {
            (UnaryOperator::Negate, ExpressionKind::Literal(value)) => {
                Self::new(ExpressionKind::Constant(-i128::from(*value)), span)
            }
            _ => {
                let extent = start.to(self.extent);
                Self { extent, ..Self::new(ExpressionKind::Unary(operator, Box::new(self)), span) }
            }
        }
    }
}
