//! One invocation on its own: what it can do next from a local state and a memory.

use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Action, EvaluationError, Executor, InstructionId, LabelId, Program, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

/// The addresses that do not hold 0, with their values.
pub(super) type Memory = BTreeMap<Value, Value>;

/// For each address accessed, whether it was written.
pub(super) type Accesses = BTreeMap<Value, bool>;

/// A template, a label, and the values of all registers.
pub(super) type Place = (ThreadId, LabelId, Vec<Value>);

/// What an invocation does next.
#[derive(Clone, Debug)]
pub(super) enum Move {
    /// An access or a locked section: the instruction, the registers there, and every way through
    /// it.
    Access { instruction: InstructionId, registers: Vec<Value>, outcomes: Vec<AccessResult> },
    /// A post, of a task on the main thread or not; the place after it.
    Post { main: bool, task: Place, after: Place },
    /// It returns.
    Return,
    /// It does nothing more, and does not return.
    Stuck,
}

/// What an access leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AccessResult {
    pub(super) accesses: Accesses,
    pub(super) memory: Memory,
    pub(super) after: Place,
}

/// Everything that an invocation can do next, local instructions aside.
pub(super) fn moves(program: &Program, place: &Place, memory: &Memory) -> Result<Vec<Move>, CheckFailure> {
    let (template, label, registers) = place;
    let thread = program.thread(*template);
    let mut moves = Vec::new();
    let mut seen = iter::once((*label, registers.clone())).collect_set();
    let mut open = vec![(*label, registers.clone())];
    let (mut leaves, mut stuck) = (false, false);
    while let Some((label, registers)) = open.pop() {
        let mut goes_on = false;
        let mut is_end = true;
        for (id, instruction) in thread.instruction_ids().filter(|(_, instruction)| instruction.source == label) {
            is_end = false;
            match &instruction.action {
                Action::Load { .. } | Action::Store { .. } | Action::Cas { .. } | Action::Rmw { .. } | Action::Lock => {
                    let outcomes = outcomes(program, *template, id, &registers, memory)?;
                    moves.push(Move::Access { instruction: id, registers: registers.clone(), outcomes });
                    (goes_on, leaves) = (true, true);
                }
                Action::Unlock => {
                    // Outside of a section it is not executable.
                    moves.push(Move::Access { instruction: id, registers: registers.clone(), outcomes: Vec::new() });
                    (goes_on, leaves) = (true, true);
                }
                Action::Post { executor, task, arguments } => {
                    let posted = program.thread(*task);
                    let mut values: Vec<Value> = posted.registers.iter().map(|register| register.initial).collect();
                    for (value, argument) in values.iter_mut().zip(arguments) {
                        *value = valued(program, *template, id, argument.evaluate(&registers, program.domain))?;
                    }
                    let task = (*task, posted.initial, values);
                    let after = (*template, instruction.target, registers.clone());
                    moves.push(Move::Post { main: *executor == Executor::Main, task, after });
                    (goes_on, leaves) = (true, true);
                }
                _ => {
                    for after in local(program, *template, id, &registers)? {
                        goes_on = true;
                        if seen.insert((instruction.target, after.clone())) {
                            open.push((instruction.target, after));
                        }
                    }
                }
            }
        }
        if is_end {
            moves.push(Move::Return);
            leaves = true;
        } else {
            stuck |= !goes_on;
        }
    }
    if stuck || !leaves {
        moves.push(Move::Stuck);
    }
    Ok(moves)
}

fn valued<T>(
    program: &Program,
    template: ThreadId,
    id: InstructionId,
    result: Result<T, EvaluationError>,
) -> Result<T, CheckFailure> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => {
            let thread = program.thread(template);
            let label = &thread.label(thread.instruction(id).source).name;
            reject!(Inductive, "an instruction of `{}` at `{label}` has no value: {error}", thread.name)
        }
    }
}

/// The registers after a local instruction, in every way that it can go.
fn local(
    program: &Program,
    template: ThreadId,
    id: InstructionId,
    registers: &[Value],
) -> Result<Vec<Vec<Value>>, CheckFailure> {
    Ok(match &program.thread(template).instruction(id).action {
        Action::Assign { register, value } => {
            let mut after = registers.to_vec();
            after[register.index()] = valued(program, template, id, value.evaluate(registers, program.domain))?;
            vec![after]
        }
        Action::Havoc { register } => {
            let Some(domain) = program.domain else { reject!(Form, "`<- *` without a domain") };
            let with = |value: Value| {
                let mut after = registers.to_vec();
                after[register.index()] = value;
                after
            };
            (domain.low..=domain.high).map(with).collect()
        }
        Action::Assume(condition) => {
            let holds = valued(program, template, id, condition.holds(registers, program.domain))?;
            if holds { vec![registers.to_vec()] } else { Vec::new() }
        }
        Action::Fail => Vec::new(),
        Action::Fence | Action::StoreFence | Action::Nop | Action::Ensure(_) => vec![registers.to_vec()],
        _ => unreachable!("what touches memory or tasks is no local instruction"),
    })
}

/// Every outcome of an access, or every way through the section that begins at a `lock`.
pub(super) fn outcomes(
    program: &Program,
    template: ThreadId,
    id: InstructionId,
    registers: &[Value],
    memory: &Memory,
) -> Result<Vec<AccessResult>, CheckFailure> {
    let thread = program.thread(template);
    let instruction = thread.instruction(id);
    let here = |label| AccessResult {
        accesses: Accesses::new(),
        memory: memory.clone(),
        after: (template, label, registers.to_vec()),
    };
    match instruction.action {
        Action::Lock => section(program, template, here(instruction.target)),
        Action::Unlock => Ok(Vec::new()),
        _ => Ok(vec![access(program, template, id, &here(instruction.source))?]),
    }
}

/// Every way from inside a section to its `unlock`.
fn section(program: &Program, template: ThreadId, begin: AccessResult) -> Result<Vec<AccessResult>, CheckFailure> {
    let thread = program.thread(template);
    let mut closed = BTreeSet::new();
    let mut seen = iter::once(begin.clone()).collect_set();
    let mut open = vec![begin];
    while let Some(inside) = open.pop() {
        for (id, instruction) in thread.instruction_ids().filter(|(_, it)| it.source == inside.after.1) {
            let mut next = Vec::new();
            match &instruction.action {
                Action::Lock | Action::Post { .. } => {}
                Action::Unlock => {
                    let mut after = inside.clone();
                    after.after.1 = instruction.target;
                    closed.insert(after);
                }
                Action::Load { .. } | Action::Store { .. } | Action::Cas { .. } | Action::Rmw { .. } => {
                    next.push(access(program, template, id, &inside)?);
                }
                _ => {
                    for registers in local(program, template, id, &inside.after.2)? {
                        next.push(AccessResult { after: (template, instruction.target, registers), ..inside.clone() });
                    }
                }
            }
            for after in next {
                if seen.insert(after.clone()) {
                    open.push(after);
                }
            }
        }
    }
    Ok(closed.into_iter().collect())
}

/// One load, store or locked update.
fn access(
    program: &Program,
    template: ThreadId,
    id: InstructionId,
    before: &AccessResult,
) -> Result<AccessResult, CheckFailure> {
    let instruction = program.thread(template).instruction(id);
    let registers = &before.after.2;
    let domain = program.domain;
    let Some(address) = instruction.action.address() else { reject!(Form, "instruction {id} accesses no memory") };
    let address = valued(program, template, id, address.evaluate_address(registers))?;
    let old = before.memory.get(&address).copied().unwrap_or(0);
    let (written, read) = match &instruction.action {
        Action::Load { register, .. } => (None, Some(register)),
        Action::Store { value, .. } => (Some(value.evaluate(registers, domain)), None),
        Action::Cas { register, expected, new, .. } => {
            let expected = valued(program, template, id, expected.evaluate(registers, domain))?;
            ((expected == old).then(|| new.evaluate(registers, domain)), register.as_ref())
        }
        Action::Rmw { register, new, .. } => (Some(new.evaluate_with_old(registers, old, domain)), register.as_ref()),
        _ => reject!(Form, "instruction {id} is no access"),
    };
    let mut after = before.clone();
    after.after.1 = instruction.target;
    if let Some(register) = read {
        after.after.2[register.index()] = old;
    }
    let is_written = written.is_some();
    if let Some(value) = written {
        match valued(program, template, id, value)? {
            0 => drop(after.memory.remove(&address)),
            value => drop(after.memory.insert(address, value)),
        }
    }
    *after.accesses.entry(address).or_insert(false) |= is_written;
    Ok(after)
}
