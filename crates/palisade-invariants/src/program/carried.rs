//! Which registers of a thread hold what a count's address held.

use super::counted::{MARGIN, Scale, distance};
use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::program::{Action, Expression, Instruction, RegisterId, Thread, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// A number that is few.
    Few,
    /// The same as in the program.
    Same,
    /// What the address held, raised by so much at most.
    Count(i128),
    /// One of these, depending on the path.
    Unclear,
}

/// What is known at a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) holds: Vec<Holds>,
    /// The expressions by which registers came of another one that still holds what it held, by
    /// constants alone.
    pub(super) came: BTreeMap<RegisterId, Expression>,
    /// The registers that hold what the last `cas` on the address expected and found.
    pub(super) last: Option<(RegisterId, RegisterId)>,
}

impl Known {
    fn initially(scale: &Scale, thread: &Thread) -> Self {
        let few = |initial: Value| if scale.is_many(initial) { Holds::Same } else { Holds::Few };
        let holds = thread.registers.iter().map(|register| few(register.initial)).collect();
        Self { holds, came: BTreeMap::new(), last: None }
    }

    /// What is known where either is.
    fn or(&self, other: &Self) -> Self {
        let either = |(one, other): (&Holds, &Holds)| match (*one, *other) {
            (Holds::Count(one), Holds::Count(other)) => Holds::Count(one.max(other)),
            (one, other) if one == other => one,
            (Holds::Few, other) | (other, Holds::Few) => other,
            _ => Holds::Unclear,
        };
        Self {
            holds: self.holds.iter().zip(&other.holds).map(either).collect(),
            came: self
                .came
                .iter()
                .filter(|(own, by)| other.came.get(own) == Some(by))
                .map(|(own, by)| (*own, by.clone()))
                .collect(),
            last: if self.last == other.last { self.last } else { None },
        }
    }

    /// What is known after an instruction.
    fn after(&self, scale: &Scale, (id, instruction): (ThreadId, &Instruction)) -> Result<Self, CheckFailure> {
        let mut known = self.clone();
        let is_there = scale.is_accessed(&instruction.action);
        let is_cas = is_there && matches!(instruction.action, Action::Cas { .. });
        if is_cas {
            known.last = None;
        }
        let Some(written) = instruction.action.written_register() else { return Ok(known) };
        let mut assigned = None;
        known.holds[written.index()] = match &instruction.action {
            Action::Assign { value, .. } => {
                assigned = Some(value);
                self.held_by(scale, id, value)?
            }
            _ if is_there => Holds::Count(0),
            _ => Holds::Same,
        };
        let reads_it = |value: &Expression| registers(value).contains(&written);
        known.came.retain(|own, by| *own != written && !reads_it(by));
        if known.last.is_some_and(|(expected, found)| expected == written || found == written) {
            known.last = None;
        }
        if let Some(value) = assigned
            && let [from] = registers(value)[..]
            && from != written
            && distance(value, &Expression::Register(from)).is_some()
        {
            known.came.insert(written, value.clone());
        }
        if let Action::Cas { expected: Expression::Register(expected), .. } = &instruction.action
            && is_cas
            && *expected != written
        {
            known.last = Some((*expected, written));
        }
        Ok(known)
    }

    /// What a register holds that an expression is assigned to.
    pub(super) fn held_by(&self, scale: &Scale, id: ThreadId, value: &Expression) -> Result<Holds, CheckFailure> {
        let counted = self.counted(id, value)?;
        let [first, ..] = counted[..] else {
            return Ok(match value {
                Expression::Constant(number) if !scale.is_many(*number) => Holds::Few,
                Expression::Register(register) => self.holds[register.index()],
                _ => Holds::Same,
            });
        };
        match self.outcomes(scale, value, first) {
            Some(outcomes) if !outcomes.contains(&scale.many) => return Ok(Holds::Same),
            None if registers(value).len() > 1 => return Ok(Holds::Same),
            _ => {}
        }
        // What has fallen may come from above all that is many.
        let rises = distance(value, &Expression::Register(first)).filter(|by| *by >= 0);
        let Some(by) = rises.filter(|_| self.outcomes(scale, value, first).is_some()) else {
            return Ok(Holds::Count(i128::from(MARGIN)));
        };
        let Holds::Count(before) = self.holds[first.index()] else { unreachable!("it holds a count") };
        if before + by > i128::from(MARGIN) {
            reject!(Form, "a register of thread {id} is raised too far above what address {} held", scale.cell);
        }
        Ok(Holds::Count(before + by))
    }

    /// The registers in an expression that hold a count, ascending.
    pub(super) fn counted(&self, id: ThreadId, value: &Expression) -> Result<Vec<RegisterId>, CheckFailure> {
        let mut counted = Vec::new();
        for register in registers(value) {
            match self.holds.get(register.index()) {
                Some(Holds::Count(_)) => counted.push(register),
                Some(Holds::Unclear) => {
                    reject!(Form, "thread {id} reads register {register}, which may hold a count or not")
                }
                _ => {}
            }
        }
        Ok(counted)
    }

    /// The values, ascending, of an expression of one register alone where that holds many, many
    /// among them; nothing where it is another expression, or they are too many.
    pub(super) fn outcomes(&self, scale: &Scale, value: &Expression, register: RegisterId) -> Option<Vec<Value>> {
        if registers(value) != [register] {
            return None;
        }
        let (least, mut greatest) = scale.bounds(value)?;
        if matches!(distance(value, &Expression::Register(register)), Some(0..)) {
            greatest = greatest.min(scale.top());
        }
        scale.stand_for(least, greatest).filter(|outcomes| !outcomes.is_empty())
    }
}

/// The registers that an expression reads, ascending, each once.
pub(super) fn registers(expression: &Expression) -> Vec<RegisterId> {
    let mut read = BTreeSet::new();
    expression.for_each_register(&mut |register| {
        read.insert(register);
    });
    read.into_iter().collect()
}

/// What is known at each label that a path leads to: rounds over all instructions, until nothing is
/// new.
pub(super) fn flow(scale: &Scale, id: ThreadId, thread: &Thread) -> Result<Vec<Option<Known>>, CheckFailure> {
    let mut known: Vec<Option<Known>> = vec![None; thread.labels.len()];
    known[thread.initial.index()] = Some(Known::initially(scale, thread));
    loop {
        let mut is_new = false;
        for instruction in &thread.instructions {
            let Some(before) = &known[instruction.source.index()] else { continue };
            let after = before.after(scale, (id, instruction))?;
            let target = &mut known[instruction.target.index()];
            let joined = target.as_ref().map_or_else(|| after.clone(), |known| known.or(&after));
            if target.as_ref() != Some(&joined) {
                is_new = true;
                *target = Some(joined);
            }
        }
        if !is_new {
            return Ok(known);
        }
    }
}
