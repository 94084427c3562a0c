//! The transitions of the delaying attacker [ESOP13, Eqs. 1–6], and the one that closes the cycle.

use super::arcs::Arcs;
use super::builder::Builder;
use super::meaning::{Firing, Meaning};
use crate::instrumented::fault::Fault;
use crate::instrumented::tso::Load;
use palisade_evidence::Level;
use palisade_model::program::{InstructionId, Value};

impl Builder<'_> {
    /// The transitions of a delaying attacker (Eqs. 2–6).
    pub(super) fn attacker(&mut self, number: u32) -> Result<(), Fault> {
        let from = self.place(Meaning::Attacker(number));
        let free = self.place(Meaning::Lock(false));
        for id in self.system.attacker_instructions(number) {
            let load = self.system.attacker_load(number, id)?;
            let reads: Vec<(Arcs, Value)> = match load {
                None => vec![(Arcs::default(), 0)],
                Some(Load { buffered: Some(value), .. }) => vec![(Arcs::default().reads(free), value)],
                Some(Load { address, buffered: None }) => self
                    .values_of(address)
                    .into_iter()
                    .map(|value| {
                        (Arcs::default().reads(free).reads(self.place(Meaning::Memory(address, value))), value)
                    })
                    .collect(),
            };
            let name = format!("{} delaying", self.name(self.attack.thread, id));
            let waits = self.program.thread(self.attack.thread).instruction(id).until().is_some();
            for (arcs, value) in reads {
                if !self.goes_on() {
                    return Ok(());
                }
                if let (true, Some(load)) = (waits, load) {
                    self.overstepped(number, (id, load), Some((arcs.clone(), value)))?;
                }
                for after in self.system.attacker_after(number, id, value)? {
                    if self.system.is_hopeless(after) {
                        continue;
                    }
                    let to = self.place(Meaning::Attacker(after));
                    let firing = Firing::Attacker { instruction: id, after };
                    self.transition(&name, arcs.clone().moves(from, to), firing);
                }
            }
            if let (false, Some(load)) = (waits, load) {
                self.overstepped(number, (id, load), None)?;
            }
        }
        Ok(())
    }

    /// The attack's load (Eq. 2). One that waits has a transition for each value with which it
    /// happens, with the arcs by which it reads that value.
    fn overstepped(
        &mut self,
        number: u32,
        (id, load): (InstructionId, Load),
        read: Option<(Arcs, Value)>,
    ) -> Result<(), Fault> {
        let Load { address, buffered: None } = load else { return Ok(()) };
        if id != self.attack.load {
            return Ok(());
        }
        let reads = match read {
            Some((_, value)) if !self.system.attack_load_happens(number, id, value)? => return Ok(()),
            Some((arcs, _)) => arcs,
            None => Arcs::default().reads(self.place(Meaning::Lock(false))),
        };
        let store_address = self.system.attacker(number).store_address;
        let none = self.level_place(address, None);
        let loaded = self.level_place(address, Some(Level::Load));
        let arcs = reads
            .moves(self.place(Meaning::Attacker(number)), self.place(Meaning::Gone(store_address)))
            .moves(self.place(Meaning::Stage(false)), self.place(Meaning::Stage(true)))
            .moves(none, loaded);
        self.transition(&format!("{} overstepped", self.name(self.attack.thread, id)), arcs, Firing::Load);
        Ok(())
    }

    /// The cycle is closed when the address of st_A has been accessed and no section is open (Eq.
    /// 13).
    pub(super) fn success(&mut self, store_address: Value) {
        let gone = self.place(Meaning::Gone(store_address));
        let free = self.place(Meaning::Lock(false));
        let success = self.place(Meaning::Success);
        for level in self.levels_of(store_address).into_iter().flatten() {
            let accessed = self.place(Meaning::Level(store_address, Some(level)));
            let arcs = Arcs::default().takes(gone).reads(free).reads(accessed).puts(success);
            self.transition("success", arcs, Firing::Success);
        }
    }
}
