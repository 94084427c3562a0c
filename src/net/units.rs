//! Units: sets of places that always hold exactly one token together, checked before they are believed.

use super::count::{Count, OmegaCount};
use super::ids::PlaceId;
use super::model::{Arcs, Net};

impl Net {
    /// Whether the places hold exactly one token together in every reachable marking because they do initially and no
    /// transition changes their sum.
    pub fn is_sound_unit(&self, places: &[PlaceId]) -> bool {
        let mut member = vec![false; self.places.len()];
        for place in places {
            match member.get_mut(place.index()) {
                Some(seen) if !*seen => *seen = true,
                _ => return false,
            }
        }
        let mut initial = Count::ZERO;
        for place in places {
            match &self.initial[place.index()] {
                OmegaCount::Finite(count) => initial = initial.plus(count),
                OmegaCount::Omega => return false,
            }
        }
        let sum = |arcs: &Arcs| {
            arcs.iter().filter(|(place, _)| member[place.index()]).fold(Count::ZERO, |sum, (_, count)| sum.plus(count))
        };
        // A transition that takes more than the one token never fires.
        initial == Count::ONE
            && self.transitions.iter().all(|transition| {
                let taken = sum(&transition.pre);
                taken > Count::ONE || taken == sum(&transition.post)
            })
    }

    /// Adds the places as a unit when they are one and meet no unit already there. Says whether it did.
    pub fn add_unit_if_sound(&mut self, mut places: Vec<PlaceId>) -> bool {
        places.sort_unstable();
        let sound = self.is_sound_unit(&places)
            && !self.units.iter().flatten().any(|place| places.binary_search(place).is_ok());
        if sound {
            self.units.push(places);
        }
        sound
    }
}
