//! Why a step of an event-driven program cannot be taken.

use crate::executed::Unexecuted;
use crate::step::{Refusal, ValueCause};
use palisade_model::program::{EvaluationError, InstructionId, ThreadId};
use thiserror::Error;

/// Why a step cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TaskRefusal {
    /// The state has no such event, invocation, instruction or choice, or it is not the turn of
    /// that.
    #[error("there is no such step in this state")]
    NoSuchStep,
    /// The event has occurred as often as it may.
    #[error("the event has occurred as often as it may")]
    NoMoreOccurrences,
    /// Another invocation runs on the main thread.
    #[error("the main thread is busy")]
    MainIsBusy,
    /// The guard or an assumption does not hold.
    #[error("a condition does not hold")]
    DoesNotHold,
    /// The store buffer has to be empty.
    #[error("the store buffer is not empty")]
    BufferNotEmpty,
    /// There is no store to flush.
    #[error("the store buffer is empty")]
    BufferEmpty,
    /// Another invocation holds the lock.
    #[error("another invocation holds the lock")]
    Locked,
    /// `lock` with the lock held by itself, `unlock` without, or a return that would take it along.
    #[error("the lock is not in the state that this needs")]
    WrongLock,
    /// An expression has no value.
    #[error("{error}")]
    Value {
        /// The thread, event or task.
        template: ThreadId,
        /// Its instruction.
        instruction: InstructionId,
        /// Why.
        error: EvaluationError,
    },
    /// `r <- *` without a domain.
    #[error("there is no domain to choose a value from")]
    NoDomain {
        /// The thread, event or task.
        template: ThreadId,
        /// Its instruction.
        instruction: InstructionId,
    },
}

impl TaskRefusal {
    /// Why an invocation of a template cannot execute an instruction.
    pub(super) fn of(unexecuted: Unexecuted, template: ThreadId, instruction: InstructionId) -> Self {
        match unexecuted {
            Unexecuted::Value(_, ValueCause::Evaluation(error)) => Self::Value { template, instruction, error },
            Unexecuted::Value(_, ValueCause::NoDomain) => Self::NoDomain { template, instruction },
            Unexecuted::Refused(Refusal::Locked) => Self::Locked,
            Unexecuted::Refused(Refusal::Holding | Refusal::NotHolding) => Self::WrongLock,
            Unexecuted::Refused(Refusal::BufferNotEmpty) => Self::BufferNotEmpty,
            Unexecuted::Refused(Refusal::AssumptionFails) => Self::DoesNotHold,
            Unexecuted::Refused(_) => Self::NoSuchStep,
        }
    }
}
