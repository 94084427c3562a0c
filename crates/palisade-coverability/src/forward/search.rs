//! The coverability set over components of control states, by a tree of ω-markings.
//!
//! A node stands for all markings whose control is any state of a component, whose counters in Ω
//! are ω and whose other counters are as given. Its successors are its component's exits and the
//! moves that spend finite counters. Each is first widened: the gains of its component become ω (in
//! stages, as a wider Ω makes larger components), and counters in which it exceeds an ancestor that
//! it otherwise equals or exceeds become ω [KM69].
//!
//! A successor below a node that is kept is left out. A node not yet expanded that lies below
//! another is dropped; one that is expanded stays, and so do its descendants, so that nothing is
//! lost (the mistake of the first algorithms for *minimal* coverability sets was to drop
//! descendants [FG05]). Terminates: on an infinite branch some node exceeds an ancestor strictly,
//! and Ω can grow only finitely often.

use super::super::Context;
use super::super::compact::CompactNet;
use super::super::number::{Number, Overflow, Stop};
use super::control::{Control, Demand, State};
use super::layers::{ComponentId, Edge, LayerId, Layers};
use fixedbitset::FixedBitSet;
use palisade_model::net::{Count, OmegaCount};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How a node's Ω was widened at its entry.
#[derive(Debug)]
pub(super) struct Stage<N> {
    /// The layer before.
    pub(super) layer: LayerId,
    /// Counters that became ω, ascending, each with its count before.
    pub(super) gains: Vec<(u32, N)>,
    /// Counters that became ω after them, each with a move that feeds it.
    pub(super) pumps: Vec<(u32, u32)>,
    /// The ancestor exceeded; none when the component fed the gains.
    pub(super) ancestor: Option<u32>,
}

/// A node of the tree.
#[derive(Debug)]
pub(super) struct Node<N> {
    /// Its layer: which counters are ω.
    pub(super) layer: LayerId,
    /// Its component of the layer.
    pub(super) component: ComponentId,
    /// Counters outside Ω that hold tokens, ascending.
    pub(super) finite: Vec<(u32, N)>,
    /// The state of the component where it was entered.
    pub(super) entry: State,
    /// The node it came from, by this move.
    pub(super) parent: Option<(u32, Edge)>,
    /// What happened to Ω at the entry, in order.
    pub(super) stages: Vec<Stage<N>>,
    /// Whether its successors have been made.
    expanded: bool,
    /// Whether another node made it superfluous.
    dropped: bool,
}

/// The search.
#[derive(Debug)]
pub(super) struct ForwardSearch<N> {
    pub(super) layers: Layers<N>,
    pub(super) nodes: Vec<Node<N>>,
    /// The targets; none where two tokens of a unit are asked for.
    pub(super) demands: Vec<Option<Demand<N>>>,
    /// Per state, the layers in which nodes contain it.
    homes: FxHashMap<State, Vec<LayerId>>,
    /// Per component, its nodes that were not dropped.
    residents: FxHashMap<(LayerId, ComponentId), Vec<Resident>>,
    /// Nodes to expand: those with large Ω and few tokens first.
    open: BinaryHeap<(usize, Reverse<u64>, Reverse<u32>)>,
    /// How many moves have been tried.
    steps: usize,
    /// How many nodes a marking has been compared with since the limits were looked at.
    compared: Cell<usize>,
}

/// A node that lives in a component, with what can be compared at a glance.
#[derive(Clone, Copy, Debug)]
struct Resident {
    node: u32,
    /// See [`signature`].
    signature: u64,
}

/// A bit for each counter that holds tokens, several counters sharing one.
fn signature<'a, N: 'a>(finite: impl Iterator<Item = &'a (u32, N)>) -> u64 {
    finite.fold(0, |bits, (counter, _)| bits | 1 << (counter % 64))
}

/// The search tries at most so many moves between two checks of the limits.
const METER: usize = 512;

/// After so many comparisons of markings the search checks the limits before the next move: where
/// thousands of nodes share a component, one move takes as many comparisons.
const MOST_COMPARED: usize = 100_000;

/// A move is compared with what is kept.
const WORK_PER_MOVE: usize = 4;

/// So many residents are compared in the time of one piece of work.
const COMPARED_PER_WORK: usize = 50;

/// A move, which copies and changes counts of tokens, takes the time of a comparison for each so
/// many of them.
const COUNTS_PER_COMPARISON: usize = 8;

/// Where a target is met: the node, the target's number, the state.
pub(super) type Found = (u32, usize, State);

impl<N: Number> ForwardSearch<N> {
    /// A search over a net with these units as control.
    pub(super) fn new(compact: &CompactNet<N>, units: &[Vec<u32>]) -> Self {
        let control = Control::new(compact, units);
        let demands = compact.targets.iter().map(|target| control.split_demand(target)).collect();
        Self {
            layers: Layers::new(control),
            nodes: Vec::new(),
            demands,
            homes: FxHashMap::default(),
            residents: FxHashMap::default(),
            open: BinaryHeap::new(),
            steps: 0,
            compared: Cell::new(0),
        }
    }

    /// Builds the coverability set until a target is met or nothing is left.
    pub(super) fn run(&mut self, initial: &[N], context: &Context) -> Result<Option<Found>, Stop> {
        let (state, counters) = self.layers.control.split_marking(initial)?;
        let none = FixedBitSet::with_capacity(self.layers.control.counters.len());
        let layer = self.layers.widen(&none, &[])?.layer;
        if let Some(found) = self.add(None, state, layer, counters, context)? {
            return Ok(Some(found));
        }
        context.check()?;
        while let Some((_, _, Reverse(node))) = self.open.pop() {
            if self.nodes[node as usize].dropped {
                continue;
            }
            if self.is_superfluous(node) {
                self.remove(node);
                continue;
            }
            self.nodes[node as usize].expanded = true;
            context.count_iterations(1);
            context.count_work(10);
            self.layers.count_work(context);
            if let Some(found) = self.expand(node, context)? {
                return Ok(Some(found));
            }
        }
        context.count_markings(self.nodes.iter().filter(|node| !node.dropped).count());
        Ok(None)
    }

    /// Makes the successors of a node.
    fn expand(&mut self, node: u32, context: &Context) -> Result<Option<Found>, Stop> {
        let Node { layer, component, .. } = self.nodes[node as usize];
        for edge in self.layers.exits(layer, component, context)?.iter() {
            if let Some(found) = self.step(node, *edge, context)? {
                return Ok(Some(found));
            }
        }
        for (counter, _) in self.nodes[node as usize].finite.clone() {
            for edge in self.layers.unpaid(layer, component, counter, context)?.iter() {
                if let Some(found) = self.step(node, *edge, context)? {
                    return Ok(Some(found));
                }
            }
            let entry = self.nodes[node as usize].entry;
            for number in self.layers.unpaid_without_units(layer, counter) {
                let edge = Edge { from: entry, number, to: entry };
                if let Some(found) = self.step(node, edge, context)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// Makes a move from a node, if its finite counters allow it.
    fn step(&mut self, node: u32, edge: Edge, context: &Context) -> Result<Option<Found>, Stop> {
        self.steps += 1;
        context.check_interrupts()?;
        if self.steps.is_multiple_of(METER) {
            context.count_work(METER * WORK_PER_MOVE);
        }
        if self.steps.is_multiple_of(METER) || self.compared.get() >= MOST_COMPARED {
            context.count_work(self.compared.take() / COMPARED_PER_WORK);
            context.check()?;
        }
        let own = &self.nodes[node as usize];
        let effects = &self.layers.control.moves[edge.number as usize].effects;
        self.count_compared((own.finite.len() + effects.len()) / COUNTS_PER_COMPARISON);
        let layer = own.layer;
        let omega = &self.layers.layers[layer as usize].omega;
        let mut finite = own.finite.clone();
        let mut gains = false;
        for effect in effects {
            if omega.contains(effect.place as usize) {
                continue;
            }
            gains |= effect.post > effect.pre;
            match finite.binary_search_by_key(&effect.place, |(counter, _)| *counter) {
                Ok(position) => {
                    if finite[position].1 < effect.pre {
                        return Ok(None);
                    }
                    finite[position].1 = finite[position].1.monus(&effect.pre).plus(&effect.post)?;
                }
                Err(_) if !effect.pre.is_zero() => return Ok(None),
                Err(position) => finite.insert(position, (effect.place, effect.post.clone())),
            }
        }
        if edge.from == edge.to && !gains {
            return Ok(None);
        }
        finite.retain(|(_, count)| !count.is_zero());
        self.add(Some((node, edge)), edge.to, layer, finite, context)
    }

    /// Adds a node, widened, unless it is below one that is there. Says when it meets a target.
    fn add(
        &mut self,
        parent: Option<(u32, Edge)>,
        entry: State,
        mut layer: LayerId,
        mut finite: Vec<(u32, N)>,
        context: &Context,
    ) -> Result<Option<Found>, Stop> {
        if self.is_covered(entry, layer, &finite, None) {
            return Ok(None);
        }
        let mut stages = Vec::new();
        let component = loop {
            let component = self.layers.component(layer, entry, context)?;
            let gains = self.layers.get(layer, component).gains.clone();
            let (ancestor, gains) = if gains.is_empty() {
                let found = self.exceeded(parent.map(|(node, _)| node), entry, layer, &finite);
                let Some((ancestor, gains)) = found else { break component };
                (Some(ancestor), gains)
            } else {
                (None, gains)
            };
            let widened = self.layers.widen(&self.layers.layers[layer as usize].omega.clone(), &gains)?;
            let count = |counter: &u32| match finite.binary_search_by_key(counter, |(counter, _)| *counter) {
                Ok(position) => finite[position].1.clone(),
                Err(_) => N::ZERO,
            };
            let gains = gains.iter().map(|counter| (*counter, count(counter))).collect();
            stages.push(Stage { layer, gains, pumps: widened.pumps, ancestor });
            layer = widened.layer;
            let omega = &self.layers.layers[layer as usize].omega;
            finite.retain(|(counter, _)| !omega.contains(*counter as usize));
        };
        if !stages.is_empty() && self.is_covered(entry, layer, &finite, None) {
            return Ok(None);
        }
        self.drop_below(layer, component, &finite);
        let number = u32::try_from(self.nodes.len()).map_err(|_| Stop::Fault(Overflow))?;
        let weight = finite.iter().map(|(_, count)| count.rough()).sum();
        self.open.push((self.layers.layers[layer as usize].omega.count_ones(..), Reverse(weight), Reverse(number)));
        let residents = self.residents.entry((layer, component)).or_default();
        if residents.is_empty() {
            for state in &self.layers.get(layer, component).states {
                let homes = self.homes.entry(*state).or_default();
                if !homes.contains(&layer) {
                    homes.push(layer);
                }
            }
        }
        residents.push(Resident { node: number, signature: signature(finite.iter()) });
        self.nodes.push(Node { layer, component, finite, entry, parent, stages, expanded: false, dropped: false });
        Ok(self.met(number))
    }

    /// The target that a node meets.
    fn met(&mut self, number: u32) -> Option<Found> {
        let node = &self.nodes[number as usize];
        let meeting = self.layers.meeting(node.layer, node.component, &self.demands);
        let omega = &self.layers.layers[node.layer as usize].omega;
        let holds = |(counter, count): &(u32, N)| {
            omega.contains(*counter as usize) || node.finite.iter().any(|(other, own)| other == counter && own >= count)
        };
        meeting.iter().enumerate().zip(&self.demands).find_map(|((target, state), demand)| {
            let state = (*state)?;
            demand.as_ref()?.counters.iter().all(holds).then_some((number, target, state))
        })
    }

    /// Whether a kept node other than `except` covers a marking.
    fn is_covered(&self, state: State, layer: LayerId, finite: &[(u32, N)], except: Option<u32>) -> bool {
        let Some(homes) = self.homes.get(&state) else { return false };
        let omega = &self.layers.layers[layer as usize].omega;
        homes.iter().any(|home| {
            let wider = &self.layers.layers[*home as usize].omega;
            if *home != layer && !omega.is_subset(wider) {
                return false;
            }
            let component = self.layers.known_component(*home, state).expect("a home's component is known");
            let Some(residents) = self.residents.get(&(*home, component)) else { return false };
            let needed = signature(finite.iter().filter(|(counter, _)| !wider.contains(*counter as usize)));
            let first = residents.iter().position(|other| {
                needed & !other.signature == 0
                    && Some(other.node) != except
                    && is_below(finite, &self.nodes[other.node as usize].finite, wider)
            });
            self.count_compared(first.unwrap_or(residents.len()));
            first.is_some()
        })
    }

    fn count_compared(&self, nodes: usize) {
        self.compared.set(self.compared.get() + nodes);
    }

    /// Whether another node covers a node.
    fn is_superfluous(&self, number: u32) -> bool {
        let node = &self.nodes[number as usize];
        self.is_covered(node.entry, node.layer, &node.finite, Some(number))
    }

    /// Drops the nodes of a component not yet expanded that are below a marking.
    fn drop_below(&mut self, layer: LayerId, component: ComponentId, finite: &[(u32, N)]) {
        let Some(residents) = self.residents.get(&(layer, component)) else { return };
        let omega = &self.layers.layers[layer as usize].omega;
        let available = signature(finite.iter());
        let below = |other: &&Resident| {
            let node = &self.nodes[other.node as usize];
            other.signature & !available == 0 && !node.expanded && is_below(&node.finite, finite, omega)
        };
        self.count_compared(residents.len());
        for number in residents.iter().filter(below).map(|other| other.node).collect::<Vec<_>>() {
            self.remove(number);
        }
    }

    /// Drops a node.
    fn remove(&mut self, number: u32) {
        let node = &mut self.nodes[number as usize];
        node.dropped = true;
        let residents = self.residents.get_mut(&(node.layer, node.component)).expect("the node lived there");
        residents.retain(|other| other.node != number);
    }

    /// The nearest ancestor that a marking exceeds, and where it does.
    fn exceeded(
        &self,
        mut node: Option<u32>,
        state: State,
        layer: LayerId,
        finite: &[(u32, N)],
    ) -> Option<(u32, Vec<u32>)> {
        let omega = &self.layers.layers[layer as usize].omega;
        while let Some(number) = node {
            self.count_compared(1);
            let ancestor = &self.nodes[number as usize];
            let narrower = &self.layers.layers[ancestor.layer as usize].omega;
            if self.layers.known_component(ancestor.layer, state) == Some(ancestor.component)
                && (ancestor.layer == layer || narrower.is_subset(omega))
                && is_below(&ancestor.finite, finite, omega)
            {
                let more = |(counter, count): &&(u32, N)| match ancestor
                    .finite
                    .binary_search_by_key(counter, |(counter, _)| *counter)
                {
                    Ok(position) => ancestor.finite[position].1 < *count,
                    Err(_) => true,
                };
                let gains: Vec<u32> = finite.iter().filter(more).map(|(counter, _)| *counter).collect();
                if !gains.is_empty() {
                    return Some((number, gains));
                }
            }
            node = ancestor.parent.map(|(parent, _)| parent);
        }
        None
    }

    /// How many ω-markings the coverability set has: one per kept node and state of its component.
    pub(super) fn size(&self) -> usize {
        let kept = self.nodes.iter().filter(|node| !node.dropped);
        kept.map(|node| self.layers.get(node.layer, node.component).states.len()).sum()
    }

    /// The coverability set as ω-markings over the places of the compact net, in no order of
    /// places.
    pub(super) fn markings(&self) -> impl Iterator<Item = Vec<(u32, OmegaCount)>> + '_ {
        let control = &self.layers.control;
        self.nodes.iter().filter(|node| !node.dropped).flat_map(move |node| {
            let layer = &self.layers.layers[node.layer as usize];
            let place = |counter: u32| control.counters[counter as usize];
            let unbounded = layer.omega.ones().map(|counter| (control.counters[counter], OmegaCount::Omega));
            let finite =
                node.finite.iter().map(|(counter, count)| (place(*counter), OmegaCount::Finite(count.count())));
            let counters: Vec<(u32, OmegaCount)> = unbounded.chain(finite).collect();
            layer.components[node.component as usize].states.iter().map(move |state| {
                let units = control.places(*state).map(|place| (place, OmegaCount::Finite(Count::ONE)));
                counters.iter().cloned().chain(units).collect()
            })
        })
    }
}

/// Whether `smaller` is nowhere larger than `larger` outside `omega`.
fn is_below<N: Number>(smaller: &[(u32, N)], larger: &[(u32, N)], omega: &FixedBitSet) -> bool {
    let mut rest = larger.iter();
    smaller.iter().all(|(counter, count)| {
        omega.contains(*counter as usize)
            || rest.find(|(other, _)| other >= counter).is_some_and(|(other, own)| other == counter && own >= count)
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::engine::Prepared;
    use super::*;
    use palisade_model::limits::Budget;
    use palisade_model::net::{Net, PlaceId, Problem, Query, Target};
    use std::sync::atomic::Ordering;

    /// Tokens that walk around a ring of places: thousands of markings, none above another, in one
    /// component.
    #[test]
    fn the_limits_are_looked_at_as_often_as_markings_are_compared() {
        let mut net = Net::default();
        let tokens = [30_u64, 0, 0, 0];
        let add =
            |(index, count): (usize, &u64)| net.add_place(format!("p{index}"), OmegaCount::Finite((*count).into()));
        let places: Vec<PlaceId> = tokens.iter().enumerate().map(add).collect();
        for index in 0..places.len() {
            let (from, to) = (places[index], places[(index + 1) % places.len()]);
            net.add_transition(format!("t{index}"), vec![(from, Count::ONE)], vec![(to, Count::ONE)]);
        }
        let query = Query { targets: vec![Target { demands: vec![(places[0], Count::from(31))] }] };
        let problem = Problem { net, query };
        let prepared = Prepared::new(&problem);
        let compact = prepared.small().expect("small counts");
        let context = Context::new(Budget::default());
        let mut search = ForwardSearch::new(compact, &[]);
        assert!(search.run(&compact.initial, &context).is_ok_and(|found| found.is_none()));
        // Every marking kept has been compared with all that were there.
        let kept = search.nodes.len();
        assert!(kept > 5_000);
        let looks = usize::try_from(context.looks.load(Ordering::Relaxed)).expect("a few");
        assert!(looks >= kept * kept / 2 / MOST_COMPARED, "{looks} looks at {kept} markings");
        assert!(looks > 2 * (search.steps / METER), "{looks} looks");
    }
}
