//! Execution graphs as violations: an interleaving, and one event more.

use super::cycle::{GraphEdge, cycle_through};
use palisade_evidence::{GraphWitness, StaleClaim};
use palisade_model::program::{InstructionId, Program};
use palisade_semantics::graphs::{Axioms, Execution, by_language, is_consistent, race};
use palisade_semantics::{CopyId, Event, Instance, Machine, Model, State, Step, StepKind};

/// An execution graph that no interleaving makes, or that has a race: an interleaving and one event
/// more.
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
    /// The last event.
    pub last: Step,
    /// The position in `steps` of the write that the last event reads, or comes right behind;
    /// nothing for the initial one.
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

    /// The events that race, the earlier one first; nothing for a violation that no interleaving
    /// makes.
    pub fn race(&self) -> Option<(usize, usize)> {
        if self.claim == StaleClaim::Race { race(&self.execution.graph) } else { None }
    }

    /// A cycle of program order, reads-from, modification order and from-reads through the last
    /// event; none for a race.
    pub fn cycle(&self) -> Vec<GraphEdge> {
        match self.claim {
            StaleClaim::BeyondSc => cycle_through(&self.execution.graph, self.last_event()),
            StaleClaim::Race => Vec::new(),
        }
    }

    /// The machine whose steps these are, but for what the last event reads; of the program by its
    /// language.
    pub fn machine<'p>(&self, stated: &'p Program) -> Machine<'p> {
        machine(stated, &self.acting)
    }

    /// The state in which the execution ends, once every copy has gone on to its end with steps of
    /// which each load reads the last store; also whether any of these accesses memory. Nothing for
    /// a race, and where this is no execution of the axioms or has a race.
    pub fn final_state(&self, stated: &Program) -> Option<(State, bool)> {
        /// So many steps are taken at most: a thread may go round for ever.
        const MOST_STEPS: usize = 4096;
        if self.claim == StaleClaim::Race || !self.is_admitted {
            return None;
        }
        let machine = Machine::new(stated, &self.instance, Model::Sc).waiting();
        let (mut state, mut execution) = interleaved(&machine, self.axioms, &self.steps, &mut Vec::new())?;
        let write = match self.reads_from {
            Some(step) => Some(execution.of_step[step]?),
            None => None,
        };
        execution.take_older(&machine, &mut state, self.last, write).ok()?;
        let before = execution.graph.events().len();
        for _ in 0..MOST_STEPS {
            let mut next = Vec::new();
            for position in 0..machine.copies().len() {
                machine.events(&state, position, &mut next).ok()?;
            }
            let Some(event) = next.first() else { break };
            execution.take(&machine, event);
            machine.take(&mut state, event);
        }
        let has_ended = (0..machine.copies().len()).all(|position| machine.has_ended(&state, position));
        let is_execution = is_consistent(&execution.graph, self.axioms) && race(&execution.graph).is_none();
        (has_ended && is_execution).then(|| (state, execution.graph.events().len() > before))
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

    /// The violation that a run of a program by its language shows; nothing where the last event
    /// cannot be taken.
    pub(super) fn of(stated: &Program, axioms: Axioms, run: GraphRun) -> Option<Self> {
        let machine = machine(stated, &run.acting);
        let mut events = Vec::new();
        let (state, mut execution) = interleaved(&machine, axioms, &run.steps, &mut events)?;
        let event = match run.claim {
            StaleClaim::BeyondSc => {
                let write = match run.reads_from {
                    Some(step) => Some(execution.of_step[step]?),
                    None => None,
                };
                execution.take_stale(&machine, &state, run.last, write).ok()?
            }
            StaleClaim::Race => {
                let event = machine.event(&state, run.last).ok()?;
                execution.take(&machine, &event);
                event
            }
        };
        events.push(event);
        let GraphRun { claim, instance, acting, instance_minimal, steps, last, reads_from } = run;
        let is_admitted = is_violation(&execution, claim, axioms);
        Some(Self {
            axioms,
            claim,
            instance,
            acting,
            instance_minimal,
            steps,
            events,
            last,
            reads_from,
            execution,
            is_admitted,
        })
    }

    /// Whether some axioms admit the graph, and it shows what is claimed.
    pub(crate) fn is_admitted_by(&self, axioms: Axioms) -> bool {
        is_violation(&self.execution, self.claim, axioms)
    }

    /// The same violation in another form of the program than `from`. Nothing where the last event
    /// cannot be taken there.
    pub(crate) fn in_form(&self, program: &Program, from: &Program, to: &Program) -> Option<Self> {
        let stated = by_language(to);
        let machine = self.machine(&stated);
        let all: Vec<Step> = self.steps.iter().copied().chain([self.last]).collect();
        let mut reads_from = None;
        let mut steps = steps_in_form((program, from, to), &machine, &all, |state, own, step, places| {
            if own == Some(self.steps.len()) {
                reads_from = self.reads_from.map(|read| places[read]);
                return Some(());
            }
            let event = machine.event(state, step).ok()?;
            machine.take(state, &event);
            Some(())
        })?;
        let last = steps.pop()?;
        let reads_from = match reads_from {
            Some(step) => Some(step?),
            None => None,
        };
        let run = GraphRun {
            claim: self.claim,
            instance: self.instance.clone(),
            acting: self.acting.clone(),
            instance_minimal: self.instance_minimal,
            steps,
            last,
            reads_from,
        };
        Self::of(&stated, self.axioms, run)
    }
}

/// Steps of one form of a program, `from`, in another one: its instructions are those of the
/// program, in number order, before any others, and further ones are fences that it passes.
///
/// `take` takes each step in the state, and is told which of the old steps it is, if any, and where
/// those before have gone. Nothing where it cannot.
pub(crate) fn steps_in_form(
    (program, from, to): (&Program, &Program, &Program),
    machine: &Machine<'_>,
    old: &[Step],
    mut take: impl FnMut(&mut State, Option<usize>, Step, &[Option<usize>]) -> Option<()>,
) -> Option<Vec<Step>> {
    let stated = machine.program();
    let mut state = machine.initial_state();
    let mut steps: Vec<Step> = Vec::new();
    // Where each of the old steps went.
    let mut places: Vec<Option<usize>> = Vec::new();
    for step in old {
        let thread = step.copy.thread.index();
        let [own, before, after] = [program, from, to].map(|form| form.threads[thread].instructions.len());
        let number = step.kind.instruction()?.index();
        // What comes behind the fences are weak compare-exchanges that fail for no reason.
        let number = match number {
            _ if number < own => number,
            _ if number < before => {
                places.push(None);
                continue;
            }
            _ => number - before + after,
        };
        let position = machine.position(step.copy)?;
        let source = stated.threads[thread].instructions[number].source;
        while state.threads()[position].label != Some(source) {
            let is_fence = |id: &&InstructionId| (own..after).contains(&id.index());
            let instruction = *machine.instructions_at(&state, position).iter().find(is_fence)?;
            let fence = Step { copy: step.copy, kind: StepKind::Execute { instruction, chosen: None } };
            take(&mut state, None, fence, &places)?;
            steps.push(fence);
        }
        let chosen = match step.kind {
            StepKind::Execute { chosen, .. } => chosen,
            _ => None,
        };
        let kind = StepKind::Execute { instruction: InstructionId::from_index(number), chosen };
        let step = Step { copy: step.copy, kind };
        take(&mut state, Some(places.len()), step, &places)?;
        places.push(Some(steps.len()));
        steps.push(step);
    }
    Some(steps)
}

fn machine<'p>(stated: &'p Program, acting: &[CopyId]) -> Machine<'p> {
    Machine::of_copies(stated, acting.to_vec(), Model::Sc).waiting()
}

/// A run that may show a violation.
pub(super) struct GraphRun {
    pub(super) claim: StaleClaim,
    pub(super) instance: Instance,
    pub(super) acting: Vec<CopyId>,
    pub(super) instance_minimal: bool,
    pub(super) steps: Vec<Step>,
    pub(super) last: Step,
    pub(super) reads_from: Option<usize>,
}

fn is_violation(execution: &Execution, claim: StaleClaim, axioms: Axioms) -> bool {
    match claim {
        StaleClaim::BeyondSc => is_consistent(&execution.graph, axioms) && !execution.graph.is_sc(),
        StaleClaim::Race => race(&execution.graph).is_some(),
    }
}

/// The state and the graph behind the steps of an interleaving, of which events and states are
/// noted; nothing where a step cannot be taken.
pub(super) fn interleaved(
    machine: &Machine<'_>,
    axioms: Axioms,
    steps: &[Step],
    events: &mut Vec<Event>,
) -> Option<(State, Execution)> {
    let (mut state, mut execution) = (machine.initial_state(), Execution::new(axioms));
    for step in steps {
        let event = machine.event(&state, *step).ok()?;
        execution.take(machine, &event);
        machine.take(&mut state, &event);
        events.push(event);
    }
    Some((state, execution))
}
