//! Configurations of the instrumented program, and downward-closed sets of them.

use super::model::Model;
use crate::CheckFailure;
use crate::failure::reject;
use palisade_evidence::{
    Attacker, DelayedSet, HelpedSet, Level, LocalIndex, LocalState, MemoryIndex, ScConfiguration, Tokens,
};
use palisade_model::program::{Copies, LabelId, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

/// The values of addresses that do not hold their initial value.
pub(super) type Memory = BTreeMap<Value, Value>;

/// A configuration: everything but the threads, and how many threads are in which state (ascending, none with 0).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Configuration {
    pub(super) control: Control,
    pub(super) tokens: Vec<(Token, Tokens)>,
}

/// Everything but the threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Control {
    /// The number of the memory in the model.
    pub(super) memory: u32,
    /// Whether some thread holds the lock.
    pub(super) locked: bool,
    pub(super) phase: Phase,
}

/// The state of one thread, by its number in the model, and whether the thread is on the happens-before path (never
/// outside phase Helped).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Token {
    pub(super) local: u32,
    pub(super) joined: bool,
}

/// The phases of the instrumented program: the parts τ1, τ2 and τ3 of [ESOP13, Fig. 4].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// Before an attacker delays stores.
    Sc,
    /// While it does.
    Delayed(DelayingThread),
    /// After its load.
    Helped(Path),
}

/// The attacker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DelayingThread {
    pub(super) label: LabelId,
    pub(super) registers: Vec<Value>,
    /// The last value delayed for each address.
    pub(super) buffer: BTreeMap<Value, Value>,
    /// The address of the first delayed store.
    pub(super) store_address: Value,
}

/// The happens-before path from the attacker's load.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Path {
    /// The address of the first delayed store.
    pub(super) store_address: Value,
    /// The strongest access on the path by address.
    pub(super) levels: BTreeMap<Value, Level>,
    /// The accesses of the open section of a thread that is not on the path.
    pub(super) section: BTreeMap<Value, Level>,
}

/// A set of configurations, standing for all that lie below one of them.
#[derive(Debug, Default)]
pub(super) struct DownSet {
    configurations: Vec<Configuration>,
    exact: HashSet<Configuration>,
    by_control: HashMap<Control, Vec<Vec<(Token, Tokens)>>>,
}

impl DownSet {
    pub(super) fn new(configurations: Vec<Configuration>) -> Self {
        let mut set = Self::default();
        for configuration in &configurations {
            if set.exact.insert(configuration.clone()) {
                set.by_control.entry(configuration.control.clone()).or_default().push(configuration.tokens.clone());
            }
        }
        set.configurations = configurations;
        set
    }

    pub(super) fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }

    /// Whether the set covers `configuration`: the same control, and nowhere more tokens.
    pub(super) fn contains(&self, configuration: &Configuration) -> bool {
        self.exact.contains(configuration)
            || self
                .by_control
                .get(&configuration.control)
                .is_some_and(|rows| rows.iter().any(|row| is_below(&configuration.tokens, row)))
    }
}

/// Whether no token count of `smaller` exceeds that of `larger`.
fn is_below(smaller: &[(Token, Tokens)], larger: &[(Token, Tokens)]) -> bool {
    smaller.iter().all(|(token, count)| {
        let upper = larger.binary_search_by_key(token, |(token, _)| *token).map(|position| larger[position].1);
        match (count, upper) {
            (_, Ok(Tokens::Omega)) => true,
            (Tokens::Finite(count), Ok(Tokens::Finite(upper))) => *count <= upper,
            _ => false,
        }
    })
}

/// The configurations of a certificate, checked and in the form the model works with.
impl Model<'_> {
    pub(super) fn decode_sc(&self, given: &[ScConfiguration]) -> Result<Vec<Configuration>, CheckFailure> {
        let decode = |configuration: &ScConfiguration| {
            self.configuration(configuration.memory, configuration.locked, Phase::Sc, unjoined(&configuration.tokens))
        };
        given.iter().map(decode).collect()
    }

    pub(super) fn decode_delayed(&self, given: &DelayedSet) -> Result<Vec<Configuration>, CheckFailure> {
        let mut decoded = Vec::with_capacity(given.configurations.len());
        for configuration in &given.configurations {
            let Attacker { label, registers, buffer, store_address } = configuration.attacker.clone();
            self.check_local(&LocalState {
                thread: given.thread,
                label,
                registers: registers.clone(),
                holding: false,
            })?;
            let buffer = strictly_ascending(&buffer, "buffer")?;
            if !buffer.contains_key(&store_address) {
                reject!(Form, "the address {store_address} of an attacker's first delayed store is not in its buffer");
            }
            let phase = Phase::Delayed(DelayingThread { label, registers, buffer, store_address });
            let tokens = unjoined(&configuration.tokens);
            decoded.push(self.configuration(configuration.memory, configuration.locked, phase, tokens)?);
        }
        Ok(decoded)
    }

    pub(super) fn decode_helped(&self, given: &HelpedSet) -> Result<Vec<Configuration>, CheckFailure> {
        let mut decoded = Vec::with_capacity(given.configurations.len());
        for configuration in &given.configurations {
            let phase = Phase::Helped(Path {
                store_address: configuration.store_address,
                levels: strictly_ascending(&configuration.levels, "levels")?,
                section: strictly_ascending(&configuration.section, "section")?,
            });
            let tokens = configuration.tokens.clone();
            decoded.push(self.configuration(configuration.memory, configuration.locked, phase, tokens)?);
        }
        Ok(decoded)
    }

    /// A configuration from positions in the certificate's tables.
    fn configuration(
        &self,
        memory: MemoryIndex,
        locked: bool,
        phase: Phase,
        given: Vec<(LocalIndex, bool, Tokens)>,
    ) -> Result<Configuration, CheckFailure> {
        let Some(memory) = self.memory_numbers.get(memory as usize).copied() else {
            reject!(Form, "there is no memory {memory} in the table");
        };
        let mut tokens = Vec::with_capacity(given.len());
        for (index, joined, count) in given {
            let Some(local) = self.local_numbers.get(index as usize).copied() else {
                reject!(Form, "there is no local state {index} in the table");
            };
            let is_replicated = self.program.thread(self.local(local).thread).copies == Copies::Any;
            match count {
                Tokens::Finite(0) => reject!(Form, "local state {index} is listed with no threads"),
                Tokens::Omega if !is_replicated => {
                    reject!(Form, "ω threads in local state {index} of a thread with a fixed number of copies")
                }
                _ => tokens.push((Token { local, joined }, count)),
            }
        }
        tokens.sort_by_key(|(token, _)| *token);
        if let Some(pair) = tokens.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            reject!(Form, "a configuration lists {} twice", self.local_in_words(pair[0].0.local));
        }
        Ok(Configuration { control: Control { memory, locked, phase }, tokens })
    }
}

/// Tokens off the happens-before path.
fn unjoined(tokens: &[(LocalIndex, Tokens)]) -> Vec<(LocalIndex, bool, Tokens)> {
    tokens.iter().map(|(local, count)| (*local, false, *count)).collect()
}

/// A map from its entries in strictly ascending order.
pub(super) fn strictly_ascending<T: Clone>(
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
pub(super) struct Numbering<T> {
    values: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T: Clone + Eq + Hash> Numbering<T> {
    pub(super) fn new() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }

    pub(super) fn number(&mut self, value: T) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let number = u32::try_from(self.values.len()).expect("fewer than 2^32 states fit in memory");
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }

    pub(super) fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}
