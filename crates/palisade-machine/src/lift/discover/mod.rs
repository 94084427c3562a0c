//! Executions of the roles that find out which cells computed addresses are of, and which values
//! cells take.
//!
//! A few interleavings, chosen at random ([`runs`]), find most of them at once; then all
//! interleavings of small instances are explored, as far as a fixed number of states goes
//! ([`instances`]). What both miss is not lost: an address that no execution has shown is an error
//! where the search comes to it.

mod instances;
mod runs;

use palisade_model::program::{Action, EvaluationError, Expression, Instruction, LabelId, Span, Thread, Value};

pub(crate) use instances::explore;
pub(crate) use runs::{run, run_often};

/// An access of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// The thread.
    pub(crate) thread: usize,
    /// The span of its instruction.
    pub(crate) span: Span,
    /// The address.
    pub(crate) address: u64,
    /// What it has written, once it has.
    pub(crate) written: Option<Value>,
}

/// What memory holds at first.
pub(crate) trait Initial {
    /// The value at an address for an instruction of a thread; nothing where it may not access it.
    fn value(&self, thread: usize, span: Span, address: u64) -> Option<Value>;
}

/// Memory as an execution has changed it.
trait Memory {
    /// What was written to an address.
    fn written(&self, address: u64) -> Option<Value>;
    /// Writes.
    fn write(&mut self, address: u64, value: Value);
}

/// A copy on its way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Copy {
    thread: usize,
    label: LabelId,
    registers: Box<[Value]>,
}

impl Copy {
    /// A copy that begins.
    fn of(index: usize, thread: &Thread) -> Self {
        Self { thread: index, label: thread.initial, registers: thread.initial_registers().into() }
    }

    /// Does what an action does; nothing where that has no value, or the copy ends.
    fn act(&mut self, action: &Action, access: Option<(u64, Value)>, memory: &mut impl Memory) -> Option<()> {
        let (address, old) = access.unwrap_or_default();
        let value =
            |expression: &Expression, registers: &[Value]| expression.evaluate_with_old(registers, old, None).ok();
        match action {
            Action::Load { register, .. } => self.registers[register.index()] = old,
            Action::Store { value: stored, .. } => memory.write(address, value(stored, &self.registers)?),
            Action::Assign { register, value: assigned } => {
                self.registers[register.index()] = value(assigned, &self.registers)?;
            }
            Action::Cas { register, expected, new, .. } => {
                if old == value(expected, &self.registers)? {
                    memory.write(address, value(new, &self.registers)?);
                }
                if let Some(register) = register {
                    self.registers[register.index()] = old;
                }
            }
            Action::Rmw { register, new, .. } => {
                memory.write(address, value(new, &self.registers)?);
                if let Some(register) = register {
                    self.registers[register.index()] = old;
                }
            }
            Action::Assume(condition) => return condition.holds(&self.registers, None).ok()?.then_some(()),
            Action::Fail => return None,
            _ => {}
        }
        Some(())
    }

    /// Takes an instruction, whose accesses `visit` is shown before they are made and once they
    /// have written; nothing where the copy does not go on from it.
    fn take(
        &mut self,
        instruction: &Instruction,
        memory: &mut impl Memory,
        initial: &impl Initial,
        visit: &mut impl FnMut(Access),
    ) -> Option<()> {
        let access = match self.address(&instruction.action).ok()? {
            None => None,
            Some(address) => {
                visit(Access { thread: self.thread, span: instruction.span, address, written: None });
                let first = || initial.value(self.thread, instruction.span, address);
                Some((address, memory.written(address).or_else(first)?))
            }
        };
        self.act(&instruction.action, access, memory)?;
        if let Some((address, _)) = access.filter(|_| !matches!(instruction.action, Action::Load { .. })) {
            let written = memory.written(address);
            visit(Access { thread: self.thread, span: instruction.span, address, written });
        }
        self.label = instruction.target;
        Some(())
    }

    /// The address that an action accesses, if it accesses one.
    fn address(&self, action: &Action) -> Result<Option<u64>, EvaluationError> {
        let address = action.address().map(|address| address.evaluate_address(&self.registers)).transpose()?;
        Ok(address.map(Value::cast_unsigned))
    }
}
