//! The arcs of a transition under construction.

use palisade_model::net::PlaceId;

/// What a transition takes and puts, one token each; a place in both is only read.
#[derive(Clone, Default)]
pub(super) struct Arcs {
    pub(super) take: Vec<PlaceId>,
    pub(super) put: Vec<PlaceId>,
}

impl Arcs {
    /// Takes a token from one place and puts it on another.
    pub(super) fn moves(mut self, from: PlaceId, to: PlaceId) -> Self {
        self.take.push(from);
        self.put.push(to);
        self
    }

    /// Needs a token on a place.
    pub(super) fn reads(self, place: PlaceId) -> Self {
        self.moves(place, place)
    }

    /// Takes a token.
    pub(super) fn takes(mut self, place: PlaceId) -> Self {
        self.take.push(place);
        self
    }

    /// Puts a token.
    pub(super) fn puts(mut self, place: PlaceId) -> Self {
        self.put.push(place);
        self
    }
}
