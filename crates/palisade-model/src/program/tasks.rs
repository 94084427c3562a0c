//! Event-driven programs: what a template of control flow is started by, guards, posts and executors ([NETYS18, §2]).
//!
//! A [`Thread`] is a template. The copies of one with [`Role::Thread`] run from the start, as ever. An event's handler is started
//! by the outside world, on the main thread; a task is started by a [`post`](super::Action::Post), on the main thread or on a thread of
//! its own. A program in which every role is [`Role::Thread`] is a program of threads and has no posts.

use super::{Action, BinaryOperator, Domain, EvaluationError, Expression, Program, Thread, ThreadId, Value};
use crate::text::Span;

/// What starts a template of control flow.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Role {
    /// Its copies run from the start.
    #[default]
    Thread,
    /// The handler of an event, which may occur as often as there are copies, each time when the main thread is idle.
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
    pub fn read_address(&self) -> Result<Value, EvaluationError> {
        self.address.evaluate_address(&[])
    }

    /// Whether the guard holds when the address has this value.
    ///
    /// # Errors
    ///
    /// When what it is compared with has no value. Readers refuse such guards.
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
    /// A post waits for the poster's buffer to be empty; on the main thread, so do the begin and the return of a task. So do the queues of
    /// every implementation on x86.
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

impl Thread {
    /// Whether it is a thread, whose copies run from the start.
    pub fn is_thread(&self) -> bool {
        self.role == Role::Thread
    }

    /// Whether it is an event's handler.
    pub fn is_event(&self) -> bool {
        matches!(self.role, Role::Event { .. })
    }

    /// Whether it is a task.
    pub fn is_task(&self) -> bool {
        matches!(self.role, Role::Task { .. })
    }

    /// Whether the program is asked about without it: a thread or an event without copies.
    pub fn is_left_out(&self) -> bool {
        !self.is_task() && self.copies == super::Copies::Exactly(0)
    }

    /// An event's guard.
    pub fn guard(&self) -> Option<&Guard> {
        if let Role::Event { guard } = &self.role { guard.as_ref() } else { None }
    }

    /// How many parameters it has: its first registers.
    pub fn parameters(&self) -> usize {
        if let Role::Task { parameters } = self.role { parameters } else { 0 }
    }
}

impl Program {
    /// Whether the program has events or tasks. Analyses that know threads alone must refuse it.
    pub fn is_event_driven(&self) -> bool {
        self.threads.iter().any(|thread| !thread.is_thread())
    }

    /// The templates with the given role's kind, in order.
    fn of_role(&self, has_role: fn(&Thread) -> bool) -> impl Iterator<Item = (ThreadId, &Thread)> {
        self.thread_ids().filter(move |(_, thread)| has_role(thread))
    }

    /// The events, in order.
    pub fn events(&self) -> impl Iterator<Item = (ThreadId, &Thread)> {
        self.of_role(Thread::is_event)
    }

    /// The tasks, in order.
    pub fn tasks(&self) -> impl Iterator<Item = (ThreadId, &Thread)> {
        self.of_role(Thread::is_task)
    }

    /// For each template, whether one that runs can post it, over any number of posts, whatever the values. Threads and events that are
    /// not left out count as posted.
    pub fn runnable(&self) -> Vec<bool> {
        let mut runnable: Vec<bool> = self.threads.iter().map(|it| !it.is_task() && !it.is_left_out()).collect();
        let mut open: Vec<usize> = (0..runnable.len()).filter(|index| runnable[*index]).collect();
        while let Some(index) = open.pop() {
            for instruction in self.threads[index].reachable_instructions() {
                if let Action::Post { task, .. } = instruction.action
                    && !std::mem::replace(&mut runnable[task.index()], true)
                {
                    open.push(task.index());
                }
            }
        }
        runnable
    }
}
