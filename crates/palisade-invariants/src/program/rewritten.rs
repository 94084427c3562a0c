//! A thread as it is written down with balances.

use super::carried::{Holds, Known, registers};
use super::counted::{MARGIN, Scale, distance};
use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::program::{
    Action, BinaryOperator as Op, Expression, Instruction, InstructionId, Label, LabelId, Register, RegisterId, Thread,
    ThreadId, UnaryOperator, Value,
};

/// A thread under way.
pub(super) struct Writer<'s, 't> {
    scale: &'s Scale,
    id: ThreadId,
    thread: &'t mut Thread,
    /// The registers of the balance, of whether the last `cas` has succeeded, and of what was
    /// found.
    extra: [RegisterId; 3],
}

fn two(operator: Op, left: &Expression, right: &Expression) -> Expression {
    Expression::binary(operator, left.clone(), right.clone())
}

fn number(value: Value) -> Expression {
    Expression::Constant(value)
}

/// `e + (instead - e) * when`
fn either(expression: &Expression, instead: &Expression, when: &Expression) -> Expression {
    let change = two(Op::Multiply, &two(Op::Subtract, instead, expression), when);
    two(Op::Add, expression, &change)
}

impl<'s, 't> Writer<'s, 't> {
    pub(super) fn new(scale: &'s Scale, id: ThreadId, thread: &'t mut Thread, owned: Value) -> Self {
        let first = thread.registers.len();
        let extra = [0, 1, 2].map(|more| RegisterId::from_index(first + more));
        for (what, initial) in [("balance", owned), ("success", 0), ("found", 0)] {
            let name = format!("{what} {}", scale.cell);
            thread.registers.push(Register { name, initial, is_initialised: initial != 0, span: thread.span });
        }
        Self { scale, id, thread, extra }
    }

    /// Writes all instructions that a path leads to.
    pub(super) fn write(mut self, original: &Thread, known: &[Option<Known>]) -> Result<(), CheckFailure> {
        for (position, instruction) in original.instruction_ids() {
            let Some(known) = &known[instruction.source.index()] else { continue };
            if let Some(address) = instruction.action.address()
                && !known.counted(self.id, address)?.is_empty()
            {
                reject!(Form, "instruction {position} of thread {} computes an address of a count", self.id);
            }
            self.write_one(known, position, instruction)?;
        }
        Ok(())
    }

    fn write_one(
        &mut self,
        known: &Known,
        position: InstructionId,
        instruction: &Instruction,
    ) -> Result<(), CheckFailure> {
        let is_there = self.scale.is_accessed(&instruction.action);
        let mut action = instruction.action.clone();
        match &mut action {
            Action::Assume(condition) => {
                let ways = self.ways(known, condition)?;
                self.put(position, ways.into_iter().map(Action::Assume));
                return Ok(());
            }
            Action::Assign { register, value } => {
                let ways = self.written_ways(known, value)?;
                let register = *register;
                self.put(position, ways.into_iter().map(|value| Action::Assign { register, value }));
                return Ok(());
            }
            Action::Store { .. } if is_there => {
                reject!(Form, "instruction {position} of thread {} stores to the count {}", self.id, self.scale.cell)
            }
            Action::Store { value, .. } => *value = self.few_only(known, value)?,
            Action::Rmw { new, .. } => {
                *new = self.few_only(known, new)?;
                if is_there {
                    return self.write_update(position, instruction, &action);
                }
            }
            Action::Cas { .. } if is_there => return self.write_swap(known, position, instruction),
            Action::Cas { expected, new, .. } => {
                *expected = self.few_only(known, expected)?;
                *new = self.few_only(known, new)?;
            }
            Action::Havoc { .. } | Action::Post { .. } => {
                reject!(Form, "instruction {position} of thread {} chooses among values, or posts", self.id)
            }
            _ => return Ok(()),
        }
        self.put(position, [action].into_iter());
        Ok(())
    }

    /// `r <- rmw(mem[x], new)`: what is found goes to a register of its own; two labels follow,
    /// where the balance changes, and where r gets what was found.
    fn write_update(
        &mut self,
        position: InstructionId,
        instruction: &Instruction,
        action: &Action,
    ) -> Result<(), CheckFailure> {
        let Action::Rmw { register, address, new } = action else { unreachable!("a read-modify-write") };
        let found = Expression::Register(self.extra[2]);
        let by = distance(new, &Expression::Old);
        let results = by.map_or(Vec::new(), |by| self.results(by));
        let ways: Vec<Expression> = if results.is_empty() {
            vec![self.divided(new, &[Expression::Old])]
        } else {
            let is_many = self.is_many(&Expression::Old);
            results.into_iter().map(|result| either(new, &number(result), &is_many)).collect()
        };
        let ways: Vec<Expression> = ways.iter().map(|way| self.as_many(way)).collect();
        let balance = self.fresh(position);
        let end = self.fresh(position);
        self.thread.instructions[position.index()].target = balance;
        let update = |new| Action::Rmw { register: Some(self.extra[2]), address: address.clone(), new };
        let updates: Vec<Action> = ways.into_iter().map(update).collect();
        self.put(position, updates.into_iter());
        let stored = new.replaced(&|part: &Expression| (*part == Expression::Old).then(|| found.clone()));
        let difference = two(Op::Subtract, &stored, &found);
        let by = match by.map(Value::try_from) {
            Some(Ok(by)) => either(&difference, &number(by), &self.is_many(&found)),
            _ => self.divided(&difference, &[found]),
        };
        self.change_balance(position, (balance, end), &by);
        self.hand_over(position, *register, (end, instruction.target));
        Ok(())
    }

    /// What many may be once so much is added: never less than what is left when nobody holds
    /// anything.
    fn results(&self, by: i128) -> Vec<Value> {
        let (least, greatest) = (i128::from(self.scale.many) + by, self.scale.top() + by);
        match by {
            0.. if by <= i128::from(MARGIN) => vec![self.scale.many],
            0.. => Vec::new(),
            _ => self.scale.stand_for(least.max(self.scale.floor), greatest).unwrap_or_default(),
        }
    }

    /// `r <- cas(mem[x], e, n)`. Six labels follow: behind it, where it fails, where it succeeds,
    /// where success is noted, where r gets what was found, and where it fails although both values
    /// are many.
    fn write_swap(
        &mut self,
        known: &Known,
        position: InstructionId,
        instruction: &Instruction,
    ) -> Result<(), CheckFailure> {
        let Action::Cas { register, address, expected, new } = &instruction.action else { unreachable!("a cas") };
        let counted = known.counted(self.id, expected)?;
        let mut by_constants = None;
        let expected = match expected {
            Expression::Register(own) if !counted.is_empty() => {
                let moves = |value: &&Expression| distance(value, expected).is_some();
                let came = match new {
                    Expression::Register(new) => known.came.get(new),
                    _ => None,
                };
                by_constants = Some(new).filter(moves).or(came.filter(moves)).map(|value| (value, *own));
                expected.clone()
            }
            _ => self.as_many(&self.few_only(known, expected)?),
        };
        let is_many = self.is_many(&expected);
        let is_copied = matches!(new, Expression::Register(_)) && !known.counted(self.id, new)?.is_empty();
        let ways = self.ways(known, new)?;
        let ways: Vec<Expression> = if is_copied { ways } else { ways.iter().map(|way| self.as_many(way)).collect() };
        let [told, fails, succeeds, note, end, yet] = [(); 6].map(|()| self.fresh(position));
        let found = self.extra[2];
        let cas = |expected: Expression, new: Expression| Action::Cas {
            register: Some(found),
            address: address.clone(),
            expected,
            new,
        };
        self.thread.instructions[position.index()].target = told;
        self.put(position, ways.iter().map(|way| cas(expected.clone(), way.clone())));
        let missed = cas(two(Op::Add, &expected, &is_many), ways[0].clone());
        self.add(position, (instruction.source, yet), missed);
        self.add(position, (yet, fails), Action::Assume(is_many.clone()));
        let is_it = two(Op::Equal, &Expression::Register(found), &expected);
        self.add(position, (told, succeeds), Action::Assume(is_it.clone()));
        self.add(position, (told, fails), Action::Assume(Expression::unary(UnaryOperator::Not, is_it)));
        let by = match by_constants {
            Some((value, own)) => {
                let by = distance(value, &Expression::Register(own)).map(Value::try_from);
                let Some(Ok(by)) = by else {
                    reject!(Form, "instruction {position} of thread {} changes the count too much", self.id);
                };
                either(&two(Op::Subtract, value, &expected), &number(by), &is_many)
            }
            None => {
                let mut few = vec![expected.clone(), new.clone()];
                few.extend(known.counted(self.id, new)?.into_iter().map(Expression::Register));
                self.divided(&two(Op::Subtract, new, &expected), &few)
            }
        };
        self.change_balance(position, (succeeds, note), &by);
        for (from, success) in [(note, 1), (fails, 0)] {
            self.add(position, (from, end), Action::Assign { register: self.extra[1], value: number(success) });
        }
        self.hand_over(position, *register, (end, instruction.target));
        Ok(())
    }

    /// The balance must not become negative: then the sum is divided by 0.
    fn change_balance(&mut self, position: InstructionId, between: (LabelId, LabelId), by: &Expression) {
        let sum = two(Op::Add, &Expression::Register(self.extra[0]), by);
        let value = two(Op::Divide, &sum, &two(Op::GreaterOrEqual, &sum, &number(0)));
        self.add(position, between, Action::Assign { register: self.extra[0], value });
    }

    fn hand_over(&mut self, position: InstructionId, register: Option<RegisterId>, between: (LabelId, LabelId)) {
        let value = Expression::Register(self.extra[2]);
        let action = match register {
            Some(register) => Action::Assign { register, value },
            None => Action::Nop,
        };
        self.add(position, between, action);
    }

    /// What an expression that is assigned may be, many where it is one of many.
    fn written_ways(&self, known: &Known, value: &Expression) -> Result<Vec<Expression>, CheckFailure> {
        let ways = self.ways(known, value)?;
        let holds = known.held_by(self.scale, self.id, value)?;
        if matches!(value, Expression::Register(_)) || !matches!(holds, Holds::Count(_)) {
            return Ok(ways);
        }
        Ok(ways.iter().map(|way| self.as_many(way)).collect())
    }

    /// What an expression may be.
    fn ways(&self, known: &Known, value: &Expression) -> Result<Vec<Expression>, CheckFailure> {
        let counted = known.counted(self.id, value)?;
        let Some(first) = counted.first() else { return Ok(vec![value.clone()]) };
        if matches!(value, Expression::Register(_)) {
            return Ok(vec![value.clone()]);
        }
        if let Some(outcomes) = known.outcomes(self.scale, value, *first) {
            let is_many = self.is_many(&Expression::Register(*first));
            return Ok(outcomes.into_iter().map(|outcome| either(value, &number(outcome), &is_many)).collect());
        }
        let is_of_one = registers(value).len() == 1;
        Ok(match value {
            Expression::Unary(UnaryOperator::Not, inner) if !is_of_one => {
                let inner = self.ways(known, inner)?;
                inner.into_iter().map(|way| Expression::unary(UnaryOperator::Not, way)).collect()
            }
            Expression::Binary(operator @ (Op::And | Op::Or), left, right) if !is_of_one => {
                let (left, right) = (self.ways(known, left)?, self.ways(known, right)?);
                left.iter().flat_map(|left| right.iter().map(|right| two(*operator, left, right))).collect()
            }
            Expression::Binary(operator @ (Op::Equal | Op::NotEqual), left, right) if counted.len() == 2 => {
                let (Expression::Register(one), Expression::Register(other)) = (&**left, &**right) else {
                    return Ok(vec![self.few_only(known, value)?]);
                };
                let are_many = two(Op::And, &self.is_many(left), &self.is_many(right));
                let is_last = known.last == Some((*one, *other)) || known.last == Some((*other, *one));
                let equal =
                    if is_last { vec![Expression::Register(self.extra[1])] } else { vec![number(0), number(1)] };
                let negated = |truth: Expression| match operator {
                    Op::NotEqual => Expression::unary(UnaryOperator::Not, truth),
                    _ => truth,
                };
                equal.into_iter().map(|truth| either(value, &negated(truth), &are_many)).collect()
            }
            _ => vec![self.few_only(known, value)?],
        })
    }

    /// An expression that is divided by 0 where it depends on many.
    fn few_only(&self, known: &Known, value: &Expression) -> Result<Expression, CheckFailure> {
        let counted: Vec<Expression> = known.counted(self.id, value)?.into_iter().map(Expression::Register).collect();
        Ok(if counted.is_empty() { value.clone() } else { self.divided(value, &counted) })
    }

    fn divided(&self, value: &Expression, few: &[Expression]) -> Expression {
        let mut conditions = few.iter().map(|own| two(Op::NotEqual, own, &number(self.scale.many)));
        let first = conditions.next().unwrap_or(number(1));
        let all = conditions.fold(first, |all, own| two(Op::And, &all, &own));
        two(Op::Add, value, &two(Op::Divide, &number(0), &all))
    }

    fn is_many(&self, value: &Expression) -> Expression {
        two(Op::Equal, value, &number(self.scale.many))
    }

    /// A value, or many where it is one of many.
    fn as_many(&self, value: &Expression) -> Expression {
        let many = self.scale.many;
        if let Expression::Constant(own) = value {
            return number(if self.scale.is_many(*own) { many } else { *own });
        }
        let mut is_many = two(Op::Greater, value, &number(many));
        if let Ok(top) = Value::try_from(self.scale.top()) {
            is_many = two(Op::And, &is_many, &two(Op::LessOrEqual, value, &number(top)));
        }
        either(value, &number(many), &is_many)
    }

    fn fresh(&mut self, position: InstructionId) -> LabelId {
        let label = LabelId::from_index(self.thread.labels.len());
        let span = self.thread.instructions[position.index()].span;
        self.thread.labels.push(Label::new(format!("{} {label}", self.scale.cell), span));
        label
    }

    /// Puts the first of some actions in the place of an instruction, and one instruction more for
    /// each of the others behind all.
    fn put(&mut self, position: InstructionId, actions: impl Iterator<Item = Action>) {
        for (number, action) in actions.enumerate() {
            if number == 0 {
                self.thread.instructions[position.index()].action = action;
            } else {
                let first = self.thread.instructions[position.index()].clone();
                self.thread.instructions.push(Instruction { action, ..first });
            }
        }
    }

    fn add(&mut self, position: InstructionId, (source, target): (LabelId, LabelId), action: Action) {
        let span = self.thread.instructions[position.index()].span;
        self.thread.instructions.push(Instruction::new(source, target, action, span));
    }
}
