//! The transitions of threads other than the delaying attacker [ESOP13, Eqs. 7–13].

use super::arcs::Arcs;
use super::builder::Builder;
use super::meaning::{Firing, Meaning};
use crate::instrumented::fault::Fault;
use crate::instrumented::system::{Local, OffPath, Operation, access, off_path, raise};
use palisade_evidence::Level;
use palisade_model::program::Value;

impl Builder<'_> {
    /// The transitions of a local state of a thread.
    pub(super) fn token(&mut self, local: u32, joined: bool) -> Result<(), Fault> {
        let Local { thread, holding, .. } = self.system.local(local).clone();
        let token = self.place(Meaning::Token(local, joined));
        for (id, operation) in self.system.operations(local) {
            let free = self.place(Meaning::Lock(false));
            let arcs = match operation {
                Operation::Lock if holding => continue,
                Operation::Lock => Arcs::default().moves(free, self.place(Meaning::Lock(true))),
                Operation::Unlock if !holding => continue,
                Operation::Unlock => Arcs::default().moves(self.place(Meaning::Lock(true)), free),
                _ if holding => Arcs::default(),
                _ => Arcs::default().reads(free),
            }
            .takes(token);
            let reads = match operation {
                Operation::Load(address) | Operation::Update(address) => {
                    self.values_of(address).iter().map(|value| Some((address, *value))).collect()
                }
                _ => vec![None],
            };
            for read in reads {
                let value = read.map_or(0, |(_, value)| value);
                let Some((stored, targets)) = self.system.effect(local, id, operation, value)? else { continue };
                let write = match operation {
                    Operation::Store(address, value) => Some((address, value)),
                    Operation::Update(address) => stored.map(|stored| (address, stored)),
                    _ => None,
                };
                for arcs in self.with_memory(&arcs, read, write) {
                    if !self.goes_on() {
                        return Ok(());
                    }
                    for (arcs, joins) in self.with_stage(arcs, joined, holding, operation, stored.is_some()) {
                        for target in &targets {
                            let arcs = match target {
                                Some(local) => arcs.clone().puts(self.place(Meaning::Token(*local, joins))),
                                None => arcs.clone(),
                            };
                            let to = target.map(|local| (local, joins));
                            let firing = Firing::Step { from: (local, joined), instruction: id, to };
                            self.transition(&self.name(thread, id), arcs, firing);
                        }
                    }
                }
            }
            if thread == self.attack.thread
                && id == self.attack.store
                && !joined
                && let Some(attacker) = self.system.attacker_from(local, id)?
                && !self.system.is_hopeless(attacker)
            {
                // Isu_stA (Eq. 1): the idle attacker is the test-and-set flag.
                let idle = self.place(Meaning::Idle);
                let attacker = self.place(Meaning::Attacker(attacker));
                let stage = self.place(Meaning::Stage(false));
                let arcs = Arcs::default().takes(token).moves(idle, attacker).reads(stage);
                self.transition(&format!("{} delayed", self.name(thread, id)), arcs, Firing::Delay(local));
            }
        }
        Ok(())
    }

    /// The ways memory can be before and after an action that reads one address or writes one.
    fn with_memory(&mut self, arcs: &Arcs, read: Option<(Value, Value)>, write: Option<(Value, Value)>) -> Vec<Arcs> {
        match (read, write) {
            (None, None) => vec![arcs.clone()],
            (Some((address, value)), None) => {
                vec![arcs.clone().reads(self.place(Meaning::Memory(address, value)))]
            }
            (Some((address, old)), Some((_, new))) => {
                let old = self.place(Meaning::Memory(address, old));
                let new = self.value_place(address, new);
                vec![arcs.clone().moves(old, new)]
            }
            (None, Some((address, new))) => {
                let new = self.value_place(address, new);
                let olds = self.values_of(address);
                olds.into_iter().map(|old| arcs.clone().moves(self.place(Meaning::Memory(address, old)), new)).collect()
            }
        }
    }

    /// The ways an action can happen before ld_A and after it; with each, whether its thread has
    /// joined.
    fn with_stage(
        &mut self,
        arcs: Arcs,
        joined: bool,
        holding: bool,
        operation: Operation,
        updates: bool,
    ) -> Vec<(Arcs, bool)> {
        let mut ways = Vec::new();
        if !joined {
            ways.push((arcs.clone().reads(self.place(Meaning::Stage(false))), false));
        }
        let Some(after) = self.places.get(&Meaning::Stage(true)).copied() else { return ways };
        let access = access(operation, updates);
        let arcs = if joined { arcs } else { arcs.reads(after) };
        let Some((address, kind)) = access else {
            if joined || off_path(operation, holding, None) == OffPath::Passes {
                ways.push((arcs, joined));
            }
            return ways;
        };
        for known in self.levels_of(address) {
            if !self.goes_on() {
                break;
            }
            let before = self.place(Meaning::Level(address, known));
            if joined {
                let raised = self.level_place(address, known.max(Some(kind)));
                ways.push((arcs.clone().moves(before, raised), true));
                continue;
            }
            match off_path(operation, holding, Some((kind, known))) {
                OffPath::Joins => {
                    ways.extend(self.joining(&arcs, address, known, kind).into_iter().map(|arcs| (arcs, true)));
                }
                OffPath::Records => {
                    for section in self.sections.clone() {
                        if !self.goes_on() {
                            break;
                        }
                        let mut longer = section.clone();
                        raise(&mut longer, address, kind);
                        let arcs = arcs.clone().reads(before);
                        let from = self.place(Meaning::Section(section));
                        let to = self.section_place(longer);
                        ways.push((arcs.moves(from, to), false));
                    }
                }
                OffPath::Passes => ways.push((arcs.clone(), false)),
                OffPath::Stops => {}
            }
        }
        ways
    }

    /// The ways to join by an access: the accesses recorded in the open section, if any, count with
    /// it.
    fn joining(&mut self, arcs: &Arcs, address: Value, known: Option<Level>, level: Level) -> Vec<Arcs> {
        let mut ways = Vec::new();
        for section in self.sections.clone() {
            let from = self.place(Meaning::Section(section.clone()));
            let to = self.place(Meaning::Section(Vec::new()));
            let mut own = level;
            let mut open = vec![arcs.clone().moves(from, to)];
            for (other, recorded) in section {
                if other == address {
                    own = own.max(recorded);
                    continue;
                }
                let mut longer = Vec::new();
                for arcs in open {
                    if !self.goes_on() {
                        return ways;
                    }
                    for known in self.levels_of(other) {
                        let before = self.place(Meaning::Level(other, known));
                        let raised = self.level_place(other, known.max(Some(recorded)));
                        longer.push(arcs.clone().moves(before, raised));
                    }
                }
                open = longer;
            }
            let before = self.place(Meaning::Level(address, known));
            let raised = self.level_place(address, known.max(Some(own)));
            ways.extend(open.into_iter().map(|arcs| arcs.moves(before, raised)));
        }
        ways
    }
}
