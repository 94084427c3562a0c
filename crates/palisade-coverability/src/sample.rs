//! Samples of reachable markings: random walks that remember what they have seen together.
//!
//! What the walks see is true of the net (these places can be marked, these two at once); what they
//! do not see is a guess at what cannot happen. [`backward`](super::backward) uses the guesses to
//! generalise, and every wrong guess ends in a run, which becomes a sample. A walk that meets a
//! target is an answer.
//!
//! Walks start from markings that showed something new, and among enabled transitions prefer those
//! fired less often. The generator of random numbers is fixed, so that the same problem gives the
//! same samples. How many steps it takes to meet a target is a matter of luck, most often few and
//! sometimes very many; so each new walker of a problem begins with other random numbers.

use super::Context;
use super::compact::{CompactNet, Effect};
use super::number::{Number, Stop};
use fixedbitset::FixedBitSet;

/// Most places for which pairs are remembered (a bit each).
const MOST_PLACES_WITH_PAIRS: usize = 10_000;

/// How many steps a walk has.
const WALK: usize = 64;

/// What a step takes besides keeping up with which transitions are enabled.
const WORK_PER_STEP: usize = 8;

/// The walk looks at so many transitions in the time of one piece of work.
const LOOKED_AT_PER_WORK: usize = 4;

/// The walk looks at the limits after so many, as a step of a net with long arcs or markings takes
/// as long as thousands of others.
const MOST_LOOKED_AT: usize = 100_000;

/// To fire takes the time of one transition looked at for each so many arcs, words of bits or
/// places.
const WORDS_PER_LOOK: usize = 64;

/// The number of steps after which the walk asks itself whether anything was new.
const BATCH: usize = 500;

/// Most markings that walks may start from.
const POOL: usize = 20_000;

/// Places and pairs of places that have been seen marked together.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    singles: FixedBitSet,
    /// Nothing for large nets.
    pairs: Option<Pairs>,
}

/// A set of pairs of places, all in one piece of memory; on the diagonal, whether two tokens have
/// been seen.
#[derive(Clone, Debug)]
struct Pairs {
    words: Vec<u64>,
    /// How many words there are for one place.
    stride: usize,
}

impl Pairs {
    fn new(places: usize) -> Self {
        let stride = places.div_ceil(64);
        Self { words: vec![0; places * stride], stride }
    }

    fn contains(&self, one: usize, other: usize) -> bool {
        self.words[one * self.stride + other / 64] & bit(other) != 0
    }

    /// Adds the pairs of a place with those that are marked, itself when it is `twice`; says
    /// whether one of them is new.
    fn insert(&mut self, place: usize, twice: bool, marked: &[u64]) -> bool {
        let mut new = false;
        for (index, marked) in marked.iter().enumerate() {
            let known = self.words[place * self.stride + index];
            let itself = if index == place / 64 && !twice { bit(place) } else { 0 };
            let fresh = marked & !(known | itself);
            if fresh == 0 {
                continue;
            }
            new = true;
            self.words[place * self.stride + index] |= fresh;
            for other in ones(index, fresh) {
                self.words[other * self.stride + place / 64] |= bit(place);
            }
        }
        new
    }
}

/// The bit of a number in its word.
fn bit(number: usize) -> u64 {
    1 << (number % 64)
}

/// The numbers whose bits are set in the word at an index, in order.
fn ones(index: usize, word: u64) -> impl Iterator<Item = usize> {
    let nonzero = |word: &u64| *word != 0;
    let rests = std::iter::successors(Some(word).filter(nonzero), move |rest| Some(rest & (rest - 1)).filter(nonzero));
    rests.map(move |rest| index * 64 + rest.trailing_zeros() as usize)
}

impl Seen {
    fn new(places: usize) -> Self {
        let pairs = (places <= MOST_PLACES_WITH_PAIRS).then(|| Pairs::new(places));
        Self { singles: FixedBitSet::with_capacity(places), pairs }
    }

    /// A part of a marking that has never been seen: a place, or two places, or two tokens of one.
    pub(super) fn unseen_part<N: Number>(&self, marking: &[(u32, N)]) -> Option<Vec<(u32, u64)>> {
        if let Some((place, _)) = marking.iter().find(|(place, _)| !self.singles.contains(*place as usize)) {
            return Some(vec![(*place, 1)]);
        }
        let pairs = self.pairs.as_ref()?;
        for (index, (place, count)) in marking.iter().enumerate() {
            if count.rough() > 1 && !pairs.contains(*place as usize, *place as usize) {
                return Some(vec![(*place, 2)]);
            }
            for (other, _) in &marking[index + 1..] {
                if !pairs.contains(*place as usize, *other as usize) {
                    return Some(vec![(*place, 1), (*other, 1)]);
                }
            }
        }
        None
    }

    /// Notes that a place is marked, once or more than that, together with those whose bits are
    /// set; says whether that is new.
    fn note(&mut self, place: u32, twice: bool, marked: &[u64]) -> bool {
        let new = !self.singles.put(place as usize);
        let pairs = self.pairs.as_mut().is_some_and(|pairs| pairs.insert(place as usize, twice, marked));
        new | pairs
    }
}

/// A set of small numbers with constant-time changes and access by position.
#[derive(Clone, Debug)]
struct Members {
    list: Vec<u32>,
    position: Vec<u32>,
}

impl Members {
    fn new(size: usize) -> Self {
        Self { list: Vec::new(), position: vec![u32::MAX; size] }
    }

    fn contains(&self, member: u32) -> bool {
        self.position[member as usize] != u32::MAX
    }

    fn insert(&mut self, member: u32) {
        if self.position[member as usize] == u32::MAX {
            self.position[member as usize] = u32::try_from(self.list.len()).expect("no more members than numbers");
            self.list.push(member);
        }
    }

    fn remove(&mut self, member: u32) {
        let position = self.position[member as usize];
        if position != u32::MAX {
            self.position[member as usize] = u32::MAX;
            self.list.swap_remove(position as usize);
            if let Some(moved) = self.list.get(position as usize) {
                self.position[*moved as usize] = position;
            }
        }
    }
}

/// Transitions that wait at places, each at one: lists through one piece of memory.
#[derive(Clone, Debug)]
struct Waiting {
    /// Per place, the first transition that waits there, or [`Waiting::NONE`].
    first: Vec<u32>,
    /// Per waiting transition, the next one at its place, or [`Waiting::NONE`].
    next: Vec<u32>,
}

impl Waiting {
    const NONE: u32 = u32::MAX;

    fn new(places: usize, transitions: usize) -> Self {
        Self { first: vec![Self::NONE; places], next: vec![Self::NONE; transitions] }
    }

    /// Lets a transition that waits nowhere wait at the place.
    fn add(&mut self, place: u32, transition: u32) {
        self.next[transition as usize] = std::mem::replace(&mut self.first[place as usize], transition);
    }

    /// Takes all transitions from the place; returns the first of them, from which
    /// [`Waiting::after`] leads on.
    fn take_all(&mut self, place: u32) -> Option<u32> {
        Some(std::mem::replace(&mut self.first[place as usize], Self::NONE)).filter(|first| *first != Self::NONE)
    }

    /// The transition that waits behind this one.
    fn after(&self, transition: u32) -> Option<u32> {
        Some(self.next[transition as usize]).filter(|next| *next != Self::NONE)
    }
}

/// A marking that showed something new, and how it was reached.
#[derive(Clone, Debug)]
struct Sample<N> {
    marking: Box<[(u32, N)]>,
    from: Option<u32>,
    path: Box<[u32]>,
}

/// The walker.
#[derive(Debug)]
pub(super) struct Sampler<'a, N> {
    compact: &'a CompactNet<N>,
    pub(super) seen: Seen,
    pool: Vec<Sample<N>>,
    /// The current marking.
    marking: Vec<N>,
    /// Its marked places.
    marked: Members,
    /// The same, each a bit.
    marked_bits: Vec<u64>,
    /// The places that a walk leaves when it goes to a sample; kept for its memory only.
    left: Vec<u32>,
    /// The enabled transitions. Each of the others waits at a place that has too few tokens for it.
    enabled: Members,
    waiting: Waiting,
    /// How many transitions were looked at and not yet counted as work.
    looked_at: usize,
    /// Per transition, how often it fired.
    fired: Vec<u32>,
    random: u64,
}

/// A sequence of transitions, and the target that it covers.
pub(super) type Covering = (Vec<u32>, usize);

impl<'a, N: Number> Sampler<'a, N> {
    /// A walker at the initial marking, the one of this number.
    pub(super) fn new(compact: &'a CompactNet<N>, number: u64) -> Self {
        let transitions = compact.transitions.len();
        let mut sampler = Self {
            compact,
            seen: Seen::new(compact.places()),
            pool: Vec::new(),
            marking: vec![N::ZERO; compact.places()],
            marked: Members::new(compact.places()),
            marked_bits: vec![0; compact.places().div_ceil(64)],
            left: Vec::new(),
            enabled: Members::new(transitions),
            waiting: Waiting::new(compact.places(), transitions),
            looked_at: 0,
            fired: vec![0; transitions],
            random: (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        };
        for number in (0u32..).take(transitions) {
            let needed = compact.effects(number).iter().filter(|effect| !effect.pre.is_zero());
            match needed.min_by_key(|effect| compact.consumers.row(effect.place).len()) {
                Some(rarest) => sampler.waiting.add(rarest.place, number),
                None => sampler.enabled.insert(number),
            }
        }
        let initial: Vec<(u32, N)> =
            (0u32..).zip(compact.initial.iter().cloned()).filter(|(_, count)| !count.is_zero()).collect();
        for (place, count) in &initial {
            sampler.set(*place, count.clone());
        }
        for (place, count) in &initial {
            sampler.seen.note(*place, count.rough() > 1, &sampler.marked_bits);
        }
        sampler.pool.push(Sample { marking: initial.into(), from: None, path: Box::default() });
        sampler
    }

    /// Walks until little is new, and for about so many steps at most.
    pub(super) fn look_around(&mut self, steps: usize, context: &Context) -> Result<Option<Covering>, Stop> {
        let mut left = steps;
        while left > 0 {
            let before = self.pool.len();
            let found = self.walk(BATCH, context)?;
            if found.is_some() || self.pool.len() == before {
                return Ok(found);
            }
            left = left.saturating_sub(BATCH);
        }
        Ok(None)
    }

    /// Walks for about so many steps. Returns a sequence that covers a target, if one is met.
    pub(super) fn walk(&mut self, steps: usize, context: &Context) -> Result<Option<Covering>, Stop> {
        let mut left = steps;
        while left > 0 {
            context.count_work(WALK * WORK_PER_STEP);
            self.look_at_limits(context)?;
            let newest = self.pool.len() - 1;
            // Half of the walks start where something was new lately.
            let start = match self.next_random() % 2 {
                0 => newest - self.below(newest.min(31) + 1),
                _ => self.below(newest + 1),
            };
            let mut from = u32::try_from(start).expect("the pool is small");
            self.restore(start);
            let mut path = Vec::new();
            for _ in 0..WALK {
                left = left.saturating_sub(1);
                if self.looked_at >= MOST_LOOKED_AT {
                    self.look_at_limits(context)?;
                }
                let Some(transition) = self.choose() else { break };
                path.push(transition);
                let new = self.fire(transition)?;
                if let Some(target) = self.met() {
                    return Ok(Some((self.sequence(Some(from), &path), target)));
                }
                if new && self.pool.len() < POOL {
                    let marking = self.sparse();
                    self.pool.push(Sample { marking, from: Some(from), path: path.into() });
                    from = u32::try_from(self.pool.len() - 1).expect("the pool is small");
                    path = Vec::new();
                }
            }
        }
        Ok(None)
    }

    /// Counts the transitions looked at as work, and says when to stop.
    fn look_at_limits(&mut self, context: &Context) -> Result<(), Stop> {
        context.count_work(std::mem::take(&mut self.looked_at) / LOOKED_AT_PER_WORK);
        Ok(context.check()?)
    }

    /// Notes what a firing sequence from the initial marking sees, and lets walks start from its
    /// end.
    pub(super) fn learn(&mut self, sequence: &[u32]) -> Result<(), Stop> {
        self.restore(0);
        for transition in sequence {
            self.fire(*transition)?;
        }
        let marking = self.sparse();
        self.pool.push(Sample { marking, from: Some(0), path: sequence.into() });
        Ok(())
    }

    /// Fires an enabled transition; says whether something new is seen.
    fn fire(&mut self, transition: u32) -> Result<bool, Stop> {
        self.fired[transition as usize] += 1;
        let compact = self.compact;
        let arcs = compact.effects(transition).len();
        self.looked_at += (arcs * (1 + self.marked_bits.len()) + self.marked.list.len()) / WORDS_PER_LOOK;
        for effect in compact.effects(transition) {
            let count = self.marking[effect.place as usize].monus(&effect.pre).plus(&effect.post)?;
            self.set(effect.place, count);
        }
        let mut new = false;
        for effect in compact.effects(transition).iter().filter(|effect| effect.post > effect.pre) {
            let twice = self.marking[effect.place as usize].rough() > 1;
            new |= self.seen.note(effect.place, twice, &self.marked_bits);
        }
        Ok(new)
    }

    /// Changes the tokens of a place.
    fn set(&mut self, place: u32, count: N) {
        let before = std::mem::replace(&mut self.marking[place as usize], count);
        let count = &self.marking[place as usize];
        if before == *count {
            return;
        }
        let bits = &mut self.marked_bits[place as usize / 64];
        if count.is_zero() {
            self.marked.remove(place);
            *bits &= !bit(place as usize);
        } else {
            self.marked.insert(place);
            *bits |= bit(place as usize);
        }
        if before < *count {
            self.gained(place);
        } else {
            self.lost(place);
        }
    }

    /// Looks again at the transitions that wait at a place.
    fn gained(&mut self, place: u32) {
        let mut waiting = self.waiting.take_all(place);
        while let Some(transition) = waiting {
            self.looked_at += 1;
            // It may go back to the same list.
            waiting = self.waiting.after(transition);
            // Most often the places before this one have enough; look at them last, so that all
            // arcs are gone through about once.
            let effects = self.compact.effects(transition);
            let (before, after) = effects.split_at(effects.partition_point(|effect| effect.place < place));
            match after.iter().chain(before).find(|effect| self.lacks(effect)) {
                Some(effect) => self.waiting.add(effect.place, transition),
                None => self.enabled.insert(transition),
            }
        }
    }

    /// Lets the transitions that a place no longer enables wait there.
    fn lost(&mut self, place: u32) {
        let consumers = self.compact.consumers.row(place);
        if consumers.len() < self.enabled.list.len() {
            consumers.iter().for_each(|transition| self.wait_if_disabled(*transition, place));
        } else {
            // From the end, as those that go are replaced by the last one.
            for position in (0..self.enabled.list.len()).rev() {
                self.wait_if_disabled(self.enabled.list[position], place);
            }
        }
    }

    /// Lets the transition wait at the place if it is enabled but for that.
    fn wait_if_disabled(&mut self, transition: u32, place: u32) {
        self.looked_at += 1;
        if !self.enabled.contains(transition) {
            return;
        }
        let effects = self.compact.effects(transition);
        let at_place = effects.binary_search_by_key(&place, |effect| effect.place);
        if at_place.is_ok_and(|position| self.lacks(&effects[position])) {
            self.enabled.remove(transition);
            self.waiting.add(place, transition);
        }
    }

    /// Whether the place of an effect has too few tokens for it.
    fn lacks(&self, effect: &Effect<N>) -> bool {
        self.marking[effect.place as usize] < effect.pre
    }

    /// Goes to a sample's marking.
    fn restore(&mut self, sample: usize) {
        let marking = std::mem::take(&mut self.pool[sample].marking);
        let mut left = std::mem::take(&mut self.left);
        let is_left = |place: &&u32| marking.binary_search_by_key(*place, |(place, _)| *place).is_err();
        left.extend(self.marked.list.iter().filter(is_left));
        for place in left.drain(..) {
            self.set(place, N::ZERO);
        }
        for (place, count) in &marking {
            self.set(*place, count.clone());
        }
        self.left = left;
        self.pool[sample].marking = marking;
    }

    /// The least fired of three enabled transitions.
    fn choose(&mut self) -> Option<u32> {
        if self.enabled.list.is_empty() {
            return None;
        }
        let candidates = [(); 3].map(|()| {
            let position = self.below(self.enabled.list.len());
            self.enabled.list[position]
        });
        candidates.into_iter().min_by_key(|transition| self.fired[*transition as usize])
    }

    /// The target that the current marking covers.
    fn met(&self) -> Option<usize> {
        let covers =
            |target: &Vec<(u32, N)>| target.iter().all(|(place, count)| self.marking[*place as usize] >= *count);
        self.compact.targets.iter().position(covers)
    }

    /// The current marking.
    fn sparse(&self) -> Box<[(u32, N)]> {
        let mut marking = Vec::with_capacity(self.marked.list.len());
        for place in self.marked_bits.iter().enumerate().flat_map(|(index, word)| ones(index, *word)) {
            let number = u32::try_from(place).expect("places are numbered so");
            marking.push((number, self.marking[place].clone()));
        }
        marking.into()
    }

    /// The whole sequence that ends with a path from a sample.
    fn sequence(&self, mut sample: Option<u32>, path: &[u32]) -> Vec<u32> {
        let mut parts = vec![path];
        while let Some(number) = sample {
            parts.push(&self.pool[number as usize].path);
            sample = self.pool[number as usize].from;
        }
        parts.into_iter().rev().flatten().copied().collect()
    }

    /// SplitMix64.
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next_random() % bound as u64).expect("smaller than a usize")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Prepared;
    use palisade_model::net::{Count, Net, OmegaCount, Problem, Query, Target};

    /// A net whose transitions compete for tokens, some for two at once.
    fn competition() -> Problem {
        let mut net = Net::default();
        let places: Vec<_> =
            (0..6u64).map(|index| net.add_place(format!("p{index}"), OmegaCount::Finite((index % 3).into()))).collect();
        for (index, place) in places.iter().enumerate() {
            let (next, other) = (places[(index + 1) % 6], places[(index * 2 + 3) % 6]);
            net.add_transition(format!("a{index}"), vec![(*place, Count::ONE)], vec![(next, Count::ONE)]);
            net.add_transition(
                format!("b{index}"),
                vec![(*place, 2.into()), (other, Count::ONE)],
                vec![(next, 3.into())],
            );
        }
        let target = Target::new(vec![(places[0], 1_000.into())]);
        Problem { net, query: Query { targets: vec![target] } }
    }

    #[test]
    fn the_enabled_transitions_are_kept_up_to_date() {
        let problem = competition();
        let prepared = Prepared::new(&problem);
        let compact = prepared.small().unwrap();
        let mut sampler = Sampler::new(compact, 0);
        for _ in 0..200 {
            assert!(sampler.walk(1, &Context::default()).unwrap().is_none());
            let expected: Vec<u32> = (0u32..)
                .take(compact.transitions.len())
                .filter(|number| !compact.effects(*number).iter().any(|effect| sampler.lacks(effect)))
                .collect();
            let mut enabled = sampler.enabled.list.clone();
            enabled.sort_unstable();
            assert_eq!(enabled, expected);
            let waiting = &sampler.waiting;
            let behind = |first: &u32| std::iter::successors(Some(*first), |before| waiting.after(*before)).count();
            let lists = waiting.first.iter().filter(|first| **first != Waiting::NONE);
            assert_eq!(lists.map(behind).sum::<usize>() + enabled.len(), compact.transitions.len());
        }
    }
}
