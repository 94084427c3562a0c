//! Steps of a computation, what they do, and why a copy cannot take one.

use super::instance::CopyId;
use palisade_model::program::{Domain, EvaluationError, InstructionId, Program, RegisterId, Value};
use thiserror::Error;

/// What a thread copy does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepKind {
    /// It executes an instruction at its label; for a store under TSO and PSO that is the issue.
    Execute {
        /// The instruction.
        instruction: InstructionId,
        /// The value chosen by `r <- *`, or, where an instruction wakes one of several sleepers,
        /// the position of that copy on a machine that [waits](super::Machine::waiting); nothing
        /// for every other instruction.
        chosen: Option<Value>,
    },
    /// It and the copies that follow it, so many in all, execute one locked addition, one after the
    /// other: a [crowd](super::crowd).
    Crowd {
        /// The instruction.
        instruction: InstructionId,
        /// How many copies there are, this one included.
        copies: u64,
    },
    /// The oldest store of its buffer reaches memory (TSO).
    Flush,
    /// The oldest store of its buffer to this address reaches memory (PSO).
    FlushAddress(Value),
}

impl StepKind {
    /// Whether a buffered store reaches memory.
    pub fn is_flush(self) -> bool {
        matches!(self, Self::Flush | Self::FlushAddress(_))
    }

    /// The instruction that is executed, if one is.
    pub fn instruction(self) -> Option<InstructionId> {
        match self {
            Self::Execute { instruction, .. } | Self::Crowd { instruction, .. } => Some(instruction),
            Self::Flush | Self::FlushAddress(_) => None,
        }
    }
}

/// One step of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// The copy that takes it.
    pub copy: CopyId,
    /// What it is.
    pub kind: StepKind,
}

/// What a step does: the action of [ESOP13, Table 1], with its arguments evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// A load.
    Load {
        /// The register written.
        register: RegisterId,
        /// The address read.
        address: Value,
        /// The value read.
        value: Value,
        /// Whether it came from the own store buffer.
        early: bool,
    },
    /// A store enters the buffer (TSO, PSO).
    Issue {
        /// The address.
        address: Value,
        /// The value.
        value: Value,
    },
    /// A store reaches memory: the oldest of the buffer under TSO, of those to its address under
    /// PSO, at once under SC.
    Store {
        /// The address.
        address: Value,
        /// The value.
        value: Value,
    },
    /// A locked read-modify-write.
    Rmw {
        /// The register that receives the old value, if any.
        register: Option<RegisterId>,
        /// The address.
        address: Value,
        /// The value read.
        old: Value,
        /// The value written; nothing when a `cas` fails.
        new: Option<Value>,
    },
    /// `mfence`.
    Fence,
    /// `sfence`.
    StoreFence,
    /// `lock`.
    Lock,
    /// `unlock`.
    Unlock,
    /// A local instruction.
    Local {
        /// The register written and its value.
        written: Option<(RegisterId, Value)>,
    },
    /// `ensure` of a false condition: a property is violated, and the thread goes on.
    Violation,
    /// `fail`: a property is violated, and the thread ends.
    Failure,
}

/// A step with what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The step.
    pub step: Step,
    /// Its effect.
    pub effect: Effect,
}

/// What a value that cannot be computed was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// For a register.
    Register(RegisterId),
    /// For the memory at an address.
    Memory(Value),
    /// As the address of an access.
    Address,
    /// As a condition.
    Condition,
    /// As the value a `cas` compares with the memory at an address.
    Expected(Value),
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum ValueCause {
    /// An expression has none.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// `r <- *` without a domain to choose from.
    #[error("`*` needs a declared domain")]
    NoDomain,
}

/// A reachable step computes a value that does not exist: an error of the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[error("thread {}, instruction {instruction}: {cause}", copy.thread)]
pub struct ValueError {
    /// The thread copy.
    pub copy: CopyId,
    /// The instruction.
    pub instruction: InstructionId,
    /// What the value was for.
    pub subject: Subject,
    /// Why there is none.
    pub cause: ValueCause,
}

impl ValueError {
    /// The error in the program's own names.
    pub fn describe(&self, program: &Program) -> String {
        let thread = program.thread(self.copy.thread);
        let instruction = thread.instruction(self.instruction);
        let subject = match self.subject {
            Subject::Register(register) => {
                format!("register `{}`", thread.registers[register.index()].name)
            }
            Subject::Memory(address) => format!("address `{}`", program.address_name(address)),
            Subject::Address => "the address of the access".to_owned(),
            Subject::Condition => "the condition".to_owned(),
            Subject::Expected(address) => {
                format!("the value expected at `{}`", program.address_name(address))
            }
        };
        let text = program.source.slice(instruction.span);
        let place = if text.is_empty() {
            format!("label `{}`", thread.label(instruction.source).name)
        } else {
            format!("line {}, `{}`", program.source.position(instruction.span.start).line, text.trim())
        };
        format!("thread `{}`, {place}: {subject}: {}", thread.name, self.cause)
    }
}

/// Why a copy cannot take a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum Refusal {
    /// The instance has no such copy.
    #[error("the instance has no such thread copy")]
    NoSuchCopy,
    /// The thread has no such instruction.
    #[error("the thread has no such instruction")]
    NoSuchInstruction,
    /// The thread stands at another label.
    #[error("the thread stands at another label")]
    OtherLabel,
    /// The thread has ended in `fail`.
    #[error("the thread has ended")]
    Ended,
    /// Another thread holds the lock.
    #[error("another thread holds the lock")]
    Locked,
    /// `lock` by the thread that holds the lock.
    #[error("the thread holds the lock already")]
    Holding,
    /// `unlock` by a thread that does not hold the lock.
    #[error("the thread does not hold the lock")]
    NotHolding,
    /// The instruction needs an empty store buffer.
    #[error("the store buffer is not empty")]
    BufferNotEmpty,
    /// The store buffer is bounded and full.
    #[error("the store buffer is full")]
    BufferFull,
    /// There is nothing to flush.
    #[error("the store buffer is empty")]
    BufferEmpty,
    /// A mark of `sfence` stands before the store.
    #[error("an older store waits before `sfence`")]
    BehindMark,
    /// A flush without an address, under PSO.
    #[error("buffers are flushed address by address")]
    FlushesByAddress,
    /// A flush of an address, under SC or TSO.
    #[error("buffers are flushed in order")]
    FlushesInOrder,
    /// The condition of an `assert` or `assume` is 0.
    #[error("the asserted condition is 0")]
    AssumptionFails,
    /// A read of a value that it does not wait for.
    #[error("the read waits for another value")]
    Waits,
    /// The thread sleeps.
    #[error("the thread sleeps")]
    Asleep,
    /// A choice of a copy to be woken that does not sleep there, or none although somebody does.
    #[error("no such thread copy sleeps there, or one has to be chosen")]
    NotAsleep,
    /// `r <- *` without a choice, or with a choice outside the domain.
    #[error("`*` needs a choice from the domain")]
    BadChoice,
    /// A choice for an instruction that makes none.
    #[error("the instruction makes no choice")]
    NoChoice,
    /// A crowd of no copies, of too many, or with an instruction that does more than to add a
    /// number.
    #[error("no crowd can take this step")]
    NoCrowd,
    /// A value does not exist; the program is in error, not only the step.
    #[error(transparent)]
    Value(#[from] ValueError),
}

/// The values `r <- *` may choose.
pub(super) fn choices(domain: Option<Domain>) -> impl Iterator<Item = Value> {
    domain.into_iter().flat_map(Domain::values)
}
