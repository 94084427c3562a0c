//! What a thread may still load before its buffer is drained, and how often: what the snapshots are
//! kept for that its loads lag behind on.

use super::range::Range;
use super::slice::addresses_of;
use super::values::Values;
use palisade_model::program::{Action, Instruction, LabelId, Liveness, Program, Thread, ThreadId, Value};

/// For each thread and label, what may be loaded from there on before a drain.
#[derive(Clone, Debug, Default)]
pub(super) struct Lag {
    threads: Vec<ThreadLag>,
}

#[derive(Clone, Debug, Default)]
struct ThreadLag {
    /// For each label, the addresses.
    addresses: Vec<Range>,
    /// For each label, the most loads; nothing when there is no bound.
    loads: Vec<Option<usize>>,
}

impl Lag {
    /// What the loads of a program lag behind for.
    pub(super) fn of(program: &Program, liveness: &[Liveness], bounds: Option<&Values<'_>>) -> Self {
        let threads = program.thread_ids().zip(liveness).map(|((id, thread), live)| ThreadLag {
            addresses: loaded_addresses(id, thread, bounds),
            loads: most_loads(thread, live),
        });
        Self { threads: threads.collect() }
    }

    /// Whether a thread may load an address from a label on before a drain.
    pub(super) fn may_load(&self, thread: ThreadId, label: LabelId, address: Value) -> bool {
        let addresses = self.threads[thread.index()].addresses.get(label.index());
        addresses.is_some_and(|addresses| addresses.contains(i128::from(address)))
    }

    /// Whether so many snapshots are more than a thread can load from, at a label.
    pub(super) fn are_too_many(&self, thread: ThreadId, label: LabelId, snapshots: usize) -> bool {
        let most = self.threads[thread.index()].loads.get(label.index()).copied().unwrap_or(Some(0));
        most.is_some_and(|most| snapshots > most)
    }
}

fn loaded_addresses(id: ThreadId, thread: &Thread, bounds: Option<&Values<'_>>) -> Vec<Range> {
    let mut found = vec![Range::default(); thread.labels.len()];
    let mut grew = true;
    while grew {
        grew = false;
        for instruction in thread.instructions.iter().rev().filter(|own| !own.action.drains_buffer()) {
            let mut all = found[instruction.source.index()].union(&found[instruction.target.index()]);
            if let Action::Load { address, .. } = &instruction.action {
                all = all.union(&addresses_of(bounds, id, address));
            }
            if all != found[instruction.source.index()] {
                found[instruction.source.index()] = all;
                grew = true;
            }
        }
    }
    found
}

/// The labels of a thread by the circles of control that they lie on: circles without an
/// instruction that drains the buffer.
struct Circles<'t> {
    thread: &'t Thread,
    /// For each label a number that the labels on a circle with it have as well, and no others.
    of: Vec<usize>,
}

impl<'t> Circles<'t> {
    fn of(thread: &'t Thread) -> Self {
        let labels = thread.labels.len();
        let reached: Vec<Vec<bool>> = (0..labels).map(|from| reached_from(thread, from)).collect();
        let first = |label: usize| (0..=label).find(|other| reached[label][*other] && reached[*other][label]);
        Self { thread, of: (0..labels).map(|label| first(label).expect("a label reaches itself")).collect() }
    }

    /// The instructions that stay on a circle.
    fn instructions(&self, circle: usize) -> impl Iterator<Item = &'t Instruction> + '_ {
        let ends = |own: &Instruction| [own.source, own.target].map(|label| self.of[label.index()]);
        let all = self.thread.instructions.iter().filter(|own| !own.action.drains_buffer());
        all.filter(move |own| ends(own) == [circle, circle])
    }

    /// The most loads on a circle between two stores, in which no local state comes twice.
    ///
    /// On a circle with a store there can be any number. Else, where nothing on it writes a
    /// register that is live at a label with a load, the thread has one local state at this label
    /// while it goes round: the label counts once.
    fn loads(&self, circle: usize, live: &Liveness) -> Option<usize> {
        let is_load = |own: &&Instruction| matches!(own.action, Action::Load { .. });
        let mut labels: Vec<LabelId> = self.instructions(circle).filter(is_load).map(|own| own.source).collect();
        labels.sort_unstable();
        labels.dedup();
        let goes_on = |own: &Instruction| {
            let written = own.action.written_register();
            let is_kept = written.is_some_and(|register| labels.iter().any(|label| live.is_live(*label, register)));
            is_kept || matches!(own.action, Action::Store { .. })
        };
        let is_bounded = labels.is_empty() || !self.instructions(circle).any(goes_on);
        is_bounded.then_some(labels.len())
    }
}

fn reached_from(thread: &Thread, from: usize) -> Vec<bool> {
    let mut reached = vec![false; thread.labels.len()];
    reached[from] = true;
    let mut grew = true;
    while grew {
        grew = false;
        for own in thread.instructions.iter().filter(|own| !own.action.drains_buffer()) {
            if reached[own.source.index()] && !reached[own.target.index()] {
                reached[own.target.index()] = true;
                grew = true;
            }
        }
    }
    reached
}

/// For each label, the most loads on a way from there to a drain, in which no local state comes
/// twice between two stores.
fn most_loads(thread: &Thread, live: &Liveness) -> Vec<Option<usize>> {
    let circles = Circles::of(thread);
    let own: Vec<Option<usize>> = (0..thread.labels.len()).map(|circle| circles.loads(circle, live)).collect();
    let mut most = own.clone();
    let mut grew = true;
    while grew {
        grew = false;
        for instruction in thread.instructions.iter().rev().filter(|own| !own.action.drains_buffer()) {
            let [from, to] = [instruction.source, instruction.target].map(|label| circles.of[label.index()]);
            if from == to {
                continue;
            }
            let crossing = usize::from(matches!(instruction.action, Action::Load { .. }));
            let along = own[from].zip(most[to]).map(|(own, behind)| own + crossing + behind);
            let is_more = most[from].is_some_and(|known| along.is_none_or(|along| along > known));
            if is_more {
                most[from] = along;
                grew = true;
            }
        }
    }
    circles.of.iter().map(|circle| most[*circle]).collect()
}
