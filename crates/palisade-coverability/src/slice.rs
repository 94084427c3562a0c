//! Slicing: which places and transitions bear on the targets at all, and the way back for evidence.
//!
//! Three kinds of places go. *Empty* places are those that no run marks even when tokens are never used up; they are a
//! siphon, and transitions that need them never fire. *Unbounded* places hold ω initially or are fed by a transition
//! that needs unbounded places only (in stages); no demand on them is ever hard to meet. *Idle* places are those whose
//! tokens no transition needs that can help to reach a target. What is left of a transition may have no gain (it puts
//! more than it takes nowhere); then it goes too.
//!
//! A downward-closed set of the slice is one of the net when unbounded and idle places hold ω in it. A basis of an
//! upward-closed set stays one, relative to the siphon, when the targets themselves are added. A run of the slice is
//! one of the net after the unbounded places have been filled.

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
    /// Transitions that fill places which are not ω initially, in an order in which each needs only ω places and
    /// places filled before.
    pub(super) pumps: Vec<(PlaceId, TransitionId)>,
    /// The targets, by number, that the slice does not refute.
    pub(super) targets: Vec<usize>,
}

impl Slice {
    /// The slice of a problem.
    pub(super) fn new(problem: &Problem) -> Self {
        let net = &problem.net;
        let consumers = consumers(net);
        let (markable, fireable) = saturate(net, &consumers);
        let mut fates: Vec<Fate> =
            markable.iter().map(|marked| if *marked { Fate::Idle } else { Fate::Empty }).collect();
        let pumps = find_unbounded(net, &consumers, &mut fates);
        let targets: Vec<usize> = (0..problem.query.targets.len())
            .filter(|index| {
                problem.query.targets[*index].demands.iter().all(|(place, _)| fates[place.index()] != Fate::Empty)
            })
            .collect();
        let helps = relevant(problem, &targets, &fireable, &mut fates);

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

fn in_order(mut marking: TokenMarking) -> TokenMarking {
    marking.sort_unstable_by_key(|(place, _)| *place);
    marking
}

/// For each place, the transitions that take from it.
fn consumers(net: &Net) -> Rows {
    let arcs =
        net.transition_ids().flat_map(|(id, transition)| transition.pre.iter().map(move |(place, _)| (place.0, id.0)));
    Rows::group(net.places.len(), arcs)
}

/// Which places can be marked and which transitions fire when tokens are never used up.
fn saturate(net: &Net, consumers: &Rows) -> (Vec<bool>, Vec<bool>) {
    let mut marked = vec![false; net.places.len()];
    let mut fireable = vec![false; net.transitions.len()];
    let mut missing: Vec<usize> = net.transitions.iter().map(|transition| transition.pre.len()).collect();
    let mut fresh: Vec<PlaceId> = Vec::new();
    for (index, count) in net.initial.iter().enumerate() {
        if *count != OmegaCount::Finite(Count::ZERO) {
            marked[index] = true;
            fresh.push(PlaceId::from_index(index));
        }
    }
    let mut ready: Vec<usize> = (0..net.transitions.len()).filter(|index| missing[*index] == 0).collect();
    loop {
        while let Some(place) = fresh.pop() {
            for transition in consumers.row(place.0) {
                missing[*transition as usize] -= 1;
                if missing[*transition as usize] == 0 {
                    ready.push(*transition as usize);
                }
            }
        }
        let Some(transition) = ready.pop() else { return (marked, fireable) };
        fireable[transition] = true;
        for (place, _) in &net.transitions[transition].post {
            if !marked[place.index()] {
                marked[place.index()] = true;
                fresh.push(*place);
            }
        }
    }
}

/// Marks places as unbounded: those that are ω initially, and those that a transition feeds which takes from
/// unbounded places only. Returns these transitions in order.
fn find_unbounded(net: &Net, consumers: &Rows, fates: &mut [Fate]) -> Vec<(PlaceId, TransitionId)> {
    let mut bounded: Vec<usize> = net.transitions.iter().map(|transition| transition.pre.len()).collect();
    let mut fresh = Vec::new();
    for place in net.place_ids() {
        if net.initial[place.index()] == OmegaCount::Omega {
            fates[place.index()] = Fate::Unbounded;
            fresh.push(place);
        }
    }
    let mut pumps = Vec::new();
    let mut ready: Vec<TransitionId> =
        net.transition_ids().filter(|(_, transition)| transition.pre.is_empty()).map(|(id, _)| id).collect();
    loop {
        while let Some(place) = fresh.pop() {
            for transition in consumers.row(place.0) {
                bounded[*transition as usize] -= 1;
                if bounded[*transition as usize] == 0 {
                    ready.push(TransitionId(*transition));
                }
            }
        }
        let Some(id) = ready.pop() else { return pumps };
        for (place, _) in &net.transitions[id.index()].post {
            if fates[place.index()] != Fate::Unbounded {
                fates[place.index()] = Fate::Unbounded;
                pumps.push((*place, id));
                fresh.push(*place);
            }
        }
    }
}

/// Marks the places as kept that a target asks for or that a transition needs which feeds a kept place; says which
/// transitions feed one.
fn relevant(problem: &Problem, targets: &[usize], fireable: &[bool], fates: &mut [Fate]) -> Vec<bool> {
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
            let feeder = *feeder as usize;
            if !helps[feeder] {
                helps[feeder] = true;
                for (needed, _) in &net.transitions[feeder].pre {
                    keep(fates, &mut open, *needed);
                }
            }
        }
    }
    helps
}
