//! Counters for those who look at how computations end: at properties, and at registers where
//! threads have come to their ends.
//!
//! [`Counters::of`] is about accesses alone: no turn has to commute with an `ensure`, and a dead
//! register is in no class. Here an `ensure` is a condition like others, and all registers are live
//! where a thread has ended, a label without instructions or `fail`. So turning commutes with
//! violations and with final states as well.

use super::{Counters, Member, classes};
use crate::program::{Action, Label, LabelId, Liveness, Program, RegisterId, ThreadId, Value};

/// The classes of counters of a program whose properties and final states are looked at.
#[derive(Clone, Debug)]
pub struct OutcomeCounters {
    counters: Counters,
    /// By thread; behind the labels stands one more, for a thread that has ended in `fail`.
    liveness: Vec<Liveness>,
}

impl OutcomeCounters {
    /// The classes of a program, if there are any.
    pub fn of(program: &Program) -> Option<Self> {
        let seen = with_outcomes(program);
        let all_of = |thread: &crate::program::Thread| -> Vec<RegisterId> {
            (0..thread.registers.len()).map(RegisterId::from_index).collect()
        };
        let liveness: Vec<Liveness> =
            seen.threads.iter().map(|thread| Liveness::with_observed(thread, &all_of(thread))).collect();
        let counters = classes::classes(&seen, liveness.clone());
        (!counters.is_empty()).then_some(Self { counters, liveness })
    }

    /// The classes.
    #[inline]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The live registers at a label, or after `fail`, that are members.
    #[inline]
    pub fn registers_at(&self, thread: ThreadId, label: Option<LabelId>) -> &[(RegisterId, Member)] {
        self.counters.registers_at(thread, self.place(thread, label))
    }

    /// Sets the registers of a thread at a label, or after `fail`, to 0 that nobody looks at again.
    #[inline]
    pub fn forget_dead(&self, thread: ThreadId, label: Option<LabelId>, registers: &mut [Value]) {
        self.liveness[thread.index()].forget_dead(self.place(thread, label), registers);
    }

    fn place(&self, thread: ThreadId, label: Option<LabelId>) -> LabelId {
        label.unwrap_or_else(|| LabelId::from_index(self.liveness[thread.index()].labels() - 1))
    }
}

/// The program in which an `ensure` is a condition, and `fail` leads to a label of its own behind
/// all others.
fn with_outcomes(program: &Program) -> Program {
    let mut seen = program.clone();
    for thread in &mut seen.threads {
        let failed = LabelId::from_index(thread.labels.len());
        thread.labels.push(Label::new("failed", thread.span));
        for instruction in &mut thread.instructions {
            match std::mem::replace(&mut instruction.action, Action::Nop) {
                Action::Ensure(condition) => instruction.action = Action::Assume(condition),
                Action::Fail => instruction.target = failed,
                action => instruction.action = action,
            }
        }
    }
    seen
}
