//! The marking after a step, with ω where steps can be repeated.

use super::store::Store;
use super::tokens::{put, take};
use super::{Entry, LazyNet, Step, Tokens, is_covered};

/// Moves the token of a step; with `omega`, puts any number of them.
pub(super) fn move_token(entries: &mut Vec<Entry>, step: &Step, omega: bool) {
    if let Some(place) = step.take {
        take(entries, place);
    }
    if let Some(place) = step.put {
        put(entries, place, omega);
    }
}

/// The marking after a step from a node, accelerated; counts the ancestors that it is compared with.
pub(super) fn accelerated<N: LazyNet>(
    net: &mut N,
    store: &Store,
    node: u32,
    step: &Step,
    entries: &mut Vec<Entry>,
) -> Result<usize, N::Error> {
    let from_omega =
        step.take.is_some_and(|place| entries.iter().any(|entry| entry.place == place && entry.tokens.is_omega()));
    let copycat = from_omega && step.put.is_some() && net.repeats(step)?;
    move_token(entries, step, copycat);
    let mut compared = 0;
    let mut grew = true;
    while grew && entries.iter().any(|entry| !entry.tokens.is_omega() && net.is_unbounded(entry.place)) {
        grew = false;
        let mut ancestor = Some(node);
        while let Some(number) = ancestor {
            compared += 1;
            if store.control(number) == step.control && is_covered(store.entries(number), entries) {
                grew |= set_omega(store.entries(number), entries);
            }
            ancestor = store.parent(number);
        }
    }
    Ok(compared)
}

/// Sets ω wherever `entries` has more than the ancestor it covers; whether anything changed.
fn set_omega(ancestor: &[Entry], entries: &mut [Entry]) -> bool {
    let mut changed = false;
    for entry in entries.iter_mut().filter(|entry| !entry.tokens.is_omega()) {
        let before = ancestor.iter().find(|old| old.place == entry.place);
        if before.is_none_or(|old| old.tokens < entry.tokens) {
            entry.tokens = Tokens::OMEGA;
            changed = true;
        }
    }
    changed
}
