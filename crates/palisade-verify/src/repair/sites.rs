//! Which labels and instructions one change of the source changes, by code of the checker's own.
//!
//! A program that was read as it is written has one label, or one instruction, for each. The listing of machine code says at the end of each line which place
//! of the sources the instruction comes from; what comes from one place is changed together, over all threads that run. A fence in front of a
//! place stands before what control meets there first: the accesses to memory, or where the place has none, the labels at which control comes to it.

use palisade_invariants::listed_place;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Action, InstructionId, LabelId, Program, Thread, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// The labels and instructions that are changed together, each list in the order of the program.
pub(super) struct Together {
    /// Nothing where each stands for itself.
    listed: Option<Listed>,
}

#[derive(Default)]
struct Listed {
    /// By place.
    labels: BTreeMap<String, Vec<(ThreadId, LabelId)>>,
    /// By place and kind.
    instructions: BTreeMap<(String, Kind), Vec<(ThreadId, InstructionId)>>,
}

/// What an instruction is changed as.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Store,
    Fence,
    StoreFence,
}

impl Together {
    /// What is changed together in a program.
    pub(super) fn of(program: &Program) -> Self {
        if !program.source.is_listing {
            return Self { listed: None };
        }
        let mut listed = Listed::default();
        let mut accessed = BTreeSet::new();
        let running = || program.thread_ids().filter(|(_, thread)| !thread.is_left_out());
        for (id, thread) in running() {
            for (number, instruction) in thread.instruction_ids() {
                let Some(place) = listed_place(program, instruction) else { continue };
                if instruction.action.address().is_some() {
                    accessed.insert(place);
                }
                let kind = match instruction.action {
                    Action::Store { .. } => Kind::Store,
                    Action::Fence => Kind::Fence,
                    Action::StoreFence => Kind::StoreFence,
                    _ => continue,
                };
                listed.instructions.entry((place.to_owned(), kind)).or_default().push((id, number));
            }
        }
        for (id, thread) in running() {
            for (label, place) in met_first(program, thread, &accessed) {
                listed.labels.entry(place.to_owned()).or_default().push((id, label));
            }
        }
        Self { listed: Some(listed) }
    }

    /// The labels before which a fence comes to stand that is written for this one, which must be the first of them; none for another label.
    pub(super) fn labels(&self, thread: ThreadId, label: LabelId) -> Option<Vec<(ThreadId, LabelId)>> {
        let Some(listed) = &self.listed else { return Some(vec![(thread, label)]) };
        listed.labels.values().find(|group| group[0] == (thread, label)).cloned()
    }

    /// The stores or fences that are changed together with this one, which must be the first of them; none for another.
    pub(super) fn instructions(
        &self,
        thread: ThreadId,
        instruction: InstructionId,
    ) -> Option<Vec<(ThreadId, InstructionId)>> {
        let own = (thread, instruction);
        let Some(listed) = &self.listed else { return Some(vec![own]) };
        match listed.instructions.values().find(|group| group.contains(&own)) {
            None => Some(vec![own]),
            Some(group) => (group[0] == own).then(|| group.clone()),
        }
    }
}

/// The labels of a thread that a fence in front of their place is in front of, with these places.
fn met_first<'p>(program: &'p Program, thread: &Thread, accessed: &BTreeSet<&str>) -> Vec<(LabelId, &'p str)> {
    let mut places: Vec<Option<&'p str>> = vec![None; thread.labels.len()];
    let mut has_access = vec![false; thread.labels.len()];
    for instruction in thread.instructions.iter().rev() {
        // The first instruction of a label says where it comes from.
        places[instruction.source.index()] = listed_place(program, instruction);
        has_access[instruction.source.index()] |= instruction.action.address().is_some();
    }
    // Control can be there without having met an access of the place since it came to it.
    let mut fresh = vec![false; thread.labels.len()];
    fresh[thread.initial.index()] = true;
    loop {
        let mut grew = false;
        for instruction in &thread.instructions {
            let (from, to) = (instruction.source.index(), instruction.target.index());
            let is_within = places[from] == places[to];
            let goes_on =
                fresh[from] && !has_access[from] && places[from].is_some_and(|place| accessed.contains(place));
            if !fresh[to] && (!is_within || goes_on) {
                fresh[to] = true;
                grew = true;
            }
        }
        if !grew {
            break;
        }
    }
    let is_head = |label: &usize| {
        fresh[*label] && places[*label].is_some_and(|place| has_access[*label] || !accessed.contains(place))
    };
    let filled: BTreeSet<usize> =
        thread.instructions.iter().map(|instruction| instruction.source.index()).collect_set();
    filled.into_iter().filter(is_head).filter_map(|label| Some((LabelId::from_index(label), places[label]?))).collect()
}
