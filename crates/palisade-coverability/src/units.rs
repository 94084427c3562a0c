//! Units: finds sets of places that never hold more than one token together.
//!
//! A set is a unit when it holds at most one token initially and no transition that can fire puts
//! more tokens into it than it takes. Places of a unit are like the values of a variable or the
//! states of a thread. Units that the net declares are checked and taken first. The others are
//! found by following tokens: a transition that, besides places already known to belong together,
//! takes one token and puts one moves that token, so both places belong together. Where several
//! matches are possible the places' names break the tie (`u3` goes with `u7` rather than with
//! `l2`); what comes out is checked, so that a wrong guess loses a unit and nothing else.

use super::rows::Rows;
use super::slice::{Fate, Slice};
use palisade_model::net::{Count, OmegaCount, PlaceId, Problem};
use palisade_model::ordered;

/// Following tokens may look at so many places and pairs of places for each arc; in the nets of the
/// literature it looks at four.
const WORK_PER_ARC: usize = 100;

/// In small nets it may look at as many as this, which takes some milliseconds.
const MOST_WORK: usize = 1_000_000;

/// Disjoint units of the slice, each sorted, in the order of their first places.
pub(super) fn find_units(problem: &Problem, slice: &Slice) -> Vec<Vec<u32>> {
    let mut fireable = Fireable::new(problem, slice);
    let mut taken = vec![false; problem.net.places.len()];
    let mut units = Vec::new();
    for unit in &problem.net.units {
        let members: Vec<PlaceId> =
            unit.iter().copied().filter(|place| slice.fates[place.index()] != Fate::Empty).collect();
        if members.iter().all(|place| !taken[place.index()]) && fireable.is_unit(&members) {
            members.iter().for_each(|place| taken[place.index()] = true);
            units.push(members);
        }
    }
    for class in Classes::new(&fireable, &taken).collect() {
        if fireable.is_unit(&class) {
            units.push(class);
        }
    }
    let mut kept: Vec<Vec<u32>> = units
        .into_iter()
        .map(|unit| unit.into_iter().filter_map(|place| slice.number(place)).collect::<Vec<u32>>())
        .filter(|unit| !unit.is_empty())
        .collect();
    kept.iter_mut().for_each(|unit| unit.sort_unstable());
    ordered::sort_by(&mut kept, Vec::cmp);
    kept
}

/// The places that a transition takes a token from, and those where it puts one, without those of
/// both kinds.
type Move = (Vec<PlaceId>, Vec<PlaceId>);

/// The net's transitions that no empty place disables, as moves of tokens.
struct Fireable<'a> {
    problem: &'a Problem,
    /// Without those that need an empty place.
    moves: Vec<Move>,
    /// Whether each place can be in a unit at all: never more than one token by one transition or
    /// initially.
    possible: Vec<bool>,
    /// Per place, the moves that put a token there.
    putting: Rows,
    /// Per place, the moves that take a token from there.
    taking: Rows,
    /// Per move, how many more tokens it puts into the places looked at than it takes; 0 in
    /// between.
    balance: Vec<i64>,
}

impl<'a> Fireable<'a> {
    fn new(problem: &'a Problem, slice: &Slice) -> Self {
        let net = &problem.net;
        let mut possible: Vec<bool> = net
            .place_ids()
            .map(|place| {
                !matches!(slice.fates[place.index()], Fate::Unbounded | Fate::Empty)
                    && match &net.initial[place.index()] {
                        OmegaCount::Finite(count) => *count <= Count::ONE,
                        OmegaCount::Omega => false,
                    }
            })
            .collect();
        let mut moves = Vec::new();
        for transition in &net.transitions {
            if transition.pre.iter().any(|(place, _)| slice.fates[place.index()] == Fate::Empty) {
                continue;
            }
            for (place, count) in &transition.post {
                if *count > Count::ONE {
                    possible[place.index()] = false;
                }
            }
            let without = |arcs: &[(PlaceId, Count)], others: &[(PlaceId, Count)]| -> Vec<PlaceId> {
                arcs.iter()
                    .map(|(place, _)| *place)
                    .filter(|place| others.binary_search_by_key(place, |(place, _)| *place).is_err())
                    .collect()
            };
            moves.push((without(&transition.pre, &transition.post), without(&transition.post, &transition.pre)));
        }
        let arcs = |side: fn(&Move) -> &Vec<PlaceId>| {
            let of = move |(number, one)| side(one).iter().map(move |place| (place.0, number));
            Rows::group(net.places.len(), (0u32..).zip(&moves).flat_map(of))
        };
        let (taking, putting) = (arcs(|(taken, _)| taken), arcs(|(_, put)| put));
        Self { problem, balance: vec![0; moves.len()], moves, possible, putting, taking }
    }

    /// Whether the places together hold at most one token for ever. Looks at their arcs only, so
    /// that to ask about disjoint sets takes no longer than to read the net.
    fn is_unit(&mut self, places: &[PlaceId]) -> bool {
        if places.is_empty() || !places.iter().all(|place| self.possible[place.index()]) {
            return false;
        }
        let initial = &self.problem.net.initial;
        let marked = places.iter().filter(|place| initial[place.index()] == OmegaCount::Finite(Count::ONE)).count();
        if marked > 1 {
            return false;
        }
        let Self { putting, taking, balance, .. } = self;
        let put = || places.iter().flat_map(|place| putting.row(place.0));
        let taken = || places.iter().flat_map(|place| taking.row(place.0));
        put().for_each(|number| balance[*number as usize] += 1);
        taken().for_each(|number| balance[*number as usize] -= 1);
        let gains = put().any(|number| balance[*number as usize] > 0);
        put().chain(taken()).for_each(|number| balance[*number as usize] = 0);
        !gains
    }
}

/// Classes of places that belong together (union-find), some of which are no units.
struct Classes<'a> {
    fireable: &'a Fireable<'a>,
    parent: Vec<u32>,
    /// Per root: whether the class cannot be a unit.
    spoilt: Vec<bool>,
    /// Per place: whether it is in a unit already.
    taken: &'a [bool],
    /// How many places and pairs of places were looked at.
    work: usize,
    /// After so many, what is not explained is left so.
    most_work: usize,
}

impl<'a> Classes<'a> {
    fn new(fireable: &'a Fireable<'a>, taken: &'a [bool]) -> Self {
        let places = fireable.problem.net.places.len();
        let arcs: usize = fireable.moves.iter().map(|(taken, put)| taken.len() + put.len()).sum();
        let mut classes = Self {
            fireable,
            parent: (0..u32::try_from(places).expect("a net has fewer than 2^32 places")).collect(),
            spoilt: fireable.possible.iter().map(|possible| !possible).collect(),
            taken,
            work: 0,
            most_work: MOST_WORK.max(WORK_PER_ARC * arcs),
        };
        classes.follow_moves();
        classes
    }

    /// The classes that may be units.
    fn collect(mut self) -> Vec<Vec<PlaceId>> {
        let mut members: Vec<Vec<PlaceId>> = vec![Vec::new(); self.parent.len()];
        for place in self.fireable.problem.net.place_ids() {
            if !self.taken[place.index()] {
                members[self.root(place.0) as usize].push(place);
            }
        }
        members
            .into_iter()
            .enumerate()
            .filter(|(root, class)| !self.spoilt[*root] && !class.is_empty())
            .map(|(_, class)| class)
            .collect()
    }

    fn root(&mut self, mut place: u32) -> u32 {
        while self.parent[place as usize] != place {
            let grandparent = self.parent[self.parent[place as usize] as usize];
            self.parent[place as usize] = grandparent;
            place = grandparent;
        }
        place
    }

    fn unite(&mut self, one: u32, other: u32) {
        let (one, other) = (self.root(one), self.root(other));
        let (low, high) = (one.min(other), one.max(other));
        self.parent[high as usize] = low;
        self.spoilt[low as usize] |= self.spoilt[high as usize];
    }

    /// The classes of places, ascending, without those of places in units.
    fn roots(&mut self, places: &[PlaceId]) -> Vec<u32> {
        let mut roots = Vec::with_capacity(places.len());
        for place in places.iter().filter(|place| !self.taken[place.index()]) {
            roots.push(self.root(place.0));
        }
        self.work += places.len();
        roots.sort_unstable();
        roots
    }

    /// What a move takes and puts beyond places known to belong together: roots of classes that may
    /// be units.
    fn unmatched(&mut self, index: usize) -> (Vec<u32>, Vec<u32>) {
        let (taken, put) = &self.fireable.moves[index];
        let (from, to) = (self.roots(taken), self.roots(put));
        let (mut from, mut to) = (beyond(&from, &to), beyond(&to, &from));
        from.retain(|root| !self.spoilt[*root as usize]);
        to.retain(|root| !self.spoilt[*root as usize]);
        (from, to)
    }

    /// Merges classes until every move is explained, or until that takes too long; guesses only
    /// when nothing is certain.
    fn follow_moves(&mut self) {
        let mut open: Vec<usize> = (0..self.fireable.moves.len()).collect();
        loop {
            let before = open.len();
            let mut certain = false;
            let mut still = Vec::new();
            for index in open {
                let (from, to) = self.unmatched(index);
                match (from.as_slice(), to.as_slice()) {
                    (_, []) => {}
                    ([], roots) => {
                        roots.iter().for_each(|root| self.spoilt[*root as usize] = true);
                        certain = true;
                    }
                    ([one], [other]) => {
                        self.unite(*one, *other);
                        certain = true;
                    }
                    _ => still.push(index),
                }
            }
            if !certain && still.len() == before {
                still.iter().for_each(|index| self.guess(*index));
            }
            open = still;
            if open.is_empty() || self.work > self.most_work {
                return;
            }
        }
    }

    /// Explains one token of a move by the likeliest match.
    fn guess(&mut self, index: usize) {
        let (from, to) = self.unmatched(index);
        self.work = self.work.saturating_add(from.len().saturating_mul(to.len()));
        if self.work > self.most_work {
            return;
        }
        let likeness = |one: u32, other: u32| {
            let name = |root: u32| self.fireable.problem.net.places[root as usize].name.as_str();
            common_stem(name(one), name(other))
        };
        let best = from
            .iter()
            .flat_map(|one| to.iter().map(move |other| (*one, *other)))
            .max_by_key(|(one, other)| (likeness(*one, *other), std::cmp::Reverse((*one, *other))));
        if let Some((one, other)) = best {
            self.unite(one, other);
        }
    }
}

/// What a sorted list has more often than another one.
fn beyond(list: &[u32], other: &[u32]) -> Vec<u32> {
    let mut other = other.iter().peekable();
    let is_alone = |root: &&u32| {
        while other.next_if(|next| next < root).is_some() {}
        other.next_if_eq(root).is_none()
    };
    list.iter().filter(is_alone).copied().collect()
}

/// How much two names have in common: the length of the letters before their first difference or
/// digit.
fn common_stem(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b && !a.is_ascii_digit()).count()
}
