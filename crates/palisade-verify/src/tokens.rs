//! Configurations as controls with numbers of tokens, and downward-closed sets of them.
//!
//! A control is everything but the threads; a token is the state of a thread. The caller chooses both types.

use crate::CheckFailure;
use crate::failure::reject;
use palisade_evidence::Tokens;
use palisade_model::program::{Copies, Program, ThreadId, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

/// How many local states one settling may pass through, and how many initial configurations there may be: more is
/// answered by rejection.
pub(crate) const MOST_CHOICES: usize = 1 << 20;

/// A configuration: everything but the threads, and how many threads are in which state (ascending, none with 0).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Configuration<C, T> {
    pub(crate) control: C,
    pub(crate) tokens: Vec<(T, Tokens)>,
}

/// A set of configurations, standing for all that lie below one of them.
#[derive(Debug)]
pub(crate) struct DownSet<C, T> {
    configurations: Vec<Configuration<C, T>>,
    exact: HashSet<Configuration<C, T>>,
    by_control: HashMap<C, Vec<Vec<(T, Tokens)>>>,
}

impl<C, T> Default for DownSet<C, T> {
    fn default() -> Self {
        Self { configurations: Vec::new(), exact: HashSet::new(), by_control: HashMap::new() }
    }
}

impl<C: Clone + Eq + Hash, T: Copy + Ord + Hash> DownSet<C, T> {
    pub(crate) fn new(configurations: Vec<Configuration<C, T>>) -> Self {
        let mut set = Self::default();
        for configuration in &configurations {
            if set.exact.insert(configuration.clone()) {
                set.by_control.entry(configuration.control.clone()).or_default().push(configuration.tokens.clone());
            }
        }
        set.configurations = configurations;
        set
    }

    pub(crate) fn configurations(&self) -> &[Configuration<C, T>] {
        &self.configurations
    }

    /// Whether the set covers `configuration`: the same control, and nowhere more tokens.
    pub(crate) fn contains(&self, configuration: &Configuration<C, T>) -> bool {
        self.exact.contains(configuration)
            || self
                .by_control
                .get(&configuration.control)
                .is_some_and(|rows| rows.iter().any(|row| is_below(&configuration.tokens, row)))
    }
}

/// Whether no token count of `smaller` exceeds that of `larger`.
fn is_below<T: Ord>(smaller: &[(T, Tokens)], larger: &[(T, Tokens)]) -> bool {
    smaller.iter().all(|(token, count)| {
        let upper = larger.binary_search_by(|(own, _)| own.cmp(token)).map(|position| larger[position].1);
        match (count, upper) {
            (_, Ok(Tokens::Omega)) => true,
            (Tokens::Finite(count), Ok(Tokens::Finite(upper))) => *count <= upper,
            _ => false,
        }
    })
}

/// `tokens` without one thread in a state that is listed; ω less one is ω.
pub(crate) fn without_one<T: Copy + Eq>(tokens: &[(T, Tokens)], token: T) -> Vec<(T, Tokens)> {
    let fewer = |(own, count): &(T, Tokens)| match count {
        Tokens::Finite(1) if *own == token => None,
        Tokens::Finite(count) if *own == token => Some((*own, Tokens::Finite(count - 1))),
        _ => Some((*own, *count)),
    };
    tokens.iter().filter_map(fewer).collect()
}

/// `tokens` with one thread more; ω and one is ω.
pub(crate) fn with_one<T: Copy + Ord>(tokens: &[(T, Tokens)], token: T) -> Result<Vec<(T, Tokens)>, CheckFailure> {
    let mut more = tokens.to_vec();
    match more.binary_search_by_key(&token, |(token, _)| *token) {
        Err(position) => more.insert(position, (token, Tokens::Finite(1))),
        Ok(position) => {
            if let Tokens::Finite(count) = &mut more[position].1 {
                match count.checked_add(1) {
                    Some(sum) => *count = sum,
                    None => reject!(Form, "a configuration has too many threads to count"),
                }
            }
        }
    }
    Ok(more)
}

/// The tokens of every initial configuration: each copy of a thread is in one of the states that `starts` gives for it, any number
/// of an unbounded one in every one. Threads without copies are left out.
pub(crate) fn initial_tokens<T: Copy + Ord>(
    program: &Program,
    mut starts: impl FnMut(ThreadId) -> Result<Vec<T>, CheckFailure>,
) -> Result<Vec<Vec<(T, Tokens)>>, CheckFailure> {
    let mut choices: Vec<Vec<(T, Tokens)>> = vec![Vec::new()];
    for (id, thread) in program.thread_ids() {
        if thread.copies == Copies::Exactly(0) {
            continue;
        }
        let starts = starts(id)?;
        match thread.copies {
            Copies::Any => {
                for choice in &mut choices {
                    choice.extend(starts.iter().map(|token| (*token, Tokens::Omega)));
                }
            }
            Copies::Exactly(copies) => {
                let splits = splits(copies, starts.len());
                let Some(splits) = splits.filter(|splits| splits.len() * choices.len() <= MOST_CHOICES) else {
                    reject!(Form, "thread `{}` has too many initial states", thread.name);
                };
                let add = |choice: &Vec<(T, Tokens)>, split: &Vec<u64>| {
                    let counted = starts.iter().zip(split).filter(|(_, count)| **count > 0);
                    let tokens = counted.map(|(token, count)| (*token, Tokens::Finite(*count)));
                    choice.iter().copied().chain(tokens).collect()
                };
                choices =
                    choices.iter().flat_map(|choice| splits.iter().map(move |split| add(choice, split))).collect();
            }
        }
    }
    choices.iter_mut().for_each(|choice| in_order(choice));
    Ok(choices)
}

/// Puts tokens in order, as configurations have them.
pub(crate) fn in_order<T: Copy + Ord>(tokens: &mut [(T, Tokens)]) {
    tokens.sort_by_key(|(token, _)| *token);
}

/// Every way to write `copies` as a sum of `ways` numbers (nothing when there are no ways: the threads have stopped),
/// unless there are too many.
fn splits(copies: u64, ways: usize) -> Option<Vec<Vec<u64>>> {
    let mut partial: Vec<(Vec<u64>, u64)> = vec![(Vec::new(), copies)];
    for way in 1..=ways {
        let mut longer = Vec::new();
        for (split, rest) in partial {
            for count in if way == ways { rest..=rest } else { 0..=rest } {
                let mut split = split.clone();
                split.push(count);
                longer.push((split, rest - count));
                if longer.len() > MOST_CHOICES {
                    return None;
                }
            }
        }
        partial = longer;
    }
    Some(partial.into_iter().map(|(split, _)| split).collect())
}

/// A map from its entries in strictly ascending order.
pub(crate) fn strictly_ascending<T: Clone>(
    entries: &[(Value, T)],
    what: &str,
) -> Result<BTreeMap<Value, T>, CheckFailure> {
    if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        reject!(Form, "{what}: address {} is not in ascending order", pair[1].0);
    }
    Ok(entries.iter().cloned().collect())
}

/// Values numbered in order of appearance, equal ones once.
#[derive(Debug)]
pub(crate) struct Numbering<T> {
    values: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T: Clone + Eq + Hash> Numbering<T> {
    pub(crate) fn new() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }

    pub(crate) fn number(&mut self, value: T) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let number = u32::try_from(self.values.len()).expect("fewer than 2^32 states fit in memory");
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }

    pub(crate) fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}
