//! What holds of a program in whatever order its steps are taken, so that fences and exchanges
//! change none of it: found once, and asked by many proofs.

use palisade_exploration::buffered::Values;
use palisade_model::program::{Action, Instruction, Program, Thread, ThreadId};
use palisade_semantics::Target;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What is known of a program, whatever fences it has.
pub(super) struct Known<'p> {
    /// The values of its registers and addresses.
    pub(super) values: Values<'p>,
    pub(super) program: &'p Program,
    /// For groups of targets that were asked about, whether counters may tell something about them.
    counts: RefCell<BTreeMap<Vec<Asked>, bool>>,
}

/// A target by its thread and its position among the properties of that thread, which fences do not
/// change; nothing for final states.
type Asked = Option<(ThreadId, usize)>;

fn asked(program: &Program, target: Target) -> Asked {
    let Target::Instruction { thread, instruction } = target else { return None };
    let before = &program.thread(thread).instructions[..instruction.index()];
    let is_property = |own: &&Instruction| matches!(own.action, Action::Ensure(_) | Action::Fail);
    Some((thread, before.iter().filter(is_property).count()))
}

impl<'p> Known<'p> {
    /// What is known of a program.
    pub(super) fn of(program: &'p Program) -> Self {
        Self { values: Values::of(program), program, counts: RefCell::default() }
    }

    /// Whether all this holds of another program: one that differs by its fences alone, and by the
    /// numbers of labels and instructions.
    pub(super) fn holds_of(&self, other: &Program) -> bool {
        let range = |program: &Program| program.domain.map(|domain| (domain.low, domain.high, domain.wrap));
        let does = |own: &&Instruction| !matches!(own.action, Action::Fence | Action::StoreFence);
        let is_same = |(one, other): (&Thread, &Thread)| {
            let (here, there) = (one.instructions.iter().filter(does), other.instructions.iter().filter(does));
            one.copies == other.copies
                && one.initial_registers() == other.initial_registers()
                && here.map(|own| &own.action).eq(there.map(|own| &own.action))
        };
        let own = self.program;
        range(own) == range(other)
            && own.initial_memory == other.initial_memory
            && own.source.is_listing == other.source.is_listing
            && own.threads.len() == other.threads.len()
            && own.threads.iter().zip(&other.threads).all(is_same)
    }

    /// The bounds on values that slices use, where the program computes addresses.
    pub(super) fn bounds(&self, program: &Program) -> Option<&Values<'p>> {
        let mut instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
        let computes = instructions.any(|it| it.action.address().is_some_and(|address| !address.is_constant()));
        computes.then_some(&self.values)
    }

    /// Whether counters may tell something about a group of targets, as `ask` says where nobody has
    /// asked before.
    pub(super) fn counts(&self, program: &Program, targets: &[Target], ask: impl FnOnce() -> bool) -> bool {
        let targets: Vec<Asked> = targets.iter().map(|target| asked(program, *target)).collect();
        if let Some(known) = self.counts.borrow().get(&targets) {
            return *known;
        }
        let counts = ask();
        self.counts.borrow_mut().insert(targets, counts);
        counts
    }
}
