//! The marking after a step, with ω where steps can be repeated.

use super::store::Store;
use super::tokens::{put, take};
use super::trail::Trail;
use super::{Entry, LazyNet, Step, Tokens, is_covered};

/// Moves the token of a step, and puts the one that it makes; with `omega`, puts any number of them.
pub(super) fn move_token<N: LazyNet>(net: &N, entries: &mut Vec<Entry>, step: &Step, omega: bool) {
    if let Some(place) = step.take {
        take(entries, place);
    }
    if let Some(place) = step.put {
        put(entries, place, omega);
    }
    if let Some(place) = net.also_puts(step) {
        put(entries, place, omega);
    }
}

/// The marking after a step from the node at the end of a trail, accelerated; counts the ancestors that it is compared with.
pub(super) fn accelerated<N: LazyNet>(
    net: &mut N,
    store: &Store,
    trail: &Trail,
    step: &Step,
    entries: &mut Vec<Entry>,
) -> Result<usize, N::Error> {
    let from_omega =
        step.take.is_some_and(|place| entries.iter().any(|entry| entry.place == place && entry.tokens.is_omega()));
    let copycat = from_omega && (step.put.is_some() || net.also_puts(step).is_some()) && net.repeats(step)?;
    move_token(net, entries, step, copycat);
    let mut compared = 0;
    let mut grew = true;
    while grew && entries.iter().any(|entry| !entry.tokens.is_omega() && net.is_unbounded(entry.place)) {
        grew = false;
        // Only where the control is the same can the steps in between be repeated.
        for ancestor in trail.with_control(step.control).iter().rev() {
            compared += 1;
            if is_covered(store.entries(*ancestor), entries) {
                grew |= set_omega(store.entries(*ancestor), entries);
            }
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
