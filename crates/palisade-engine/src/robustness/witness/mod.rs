//! From a route through the explorations ([`route`]) or a run of a net ([`net_run`]) to a TSO
//! computation of the original program in the form of Fig. 4.
//!
//! Both are sequences of steps of anonymous tokens. Here the tokens get names (copies of threads),
//! settled local states get the local instructions that lead to them (only when the thread acts
//! again, so that nothing idle is shown), stores of helpers are flushed at once and those of the
//! attacker at the end. The result is replayed on the TSO semantics.

mod changed;
mod crowd;
mod detours;
mod names;
mod net_run;
mod route;
mod shortest;
mod wider;

pub(super) use detours::without_detours;
pub(super) use names::Names;
pub(super) use net_run::{story_of_run, violation_of_run};
pub(super) use route::violation;
pub(crate) use route::{PhaseSteps, story_of_steps};
pub(super) use shortest::shortest;

use palisade_evidence::Witness;
use palisade_exploration::instrumented::Attack;
use palisade_exploration::instrumented::system::Local;
use palisade_model::program::{Action, Copies, InstructionId, Liveness, Program, Thread, ThreadId, Value};
use palisade_semantics::{
    AccessKind, CopyId, Edge, Effect, Event, Instance, Machine, Model, Node, NodeId, Relation, Replay, State, Step,
    StepKind, Trace, replay_on, shortest_path,
};
use std::collections::BTreeSet;

/// A computation that shows a program not robust.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The attack.
    pub attack: Attack,
    /// The copy that delays stores.
    pub attacker: CopyId,
    /// How many copies of each thread there are.
    pub instance: Instance,
    /// The copies that take steps, ascending. States and traces list these copies alone: others
    /// change nothing, and may be many.
    pub acting: Vec<CopyId>,
    /// Whether every instance with fewer copies of replicated threads in all was shown robust.
    pub instance_minimal: bool,
    /// Whether no computation of an instance with as many copies in all shows the attack in fewer
    /// steps.
    pub shortest: bool,
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

impl Violation {
    /// The position of the attacker among the copies that take steps.
    pub fn attacker_position(&self) -> usize {
        self.acting.binary_search(&self.attacker).expect("the attacker takes steps")
    }
}

/// A violation as evidence, which counts all copies of the instance.
pub fn witness_evidence(violation: &Violation) -> Witness {
    let node = |node: NodeId| {
        let position = violation.instance.position(violation.acting[node.position]);
        let position = position.and_then(|position| usize::try_from(position).ok());
        NodeId { position: position.expect("so many copies of each thread can be counted"), ..node }
    };
    let edge = |edge: &Edge| Edge { from: node(edge.from), to: node(edge.to), ..*edge };
    Witness {
        instance: violation.instance.clone(),
        attacker: violation.attacker,
        store: violation.attack.store,
        load: violation.attack.load,
        store_step: violation.issue,
        load_step: violation.load,
        steps: violation.steps.clone(),
        cycle: violation.cycle.iter().map(edge).collect(),
    }
}

/// One action of one named copy.
#[derive(Clone, Debug)]
struct Deed {
    copy: CopyId,
    /// The settled local state at which the copy must be first; none for the attacker, which moves
    /// instruction by instruction.
    at: Option<Local>,
    instruction: InstructionId,
    /// The attacker's registers afterwards, for the choice of `<- *`.
    after: Option<Box<[Value]>>,
    /// Whether a store is flushed at once.
    flush: bool,
}

/// A computation of named copies, without the local instructions that lead from one action to the
/// next.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    attack: Attack,
    attacker: CopyId,
    /// How many copies of each thread there are.
    counts: Vec<u64>,
    deeds: Vec<Deed>,
    /// The index of isu_stA among the deeds.
    issue: usize,
    /// The index of ld_A.
    load: usize,
    /// The memory model.
    model: Model,
}

impl Story {
    /// A story under TSO in which nothing has happened yet.
    fn new(program: &Program, attack: Attack) -> Self {
        Self::under(Model::Tso, program, attack)
    }

    /// A story in which nothing has happened yet.
    pub(super) fn under(model: Model, program: &Program, attack: Attack) -> Self {
        let fixed = |thread: &Thread| match thread.copies {
            Copies::Exactly(count) => count,
            Copies::Any => 0,
        };
        let counts = program.threads.iter().map(fixed).collect();
        let attacker = CopyId { thread: attack.thread, copy: 0 };
        Self { attack, attacker, counts, deeds: Vec::new(), issue: 0, load: 0, model }
    }

    /// One more copy of a replicated thread.
    pub(super) fn new_copy(&mut self, thread: ThreadId) -> CopyId {
        let count = &mut self.counts[thread.index()];
        *count += 1;
        CopyId { thread, copy: *count - 1 }
    }

    /// A helper's action: at a settled local state.
    pub(super) fn help(&mut self, copy: CopyId, at: &Local, instruction: InstructionId) {
        self.deeds.push(Deed { copy, at: Some(at.clone()), instruction, after: None, flush: true });
    }

    /// isu_stA, by the copy that becomes the attacker.
    pub(super) fn delay(&mut self, attacker: CopyId, at: &Local) {
        self.attacker = attacker;
        self.issue = self.deeds.len();
        let instruction = self.attack.store;
        self.deeds.push(Deed { copy: attacker, at: Some(at.clone()), instruction, after: None, flush: false });
    }

    /// The attacker's next instruction, with its registers afterwards.
    fn go_on(&mut self, instruction: InstructionId, after: &[Value]) {
        let after = Some(after.into());
        self.deeds.push(Deed { copy: self.attacker, at: None, instruction, after, flush: false });
    }

    /// ld_A.
    fn overstep(&mut self) {
        self.load = self.deeds.len();
        let instruction = self.attack.load;
        self.deeds.push(Deed { copy: self.attacker, at: None, instruction, after: None, flush: false });
    }

    /// The attacker's next instruction under PSO, at a settled local state. Of its stores only st_A
    /// is delayed.
    pub(super) fn go_on_at(&mut self, at: &Local, instruction: InstructionId) {
        self.help(self.attacker, at, instruction);
    }

    /// The attacker's first access to another address under PSO.
    pub(super) fn begin_path(&mut self, at: &Local) {
        self.load = self.deeds.len();
        self.go_on_at(at, self.attack.load);
    }

    /// The computation, replayed.
    pub(crate) fn finish(self, program: &Program, instance_minimal: bool) -> Violation {
        let instance = Instance::new(self.counts);
        let acting: BTreeSet<CopyId> = self.deeds.iter().map(|deed| deed.copy).collect();
        let acting: Vec<CopyId> = acting.into_iter().collect();
        let machine = Machine::of_copies(program, acting.clone(), self.model);
        let mut computation = Computation::new(&machine);
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
                computation.flush(deed.copy);
            }
        }
        let store = computation.steps.len();
        let position = machine.position(self.attacker).expect("the attacker is a copy of the instance");
        while !computation.state.threads()[position].buffer.is_empty() {
            computation.flush(self.attacker);
        }
        let Computation { steps, .. } = computation;
        let replay = replay_on(&machine, &steps).expect("a witness replays [Theorem 2]");
        let cycle = match self.model {
            Model::Pso => {
                cycle_between(&replay.trace, access_at(&machine, &replay, issue), access_at(&machine, &replay, load))
            }
            Model::Sc | Model::Tso => cycle(&replay.trace, position, steps.len() - store),
        };
        Violation {
            attack: self.attack,
            attacker: self.attacker,
            instance,
            acting,
            instance_minimal,
            shortest: false,
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
pub(super) struct Computation<'m, 'p> {
    machine: &'m Machine<'p>,
    /// The live registers of threads, once they are needed.
    liveness: Vec<Option<Liveness>>,
    /// The state behind the steps.
    pub(super) state: State,
    /// The steps.
    pub(super) steps: Vec<Step>,
}

impl<'m, 'p> Computation<'m, 'p> {
    /// One in which nothing has happened.
    pub(super) fn new(machine: &'m Machine<'p>) -> Self {
        let liveness = vec![None; machine.program().threads.len()];
        Self { machine, liveness, state: machine.initial_state(), steps: Vec::new() }
    }

    fn take(&mut self, step: Step) {
        let event = self.machine.event(&self.state, step).expect("the instrumented program's steps are the program's");
        self.machine.take(&mut self.state, &event);
        self.steps.push(step);
    }

    /// The youngest store in the buffer of a copy reaches memory under PSO, the oldest one under
    /// TSO.
    fn flush(&mut self, copy: CopyId) {
        let position = self.machine.position(copy).expect("the copy belongs to the instance");
        let youngest = self.state.threads()[position].buffer.last();
        let (address, _) = *youngest.expect("a store waits in the buffer");
        let by_address = self.machine.model() == Model::Pso;
        let kind = if by_address { StepKind::FlushAddress(address) } else { StepKind::Flush };
        self.take(Step { copy, kind });
    }

    /// Executes an instruction; where it chooses, the value that the registers have afterwards.
    pub(super) fn execute(&mut self, copy: CopyId, instruction: InstructionId, after: Option<&[Value]>) {
        let action = &self.machine.program().thread(copy.thread).instruction(instruction).action;
        let chosen = match action {
            Action::Havoc { register } => Some(after.map_or(0, |registers| registers[register.index()])),
            _ => None,
        };
        self.take(Step { copy, kind: StepKind::Execute { instruction, chosen } });
    }

    /// Executes local instructions until the copy is at a settled local state: a shortest way.
    pub(super) fn settle(&mut self, copy: CopyId, goal: &Local) {
        let position = self.machine.position(copy).expect("the copy belongs to the instance");
        let program = self.machine.program();
        let own = || Liveness::of(program.thread(copy.thread));
        let liveness = &*self.liveness[copy.thread.index()].get_or_insert_with(own);
        let way = self.machine.local_way(&self.state, position, liveness, (goal.label, &goal.registers));
        let way = way.expect("a settled local state is reached by local instructions");
        way.into_iter().for_each(|step| self.take(step));
    }
}

/// The cycle under TSO: the attacker's last node is ld_A, and st_A is the first of its `delayed`
/// last stores.
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
    cycle_between(trace, NodeId { position, index: store }, NodeId { position, index: nodes.len() - 1 })
}

/// The node of the access that a step makes, in a computation without sections.
fn access_at(machine: &Machine<'_>, replay: &Replay, step: usize) -> NodeId {
    let copy = replay.events[step].step.copy;
    let is_access = |event: &&Event| {
        let kind = event.step.kind;
        let is_own = event.step.copy == copy && !kind.is_flush();
        is_own && matches!(event.effect, Effect::Load { .. } | Effect::Issue { .. } | Effect::Rmw { .. })
    };
    let index = replay.events[..step].iter().filter(is_access).count();
    NodeId { position: machine.position(copy).expect("the copy belongs to the instance"), index }
}

/// The cycle from st_A in program order to ld_A, and along happens-before back to st_A [ESOP13,
/// Theorem 1], shortest from ld_A on.
fn cycle_between(trace: &Trace, from: NodeId, to: NodeId) -> Vec<Edge> {
    let back = shortest_path(trace, to, from);
    let mut cycle = vec![Edge { from, to, relation: Relation::ProgramOrder, address: None }];
    cycle.extend(back.expect("a witness has a happens-before path from its load to its store (W3)"));
    cycle
}
