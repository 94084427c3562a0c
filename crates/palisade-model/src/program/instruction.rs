//! Instructions: what a thread does between two labels.

use super::domain::Value;
use super::expression::{BinaryOperator, Expression};
use super::ids::{LabelId, RegisterId, ThreadId};
use super::ordering::Stated;
use super::role::Executor;
use crate::text::Span;

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// `register <- mem[address]`.
    Load {
        /// The register written.
        register: RegisterId,
        /// The address read.
        address: Expression,
    },
    /// `mem[address] <- value`.
    Store {
        /// The address written.
        address: Expression,
        /// The value written.
        value: Expression,
    },
    /// `mfence`: executable when the store buffer is empty.
    Fence,
    /// `sfence`: older buffered stores reach memory before younger ones. No effect under SC and
    /// TSO.
    StoreFence,
    /// `register <- value`.
    Assign {
        /// The register written.
        register: RegisterId,
        /// The value.
        value: Expression,
    },
    /// `register <- *`: any value of the domain.
    Havoc {
        /// The register written.
        register: RegisterId,
    },
    /// `assert e` (also `assume e`): blocks while `e` is 0.
    Assume(Expression),
    /// Nothing.
    Nop,
    /// `register <- cas(mem[address], expected, new)`: returns the old value; a load only when it
    /// fails.
    Cas {
        /// The register that receives the old value, if any.
        register: Option<RegisterId>,
        /// The address.
        address: Expression,
        /// The value it must have.
        expected: Expression,
        /// The value it then gets.
        new: Expression,
    },
    /// A locked read-modify-write that always stores: `xchg`, `fetch_add` and every other function
    /// of the old value ([`Expression::Old`]). Returns the old value.
    Rmw {
        /// The register that receives the old value, if any.
        register: Option<RegisterId>,
        /// The address.
        address: Expression,
        /// The value stored, an expression that may read the old one.
        new: Expression,
    },
    /// `lock`: opens a locked section.
    Lock,
    /// `unlock`: closes it.
    Unlock,
    /// `ensure e`: a property, violated when `e` is 0. No effect on the computation.
    Ensure(Expression),
    /// `fail`: a property violated by being reached. A thread does not go on from it.
    Fail,
    /// `post executor task(arguments)`: the task is to run once. Its parameters get the arguments'
    /// values.
    Post {
        /// Where it runs.
        executor: Executor,
        /// The task.
        task: ThreadId,
        /// One expression for each parameter.
        arguments: Vec<Expression>,
    },
}

impl Action {
    /// Whether the action touches neither memory, the store buffer nor the lock.
    #[inline]
    pub fn is_local(&self) -> bool {
        matches!(
            self,
            Self::Assign { .. } | Self::Havoc { .. } | Self::Assume(_) | Self::Nop | Self::Ensure(_) | Self::Fail
        )
    }

    /// Whether the action is local under TSO, where `sfence` does nothing.
    #[inline]
    pub fn is_local_under_tso(&self) -> bool {
        self.is_local() || *self == Self::StoreFence
    }

    /// Whether the action needs an empty store buffer: `mfence` and everything locked. Whether a
    /// post does is a matter of the program ([`Program::posts`](super::Program::posts)).
    #[inline]
    pub fn drains_buffer(&self) -> bool {
        matches!(self, Self::Fence | Self::Cas { .. } | Self::Rmw { .. } | Self::Lock | Self::Unlock)
    }

    /// The address expression of a memory access.
    #[inline]
    pub fn address(&self) -> Option<&Expression> {
        match self {
            Self::Load { address, .. }
            | Self::Store { address, .. }
            | Self::Cas { address, .. }
            | Self::Rmw { address, .. } => Some(address),
            _ => None,
        }
    }

    /// The register written, if any.
    #[inline]
    pub fn written_register(&self) -> Option<RegisterId> {
        match self {
            Self::Load { register, .. } | Self::Assign { register, .. } | Self::Havoc { register } => Some(*register),
            Self::Cas { register, .. } | Self::Rmw { register, .. } => *register,
            _ => None,
        }
    }

    /// The address and the number of a read-modify-write that only adds a number other than 0 to an
    /// address that a constant names.
    pub fn addition(&self) -> Option<(Value, Value)> {
        use Expression::{Binary, Constant, Old};
        let Self::Rmw { address, new: Binary(operator, left, right), .. } = self else { return None };
        let number = match (operator, &**left, &**right) {
            (BinaryOperator::Add, Old, Constant(number)) | (BinaryOperator::Add, Constant(number), Old) => *number,
            (BinaryOperator::Subtract, Old, Constant(number)) => number.checked_neg()?,
            _ => return None,
        };
        let address = Some(address).filter(|address| address.is_constant())?.evaluate_address(&[]).ok()?;
        (number != 0).then_some((address, number))
    }

    /// The expressions the action evaluates.
    #[inline]
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> + Clone {
        let (few, arguments): ([Option<&Expression>; 3], &[Expression]) = match self {
            Self::Load { address, .. } => ([Some(address), None, None], &[]),
            Self::Store { address, value } => ([Some(address), Some(value), None], &[]),
            Self::Assign { value, .. } => ([Some(value), None, None], &[]),
            Self::Assume(condition) | Self::Ensure(condition) => ([Some(condition), None, None], &[]),
            Self::Cas { address, expected, new, .. } => ([Some(address), Some(expected), Some(new)], &[]),
            Self::Rmw { address, new, .. } => ([Some(address), Some(new), None], &[]),
            Self::Post { arguments, .. } => ([None; 3], arguments),
            Self::Fence
            | Self::StoreFence
            | Self::Havoc { .. }
            | Self::Nop
            | Self::Lock
            | Self::Unlock
            | Self::Fail => ([None; 3], &[]),
        };
        few.into_iter().flatten().chain(arguments)
    }
}

/// A labelled instruction `source: action; goto target;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The label it stands at.
    pub source: LabelId,
    /// The label it goes to.
    pub target: LabelId,
    /// What it does: on x86, where the text is in the words of C and Rust.
    pub action: Action,
    /// What the text says beyond that: orderings, whether it waits, sleeps or wakes sleepers.
    pub stated: Option<Box<Stated>>,
    /// The text of the instruction, from its label to its end.
    pub span: Span,
}

impl Instruction {
    /// An instruction of which the text says nothing but what it does.
    pub fn new(source: LabelId, target: LabelId, action: Action, span: Span) -> Self {
        Self { source, target, action, stated: None, span }
    }
}
