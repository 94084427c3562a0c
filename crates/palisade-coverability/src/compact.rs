//! The slice of a problem in compact form, for the inner loops: places and transitions by number,
//! arcs in rows.

use super::number::{Number, Overflow, Stop};
use super::rows::Rows;
use super::slice::Slice;
use hashbrown::HashTable;
use palisade_model::net::{OmegaCount, Problem, TransitionId};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// What a transition needs and leaves at one place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Effect<N> {
    /// The place, by number.
    pub(super) place: u32,
    /// Tokens taken.
    pub(super) pre: N,
    /// Tokens put.
    pub(super) post: N,
}

/// A problem in compact form.
#[derive(Clone, Debug)]
pub(super) struct CompactNet<N> {
    /// The initial marking by place; there is no ω.
    pub(super) initial: Vec<N>,
    /// The transitions' numbers in the net; of several alike one.
    pub(super) transitions: Vec<TransitionId>,
    /// The transitions' effects, sorted by place.
    effects: Vec<Effect<N>>,
    /// Where the effects of each transition start.
    starts: Vec<u32>,
    /// Per place, the transitions that need it.
    pub(super) consumers: Rows,
    /// Per place, the transitions that put more there than they take.
    pub(super) producers: Rows,
    /// The targets' demands, sorted by place.
    pub(super) targets: Vec<Vec<(u32, N)>>,
}

impl<N: Number> CompactNet<N> {
    /// The compact form of a problem's slice.
    pub(super) fn new(problem: &Problem, slice: &Slice) -> Result<Self, Stop> {
        let net = &problem.net;
        let mut initial = Vec::with_capacity(slice.places.len());
        for place in &slice.places {
            let OmegaCount::Finite(count) = &net.initial[place.index()] else {
                unreachable!("places that are ω initially are unbounded")
            };
            initial.push(N::of(count)?);
        }

        // Transitions by number, found by their effects.
        let mut alike: HashTable<usize> = HashTable::with_capacity(slice.transitions.len());
        let mut transitions = Vec::new();
        let mut effects: Vec<Effect<N>> = Vec::new();
        let mut starts: Vec<u32> = vec![0];
        for id in &slice.transitions {
            let transition = &net.transitions[id.index()];
            let start = effects.len();
            for (place, taken, put) in transition.effects() {
                if let Some(place) = slice.number(place) {
                    effects.push(Effect { place, pre: N::of(taken)?, post: N::of(put)? });
                }
            }
            let of = |number: usize| &effects[starts[number] as usize..starts[number + 1] as usize];
            let hash = FxBuildHasher.hash_one(&effects[start..]);
            if alike.find(hash, |number| *of(*number) == effects[start..]).is_some() {
                effects.truncate(start);
            } else {
                alike.insert_unique(hash, transitions.len(), |number| FxBuildHasher.hash_one(of(*number)));
                transitions.push(*id);
                starts.push(u32::try_from(effects.len()).map_err(|_| Stop::Fault(Overflow))?);
            }
        }

        let mut targets = Vec::with_capacity(slice.targets.len());
        for index in &slice.targets {
            let demands = problem.query.targets[*index].demands.iter();
            let kept = demands.filter_map(|(place, count)| slice.number(*place).map(|number| (number, count)));
            targets.push(kept.map(|(place, count)| Ok((place, N::of(count)?))).collect::<Result<_, Stop>>()?);
        }

        let bounds = (0..).zip(starts.windows(2).map(|bounds| bounds[0] as usize..bounds[1] as usize));
        let all = bounds.flat_map(|(number, bounds)| effects[bounds].iter().map(move |effect| (effect, number)));
        let needed = all.clone().filter(|(effect, _)| !effect.pre.is_zero());
        let gained = all.filter(|(effect, _)| effect.post > effect.pre);
        let consumers = Rows::group(initial.len(), needed.map(|(effect, number)| (effect.place, number)));
        let producers = Rows::group(initial.len(), gained.map(|(effect, number)| (effect.place, number)));
        Ok(Self { initial, transitions, effects, starts, consumers, producers, targets })
    }

    /// How many places there are.
    pub(super) fn places(&self) -> usize {
        self.initial.len()
    }

    /// The effects of a transition, sorted by place.
    pub(super) fn effects(&self, transition: u32) -> &[Effect<N>] {
        &self.effects[self.starts[transition as usize] as usize..self.starts[transition as usize + 1] as usize]
    }
}
