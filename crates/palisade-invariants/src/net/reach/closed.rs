//! Closed sets of markings, over all places or some.
//!
//! Over some places a transition needs nothing on the others, and an inequality that mentions
//! others counts as satisfied: so the set contains what reachable markings are on its places.

use super::super::{check_places, in_words, named};
use crate::CheckFailure;
use crate::failure::reject;
use hashbrown::HashSet;
use num_bigint::BigInt;
use palisade_evidence::MarkingSet;
use palisade_model::net::{Count, Formula, Net, OmegaCount, PlaceId, Problem};

/// Checks that the set contains the initial marking and is closed.
pub(super) fn check_set(problem: &Problem, set: &MarkingSet) -> Result<(), CheckFailure> {
    let net = &problem.net;
    let form = Form::check(problem, set)?;
    let members: HashSet<&[u64]> = set.words.chunks_exact(form.length).collect();

    let mut initial = Vec::with_capacity(set.places.len());
    for place in &set.places {
        match &net.initial[place.index()] {
            OmegaCount::Finite(count) => initial.push(count.to_u64().unwrap_or(u64::MAX)),
            OmegaCount::Omega => reject!(Initial, "place {place} may hold any number of tokens initially"),
        }
    }
    let mut words = vec![0; form.length];
    if !form.pack(&initial, &mut words) || !members.contains(words.as_slice()) {
        reject!(Initial, "the set does not contain the initial marking");
    }

    let restricted = Restricted::new(net, &set.places);
    let mut marking = vec![0; set.places.len()];
    let mut after = marking.clone();
    for member in set.words.chunks_exact(form.length) {
        form.unpack(member, &mut marking);
        for (id, step) in restricted.steps.iter().enumerate() {
            if !step.needs.iter().all(|(place, count)| marking[*place] >= *count) {
                continue;
            }
            after.copy_from_slice(&marking);
            step.needs.iter().for_each(|(place, count)| after[*place] -= count);
            for (place, count) in &step.puts {
                after[*place] = after[*place].saturating_add(*count);
            }
            if !form.pack(&after, &mut words) || !members.contains(words.as_slice()) {
                let id = palisade_model::net::TransitionId::from_index(id);
                let from = shown(problem, set, &marking);
                reject!(Inductive, "transition {} leads out of the set from {from}", named(problem, id));
            }
        }
    }
    Ok(())
}

/// Checks that the set meets `goal` nowhere.
pub(super) fn check_misses(problem: &Problem, goal: &Formula, set: &MarkingSet) -> Result<(), CheckFailure> {
    let form = Form::check(problem, set)?;
    let restricted = Restricted::new(&problem.net, &set.places);
    let mut marking = vec![0; set.places.len()];
    for member in set.words.chunks_exact(form.length) {
        form.unpack(member, &mut marking);
        if restricted.may_hold(goal, &marking) {
            reject!(Safe, "the marking {} may satisfy the condition", shown(problem, set, &marking));
        }
    }
    Ok(())
}

/// A marking of the set in words.
fn shown(problem: &Problem, set: &MarkingSet, marking: &[u64]) -> String {
    let places = set.places.iter().zip(marking).filter(|(_, count)| **count > 0);
    let sparse: Vec<(PlaceId, u64)> = places.map(|(place, count)| (*place, *count)).collect();
    in_words(problem, &sparse)
}

/// How markings are packed.
struct Form {
    /// The word, the lowest bit and the largest number of each place.
    fields: Vec<(usize, u32, u64)>,
    /// Words of a marking.
    length: usize,
}

impl Form {
    /// How the markings of a set are packed, once its form has been checked.
    fn check(problem: &Problem, set: &MarkingSet) -> Result<Self, CheckFailure> {
        check_places(problem, set.places.iter().copied()).map_err(|failure| failure.within("places"))?;
        if set.widths.len() != set.places.len() || set.widths.iter().any(|width| !(1..=32).contains(width)) {
            reject!(Form, "the widths of numbers do not fit");
        }
        let form = Self::new(set);
        if set.words.len() % form.length != 0 {
            reject!(Form, "the last marking is not complete");
        }
        Ok(form)
    }

    fn new(set: &MarkingSet) -> Self {
        let (mut word, mut bit) = (0, 0);
        let mut fields = Vec::new();
        for width in set.widths.iter().map(|width| u32::from(*width)) {
            if bit + width > 64 {
                (word, bit) = (word + 1, 0);
            }
            fields.push((word, bit, (1 << width) - 1));
            bit += width;
        }
        Self { fields, length: word + 1 }
    }

    /// Packs a marking; whether its numbers fit.
    fn pack(&self, marking: &[u64], words: &mut [u64]) -> bool {
        words.fill(0);
        for ((word, bit, most), count) in self.fields.iter().zip(marking) {
            if count > most {
                return false;
            }
            words[*word] |= count << bit;
        }
        true
    }

    fn unpack(&self, words: &[u64], marking: &mut [u64]) {
        for ((word, bit, most), count) in self.fields.iter().zip(marking) {
            *count = (words[*word] >> bit) & most;
        }
    }
}

/// The net on some of its places, by their position.
struct Restricted {
    /// The position of each place that is among them.
    positions: Vec<Option<usize>>,
    steps: Vec<Step>,
}

struct Step {
    needs: Vec<(usize, u64)>,
    puts: Vec<(usize, u64)>,
    /// Whether it needs tokens elsewhere.
    needs_more: bool,
}

impl Restricted {
    fn new(net: &Net, places: &[PlaceId]) -> Self {
        let mut positions = vec![None; net.places.len()];
        for (position, place) in places.iter().enumerate() {
            positions[place.index()] = Some(position);
        }
        let arcs = |arcs: &[(PlaceId, Count)]| -> Vec<(usize, u64)> {
            // Numbers beyond 64 bits are more than any marking of the set has, or would have.
            let position = |(place, count): &(PlaceId, Count)| {
                Some((positions[place.index()]?, count.to_u64().unwrap_or(u64::MAX)))
            };
            arcs.iter().filter_map(position).collect()
        };
        let steps = net.transitions.iter().map(|transition| {
            let needs = arcs(&transition.pre);
            let needs_more = needs.len() < transition.pre.len();
            Step { needs, puts: arcs(&transition.post), needs_more }
        });
        let steps = steps.collect();
        Self { positions, steps }
    }

    /// Whether a marking that is this one on the places may satisfy a condition.
    fn may_hold(&self, goal: &Formula, marking: &[u64]) -> bool {
        match goal {
            Formula::Constant(value) => *value,
            Formula::AtLeast(bound) => {
                let mut sum = BigInt::ZERO;
                for (place, weight) in &bound.terms {
                    let Some(position) = self.positions[place.index()] else { return true };
                    sum += weight * BigInt::from(marking[position]);
                }
                sum >= bound.bound
            }
            Formula::Deadlock => self
                .steps
                .iter()
                .all(|step| step.needs_more || step.needs.iter().any(|(place, count)| marking[*place] < *count)),
            Formula::All(parts) => parts.iter().all(|part| self.may_hold(part, marking)),
            Formula::Any(parts) => parts.iter().any(|part| self.may_hold(part, marking)),
        }
    }
}
