//! Loops that try a bounded number of times, without their counters: a lock spins a hundred times
//! before it sleeps.
//!
//! A round loads one value, on one of a few ways. It leaves the loop by what it has loaded, or else
//! by how many rounds there were, and otherwise all that is live is as it was but for the counter.
//! The loop that may give up in any round, behind its load, does what this one does:
//!
//! - Rounds that fail and are not the last may be left out: the copy stays where it is meanwhile.
//! - The last one may be made again at once, and finds the same.
//!
//! So whatever is reached is reached with the number of rounds that the code makes. A cycle of
//! happens-before enters and leaves a copy once, so that two of its rounds, of at least
//! [`FEWEST`], are enough for it.

use super::bits;
use super::delays::reads;
use super::loops::{LONGEST, Search, Values, applied, assign};
use palisade_model::program::{
    Action, Expression, Instruction, InstructionId, LabelId, Liveness, RegisterId, Thread, Value,
};
use palisade_syntax::x86::code::has_old;
use std::collections::BTreeSet;

/// Loops with fewer rounds keep their counters.
const FEWEST: usize = 8;

/// Loops with more ways in a round keep their counters.
const MOST_WAYS: usize = 64;

/// Loops with more rounds keep their counters.
const MOST: usize = 100_000;

/// Forgets the counters of all such loops.
///
/// `lives` are the places that look whether a block is in use, by number. Such a look is part of
/// the access behind it: a block that is freed between the two is one that is used after that.
pub(crate) fn forget(thread: &mut Thread, lives: &BTreeSet<usize>) {
    // Bits that nobody looks at tell no rounds apart: what is found without them holds with them.
    let mut looked_at = thread.clone();
    bits::cut(&mut looked_at);
    while let Some(replaced) = find(&looked_at, lives) {
        for id in replaced {
            thread.instructions[id.index()].action = Action::Nop;
            looked_at.instructions[id.index()].action = Action::Nop;
        }
    }
}

/// The instructions of a loop that are about its counter alone.
fn find(thread: &Thread, lives: &BTreeSet<usize>) -> Option<Vec<InstructionId>> {
    let (by_label, liveness) = (thread.instructions_by_label(), Liveness::of(thread));
    let guess = RegisterId::from_index(thread.registers.len());
    let search = Search { thread, by_label: &by_label, liveness: &liveness, guess };
    thread.instruction_ids().find_map(|(id, _)| search.counter_of(id, lives))
}

/// A way from a load round to it again.
#[derive(Clone, Default)]
struct Round {
    values: Values,
    /// The instructions of the way, and of each branch the one that it does not take, with what the
    /// way asks.
    taken: Vec<InstructionId>,
    branches: Vec<(InstructionId, InstructionId, Expression)>,
    /// How many values are loaded on it.
    loads: usize,
}

impl Round {
    /// What counts the rounds, and by what: all that is live and not as it was at a label.
    fn counter(&self, home: LabelId, liveness: &Liveness) -> Option<(RegisterId, &Expression)> {
        let changed = |register: RegisterId| {
            let next = self.values.get(&register)?;
            (*next != Expression::Register(register)).then_some((register, next))
        };
        let mut changed = liveness.at(home).filter_map(changed);
        changed.next().filter(|_| changed.next().is_none())
    }
}

impl Search<'_> {
    fn counter_of(&self, id: InstructionId, lives: &BTreeSet<usize>) -> Option<Vec<InstructionId>> {
        let load = self.thread.instruction(id);
        let Action::Load { register, address } = &load.action else { return None };
        self.only(load.source)?;
        let mut rounds = Vec::new();
        let values = Values::from([(*register, Expression::Register(self.guess))]);
        let first = Round { values, loads: 1, ..Round::default() };
        let near = self.near(load.source, lives);
        self.follow(load.target, load.source, lives, &near, first, &mut rounds)?;
        let (counter, next) = rounds.first()?.counter(load.source, self.liveness)?;
        if reads(address, counter) || !reads_only(next, counter) {
            return None;
        }
        let is_dead = |(_, other, _): &(InstructionId, InstructionId, Expression)| {
            !self.liveness.is_live(self.thread.instruction(*other).target, counter)
        };
        let taken: Vec<InstructionId> = rounds.iter().flat_map(|round| round.taken.iter().copied()).collect();
        let beginnings = self.beginnings(load.source, counter, &taken)?;
        let mut forgotten = BTreeSet::new();
        for round in &rounds {
            let (of_counter, others): (Vec<_>, Vec<_>) =
                round.branches.iter().partition(|(_, _, condition)| reads(condition, counter));
            let only_counter = of_counter.iter().all(|(_, _, condition)| reads_only(condition, counter));
            let is_same = round.counter(load.source, self.liveness) == Some((counter, next));
            if of_counter.is_empty()
                || others.is_empty()
                || !only_counter
                || !is_same
                || !of_counter.iter().copied().all(is_dead)
            {
                return None;
            }
            let conditions: Vec<&Expression> = of_counter.iter().map(|(_, _, condition)| condition).collect();
            if !beginnings.iter().all(|first| is_long(*first, next, counter, &conditions)) {
                return None;
            }
            forgotten.extend(of_counter.iter().flat_map(|(one, other, _)| [*one, *other]));
        }
        let leaves = |(_, other, _): &&(InstructionId, InstructionId, Expression)| !taken.contains(other);
        if !rounds.iter().flat_map(|round| &round.branches).filter(leaves).all(is_dead) {
            return None;
        }
        let counts = |id: &InstructionId| self.thread.instruction(*id).action.written_register() == Some(counter);
        forgotten.extend(taken.iter().copied().filter(counts));
        Some(forgotten.into_iter().collect())
    }

    /// Whether a round may have it behind its load: a step in registers, or a look at a life.
    fn is_passed(own: &Instruction, lives: &BTreeSet<usize>) -> bool {
        match own.action {
            Action::Assign { .. } | Action::Assume(_) | Action::Nop => true,
            Action::Load { .. } => lives.contains(&own.span.start),
            _ => false,
        }
    }

    /// The labels from which control may come to another one by such steps alone.
    fn near(&self, home: LabelId, lives: &BTreeSet<usize>) -> BTreeSet<LabelId> {
        let (mut near, mut open) = (BTreeSet::from([home]), vec![home]);
        while let Some(label) = open.pop() {
            let all = self.thread.instructions.iter();
            for own in all.filter(|own| own.target == label && Self::is_passed(own, lives)) {
                if near.insert(own.source) {
                    open.push(own.source);
                }
            }
        }
        near
    }

    /// Follows local steps, branches and looks at lives; all ways that come back. Nothing where
    /// they are many.
    fn follow(
        &self,
        from: LabelId,
        home: LabelId,
        lives: &BTreeSet<usize>,
        near: &BTreeSet<LabelId>,
        mut round: Round,
        found: &mut Vec<Round>,
    ) -> Option<()> {
        const MOST_BRANCHES: usize = 12;
        let mut label = from;
        for _ in 0..LONGEST {
            if label == home {
                found.push(round);
                return (found.len() <= MOST_WAYS).then_some(());
            }
            match self.by_label[label.index()] {
                // It leaves.
                _ if !near.contains(&label) => return Some(()),
                [id] => {
                    let own = self.thread.instruction(id);
                    match &own.action {
                        Action::Assign { register, value } => assign(&mut round.values, *register, value)?,
                        Action::Load { register, .. } if lives.contains(&own.span.start) => {
                            let found = RegisterId::from_index(self.guess.index() + round.loads);
                            round.values.insert(*register, Expression::Register(found));
                            round.loads += 1;
                        }
                        Action::Nop => {}
                        // It leaves.
                        _ => return Some(()),
                    }
                    round.taken.push(id);
                    label = own.target;
                }
                [one, two] if round.branches.len() < MOST_BRANCHES => {
                    for (own, other) in [(one, two), (two, one)] {
                        let Instruction { action: Action::Assume(condition), target, .. } =
                            self.thread.instruction(own)
                        else {
                            return Some(());
                        };
                        let mut round = round.clone();
                        let asked = applied(condition, &round.values);
                        round.taken.push(own);
                        round.branches.push((own, other, asked));
                        self.follow(*target, home, lives, near, round, found)?;
                    }
                    return Some(());
                }
                _ => return Some(()),
            }
        }
        Some(())
    }

    /// The numbers from which a register counts, when control first comes to a label; nothing where
    /// they are not known.
    fn beginnings(&self, home: LabelId, counter: RegisterId, round: &[InstructionId]) -> Option<BTreeSet<Value>> {
        let (mut seen, mut open, mut found) = (BTreeSet::from([home]), vec![home], BTreeSet::new());
        while let Some(label) = open.pop() {
            if label == self.thread.initial {
                found.insert(self.thread.registers[counter.index()].initial);
            }
            let before = self.thread.instruction_ids();
            for (_, own) in before.filter(|(id, own)| own.target == label && !round.contains(id)) {
                match &own.action {
                    Action::Assign { register, value } if *register == counter => match value {
                        Expression::Constant(value) => drop(found.insert(*value)),
                        _ => return None,
                    },
                    action if action.written_register() == Some(counter) => return None,
                    _ if seen.insert(own.source) => open.push(own.source),
                    _ => {}
                }
            }
        }
        Some(found)
    }
}

/// Whether there are many rounds from a beginning, and not too many, before a condition fails.
fn is_long(first: Value, next: &Expression, counter: RegisterId, conditions: &[&Expression]) -> bool {
    let (mut value, mut count) = (first, 0);
    while count < MOST && conditions.iter().all(|condition| evaluated(condition, counter, value) != Some(0)) {
        let Some(next) = evaluated(next, counter, value) else { return false };
        (value, count) = (next, count + 1);
    }
    (FEWEST..MOST).contains(&count)
}

/// Whether it reads that one alone.
fn reads_only(expression: &Expression, register: RegisterId) -> bool {
    let mut only = !has_old(expression);
    expression.for_each_register(&mut |read| only &= read == register);
    only
}

/// What an expression about one register is, where that has a value.
fn evaluated(expression: &Expression, register: RegisterId, value: Value) -> Option<Value> {
    let mut registers = vec![0; register.index() + 1];
    registers[register.index()] = value;
    expression.evaluate(&registers, None).ok()
}
