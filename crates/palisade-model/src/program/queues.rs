//! Programs of events and tasks as threads alone, with the same properties: for everything that
//! knows `ensure` and `fail` and nothing of posts.
//!
//! Each handler becomes a thread with as many copies as its event may occur times, and each task
//! one with enough copies. A cell says whether the main thread is busy; for each task and executor
//! a cell, the *mailbox*, says whether a post waits to be picked up, and further cells hold its
//! arguments.
//!
//! - A *post* is a locked section: the mailbox is empty, the arguments are stored, the mailbox is
//!   filled.
//! - A copy of a task *takes* a post in a locked section: it empties the mailbox and loads the
//!   arguments. From then on it is the invocation that was posted, and on the main thread it is
//!   pending.
//! - What runs on the main thread *begins* in a locked section that finds the main thread idle, and
//!   a guard holding, and makes it busy. At its end it *returns* in a locked section that makes the
//!   main thread idle. One that holds the lock at its end cannot: nobody opens a section twice.
//!
//! **An `ensure` or `fail` is violated in the one program if and only if it is in the other**,
//! under SC, and where posts drain under TSO, for any counts. *If* events and tasks reach a
//! violation, let a copy take each post at once, and let each section run in one go: a section
//! waits for an empty buffer, and so do posts that drain, begins and returns on the main thread, so
//! that this buffer is empty whenever another copy goes on with it. Posts and begins do not wait
//! for the lock, and the sections do; but while another one holds the lock, nobody reads memory, so
//! these steps can be taken before that lock, or, where the lock is given back, after it. *Only
//! if*: read a post where its section ends, a begin on a thread of its own where the post is taken,
//! and a begin and a return on the main thread where their sections end. Between two posts to one
//! mailbox it is emptied, so that each post has one invocation; and the cell says that one
//! invocation runs on the main thread at a time. ∎ Posts that are plain leave the buffer of the
//! main thread to its next task; no threads do that. But a computation in which posts, begins and
//! returns find empty buffers is one of plain posts, too.

use super::monitors::Cells;
use super::{
    Action, BinaryOperator, Copies, Executor, Expression, Instruction, InstructionId, Label, LabelId, NameSpace, Posts,
    Program, Register, RegisterId, Role, Thread, ThreadId, Value,
};
use crate::ordered::CollectOrdered;
use crate::text::Span;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Why a program cannot be said by threads with the same properties.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotQueued {
    /// The domain has not both 0 and 1.
    #[error("the domain has not both 0 and 1")]
    Domain,
}

/// What the last instruction of a section stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueStep {
    /// An event occurs.
    Occurs,
    /// A post, by its instruction in the program of events.
    Posts(InstructionId),
    /// A copy becomes the invocation that was posted for this executor.
    Takes(Executor),
    /// An invocation begins on the main thread.
    Begins,
    /// An invocation returns from the main thread.
    Returns,
}

/// A program of events and tasks said by threads.
#[derive(Clone, Debug)]
pub struct Queued {
    /// The threads. Templates, labels, registers and instructions that were there keep their
    /// numbers; a post has become the `lock` of its section.
    pub program: Program,
    /// What the new instructions stand for, those that end sections.
    pub steps: BTreeMap<(ThreadId, InstructionId), QueueStep>,
    /// The addresses of the new cells.
    pub cells: BTreeSet<Value>,
}

/// Enough copies of a task, as a number: with more, any number is as good.
const MOST_COPIES: u64 = 1000;

/// The cells of a task for one executor.
struct Mailbox {
    full: Expression,
    arguments: Vec<Expression>,
}

/// What is under construction.
struct Queues {
    queued: Queued,
    cells: Cells,
    /// Whether the main thread is busy.
    busy: Expression,
    mailboxes: BTreeMap<(ThreadId, bool), Mailbox>,
}

impl Program {
    /// The program as threads alone, in which the same properties are violated: under SC, and where
    /// posts drain under TSO. Where they are plain, what these threads violate under TSO is
    /// violated.
    ///
    /// # Errors
    ///
    /// [`NotQueued`], where threads cannot say it.
    pub fn queued(&self) -> Result<Queued, NotQueued> {
        if self.domain.is_some_and(|domain| !domain.contains(0) || !domain.contains(1)) {
            return Err(NotQueued::Domain);
        }
        let uses = self.executors();
        let mut program = self.clone();
        program.posts = Posts::Drain;
        let count = 1 + uses.iter().map(|(task, _)| 1 + self.thread(*task).parameters()).sum::<usize>();
        let mut cells = Cells::of(&mut program, count);
        let busy = cells.add(&mut program, "main_busy", Span::default());
        let queued = Queued { program, steps: BTreeMap::new(), cells: BTreeSet::new() };
        let mut queues = Queues { queued, cells, busy, mailboxes: BTreeMap::new() };
        queues.declare(&uses);
        let copies = self.posted_copies();
        for (id, _) in self.thread_ids() {
            queues.template(id, copies[id.index()], &uses);
        }
        let Queues { mut queued, busy, mailboxes, .. } = queues;
        let all = mailboxes.values().flat_map(|it| it.arguments.iter().chain([&it.full])).chain([&busy]);
        queued.cells = all
            .filter_map(|cell| if let Expression::Address { value, .. } = cell { Some(*value) } else { None })
            .collect();
        Ok(queued)
    }

    /// The tasks that something may post, with the executors: whether it is the main thread.
    fn executors(&self) -> BTreeSet<(ThreadId, bool)> {
        let runnable = self.runnable();
        let running = self.thread_ids().filter(|(id, _)| runnable[id.index()]);
        let posts = running.flat_map(|(_, thread)| thread.reachable_instructions());
        posts
            .filter_map(|it| match it.action {
                Action::Post { executor, task, .. } => Some((task, executor == Executor::Main)),
                _ => None,
            })
            .collect_set()
    }

    /// For each template, how often it can run: for a task, at most so often.
    fn posted_copies(&self) -> Vec<Copies> {
        let never = |(thread, runnable): (&Thread, bool)| (!runnable && thread.is_task()).then_some(Copies::Exactly(0));
        let mut known: Vec<Option<Copies>> = self.threads.iter().zip(self.runnable()).map(never).collect();
        (0..self.threads.len()).map(|index| self.copies_of(index, &mut known)).collect()
    }

    /// How often a template can run. While it is being found out, any number.
    fn copies_of(&self, index: usize, known: &mut [Option<Copies>]) -> Copies {
        if let Some(copies) = known[index] {
            return copies;
        }
        if !self.threads[index].is_task() {
            known[index] = Some(self.threads[index].copies);
            return self.threads[index].copies;
        }
        known[index] = Some(Copies::Any);
        let mut sum = Some(0_u64);
        for poster in 0..self.threads.len() {
            let thread = &self.threads[poster];
            let is_post = |it: &&Instruction| matches!(it.action, Action::Post { task, .. } if task.index() == index);
            for post in thread.reachable_instructions().filter(is_post) {
                let copies = match self.copies_of(poster, known) {
                    Copies::Exactly(0) => continue,
                    Copies::Exactly(copies) if !thread.leads_to(post.target, post.source) => Some(copies),
                    _ => None,
                };
                sum = sum.zip(copies).and_then(|(sum, copies)| sum.checked_add(copies)).filter(|it| *it <= MOST_COPIES);
                if sum.is_none() {
                    return Copies::Any;
                }
            }
        }
        let copies = sum.map_or(Copies::Any, Copies::Exactly);
        known[index] = Some(copies);
        copies
    }
}

impl Thread {
    /// Whether control can come from a label to another one, whatever the values.
    fn leads_to(&self, from: LabelId, to: LabelId) -> bool {
        let by_label = self.instructions_by_label();
        let mut seen = vec![false; by_label.len()];
        let mut open = vec![from];
        while let Some(label) = open.pop() {
            if label == to {
                return true;
            }
            if !std::mem::replace(&mut seen[label.index()], true) {
                open.extend(by_label[label.index()].iter().map(|id| self.instruction(*id).target));
            }
        }
        false
    }
}

impl Queues {
    fn declare(&mut self, uses: &BTreeSet<(ThreadId, bool)>) {
        for (task, on_main) in uses {
            let template = self.queued.program.thread(*task);
            let (span, parameters) = (template.span, template.parameters());
            let word = format!("{}_{}", template.name, if *on_main { "main" } else { "any" });
            let mut cell = |name: String| self.cells.add(&mut self.queued.program, &name, span);
            let full = cell(format!("{word}_posted"));
            let arguments = (0..parameters).map(|index| cell(format!("{word}_argument{}", index + 1))).collect();
            self.mailboxes.insert((*task, *on_main), Mailbox { full, arguments });
        }
    }

    /// A template as a thread.
    fn template(&mut self, id: ThreadId, copies: Copies, uses: &BTreeSet<(ThreadId, bool)>) {
        let thread = &self.queued.program.thread(id).clone();
        let mut tail = Tail::of(thread.clone());
        for (number, instruction) in thread.instruction_ids() {
            if let Action::Post { executor, task, arguments } = &instruction.action {
                // There is none where nothing leads to the post.
                if let Some(mailbox) = self.mailboxes.get(&(*task, *executor == Executor::Main)) {
                    tail.post(number, mailbox, arguments);
                } else {
                    tail.thread.instructions[number.index()].action = Action::Assume(Expression::Constant(0));
                }
            }
        }
        let posted = |on_main| uses.contains(&(id, on_main));
        match &thread.role {
            Role::Thread => {}
            Role::Event { guard } => {
                let guard = guard.as_ref().map(|guard| {
                    let load = |register| Action::Load { register, address: guard.address.clone() };
                    let holds = |register| {
                        let read = Expression::Register(register);
                        Action::Assume(Expression::binary(guard.operator, read, guard.value.clone()))
                    };
                    (tail.scratch("guard"), load, holds)
                });
                let guard = guard.map(|(register, load, holds)| vec![load(register), holds(register)]);
                let waits = tail.label("occurs");
                tail.begin_on_main(waits, thread.initial, &self.busy, guard.unwrap_or_default(), QueueStep::Occurs);
                tail.thread.initial = waits;
                tail.returns(thread, &self.busy, None);
            }
            Role::Task { .. } => {
                let waits = tail.label("waits");
                let on_main = (posted(true) && posted(false)).then(|| tail.scratch("on_main"));
                if posted(false) {
                    tail.take(waits, thread.initial, &self.mailboxes[&(id, false)], Executor::Any);
                }
                if posted(true) {
                    let pending = tail.label("pending");
                    tail.take(waits, pending, &self.mailboxes[&(id, true)], Executor::Main);
                    let marks = on_main.map(|register| Action::Assign { register, value: Expression::Constant(1) });
                    let marks = marks.into_iter().collect();
                    tail.begin_on_main(pending, thread.initial, &self.busy, marks, QueueStep::Begins);
                    tail.returns(thread, &self.busy, on_main);
                }
                tail.thread.initial = waits;
            }
        }
        let Tail { thread: mut changed, steps, .. } = tail;
        (changed.role, changed.copies) = (Role::Thread, copies);
        self.queued.steps.extend(steps.into_iter().map(|(instruction, step)| ((id, instruction), step)));
        self.queued.program.threads[id.index()] = changed;
    }
}

/// A template to which sections are added.
struct Tail {
    thread: Thread,
    steps: Vec<(InstructionId, QueueStep)>,
    /// The register that sections read cells into.
    flag: Option<RegisterId>,
    label_names: NameSpace,
    register_names: NameSpace,
}

fn equals(register: RegisterId, value: Value) -> Action {
    let register = Expression::Register(register);
    Action::Assume(Expression::binary(BinaryOperator::Equal, register, Expression::Constant(value)))
}

fn store(cell: &Expression, value: Value) -> Action {
    Action::Store { address: cell.clone(), value: Expression::Constant(value) }
}

impl Tail {
    fn of(thread: Thread) -> Self {
        let label_names = NameSpace::with_taken(thread.labels.iter().map(|label| &*label.name));
        let register_names = NameSpace::with_taken(thread.registers.iter().map(|register| &*register.name));
        Self { thread, steps: Vec::new(), flag: None, label_names, register_names }
    }

    fn label(&mut self, like: &str) -> LabelId {
        let name = self.label_names.fresh(like);
        self.thread.labels.push(Label::new(name, self.thread.span));
        LabelId::from_index(self.thread.labels.len() - 1)
    }

    fn scratch(&mut self, like: &str) -> RegisterId {
        let name = self.register_names.fresh(like);
        let span = self.thread.span;
        self.thread.registers.push(Register { name, initial: 0, is_initialised: true, span });
        RegisterId::from_index(self.thread.registers.len() - 1)
    }

    /// The register that sections read cells into.
    fn flag(&mut self) -> RegisterId {
        if let Some(flag) = self.flag {
            return flag;
        }
        let flag = self.scratch("cell");
        self.flag = Some(flag);
        flag
    }

    /// Instructions one after the other, from a label to a label; the last one.
    fn chain(&mut self, from: LabelId, actions: Vec<Action>, to: LabelId, span: Span) -> InstructionId {
        let last = actions.len() - 1;
        let mut source = from;
        for (number, action) in actions.into_iter().enumerate() {
            let target = if number == last { to } else { self.label("queue") };
            self.thread.instructions.push(Instruction::new(source, target, action, span));
            source = target;
        }
        InstructionId::from_index(self.thread.instructions.len() - 1)
    }

    /// A section with these actions.
    fn section(&mut self, from: LabelId, inside: Vec<Action>, to: LabelId, step: QueueStep) {
        let all = std::iter::once(Action::Lock).chain(inside).chain([Action::Unlock]).collect();
        let last = self.chain(from, all, to, self.thread.span);
        self.steps.push((last, step));
    }

    /// A post becomes a section, which its instruction opens.
    fn post(&mut self, number: InstructionId, mailbox: &Mailbox, arguments: &[Expression]) {
        let flag = self.flag();
        let mut inside = vec![Action::Load { register: flag, address: mailbox.full.clone() }, equals(flag, 0)];
        let values = mailbox.arguments.iter().zip(arguments);
        inside.extend(values.map(|(cell, value)| Action::Store { address: cell.clone(), value: value.clone() }));
        inside.extend([store(&mailbox.full, 1), Action::Unlock]);
        let opened = self.label("posts");
        let Instruction { target, span, .. } = self.thread.instructions[number.index()];
        let last = self.chain(opened, inside, target, span);
        self.steps.push((last, QueueStep::Posts(number)));
        let post = &mut self.thread.instructions[number.index()];
        (post.action, post.target) = (Action::Lock, opened);
    }

    /// A copy becomes an invocation that was posted.
    fn take(&mut self, from: LabelId, to: LabelId, mailbox: &Mailbox, executor: Executor) {
        let flag = self.flag();
        let mut inside = vec![
            Action::Load { register: flag, address: mailbox.full.clone() },
            equals(flag, 1),
            store(&mailbox.full, 0),
        ];
        let parameters = mailbox.arguments.iter().enumerate();
        inside.extend(
            parameters
                .map(|(index, cell)| Action::Load { register: RegisterId::from_index(index), address: cell.clone() }),
        );
        self.section(from, inside, to, QueueStep::Takes(executor));
    }

    /// The main thread, which is idle, begins with this where `more` lets it.
    fn begin_on_main(&mut self, from: LabelId, to: LabelId, busy: &Expression, more: Vec<Action>, step: QueueStep) {
        let flag = self.flag();
        let mut inside = vec![Action::Load { register: flag, address: busy.clone() }, equals(flag, 0)];
        inside.extend(more);
        inside.push(store(busy, 1));
        self.section(from, inside, to, step);
    }

    /// What has come to its end gives the main thread back, if it runs there.
    fn returns(&mut self, thread: &Thread, busy: &Expression, if_set: Option<RegisterId>) {
        let returned = self.label("returned");
        for (index, _) in thread.instructions_by_label().iter().enumerate().filter(|(_, here)| here.is_empty()) {
            let mut from = LabelId::from_index(index);
            if let Some(register) = if_set {
                let runs_there = self.label("on_main");
                let span = self.thread.span;
                self.thread.instructions.push(Instruction::new(from, runs_there, equals(register, 1), span));
                from = runs_there;
            }
            self.section(from, vec![store(busy, 0)], returned, QueueStep::Returns);
        }
    }
}
