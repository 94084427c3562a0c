//! Closed sets of configurations with store buffers.

use super::finals::check_no_final_state;
use super::local::{Memory, Threads};
use super::races::check_no_race;
use super::reductions::{dead_delays, silent_addresses};
use super::steps::{Configuration, Control, DownSet};
use super::{Buffering, Goal, Known};
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::{in_order, initial_tokens};
use palisade_evidence::{BufferConfiguration, BufferInvariant, Tokens};
use palisade_model::program::{Copies, Program};

/// Checks that a set of configurations of the sliced program contains the initial ones, is closed under all steps, and meets no
/// target.
pub(super) fn check_closed_set(
    sliced: &Program,
    buffering: Buffering,
    goal: &Goal<'_>,
    known: Known<'_>,
    invariant: &BufferInvariant,
) -> Result<(), CheckFailure> {
    let silent = silent_addresses(sliced, buffering, known.bounds, &invariant.silent)?;
    let mut threads =
        Threads::new(sliced, buffering, goal, invariant, (dead_delays(sliced, buffering), silent), known)?;
    threads.written_by_slice = known.written.clone();
    let given = &invariant.configurations;
    let configurations: Vec<Configuration> =
        given.iter().map(|configuration| threads.decode(configuration)).collect::<Result<_, _>>()?;
    let set = DownSet::new(configurations);
    let control = Control { memory: threads.memories.number(Memory::new()), locked: false };
    for tokens in initial_tokens(sliced, |thread| threads.initial_states(thread))? {
        let initial = Configuration { control, tokens };
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
        for successor in threads.successors(configuration)? {
            if !set.contains(&successor.configuration) {
                reject!(
                    Inductive,
                    "the set does not cover {}, where {} leads from {}",
                    threads.in_words(&successor.configuration),
                    threads.move_in_words(successor.thread, successor.step),
                    threads.in_words(configuration)
                );
            }
        }
    }
    Ok(())
}

impl Threads<'_> {
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
