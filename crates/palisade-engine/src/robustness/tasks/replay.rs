//! The computation that a success stands for, replayed step by step on the semantics of tasks.

use palisade_evidence::TaskWitness;
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::system::{Local, Phase};
use palisade_exploration::instrumented::tasks::{Actor, Deed, Main, Place, StepLabel, TaskSystem};
use palisade_exploration::lazy::{Exploration, Step};
use palisade_model::limits::Halt;
use palisade_model::program::{Action, Copies, InstructionId, LabelId, Program, Value};
use palisade_semantics::Model;
use palisade_semantics::tasks::{
    InvocationId, InvocationState, Status, TaskEffect, TaskMachine, TaskState, TaskStep, Worker,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The computation along the path to a success of an exact exploration.
pub(super) fn replay(
    system: &mut TaskSystem<'_>,
    explored: &Exploration,
    success: u32,
) -> Result<TaskWitness, Halt<Fault>> {
    let steps = explored.steps_along(system, success).map_err(Halt::Fault)?;
    let instance = instance(system, &steps);
    let machine = TaskMachine::new(&instance, Model::Tso);
    let state = machine.initial_state();
    let mut replay = Replay {
        system,
        machine,
        state,
        steps: Vec::new(),
        at: FxHashMap::default(),
        woken: FxHashSet::default(),
        attacker: None,
    };
    let root = explored.path(success)[0];
    for entry in explored.entries(root) {
        if let Place::Own(..) = Place::of_number(entry.place) {
            (0..entry.tokens.count().unwrap_or(0)).for_each(|_| replay.wake(entry.place));
        }
    }
    for (_, step) in &steps {
        replay.step(step);
    }
    replay.flush_attacker();
    let steps = replay.steps;
    Ok(TaskWitness { instance: counts(&instance), steps })
}

fn counts(program: &Program) -> Vec<u64> {
    program.threads.iter().map(|it| if let Copies::Exactly(count) = it.copies { count } else { 0 }).collect()
}

/// The program with as many occurrences and copies as some steps take, where there is any number.
fn instance(system: &TaskSystem<'_>, steps: &[(u32, Step)]) -> Program {
    let mut instance = system.program().clone();
    let any: Vec<bool> = instance.threads.iter().map(|it| it.copies == Copies::Any).collect();
    let mut taken = vec![0_u64; any.len()];
    for (_, step) in steps {
        let template = match (system.label(step).deed, step.put.map(Place::of_number)) {
            (Deed::Occur(event), _) => event,
            (Deed::Wake, Some(Place::Own(local, _))) => system.local(local).thread,
            _ => continue,
        };
        taken[template.index()] += 1;
    }
    for ((template, is_any), taken) in instance.threads.iter_mut().zip(any).zip(taken) {
        if is_any {
            template.copies = Copies::Exactly(taken);
        }
    }
    instance
}

/// The replay so far.
struct Replay<'s, 'p, 'i> {
    /// The tables that steps refer to.
    system: &'s TaskSystem<'p>,
    /// The step relation of the instance.
    machine: TaskMachine<'i>,
    /// The state after the steps so far.
    state: TaskState,
    /// The steps so far.
    steps: Vec<TaskStep>,
    /// The invocations that the tokens of each place stand for.
    at: FxHashMap<u32, Vec<InvocationId>>,
    /// The copies of threads that have chosen how they start.
    woken: FxHashSet<InvocationId>,
    /// The delaying attacker; nothing for the main thread, and before there is one.
    attacker: Option<InvocationId>,
}

impl Replay<'_, '_, '_> {
    /// Lets a step happen.
    fn take(&mut self, step: TaskStep) -> TaskEffect {
        self.steps.push(step);
        self.machine.apply(&mut self.state, step).expect("the steps of a success can be taken")
    }

    fn step(&mut self, step: &Step) {
        let StepLabel { actor, deed, posted, delays, attacks } = self.system.label(step);
        let invocation = match (deed, actor) {
            (Deed::Wake, _) => {
                return self.wake(step.put.expect("a copy that wakes is put somewhere"));
            }
            (Deed::Occur(event), _) => {
                self.take(TaskStep::Occur { event });
                self.state.invocations().len() - 1
            }
            (Deed::Begin, _) => {
                let invocation = self.token(step.take);
                self.take(TaskStep::Begin { invocation });
                invocation
            }
            (_, Actor::Own) => self.token(step.take),
            (_, Actor::Attacker) => self.attacker.unwrap_or_else(|| self.on_main()),
            (_, Actor::Main) => self.on_main(),
        };
        match deed {
            Deed::Return => {
                self.take(TaskStep::Return { invocation });
            }
            Deed::Execute(instruction) => {
                self.execute(invocation, instruction, posted, !delays && actor != Actor::Attacker);
            }
            _ => {}
        }
        if delays {
            self.attacker = (actor == Actor::Own).then_some(invocation);
        }
        if !attacks {
            self.settle_after(step, invocation, deed);
        }
    }

    fn on_main(&self) -> InvocationId {
        self.state.on_main().expect("the main thread runs an invocation")
    }

    /// An invocation that a token of a place stands for.
    fn token(&mut self, place: Option<u32>) -> InvocationId {
        let place = place.expect("the step takes a token");
        self.at.get_mut(&place).and_then(Vec::pop).expect("the token stands for an invocation")
    }

    /// A thread's copy comes to its first local state.
    fn wake(&mut self, place: u32) {
        let Place::Own(local, _) = Place::of_number(place) else { unreachable!("copies are threads") };
        let template = self.system.local(local).thread;
        let is_free = |(id, it): &(InvocationId, &InvocationState)| it.template == template && !self.woken.contains(id);
        let mut all = self.state.invocations().iter().enumerate();
        let invocation = all.find(is_free).expect("the instance has enough copies").0;
        self.woken.insert(invocation);
        self.settle(invocation, local);
        self.at.entry(place).or_default().push(invocation);
    }

    fn execute(&mut self, invocation: InvocationId, instruction: InstructionId, posted: Option<u32>, flushes: bool) {
        let effect = self.take(TaskStep::Execute { invocation, instruction, chosen: None });
        match effect {
            TaskEffect::Issue { .. } if flushes => {
                self.flush(invocation);
            }
            TaskEffect::Post { invocation } => {
                let Some(place) = posted else { return };
                if let Place::Own(local, _) = Place::of_number(place) {
                    self.take(TaskStep::Begin { invocation });
                    self.settle(invocation, local);
                }
                self.at.entry(place).or_default().push(invocation);
            }
            _ => {}
        }
    }

    /// The oldest store in the buffer of an invocation's thread reaches memory.
    fn flush(&mut self, invocation: InvocationId) {
        let on_main = self.state.invocations()[invocation].worker == Worker::Main;
        self.take(if on_main { TaskStep::FlushMain } else { TaskStep::Flush { invocation } });
    }

    fn flush_attacker(&mut self) {
        while let Some(attacker) = self.attacker.filter(|it| !self.state.buffer(*it).is_empty()) {
            self.flush(attacker);
        }
        while !self.state.main_buffer().is_empty() {
            self.take(TaskStep::FlushMain);
        }
    }

    /// Local instructions lead on to where the step says that its actor settles.
    fn settle_after(&mut self, step: &Step, invocation: InvocationId, deed: Deed) {
        let after = self.system.control(step.control);
        let worker = self.state.invocations()[invocation].worker;
        let delayed = match after.phase.attack {
            Phase::Delayed(number) => self.system.attacker(number).local,
            _ => None,
        };
        match (step.put, after.phase.main) {
            _ if deed == Deed::Return => {}
            (Some(place), _) => {
                if let Place::Own(local, _) = Place::of_number(place) {
                    self.settle(invocation, local);
                    self.at.entry(place).or_default().push(invocation);
                }
            }
            (None, _) if delayed.is_some() && self.is_attacker(invocation) => {
                self.settle(invocation, delayed.expect("it is there"));
            }
            (None, Main::Runs(local)) if worker == Worker::Main => self.settle(invocation, local),
            _ => {}
        }
    }

    fn is_attacker(&self, invocation: InvocationId) -> bool {
        match self.attacker {
            Some(attacker) => attacker == invocation,
            None => self.state.on_main() == Some(invocation),
        }
    }

    /// Local instructions lead an invocation to a local state; to none where it stops.
    fn settle(&mut self, invocation: InvocationId, local: u32) {
        let target = self.system.local(local).clone();
        if target.is_stopped() {
            return;
        }
        let mut seen: FxHashSet<(usize, Vec<Value>)> = FxHashSet::default();
        let mut open: Vec<(TaskState, Vec<TaskStep>)> = vec![(self.state.clone(), Vec::new())];
        while let Some((state, way)) = open.pop() {
            let own = &state.invocations()[invocation];
            if self.is_at(&target, own.label.index(), &own.registers) {
                self.steps.extend(way);
                self.state = state;
                return;
            }
            if own.status != Status::Running || !seen.insert((own.label.index(), own.registers.to_vec())) {
                continue;
            }
            for step in self.local_steps(invocation, &target, own.label) {
                let mut after = state.clone();
                if self.machine.apply(&mut after, step).is_ok() {
                    open.push((after, way.iter().copied().chain([step]).collect()));
                }
            }
        }
        unreachable!("local instructions lead to where an invocation settles");
    }

    fn is_at(&self, target: &Local, label: usize, registers: &[Value]) -> bool {
        let mut live = registers.to_vec();
        self.system.locals.liveness[target.thread.index()].forget_dead(target.label, &mut live);
        label == target.label.index() && live == *target.registers
    }

    /// The local instructions at a label, with every choice; last that of what a register holds in
    /// the end.
    fn local_steps(&self, invocation: InvocationId, target: &Local, label: LabelId) -> Vec<TaskStep> {
        let (program, thread) = (self.system.program(), target.thread);
        let mut steps = Vec::new();
        for instruction in self.system.locals.instructions_at(thread, label).iter().copied() {
            let action = &program.thread(thread).instruction(instruction).action;
            match (action, program.domain) {
                (Action::Havoc { register }, Some(domain)) => {
                    let wanted = target.registers.get(register.index()).copied();
                    let wanted = wanted.filter(|wanted| domain.contains(*wanted));
                    let choose = |value| TaskStep::Execute { invocation, instruction, chosen: Some(value) };
                    steps.extend(domain.values().chain(wanted).map(choose));
                }
                (action, _) if action.is_local_under_tso() => {
                    steps.push(TaskStep::Execute { invocation, instruction, chosen: None });
                }
                _ => {}
            }
        }
        steps
    }
}
