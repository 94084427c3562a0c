//! Units: sets of places that always hold exactly one token together, checked before they are
//! believed.

use super::count::{Count, OmegaCount};
use super::ids::PlaceId;
use super::model::{Net, Transition};

/// The sets, of those checked together, that a place is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Member {
    /// In none.
    Free,
    /// In one by this number.
    Of(u32),
    /// In a unit that the net has already.
    Taken,
}

impl Net {
    /// Adds the places as a unit when they are one and meet no unit already there.
    pub fn add_unit_if_sound(&mut self, places: Vec<PlaceId>) {
        self.add_sound_units([places]);
    }

    /// Adds each of these sets that is a unit and meets none already there, in their order. Sets
    /// that do not meet are checked in one pass over the net.
    pub fn add_sound_units(&mut self, sets: impl IntoIterator<Item = Vec<PlaceId>>) {
        let mut members = vec![Member::Free; self.places.len()];
        for place in self.units.iter().flatten() {
            members[place.index()] = Member::Taken;
        }
        let mut together: Vec<Vec<PlaceId>> = Vec::new();
        for mut places in sets {
            places.sort_unstable();
            if places.iter().any(|place| matches!(members[place.index()], Member::Of(_))) {
                self.add_disjoint(&mut together, &mut members);
            }
            let is_set = places.is_sorted_by(|one, other| one < other);
            if is_set && places.iter().all(|place| members[place.index()] == Member::Free) {
                let number = u32::try_from(together.len()).expect("a net has fewer than 2^32 places");
                places.iter().for_each(|place| members[place.index()] = Member::Of(number));
                together.push(places);
            }
        }
        self.add_disjoint(&mut together, &mut members);
    }

    /// Adds those of the sets that are units; no two of them meet.
    #[inline]
    fn add_disjoint(&mut self, sets: &mut Vec<Vec<PlaceId>>, members: &mut [Member]) {
        let sound = self.are_sound(sets, members);
        for (places, sound) in sets.drain(..).zip(sound) {
            let member = if sound { Member::Taken } else { Member::Free };
            places.iter().for_each(|place| members[place.index()] = member);
            if sound {
                self.units.push(places);
            }
        }
    }

    /// Whether the places of each set hold exactly one token together in every reachable marking
    /// because they do initially and no transition changes their sum.
    #[inline]
    fn are_sound(&self, sets: &[Vec<PlaceId>], members: &[Member]) -> Vec<bool> {
        let mut sound: Vec<bool> = sets.iter().map(|places| self.initially_one(places)).collect();
        // What the transition at hand takes from each set and puts into it, two for any number
        // above one, and the sets that it touches.
        let mut changes = vec![[0; 2]; sets.len()];
        let mut touched = Vec::new();
        for Transition { pre, post, .. } in &self.transitions {
            for (side, arcs) in [pre, post].into_iter().enumerate() {
                for (place, count) in arcs {
                    if let Member::Of(set) = members[place.index()] {
                        let change = &mut changes[set as usize];
                        if *change == [0; 2] {
                            touched.push(set as usize);
                        }
                        change[side] = count.to_u64().map_or(2, |count| count.saturating_add(change[side]).min(2));
                    }
                }
            }
            for set in touched.drain(..) {
                let [taken, put] = std::mem::take(&mut changes[set]);
                // A transition that takes more than the one token never fires.
                sound[set] &= taken > 1 || taken == put;
            }
        }
        sound
    }

    fn initially_one(&self, places: &[PlaceId]) -> bool {
        let mut sum = Count::ZERO;
        for place in places {
            match &self.initial[place.index()] {
                OmegaCount::Finite(count) => sum = sum.plus(count),
                OmegaCount::Omega => return false,
            }
        }
        sum == Count::ONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sound_sets_are_taken() {
        let mut net = Net::default();
        let count = |count: u64| OmegaCount::Finite(count.into());
        let [a, b, c, d] =
            [("a", 1), ("b", 0), ("c", 0), ("d", 1)].map(|(name, held)| net.add_place(name, count(held)));
        let any = net.add_place("any", OmegaCount::Omega);
        let arcs = |places: &[PlaceId]| places.iter().map(|place| (*place, Count::ONE)).collect::<Vec<_>>();
        net.add_transition("t", arcs(&[a, d]), arcs(&[b, d]));
        net.add_transition("u", arcs(&[b]), arcs(&[c]));
        // Never fires, so that it may do what it likes.
        net.add_transition("v", vec![(a, Count::from(2))], arcs(&[d]));
        let sets = [vec![a, b], vec![d, d], vec![d, any], vec![c, b, a], vec![d, a], vec![], vec![d]];
        let mut at_once = net.clone();
        at_once.add_sound_units(sets.clone());
        assert_eq!(at_once.units, [vec![a, b, c]]);
        sets.into_iter().for_each(|set| net.add_unit_if_sound(set));
        assert_eq!(net, at_once);
    }
}
