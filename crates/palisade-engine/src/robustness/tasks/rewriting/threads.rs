//! A program of events and tasks as one of threads, which is robust against TSO if and only if it
//! is.
//!
//! Each invocation that can be posted has a mailbox: an address that a post exchanges for 1. The
//! main thread is a thread that takes from mailboxes, by a locked section, and lets events occur; a
//! background task is a thread that waits for its mailbox. Arguments are stored before the exchange
//! and loaded behind the wait. That is what posts that drain mean (`tasks` says why), so that other
//! tools can be asked.
//!
//! It needs a number for each event, and posts that each invocation makes once at most.

use super::addresses::{declare, has_flags};
use super::body::{Body, Graft};
use super::{MOST_LABELS, NotRewritten};
use palisade_model::program::{
    Action, BinaryOperator, Copies, Executor, Expression, InstructionId, LabelId, Posts, Program, RegisterId, Role,
    Thread, ThreadId, lock_states,
};

/// The program as one of threads.
///
/// # Errors
///
/// When some number is not fixed, an invocation may post the same task any number of times, or the
/// result would be too long.
pub fn as_threads(program: &Program) -> Result<Program, NotRewritten> {
    if program.posts == Posts::Plain {
        return Err(NotRewritten::PlainPosts);
    }
    if let Some(thread) = program.threads.iter().find(|thread| thread.copies == Copies::Any) {
        return Err(NotRewritten::AnyNumber(thread.name.clone()));
    }
    if let Some(thread) = program.threads.iter().find(|thread| !thread.is_left_out() && posts_in_loop(thread)) {
        return Err(NotRewritten::Loop(thread.name.clone()));
    }
    has_flags(program)?;
    let mut changed = program.clone();
    changed.threads.retain(Thread::is_thread);
    let mut main = Body::new("main".to_owned(), Role::Thread, Copies::Exactly(1));
    let idle = main.label("idle");
    let flag = main.register("full", 0);
    let mut building =
        Building { program, changed, main, idle, flag, background: Vec::new(), callers: Vec::new(), boxes: 0 };
    let events: Vec<(ThreadId, u64)> = program
        .events()
        .map(|(event, thread)| (event, if let Copies::Exactly(count) = thread.copies { count } else { 0 }))
        .collect();
    for (event, count) in events {
        building.occurrences(event, count)?;
    }
    let Building { mut changed, main, background, .. } = building;
    changed.threads.push(main.finish(idle));
    changed.threads.extend(background);
    let mut names = std::collections::BTreeSet::new();
    for thread in &mut changed.threads {
        while !names.insert(thread.name.clone()) {
            thread.name.push('_');
        }
    }
    Ok(changed)
}

/// Whether control can come to a post again.
fn posts_in_loop(thread: &Thread) -> bool {
    let by_label = thread.instructions_by_label();
    let again = |from: LabelId, target: LabelId| {
        let mut seen = vec![false; by_label.len()];
        let mut open = vec![from];
        while let Some(label) = open.pop() {
            if label == target {
                return true;
            }
            if !std::mem::replace(&mut seen[label.index()], true) {
                open.extend(by_label[label.index()].iter().map(|id| thread.instruction(*id).target));
            }
        }
        false
    };
    let posts = thread.instructions.iter().filter(|it| matches!(it.action, Action::Post { .. }));
    posts.into_iter().any(|post| again(post.target, post.source))
}

/// The program of threads under construction.
struct Building<'p> {
    program: &'p Program,
    changed: Program,
    main: Body,
    /// Where the main thread is between two invocations.
    idle: LabelId,
    /// What the main thread has found in a mailbox.
    flag: RegisterId,
    background: Vec<Thread>,
    /// The templates of the invocations around the one at hand.
    callers: Vec<ThreadId>,
    boxes: usize,
}

/// The mailbox of an invocation, with the places of its arguments.
struct Mailbox {
    full: Expression,
    arguments: Vec<Expression>,
}

fn equals(register: RegisterId, value: i64) -> Action {
    let register = Expression::Register(register);
    Action::Assume(Expression::binary(BinaryOperator::Equal, register, Expression::Constant(value)))
}

impl Building<'_> {
    /// An event occurs up to so many times, in this order.
    fn occurrences(&mut self, event: ThreadId, count: u64) -> Result<(), NotRewritten> {
        let thread = self.program.thread(event);
        let mut before: Option<RegisterId> = None;
        for number in 0..count {
            let word = format!("{}{number}_", thread.name);
            let occurred = self.main.register(&format!("{word}occurred"), 0);
            let fresh = self.main.label(&format!("{word}fresh"));
            self.main.add(self.idle, equals(occurred, 0), fresh);
            let mut here = fresh;
            if let Some(before) = before {
                let next = self.main.label(&format!("{word}next"));
                self.main.add(here, equals(before, 1), next);
                here = next;
            }
            if let Some(guard) = thread.guard() {
                // A locked section that is not closed is no access: a guard that does not hold is
                // not read.
                let [looks, read, held, occurs] =
                    ["looks", "read", "held", "occurs"].map(|step| self.main.label(&format!("{word}{step}")));
                self.main.add(here, Action::Lock, looks);
                self.main.add(looks, Action::Load { register: self.flag, address: guard.address.clone() }, read);
                let holds = Expression::binary(guard.operator, Expression::Register(self.flag), guard.value.clone());
                self.main.add(read, Action::Assume(holds), held);
                self.main.add(held, Action::Unlock, occurs);
                here = occurs;
            }
            let begins = self.main.label(&format!("{word}begins"));
            self.main.add(here, Action::Assign { register: occurred, value: Expression::Constant(1) }, begins);
            self.on_main(event, &word, begins)?;
            before = Some(occurred);
        }
        Ok(())
    }

    /// The main thread goes from a label through an invocation, and is idle again with its buffer
    /// empty. The graft of the code.
    fn on_main(&mut self, template: ThreadId, word: &str, from: LabelId) -> Result<Graft, NotRewritten> {
        let thread = self.program.thread(template);
        let graft = self.main.graft(thread, word);
        let returned = self.main.label(&format!("{word}returned"));
        self.main.add(from, Action::Nop, graft.labels[thread.initial.index()]);
        self.main.add(returned, Action::Fence, self.idle);
        let holds = lock_states(thread);
        for (label, here) in thread.instructions_by_label().iter().enumerate() {
            if here.is_empty() {
                self.main.add_return(graft.labels[label], holds[label], returned);
            }
        }
        for (id, _) in thread.instruction_ids() {
            let steps = self.instruction(template, id, &graft, word)?;
            steps.add_to(&mut self.main);
        }
        self.within_size(self.main.len())?;
        Ok(graft)
    }

    fn within_size(&self, labels: usize) -> Result<(), NotRewritten> {
        if labels > MOST_LABELS || self.boxes > MOST_LABELS { Err(NotRewritten::TooLarge(MOST_LABELS)) } else { Ok(()) }
    }

    /// An instruction of an invocation: itself, or for a post the stores of the arguments and the
    /// exchange, and the invocation that is posted.
    fn instruction(
        &mut self,
        template: ThreadId,
        id: InstructionId,
        graft: &Graft,
        word: &str,
    ) -> Result<Steps, NotRewritten> {
        let instruction = self.program.thread(template).instruction(id);
        let (source, target) = (graft.labels[instruction.source.index()], graft.labels[instruction.target.index()]);
        let Action::Post { executor, task, arguments } = &instruction.action else {
            return Ok(Steps { source, actions: vec![graft.action(&instruction.action)], target, word: String::new() });
        };
        let mailbox = self.mailbox(*task, arguments.len());
        let stores = mailbox.arguments.iter().zip(arguments);
        let mut actions: Vec<Action> = stores
            .map(|(address, value)| Action::Store { address: address.clone(), value: graft.expression(value) })
            .collect();
        actions.push(Action::Rmw { register: None, address: mailbox.full.clone(), new: Expression::Constant(1) });
        let posted = format!("{}{}_", self.program.thread(*task).name, self.boxes);
        self.callers.push(template);
        if self.callers.contains(task) {
            return Err(NotRewritten::Recursion(self.program.thread(*task).name.clone()));
        }
        match executor {
            Executor::Main => self.main_task(*task, &posted, &mailbox)?,
            Executor::Any => self.background_task(*task, &posted, &mailbox)?,
        }
        self.callers.pop();
        Ok(Steps { source, actions, target, word: format!("{word}{posted}") })
    }

    /// A mailbox for an invocation of a task.
    fn mailbox(&mut self, task: ThreadId, arguments: usize) -> Mailbox {
        self.boxes += 1;
        let word = format!("{}{}", self.program.thread(task).name, self.boxes);
        let full = declare(&mut self.changed, &format!("{word}_posted"));
        let argument = |index: usize| declare(&mut self.changed, &format!("{word}_argument{index}"));
        Mailbox { full, arguments: (0..arguments).map(argument).collect() }
    }

    /// The main thread takes a task out of its mailbox and runs it.
    fn main_task(&mut self, task: ThreadId, word: &str, mailbox: &Mailbox) -> Result<(), NotRewritten> {
        let [looks, read, full, emptied, begins] =
            ["looks", "read", "full", "emptied", "begins"].map(|step| self.main.label(&format!("{word}{step}")));
        self.main.add(self.idle, Action::Lock, looks);
        self.main.add(looks, Action::Load { register: self.flag, address: mailbox.full.clone() }, read);
        self.main.add(read, equals(self.flag, 1), full);
        let empties = Action::Store { address: mailbox.full.clone(), value: Expression::Constant(0) };
        self.main.add(full, empties, emptied);
        let code = self.main.label(&format!("{word}code"));
        self.main.add(emptied, Action::Unlock, begins);
        let graft = self.on_main(task, word, code)?;
        let mut here = begins;
        for (index, address) in mailbox.arguments.iter().enumerate() {
            let next = self.main.label(&format!("{word}argument{index}"));
            let register = graft.register(RegisterId::from_index(index));
            self.main.add(here, Action::Load { register, address: address.clone() }, next);
            here = next;
        }
        self.main.add(here, Action::Nop, code);
        Ok(())
    }

    /// A thread waits for its mailbox and runs a task.
    fn background_task(&mut self, task: ThreadId, word: &str, mailbox: &Mailbox) -> Result<(), NotRewritten> {
        let thread = self.program.thread(task);
        let mut body = Body::new(word.trim_end_matches('_').to_owned(), Role::Thread, Copies::Exactly(1));
        let graft = body.graft(thread, "");
        let flag = body.register("posted", 0);
        let [waits, looked, begins] = ["waits", "looked", "begins"].map(|step| body.label(step));
        body.add(waits, Action::Load { register: flag, address: mailbox.full.clone() }, looked);
        body.add(looked, equals(flag, 1), begins);
        let mut here = begins;
        for (index, address) in mailbox.arguments.iter().enumerate() {
            let next = body.label(&format!("argument{index}"));
            let register = graft.register(RegisterId::from_index(index));
            body.add(here, Action::Load { register, address: address.clone() }, next);
            here = next;
        }
        body.add(here, Action::Nop, graft.labels[thread.initial.index()]);
        for (id, _) in thread.instruction_ids() {
            let steps = self.instruction(task, id, &graft, "")?;
            steps.add_to(&mut body);
        }
        self.within_size(body.len())?;
        self.background.push(body.finish(waits));
        Ok(())
    }
}

/// Actions one after the other, from a label to a label.
struct Steps {
    source: LabelId,
    actions: Vec<Action>,
    target: LabelId,
    /// How the labels between them are called.
    word: String,
}

impl Steps {
    fn add_to(self, body: &mut Body) {
        let last = self.actions.len() - 1;
        let mut here = self.source;
        for (number, action) in self.actions.into_iter().enumerate() {
            let next = if number == last { self.target } else { body.label(&format!("{}store{number}", self.word)) };
            body.add(here, action, next);
            here = next;
        }
    }
}
