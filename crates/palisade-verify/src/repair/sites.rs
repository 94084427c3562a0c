//! Which labels and instructions one change of the source changes, by code of the checker's own.
//!
//! A program that was read as it is written has one label, or one instruction, for each. The
//! listing of machine code says at the end of each line which place of the sources the instruction
//! comes from; what comes from one place is changed together, over all threads that run. A fence in
//! front of a place stands before what control meets there first: the accesses to memory, or where
//! the place has none, the labels at which control comes to it. Orderings are changed together
//! where they are the same, and are known or are not.

use palisade_invariants::listed_place;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{
    Action, Instruction, InstructionId, LabelId, Operation, Ordering, Program, Thread, ThreadId,
};
use std::collections::{BTreeMap, BTreeSet};

/// The labels and instructions that are changed together, each list in the order of the program.
pub(super) struct Together {
    /// Nothing where each stands for itself.
    listed: Option<Listed>,
    /// Accesses and fences that one stretch of the text says, in the order of the program.
    accesses: Vec<Vec<(ThreadId, InstructionId)>>,
    /// The labels at which they stand.
    standing: Vec<Vec<(ThreadId, LabelId)>>,
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
            let (accesses, standing) = said_at_once(program);
            return Self { listed: None, accesses, standing };
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
        Self { listed: Some(listed), accesses: listed_at_once(program), standing: Vec::new() }
    }

    /// The accesses or fences that get orderings together with this one, which must be the first of
    /// them; none for another.
    pub(super) fn accesses(&self, thread: ThreadId, access: InstructionId) -> Option<Vec<(ThreadId, InstructionId)>> {
        let own = (thread, access);
        match self.accesses.iter().find(|group| group.contains(&own)) {
            None => Some(vec![own]),
            Some(group) => (group[0] == own).then(|| group.clone()),
        }
    }

    /// The labels before which a fence comes to stand that is written for this one, which must be
    /// the first of them; none for another label.
    pub(super) fn labels(&self, thread: ThreadId, label: LabelId) -> Option<Vec<(ThreadId, LabelId)>> {
        let Some(listed) = &self.listed else {
            return match self.standing.iter().find(|group| group.contains(&(thread, label))) {
                None => Some(vec![(thread, label)]),
                Some(group) => (group[0] == (thread, label)).then(|| group.clone()),
            };
        };
        listed.labels.values().find(|group| group[0] == (thread, label)).cloned()
    }

    /// The stores or fences that are changed together with this one, which must be the first of
    /// them; none for another.
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

/// Groups of things of the program, each of a thread.
type Groups<T> = Vec<Vec<(ThreadId, T)>>;

/// The accesses and fences that one stretch of a text with orderings says, where these are several:
/// a copy that says `self` and an inlined call repeat them. And the labels whose first such
/// instructions they are in the copies that say `self`, each of which has one.
fn said_at_once(program: &Program) -> (Groups<InstructionId>, Groups<LabelId>) {
    type Stretch = (usize, usize, u8);
    let mut at_once: BTreeMap<Stretch, Vec<(ThreadId, InstructionId)>> = BTreeMap::new();
    let mut standing: BTreeMap<(usize, Stretch), Vec<(ThreadId, LabelId)>> = BTreeMap::new();
    let states = program.threads.iter().flat_map(|thread| &thread.instructions).any(Instruction::states_ordering);
    if !states {
        return (Vec::new(), Vec::new());
    }
    for (id, thread) in program.thread_ids().filter(|(_, thread)| !thread.is_left_out()) {
        let mut met = BTreeSet::new();
        for (number, instruction) in thread.instruction_ids() {
            let Some((kind, _)) = said(instruction) else { continue };
            let stretch = (instruction.span.start, instruction.span.end, kind);
            if stretch.0 < stretch.1 {
                at_once.entry(stretch).or_default().push((id, number));
                if met.insert(instruction.source) {
                    standing.entry((thread.span.start, stretch)).or_default().push((id, instruction.source));
                }
            }
        }
    }
    let accesses = at_once.into_values().filter(|group| group.len() > 1).collect();
    let is_of_copies = |group: &Vec<(ThreadId, LabelId)>| {
        let threads: BTreeSet<ThreadId> = group.iter().map(|(thread, _)| *thread).collect_set();
        group.len() > 1 && threads.len() == group.len()
    };
    (accesses, standing.into_values().filter(is_of_copies).collect())
}

/// What kind of operation an access or a fence is, and its orderings.
fn said(instruction: &Instruction) -> Option<(u8, Vec<Ordering>)> {
    Some(match instruction.operation()? {
        Operation::Load { ordering, .. } => (0, vec![ordering]),
        Operation::Store { ordering, .. } => (1, vec![ordering]),
        Operation::Update { success, failure, .. } => (2, vec![success, failure]),
        Operation::Fence { ordering } => (3, vec![ordering]),
    })
}

/// The accesses and fences of a listing that do the same at one place of the sources, where these
/// are several.
fn listed_at_once(program: &Program) -> Groups<InstructionId> {
    type Way<'p> = (&'p str, (u8, Vec<Ordering>), bool);
    let mut at_once: BTreeMap<Way<'_>, Vec<(ThreadId, InstructionId)>> = BTreeMap::new();
    for (id, thread) in program.thread_ids().filter(|(_, thread)| !thread.is_left_out()) {
        for (number, instruction) in thread.instruction_ids() {
            let Some(listed) = program.listed(instruction).filter(|_| instruction.states_ordering()) else { continue };
            if let Some(said) = said(instruction) {
                at_once.entry((listed.place, said, listed.is_assumed)).or_default().push((id, number));
            }
        }
    }
    at_once.into_values().filter(|group| group.len() > 1).collect()
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
