//! From what the table says of an instruction to actions, one after the other.
//!
//! The table's expressions are all about the state before the instruction. The access to memory comes first, then the
//! flags, then the registers; what a later assignment reads and an earlier one overwrites is copied before.

use super::super::code::{Code, has_old};
use super::super::fold::rebuilt;
use super::{Lowering, Slot};
use crate::Diagnostic;
use crate::x86::{Access, Atom, Flag, Meaning, Write};
use palisade_model::program::{Action, Expression, RegisterId};

/// Flags with what they are given.
type Flags<Value> = Vec<(Flag, Value)>;

/// The temporary for what memory has held; the later ones are for copies.
const LOADED: Slot = Slot::Temporary(0);

impl Lowering<'_> {
    /// Appends what an instruction does. `address` is that of its operand in memory.
    pub(super) fn effects(&mut self, meaning: &Meaning, address: Option<Expression>) {
        let result = meaning.result.as_ref().map(|result| self.of_atoms(result, None));
        if let Some(address) = address {
            self.access(&meaning.access, address, result.as_ref());
        }
        let (early, late) = self.early_and_late_flags(meaning, result.as_ref());
        let mut assignments = Vec::new();
        for (flag, value) in early {
            let value = match value {
                Some(value) => self.after_access(&value, result.as_ref()),
                None => undefined(),
            };
            assignments.push((self.slot(Slot::Flag(flag)), value));
        }
        for (family, value) in meaning.registers() {
            let value = self.after_access(&value, result.as_ref());
            assignments.push((self.family(family), value));
        }
        self.assign_at_once(assignments);
        for (flag, value) in late {
            let register = self.slot(Slot::Flag(flag));
            self.act(Action::Assign { register, value });
        }
    }

    fn access(&mut self, access: &Access, address: Expression, result: Option<&Expression>) {
        let register = match access {
            Access::None | Access::Store(_) => None,
            _ => Some(self.slot(LOADED)),
        };
        let load = |lowering: &mut Self| {
            let register = register.expect("what loads has a register for it");
            lowering.act(Action::Load { register, address: address.clone() });
        };
        match access {
            Access::None => {}
            Access::Load => load(self),
            Access::Store(value) => {
                let value = self.of_atoms(value, result);
                self.act(Action::Store { address, value });
            }
            Access::LoadStore(value) => {
                load(self);
                let value = self.after_access(value, result);
                self.act(Action::Store { address, value });
            }
            Access::Locked(value) => {
                let new = self.of_atoms(value, result);
                self.act(Action::Rmw { register, address, new });
            }
            Access::CompareExchange { expected, new } => {
                let (expected, new) = (self.of_atoms(expected, result), self.of_atoms(new, result));
                self.act(Action::Cas { register, address, expected, new });
            }
        }
    }

    /// Flags that are functions of the result in a register are computed from the register once it is written: then the
    /// old value need not be kept for them.
    fn early_and_late_flags(
        &mut self,
        meaning: &Meaning,
        result: Option<&Expression>,
    ) -> (Flags<Option<Expression>>, Flags<Expression>) {
        let atom = Atom::Result.expression();
        let written = match (result, meaning.writes.as_slice()) {
            (Some(result), [Write { register, value, condition: None }]) if *value == atom && !result.is_constant() => {
                self.machine.read(*register)
            }
            _ => return (meaning.flags.clone(), Vec::new()),
        };
        let written = self.of_atoms(&written, None);
        let (late, early) = meaning.flags.iter().cloned().partition::<Vec<_>, _>(|(_, value)| {
            value.as_ref().is_some_and(|value| reads_only_the_result(value, &atom))
        });
        let late = late.into_iter().filter_map(|(flag, value)| Some((flag, self.of_atoms(&value?, Some(&written)))));
        (early, late.collect())
    }

    /// Assigns as if all at once: what a later one reads and an earlier one changes is copied first.
    fn assign_at_once(&mut self, mut assignments: Vec<(RegisterId, Expression)>) {
        let mut copies = 0;
        for index in 0..assignments.len() {
            let (register, value) = assignments[index].clone();
            let reads = |value: &Expression| {
                let mut reads = false;
                value.for_each_register(&mut |read| reads |= read == register);
                reads
            };
            let changes = value != Expression::Register(register);
            if changes && assignments[index + 1..].iter().any(|(_, later)| reads(later)) {
                copies += 1;
                let copy = self.slot(Slot::Temporary(copies));
                self.act(Action::Assign { register: copy, value: Expression::Register(register) });
                let copy = Expression::Register(copy);
                for (_, later) in &mut assignments[index + 1..] {
                    let leaf = |leaf: &Expression| (*leaf == Expression::Register(register)).then(|| copy.clone());
                    *later = rebuilt(later, &leaf);
                }
            }
            self.act(Action::Assign { register, value });
        }
    }

    /// An expression of the table over the program's registers, with `result` in place of the result.
    pub(super) fn of_atoms(&mut self, expression: &Expression, result: Option<&Expression>) -> Expression {
        let mut slots = Vec::new();
        expression.for_each_register(&mut |register| slots.extend(slot_of(register)));
        for slot in slots {
            self.slot(slot);
        }
        rebuilt(expression, &|leaf| match leaf {
            Expression::Register(register) => match slot_of(*register) {
                Some(slot) => self.known_slot(slot).map(Expression::Register),
                None => result.cloned(),
            },
            _ => None,
        })
    }

    /// The same, with what memory has held in its temporary.
    fn after_access(&mut self, expression: &Expression, result: Option<&Expression>) -> Expression {
        let expression = self.of_atoms(expression, result);
        if !has_old(&expression) {
            return expression;
        }
        let loaded = Expression::Register(self.slot(LOADED));
        rebuilt(&expression, &|leaf| (*leaf == Expression::Old).then(|| loaded.clone()))
    }

    /// Instructions whose undefined flags somebody reads.
    pub(super) fn undefined_flags(&self) -> Vec<Diagnostic> {
        let undefined = self.thread.code.iter().filter_map(|element| match element {
            Code::Action(Action::Assign { value, .. }, span) if has_old(value) => Some(*span),
            _ => None,
        });
        undefined
            .map(|span| Diagnostic::error("a later instruction reads a flag that this one leaves undefined", span))
            .collect()
    }
}

/// What an atom of the table is in the program; the result is nothing there.
fn slot_of(atom: RegisterId) -> Option<Slot> {
    match Atom::of(atom) {
        Atom::Family(family) => Some(Slot::Family(family)),
        Atom::Flag(flag) => Some(Slot::Flag(flag)),
        Atom::Result => None,
    }
}

fn reads_only_the_result(value: &Expression, result: &Expression) -> bool {
    let mut only = !has_old(value);
    value.for_each_register(&mut |register| only &= Expression::Register(register) == *result);
    only && !value.is_constant()
}

/// What stands for a flag without a value; nothing but a locked instruction's new value may otherwise contain it.
fn undefined() -> Expression {
    Expression::Old
}
