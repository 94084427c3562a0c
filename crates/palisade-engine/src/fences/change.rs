//! Programs with measures taken.

use palisade_model::program::{
    Action, Insertion, Instruction, InstructionId, Measure, Ordering, Program, Sites, ThreadId,
};
use std::collections::BTreeMap;

/// The program with measures taken. A fence at label l is the change of [ESOP13, §7]: the
/// instructions at l move to a fresh label, which a fence at l leads to. Instructions keep their
/// numbers; fences come after them.
#[must_use]
pub fn with_measures(program: &Program, measures: &[Measure]) -> Program {
    with_measures_at(program, &Sites::of(program), measures)
}

/// The same where the sites are known: those of the program as it is written, where this one is
/// made of it.
pub(crate) fn with_measures_at(program: &Program, sites: &Sites, measures: &[Measure]) -> Program {
    let mut changed = program.clone();
    let mut insertions: Vec<Option<Insertion>> = program.threads.iter().map(|_| None).collect();
    for measure in measures.iter().flat_map(|measure| measure.parts(sites)) {
        let index = measure.thread().index();
        let thread = &mut changed.threads[index];
        let mut insert = |label, fence| {
            let insertion = insertions[index].get_or_insert_with(|| Insertion::of(&program.threads[index]));
            insertion.insert(thread, label, fence);
        };
        match measure {
            Measure::Fence { label, .. } => insert(label, Action::Fence),
            Measure::StoreFence { label, .. } => insert(label, Action::StoreFence),
            Measure::Exchange { store, .. } => exchange(&mut thread.instructions[store.index()]),
            Measure::Kept { .. } | Measure::Ordered { .. } => {}
        }
    }
    order(&mut changed, sites, measures.iter().map(|measure| (*measure, true)));
    changed
}

/// Gives accesses and fences the orderings of some measures on offer, of which some are taken.
pub(super) fn order(changed: &mut Program, sites: &Sites, offered: impl IntoIterator<Item = (Measure, bool)>) {
    let mut found: BTreeMap<(ThreadId, InstructionId, bool), Ordering> = BTreeMap::new();
    let offered: Vec<(Measure, bool)> = offered.into_iter().collect();
    for (measure, is_taken) in &offered {
        let Measure::Ordered { thread, access, failing, ordering } = *measure else { continue };
        let stated = changed.thread(thread).instruction(access).ordering(failing);
        let own = Measure::Ordered { thread, access, failing, ordering: stated.unwrap_or(ordering) };
        let is_open = offered.iter().any(|(other, _)| *other == own);
        let least = stated.filter(|_| !is_open).unwrap_or(Ordering::Relaxed);
        let joined = found.entry((thread, access, failing)).or_insert(least);
        if *is_taken {
            *joined = joined.join(ordering);
        }
    }
    for ((thread, access, failing), ordering) in found {
        for (thread, access) in sites.accesses(thread, access) {
            let own = &mut changed.threads[thread.index()].instructions[access.index()];
            // Of updates at one place some may store always.
            if own.operation().is_some_and(|operation| !operation.choices(failing).is_empty()) {
                own.order(failing, ordering);
            }
        }
    }
}

/// The program without some of its fences: nothing happens where they stood.
#[must_use]
pub fn fences_removed(program: &Program, fences: impl IntoIterator<Item = (ThreadId, InstructionId)>) -> Program {
    let mut changed = program.clone();
    remove_fences(&mut changed, fences);
    changed
}

/// Removes some fences of a program.
pub(crate) fn remove_fences(changed: &mut Program, fences: impl IntoIterator<Item = (ThreadId, InstructionId)>) {
    for (thread, fence) in fences {
        let action = &mut changed.threads[thread.index()].instructions[fence.index()].action;
        debug_assert!(matches!(action, Action::Fence | Action::StoreFence));
        *action = Action::Nop;
    }
}

fn exchange(instruction: &mut Instruction) {
    if let Action::Store { address, value } = &instruction.action {
        instruction.action = Action::Rmw { register: None, address: address.clone(), new: value.clone() };
    }
}

/// Measures of which none is about the same access as another one.
pub(crate) fn joined(taken: impl IntoIterator<Item = Measure>) -> Vec<Measure> {
    let mut all: Vec<Measure> = Vec::new();
    for measure in taken {
        let Measure::Ordered { thread, access, failing, ordering } = measure else {
            all.push(measure);
            continue;
        };
        let same = all.iter_mut().find_map(|other| match other {
            Measure::Ordered { thread: own, access: other, failing: fails, ordering }
                if (*own, *other, *fails) == (thread, access, failing) =>
            {
                Some(ordering)
            }
            _ => None,
        });
        match same {
            Some(own) => *own = own.join(ordering),
            None => all.push(measure),
        }
    }
    all
}
