//! Where searches start: initial configurations, and copies that are free to be any replicated thread.

use super::control::{Control, Memory, Phase};
use super::initial::InitialTokens;
use super::{Operation, Place, System};
use crate::instrumented::fault::Fault;
use crate::lazy::{Entry, Step};
use palisade_model::program::{InstructionId, ThreadId};

/// A configuration to start a search from.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its control.
    pub control: u32,
    /// Its tokens, sorted by place.
    pub entries: Vec<Entry>,
}

impl System<'_> {
    /// The initial configurations: each copy of a thread with a fixed number of them has chosen where it settles. None
    /// when there are too many, or too many copies to count.
    pub fn roots(&mut self) -> Result<Option<Vec<Root>>, Fault> {
        let memory = self.controls.memories.intern(Memory::default()).0;
        let control = self.intern(Control { memory, locked: false, phase: Phase::Sc });
        let locals = &mut self.locals;
        let tokens = InitialTokens::of(locals.program, self.spare, &mut |thread| {
            let places = locals.initial(thread)?.into_iter().flatten();
            Ok(places.map(|local| Place::of(local, false).number()).collect())
        })?;
        let Some(InitialTokens { roots, spare_places }) = tokens else { return Ok(None) };
        self.spare_places.extend(spare_places.into_iter().map(Place::from_number));
        self.keep_spare_copies();
        Ok(Some(roots.into_iter().map(|entries| Root { control, entries }).collect()))
    }

    /// The settled local states a thread may start in; none when it stops at once.
    pub(crate) fn initial_locals(&mut self, thread: ThreadId) -> Result<Vec<u32>, Fault> {
        Ok(self.locals.initial(thread)?.into_iter().flatten().collect())
    }

    /// The initial place that a step of a spare copy starts from.
    pub fn spare_place(&mut self, control: u32, step: &Step) -> Result<Place, Fault> {
        for place in self.spare_places.clone() {
            let (start, end) = self.token_steps(control, place)?;
            let started = Step { take: Some(place.0), ..*step };
            if self.step_arena[start as usize..end as usize].contains(&started) {
                return Ok(place);
            }
        }
        unreachable!("a spare copy starts from an initial place")
    }

    /// The initial place from which a spare copy became the attacker of a control by delaying its first store.
    pub fn spare_start(&mut self, control: u32, store: InstructionId) -> Place {
        let Phase::Delayed(number) = self.control(control).phase else { unreachable!("delaying has started") };
        let attacker = self.attacker(number).clone();
        self.spare_places
            .clone()
            .into_iter()
            .find(|place| {
                let mut registers = self.local(*place).registers.clone();
                self.locals.liveness[attacker.thread.index()].forget_dead(attacker.label, &mut registers);
                let operation = self.operation(place.local(), store);
                self.local(*place).thread == attacker.thread
                    && registers == attacker.registers
                    && operation == attacker.buffer.first().map(|(address, value)| Operation::Store(*address, *value))
            })
            .expect("a spare copy that delays its first store starts where the store stands")
    }
}
