//! What is known where a copy stands: which registers hold the count, and what they have to do with
//! each other.

use super::range::range;
use super::{Count, MARGIN};
use crate::program::expression::truncate;
use crate::program::{Action, BinaryOperator as Op, Expression, Instruction, RegisterId, Thread, UnaryOperator, Value};
use std::collections::{BTreeMap, BTreeSet};

/// So many values an expression may have where the count is one of many.
const MOST_CHOICES: i128 = 8;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number that is never one of many.
    Few,
    /// What it holds in the program.
    Plain,
    /// What the address held, perhaps moved, up to so much; values that are many are one.
    Carried(Value),
    /// One or the other: it must not be read.
    Mixed,
}

impl Kind {
    fn joined(self, other: Self) -> Self {
        match (self, other) {
            (Self::Carried(one), Self::Carried(other)) => Self::Carried(one.max(other)),
            (own, other) if own == other => own,
            (Self::Few, other) | (other, Self::Few) => other,
            _ => Self::Mixed,
        }
    }
}

/// What is known at a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) kinds: Vec<Kind>,
    /// Registers that hold what another one holds, moved: by which expression.
    definitions: BTreeMap<RegisterId, Expression>,
    /// What the last `cas` on the address expected, and what it found, while these are where they
    /// were.
    pub(super) outcome: Option<(RegisterId, RegisterId)>,
}

/// What an expression has to do with the count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Nothing.
    None,
    /// It depends on one register that holds it, and has one of these values where that is one of
    /// many.
    Of(RegisterId, Vec<Value>),
    /// It compares two registers that hold it.
    Compares(RegisterId, RegisterId),
    /// It is made of such parts by `!`, `&&` and `||`.
    Composed,
    /// It must not be computed where one of these is one of many.
    Unknown(BTreeSet<RegisterId>),
}

impl Site {
    /// What is known where a thread starts.
    pub(super) fn initial(count: &Count, thread: &Thread) -> Self {
        let kind = |initial: Value| if count.is_many(initial) { Kind::Plain } else { Kind::Few };
        let kinds = thread.registers.iter().map(|register| kind(register.initial)).collect();
        Self { kinds, definitions: BTreeMap::new(), outcome: None }
    }

    /// What is known whichever way a copy came.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        for (own, other) in self.kinds.iter_mut().zip(&other.kinds) {
            *own = own.joined(*other);
        }
        self.definitions.retain(|register, value| other.definitions.get(register) == Some(value));
        self.outcome = self.outcome.filter(|outcome| other.outcome == Some(*outcome));
        *self != before
    }

    /// What is known after an instruction; nothing where a register would be moved too far.
    pub(super) fn after(&self, count: &Count, instruction: &Instruction) -> Option<Self> {
        let mut after = self.clone();
        let action = &instruction.action;
        let is_cell = count.is_at(action);
        if is_cell && matches!(action, Action::Cas { .. }) {
            after.outcome = None;
        }
        let Some(register) = action.written_register() else { return Some(after) };
        let kind = match action {
            Action::Assign { value, .. } => self.kind(count, value)?,
            _ if is_cell => Kind::Carried(0),
            _ => Kind::Plain,
        };
        after.kinds[register.index()] = kind;
        after.definitions.retain(|own, value| *own != register && !reads(value, register));
        after.outcome = after.outcome.filter(|(expected, found)| *expected != register && *found != register);
        match action {
            Action::Assign { value, .. } if moved_register(value).is_some_and(|own| own != register) => {
                after.definitions.insert(register, value.clone());
            }
            Action::Cas { expected: Expression::Register(expected), .. } if is_cell && *expected != register => {
                after.outcome = Some((*expected, register));
            }
            _ => {}
        }
        Some(after)
    }

    /// What a register holds that a value is assigned to; nothing where it would be moved too far.
    pub(super) fn kind(&self, count: &Count, value: &Expression) -> Option<Kind> {
        Some(match self.part(count, value)? {
            Part::None => match value {
                Expression::Constant(value) if !count.is_many(*value) => Kind::Few,
                Expression::Register(register) => self.kinds[register.index()],
                _ => Kind::Plain,
            },
            Part::Of(register, values) if values.contains(&count.many()) => {
                let Kind::Carried(before) = self.kinds[register.index()] else { return None };
                // What has fallen may come from above all that is many.
                let by = moved_by(value, register).filter(|by| *by >= 0);
                let Some(by) = by else { return Some(Kind::Carried(MARGIN)) };
                let by = before.checked_add(Value::try_from(by).ok()?)?;
                Kind::Carried(Some(by).filter(|by| *by <= MARGIN)?)
            }
            // What must not be computed of many may yet be many itself.
            Part::Unknown(carried) if carried.len() == 1 && reads_one(value) => Kind::Carried(MARGIN),
            _ => Kind::Plain,
        })
    }

    /// The registers in an expression that hold the count; nothing where it reads what must not be
    /// read.
    pub(super) fn carried(&self, expression: &Expression) -> Option<BTreeSet<RegisterId>> {
        let (mut carried, mut is_read) = (BTreeSet::new(), true);
        expression.for_each_register(&mut |register| match self.kinds.get(register.index()) {
            Some(Kind::Carried(_)) => {
                carried.insert(register);
            }
            Some(Kind::Mixed) => is_read = false,
            _ => {}
        });
        is_read.then_some(carried)
    }

    /// What an expression has to do with the count; nothing where it reads what must not be read.
    pub(super) fn part(&self, count: &Count, expression: &Expression) -> Option<Part> {
        let carried = self.carried(expression)?;
        let Some(first) = carried.first().copied() else { return Some(Part::None) };
        let mut is_alone = true;
        expression.for_each_register(&mut |register| is_alone &= register == first);
        if is_alone {
            let values = values(count, expression, first).filter(|values| !values.is_empty());
            return Some(values.map_or(Part::Unknown(carried), |values| Part::Of(first, values)));
        }
        Some(match expression {
            Expression::Binary(Op::Equal | Op::NotEqual, left, right) => match (&**left, &**right) {
                (Expression::Register(left), Expression::Register(right)) if carried.len() == 2 => {
                    Part::Compares(*left, *right)
                }
                _ => Part::Unknown(carried),
            },
            Expression::Unary(UnaryOperator::Not, _) | Expression::Binary(Op::And | Op::Or, ..) => Part::Composed,
            _ => Part::Unknown(carried),
        })
    }

    /// By which expression of one register another value comes of it: the value itself, or what its
    /// register was assigned.
    pub(super) fn moved_from<'e>(&'e self, value: &'e Expression, from: RegisterId) -> Option<&'e Expression> {
        let is_it = |value: &&Expression| moved_by(value, from).is_some();
        let assigned = match value {
            Expression::Register(register) => self.definitions.get(register),
            _ => None,
        };
        Some(value).filter(is_it).or(assigned.filter(is_it))
    }
}

/// The values that stand for those of an expression where the register in it is one of many,
/// ascending; nothing where they are too many.
fn values(count: &Count, expression: &Expression, register: RegisterId) -> Option<Vec<Value>> {
    let (low, high) = count.many_values();
    let range = range(expression, (low, high))?;
    // What rises by little stays within what the certificate says of the greatest value.
    let rises = moved_by(expression, register).is_some_and(|by| by >= 0);
    let most = if rises { range.most.min(high) } else { range.most };
    standing_for(count, range.least, most)
}

/// The values that stand for those between two numbers, ascending; nothing where they are too many.
pub(super) fn standing_for(count: &Count, least: i128, most: i128) -> Option<Vec<Value>> {
    let (low, high) = count.many_values();
    let below = (least, most.min(low - 1));
    let above = (least.max(high + 1), most);
    let size = |(least, most): (i128, i128)| (most - least + 1).max(0);
    if size(below) + size(above) > MOST_CHOICES {
        return None;
    }
    let many = (least <= high && most >= low).then_some(low);
    (below.0..=below.1).chain(many).chain(above.0..=above.1).map(|value| Value::try_from(value).ok()).collect()
}

/// By how much an expression moves a register.
fn moved_by(expression: &Expression, register: RegisterId) -> Option<i128> {
    moved(expression, &Expression::Register(register))
}

/// By how much an expression moves a value.
pub(super) fn moved(expression: &Expression, value: &Expression) -> Option<i128> {
    match expression {
        _ if expression == value => Some(0),
        Expression::Unary(UnaryOperator::Truncate { bits, .. }, inner) => {
            Some(truncate(moved(inner, value)?, *bits, true))
        }
        Expression::Binary(Op::Add, left, right) => match (&**left, &**right) {
            (own, Expression::Constant(by)) | (Expression::Constant(by), own) => {
                Some(moved(own, value)? + i128::from(*by))
            }
            _ => None,
        },
        Expression::Binary(Op::Subtract, left, right) => match &**right {
            Expression::Constant(by) => Some(moved(left, value)? - i128::from(*by)),
            _ => None,
        },
        _ => None,
    }
}

/// The register that an expression moves, if it does nothing else.
fn moved_register(expression: &Expression) -> Option<RegisterId> {
    let mut read = None;
    expression.for_each_register(&mut |register| read = Some(register));
    read.filter(|register| moved_by(expression, *register).is_some())
}

/// Whether an expression reads one register alone.
fn reads_one(expression: &Expression) -> bool {
    let mut read = BTreeSet::new();
    expression.for_each_register(&mut |register| {
        read.insert(register);
    });
    read.len() == 1
}

fn reads(expression: &Expression, register: RegisterId) -> bool {
    let mut reads = false;
    expression.for_each_register(&mut |own| reads |= own == register);
    reads
}
