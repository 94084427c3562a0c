//! The steps of computations of events and tasks, as documents have them.

use crate::tso::ShownStep;
use serde::Serialize;

/// A step of a computation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TsoStep {
    /// Its number, from 1.
    pub number: usize,
    /// The thread that takes it: `main`, or the name of its only invocation.
    pub thread: String,
    /// The invocation: `onText#0`, or `search of onText#0` for a task.
    pub invocation: String,
    /// The line of the instruction, from 1; null where an event occurs, an invocation begins, or a
    /// store reaches memory.
    pub line: Option<usize>,
    /// What it does.
    pub action: String,
}

impl TsoStep {
    pub(super) fn new(step: ShownStep) -> Self {
        let ShownStep { number, thread, invocation, line, action, .. } = step;
        Self { number, thread, invocation, line, action }
    }
}
