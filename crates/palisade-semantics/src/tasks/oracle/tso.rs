//! Robustness against TSO: all TSO computations, and the cycles of their happens-before.

use super::reach::{Line, Reach};
use super::search::{Answer, Found, Monitor, Names, OracleError, Search, Successors, TaskBounds, fixed};
use crate::Model;
use crate::tasks::{InvocationId, TaskEffect, TaskMachine, TaskState, TaskStep, Worker};
use crate::trace::{write_number, write_value};
use palisade_model::ordered::{self, CollectOrdered};
use palisade_model::program::{Program, Value};
use std::collections::BTreeSet;

/// Whether a program is robust against TSO, by enumeration of its TSO computations.
///
/// # Errors
///
/// When the copies are not fixed, a value does not exist, or the bounds are reached.
pub fn tso(program: &Program, bounds: &TaskBounds) -> Result<Answer<()>, OracleError> {
    decide(program, bounds, Successors::Reduced)
}

pub(super) fn decide(
    program: &Program,
    bounds: &TaskBounds,
    successors: Successors,
) -> Result<Answer<()>, OracleError> {
    fixed(program)?;
    let machine = TaskMachine::new(program, Model::Tso);
    let Found { found, truncated } = Search::new(&machine, successors, bounds).run(HappensBefore::default())?;
    Ok(match found {
        None => Answer::Robust { truncated },
        Some((mut computation, _, state)) => {
            computation.extend(flushes(&state));
            Answer::Violated { computation, how: () }
        }
    })
}

/// The flushes that empty all buffers. A cycle closes when a store reaches memory while no section
/// is open, so nothing is in their way.
fn flushes(state: &TaskState) -> Vec<TaskStep> {
    let own = state.invocations().iter().enumerate();
    let own = own.flat_map(|(invocation, it)| std::iter::repeat_n(TaskStep::Flush { invocation }, it.buffer.len()));
    own.chain(std::iter::repeat_n(TaskStep::FlushMain, state.main_buffer().len())).collect()
}

/// What a computation's happens-before leads to, with the locked section that is open.
#[derive(Clone, Debug, Default)]
struct HappensBefore {
    reach: Reach,
    /// What the open section has read and written so far. Nobody else accesses memory meanwhile.
    section: Option<Section>,
}

/// The accesses of a locked section.
#[derive(Clone, Debug, Default)]
struct Section {
    reads: BTreeSet<Value>,
    writes: BTreeSet<Value>,
}

fn line_of(state: &TaskState, invocation: InvocationId) -> Line {
    match state.invocations()[invocation].worker {
        Worker::Main => Line::Main,
        Worker::Own => Line::Own(invocation),
    }
}

impl HappensBefore {
    fn access(&mut self, line: Line, read: Option<Value>, written: Option<Value>) {
        if let Some(section) = &mut self.section {
            section.reads.extend(read);
            section.writes.extend(written);
        } else {
            self.reach.access(line, &read.into_iter().collect_set(), &written.into_iter().collect_set());
        }
    }

    fn execute(&mut self, line: Line, is_holder: bool, effect: TaskEffect) {
        match effect {
            TaskEffect::Read { address, early: false, .. } => self.access(line, Some(address), None),
            TaskEffect::Read { address, early: true, .. } if !is_holder => self.reach.read_early(line, address),
            TaskEffect::Update { address, new, .. } => {
                self.access(line, Some(address), new.is_some().then_some(address));
            }
            TaskEffect::Issue { address, .. } if !is_holder => self.reach.issue(line, address),
            TaskEffect::Lock => self.section = Some(Section::default()),
            TaskEffect::Unlock => {
                let Section { reads, writes } = self.section.take().expect("a section is open");
                self.reach.access(line, &reads, &writes);
            }
            TaskEffect::Post { invocation } => self.reach.post(line, invocation),
            _ => {}
        }
    }

    fn flush(&mut self, line: Line, effect: TaskEffect) {
        if let (Some(section), TaskEffect::Write { address, .. }) = (&mut self.section, effect) {
            section.writes.insert(address);
        } else {
            self.reach.flush(line);
        }
    }
}

impl Monitor for HappensBefore {
    fn record(&mut self, before: &TaskState, step: TaskStep, effect: TaskEffect, after: &TaskState) {
        match step {
            TaskStep::Occur { .. } => self.execute(Line::Main, false, effect),
            TaskStep::Begin { invocation } => self.reach.begin(line_of(after, invocation), invocation),
            TaskStep::Execute { invocation, .. } => {
                let is_holder = before.holder() == Some(invocation);
                self.execute(line_of(after, invocation), is_holder, effect);
            }
            TaskStep::Return { invocation } => {
                if let line @ Line::Own(_) = line_of(after, invocation) {
                    self.reach.end(line);
                }
            }
            TaskStep::Flush { invocation } => self.flush(Line::Own(invocation), effect),
            TaskStep::FlushMain => self.flush(Line::Main, effect),
        }
    }

    fn is_found(&self) -> bool {
        self.reach.is_cyclic
    }

    fn write_key(&self, _: &TaskState, names: &Names, key: &mut Vec<u8>) {
        let line_name = |line: &Line| if let Line::Own(id) = line { names.place[*id] + 1 } else { 0 };
        // Stores of one thread stand in its buffer in order of issue.
        let mut stores: Vec<_> = self.reach.waiting.iter().collect();
        ordered::sort_by_key(&mut stores, |(id, waiting)| (line_name(&waiting.line), **id));
        let place = |id: usize| stores.iter().position(|(other, _)| **other == id).expect("the store is buffered");
        for (_, waiting) in &stores {
            let sorted = |mut numbers: Vec<usize>| {
                numbers.sort_unstable();
                numbers
            };
            write_numbers(key, &sorted(waiting.lines.iter().map(line_name).collect()));
            write_numbers(key, &sorted(waiting.posts.iter().map(|id| names.place[*id]).collect()));
            write_numbers(
                key,
                &sorted(waiting.stores.iter().map(|(id, level)| 2 * place(*id) + *level as usize).collect()),
            );
            write_number(key, waiting.memory.len());
            for (address, level) in &waiting.memory {
                write_value(key, *address);
                write_number(key, *level as usize);
            }
        }
        if let Some(Section { reads, writes }) = &self.section {
            for accesses in [reads, writes] {
                write_number(key, accesses.len());
                accesses.iter().for_each(|address| write_value(key, *address));
            }
        }
    }
}

fn write_numbers(key: &mut Vec<u8>, numbers: &[usize]) {
    write_number(key, numbers.len());
    numbers.iter().for_each(|number| write_number(key, *number));
}
