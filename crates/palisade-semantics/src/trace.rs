//! Traces: what a computation leaves behind besides its interleaving ([ESOP13, §3]).
//!
//! The nodes of a trace are the memory accesses of each thread copy in program order. A store and
//! its issue are one node, and so is a locked read-modify-write; a `cas` that fails is a load. A
//! whole locked section is one node with all of its accesses: one node per access would call
//! computations SC that are not. Fences and local actions would be nodes with program order only;
//! they are left out, which changes no cycle and no comparison of trace sets.
//!
//! A trace consists of these nodes, of the store each load reads from, and of the order of the
//! stores to each address. Two computations have the same trace exactly when these [`Trace`]s are
//! equal.

use super::machine::Machine;
use super::step::{Effect, Event};
use palisade_model::program::{InstructionId, Value};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// A node of a trace: the copy at `position` of the instance, and the node's place in its program
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId {
    /// The position of the thread copy.
    pub position: usize,
    /// The place in its program order, from 0.
    pub index: usize,
}

/// An access of a trace: one of the accesses of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessId {
    /// The node.
    pub node: NodeId,
    /// Which of its accesses, from 0.
    pub access: usize,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// It loads from the given store, or from the initial memory.
    Load(Option<AccessId>),
    /// It stores.
    Store,
}

/// One access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// The instruction.
    pub instruction: InstructionId,
    /// The address.
    pub address: Value,
    /// The value read or written.
    pub value: Value,
    /// Load or store.
    pub kind: AccessKind,
}

/// A node: a load, a store, a locked read-modify-write, or a locked section.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// The instruction; `lock` for a section.
    pub instruction: InstructionId,
    /// Whether it is a locked section.
    pub section: bool,
    /// Its accesses in program order; the load of a read-modify-write comes first.
    pub accesses: SmallVec<[Access; 1]>,
}

/// The trace of a computation.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trace {
    /// For each position, its nodes in program order.
    threads: Vec<Vec<Node>>,
    /// For each address stored to, ascending, its stores in the order in which they reached memory.
    store_order: SmallVec<[(Value, Vec<AccessId>); 4]>,
}

impl Trace {
    /// For each position, its nodes in program order.
    pub fn threads(&self) -> &[Vec<Node>] {
        &self.threads
    }

    /// For each address stored to, ascending, its stores in order.
    pub fn store_order(&self) -> &[(Value, Vec<AccessId>)] {
        &self.store_order
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.threads[id.position][id.index]
    }

    /// An access.
    pub fn access(&self, id: AccessId) -> &Access {
        &self.node(id.node).accesses[id.access]
    }

    /// The stores to an address, in order.
    pub fn stores(&self, address: Value) -> &[AccessId] {
        self.store_order.binary_search_by_key(&address, |entry| entry.0).map_or(&[], |index| &self.store_order[index].1)
    }

    /// A short form that is equal exactly for equal traces of one instance.
    pub fn canonical_form(&self) -> Box<[u8]> {
        let mut key = Vec::with_capacity(128);
        self.write_key(&mut key);
        key.into_boxed_slice()
    }

    /// Appends the canonical form to `key`.
    pub(super) fn write_key(&self, key: &mut Vec<u8>) {
        let write_access = |key: &mut Vec<u8>, id: AccessId| {
            write_number(key, id.node.position);
            write_number(key, id.node.index);
            write_number(key, id.access);
        };
        for nodes in &self.threads {
            write_number(key, nodes.len());
            for node in nodes {
                write_number(key, node.instruction.index());
                write_number(key, node.accesses.len());
                for access in &node.accesses {
                    write_number(key, access.instruction.index());
                    write_value(key, access.address);
                    write_value(key, access.value);
                    match access.kind {
                        AccessKind::Store => key.push(0),
                        AccessKind::Load(None) => key.push(1),
                        AccessKind::Load(Some(source)) => {
                            key.push(2);
                            write_access(key, source);
                        }
                    }
                }
            }
        }
        for (address, stores) in &self.store_order {
            write_value(key, *address);
            write_number(key, stores.len());
            for store in stores {
                write_access(key, *store);
            }
        }
    }
}

/// Appends a number in a prefix-free form: seven bits a byte, lowest first.
pub(super) fn write_number(key: &mut Vec<u8>, number: usize) {
    let low = |number: usize| u8::try_from(number & 0x7f).expect("seven bits");
    let mut rest = number;
    while rest >= 0x80 {
        key.push(low(rest) | 0x80);
        rest >>= 7;
    }
    key.push(low(rest));
}

/// Appends a value in a prefix-free form.
pub(super) fn write_value(key: &mut Vec<u8>, value: Value) {
    match u8::try_from(value) {
        Ok(small) if small < 0xff => key.push(small),
        _ => {
            key.push(0xff);
            key.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Builds the trace of a computation event by event.
#[derive(Clone, Debug)]
pub struct TraceBuilder {
    trace: Trace,
    /// For each position, its stores that are issued but have not reached memory, oldest first.
    pending: Vec<VecDeque<AccessId>>,
    /// For each position, the index of its open section.
    open: Vec<Option<usize>>,
}

impl TraceBuilder {
    /// The empty computation of an instance with so many copies.
    pub fn new(copies: usize) -> Self {
        let trace = Trace { threads: vec![Vec::new(); copies], store_order: SmallVec::new() };
        Self { trace, pending: vec![VecDeque::new(); copies], open: vec![None; copies] }
    }

    /// Extends the computation by an event.
    pub fn record(&mut self, machine: &Machine<'_>, event: &Event) {
        let position = machine.position(event.step.copy).expect("an event belongs to a copy of the instance");
        let Some(instruction) = event.step.kind.instruction() else {
            let Effect::Store { address, .. } = event.effect else { unreachable!("a flush stores") };
            self.flush(position, address);
            return;
        };
        let access = |address, value, kind| Access { instruction, address, value, kind };
        match event.effect {
            Effect::Load { address, value, .. } => {
                let kind = AccessKind::Load(self.source(position, address));
                self.add(position, [access(address, value, kind)]);
            }
            Effect::Issue { address, value } => {
                let store = self.add(position, [access(address, value, AccessKind::Store)]);
                self.pending[position].push_back(store);
            }
            Effect::Store { address, value } => {
                let store = self.add(position, [access(address, value, AccessKind::Store)]);
                self.reach_memory(store);
            }
            Effect::Rmw { address, old, new, .. } => {
                let load = access(address, old, AccessKind::Load(self.source(position, address)));
                if let Some(new) = new {
                    let store = self.add(position, [load, access(address, new, AccessKind::Store)]);
                    self.reach_memory(store);
                } else {
                    self.add(position, [load]);
                }
            }
            Effect::Lock => {
                self.open[position] = Some(self.trace.threads[position].len());
                let section = Node { instruction, section: true, accesses: SmallVec::new() };
                self.trace.threads[position].push(section);
            }
            Effect::Unlock => self.open[position] = None,
            Effect::Fence | Effect::StoreFence | Effect::Local { .. } | Effect::Violation | Effect::Failure => {}
        }
    }

    /// The trace so far, stores that are still buffered included without a place in the store
    /// order.
    pub fn unfinished(&self) -> &Trace {
        &self.trace
    }

    /// The trace of the computation that ends with empty buffers: this one where they are empty,
    /// and otherwise the one in which every thread stops before its first store that has not
    /// reached memory. (That one is a computation too: from its first buffered store on, nothing
    /// that a thread does is seen by another.) That is so under SC and TSO; under PSO a younger
    /// store may have been seen, and [`unfinished`](Self::unfinished) is all there is to say.
    pub fn finished(&self) -> Trace {
        let mut trace = self.trace.clone();
        for (nodes, pending) in trace.threads.iter_mut().zip(&self.pending) {
            if let Some(first) = pending.front() {
                nodes.truncate(first.node.index + 1);
                let cut = &mut nodes[first.node.index];
                if cut.section {
                    cut.accesses.truncate(first.access);
                } else {
                    nodes.pop();
                }
            }
        }
        trace
    }

    /// The stores of a copy that are issued but have not reached memory, oldest first.
    pub fn pending(&self, position: usize) -> impl Iterator<Item = AccessId> + '_ {
        self.pending[position].iter().copied()
    }

    /// The oldest pending store to the address: under TSO it is the oldest of all.
    fn flush(&mut self, position: usize, address: Value) {
        let oldest = self.pending[position].iter().position(|store| self.trace.access(*store).address == address);
        let store = oldest.and_then(|index| self.pending[position].remove(index));
        self.reach_memory(store.expect("a flush takes a buffered store"));
    }

    /// The store a load of the copy reads: its own newest buffered one to the address, else the
    /// last in memory.
    fn source(&self, position: usize, address: Value) -> Option<AccessId> {
        let own = self.pending[position].iter().rev().find(|store| self.trace.access(**store).address == address);
        own.or_else(|| self.trace.stores(address).last()).copied()
    }

    /// Adds accesses to the open section, or a node of their own; the id of the last one.
    fn add<const N: usize>(&mut self, position: usize, accesses: [Access; N]) -> AccessId {
        let nodes = &mut self.trace.threads[position];
        let index = match self.open[position] {
            Some(section) => section,
            None => {
                let instruction = accesses[0].instruction;
                nodes.push(Node { instruction, section: false, accesses: SmallVec::new() });
                nodes.len() - 1
            }
        };
        nodes[index].accesses.extend(accesses);
        AccessId { node: NodeId { position, index }, access: nodes[index].accesses.len() - 1 }
    }

    fn reach_memory(&mut self, store: AccessId) {
        let address = self.trace.access(store).address;
        let order = &mut self.trace.store_order;
        match order.binary_search_by_key(&address, |entry| entry.0) {
            Ok(index) => order[index].1.push(store),
            Err(index) => order.insert(index, (address, vec![store])),
        }
    }
}
