//! Slicing: which places and transitions bear on the targets at all, and the way back for evidence.
//!
//! Three kinds of places go. *Empty* places are those that no run marks even when tokens are never
//! used up; they are a siphon, and transitions that need them never fire. *Unbounded* places hold ω
//! initially or are fed by a transition that needs unbounded places only (in stages); no demand on
//! them is ever hard to meet. *Idle* places are those whose tokens no transition needs that can
//! help to reach a target. What is left of a transition may have no gain (it puts more than it
//! takes nowhere); then it goes too.
//!
//! A downward-closed set of the slice is one of the net when unbounded and idle places hold ω in
//! it. A basis of an upward-closed set stays one, relative to the siphon, when the targets
//! themselves are added. A run of the slice is one of the net after the unbounded places have been
//! filled.

use super::rows::Rows;
use palisade_evidence::{NetCertificate, OmegaMarking, Refutation, TokenMarking};
use palisade_model::net::{Count, Net, OmegaCount, PlaceId, Problem, TransitionId};

/// What became of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// No run marks it.
    Empty,
    /// Its tokens are there in any number.
    Unbounded,
    /// Its tokens help nobody.
    Idle,
    /// It is the place of this number in the slice.
    Kept(u32),
}

/// The part of a net that bears on the targets.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    /// Per place of the net.
    pub(super) fates: Vec<Fate>,
    /// The places of the slice.
    pub(super) places: Vec<PlaceId>,
    /// The transitions of the slice.
    pub(super) transitions: Vec<TransitionId>,
    /// Transitions that fill places which are not ω initially, in an order in which each needs only
    /// ω places and places filled before.
    pub(super) pumps: Vec<(PlaceId, TransitionId)>,
    /// The targets, by number, that the slice does not refute.
    pub(super) targets: Vec<usize>,
}

impl Slice {
    /// The slice of a problem.
    pub(super) fn new(problem: &Problem) -> Self {
        let net = &problem.net;
        let arcs = Arcs::of(net);
        let (markable, fireable) = saturate(net, &arcs);
        let mut fates: Vec<Fate> =
            markable.iter().map(|marked| if *marked { Fate::Idle } else { Fate::Empty }).collect();
        let pumps = find_unbounded(net, &arcs, &mut fates);
        let targets: Vec<usize> = (0..problem.query.targets.len())
            .filter(|index| {
                problem.query.targets[*index].demands.iter().all(|(place, _)| fates[place.index()] != Fate::Empty)
            })
            .collect();
        let helps = relevant(problem, &arcs, &targets, &fireable, &mut fates);

        let mut places = Vec::new();
        for (place, fate) in net.place_ids().zip(&mut fates) {
            if let Fate::Kept(number) = fate {
                *number = u32::try_from(places.len()).expect("a net has fewer than 2^32 places");
                places.push(place);
            }
        }
        let transitions = net.transition_ids().map(|(id, _)| id).filter(|id| helps[id.index()]).collect();
        Self { fates, places, transitions, pumps, targets }
    }

    /// The number of a place in the slice.
    pub(super) fn number(&self, place: PlaceId) -> Option<u32> {
        match self.fates[place.index()] {
            Fate::Kept(number) => Some(number),
            _ => None,
        }
    }

    /// The places that no run marks.
    pub(super) fn siphon(&self) -> Vec<PlaceId> {
        self.with_fate(Fate::Empty).collect()
    }

    fn with_fate(&self, fate: Fate) -> impl Iterator<Item = PlaceId> + '_ {
        self.fates.iter().enumerate().filter(move |(_, own)| **own == fate).map(|(index, _)| PlaceId::from_index(index))
    }

    /// The certificate that the siphon alone refutes every target.
    pub(super) fn refuted_by_siphon(&self, problem: &Problem) -> NetCertificate {
        NetCertificate::Separator {
            siphon: self.siphon(),
            refutations: vec![Refutation::default(); problem.query.targets.len()],
        }
    }

    /// The certificate of a downward-closed set of the slice, given by ω-markings over its places.
    pub(super) fn downward(&self, markings: impl Iterator<Item = Vec<(u32, OmegaCount)>>) -> NetCertificate {
        let free: OmegaMarking = (0..self.fates.len())
            .filter(|index| matches!(self.fates[*index], Fate::Unbounded | Fate::Idle))
            .map(|index| (PlaceId::from_index(index), OmegaCount::Omega))
            .collect();
        NetCertificate::Downward { markings: markings.map(|marking| self.lift_above(&free, marking)).collect() }
    }

    /// An ω-marking of the slice as one of the net, with what other places hold.
    fn lift_above(&self, free: &OmegaMarking, marking: Vec<(u32, OmegaCount)>) -> OmegaMarking {
        let mut lifted = free.clone();
        lifted.extend(marking.into_iter().map(|(place, count)| (self.places[place as usize], count)));
        lifted.sort_unstable_by_key(|(place, _)| *place);
        lifted
    }

    /// A marking of the slice as one of the net.
    pub(super) fn lift(&self, marking: impl IntoIterator<Item = (u32, Count)>) -> TokenMarking {
        in_order(marking.into_iter().map(|(place, count)| (self.places[place as usize], count)).collect())
    }
}

/// The places of a net that no run marks.
pub(super) fn siphon(net: &Net) -> Vec<PlaceId> {
    let (markable, _) = saturate(net, &Arcs::of(net));
    net.place_ids().filter(|place| !markable[place.index()]).collect()
}

fn in_order(mut marking: TokenMarking) -> TokenMarking {
    marking.sort_unstable_by_key(|(place, _)| *place);
    marking
}

/// The places of transitions without their counts, which are gone through in any order: a large net
/// is many times as large as what a processor keeps at hand.
struct Arcs {
    /// For each transition, the places that it takes from.
    taken: Rows,
    /// For each transition, the places that it puts on.
    put: Rows,
    /// For each place, the transitions that take from it.
    consumers: Rows,
}

impl Arcs {
    fn of(net: &Net) -> Self {
        let transitions = || net.transitions.iter();
        let taken = Rows::of(transitions().map(|transition| transition.pre.iter().map(|(place, _)| place.0)));
        let put = Rows::of(transitions().map(|transition| transition.post.iter().map(|(place, _)| place.0)));
        let of_transition = |(id, _): (TransitionId, _)| taken.row(id.0).iter().map(move |place| (*place, id.0));
        let consumers = Rows::group(net.places.len(), net.transition_ids().flat_map(of_transition));
        Self { taken, put, consumers }
    }

    /// The transitions that take from no place.
    fn sources(&self) -> Vec<u32> {
        let lengths = self.taken.lengths();
        (0u32..).zip(lengths).filter(|(_, length)| *length == 0).map(|(transition, _)| transition).collect()
    }
}

/// Which places can be marked and which transitions fire when tokens are never used up.
fn saturate(net: &Net, arcs: &Arcs) -> (Vec<bool>, Vec<bool>) {
    let mut marked = vec![false; net.places.len()];
    let mut fireable = vec![false; net.transitions.len()];
    let mut missing = arcs.taken.lengths();
    let mut fresh: Vec<u32> = Vec::new();
    for (place, count) in net.place_ids().zip(&net.initial) {
        if *count != OmegaCount::Finite(Count::ZERO) {
            marked[place.index()] = true;
            fresh.push(place.0);
        }
    }
    let mut ready = arcs.sources();
    loop {
        while let Some(place) = fresh.pop() {
            for transition in arcs.consumers.row(place) {
                missing[*transition as usize] -= 1;
                if missing[*transition as usize] == 0 {
                    ready.push(*transition);
                }
            }
        }
        let Some(transition) = ready.pop() else { return (marked, fireable) };
        fireable[transition as usize] = true;
        for place in arcs.put.row(transition) {
            if !marked[*place as usize] {
                marked[*place as usize] = true;
                fresh.push(*place);
            }
        }
    }
}

/// Marks places as unbounded: those that are ω initially, and those that a transition feeds which
/// takes from unbounded places only. Returns these transitions in order.
fn find_unbounded(net: &Net, arcs: &Arcs, fates: &mut [Fate]) -> Vec<(PlaceId, TransitionId)> {
    let mut bounded = arcs.taken.lengths();
    let mut ready = arcs.sources();
    let mut fresh = Vec::new();
    for place in net.place_ids() {
        if net.initial[place.index()] == OmegaCount::Omega {
            fates[place.index()] = Fate::Unbounded;
            fresh.push(place);
        }
    }
    let mut pumps = Vec::new();
    loop {
        while let Some(place) = fresh.pop() {
            for transition in arcs.consumers.row(place.0) {
                bounded[*transition as usize] -= 1;
                if bounded[*transition as usize] == 0 {
                    ready.push(*transition);
                }
            }
        }
        let Some(transition) = ready.pop() else { return pumps };
        for place in arcs.put.row(transition).iter().copied().map(PlaceId) {
            if fates[place.index()] != Fate::Unbounded {
                fates[place.index()] = Fate::Unbounded;
                pumps.push((place, TransitionId(transition)));
                fresh.push(place);
            }
        }
    }
}

/// Marks the places as kept that a target asks for or that a transition needs which feeds a kept
/// place; says which transitions feed one.
fn relevant(problem: &Problem, arcs: &Arcs, targets: &[usize], fireable: &[bool], fates: &mut [Fate]) -> Vec<bool> {
    let net = &problem.net;
    let mut feeding: Vec<(u32, u32)> = Vec::new();
    for (id, transition) in net.transition_ids().filter(|(id, _)| fireable[id.index()]) {
        let gaining = transition.effects().filter(|(_, taken, put)| put > taken);
        feeding.extend(gaining.map(|(place, _, _)| (place.0, id.0)));
    }
    let feeders = Rows::group(net.places.len(), feeding.iter().copied());
    let mut helps = vec![false; net.transitions.len()];
    let mut open = Vec::new();
    let keep = |fates: &mut [Fate], open: &mut Vec<PlaceId>, place: PlaceId| {
        if fates[place.index()] == Fate::Idle {
            fates[place.index()] = Fate::Kept(0);
            open.push(place);
        }
    };
    for index in targets {
        for (place, _) in &problem.query.targets[*index].demands {
            keep(fates, &mut open, *place);
        }
    }
    while let Some(place) = open.pop() {
        for feeder in feeders.row(place.0) {
            if !helps[*feeder as usize] {
                helps[*feeder as usize] = true;
                for needed in arcs.taken.row(*feeder) {
                    keep(fates, &mut open, PlaceId(*needed));
                }
            }
        }
    }
    helps
}
