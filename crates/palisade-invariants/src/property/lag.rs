//! What a thread may load before it drains its buffer, and how often: what snapshots are kept for
//! (THEORY.md, "Snapshots").

use super::ranges::Range;
use super::values::{Bounds, accessed};
use crate::liveness::Live;
use palisade_model::program::{Action, LabelId, Program, Thread, ThreadId, Value};

/// For each thread and label, what comes on ways from there on which no instruction drains the
/// buffer.
#[derive(Default)]
pub(super) struct Lag {
    /// The addresses that loads on these ways may read.
    addresses: Vec<Vec<Range>>,
    /// The most loads on such a way; nothing when there is no bound.
    loads: Vec<Vec<Option<u64>>>,
}

impl Lag {
    /// What comes in the threads of a program, with these registers live.
    pub(super) fn of(program: &Program, live: &Live, bounds: Option<&Bounds>) -> Self {
        let addresses = program.thread_ids().map(|(id, thread)| {
            let loaded = thread.instruction_ids().map(|(instruction, own)| match own.action {
                Action::Load { .. } => accessed(program, bounds, id, instruction),
                _ => None,
            });
            addresses_before_drain(thread, &loaded.collect::<Vec<_>>())
        });
        let loads = program.threads.iter().zip(live).map(|(thread, live)| loads_before_drain(thread, live));
        Self { addresses: addresses.collect(), loads: loads.collect() }
    }

    /// Whether an address may be loaded.
    pub(super) fn may_load(&self, thread: ThreadId, label: LabelId, address: Value) -> bool {
        self.addresses[thread.index()][label.index()].contains(i128::from(address))
    }

    /// Whether so many snapshots are more than there can be loads.
    pub(super) fn exceeds(&self, thread: ThreadId, label: LabelId, snapshots: usize) -> bool {
        self.loads[thread.index()][label.index()].is_some_and(|most| snapshots as u64 > most)
    }
}

/// For each label the addresses that instructions before a drain load, of which each has those
/// given.
fn addresses_before_drain(thread: &Thread, loaded: &[Option<Range>]) -> Vec<Range> {
    let mut found: Vec<Vec<(i128, i128)>> = vec![Vec::new(); thread.labels.len()];
    loop {
        let mut is_stable = true;
        for (own, loaded) in thread.instructions.iter().zip(loaded).filter(|(own, _)| !own.action.drains_buffer()) {
            let mut all = found[own.source.index()].clone();
            all.extend(&found[own.target.index()]);
            all.extend(loaded.iter().flat_map(|range| range.intervals().iter().copied()));
            let all = Range::of(all).intervals().to_vec();
            if all != found[own.source.index()] {
                found[own.source.index()] = all;
                is_stable = false;
            }
        }
        if is_stable {
            return found.into_iter().map(Range::of).collect();
        }
    }
}

/// For each label the most loads before a drain on a way on which no local state comes twice
/// between two stores.
fn loads_before_drain(thread: &Thread, live: &[Vec<bool>]) -> Vec<Option<u64>> {
    let size = thread.labels.len();
    // Which labels are reached without a drain.
    let mut leads = vec![vec![false; size]; size];
    for (label, leads) in leads.iter_mut().enumerate() {
        let mut open = vec![label];
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut leads[at], true) {
                let next =
                    thread.instructions.iter().filter(|own| own.source.index() == at && !own.action.drains_buffer());
                open.extend(next.map(|own| own.target.index()));
            }
        }
    }
    let are_one = |one: usize, other: usize| leads[one][other] && leads[other][one];
    let within: Vec<Option<u64>> =
        (0..size).map(|label| loads_on_circles(thread, live, |it| are_one(label, it))).collect();
    let mut most = within.clone();
    loop {
        let mut is_stable = true;
        for own in thread.instructions.iter().filter(|own| !own.action.drains_buffer()) {
            let (source, target) = (own.source.index(), own.target.index());
            if are_one(source, target) {
                continue;
            }
            let crossing = u64::from(matches!(own.action, Action::Load { .. }));
            let along = within[source].zip(most[target]).map(|(before, behind)| before + crossing + behind);
            // The labels on circles with the source have what it has.
            for label in (0..size).filter(|label| are_one(source, *label)) {
                let more = most[label].zip(along).map(|(known, along)| known.max(along));
                if more != most[label] {
                    most[label] = more;
                    is_stable = false;
                }
            }
        }
        if is_stable {
            return most;
        }
    }
}

/// The most loads on the circles of control that go through some labels: none, one for each label
/// with a load when the thread is in one local state whenever it comes there between two stores,
/// and else any number.
fn loads_on_circles(thread: &Thread, live: &[Vec<bool>], is_there: impl Fn(usize) -> bool) -> Option<u64> {
    let on_circle = thread
        .instructions
        .iter()
        .filter(|own| !own.action.drains_buffer() && is_there(own.source.index()) && is_there(own.target.index()));
    let on_circle: Vec<_> = on_circle.collect();
    let is_loading = |label: usize| {
        on_circle.iter().any(|own| own.source.index() == label && matches!(own.action, Action::Load { .. }))
    };
    let loading: Vec<usize> = (0..thread.labels.len()).filter(|label| is_loading(*label)).collect();
    let changes = on_circle.iter().any(|own| {
        let written = own.action.written_register();
        matches!(own.action, Action::Store { .. })
            || written.is_some_and(|register| loading.iter().any(|label| live[*label][register.index()]))
    });
    if loading.is_empty() { Some(0) } else { (!changes).then_some(loading.len() as u64) }
}
