//! Sums that no step changes.

use super::copies::{Control, Threads};
use crate::CheckFailure;
use crate::failure::reject;
use hashbrown::HashMap;
use palisade_evidence::WaitingRow;
use palisade_model::program::Value;

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
