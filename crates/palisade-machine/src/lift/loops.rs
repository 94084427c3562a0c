//! Loops that load a value, compute a new one and store it by `cmpxchg`, folded into one atomic
//! step.
//!
//! x86 has no instruction for most functions of a value in memory, so compilers – and people –
//! write
//!
//! ```text
//!     r ← mem[a]
//! L:  … local steps that read r …
//!     locked: if mem[a] = r then mem[a] ← new else r ← mem[a]; go to L
//! ```
//!
//! The load only guesses what the locked instruction checks. When it succeeds, all that the local
//! steps have computed is a function of what memory held then, so that the loop does what one
//! locked instruction does that computes `new` from the old value; what failing rounds do besides
//! is to drain the store buffer, which it may do at any time. A loop is folded only if the value is
//! tested nowhere between the load and the locked instruction, nothing else in it touches memory,
//! and control leaves it in no other way.

use palisade_model::program::{
    Action, BinaryOperator, ByLabel, Expression, Instruction, InstructionId, Label, LabelId, Liveness, RegisterId,
    Thread,
};
use palisade_syntax::x86::code::has_old;
use palisade_syntax::x86::fold::{rebuilt, size};
use std::collections::BTreeMap;

/// Folds all loops of a thread that can be; their number.
pub(crate) fn fold(thread: &mut Thread) -> usize {
    let mut folded = 0;
    while let Some((load, replacement)) = find(thread) {
        replacement.put(thread, load);
        folded += 1;
    }
    if folded > 0 {
        drop_unreachable(thread);
    }
    folded
}

/// A loop that can be folded: its load, and what stands in its place.
fn find(thread: &Thread) -> Option<(InstructionId, Replacement)> {
    let by_label = thread.instructions_by_label();
    let liveness = Liveness::of(thread);
    let guess = RegisterId::from_index(thread.registers.len());
    let search = Search { thread, by_label: &by_label, liveness: &liveness, guess };
    thread.instruction_ids().find_map(|(id, _)| Some((id, search.folded(id)?)))
}

/// What stands in the place of a loop.
struct Replacement {
    /// The locked instruction.
    locked: Action,
    /// What registers are given behind it.
    assignments: Vec<(RegisterId, Expression)>,
    /// Where control goes then.
    target: LabelId,
}

impl Replacement {
    /// Puts it in the place of the load.
    fn put(self, thread: &mut Thread, load: InstructionId) {
        let span = thread.instruction(load).span;
        let mut previous = load.index();
        thread.instructions[previous].action = self.locked;
        for (register, value) in self.assignments {
            let label = LabelId::from_index(thread.labels.len());
            thread.labels.push(Label::new(format!("folded{}", label.index()), span));
            thread.instructions[previous].target = label;
            previous = thread.instructions.len();
            let action = Action::Assign { register, value };
            thread.instructions.push(Instruction::new(label, label, action, span));
        }
        thread.instructions[previous].target = self.target;
    }
}

/// Looks for loops in a thread.
pub(super) struct Search<'a> {
    pub(super) thread: &'a Thread,
    pub(super) by_label: &'a ByLabel,
    pub(super) liveness: &'a Liveness,
    /// Stands for the value that the load has found; [`Expression::Old`] for the one that the
    /// locked instruction finds.
    pub(super) guess: RegisterId,
}

/// What registers hold, as expressions over the registers before the load, the guess, and the value
/// in memory.
pub(super) type Values = BTreeMap<RegisterId, Expression>;

/// Larger expressions are left as they are.
const LARGEST: usize = 60;
/// Longer loops are left as they are.
pub(super) const LONGEST: usize = 200;

impl Search<'_> {
    /// The only instruction at a label.
    pub(super) fn only(&self, label: LabelId) -> Option<&Instruction> {
        match &self.by_label[label.index()] {
            [only] => Some(self.thread.instruction(*only)),
            _ => None,
        }
    }

    fn folded(&self, load: InstructionId) -> Option<Replacement> {
        let first = self.thread.instruction(load);
        let Action::Load { register, address } = &first.action else { return None };
        self.only(first.source)?;
        // From the load to the locked instruction there are local steps alone, one after the other.
        let mut values = Values::from([(*register, Expression::Register(self.guess))]);
        let mut passed = Vec::new();
        let locked = self.straight(first.target, &mut values, &mut passed)?;
        let Action::Cas { register: result, address: again, expected, new } = &locked.action else { return None };
        let is_guess = applied(expected, &values) == Expression::Register(self.guess);
        if !is_guess || applied(again, &values) != *address {
            return None;
        }
        let stored = self.succeeded(&applied(new, &values));
        if let Some(result) = result {
            values.insert(*result, Expression::Old);
        }
        let (out, after) = self.leaves(locked.target, values, &passed)?;
        self.replacement(*register, address, stored, out, &after)
    }

    /// Goes along local steps to the first other one, and notes the labels passed with the
    /// registers as they are there.
    fn straight(
        &self,
        from: LabelId,
        values: &mut Values,
        passed: &mut Vec<(LabelId, Values)>,
    ) -> Option<&Instruction> {
        let mut label = from;
        while passed.len() < LONGEST {
            passed.push((label, values.clone()));
            let instruction = self.only(label)?;
            match &instruction.action {
                Action::Assign { register, value } => assign(values, *register, value)?,
                Action::Nop => {}
                Action::Cas { .. } => return Some(instruction),
                _ => return None,
            }
            label = instruction.target;
        }
        None
    }

    /// Behind the locked instruction: local steps, then a test of whether it has succeeded, and
    /// where it has not, local steps back to a label of the loop at which all live registers hold
    /// what they held, but for a newer value in the place of the guess. Gives the label where
    /// control goes when it has succeeded, with the registers as they are there.
    fn leaves(&self, from: LabelId, mut values: Values, passed: &[(LabelId, Values)]) -> Option<(LabelId, Values)> {
        let mut label = from;
        for _ in 0..LONGEST {
            let [one, two] = match &self.by_label[label.index()] {
                [only] => {
                    let instruction = self.thread.instruction(*only);
                    match &instruction.action {
                        Action::Assign { register, value } => assign(&mut values, *register, value)?,
                        Action::Nop => {}
                        _ => return None,
                    }
                    label = instruction.target;
                    continue;
                }
                [one, two] => [*one, *two].map(|id| self.thread.instruction(id)),
                _ => return None,
            };
            let (Action::Assume(first), Action::Assume(second)) = (&one.action, &two.action) else { return None };
            let (first, second) = (applied(first, &values), applied(second, &values));
            let target = |succeeded: bool| {
                let holds = |condition: &Expression| self.decided(condition, succeeded);
                match (holds(&first)?, holds(&second)?) {
                    (true, false) => Some(one.target),
                    (false, true) => Some(two.target),
                    _ => None,
                }
            };
            let (out, back) = (target(true)?, target(false)?);
            let after = values.iter().map(|(register, value)| (*register, self.succeeded(value))).collect();
            return self.comes_back(back, values, passed).then_some((out, after));
        }
        None
    }

    /// Whether a failing round comes back to the loop.
    fn comes_back(&self, from: LabelId, mut values: Values, passed: &[(LabelId, Values)]) -> bool {
        let mut label = from;
        for _ in 0..LONGEST {
            if let Some((_, known)) = passed.iter().find(|(other, _)| *other == label) {
                return self.agrees(label, &values, known);
            }
            let Some(instruction) = self.only(label) else { return false };
            match &instruction.action {
                Action::Assign { register, value } if assign(&mut values, *register, value).is_some() => {}
                Action::Nop => {}
                _ => return false,
            }
            label = instruction.target;
        }
        false
    }

    /// Whether all live registers hold what they held at first, but for what memory holds now in
    /// the place of the guess.
    fn agrees(&self, label: LabelId, values: &Values, known: &Values) -> bool {
        self.liveness.at(label).all(|register| {
            let own = Expression::Register(register);
            let before = self.succeeded(known.get(&register).unwrap_or(&own));
            self.failed(values.get(&register).unwrap_or(&own)) == before
        })
    }

    /// An expression where the guess was right.
    fn succeeded(&self, expression: &Expression) -> Expression {
        rebuilt(expression, &|leaf| (*leaf == Expression::Register(self.guess)).then_some(Expression::Old))
    }

    /// An expression where the guess was wrong: a comparison of the guess with what memory holds is
    /// decided.
    fn failed(&self, expression: &Expression) -> Expression {
        let guess = Expression::Register(self.guess);
        match expression {
            Expression::Binary(operator @ (BinaryOperator::Equal | BinaryOperator::NotEqual), left, right)
                if (**left == guess && **right == Expression::Old)
                    || (**left == Expression::Old && **right == guess) =>
            {
                Expression::Constant(i64::from(*operator == BinaryOperator::NotEqual))
            }
            Expression::Unary(operator, operand) => {
                rebuilt(&Expression::unary(*operator, self.failed(operand)), &|_| None)
            }
            Expression::Binary(operator, left, right) => {
                rebuilt(&Expression::binary(*operator, self.failed(left), self.failed(right)), &|_| None)
            }
            other => other.clone(),
        }
    }

    /// Whether a condition holds where the guess was right, or wrong; nothing where that does not
    /// decide it.
    fn decided(&self, condition: &Expression, succeeded: bool) -> Option<bool> {
        let known = if succeeded { self.succeeded(condition) } else { self.failed(condition) };
        match known {
            Expression::Constant(value) => Some(value != 0),
            _ => None,
        }
    }

    /// The locked instruction, and what live registers are given behind it.
    fn replacement(
        &self,
        loaded: RegisterId,
        address: &Expression,
        stored: Expression,
        out: LabelId,
        after: &Values,
    ) -> Option<Replacement> {
        let changed: Vec<(RegisterId, &Expression)> = self
            .liveness
            .at(out)
            .filter_map(|register| Some((register, after.get(&register)?)))
            .filter(|(register, value)| **value != Expression::Register(*register))
            .collect();
        let whole = changed.iter().find(|(_, value)| **value == Expression::Old).map(|(register, _)| *register);
        let is_free = || !self.liveness.is_live(out, loaded);
        let base = match whole {
            Some(register) => Some(register),
            None if changed.iter().all(|(_, value)| !has_old(value)) => None,
            None => Some(is_free().then_some(loaded)?),
        };
        let written: Vec<RegisterId> = changed.iter().map(|(register, _)| *register).chain(base).collect();
        let mut assignments = Vec::new();
        for (register, value) in changed.into_iter().filter(|(register, _)| Some(*register) != base) {
            // All are about the registers before: none may read what another one writes.
            let mut is_clear = true;
            value.for_each_register(&mut |read| is_clear &= !written.contains(&read));
            if !is_clear {
                return None;
            }
            let old = base.map(Expression::Register);
            assignments.push((register, rebuilt(value, &|leaf| (*leaf == Expression::Old).then(|| old.clone())?)));
        }
        let locked = Action::Rmw { register: base, address: address.clone(), new: stored };
        Some(Replacement { locked, assignments, target: out })
    }
}

/// Notes an assignment, unless what is assigned becomes too large.
pub(super) fn assign(values: &mut Values, register: RegisterId, value: &Expression) -> Option<()> {
    let value = applied(value, values);
    (size(&value) <= LARGEST).then(|| drop(values.insert(register, value)))
}

/// The expression with registers replaced by what they hold.
pub(super) fn applied(expression: &Expression, values: &Values) -> Expression {
    rebuilt(expression, &|leaf| match leaf {
        Expression::Register(register) => values.get(register).cloned(),
        _ => None,
    })
}

/// Leaves out the instructions and labels that no path leads to any more.
pub(crate) fn drop_unreachable(thread: &mut Thread) {
    let kept: Vec<Instruction> = thread.reachable_instructions().cloned().collect();
    let mut used = vec![false; thread.labels.len()];
    used[thread.initial.index()] = true;
    for instruction in &kept {
        used[instruction.source.index()] = true;
        used[instruction.target.index()] = true;
        if let Some(label) = instruction.spurious() {
            used[label.index()] = true;
        }
    }
    let mut numbers = vec![LabelId::from_index(0); thread.labels.len()];
    let mut labels = Vec::new();
    for (index, label) in std::mem::take(&mut thread.labels).into_iter().enumerate() {
        if used[index] {
            numbers[index] = LabelId::from_index(labels.len());
            labels.push(label);
        }
    }
    thread.labels = labels;
    thread.initial = numbers[thread.initial.index()];
    thread.instructions = kept;
    for instruction in &mut thread.instructions {
        instruction.relabel(|label| numbers[label.index()]);
    }
}
