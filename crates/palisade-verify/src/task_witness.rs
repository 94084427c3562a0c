//! Checks that an event-driven program is not robust against TSO: replays a computation and looks
//! for a cycle of its happens-before.
//!
//! A node is an access or a locked section, a post, or the begin of an invocation. Program order
//! runs through all that a thread does, on the main thread through all its invocations; a post
//! happens before its task's begin; and accesses to one address are ordered as usual.

use crate::CheckFailure;
use palisade_evidence::TaskWitness;
use palisade_invariants::reject;
use palisade_model::program::{Action, Copies, Program, Value};
use palisade_semantics::Model;
use palisade_semantics::tasks::{InvocationId, TaskEffect, TaskMachine, TaskState, TaskStep, Worker};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A cycle of the happens-before relation: the steps that made its nodes, in order, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskCycle {
    /// Positions in the computation.
    pub steps: Vec<usize>,
}

/// Checks that `witness` is a TSO computation of the event-driven `program` (with its copies and
/// domain) whose happens-before is cyclic, so that the program is not robust. Such a cycle.
pub fn check_task_witness(program: &Program, witness: &TaskWitness) -> Result<TaskCycle, CheckFailure> {
    let instance = instance(program, witness)?;
    let machine = TaskMachine::new(&instance, Model::Tso);
    let mut state = machine.initial_state();
    let mut trace = TraceInMaking::default();
    for (index, step) in witness.steps.iter().enumerate() {
        let worker_before = |id: InvocationId| state.invocations().get(id).map(|it| it.worker);
        let thread = match step {
            TaskStep::Occur { .. } | TaskStep::FlushMain => None,
            TaskStep::Begin { invocation }
            | TaskStep::Return { invocation }
            | TaskStep::Flush { invocation }
            | TaskStep::Execute { invocation, .. } => match worker_before(*invocation) {
                Some(Worker::Main) => None,
                _ => Some(*invocation),
            },
        };
        match machine.apply(&mut state, *step) {
            Ok(effect) => trace.record(&instance, &state, (index, *step), thread, effect),
            Err(refusal) => reject!(Run, "step {index} cannot be taken: {refusal}"),
        }
    }
    if trace.buffers.values().any(|buffer| !buffer.is_empty()) {
        reject!(Run, "the computation ends while stores are buffered");
    }
    let edges = trace.finished();
    match cycle(&edges) {
        Some(nodes) => Ok(TaskCycle { steps: nodes.into_iter().map(|node| trace.steps[node]).collect() }),
        None => reject!(Witness, "the happens-before relation of the computation has no cycle"),
    }
}

/// The program with the numbers of copies and occurrences that the witness says, which the program
/// must allow.
fn instance(program: &Program, witness: &TaskWitness) -> Result<Program, CheckFailure> {
    let mut instance = program.clone();
    if witness.instance.len() != program.threads.len() {
        reject!(Form, "the instance counts {} templates of {}", witness.instance.len(), program.threads.len());
    }
    for (template, count) in instance.threads.iter_mut().zip(&witness.instance) {
        match template.copies {
            Copies::Exactly(copies) if copies != *count => {
                reject!(Form, "the instance has {count} of `{}`, not {copies}", template.name);
            }
            _ => template.copies = Copies::Exactly(*count),
        }
    }
    let threads = instance.threads.iter().filter(|it| it.is_thread());
    let copies = |it: &palisade_model::program::Thread| if let Copies::Exactly(it) = it.copies { it } else { 0 };
    let running: u64 = threads.map(copies).fold(0, u64::saturating_add);
    // The replay makes an invocation of each copy.
    if running > 1 << 20 {
        reject!(Form, "the instance has {running} copies of threads, which are too many to replay");
    }
    Ok(instance)
}

/// A thread: nothing for the main thread, else its only invocation.
type OfThread = Option<InvocationId>;

/// Where what a read reads comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The initial memory, or the store at this place of the store order of the address, plus one.
    Memory(usize),
    /// A store in the buffer, by its number.
    Buffered(usize),
}

/// The trace of a computation while that is replayed.
#[derive(Default)]
struct TraceInMaking {
    /// For each node, the step that made it.
    steps: Vec<usize>,
    edges: BTreeSet<(usize, usize)>,
    /// The last node of each thread.
    last: BTreeMap<OfThread, usize>,
    /// The node of each post, by the invocation it made.
    posts: BTreeMap<InvocationId, usize>,
    /// The stores in each buffer: address, node and number.
    buffers: BTreeMap<OfThread, VecDeque<(Value, usize, usize)>>,
    /// The places in store order of buffered stores that have reached memory, by number.
    reached: BTreeMap<usize, usize>,
    /// How many stores have been buffered.
    buffered: usize,
    /// The nodes of the stores of each address, in the order in which they reached memory.
    stores: BTreeMap<Value, Vec<usize>>,
    /// The reads: node, address and source.
    reads: Vec<(usize, Value, Source)>,
    /// The invocation in a locked section, with its node.
    section: Option<(InvocationId, usize)>,
}

impl TraceInMaking {
    fn record(
        &mut self,
        program: &Program,
        state: &TaskState,
        (index, step): (usize, TaskStep),
        thread: OfThread,
        effect: TaskEffect,
    ) {
        match step {
            TaskStep::Occur { .. } => {
                let node = self.node(index, thread);
                self.access(node, thread, effect);
            }
            TaskStep::Begin { invocation } => {
                let node = self.node(index, thread);
                self.edges.extend(self.posts.get(&invocation).map(|post| (*post, node)));
            }
            TaskStep::Flush { .. } | TaskStep::FlushMain => self.flush(thread),
            TaskStep::Return { .. } => {}
            TaskStep::Execute { invocation, instruction, .. } => {
                let template = state.invocations()[invocation].template;
                let action = &program.thread(template).instruction(instruction).action;
                match (effect, self.section) {
                    (TaskEffect::Local | TaskEffect::Violation, _) => {}
                    (TaskEffect::Unlock, _) => self.section = None,
                    (_, Some((own, node))) if own == invocation && action.address().is_some() => {
                        self.access(node, thread, effect);
                    }
                    _ => {
                        let node = self.node(index, thread);
                        if matches!(action, Action::Lock) {
                            self.section = Some((invocation, node));
                        }
                        self.access(node, thread, effect);
                    }
                }
            }
        }
    }

    /// A new node, the last of its thread in program order.
    fn node(&mut self, step: usize, thread: OfThread) -> usize {
        let node = self.steps.len();
        self.steps.push(step);
        if let Some(before) = self.last.insert(thread, node) {
            self.edges.insert((before, node));
        }
        node
    }

    fn access(&mut self, node: usize, thread: OfThread, effect: TaskEffect) {
        match effect {
            TaskEffect::Read { address, early: false, .. } => self.read_memory(node, address),
            TaskEffect::Read { address, early: true, .. } => {
                let buffer = self.buffers.entry(thread).or_default();
                if let Some((_, _, number)) = buffer.iter().rev().find(|store| store.0 == address) {
                    self.reads.push((node, address, Source::Buffered(*number)));
                }
            }
            TaskEffect::Issue { address, .. } => {
                self.buffers.entry(thread).or_default().push_back((address, node, self.buffered));
                self.buffered += 1;
            }
            TaskEffect::Update { address, new, .. } => {
                self.read_memory(node, address);
                if new.is_some() {
                    self.stores.entry(address).or_default().push(node);
                }
            }
            TaskEffect::Write { address, .. } => self.stores.entry(address).or_default().push(node),
            TaskEffect::Post { invocation } => {
                self.posts.insert(invocation, node);
            }
            TaskEffect::Local | TaskEffect::Lock | TaskEffect::Unlock | TaskEffect::Violation => {}
        }
    }

    fn read_memory(&mut self, node: usize, address: Value) {
        let place = self.stores.get(&address).map_or(0, Vec::len);
        self.reads.push((node, address, Source::Memory(place)));
    }

    fn flush(&mut self, thread: OfThread) {
        if let Some((address, node, number)) = self.buffers.get_mut(&thread).and_then(VecDeque::pop_front) {
            let stores = self.stores.entry(address).or_default();
            stores.push(node);
            self.reached.insert(number, stores.len());
        }
    }

    /// All edges, but those from a node to itself.
    fn finished(&mut self) -> Vec<Vec<usize>> {
        for stores in self.stores.values() {
            self.edges.extend(stores.windows(2).map(|pair| (pair[0], pair[1])));
        }
        for (node, address, source) in &self.reads {
            let stores = self.stores.get(address).map_or(&[][..], Vec::as_slice);
            let place = match source {
                Source::Memory(place) => *place,
                Source::Buffered(number) => self.reached.get(number).copied().unwrap_or(0),
            };
            let from = place.checked_sub(1).and_then(|place| stores.get(place));
            self.edges.extend(from.map(|store| (*store, *node)));
            self.edges.extend(stores.get(place).map(|store| (*node, *store)));
        }
        let mut edges = vec![Vec::new(); self.steps.len()];
        self.edges.iter().filter(|(from, to)| from != to).for_each(|(from, to)| edges[*from].push(*to));
        edges
    }
}

/// A shortest cycle through the first node that is on one.
fn cycle(edges: &[Vec<usize>]) -> Option<Vec<usize>> {
    (0..edges.len()).find_map(|start| {
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        let mut waiting = VecDeque::from([start]);
        while let Some(node) = waiting.pop_front() {
            for next in &edges[node] {
                if before.contains_key(next) {
                    continue;
                }
                before.insert(*next, node);
                if *next == start {
                    let mut nodes = vec![node];
                    while nodes[nodes.len() - 1] != start {
                        nodes.push(before[&nodes[nodes.len() - 1]]);
                    }
                    nodes.reverse();
                    return Some(nodes);
                }
                waiting.push_back(*next);
            }
        }
        None
    })
}
