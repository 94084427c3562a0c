//! Final states: all copies have come to their ends, and all buffers are empty.

use super::local::Threads;
use super::steps::Configuration;
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::MOST_CHOICES;
use palisade_evidence::Tokens;
use palisade_model::program::{Copies, ThreadId, Value};
use palisade_semantics::{Observable, Quantifier, Question};

/// Whether a final state answers the question, given what it holds.
pub(super) fn answers(question: &Question, value: &impl Fn(Observable) -> Value) -> bool {
    let condition = question.condition();
    let holds = condition.proposition.holds(value);
    question.keeps(value)
        && match condition.quantifier {
            Quantifier::Exists | Quantifier::NotExists => holds,
            Quantifier::ForAll => !holds,
        }
}

/// Checks that a configuration covers no final state that answers the question. It must not have
/// more threads than run, so that it covers no final state but itself.
pub(super) fn check_no_final_state(
    threads: &Threads<'_>,
    question: &Question,
    configuration: &Configuration,
) -> Result<(), CheckFailure> {
    let mut choices: Vec<Vec<Option<u32>>> = vec![Vec::new()];
    for (id, thread) in threads.program.thread_ids() {
        let own: Vec<(u32, u64)> = tokens_of(threads, configuration, id)?;
        let count = own.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
        let Copies::Exactly(copies) = thread.copies else { reject!(Form, "final states need fixed numbers of copies") };
        if count > copies {
            reject!(Form, "a configuration has {count} copies of thread `{}`, of which {copies} run", thread.name);
        }
        if count < copies || own.iter().any(|(local, _)| !has_ended(threads, *local)) {
            return Ok(());
        }
        // The question is about the first copy, which may be any of them.
        let first: Vec<Option<u32>> =
            if own.is_empty() { vec![None] } else { own.iter().map(|(local, _)| Some(*local)).collect() };
        if choices.len() * first.len() > MOST_CHOICES {
            reject!(Form, "there are too many choices of first copies in a final state");
        }
        let with = |choice: &Vec<Option<u32>>| {
            let choice = choice.clone();
            first
                .iter()
                .map(move |local| choice.iter().copied().chain([*local]).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(with).collect();
    }
    for choice in choices {
        let value = |observable| match observable {
            Observable::Register { thread, register } => match choice[ThreadId::index(thread)] {
                Some(local) => threads.locals.get(local).registers[register.index()],
                None => threads.program.thread(thread).registers[register.index()].initial,
            },
            Observable::Address(address) => threads.in_memory(configuration.control, address),
        };
        if answers(question, &value) {
            reject!(Safe, "the set contains {}, which answers the question", threads.in_words(configuration));
        }
    }
    Ok(())
}

/// The states of the copies of a thread, with how many are in each.
fn tokens_of(
    threads: &Threads<'_>,
    configuration: &Configuration,
    thread: ThreadId,
) -> Result<Vec<(u32, u64)>, CheckFailure> {
    let mut own = Vec::new();
    for (local, count) in &configuration.tokens {
        if threads.locals.get(*local).thread != thread {
            continue;
        }
        match count {
            Tokens::Finite(count) => own.push((*local, *count)),
            Tokens::Omega => reject!(Form, "final states need fixed numbers of copies"),
        }
    }
    Ok(own)
}

/// Whether a thread has come to its end, and all its stores have reached memory.
fn has_ended(threads: &Threads<'_>, local: u32) -> bool {
    let local = threads.locals.get(local);
    local.buffer.is_empty() && local.label.is_some_and(|label| threads.instructions_at(local.thread, label).is_empty())
}
