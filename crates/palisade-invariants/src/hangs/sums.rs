//! Counters whose values are told apart up to a number, and sums that no step changes.

use super::copies::{Control, Threads};
use crate::CheckFailure;
use crate::failure::reject;
use hashbrown::HashMap;
use palisade_evidence::WaitingRow;
use palisade_model::program::{Action, BinaryOperator, Expression, Program, Thread, Value};

/// By how much an update of a counter moves it; nothing where it does something else.
pub(super) fn moves_by(new: &Expression) -> Option<Value> {
    let Expression::Binary(operator, left, right) = new else { return None };
    let takes_one = Expression::binary(BinaryOperator::Greater, Expression::Old, Expression::Constant(0));
    match operator {
        BinaryOperator::Add if **left == Expression::Old => constant(right),
        BinaryOperator::Add if **right == Expression::Old => constant(left),
        BinaryOperator::Subtract if **left == Expression::Old && **right == takes_one => Some(-1),
        BinaryOperator::Subtract if **left == Expression::Old => constant(right)?.checked_neg(),
        _ => None,
    }
}

fn constant(expression: &Expression) -> Option<Value> {
    match expression {
        Expression::Constant(value) => Some(*value),
        _ => None,
    }
}

/// Checks that addresses count: nothing but additions and loads touches them, and what they held is only compared with numbers that are told apart. There
/// must be no domain, and no computed address.
pub(super) fn check_counters(program: &Program, counters: &[Value], most: u64) -> Result<(), CheckFailure> {
    if counters.is_empty() {
        return Ok(());
    }
    let is_ascending = counters.windows(2).all(|pair| pair[0] < pair[1]);
    if program.domain.is_some() || !is_ascending {
        reject!(Form, "counters are ascending addresses of a program without a domain");
    }
    for counter in counters {
        if !u64::try_from(program.initial_value(*counter)).is_ok_and(|initial| initial <= most) {
            reject!(Form, "counter {counter} begins beyond what is told apart");
        }
    }
    for thread in &program.threads {
        check_counting(thread, counters, most)?;
    }
    Ok(())
}

fn check_counting(thread: &Thread, counters: &[Value], most: u64) -> Result<(), CheckFailure> {
    for own in &thread.instructions {
        let Some(address) = own.action.address() else { continue };
        let value = address.evaluate_address(&[]).ok().filter(|_| address.is_constant());
        let Some(value) = value else { reject!(Form, "thread `{}` computes an address beside counters", thread.name) };
        if !counters.contains(&value) {
            continue;
        }
        let waits = own.until();
        let counts = match &own.action {
            Action::Load { .. } => true,
            // Who takes one of several waits for one.
            Action::Rmw { new: Expression::Binary(_, _, right), .. } if constant(right).is_none() => {
                let some = Expression::binary(BinaryOperator::Greater, Expression::Old, Expression::Constant(0));
                waits == Some(&some)
            }
            Action::Rmw { new, .. } => moves_by(new).is_some(),
            _ => false,
        };
        let is_told = waits.is_none_or(|until| is_compared(until, &Expression::Old, most));
        let is_kept = own.action.written_register().is_none_or(|register| {
            let mut read = thread.instructions.iter().flat_map(|other| other.expressions());
            read.all(|expression| is_compared(expression, &Expression::Register(register), most))
        });
        if !counts || !is_told || !is_kept || own.queue().is_some() {
            reject!(Form, "thread `{}` does more with counter {value} than to count", thread.name);
        }
    }
    Ok(())
}

/// Whether an expression only compares a part with numbers that are told apart, wherever it has it.
fn is_compared(expression: &Expression, part: &Expression, most: u64) -> bool {
    if expression == part {
        return false;
    }
    let is_told =
        |other: &Expression| constant(other).is_some_and(|own| u64::try_from(own).is_ok_and(|own| own <= most));
    match expression {
        Expression::Unary(_, operand) => is_compared(operand, part, most),
        Expression::Binary(operator, left, right) => {
            let compares = matches!(
                operator,
                BinaryOperator::Equal
                    | BinaryOperator::NotEqual
                    | BinaryOperator::Less
                    | BinaryOperator::LessOrEqual
                    | BinaryOperator::Greater
                    | BinaryOperator::GreaterOrEqual
            );
            let is_told = compares && (**left == *part && is_told(right) || **right == *part && is_told(left));
            is_told || is_compared(left, part, most) && is_compared(right, part, most)
        }
        _ => true,
    }
}

/// Weights are no larger, so that sums fit.
const HEAVIEST: i64 = 1 << 40;

/// A sum with the weights of states by number.
pub(super) struct Sum {
    constant: i128,
    states: HashMap<u32, i128>,
    values: HashMap<(Value, Value), i128>,
    counters: HashMap<Value, i128>,
}

/// The least and the greatest value of a sum, where there are bounds.
type Range = (Option<i128>, Option<i128>);

impl Sum {
    /// A row, where these are the numbers of the states in the evidence's table.
    pub(super) fn of(row: &WaitingRow, states: &[u32], counters: &[Value]) -> Result<Self, CheckFailure> {
        let weights = row.locals.iter().map(|own| own.1).chain(row.values.iter().map(|own| own.2));
        let mut weights = weights.chain(row.counters.iter().map(|own| own.1)).chain([row.constant]);
        if weights.any(|weight| weight.abs() > HEAVIEST) {
            reject!(Form, "a weight is too large");
        }
        let mut sum = Self {
            constant: row.constant.into(),
            states: HashMap::new(),
            values: HashMap::new(),
            counters: HashMap::new(),
        };
        for (index, weight) in &row.locals {
            let Some(state) = states.get(*index as usize) else {
                reject!(Form, "there is no local state {index} in the table");
            };
            *sum.states.entry(*state).or_default() += i128::from(*weight);
        }
        for (address, value, weight) in &row.values {
            if counters.contains(address) {
                reject!(Form, "a value of counter {address} has a weight of its own");
            }
            *sum.values.entry((*address, *value)).or_default() += i128::from(*weight);
        }
        for (counter, weight) in &row.counters {
            if !counters.contains(counter) {
                reject!(Form, "{counter} is no counter");
            }
            *sum.counters.entry(*counter).or_default() += i128::from(*weight);
        }
        Ok(sum)
    }

    /// The weight of a state; an end has none.
    pub(super) fn weight(&self, state: Option<u32>) -> i128 {
        state.and_then(|state| self.states.get(&state)).copied().unwrap_or(0)
    }

    /// What the values of addresses that are no counters add.
    fn of_values(&self, threads: &Threads<'_>, control: Control) -> i128 {
        let holds = |(address, value): &(Value, Value)| threads.in_memory(control, *address) == *value;
        self.values.iter().filter(|(own, _)| holds(own)).map(|(_, weight)| weight).sum()
    }

    /// By how much a step changes the sum.
    pub(super) fn change(
        &self,
        threads: &Threads<'_>,
        [before, after]: [Control; 2],
        [from, to]: [Option<u32>; 2],
        counts: Option<(Value, Value)>,
    ) -> Option<i128> {
        let counted = match counts {
            Some((counter, step)) => self.counters.get(&counter).copied().unwrap_or(0).checked_mul(i128::from(step))?,
            None => 0,
        };
        let values = self.of_values(threads, after) - self.of_values(threads, before);
        (self.weight(to) - self.weight(from) + values).checked_add(counted)
    }

    /// The sums that a configuration may stand for.
    fn range(&self, threads: &Threads<'_>, control: Control, tokens: &[(u32, u64)], most: u64) -> Option<Range> {
        let mut range = (Some(self.of_values(threads, control)), Some(0));
        range.1 = range.0;
        let mut add = |weight: i128, number: u64, is_open: bool| -> Option<()> {
            let own = weight.checked_mul(i128::from(number))?;
            let add = |sum: Option<i128>| sum.map_or(Some(None), |sum| sum.checked_add(own).map(Some));
            range = (add(range.0)?, add(range.1)?);
            if is_open && weight < 0 {
                range.0 = None;
            }
            if is_open && weight > 0 {
                range.1 = None;
            }
            Some(())
        };
        for (state, count) in tokens {
            let is_open = threads.is_replicated(*state) && *count > most;
            add(self.weight(Some(*state)), *count, is_open)?;
        }
        for (counter, weight) in &self.counters {
            let value = u64::try_from(threads.in_memory(control, *counter)).ok()?;
            add(*weight, value, value > most)?;
        }
        Some(range)
    }

    /// Whether no configuration that this one stands for has the sum.
    pub(super) fn rules_out(&self, threads: &Threads<'_>, control: Control, tokens: &[(u32, u64)], most: u64) -> bool {
        let Some((least, greatest)) = self.range(threads, control, tokens, most) else { return false };
        least.is_some_and(|least| least > self.constant) || greatest.is_some_and(|greatest| greatest < self.constant)
    }

    /// Whether a configuration has the sum, whatever it stands for.
    pub(super) fn holds(&self, threads: &Threads<'_>, control: Control, tokens: &[(u32, u64)], most: u64) -> bool {
        self.range(threads, control, tokens, most) == Some((Some(self.constant), Some(self.constant)))
    }
}
