//! The log of a reduction: what was done, in order, in terms of the original net's places.

use palisade_model::net::{Arcs, Count, PlaceId, TransitionId};

/// A transition of the working net: an original one, or a sequence of two others.
pub(super) type MoveId = u32;

/// Where a transition of the working net comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// The original net.
    Original(TransitionId),
    /// One transition so many times, then another so many times.
    Sequence { first: (MoveId, Count), second: (MoveId, Count) },
}

/// What was removed.
#[derive(Clone, Debug)]
pub(super) enum Removal {
    /// A siphon without tokens went, with all transitions that take from it and all targets that
    /// ask for it.
    Empty(Vec<PlaceId>),
    /// Places went that hold any number of tokens, or whose tokens help no target, or that are
    /// never short of tokens.
    Free(Vec<PlaceId>),
    /// Transitions went that only lose tokens, or less often gain as many as others: what they take
    /// and put.
    Losses(Vec<(Vec<PlaceId>, Vec<PlaceId>)>),
    /// The steps into and out of a place were merged.
    Agglomerated(Agglomerated),
}

/// A place between two steps that became one.
#[derive(Clone, Debug)]
pub(super) struct Agglomerated {
    /// The place.
    pub(super) place: PlaceId,
    /// How its tokens stand for tokens elsewhere.
    pub(super) tokens: Worth,
}

/// What a token on an agglomerated place is worth.
#[derive(Clone, Debug)]
pub(super) enum Worth {
    /// One of these can still be put for it: the postsets of the transitions out of the place,
    /// which need nothing else.
    Put(Vec<Arcs>),
    /// This was taken for it: the preset of the only transition into the place, which puts nothing
    /// else.
    Taken(Arcs),
}

/// What a run on the original net does before a run on the reduced one, in this order.
#[derive(Clone, Debug)]
pub(super) enum Start {
    /// Chooses the tokens of a place that holds ω initially.
    Choose(PlaceId),
    /// Fills a place by a transition that needs places filled before only, and adds so many tokens
    /// each time.
    Fill(PlaceId, MoveId, Count),
    /// Fires a transition so many times, for the tokens that an agglomerated place holds initially.
    Expel(MoveId, Count),
}
