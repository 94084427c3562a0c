//! What is known to be coverable: what lies outside may be guessed, or is known, not to be.

use super::super::Context;
use super::super::number::{Number, Stop};
use super::super::pairs::Pairs;
use super::super::sample::{Covering, Sampler};
use fixedbitset::FixedBitSet;
use palisade_model::limits::StopReason;
use palisade_model::net::OmegaCount;

/// How many steps of sample walks follow a wrong guess.
const WALK: usize = 2_000;

/// Markings known to be coverable.
pub(crate) trait Knowledge<N> {
    /// A small part of a marking that is not known to be coverable, if there is one.
    fn unseen_part(&mut self, marking: &[(u32, N)]) -> Result<Option<Vec<(u32, u64)>>, Stop>;

    /// Takes note that a firing sequence from the initial marking covers what was guessed not to be
    /// coverable. Returns a sequence that covers a target, if one was met on the way.
    fn learn(&mut self, sequence: &[u32], context: &Context) -> Result<Option<Covering>, Stop>;
}

/// What samples have shown, and pairs of places of which it is known that they are never marked
/// together.
pub(super) struct Sampled<'a, N> {
    pub(super) sampler: Sampler<'a, N>,
    pub(super) pairs: Option<&'a Pairs>,
}

impl<N: Number> Knowledge<N> for Sampled<'_, N> {
    /// A part that is known not to be coverable, or else one that no sample has shown.
    fn unseen_part(&mut self, marking: &[(u32, N)]) -> Result<Option<Vec<(u32, u64)>>, Stop> {
        let known = self.pairs.and_then(|pairs| pairs.unrelated_part(marking));
        Ok(known.or_else(|| self.sampler.seen.unseen_part(marking)))
    }

    fn learn(&mut self, sequence: &[u32], context: &Context) -> Result<Option<Covering>, Stop> {
        self.sampler.learn(sequence)?;
        self.sampler.walk(WALK, context)
    }
}

/// All that can be covered: the coverability set, as a table with a row of bits per place and a
/// column per ω-marking.
#[derive(Debug)]
pub(crate) struct Reached<N> {
    /// Per place, the ω-markings that mark it.
    marked: Vec<FixedBitSet>,
    /// Per place, how many those are.
    frequency: Vec<usize>,
    /// Per place, the ω-markings with ω there; empty where there is none.
    unbounded: Vec<FixedBitSet>,
    /// Per place, the ω-markings with a finite number of tokens above 1 there.
    several: Vec<Vec<(u32, N)>>,
    columns: usize,
}

impl<N: Number> Reached<N> {
    /// A table for so many places and ω-markings.
    pub(crate) fn new(places: usize, columns: usize) -> Self {
        Self {
            marked: vec![FixedBitSet::with_capacity(columns); places],
            frequency: vec![0; places],
            unbounded: vec![FixedBitSet::new(); places],
            several: vec![Vec::new(); places],
            columns,
        }
    }

    /// Enters what the ω-marking in a column has at a place.
    pub(crate) fn enter(&mut self, column: u32, place: u32, count: &OmegaCount) -> Result<(), Stop> {
        let place = place as usize;
        self.marked[place].insert(column as usize);
        self.frequency[place] += 1;
        match count {
            OmegaCount::Omega => {
                self.unbounded[place].grow(self.columns);
                self.unbounded[place].insert(column as usize);
            }
            OmegaCount::Finite(count) => {
                let count = N::of(count)?;
                if count.rough() > 1 {
                    self.several[place].push((column, count));
                }
            }
        }
        Ok(())
    }

    /// Leaves those ω-markings that have so many tokens at a place.
    fn restrict(&self, columns: &mut FixedBitSet, place: u32, count: &N) {
        let place = place as usize;
        if count.rough() <= 1 {
            columns.intersect_with(&self.marked[place]);
            return;
        }
        let mut enough = self.unbounded[place].clone();
        enough.grow(self.columns);
        enough.extend(self.several[place].iter().filter(|(_, own)| own >= count).map(|(column, _)| *column as usize));
        columns.intersect_with(&enough);
    }

    /// The least number of tokens at a place, `count` at most, that no ω-marking of `columns` has.
    fn least_unseen(&self, columns: &FixedBitSet, place: u32, count: &N) -> Result<u64, Stop> {
        let (mut least, mut most) = (1, count.rough());
        while least < most {
            let tokens = least.midpoint(most);
            let mut rest = columns.clone();
            self.restrict(&mut rest, place, &N::of(&tokens.into())?);
            if rest.is_clear() {
                most = tokens;
            } else {
                least = tokens + 1;
            }
        }
        Ok(most)
    }
}

impl<N: Number> Knowledge<N> for Reached<N> {
    /// A part that becomes coverable when any of its places is left out: places join, the rarest
    /// first, until no ω-marking has them all; the last of them is needed, and with it the same
    /// begins again.
    fn unseen_part(&mut self, marking: &[(u32, N)]) -> Result<Option<Vec<(u32, u64)>>, Stop> {
        let mut rest: Vec<&(u32, N)> = marking.iter().collect();
        rest.sort_by_key(|(place, _)| self.frequency[*place as usize]);
        let mut part: Vec<(u32, u64)> = Vec::new();
        let mut needed = FixedBitSet::with_capacity(self.columns);
        needed.insert_range(..);
        while !needed.is_clear() {
            let mut columns = needed.clone();
            let last = rest.iter().position(|(place, count)| {
                self.restrict(&mut columns, *place, count);
                columns.is_clear()
            });
            let Some(last) = last else { return Ok(None) };
            let (place, count) = rest[last];
            rest.truncate(last);
            let mut others = needed.clone();
            rest.iter().for_each(|(place, count)| self.restrict(&mut others, *place, count));
            let tokens = self.least_unseen(&others, *place, count)?;
            part.push((*place, tokens));
            self.restrict(&mut needed, *place, &N::of(&tokens.into())?);
        }
        part.sort_unstable();
        Ok(Some(part))
    }

    /// Nothing outside can be covered.
    fn learn(&mut self, _: &[u32], _: &Context) -> Result<Option<Covering>, Stop> {
        Err(Stop::Stopped(StopReason::Inconclusive))
    }
}
