//! The attacker: from isu_stA to ld_A [ESOP13, Eqs. 1–6].
//!
//! *A step of the attacker that has no value is not taken.* The searches explore SC first, and a
//! step without a value there is an error. So the attacker comes to one only where SC does not, and
//! then some attack is feasible without this step. Proof: the attacker's last load happens while
//! the lock is free, and what follows it needs no memory; so these steps can directly follow the
//! load. (Where the attacker has not loaded since isu_stA, they can follow its last access before
//! isu_stA.) Then the buffer drains. If the trace of this computation were one of SC, the thread
//! would come to the same local state under SC, and to the step without a value. So the trace is
//! cyclic, the program in which the step is disabled is not robust, and one of its attacks is
//! feasible [ESOP13, Theorems 1 and 2]. ∎ Helpers see nothing of the attacker's stores: what they
//! come to, they come to under SC.

use super::System;
use crate::instrumented::fault::{Fault, FaultKind};
use crate::instrumented::system::{Control, Helped, Local, Operation, Path, Phase, Place, Root, Taken, lookup, set};
use crate::lazy::{Entry, take};
use palisade_evidence::Level;
use palisade_model::program::{Action, InstructionId, LabelId, ThreadId, Value};
use smallvec::SmallVec;

/// The attacker while it delays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attacker {
    /// Its thread.
    pub thread: ThreadId,
    /// Where it is.
    pub label: LabelId,
    /// Its registers, dead ones 0.
    pub registers: Box<[Value]>,
    /// The latest value buffered for each address, sorted by address (Eqs. 1, 3).
    pub buffer: Vec<(Value, Value)>,
    /// The address of st_A.
    pub store_address: Value,
}

/// A load of a delaying attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// The address.
    pub(crate) address: Value,
    /// The value its buffer has for it, if any.
    pub(crate) buffered: Option<Value>,
}

/// Loads the attacker can be halted at, with the control after each.
pub type Loads = SmallVec<[(InstructionId, u32); 4]>;

impl System<'_> {
    /// The configurations after issuing a store that will be delayed (Eq. 1): one token of the
    /// thread becomes the attacker.
    pub fn delay_starts(
        &mut self,
        control: u32,
        entries: &[Entry],
        thread: ThreadId,
        store: InstructionId,
    ) -> Result<Vec<Root>, Fault> {
        let before = self.control(control);
        let mut starts = Vec::new();
        for entry in entries {
            let is_spare = entry.place == Place::SPARE.number();
            let places = if is_spare { self.spare_places().len() } else { 1 };
            for index in 0..places {
                let place = Place::from_number(if is_spare { self.spare_places()[index] } else { entry.place });
                if self.local_at(place).thread != thread {
                    continue;
                }
                let Some(attacker) = self.attacker_from(place.local(), store)? else { continue };
                let after = self.intern(Control { phase: Phase::Delayed(attacker), ..before });
                let mut rest = entries.to_vec();
                take(&mut rest, entry.place);
                starts.push(Root { control: after, entries: rest });
            }
        }
        Ok(starts)
    }

    /// Whether a token at a place, not the spare one, might issue a store that will be delayed; if
    /// not, [`delay_starts`](Self::delay_starts) makes nothing of it.
    pub fn may_delay(&mut self, place: u32, thread: ThreadId, store: InstructionId) -> bool {
        let place = Place::from_number(place);
        self.local_at(place).thread == thread && self.operation(place.local(), store).is_some()
    }

    /// The loads the attacker can be halted at (Eq. 2), with the control after each.
    pub fn attack_loads(&mut self, control: u32) -> Result<Loads, Fault> {
        let before = self.control(control);
        let Phase::Delayed(number) = before.phase else { return Ok(SmallVec::new()) };
        if before.locked {
            return Ok(SmallVec::new());
        }
        let store_address = self.attacker(number).store_address;
        let mut loads = SmallVec::new();
        for id in self.attacker_instructions(number) {
            let load = self.attacker_load(number, id);
            let Some(Some(Load { address, buffered: None })) = self.if_it_has_a_value(load)? else { continue };
            let happens = self.attack_load_happens(number, id, self.read(before.memory, address));
            if self.if_it_has_a_value(happens)? != Some(true) {
                continue;
            }
            let helped = Helped { store_address, path: Path::from(Some((address, Level::Load))) };
            let helped = self.model.helped.intern(helped).0;
            loads.push((id, self.intern(Control { phase: Phase::Helped(helped), ..before })));
        }
        Ok(loads)
    }

    /// Whether a delaying attacker's load happens with a value: it may wait for another one.
    pub(crate) fn attack_load_happens(&self, attacker: u32, id: InstructionId, read: Value) -> Result<bool, Fault> {
        let Attacker { thread, registers, .. } = self.model.attackers.get(attacker);
        self.locals.is_held_up((*thread, id), registers, read).map(|waits| !waits)
    }

    /// What a delaying attacker would load by an instruction, if that is a load.
    pub(crate) fn attacker_load(&self, attacker: u32, id: InstructionId) -> Result<Option<Load>, Fault> {
        let Attacker { thread, registers, buffer, .. } = self.model.attackers.get(attacker);
        let Action::Load { address, .. } = &self.program().thread(*thread).instruction(id).action else {
            return Ok(None);
        };
        let address = self.locals.address((*thread, id), address, registers).map_err(|error| Fault {
            thread: *thread,
            instruction: id,
            kind: FaultKind::Evaluation(error),
        })?;
        Ok(Some(Load { address, buffered: lookup(buffer, address) }))
    }

    /// The attackers after an instruction of a delaying one that, if it loads, reads the given
    /// value; computed once.
    pub(crate) fn attacker_after(
        &mut self,
        attacker: u32,
        id: InstructionId,
        read: Value,
    ) -> Result<SmallVec<[u32; 1]>, Fault> {
        if let Some(afters) = self.model.attackers_after.get(&(attacker, id, read)) {
            return Ok(afters.clone());
        }
        let afters = self.run_attacker(attacker, id, read)?;
        self.model.attackers_after.insert((attacker, id, read), afters.clone());
        Ok(afters)
    }

    fn run_attacker(&mut self, attacker: u32, id: InstructionId, read: Value) -> Result<SmallVec<[u32; 1]>, Fault> {
        let Attacker { thread, registers, buffer, store_address, .. } = self.model.attackers.get(attacker).clone();
        let fault = |error| Fault { thread, instruction: id, kind: FaultKind::Evaluation(error) };
        let instruction = self.program().thread(thread).instruction(id);
        let mut afters: SmallVec<[_; 1]> = SmallVec::new();
        match &instruction.action {
            Action::Load { .. } if self.locals.is_held_up((thread, id), &registers, read)? => {}
            Action::Load { register, .. } => {
                let mut after = registers;
                after[register.index()] = read;
                afters.push((after, buffer));
            }
            Action::Store { address, value } => {
                let address = self.locals.address((thread, id), address, &registers).map_err(fault)?;
                let value = value.evaluate(&registers, self.locals.domain()).map_err(fault)?;
                if self.locals.admit_stored(thread, id, address, value)? {
                    let mut longer = buffer;
                    set(&mut longer, address, value);
                    afters.push((registers, longer));
                }
            }
            action if action.is_local_under_tso() => {
                let mut steps = 0;
                for after in self.locals.local_successors(thread, id, &registers)? {
                    self.locals.count_step(thread, id, &mut steps)?;
                    afters.push((after, buffer.clone()));
                }
            }
            _ => {}
        }
        let mut numbers = SmallVec::new();
        for (registers, buffer) in afters {
            if self.locals.admit_registers(thread, id, instruction.target, &registers)? {
                numbers.push(self.attacker_at(thread, id, registers, buffer, store_address));
            }
        }
        Ok(numbers)
    }

    /// The attacker that a local state becomes by delaying a store that stands there.
    pub(crate) fn attacker_from(&mut self, local: u32, store: InstructionId) -> Result<Option<u32>, Fault> {
        let (address, value) = match self.operation(local, store) {
            Some(Operation::Store(address, value)) if !self.local(local).holding => (address, value),
            Some(Operation::Faulty(fault)) => return Err(self.locals.faults[fault as usize].clone()),
            _ => return Ok(None),
        };
        let Local { thread, registers, .. } = self.local(local).clone();
        Ok(Some(self.attacker_at(thread, store, registers, vec![(address, value)], address)))
    }

    /// The instructions at the attacker's label.
    pub(crate) fn attacker_instructions(&self, attacker: u32) -> SmallVec<[InstructionId; 4]> {
        let Attacker { thread, label, .. } = *self.model.attackers.get(attacker);
        SmallVec::from_slice(self.locals.instructions_at(thread, label))
    }

    /// Whether a delaying attacker can never reach another load: nothing stands at its label but
    /// instructions that need an empty buffer, or that lead nowhere.
    pub(crate) fn is_hopeless(&self, attacker: u32) -> bool {
        let Attacker { thread, label, .. } = *self.model.attackers.get(attacker);
        let template = self.program().thread(thread);
        self.locals.instructions_at(thread, label).iter().all(|id| {
            let action = &template.instruction(*id).action;
            action.drains_buffer() || *action == Action::Fail
        })
    }

    /// Lists the steps of a delaying attacker (Eqs. 3–6).
    pub(super) fn attacker_steps(&mut self, control: u32) -> Result<(), Fault> {
        let before = self.control(control);
        let Phase::Delayed(number) = before.phase else { return Ok(()) };
        let thread = self.attacker(number).thread;
        for id in self.attacker_instructions(number) {
            let load = self.attacker_load(number, id);
            let Some(load) = self.if_it_has_a_value(load)? else { continue };
            let read = match load {
                // A locked section of another thread keeps the attacker from memory, and from its
                // buffer.
                Some(_) if before.locked => continue,
                Some(Load { address, buffered: None }) => self.read(before.memory, address),
                Some(Load { buffered: Some(value), .. }) => value,
                None => 0,
            };
            let after = self.attacker_after(number, id, read);
            for attacker in self.if_it_has_a_value(after)?.unwrap_or_default() {
                let taken = self.turns_taken_by_attacker(number, attacker);
                let Some(memory) = self.with_turns_taken(before.memory, &taken) else { continue };
                let after = Control { memory, phase: Phase::Delayed(attacker), ..before };
                self.push(after, (None, None), (thread, id));
            }
        }
        Ok(())
    }

    /// The pairs of which a delaying attacker takes its turn by a step.
    fn turns_taken_by_attacker(&self, before: u32, after: u32) -> Taken {
        let Attacker { registers: before, .. } = self.attacker(before);
        let Attacker { registers: after, thread, .. } = self.attacker(after);
        self.locals.turns_taken(*thread, before, after)
    }

    /// What an attacker becomes by a turn of counters.
    pub(crate) fn turned_attacker(&mut self, attacker: u32, turn: u32) -> u32 {
        let mut turned = self.attacker(attacker).clone();
        self.turn_registers(turn, turned.thread, turned.label, &mut turned.registers);
        for (address, value) in &mut turned.buffer {
            *value = self.turned_cell(turn, *address, *value);
        }
        self.admit_turned(turned.thread, turned.label, &turned.registers);
        self.model.attackers.intern(turned).0
    }

    /// A step of the attacker, unless it has no value; the first that has none is noted.
    fn if_it_has_a_value<T>(&mut self, step: Result<T, Fault>) -> Result<Option<T>, Fault> {
        match step {
            Ok(step) => Ok(Some(step)),
            Err(fault) if fault.is_growth() => Err(fault),
            Err(fault) => {
                self.model.only_under_tso.get_or_insert(fault);
                Ok(None)
            }
        }
    }

    /// Whether only local instructions stand where the attacker is: then it moves alone.
    pub(super) fn attacker_has_priority(&self, thread: ThreadId, label: LabelId) -> bool {
        let instructions = self.locals.instructions_at(thread, label);
        !instructions.is_empty()
            && instructions.iter().all(|id| self.program().thread(thread).instruction(*id).action.is_local_under_tso())
    }

    /// The attacker after an instruction, its dead registers forgotten.
    fn attacker_at(
        &mut self,
        thread: ThreadId,
        instruction: InstructionId,
        mut registers: Box<[Value]>,
        buffer: Vec<(Value, Value)>,
        store_address: Value,
    ) -> u32 {
        let label = self.program().thread(thread).instruction(instruction).target;
        self.locals.liveness[thread.index()].forget_dead(label, &mut registers);
        self.model.attackers.intern(Attacker { thread, label, registers, buffer, store_address }).0
    }
}
