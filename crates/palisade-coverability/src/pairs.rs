//! Which places can be marked together, pair by pair: saturation of the second order.
//!
//! The relation is the least one that holds of the places marked together initially and is closed
//! under firing: when all places that a transition needs are pairwise related, those it feeds are
//! related to each other and to every place that is related to all it needs; two tokens of one
//! place are a pair too. What is not related cannot be marked together: the unrelated pairs are the
//! basis of an upward-closed set that is closed under predecessors and misses the initial marking.
//! For safe nets this over-approximation is known as the concurrency relation [KO92]; its cost is
//! polynomial, places × arcs words and more.
//!
//! [`saturation`](super::saturation) is the same for single places.

use super::Context;
use super::compact::{CompactNet, Effect};
use super::number::{Number, Stop};
use fixedbitset::FixedBitSet;
use palisade_model::limits::StopReason;
use std::collections::VecDeque;

/// The most places for which the relation is kept: 128 MiB.
const MOST_PLACES: usize = 1 << 15;

/// The number of operations on machine words between two checks of the limits.
const METER: u64 = 1_000_000;

/// To look at so many transitions takes the time of an operation on machine words.
const LOOKED_AT_PER_WORD: usize = 8;

/// Places that may be marked, and pairs of places that may be marked together.
#[derive(Debug)]
pub(super) struct Pairs {
    singles: FixedBitSet,
    /// Per place, those related to it; on the diagonal, whether there may be two tokens.
    rows: Vec<FixedBitSet>,
}

impl Pairs {
    /// The relation of a net; nothing when the net is too large, or when it takes more than so many
    /// operations on machine words.
    pub(super) fn new<N: Number>(
        compact: &CompactNet<N>,
        budget: u64,
        context: &Context,
    ) -> Result<Option<Self>, Stop> {
        let places = compact.places();
        if places > MOST_PLACES {
            return Ok(None);
        }
        let empty = Self {
            singles: FixedBitSet::with_capacity(places),
            rows: vec![FixedBitSet::with_capacity(places); places],
        };
        Closure::new(compact, empty, budget).run(context)
    }

    /// A part of a marking that cannot be marked: a place, two places, or two tokens of one.
    pub(super) fn unrelated_part<N: Number>(&self, marking: &[(u32, N)]) -> Option<Vec<(u32, u64)>> {
        if let Some((place, _)) = marking.iter().find(|(place, _)| !self.singles.contains(*place as usize)) {
            return Some(vec![(*place, 1)]);
        }
        marking.iter().enumerate().find_map(|(index, (place, count))| {
            let row = &self.rows[*place as usize];
            if count.rough() > 1 && !row.contains(*place as usize) {
                return Some(vec![(*place, 2)]);
            }
            let other = marking[index + 1..].iter().find(|(other, _)| !row.contains(*other as usize));
            other.map(|(other, _)| vec![(*place, 1), (*other, 1)])
        })
    }
}

/// The computation of the relation.
struct Closure<'a, N> {
    compact: &'a CompactNet<N>,
    pairs: Pairs,
    /// Transitions to look at, because something they need has changed.
    open: VecDeque<u32>,
    /// Whether each transition is there.
    is_open: FixedBitSet,
    /// How many operations on machine words it took so far.
    spent: u64,
    /// After so many it gives up.
    budget: u64,
    /// At so many it looks at the limits again.
    next_check: u64,
}

/// Why there is no relation.
enum NoRelation {
    /// It takes more than the budget.
    Large,
    /// See the reason.
    Stopped(StopReason),
}

impl From<StopReason> for NoRelation {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

impl<'a, N: Number> Closure<'a, N> {
    /// No places are related, and transitions that need none are open.
    fn new(compact: &'a CompactNet<N>, pairs: Pairs, budget: u64) -> Self {
        let transitions = compact.transitions.len();
        let mut closure = Self {
            compact,
            pairs,
            open: VecDeque::new(),
            is_open: FixedBitSet::with_capacity(transitions),
            spent: 0,
            budget,
            next_check: METER,
        };
        for transition in 0..u32::try_from(transitions).expect("transitions are numbered in 32 bits") {
            if compact.effects(transition).iter().all(|effect| effect.pre.is_zero()) {
                closure.look_at(transition);
            }
        }
        closure
    }

    /// The relation, or nothing when it takes more than the budget.
    fn run(mut self, context: &Context) -> Result<Option<Pairs>, Stop> {
        match self.close(context) {
            Ok(()) => Ok(Some(self.pairs)),
            Err(NoRelation::Large) => Ok(None),
            Err(NoRelation::Stopped(reason)) => Err(Stop::Stopped(reason)),
        }
    }

    /// Relates what is marked initially, and closes the relation under firing.
    fn close(&mut self, context: &Context) -> Result<(), NoRelation> {
        let initial: Vec<(u32, N)> =
            (0u32..).zip(self.compact.initial.iter().cloned()).filter(|(_, count)| !count.is_zero()).collect();
        self.relate_all(&initial, context)?;
        let words = self.compact.places() / 64 + 1;
        let mut with = FixedBitSet::with_capacity(self.compact.places());
        let mut new = with.clone();
        while let Some(transition) = self.open.pop_front() {
            self.is_open.set(transition as usize, false);
            context.check_interrupts()?;
            let compact = self.compact;
            let effects = compact.effects(transition);
            context.count_work(words * effects.len() / 8 + 1);
            self.spend(words * effects.len(), context)?;
            if !self.may_fire(transition) {
                continue;
            }
            with.clone_from(&self.pairs.singles);
            for effect in effects.iter().filter(|effect| !effect.pre.is_zero()) {
                with.intersect_with(&self.pairs.rows[effect.place as usize]);
            }
            let fed: Vec<(u32, N)> = effects
                .iter()
                .filter(|effect| !effect.post.is_zero())
                .map(|effect| (effect.place, effect.post.clone()))
                .collect();
            self.relate_all(&fed, context)?;
            for (place, _) in &fed {
                self.spend(0, context)?;
                new.clone_from(&with);
                new.difference_with(&self.pairs.rows[*place as usize]);
                for other in new.ones() {
                    self.relate(*place, u32::try_from(other).expect("places are numbered in 32 bits"));
                }
            }
        }
        Ok(())
    }

    /// Counts operations; says when to give up or to stop.
    fn spend(&mut self, operations: usize, context: &Context) -> Result<(), NoRelation> {
        self.spent += operations as u64;
        if self.spent > self.budget {
            return Err(NoRelation::Large);
        }
        if self.spent >= self.next_check {
            self.next_check = self.spent + METER;
            context.count_iterations(1);
            context.check()?;
        }
        Ok(())
    }

    /// Whether all that a transition needs is related.
    fn may_fire(&self, transition: u32) -> bool {
        let effects = self.compact.effects(transition);
        let needs = |effect: &&Effect<N>| !effect.pre.is_zero();
        effects.iter().enumerate().filter(|(_, effect)| needs(effect)).all(|(index, effect)| {
            let row = &self.pairs.rows[effect.place as usize];
            self.pairs.singles.contains(effect.place as usize)
                && (effect.pre.rough() <= 1 || row.contains(effect.place as usize))
                && effects[index + 1..].iter().filter(needs).all(|other| row.contains(other.place as usize))
        })
    }

    /// Relates all places of a marking.
    fn relate_all(&mut self, marking: &[(u32, N)], context: &Context) -> Result<(), NoRelation> {
        for (index, (place, count)) in marking.iter().enumerate() {
            self.spend(index, context)?;
            if !self.pairs.singles.put(*place as usize) {
                self.look_at_consumers(*place);
            }
            if count.rough() > 1 {
                self.relate(*place, *place);
            }
            for (other, _) in &marking[..index] {
                self.relate(*place, *other);
            }
        }
        Ok(())
    }

    /// Relates two places.
    fn relate(&mut self, one: u32, other: u32) {
        if !self.pairs.rows[one as usize].put(other as usize) {
            self.pairs.rows[other as usize].insert(one as usize);
            self.look_at_consumers(one);
            self.look_at_consumers(other);
        }
    }

    fn look_at_consumers(&mut self, place: u32) {
        let consumers = self.compact.consumers.row(place);
        self.spent += (consumers.len() / LOOKED_AT_PER_WORD) as u64;
        consumers.iter().for_each(|transition| self.look_at(*transition));
    }

    fn look_at(&mut self, transition: u32) {
        if !self.is_open.put(transition as usize) {
            self.open.push_back(transition);
        }
    }
}
