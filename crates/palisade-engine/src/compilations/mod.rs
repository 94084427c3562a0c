//! Whether what is shown of an unoptimised build holds of every compilation of its sources.
//!
//! A build without optimisation has its accesses in the order of the source. If it is robust, and
//! all that compilers may do with its accesses is to delay stores past later loads, or to merge
//! neighbours of one address, then each of them makes a program of which store buffers show nothing
//! but what interleavings of the source show. Here the second condition is decided, from the
//! orderings that the listing has: either all accesses are sequentially consistent, or no path of a
//! thread has two accesses that compilers may exchange in another way, nor a read-modify-write in
//! the place of a fence; and no interleaving comes to a race of data without atomics (`races`).
//! THEORY.md ("Every compilation") has the argument.
//!
//! Paths are those that one thread may take, whatever it loads: registers are followed as far as
//! their bits are known (`bits`), so that what follows a compare-and-swap that succeeds is told
//! from what follows one that does not.

mod bits;
mod monitor;
mod races;
mod said;

use bits::Bits;
use monitor::{Monitor, Reason, Step};
use palisade_evidence::RobustCertificate;
use palisade_model::program::{
    Action, ByLabel, Heading, Instruction, InstructionId, LabelId, Liveness, Ordering, Program, RegisterId, Thread,
};
use races::{Plain, without_races};
use said::{is_access, said};
use std::collections::{BTreeSet, HashSet};

/// Why nothing is said of every compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// The first place in the sources that is in the way.
    pub place: String,
    /// What it is that is in the way.
    pub reason: String,
    /// Whether only so many states of a thread are followed, and nothing was found in the way.
    pub is_limit: bool,
}

/// More states of one thread are not followed.
const MOST_STATES: usize = 200_000;

/// Whether orderings suffice for every compilation, of a program that was read in source order, and
/// which a certificate shows robust; nothing for any other program.
pub fn every_compilation(program: &Program, certificate: &RobustCertificate) -> Option<Result<(), Objection>> {
    let heading = Heading::of(&program.source).filter(|heading| heading.is_in_source_order)?;
    if let Some((place, reason)) = heading.unknown {
        return Some(Err(Objection { place: place.to_owned(), reason: reason.to_owned(), is_limit: false }));
    }
    Some(judged(program, certificate))
}

fn judged(program: &Program, certificate: &RobustCertificate) -> Result<(), Objection> {
    let threads = || program.thread_ids().filter(|(_, thread)| !thread.is_left_out());
    let (mut weak, mut relaxed, mut plain) = (false, BTreeSet::new(), Plain::new());
    let all = threads().flat_map(|(thread, own)| own.instruction_ids().map(move |(id, own)| (thread, id, own)));
    for (thread, id, instruction) in all.filter(|(_, _, own)| is_access(&own.action)) {
        let Some(said) = said(program, instruction) else {
            let reason = "the instruction is not one that the call in the source becomes".to_owned();
            return Err(Objection { place: place(program, instruction), reason, is_limit: false });
        };
        weak |= !said.is_plain() && said.orderings().any(|ordering| ordering != Ordering::SeqCst);
        if said.orderings().any(|ordering| ordering == Ordering::Relaxed) {
            relaxed.insert(place(program, instruction));
        }
        if said.is_plain() {
            plain.insert((thread, id));
        }
    }
    without_races(program, &plain, certificate)?;
    if !weak {
        return Ok(());
    }
    for (_, thread) in threads() {
        Paths::new(program, thread).follow_all(relaxed.len())?;
    }
    Ok(())
}

/// The place of an instruction, which stands at the end of its line.
fn place(program: &Program, instruction: &Instruction) -> String {
    program.listed(instruction).map_or("?", |listed| listed.place).to_owned()
}

/// A state of a thread: where it is, what is known of its live registers, what the monitor
/// remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    label: LabelId,
    registers: Vec<Bits>,
    monitor: Monitor,
}

/// The paths of a thread.
struct Paths<'a> {
    program: &'a Program,
    thread: &'a Thread,
    liveness: Liveness,
    by_label: ByLabel,
}

impl<'a> Paths<'a> {
    fn new(program: &'a Program, thread: &'a Thread) -> Self {
        Self { program, thread, liveness: Liveness::of(thread), by_label: thread.instructions_by_label() }
    }

    fn follow_all(&self, relaxed: usize) -> Result<(), Objection> {
        let start = State {
            label: self.thread.initial,
            registers: vec![Bits::UNKNOWN; self.thread.registers.len()],
            monitor: Monitor::default(),
        };
        let (mut seen, mut open) = (HashSet::from([start.clone()]), vec![start]);
        while let Some(state) = open.pop() {
            for id in &self.by_label[state.label.index()] {
                let instruction = self.thread.instruction(*id);
                let next = self.after(&state, *id, instruction);
                for state in next.map_err(|reason| self.objection(instruction, reason, relaxed))? {
                    if seen.insert(state.clone()) {
                        open.push(state);
                    }
                }
            }
            if seen.len() > MOST_STATES {
                let reason = format!("role `{}` has more than {MOST_STATES} states to follow", self.thread.name);
                let place = self.place(*self.by_label[0].first().expect("it begins"));
                return Err(Objection { place, reason, is_limit: true });
            }
        }
        Ok(())
    }

    /// The states behind an instruction.
    fn after(&self, state: &State, id: InstructionId, instruction: &Instruction) -> Result<Vec<State>, Reason> {
        let value = |expression| Bits::evaluated(expression, &|register| state.registers[register.index()]);
        let address = instruction.action.address().and_then(|address| value(address).known());
        let said = || said(self.program, instruction).expect("it was read before");
        let mut next = Vec::new();
        let mut go = |written: Option<(RegisterId, Bits)>, step: Option<Step>| {
            let mut after = State { label: instruction.target, ..state.clone() };
            if let Some((register, value)) = written {
                after.registers[register.index()] = value;
            }
            for (index, value) in after.registers.iter_mut().enumerate() {
                if !self.liveness.is_live(after.label, RegisterId::from_index(index)) {
                    *value = Bits::UNKNOWN;
                }
            }
            if let Some(step) = step {
                after.monitor.follow(id, address, step)?;
            }
            next.push(after);
            Ok(())
        };
        match &instruction.action {
            Action::Assign { register, value: assigned } => go(Some((*register, value(assigned))), None)?,
            Action::Assume(condition) if value(condition).is_true() == Some(false) => {}
            Action::Assume(_) | Action::Nop | Action::Ensure(_) | Action::Post { .. } => go(None, None)?,
            Action::Havoc { register } => go(Some((*register, Bits::UNKNOWN)), None)?,
            Action::Fail => {}
            Action::Load { register, .. } => go(Some((*register, Bits::UNKNOWN)), Some(Step::of(said(), true, false)))?,
            Action::Store { .. } => go(None, Some(Step::of(said(), false, false)))?,
            Action::Rmw { register, .. } => {
                go(register.map(|register| (register, Bits::UNKNOWN)), Some(Step::of(said(), false, false)))?;
            }
            Action::Cas { register, expected, .. } => {
                let expected = value(expected);
                let found = |bits: Bits| register.map(|register| (register, bits));
                // Whether it succeeds or not, its instruction drains the buffer, and neither is a
                // fence.
                let mut before = state.monitor;
                before.follow(id, address, Step::Private)?;
                let failed = expected.known().map_or(Bits::UNKNOWN, Bits::anything_but);
                go(found(expected), Some(Step::of(said(), false, false)))?;
                go(found(failed), Some(Step::of(said(), true, false)))?;
            }
            Action::Fence => go(None, Some(Step::of(said(), false, true)))?,
            Action::StoreFence | Action::Lock | Action::Unlock => unreachable!("nothing is said of it"),
        }
        Ok(next)
    }

    fn place(&self, id: InstructionId) -> String {
        place(self.program, self.thread.instruction(id))
    }

    fn objection(&self, at: &Instruction, reason: Reason, relaxed: usize) -> Objection {
        let here = place(self.program, at);
        let count = if relaxed == 1 { "1 Relaxed access".to_owned() } else { format!("{relaxed} Relaxed accesses") };
        let of = match at.action {
            Action::Load { .. } => "load",
            Action::Store { .. } => "store",
            _ => "read-modify-write",
        };
        let (first, reason) = match reason {
            Reason::LoadBeforeLoad(first) => {
                (first, format!("{count}; by its ordering, this load may come after the {of} at {here}"))
            }
            Reason::LoadBeforeStore(first) => {
                (first, format!("{count}; by its ordering, this load may come after the {of} at {here}"))
            }
            Reason::StoreAfterStore(first) => {
                (first, format!("{count}; by its ordering, this store may come after the {of} at {here}"))
            }
            Reason::NoFence(first) => (
                first,
                format!("this store may come after the {of} at {here}, which is no fence but for this machine code"),
            ),
            Reason::LoadBeforePlain(first) => {
                (first, format!("by its ordering, this load may come after the access without atomics at {here}"))
            }
            Reason::PlainBeforeStore(first) => {
                (first, format!("by the ordering there, this access without atomics may come after the {of} at {here}"))
            }
            Reason::ExchangeBeforeLoad(first) => {
                let reason =
                    format!("this SeqCst store may come after the {of} at {here}, as not all accesses are SeqCst");
                (first, reason)
            }
        };
        Objection { place: self.place(first), reason, is_limit: false }
    }
}
