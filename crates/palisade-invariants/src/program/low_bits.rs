//! Certificates about programs of which values that grow have their low bits alone.
//!
//! The certificate names addresses, and assignments that cut what they assign. The checker follows
//! which registers have low bits then, and writes down the program in which comparisons of such
//! values, and every `cas` on them, go both ways where low bits do not tell. Whatever reads more of
//! a value than its low bits is rejected. docs/src/low-bits.md says what is accepted, and why the
//! program does nothing that this one does not do.

use super::low_told::{Standing, Teller, Told};
use super::regions::Regions;
use crate::CheckFailure;
use crate::failure::reject;
use palisade_evidence::LowBitsEvidence;
use palisade_model::program::{
    Action, BinaryOperator as Op, Expression, Instruction, InstructionId, Label, LabelId, Program, Register,
    RegisterId, Role, Thread, ThreadId, UnaryOperator, Value,
};
use std::collections::BTreeSet;

/// No certificate knows more bits.
const MOST_BITS: u8 = 62;

/// What has low bits.
struct Low<'l> {
    listed: &'l LowBitsEvidence,
    regions: Regions,
    cells: BTreeSet<Value>,
}

/// The program of which the certificate knows low bits alone.
pub(super) fn lowered(program: &Program, listed: &LowBitsEvidence) -> Result<Program, CheckFailure> {
    if program.domain.is_some() || program.threads.iter().any(|thread| thread.role != Role::Thread) {
        reject!(Form, "low bits in a program with a domain, events or tasks");
    }
    if !(1..=MOST_BITS).contains(&listed.bits) {
        reject!(Form, "{} low bits", listed.bits);
    }
    let is_ascending = listed.cells.windows(2).all(|pair| pair[0] < pair[1]);
    if !is_ascending || !listed.assigned.windows(2).all(|pair| pair[0] < pair[1]) {
        reject!(Form, "addresses or assignments with low bits are not ascending");
    }
    for (thread, id) in &listed.assigned {
        let instruction = program.threads.get(thread.index()).and_then(|own| own.instructions.get(id.index()));
        if !instruction.is_some_and(|own| matches!(own.action, Action::Assign { .. })) {
            reject!(Form, "instruction {id} of thread {thread} assigns nothing");
        }
    }
    for cell in &listed.cells {
        let initial = program.initial_value(*cell);
        if initial < 0 || initial >> listed.bits != 0 {
            reject!(Form, "address {cell} holds more than {} bits at first", listed.bits);
        }
    }
    let low = Low { listed, regions: Regions::of(program), cells: listed.cells.iter().copied().collect() };
    let mut result = program.clone();
    for (id, thread) in program.thread_ids() {
        let known = low.flow(id, thread)?;
        low.write(id, thread, &known, &mut result.threads[id.index()])?;
    }
    Ok(result)
}

impl Low<'_> {
    /// Whether an instruction accesses what has low bits. It has to be known where it goes: to such
    /// addresses alone, or to none.
    fn is_accessed(
        &self,
        thread: ThreadId,
        id: InstructionId,
        instruction: &Instruction,
    ) -> Result<bool, CheckFailure> {
        if instruction.action.address().is_none() || self.regions.is_nowhere(thread, id) {
            return Ok(false);
        }
        let Some(least) = self.regions.accessed(thread, id).filter(|_| self.regions.stays(thread, id)) else {
            reject!(Form, "instruction {id} of thread {thread} may access whatever it computes");
        };
        let mut inside = self.regions.joined(least).map(|address| self.cells.contains(&address));
        let is_first = inside.next().unwrap_or(false);
        if inside.any(|other| other != is_first) {
            reject!(Form, "instruction {id} of thread {thread} accesses addresses with low bits, and others");
        }
        Ok(is_first)
    }

    fn teller<'s>(
        &self,
        (id, thread): (ThreadId, &Thread),
        position: InstructionId,
        standing: &'s Standing,
    ) -> Result<Teller<'s>, CheckFailure> {
        let accesses_bits = self.is_accessed(id, position, thread.instruction(position))?;
        let success = RegisterId::from_index(thread.registers.len());
        Ok(Teller { bits: self.listed.bits, standing, accesses_bits, success })
    }

    /// What is known at each label to which a path leads: rounds over all instructions, until
    /// nothing is new.
    fn flow(&self, id: ThreadId, thread: &Thread) -> Result<Vec<Option<Standing>>, CheckFailure> {
        let mut known: Vec<Option<Standing>> = vec![None; thread.labels.len()];
        known[thread.initial.index()] = Some(Standing { vague: BTreeSet::new(), tried: None });
        let mut is_new = true;
        while std::mem::take(&mut is_new) {
            for (position, instruction) in thread.instruction_ids() {
                let Some(standing) = &known[instruction.source.index()] else { continue };
                let teller = self.teller((id, thread), position, standing)?;
                let cuts = self.listed.assigned.contains(&(id, position));
                let Some(after) = teller.after(&instruction.action, cuts) else {
                    return refuse(id, position, "assigns");
                };
                let target = &mut known[instruction.target.index()];
                let after = target.as_ref().map_or_else(|| after.clone(), |before| before.or(&after));
                if target.as_ref() != Some(&after) {
                    *target = Some(after);
                    is_new = true;
                }
            }
        }
        Ok(known)
    }

    fn write(
        &self,
        id: ThreadId,
        thread: &Thread,
        known: &[Option<Standing>],
        into: &mut Thread,
    ) -> Result<(), CheckFailure> {
        for name in ["success", "found"] {
            let span = into.span;
            into.registers.push(Register { name: name.to_owned(), initial: 0, is_initialised: false, span });
        }
        for (position, instruction) in thread.instruction_ids() {
            let Some(standing) = &known[instruction.source.index()] else { continue };
            if self.regions.is_nowhere(id, position) {
                continue;
            }
            let teller = self.teller((id, thread), position, standing)?;
            let cuts = self.listed.assigned.contains(&(id, position));
            write_one((id, position), &teller, instruction, cuts, into)?;
        }
        Ok(())
    }
}

fn refuse<T>(thread: ThreadId, position: InstructionId, what: &str) -> Result<T, CheckFailure> {
    reject!(Form, "instruction {position} of thread {thread} {what} what low bits do not tell");
}

fn write_one(
    (id, position): (ThreadId, InstructionId),
    teller: &Teller<'_>,
    instruction: &Instruction,
    cuts: bool,
    into: &mut Thread,
) -> Result<(), CheckFailure> {
    let value = |expression: &Expression| match teller.told(expression) {
        Some(Told::Value(value)) => Ok(value),
        _ => refuse(id, position, "computes"),
    };
    let for_memory = |expression: &Expression| match teller.told(expression) {
        Some(Told::Value(value) | Told::Bits(value)) if teller.accesses_bits => Ok(teller.bits_of(value)),
        Some(Told::Value(value)) => Ok(value),
        _ => refuse(id, position, "writes"),
    };
    if let Some(address) = instruction.action.address() {
        value(address)?;
    }
    let action = match &instruction.action {
        Action::Assume(condition) => match teller.truths(condition) {
            Some((_, most)) => Action::Assume(most),
            None => return refuse(id, position, "asks for"),
        },
        Action::Assign { register, value: assigned } => {
            let register = *register;
            let value = match teller.told(assigned) {
                None => return refuse(id, position, "assigns"),
                Some(Told::Value(value)) if !cuts => value,
                Some(Told::Value(value) | Told::Bits(value)) => teller.bits_of(value),
                Some(Told::Between(least, most)) => {
                    let mut other = instruction.clone();
                    other.action = Action::Assign { register, value: least };
                    into.instructions.push(other);
                    most
                }
            };
            Action::Assign { register, value }
        }
        Action::Store { address, value } => Action::Store { address: address.clone(), value: for_memory(value)? },
        Action::Rmw { register, address, new } => {
            Action::Rmw { register: *register, address: address.clone(), new: for_memory(new)? }
        }
        Action::Cas { register, address, expected, new } => {
            let (expected, new) = (for_memory(expected)?, for_memory(new)?);
            if teller.accesses_bits {
                write_swap(teller, position, (instruction, *register, address), (&expected, &new), into);
                return Ok(());
            }
            Action::Cas { register: *register, address: address.clone(), expected, new }
        }
        Action::Ensure(condition) => match teller.told(condition) {
            Some(Told::Value(value)) => Action::Ensure(value),
            _ => Action::Nop,
        },
        Action::Post { .. } => return refuse(id, position, "posts"),
        other => other.clone(),
    };
    into.instructions[position.index()].action = action;
    Ok(())
}

/// A `cas` on low bits: it succeeds or fails where these are equal. Five labels follow: behind the
/// one that is tried, behind the one that fails for sure, for success, for failure, and for what
/// was found.
fn write_swap(
    teller: &Teller<'_>,
    position: InstructionId,
    (instruction, register, address): (&Instruction, Option<RegisterId>, &Expression),
    (expected, new): (&Expression, &Expression),
    into: &mut Thread,
) {
    let found = RegisterId::from_index(teller.success.index() + 1);
    let mut fresh = || {
        let label = LabelId::from_index(into.labels.len());
        into.labels.push(Label::new(format!("low {label}"), instruction.span));
        label
    };
    let (tried, missed, succeeds, fails, end) = (fresh(), fresh(), fresh(), fresh(), fresh());
    let swap = |expected: Expression| Action::Cas {
        register: Some(found),
        address: address.clone(),
        expected,
        new: new.clone(),
    };
    let is_equal = Expression::binary(Op::Equal, Expression::Register(found), expected.clone());
    let own = &mut into.instructions[position.index()];
    own.target = tried;
    own.action = swap(expected.clone());
    let above_all = Expression::binary(Op::Add, expected.clone(), Expression::Constant(1 << teller.bits));
    let mut add = |source: LabelId, target: LabelId, action: Action| {
        into.instructions.push(Instruction::new(source, target, action, instruction.span));
    };
    add(instruction.source, missed, swap(above_all));
    add(missed, fails, Action::Assume(is_equal.clone()));
    add(tried, succeeds, Action::Assume(is_equal.clone()));
    add(tried, fails, Action::Assume(Expression::unary(UnaryOperator::Not, is_equal)));
    for (source, success) in [(succeeds, 1), (fails, 0)] {
        add(source, end, Action::Assign { register: teller.success, value: Expression::Constant(success) });
    }
    let given = match register {
        Some(register) => Action::Assign { register, value: Expression::Register(found) },
        None => Action::Nop,
    };
    add(end, instruction.target, given);
}
