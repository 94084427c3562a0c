//! From a node of the coverability tree to a firing sequence.
//!
//! Walks backwards with the demand on counters. Moves back along the tree and inside components are
//! single steps. At a stage of widening, a counter that became ω and is demanded is filled: by a
//! cycle of paid moves through a move that feeds it, which needs counters only that were ω before;
//! or, for an acceleration, by repeating the path from the ancestor, itself made concrete for the
//! demand "as at the ancestor, and one more of each gain". So each demand is pushed to counters
//! that were ω earlier, until none is left. How often a cycle or a path is repeated is computed, as
//! is what the repetitions demand together; the sequence has them as counts.

use super::super::Context;
use super::super::change::{Change, Demand};
use super::super::compact::Effect;
use super::super::number::{Number, Stop};
use super::control::State;
use super::search::ForwardSearch;
use num_bigint::{BigInt, BigUint};
use num_traits::{One, ToPrimitive, Zero};
use palisade_evidence::RunStep;
use palisade_model::limits::StopReason;
use palisade_model::net::{Count, TransitionId};
use palisade_model::ordered::CollectOrdered;

/// How many moves a sequence may have, repetitions counted once, and how many repetitions may be
/// inside each other.
const LONGEST: usize = 10_000_000;
const DEEPEST: usize = 40;

/// A repetition of no more moves than this is written out move by move, so that those which nothing
/// needs can be left out.
const SPELLED_OUT: u64 = 10_000;

/// The number of pieces between two checks of the limits.
const METER: usize = 4096;

/// A part of a firing sequence that is built from its end.
#[derive(Clone, Debug)]
enum Piece {
    /// A move, so many times in a row.
    Fire(u32, BigUint),
    /// A sequence several times over, itself from its end.
    Repeat(Vec<Piece>, BigUint),
}

/// A run's steps in order, each so many times.
type Steps = Vec<(RunStep, Count)>;

/// The steps of moves, each a transition of the list, that lead to a target's demand at a state of
/// a node.
pub(super) fn firings<N: Number>(
    search: &mut ForwardSearch<N>,
    transitions: &[TransitionId],
    (node, target, state): (u32, usize, State),
    context: &Context,
) -> Result<Steps, Stop> {
    let counters = &search.demands[target].as_ref().expect("a met target can be met").counters;
    let demand = counters.iter().map(|(counter, count)| (*counter, count.count().to_big().into())).collect_map();
    let stages = search.nodes[node as usize].stages.len();
    let mut walk = Walk { search, demand, pieces: Vec::new(), context };
    walk.back(node, stages, state, None)?;
    let pieces = walk.pieces;
    let mut writer = Writer { transitions, context, written: 0 };
    let mut steps = Steps::new();
    writer.write(&pieces, &mut steps, 0)?;
    Ok(steps)
}

/// Writes pieces as steps.
struct Writer<'a> {
    transitions: &'a [TransitionId],
    context: &'a Context,
    /// How many steps were written.
    written: usize,
}

impl Writer<'_> {
    fn write(&mut self, pieces: &[Piece], into: &mut Steps, depth: usize) -> Result<(), Stop> {
        if depth > DEEPEST {
            return Err(Stop::Stopped(StopReason::TooLong));
        }
        for piece in pieces.iter().rev() {
            match piece {
                Piece::Fire(number, times) => {
                    self.push(RunStep::Fire(self.transitions[*number as usize]), times, into)?;
                }
                Piece::Repeat(pieces, times) if is_short(pieces, times) => {
                    for _ in 0..times.to_u64().unwrap_or(0) {
                        self.write(pieces, into, depth)?;
                    }
                }
                Piece::Repeat(pieces, times) => {
                    let mut body = Steps::new();
                    self.write(pieces, &mut body, depth + 1)?;
                    self.push(RunStep::Sequence(body), times, into)?;
                }
            }
        }
        Ok(())
    }

    /// Appends a step, to the one before where that is the same transition.
    fn push(&mut self, step: RunStep, times: &BigUint, into: &mut Steps) -> Result<(), Stop> {
        self.written += 1;
        if self.written > LONGEST {
            return Err(Stop::Stopped(StopReason::TooLong));
        }
        if self.written.is_multiple_of(METER) {
            self.context.check()?;
        }
        let times = Count::from(times.clone());
        match into.last_mut() {
            Some((RunStep::Fire(last), count)) if step == RunStep::Fire(*last) => *count = count.plus(&times),
            _ => into.push((step, times)),
        }
        Ok(())
    }
}

/// Whether a repetition has few enough moves to be written out, or none.
fn is_short(pieces: &[Piece], times: &BigUint) -> bool {
    moves(pieces).checked_mul(times.to_u64().unwrap_or(u64::MAX)).is_some_and(|moves| moves <= SPELLED_OUT)
}

/// How many moves pieces have, each repetition in a row of one move counted once. `u64::MAX` when
/// there are more.
fn moves(pieces: &[Piece]) -> u64 {
    let own = |piece: &Piece| match piece {
        Piece::Fire(..) => 1,
        Piece::Repeat(pieces, times) => moves(pieces).saturating_mul(times.to_u64().unwrap_or(u64::MAX)),
    };
    pieces.iter().map(own).fold(0, u64::saturating_add)
}

/// A walk backwards.
struct Walk<'a, N> {
    search: &'a mut ForwardSearch<N>,
    /// What is demanded at the point reached.
    demand: Demand,
    /// The steps from there, the last first.
    pieces: Vec<Piece>,
    /// Says when to stop.
    context: &'a Context,
}

impl<N: Number> Walk<'_, N> {
    /// Walks from a state of a node, when the first `stages` of its stages have happened, back to
    /// the root, or to a state of an ancestor.
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
            self.fire(edge.number)?;
            node = parent;
            stages = self.search.nodes[node as usize].stages.len();
            at = edge.from;
        }
    }

    /// Puts a path inside a component before the point reached.
    fn cross(&mut self, layer: u32, from: State, to: State) -> Result<(), Stop> {
        for number in self.path(layer, from, to)? {
            self.fire(number)?;
        }
        Ok(())
    }

    /// The moves of a path inside a component, the last first.
    fn path(&mut self, layer: u32, from: State, to: State) -> Result<Vec<u32>, Stop> {
        if from == to {
            return Ok(Vec::new());
        }
        Ok(self.search.layers.path(layer, from, to, self.context)?.into_iter().rev().map(|edge| edge.number).collect())
    }

    /// Puts a move before the point reached.
    fn fire(&mut self, number: u32) -> Result<(), Stop> {
        self.change_of(number).step_back(&mut self.demand);
        self.push(Piece::Fire(number, BigUint::one()))
    }

    /// Adds a piece.
    fn push(&mut self, piece: Piece) -> Result<(), Stop> {
        self.pieces.push(piece);
        if self.pieces.len() > LONGEST {
            return Err(Stop::Stopped(StopReason::TooLong));
        }
        if self.pieces.len().is_multiple_of(METER) { Ok(self.context.check()?) } else { Ok(()) }
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
            self.repeat(vec![Piece::Fire(number, BigUint::one())], &[(counter, BigInt::zero())])?;
        }
        match ancestor {
            None => {
                for (counter, before) in gains {
                    if self.demanded(counter) > before {
                        let feeder = self.search.layers.feeder(layer, entry, counter, self.context)?;
                        let mut cycle = self.path(layer, feeder.to, entry)?;
                        cycle.push(feeder.number);
                        cycle.extend(self.path(layer, entry, feeder.from)?);
                        let cycle = cycle.into_iter().map(|number| Piece::Fire(number, BigUint::one())).collect();
                        self.repeat(cycle, &[(counter, before)])?;
                    }
                }
                Ok(())
            }
            Some(ancestor) if gains.iter().any(|(counter, before)| self.demanded(*counter) > *before) => {
                let path = self.path_from(node, stage, ancestor, &gains)?;
                self.repeat(path, &gains)
            }
            Some(_) => Ok(()),
        }
    }

    /// The path from an ancestor to a node, as it was before a stage, with what it takes to gain
    /// something.
    fn path_from(
        &mut self,
        node: u32,
        stage: usize,
        ancestor: u32,
        gains: &[(u32, BigInt)],
    ) -> Result<Vec<Piece>, Stop> {
        let entry = self.search.nodes[node as usize].entry;
        let older = &self.search.nodes[ancestor as usize];
        let mut demand: Demand =
            older.finite.iter().map(|(counter, count)| (*counter, count.count().to_big().into())).collect_map();
        for (counter, _) in gains {
            *demand.entry(*counter).or_default() += 1;
        }
        let mut path = Walk { search: &mut *self.search, demand, pieces: Vec::new(), context: self.context };
        path.back(node, stage, entry, Some((ancestor, entry)))?;
        Ok(path.pieces)
    }

    /// Puts a sequence before the point reached, as often as it takes until no more is demanded of
    /// each counter than it held before.
    fn repeat(&mut self, pieces: Vec<Piece>, gains: &[(u32, BigInt)]) -> Result<(), Stop> {
        let change = self.change_of_all(&pieces);
        let mut times = BigUint::zero();
        for (counter, before) in gains {
            let enough = change.repetitions(*counter, &self.demanded(*counter), before);
            times = times.max(enough.ok_or(Stop::Stopped(StopReason::Inconclusive))?);
        }
        if times.is_zero() {
            return Ok(());
        }
        change.repeated(&times).step_back(&mut self.demand);
        debug_assert!(gains.iter().all(|(counter, before)| self.demanded(*counter) <= *before), "{gains:?}");
        match pieces.as_slice() {
            [Piece::Fire(number, once)] => self.push(Piece::Fire(*number, once * times)),
            _ => self.push(Piece::Repeat(pieces, times)),
        }
    }

    fn change_of(&self, number: u32) -> Change {
        let effects = &self.search.layers.control.moves[number as usize].effects;
        let counts: Vec<(u32, Count, Count)> =
            effects.iter().map(|Effect { place, pre, post, .. }| (*place, pre.count(), post.count())).collect();
        Change::of(counts.iter().map(|(place, pre, post)| (*place, pre, post)))
    }

    /// What pieces, the last of which come first, need and change.
    fn change_of_all(&self, pieces: &[Piece]) -> Change {
        let mut change = Change::default();
        for piece in pieces.iter().rev() {
            let (own, times) = match piece {
                Piece::Fire(number, times) => (self.change_of(*number), times),
                Piece::Repeat(pieces, times) => (self.change_of_all(pieces), times),
            };
            change.then(&own.repeated(times));
        }
        change
    }
}
