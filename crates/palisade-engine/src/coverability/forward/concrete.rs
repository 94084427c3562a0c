//! From a node of the coverability tree to a firing sequence.
//!
//! Walks backwards with the demand on counters. Moves back along the tree and inside components are single steps. At a
//! stage of widening, a counter that became ω and is demanded is filled: by a cycle of paid moves through a move that
//! feeds it, which needs counters only that were ω before; or, for an acceleration, by repeating the path from the
//! ancestor, itself made concrete for the demand "as at the ancestor, and one more of each gain". So each demand is
//! pushed to counters that were ω earlier, until none is left.

use super::super::number::{Number, Stop};
use super::control::State;
use super::search::Search;
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use palisade_model::limits::StopReason;
use palisade_model::net::Count;
use std::collections::BTreeMap;

/// How many firings a run may have when written out.
const LONGEST: usize = 10_000_000;

/// A part of a firing sequence that is built from its end.
#[derive(Clone, Debug)]
enum Piece {
    /// A move.
    Fire(u32),
    /// A sequence several times over, itself from its end.
    Repeat(Vec<Piece>, usize),
}

/// Tokens demanded, by counter.
type Demand = BTreeMap<u32, BigInt>;

/// The moves, each with a number of times in a row, that lead to a target's demand at a state of a node.
pub(super) fn firings<N: Number>(
    search: &mut Search<N>,
    node: u32,
    target: usize,
    state: State,
) -> Result<Vec<(u32, Count)>, Stop> {
    let counters = &search.demands[target].as_ref().expect("a met target can be met").counters;
    let demand = counters.iter().map(|(counter, count)| (*counter, count.count().to_big().into())).collect();
    let stages = search.nodes[node as usize].stages.len();
    let mut walk = Walk { search, demand, pieces: Vec::new() };
    walk.back(node, stages, state, None)?;
    let mut flat = Vec::new();
    flatten(&walk.pieces, &mut flat)?;
    let mut firings: Vec<(u32, Count)> = Vec::new();
    for number in flat.into_iter().rev() {
        match firings.last_mut() {
            Some((last, times)) if *last == number => *times = times.plus(&Count::ONE),
            _ => firings.push((number, Count::ONE)),
        }
    }
    Ok(firings)
}

/// Writes repetitions out.
fn flatten(pieces: &[Piece], into: &mut Vec<u32>) -> Result<(), Stop> {
    for piece in pieces {
        match piece {
            Piece::Fire(number) => into.push(*number),
            Piece::Repeat(pieces, times) => {
                for _ in 0..*times {
                    flatten(pieces, into)?;
                }
            }
        }
        if into.len() > LONGEST {
            return Err(Stop::Limit(StopReason::Memory));
        }
    }
    Ok(())
}

/// A walk backwards.
struct Walk<'a, N> {
    search: &'a mut Search<N>,
    /// What is demanded at the point reached.
    demand: Demand,
    /// The steps from there, the last first.
    pieces: Vec<Piece>,
}

impl<N: Number> Walk<'_, N> {
    /// Walks from a state of a node, when the first `stages` of its stages have happened, back to the root, or to a
    /// state of an ancestor.
    fn back(
        &mut self,
        mut node: u32,
        mut stages: usize,
        mut at: State,
        until: Option<(u32, State)>,
    ) -> Result<(), Stop> {
        loop {
            let (layer, entry) = (self.search.nodes[node as usize].layer, self.search.nodes[node as usize].entry);
            if let Some((ancestor, state)) = until
                && ancestor == node
            {
                return self.cross(layer, state, at);
            }
            self.cross(layer, entry, at)?;
            while stages > 0 {
                stages -= 1;
                self.undo(node, stages)?;
            }
            let Some((parent, edge)) = self.search.nodes[node as usize].parent else { return Ok(()) };
            self.fire(edge.number);
            node = parent;
            stages = self.search.nodes[node as usize].stages.len();
            at = edge.from;
        }
    }

    /// Puts a path inside a component before the point reached.
    fn cross(&mut self, layer: u32, from: State, to: State) -> Result<(), Stop> {
        if from != to {
            for edge in self.search.layers.path(layer, from, to)?.into_iter().rev() {
                self.fire(edge.number);
            }
        }
        Ok(())
    }

    /// Puts a move before the point reached.
    fn fire(&mut self, number: u32) {
        step_back(&self.search.layers.control.moves[number as usize].effects, &mut self.demand);
        self.pieces.push(Piece::Fire(number));
    }

    fn demanded(&self, counter: u32) -> BigInt {
        self.demand.get(&counter).cloned().unwrap_or_default()
    }

    /// Fills what became ω in a stage of a node, as far as it is demanded.
    fn undo(&mut self, node: u32, stage: usize) -> Result<(), Stop> {
        let entry = self.search.nodes[node as usize].entry;
        let own = &self.search.nodes[node as usize].stages[stage];
        let (layer, ancestor) = (own.layer, own.ancestor);
        let gains: Vec<(u32, BigInt)> =
            own.gains.iter().map(|(counter, count)| (*counter, count.count().to_big().into())).collect();
        for (counter, number) in own.pumps.clone().into_iter().rev() {
            while self.demanded(counter).is_positive() {
                self.fire(number);
                self.check_length()?;
            }
        }
        match ancestor {
            None => {
                for (counter, before) in gains {
                    if self.demanded(counter) > before {
                        let feeder = self.search.layers.feeder(layer, entry, counter)?;
                        while self.demanded(counter) > before {
                            self.cross(layer, feeder.to, entry)?;
                            self.fire(feeder.number);
                            self.cross(layer, entry, feeder.from)?;
                            self.check_length()?;
                        }
                    }
                }
                Ok(())
            }
            Some(ancestor) => {
                if gains.iter().any(|(counter, before)| self.demanded(*counter) > *before) {
                    self.repeat(node, stage, ancestor, &gains)?;
                }
                Ok(())
            }
        }
    }

    /// Repeats the path from an ancestor to a node, as it was before a stage, until the gains suffice.
    fn repeat(&mut self, node: u32, stage: usize, ancestor: u32, gains: &[(u32, BigInt)]) -> Result<(), Stop> {
        let entry = self.search.nodes[node as usize].entry;
        let older = &self.search.nodes[ancestor as usize];
        let mut demand: Demand =
            older.finite.iter().map(|(counter, count)| (*counter, count.count().to_big().into())).collect();
        for (counter, _) in gains {
            *demand.entry(*counter).or_default() += 1;
        }
        let mut cycle = Walk { search: &mut *self.search, demand, pieces: Vec::new() };
        cycle.back(node, stage, entry, Some((ancestor, entry)))?;
        let pieces = cycle.pieces;
        let mut times = 0;
        while gains.iter().any(|(counter, before)| self.demanded(*counter) > *before) {
            self.replay(&pieces)?;
            times += 1;
        }
        self.pieces.push(Piece::Repeat(pieces, times));
        self.check_length()
    }

    /// Steps back over pieces.
    fn replay(&mut self, pieces: &[Piece]) -> Result<(), Stop> {
        for piece in pieces {
            match piece {
                Piece::Fire(number) => {
                    step_back(&self.search.layers.control.moves[*number as usize].effects, &mut self.demand);
                }
                Piece::Repeat(pieces, times) => {
                    for _ in 0..*times {
                        self.replay(pieces)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn check_length(&self) -> Result<(), Stop> {
        if self.pieces.len() > LONGEST { Err(Stop::Limit(StopReason::Memory)) } else { Ok(()) }
    }
}

/// The demand before a move from the demand after it.
fn step_back<N: Number>(effects: &[super::super::system::Effect<N>], demand: &mut Demand) {
    for effect in effects {
        let after = demand.remove(&effect.place).unwrap_or_default();
        let rest = after - BigInt::from(effect.post.count().to_big());
        let pre = BigInt::from(effect.pre.count().to_big());
        let before = if rest.is_positive() { rest + pre } else { pre };
        if !before.is_zero() {
            demand.insert(effect.place, before);
        }
    }
}
