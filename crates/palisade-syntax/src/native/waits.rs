//! Instructions that wait, as one line each: the text says `await`, and the automaton comes back
//! while the condition does not hold.

use super::waiting::taking_one;
use palisade_model::program::{Action, Expression, Instruction, LabelId, Operation, Thread};

/// Which instructions of a thread are printed as `await`.
pub(super) struct Waits {
    /// For each instruction that waits, where it goes on.
    targets: Vec<Option<LabelId>>,
    /// The instructions that go on and back behind these.
    parts: Vec<bool>,
}

impl Waits {
    /// The waits of a thread, some labels of which are named elsewhere. What waits otherwise than a
    /// reader of texts makes it is printed without its condition, which changes nothing on x86.
    pub(super) fn of(thread: &Thread, named: &[LabelId]) -> Self {
        let count = thread.instructions.len();
        let mut waits = Self { targets: vec![None; count], parts: vec![false; count] };
        if !thread.instructions.iter().any(|own| own.until().is_some()) {
            return waits;
        }
        let (by_label, by_target) = (thread.instructions_by_label(), thread.instructions_by_target());
        for (id, instruction) in thread.instruction_ids() {
            let read = instruction.target.index();
            let (&[yes, no], [_]) = (&by_label[read], &by_target[read]) else { continue };
            let Some(condition) = waited_for(instruction) else { continue };
            let (on, back) = (thread.instruction(yes), thread.instruction(no));
            let goes_on = matches!(&on.action, Action::Assume(own) if *own == condition);
            let comes_back = matches!(back.action, Action::Assume(_)) && back.target == instruction.source;
            let is_named = named.contains(&instruction.target) || read == thread.initial.index();
            if goes_on && comes_back && !is_named {
                waits.targets[id.index()] = Some(on.target);
                waits.parts[yes.index()] = true;
                waits.parts[no.index()] = true;
            }
        }
        waits
    }

    /// Where an instruction that waits goes on.
    pub(super) fn target(&self, instruction: usize) -> Option<LabelId> {
        self.targets[instruction]
    }

    /// Whether an instruction only goes on or back behind one that waits.
    pub(super) fn is_part(&self, instruction: usize) -> bool {
        self.parts[instruction]
    }
}

/// What holds of the registers behind an instruction that waits.
fn waited_for(instruction: &Instruction) -> Option<Expression> {
    let operation = instruction.operation()?;
    let register = match &operation {
        Operation::Load { register, .. } => Some(*register),
        Operation::Update { register, expected: Some(_), .. } => *register,
        Operation::Update { register, new, .. } if *new == taking_one().1 => *register,
        _ => None,
    }?;
    let of_register = |part: &Expression| (*part == Expression::Old).then_some(Expression::Register(register));
    Some(operation.until()?.replaced(&of_register))
}
