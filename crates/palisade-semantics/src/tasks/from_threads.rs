//! Computations of events and tasks that computations of threads stand for, where the threads say
//! the events and tasks ([`Queued`]).

use super::state::{InvocationId, TaskStep};
use crate::{CopyId, Effect, Event, Instance, StepKind};
use palisade_model::program::{Action, Executor, Program, QueueStep, Queued, ThreadId};
use std::collections::BTreeMap;

/// The computation of the program of events and tasks – in which events occur as often as the
/// instance says, and threads have that many copies – that one of the threads stands for; nothing
/// if it is none.
pub fn task_computation(
    program: &Program,
    queued: &Queued,
    instance: &Instance,
    events: &[Event],
) -> Option<Vec<TaskStep>> {
    let mut reading = Reading { program, queued, invocations: BTreeMap::new(), posted: BTreeMap::new(), count: 0 };
    for (thread, _) in program.thread_ids().filter(|(_, thread)| thread.is_thread()) {
        for copy in 0..instance.count(thread) {
            reading.invocations.insert(CopyId { thread, copy }, (reading.count, false));
            reading.count += 1;
        }
    }
    let mut steps = Vec::new();
    for event in events {
        steps.extend(reading.step(event)?);
    }
    Some(steps)
}

/// What has been read so far.
struct Reading<'a> {
    program: &'a Program,
    queued: &'a Queued,
    /// The invocation that each copy has become, and whether it is on the main thread.
    invocations: BTreeMap<CopyId, (InvocationId, bool)>,
    /// The invocations that wait in mailboxes, by task and whether it is that of the main thread.
    posted: BTreeMap<(ThreadId, bool), InvocationId>,
    /// How many invocations there are.
    count: usize,
}

impl Reading<'_> {
    /// The steps that one stands for: one, or none; nothing if it has no place here.
    #[allow(clippy::option_option, reason = "a step may stand for none, and may have no place")]
    fn step(&mut self, event: &Event) -> Option<Option<TaskStep>> {
        let copy = event.step.copy;
        let (instruction, chosen) = match event.step.kind {
            StepKind::Execute { instruction, chosen } => (instruction, chosen),
            // A copy occurs once.
            StepKind::Crowd { .. } => return None,
            StepKind::Flush | StepKind::FlushAddress(_) => return self.flush(copy, event.effect),
        };
        let Some(step) = self.queued.steps.get(&(copy.thread, instruction)) else {
            let thread = self.program.thread(copy.thread);
            let own = thread.instructions.get(instruction.index());
            if own.is_none_or(|own| matches!(own.action, Action::Post { .. })) {
                return Some(None);
            }
            let (invocation, _) = *self.invocations.get(&copy)?;
            return Some(Some(TaskStep::Execute { invocation, instruction, chosen }));
        };
        let new = self.count;
        Some(match *step {
            QueueStep::Occurs => {
                self.count += 1;
                self.invocations.insert(copy, (new, true));
                Some(TaskStep::Occur { event: copy.thread })
            }
            QueueStep::Posts(instruction) => {
                self.count += 1;
                let action = &self.program.thread(copy.thread).instruction(instruction).action;
                let Action::Post { executor, task, .. } = action else { return None };
                self.posted.insert((*task, *executor == Executor::Main), new);
                let (invocation, _) = *self.invocations.get(&copy)?;
                Some(TaskStep::Execute { invocation, instruction, chosen: None })
            }
            QueueStep::Takes(executor) => {
                let on_main = executor == Executor::Main;
                let invocation = self.posted.remove(&(copy.thread, on_main))?;
                self.invocations.insert(copy, (invocation, on_main));
                (!on_main).then_some(TaskStep::Begin { invocation })
            }
            QueueStep::Begins => Some(TaskStep::Begin { invocation: self.invocations.get(&copy)?.0 }),
            QueueStep::Returns => Some(TaskStep::Return { invocation: self.invocations.get(&copy)?.0 }),
        })
    }

    #[allow(clippy::option_option, reason = "a step may stand for none, and may have no place")]
    fn flush(&self, copy: CopyId, effect: Effect) -> Option<Option<TaskStep>> {
        let Effect::Store { address, .. } = effect else { return Some(None) };
        if self.queued.cells.contains(&address) {
            return Some(None);
        }
        let (invocation, on_main) = *self.invocations.get(&copy)?;
        Some(Some(if on_main { TaskStep::FlushMain } else { TaskStep::Flush { invocation } }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::event_program_of;
    use crate::tasks::{TaskEffect, TaskMachine, TaskModel, task_final_states};
    use crate::{Model, final_states};
    use palisade_model::limits::Limits;
    use palisade_model::program::{
        BinaryOperator, Copies, Expression, Instruction, Label, LabelId, Posts, RegisterId, Span, Thread,
    };
    use std::collections::BTreeSet;
    use std::time::Duration;

    /// Properties at the ends: what a register holds there, and sometimes that nobody comes there.
    fn with_properties(seed: u64) -> Program {
        let mut program = event_program_of(seed);
        for (index, thread) in program.threads.iter_mut().enumerate() {
            let ends = thread.instructions_by_label().iter().position(<[_]>::is_empty).map(LabelId::from_index);
            let (Some(end), false) = (ends, thread.registers.is_empty()) else { continue };
            let register = Expression::Register(RegisterId::from_index(thread.registers.len() - 1));
            let holds = Expression::binary(BinaryOperator::Equal, register, Expression::Constant(0));
            let fails = (seed + u64::try_from(index).expect("few threads")).is_multiple_of(11);
            let action = if fails { Action::Fail } else { Action::Ensure(holds) };
            add(thread, end, action);
        }
        program
    }

    fn add(thread: &mut Thread, source: LabelId, action: Action) {
        thread.labels.push(Label::new("asked", Span::default()));
        let target = LabelId::from_index(thread.labels.len() - 1);
        thread.instructions.push(Instruction::new(source, target, action, Span::default()));
    }

    /// Threads violate what events and tasks violate, under both models, and each computation of
    /// theirs stands for one of these.
    #[test]
    fn threads_violate_what_events_and_tasks_do() {
        let (mut violated, mut held, mut skipped) = (0, 0, 0);
        let amount = if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 4000 } else { 60 };
        let limits = || Limits::none().with_timeout(Duration::from_millis(400));
        for seed in 40_000..40_000 + amount {
            let mut program = with_properties(seed);
            for (events, threads) in [(TaskModel::Sc, Model::Sc), (TaskModel::Tso, Model::Tso)] {
                if threads == Model::Tso {
                    program.posts = Posts::Drain;
                }
                let queued = program.queued().expect("there are 0 and 1");
                let Some(instance) = Instance::of(&queued.program) else { continue };
                let has_loops = program.threads.iter().any(Thread::has_loop) && threads == Model::Tso;
                let Ok(expected) = task_final_states(&program, events, &limits()) else {
                    skipped += 1;
                    continue;
                };
                let Ok(found) = final_states(&queued.program, &instance, threads, 4, &limits()) else {
                    skipped += 1;
                    continue;
                };
                if has_loops || found.buffers_filled {
                    skipped += 1;
                    continue;
                }
                let places: BTreeSet<_> = found.violations.keys().map(|(copy, own)| (copy.thread, *own)).collect();
                assert_eq!(places, expected.violations.keys().copied().collect(), "seed {seed} {threads:?}");
                for ((copy, instruction), computation) in &found.violations {
                    let steps = task_computation(&program, &queued, &instance, &computation.events);
                    let steps = steps.expect("it stands for a computation");
                    let machine = TaskMachine::new(&program, threads);
                    let mut state = machine.initial_state();
                    let effects: Vec<TaskEffect> =
                        steps.iter().map(|step| machine.apply(&mut state, *step).expect("it can be taken")).collect();
                    assert_eq!(effects.last(), Some(&TaskEffect::Violation), "seed {seed}");
                    let Some(TaskStep::Execute { invocation, instruction: last, .. }) = steps.last() else {
                        panic!("an instruction violates a property")
                    };
                    assert_eq!((state.invocations()[*invocation].template, *last), (copy.thread, *instruction));
                    violated += 1;
                }
                held += usize::from(places.is_empty());
            }
        }
        assert!(violated > 20 && held > 6, "{violated} {held} {skipped}");
    }

    #[test]
    fn as_many_copies_as_posts() {
        let mut counts = BTreeSet::new();
        for seed in 0..200 {
            let program = event_program_of(seed);
            let queued = program.queued().expect("there are 0 and 1").program;
            for (thread, own) in program.threads.iter().zip(&queued.threads) {
                assert!(own.is_thread() && own.instructions.len() >= thread.instructions.len());
                counts.insert(match own.copies {
                    Copies::Exactly(count) => count.min(3),
                    Copies::Any => 4,
                });
            }
        }
        assert!(counts.len() >= 4, "{counts:?}");
    }
}
