//! Runs on the way back: sequences are spelled out, and unbounded places filled as far as the run
//! needs.
//!
//! How often a place has to be filled is found from the end: whatever the order of the firings, a
//! place never needs more than all they lose together and the largest number one of them looks at.
//! The original net is followed all along; a place counts as unbounded from the moment when it is
//! filled.

use super::super::arcs::weight;
use super::super::log::{MoveId, Origin, Start};
use super::{Back, Meter};
use crate::run::change_of;
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use palisade_evidence::{NetRun, RunStep};
use palisade_model::net::{Count, Net, OmegaCount, PlaceId, Transition, TransitionId};
use std::collections::BTreeMap;

/// A sequence of original transitions, each with the number of times it fires in a row.
type Letters = Vec<(TransitionId, BigUint)>;

/// Steps of a run of the original net, each so many times.
type Word = Vec<(RunStep, Count)>;

/// A run of more entries than this is not written out, nor one in which more repetitions are inside
/// each other.
const LONGEST: usize = 20_000_000;
const DEEPEST: usize = 50;

/// When a sequence would have to be spelled in more portions than this, it is written once, with
/// the number of repetitions.
const MOST_PORTIONS: u32 = 1000;

/// What a run of the reduced net repeats, with the transitions of the working net.
enum BenchStep {
    Fire(MoveId),
    Sequence(Vec<(BenchStep, BigUint)>),
}

pub(super) fn map(back: &Back, run: &NetRun, meter: &Meter<'_>) -> Option<NetRun> {
    let main = on_bench(back, &run.firings)?;
    let fillings = fillings(back, &main, meter)?;
    let mut speller = Speller::new(back, meter);
    for (start, needed) in back.starts.iter().zip(fillings) {
        match start {
            Start::Choose(place) => speller.unbounded[place.index()] = true,
            Start::Fill(place, pump, gained) => {
                let held = &speller.marking[place.index()];
                if needed > *held {
                    let times = (&needed - held).div_ceil(&gained.to_big());
                    speller.spell(*pump, &times)?;
                }
                speller.unbounded[place.index()] = true;
            }
            Start::Expel(id, times) => speller.spell(*id, &times.to_big())?,
        }
    }
    for (step, times) in &main {
        match step {
            BenchStep::Fire(id) => speller.spell(*id, times)?,
            BenchStep::Sequence(steps) => speller.repeat(written_once(back, steps, 0, meter)?, times)?,
        }
    }
    let word = speller.word;
    let initial_choice = initial_choice(back, &word);
    Some(NetRun { initial_choice, firings: word })
}

/// Steps of the reduced net as steps of the working net, without transitions that only lose tokens.
fn on_bench(back: &Back, steps: &[(RunStep, Count)]) -> Option<Vec<(BenchStep, BigUint)>> {
    let mut found = Vec::with_capacity(steps.len());
    for (step, times) in steps {
        let step = match step {
            RunStep::Fire(id) => back.transitions.get(id.index())?.map(BenchStep::Fire),
            RunStep::Sequence(steps) => Some(BenchStep::Sequence(on_bench(back, steps)?)),
        };
        found.extend(step.map(|step| (step, times.to_big())));
    }
    Some(found)
}

/// Steps of the working net one after the other as steps of the original net, every sequence
/// completed before the next.
fn written_once(back: &Back, steps: &[(BenchStep, BigUint)], depth: usize, meter: &Meter<'_>) -> Option<Word> {
    let mut word = Word::new();
    for (step, times) in steps.iter().filter(|(_, times)| !times.is_zero()) {
        meter.count(1)?;
        let mut own = match step {
            BenchStep::Fire(id) => match &back.origins[*id as usize] {
                Origin::Original(original) => {
                    word.push(((*original).into(), times.clone().into()));
                    continue;
                }
                Origin::Sequence { first, second } => {
                    let parts = [first, second].map(|(id, times)| (BenchStep::Fire(*id), times.to_big()));
                    written_once(back, &parts, depth + 1, meter)?
                }
            },
            BenchStep::Sequence(steps) => written_once(back, steps, depth + 1, meter)?,
        };
        if times.is_one() {
            word.append(&mut own);
        } else {
            word.push((RunStep::Sequence(own), times.clone().into()));
        }
        if word.len() > LONGEST || depth > DEEPEST {
            return None;
        }
    }
    Some(word)
}

/// For each start, how many tokens its place needs, if it fills one.
fn fillings(back: &Back, main: &[(BenchStep, BigUint)], meter: &Meter<'_>) -> Option<Vec<BigUint>> {
    let net = &back.original.net;
    let mut needs =
        Needs { lost: vec![BigUint::zero(); net.places.len()], looked_at: vec![Count::ZERO; net.places.len()] };
    for (place, count) in back.original.query.targets.iter().flat_map(|target| &target.demands) {
        needs.look_at(*place, count);
    }
    needs.add_all(back, main, &BigUint::one(), meter)?;
    let mut fillings = vec![BigUint::zero(); back.starts.len()];
    for (start, filling) in back.starts.iter().zip(&mut fillings).rev() {
        match start {
            Start::Choose(_) => {}
            Start::Fill(place, pump, gained) => {
                *filling = &needs.lost[place.index()] + needs.looked_at[place.index()].to_big();
                let times = filling.div_ceil(&gained.to_big());
                if !times.is_zero() {
                    needs.add(back, *pump, &times, meter)?;
                }
            }
            Start::Expel(id, times) => needs.add(back, *id, &times.to_big(), meter)?,
        }
    }
    Some(fillings)
}

/// What firings need on each place at most, in whatever order they come.
struct Needs {
    /// What they lose together.
    lost: Vec<BigUint>,
    /// The largest number one of them takes or reads.
    looked_at: Vec<Count>,
}

impl Needs {
    fn look_at(&mut self, place: PlaceId, count: &Count) {
        let most = &mut self.looked_at[place.index()];
        if *most < *count {
            *most = count.clone();
        }
    }

    fn add_all(
        &mut self,
        back: &Back,
        steps: &[(BenchStep, BigUint)],
        repetitions: &BigUint,
        meter: &Meter<'_>,
    ) -> Option<()> {
        for (step, times) in steps {
            match step {
                BenchStep::Fire(id) => self.add(back, *id, &(times * repetitions), meter)?,
                BenchStep::Sequence(steps) => self.add_all(back, steps, &(times * repetitions), meter)?,
            }
        }
        Some(())
    }

    fn add(&mut self, back: &Back, id: MoveId, times: &BigUint, meter: &Meter<'_>) -> Option<()> {
        for (original, times) in letters(back, id, times, meter)? {
            let transition = &back.original.net.transitions[original.index()];
            for (place, taken) in &transition.pre {
                self.look_at(*place, taken);
                let lost = taken.saturating_minus(weight(&transition.post, *place));
                self.lost[place.index()] += lost.to_big() * &times;
            }
        }
        Some(())
    }
}

/// The original transitions of a transition of the working net, fired so many times, in some order.
fn letters(back: &Back, id: MoveId, times: &BigUint, meter: &Meter<'_>) -> Option<Letters> {
    let mut letters = Letters::new();
    let mut pending = vec![(id, times.clone())];
    while let Some((id, times)) = pending.pop() {
        meter.count(1)?;
        match &back.origins[id as usize] {
            Origin::Original(original) => letters.push((*original, times)),
            Origin::Sequence { first, second } => {
                pending.push((second.0, &times * second.1.to_big()));
                pending.push((first.0, &times * first.1.to_big()));
            }
        }
    }
    letters.retain(|(_, times)| !times.is_zero());
    Some(letters)
}

/// The least tokens that the places which are initially ω need for the word and for the targets
/// after it.
fn initial_choice(back: &Back, word: &Word) -> Vec<(PlaceId, Count)> {
    let net: &Net = &back.original.net;
    let chosen = |place: PlaceId| net.initial[place.index()] == OmegaCount::Omega;
    let mut balance: Vec<BigInt> = vec![BigInt::zero(); net.places.len()];
    let mut choice: Vec<BigUint> = vec![BigUint::zero(); net.places.len()];
    let require = |choice: &mut Vec<BigUint>, place: PlaceId, required: BigUint, balance: &[BigInt]| {
        let missing = BigInt::from(required) - &balance[place.index()];
        if missing.is_positive() && choice[place.index()] < *missing.magnitude() {
            choice[place.index()].clone_from(missing.magnitude());
        }
    };
    for step in word {
        for (place, need, change) in change_of(net, std::slice::from_ref(step)).places() {
            require(&mut choice, PlaceId(place), need.magnitude().clone(), &balance);
            balance[place as usize] += change;
        }
    }
    for (place, count) in back.original.query.targets.iter().flat_map(|target| &target.demands) {
        require(&mut choice, *place, count.to_big(), &balance);
    }
    net.place_ids()
        .zip(choice)
        .filter(|(place, count)| chosen(*place) && !count.is_zero())
        .map(|(place, count)| (place, count.into()))
        .collect()
}

/// Spells sequences out while following the marking of the places that are not unbounded.
struct Speller<'a> {
    back: &'a Back,
    unbounded: Vec<bool>,
    marking: Vec<BigUint>,
    word: Word,
    meter: &'a Meter<'a>,
}

impl<'a> Speller<'a> {
    fn new(back: &'a Back, meter: &'a Meter<'a>) -> Self {
        let initial = &back.original.net.initial;
        let finite = |count: &OmegaCount| match count {
            OmegaCount::Finite(count) => count.to_big(),
            OmegaCount::Omega => BigUint::zero(),
        };
        Self {
            back,
            unbounded: vec![false; initial.len()],
            marking: initial.iter().map(finite).collect(),
            word: Word::new(),
            meter,
        }
    }

    /// Fires a transition of the net so many times. A sequence fires in portions: as often as its
    /// first part can fire in a row, then as often its second part.
    fn spell(&mut self, id: MoveId, times: &BigUint) -> Option<()> {
        let back = self.back;
        match &back.origins[id as usize] {
            Origin::Original(original) => self.fire(*original, times),
            Origin::Sequence { first, second } => {
                let mut left = times.clone();
                while !left.is_zero() {
                    let portion = self.portion(id, &left)?;
                    if &left / &portion > BigUint::from(MOST_PORTIONS) {
                        let once = written_once(back, &[(BenchStep::Fire(id), BigUint::one())], 0, self.meter)?;
                        return self.repeat(once, &left);
                    }
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

    /// How often a sequence can fire with all firings of each part in a row; at least once, as once
    /// is possible if the run is one. What one sequence needs on a place so many sequences need so
    /// many times.
    fn portion(&self, id: MoveId, wanted: &BigUint) -> Option<BigUint> {
        if wanted.is_one() {
            return Some(BigUint::one());
        }
        let mut balance: BTreeMap<PlaceId, (BigInt, BigInt)> = BTreeMap::new();
        for (original, times) in letters(self.back, id, &BigUint::one(), self.meter)? {
            let transition = &self.back.original.net.transitions[original.index()];
            for (place, count) in &transition.pre {
                let (held, least) = balance.entry(*place).or_default();
                *held -= BigInt::from(count.to_big() * &times);
                if *held < *least {
                    least.clone_from(held);
                }
            }
            for (place, count) in &transition.post {
                balance.entry(*place).or_default().0 += BigInt::from(count.to_big() * &times);
            }
        }
        let mut portion = wanted.clone();
        for (place, (_, least)) in balance {
            if !self.unbounded[place.index()] && !least.is_zero() {
                portion = portion.min(&self.marking[place.index()] / least.magnitude());
            }
        }
        Some(portion.max(BigUint::one()))
    }

    /// Fires a sequence so many times, if it can be.
    fn repeat(&mut self, steps: Word, times: &BigUint) -> Option<()> {
        if times.is_zero() || steps.is_empty() {
            return Some(());
        }
        let change = change_of(&self.back.original.net, &steps).repeated(times);
        let bounded = |place: &u32| !self.unbounded[*place as usize];
        for (place, need, _) in change.places().filter(|(place, _, _)| bounded(place)) {
            if self.marking[place as usize] < *need.magnitude() {
                return None;
            }
        }
        for (place, _, change) in change.places().filter(|(place, _, _)| bounded(place)) {
            let after = BigInt::from(std::mem::take(&mut self.marking[place as usize])) + change;
            self.marking[place as usize].clone_from(after.magnitude());
        }
        self.word.push((RunStep::Sequence(steps), times.clone().into()));
        Some(())
    }

    fn fire(&mut self, id: TransitionId, times: &BigUint) -> Option<()> {
        if times.is_zero() {
            return Some(());
        }
        let transition = self.back.original.net.transitions.get(id.index())?;
        self.meter.count(transition.pre.len() + transition.post.len())?;
        for (place, required) in requirements(transition, times) {
            if !self.unbounded[place.index()] && self.marking[place.index()] < required {
                return None;
            }
        }
        let bounded = |(place, _): &&(PlaceId, Count)| !self.unbounded[place.index()];
        for (place, count) in transition.post.iter().filter(bounded) {
            self.marking[place.index()] += count.to_big() * times;
        }
        let bounded = |(place, _): &&(PlaceId, Count)| !self.unbounded[place.index()];
        for (place, count) in transition.pre.iter().filter(bounded) {
            self.marking[place.index()] -= count.to_big() * times;
        }
        match self.word.last_mut() {
            Some((RunStep::Fire(last), count)) if *last == id => *count = count.plus(&times.clone().into()),
            _ => self.word.push((id.into(), times.clone().into())),
        }
        (self.word.len() <= LONGEST).then_some(())
    }
}

/// What firing so many times in a row needs on each place of the preset: `pre` for the last time
/// and what is lost each time before.
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
