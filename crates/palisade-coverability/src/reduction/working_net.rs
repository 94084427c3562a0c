//! The working net of a reduction, which shrinks in place.

use super::arcs::weight;
use super::back::Back;
use super::log::{MoveId, Origin, Removal, Start};
use palisade_model::limits::Limits;
use palisade_model::net::{Arcs, Count, Net, OmegaCount, PlaceId, Problem, Query, Target, TransitionId};

/// A transition of the working net.
pub(super) struct Move {
    /// Whether it is still there.
    pub(super) alive: bool,
    /// What it takes.
    pub(super) pre: Arcs,
    /// What it puts.
    pub(super) post: Arcs,
    /// Where it comes from.
    pub(super) origin: Origin,
}

impl Move {
    /// Whether it puts more than it takes somewhere.
    pub(super) fn gains(&self) -> bool {
        self.post.iter().any(|(place, count)| count > weight(&self.pre, *place))
    }
}

/// The net while it is reduced. Invariant: living transitions have arcs to living places only.
pub(super) struct WorkingNet {
    /// When to stop. Rules that take long ask between two steps, where the net is a whole one.
    limits: Limits,
    /// Whether a place is still there.
    pub(super) alive: Vec<bool>,
    /// The initial marking.
    pub(super) initial: Vec<OmegaCount>,
    /// The transitions, dead ones included.
    pub(super) moves: Vec<Move>,
    /// The targets still asked for, with their original numbers.
    pub(super) targets: Vec<(usize, Target)>,
    /// What was done so far.
    pub(super) log: Vec<Removal>,
    /// What runs on the original net begin with.
    pub(super) starts: Vec<Start>,
    /// Transitions that put into a place, dead ones perhaps included.
    producers: Vec<Vec<MoveId>>,
    /// Transitions that take from a place, dead ones perhaps included.
    consumers: Vec<Vec<MoveId>>,
    /// Places whose lists of producers hold dead transitions.
    producers_stale: Vec<bool>,
    /// Places whose lists of consumers do.
    consumers_stale: Vec<bool>,
}

impl WorkingNet {
    /// The whole problem.
    pub(super) fn new(problem: &Problem, limits: &Limits) -> Self {
        let places = problem.net.places.len();
        let mut net = Self {
            limits: limits.clone(),
            alive: vec![true; places],
            initial: problem.net.initial.clone(),
            moves: Vec::with_capacity(problem.net.transitions.len()),
            targets: problem.query.targets.iter().cloned().enumerate().collect(),
            log: Vec::new(),
            starts: Vec::new(),
            producers: vec![Vec::new(); places],
            consumers: vec![Vec::new(); places],
            producers_stale: vec![false; places],
            consumers_stale: vec![false; places],
        };
        for (id, transition) in problem.net.transition_ids() {
            net.add(transition.pre.clone(), transition.post.clone(), Origin::Original(id));
        }
        net
    }

    /// Whether a limit is reached.
    pub(super) fn is_over(&self) -> bool {
        self.limits.check().is_err()
    }

    /// Adds a transition.
    pub(super) fn add(&mut self, pre: Arcs, post: Arcs, origin: Origin) -> MoveId {
        let id = MoveId::try_from(self.moves.len()).expect("a net has fewer than 2^32 transitions");
        pre.iter().for_each(|(place, _)| self.consumers[place.index()].push(id));
        post.iter().for_each(|(place, _)| self.producers[place.index()].push(id));
        self.moves.push(Move { alive: true, pre, post, origin });
        id
    }

    /// A transition.
    pub(super) fn at(&self, id: MoveId) -> &Move {
        &self.moves[id as usize]
    }

    /// The living transitions.
    pub(super) fn living(&self) -> impl Iterator<Item = (MoveId, &Move)> {
        (0..).zip(&self.moves).filter(|(_, transition)| transition.alive)
    }

    /// The living places.
    pub(super) fn living_places(&self) -> impl Iterator<Item = PlaceId> + use<> {
        let alive: Vec<usize> = (0..self.alive.len()).filter(|index| self.alive[*index]).collect();
        alive.into_iter().map(PlaceId::from_index)
    }

    /// The living transitions that put into a place.
    pub(super) fn producers(&mut self, place: PlaceId) -> &[MoveId] {
        let moves = &self.moves;
        let list = &mut self.producers[place.index()];
        if std::mem::take(&mut self.producers_stale[place.index()]) {
            list.retain(|id| moves[*id as usize].alive);
        }
        list
    }

    /// The living transitions that take from a place.
    pub(super) fn consumers(&mut self, place: PlaceId) -> &[MoveId] {
        let moves = &self.moves;
        let list = &mut self.consumers[place.index()];
        if std::mem::take(&mut self.consumers_stale[place.index()]) {
            list.retain(|id| moves[*id as usize].alive);
        }
        list
    }

    /// Takes a transition away.
    pub(super) fn kill(&mut self, id: MoveId) {
        let transition = &mut self.moves[id as usize];
        transition.alive = false;
        transition.post.iter().for_each(|(place, _)| self.producers_stale[place.index()] = true);
        transition.pre.iter().for_each(|(place, _)| self.consumers_stale[place.index()] = true);
    }

    /// Takes places away together with all arcs and demands on them. The transitions stay.
    pub(super) fn drop_places(&mut self, places: &[PlaceId]) {
        for place in places {
            for list in [&self.consumers[place.index()], &self.producers[place.index()]] {
                for id in list {
                    let transition = &mut self.moves[*id as usize];
                    // The arcs of dead transitions are kept as they were for the way back.
                    if transition.alive {
                        remove(&mut transition.pre, *place);
                        remove(&mut transition.post, *place);
                    }
                }
            }
            self.consumers[place.index()].clear();
            self.producers[place.index()].clear();
            for (_, target) in &mut self.targets {
                remove(&mut target.demands, *place);
            }
            self.alive[place.index()] = false;
        }
    }

    /// Whether a target asks for tokens on each place.
    pub(super) fn demanded(&self) -> Vec<bool> {
        let mut demanded = vec![false; self.alive.len()];
        for (place, _) in self.targets.iter().flat_map(|(_, target)| &target.demands) {
            demanded[place.index()] = true;
        }
        demanded
    }

    /// The smaller problem, numbered anew, and the way back.
    pub(super) fn finish(self, problem: &Problem) -> (Problem, Back) {
        let mut net = Net { name: problem.net.name.clone(), ..Net::default() };
        let mut new_ids = vec![None; self.alive.len()];
        let mut places = Vec::new();
        for place in self.living_places() {
            let name = problem.net.places[place.index()].name.clone();
            new_ids[place.index()] = Some(net.add_place(name, self.initial[place.index()].clone()));
            places.push(place);
        }
        let renumber = |arcs: &Arcs| -> Arcs {
            let renamed = |(place, count): &(PlaceId, Count)| new_ids[place.index()].map(|id| (id, count.clone()));
            arcs.iter().filter_map(renamed).collect()
        };
        let mut transitions = Vec::new();
        for (id, transition) in self.living() {
            let name = self.name(problem, id);
            net.add_transition(name, renumber(&transition.pre), renumber(&transition.post));
            transitions.push(transition.gains().then_some(id));
        }
        // A unit that has lost places may hold no token; it is one still where the others always
        // hold one.
        let left = |unit: &Vec<PlaceId>| unit.iter().filter_map(|place| new_ids[place.index()]).collect();
        net.add_sound_units(problem.net.units.iter().map(left));
        let targets: Vec<Target> =
            self.targets.iter().map(|(_, target)| Target { demands: renumber(&target.demands) }).collect();
        let numbers = self.targets.iter().map(|(number, _)| *number).collect();
        let origins = self.moves.into_iter().map(|transition| transition.origin).collect();
        let back = Back {
            original: problem.clone(),
            places,
            transitions,
            targets: numbers,
            origins,
            log: self.log,
            starts: self.starts,
        };
        (Problem { net, query: Query { targets } }, back)
    }

    /// The original transition's name, or those of a sequence.
    fn name(&self, problem: &Problem, id: MoveId) -> String {
        /// Longer sequences are named by their ends.
        const LONG: usize = 4;
        let mut word: Vec<TransitionId> = Vec::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match &self.at(id).origin {
                Origin::Original(original) => word.push(*original),
                Origin::Sequence { first, second } => pending.extend([second.0, first.0]),
            }
        }
        let named = |id: &TransitionId| problem.net.transitions[id.index()].name.clone();
        if word.len() > LONG {
            let (first, last) = (&word[0], &word[word.len() - 1]);
            return format!("{}…{}", named(first), named(last));
        }
        word.iter().map(named).collect::<Vec<_>>().join("·")
    }
}

/// Takes a place out of sorted arcs.
fn remove(arcs: &mut Arcs, place: PlaceId) {
    if let Ok(position) = arcs.binary_search_by_key(&place, |(place, _)| *place) {
        arcs.remove(position);
    }
}
