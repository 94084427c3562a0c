//! Loops of a thread, and those that it may go round without changing anything.

use super::expression::Expression;
use super::ids::LabelId;
use super::instruction::{Action, Instruction};
use super::queue::Patience;
use super::thread::Thread;
use super::{InstructionId, Program};

impl Program {
    /// The program in which whoever repeats may wait for ever between two rounds: for what a round
    /// of a loop without a way out loads first, if it looks at memory before it does anything else.
    #[must_use]
    pub fn resting_between_rounds(&self) -> Self {
        let mut program = self.clone();
        for thread in &mut program.threads {
            for id in thread.first_loads_of_rounds() {
                let own = &mut thread.instructions[id.index()];
                if own.patience() == Patience::Finite {
                    own.set_patience(Patience::Idle);
                }
            }
        }
        program
    }
}

impl Thread {
    /// The loads to which a copy comes by local instructions from where it enters a loop that has
    /// no way out.
    fn first_loads_of_rounds(&self) -> Vec<InstructionId> {
        let goes_on = |own: &&Instruction| own.action != Action::Fail;
        let component = self.components(goes_on);
        let mut is_endless = vec![false; self.labels.len()];
        let mut is_entered = vec![false; self.labels.len()];
        is_entered[self.initial.index()] = true;
        let going_on = || self.instructions.iter().filter(goes_on);
        let crosses = |own: &&Instruction| component[own.source.index()] != component[own.target.index()];
        going_on().for_each(|own| is_endless[component[own.source.index()]] = true);
        for own in going_on().filter(crosses) {
            is_endless[component[own.source.index()]] = false;
            is_entered[own.target.index()] = true;
        }
        let begins = |label: &usize| is_entered[*label] && is_endless[component[*label]];
        let mut open: Vec<usize> = (0..self.labels.len()).filter(begins).collect();
        let mut seen = vec![false; self.labels.len()];
        let by_label = self.instructions_by_label();
        let mut loads = Vec::new();
        while let Some(label) = open.pop() {
            if std::mem::replace(&mut seen[label], true) {
                continue;
            }
            for id in &by_label[label] {
                let own = self.instruction(*id);
                match own.action {
                    Action::Load { .. } => loads.push(*id),
                    Action::Nop | Action::Assign { .. } | Action::Havoc { .. } | Action::Assume(_) => {
                        open.push(own.target.index());
                    }
                    _ => {}
                }
            }
        }
        loads
    }

    /// Whether control can return to a label.
    pub fn has_loop(&self) -> bool {
        self.has_loop_of(|_| true)
    }

    /// Whether control can return to a label without an access to memory.
    pub fn has_local_loop(&self) -> bool {
        self.has_loop_of(|own| own.action.address().is_none())
    }

    /// Whether control can return to a label by these instructions alone.
    fn has_loop_of(&self, is_one: impl Fn(&Instruction) -> bool) -> bool {
        let by_label = self.instructions_by_label();
        let mut waits_for = vec![0_usize; self.labels.len()];
        let ones = self.instructions.iter().filter(|own| is_one(own));
        ones.for_each(|instruction| waits_for[instruction.target.index()] += 1);
        let mut open: Vec<usize> = (0..waits_for.len()).filter(|label| waits_for[*label] == 0).collect();
        let mut sorted = 0;
        while let Some(label) = open.pop() {
            sorted += 1;
            for own in by_label[label].iter().map(|id| self.instruction(*id)).filter(|own| is_one(own)) {
                let target = own.target.index();
                waits_for[target] -= 1;
                if waits_for[target] == 0 {
                    open.push(target);
                }
            }
        }
        sorted < waits_for.len()
    }

    /// Whether a copy may go round a loop that changes nothing until it leaves the loop: one that
    /// reads memory, or one that writes no register and so is never left once it has gone round.
    pub fn may_spin(&self) -> bool {
        let component = self.components(|own| is_still(own));
        let stays = |own: &&Instruction| component[own.source.index()] == component[own.target.index()];
        let [mut is_left, mut looks, mut counts] = [(); 3].map(|()| vec![false; self.labels.len()]);
        for own in &self.instructions {
            let of = component[own.source.index()];
            if !stays(&own) {
                is_left[of] = true;
            } else {
                looks[of] |= reads(own);
                counts[of] |= matches!(own.action, Action::Assign { .. } | Action::Havoc { .. });
            }
        }
        let going_round = |own: &&Instruction| stays(own) && is_still(own);
        self.instructions
            .iter()
            .filter(going_round)
            .map(|own| component[own.source.index()])
            .any(|of| is_left[of] && (looks[of] || !counts[of]))
    }

    /// For each label, whether a copy may come back to it without a store.
    pub fn returning(&self) -> Vec<bool> {
        let is_one = |own: &&Instruction| !matches!(own.action, Action::Store { .. } | Action::Fail);
        let component = self.components(is_one);
        let mut has_way = vec![false; self.labels.len()];
        for own in self.instructions.iter().filter(is_one) {
            has_way[component[own.source.index()]] |= component[own.source.index()] == component[own.target.index()];
        }
        component.into_iter().map(|own| has_way[own]).collect()
    }

    /// For each label the number of its strongly connected component in the graph of some
    /// instructions.
    fn components(&self, is_one: impl Fn(&&Instruction) -> bool) -> Vec<usize> {
        let (forward, backward) = (self.instructions_by_label(), self.instructions_by_target());
        let mut finished = Vec::with_capacity(self.labels.len());
        let mut seen = vec![false; self.labels.len()];
        for start in 0..self.labels.len() {
            let mut open = Vec::new();
            if !std::mem::replace(&mut seen[start], true) {
                open.push((start, 0));
            }
            while let Some((label, next)) = open.pop() {
                let Some(instruction) = forward[label].get(next) else {
                    finished.push(label);
                    continue;
                };
                open.push((label, next + 1));
                let target = Some(self.instruction(*instruction)).filter(&is_one).map(|own| own.target.index());
                if let Some(target) = target.filter(|target| !std::mem::replace(&mut seen[*target], true)) {
                    open.push((target, 0));
                }
            }
        }
        let mut component = vec![usize::MAX; self.labels.len()];
        for root in finished.into_iter().rev() {
            let mut open = vec![LabelId::from_index(root)];
            while let Some(label) = open.pop() {
                if component[label.index()] != usize::MAX {
                    continue;
                }
                component[label.index()] = root;
                let before = backward[label.index()].iter().map(|own| self.instruction(*own)).filter(&is_one);
                open.extend(before.map(|own| own.source));
            }
        }
        component
    }
}

/// Whether an instruction reads memory and leaves it as it is, or as others left it who did the
/// same.
fn reads(own: &Instruction) -> bool {
    matches!(own.action, Action::Load { .. } | Action::Cas { .. } | Action::Rmw { new: Expression::Constant(_), .. })
}

/// Whether an instruction may change nothing that others see.
fn is_still(own: &Instruction) -> bool {
    match &own.action {
        Action::Rmw { .. } => reads(own),
        action => !matches!(action, Action::Store { .. } | Action::Fail | Action::Unlock | Action::Post { .. }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Copies, Label, Register, RegisterId, Role};
    use crate::text::Span;
    use std::collections::BTreeSet;

    /// A thread of six labels with instructions drawn by a number.
    fn drawn(mut seed: u64) -> Thread {
        let mut below = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).expect("31 bits") % bound
        };
        let instructions = (0..7).map(|_| {
            let action = match below(4) {
                0 => Action::Load { register: RegisterId::from_index(0), address: Expression::Constant(1) },
                1 => Action::Store { address: Expression::Constant(1), value: Expression::Constant(1) },
                _ => Action::Nop,
            };
            let (source, target) = (LabelId::from_index(below(6)), LabelId::from_index(below(6)));
            Instruction::new(source, target, action, Span::default())
        });
        let register = Register { name: "r".to_owned(), initial: 0, is_initialised: false, span: Span::default() };
        Thread {
            role: Role::Thread,
            name: "t".to_owned(),
            span: Span::default(),
            copies: Copies::Exactly(1),
            is_daemon: false,
            registers: vec![register],
            labels: (0..6).map(|label| Label::new(format!("l{label}"), Span::default())).collect(),
            initial: LabelId::from_index(0),
            instructions: instructions.collect(),
        }
    }

    /// The labels that still instructions lead to.
    fn reached(thread: &Thread, start: LabelId) -> BTreeSet<LabelId> {
        let (mut reached, mut open) = (BTreeSet::from([start]), vec![start]);
        while let Some(label) = open.pop() {
            let next = thread.instructions.iter().filter(|own| own.source == label && is_still(own));
            open.extend(next.map(|own| own.target).filter(|target| reached.insert(*target)));
        }
        reached
    }

    #[test]
    fn components_find_what_paths_find() {
        let mut spinning = 0;
        for seed in 0..4_000 {
            let thread = drawn(seed);
            // No instruction writes a register but loads, so a round either reads or is never left.
            let by_paths = thread.instructions.iter().filter(|own| is_still(own)).any(|own| {
                let round = reached(&thread, own.target);
                let on = |label: &LabelId| round.contains(label) && reached(&thread, *label).contains(&own.source);
                let is_left = || thread.instructions.iter().any(|other| on(&other.source) && !on(&other.target));
                round.contains(&own.source) && is_left()
            });
            assert_eq!(thread.may_spin(), by_paths, "{thread:?}");
            spinning += u32::from(by_paths);
        }
        assert!((200..3_800).contains(&spinning), "{spinning}");
    }
}
