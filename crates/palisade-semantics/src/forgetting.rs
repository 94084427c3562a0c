//! Registers that nobody looks at again: what they hold tells no two states apart.
//!
//! A register is looked at by instructions that read it before they or others write it, and in a
//! final state. So all registers are live where a copy may stand in a final state: where it has
//! ended, and wherever no instruction at its label may be executable. Two states that differ in
//! dead registers alone have the same steps, with the same accesses and violations, and lead to
//! such states again.

use super::machine::{Machine, State};
use palisade_model::program::{Action, ByLabel, Expression, LabelId, Liveness, Program, Thread, UnaryOperator};

/// The registers that matter at each label, by thread.
#[derive(Debug)]
pub(super) struct Forgetting(Vec<Liveness>);

impl Forgetting {
    /// Those of a program.
    pub(super) fn of(program: &Program) -> Self {
        let mut all = program.threads.iter().flat_map(|thread| &thread.instructions);
        let locks = all.any(|own| own.action == Action::Lock);
        let of_thread = |thread: &Thread| {
            let by_label = thread.instructions_by_label();
            Liveness::observed_at(thread, |label| locks || may_rest(thread, &by_label, label))
        };
        Self(program.threads.iter().map(of_thread).collect())
    }

    /// Lets all dead registers of a state hold 0.
    pub(super) fn forget(&self, machine: &Machine<'_>, state: &mut State) {
        for (position, copy) in machine.copies().iter().enumerate() {
            let thread = state.thread_mut(position);
            if let Some(label) = thread.label {
                self.0[copy.thread.index()].forget_dead(label, &mut thread.registers);
            }
        }
    }
}

/// Whether a copy may stand at a label in a final state, while nobody holds the lock, or fails
/// there.
fn may_rest(thread: &Thread, by_label: &ByLabel, label: LabelId) -> bool {
    let here = || by_label[label.index()].iter().map(|id| &thread.instruction(*id).action);
    let conditions: Vec<&Expression> = here()
        .filter_map(|action| match action {
            Action::Assume(condition) => Some(condition),
            _ => None,
        })
        .collect();
    let is_one_true = |one: &&Expression| conditions.iter().any(|other| are_contrary(one, other));
    let goes_on = here()
        .any(|action| !matches!(action, Action::Assume(_) | Action::Havoc { .. } | Action::Unlock | Action::Fail));
    let fails = here().any(|action| *action == Action::Fail);
    fails || !(goes_on || conditions.iter().any(is_one_true))
}

/// Whether one of two conditions always holds.
fn are_contrary(one: &Expression, other: &Expression) -> bool {
    match (one, other) {
        (Expression::Unary(UnaryOperator::Not, inner), _) => **inner == *other,
        (Expression::Binary(operator, left, right), Expression::Binary(contrary, left_too, right_too)) => {
            operator.contrary() == Some(*contrary) && left == left_too && right == right_too
        }
        _ => false,
    }
}
