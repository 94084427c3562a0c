//! From a success of the system to an execution graph.

use super::asked::Asked;
use super::cycle::{GraphEdge, cycle_through};
use crate::robustness::witness::{Computation, Names};
use palisade_evidence::{GraphWitness, StaleClaim, StaleGoal};
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::stale::Role;
use palisade_exploration::instrumented::system::{InitialTokens, Local};
use palisade_exploration::lazy::Exploration;
use palisade_model::program::{Copies, InstructionId, Program, Thread};
use palisade_semantics::graphs::{Axioms, Execution, is_consistent, race};
use palisade_semantics::{CopyId, Event, Instance, Machine, Model, State, Step, StepKind};
use std::collections::BTreeSet;

/// An execution graph that no interleaving makes, or that has a race: an interleaving and one event more.
#[derive(Clone, Debug)]
pub struct GraphViolation {
    /// By what axioms.
    pub axioms: Axioms,
    /// What it shows.
    pub claim: StaleClaim,
    /// How many copies of each thread there are.
    pub instance: Instance,
    /// The copies that take steps, ascending.
    pub acting: Vec<CopyId>,
    /// Whether every instance with fewer copies of replicated threads in all was shown robust.
    pub instance_minimal: bool,
    /// The interleaving, of the program by its language.
    pub steps: Vec<Step>,
    /// What the steps do, and the last event.
    pub events: Vec<Event>,
    /// The initial state and the one after each step. The last event leads to the last one.
    pub states: Vec<State>,
    /// The last event.
    pub last: Step,
    /// The position in `steps` of the write that the last event reads, or comes right behind; nothing for the initial one.
    pub reads_from: Option<usize>,
    /// The graph.
    pub execution: Execution,
    /// Whether the axioms in full admit it.
    pub is_admitted: bool,
}

impl GraphViolation {
    /// The last event of the graph.
    pub fn last_event(&self) -> usize {
        self.execution.graph.events().len() - 1
    }

    /// The write that the last event reads, or comes directly behind.
    ///
    /// # Panics
    ///
    /// If the violation is a race whose last event writes without reading.
    pub fn overwritten(&self) -> usize {
        let last = self.last_event();
        self.execution.graph.source(last).unwrap_or_else(|| self.execution.before(last))
    }

    /// The events that race, the earlier one first; nothing for a violation that no interleaving makes.
    pub fn race(&self) -> Option<(usize, usize)> {
        if self.claim == StaleClaim::Race { race(&self.execution.graph) } else { None }
    }

    /// A cycle of program order, reads-from, modification order and from-reads through the last event; none for a race.
    pub fn cycle(&self) -> Vec<GraphEdge> {
        match self.claim {
            StaleClaim::BeyondSc => cycle_through(&self.execution.graph, self.last_event()),
            StaleClaim::Race => Vec::new(),
        }
    }

    /// The violation as evidence.
    pub fn witness(&self) -> GraphWitness {
        GraphWitness {
            axioms: self.axioms,
            claim: self.claim,
            instance: self.instance.clone(),
            steps: self.steps.clone(),
            last: self.last,
            reads_from: self.reads_from,
        }
    }
}

/// One action of one named copy.
struct Deed {
    copy: CopyId,
    at: Local,
    instruction: InstructionId,
    role: Role,
}

/// The graph that a success of an exact exploration shows.
pub(super) fn replay(
    asked: &mut Asked<'_>,
    explored: &Exploration,
    success: u32,
    instance_minimal: bool,
) -> Result<GraphViolation, Fault> {
    let (system, together) = (&mut asked.system, asked.together);
    let program = system.program();
    let steps = explored.steps_along(system, success)?;
    let initial = explored.entries(explored.path(success)[0]);
    let mut names = Names::new(program, initial, |place| system.local(system.token(place).local).thread);
    let mut counts: Vec<u64> = program.threads.iter().map(fixed).collect();
    let mut deeds = Vec::new();
    for (control, step) in &steps {
        let label = system.label(step);
        let place = step.take.expect("a token takes the step");
        let (copy, place) = if place == InitialTokens::SPARE {
            let count = &mut counts[label.thread.index()];
            *count += 1;
            (CopyId { thread: label.thread, copy: *count - 1 }, system.spare_place(*control, step)?)
        } else {
            (names.take(place), place)
        };
        let at = system.local(system.token(place).local).clone();
        names.put(copy, step.put);
        deeds.push(Deed { copy: together.copy(copy), at, instruction: label.instruction, role: label.role });
    }
    let attack = system.attack(system.control(explored.control(success))).expect("a success has an attack");
    let claim = match attack.goal {
        StaleGoal::Stale { .. } => StaleClaim::BeyondSc,
        StaleGoal::Race { .. } => StaleClaim::Race,
    };
    let instance = together.instance(&Instance::new(counts));
    Ok(tell(asked.stated, asked.axioms, claim, &deeds, instance, instance_minimal))
}

fn fixed(thread: &Thread) -> u64 {
    match thread.copies {
        Copies::Exactly(count) => count,
        Copies::Any => 0,
    }
}

/// The graph of named actions.
fn tell(
    program: &Program,
    axioms: Axioms,
    claim: StaleClaim,
    deeds: &[Deed],
    instance: Instance,
    instance_minimal: bool,
) -> GraphViolation {
    let acting: BTreeSet<CopyId> = deeds.iter().map(|deed| deed.copy).collect();
    let acting: Vec<CopyId> = acting.into_iter().collect();
    let machine = Machine::of_copies(program, acting.clone(), Model::Sc).waiting();
    let mut computation = Computation::new(&machine);
    let mut guessed = None;
    let (last, before) = deeds.split_last().expect("a success has a last event");
    for deed in before {
        computation.settle(deed.copy, &deed.at);
        if deed.role == Role::Guessed {
            guessed = Some(computation.steps.len());
        }
        computation.execute(deed.copy, deed.instruction, None);
    }
    computation.settle(last.copy, &last.at);
    let (mut state, steps) = (machine.initial_state(), computation.steps);
    let mut execution = Execution::new(axioms);
    let (mut events, mut states) = (Vec::new(), vec![state.clone()]);
    for step in &steps {
        let event = machine.event(&state, *step).expect("the computation has taken it");
        execution.take(&machine, &event);
        machine.take(&mut state, &event);
        events.push(event);
        states.push(state.clone());
    }
    let kind = StepKind::Execute { instruction: last.instruction, chosen: None };
    let last = Step { copy: last.copy, kind };
    let event_of = |step: usize| execution.of_step[step].expect("a guessed access is an event");
    let write = guessed.filter(|_| claim == StaleClaim::BeyondSc).map(|step| execution.before(event_of(step)));
    let reads_from = write.and_then(|write| execution.of_step.iter().position(|event| *event == Some(write)));
    let event = match write {
        Some(write) => execution.take_stale(&machine, &state, last, Some(write)).expect("the last event can be taken"),
        None => {
            let event = machine.event(&state, last).expect("the last event can be taken");
            execution.take(&machine, &event);
            event
        }
    };
    states.push(machine.successor(&state, &event));
    events.push(event);
    let is_admitted = match claim {
        StaleClaim::BeyondSc => is_consistent(&execution.graph, axioms) && !execution.graph.is_sc(),
        StaleClaim::Race => race(&execution.graph).is_some(),
    };
    GraphViolation {
        axioms,
        claim,
        instance,
        acting,
        instance_minimal,
        steps,
        events,
        states,
        last,
        reads_from,
        execution,
        is_admitted,
    }
}
