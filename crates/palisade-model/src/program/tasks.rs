//! Event-driven programs: what a template of control flow is started by, guards, posts and
//! executors ([NETYS18, §2]).
//!
//! A [`Thread`] is a template. The copies of one with [`Role::Thread`] run from the start, as ever.
//! An event's handler is started by the outside world, on the main thread; a task is started by a
//! [`post`](super::Action::Post), on the main thread or on a thread of its own. A program in which
//! every role is [`Role::Thread`] is a program of threads and has no posts.

use super::{Action, Guard, Program, Role, Thread, ThreadId};

impl Thread {
    /// Whether it is a thread, whose copies run from the start.
    #[inline]
    pub fn is_thread(&self) -> bool {
        self.role == Role::Thread
    }

    /// Whether it is an event's handler.
    #[inline]
    pub fn is_event(&self) -> bool {
        matches!(self.role, Role::Event { .. })
    }

    /// Whether it is a task.
    #[inline]
    pub fn is_task(&self) -> bool {
        matches!(self.role, Role::Task { .. })
    }

    /// Whether the program is asked about without it: a thread or an event without copies.
    #[inline]
    pub fn is_left_out(&self) -> bool {
        !self.is_task() && self.copies == super::Copies::Exactly(0)
    }

    /// An event's guard.
    #[inline]
    pub fn guard(&self) -> Option<&Guard> {
        if let Role::Event { guard } = &self.role { guard.as_ref() } else { None }
    }

    /// How many parameters it has: its first registers.
    #[inline]
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

    /// For each template, whether one that runs can post it, over any number of posts, whatever the
    /// values. Threads and events that are not left out count as posted.
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
