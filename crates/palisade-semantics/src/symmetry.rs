//! Copies of one thread are interchangeable: who of them does what tells no two states apart.
//!
//! A permutation of the copies of a thread takes steps to steps, violations to violations and the
//! initial state to itself. So of the states that it takes to each other a search needs one, in
//! which the copies stand in the order of their numbers.

use super::computation::Computation;
use super::instance::CopyId;
use super::machine::{Machine, State};
use super::state_table::Row;
use palisade_model::program::ThreadId;
use std::ops::Range;

/// The copies that stand for each other.
#[derive(Debug, Default)]
pub(super) struct Symmetry {
    /// The positions of the copies of each thread that has several.
    groups: Vec<Range<usize>>,
}

impl Symmetry {
    /// That of an instance.
    pub(super) fn of(machine: &Machine<'_>) -> Self {
        let threads = (0..machine.program().threads.len()).map(ThreadId::from_index);
        Self { groups: threads.map(|thread| machine.positions(thread)).filter(|group| group.len() > 1).collect() }
    }

    /// The positions of the copies that stand for the one at a position.
    pub(super) fn group(&self, position: usize) -> Range<usize> {
        let own = self.groups.iter().find(|group| group.contains(&position));
        own.map_or(position..position + 1, Clone::clone)
    }

    /// Puts the copies of a row in order. Where they are equal, the one that holds the lock is
    /// last.
    pub(super) fn arrange(&self, row: &mut Row) {
        let (ends, threads) = row.split_at_mut(2);
        for group in &self.groups {
            let copies = &mut threads[group.clone()];
            let Some(holder) = (ends[1] as usize).checked_sub(1).filter(|holder| group.contains(holder)) else {
                copies.sort_unstable();
                continue;
            };
            let own = copies[holder - group.start];
            copies.sort_unstable();
            let last = group.start + copies.partition_point(|copy| *copy <= own);
            ends[1] = u32::try_from(last).expect("few copies");
        }
    }

    /// The positions of the copies of a row in the order in which [`arrange`](Self::arrange) puts
    /// them.
    pub(super) fn order(&self, row: &Row) -> Vec<usize> {
        let mut order: Vec<usize> = (0..row.len() - 2).collect();
        for group in &self.groups {
            order[group.clone()].sort_by_key(|position| (row[2 + position], row[1] as usize == position + 1));
        }
        order
    }

    /// Visits all states that come of a state when copies take each other's places, each once,
    /// until `visit` breaks off.
    pub(super) fn each_exchanged<E>(
        &self,
        state: &State,
        visit: &mut impl FnMut(&State) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = self.groups.first().map_or(0, |group| group.start);
        self.each_from(&mut state.clone(), 0, first, visit)
    }

    /// Visits those whose copies before a position of a group stay where they are.
    fn each_from<E>(
        &self,
        state: &mut State,
        group: usize,
        first: usize,
        visit: &mut impl FnMut(&State) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(positions) = self.groups.get(group) else { return visit(state) };
        if first == positions.end {
            let next = self.groups.get(group + 1).map_or(first, |group| group.start);
            return self.each_from(state, group + 1, next, visit);
        }
        for other in first..positions.end {
            if (first..other).all(|before| !is_equal(state, before, other)) {
                exchange(state, first, other);
                self.each_from(state, group, first + 1, visit)?;
                exchange(state, first, other);
            }
        }
        Ok(())
    }
}

/// Whether two copies are in one state.
fn is_equal(state: &State, one: usize, other: usize) -> bool {
    state.threads[one] == state.threads[other] && state.holder.is_none_or(|holder| holder != one && holder != other)
}

/// Lets two copies take each other's places.
fn exchange(state: &mut State, one: usize, other: usize) {
    state.threads.swap(one, other);
    state.holder = match state.holder {
        Some(holder) if holder == one => Some(other),
        Some(holder) if holder == other => Some(one),
        holder => holder,
    };
}

/// A computation in which two copies of a thread have taken each other's places.
pub(super) fn exchanged(machine: &Machine<'_>, of: &Computation, copies: [CopyId; 2]) -> Computation {
    let exchange = |copy: CopyId| match copies.iter().position(|own| *own == copy) {
        Some(place) => copies[1 - place],
        None => copy,
    };
    let mut exchanged = Computation { shortest: of.shortest, ..Computation::empty(machine) };
    for event in &of.events {
        let mut event = *event;
        event.step.copy = exchange(event.step.copy);
        exchanged.push(machine, event);
    }
    exchanged
}
