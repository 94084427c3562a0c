//! What one instruction does, given what its thread sees: the same for threads and invocations,
//! under every model with store buffers.
//!
//! A machine says what the thread sees ([`Sight`]) and takes the effect; who holds the lock, where
//! buffers are and which copies or invocations there are is its own affair.

use super::step::{Effect, Refusal, Subject, ValueCause};
use palisade_model::program::{Action, Domain, EvaluationError, Expression, Value};

/// A store that waits in a buffer: its address and value.
pub type BufferedStore = (Value, Value);

/// Who holds the lock, as a thread sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    /// Nobody.
    Free,
    /// The thread itself.
    Own,
    /// Another one, which keeps this one from memory.
    Other,
}

impl Lock {
    /// The lock as one sees it who may be its holder.
    #[inline]
    pub(super) fn of<T: PartialEq>(holder: Option<&T>, own: &T) -> Self {
        match holder {
            None => Self::Free,
            Some(holder) if holder == own => Self::Own,
            Some(_) => Self::Other,
        }
    }

    /// Refuses when another one holds the lock.
    #[inline]
    pub(super) fn admit(self) -> Result<(), Refusal> {
        if self == Self::Other { Err(Refusal::Locked) } else { Ok(()) }
    }
}

/// What becomes of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stores {
    /// It reaches memory at once.
    AtOnce,
    /// It enters the buffer.
    Buffered,
    /// It waits for room in the buffer.
    Wait,
}

/// What a thread sees when it executes an instruction.
pub(super) struct Sight<'a, M> {
    /// The domain of values.
    pub(super) domain: Option<Domain>,
    /// Its registers.
    pub(super) registers: &'a [Value],
    /// The stores that wait in its buffer, oldest first.
    pub(super) buffer: &'a [BufferedStore],
    /// Memory.
    pub(super) memory: M,
    /// The lock.
    pub(super) lock: Lock,
    /// What becomes of a store.
    pub(super) stores: Stores,
}

/// Why an instruction cannot be executed.
pub(super) enum Unexecuted {
    /// The thread cannot take the step.
    Refused(Refusal),
    /// A value does not exist.
    Value(Subject, ValueCause),
}

impl From<Refusal> for Unexecuted {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl<M: Fn(Value) -> Value> Sight<'_, M> {
    /// The effect of an action other than a post. `chosen` is the value of a `r <- *`.
    #[inline]
    pub(super) fn execute(&self, action: &Action, chosen: Option<Value>) -> Result<Effect, Unexecuted> {
        if chosen.is_some() && !matches!(action, Action::Havoc { .. }) {
            return Err(Refusal::NoChoice.into());
        }
        if action.drains_buffer() && !self.buffer.is_empty() {
            return Err(Refusal::BufferNotEmpty.into());
        }
        let Self { domain, registers, .. } = *self;
        Ok(match action {
            Action::Load { register, address } => {
                self.lock.admit()?;
                let address = Self::address(address, registers)?;
                let (value, early) = self.load(address);
                Effect::Load { register: *register, address, value, early }
            }
            Action::Store { address, value } => {
                match self.stores {
                    Stores::AtOnce => self.lock.admit()?,
                    Stores::Buffered => {}
                    Stores::Wait => return Err(Refusal::BufferFull.into()),
                }
                let address = Self::address(address, registers)?;
                let value = admitted(Subject::Memory(address), value.evaluate(registers, domain))?;
                if self.stores == Stores::AtOnce {
                    Effect::Store { address, value }
                } else {
                    Effect::Issue { address, value }
                }
            }
            Action::Fence => Effect::Fence,
            Action::StoreFence => Effect::StoreFence,
            Action::Assign { register, value } => {
                let value = admitted(Subject::Register(*register), value.evaluate(registers, domain))?;
                Effect::Local { written: Some((*register, value)) }
            }
            Action::Havoc { register } => {
                let none = Unexecuted::Value(Subject::Register(*register), ValueCause::NoDomain);
                let domain = domain.ok_or(none)?;
                let value = chosen.filter(|value| domain.contains(*value)).ok_or(Refusal::BadChoice)?;
                Effect::Local { written: Some((*register, value)) }
            }
            Action::Assume(condition) if !self.holds(condition)? => return Err(Refusal::AssumptionFails.into()),
            Action::Assume(_) | Action::Nop => Effect::Local { written: None },
            Action::Cas { register, address, expected, new } => {
                self.lock.admit()?;
                let address = Self::address(address, registers)?;
                let expected = admitted(Subject::Expected(address), expected.evaluate(registers, domain))?;
                let old = (self.memory)(address);
                let new = if old == expected {
                    Some(admitted(Subject::Memory(address), new.evaluate(registers, domain))?)
                } else {
                    None
                };
                Effect::Rmw { register: *register, address, old, new }
            }
            Action::Rmw { register, address, new } => {
                self.lock.admit()?;
                let address = Self::address(address, registers)?;
                let old = (self.memory)(address);
                let new = admitted(Subject::Memory(address), new.evaluate_with_old(registers, old, domain))?;
                Effect::Rmw { register: *register, address, old, new: Some(new) }
            }
            Action::Lock if self.lock == Lock::Own => return Err(Refusal::Holding.into()),
            Action::Lock => {
                self.lock.admit()?;
                Effect::Lock
            }
            Action::Unlock if self.lock != Lock::Own => return Err(Refusal::NotHolding.into()),
            Action::Unlock => Effect::Unlock,
            Action::Ensure(condition) if !self.holds(condition)? => Effect::Violation,
            Action::Ensure(_) => Effect::Local { written: None },
            Action::Fail => Effect::Failure,
            Action::Post { .. } => unreachable!("machines with tasks post themselves"),
        })
    }

    /// The value that a load reads, and whether it comes from the buffer: the youngest one that
    /// waits there.
    #[inline]
    pub(super) fn load(&self, address: Value) -> (Value, bool) {
        let buffered = self.buffer.iter().rev().find(|store| store.0 == address);
        (buffered.map_or_else(|| (self.memory)(address), |store| store.1), buffered.is_some())
    }

    fn address(address: &Expression, registers: &[Value]) -> Result<Value, Unexecuted> {
        admitted(Subject::Address, address.evaluate_address(registers))
    }

    fn holds(&self, condition: &Expression) -> Result<bool, Unexecuted> {
        admitted(Subject::Condition, condition.holds(self.registers, self.domain))
    }
}

fn admitted<T>(subject: Subject, result: Result<T, EvaluationError>) -> Result<T, Unexecuted> {
    result.map_err(|error| Unexecuted::Value(subject, error.into()))
}
