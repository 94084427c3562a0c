//! Closed sets without a stuck configuration.

use super::copies::{Configuration, Control, Memory, Threads, Way};
use super::counters::check_counters;
use super::few::Few;
use super::hopeful::check_hope;
use super::resting::Rest;
use super::sums::Sum;
use crate::CheckFailure;
use crate::failure::reject;
use crate::property::Buffering;
use crate::tokens::{MOST_CHOICES, splits, strictly_ascending};
use hashbrown::HashSet;
use palisade_evidence::{Tokens, WaitingSet};
use palisade_model::program::{Copies, Program, Value};
use std::collections::BTreeSet;

/// Checks that a set holds the initial configurations, is closed under all steps, and that none of
/// it is stuck; if that is claimed, also that some way lets each copy go on.
pub(super) fn check_closed(
    program: &Program,
    buffering: Buffering,
    set: &WaitingSet,
    is_hopeful: bool,
) -> Result<(), CheckFailure> {
    let mut threads = Threads::new(program, buffering, set)?;
    if set.most > u64::from(u32::MAX) {
        reject!(Form, "copies are counted too far");
    }
    check_counters(program, &set.counters, set.most)?;
    let (states, configurations) = decode(&mut threads, set)?;
    let listed: HashSet<&Configuration> = configurations.iter().collect();
    let sums = set.rows.iter().map(|row| Sum::of(row, &states, &set.counters)).collect::<Result<_, _>>()?;
    let mut few = Few::of(program, set)?;
    let mut checking = Checking { threads, most: set.most, sources: Vec::new(), sums };
    for initial in checking.initial()? {
        checking.check_sums_hold(&initial)?;
        if !listed.contains(&initial) {
            reject!(Initial, "the set lacks an initial configuration");
        }
    }
    for (number, configuration) in configurations.iter().enumerate() {
        checking.check_not_stuck(number, configuration)?;
        let enough = match &mut few {
            Some(few) => few.enough(&mut checking.threads, configuration)?,
            None => BTreeSet::new(),
        };
        let mut is_closed = false;
        for movers in enough.iter().map(Some).chain([None]) {
            let successors = checking.successors(configuration, movers)?;
            is_closed = successors.iter().all(|own| listed.contains(own) || checking.is_ruled_out(own));
            if is_closed {
                break;
            }
        }
        if !is_closed {
            reject!(Inductive, "the set lacks what a step leads to from configuration {number}");
        }
    }
    if is_hopeful {
        check_hope(&mut checking.threads, set, &configurations)?;
    }
    Ok(())
}

/// The configurations of a set, from positions in its tables.
fn decode(threads: &mut Threads<'_>, set: &WaitingSet) -> Result<(Vec<u32>, Vec<Configuration>), CheckFailure> {
    let mut memories = Vec::with_capacity(set.memories.len());
    for memory in &set.memories {
        let mut memory = strictly_ascending(memory, "memory")?;
        memory.retain(|address, value| *value != threads.program.initial_value(*address));
        memories.push(threads.memories.number(memory));
    }
    let mut states = Vec::with_capacity(set.locals.len());
    for state in &set.locals {
        states.push(threads.admit(state)?);
    }
    let mut configurations = Vec::with_capacity(set.configurations.len());
    for given in &set.configurations {
        let Some(memory) = memories.get(given.memory as usize).copied() else {
            reject!(Form, "there is no memory {} in the table", given.memory);
        };
        let mut tokens = Vec::with_capacity(given.tokens.len());
        for (index, count) in &given.tokens {
            let Some(state) = states.get(*index as usize).copied() else {
                reject!(Form, "there is no local state {index} in the table");
            };
            let is_replicated = threads.is_replicated(state);
            let count = match *count {
                Tokens::Finite(count) if count > 0 && (!is_replicated || count <= set.most) => count,
                Tokens::Omega if is_replicated => set.most + 1,
                _ => reject!(Form, "no copies, or too many, are in local state {index}"),
            };
            tokens.push((state, count));
        }
        tokens.sort_unstable();
        if tokens.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            reject!(Form, "a configuration lists a local state twice");
        }
        configurations.push(Configuration { control: Control { memory, locked: given.locked }, tokens });
    }
    Ok((states, configurations))
}

struct Checking<'a> {
    threads: Threads<'a>,
    most: u64,
    /// The states in which copies of replicated threads begin.
    sources: Vec<u32>,
    /// Sums that no step changes.
    sums: Vec<Sum>,
}

impl Checking<'_> {
    /// The initial configurations: each copy of a fixed thread begins in one of the states in which
    /// it may, and no copy of a replicated one has moved.
    fn initial(&mut self) -> Result<Vec<Configuration>, CheckFailure> {
        let memory = self.threads.memories.number(Memory::new());
        let mut choices: Vec<Vec<(u32, u64)>> = vec![Vec::new()];
        for (id, thread) in self.threads.program.thread_ids() {
            let beginnings = self.threads.beginnings(id)?;
            match thread.copies {
                Copies::Exactly(0) => {}
                Copies::Any => self.sources.extend(beginnings.into_iter().flatten()),
                Copies::Exactly(copies) => {
                    let splits = splits(copies, beginnings.len());
                    let Some(splits) = splits.filter(|splits| splits.len() * choices.len() <= MOST_CHOICES) else {
                        reject!(Form, "copies can begin in too many ways");
                    };
                    let add = |choice: &Vec<(u32, u64)>, split: &Vec<(usize, u64)>| {
                        let tokens = split.iter().filter_map(|(way, count)| Some((beginnings[*way]?, *count)));
                        choice.iter().copied().chain(tokens).collect()
                    };
                    choices =
                        choices.iter().flat_map(|choice| splits.iter().map(move |split| add(choice, split))).collect();
                }
            }
        }
        let configuration = |mut tokens: Vec<(u32, u64)>| {
            tokens.sort_unstable();
            Configuration { control: Control { memory, locked: false }, tokens }
        };
        Ok(choices.into_iter().map(configuration).collect())
    }

    /// Checks that an initial configuration has all sums, whatever number of copies has not moved.
    fn check_sums_hold(&self, initial: &Configuration) -> Result<(), CheckFailure> {
        for (number, sum) in self.sums.iter().enumerate() {
            let is_free = self.sources.iter().all(|source| sum.weight(Some(*source)) == 0);
            if !is_free || !sum.holds(&self.threads, initial.control, &initial.tokens, self.most) {
                reject!(Initial, "an initial configuration breaks row {number}");
            }
        }
        Ok(())
    }

    /// Whether a sum rules a configuration out.
    fn is_ruled_out(&self, configuration: &Configuration) -> bool {
        let Configuration { control, tokens } = configuration;
        self.sums.iter().any(|sum| sum.rules_out(&self.threads, *control, tokens, self.most))
    }

    /// Checks that a step leaves all sums as they are.
    fn check_sums_kept(&self, before: Control, from: u32, way: &Way) -> Result<(), CheckFailure> {
        for (number, sum) in self.sums.iter().enumerate() {
            if sum.change(&self.threads, [before, way.control], [Some(from), way.to], way.counts) != Some(0) {
                reject!(Inductive, "a step changes the sum of row {number}");
            }
        }
        Ok(())
    }

    /// Checks that somebody goes on, or nobody waits who must not, and memory is as it must be in
    /// the end.
    fn check_not_stuck(&mut self, number: usize, configuration: &Configuration) -> Result<(), CheckFailure> {
        let control = configuration.control;
        let (mut waits, mut drains) = (false, false);
        let sleepers = self.threads.sleepers(&configuration.tokens)?;
        for (state, _) in &configuration.tokens {
            let local = &self.threads.states.get(*state).local;
            if !local.buffer.is_empty() {
                if !control.locked || local.holding {
                    return Ok(());
                }
                drains = true;
            } else {
                match self.threads.rest(control, *state, &sleepers)? {
                    Rest::None => return Ok(()),
                    Rest::Hangs => waits = true,
                    Rest::MayWait => {}
                }
            }
        }
        // A copy that has not moved may be there, and need not.
        for source in self.sources.clone() {
            waits |= self.threads.rest(control, source, &sleepers)? == Rest::Hangs;
        }
        if waits || drains {
            reject!(Safe, "configuration {number} is stuck");
        }
        let program = self.threads.program;
        for claim in &program.finally {
            if !claim.holds(program.domain, |address| self.threads.in_memory(control, address)) {
                reject!(Safe, "configuration {number} is an end of which a claim of `finally` does not hold");
            }
        }
        Ok(())
    }

    /// What steps lead to: of all copies, or of those in a few states.
    fn successors(
        &mut self,
        from: &Configuration,
        few: Option<&BTreeSet<u32>>,
    ) -> Result<Vec<Configuration>, CheckFailure> {
        let mut found = Vec::new();
        let tokens = from.tokens.iter().map(|(state, _)| (*state, true));
        let tokens = tokens.filter(|(state, _)| few.is_none_or(|few| few.contains(state)));
        let movers: Vec<(u32, bool)> = tokens.chain(self.sources.iter().map(|source| (*source, false))).collect();
        for (state, is_counted) in movers {
            let rests = if is_counted { self.fewer(&from.tokens, state) } else { vec![from.tokens.clone()] };
            for way in &self.threads.ways(from.control, state)?.all {
                self.check_sums_kept(from.control, state, way)?;
                for rest in &rests {
                    let control = way.control;
                    let tokens = self.and(rest, way.to);
                    match way.wakes {
                        None => found.push(Configuration { control, tokens }),
                        Some((address, all)) => {
                            let woken = self.after_wake(&tokens, address, all)?;
                            found.extend(woken.into_iter().map(|tokens| Configuration { control, tokens }));
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    /// One copy less: any larger number less one may be as large still.
    fn fewer(&self, tokens: &[(u32, u64)], state: u32) -> Vec<Vec<(u32, u64)>> {
        let is_replicated = self.threads.is_replicated(state);
        let mut fewer = tokens.to_vec();
        let Some(position) = fewer.iter().position(|(own, _)| *own == state) else { return Vec::new() };
        let is_many = is_replicated && fewer[position].1 > self.most;
        fewer[position].1 -= 1;
        if fewer[position].1 == 0 {
            fewer.remove(position);
        }
        if is_many { vec![fewer, tokens.to_vec()] } else { vec![fewer] }
    }

    /// One copy more, unless it has ended.
    fn and(&self, tokens: &[(u32, u64)], state: Option<u32>) -> Vec<(u32, u64)> {
        state.map_or_else(|| tokens.to_vec(), |state| self.more(tokens, state))
    }

    /// What a wake-up makes of these copies: of one that sleeps at the address, whichever it is, or
    /// of all.
    fn after_wake(
        &mut self,
        tokens: &[(u32, u64)],
        address: Value,
        all: bool,
    ) -> Result<Vec<Vec<(u32, u64)>>, CheckFailure> {
        let mut sleepers = Vec::new();
        for (state, count) in tokens {
            if self.threads.slept_at(*state)? == Some(address)
                && let Some(by) = self.threads.states.get(*state).asleep
            {
                let ways = self.threads.woken(*state, by)?;
                let is_kept = |sum: &Sum| ways.iter().all(|to| sum.weight(*to) == sum.weight(Some(*state)));
                if !self.sums.iter().all(is_kept) {
                    reject!(Inductive, "a wake-up changes a sum");
                }
                sleepers.push((*state, *count, ways));
            }
        }
        if !all {
            let mut found = if sleepers.is_empty() { vec![tokens.to_vec()] } else { Vec::new() };
            for (state, _, ways) in sleepers {
                for rest in self.fewer(tokens, state) {
                    found.extend(ways.iter().map(|to| self.and(&rest, *to)));
                }
            }
            return Ok(found);
        }
        let is_awake = |(state, _): &&(u32, u64)| sleepers.iter().all(|(own, ..)| own != state);
        let mut found = vec![tokens.iter().filter(is_awake).copied().collect::<Vec<_>>()];
        for (state, count, ways) in sleepers {
            // Where any larger number goes on in several ways, any number may do so in each.
            let is_any = ways.len() > 1 && self.threads.is_replicated(state) && count > self.most;
            let chosen = if is_any { numbers(count, ways.len()) } else { splits(count, ways.len()) };
            let is_few = |chosen: &Vec<_>| chosen.len() * found.len() <= MOST_CHOICES && count <= MOST_CHOICES as u64;
            let Some(chosen) = chosen.filter(is_few) else {
                reject!(Form, "sleepers can go on in too many ways");
            };
            let go_on = |tokens: &Vec<(u32, u64)>, split: &Vec<(usize, u64)>| {
                let all = split.iter().flat_map(|(way, count)| (0..*count).map(|_| ways[*way]));
                all.fold(tokens.clone(), |tokens, way| self.and(&tokens, way))
            };
            found = found.iter().flat_map(|tokens| chosen.iter().map(move |split| go_on(tokens, split))).collect();
        }
        Ok(found)
    }

    /// One copy more.
    fn more(&self, tokens: &[(u32, u64)], state: u32) -> Vec<(u32, u64)> {
        let most = if self.threads.is_replicated(state) { self.most + 1 } else { u64::MAX };
        let mut more = tokens.to_vec();
        match more.iter_mut().find(|(own, _)| *own == state) {
            Some((_, count)) => *count = count.saturating_add(1).min(most),
            None => {
                more.push((state, 1));
                more.sort_unstable();
            }
        }
        more
    }
}

/// Every number up to one of copies that go on by each of so many ways; nothing where there are
/// more than [`MOST_CHOICES`].
fn numbers(most: u64, ways: usize) -> Option<Vec<Vec<(usize, u64)>>> {
    let mut found = vec![Vec::new()];
    for way in 0..ways {
        let number = found.len().checked_mul(usize::try_from(most).ok()?.checked_add(1)?)?;
        if number > MOST_CHOICES {
            return None;
        }
        let with = |before: &Vec<_>, count| before.iter().copied().chain([(way, count)]).collect();
        found = found.iter().flat_map(|before| (0..=most).map(move |count| with(before, count))).collect();
    }
    Some(found)
}
