//! The symmetry of a net: turns of counters.
//!
//! A turn of a class by k takes each place to a place: a value of an address of the class to the
//! turned value, local states and attackers to those with turned registers, everything else to
//! itself. Counters commute with what a program does, so transitions should go to transitions; but
//! the net has the places that value sets admit, closed thread by thread, and these need not be
//! closed under turns – an address may start beside the values that it has later, copies may choose
//! where they settle, a computed address may be a counter's. So the net is asked: turns are used
//! where they permute its places and transitions, and nothing rests on why they do. No place is
//! added to make them do so.
//!
//! The least turn of a class that is tried takes the values that its reference has in the net to
//! each other, and is a multiple of the class's step.

use super::AttackNet;
use super::meaning::Meaning;
use crate::instrumented::system::{Counting, Place};
use palisade_model::net::{Count, Net, TransitionId};
use palisade_model::program::Value;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a transition takes and puts, a token each.
type Arcs = (Box<[u32]>, Box<[u32]>);

/// A class with more places than this, all its turns counted, is not turned.
const MOST_TURNED: usize = 1 << 24;

/// The turns of a net.
#[derive(Debug)]
pub struct Symmetry {
    rotations: Vec<Rotation>,
    /// The transitions by their arcs.
    transitions: FxHashMap<Arcs, TransitionId>,
}

/// The turns of one class.
#[derive(Debug)]
struct Rotation {
    /// What each place becomes by no turn, by the least, by two of them, and so on.
    powers: Vec<Vec<u32>>,
    /// For each value of the reference, by place, how many least turns take it to the form.
    to_form: FxHashMap<u32, usize>,
}

impl Symmetry {
    /// The turns that permute a net, if they are as many as is asked.
    pub(super) fn of(net: &mut AttackNet<'_>, counting: &Counting, fewest: usize) -> Option<Self> {
        let places: FxHashMap<Meaning, u32> = net.meanings.iter().cloned().zip(0..).collect();
        let candidates: Vec<Candidate> =
            (0..counting.counters.classes().len()).filter_map(|class| Candidate::of(net, counting, class)).collect();
        let turns = |turns: usize, own: &Candidate| turns.saturating_mul(own.turns);
        if candidates.is_empty() || candidates.iter().fold(1, turns) < fewest {
            return None;
        }
        let transitions = arcs_of(&net.problem.net)?;
        let symmetry = Self { rotations: Vec::new(), transitions };
        let rotations: Vec<Rotation> =
            candidates.iter().filter_map(|own| symmetry.rotation(net, own, &places)).collect();
        let order = rotations.iter().map(|own| own.powers.len()).fold(1, usize::saturating_mul);
        (!rotations.is_empty() && order >= fewest).then_some(Self { rotations, ..symmetry })
    }

    /// No turn.
    pub(super) fn none(&self) -> Box<[u32]> {
        vec![0; self.rotations.len()].into()
    }

    /// The turn that takes a marking to its form, by the places that say what memory is like.
    pub(super) fn to_form(&self, control: &[u32]) -> Box<[u32]> {
        let turn = |own: &Rotation| control.iter().find_map(|place| own.to_form.get(place)).map_or(0, |by| number(*by));
        self.rotations.iter().map(turn).collect()
    }

    /// Two turns, one after the other.
    pub(super) fn together(&self, first: &[u32], second: &[u32]) -> Box<[u32]> {
        let sum = |(own, (first, second)): (&Rotation, (&u32, &u32))| (first + second) % number(own.powers.len());
        self.rotations.iter().zip(first.iter().zip(second)).map(sum).collect()
    }

    /// The turn that takes another one back.
    pub(super) fn back(&self, turn: &[u32]) -> Box<[u32]> {
        let back = |(own, by): (&Rotation, &u32)| (number(own.powers.len()) - by) % number(own.powers.len());
        self.rotations.iter().zip(turn).map(back).collect()
    }

    /// What a place becomes by a turn.
    pub(super) fn turned(&self, turn: &[u32], place: u32) -> u32 {
        let turns = self.rotations.iter().zip(turn);
        turns.fold(place, |place, (own, by)| own.powers[*by as usize][place as usize])
    }

    /// What a transition becomes by a turn.
    pub(super) fn turned_transition(&self, turn: &[u32], net: &Net, transition: TransitionId) -> TransitionId {
        let (take, put) = arcs(net, transition);
        self.transitions[&(self.turned_places(turn, &take), self.turned_places(turn, &put))]
    }

    /// What places become by a turn, ascending.
    pub(super) fn turned_places(&self, turn: &[u32], places: &[u32]) -> Box<[u32]> {
        let mut turned: Box<[u32]> = places.iter().map(|place| self.turned(turn, *place)).collect();
        turned.sort_unstable();
        turned
    }

    /// The turns of a class, if they permute places and transitions.
    fn rotation(
        &self,
        net: &mut AttackNet<'_>,
        candidate: &Candidate,
        places: &FxHashMap<Meaning, u32>,
    ) -> Option<Rotation> {
        let turn = net.system.one_turn(candidate.class, candidate.by);
        let meanings = net.meanings.clone();
        let once = meanings.iter().map(|own| places.get(&turned_meaning(net, turn, own)).copied());
        let once: Vec<u32> = once.collect::<Option<_>>()?;
        if once.iter().collect::<FxHashSet<_>>().len() < once.len() {
            return None;
        }
        let powers = powers(&once, candidate.turns)?;
        let rotation = Rotation { powers, to_form: candidate.to_form.clone() };
        let own = Self { rotations: vec![rotation], transitions: FxHashMap::default() };
        let permutes = net.problem.net.transition_ids().all(|(id, _)| {
            let (take, put) = arcs(&net.problem.net, id);
            self.transitions.contains_key(&(own.turned_places(&[1], &take), own.turned_places(&[1], &put)))
        });
        own.rotations.into_iter().next().filter(|_| permutes)
    }
}

/// The least turn of a class.
struct Candidate {
    class: usize,
    by: Value,
    /// How many there are, none included.
    turns: usize,
    to_form: FxHashMap<u32, usize>,
}

impl Candidate {
    fn of(net: &AttackNet<'_>, counting: &Counting, class: usize) -> Option<Self> {
        let program = net.system.program();
        let own = &counting.counters.classes()[class];
        let size = i128::try_from(program.domain?.size()).ok()?;
        let initial = i128::from(program.initial_value(own.reference));
        let ahead = |(place, meaning): (u32, &Meaning)| match meaning {
            Meaning::Memory(address, value) if *address == own.reference => {
                Some((place, (i128::from(*value) - initial).rem_euclid(size)))
            }
            _ => None,
        };
        let ahead: Vec<(u32, i128)> = (0..).zip(&net.meanings).filter_map(ahead).collect();
        let apart = ahead.iter().fold(size, |apart, (_, ahead)| common_divisor(apart, *ahead));
        let step = i128::from(own.step);
        let by = apart / common_divisor(apart, step) * step;
        if by >= size {
            return None;
        }
        let to_form = ahead.into_iter().map(|(place, ahead)| {
            let back = (size - (ahead - ahead % by)) % size;
            Some((place, usize::try_from(back / by).ok()?))
        });
        let turns = usize::try_from(size / by).ok()?;
        Some(Self { class, by: Value::try_from(by).ok()?, turns, to_form: to_form.collect::<Option<_>>()? })
    }
}

/// What a place stands for after a turn.
fn turned_meaning(net: &mut AttackNet<'_>, turn: u32, meaning: &Meaning) -> Meaning {
    match meaning {
        Meaning::Memory(address, value) => Meaning::Memory(*address, net.system.turned_cell(turn, *address, *value)),
        Meaning::Token(local, joined) => {
            let place = net.system.turned_place(turn, Place::of(*local, *joined).number());
            Meaning::Token(Place::from_number(place).local(), *joined)
        }
        Meaning::Attacker(number) => Meaning::Attacker(net.system.turned_attacker(*number, turn)),
        other => other.clone(),
    }
}

/// What a permutation makes of places, by how often it is applied; nothing where that is too much.
/// So many turns are none.
fn powers(once: &[u32], turns: usize) -> Option<Vec<Vec<u32>>> {
    if once.len().saturating_mul(turns) > MOST_TURNED {
        return None;
    }
    let mut powers = vec![(0..number(once.len())).collect::<Vec<u32>>()];
    for _ in 0..turns {
        powers.push(powers[powers.len() - 1].iter().map(|place| once[*place as usize]).collect());
    }
    (powers.pop().as_ref() == powers.first()).then_some(powers)
}

/// The transitions of a net by their arcs, where these are of one token each.
fn arcs_of(net: &Net) -> Option<FxHashMap<Arcs, TransitionId>> {
    let is_plain =
        net.transitions.iter().all(|own| own.pre.iter().chain(&own.post).all(|(_, count)| *count == Count::ONE));
    is_plain.then(|| net.transition_ids().map(|(id, _)| (arcs(net, id), id)).collect())
}

/// What a transition takes and puts, ascending.
fn arcs(net: &Net, transition: TransitionId) -> Arcs {
    let own = &net.transitions[transition.index()];
    let places = |arcs: &palisade_model::net::Arcs| arcs.iter().map(|(place, _)| number(place.index())).collect();
    (places(&own.pre), places(&own.post))
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 places fit in memory")
}

/// The greatest common divisor of two numbers that are not both 0.
fn common_divisor(one: i128, other: i128) -> i128 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}
