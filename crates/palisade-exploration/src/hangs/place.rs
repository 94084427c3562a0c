//! Where copies of threads can be: settled local states.

use crate::instrumented::Fault;
use crate::instrumented::system::{Locals, Points};
use palisade_model::program::{Action, InstructionId, LabelId, ThreadId, Value};
use smallvec::SmallVec;

/// A local state of a copy: settled, so that an instruction that is not local stands at its label;
/// one of a loop of local instructions without a way out; or the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Local {
    /// The thread.
    pub thread: ThreadId,
    /// Where it is; nothing at its end.
    pub label: Option<LabelId>,
    /// Its registers, dead ones 0.
    pub registers: Box<[Value]>,
    /// Whether its locked section is open.
    pub holding: bool,
    /// The instruction by which it sleeps, at whose label it stands.
    pub asleep: Option<InstructionId>,
}

/// A local state with a store buffer, both by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The local state.
    pub local: u32,
    /// The buffer.
    pub buffer: u32,
}

/// What becomes of a copy while memory stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It may end, store, change memory, give a lock back, or come to an `assume` that stops it.
    Active,
    /// It does nothing of the kind, on any way, or it sleeps.
    Waits,
    /// The same, and it may do so for ever: it is a copy of a daemon, or what it looks at is marked
    /// `idle`.
    Idle,
}

/// Where a copy settles.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// The local states.
    pub(super) locals: Vec<Local>,
    /// Whether it may come to an `assume` that stops it: then there is no run.
    pub(super) may_die: bool,
}

/// The local states behind an instruction, or behind the start of a thread.
pub(super) fn settle(
    locals: &mut Locals<'_>,
    thread: ThreadId,
    cause: InstructionId,
    start: (LabelId, Box<[Value]>),
    holding: bool,
) -> Result<Settled, Fault> {
    let mut settled = Settled::default();
    let mut points = Points::of(start.1.len());
    // From where each point is reached, and the points from which a copy goes on otherwise than
    // among local instructions for ever.
    let mut before: Vec<SmallVec<[u32; 2]>> = Vec::new();
    let mut leaving: Vec<u32> = Vec::new();
    let mut steps = 0;
    let mut open = vec![(None, cause, start)];
    while let Some((from, cause, (label, mut registers))) = open.pop() {
        locals.count_step(thread, cause, &mut steps)?;
        locals.liveness[thread.index()].forget_dead(label, &mut registers);
        locals.admit_growth(thread, cause, points.growth())?;
        let (number, is_new) = points.intern(label, &registers);
        if !is_new {
            before[number as usize].extend(from);
            continue;
        }
        // Under a growth that is a fault everything else is admitted.
        locals.admit_registers(thread, cause, label, &registers)?;
        before.push(from.into_iter().collect());
        let (mut touches_memory, mut goes_on) = (false, false);
        let instructions = locals.instructions_at(thread, label).to_vec();
        for id in &instructions {
            let instruction = locals.program.thread(thread).instruction(*id);
            if instruction.action == Action::Fail {
                goes_on = true;
                leaving.push(number);
                settled.locals.push(ended(locals, thread, holding));
            } else if !locals.is_local(&instruction.action) {
                touches_memory = true;
            } else {
                for after in locals.local_successors(thread, *id, &registers)? {
                    locals.count_step(thread, *id, &mut steps)?;
                    goes_on = true;
                    open.push((Some(number), *id, (instruction.target, after)));
                }
            }
        }
        if instructions.is_empty() {
            leaving.push(number);
            settled.locals.push(ended(locals, thread, holding));
        } else if touches_memory {
            leaving.push(number);
            settled.locals.push(Local { thread, label: Some(label), registers, holding, asleep: None });
        } else if !goes_on {
            leaving.push(number);
            settled.may_die = true;
        }
    }
    let mut leaves = vec![false; points.len()];
    while let Some(number) = leaving.pop() {
        if !std::mem::replace(&mut leaves[number as usize], true) {
            leaving.extend(&before[number as usize]);
        }
    }
    // Of what stays among local instructions the least stands for all.
    let circling = (0..).zip(leaves).filter(|(_, leaves)| !leaves).map(|(number, _)| points.get(number));
    if let Some((label, registers)) = circling.min() {
        let registers = registers.into();
        settled.locals.push(Local { thread, label: Some(label), registers, holding, asleep: None });
    }
    settled.locals.sort_unstable_by(|one, other| (one.label, &one.registers).cmp(&(other.label, &other.registers)));
    settled.locals.dedup();
    Ok(settled)
}

/// The end of a thread.
fn ended(locals: &Locals<'_>, thread: ThreadId, holding: bool) -> Local {
    let registers = vec![0; locals.program.thread(thread).registers.len()].into_boxed_slice();
    Local { thread, label: None, registers, holding, asleep: None }
}
