//! Attacks [ESOP13, Definition 1] and the ones that control flow alone rules out.

use fixedbitset::FixedBitSet;
use palisade_model::limits::{Limits, StopReason};
use palisade_model::program::{Action, Copies, Instruction, InstructionId, LabelId, Program, Thread, ThreadId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How many attacks are listed, or labels passed, between two looks at the limits. Programs with
/// fewer are listed whatever the limits: then a repair by control flow alone can still be named.
pub const METER: usize = 65_536;

/// An attack: a thread, one of its stores to be delayed and one of its loads to be overstepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attack {
    /// The attacker.
    pub thread: ThreadId,
    /// The store `stinst`.
    pub store: InstructionId,
    /// The load `ldinst`.
    pub load: InstructionId,
}

/// Every pair of a store and a load of a thread, by thread, store, load. Threads without copies
/// have none.
fn pairs(program: &Program) -> impl Iterator<Item = Attack> + '_ {
    assert!(!program.is_event_driven(), "attacks are those of threads, and the program has events or tasks");
    let copied = program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0));
    copied.flat_map(|(id, thread)| {
        let loads: Rc<[_]> = of_kind(thread, |action| matches!(action, Action::Load { .. })).collect();
        let stores = of_kind(thread, |action| matches!(action, Action::Store { .. }));
        stores.flat_map(move |store| {
            let loads = Rc::clone(&loads);
            (0..loads.len()).map(move |index| Attack { thread: id, store, load: loads[index] })
        })
    })
}

/// The instructions of a thread whose actions are of a kind.
fn of_kind(thread: &Thread, is_wanted: fn(&Action) -> bool) -> impl Iterator<Item = InstructionId> + '_ {
    let wanted = thread.instruction_ids().filter(move |(_, instruction)| is_wanted(&instruction.action));
    wanted.map(|(id, _)| id)
}

/// Whether a program accepts that this load oversteps this store.
fn is_accepted(program: &Program, attack: &Attack) -> bool {
    let instruction = |id| program.thread(attack.thread).instruction(id);
    !program.accepted.is_empty() && program.accepts(instruction(attack.store), instruction(attack.load))
}

/// All attacks of a program but those that are accepted, in program order: by thread, store, load.
///
/// # Panics
///
/// If the program has events or tasks.
pub fn attacks(program: &Program) -> Vec<Attack> {
    attacks_within(program, &Limits::none()).expect("there are no limits")
}

/// All attacks of a program, unless a limit is reached: a thread has as many as it has pairs of a
/// store and a load.
pub fn attacks_within(program: &Program, limits: &Limits) -> Result<Vec<Attack>, StopReason> {
    each_attack(program, limits).collect()
}

/// The attack with this number, of which the first is 1; or how many there are. They are not kept:
/// there may be more of them than fit into memory.
pub fn numbered_attack(program: &Program, number: usize, limits: &Limits) -> Result<Result<Attack, usize>, StopReason> {
    let mut count = 0;
    for attack in each_attack(program, limits) {
        count += 1;
        if count == number {
            return attack.map(Ok);
        }
        attack?;
    }
    Ok(Err(count))
}

/// One attack after the other, with a look at the limits now and then.
fn each_attack<'a>(program: &'a Program, limits: &'a Limits) -> impl Iterator<Item = Result<Attack, StopReason>> + 'a {
    pairs(program).enumerate().filter_map(|(index, attack)| {
        let is_asked = index > 0 && index.is_multiple_of(METER);
        match if is_asked { limits.check() } else { Ok(()) } {
            Err(reason) => Some(Err(reason)),
            Ok(()) => (!is_accepted(program, &attack)).then_some(Ok(attack)),
        }
    })
}

/// For one store, the labels its thread can reach while the store stays in the buffer: from the
/// store's target along instructions that do not drain the buffer.
#[derive(Clone, Debug)]
pub struct DelayRange {
    labels: FixedBitSet,
}

impl DelayRange {
    /// The range of a store of a thread.
    pub fn of(thread: &Thread, store: InstructionId) -> Self {
        Self { labels: Flow::of(thread).reached(thread.instruction(store), true) }
    }

    /// Whether the label is in the range. An attack whose load stands at a label outside is
    /// *pruned*: every path to it passes a fence or a locked instruction.
    pub fn contains(&self, label: LabelId) -> bool {
        self.labels.contains(label.index())
    }

    /// The labels of the range, ascending.
    pub fn labels(&self) -> impl Iterator<Item = LabelId> + '_ {
        self.labels.ones().map(LabelId::from_index)
    }
}

/// For each of these attacks, whether control flow alone rules it out.
///
/// The attacks of a thread are decided store by store, or load by load where these are fewer, each
/// in a pass over the thread.
pub fn pruned(program: &Program, attacks: &[Attack], limits: &Limits) -> Result<Vec<bool>, StopReason> {
    let mut pruned = vec![false; attacks.len()];
    let (mut first, mut passed) = (0, 0);
    for group in attacks.chunk_by(|a, b| a.thread == b.thread) {
        let thread = program.thread(group[0].thread);
        let mut by_store: FxHashMap<InstructionId, Vec<usize>> = FxHashMap::default();
        let mut by_load: FxHashMap<InstructionId, Vec<usize>> = FxHashMap::default();
        for (index, attack) in (first..).zip(group) {
            by_store.entry(attack.store).or_default().push(index);
            by_load.entry(attack.load).or_default().push(index);
        }
        let flow = Flow::of(thread);
        let forwards = by_store.len() <= by_load.len();
        // The order does not matter: each attack has an answer of its own.
        #[allow(clippy::iter_over_hash_type)]
        for (instruction, indices) in if forwards { by_store } else { by_load } {
            passed += thread.labels.len();
            if passed > METER {
                passed = 0;
                limits.check()?;
            }
            let reached = flow.reached(thread.instruction(instruction), forwards);
            for index in indices {
                let end = thread.instruction(if forwards { attacks[index].load } else { attacks[index].store });
                let end = if forwards { end.source } else { end.target };
                pruned[index] = !reached.contains(end.index());
            }
        }
        first += group.len();
    }
    Ok(pruned)
}

/// The steps of a thread's control flow that leave the store buffer alone.
struct Flow {
    /// By label, where they lead.
    next: Vec<Vec<u32>>,
    /// By label, where they come from.
    previous: Vec<Vec<u32>>,
}

impl Flow {
    fn of(thread: &Thread) -> Self {
        let none = vec![Vec::new(); thread.labels.len()];
        let mut flow = Self { next: none.clone(), previous: none };
        for instruction in &thread.instructions {
            if instruction.action.drains_buffer() {
                continue;
            }
            let number = |label: LabelId| u32::try_from(label.index()).expect("a text has fewer than 2^32 labels");
            flow.next[instruction.source.index()].push(number(instruction.target));
            flow.previous[instruction.target.index()].push(number(instruction.source));
        }
        flow
    }

    /// The labels that are reached from a store's target, or from which a load's source is reached.
    fn reached(&self, instruction: &Instruction, forwards: bool) -> FixedBitSet {
        let (start, steps) =
            if forwards { (instruction.target, &self.next) } else { (instruction.source, &self.previous) };
        let mut labels = FixedBitSet::with_capacity(steps.len());
        labels.insert(start.index());
        let mut open = vec![start.index()];
        while let Some(label) = open.pop() {
            open.extend(steps[label].iter().map(|next| *next as usize).filter(|next| !labels.put(*next)));
        }
        labels
    }
}

/// Whether control flow alone rules the attack out.
pub fn is_pruned(program: &Program, attack: &Attack) -> bool {
    let thread = program.thread(attack.thread);
    !DelayRange::of(thread, attack.store).contains(thread.instruction(attack.load).source)
}
