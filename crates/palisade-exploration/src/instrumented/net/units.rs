//! The finished net with its units: sets of places that never hold more than one token together.

use super::AttackNet;
use super::builder::Builder;
use super::meaning::Meaning;
use crate::instrumented::fault::Fault;
use palisade_model::limits::Halt;
use palisade_model::net::{Count, PlaceId, Problem, Query, Target};
use palisade_model::program::{Copies, Thread, Value};
use rustc_hash::FxHashMap;

impl<'p> Builder<'p> {
    /// The net with its units, and the question.
    pub(super) fn finish(mut self) -> Result<AttackNet<'p>, Halt<Fault>> {
        let mut units: Vec<Vec<PlaceId>> = Vec::new();
        let mut numbers: FxHashMap<(u8, Value), usize> = FxHashMap::default();
        let mut member = |kind: u8, address: Value, place: PlaceId| {
            let number = *numbers.entry((kind, address)).or_insert_with(|| {
                units.push(Vec::new());
                units.len() - 1
            });
            units[number].push(place);
        };
        for (index, meaning) in self.meanings.iter().enumerate() {
            let place = PlaceId::from_index(index);
            match meaning {
                Meaning::Memory(address, _) => member(0, *address, place),
                Meaning::Level(address, _) => member(1, *address, place),
                Meaning::Lock(_) => member(2, 0, place),
                Meaning::Stage(_) => member(3, 0, place),
                // Success takes the attacker's token.
                Meaning::Idle | Meaning::Attacker(_) | Meaning::Gone(_) | Meaning::Success => member(4, 0, place),
                Meaning::Section(_) => member(5, 0, place),
                Meaning::Token(..) | Meaning::Start(_) | Meaning::Spare => {}
            }
        }
        // The attacker's token leaves its thread, and so does one that stops: then these are no
        // unit.
        let mut of_thread = vec![Vec::new(); self.program.threads.len()];
        for (index, meaning) in self.meanings.iter().enumerate() {
            let thread = match meaning {
                Meaning::Token(local, _) => self.system.local(*local).thread,
                Meaning::Start(thread) => *thread,
                _ => continue,
            };
            of_thread[thread.index()].push(PlaceId::from_index(index));
        }
        let single = |(thread, _): &(&Thread, Vec<PlaceId>)| thread.copies == Copies::Exactly(1);
        units.extend(self.program.threads.iter().zip(of_thread).filter(single).map(|(_, places)| places));
        self.limits.check()?;
        self.net.add_sound_units(units);
        let success = self.places[&Meaning::Success];
        debug_assert_eq!(self.meanings.len(), self.net.places.len(), "each place has a meaning");
        debug_assert_eq!(self.firings.len(), self.net.transitions.len(), "each transition has a meaning");
        let target = Target::new(vec![(success, Count::ONE)]);
        let problem = Problem { net: self.net, query: Query { targets: vec![target] } };
        let Self { firings, also, meanings, system, .. } = self;
        Ok(AttackNet { problem, firings, also, meanings, system })
    }
}
