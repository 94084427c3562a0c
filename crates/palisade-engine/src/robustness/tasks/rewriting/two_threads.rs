//! 2-threads(P): one background invocation at most, everything else on the main thread [NETYS18,
//! §5].
//!
//! Where an invocation on the main thread posts a background task, the task is either called in
//! place, or forked, if none has been forked; the forked one posts on the main thread. Invocations
//! on the main thread may stop anywhere (the paper's flag `skip`).
//!
//! The paper says that a program that is robust against concurrency is robust against TSO if and
//! only if this one is [NETYS18, Theorem 2]. Both directions are wrong (README.md has programs), so
//! that it serves to compare.
//!
//! DIVERGENCE: the flag `fork` is read and written by the main thread alone, as the forked task is
//! a copy in which nothing is forked. With a flag that all read, as printed, the forked task can
//! still see it set and fork again, and the flag adds conflicts.

use super::addresses::{declare, has_flags};
use super::body::{Body, Graft};
use super::{MOST_LABELS, NotRewritten};
use palisade_model::program::{
    Action, BinaryOperator, Copies, Executor, Expression, LabelId, Program, RegisterId, Role, Thread, ThreadId,
    lock_states,
};
use std::collections::BTreeMap;

/// The program with one background invocation at most.
///
/// # Errors
///
/// When threads stand beside the events, a task posts itself, or the result would be too long.
pub fn two_threads(program: &Program) -> Result<Program, NotRewritten> {
    if let Some(thread) = program.threads.iter().find(|thread| thread.is_thread() && !thread.is_left_out()) {
        return Err(NotRewritten::Thread(thread.name.clone()));
    }
    has_flags(program)?;
    let mut changed = program.clone();
    let fork = declare(&mut changed, "fork");
    let Expression::Address { value, .. } = fork else { unreachable!("it is an address") };
    changed.initial_memory.insert(value, 1);
    let forked: BTreeMap<ThreadId, ThreadId> = program
        .tasks()
        .enumerate()
        .map(|(number, (task, _))| (task, ThreadId::from_index(program.threads.len() + number)))
        .collect();
    let rewriting = Rewriting { program, fork, forked };
    for (id, thread) in program.thread_ids() {
        changed.threads[id.index()] = rewriting.on_main(id, thread)?;
    }
    for (_, task) in program.tasks() {
        changed.threads.push(forked_copy(program, task));
    }
    Ok(changed)
}

/// A task that is forked: what it posts runs on the main thread.
fn forked_copy(program: &Program, task: &Thread) -> Thread {
    let mut copy = task.clone();
    copy.name = format!("{}_forked", task.name);
    while program.threads.iter().any(|known| known.name == copy.name) {
        copy.name.push('_');
    }
    for instruction in &mut copy.instructions {
        if let Action::Post { executor, .. } = &mut instruction.action {
            *executor = Executor::Main;
        }
    }
    copy
}

/// What all templates need.
struct Rewriting<'p> {
    program: &'p Program,
    fork: Expression,
    /// The copies of tasks that are forked.
    forked: BTreeMap<ThreadId, ThreadId>,
}

/// A template on the main thread under construction.
struct OnMain<'r, 'p> {
    rewriting: &'r Rewriting<'p>,
    body: Body,
    /// The value of `fork`.
    flag: RegisterId,
    /// The tasks that are called around the one at hand.
    callers: Vec<ThreadId>,
    calls: usize,
}

impl Rewriting<'_> {
    /// A handler or task as the main thread runs it.
    fn on_main(&self, id: ThreadId, thread: &Thread) -> Result<Thread, NotRewritten> {
        let (name, role, copies): (_, Role, Copies) = (thread.name.clone(), thread.role.clone(), thread.copies);
        let mut body = Body::new(name, role, copies);
        let graft = body.graft(thread, "");
        let flag = body.register("forking", 0);
        let end = body.label("end");
        let initial = graft.labels[thread.initial.index()];
        let mut building = OnMain { rewriting: self, body, flag, callers: vec![id], calls: 0 };
        building.code(thread, &graft, end)?;
        Ok(building.body.finish(initial))
    }
}

impl OnMain<'_, '_> {
    /// The code of a template, which leaves by a label.
    fn code(&mut self, thread: &Thread, graft: &Graft, exit: LabelId) -> Result<(), NotRewritten> {
        if self.body.len() > MOST_LABELS {
            return Err(NotRewritten::TooLarge(MOST_LABELS));
        }
        let holds = lock_states(thread);
        for (label, here) in thread.instructions_by_label().iter().enumerate() {
            let own = graft.labels[label];
            for id in here {
                let instruction = thread.instruction(*id);
                let target = graft.labels[instruction.target.index()];
                match &instruction.action {
                    Action::Post { executor: Executor::Any, task, arguments } => {
                        let arguments: Vec<Expression> = arguments.iter().map(|it| graft.expression(it)).collect();
                        self.post(own, *task, &arguments, target)?;
                    }
                    action => self.body.add(own, graft.action(action), target),
                }
            }
            // It may stop here, but not inside a locked section.
            if here.is_empty() || !holds[label][usize::from(true)] {
                self.body.add_return(own, holds[label], exit);
            }
        }
        Ok(())
    }

    /// A background task is forked, or called.
    fn post(
        &mut self,
        at: LabelId,
        task: ThreadId,
        arguments: &[Expression],
        after: LabelId,
    ) -> Result<(), NotRewritten> {
        let Rewriting { program, fork, forked } = self.rewriting;
        let thread = program.thread(task);
        if self.callers.contains(&task) {
            return Err(NotRewritten::Recursion(thread.name.clone()));
        }
        self.calls += 1;
        let word = format!("{}{}_", thread.name, self.calls);
        let [looked, may, taken] = ["look", "may", "take"].map(|step| self.body.label(&format!("{word}{step}")));
        let flag_is_set =
            Expression::binary(BinaryOperator::Equal, Expression::Register(self.flag), Expression::Constant(1));
        self.body.add(at, Action::Load { register: self.flag, address: fork.clone() }, looked);
        self.body.add(looked, Action::Assume(flag_is_set), may);
        self.body.add(may, Action::Store { address: fork.clone(), value: Expression::Constant(0) }, taken);
        let arguments_kept = arguments.to_vec();
        let forks = Action::Post { executor: Executor::Any, task: forked[&task], arguments: arguments_kept };
        self.body.add(taken, forks, after);
        let graft = self.body.graft(thread, &word);
        let mut here = at;
        for (index, register) in thread.registers.iter().enumerate() {
            let value = arguments.get(index).cloned().unwrap_or(Expression::Constant(register.initial));
            let next = self.body.label(&format!("{word}set{index}"));
            let register = graft.register(RegisterId::from_index(index));
            self.body.add(here, Action::Assign { register, value }, next);
            here = next;
        }
        self.body.add(here, Action::Nop, graft.labels[thread.initial.index()]);
        self.callers.push(task);
        self.code(thread, &graft, after)?;
        self.callers.pop();
        Ok(())
    }
}
