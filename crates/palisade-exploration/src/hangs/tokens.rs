//! How many copies are where: one more, one less, and those that are woken.

use super::search::Search;
use crate::instrumented::Fault;
use crate::lazy::{MOST_WAYS, NetError, splits};
use palisade_model::limits::{Halt, StopReason};
use palisade_model::program::Value;

/// How many copies are in which place.
pub(super) type Tokens = Box<[(u32, u64)]>;

/// The copies that a wake-up wakes: where each sleeps, and where it goes on.
pub(super) type Woken = Vec<(u32, Option<u32>)>;

impl Search<'_> {
    /// The tokens without one: what is one less than more may be more.
    pub(super) fn without_one(&self, tokens: &[(u32, u64)], place: u32) -> Vec<Box<[(u32, u64)]>> {
        let most = self.system.shape().most;
        let count = tokens.iter().find(|(own, _)| *own == place).map_or(0, |(_, count)| *count);
        let with = |count: u64| {
            let put = |(own, before): &(u32, u64)| match (*own == place, count) {
                (true, 0) => None,
                (true, count) => Some((place, count)),
                (false, _) => Some((*own, *before)),
            };
            tokens.iter().filter_map(put).collect()
        };
        if count > most && self.system.is_counted_up_to(place) {
            vec![with(count), with(most)]
        } else {
            vec![with(count - 1)]
        }
    }

    pub(super) fn with_one(&self, tokens: &[(u32, u64)], place: u32) -> Box<[(u32, u64)]> {
        let most = if self.system.is_counted_up_to(place) { self.system.shape().most } else { u64::MAX - 1 };
        let mut more = tokens.to_vec();
        match more.binary_search_by_key(&place, |(place, _)| *place) {
            Ok(index) => more[index].1 = (more[index].1 + 1).min(most.saturating_add(1)),
            Err(index) => more.insert(index, (place, 1)),
        }
        more.into_boxed_slice()
    }
}

impl Search<'_> {
    /// What a wake-up of one sleeper at an address, or of all, makes of tokens.
    pub(super) fn after_wake(
        &mut self,
        tokens: &[(u32, u64)],
        address: Value,
        all: bool,
    ) -> Result<Vec<(Tokens, Woken)>, Halt<Fault>> {
        let is_asleep = |(place, _): &&(u32, u64)| self.system.slept_at(*place) == Some(address);
        let sleepers: Vec<(u32, u64)> = tokens.iter().filter(is_asleep).copied().collect();
        let mut found: Vec<(Tokens, Woken)> = Vec::new();
        if !all {
            for (place, _) in &sleepers {
                let targets = self.system.woken(*place).map_err(NetError::halt)?;
                for rest in self.without_one(tokens, *place) {
                    for to in &targets {
                        found.push((self.with_some(&rest, *to, 1), vec![(*place, *to)]));
                    }
                }
            }
            return Ok(if sleepers.is_empty() { vec![(tokens.into(), Vec::new())] } else { found });
        }
        let awake = tokens.iter().filter(|token| !sleepers.contains(token)).copied().collect();
        found.push((awake, Vec::new()));
        for (place, count) in sleepers {
            let targets = self.system.woken(place).map_err(NetError::halt)?;
            let is_many = self.system.is_counted_up_to(place) && count > self.system.shape().most;
            // Any number may go on by each of several ways where any larger number slept.
            let ways = if is_many && targets.len() > 1 {
                any_numbers(targets.len(), count)
            } else {
                splits(count, targets.len())
            };
            let ways = ways.filter(|ways| ways.len() * found.len() <= MOST_WAYS).ok_or(StopReason::Budget)?;
            let mut longer = Vec::new();
            for (tokens, woken) in &found {
                for way in &ways {
                    let (mut tokens, mut woken) = (tokens.clone(), woken.clone());
                    for (target, count) in way {
                        let to = targets[*target];
                        tokens = self.with_some(&tokens, to, *count);
                        if !is_many {
                            woken.extend((0..*count).map(|_| (place, to)));
                        }
                    }
                    longer.push((tokens, woken));
                }
            }
            found = longer;
        }
        Ok(found)
    }

    /// The tokens with some more in a place; as they are where these have ended.
    fn with_some(&self, tokens: &[(u32, u64)], place: Option<u32>, count: u64) -> Tokens {
        let Some(place) = place else { return tokens.into() };
        // Beyond what is counted it does not matter how many more there are.
        let counted = if self.system.is_counted_up_to(place) { count.min(self.system.shape().most + 1) } else { count };
        (0..counted).fold(tokens.into(), |tokens: Tokens, _| self.with_one(&tokens, place))
    }
}

/// Every number up to one of each of several ways; nothing where there are too many.
fn any_numbers(several: usize, most: u64) -> Option<Vec<Vec<(usize, u64)>>> {
    let exponent = u32::try_from(several).ok()?;
    (most + 1).checked_pow(exponent).filter(|number| *number <= MOST_WAYS as u64)?;
    let and = |numbers: Vec<Vec<(usize, u64)>>, way| {
        let with = |before: &Vec<_>, count| [before.as_slice(), &[(way, count)]].concat();
        numbers.iter().flat_map(|before| (0..=most).map(move |count| with(before, count))).collect()
    };
    Some((0..several).fold(vec![Vec::new()], and))
}
