//! Closed sets of configurations with store buffers.

use super::finals::check_no_final_state;
use super::local::{Memory, Threads};
use super::races::check_no_race;
use super::reductions::{dead_delays, silent_addresses};
use super::steps::{Configuration, Control, DownSet, Successor};
use super::{Buffering, Goal, Known};
use crate::failure::reject;
use crate::tokens::{in_order, initial_tokens};
use crate::{CheckFailure, Obligation};
use palisade_evidence::{BufferConfiguration, BufferEntry, BufferInvariant, Tokens};
use palisade_model::program::{Copies, Program};

/// Checks that a set of configurations of the sliced program contains the initial ones, is closed
/// under all steps, and meets no target: as it stands, or up to shifts of the program's counters.
pub(super) fn check_closed_set(
    sliced: &Program,
    buffering: Buffering,
    goal: &Goal<'_>,
    known: Known<'_>,
    invariant: &BufferInvariant,
) -> Result<(), CheckFailure> {
    let may_count =
        known.counts && goal.question.is_none() && !matches!(buffering, Buffering::Lagging | Buffering::Noted);
    match check_set(sliced, buffering, goal, known, invariant, false) {
        Err(failure) if failure.obligation == Obligation::Inductive && may_count => {
            check_set(sliced, buffering, goal, known, invariant, true).map_err(|_| failure)
        }
        checked => checked,
    }
}

/// Checks a set as it stands, or up to shifts.
fn check_set(
    sliced: &Program,
    buffering: Buffering,
    goal: &Goal<'_>,
    known: Known<'_>,
    invariant: &BufferInvariant,
    up_to_shifts: bool,
) -> Result<(), CheckFailure> {
    let silent = silent_addresses(sliced, buffering, known.bounds, &invariant.silent)?;
    let mut threads =
        Threads::new(sliced, buffering, goal, invariant, (dead_delays(sliced, buffering), silent), known)?;
    threads.written_by_slice = known.written.clone();
    if up_to_shifts && !threads.count() {
        reject!(Inductive, "the set is not closed, and the program has no counters");
    }
    let mut configurations = Vec::with_capacity(invariant.configurations.len());
    for given in &invariant.configurations {
        let configuration = threads.decode(given)?;
        configurations.push(threads.in_form_of_shifts(configuration)?);
    }
    let set = DownSet::new(configurations);
    let control = Control { memory: threads.memories.number(Memory::new()), locked: false };
    for tokens in initial_tokens(sliced, |thread| threads.initial_states(thread))? {
        let initial = threads.in_form_of_shifts(Configuration { control, tokens })?;
        if !set.contains(&initial) {
            reject!(Initial, "the set does not cover the initial {}", threads.in_words(&initial));
        }
    }
    for configuration in set.configurations() {
        if let Some(question) = goal.question {
            check_no_final_state(&threads, question, configuration)?;
        }
        if buffering == Buffering::Noted {
            check_no_race(&threads, configuration)?;
        }
        for Successor { thread, step, configuration: successor } in threads.successors(configuration)? {
            let successor = threads.in_form_of_shifts(successor)?;
            if !set.contains(&successor) {
                reject!(
                    Inductive,
                    "the set does not cover {}, where {} leads from {}",
                    threads.in_words(&successor),
                    threads.move_in_words(thread, step),
                    threads.in_words(configuration)
                );
            }
        }
    }
    Ok(())
}

impl Threads<'_> {
    /// The configuration that stands for one and all that are it shifted, where configurations
    /// count up to shifts.
    fn in_form_of_shifts(&mut self, configuration: Configuration) -> Result<Configuration, CheckFailure> {
        let Some(shifts) = &self.shifts else { return Ok(configuration) };
        let Control { memory, locked } = configuration.control;
        let before = self.memories.get(memory).clone();
        let value_at = |address| before.get(&address).copied().unwrap_or_else(|| self.program.initial_value(address));
        let Some(by) = shifts.to_form(self.program, value_at) else { return Ok(configuration) };
        let mut after = before.clone();
        for address in shifts.addresses() {
            let value = shifts.at_address(&by, address, value_at(address))?;
            after.insert(address, value);
            if value == self.program.initial_value(address) {
                after.remove(&address);
            }
        }
        let mut tokens = Vec::with_capacity(configuration.tokens.len());
        for (local, count) in configuration.tokens {
            let mut local = self.locals.get(local).clone();
            if let Some(label) = local.label {
                local.registers = shifts.registers(&by, local.thread, label, local.registers)?;
            }
            for entry in &mut local.buffer {
                if let BufferEntry::Store(address, value) = entry {
                    *value = shifts.at_address(&by, *address, *value)?;
                }
            }
            tokens.push((self.locals.number(local), count));
        }
        in_order(&mut tokens);
        let memory = self.memories.number(after);
        Ok(Configuration { control: Control { memory, locked }, tokens })
    }

    /// A configuration from positions in the evidence's tables.
    fn decode(&self, given: &BufferConfiguration) -> Result<Configuration, CheckFailure> {
        let Some(memory) = self.memory_numbers.get(given.memory as usize).copied() else {
            reject!(Form, "there is no memory {} in the table", given.memory);
        };
        let mut tokens = Vec::with_capacity(given.tokens.len());
        for (index, count) in &given.tokens {
            let Some(local) = self.local_numbers.get(*index as usize).copied() else {
                reject!(Form, "there is no local state {index} in the table");
            };
            let is_replicated = self.program.thread(self.locals.get(local).thread).copies == Copies::Any;
            match count {
                Tokens::Finite(0) => reject!(Form, "local state {index} is listed with no threads"),
                Tokens::Omega if !is_replicated => {
                    reject!(Form, "ω threads in local state {index} of a thread with a fixed number of copies")
                }
                _ => tokens.push((local, *count)),
            }
        }
        in_order(&mut tokens);
        if let Some(pair) = tokens.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            reject!(Form, "a configuration lists {} twice", self.local_in_words(pair[0].0));
        }
        Ok(Configuration { control: Control { memory, locked: given.locked }, tokens })
    }
}
