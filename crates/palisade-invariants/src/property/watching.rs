//! The program that fails where a target is violated.

use palisade_model::program::{
    Action, Expression, Instruction, InstructionId, Label, LabelId, Program, ThreadId, UnaryOperator,
};
use palisade_semantics::Target;
use std::collections::BTreeSet;

/// The program that comes to a `fail` where one of the targets is violated, and is the same else;
/// with these.
///
/// An `ensure e` among the targets does nothing. Behind all instructions of its thread stand two
/// more for it: from its label `assume !e` leads to a label of its own, and there stands a `fail`.
/// So the condition is one like others to all that looks at counters.
pub(super) fn watching(program: &Program, targets: &[Target]) -> (Program, BTreeSet<(ThreadId, InstructionId)>) {
    let mut result = program.clone();
    let mut fails = BTreeSet::new();
    for target in targets {
        let Target::Instruction { thread, instruction } = *target else { continue };
        let own = &mut result.threads[thread.index()];
        let Instruction { action, source, span, .. } = own.instructions[instruction.index()].clone();
        let Action::Ensure(condition) = action else {
            fails.insert((thread, instruction));
            continue;
        };
        own.instructions[instruction.index()].action = Action::Nop;
        let violated = LabelId::from_index(own.labels.len());
        own.labels.push(Label::new(format!("violated {instruction}"), span));
        let fails_here = Action::Assume(Expression::unary(UnaryOperator::Not, condition));
        own.instructions.push(Instruction::new(source, violated, fails_here, span));
        fails.insert((thread, InstructionId::from_index(own.instructions.len())));
        own.instructions.push(Instruction::new(violated, violated, Action::Fail, span));
    }
    (result, fails)
}
