//! Traps: sets of places that every transition which takes from them also puts on, so that they
//! stay marked once they are.

use super::rows::Rows;
use palisade_model::net::{Arcs, Net, PlaceId};

/// The arcs of a net by which sets of places are no traps.
pub(super) struct Traps {
    /// For each transition the places that it takes from.
    taken: Rows,
    /// For each place the transitions that put on it.
    producers: Rows,
}

impl Traps {
    /// The arcs of the transitions that count. Places go by the numbers given, below `places`;
    /// those without one do not matter.
    pub(super) fn of(
        net: &Net,
        counts: impl Fn(usize) -> bool,
        places: usize,
        number: impl Fn(PlaceId) -> Option<u32>,
    ) -> Self {
        let numbers = |index: usize, arcs: &Arcs| -> Vec<u32> {
            if !counts(index) {
                return Vec::new();
            }
            arcs.iter().filter_map(|(place, _)| number(*place)).collect()
        };
        let transitions = || net.transitions.iter().enumerate();
        let taken = Rows::of(transitions().map(|(index, transition)| numbers(index, &transition.pre).into_iter()));
        let put = (0u32..).zip(transitions()).flat_map(|(id, (index, transition))| {
            numbers(index, &transition.post).into_iter().map(move |place| (place, id))
        });
        Self { taken, producers: Rows::group(places, put) }
    }

    /// Leaves the largest trap of a set of places, in time linear in the arcs.
    pub(super) fn shrink(&self, inside: &mut [bool]) {
        // How many places inside each transition puts on.
        let mut puts = vec![0u32; self.taken.len()];
        for (place, _) in (0u32..).zip(inside.iter()).filter(|(_, inside)| **inside) {
            self.producers.row(place).iter().for_each(|transition| puts[*transition as usize] += 1);
        }
        let mut open: Vec<u32> =
            (0u32..).zip(&puts).filter(|(_, puts)| **puts == 0).map(|(transition, _)| transition).collect();
        while let Some(transition) = open.pop() {
            for place in self.taken.row(transition) {
                if !std::mem::take(&mut inside[*place as usize]) {
                    continue;
                }
                for producer in self.producers.row(*place) {
                    puts[*producer as usize] -= 1;
                    if puts[*producer as usize] == 0 {
                        open.push(*producer);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Random;
    use palisade_model::net::{Count, OmegaCount};

    /// The largest trap as its definition finds it: one place after the other goes.
    fn by_definition(net: &Net, mut inside: Vec<bool>) -> Vec<bool> {
        loop {
            let leaves = |place: &usize| {
                let holds = |arcs: &Arcs| arcs.iter().any(|(other, _)| inside[other.index()]);
                let takes = |arcs: &Arcs| arcs.iter().any(|(other, _)| other.index() == *place);
                net.transitions.iter().any(|transition| takes(&transition.pre) && !holds(&transition.post))
            };
            let Some(place) = (0..inside.len()).find(|place| inside[*place] && leaves(place)) else { return inside };
            inside[place] = false;
        }
    }

    #[test]
    fn the_largest_trap_is_found() {
        let mut random = Random(5);
        let mut sizes = [0; 3];
        for _ in 0..2_000 {
            let mut net = Net::default();
            let places = 2 + random.below(6);
            for place in 0..places {
                net.add_place(format!("p{place}"), OmegaCount::Finite(Count::ZERO));
            }
            for transition in 0..1 + random.below(8) {
                let mut arcs = || -> Arcs {
                    let count = random.below(3);
                    (0..count)
                        .map(|_| (PlaceId::from_index(usize::try_from(random.below(places)).unwrap()), Count::ONE))
                        .collect()
                };
                let (pre, post) = (arcs(), arcs());
                net.add_transition(format!("t{transition}"), pre, post);
            }
            let start: Vec<bool> = (0..places).map(|_| random.below(4) > 0).collect();
            let mut inside = start.clone();
            Traps::of(&net, |_| true, net.places.len(), |place| Some(place.0)).shrink(&mut inside);
            assert_eq!(inside, by_definition(&net, start.clone()), "{net:?} {start:?}");
            let size = inside.iter().filter(|inside| **inside).count();
            sizes[if size == 0 { 0 } else { 1 + usize::from(inside != start) }] += 1;
        }
        assert!(sizes.iter().all(|count| *count > 100), "the sample is lopsided: {sizes:?}");
    }
}
