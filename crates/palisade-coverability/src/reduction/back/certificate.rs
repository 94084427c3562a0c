//! Certificates on the way back, step by step from the last to the first.

use super::super::log::{Agglomerated, Removal, Worth};
use super::{Back, Meter};
use num_bigint::BigInt;
use num_traits::Zero;
use palisade_evidence::{
    Invariant, NetCertificate, OmegaMarking, PlaceWeights, Refutation, TokenMarking, WeightedTrap,
};
use palisade_model::net::{Arcs, Count, OmegaCount, PlaceId};
use palisade_model::ordered;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The way back gives up certificates of more markings than this.
const MOST_MARKINGS: usize = 1_000_000;

pub(super) fn map(back: &Back, certificate: &NetCertificate, meter: &Meter<'_>) -> Option<NetCertificate> {
    let mut certificate = rename(back, certificate)?;
    for step in back.log.iter().rev() {
        meter.count(0)?;
        match step {
            Removal::Empty(places) => empty(&mut certificate, places),
            Removal::Free(places) => free(&mut certificate, places, meter)?,
            Removal::Losses(losses) => check_losses(&mut certificate, losses, meter)?,
            Removal::Agglomerated(merged) => agglomerated(&mut certificate, merged, meter)?,
        }
    }
    if let NetCertificate::Separator { refutations, .. } = &mut certificate {
        // Targets left out ask for a token in the siphon.
        let mut all = vec![Refutation::default(); back.original.query.targets.len()];
        for (number, refutation) in back.targets.iter().zip(std::mem::take(refutations)) {
            all[*number] = refutation;
        }
        *refutations = all;
    }
    Some(certificate)
}

/// The certificate over the original net's places.
fn rename(back: &Back, certificate: &NetCertificate) -> Option<NetCertificate> {
    let place = |place: &PlaceId| back.places.get(place.index()).copied();
    let list = |places: &[PlaceId]| places.iter().map(place).collect::<Option<Vec<PlaceId>>>();
    let refutation = |refutation: &Refutation| {
        Some(Refutation { weights: renamed(back, &refutation.weights)?, traps: traps(back, &refutation.traps)? })
    };
    let refutations = |all: &[Refutation]| all.iter().map(refutation).collect::<Option<Vec<_>>>();
    Some(match certificate {
        NetCertificate::Downward { markings } => NetCertificate::Downward {
            markings: markings.iter().map(|marking| renamed(back, marking)).collect::<Option<_>>()?,
        },
        NetCertificate::Upward { basis, invariant } => NetCertificate::Upward {
            basis: basis.iter().map(|marking| renamed(back, marking)).collect::<Option<_>>()?,
            invariant: Invariant {
                siphon: list(&invariant.siphon)?,
                refutations: refutations(&invariant.refutations)?,
            },
        },
        NetCertificate::Separator { siphon, refutations: all } => {
            NetCertificate::Separator { siphon: list(siphon)?, refutations: refutations(all)? }
        }
    })
}

fn renamed<T: Clone>(back: &Back, vector: &[(PlaceId, T)]) -> Option<Vec<(PlaceId, T)>> {
    vector.iter().map(|(place, value)| Some((*back.places.get(place.index())?, value.clone()))).collect()
}

fn traps(back: &Back, traps: &[WeightedTrap]) -> Option<Vec<WeightedTrap>> {
    traps
        .iter()
        .map(|trap| {
            let places =
                trap.places.iter().map(|place| back.places.get(place.index()).copied()).collect::<Option<_>>()?;
            Some(WeightedTrap { places, multiplier: trap.multiplier.clone() })
        })
        .collect()
}

/// The siphon and the refutations of a certificate, where it has them.
fn linear(certificate: &mut NetCertificate) -> Option<(&mut Vec<PlaceId>, &mut Vec<Refutation>)> {
    match certificate {
        NetCertificate::Downward { .. } => None,
        NetCertificate::Upward { invariant, .. } => Some((&mut invariant.siphon, &mut invariant.refutations)),
        NetCertificate::Separator { siphon, refutations } => Some((siphon, refutations)),
    }
}

fn empty(certificate: &mut NetCertificate, places: &[PlaceId]) {
    if let Some((siphon, _)) = linear(certificate) {
        siphon.extend(places);
        siphon.sort_unstable();
    }
}

fn free(certificate: &mut NetCertificate, places: &[PlaceId], meter: &Meter<'_>) -> Option<()> {
    let NetCertificate::Downward { markings } = certificate else { return Some(()) };
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    for marking in markings {
        meter.count(marking.len() + sorted.len())?;
        let mut merged = Vec::with_capacity(marking.len() + sorted.len());
        let mut own = std::mem::take(marking).into_iter().peekable();
        for place in &sorted {
            while let Some(entry) = own.next_if(|(other, _)| other < place) {
                merged.push(entry);
            }
            merged.push((*place, OmegaCount::Omega));
        }
        merged.extend(own);
        *marking = merged;
    }
    Some(())
}

/// Whether no trap can be emptied by the transitions that went; inequalities with a negative
/// weight, which refute nothing but might not hold for them, are dropped.
fn check_losses(
    certificate: &mut NetCertificate,
    losses: &[(Vec<PlaceId>, Vec<PlaceId>)],
    meter: &Meter<'_>,
) -> Option<()> {
    let Some((siphon, refutations)) = linear(certificate) else { return Some(()) };
    for refutation in refutations {
        let negative =
            |(place, weight): &(PlaceId, BigInt)| *weight < BigInt::zero() && siphon.binary_search(place).is_err();
        if refutation.weights.iter().any(negative) {
            *refutation = Refutation::default();
        }
        for trap in &refutation.traps {
            meter.count(losses.len())?;
            let meets = |places: &[PlaceId]| places.iter().any(|place| trap.places.binary_search(place).is_ok());
            let dead = |pre: &[PlaceId]| pre.iter().any(|place| siphon.binary_search(place).is_ok());
            if losses.iter().any(|(pre, post)| meets(pre) && !meets(post) && !dead(pre)) {
                return None;
            }
        }
    }
    Some(())
}

fn agglomerated(certificate: &mut NetCertificate, merged: &Agglomerated, meter: &Meter<'_>) -> Option<()> {
    let worths: &[Arcs] = match &merged.tokens {
        Worth::Put(worths) => worths,
        Worth::Taken(worth) => std::slice::from_ref(worth),
    };
    if let Some((siphon, refutations)) = linear(certificate) {
        let meets =
            |worth: &Arcs, places: &[PlaceId]| worth.iter().any(|(place, _)| places.binary_search(place).is_ok());
        for refutation in refutations {
            meter.count(worths.len())?;
            let weight = worths.iter().map(|worth| value(worth, &refutation.weights, siphon)).max().unwrap_or_default();
            insert(&mut refutation.weights, merged.place, weight);
            for trap in &mut refutation.traps {
                if worths.iter().all(|worth| meets(worth, &trap.places)) {
                    insert_place(&mut trap.places, merged.place);
                }
            }
        }
        if worths.iter().any(|worth| meets(worth, siphon)) {
            insert_place(siphon, merged.place);
        }
    }
    match certificate {
        NetCertificate::Downward { markings } => match worths {
            [worth] => lower_one(markings, merged.place, worth, meter)?,
            _ => lower_all(markings, merged.place, worths, meter)?,
        },
        NetCertificate::Upward { basis, .. } => raise(basis, merged.place, worths, meter)?,
        NetCertificate::Separator { .. } => {}
    }
    let size = match certificate {
        NetCertificate::Downward { markings } => markings.len(),
        NetCertificate::Upward { basis, .. } => basis.len(),
        NetCertificate::Separator { .. } => 0,
    };
    (size <= MOST_MARKINGS).then_some(())
}

/// The weight of arcs, the siphon's places left aside.
fn value(arcs: &Arcs, weights: &PlaceWeights, siphon: &[PlaceId]) -> BigInt {
    let term = |(place, count): &(PlaceId, Count)| {
        let position = weights.binary_search_by_key(place, |(place, _)| *place).ok()?;
        siphon.binary_search(place).is_err().then(|| &weights[position].1 * BigInt::from(count.to_big()))
    };
    arcs.iter().filter_map(term).sum()
}

fn insert(weights: &mut PlaceWeights, place: PlaceId, weight: BigInt) {
    if !weight.is_zero()
        && let Err(position) = weights.binary_search_by_key(&place, |(place, _)| *place)
    {
        weights.insert(position, (place, weight));
    }
}

fn insert_place(places: &mut Vec<PlaceId>, place: PlaceId) {
    if let Err(position) = places.binary_search(&place) {
        places.insert(position, place);
    }
}

/// For each marking, the markings with `k` tokens on the place and `k` times its worth less
/// elsewhere.
fn lower_one(markings: &mut Vec<OmegaMarking>, place: PlaceId, worth: &Arcs, meter: &Meter<'_>) -> Option<()> {
    let mut lowered = Vec::new();
    for marking in markings.iter_mut() {
        meter.count(marking.len())?;
        if worth.iter().all(|(other, _)| at(marking, *other) == Some(&OmegaCount::Omega)) {
            put(marking, place, OmegaCount::Omega);
            continue;
        }
        let mut tokens = Count::ZERO;
        let mut current = marking.clone();
        while let Some(less) = minus(&current, worth) {
            meter.count(less.len())?;
            tokens = tokens.plus(&Count::ONE);
            let mut with_tokens = less.clone();
            put(&mut with_tokens, place, OmegaCount::Finite(tokens.clone()));
            lowered.push(with_tokens);
            current = less;
            if lowered.len() > MOST_MARKINGS {
                return None;
            }
        }
    }
    markings.extend(lowered);
    Some(())
}

/// With a choice of worths, `k` tokens are allowed where every choice keeps the rest in the set.
fn lower_all(markings: &mut Vec<OmegaMarking>, place: PlaceId, worths: &[Arcs], meter: &Meter<'_>) -> Option<()> {
    /// Pairs of markings to be compared in one round.
    const MOST_PAIRS: usize = 4_000_000;
    let mut allowed: Vec<OmegaMarking> = sorted(markings.iter().cloned(), meter)?.into_iter().collect();
    let mut all: Vec<OmegaMarking> = Vec::new();
    let mut tokens = Count::ZERO;
    loop {
        let mut next: Option<Vec<OmegaMarking>> = None;
        for worth in worths {
            let less = sorted(allowed.iter().filter_map(|marking| minus(marking, worth)), meter)?;
            next = Some(match next {
                None => maximal(less, meter)?,
                Some(before) => {
                    if before.len().saturating_mul(less.len()) > MOST_PAIRS {
                        return None;
                    }
                    let pairs = before.iter().flat_map(|one| less.iter().map(move |other| (one, other)));
                    maximal(sorted(pairs.map(|(one, other)| minimum(one, other)), meter)?, meter)?
                }
            });
        }
        let next = next.unwrap_or_default();
        let stable = next == allowed;
        let held = if stable { OmegaCount::Omega } else { OmegaCount::Finite(tokens.clone()) };
        for marking in &allowed {
            // One that allows a further token is listed with that one.
            if stable || next.binary_search(marking).is_err() {
                let mut with_tokens = marking.clone();
                put(&mut with_tokens, place, held.clone());
                all.push(with_tokens);
            }
        }
        if stable || next.is_empty() {
            *markings = all;
            return Some(());
        }
        if all.len() > MOST_MARKINGS {
            return None;
        }
        allowed = next;
        tokens = tokens.plus(&Count::ONE);
    }
}

/// The markings in order, each once. Its steps are short, as a sort of all would be one that nobody
/// can stop.
fn sorted(markings: impl Iterator<Item = OmegaMarking>, meter: &Meter<'_>) -> Option<BTreeSet<OmegaMarking>> {
    let mut sorted = BTreeSet::new();
    for marking in markings {
        meter.count(marking.len())?;
        sorted.insert(marking);
    }
    Some(sorted)
}

/// The markings that are not below others, sorted.
fn maximal(markings: BTreeSet<OmegaMarking>, meter: &Meter<'_>) -> Option<Vec<OmegaMarking>> {
    let mut markings: Vec<OmegaMarking> = markings.into_iter().collect();
    let below = |smaller: &OmegaMarking, larger: &OmegaMarking| {
        smaller.len() <= larger.len()
            && smaller.iter().all(|(place, count)| at(larger, *place).is_some_and(|upper| count <= upper))
    };
    // Only a longer marking, or one of the same length, can be above another.
    let mut longest_first: Vec<usize> = (0..markings.len()).collect();
    ordered::sort_by_key(&mut longest_first, |index| Reverse(markings[*index].len()));
    let mut kept: Vec<usize> = Vec::new();
    let mut start = 0;
    while start < longest_first.len() {
        let length = markings[longest_first[start]].len();
        let group: Vec<usize> =
            longest_first[start..].iter().copied().take_while(|index| markings[*index].len() == length).collect();
        start += group.len();
        let longer = kept.len();
        for index in &group {
            meter.count(longer + group.len())?;
            let own = &markings[*index];
            let is_outdone = kept[..longer].iter().any(|other| below(own, &markings[*other]))
                || group.iter().any(|other| other != index && below(own, &markings[*other]));
            if !is_outdone {
                kept.push(*index);
            }
        }
    }
    let mut is_kept = vec![false; markings.len()];
    kept.iter().for_each(|index| is_kept[*index] = true);
    let mut flags = is_kept.into_iter();
    markings.retain(|_| flags.next().expect("one flag for each"));
    Some(markings)
}

fn minimum(one: &OmegaMarking, other: &OmegaMarking) -> OmegaMarking {
    one.iter().filter_map(|(place, count)| at(other, *place).map(|own| (*place, count.min(own).clone()))).collect()
}

/// Basis markings with tokens on the place in exchange for their worth elsewhere.
fn raise(basis: &mut Vec<TokenMarking>, place: PlaceId, worths: &[Arcs], meter: &Meter<'_>) -> Option<()> {
    let mut found: BTreeSet<TokenMarking> = BTreeSet::new();
    let mut pending: Vec<TokenMarking> = basis.clone();
    while let Some(marking) = pending.pop() {
        for worth in worths {
            meter.count(marking.len())?;
            if !worth.iter().any(|(other, _)| at(&marking, *other).is_some()) {
                continue;
            }
            let mut exchanged: TokenMarking = marking
                .iter()
                .map(|(other, count)| {
                    let less = at(worth, *other).map_or_else(|| count.clone(), |worth| count.saturating_minus(worth));
                    (*other, if *other == place { count.plus(&Count::ONE) } else { less })
                })
                .filter(|(_, count)| !count.is_zero())
                .collect();
            if at(&exchanged, place).is_none() {
                put(&mut exchanged, place, Count::ONE);
            }
            if found.len() + basis.len() > MOST_MARKINGS {
                return None;
            }
            if found.insert(exchanged.clone()) {
                pending.push(exchanged);
            }
        }
    }
    basis.extend(found);
    Some(())
}

fn at<T>(vector: &[(PlaceId, T)], place: PlaceId) -> Option<&T> {
    vector.binary_search_by_key(&place, |(place, _)| *place).ok().map(|position| &vector[position].1)
}

/// Sets the value of a place that is not listed and not zero.
fn put<T: Sparse>(vector: &mut Vec<(PlaceId, T)>, place: PlaceId, value: T) {
    if value.is_nothing() {
        return;
    }
    if let Err(position) = vector.binary_search_by_key(&place, |(place, _)| *place) {
        vector.insert(position, (place, value));
    }
}

/// Values that sparse vectors leave out.
trait Sparse {
    /// Whether the value is left out.
    fn is_nothing(&self) -> bool;
}

impl Sparse for Count {
    fn is_nothing(&self) -> bool {
        self.is_zero()
    }
}

impl Sparse for OmegaCount {
    fn is_nothing(&self) -> bool {
        *self == OmegaCount::Finite(Count::ZERO)
    }
}

/// The marking less the worth, if it has so much.
fn minus(marking: &OmegaMarking, worth: &Arcs) -> Option<OmegaMarking> {
    let mut less = marking.clone();
    for (place, count) in worth {
        let position = less.binary_search_by_key(place, |(place, _)| *place).ok()?;
        if let OmegaCount::Finite(held) = &mut less[position].1 {
            *held = held.minus(count)?;
        }
    }
    less.retain(|(_, count)| *count != OmegaCount::Finite(Count::ZERO));
    Some(less)
}
