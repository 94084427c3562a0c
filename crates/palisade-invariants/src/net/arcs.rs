//! The transitions that touch a place.

use palisade_model::net::{Net, PlaceId, TransitionId};

/// For each place, the transitions with an arc from it and with an arc to it, ascending.
pub(super) struct ArcIndex {
    consumers: Vec<Vec<TransitionId>>,
    producers: Vec<Vec<TransitionId>>,
    without_preset: Vec<TransitionId>,
}

impl ArcIndex {
    /// The index of `net`.
    pub(super) fn new(net: &Net) -> Self {
        let mut index = Self {
            consumers: vec![Vec::new(); net.places.len()],
            producers: vec![Vec::new(); net.places.len()],
            without_preset: Vec::new(),
        };
        for (id, transition) in net.transition_ids() {
            for (place, _) in &transition.pre {
                index.consumers[place.index()].push(id);
            }
            for (place, _) in &transition.post {
                index.producers[place.index()].push(id);
            }
            if transition.pre.is_empty() {
                index.without_preset.push(id);
            }
        }
        index
    }

    /// The transitions that take from `place`.
    pub(super) fn consumers(&self, place: PlaceId) -> &[TransitionId] {
        &self.consumers[place.index()]
    }

    /// The transitions that put into `place`.
    pub(super) fn producers(&self, place: PlaceId) -> &[TransitionId] {
        &self.producers[place.index()]
    }

    /// Every transition that needs tokens on `places` only, once each: those that need none, and
    /// for each place those whose preset starts there.
    pub(super) fn for_each_possibly_enabled(
        &self,
        net: &Net,
        places: impl Iterator<Item = PlaceId>,
        mut visit: impl FnMut(TransitionId),
    ) {
        self.without_preset.iter().for_each(|id| visit(*id));
        for place in places {
            for id in self.consumers(place) {
                if net.transitions[id.index()].pre[0].0 == place {
                    visit(*id);
                }
            }
        }
    }
}
