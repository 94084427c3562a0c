//! A shortest computation that violates a property.
//!
//! The search for final states takes few of the steps there are, and follows threads that a
//! violation does not need. This search looks for one violated property again, among all steps, by
//! A*: the copy that violates it, or each copy of a joint control state, still has its way through
//! control flow to go. A computation that is there bounds the search. One copy may act first, then
//! two, and so on: with few copies the search is quick, and gives a tight bound for more. Among
//! shortest computations the one with the fewest acting copies is taken.
//!
//! *Private steps* (local instructions, issues of stores, fences of both kinds) are seen by nobody
//! else and commute with all steps of other copies. Each can be put off until its copy's next step,
//! and left out where there is none and the property does not need it; so after a private step only
//! the same copy goes on, and nothing shorter is lost. A joint control state may need the last
//! steps of several copies: at a label that it names, others may go on as well.

use super::computation::Computation;
use super::instance::CopyId;
use super::joint::is_reached;
use super::machine::{Machine, State};
use super::step::{Effect, Event, StepKind};
use hashbrown::HashTable;
use palisade_model::limits::Limits;
use palisade_model::program::{InstructionId, JointState, LabelId, Place, Thread};
use rustc_hash::FxBuildHasher;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::hash::BuildHasher;

/// States kept at most for all properties of a program together; then the computations found so far
/// are shown.
pub(super) const EFFORT: usize = 100_000;

/// Expansions between two looks at the limits.
const BETWEEN_LOOKS: usize = 1024;

/// No way leads there.
const NEVER: usize = usize::MAX / 4;

/// Where a computation is to lead.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'g> {
    /// The copy violates the property of the instruction.
    Violation(CopyId, InstructionId),
    /// The joint control state is reached.
    Joint(&'g JointState),
}

/// A shortest computation that violates a property; the known one, if `effort` does not
/// reach to find another. Each search takes what it uses from `effort`.
pub fn shortest_violation(
    machine: &Machine<'_>,
    goal: Goal<'_>,
    known: Computation,
    effort: &mut usize,
    limits: &Limits,
) -> Computation {
    let copies = machine.copies().len();
    // The copies that have acted are a set of bits.
    if copies > 128 {
        return known;
    }
    let aims = Aims::of(machine, goal);
    let mut best = known;
    let mut bound = best.events.len();
    for acting in 1..=u32::try_from(copies).unwrap_or(u32::MAX) {
        let mut attempt = Attempt {
            machine,
            goal,
            aims: &aims,
            acting,
            bound,
            nodes: Vec::new(),
            known: HashTable::new(),
            open: BinaryHeap::new(),
        };
        let found = attempt.run(*effort, limits);
        *effort = effort.saturating_sub(attempt.nodes.len());
        match found {
            Ok(Some((node, event))) => {
                best = attempt.computation(node, event);
                bound = best.events.len().saturating_sub(1);
            }
            Ok(None) => {}
            Err(CutOff) => return best,
        }
    }
    Computation { shortest: true, ..best }
}

/// The effort was used up, or a limit reached.
struct CutOff;

/// What copies still have to do until the goal is reached.
struct Aims {
    /// For each group of copies of one thread: their positions, how many of them have to reach the
    /// goal, and for each label the least number of instructions until one does.
    groups: Vec<(std::ops::Range<usize>, usize, Vec<usize>)>,
}

impl Aims {
    fn of(machine: &Machine<'_>, goal: Goal<'_>) -> Self {
        let groups = match goal {
            Goal::Violation(copy, instruction) => {
                let position = machine.position(copy).expect("the violating copy belongs to the instance");
                let thread = machine.thread(position);
                vec![(position..position + 1, 1, ways(thread, thread.instruction(instruction).source, 1))]
            }
            Goal::Joint(joint) => {
                let group = |(place, count): (Place, usize)| {
                    let thread = machine.program().thread(place.thread);
                    (machine.positions(place.thread), count, ways(thread, place.label, 0))
                };
                joint.groups().map(group).collect()
            }
        };
        Self { groups }
    }

    /// At least so many steps lead from a state to the goal.
    fn least(&self, state: &State) -> usize {
        let mut all = 0;
        for (positions, count, ways) in &self.groups {
            let copies = &state.threads()[positions.clone()];
            let mut left: Vec<usize> =
                copies.iter().map(|copy| copy.label.map_or(NEVER, |label| ways[label.index()])).collect();
            left.sort_unstable();
            left.resize(*count, NEVER);
            all = left.into_iter().fold(all, |sum, way| NEVER.min(sum + way));
        }
        all
    }
}

/// For each label, the least number of instructions that lead to a label, and `there` more.
fn ways(thread: &Thread, goal: LabelId, there: usize) -> Vec<usize> {
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); thread.labels.len()];
    for instruction in &thread.instructions {
        into[instruction.target.index()].push(instruction.source.index());
    }
    let mut ways = vec![NEVER; thread.labels.len()];
    ways[goal.index()] = there;
    let mut open = VecDeque::from([goal.index()]);
    while let Some(label) = open.pop_front() {
        for source in &into[label] {
            if ways[*source] == NEVER {
                ways[*source] = ways[label] + 1;
                open.push_back(*source);
            }
        }
    }
    ways
}

/// A state, with what the search must know besides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Point {
    state: State,
    /// The copies that have acted, by position.
    acted: u128,
    /// The copy that has just taken a private step, and must go on.
    going_on: Option<usize>,
}

struct Node {
    point: Point,
    parent: u32,
    event: Option<Event>,
    length: usize,
    expanded: bool,
}

/// One search with a bound on the copies that act and on the steps.
struct Attempt<'s, 'p> {
    machine: &'s Machine<'p>,
    goal: Goal<'s>,
    aims: &'s Aims,
    /// How many copies may act.
    acting: u32,
    /// How long a computation may be.
    bound: usize,
    nodes: Vec<Node>,
    known: HashTable<u32>,
    /// Nodes to expand: those that may lead to the shortest computations first, of these the
    /// longest, of these the newest.
    open: BinaryHeap<(Reverse<usize>, usize, u32)>,
}

impl Attempt<'_, '_> {
    /// The node in which the goal is reached, or from which a step violates the property, and that
    /// step.
    fn run(&mut self, most: usize, limits: &Limits) -> Result<Option<(u32, Option<Event>)>, CutOff> {
        let state = self.machine.initial_state();
        self.add(Point { state, acted: 0, going_on: None }, 0, None, 0);
        let mut expanded = 0usize;
        while let Some((_, length, number)) = self.open.pop() {
            let node = &mut self.nodes[number as usize];
            if node.expanded || length > node.length {
                continue;
            }
            node.expanded = true;
            expanded += 1;
            if self.nodes.len() > most || expanded.is_multiple_of(BETWEEN_LOOKS) && limits.check().is_err() {
                return Err(CutOff);
            }
            if let Goal::Joint(joint) = self.goal
                && is_reached(joint, self.machine, &self.nodes[number as usize].point.state)
            {
                return Ok(Some((number, None)));
            }
            if let Some(event) = self.expand(number) {
                return Ok(Some((number, Some(event))));
            }
        }
        Ok(None)
    }

    /// Adds what a node leads to; the step that violates the property, if it is possible here.
    fn expand(&mut self, number: u32) -> Option<Event> {
        let Node { point, length, .. } = &self.nodes[number as usize];
        let (point, length) = (point.clone(), *length);
        for position in 0..self.machine.copies().len() {
            let acted = point.acted | 1 << position;
            if point.going_on.is_some_and(|own| own != position) || acted.count_ones() > self.acting {
                continue;
            }
            let mut events = Vec::new();
            // Steps without a value are left out: what they lead to is no violation of a property.
            let _ = self.machine.events(&point.state, position, &mut events);
            for event in events {
                if self.violates(&event) {
                    return Some(event);
                }
                let state = self.machine.successor(&point.state, &event);
                let going_on = (is_private(&event) && !self.is_aim(&state, position)).then_some(position);
                self.add(Point { state, acted, going_on }, number, Some(event), length + 1);
            }
        }
        None
    }

    fn violates(&self, event: &Event) -> bool {
        let Goal::Violation(copy, violated) = self.goal else { return false };
        let executes = matches!(event.step.kind, StepKind::Execute { instruction, .. } if instruction == violated);
        event.step.copy == copy && executes && matches!(event.effect, Effect::Violation | Effect::Failure)
    }

    /// Whether a copy stands at a label that the joint control state names.
    fn is_aim(&self, state: &State, position: usize) -> bool {
        let Goal::Joint(joint) = self.goal else { return false };
        let thread = self.machine.copies()[position].thread;
        let label = state.threads()[position].label;
        joint.places().iter().any(|place| place.thread == thread && Some(place.label) == label)
    }

    /// Adds a point unless it is known with a computation that is as short, or none within the
    /// bound leads on from it.
    fn add(&mut self, point: Point, parent: u32, event: Option<Event>, length: usize) {
        let estimate = length + self.aims.least(&point.state);
        if estimate > self.bound {
            return;
        }
        let hash = FxBuildHasher.hash_one(&point);
        let nodes = &mut self.nodes;
        let known = self.known.find(hash, |number| nodes[*number as usize].point == point).copied();
        let number = if let Some(number) = known {
            let node = &mut nodes[number as usize];
            if node.length <= length {
                return;
            }
            (node.parent, node.event, node.length, node.expanded) = (parent, event, length, false);
            number
        } else {
            let number = u32::try_from(nodes.len()).expect("the effort is bounded");
            nodes.push(Node { point, parent, event, length, expanded: false });
            self.known.insert_unique(hash, number, |number| FxBuildHasher.hash_one(&nodes[*number as usize].point));
            number
        };
        self.open.push((Reverse(estimate), length, number));
    }

    fn computation(&self, number: u32, last: Option<Event>) -> Computation {
        let mut events: Vec<Event> = last.into_iter().collect();
        let mut node = &self.nodes[number as usize];
        while let Some(event) = node.event {
            events.push(event);
            node = &self.nodes[node.parent as usize];
        }
        let mut computation = Computation::empty(self.machine);
        events.into_iter().rev().for_each(|event| computation.push(self.machine, event));
        computation
    }
}

/// Whether nobody else sees a step, and it commutes with all steps of others.
fn is_private(event: &Event) -> bool {
    let effect = &event.effect;
    matches!(
        effect,
        Effect::Local { .. } | Effect::Issue { .. } | Effect::Fence | Effect::StoreFence | Effect::Violation
    )
}
