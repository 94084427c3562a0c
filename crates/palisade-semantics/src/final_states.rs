//! All final states of an instance, by memoised exploration of its state graph, breadth first.
//!
//! A final state is one in which nothing can step. It is *completed* when every thread copy has
//! come to its end (a label without instructions, or `fail`) and every store has reached memory;
//! these are the outcomes that a litmus test asks about. In every other final state some thread is
//! *stuck*: an `assert` blocks it for ever, or a lock that nobody gives back.
//!
//! The search takes the sufficient events of [`reduction`](super::reduction). In programs with
//! loops reduced steps that all lead back to explored states could put the others off for ever;
//! there all events are taken.
//!
//! Nothing is put off for ever (THEORY.md, "Simulations").
//!
//! With loops, states may be [coarse](Search::is_coarse): dead registers hold 0
//! ([`forgetting`](super::forgetting)), and a state from which one private event suffices is passed
//! over. With loops or without, they are coarse too where copies of a thread stand for each other
//! ([`symmetry`](super::symmetry)).
//!
//! A joint control state may be passed by one interleaving of a trace and not by another. So where
//! a reduced step goes to a label that a joint state names, or leaves it, all events are taken: the
//! steps that may be left out do not change which joint states are reached.
//!
//! In programs with counters, the states may be told apart up to turns of these ([`Turns`]).
//! Computations are found with states that are turned, and taken again from the initial state: each
//! step of theirs is possible there.
//!
//! Violated properties come with a computation, shortened afterwards
//! ([`shortest_violation`](super::shortest_violation)); so does getting stuck. In programs without
//! loops the latter is shortest, since computations of one trace have one length.

use super::computation::Computation;
use super::exploration::{ExplorationError, refuse_too_many_choices};
use super::forgetting::Forgetting;
use super::growth::{Growth, Spread};
use super::instance::{CopyId, Instance};
use super::joint::{Watched, is_reached};
use super::machine::{Machine, Model, State};
use super::reduction::{Reduction, all_events};
use super::shortest_violation::{EFFORT, Goal, shortest_violation};
use super::state_table::{Row, StateTable};
use super::step::{Effect, Event, Step, StepKind};
use super::symmetry::{Symmetry, exchanged};
use super::turns::Turns;
use palisade_model::limits::{Limits, StopReason};
use palisade_model::ordered;
use palisade_model::program::{InstructionId, Program};
use std::collections::BTreeMap;

/// What a search for final states found.
#[derive(Clone, Debug, Default)]
pub struct FinalStates {
    /// The completed final states, in ascending order.
    pub completed: Vec<State>,
    /// The final states in which some thread is stuck, in ascending order.
    pub stuck: Vec<State>,
    /// A computation to one of these, soonest found.
    pub to_stuck: Option<Computation>,
    /// The properties violated, `ensure` of a false condition or `fail`, with a computation that
    /// ends in the violation.
    pub violations: BTreeMap<(CopyId, InstructionId), Computation>,
    /// The joint control states reached, by their place in [`Program::never`], with a computation
    /// that ends in each.
    pub joint: BTreeMap<usize, Computation>,
    /// Whether a store had to wait for room in a bounded buffer: with larger buffers there may be
    /// more final states.
    pub buffers_filled: bool,
    /// The number of states explored.
    pub explored: usize,
    /// The turns up to which states were told apart; nothing where all are.
    pub turns: Option<Turns>,
    /// What grew, up to turns as well, where that ended the search.
    pub growth: Option<Growth>,
}

/// How states are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// All of them.
    Apart,
    /// Up to turns of counters, where a program with loops has many states.
    UpToTurnsWhereMany,
    /// Up to turns of counters, where there are any.
    UpToTurns,
}

/// How final states are sought.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// So many stores buffers hold in programs with loops.
    pub capacity: usize,
    /// How states are told apart.
    pub told: Told,
    /// So many values a register or an address may take up to turns of counters, in a program
    /// without a domain.
    pub values: usize,
    /// Whether to leave out which copy of a thread does what, and in programs with loops what dead
    /// registers hold and states from which one private event suffices.
    pub is_coarse: bool,
}

/// With fewer states than this, all are told apart.
const FEW_STATES: usize = 50_000;

/// So many private events are taken at once: they may go round for ever.
const MOST_AT_ONCE: usize = 64;

/// The capacity of store buffers in programs with loops, where unbounded ones would give infinitely
/// many states.
pub const LOOP_CAPACITY: usize = 4;

/// Finds all final states of an instance.
///
/// Buffers are unbounded where the threads have no loops; in programs with loops they hold
/// `capacity` stores.
pub fn final_states(
    program: &Program,
    instance: &Instance,
    model: Model,
    capacity: usize,
    limits: &Limits,
) -> Result<FinalStates, ExplorationError> {
    let mut found = FinalStates::default();
    explore_final_states(program, instance, model, capacity, limits, &mut found)?;
    Ok(found)
}

/// Finds final states as [`final_states`] does. After an error, `found` has what was found before
/// it, and is not all there is.
pub fn explore_final_states(
    program: &Program,
    instance: &Instance,
    model: Model,
    capacity: usize,
    limits: &Limits,
    found: &mut FinalStates,
) -> Result<(), ExplorationError> {
    let search = Search { capacity, told: Told::Apart, values: usize::MAX, is_coarse: false };
    search_final_states(program, instance, model, search, limits, found)
}

/// Finds final states, told apart as `search` says. After an error, `found` has what was found
/// before it.
///
/// Up to turns, a final state stands for all that turn into it, of which at least one is reached,
/// and no others are. Properties are violated, and joint states reached, by computations of the
/// program itself.
pub fn search_final_states(
    program: &Program,
    instance: &Instance,
    model: Model,
    search: Search,
    limits: &Limits,
    found: &mut FinalStates,
) -> Result<(), ExplorationError> {
    let mut machine = Machine::new(program, instance, model);
    let loops = machine.copies().iter().any(|copy| program.thread(copy.thread).has_loop());
    if loops {
        machine = machine.with_capacity(search.capacity);
    }
    let mut graph = Graph::new(&machine, loops, search.is_coarse, None);
    let most = match search.told {
        Told::Apart => usize::MAX,
        Told::UpToTurnsWhereMany if !loops => usize::MAX,
        Told::UpToTurnsWhereMany => FEW_STATES,
        Told::UpToTurns => 0,
    };
    let mut explored = graph.explore(most, limits);
    if matches!(explored, Ok(Explored::Some)) {
        let turned = Turns::of(program).map(|turns| {
            let values = if program.domain.is_none() { search.values } else { usize::MAX };
            let mut turned =
                Graph::new(&machine, loops, search.is_coarse, Some(Turned { turns, spread: Spread::new(values) }));
            let explored = turned.explore(usize::MAX, limits);
            (turned, explored)
        });
        match turned {
            Some((turned, all)) if !matches!(all, Ok(Explored::Broken)) => (graph, explored) = (turned, all),
            _ => explored = graph.explore(usize::MAX, limits),
        }
    }
    let stopped;
    (*found, stopped) = graph.conclude(limits);
    if let Err(ExplorationError::Growth(growth)) = explored {
        found.growth = Some(growth);
    }
    match (explored, stopped) {
        (Ok(_), Some(reason)) => Err(reason.into()),
        (explored, _) => explored.map(|_| ()),
    }
}

/// How far an exploration has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Explored {
    /// To its end.
    All,
    /// To as many states as it was to explore.
    Some,
    /// To a computed address that came to a counter: turns are none.
    Broken,
}

/// States are told apart up to turns.
struct Turned {
    turns: Turns,
    /// The values seen, where there is no domain.
    spread: Spread,
}

/// The states reached so far.
struct Graph<'m, 'p> {
    machine: &'m Machine<'p>,
    /// Whether some thread has a loop.
    loops: bool,
    reduction: Reduction,
    /// What is forgotten where states are coarse.
    forgetting: Option<Forgetting>,
    /// The copies that stand for each other; none where states are not coarse.
    symmetry: Symmetry,
    /// In the order in which they are found, which is that in which they are explored.
    states: StateTable,
    /// The state that each was found from; itself for the initial one.
    parents: Vec<u32>,
    completed: Vec<u32>,
    stuck: Vec<u32>,
    /// Where each violated property was violated first, by the first of the copies that stand for
    /// each other.
    violations: BTreeMap<(CopyId, InstructionId), (u32, Event)>,
    /// The labels that joint states name.
    watched: Watched,
    /// In which state each joint state was reached first.
    joint: BTreeMap<usize, u32>,
    buffers_filled: bool,
    explored: usize,
    turned: Option<Turned>,
}

impl<'m, 'p> Graph<'m, 'p> {
    fn new(machine: &'m Machine<'p>, loops: bool, is_coarse: bool, turned: Option<Turned>) -> Self {
        let mut graph = Self {
            machine,
            loops,
            reduction: Reduction::new(machine),
            forgetting: (loops && is_coarse).then(|| Forgetting::of(machine.program())),
            symmetry: if is_coarse { Symmetry::of(machine) } else { Symmetry::default() },
            states: StateTable::default(),
            parents: Vec::new(),
            completed: Vec::new(),
            stuck: Vec::new(),
            violations: BTreeMap::new(),
            watched: Watched::of(machine.program()),
            joint: BTreeMap::new(),
            buffers_filled: false,
            explored: 0,
            turned,
        };
        let mut initial = machine.initial_state();
        graph.stand(&mut initial);
        let row = graph.row(&initial);
        graph.add(&row, 0);
        graph
    }

    /// Makes of a state the one that stands for it.
    fn stand(&self, state: &mut State) {
        if let Some(turned) = &self.turned {
            turned.turns.turn(self.machine, state);
        } else if let Some(forgetting) = &self.forgetting {
            forgetting.forget(self.machine, state);
        }
    }

    /// The row of the state that stands for one and for all that copies come to in each other's
    /// places.
    fn row(&mut self, state: &State) -> Row {
        let mut row = self.states.row(state);
        self.symmetry.arrange(&mut row);
        row
    }

    /// The state that an event leads to, or which stands for it, where states are coarse behind the
    /// private events that suffice; and these events.
    fn successor(&self, state: &State, event: &Event) -> (State, Vec<Event>) {
        let mut successor = self.machine.successor(state, event);
        self.stand(&mut successor);
        let mut passed = Vec::new();
        while self.forgetting.is_some()
            && passed.len() < MOST_AT_ONCE
            && let Some(event) = Reduction::only_private_event(self.machine, &successor)
            && !self.is_watched(&event)
            && !self.is_broken_by(&event)
            && !matches!(event.effect, Effect::Violation | Effect::Failure)
        {
            self.machine.take(&mut successor, &event);
            self.stand(&mut successor);
            passed.push(event);
        }
        (successor, passed)
    }

    /// The states that events lead to, and their rows.
    fn successors(&mut self, state: &State, events: &[Event]) -> Vec<(State, Row)> {
        let mut successors = Vec::with_capacity(events.len());
        for event in events {
            let (successor, _) = self.successor(state, event);
            let row = self.row(&successor);
            successors.push((successor, row));
        }
        successors
    }

    /// Whether an event comes to a counter by a computed address: turns are none then.
    fn is_broken_by(&self, event: &Event) -> bool {
        self.turned.as_ref().is_some_and(|turned| turned.turns.is_broken_by(event))
    }

    /// Explores until so many states are explored.
    fn explore(&mut self, most: usize, limits: &Limits) -> Result<Explored, ExplorationError> {
        let machine = self.machine;
        refuse_too_many_choices(machine.program())?;
        // Each copy adds to the work on a state.
        let between_looks = (1024 / (1 + machine.copies().len() / 16)).max(1);
        let mut events: Vec<Event> = Vec::new();
        let mut work = 0;
        while self.explored < self.states.len() {
            if self.explored == most {
                return Ok(Explored::Some);
            }
            let number = u32::try_from(self.explored).expect("fewer than 2^32 states fit in memory");
            let state = self.states.state(number);
            self.explored += 1;
            if work >= between_looks {
                work = 0;
                limits.check()?;
            }
            events.clear();
            self.reduction.sufficient_events(machine, &state, &|_| true, &mut events)?;
            self.buffers_filled |= self.loops
                && (0..machine.copies().len())
                    .any(|position| machine.buffer_is_full(&state, position) && machine.may_store(&state, position));
            self.note_joint_states(&state, number);
            if events.is_empty() {
                let ended = (0..machine.copies().len()).all(|position| machine.has_ended(&state, position));
                let finals = if ended && state.buffers_are_empty() { &mut self.completed } else { &mut self.stuck };
                finals.push(number);
                continue;
            }
            // A free choice has as many successors as the domain has values, each with the stores
            // that wait.
            let waiting: usize = state.threads().iter().map(|thread| thread.buffer.len()).sum();
            work += 1 + events.len() / 16 + waiting / 64;
            let mut successors = self.successors(&state, &events);
            let is_explored = |row: &Row| self.states.number(row).is_some_and(|known| known <= number);
            if self.loops && successors.iter().all(|(_, row)| is_explored(row))
                || events.iter().any(|event| self.is_watched(event))
            {
                events.clear();
                for position in 0..machine.copies().len() {
                    all_events(machine, &state, position, &|_| true, &mut events)?;
                }
                successors = self.successors(&state, &events);
            }
            if events.iter().any(|event| self.is_broken_by(event)) {
                return Ok(Explored::Broken);
            }
            for event in &events {
                if let (Effect::Violation | Effect::Failure, StepKind::Execute { instruction, .. }) =
                    (event.effect, event.step.kind)
                {
                    let position = machine.position(event.step.copy).expect("an event belongs to a copy");
                    let first = machine.copies()[self.symmetry.group(position).start];
                    self.violations.entry((first, instruction)).or_insert((number, *event));
                }
            }
            for (successor, row) in successors {
                if let Some(Turned { spread, .. }) = &mut self.turned {
                    spread.see(machine, &successor)?;
                }
                self.add(&row, number);
            }
        }
        Ok(Explored::All)
    }

    /// Notes the joint states that are reached in a state for the first time.
    fn note_joint_states(&mut self, state: &State, number: u32) {
        for (index, joint) in self.machine.program().never.iter().enumerate() {
            if !self.joint.contains_key(&index) && is_reached(joint, self.machine, state) {
                self.joint.insert(index, number);
            }
        }
    }

    /// Whether an event goes to a label that a joint state names, or leaves it.
    fn is_watched(&self, event: &Event) -> bool {
        let StepKind::Execute { instruction, .. } = event.step.kind else { return false };
        let thread = event.step.copy.thread;
        let instruction = self.machine.program().thread(thread).instruction(instruction);
        self.watched.contains(thread, instruction.source) || self.watched.contains(thread, instruction.target)
    }

    /// What has been found so far, and the limit that kept final states from being listed.
    fn conclude(mut self, limits: &Limits) -> (FinalStates, Option<StopReason>) {
        let to_stuck = self.stuck.first().copied();
        let to_stuck = to_stuck.map(|number| Computation { shortest: !self.loops, ..self.computation(number, None) });
        let mut effort = EFFORT;
        let mut violations = BTreeMap::new();
        for ((first, instruction), (number, event)) in std::mem::take(&mut self.violations) {
            let known = self.computation(number, Some(event.step));
            let copy = known.events.last().expect("it ends in the violation").step.copy;
            let goal = Goal::Violation(copy, instruction);
            let shown = shortest_violation(self.machine, goal, known, &mut effort, limits);
            let first = self.machine.position(first).expect("it is a copy of the instance");
            for other in &self.machine.copies()[self.symmetry.group(first)] {
                violations.insert((*other, instruction), exchanged(self.machine, &shown, [copy, *other]));
            }
        }
        let mut joint = BTreeMap::new();
        for (index, number) in std::mem::take(&mut self.joint) {
            let goal = Goal::Joint(&self.machine.program().never[index]);
            let known = self.computation(number, None);
            joint.insert(index, shortest_violation(self.machine, goal, known, &mut effort, limits));
        }
        let mut stopped = None;
        let completed = self.finals(&self.completed, limits, &mut stopped);
        let stuck = self.finals(&self.stuck, limits, &mut stopped);
        let found = FinalStates {
            completed,
            stuck,
            to_stuck,
            violations,
            joint,
            buffers_filled: self.buffers_filled,
            explored: self.explored,
            turns: self.turned.map(|turned| turned.turns),
            growth: None,
        };
        (found, stopped)
    }

    /// The states with these numbers and those for which they stand, ascending; without most of the
    /// latter after a limit is reached.
    fn finals(&self, numbers: &[u32], limits: &Limits, stopped: &mut Option<StopReason>) -> Vec<State> {
        let mut states = Vec::new();
        for number in numbers {
            let listed = self.symmetry.each_exchanged(&self.states.state(*number), &mut |state| {
                states.push(state.clone());
                match stopped {
                    Some(reason) => Err(*reason),
                    None if states.len().is_multiple_of(1024) => limits.check(),
                    None => Ok(()),
                }
            });
            *stopped = stopped.or(listed.err());
        }
        ordered::sort_by(&mut states, State::cmp);
        states
    }

    fn add(&mut self, row: &Row, parent: u32) {
        if self.states.insert(row) {
            self.parents.push(parent);
        }
    }

    /// The computation by which a state was found, or one that stands for it, and one step more.
    fn computation(&mut self, number: u32, last: Option<Step>) -> Computation {
        let mut path = vec![number];
        while path[path.len() - 1] != 0 {
            path.push(self.parents[path[path.len() - 1] as usize]);
        }
        path.reverse();
        let mut computation = Computation::empty(self.machine);
        // Which copy stands where the states that were found have another one.
        let mut standing = self.machine.copies().to_vec();
        for pair in path.windows(2) {
            let (steps, order) = self.steps_between(pair[0], pair[1]);
            steps.into_iter().for_each(|step| self.take(&mut computation, step, &standing));
            standing = order.into_iter().map(|position| standing[position]).collect();
        }
        last.into_iter().for_each(|step| self.take(&mut computation, step, &standing));
        computation
    }

    /// Lets the copy that stands for that of a step take it.
    fn take(&self, computation: &mut Computation, step: Step, standing: &[CopyId]) {
        let position = self.machine.position(step.copy).expect("a step belongs to a copy of the instance");
        let step = Step { copy: standing[position], ..step };
        let event =
            self.machine.event(&computation.last, step).expect("states that stand for each other have the same steps");
        computation.push(self.machine, event);
    }

    /// The steps from a state to one that was found from it, and the positions that the copies have
    /// before they are put in order.
    fn steps_between(&mut self, number: u32, successor: u32) -> (Vec<Step>, Vec<usize>) {
        let state = self.states.state(number);
        let mut events = Vec::new();
        for position in 0..self.machine.copies().len() {
            // The events before a value that does not exist are there all the same; the search has
            // come past it.
            let _ = self.machine.events(&state, position, &mut events);
        }
        let leading = |event: &Event| {
            let (found, passed) = self.successor(&state, event);
            let mut row = self.states.row(&found);
            let order = self.symmetry.order(&row);
            self.symmetry.arrange(&mut row);
            let steps = || std::iter::once(event).chain(&passed).map(|event| event.step).collect();
            (self.states.number(&row) == Some(successor)).then(|| (steps(), order))
        };
        events.iter().find_map(leading).expect("a state is found by a step from its parent")
    }
}
