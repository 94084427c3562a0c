//! Execution graphs: events with what they read from, and the order of the writes of each address.

use super::relation::Relation;
use palisade_model::program::{InstructionId, Ordering, Value};
use std::collections::BTreeMap;

/// What an event does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// It reads an address.
    Read,
    /// It writes one.
    Write,
    /// It reads and writes one in one event.
    Update,
    /// It is a fence, and has no address.
    Fence,
}

impl EventKind {
    /// Whether the event reads.
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Update)
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Update)
    }
}

/// An event of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GraphEvent {
    /// The position of the copy that executes it; nothing for the initial write of an address.
    pub position: Option<usize>,
    /// The instruction; nothing for an initial write.
    pub instruction: Option<InstructionId>,
    /// What it does.
    pub kind: EventKind,
    /// The address that it accesses; 0 for a fence.
    pub address: Value,
    /// How it is ordered; plain for an initial write.
    pub ordering: Ordering,
}

impl GraphEvent {
    /// The initial write of an address.
    pub fn initial(address: Value) -> Self {
        Self { position: None, instruction: None, kind: EventKind::Write, address, ordering: Ordering::Plain }
    }

    /// Whether it is a sequentially consistent access or fence.
    pub fn is_seq_cst(&self) -> bool {
        self.ordering == Ordering::SeqCst
    }

    /// Whether it is a fence.
    pub fn is_fence(&self) -> bool {
        self.kind == EventKind::Fence
    }
}

/// An execution graph. Events of one copy are in program order, and each event stands behind the
/// write that it reads from, so that every graph without a cycle of program order and reads-from
/// can be written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Graph {
    events: Vec<GraphEvent>,
    /// The write that each event reads from; nothing for events that do not read.
    sources: Vec<Option<usize>>,
    /// The writes of each address in modification order. The initial write is the first.
    writes: BTreeMap<Value, Vec<usize>>,
}

impl Graph {
    /// The events.
    pub fn events(&self) -> &[GraphEvent] {
        &self.events
    }

    /// The write that an event reads from.
    pub fn source(&self, event: usize) -> Option<usize> {
        self.sources[event]
    }

    /// The writes of an address in modification order, the initial one first. The address must have
    /// been accessed, or [`touch`](Self::touch)ed.
    pub fn writes(&self, address: Value) -> &[usize] {
        &self.writes[&address]
    }

    /// The addresses that have been touched, with their writes in modification order.
    pub fn addresses(&self) -> impl Iterator<Item = (Value, &[usize])> {
        self.writes.iter().map(|(address, writes)| (*address, writes.as_slice()))
    }

    /// Adds the initial write of an address, unless it is there.
    pub fn touch(&mut self, address: Value) {
        if !self.writes.contains_key(&address) {
            self.writes.insert(address, vec![self.events.len()]);
            self.events.push(GraphEvent::initial(address));
            self.sources.push(None);
        }
    }

    /// Adds an event, its number. One that reads does so from `source`, a write of its address. One
    /// that writes comes directly behind the write `behind` of its address.
    ///
    /// # Panics
    ///
    /// If the source is missing for an event that reads, or given for another; the same for the
    /// place in modification order.
    pub fn add(&mut self, event: GraphEvent, source: Option<usize>, behind: Option<usize>) -> usize {
        assert_eq!(event.kind.reads(), source.is_some(), "events that read, and no others, have a source");
        assert_eq!(event.kind.writes(), behind.is_some(), "events that write, and no others, have a place");
        let number = self.events.len();
        if let Some(behind) = behind {
            let writes = self.writes.get_mut(&event.address).expect("the address has been touched");
            let index = writes.iter().position(|write| *write == behind).expect("it writes the address");
            writes.insert(index + 1, number);
        }
        self.events.push(event);
        self.sources.push(source);
        number
    }

    /// Program order, transitive. Initial writes come before everything else.
    pub fn program_order(&self) -> Relation {
        let mut order = Relation::empty(self.events.len());
        let mut threads: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut initial = Vec::new();
        for (index, event) in self.events.iter().enumerate() {
            match event.position {
                Some(position) => threads.entry(position).or_default().push(index),
                None => initial.push(index),
            }
        }
        let all: Vec<usize> = threads.values().flatten().copied().collect();
        initial.into_iter().for_each(|from| order.insert_all(from, &all));
        threads.values().for_each(|events| order.insert_chain(events));
        order
    }

    /// Reads-from: from each write to the events that read it.
    pub fn reads_from(&self) -> Relation {
        let mut order = Relation::empty(self.events.len());
        for (reader, source) in self.sources.iter().enumerate() {
            source.iter().for_each(|source| order.insert(*source, reader));
        }
        order
    }

    /// Modification order, transitive.
    pub fn modification_order(&self) -> Relation {
        let mut order = Relation::empty(self.events.len());
        self.writes.values().for_each(|writes| order.insert_chain(writes));
        order
    }

    /// From-reads: from each event that reads to the writes behind the one that it reads from,
    /// itself excepted.
    pub fn from_reads(&self) -> Relation {
        let (mut order, behind) = (Relation::empty(self.events.len()), self.modification_order());
        for (reader, source) in self.sources.iter().enumerate() {
            source.iter().for_each(|source| order.add_row(reader, behind.row(*source)));
            order.remove(reader, reader);
        }
        order
    }

    /// Whether every update directly follows, in modification order, the write that it reads from.
    pub fn is_atomic(&self) -> bool {
        let mut before = vec![None; self.events.len()];
        let pairs = self.writes.values().flat_map(|writes| writes.windows(2));
        pairs.for_each(|pair| before[pair[1]] = Some(pair[0]));
        let is_update = |event: &usize| self.events[*event].kind == EventKind::Update;
        (0..self.events.len()).filter(is_update).all(|it| before[it].is_some() && before[it] == self.sources[it])
    }

    /// Whether program order, reads-from, modification order and from-reads have no cycle together:
    /// some interleaving makes the graph.
    pub fn is_sc(&self) -> bool {
        let all = self.program_order() | &self.reads_from() | &self.modification_order() | &self.from_reads();
        self.is_atomic() && all.is_acyclic()
    }
}
