//! Which ways through a function are kept apart.
//!
//! Where two ways meet, what is known afterwards is what is known on both. An instruction that is
//! not understood behind a meeting may be understood on each of the ways: a pointer that is null on
//! one and points into the frame on the other, an offset that is 8 or 16. Of a call of the system
//! more is known if its word is the same on each way. The places behind such a meeting then stand
//! in the program once for each way, up to that instruction, or to the function's return.

use super::contexts::{Contexts, KeptApart, Place};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// More meetings than this are not kept apart in a role.
const MOST_MEETINGS: usize = 24;

/// The meetings of ways that are kept apart in a role, by their addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Apart {
    /// Those that were chosen for an instruction that was not understood.
    meetings: BTreeMap<u64, BTreeSet<u64>>,
    /// Instructions that are not understood on some way, whatever is kept apart.
    given_up: BTreeSet<u64>,
    /// No more are tried.
    is_over: bool,
}

impl Apart {
    /// The meetings, and until where their ways are kept apart.
    pub(crate) fn kept(&self) -> KeptApart {
        let is_for = |instruction: &u64, meeting: &u64| self.meetings[instruction].contains(meeting);
        let alone = |one: &u64, meeting: &&u64| self.meetings.keys().all(|own| own == one || !is_for(own, meeting));
        let until = self.meetings.iter().map(|(instruction, meetings)| {
            let own = meetings.iter().filter(|meeting| alone(instruction, meeting)).copied();
            (*instruction, own.collect())
        });
        KeptApart { meetings: self.all(), until: until.collect() }
    }

    fn all(&self) -> BTreeSet<u64> {
        self.meetings.values().flatten().copied().collect()
    }

    /// Changes what is kept apart for an instruction that is not understood, given the places that
    /// control goes to from each. Whether anything has changed, so that the role is to be explored
    /// again.
    pub(crate) fn change(&mut self, place: Place, ways: &BTreeMap<Place, Vec<Place>>, contexts: &Contexts) -> bool {
        let all = self.all();
        if self.is_over || self.given_up.contains(&place.address) {
            return false;
        }
        let (own, more) = (self.meetings.get(&place.address), self.before(place, ways, contexts));
        let more: Vec<u64> = more.into_iter().filter(|meeting| own.is_none_or(|own| !own.contains(meeting))).collect();
        if !more.is_empty() && all.len() < MOST_MEETINGS {
            self.meetings.entry(place.address).or_default().extend(more);
            return true;
        }
        self.given_up.insert(place.address);
        self.meetings.remove(&place.address).is_some()
    }

    /// Keeps no ways apart any more, since there are too many places. Whether any were.
    pub(crate) fn give_up(&mut self) -> bool {
        let had_some = !self.meetings.is_empty();
        *self = Self { is_over: true, ..Self::default() };
        had_some
    }

    /// The last meeting on the way to a place that is not kept apart, or not up to there. Calls on
    /// the way are passed over.
    fn before(&self, place: Place, ways: &BTreeMap<Place, Vec<Place>>, contexts: &Contexts) -> Vec<u64> {
        let mut before: HashMap<Place, BTreeSet<Place>> = HashMap::new();
        for (from, to) in ways {
            for next in to {
                before.entry(*next).or_default().insert(*from);
            }
        }
        let (mut at, mut passed) = (place, BTreeSet::new());
        while passed.insert(at) {
            let Some(first) = before.get(&at).and_then(BTreeSet::first) else { break };
            let last = contexts.get(first.context);
            let has_returned =
                first.context != at.context && last.return_to == at.address && last.parent == Some(at.context);
            at = match &before[&at] {
                _ if has_returned => Place { context: at.context, address: last.call },
                all if all.len() == 1 => *first,
                // Ways that were kept apart up to the instruction before.
                all if all.iter().all(|own| own.address == first.address) => {
                    return self.meetings.get(&first.address).into_iter().flatten().copied().collect();
                }
                _ => return vec![at.address],
            };
        }
        Vec::new()
    }
}
