//! The instrumented program against PSO \[NETYS17\], in which a single store A is delayed and every
//! other one reaches memory at once.
//!
//! Until A reaches memory, a computation is one of SC, but that its thread, the *attacker*, reads
//! the value of A where it loads from the address of A. A cycle of happens-before leads from A to a
//! later access e of the attacker to another address, and from there along the computation to an
//! access to the address of A. So the phases are:
//!
//! 1. *SC.* Everyone runs under sequential consistency.
//! 2. *Delayed.* A token has become the attacker: it has issued A, and takes its next steps alone
//!    until e. All of these are local or read A's value, so that steps of others can come before
//!    them.
//! 3. *On the path.* The path begins at e, and the attacker stays on it: its accesses raise levels
//!    as those of helpers do [ESOP13, Lemma 3]. A helper joins by an access that happens after one
//!    on the path; others take no steps, as they can come before e. The attacker cannot store to
//!    the address of A, nor take a step that needs an empty buffer.
//!
//! It succeeds when a helper on the path accesses the address of A. One exploration has all attacks
//! and phases, so that one closed set is the proof.

use super::certificate::{Tables, live};
use super::fault::Fault;
use super::system::{Act, Control, Growth, Instrumented, MemoryModel, Moved, Movers, Operation, Path, Place};
use crate::lazy::{Exploration, Interner};
use palisade_evidence::{Level, PsoAttack, PsoCertificate, PsoConfiguration};
use palisade_model::program::{InstructionId, Program, ThreadId, Value};

/// What a step is: an instruction, and the local ones behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepLabel {
    /// The thread that takes it.
    pub thread: ThreadId,
    /// The instruction.
    pub instruction: InstructionId,
    /// Whether the attacker takes it, after it has delayed its store.
    pub by_attacker: bool,
    /// Whether it is the store that is delayed.
    pub delays: bool,
}

/// An attack under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attack {
    /// The address of the delayed store.
    pub store_address: Value,
    /// The attacker's local state with the value it has delayed; nothing once it accesses no
    /// further address.
    pub attacker: Option<(u32, Value)>,
    /// The happens-before path; without levels before it begins.
    pub path: Path,
}

impl Attack {
    /// Whether the path has begun.
    pub fn has_begun(&self) -> bool {
        !self.path.levels.is_empty()
    }
}

/// PSO: one store is delayed.
#[derive(Clone, Debug, Default)]
pub struct Pso {
    /// Attacks under way.
    attacks: Interner<Attack>,
}

/// The instrumented program against PSO.
pub type PsoSystem<'p> = Instrumented<'p, Pso>;

impl MemoryModel for Pso {
    /// A number of the table of attacks; nothing under SC.
    type Phase = Option<u32>;
    /// Whether the thread is on the path.
    type Mark = bool;
    type Label = StepLabel;

    fn initial(&mut self) -> (Option<u32>, bool) {
        (None, false)
    }

    fn place(_: &mut PsoSystem<'_>, local: u32, joined: bool) -> u32 {
        Place::of(local, joined).number()
    }

    fn token(&self, place: u32) -> (u32, bool) {
        let place = Place::from_number(place);
        (place.local(), place.joined())
    }

    fn label(thread: ThreadId, instruction: InstructionId) -> StepLabel {
        StepLabel { thread, instruction, by_attacker: false, delays: false }
    }

    fn after(&mut self, before: Option<u32>, joined: bool, act: &Act) -> Option<(Option<u32>, bool)> {
        let Some(number) = before else { return Some((None, false)) };
        let attack = self.attacks.get(number);
        let (path, joined) = attack.path.after(joined, act.holding, act.made())?;
        let Some(path) = path else { return Some((before, joined)) };
        let after = Attack { path, ..attack.clone() };
        Some((Some(self.attacks.intern(after).0), joined))
    }

    /// Whether the path has come to the address of the delayed store: the happens-before cycle is
    /// closed once that store reaches memory.
    fn is_success(net: &PsoSystem<'_>, control: &Control<Option<u32>>) -> bool {
        net.attack(control.phase).is_some_and(|attack| attack.path.level(attack.store_address).is_some())
    }

    /// Everyone under SC, the attacker until the path begins, and then both.
    fn movers(net: &PsoSystem<'_>, phase: Option<u32>) -> Movers {
        match net.attack(phase) {
            Some(attack) if !attack.has_begun() => Movers::Lone,
            Some(Attack { attacker: Some(_), .. }) => Movers::All,
            _ => Movers::Tokens,
        }
    }

    fn lone_steps(net: &mut PsoSystem<'_>, control: u32) -> Result<(), Fault> {
        net.attacker_steps(net.control(control))
    }

    /// A store is delayed instead.
    fn branches(
        net: &mut PsoSystem<'_>,
        before: &Control<Option<u32>>,
        place: u32,
        moved: &Moved<Self>,
        target: Option<u32>,
    ) -> Result<(), Fault> {
        if let (None, Operation::Store(address, value), Some(local)) = (before.phase, moved.act.operation, target)
            && net.goes_on(local, address)
        {
            let attack = Attack { store_address: address, attacker: Some((local, value)), path: Path::default() };
            let delayed = Control { phase: Some(net.model.attacks.intern(attack).0), ..*before };
            let label = StepLabel { delays: true, ..Self::label(moved.act.thread, moved.act.instruction) };
            net.push(delayed, (Some(place), None), label);
        }
        Ok(())
    }
}

impl<'p> PsoSystem<'p> {
    /// The instrumented program, with so many spare copies or any number of them.
    pub fn new(program: &'p Program, growth: Growth, spare: Option<u32>) -> Self {
        Self::of(program, Pso::default(), growth, spare)
    }

    /// The attack of a phase.
    pub fn attack(&self, phase: Option<u32>) -> Option<&Attack> {
        phase.map(|number| self.model.attacks.get(number))
    }

    /// Whether an attacker may do something at a local state while it delays a store to an address:
    /// a load, or a store to another address.
    fn goes_on(&mut self, local: u32, store_address: Value) -> bool {
        let (first, last) = self.locals.moves(local);
        (first..last).any(|index| {
            let step = self.locals.move_at(index);
            match step.operation {
                Operation::Load(_) => true,
                Operation::Store(address, _) => address != store_address,
                Operation::Faulty(_) => !self.drains(local, step.instruction),
                _ => false,
            }
        })
    }

    /// Whether an instruction at a local state waits for an empty buffer.
    fn drains(&self, local: u32, instruction: InstructionId) -> bool {
        self.program().thread(self.local(local).thread).instruction(instruction).action.drains_buffer()
    }

    /// Lists the steps of the attacker, which is on the path from its first access to another
    /// address on.
    fn attacker_steps(&mut self, before: Control<Option<u32>>) -> Result<(), Fault> {
        let Some(attack) = self.attack(before.phase).cloned() else { return Ok(()) };
        let Some((local, value)) = attack.attacker else { return Ok(()) };
        let thread = self.local(local).thread;
        let (first, last) = self.locals.moves(local);
        for index in first..last {
            let step = self.locals.move_at(index);
            let mut access = None;
            let mut memory = before.memory;
            let read = match step.operation {
                Operation::Load(address) if address == attack.store_address => value,
                Operation::Load(address) => {
                    access = Some((address, Level::Load));
                    self.read(memory, address)
                }
                Operation::Store(address, stored) if address != attack.store_address => {
                    access = Some((address, Level::Store));
                    memory = self.write(memory, address, stored);
                    0
                }
                Operation::Faulty(fault) if !self.drains(local, step.instruction) => {
                    return Err(self.locals.faults[fault as usize].clone());
                }
                // A store to the same address and whatever needs an empty buffer wait for the
                // delayed store.
                _ => continue,
            };
            let Some(outcome) = self.locals.outcome(local, step, read)? else { continue };
            let path = attack.path.with_access(access).unwrap_or_else(|| attack.path.clone());
            let after = Attack { path, ..attack.clone() };
            let label = StepLabel { by_attacker: true, ..Pso::label(thread, step.instruction) };
            for target in self.locals.targets(outcome.targets).to_vec() {
                let going = target.filter(|local| self.goes_on(*local, attack.store_address));
                if going.is_none() && !after.has_begun() {
                    continue;
                }
                let after = Attack { attacker: going.map(|local| (local, value)), ..after.clone() };
                let phase = Some(self.model.attacks.intern(after).0);
                self.push(Control { memory, phase, ..before }, (None, None), label);
            }
        }
        Ok(())
    }
}

/// The certificate of a robust program whose system was explored to the end.
pub fn certificate(system: &PsoSystem<'_>, explored: &Exploration) -> PsoCertificate {
    let mut tables = Tables::new(system);
    let configuration = |node| {
        let control = system.control(explored.control(node));
        let attack = system.attack(control.phase).cloned().map(|attack| PsoAttack {
            store_address: attack.store_address,
            attacker: attack.attacker.map(|(local, value)| (tables.local(local), value)),
            levels: attack.path.levels,
        });
        let memory = tables.memory(control.memory);
        let tokens = explored.entries(node).iter().map(|entry| {
            let (local, joined) = system.model.token(entry.place);
            (tables.local(local), joined, entry.tokens.into())
        });
        PsoConfiguration { memory, attack, tokens: tokens.collect() }
    };
    let configurations = explored.maximal().map(configuration).collect();
    let (locals, memories) = tables.finish();
    PsoCertificate { live: live(system.program()), locals, memories, configurations }
}
