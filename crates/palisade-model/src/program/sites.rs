//! Sites: where the source of a program has room for one fence, or has one store.
//!
//! What people read and write need not be what runs. Machine code has an instruction for each copy
//! that a compiler makes of a place in the sources: loops are rotated, functions inlined. A fence
//! put there once comes to stand before all of them. So labels are grouped by the place that their
//! instructions come from ([`Origin`](crate::text::Origin)), over all threads. In programs that are
//! read as they are written, every label is a site of its own.
//!
//! A fence in front of a place is passed before what the place does to memory. Of the labels that
//! come from one place, its site therefore has those with an access to memory that control comes to
//! from elsewhere, with no other access of the place in between; where none of them has an access,
//! those that control comes to from elsewhere. No fence can be put between two accesses of one
//! place.
//!
//! Where a program states orderings, what is done at one place with the same orderings gets others
//! together. A place that is called with several orderings has them from elsewhere.

use super::ids::{InstructionId, LabelId, ThreadId};
use super::instruction::{Action, Instruction};
use super::{Ordering, Program, Thread};
use crate::ordered::CollectOrdered;
use crate::text::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A label of a thread.
type LabelAt = (ThreadId, LabelId);

/// An instruction of a thread.
type InstructionAt = (ThreadId, InstructionId);

/// The sites of a program.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    /// Nothing where every label and every instruction is a site of its own.
    grouped: Option<Grouped>,
    /// What comes from one place of a text with orderings.
    repeated: Repeated,
}

/// What comes from one place of a text or of the sources, where there are several: by the first of
/// them, and the first of each.
#[derive(Clone, Debug, Default)]
struct Repeated {
    accesses: BTreeMap<InstructionAt, Vec<InstructionAt>>,
    first_access: BTreeMap<InstructionAt, InstructionAt>,
    labels: BTreeMap<LabelAt, Vec<LabelAt>>,
    first_label: BTreeMap<LabelAt, LabelAt>,
}

/// Labels and instructions by the first of their site, in the order of threads.
#[derive(Clone, Debug, Default)]
struct Grouped {
    first_label: BTreeMap<LabelAt, LabelAt>,
    labels: BTreeMap<LabelAt, Vec<LabelAt>>,
    first_instruction: BTreeMap<InstructionAt, InstructionAt>,
    instructions: BTreeMap<InstructionAt, Vec<InstructionAt>>,
}

impl Sites {
    /// The sites of a program.
    pub fn of(program: &Program) -> Self {
        if !program.source.is_listing {
            return Self::of_text(program);
        }
        let mut labels: BTreeMap<String, Vec<LabelAt>> = BTreeMap::new();
        let mut instructions: BTreeMap<(String, &'static str), Vec<InstructionAt>> = BTreeMap::new();
        let with_access: BTreeSet<&str> = program
            .threads
            .iter()
            .filter(|thread| !thread.is_left_out())
            .flat_map(|thread| &thread.instructions)
            .filter(|instruction| instruction.action.address().is_some())
            .filter_map(|instruction| place(program, instruction))
            .collect_set();
        for (id, thread) in program.thread_ids().filter(|(_, thread)| !thread.is_left_out()) {
            for (place, label) in heads(program, thread, &with_access) {
                labels.entry(place.to_owned()).or_default().push((id, label));
            }
            for (number, instruction) in thread.instruction_ids() {
                if let (Some(kind), Some(place)) = (kind(&instruction.action), place(program, instruction)) {
                    instructions.entry((place.to_owned(), kind)).or_default().push((id, number));
                }
            }
        }
        let mut grouped = Grouped::default();
        for group in labels.into_values() {
            grouped.first_label.extend(group.iter().map(|label| (*label, group[0])));
            grouped.labels.insert(group[0], group);
        }
        for group in instructions.into_values() {
            grouped.first_instruction.extend(group.iter().map(|instruction| (*instruction, group[0])));
            grouped.instructions.insert(group[0], group);
        }
        Self { grouped: Some(grouped), repeated: Repeated::of_listing(program) }
    }

    /// The sites of a program that is read as it is written. Where it states orderings, a copy that
    /// says `self` and an inlined call have the accesses of their text once more. Copies that say
    /// `self` have its labels once more, too: those at which these accesses stand. Everything else
    /// stands for itself.
    fn of_text(program: &Program) -> Self {
        if !program.states_orderings() {
            return Self::default();
        }
        let mut accesses: BTreeMap<(Span, &'static str), Vec<InstructionAt>> = BTreeMap::new();
        let mut labels: BTreeMap<(Span, Span, &'static str), Vec<LabelAt>> = BTreeMap::new();
        for (id, thread) in program.thread_ids().filter(|(_, thread)| !thread.is_left_out()) {
            let mut seen = BTreeSet::new();
            for (number, instruction) in thread.instruction_ids() {
                let Some(operation) = instruction.operation().filter(|_| instruction.span.start < instruction.span.end)
                else {
                    continue;
                };
                let (span, word) = (instruction.span, operation.word());
                accesses.entry((span, word)).or_default().push((id, number));
                if seen.insert(instruction.source) {
                    labels.entry((thread.span, span, word)).or_default().push((id, instruction.source));
                }
            }
        }
        let mut repeated = Repeated::of_accesses(accesses.into_values());
        // A fence before a call that is inlined stands before that call alone.
        let is_of_copies =
            |group: &Vec<LabelAt>| group.len() > 1 && group.windows(2).all(|pair| pair[0].0 != pair[1].0);
        for group in labels.into_values().filter(is_of_copies) {
            repeated.first_label.extend(group.iter().map(|label| (*label, group[0])));
            repeated.labels.insert(group[0], group);
        }
        Self { grouped: None, repeated }
    }

    /// The first of the accesses or fences that come from the same place of the text as this one.
    pub fn first_access(&self, thread: ThreadId, access: InstructionId) -> (ThreadId, InstructionId) {
        self.repeated.first_access.get(&(thread, access)).copied().unwrap_or((thread, access))
    }

    /// All accesses or fences from the place of the text whose first one this is.
    pub fn accesses(&self, thread: ThreadId, access: InstructionId) -> Vec<(ThreadId, InstructionId)> {
        self.repeated.accesses.get(&(thread, access)).cloned().unwrap_or_else(|| vec![(thread, access)])
    }

    /// Whether some site may have several labels.
    pub fn are_grouped(&self) -> bool {
        self.grouped.is_some() || !self.repeated.labels.is_empty()
    }

    /// The first label of the site that a label belongs to; none where the source has no room for a
    /// fence there.
    pub fn first_label(&self, thread: ThreadId, label: LabelId) -> Option<LabelAt> {
        match &self.grouped {
            None => Some(self.repeated.first_label.get(&(thread, label)).copied().unwrap_or((thread, label))),
            Some(grouped) => grouped.first_label.get(&(thread, label)).copied(),
        }
    }

    /// All labels of the site whose first label this is.
    pub fn labels(&self, thread: ThreadId, label: LabelId) -> Vec<LabelAt> {
        let labels = self.grouped.as_ref().map_or(&self.repeated.labels, |grouped| &grouped.labels);
        let group = labels.get(&(thread, label));
        group.cloned().unwrap_or_else(|| vec![(thread, label)])
    }

    /// The first of the stores, or the fences, that come from the same place as this one.
    pub fn first_instruction(&self, thread: ThreadId, instruction: InstructionId) -> InstructionAt {
        let first =
            self.grouped.as_ref().and_then(|grouped| grouped.first_instruction.get(&(thread, instruction)).copied());
        first.unwrap_or((thread, instruction))
    }

    /// All stores, or fences, from the place whose first one this is.
    pub fn instructions(&self, thread: ThreadId, instruction: InstructionId) -> Vec<InstructionAt> {
        let group = self.grouped.as_ref().and_then(|grouped| grouped.instructions.get(&(thread, instruction)));
        group.cloned().unwrap_or_else(|| vec![(thread, instruction)])
    }
}

impl Repeated {
    /// Groups of accesses and fences.
    fn of_accesses(groups: impl Iterator<Item = Vec<InstructionAt>>) -> Self {
        let mut repeated = Self::default();
        for group in groups.filter(|group| group.len() > 1) {
            repeated.first_access.extend(group.iter().map(|access| (*access, group[0])));
            repeated.accesses.insert(group[0], group);
        }
        repeated
    }

    /// Of machine code with the orderings of its sources: what one place does in one way with the
    /// same orderings, which are known or are assumed.
    fn of_listing(program: &Program) -> Self {
        type Way<'p> = (&'p str, &'static str, [Option<Ordering>; 2], bool);
        let mut accesses: BTreeMap<Way<'_>, Vec<InstructionAt>> = BTreeMap::new();
        for (id, thread) in program.thread_ids().filter(|(_, thread)| !thread.is_left_out()) {
            for (number, instruction) in thread.instruction_ids().filter(|(_, own)| own.states_ordering()) {
                if let (Some(operation), Some(place)) = (instruction.operation(), place(program, instruction)) {
                    let orderings = [false, true].map(|failing| instruction.ordering(failing));
                    let way = (place, operation.word(), orderings, program.is_assumed(instruction));
                    accesses.entry(way).or_default().push((id, number));
                }
            }
        }
        Self::of_accesses(accesses.into_values())
    }
}

/// The place that an instruction comes from.
fn place<'p>(program: &'p Program, instruction: &Instruction) -> Option<&'p str> {
    program.source.origin(instruction.span).map(|origin| origin.place.as_str())
}

/// What can be changed or kept as one.
fn kind(action: &Action) -> Option<&'static str> {
    match action {
        Action::Store { .. } => Some("store"),
        Action::Fence => Some("fence"),
        Action::StoreFence => Some("sfence"),
        _ => None,
    }
}

/// The labels of a thread before which a fence comes to stand that is put in front of their place.
fn heads<'p>(program: &'p Program, thread: &Thread, with_access: &BTreeSet<&str>) -> Vec<(&'p str, LabelId)> {
    let by_label = thread.instructions_by_label();
    let of_label: Vec<Option<&'p str>> = by_label
        .iter()
        .map(|instructions| instructions.first().and_then(|id| place(program, thread.instruction(*id))))
        .collect();
    let has_access = |label: usize| by_label[label].iter().any(|id| thread.instruction(*id).action.address().is_some());
    let mut entered = vec![false; thread.labels.len()];
    entered[thread.initial.index()] = true;
    for instruction in &thread.instructions {
        let (from, to) = (of_label[instruction.source.index()], of_label[instruction.target.index()]);
        if from != to {
            entered[instruction.target.index()] = true;
        }
    }
    let mut open: Vec<usize> = (0..thread.labels.len()).filter(|label| entered[*label]).collect();
    let mut reached = entered;
    let mut found = BTreeSet::new();
    while let Some(label) = open.pop() {
        let Some(place) = of_label[label] else { continue };
        if has_access(label) || !with_access.contains(place) {
            found.insert(label);
            continue;
        }
        for id in &by_label[label] {
            let target = thread.instruction(*id).target.index();
            if of_label[target] == Some(place) && !std::mem::replace(&mut reached[target], true) {
                open.push(target);
            }
        }
    }
    found.into_iter().filter_map(|label| Some((of_label[label]?, LabelId::from_index(label)))).collect()
}
