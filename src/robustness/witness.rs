//! From a route through the explorations to a TSO computation of the original program in the form of Fig. 4.
//!
//! The route is a sequence of steps of anonymous tokens. Here the tokens get names (copies of threads), settled local
//! states get the local instructions that lead to them (only when the thread acts again, so that nothing idle is shown),
//! stores of helpers are flushed at once and those of the attacker at the end. The result is replayed on the TSO semantics.

use super::attacks::Attack;
use super::fault::Fault;
use super::search::{Search, ThreadSearch};
use super::system::{Local, Phase, Place, System};
use crate::coverability::lazy::{Entry, Exploration, Step as NetStep};
use crate::evidence::Witness;
use crate::program::{Action, Copies, InstructionId, LabelId, Program, Value};
use crate::semantics::{
    AccessKind, CopyId, Edge, Instance, Machine, Model, Node, NodeId, Relation, Replay, State, Step, StepKind, Trace,
    edges, replay,
};
use std::collections::{HashMap, HashSet, VecDeque};

/// A computation that shows a program not robust.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The attack.
    pub attack: Attack,
    /// The copy that delays stores.
    pub attacker: CopyId,
    /// How many copies of each thread it takes.
    pub instance: Instance,
    /// Whether every instance with fewer copies of replicated threads in all was shown robust.
    pub instance_minimal: bool,
    /// The computation.
    pub steps: Vec<Step>,
    /// The index of isu_stA among the steps.
    pub issue: usize,
    /// The index of ld_A.
    pub load: usize,
    /// The index of st_A reaching memory.
    pub store: usize,
    /// The computation replayed.
    pub replay: Replay,
    /// A happens-before cycle of its trace.
    pub cycle: Vec<Edge>,
}

/// A violation as evidence.
pub fn witness_evidence(violation: &Violation) -> Witness {
    Witness {
        instance: violation.instance.clone(),
        attacker: violation.attacker,
        store: violation.attack.store,
        load: violation.attack.load,
        store_step: violation.issue,
        load_step: violation.load,
        steps: violation.steps.clone(),
        cycle: violation.cycle.clone(),
    }
}

/// The violation of the lowest feasible attack of an exact search, if there is one.
pub(super) fn violation<'p>(
    found: &mut Search<'p>,
    program: &'p Program,
    instance_minimal: bool,
) -> Result<Option<Violation>, Fault> {
    let Search { sc, threads } = found;
    for thread in threads {
        if thread.route.is_some() {
            return Ok(Some(Naming::new(program, sc, thread)?.finish(program, instance_minimal)));
        }
    }
    Ok(None)
}

/// One action of one named copy.
struct Deed {
    copy: CopyId,
    /// The settled local state at which the copy must be first; none for the attacker, which moves instruction by
    /// instruction.
    at: Option<Local>,
    instruction: InstructionId,
    /// The attacker's registers afterwards, for the choice of `<- *`.
    after: Option<Box<[Value]>>,
    /// Whether a store is flushed at once.
    flush: bool,
}

/// Names for tokens, and what they do.
struct Naming {
    attack: Attack,
    attacker: CopyId,
    tokens: Vec<(CopyId, u32)>,
    counts: Vec<u32>,
    deeds: Vec<Deed>,
    issue: usize,
    load: usize,
}

impl Naming {
    fn new(program: &Program, sc: &Exploration, search: &mut ThreadSearch<'_>) -> Result<Self, Fault> {
        let route = search.route.clone().expect("only searches with a route are named");
        let (thread, store) = (route.attack.thread, route.attack.store);
        let counts = program
            .threads
            .iter()
            .map(|thread| match thread.copies {
                Copies::Exactly(count) => count,
                Copies::Any => 0,
            })
            .collect();
        let mut naming = Naming {
            attack: route.attack,
            attacker: CopyId { thread, copy: 0 },
            tokens: Vec::new(),
            counts,
            deeds: Vec::new(),
            issue: 0,
            load: 0,
        };
        let system = &mut search.system;
        let path = sc.path(route.sc);
        naming.name_initial(system, sc.entries(path[0]));
        naming.follow(system, sc, &path)?;

        let delayed = &search.delayed.iter().find(|(id, _)| *id == store).expect("the route's store was delayed").1;
        let place = missing(sc.entries(route.sc), delayed.entries(route.delay_start));
        let place = if place == Place::SPARE.number() {
            naming.counts[thread.index()] += 1;
            let copy = CopyId { thread, copy: naming.counts[thread.index()] - 1 };
            naming.attacker = copy;
            system.spare_start(delayed.control(route.delay_start), store)
        } else {
            naming.attacker = naming.take(place);
            Place::from_number(place)
        };
        let at = Some(system.local(place).clone());
        naming.issue = naming.deeds.len();
        naming.deeds.push(Deed { copy: naming.attacker, at, instruction: store, after: None, flush: false });
        naming.follow(system, delayed, &delayed.path(route.delayed))?;
        naming.load = naming.deeds.len();
        naming.deeds.push(Deed {
            copy: naming.attacker,
            at: None,
            instruction: route.attack.load,
            after: None,
            flush: false,
        });
        for (control, step) in &route.helped {
            naming.add(system, *control, step)?;
        }
        Ok(naming)
    }

    /// Names the tokens of fixed threads at the beginning.
    fn name_initial(&mut self, system: &System<'_>, entries: &[Entry]) {
        let mut next = vec![0; self.counts.len()];
        for entry in entries.iter().filter(|entry| entry.place != Place::SPARE.number()) {
            let thread = system.local(Place::from_number(entry.place)).thread;
            for _ in 0..entry.tokens.count().expect("exact searches have no ω") {
                self.tokens.push((CopyId { thread, copy: next[thread.index()] }, entry.place));
                next[thread.index()] += 1;
            }
        }
    }

    /// The copy on a place, which leaves it.
    fn take(&mut self, place: u32) -> CopyId {
        let index = self
            .tokens
            .iter()
            .position(|(_, at)| *at == place)
            .expect("a step takes a token from a place that has one");
        self.tokens.swap_remove(index).0
    }

    fn follow(&mut self, system: &mut System<'_>, exploration: &Exploration, path: &[u32]) -> Result<(), Fault> {
        for pair in path.windows(2) {
            let step = exploration.step_to(system, pair[1])?.expect("a node is found by a step from its parent");
            self.add(system, exploration.control(pair[0]), &step)?;
        }
        Ok(())
    }

    fn add(&mut self, system: &mut System<'_>, control: u32, step: &NetStep) -> Result<(), Fault> {
        let (thread, instruction) = system.instruction_of(step.label);
        let Some(place) = step.take else {
            let Phase::Delayed(number) = system.control(step.control).phase else {
                unreachable!("only a delaying attacker moves without a token")
            };
            let after = Some(system.attacker(number).registers.clone());
            self.deeds.push(Deed { copy: self.attacker, at: None, instruction, after, flush: false });
            return Ok(());
        };
        let (copy, place) = if place == Place::SPARE.number() {
            let place = system.spare_place(control, step)?;
            self.counts[thread.index()] += 1;
            (CopyId { thread, copy: self.counts[thread.index()] - 1 }, place)
        } else {
            (self.take(place), Place::from_number(place))
        };
        let at = Some(system.local(place).clone());
        self.deeds.push(Deed { copy, at, instruction, after: None, flush: true });
        if let Some(put) = step.put {
            self.tokens.push((copy, put));
        }
        Ok(())
    }

    /// The computation, replayed.
    fn finish(self, program: &Program, instance_minimal: bool) -> Violation {
        let instance = Instance::new(self.counts);
        let machine = Machine::new(program, &instance, Model::Tso);
        let mut computation = Computation { machine: &machine, state: machine.initial_state(), steps: Vec::new() };
        let (mut issue, mut load) = (0, 0);
        for (index, deed) in self.deeds.iter().enumerate() {
            if let Some(local) = &deed.at {
                computation.settle(deed.copy, local);
            }
            if index == self.issue {
                issue = computation.steps.len();
            }
            if index == self.load {
                load = computation.steps.len();
            }
            computation.execute(deed.copy, deed.instruction, deed.after.as_deref());
            let action = &program.thread(deed.copy.thread).instruction(deed.instruction).action;
            if deed.flush && matches!(action, Action::Store { .. }) {
                computation.take(Step { copy: deed.copy, kind: StepKind::Flush });
            }
        }
        let store = computation.steps.len();
        let position = machine.position(self.attacker).expect("the attacker is a copy of the instance");
        while !computation.state.threads()[position].buffer.is_empty() {
            computation.take(Step { copy: self.attacker, kind: StepKind::Flush });
        }
        let steps = computation.steps;
        let replay = replay(program, &instance, Model::Tso, &steps).expect("a witness replays under TSO [Theorem 2]");
        let cycle = cycle(&replay.trace, position, steps.len() - store);
        Violation {
            attack: self.attack,
            attacker: self.attacker,
            instance,
            instance_minimal,
            steps,
            issue,
            load,
            store,
            replay,
            cycle,
        }
    }
}

/// A computation under construction.
struct Computation<'m, 'p> {
    machine: &'m Machine<'p>,
    state: State,
    steps: Vec<Step>,
}

impl Computation<'_, '_> {
    fn take(&mut self, step: Step) {
        let event = self.machine.event(&self.state, step).expect("the instrumented program's steps are the program's");
        self.machine.take(&mut self.state, &event);
        self.steps.push(step);
    }

    fn execute(&mut self, copy: CopyId, instruction: InstructionId, after: Option<&[Value]>) {
        let action = &self.machine.program().thread(copy.thread).instruction(instruction).action;
        let chosen = match action {
            Action::Havoc { register } => Some(after.map_or(0, |registers| registers[register.index()])),
            _ => None,
        };
        self.take(Step { copy, kind: StepKind::Execute { instruction, chosen } });
    }

    /// Executes local instructions until the copy is at a settled local state: a shortest way.
    fn settle(&mut self, copy: CopyId, goal: &Local) {
        let position = self.machine.position(copy).expect("the copy belongs to the instance");
        let program = self.machine.program();
        let liveness = crate::program::Liveness::of(program.thread(copy.thread));
        let is_goal = |state: &State| {
            let thread = &state.threads()[position];
            let mut registers = thread.registers.to_vec();
            thread.label == Some(goal.label) && {
                liveness.forget_dead(goal.label, &mut registers);
                registers[..] == goal.registers[..]
            }
        };
        let mut seen: HashSet<(Option<LabelId>, Vec<Value>)> = HashSet::new();
        let mut open = VecDeque::from([(self.state.clone(), Vec::new())]);
        while let Some((state, steps)) = open.pop_front() {
            if is_goal(&state) {
                self.state = state;
                self.steps.extend(steps);
                return;
            }
            let thread = &state.threads()[position];
            if !seen.insert((thread.label, thread.registers.to_vec())) {
                continue;
            }
            for instruction in self.machine.instructions_at(&state, position) {
                let action = &program.thread(copy.thread).instruction(*instruction).action;
                if !action.is_local() {
                    continue;
                }
                let choices: Vec<Option<Value>> = match action {
                    Action::Havoc { .. } => program.domain.iter().flat_map(|d| d.values()).map(Some).collect(),
                    _ => vec![None],
                };
                for chosen in choices {
                    let step = Step { copy, kind: StepKind::Execute { instruction: *instruction, chosen } };
                    if let Ok(event) = self.machine.event(&state, step) {
                        let mut after = state.clone();
                        self.machine.take(&mut after, &event);
                        let steps = [steps.as_slice(), &[step]].concat();
                        open.push_back((after, steps));
                    }
                }
            }
        }
        unreachable!("a settled local state is reached by local instructions")
    }
}

/// The cycle st_A →po ld_A →+hb st_A [ESOP13, Theorem 1], shortest from the load on. The attacker's last node is ld_A;
/// st_A is the first of its `delayed` last stores.
fn cycle(trace: &Trace, position: usize, delayed: usize) -> Vec<Edge> {
    let nodes = &trace.threads()[position];
    let is_store = |node: &Node| node.accesses.iter().any(|access| access.kind == AccessKind::Store);
    let (store, _) = nodes
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, node)| is_store(node))
        .nth(delayed - 1)
        .expect("the delayed stores are nodes of the attacker");
    let from = NodeId { position, index: store };
    let to = NodeId { position, index: nodes.len() - 1 };
    let mut outgoing: HashMap<NodeId, Vec<Edge>> = HashMap::new();
    for edge in edges(trace) {
        outgoing.entry(edge.from).or_default().push(edge);
    }
    let mut reached_by: HashMap<NodeId, Edge> = HashMap::new();
    let mut open = VecDeque::from([to]);
    while let Some(node) = open.pop_front() {
        for edge in outgoing.get(&node).into_iter().flatten() {
            if edge.to != to && !reached_by.contains_key(&edge.to) {
                reached_by.insert(edge.to, *edge);
                open.push_back(edge.to);
            }
        }
    }
    let mut path = Vec::new();
    let mut node = from;
    while node != to {
        let edge = reached_by.get(&node).expect("a witness has a happens-before path from its load to its store (W3)");
        path.push(*edge);
        node = edge.from;
    }
    path.push(Edge { from, to, relation: Relation::ProgramOrder, address: None });
    path.reverse();
    path
}

/// The place that has one token more before than after.
fn missing(before: &[Entry], after: &[Entry]) -> u32 {
    before
        .iter()
        .find(|entry| {
            let left = after.iter().find(|other| other.place == entry.place).map(|other| other.tokens);
            left != Some(entry.tokens)
        })
        .expect("the attacker's token is gone")
        .place
}
