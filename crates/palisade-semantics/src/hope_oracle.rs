//! The brute-force oracle for who waits while others go on: the graph of all states of a small
//! instance, and for each copy the states from which it can be let go on.

use super::hang_oracle::{Global, HangEffort, HangsUnanswered, Search, at};
use super::instance::Instance;
use super::machine::Model;
use palisade_model::program::{Action, Patience, Program};
use std::collections::BTreeMap;

/// Whether there is a state in which a copy waits, must not wait for ever, and does so in all
/// states that come of this one if no sleeper goes on for no reason. And whether no store had to
/// wait for room in a buffer.
///
/// # Errors
///
/// When a step computes a value that does not exist, or there are too many states.
pub fn hopeless(
    program: &Program,
    instance: &Instance,
    model: Model,
    effort: HangEffort,
) -> Result<(bool, bool), HangsUnanswered> {
    let (mut search, initial) = Search::new(program, instance, model, effort);
    let mut numbers: BTreeMap<Global, usize> = BTreeMap::from([(initial.clone(), 0)]);
    let mut states = vec![initial];
    // From which states steps lead to each that are none of a sleeper for no reason.
    let mut before: Vec<Vec<usize>> = vec![Vec::new()];
    let mut next = 0;
    while next < states.len() {
        if next > effort.states {
            return Err(HangsUnanswered::States);
        }
        let state = states[next].clone();
        for (position, copy) in state.copies.iter().enumerate() {
            for step in search.steps(&state, position)? {
                let number = *numbers.entry(step.after.clone()).or_insert(states.len());
                if number == states.len() {
                    states.push(step.after);
                    before.push(Vec::new());
                }
                if copy.asleep.is_none() {
                    before[number].push(next);
                }
            }
        }
        next += 1;
    }
    let mut somebody = false;
    for position in 0..states[0].copies.len() {
        let mut is_hopeful = vec![false; states.len()];
        let mut open = Vec::new();
        for (number, state) in states.iter().enumerate() {
            if is_stopped(&mut search, state)? || !hangs(&mut search, state, position)? {
                open.push(number);
            }
        }
        while let Some(number) = open.pop() {
            if !std::mem::replace(&mut is_hopeful[number], true) {
                open.extend(&before[number]);
            }
        }
        somebody |= is_hopeful.contains(&false);
    }
    Ok((somebody, search.is_closed()))
}

/// Whether a copy waits in a state and must not wait for ever.
fn hangs(search: &mut Search<'_>, state: &Global, position: usize) -> Result<bool, HangsUnanswered> {
    let copy = &state.copies[position];
    let thread = search.threads[position];
    if !copy.buffer.is_empty() {
        return Ok(false);
    }
    let patience = match copy.asleep {
        Some(id) => vec![thread.instruction(id).patience()],
        None if at(thread, copy.label).next().is_none() => return Ok(false),
        None => match search.waits(state, position)? {
            Some(patience) => patience,
            None => return Ok(false),
        },
    };
    let gives_up = patience.contains(&Patience::Timed) && !search.effort.ignores_timeouts;
    Ok(!gives_up && !thread.is_daemon && !patience.contains(&Patience::Idle))
}

/// Whether an `assume` has stopped a copy.
fn is_stopped(search: &mut Search<'_>, state: &Global) -> Result<bool, HangsUnanswered> {
    for (position, copy) in state.copies.iter().enumerate() {
        let mut here = at(search.threads[position], copy.label).peekable();
        let only_assumes = here.peek().is_some() && here.all(|(_, own)| matches!(own.action, Action::Assume(_)));
        if copy.asleep.is_none() && only_assumes && search.steps(state, position)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
