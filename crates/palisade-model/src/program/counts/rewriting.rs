//! A thread of the counted program.

use super::Count;
use super::site::{Kind, Part, Site, moved, standing_for};
use crate::program::{
    Action, BinaryOperator as Op, Expression, Instruction, InstructionId, Label, LabelId, Register, RegisterId, Thread,
    UnaryOperator, Value,
};
use std::collections::BTreeSet;

/// A thread that is being rewritten. Three registers come behind its own: the balance, whether the
/// last `cas` on the address has succeeded, and what the last locked instruction has found there.
pub(super) struct Rewriting<'c, 't> {
    count: &'c Count,
    floor: i128,
    thread: &'t mut Thread,
    own_registers: usize,
}

/// A locked instruction on the address.
struct Change {
    instruction: InstructionId,
    source: LabelId,
    target: LabelId,
    register: Option<RegisterId>,
    address: Expression,
}

impl<'c, 't> Rewriting<'c, 't> {
    pub(super) fn new(count: &'c Count, floor: i128, thread: &'t mut Thread, owned: Value) -> Self {
        let own_registers = thread.registers.len();
        let span = thread.span;
        let names = [("balance", owned), ("succeeded", 0), ("found", 0)];
        thread.registers.extend(names.map(|(name, initial)| Register {
            name: format!("{name} {}", count.cell),
            initial,
            is_initialised: initial != 0,
            span,
        }));
        Self { count, floor, thread, own_registers }
    }

    pub(super) fn balance(&self) -> RegisterId {
        RegisterId::from_index(self.own_registers)
    }

    fn succeeded(&self) -> RegisterId {
        RegisterId::from_index(self.own_registers + 1)
    }

    fn found(&self) -> RegisterId {
        RegisterId::from_index(self.own_registers + 2)
    }

    /// Rewrites all instructions; nothing where the thread uses the count otherwise.
    pub(super) fn apply(mut self, original: &Thread, sites: &[Option<Site>]) -> Option<()> {
        for (id, instruction) in original.instruction_ids() {
            if let Some(site) = &sites[instruction.source.index()] {
                self.rewrite(site, id, instruction)?;
            }
        }
        Some(())
    }

    fn rewrite(&mut self, site: &Site, id: InstructionId, instruction: &Instruction) -> Option<()> {
        let is_cell = self.count.is_at(&instruction.action);
        if let Some(address) = instruction.action.address() {
            site.carried(address)?.is_empty().then_some(())?;
        }
        let change = |register: Option<RegisterId>, address: &Expression| Change {
            instruction: id,
            source: instruction.source,
            target: instruction.target,
            register,
            address: address.clone(),
        };
        match &instruction.action {
            Action::Assume(condition) => {
                let choices = self.choices(site, condition)?;
                self.choose(id, choices.into_iter().map(Action::Assume).collect());
            }
            Action::Assign { register, value } => {
                let register = *register;
                let choices = self.values(site, value)?;
                self.choose(id, choices.into_iter().map(|value| Action::Assign { register, value }).collect());
            }
            Action::Store { .. } if is_cell => return None,
            Action::Store { address, value } => {
                let (address, value) = (address.clone(), self.plain(site, value)?);
                self.choose(id, vec![Action::Store { address, value }]);
            }
            Action::Rmw { register, address, new } if is_cell => {
                let new = self.plain(site, new)?;
                self.update(&change(*register, address), &new);
            }
            Action::Rmw { register, address, new } => {
                let (register, address, new) = (*register, address.clone(), self.plain(site, new)?);
                self.choose(id, vec![Action::Rmw { register, address, new }]);
            }
            Action::Cas { register, address, expected, new } if is_cell => {
                self.swap(site, &change(*register, address), (expected, new))?;
            }
            Action::Cas { register, address, expected, new } => {
                let (register, address) = (*register, address.clone());
                let (expected, new) = (self.plain(site, expected)?, self.plain(site, new)?);
                self.choose(id, vec![Action::Cas { register, address, expected, new }]);
            }
            Action::Havoc { .. } | Action::Post { .. } => return None,
            _ => {}
        }
        Some(())
    }

    /// `r <- rmw(mem[x], new)`: finds a value, settles the balance, and gives the register what it
    /// found.
    fn update(&mut self, change: &Change, new: &Expression) {
        let found = Expression::Register(self.found());
        let by = moved(new, &Expression::Old);
        let old = Expression::Old;
        let news = match by.map(|by| self.left(by)) {
            Some(values) if !values.is_empty() => values.iter().map(|value| self.instead(new, &old, *value)).collect(),
            _ => vec![self.unless_many(new, &[old])],
        };
        let news: Vec<Expression> = news.into_iter().map(|new| self.standing(new)).collect();
        let (settle, give) = (self.label(change), self.label(change));
        self.redirect(change, settle);
        let (register, address) = (Some(self.found()), change.address.clone());
        let actions = news.into_iter().map(|new| Action::Rmw { register, address: address.clone(), new });
        self.choose(change.instruction, actions.collect());
        let after = new.replaced(&|part: &Expression| (*part == Expression::Old).then(|| found.clone()));
        let rises = Expression::binary(Op::Subtract, after, found.clone());
        let by = by.and_then(|by| Value::try_from(by).ok());
        let rises = match by {
            Some(by) => self.instead(&rises, &found, by),
            None => self.unless_many(&rises, &[found]),
        };
        self.settle(change, (settle, give), rises);
        self.give(change, give);
    }

    /// What may be left of many, moved by so much.
    fn left(&self, by: i128) -> Vec<Value> {
        let (low, high) = self.count.many_values();
        if by >= 0 {
            return if by <= i128::from(super::MARGIN) { vec![self.count.many()] } else { Vec::new() };
        }
        let (least, most) = ((low + by).max(self.floor), high + by);
        if least > most { Vec::new() } else { standing_for(self.count, least, most).unwrap_or_default() }
    }

    /// `r <- cas(mem[x], expected, new)`: what is expected is many and found may yet be another
    /// value.
    fn swap(&mut self, site: &Site, change: &Change, (expected, new): (&Expression, &Expression)) -> Option<()> {
        let (expected, moved_by) = match expected {
            Expression::Register(register) if !site.carried(expected)?.is_empty() => {
                (expected.clone(), site.moved_from(new, *register).cloned())
            }
            _ => (self.standing(self.plain(site, expected)?), None),
        };
        let many = self.many();
        let is_many = Expression::binary(Op::Equal, expected.clone(), many);
        let is_carried = matches!(new, Expression::Register(_)) && !site.carried(new)?.is_empty();
        let stored = |own: Expression| if is_carried { own } else { self.standing(own) };
        let news: Vec<Expression> = self.choices(site, new)?.into_iter().map(stored).collect();
        let first = news.first()?.clone();
        let [is_told, fails, succeeds, note, give, other] = [(); 6].map(|()| self.label(change));
        let (register, address) = (Some(self.found()), change.address.clone());
        self.redirect(change, is_told);
        let cas =
            |expected: Expression, new: Expression| Action::Cas { register, address: address.clone(), expected, new };
        self.choose(change.instruction, news.into_iter().map(|new| cas(expected.clone(), new)).collect());
        let unlike = Expression::binary(Op::Add, expected.clone(), is_many.clone());
        self.push(change, (change.source, other), cas(unlike, first.clone()));
        self.push(change, (other, fails), Action::Assume(is_many));
        let is_found = Expression::binary(Op::Equal, Expression::Register(self.found()), expected.clone());
        let is_not = Expression::unary(UnaryOperator::Not, is_found.clone());
        self.push(change, (is_told, succeeds), Action::Assume(is_found));
        self.push(change, (is_told, fails), Action::Assume(is_not));
        let difference = |new: Expression| Expression::binary(Op::Subtract, new, expected.clone());
        let rises = match (moved_by, &expected) {
            (Some(after), Expression::Register(register)) => {
                let by = moved(&after, &Expression::Register(*register))?;
                self.instead(&difference(after), &expected, Value::try_from(by).ok()?)
            }
            _ => {
                let carried = site.carried(new)?.into_iter().map(Expression::Register);
                let few: Vec<Expression> = [expected.clone(), new.clone()].into_iter().chain(carried).collect();
                self.unless_many(&difference(new.clone()), &few)
            }
        };
        self.settle(change, (succeeds, note), rises);
        let (succeeded, truth) = (self.succeeded(), Expression::Constant);
        self.push(change, (note, give), Action::Assign { register: succeeded, value: truth(1) });
        self.push(change, (fails, give), Action::Assign { register: succeeded, value: truth(0) });
        self.give(change, give);
        Some(())
    }

    /// Adds to the balance, which must not become negative.
    fn settle(&mut self, change: &Change, between: (LabelId, LabelId), rises: Expression) {
        let register = self.balance();
        let sum = Expression::binary(Op::Add, Expression::Register(register), rises);
        let is_held = Expression::binary(Op::GreaterOrEqual, sum.clone(), Expression::Constant(0));
        let value = Expression::binary(Op::Divide, sum, is_held);
        self.push(change, between, Action::Assign { register, value });
    }

    /// Gives the register of a locked instruction what it has found.
    fn give(&mut self, change: &Change, from: LabelId) {
        let found = Expression::Register(self.found());
        let action = change.register.map_or(Action::Nop, |register| Action::Assign { register, value: found });
        self.push(change, (from, change.target), action);
    }

    /// What may stand for an expression that is assigned: where it may be many, what is many stands
    /// for it.
    fn values(&self, site: &Site, value: &Expression) -> Option<Vec<Expression>> {
        let choices = self.choices(site, value)?;
        let is_copied = matches!(value, Expression::Register(_));
        let may_be_many = matches!(site.kind(self.count, value)?, Kind::Carried(_));
        let standing = |choice: Expression| if may_be_many && !is_copied { self.standing(choice) } else { choice };
        Some(choices.into_iter().map(standing).collect())
    }

    /// What may stand for an expression, whose value is what it is for a count of few.
    fn choices(&self, site: &Site, expression: &Expression) -> Option<Vec<Expression>> {
        Some(match (site.part(self.count, expression)?, expression) {
            (Part::None, _) | (_, Expression::Register(_)) => vec![expression.clone()],
            (Part::Of(register, values), _) => {
                let register = Expression::Register(register);
                values.iter().map(|value| self.instead(expression, &register, *value)).collect()
            }
            (Part::Compares(left, right), Expression::Binary(operator, ..)) => {
                let are_many = [left, right].map(|own| self.is_many(&Expression::Register(own)));
                let [left_many, right_many] = are_many;
                let are_many = Expression::binary(Op::And, left_many, right_many);
                let is_told = site.outcome == Some((left, right)) || site.outcome == Some((right, left));
                let equal = Expression::Register(self.succeeded());
                let is_equal = |truth: Expression| match operator {
                    Op::Equal => truth,
                    _ => Expression::unary(UnaryOperator::Not, truth),
                };
                let [no, yes] = [0, 1].map(Expression::Constant);
                let truths = if is_told { vec![equal] } else { vec![no, yes] };
                truths.into_iter().map(|truth| replaced_if(expression, is_equal(truth), are_many.clone())).collect()
            }
            (Part::Composed, Expression::Unary(operator, operand)) => {
                self.choices(site, operand)?.into_iter().map(|own| Expression::unary(*operator, own)).collect()
            }
            (Part::Composed, Expression::Binary(operator, left, right)) => {
                let rights = self.choices(site, right)?;
                let lefts = self.choices(site, left)?.into_iter();
                let pair = |left: Expression| {
                    let both = |right: &Expression| Expression::binary(*operator, left.clone(), right.clone());
                    rights.iter().map(both).collect::<Vec<_>>()
                };
                lefts.flat_map(pair).collect()
            }
            (Part::Unknown(carried), _) => vec![self.unless_any_many(expression, &carried)],
            _ => unreachable!("parts are of such expressions"),
        })
    }

    /// An expression that must not be computed where it depends on many.
    fn plain(&self, site: &Site, expression: &Expression) -> Option<Expression> {
        let carried = site.carried(expression)?;
        Some(if carried.is_empty() { expression.clone() } else { self.unless_any_many(expression, &carried) })
    }

    fn unless_any_many(&self, expression: &Expression, carried: &BTreeSet<RegisterId>) -> Expression {
        let carried: Vec<Expression> = carried.iter().map(|register| Expression::Register(*register)).collect();
        self.unless_many(expression, &carried)
    }

    /// `e + 0 / (r != many && …)`
    fn unless_many(&self, expression: &Expression, values: &[Expression]) -> Expression {
        let differs = |value: &Expression| Expression::binary(Op::NotEqual, value.clone(), self.many());
        let differ = values.iter().map(differs).reduce(|one, other| Expression::binary(Op::And, one, other));
        let divided =
            Expression::binary(Op::Divide, Expression::Constant(0), differ.unwrap_or(Expression::Constant(1)));
        Expression::binary(Op::Add, expression.clone(), divided)
    }

    /// An expression, but a number where what it depends on is many.
    fn instead(&self, expression: &Expression, of: &Expression, value: Value) -> Expression {
        replaced_if(expression, Expression::Constant(value), self.is_many(of))
    }

    /// A value, or many where it is one of these.
    fn standing(&self, value: Expression) -> Expression {
        if let Expression::Constant(value) = value {
            return Expression::Constant(if self.count.is_many(value) { self.count.many() } else { value });
        }
        let (_, high) = self.count.many_values();
        let above = Expression::binary(Op::Greater, value.clone(), self.many());
        let is_many = match Value::try_from(high) {
            Ok(high) => {
                let below = Expression::binary(Op::LessOrEqual, value.clone(), Expression::Constant(high));
                Expression::binary(Op::And, above, below)
            }
            Err(_) => above,
        };
        replaced_if(&value, self.many(), is_many)
    }

    fn is_many(&self, value: &Expression) -> Expression {
        Expression::binary(Op::Equal, value.clone(), self.many())
    }

    fn many(&self) -> Expression {
        Expression::Constant(self.count.many())
    }

    /// A new label.
    fn label(&mut self, change: &Change) -> LabelId {
        let label = LabelId::from_index(self.thread.labels.len());
        let span = self.thread.instructions[change.instruction.index()].span;
        self.thread.labels.push(Label::new(format!("count {} {label}", self.count.cell), span));
        label
    }

    fn redirect(&mut self, change: &Change, target: LabelId) {
        self.thread.instructions[change.instruction.index()].target = target;
    }

    /// Gives an instruction its first action; others stand behind all instructions.
    fn choose(&mut self, id: InstructionId, actions: Vec<Action>) {
        let mut actions = actions.into_iter();
        if let Some(first) = actions.next() {
            self.thread.instructions[id.index()].action = first;
        }
        let like = self.thread.instructions[id.index()].clone();
        self.thread.instructions.extend(actions.map(|action| Instruction { action, ..like.clone() }));
    }

    fn push(&mut self, change: &Change, (source, target): (LabelId, LabelId), action: Action) {
        let span = self.thread.instructions[change.instruction.index()].span;
        self.thread.instructions.push(Instruction::new(source, target, action, span));
    }
}

/// `e + (other - e) * condition`
fn replaced_if(expression: &Expression, other: Expression, condition: Expression) -> Expression {
    let missing = Expression::binary(Op::Subtract, other, expression.clone());
    let missing = Expression::binary(Op::Multiply, missing, condition);
    Expression::binary(Op::Add, expression.clone(), missing)
}
