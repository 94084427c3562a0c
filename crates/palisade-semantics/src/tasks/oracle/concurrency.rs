//! Robustness against concurrency: all SC computations, the graph of their events and the order
//! inside each event.

use super::Level;
use super::search::{Answer, Found, Monitor, Names, OracleError, Search, Successors, TaskBounds, fixed, without_event};
use crate::Model;
use crate::tasks::{InvocationId, TaskEffect, TaskMachine, TaskState, TaskStep};
use crate::trace::{write_number, write_value};
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Program, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How a computation violates robustness against concurrency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Conflicts order events in a cycle.
    Serializability,
    /// Conflicting accesses of two invocations of one event come in another order than in the
    /// serial run.
    Determinism,
}

/// Whether a program is robust against concurrency, by enumeration of its SC computations; only
/// violations of these kinds count.
///
/// # Errors
///
/// When the copies are not fixed, a thread belongs to no event, a value does not exist, or the
/// bounds are reached.
pub fn concurrency(program: &Program, kinds: &[Kind], bounds: &TaskBounds) -> Result<Answer<Kind>, OracleError> {
    decide(program, kinds, bounds, Successors::Reduced)
}

pub(super) fn decide(
    program: &Program,
    kinds: &[Kind],
    bounds: &TaskBounds,
    successors: Successors,
) -> Result<Answer<Kind>, OracleError> {
    fixed(program)?;
    if let Some(thread) = without_event(program) {
        return Err(OracleError::NoEvent(thread.name.clone()));
    }
    let machine = TaskMachine::new(program, Model::Sc);
    let Found { found, truncated } = Search::new(&machine, successors, bounds).run(Conflicts::new(kinds))?;
    Ok(match found {
        None => Answer::Robust { truncated },
        Some((computation, monitor, _)) => {
            let how = monitor.seen.expect("the search found a violation");
            Answer::Violated { computation, how }
        }
    })
}

/// What the order of conflicting accesses was so far.
#[derive(Clone, Debug)]
struct Conflicts {
    /// The kinds of violations that count.
    kinds: BTreeSet<Kind>,
    /// For each address, the invocations that accessed it.
    accesses: BTreeMap<Value, BTreeMap<InvocationId, Level>>,
    /// For each event, by number of its occurrence, those that a path of conflicts leads to.
    after: BTreeMap<u32, BTreeSet<u32>>,
    /// The first violation that counts.
    seen: Option<Kind>,
    /// Whether a locked section is open.
    is_locked: bool,
}

impl Conflicts {
    fn new(kinds: &[Kind]) -> Self {
        let kinds = kinds.iter().copied().collect_set();
        Self { kinds, accesses: BTreeMap::new(), after: BTreeMap::new(), seen: None, is_locked: false }
    }

    fn access(&mut self, state: &TaskState, invocation: InvocationId, address: Value, level: Level) {
        let path = |id: InvocationId| &state.invocations()[id].path;
        let (own, mut earlier, mut is_inverted) = (path(invocation)[0], BTreeSet::new(), false);
        let accesses = self.accesses.entry(address).or_default();
        for (other, other_level) in accesses.iter() {
            if level == Level::Read && *other_level == Level::Read {
                continue;
            }
            if path(*other)[0] == own {
                is_inverted |= path(*other) > path(invocation);
            } else {
                earlier.insert(path(*other)[0]);
            }
        }
        accesses.entry(invocation).and_modify(|before| *before = level.max(*before)).or_insert(level);
        if is_inverted {
            self.report(Kind::Determinism);
        }
        earlier.into_iter().for_each(|event| self.edge(event, own));
    }

    /// An access of one event comes before a conflicting one of another.
    fn edge(&mut self, from: u32, to: u32) {
        let mut behind = self.after.get(&to).cloned().unwrap_or_default();
        behind.insert(to);
        let before: Vec<u32> = self
            .after
            .iter()
            .filter(|(_, after)| after.contains(&from))
            .map(|(event, _)| *event)
            .chain([from])
            .collect();
        for event in before {
            if behind.contains(&event) {
                self.report(Kind::Serializability);
            }
            self.after.entry(event).or_default().extend(behind.iter().copied());
        }
    }

    fn report(&mut self, kind: Kind) {
        if self.seen.is_none() && self.kinds.contains(&kind) {
            self.seen = Some(kind);
        }
    }
}

/// The accesses of an effect under SC: an address, and whether it was written.
pub(super) fn access_of(effect: TaskEffect) -> Option<(Value, Level)> {
    match effect {
        TaskEffect::Read { address, .. } | TaskEffect::Update { address, new: None, .. } => {
            Some((address, Level::Read))
        }
        TaskEffect::Write { address, .. } | TaskEffect::Update { address, new: Some(_), .. } => {
            Some((address, Level::Write))
        }
        _ => None,
    }
}

/// The invocation that accesses memory by a step under SC: an event's guard is read by its handler.
pub(super) fn accessor(step: TaskStep, after: &TaskState) -> Option<InvocationId> {
    match step {
        TaskStep::Occur { .. } => after.on_main(),
        TaskStep::Execute { invocation, .. } => Some(invocation),
        _ => None,
    }
}

impl Monitor for Conflicts {
    fn record(&mut self, _: &TaskState, step: TaskStep, effect: TaskEffect, after: &TaskState) {
        self.is_locked = after.holder().is_some();
        if let (Some((address, level)), Some(invocation)) = (access_of(effect), accessor(step, after)) {
            self.access(after, invocation, address, level);
        }
    }

    fn is_found(&self) -> bool {
        self.seen.is_some() && !self.is_locked
    }

    fn write_key(&self, _: &TaskState, names: &Names, key: &mut Vec<u8>) {
        write_number(key, self.seen.map_or(0, |kind| kind as usize + 1));
        write_number(key, self.accesses.len());
        for (address, accesses) in &self.accesses {
            write_value(key, *address);
            write_number(key, accesses.len());
            for id in names.order.iter().filter(|id| accesses.contains_key(id)) {
                write_number(key, names.place[*id]);
                write_number(key, accesses[id] as usize);
            }
        }
        for (event, after) in &self.after {
            write_number(key, *event as usize);
            write_number(key, after.len());
            after.iter().for_each(|event| write_number(key, *event as usize));
        }
    }
}
