//! Crowds: a thread more that does at once what very many copies do one after the other, so that a
//! counter comes around.
//!
//! Copies that begin by adding a number to an address move it on, and need do nothing else. Two
//! copies beside such a *crowd* show what happens when a counter that wraps has come around, and
//! what is found becomes a computation of the program in which the crowd's step stands for those of
//! its copies.

use palisade_model::program::{
    Action, BinaryOperator, Copies, Domain, Expression, InstructionId, Label, LabelId, Program, Thread, ThreadId, Value,
};
use palisade_semantics::{CopyId, Instance, Step, StepKind};
use std::collections::BTreeSet;

/// With fewer values than this, small instances come around soon enough.
const FEWEST_VALUES: u128 = 5;

/// What is added has to be a value.
const MOST_VALUES: u128 = 1 << 62;

/// The copies beside a crowd.
const BESIDE: u64 = 2;

/// How many copies fewer than it takes to come around a crowd has at least: some others move the
/// counter, too.
const FEWER: u64 = 3;

/// Copies of a thread that execute an addition one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    /// The thread.
    pub(crate) thread: ThreadId,
    /// The addition.
    instruction: InstructionId,
    /// How many copies there are.
    copies: u64,
}

/// A computation with a crowd, as one of the program.
pub(crate) struct Retold {
    /// How many copies of each thread there are.
    pub(crate) instance: Instance,
    /// The copies that are named, ascending.
    pub(crate) acting: Vec<CopyId>,
    /// The steps.
    pub(crate) steps: Vec<Step>,
    /// Which of them is the crowd's.
    pub(crate) moves: usize,
}

/// An addition that copies come to before anything else that others see.
pub(crate) struct Addition {
    thread: ThreadId,
    instruction: InstructionId,
    /// What it adds.
    number: Value,
    domain: Domain,
    /// With how many copies crowds are tried, ascending.
    sizes: BTreeSet<u64>,
}

/// The additions with which a crowd can begin, in a domain that wraps.
pub(crate) fn additions(program: &Program) -> Vec<Addition> {
    let is_asked = |domain: &Domain| domain.wrap && (FEWEST_VALUES..=MOST_VALUES).contains(&domain.size());
    let Some(domain) = program.domain.filter(is_asked) else { return Vec::new() };
    let mut additions = Vec::new();
    for (id, thread) in program.thread_ids() {
        let most = match thread.copies {
            Copies::Any => Copies::MOST,
            Copies::Exactly(most) => most,
        };
        if u128::from(most) < FEWEST_VALUES {
            continue;
        }
        let first = reached_alone(thread);
        for (instruction, own) in thread.instruction_ids() {
            let Some((address, number)) = own.action.addition().filter(|_| first[own.source.index()]) else { continue };
            let by = u128::from(number.unsigned_abs());
            // So many additions bring the address back to a value, and so many leave the domain
            // from the initial one on.
            let period = domain.size() / gcd(domain.size(), by);
            let initial = i128::from(program.initial_value(address));
            let end = i128::from(if number < 0 { domain.low } else { domain.high });
            let until_end = (end - initial).unsigned_abs() / by + 1;
            let [Ok(period), Ok(until_end)] = [period, until_end].map(u64::try_from) else { continue };
            if (4..Copies::MOST).contains(&period) && until_end < Copies::MOST {
                let ends = [period, until_end].into_iter();
                let sizes = ends.flat_map(|end| end.saturating_sub(FEWER).max(1)..=end);
                let sizes: BTreeSet<u64> = sizes.filter(|copies| copies + BESIDE <= most).collect();
                if !sizes.is_empty() {
                    additions.push(Addition { thread: id, instruction, number, domain, sizes });
                }
            }
        }
    }
    additions
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The labels that a thread comes to by local instructions alone.
fn reached_alone(thread: &Thread) -> Vec<bool> {
    let mut reached = vec![false; thread.labels.len()];
    let mut open = vec![thread.initial];
    while let Some(label) = open.pop() {
        if std::mem::replace(&mut reached[label.index()], true) {
            continue;
        }
        let own = thread.instructions.iter().filter(|own| own.source == label && is_alone(&own.action));
        open.extend(own.map(|own| own.target));
    }
    reached
}

/// Whether an action is one of registers and labels alone.
fn is_alone(action: &Action) -> bool {
    matches!(action, Action::Assign { .. } | Action::Assume(_) | Action::Nop)
}

impl Addition {
    /// The crowds that are tried, the smallest first.
    pub(crate) fn crowds(&self) -> impl Iterator<Item = Crowd> + '_ {
        let crowd = |copies: &u64| Crowd { thread: self.thread, instruction: self.instruction, copies: *copies };
        self.sizes.iter().map(crowd)
    }

    /// The program with a few copies of the thread, and one of each other that may have any number.
    pub(crate) fn alone(&self, program: &Program) -> Program {
        self.with_copies(program, BESIDE + 1)
    }

    fn with_copies(&self, program: &Program, copies: u64) -> Program {
        let mut few = program.clone();
        for (id, thread) in (0..).zip(&mut few.threads) {
            thread.copies = match thread.copies {
                _ if id == self.thread.index() => Copies::Exactly(copies),
                Copies::Any => Copies::Exactly(1),
                fixed @ Copies::Exactly(_) => fixed,
            };
        }
        few
    }

    /// The program with two copies of the thread, one of each other that may have any number, and a
    /// thread that does what a crowd does.
    pub(crate) fn beside(&self, program: &Program, crowd: Crowd) -> Program {
        let mut beside = self.with_copies(program, BESIDE);
        let mut thread = program.thread(self.thread).clone();
        thread.copies = Copies::Exactly(1);
        let [gone, nowhere] = [0, 1].map(|more| LabelId::from_index(thread.labels.len() + more));
        for name in ["gone", "nowhere"] {
            let label = thread.labels[0].clone();
            thread.labels.push(Label { name: name.into(), ..label });
        }
        let sum = i128::from(self.number) * i128::from(crowd.copies);
        let size = i128::try_from(self.domain.size()).expect("a domain of 64-bit values");
        let sum = sum.rem_euclid(size);
        let sum = if sum > size / 2 { sum - size } else { sum };
        let sum = Value::try_from(sum).expect("a domain has fewer values");
        for (index, instruction) in thread.instructions.iter_mut().enumerate() {
            match &mut instruction.action {
                Action::Rmw { new, .. } if index == self.instruction.index() => {
                    *new = Expression::binary(BinaryOperator::Add, Expression::Old, Expression::Constant(sum));
                    instruction.target = gone;
                }
                action if is_alone(action) => {}
                _ => instruction.source = nowhere,
            }
        }
        beside.threads.push(thread);
        beside
    }
}

impl Crowd {
    /// A computation of the program with the crowd's thread as the last, as one of the program;
    /// nothing where the crowd does nothing, or there are not so many copies.
    pub(crate) fn retold(self, program: &Program, instance: &Instance, steps: &[Step]) -> Option<Retold> {
        let last = ThreadId::from_index(program.threads.len());
        let named: BTreeSet<CopyId> = steps.iter().map(|step| step.copy).filter(|copy| copy.thread != last).collect();
        let needed = |thread: ThreadId| {
            let own = named.iter().filter(|copy| copy.thread == thread);
            own.map(|copy| copy.copy + 1).max().unwrap_or(0)
        };
        let first = needed(self.thread);
        let count = |(id, thread): (ThreadId, &Thread)| match thread.copies {
            Copies::Exactly(copies) => copies,
            Copies::Any if id == self.thread => first + self.copies,
            Copies::Any => needed(id).min(instance.count(id)),
        };
        let instance = Instance::new(program.thread_ids().map(count).collect());
        if instance.count(self.thread) < first + self.copies {
            return None;
        }
        let leader = CopyId { thread: self.thread, copy: first };
        let step = |step: &Step| {
            if step.copy.thread != last {
                return *step;
            }
            let is_crowd = step.kind.instruction() == Some(self.instruction);
            let all = StepKind::Crowd { instruction: self.instruction, copies: self.copies };
            Step { copy: leader, kind: if is_crowd { all } else { step.kind } }
        };
        let steps: Vec<Step> = steps.iter().map(step).collect();
        let moves = steps.iter().position(|step| matches!(step.kind, StepKind::Crowd { .. }))?;
        let acting: BTreeSet<CopyId> = steps.iter().map(|step| step.copy).collect();
        Some(Retold { instance, acting: acting.into_iter().collect(), steps, moves })
    }
}
