//! What one computation may use up.

use super::{Limits, StopReason, Turn};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

/// What one computation may use up before it gives way to another: the limits of the whole run, and
/// its own share.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// Time, memory and interruption of the whole run.
    pub limits: Limits,
    /// How much it may do, in a measure that each kind of computation defines: nodes of an
    /// exploration, work of a strategy. As much as it takes when not given.
    pub work: Option<u64>,
    /// How long its thread may run.
    pub turn: Option<Turn>,
    /// Where to count what it does, for an observer.
    pub counter: Option<Arc<AtomicUsize>>,
}

impl Budget {
    /// As much as the limits allow.
    pub fn within(limits: &Limits) -> Self {
        Self { limits: limits.clone(), ..Self::default() }
    }

    /// With so much work.
    #[must_use]
    pub fn with_work(self, work: impl Into<Option<u64>>) -> Self {
        Self { work: work.into(), ..self }
    }

    /// With a turn of this thread that begins now.
    #[must_use]
    pub fn with_turn(self, length: Duration) -> Self {
        Self { turn: Some(Turn::new(length)), ..self }
    }

    /// Whether to stop, and why, after so much work.
    pub fn check(&self, done: u64) -> Result<(), StopReason> {
        if self.work.is_some_and(|work| done >= work) {
            return Err(StopReason::Budget);
        }
        self.limits.check()?;
        if self.turn.as_ref().is_some_and(Turn::is_over) { Err(StopReason::Budget) } else { Ok(()) }
    }

    /// How much time is left, when time is limited.
    pub fn remaining(&self) -> Option<Duration> {
        let turn = self.turn.as_ref().map(Turn::remaining);
        self.limits.remaining().map(|left| turn.map_or(left, |turn| left.min(turn))).or(turn)
    }
}
