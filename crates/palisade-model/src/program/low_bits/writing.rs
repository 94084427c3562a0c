//! A thread as it is written down with low bits.

use super::reading::{Reader, Reading, Site};
use super::{LowBits, Places};
use crate::program::{
    Action, BinaryOperator as Op, Expression, Instruction, InstructionId, Label, LabelId, Register, RegisterId, Thread,
    ThreadId, UnaryOperator,
};

/// A thread under way.
pub(super) struct Writing<'w> {
    pub(super) places: &'w Places<'w>,
    pub(super) low_bits: &'w LowBits,
    pub(super) id: ThreadId,
    pub(super) thread: &'w mut Thread,
    /// The register that says whether the last `cas` on low bits succeeded, and the one that has
    /// what it found.
    success: RegisterId,
    found: RegisterId,
}

impl<'w> Writing<'w> {
    pub(super) fn new((places, low_bits): (&'w Places<'w>, &'w LowBits), id: ThreadId, thread: &'w mut Thread) -> Self {
        let span = thread.span;
        let success = RegisterId::from_index(thread.registers.len());
        let found = RegisterId::from_index(thread.registers.len() + 1);
        for name in ["success", "found"] {
            thread.registers.push(Register { name: name.to_owned(), initial: 0, is_initialised: false, span });
        }
        Self { places, low_bits, id, thread, success, found }
    }

    /// Writes all instructions that a path leads to; nothing where low bits do not tell what one
    /// does.
    pub(super) fn apply(mut self, original: &Thread, sites: &[Option<Site>]) -> Option<()> {
        for (id, instruction) in original.instruction_ids() {
            let Some(site) = &sites[instruction.source.index()] else { continue };
            if self.places.blocks.nowhere.contains(&(self.id, id)) {
                continue;
            }
            let is_old_low = self.places.is_low(self.id, id);
            let reader = Reader { bits: self.low_bits.bits, site, is_old_low, success: self.success };
            self.instruction(reader, id, instruction)?;
        }
        Some(())
    }

    fn instruction(&mut self, reader: Reader<'_>, id: InstructionId, instruction: &Instruction) -> Option<()> {
        let exact = |expression: &Expression| match reader.read(expression)? {
            Reading::Exact(own) => Some(own),
            _ => None,
        };
        // What is written into memory, or compared with it.
        let kept = |expression: &Expression| match (reader.is_old_low, reader.read(expression)?) {
            (true, Reading::Exact(own) | Reading::Low(own)) => Some(reader.cut(own)),
            (false, Reading::Exact(own)) => Some(own),
            _ => None,
        };
        let mut action = instruction.action.clone();
        if let Some(address) = action.address() {
            exact(address)?;
        }
        match &mut action {
            Action::Assume(condition) => *condition = reader.truth(condition)?.1,
            Action::Assign { register, value } => {
                let register = *register;
                let is_cut = self.low_bits.assigned.contains(&(self.id, id));
                match reader.read(value)? {
                    Reading::Exact(own) if !is_cut => *value = own,
                    Reading::Exact(own) | Reading::Low(own) => *value = reader.cut(own),
                    Reading::Truth { least, most } => {
                        *value = most;
                        let other = Action::Assign { register, value: least };
                        self.thread.instructions.push(Instruction { action: other, ..instruction.clone() });
                    }
                }
            }
            Action::Store { value, .. } => *value = kept(value)?,
            Action::Rmw { new, .. } => *new = kept(new)?,
            Action::Cas { expected, new, .. } => {
                (*expected, *new) = (kept(expected)?, kept(new)?);
                if reader.is_old_low {
                    return self.cas(id, instruction, action);
                }
            }
            // Nothing is shown of conditions that are not asked about.
            Action::Ensure(condition) if !matches!(reader.read(condition), Some(Reading::Exact(_))) => {
                action = Action::Nop;
            }
            Action::Ensure(condition) => *condition = exact(condition)?,
            Action::Load { .. } | Action::Havoc { .. } | Action::Nop | Action::Fence => {}
            Action::StoreFence | Action::Lock | Action::Unlock | Action::Fail => {}
            Action::Post { .. } => return None,
        }
        self.thread.instructions[id.index()].action = action;
        Some(())
    }

    /// `r <- cas(mem[x], e, n)`, which may fail although the low bits of both are equal. Five
    /// labels follow: behind it, behind one that fails, where it succeeded, where it failed, and
    /// where r gets what was found.
    fn cas(&mut self, id: InstructionId, instruction: &Instruction, action: Action) -> Option<()> {
        let Action::Cas { register, address, expected, new } = action else { return None };
        let [tried, missed, succeeds, fails, end] = [(); 5].map(|()| self.label(instruction));
        let found = Expression::Register(self.found);
        let cas = |expected: Expression| Action::Cas {
            register: Some(self.found),
            address: address.clone(),
            expected,
            new: new.clone(),
        };
        // No low bits are as great.
        let beyond = Expression::binary(Op::Add, expected.clone(), Expression::Constant(1 << self.low_bits.bits));
        let (first, other) = (cas(expected.clone()), cas(beyond));
        let own = &mut self.thread.instructions[id.index()];
        (own.action, own.target) = (first, tried);
        let is_it = Expression::binary(Op::Equal, found.clone(), expected);
        let is_other = Expression::unary(UnaryOperator::Not, is_it.clone());
        let says = |value| Action::Assign { register: self.success, value: Expression::Constant(value) };
        let given = register.map_or(Action::Nop, |register| Action::Assign { register, value: found });
        let steps = [
            (instruction.source, missed, other),
            (missed, fails, Action::Assume(is_it.clone())),
            (tried, succeeds, Action::Assume(is_it)),
            (tried, fails, Action::Assume(is_other)),
            (succeeds, end, says(1)),
            (fails, end, says(0)),
            (end, instruction.target, given),
        ];
        let step = |(source, target, action)| Instruction::new(source, target, action, instruction.span);
        self.thread.instructions.extend(steps.map(step));
        Some(())
    }

    /// A new label.
    fn label(&mut self, instruction: &Instruction) -> LabelId {
        let label = LabelId::from_index(self.thread.labels.len());
        self.thread.labels.push(Label::new(format!("low {label}"), instruction.span));
        label
    }
}
