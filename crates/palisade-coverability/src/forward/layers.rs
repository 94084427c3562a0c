//! Layers: the control graph when some counters are ω, and its strongly connected components.
//!
//! In a layer a set Ω of counters holds ω. A move is *paid* when every counter it takes from is in
//! Ω; paid moves can be made any number of times as far as counters go, so within a strongly
//! connected component of the graph of paid moves the control can walk about at will, and every
//! counter that a move inside the component puts tokens into can be filled: it may become ω as
//! well. That is Karp and Miller's acceleration [KM69] for a whole component at once. The copycat
//! rule is its smallest case: a paid move that leaves the control where it was.
//!
//! Components are found by Tarjan's algorithm from a state on demand. They depend on Ω alone, not
//! on the counters that are finite, and are shared by all markings of the layer.

use super::super::Context;
use super::super::compact::Effect;
use super::super::number::{Number, Overflow, Stop};
use super::control::{Control, Demand, State, ones};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A layer, by number.
pub(super) type LayerId = u32;

/// A component of a layer, by number in the layer.
pub(super) type ComponentId = u32;

/// A move from a state to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// Where it starts.
    pub(super) from: State,
    /// Which move.
    pub(super) number: u32,
    /// Where it leads.
    pub(super) to: State,
}

/// A strongly connected component of a layer.
#[derive(Debug)]
pub(super) struct Component {
    /// Its states, ascending.
    pub(super) states: Vec<State>,
    /// The counters outside Ω that moves inside it feed, ascending.
    pub(super) gains: Vec<u32>,
    /// Paid moves out of it, one per kind of effect and component they lead to.
    exits: Option<Rc<Vec<Edge>>>,
    /// Per counter outside Ω that was asked for, the moves of which it is the least such counter
    /// that they need; one per kind.
    unpaid: FxHashMap<u32, Rc<Vec<Edge>>>,
    /// Per target, a state that meets its demand on units.
    meeting: Option<Rc<Vec<Option<State>>>>,
}

/// The control graph for one Ω.
#[derive(Debug)]
pub(super) struct Layer {
    /// The counters that are ω.
    pub(super) omega: FixedBitSet,
    /// How many moves are looked up at them.
    looked_up: usize,
    /// The component of each state looked at.
    component_of: FxHashMap<State, ComponentId>,
    /// The components found.
    pub(super) components: Vec<Component>,
}

/// All layers met.
#[derive(Debug)]
pub(super) struct Layers<N> {
    pub(super) control: Control<N>,
    pub(super) layers: Vec<Layer>,
    by_omega: FxHashMap<FixedBitSet, LayerId>,
    /// Per move, how many of its effects an Ω that is being widened pays for, as far as was looked;
    /// otherwise 0.
    paid: Vec<u32>,
    /// Work done and not yet counted (see [`Context::count_work`]).
    work: usize,
    /// How much was done to follow moves since the limits were looked at.
    followed: usize,
}

/// What widening Ω led to.
#[derive(Debug)]
pub(super) struct Widened {
    /// The layer of the wider Ω.
    pub(super) layer: LayerId,
    /// Counters that became ω besides those asked for, in order, each with a move that feeds it
    /// from ω counters.
    pub(super) pumps: Vec<(u32, u32)>,
}

/// How many moves are followed between two looks at the limits.
const MOVES_BETWEEN_LOOKS: usize = 4_096;

/// Where a move leads takes the time of one move more for each so many units, whose values are
/// copied.
const UNITS_PER_MOVE: usize = 64;

/// How many states are visited between two looks at the limits.
const STATES_BETWEEN_LOOKS: usize = 32;

impl<N: Number> Layers<N> {
    /// No layers yet.
    pub(super) fn new(control: Control<N>) -> Self {
        let paid = vec![0; control.moves.len()];
        Self { control, layers: Vec::new(), by_omega: FxHashMap::default(), paid, work: 0, followed: 0 }
    }

    /// The layer where `gains` are ω besides `omega`, and what moves without units feed from them.
    pub(super) fn widen(&mut self, omega: &FixedBitSet, gains: &[u32]) -> Result<Widened, Stop> {
        let mut omega = omega.clone();
        let mut fresh: Vec<u32> = gains.to_vec();
        omega.extend(gains.iter().map(|counter| *counter as usize));
        let (mut pumps, mut looked_at) = (Vec::new(), Vec::new());
        while let Some(counter) = fresh.pop() {
            for number in self.control.free_consumers.row(counter) {
                let effects = &self.control.moves[*number as usize].effects;
                let paid = &mut self.paid[*number as usize];
                let Some(unknown @ [_, ..]) = effects.get(*paid as usize..) else { continue };
                looked_at.push(*number);
                // Ω only grows, so what it pays for it pays for from then on.
                let lacks = |effect: &Effect<N>| !effect.pre.is_zero() && !omega.contains(effect.place as usize);
                let known = unknown.iter().position(lacks).unwrap_or(unknown.len());
                *paid += u32::try_from(known).expect("effects are numbered in 32 bits");
                if known < unknown.len() {
                    continue;
                }
                for effect in effects {
                    if effect.post > effect.pre && !omega.put(effect.place as usize) {
                        pumps.push((effect.place, *number));
                        fresh.push(effect.place);
                    }
                }
            }
        }
        for number in looked_at {
            self.paid[number as usize] = 0;
        }
        if let Some(layer) = self.by_omega.get(&omega) {
            return Ok(Widened { layer: *layer, pumps });
        }
        let layer = u32::try_from(self.layers.len()).map_err(|_| Stop::Fault(Overflow))?;
        self.by_omega.insert(omega.clone(), layer);
        let looked_up = self.control.looked_up_at(ones(&omega));
        self.layers.push(Layer { omega, looked_up, component_of: FxHashMap::default(), components: Vec::new() });
        Ok(Widened { layer, pumps })
    }

    /// Counts the work done since the last time.
    pub(super) fn count_work(&mut self, context: &Context) {
        context.count_work(std::mem::take(&mut self.work));
    }

    /// Looks at the limits now and then, when the `index`-th state is visited.
    fn look(&mut self, index: usize, context: &Context) -> Result<(), Stop> {
        context.check_interrupts()?;
        if index % STATES_BETWEEN_LOOKS == STATES_BETWEEN_LOOKS - 1 {
            self.count_work(context);
            context.check()?;
        }
        Ok(())
    }

    /// The component of a state in a layer.
    pub(super) fn component(&mut self, layer: LayerId, state: State, context: &Context) -> Result<ComponentId, Stop> {
        if let Some(component) = self.layers[layer as usize].component_of.get(&state) {
            return Ok(*component);
        }
        let first = self.layers[layer as usize].components.len();
        self.find_components(layer, state, context)?;
        for component in first..self.layers[layer as usize].components.len() {
            self.find_gains(layer, component, context)?;
        }
        Ok(self.layers[layer as usize].component_of[&state])
    }

    /// The component of a state, if it was looked at.
    pub(super) fn known_component(&self, layer: LayerId, state: State) -> Option<ComponentId> {
        self.layers[layer as usize].component_of.get(&state).copied()
    }

    /// A component found.
    pub(super) fn get(&self, layer: LayerId, component: ComponentId) -> &Component {
        &self.layers[layer as usize].components[component as usize]
    }

    /// The paid moves from a state that change it or feed a counter outside Ω.
    fn paid_edges(&mut self, layer: LayerId, state: State, context: &Context) -> Result<Vec<Edge>, Stop> {
        let mut numbers = Vec::new();
        let Layer { omega, looked_up, .. } = &self.layers[layer as usize];
        let tried = self.control.paid(state, omega, *looked_up, &mut numbers);
        self.work += 10 + tried / 4 + 4 * numbers.len();
        numbers.into_iter().map(|number| self.follow(state, number, context)).collect()
    }

    /// A move from a state, with where it leads.
    fn follow(&mut self, state: State, number: u32, context: &Context) -> Result<Edge, Stop> {
        self.followed += 1 + self.control.units() / UNITS_PER_MOVE;
        if self.followed >= MOVES_BETWEEN_LOOKS {
            self.followed = 0;
            context.check()?;
        }
        Ok(Edge { from: state, number, to: self.control.successor(state, number)? })
    }

    /// Tarjan's algorithm from a state, with an explicit stack.
    fn find_components(&mut self, layer: LayerId, start: State, context: &Context) -> Result<(), Stop> {
        struct Visit {
            state: State,
            successors: Vec<State>,
            next: usize,
        }
        let mut order: FxHashMap<State, (u32, bool)> = FxHashMap::default();
        let mut low: FxHashMap<State, u32> = FxHashMap::default();
        let mut path: Vec<State> = Vec::new();
        let mut visits: Vec<Visit> = Vec::new();
        let mut enter = Some(start);
        loop {
            if let Some(state) = enter.take() {
                let number = u32::try_from(order.len()).map_err(|_| Stop::Fault(Overflow))?;
                self.look(order.len(), context)?;
                order.insert(state, (number, true));
                low.insert(state, number);
                path.push(state);
                let edges = self.paid_edges(layer, state, context)?;
                let mut successors: Vec<State> = edges.iter().map(|edge| edge.to).collect();
                successors.sort_unstable();
                successors.dedup();
                visits.push(Visit { state, successors, next: 0 });
            }
            let Some(visit) = visits.last_mut() else { return Ok(()) };
            let state = visit.state;
            if let Some(successor) = visit.successors.get(visit.next) {
                visit.next += 1;
                if self.layers[layer as usize].component_of.contains_key(successor) {
                    continue;
                }
                match order.get(successor) {
                    None => enter = Some(*successor),
                    Some((number, _)) => {
                        let own = low.get_mut(&state).expect("it was entered");
                        *own = (*own).min(*number);
                    }
                }
                continue;
            }
            visits.pop();
            let own = low[&state];
            if let Some(below) = visits.last() {
                let low = low.get_mut(&below.state).expect("it was entered");
                *low = (*low).min(own);
            }
            if own == order[&state].0 {
                let position = path.iter().rposition(|other| *other == state).expect("it is on the path");
                let mut states = path.split_off(position);
                states.sort_unstable();
                let layer = &mut self.layers[layer as usize];
                let number = u32::try_from(layer.components.len()).map_err(|_| Stop::Fault(Overflow))?;
                layer.component_of.extend(states.iter().map(|state| (*state, number)));
                layer.components.push(Component {
                    states,
                    gains: Vec::new(),
                    exits: None,
                    unpaid: FxHashMap::default(),
                    meeting: None,
                });
            }
        }
    }

    /// Finds what the moves inside a component feed.
    fn find_gains(&mut self, layer: LayerId, component: usize, context: &Context) -> Result<(), Stop> {
        let mut gains = Vec::new();
        for (index, state) in self.layers[layer as usize].components[component].states.clone().into_iter().enumerate() {
            self.look(index, context)?;
            for edge in self.paid_edges(layer, state, context)? {
                let layer = &self.layers[layer as usize];
                if layer.component_of.get(&edge.to).is_some_and(|other| *other as usize == component) {
                    gains.extend(self.control.moves[edge.number as usize].fed(&layer.omega));
                }
            }
        }
        gains.sort_unstable();
        gains.dedup();
        self.layers[layer as usize].components[component].gains = gains;
        Ok(())
    }

    /// The paid moves out of a component: of several with the same effect outside Ω that lead to
    /// the same component, one.
    pub(super) fn exits(
        &mut self,
        layer: LayerId,
        component: ComponentId,
        context: &Context,
    ) -> Result<Rc<Vec<Edge>>, Stop> {
        if let Some(exits) = &self.get(layer, component).exits {
            return Ok(exits.clone());
        }
        let mut exits = Vec::new();
        let mut seen = FxHashSet::default();
        for (index, state) in self.get(layer, component).states.clone().into_iter().enumerate() {
            self.look(index, context)?;
            for edge in self.paid_edges(layer, state, context)? {
                let to = self.layers[layer as usize].component_of[&edge.to];
                if to != component && seen.insert((to, self.kind(layer, edge.number))) {
                    exits.push(edge);
                }
            }
        }
        let exits = Rc::new(exits);
        self.layers[layer as usize].components[component as usize].exits = Some(exits.clone());
        Ok(exits)
    }

    /// The moves from a component that need units and counters outside Ω, of which `counter` is the
    /// least.
    pub(super) fn unpaid(
        &mut self,
        layer: LayerId,
        component: ComponentId,
        counter: u32,
        context: &Context,
    ) -> Result<Rc<Vec<Edge>>, Stop> {
        if let Some(unpaid) = self.get(layer, component).unpaid.get(&counter) {
            return Ok(unpaid.clone());
        }
        let mut unpaid = Vec::new();
        let mut seen = FxHashSet::default();
        for (index, state) in self.get(layer, component).states.clone().into_iter().enumerate() {
            self.look(index, context)?;
            let is_least = |number: &u32| self.least_lacking(layer, *number) == Some(counter);
            let numbers: Vec<u32> = self.control.taking(state, counter).filter(is_least).collect();
            self.work += 5 + 4 * numbers.len();
            for number in numbers {
                let edge = self.follow(state, number, context)?;
                let to = self.known_component(layer, edge.to).ok_or(edge.to);
                if seen.insert((to, self.kind(layer, number))) {
                    unpaid.push(edge);
                }
            }
        }
        let unpaid = Rc::new(unpaid);
        self.layers[layer as usize].components[component as usize].unpaid.insert(counter, unpaid.clone());
        Ok(unpaid)
    }

    /// The moves without units that need counters outside Ω, of which `counter` is the least.
    pub(super) fn unpaid_without_units(&self, layer: LayerId, counter: u32) -> Vec<u32> {
        let numbers = self.control.free_consumers.row(counter).iter().copied();
        numbers.filter(|number| self.least_lacking(layer, *number) == Some(counter)).collect()
    }

    /// The least counter outside Ω that a move takes from.
    fn least_lacking(&self, layer: LayerId, number: u32) -> Option<u32> {
        let omega = &self.layers[layer as usize].omega;
        self.control.moves[number as usize].taken().find(|counter| !omega.contains(*counter as usize))
    }

    /// Per target, a state of the component that meets its demand on units.
    pub(super) fn meeting(
        &mut self,
        layer: LayerId,
        component: ComponentId,
        demands: &[Option<Demand<N>>],
    ) -> Rc<Vec<Option<State>>> {
        if let Some(meeting) = &self.get(layer, component).meeting {
            return meeting.clone();
        }
        let states = &self.get(layer, component).states;
        let meets = |demand: &Demand<N>| states.iter().copied().find(|state| self.control.meets_demand(*state, demand));
        let meeting = Rc::new(demands.iter().map(|demand| demand.as_ref().and_then(meets)).collect::<Vec<_>>());
        self.layers[layer as usize].components[component as usize].meeting = Some(meeting.clone());
        meeting
    }

    /// A move's effects on counters outside Ω.
    fn kind(&self, layer: LayerId, number: u32) -> Vec<Effect<N>> {
        let omega = &self.layers[layer as usize].omega;
        let effects = &self.control.moves[number as usize].effects;
        effects.iter().filter(|effect| !omega.contains(effect.place as usize)).cloned().collect()
    }

    /// A path of paid moves inside a component: breadth first, so a shortest one.
    pub(super) fn path(
        &mut self,
        layer: LayerId,
        from: State,
        to: State,
        context: &Context,
    ) -> Result<Vec<Edge>, Stop> {
        let mut came: FxHashMap<State, Edge> = FxHashMap::default();
        let mut queue = std::collections::VecDeque::from([from]);
        let component = self.layers[layer as usize].component_of[&from];
        while let Some(state) = queue.pop_front() {
            if state == to {
                break;
            }
            for edge in self.paid_edges(layer, state, context)? {
                if edge.to != from
                    && self.layers[layer as usize].component_of[&edge.to] == component
                    && !came.contains_key(&edge.to)
                {
                    came.insert(edge.to, edge);
                    queue.push_back(edge.to);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let edge = came[&at];
            path.push(edge);
            at = edge.from;
        }
        path.reverse();
        Ok(path)
    }

    /// A paid move inside the component of `near` that feeds a counter.
    pub(super) fn feeder(
        &mut self,
        layer: LayerId,
        near: State,
        counter: u32,
        context: &Context,
    ) -> Result<Edge, Stop> {
        let component = self.layers[layer as usize].component_of[&near];
        for state in self.get(layer, component).states.clone() {
            for edge in self.paid_edges(layer, state, context)? {
                let layer = &self.layers[layer as usize];
                if layer.component_of.get(&edge.to) == Some(&component)
                    && self.control.moves[edge.number as usize].fed(&layer.omega).any(|other| other == counter)
                {
                    return Ok(edge);
                }
            }
        }
        unreachable!("a gain of a component is fed inside it")
    }
}
