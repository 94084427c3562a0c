//! Bodies in braces as read, before names are resolved. Expressions are those of the other form,
//! with places of memory in them.

use crate::native::ast::{Annotation, ExpressionKind, Head, Name, RawCopies, RawExpression, Target};
use palisade_model::program::{Span, Value};

/// Everything of a text that is not in the older form.
#[derive(Debug, Default)]
pub(crate) struct Structured<'s> {
    /// The threads with bodies in braces, in order of appearance.
    pub(crate) threads: Vec<BracedThread<'s>>,
    /// The procedures.
    pub(crate) procedures: Vec<Procedure<'s>>,
    /// The constants.
    pub(crate) constants: Vec<Constant<'s>>,
    /// What must hold in the end: where the word stands, and what is stated.
    pub(crate) finally: Vec<(Span, Block<'s>)>,
}

/// `const N = 3;`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant<'s> {
    /// Its name.
    pub(crate) name: Name<'s>,
    /// Its value.
    pub(crate) value: Value,
}

/// `thread name [copies] { … }`, `event name [copies] when condition { … }` or
/// `task name(parameters) { … }`.
#[derive(Debug)]
pub(crate) struct BracedThread<'s> {
    /// Which of them.
    pub(crate) head: Head,
    /// Its name.
    pub(crate) name: Name<'s>,
    /// The names in parentheses, and where these stand.
    pub(crate) parameters: Option<(Vec<Name<'s>>, Span)>,
    /// How many copies the text asks for, and where it does.
    pub(crate) copies: Option<(RawCopies, Span)>,
    /// What follows `when`, and the whole guard.
    pub(crate) guard: Option<(RawExpression<'s>, Span)>,
    /// What it does.
    pub(crate) body: Block<'s>,
}

/// `proc name(parameters) { … }`.
#[derive(Debug)]
pub(crate) struct Procedure<'s> {
    /// Its name.
    pub(crate) name: Name<'s>,
    /// The names of its parameters.
    pub(crate) parameters: Vec<Name<'s>>,
    /// What it does.
    pub(crate) body: Block<'s>,
}

/// `{ … }`.
#[derive(Debug)]
pub(crate) struct Block<'s> {
    /// What stands in it.
    pub(crate) statements: Vec<Statement<'s>>,
    /// From brace to brace.
    pub(crate) span: Span,
}

impl Block<'_> {
    /// Where its closing brace stands.
    pub(crate) fn close(&self) -> usize {
        self.span.end.saturating_sub(1)
    }
}

/// A statement with what stands before it.
#[derive(Debug)]
pub(crate) struct Statement<'s> {
    /// `@cost(…)`.
    pub(crate) annotations: Vec<Annotation<'s>>,
    /// `spin:`.
    pub(crate) label: Option<Name<'s>>,
    /// What it does.
    pub(crate) kind: StatementKind<'s>,
    /// The statement itself, without what stands before it.
    pub(crate) span: Span,
    /// The statement with what stands before it.
    pub(crate) extent: Span,
}

/// What a statement does.
#[derive(Debug)]
pub(crate) enum StatementKind<'s> {
    /// Nothing: `;`, or a label before the closing brace.
    Empty,
    /// `let r = value;`.
    Let { register: Name<'s>, value: Option<RawExpression<'s>> },
    /// `target = value;`, to a register or to memory.
    Assign { target: RawExpression<'s>, value: RawExpression<'s> },
    /// `r += value;`, `r++;`: the name, what it gets in the end, and where the operator stands.
    Change { target: Name<'s>, value: RawExpression<'s>, operator: Span },
    /// A locked update or a call whose outcome nobody wants.
    Effect(RawExpression<'s>),
    /// `if`, `else if`, `else`.
    If { branches: Vec<(RawExpression<'s>, Block<'s>)>, otherwise: Option<Block<'s>> },
    /// `while (condition) { … }`.
    While { condition: RawExpression<'s>, body: Block<'s> },
    /// `do { … } while (condition);`.
    DoWhile { body: Block<'s>, condition: RawExpression<'s> },
    /// `for (start; condition; step) { … }`.
    For(Box<For<'s>>),
    /// `loop { … }`.
    Loop(Block<'s>),
    /// `await (condition);`.
    Await(RawExpression<'s>),
    /// Waits for a condition on `old`, the value that an access finds, and puts that into a
    /// register, if one is named: what other languages have.
    Wait { register: Option<Name<'s>>, access: RawExpression<'s>, condition: RawExpression<'s> },
    /// `idle` or `timed` before a statement that waits, which has no blocks.
    Marked { mark: Name<'s>, statement: Box<Statement<'s>> },
    /// `choose { … } or { … }`.
    Choose(Vec<Block<'s>>),
    /// `atomic { … }`.
    Atomic(Block<'s>),
    /// `{ … }`.
    Block(Block<'s>),
    /// `break;`.
    Break,
    /// `continue;`.
    Continue,
    /// `goto label;`.
    Goto(Target<'s>),
    /// `return;`, `return value;`.
    Return(Option<RawExpression<'s>>),
    /// `post executor task(arguments);`, or `spawn task(arguments);` without an executor.
    Post { executor: Option<Name<'s>>, task: Name<'s>, arguments: Vec<RawExpression<'s>> },
    /// `assume (condition);`.
    Assume(RawExpression<'s>),
    /// `ensure (condition);`.
    Ensure(RawExpression<'s>),
    /// `fail;`.
    Fail,
    /// `mfence;`.
    Fence,
    /// `sfence;`.
    StoreFence,
    /// `pause;`, `nop;`.
    Pause,
}

/// `for (start; condition; step) { … }`: only its body need be there.
#[derive(Debug)]
pub(crate) struct For<'s> {
    /// What is done first.
    pub(crate) start: Option<Statement<'s>>,
    /// What holds as long as it goes on.
    pub(crate) condition: Option<RawExpression<'s>>,
    /// What is done behind the body each time.
    pub(crate) step: Option<Statement<'s>>,
    /// What is done again and again.
    pub(crate) body: Block<'s>,
}

impl<'s> StatementKind<'s> {
    /// The blocks in it.
    pub(crate) fn blocks(&self) -> Vec<&Block<'s>> {
        match self {
            Self::If { branches, otherwise } => branches.iter().map(|(_, block)| block).chain(otherwise).collect(),
            Self::While { body, .. } | Self::DoWhile { body, .. } => vec![body],
            Self::For(it) => vec![&it.body],
            Self::Loop(body) | Self::Atomic(body) | Self::Block(body) => vec![body],
            Self::Choose(blocks) => blocks.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether braces end it, so that no semicolon does.
    pub(crate) fn ends_in_braces(&self) -> bool {
        !matches!(self, Self::DoWhile { .. }) && !self.blocks().is_empty()
    }

    /// Whether a `for` does something before it is a loop.
    pub(crate) fn begins_before_the_loop(&self) -> bool {
        matches!(self, Self::For(it) if it.start.is_some())
    }

    /// The body of a loop.
    pub(crate) fn loop_body(&self) -> Option<&Block<'s>> {
        match self {
            Self::While { body, .. } | Self::DoWhile { body, .. } | Self::Loop(body) => Some(body),
            Self::For(it) => Some(&it.body),
            _ => None,
        }
    }
}

impl<'s> Structured<'s> {
    /// Calls `visit` with every name that stands for a value or a place.
    pub(crate) fn names(&self, visit: &mut impl FnMut(Name<'s>)) {
        self.expressions(&mut |raw| raw.names(visit));
    }

    /// Whether a body computes addresses, so that their numbers matter.
    pub(crate) fn computes_addresses(&self) -> bool {
        let mut found = false;
        self.expressions(&mut |raw| found |= raw.computes_address());
        found
    }

    /// Calls `visit` with every call that is a statement: the thread whose body it stands in, if it
    /// is no procedure's, its name and operands.
    pub(crate) fn calls(&self, visit: &mut impl FnMut(Option<Name<'s>>, Name<'s>, &[RawExpression<'s>])) {
        let threads = self.threads.iter().map(|thread| (Some(thread.name), &thread.body));
        for (owner, body) in threads.chain(self.procedures.iter().map(|procedure| (None, &procedure.body))) {
            body.expressions(&mut |raw| {
                if let ExpressionKind::Apply(name, operands) = &raw.kind {
                    visit(owner, *name, operands);
                }
            });
        }
    }

    /// Calls `visit` with every expression of a statement.
    fn expressions(&self, visit: &mut impl FnMut(&RawExpression<'s>)) {
        self.threads.iter().filter_map(|thread| thread.guard.as_ref()).for_each(|(guard, _)| visit(guard));
        let bodies = self.threads.iter().map(|thread| &thread.body);
        let bodies = bodies.chain(self.procedures.iter().map(|procedure| &procedure.body));
        for body in bodies.chain(self.finally.iter().map(|(_, claims)| claims)) {
            body.expressions(visit);
        }
    }
}

impl<'s> Block<'s> {
    fn expressions(&self, visit: &mut impl FnMut(&RawExpression<'s>)) {
        self.statements.iter().for_each(|statement| statement.expressions(visit));
    }
}

impl<'s> Statement<'s> {
    fn expressions(&self, visit: &mut impl FnMut(&RawExpression<'s>)) {
        match &self.kind {
            StatementKind::Let { value: Some(raw), .. }
            | StatementKind::Change { value: raw, .. }
            | StatementKind::Effect(raw)
            | StatementKind::Await(raw)
            | StatementKind::Return(Some(raw))
            | StatementKind::Assume(raw)
            | StatementKind::Ensure(raw)
            | StatementKind::DoWhile { condition: raw, .. }
            | StatementKind::While { condition: raw, .. } => visit(raw),
            StatementKind::Assign { target, value } => {
                visit(target);
                visit(value);
            }
            StatementKind::Wait { access, condition, .. } => {
                visit(access);
                visit(condition);
            }
            StatementKind::If { branches, .. } => branches.iter().for_each(|(condition, _)| visit(condition)),
            StatementKind::Post { arguments, .. } => arguments.iter().for_each(&mut *visit),
            StatementKind::Marked { statement, .. } => statement.expressions(visit),
            StatementKind::For(it) => {
                it.condition.iter().for_each(&mut *visit);
                it.start.iter().chain(&it.step).for_each(|statement| statement.expressions(visit));
            }
            _ => {}
        }
        for block in self.kind.blocks() {
            block.expressions(visit);
        }
    }
}

impl RawExpression<'_> {
    /// Whether it has the number of an address or what is stored at a number in it.
    fn computes_address(&self) -> bool {
        match &self.kind {
            ExpressionKind::AddressOf(_) | ExpressionKind::Memory(_) => true,
            ExpressionKind::Index(_, operand) | ExpressionKind::Unary(_, operand) => operand.computes_address(),
            ExpressionKind::Binary(_, left, right) => left.computes_address() || right.computes_address(),
            ExpressionKind::Apply(_, operands) => operands.iter().any(Self::computes_address),
            _ => false,
        }
    }
}
