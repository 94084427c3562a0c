//! The marking after a step, with ω where steps can be repeated.

use super::store::Store;
use super::tokens::{put, take};
use super::trail::Trail;
use super::{Entry, LazyNet, Step, Tokens, is_covered};

/// Moves the token of a step, and puts the one that it makes; with `omega`, puts any number of
/// them.
pub(super) fn move_token<N: LazyNet>(net: &N, entries: &mut Vec<Entry>, step: &Step, omega: bool) {
    if let Some(place) = step.take {
        take(entries, place);
    }
    net.make_room(step, entries);
    if let Some(place) = step.put {
        put(entries, place, omega);
    }
    if let Some(place) = net.also_puts(step) {
        put(entries, place, omega);
    }
}

/// A marking after a step.
pub(super) struct Fired {
    /// Its control.
    pub(super) control: u32,
    /// The symmetry that has taken it, with all steps before, from the root's marking to its form;
    /// 0 for none.
    pub(super) symmetry: u32,
    /// How many ancestors it was compared with.
    pub(super) compared: usize,
}

/// The marking after a step from the node at the end of a trail, accelerated.
///
/// Between an ancestor and a marking above it that a symmetry σ has taken to its form, the steps in
/// between, taken by σ, can be repeated from there. They lead above the marking again, by σ of the
/// difference as well. So after enough repetitions there is any number of tokens on every place of
/// the difference, and on those that σ takes it to, again and again.
pub(super) fn accelerated<N: LazyNet>(
    net: &mut N,
    store: &Store,
    trail: &Trail,
    step: &Step,
    symmetry: u32,
    entries: &mut Vec<Entry>,
) -> Result<Fired, N::Error> {
    let from_omega =
        step.take.is_some_and(|place| entries.iter().any(|entry| entry.place == place && entry.tokens.is_omega()));
    let copycat = from_omega && (step.put.is_some() || net.also_puts(step).is_some()) && net.repeats(step)?;
    move_token(net, entries, step, copycat);
    let (control, own) = net.normalise(step.control, entries);
    let symmetry = net.together(symmetry, own);
    let mut compared = 0;
    let mut grew = true;
    while grew && (symmetry != 0 || can_grow(net, entries)) {
        grew = false;
        // Only where the control is the same can the steps in between be repeated.
        for ancestor in trail.with_control(control).iter().rev() {
            compared += 1;
            if is_covered(store.entries(*ancestor), entries) {
                let before = store.symmetry(*ancestor);
                grew |= if before == symmetry {
                    set_omega(store.entries(*ancestor), entries)
                } else {
                    set_omega_around(net, (before, symmetry), store.entries(*ancestor), entries)
                };
            }
        }
    }
    Ok(Fired { control, symmetry, compared })
}

/// Whether some place may get ω.
fn can_grow<N: LazyNet>(net: &N, entries: &[Entry]) -> bool {
    entries.iter().any(|entry| !entry.tokens.is_omega() && net.is_unbounded(entry.place))
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

/// Sets ω wherever `entries` has more than the ancestor it covers, and where the symmetry between
/// the two takes that; whether anything changed.
fn set_omega_around<N: LazyNet>(
    net: &mut N,
    (from, to): (u32, u32),
    ancestor: &[Entry],
    entries: &mut Vec<Entry>,
) -> bool {
    let grown = entries.iter().filter(|entry| {
        let before = ancestor.binary_search_by_key(&entry.place, |old| old.place);
        before.map_or(true, |index| ancestor[index].tokens < entry.tokens)
    });
    let grown: Vec<u32> = grown.map(|entry| entry.place).collect();
    let mut changed = false;
    for place in grown {
        for place in net.orbit(from, to, place) {
            let known = entries.binary_search_by_key(&place, |entry| entry.place);
            if known.is_err() || known.is_ok_and(|index| !entries[index].tokens.is_omega()) {
                put(entries, place, true);
                changed = true;
            }
        }
    }
    changed
}
