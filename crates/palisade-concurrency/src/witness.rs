//! The interleaving behind an accepting run of the serial program.
//!
//! What happens after the cut main task goes behind everything else, in the order of the run, and λ
//! comes last. Nothing else moves. So no conflict but those with λ is reversed, and each read keeps
//! its value.

use crate::locals::LocalStep;
use crate::reason::reason;
use crate::state::{Label, State};
use crate::system::System;
use palisade_engine::robustness::Fault;
use palisade_evidence::ConcurrencyWitness;
use palisade_model::program::{InstructionId, ThreadId, Value};
use palisade_semantics::Model;
use palisade_semantics::tasks::{InvocationId, TaskEffect, TaskMachine, TaskStep};

/// A violation of robustness against concurrency.
#[derive(Clone, Debug)]
pub struct ConcurrencyViolation {
    /// The interleaving with the reason why it has no serial permutation.
    pub witness: ConcurrencyWitness,
    /// How often each event occurs in it, in order of the text; an instance that is not robust.
    pub instance: Vec<(ThreadId, u64)>,
}

/// What an invocation of the run is.
struct Handle {
    /// The event, for a handler.
    event: Option<ThreadId>,
    /// Whether its begin is among the steps.
    has_begun: bool,
    /// Whether it is the cut main task.
    is_cut: bool,
    /// What it has posted.
    kids: Vec<usize>,
}

/// A step of the run, by invocations of the run.
struct Planned {
    handle: usize,
    kind: Kind,
    /// Whether it happens after the cut main task.
    is_late: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Begin,
    /// An instruction with its choice, and the invocation that it posts.
    Execute(InstructionId, Option<Value>, Option<usize>),
    Return,
}

/// The violation that an accepting run shows.
pub(super) fn violation(
    system: &mut System<'_>,
    way: &[(State, Label)],
    accepting: &State,
) -> Result<ConcurrencyViolation, Fault> {
    let mut plan = Plan { handles: Vec::new(), steps: Vec::new(), stack: Vec::new(), running: None, pivot: None };
    for (index, (before, label)) in way.iter().enumerate() {
        let after = way.get(index + 1).map_or(accepting, |(state, _)| state);
        plan.take(system, before, *label, after)?;
    }
    let lambda = plan.lambda(system, accepting)?;
    let Plan { handles, steps, .. } = plan;
    let (late, mut ordered): (Vec<Planned>, Vec<Planned>) =
        steps.into_iter().partition(|step| step.is_late || handles[step.handle].is_cut);
    ordered.extend(late);
    ordered.extend(lambda);
    let machine = TaskMachine::new(system.program, Model::Sc);
    let steps = replayed(&machine, &handles, &ordered);
    let reason = reason(&machine, &steps).expect("the steps have just been taken");
    let reason = reason.expect("λ closes a cycle or goes backward");
    let occurs = |event: ThreadId| steps.iter().filter(|step| **step == TaskStep::Occur { event }).count() as u64;
    let instance = system.program.events().map(|(event, _)| (event, occurs(event))).collect();
    Ok(ConcurrencyViolation { witness: ConcurrencyWitness { steps, reason }, instance })
}

/// The run, as far as it has been followed.
struct Plan {
    handles: Vec<Handle>,
    steps: Vec<Planned>,
    /// What is pending, the next one last.
    stack: Vec<usize>,
    running: Option<usize>,
    /// λ's invocation.
    pivot: Option<usize>,
}

impl Plan {
    fn handle(&mut self, event: Option<ThreadId>) -> usize {
        self.handles.push(Handle { event, has_begun: false, is_cut: false, kids: Vec::new() });
        self.handles.len() - 1
    }

    fn running(&self) -> usize {
        self.running.expect("an invocation runs")
    }

    /// Follows the run by one label.
    fn take(&mut self, system: &mut System<'_>, before: &State, label: Label, after: &State) -> Result<(), Fault> {
        match label {
            Label::Occur(number, _) => {
                let event = system.event(number);
                let handle = self.handle(Some(event));
                self.running = Some(handle);
                if system.program.thread(event).guard().is_some() {
                    self.begins(handle, false);
                }
            }
            Label::Begin => self.running = self.stack.pop(),
            Label::Skip => drop(self.stack.pop()),
            Label::Point(index, outcome) => {
                let is_late = after.run.as_ref().is_some_and(|run| run.late);
                self.point(system, before, index, outcome, is_late)?;
            }
            Label::Return => {
                let run = before.run.as_ref().expect("it runs");
                let handle = self.running();
                if self.handles[handle].has_begun {
                    let settled = system.locals.settled(run.local)?;
                    let way = settled.returns.clone().expect("it returns");
                    self.execute(handle, &way, run.late);
                    self.steps.push(Planned { handle, kind: Kind::Return, is_late: run.late });
                }
                self.ends();
            }
            Label::Cut | Label::Pivot(_) => {
                let handle = self.running();
                self.handles[handle].is_cut = before.run.as_ref().is_some_and(|run| run.main);
                if let Label::Pivot(_) = label {
                    self.pivot = Some(handle);
                }
                self.ends();
            }
        }
        Ok(())
    }

    /// What runs takes an access or makes a post.
    fn point(
        &mut self,
        system: &mut System<'_>,
        before: &State,
        index: u32,
        outcome: u32,
        is_late: bool,
    ) -> Result<(), Fault> {
        let handle = self.running();
        let local = before.run.as_ref().expect("it runs").local;
        let settled = system.locals.settled(local)?;
        let point = &settled.points[index as usize];
        self.begins(handle, is_late);
        self.execute(handle, &point.way, is_late);
        if point.post.is_some() {
            let kid = self.handle(None);
            self.handles[handle].kids.push(kid);
            let kind = Kind::Execute(point.instruction, None, Some(kid));
            self.steps.push(Planned { handle, kind, is_late });
        } else {
            let outcomes = system.outcomes(local, index, before.memory)?;
            self.execute(handle, &outcomes[outcome as usize].steps, is_late);
        }
        Ok(())
    }

    fn begins(&mut self, handle: usize, is_late: bool) {
        if !std::mem::replace(&mut self.handles[handle].has_begun, true) {
            self.steps.push(Planned { handle, kind: Kind::Begin, is_late });
        }
    }

    fn execute(&mut self, handle: usize, steps: &[LocalStep], is_late: bool) {
        let planned = |(id, chosen): &LocalStep| Planned { handle, kind: Kind::Execute(*id, *chosen, None), is_late };
        self.steps.extend(steps.iter().map(planned));
    }

    /// What runs is over; what it has posted comes next.
    fn ends(&mut self) {
        let handle = self.running.take().expect("an invocation runs");
        self.stack.extend(self.handles[handle].kids.iter().rev());
    }

    /// The steps up to λ and λ itself.
    fn lambda(&mut self, system: &mut System<'_>, accepting: &State) -> Result<Vec<Planned>, Fault> {
        let pivot = accepting.monitor.pivot.expect("an accepting state has a pivot");
        let handle = self.pivot.expect("the run has come by its pivot");
        let before = self.steps.len();
        self.begins(handle, true);
        let settled = system.locals.settled(pivot.local)?;
        self.execute(handle, &settled.points[pivot.point as usize].way, true);
        let outcomes = system.pivot_outcomes(pivot, accepting.memory)?;
        let spoils = outcomes.iter().find(|outcome| outcome.accesses.meets(&accepting.monitor.spoiling));
        self.execute(handle, &spoils.expect("the state accepts").steps, true);
        Ok(self.steps.split_off(before))
    }
}

/// The planned steps on the machine, which numbers invocations in order of creation.
fn replayed(machine: &TaskMachine<'_>, handles: &[Handle], planned: &[Planned]) -> Vec<TaskStep> {
    let mut state = machine.initial_state();
    let mut numbers: Vec<Option<InvocationId>> = vec![None; handles.len()];
    let mut steps = Vec::with_capacity(planned.len());
    for Planned { handle, kind, .. } in planned {
        let number = |handle: usize| numbers[handle].expect("it is created before it acts");
        let step = match (kind, handles[*handle].event) {
            (Kind::Begin, Some(event)) => TaskStep::Occur { event },
            (Kind::Begin, None) => TaskStep::Begin { invocation: number(*handle) },
            (Kind::Return, _) => TaskStep::Return { invocation: number(*handle) },
            (Kind::Execute(instruction, chosen, _), _) => {
                TaskStep::Execute { invocation: number(*handle), instruction: *instruction, chosen: *chosen }
            }
        };
        let created = state.invocations().len();
        let effect = machine.apply(&mut state, step).expect("the run can be reordered into an interleaving");
        match (kind, effect, step) {
            (Kind::Execute(_, _, Some(kid)), TaskEffect::Post { invocation }, _) => numbers[*kid] = Some(invocation),
            (_, _, TaskStep::Occur { .. }) => numbers[*handle] = Some(created),
            _ => {}
        }
        steps.push(step);
    }
    steps
}
