//! The arcs of a transition, place by place.

use palisade_model::net::{Count, PlaceId};

/// The weight of a place in sorted arcs.
pub(super) fn weight(arcs: &[(PlaceId, Count)], place: PlaceId) -> &Count {
    match arcs.binary_search_by_key(&place, |(place, _)| *place) {
        Ok(position) => &arcs[position].1,
        Err(_) => &Count::ZERO,
    }
}
