//! Runs on the way back: sequences are spelled out, and unbounded places filled as far as the run needs.

use super::super::bench::weight;
use super::super::steps::{BenchId, Origin, Source};
use super::Back;
use crate::evidence::NetRun;
use crate::net::{Count, OmegaCount, PlaceId, Transition, TransitionId};
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

/// A sequence of original transitions, each with the number of times it fires in a row.
type Word = Vec<(TransitionId, BigUint)>;

/// A run of more entries than this is not written out.
const LONGEST: usize = 20_000_000;

pub(super) fn map(back: &Back, run: &NetRun) -> Option<NetRun> {
    let net = &back.original.net;
    let mut unbounded = vec![false; net.places.len()];
    for (place, _) in &back.sources {
        unbounded[place.index()] = true;
    }
    let mut speller = Speller {
        back,
        unbounded,
        marking: net.initial.iter().map(|count| if let OmegaCount::Finite(count) = count { count.to_big() } else { BigUint::zero() }).collect(),
        word: Vec::new(),
    };
    for (id, times) in &back.expelled {
        speller.spell(*id, &times.to_big())?;
    }
    for (id, times) in &run.firings {
        if let Some(id) = *back.transitions.get(id.index())? {
            speller.spell(id, &times.to_big())?;
        }
    }
    let Speller { word, unbounded, .. } = speller;
    let mut filler = Filler { back, unbounded, need: vec![BigUint::zero(); net.places.len()] };
    filler.demand(&word);
    let mut firings = filler.fill()?;
    firings.extend(word);
    let initial_choice = net
        .place_ids()
        .filter(|place| net.initial[place.index()] == OmegaCount::Omega && !filler.need[place.index()].is_zero())
        .map(|place| (place, filler.need[place.index()].clone().into()))
        .collect();
    Some(NetRun { initial_choice, firings: firings.into_iter().map(|(id, times)| (id, times.into())).collect() })
}

/// Spells sequences out while following the marking of the places that are not unbounded.
struct Speller<'a> {
    back: &'a Back,
    unbounded: Vec<bool>,
    marking: Vec<BigUint>,
    word: Word,
}

impl Speller<'_> {
    /// Fires a transition of the bench so many times. A sequence fires in portions: as often as its first part can
    /// fire in a row, then as often its second part.
    fn spell(&mut self, id: BenchId, times: &BigUint) -> Option<()> {
        let back = self.back;
        match &back.origins[id as usize] {
            Origin::Original(original) => self.fire(*original, times),
            Origin::Sequence { first, second } => {
                let mut left = times.clone();
                while !left.is_zero() {
                    let portion = self.portion(first, &left)?;
                    self.spell(first.0, &(&portion * first.1.to_big()))?;
                    if !second.1.is_zero() {
                        self.spell(second.0, &(&portion * second.1.to_big()))?;
                    }
                    left -= portion;
                }
                Some(())
            }
        }
    }

    /// How often the first part of a sequence can be fired in a row without a look at what its parts put: at least
    /// once, if the run is one.
    fn portion(&self, first: &(BenchId, Count), wanted: &BigUint) -> Option<BigUint> {
        if wanted.is_one() {
            return Some(BigUint::one());
        }
        let mut portion = wanted.clone();
        let net = &self.back.original.net;
        let mut pending = vec![(first.0, first.1.to_big())];
        let mut taken: Vec<(PlaceId, BigUint)> = Vec::new();
        while let Some((id, times)) = pending.pop() {
            match &self.back.origins[id as usize] {
                Origin::Original(original) => {
                    for (place, count) in &net.transitions[original.index()].pre {
                        taken.push((*place, &times * count.to_big()));
                    }
                }
                Origin::Sequence { first, second } => {
                    pending.push((first.0, &times * first.1.to_big()));
                    pending.push((second.0, &times * second.1.to_big()));
                }
            }
        }
        taken.sort();
        let mut taken = taken.into_iter().peekable();
        while let Some((place, mut count)) = taken.next() {
            while let Some((_, more)) = taken.next_if(|(other, _)| *other == place) {
                count += more;
            }
            if !self.unbounded[place.index()] && !count.is_zero() {
                portion = portion.min(&self.marking[place.index()] / count);
            }
        }
        Some(portion.max(BigUint::one()))
    }

    fn fire(&mut self, id: TransitionId, times: &BigUint) -> Option<()> {
        if times.is_zero() {
            return Some(());
        }
        let transition = self.back.original.net.transitions.get(id.index())?;
        for (place, required) in requirements(transition, times) {
            if !self.unbounded[place.index()] && self.marking[place.index()] < required {
                return None;
            }
        }
        for (place, count) in &transition.post {
            if !self.unbounded[place.index()] {
                self.marking[place.index()] += count.to_big() * times;
            }
        }
        for (place, count) in &transition.pre {
            if !self.unbounded[place.index()] {
                self.marking[place.index()] -= count.to_big() * times;
            }
        }
        match self.word.last_mut() {
            Some((last, count)) if *last == id => *count += times,
            _ => self.word.push((id, times.clone())),
        }
        (self.word.len() <= LONGEST).then_some(())
    }
}

/// What firing so many times in a row needs on each place of the preset: `pre` for the last time and what is lost
/// each time before.
fn requirements(transition: &Transition, times: &BigUint) -> Vec<(PlaceId, BigUint)> {
    transition
        .pre
        .iter()
        .map(|(place, taken)| {
            let lost = taken.saturating_minus(weight(&transition.post, *place)).to_big();
            (*place, taken.to_big() + lost * (times - BigUint::one()))
        })
        .collect()
}

/// Finds out how many tokens the unbounded places need at the start, and puts them there.
struct Filler<'a> {
    back: &'a Back,
    unbounded: Vec<bool>,
    /// What each unbounded place needs before the run.
    need: Vec<BigUint>,
}

impl Filler<'_> {
    /// The least tokens the unbounded places need for the word.
    fn demand(&mut self, word: &Word) {
        let net = &self.back.original.net;
        let mut balance: Vec<BigInt> = vec![BigInt::zero(); net.places.len()];
        for (id, times) in word {
            let transition = &net.transitions[id.index()];
            for (place, required) in requirements(transition, times) {
                if self.unbounded[place.index()] {
                    let missing = BigInt::from(required) - &balance[place.index()];
                    if missing.is_positive() {
                        let missing = missing.magnitude().clone();
                        let need = &mut self.need[place.index()];
                        if *need < missing {
                            *need = missing;
                        }
                    }
                }
            }
            for (place, count) in &transition.post {
                balance[place.index()] += BigInt::from(count.to_big() * times);
            }
            for (place, count) in &transition.pre {
                balance[place.index()] -= BigInt::from(count.to_big() * times);
            }
        }
        // Targets may ask for tokens on them after the run as well.
        for (place, count) in self.back.original.query.targets.iter().flat_map(|target| &target.demands) {
            let missing = BigInt::from(count.to_big()) - &balance[place.index()];
            let need = &mut self.need[place.index()];
            if self.unbounded[place.index()] && missing.is_positive() && need.cmp(&missing.magnitude()).is_lt() {
                *need = missing.magnitude().clone();
            }
        }
    }

    /// The firings that fill the places which are not ω initially. Later ones need earlier ones only.
    fn fill(&mut self) -> Option<Word> {
        let net = &self.back.original.net;
        let mut filling: Vec<Word> = Vec::new();
        for (place, source) in self.back.sources.iter().rev() {
            let Source::Pump(pump, gained) = source else { continue };
            let held = match &net.initial[place.index()] {
                OmegaCount::Finite(count) => count.to_big(),
                OmegaCount::Omega => return None,
            };
            let need = &self.need[place.index()];
            if *need <= held {
                continue;
            }
            let times = (need - held).div_ceil(&gained.to_big());
            let word = self.pump(*pump, &times);
            for (id, times) in &word {
                for (place, count) in &net.transitions[id.index()].pre {
                    if self.unbounded[place.index()] {
                        self.need[place.index()] += count.to_big() * times;
                    }
                }
            }
            filling.push(word);
        }
        Some(filling.into_iter().rev().flatten().collect())
    }

    /// A pump so many times. Its parts need unbounded places and what its earlier parts put, so that each part may
    /// fire all its times in a row.
    fn pump(&self, id: BenchId, times: &BigUint) -> Word {
        let mut word = Word::new();
        let mut pending = vec![(id, times.clone())];
        while let Some((id, times)) = pending.pop() {
            match &self.back.origins[id as usize] {
                Origin::Original(original) => word.push((*original, times)),
                Origin::Sequence { first, second } => {
                    pending.push((second.0, &times * second.1.to_big()));
                    pending.push((first.0, &times * first.1.to_big()));
                }
            }
        }
        word.retain(|(_, times)| !times.is_zero());
        word
    }
}
