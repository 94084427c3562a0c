//! Whether some way lets each copy of a closed set go on that waits and must not wait for ever.
//!
//! One copy is followed among the others. There is hope for it in a configuration if it does not
//! wait there, if an `assume` may stop a copy, or if a step leads to where there is hope for it. No
//! step is one of a sleeper for no reason.

use super::copies::{Configuration, Threads};
use super::resting::Rest;
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::{MOST_CHOICES, splits};
use hashbrown::{HashMap, HashSet};
use palisade_evidence::WaitingSet;
use palisade_model::program::Value;

/// A configuration, and the state of the copy that is followed.
type Followed = (usize, u32);

/// The most steps that are followed.
const MOST_STEPS: usize = 1 << 27;

/// Checks that there is hope for every copy of every configuration.
pub(super) fn check_hope(
    threads: &mut Threads<'_>,
    set: &WaitingSet,
    configurations: &[Configuration],
) -> Result<(), CheckFailure> {
    if !set.rows.is_empty() || !set.counters.is_empty() || threads.has_replicated() {
        reject!(Form, "whether there is hope is shown for fixed numbers and whole values alone");
    }
    let numbers: HashMap<&Configuration, usize> =
        configurations.iter().enumerate().map(|(number, configuration)| (configuration, number)).collect();
    let mut before: HashMap<Followed, Vec<Followed>> = HashMap::new();
    let mut hopeful: HashSet<Followed> = HashSet::new();
    let mut steps = 0;
    for (number, configuration) in configurations.iter().enumerate() {
        let mut following = Following { threads: &mut *threads, configuration, may_be_stopped: false };
        for (from, to) in following.steps()? {
            let Some((after, state)) = to else {
                hopeful.insert((number, from));
                continue;
            };
            let Some(after) = numbers.get(&after) else {
                reject!(Inductive, "the set lacks what a step leads to from configuration {number}");
            };
            steps += 1;
            if steps > MOST_STEPS {
                reject!(Form, "there are too many steps to follow");
            }
            before.entry((*after, state)).or_default().push((number, from));
        }
        let may_be_stopped = following.may_be_stopped;
        let sleepers = threads.sleepers(&configuration.tokens)?;
        for (state, _) in &configuration.tokens {
            let is_buffering = !threads.states.get(*state).local.buffer.is_empty();
            if is_buffering || may_be_stopped || threads.rest(configuration.control, *state, &sleepers)? != Rest::Hangs
            {
                hopeful.insert((number, *state));
            }
        }
    }
    let mut open: Vec<Followed> = hopeful.iter().copied().collect();
    while let Some(followed) = open.pop() {
        for origin in before.remove(&followed).unwrap_or_default() {
            if hopeful.insert(origin) {
                open.push(origin);
            }
        }
    }
    for (number, configuration) in configurations.iter().enumerate() {
        if configuration.tokens.iter().any(|(state, _)| !hopeful.contains(&(number, *state))) {
            reject!(Safe, "no way lets a copy go on that waits in configuration {number}");
        }
    }
    Ok(())
}

/// The steps from one configuration.
struct Following<'a, 'p> {
    threads: &'a mut Threads<'p>,
    configuration: &'a Configuration,
    /// Whether an `assume` may stop a copy.
    may_be_stopped: bool,
}

/// From the state of a copy to a configuration and its state there; nothing where it has ended.
type Leads = (u32, Option<(Configuration, u32)>);

impl Following<'_, '_> {
    fn steps(&mut self) -> Result<Vec<Leads>, CheckFailure> {
        let mut found = Vec::new();
        let Configuration { control, tokens } = self.configuration;
        for (mover, _) in tokens {
            let ways = self.threads.ways(*control, *mover)?;
            self.may_be_stopped |= ways.may_be_stopped;
            if self.threads.states.get(*mover).asleep.is_some() {
                continue;
            }
            let rest = fewer(tokens, *mover);
            for way in &ways.all {
                for (others, awake) in self.woken(&rest, way.wakes)? {
                    let all = with(&others, way.to);
                    let all = awake.iter().fold(all, |all, (_, to)| with(&all, *to));
                    let after = Configuration { control: way.control, tokens: all };
                    let leads = |state: Option<u32>| state.map(|state| (after.clone(), state));
                    found.push((*mover, leads(way.to)));
                    found.extend(awake.iter().map(|(from, to)| (*from, leads(*to))));
                    found.extend(others.iter().map(|(state, _)| (*state, leads(Some(*state)))));
                }
            }
        }
        Ok(found)
    }

    /// What a wake-up makes of the others: who is left as it was, and where each that wakes up goes
    /// on.
    #[expect(clippy::type_complexity, reason = "each outcome is who stays and who is woken")]
    fn woken(
        &mut self,
        rest: &[(u32, u64)],
        wakes: Option<(Value, bool)>,
    ) -> Result<Vec<(Vec<(u32, u64)>, Vec<(u32, Option<u32>)>)>, CheckFailure> {
        let nobody = vec![(rest.to_vec(), Vec::new())];
        let Some((address, all)) = wakes else { return Ok(nobody) };
        let mut sleepers = Vec::new();
        for (state, count) in rest {
            if self.threads.slept_at(*state)? == Some(address)
                && let Some(by) = self.threads.states.get(*state).asleep
            {
                self.may_be_stopped |= self.threads.is_stopped_when_woken(*state, by)?;
                sleepers.push((*state, *count, self.threads.woken(*state, by)?));
            }
        }
        if sleepers.is_empty() {
            return Ok(nobody);
        }
        if !all {
            let one = sleepers
                .iter()
                .flat_map(|(state, _, ways)| ways.iter().map(|to| (fewer(rest, *state), vec![(*state, *to)])));
            return Ok(one.collect());
        }
        let stays = |(state, _): &&(u32, u64)| sleepers.iter().all(|(own, ..)| own != state);
        let stay: Vec<(u32, u64)> = rest.iter().filter(stays).copied().collect();
        let mut found = vec![(stay, Vec::new())];
        for (state, count, ways) in &sleepers {
            let chosen = splits(*count, ways.len());
            let Some(chosen) = chosen.filter(|chosen| chosen.len() * found.len() <= MOST_CHOICES) else {
                reject!(Form, "sleepers can go on in too many ways");
            };
            let mut longer = Vec::new();
            for (stay, awake) in &found {
                for split in &chosen {
                    let own = split.iter().flat_map(|(way, count)| (0..*count).map(|_| (*state, ways[*way])));
                    longer.push((stay.clone(), awake.iter().copied().chain(own).collect()));
                }
            }
            found = longer;
        }
        Ok(found)
    }
}

/// The tokens without one in a state.
fn fewer(tokens: &[(u32, u64)], from: u32) -> Vec<(u32, u64)> {
    let fewer = tokens.iter().map(|(state, count)| (*state, count - u64::from(*state == from)));
    fewer.filter(|(_, count)| *count > 0).collect()
}

/// The tokens with one more in a state.
fn with(tokens: &[(u32, u64)], state: Option<u32>) -> Vec<(u32, u64)> {
    let mut tokens = tokens.to_vec();
    let Some(state) = state else { return tokens };
    match tokens.binary_search_by_key(&state, |(own, _)| *own) {
        Ok(index) => tokens[index].1 += 1,
        Err(index) => tokens.insert(index, (state, 1)),
    }
    tokens
}
