//! The intermediate representation: threads, events and tasks as control-flow automata over
//! integers or a finite domain.
//!
//! A [`Program`] is what every reader of a program text produces and every later stage takes:
//! threads (with the number of copies of each), labels, registers, instructions with resolved
//! names, the initial memory, and the domain its values live in. Names are resolved to index types
//! over arenas; source positions stay attached as [`Span`]s. Besides `ordered` and `text`, this
//! room depends on no other.

mod accepted;
mod by_label;
mod counters;
mod counts;
mod domain;
mod expression;
mod final_claim;
mod ids;
mod insertion;
mod instruction;
mod joint;
mod language;
mod listing;
mod liveness;
mod low_bits;
mod measure;
mod monitors;
mod names;
mod operation;
mod ordering;
mod overrides;
mod queue;
mod queues;
mod register_sets;
mod role;
mod saturation;
mod sites;
mod sleeping;
mod spins;
mod structural_warnings;
mod tasks;
mod thread;
mod tickets;
mod wrapping;

pub use accepted::AcceptedDelay;
pub use by_label::ByLabel;
pub use counters::{CounterClass, Counters, Form, KeptOut, Member, OutcomeCounters, modulo};
pub use counts::{Balances, Count, Counted};
pub use domain::{Domain, DomainOrigin, EvaluationError, Value, admitted};
pub use expression::{BinaryOperator, Expression, UnaryOperator, truncate};
pub use final_claim::FinalClaim;
pub use ids::{AddressId, InstructionId, LabelId, RegisterId, ThreadId};
pub use insertion::Insertion;
pub use instruction::{Action, Instruction};
pub use joint::{JointState, Place};
pub use language::{Language, NoText};
pub use listing::{Heading, HeapBlocks, Listed, MemoryFault, ReadFile, SourceAccess};
pub use liveness::Liveness;
pub use low_bits::LowBits;
pub use measure::Measure;
pub use monitors::NoMonitor;
pub use names::NameSpace;
pub use operation::Operation;
pub use ordering::{Ordering, Stated};
pub use overrides::{CopiesOverride, DomainOverride, OverrideError};
pub use queue::{Patience, Queue};
pub use queues::{NotQueued, QueueStep, Queued};
pub use register_sets::RegisterSets;
pub use role::{Executor, Guard, Posts, Role};
pub use saturation::{Saturated, saturated};
pub use sites::Sites;
pub use structural_warnings::{StructuralWarning, lock_states, structural_warnings};
pub use thread::{Copies, Label, Naming, Register, Thread};
pub use tickets::{TicketPair, Tickets};

pub use crate::text::{Obstacle, Origin, Position, SourceText, Span};

use std::collections::BTreeMap;
use std::sync::Arc;

/// A named address, or an array of consecutive ones, as declared or as met in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressName {
    /// The name as written.
    pub name: String,
    /// The (first) address.
    pub address: Value,
    /// The number of consecutive addresses; 1 unless declared as an array.
    pub length: u32,
    /// Where the name was declared or first used.
    pub span: Span,
}

/// A parallel program with shared memory ([ESOP13, Fig. 1], extended as LANGUAGE.md says).
#[derive(Clone, Debug)]
pub struct Program {
    /// The program's name.
    pub name: String,
    /// The domain of data values, when one is declared or given.
    pub domain: Option<Domain>,
    /// Address names, in order of appearance.
    pub addresses: Vec<AddressName>,
    /// Initial values of memory that are not zero, by address.
    pub initial_memory: BTreeMap<Value, Value>,
    /// The threads, the events' handlers and the tasks, in order of appearance.
    pub threads: Vec<Thread>,
    /// What posts do to store buffers.
    pub posts: Posts,
    /// The joint control states that must never be reached, in order of appearance: properties
    /// beside `ensure` and `fail`.
    pub never: Vec<JointState>,
    /// What must hold of memory in the end, in order of appearance. `check` asks it with hangs; it
    /// changes no computation.
    pub finally: Vec<FinalClaim>,
    /// The delays that are accepted: robustness is asked but for these. Of machine code alone.
    pub accepted: Vec<AcceptedDelay>,
    /// The text the program was read from (empty for programs built in memory).
    pub source: Arc<SourceText>,
}

impl Program {
    /// The thread with the given id.
    #[inline]
    pub fn thread(&self, id: ThreadId) -> &Thread {
        &self.threads[id.index()]
    }

    /// All threads with their ids, in order.
    #[inline]
    pub fn thread_ids(&self) -> impl Iterator<Item = (ThreadId, &Thread)> {
        self.threads.iter().enumerate().map(|(index, thread)| (ThreadId::from_index(index), thread))
    }

    /// The initial value of an address.
    #[inline]
    pub fn initial_value(&self, address: Value) -> Value {
        self.initial_memory.get(&address).copied().unwrap_or(0)
    }

    /// An instruction for people: `t1 l0 (line 3)`; where the text has no name, `t1 (line 3)`.
    pub fn place(&self, thread: ThreadId, instruction: InstructionId) -> String {
        let thread = self.thread(thread);
        let own = thread.instruction(instruction);
        format!("{}{}", thread.name, self.at(thread.label(own.source), own.span))
    }

    /// Where a label and what stands at it are, behind a name: ` l0 (line 3)`,
    /// ` (line 30, called on line 35)`. Lines of listings are nobody's.
    pub fn at(&self, label: &Label, span: Span) -> String {
        let name = label.written().map(|name| format!(" {name}")).unwrap_or_default();
        if self.source.is_listing {
            return name;
        }
        format!("{name} ({})", self.line_words(label, span))
    }

    /// `line 3`, `line 30, called on line 35`: where a span is, in the calls around its label.
    pub fn line_words(&self, label: &Label, span: Span) -> String {
        let line = self.source.position(span.start).line;
        let calls = label.calls().iter().rev().map(|line| format!(", called on line {line}"));
        format!("line {line}{}", calls.collect::<String>())
    }

    /// How an address is shown to people: its name (`slot[2]` inside an array), or its number.
    pub fn address_name(&self, address: Value) -> String {
        for entry in &self.addresses {
            let offset = i128::from(address) - i128::from(entry.address);
            if offset >= 0 && offset < i128::from(entry.length) {
                return if entry.length == 1 { entry.name.clone() } else { format!("{}[{offset}]", entry.name) };
            }
        }
        address.to_string()
    }

    /// Whether control flow alone says nothing: machine code was read under premises that only an
    /// exploration shows ([`rests_on`](Self::rests_on)), or has data without atomics, which must
    /// not have races.
    pub fn rests_on_exploration(&self) -> bool {
        if self.has_plain_data() {
            return true;
        }
        let mut actions = self.threads.iter().flat_map(|thread| &thread.instructions).map(|own| &own.action);
        let is_computed = |action: &Action| action.address().is_some_and(|address| !address.is_constant());
        actions.any(|action| self.rests_on(action) || self.source.is_listing && is_computed(action))
    }

    /// Whether the listing of machine code says of accesses that no atomic makes them.
    fn has_plain_data(&self) -> bool {
        Heading::of(&self.source).is_some_and(|heading| heading.has_plain_data)
    }

    /// Whether machine code was read under the premise that an action of it has a value whenever it
    /// is come to: computed addresses that are of no known cell, values that are none of those of a
    /// hint's cell, and code that was not understood are divided by 0.
    pub fn rests_on(&self, action: &Action) -> bool {
        self.source.is_listing && action.expressions().any(Expression::divides)
    }

    /// Whether any thread has an unbounded number of copies.
    pub fn is_parameterized(&self) -> bool {
        self.threads.iter().any(|thread| thread.copies == Copies::Any)
    }
}
