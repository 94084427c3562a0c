//! Enumeration: all reachable markings of a bounded net, one by one.
//!
//! Breadth first, so runs are shortest. A marking that exceeds one on its own path shows that the
//! slice is unbounded; then the strategy is at its end. The visited markings are the certificate.

use super::compact::CompactNet;
use super::engine::{Method, Prepared};
use super::number::{Number, Stop};
use super::run::finish;
use super::{Context, Outcome};
use palisade_model::limits::StopReason;
use palisade_model::net::{Count, OmegaCount};
use rustc_hash::FxHashMap;

/// The number of transitions, places and markings looked at between two looks at the limits.
const METER: usize = 100_000;

/// The strategy `enumerate`.
pub(super) struct Enumerate;

impl Method for Enumerate {
    const NAME: &'static str = "enumerate";

    fn run<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop> {
        let Prepared { problem, slice, .. } = prepared;
        let mut visited =
            Visited { markings: Vec::new(), from: Vec::new(), numbers: FxHashMap::default(), looked_at: 0 };
        let initial = (0u32..).zip(compact.initial.iter().cloned()).filter(|(_, count)| !count.is_zero()).collect();
        visited.enter(initial, None)?;
        context.check()?;
        let mut next = 0;
        while next < visited.markings.len() {
            context.count_iterations(1);
            context.count_work(2 * compact.transitions.len() + 20);
            let marking = visited.markings[next].clone();
            let covers = |target: &Vec<(u32, N)>| {
                target.iter().all(|(place, count)| at(&marking, *place).is_some_and(|own| own >= count))
            };
            if let Some(target) = compact.targets.iter().position(covers) {
                let firings = visited.sequence(next).into_iter();
                let firings = firings.map(|number| (compact.transitions[number as usize].into(), Count::ONE)).collect();
                return Ok(Outcome::Coverable(finish(problem, slice, firings, slice.targets[target])));
            }
            for transition in (0u32..).take(compact.transitions.len()) {
                visited.looked_at += 1;
                if visited.looked_at >= METER {
                    visited.looked_at = 0;
                    context.check()?;
                }
                if let Some(after) = fire(compact, &marking, transition)? {
                    visited.enter(after, Some((next, transition)))?;
                }
            }
            next += 1;
        }
        context.count_markings(visited.markings.len());
        let finite = |marking: &Marking<N>| {
            marking.iter().map(|(place, count)| (*place, OmegaCount::Finite(count.count()))).collect::<Vec<_>>()
        };
        Ok(Outcome::Uncoverable(slice.downward(visited.markings.iter().map(finite))))
    }
}

/// A marking, sparse and sorted.
type Marking<N> = Box<[(u32, N)]>;

/// The markings visited, in order.
struct Visited<N> {
    markings: Vec<Marking<N>>,
    /// Per marking, the one before and the transition.
    from: Vec<Option<(usize, u32)>>,
    numbers: FxHashMap<Marking<N>, usize>,
    /// How many transitions, places and markings were looked at since the limits were.
    looked_at: usize,
}

impl<N: Number> Visited<N> {
    /// Adds a marking unless it is there.
    fn enter(&mut self, marking: Marking<N>, from: Option<(usize, u32)>) -> Result<(), Stop> {
        self.looked_at += marking.len();
        if self.numbers.contains_key(&marking) {
            return Ok(());
        }
        let mut ancestor = from;
        while let Some((number, _)) = ancestor {
            self.looked_at += 1;
            let older = &self.markings[number];
            if older.iter().all(|(place, count)| at(&marking, *place).is_some_and(|own| own >= count)) {
                return Err(Stop::Stopped(StopReason::Inconclusive));
            }
            ancestor = self.from[number];
        }
        self.numbers.insert(marking.clone(), self.markings.len());
        self.markings.push(marking);
        self.from.push(from);
        Ok(())
    }

    /// The transitions that lead to a marking.
    fn sequence(&self, mut number: usize) -> Vec<u32> {
        let mut sequence = Vec::new();
        while let Some((before, transition)) = self.from[number] {
            sequence.push(transition);
            number = before;
        }
        sequence.reverse();
        sequence
    }
}

/// The tokens of a place in a sparse marking.
fn at<N>(marking: &[(u32, N)], place: u32) -> Option<&N> {
    marking.binary_search_by_key(&place, |(place, _)| *place).ok().map(|position| &marking[position].1)
}

/// The marking after a transition, if it is enabled.
fn fire<N: Number>(compact: &CompactNet<N>, marking: &Marking<N>, transition: u32) -> Result<Option<Marking<N>>, Stop> {
    let effects = compact.effects(transition);
    let enabled = |effect: &super::compact::Effect<N>| {
        effect.pre.is_zero() || at(marking, effect.place).is_some_and(|own| *own >= effect.pre)
    };
    if !effects.iter().all(enabled) {
        return Ok(None);
    }
    let mut after = marking.to_vec();
    for effect in effects {
        match after.binary_search_by_key(&effect.place, |(place, _)| *place) {
            Ok(position) => after[position].1 = after[position].1.monus(&effect.pre).plus(&effect.post)?,
            Err(position) => after.insert(position, (effect.place, effect.post.clone())),
        }
    }
    after.retain(|(_, count)| !count.is_zero());
    Ok(Some(after.into()))
}
