//! What memory holds that nothing has been written to since it was allocated: poison, with which
//! nothing may be computed.
//!
//! Compilers copy bytes that hold nothing, such as the padding of a structure. So poison may be
//! loaded, moved between registers, and stored in the heap. Where it is computed with, tested, used
//! as an address, changed by a locked instruction or stored elsewhere, the thread fails.

use super::contexts::Place;
use super::knowledge::Knowledge;
use crate::image::Heap;
use palisade_model::program::{
    Action, BinaryOperator as Op, Expression, Instruction, Label, LabelId, MemoryFault, Register, RegisterId, Span,
    Thread, UnaryOperator,
};
use std::collections::{BTreeMap, BTreeSet};

/// Lets a thread fail where it uses poison. Places of `lives` look whether a block is in use.
pub(super) fn guard(
    thread: &mut Thread,
    places: &mut Vec<(Place, String)>,
    lives: &BTreeSet<usize>,
    knowledge: &Knowledge<'_>,
) {
    let sources = Sources { places, lives, knowledge };
    let accesses: Vec<Access> = thread.instructions.iter().map(|instruction| sources.access(instruction)).collect();
    if !accesses.iter().any(|access| access.may_find) {
        return;
    }
    let used = used(thread, &accesses);
    let mut guards = Guards { thread, places };
    guards.behind_locked(&accesses);
    for (label, registers) in used {
        guards.before(label, &registers);
    }
}

/// What is known of the address of an instruction.
#[derive(Clone, Copy)]
struct Access {
    /// Poison may be there.
    may_find: bool,
    /// Poison may be put there.
    may_keep: bool,
}

struct Sources<'a, 'm> {
    places: &'a [(Place, String)],
    lives: &'a BTreeSet<usize>,
    knowledge: &'a Knowledge<'m>,
}

impl Sources<'_, '_> {
    fn access(&self, instruction: &Instruction) -> Access {
        let none = Access { may_find: false, may_keep: false };
        let Some(address) = instruction.action.address() else { return none };
        if self.lives.contains(&instruction.span.start) {
            return none;
        }
        let addresses = if address.is_constant() {
            address.evaluate_address(&[]).map_or(BTreeSet::new(), |address| BTreeSet::from([address.cast_unsigned()]))
        } else {
            let place = self.places.get(instruction.span.start);
            let known = place.and_then(|(place, _)| self.knowledge.computed.get(&place.address));
            known.map_or(BTreeSet::new(), |known| known.addresses.clone())
        };
        let mut may_be = addresses.iter().map(|address| self.knowledge.may_be_poison(*address));
        Access { may_find: may_be.clone().any(|may| may), may_keep: !addresses.is_empty() && may_be.all(|may| may) }
    }
}

/// The registers that may hold poison where instructions of a label use them.
fn used(thread: &Thread, accesses: &[Access]) -> BTreeMap<LabelId, BTreeSet<RegisterId>> {
    let by_label = thread.instructions_by_label();
    let mut poison: Vec<Option<BTreeSet<RegisterId>>> = vec![None; thread.labels.len()];
    poison[thread.initial.index()] = Some(BTreeSet::new());
    let mut open = vec![thread.initial];
    let mut used: BTreeMap<LabelId, BTreeSet<RegisterId>> = BTreeMap::new();
    while let Some(label) = open.pop() {
        let mut known = poison[label.index()].clone().expect("what is open has been reached");
        let own: BTreeSet<RegisterId> = by_label[label.index()]
            .iter()
            .flat_map(|id| uses(&thread.instruction(*id).action, accesses[id.index()]))
            .filter(|register| known.contains(register))
            .collect();
        known.retain(|register| !own.contains(register));
        if !own.is_empty() {
            used.entry(label).or_default().extend(own);
        }
        for id in &by_label[label.index()] {
            let instruction = thread.instruction(*id);
            let mut after = known.clone();
            if let Some(written) = instruction.action.written_register() {
                let is_poison = match &instruction.action {
                    Action::Load { .. } => accesses[id.index()].may_find,
                    Action::Assign { value, .. } => moved(value).is_some_and(|from| known.contains(&from)),
                    _ => false,
                };
                if is_poison {
                    after.insert(written);
                } else {
                    after.remove(&written);
                }
            }
            let target = &mut poison[instruction.target.index()];
            let before = target.clone();
            target.get_or_insert_default().extend(after);
            if *target != before {
                open.push(instruction.target);
            }
        }
    }
    used
}

/// The registers that an action does more with than to move what they hold.
fn uses(action: &Action, access: Access) -> BTreeSet<RegisterId> {
    let mut used = BTreeSet::new();
    let mut all = |expression: &Expression| expression.for_each_register(&mut |register| _ = used.insert(register));
    match action {
        Action::Assign { value, .. } if moved(value).is_some() => {}
        Action::Store { address, value } if access.may_keep && moved(value).is_some() => all(address),
        _ => action.expressions().into_iter().for_each(|expression| all(expression)),
    }
    used
}

/// The register whose value an expression is.
fn moved(value: &Expression) -> Option<RegisterId> {
    match value {
        Expression::Register(register) => Some(*register),
        Expression::Unary(UnaryOperator::Truncate { bits: 64, .. }, operand) => moved(operand),
        _ => None,
    }
}

struct Guards<'a> {
    thread: &'a mut Thread,
    places: &'a mut Vec<(Place, String)>,
}

impl Guards<'_> {
    fn label(&mut self, span: Span) -> LabelId {
        let label = LabelId::from_index(self.thread.labels.len());
        self.thread.labels.push(Label::new(format!("poison{}", label.index()), span));
        label
    }

    fn step(&mut self, source: LabelId, target: LabelId, action: Action, span: Span) {
        self.thread.instructions.push(Instruction::new(source, target, action, span));
    }

    /// From a label the thread goes to another one unless some register holds poison; then it
    /// fails.
    fn test(&mut self, source: LabelId, target: LabelId, registers: &BTreeSet<RegisterId>, span: Span) {
        let compared = |operator: Op| {
            registers.iter().map(move |register| {
                Expression::binary(operator, Expression::Register(*register), Expression::Constant(Heap::POISON))
            })
        };
        let none = compared(Op::NotEqual).reduce(|one, other| Expression::binary(Op::And, one, other));
        let some = compared(Op::Equal).reduce(|one, other| Expression::binary(Op::Or, one, other));
        let (Some(none), Some(some)) = (none, some) else { return };
        let (failing, end) = (self.label(span), self.label(span));
        self.step(source, target, Action::Assume(none), span);
        self.step(source, failing, Action::Assume(some), span);
        let number = self.places.len();
        self.places.push((self.places[span.start].0, MemoryFault::Uninitialised.listed()));
        self.step(failing, end, Action::Fail, Span { start: number, end: number + 1 });
    }

    /// Tests registers before whatever stands at a label.
    fn before(&mut self, label: LabelId, registers: &BTreeSet<RegisterId>) {
        let Some(span) = self.thread.instructions.iter().find(|own| own.source == label).map(|own| own.span) else {
            return;
        };
        let behind = self.label(span);
        for instruction in self.thread.instructions.iter_mut().filter(|own| own.source == label) {
            instruction.source = behind;
        }
        self.test(label, behind, registers, span);
    }

    /// Tests what locked instructions have found.
    fn behind_locked(&mut self, accesses: &[Access]) {
        for (index, access) in accesses.iter().enumerate() {
            let free = RegisterId::from_index(self.thread.registers.len());
            let own = &mut self.thread.instructions[index];
            let (Action::Rmw { register, .. } | Action::Cas { register, .. }) = &mut own.action else { continue };
            if !access.may_find {
                continue;
            }
            let found = *register.get_or_insert(free);
            let (span, target) = (own.span, own.target);
            if found == free {
                let name = format!("found{}", free.index());
                self.thread.registers.push(Register { name, initial: 0, is_initialised: false, span: Span::default() });
            }
            let behind = self.label(span);
            self.thread.instructions[index].target = behind;
            self.test(behind, target, &BTreeSet::from([found]), span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poison_may_be_moved_and_kept_but_not_used() {
        let register = RegisterId::from_index(3);
        let own = Expression::Register(register);
        let address = Expression::Constant(64);
        let [heap, other] = [true, false].map(|may_keep| Access { may_find: may_keep, may_keep });
        let sum = Expression::binary(Op::Add, own.clone(), Expression::Constant(1));
        let to = RegisterId::from_index(1);
        for (action, access, is_used) in [
            (Action::Assign { register: to, value: own.clone() }, other, false),
            (Action::Assign { register: to, value: sum.clone() }, other, true),
            (Action::Store { address: address.clone(), value: own.clone() }, heap, false),
            (Action::Store { address: address.clone(), value: own.clone() }, other, true),
            (Action::Store { address: own.clone(), value: address.clone() }, heap, true),
            (Action::Load { register: to, address: own.clone() }, heap, true),
            (Action::Assume(own.clone()), other, true),
            (Action::Rmw { register: None, address, new: sum }, heap, true),
        ] {
            assert_eq!(uses(&action, access).contains(&register), is_used, "{action:?}");
        }
    }
}
