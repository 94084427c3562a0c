//! What starts a template of control flow, and where tasks run.

use super::domain::{Domain, EvaluationError, Value};
use super::expression::{BinaryOperator, Expression};
use crate::text::Span;

/// What starts a template of control flow.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Role {
    /// Its copies run from the start.
    #[default]
    Thread,
    /// The handler of an event, which may occur as often as there are copies, each time when the
    /// main thread is idle.
    Event {
        /// What must hold in memory when the event occurs.
        guard: Option<Guard>,
    },
    /// A task: it runs once for every post. It has no copies of its own (`Copies::Exactly(0)`).
    Task {
        /// How many of its registers, the first ones, are parameters.
        parameters: usize,
    },
}

impl Role {
    /// The word for it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Event { .. } => "event",
            Self::Task { .. } => "task",
        }
    }
}

/// `when mem[address] operator value`: one read, made when the event occurs. It reads no registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The address read.
    pub address: Expression,
    /// A comparison.
    pub operator: BinaryOperator,
    /// What the value read is compared with.
    pub value: Expression,
    /// From `when` to the end of the comparison.
    pub span: Span,
}

impl Guard {
    /// The address read.
    ///
    /// # Errors
    ///
    /// When it cannot be computed. Readers refuse such guards.
    #[inline]
    pub fn read_address(&self) -> Result<Value, EvaluationError> {
        self.address.evaluate_address(&[])
    }

    /// Whether the guard holds when the address has this value.
    ///
    /// # Errors
    ///
    /// When what it is compared with has no value. Readers refuse such guards.
    #[inline]
    pub fn admits(&self, value: Value, domain: Option<Domain>) -> Result<bool, EvaluationError> {
        Expression::binary(self.operator, Expression::Constant(value), self.value.clone()).holds(&[], domain)
    }
}

/// Where a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Executor {
    /// On the main thread, one task after the other, in any order.
    Main,
    /// On a thread of its own.
    Any,
}

impl Executor {
    /// How it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Any => "any",
        }
    }
}

/// What posts do to store buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Posts {
    /// A post waits for the poster's buffer to be empty; on the main thread, so do the begin and
    /// the return of a task. So do the queues of every implementation on x86.
    #[default]
    Drain,
    /// They do nothing to buffers, and the main thread's buffer outlives its tasks [NETYS18, §3].
    Plain,
}

impl Posts {
    /// How it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Plain => "plain",
        }
    }
}
