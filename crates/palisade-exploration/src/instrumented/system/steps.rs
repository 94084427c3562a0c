//! The steps of threads other than a delaying attacker, and of the whole net [ESOP13, Eqs. 7–13].

use super::control::{Attacker, Control, Memory, Phase, raise, set};
use super::local::{Executed, Move, Targets, number};
use super::path::{self, OffPath, off_path};
use super::{Operation, Place, System};
use crate::instrumented::fault::Fault;
use crate::lazy::{Entry, LazyNet, Step};
use palisade_evidence::Level;
use palisade_model::limits::Limits;
use palisade_model::program::{Copies, InstructionId, Value};
use smallvec::SmallVec;

/// What an instruction stores when it updates memory, and the local states it settles in, none where the thread stops.
pub(crate) type Effect = (Option<Value>, Vec<Option<u32>>);

impl System<'_> {
    /// Whether the happens-before cycle is closed and st_A can reach memory (Eq. 13).
    pub fn is_success(&self, control: u32) -> bool {
        let control = self.control(control);
        match control.phase {
            Phase::Helped(number) => !control.locked && self.controls.helped.get(number).is_closed(),
            _ => false,
        }
    }

    /// The operation of an instruction at a local state, when it stands there.
    pub fn operation(&mut self, local: u32, instruction: InstructionId) -> Option<Operation> {
        let (start, end) = self.locals.moves(local);
        (start..end)
            .map(|index| self.locals.move_at(index))
            .find(|step| step.instruction == instruction)
            .map(|step| step.operation)
    }

    /// The non-local instructions at a local state.
    pub(crate) fn operations(&mut self, local: u32) -> Vec<(InstructionId, Operation)> {
        let (start, end) = self.locals.moves(local);
        (start..end).map(|index| self.locals.move_at(index)).map(|step| (step.instruction, step.operation)).collect()
    }

    /// What an instruction at a local state stores when it updates memory, and where it settles, when memory holds
    /// `read`.
    pub(crate) fn effect(
        &mut self,
        local: u32,
        instruction: InstructionId,
        operation: Operation,
        read: Value,
    ) -> Result<Option<Effect>, Fault> {
        if let Operation::Faulty(fault) = operation {
            return Err(self.locals.faults[fault as usize].clone());
        }
        let outcome = self.locals.outcome(local, Move { instruction, operation }, read)?;
        Ok(outcome.map(|outcome| (outcome.stored, self.locals.targets(outcome.targets).to_vec())))
    }

    /// The steps of one token, as a range of the step arena; computed once per control and place.
    pub(super) fn token_steps(&mut self, control: u32, place: Place) -> Result<(u32, u32), Fault> {
        if let Some(range) = self.cache.get(&(control, place.0)) {
            return Ok(*range);
        }
        let before = self.control(control);
        let mut steps: SmallVec<[Step; 4]> = SmallVec::new();
        let (first, last) = self.locals.moves(place.local());
        let thread = self.local(place).thread;
        for index in first..last {
            let step = self.locals.move_at(index);
            if let Some((after, joined, outcome)) = self.move_token(before, place, step)? {
                let settled = self.intern(after);
                let label = self.label_of(thread, step.instruction);
                for target in SmallVec::<[_; 4]>::from_slice(self.locals.targets(outcome)) {
                    let put = target.map(|local| Place::of(local, joined).0);
                    let taken = self.turns_taken(place.local(), target);
                    if taken.is_empty() {
                        steps.push(Step { control: settled, take: Some(place.0), put, label });
                        continue;
                    }
                    // A thread whose turn it is not stops, and does less than where it goes on without a turn.
                    steps.push(Step { control: settled, take: Some(place.0), put: None, label });
                    if let Some(memory) = self.with_turns_taken(after.memory, &taken) {
                        let control = self.intern(Control { memory, ..after });
                        steps.push(Step { control, take: Some(place.0), put, label });
                    }
                }
            }
        }
        let start = number(self.step_arena.len());
        self.step_arena.extend_from_slice(&steps);
        let range = (start, number(self.step_arena.len()));
        self.cache.insert((control, place.0), range);
        Ok(range)
    }

    /// One instruction of one token: the control after it, whether the token has joined, where it settles; nothing
    /// when it is disabled.
    fn move_token(
        &mut self,
        before: Control,
        place: Place,
        step: Move,
    ) -> Result<Option<(Control, bool, Targets)>, Fault> {
        let holding = self.local(place).holding;
        let enabled = match step.operation {
            Operation::Faulty(fault) => return Err(self.locals.faults[fault as usize].clone()),
            Operation::Lock => !before.locked && !holding,
            Operation::Unlock => holding,
            _ => !before.locked || holding,
        };
        if !enabled {
            return Ok(None);
        }
        let read = match step.operation {
            Operation::Load(address) | Operation::Update(address) => self.read(before.memory, address),
            _ => 0,
        };
        let Some(outcome) = self.locals.outcome(place.local(), step, read)? else { return Ok(None) };
        let Some((phase, joined)) = self.phase_after(before.phase, place, holding, step.operation, &outcome) else {
            return Ok(None);
        };
        let memory = match (step.operation, outcome.stored) {
            (Operation::Store(address, value), _) | (Operation::Update(address), Some(value)) => {
                self.write(before.memory, address, value)
            }
            _ => before.memory,
        };
        let locked = match step.operation {
            Operation::Lock => true,
            Operation::Unlock => false,
            _ => before.locked,
        };
        Ok(Some((Control { memory, locked, phase }, joined, outcome.targets)))
    }

    /// The phase after a helper's instruction, and whether the helper has joined; nothing when Eq. (7) stops it.
    fn phase_after(
        &mut self,
        before: Phase,
        place: Place,
        holding: bool,
        operation: Operation,
        outcome: &Executed,
    ) -> Option<(Phase, bool)> {
        let Phase::Helped(number) = before else { return Some((before, false)) };
        let access = path::access(operation, outcome.stored.is_some());
        if place.joined() {
            return Some((self.with_access(number, access), true));
        }
        let known = self.controls.helped.get(number);
        match off_path(operation, holding, access.map(|(address, kind)| (kind, known.level(address)))) {
            OffPath::Joins => Some((self.with_access(number, access), true)),
            OffPath::Passes => Some((before, false)),
            OffPath::Stops => None,
            OffPath::Records => {
                let (address, kind) = access?;
                let mut after = known.clone();
                raise(&mut after.section, address, kind);
                Some((Phase::Helped(self.controls.helped.intern(after).0), false))
            }
        }
    }

    /// The phase after an access on the happens-before path; the accesses of its section so far count with it.
    fn with_access(&mut self, number: u32, access: Option<(Value, Level)>) -> Phase {
        let Some((address, level)) = access else { return Phase::Helped(number) };
        let known = self.controls.helped.get(number);
        if known.level(address) >= Some(level) && known.section.is_empty() {
            return Phase::Helped(number);
        }
        let mut after = known.clone();
        for (address, level) in std::mem::take(&mut after.section) {
            raise(&mut after.levels, address, level);
        }
        raise(&mut after.levels, address, level);
        Phase::Helped(self.controls.helped.intern(after).0)
    }

    pub(super) fn write(&mut self, memory: u32, address: Value, value: Value) -> u32 {
        if self.read(memory, address) == value {
            return memory;
        }
        let mut changed = self.controls.memories.get(memory).changed.clone();
        if value == self.program().initial_value(address) {
            changed.retain(|pair| pair.0 != address);
        } else {
            set(&mut changed, address, value);
        }
        debug_assert!(changed.is_sorted_by(|a, b| a.0 < b.0), "a memory lists each address once, in order");
        self.controls.memories.intern(Memory { changed }).0
    }
}

impl LazyNet for System<'_> {
    type Error = Fault;

    fn limit(&mut self, limits: &Limits) {
        self.locals.limit(limits);
    }

    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Fault> {
        self.overgrown()?;
        if let Phase::Delayed(number) = self.control(control).phase {
            let Attacker { thread, label, .. } = *self.controls.attackers.get(number);
            self.attacker_steps(control, steps)?;
            if self.attacker_has_priority(thread, label) {
                return Ok(());
            }
        }
        for entry in entries {
            if entry.place == Place::SPARE.0 {
                for place in SmallVec::<[Place; 4]>::from_slice(&self.spare_places) {
                    let (start, end) = self.token_steps(control, place)?;
                    steps.extend(
                        self.step_arena[start as usize..end as usize]
                            .iter()
                            .map(|step| Step { take: Some(Place::SPARE.0), ..*step }),
                    );
                }
            } else {
                let (start, end) = self.token_steps(control, Place(entry.place))?;
                steps.extend_from_slice(&self.step_arena[start as usize..end as usize]);
            }
        }
        Ok(())
    }

    fn is_unbounded(&self, place: u32) -> bool {
        self.is_unbounded_net() && self.program().thread(self.local(Place(place)).thread).copies == Copies::Any
    }

    fn normalise(&mut self, control: u32, entries: &mut Vec<Entry>) -> (u32, u32) {
        self.turn(control, entries)
    }

    fn together(&mut self, first: u32, second: u32) -> u32 {
        self.turns_together(first, second)
    }

    fn orbit(&mut self, from: u32, to: u32, place: u32) -> Vec<u32> {
        self.turned_places(from, to, place)
    }

    fn repeats(&mut self, step: &Step) -> Result<bool, Fault> {
        let Some(place) = step.take else { return Ok(false) };
        let (start, end) = self.token_steps(step.control, Place(place))?;
        Ok(self.step_arena[start as usize..end as usize].contains(step))
    }
}
