//! Control states: one place per unit, numbered as they are met; and transitions as moves between
//! them.

use super::super::compact::{CompactNet, Effect};
use super::super::number::{Number, Overflow, Stop};
use super::super::rows::Rows;
use fixedbitset::FixedBitSet;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A control state, by number.
pub(super) type State = u32;

/// The value of a unit that holds no token.
const NOWHERE: u32 = u32::MAX;

/// A transition: what it needs and does in the units, and its effects on the other places, the
/// counters.
#[derive(Clone, Debug)]
pub(super) struct Move<N> {
    /// Units with the places where their tokens must be.
    needs: Vec<(u32, u32)>,
    /// Units with the places where their tokens will be.
    sets: Vec<(u32, u32)>,
    /// Effects on counters, by counter number.
    pub(super) effects: Vec<Effect<N>>,
    /// Whether it needs two tokens of a unit, so that it never fires.
    never: bool,
}

impl<N: Number> Move<N> {
    /// The counters that it takes from.
    pub(super) fn taken(&self) -> impl Iterator<Item = u32> {
        self.effects.iter().filter(|effect| !effect.pre.is_zero()).map(|effect| effect.place)
    }

    /// Whether every counter that it takes from is ω.
    pub(super) fn is_paid(&self, omega: &FixedBitSet) -> bool {
        self.taken().all(|counter| omega.contains(counter as usize))
    }

    /// The counters outside Ω that it feeds when it is paid.
    pub(super) fn fed(&self, omega: &FixedBitSet) -> impl Iterator<Item = u32> {
        let feeds = |effect: &&Effect<N>| !effect.post.is_zero() && !omega.contains(effect.place as usize);
        self.effects.iter().filter(feeds).map(|effect| effect.place)
    }
}

/// The counters in a set.
pub(super) fn ones(omega: &FixedBitSet) -> impl Iterator<Item = u32> {
    omega.ones().map(|counter| u32::try_from(counter).expect("counters are numbered in 32 bits"))
}

/// The units of a net as control.
#[derive(Debug)]
pub(super) struct Control<N> {
    units: usize,
    /// Per transition of the compact net.
    pub(super) moves: Vec<Move<N>>,
    /// Per place, the moves that are looked up there: each at the rarest place of a unit that it
    /// needs.
    keyed: Rows,
    /// Per place, those of them that take from no counter.
    keyed_untaking: Rows,
    /// Per counter, the moves with units that are looked up there: each at the rarest counter that
    /// it takes from.
    counter_keyed: Rows,
    /// Per counter, the moves with units that take from it.
    consumers: Rows,
    /// Per counter, the moves without units that take from it.
    pub(super) free_consumers: Rows,
    /// Per counter, its place.
    pub(super) counters: Vec<u32>,
    /// Per place, its unit, or its counter number.
    roles: Vec<Role>,
    /// The control states met, one value per unit each.
    states: Vec<u32>,
    /// How many there are.
    count: u32,
    /// From values to numbers.
    table: HashTable<u32>,
}

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A place of this unit.
    Unit(u32),
    /// The counter with this number.
    Counter(u32),
}

impl<N: Number> Control<N> {
    /// The control of a net by these units.
    pub(super) fn new(compact: &CompactNet<N>, units: &[Vec<u32>]) -> Self {
        let mut roles = vec![Role::Counter(0); compact.places()];
        for (unit, places) in (0u32..).zip(units) {
            places.iter().for_each(|place| roles[*place as usize] = Role::Unit(unit));
        }
        let mut counters = Vec::new();
        for (place, role) in (0u32..).zip(&mut roles) {
            if let Role::Counter(number) = role {
                *number = u32::try_from(counters.len()).expect("fewer counters than places");
                counters.push(place);
            }
        }
        let transitions = u32::try_from(compact.transitions.len()).expect("transitions are numbered in 32 bits");
        let moves: Vec<Move<N>> = (0..transitions).map(|number| split(compact.effects(number), &roles)).collect();
        let mut users = vec![0u32; compact.places()];
        for (_, place) in moves.iter().flat_map(|one| &one.needs) {
            users[*place as usize] += 1;
        }
        let mut consumers = Vec::new();
        let (mut keyed, mut keyed_untaking, mut free_consumers) = (Vec::new(), Vec::new(), Vec::new());
        for (number, one) in (0u32..).zip(&moves).filter(|(_, one)| !one.never) {
            let Some((_, place)) = one.needs.iter().min_by_key(|(_, place)| users[*place as usize]) else {
                free_consumers.extend(one.taken().map(|counter| (counter, number)));
                continue;
            };
            keyed.push((*place, number));
            if one.taken().next().is_none() {
                keyed_untaking.push((*place, number));
            }
            consumers.extend(one.taken().map(|counter| (counter, number)));
        }
        let consumers = Rows::group(counters.len(), consumers.iter().copied());
        let rarest = |one: &Move<N>| one.taken().min_by_key(|counter| consumers.row(*counter).len());
        let with_units = (0u32..).zip(&moves).filter(|(_, one)| !one.never && !one.needs.is_empty());
        let counter_keyed: Vec<_> =
            with_units.filter_map(|(number, one)| rarest(one).map(|counter| (counter, number))).collect();
        Self {
            units: units.len(),
            keyed: Rows::group(compact.places(), keyed.iter().copied()),
            keyed_untaking: Rows::group(compact.places(), keyed_untaking.iter().copied()),
            counter_keyed: Rows::group(counters.len(), counter_keyed.iter().copied()),
            consumers,
            free_consumers: Rows::group(counters.len(), free_consumers.iter().copied()),
            moves,
            counters,
            roles,
            states: Vec::new(),
            count: 0,
            table: HashTable::new(),
        }
    }

    /// A marking as a control state and its counters.
    pub(super) fn split_marking(&mut self, marking: &[N]) -> Result<(State, Vec<(u32, N)>), Stop> {
        let mut values = vec![NOWHERE; self.units];
        let mut counters = Vec::new();
        for (place, count) in (0u32..).zip(marking).filter(|(_, count)| !count.is_zero()) {
            match self.roles[place as usize] {
                Role::Unit(unit) => values[unit as usize] = place,
                Role::Counter(number) => counters.push((number, count.clone())),
            }
        }
        Ok((self.intern(&values)?, counters))
    }

    /// A demand as places that units must hold and demands on counters; nothing when no control
    /// state can meet it.
    pub(super) fn split_demand(&self, demand: &[(u32, N)]) -> Option<Demand<N>> {
        let mut split = Demand { places: Vec::new(), counters: Vec::new() };
        for (place, count) in demand {
            match self.roles[*place as usize] {
                Role::Unit(_) if count.rough() > 1 => return None,
                Role::Unit(unit) => split.places.push((unit, *place)),
                Role::Counter(number) => split.counters.push((number, count.clone())),
            }
        }
        Some(split)
    }

    /// How many units there are.
    pub(super) fn units(&self) -> usize {
        self.units
    }

    /// The values of a state.
    fn values(&self, state: State) -> &[u32] {
        &self.states[state as usize * self.units..(state as usize + 1) * self.units]
    }

    /// The places that hold a token in a state.
    pub(super) fn places(&self, state: State) -> impl Iterator<Item = u32> + '_ {
        self.values(state).iter().copied().filter(|place| *place != NOWHERE)
    }

    /// Whether the units are where they are needed.
    fn meets(&self, state: State, needs: &[(u32, u32)]) -> bool {
        let values = self.values(state);
        needs.iter().all(|(unit, place)| values[*unit as usize] == *place)
    }

    /// Whether a state meets a demand's part on units.
    pub(super) fn meets_demand(&self, state: State, demand: &Demand<N>) -> bool {
        self.meets(state, &demand.places)
    }

    /// How many moves with units are looked up at these counters.
    pub(super) fn looked_up_at(&self, counters: impl Iterator<Item = u32>) -> usize {
        counters.map(|counter| self.counter_keyed.row(counter).len()).sum()
    }

    /// Collects the moves with units that the units allow in a state and that take only from
    /// `omega`, of which `looked_up` moves are [looked up](Self::looked_up_at) at its counters.
    /// Returns how many moves were tried.
    pub(super) fn paid(&self, state: State, omega: &FixedBitSet, looked_up: usize, into: &mut Vec<u32>) -> usize {
        let at_units: usize = self.places(state).map(|place| self.keyed.row(place).len()).sum();
        let mut tried = 0;
        let mut look = |numbers: &[u32]| {
            tried += numbers.len();
            let is_paid = |number: &u32| {
                let one = &self.moves[*number as usize];
                self.meets(state, &one.needs) && one.is_paid(omega)
            };
            into.extend(numbers.iter().copied().filter(is_paid));
        };
        if at_units <= looked_up {
            self.places(state).for_each(|place| look(self.keyed.row(place)));
        } else {
            self.places(state).for_each(|place| look(self.keyed_untaking.row(place)));
            ones(omega).for_each(|counter| look(self.counter_keyed.row(counter)));
        }
        tried
    }

    /// The moves with units that the units allow in a state and that take from a counter.
    pub(super) fn taking(&self, state: State, counter: u32) -> impl Iterator<Item = u32> {
        let meets = move |number: &u32| self.meets(state, &self.moves[*number as usize].needs);
        self.consumers.row(counter).iter().copied().filter(meets)
    }

    /// Where a move leads.
    pub(super) fn successor(&mut self, state: State, number: u32) -> Result<State, Stop> {
        let sets = &self.moves[number as usize].sets;
        if sets.is_empty() {
            return Ok(state);
        }
        let mut values = self.values(state).to_vec();
        for (unit, place) in sets {
            values[*unit as usize] = *place;
        }
        self.intern(&values)
    }

    /// The number of a state.
    fn intern(&mut self, values: &[u32]) -> Result<State, Stop> {
        let hash = |values: &[u32]| FxBuildHasher.hash_one(values);
        let (states, units) = (&self.states, self.units);
        let of = |state: u32| &states[state as usize * units..(state as usize + 1) * units];
        if let Some(state) = self.table.find(hash(values), |state| of(*state) == values) {
            return Ok(*state);
        }
        let state = self.count;
        self.table.insert_unique(hash(values), state, |state| hash(of(*state)));
        self.states.extend_from_slice(values);
        self.count = self.count.checked_add(1).ok_or(Stop::Fault(Overflow))?;
        Ok(state)
    }
}

/// A demand, split.
#[derive(Clone, Debug)]
pub(super) struct Demand<N> {
    /// Units with the places they must hold.
    places: Vec<(u32, u32)>,
    /// Demands on counters.
    pub(super) counters: Vec<(u32, N)>,
}

/// The effects of a transition as a move.
fn split<N: Number>(effects: &[Effect<N>], roles: &[Role]) -> Move<N> {
    let mut split = Move { needs: Vec::new(), sets: Vec::new(), effects: Vec::new(), never: false };
    for effect in effects {
        match roles[effect.place as usize] {
            Role::Counter(number) => split.effects.push(Effect { place: number, ..effect.clone() }),
            Role::Unit(unit) => {
                if !effect.pre.is_zero() {
                    split.needs.push((unit, effect.place));
                    split.never |= effect.pre.rough() > 1;
                }
                if effect.post.is_zero() {
                    if !split.sets.iter().any(|(other, _)| *other == unit) {
                        split.sets.push((unit, NOWHERE));
                    }
                } else if effect.pre.is_zero() {
                    split.sets.retain(|(other, _)| *other != unit);
                    split.sets.push((unit, effect.place));
                }
            }
        }
    }
    split
}
