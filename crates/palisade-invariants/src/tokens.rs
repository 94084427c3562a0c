//! Configurations as controls with numbers of tokens, and downward-closed sets of them.
//!
//! A control is everything but the threads; a token is the state of a thread. The caller chooses
//! both types.

use crate::CheckFailure;
use crate::failure::reject;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use palisade_evidence::Tokens;
use palisade_model::ordered;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Copies, Program, ThreadId, Value};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};

/// How many local states one settling may pass through, and how many initial configurations there
/// may be: more is answered by rejection.
pub(crate) const MOST_CHOICES: usize = 1 << 20;

/// A configuration: everything but the threads, and how many threads are in which state (ascending,
/// none with 0).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Configuration<C, T> {
    pub(crate) control: C,
    pub(crate) tokens: Vec<(T, Tokens)>,
}

/// A set of configurations, standing for all that lie below one of them.
#[derive(Debug)]
pub(crate) struct DownSet<C, T> {
    configurations: Vec<Configuration<C, T>>,
    /// The positions of different ones.
    exact: HashTable<usize>,
    /// For each control, the positions of different configurations that have it.
    by_control: HashTable<Vec<usize>>,
    hasher: DefaultHashBuilder,
}

impl<C, T> Default for DownSet<C, T> {
    fn default() -> Self {
        Self {
            configurations: Vec::new(),
            exact: HashTable::new(),
            by_control: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl<C: Eq + Hash, T: Copy + Ord + Hash> DownSet<C, T> {
    pub(crate) fn new(configurations: Vec<Configuration<C, T>>) -> Self {
        let Self { mut exact, mut by_control, hasher, .. } = Self::default();
        exact.reserve(configurations.len(), |_| unreachable!("the table is empty"));
        for (position, own) in configurations.iter().enumerate() {
            let hash = hasher.hash_one(own);
            if exact.find(hash, |other| configurations[*other] == *own).is_some() {
                continue;
            }
            exact.insert_unique(hash, position, |other| hasher.hash_one(&configurations[*other]));
            let control_of = |positions: &Vec<usize>| &configurations[positions[0]].control;
            let has_control = |positions: &Vec<usize>| *control_of(positions) == own.control;
            let rehash = |positions: &Vec<usize>| hasher.hash_one(control_of(positions));
            match by_control.entry(hasher.hash_one(&own.control), has_control, rehash) {
                Entry::Occupied(mut entry) => entry.get_mut().push(position),
                Entry::Vacant(entry) => drop(entry.insert(vec![position])),
            }
        }
        Self { configurations, exact, by_control, hasher }
    }

    pub(crate) fn configurations(&self) -> &[Configuration<C, T>] {
        &self.configurations
    }

    /// Whether the set covers `configuration`: the same control, and nowhere more tokens.
    pub(crate) fn contains(&self, configuration: &Configuration<C, T>) -> bool {
        let Self { configurations, exact, by_control, hasher } = self;
        let is_same = |position: &usize| configurations[*position] == *configuration;
        if exact.find(hasher.hash_one(configuration), is_same).is_some() {
            return true;
        }
        let Configuration { control, tokens } = configuration;
        let has_control = |positions: &Vec<usize>| configurations[positions[0]].control == *control;
        by_control.find(hasher.hash_one(control), has_control).is_some_and(|positions| {
            positions.iter().any(|position| is_below(tokens, &configurations[*position].tokens))
        })
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
    let mut rest = Vec::with_capacity(tokens.len() + 1);
    rest.extend(tokens.iter().filter_map(fewer));
    rest
}

/// `tokens` with one thread more; ω and one is ω.
pub(crate) fn with_one<T: Copy + Ord>(tokens: &[(T, Tokens)], token: T) -> Result<Vec<(T, Tokens)>, CheckFailure> {
    let mut more = Vec::with_capacity(tokens.len() + 1);
    more.extend_from_slice(tokens);
    and_one(more, token)
}

/// These tokens with one thread more; ω and one is ω.
pub(crate) fn and_one<T: Copy + Ord>(mut more: Vec<(T, Tokens)>, token: T) -> Result<Vec<(T, Tokens)>, CheckFailure> {
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

/// The tokens of every initial configuration: each copy of a thread is in one of the states that
/// `starts` gives for it, any number of an unbounded one in every one. Threads without copies are
/// left out.
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
            // The threads have stopped.
            Copies::Exactly(_) if starts.is_empty() => {}
            Copies::Exactly(copies) => {
                let splits = splits(copies, starts.len());
                let Some(splits) = splits.filter(|splits| splits.len() * choices.len() <= MOST_CHOICES) else {
                    reject!(Form, "thread `{}` has too many initial states", thread.name);
                };
                let add = |choice: &Vec<(T, Tokens)>, split: &Vec<(usize, u64)>| {
                    let tokens = split.iter().map(|(start, count)| (starts[*start], Tokens::Finite(*count)));
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
    ordered::sort_by_key(tokens, |(token, _)| *token);
}

/// Every split of so many copies among so many ways, as the ways that are chosen and how many
/// copies choose each; nothing where there are more than [`MOST_CHOICES`].
pub(crate) fn splits(copies: u64, ways: usize) -> Option<Vec<Vec<(usize, u64)>>> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), 0, copies)];
    while let Some((split, first, rest)) = open.pop() {
        if rest == 0 {
            found.push(split);
            continue;
        }
        for way in first..ways {
            for count in if way + 1 == ways { rest..=rest } else { 1..=rest } {
                // Each of these becomes a split.
                if found.len() + open.len() >= MOST_CHOICES {
                    return None;
                }
                let longer = split.iter().copied().chain([(way, count)]).collect();
                open.push((longer, way + 1, rest - count));
            }
        }
    }
    Some(found)
}

/// A map from its entries in strictly ascending order.
pub(crate) fn strictly_ascending<T: Clone>(
    entries: &[(Value, T)],
    what: &str,
) -> Result<BTreeMap<Value, T>, CheckFailure> {
    if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        reject!(Form, "{what}: address {} is not in ascending order", pair[1].0);
    }
    Ok(entries.iter().cloned().collect_map())
}

/// Values numbered in order of appearance, equal ones once.
#[derive(Debug)]
pub(crate) struct Numbering<T> {
    values: Vec<T>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl<T: Eq + Hash> Numbering<T> {
    pub(crate) fn new() -> Self {
        Self { values: Vec::new(), numbers: HashTable::new(), hasher: DefaultHashBuilder::default() }
    }

    pub(crate) fn number(&mut self, value: T) -> u32 {
        let Self { values, numbers, hasher } = self;
        let hash = hasher.hash_one(&value);
        if let Some(number) = numbers.find(hash, |number| values[*number as usize] == value) {
            return *number;
        }
        let number = u32::try_from(values.len()).expect("fewer than 2^32 states fit in memory");
        values.push(value);
        numbers.insert_unique(hash, number, |number| hasher.hash_one(&values[*number as usize]));
        number
    }

    pub(crate) fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }

    /// All values, by number.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }
}

/// Numbers of tokens in order, those of equal tokens added.
pub(crate) fn together<T: Copy + Ord>(mut tokens: Vec<(T, Tokens)>) -> Result<Vec<(T, Tokens)>, CheckFailure> {
    in_order(&mut tokens);
    let mut sums: Vec<(T, Tokens)> = Vec::with_capacity(tokens.len());
    for (token, count) in tokens {
        match sums.last_mut().filter(|(last, _)| *last == token) {
            Some((_, sum)) => {
                *sum = match (*sum, count) {
                    (Tokens::Finite(one), Tokens::Finite(other)) => match one.checked_add(other) {
                        Some(both) => Tokens::Finite(both),
                        None => reject!(Form, "there are too many tokens"),
                    },
                    _ => Tokens::Omega,
                };
            }
            None => sums.push((token, count)),
        }
    }
    Ok(sums)
}
