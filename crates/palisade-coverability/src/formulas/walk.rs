//! Walks: many steps at random, or towards a condition, with all conditions watched on the way.
//!
//! Half of the walks take any step. The others draw a few transitions that can fire and take the
//! one that leaves least missing in a condition, or follow how often the state equation says that
//! transitions fire; where none of these can fire, a solution is sought anew from there, after the
//! distance of [FastForward, TACAS 2021].

use super::equation::Lead;
use super::machine::{Goal, Machine};
use crate::Context;
use crate::number::Stop;
use palisade_evidence::{NetRun, RunStep};
use palisade_model::limits::StopReason;
use palisade_model::net::{Count, TransitionId};
use rustc_hash::FxHashMap;

/// The lengths of walks, which take turns.
const LENGTHS: [usize; 6] = [100, 1_000, 100, 10_000, 1_000, 100_000];

/// Transitions that a walk towards a condition draws.
const DRAWN: usize = 6;

/// How often a walk that is led seeks a new solution of the state equation.
const MOST_SOLUTIONS: usize = 30;

/// Nets with more transitions are led by their first solutions alone.
const LARGEST_LED: usize = 1_000;

/// Steps between two looks at the budget.
const INTERVAL: usize = 200;

/// Runs of more steps are not shortened.
const LONGEST_SHORTENED: usize = 50_000;

/// A state on a walk.
pub(super) struct Walker<'m> {
    machine: &'m Machine,
    random: u64,
    /// Walks so far.
    number: usize,
    marking: Vec<u32>,
    /// For each transition on how many places it lacks tokens.
    missing: Vec<u32>,
    /// The transitions that can fire, and where each stands among them.
    enabled: Vec<u32>,
    position: Vec<u32>,
    /// The sums of inequalities.
    sums: Vec<i64>,
    path: Vec<u32>,
    goals_by_atom: Vec<Vec<u32>>,
    /// Conditions that ask for deadlock.
    deadlocks: Vec<u32>,
    /// Conditions that the last step may have changed.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
}

/// A count that does not fit.
struct Overflow;

impl<'m> Walker<'m> {
    /// A walker at the initial marking.
    pub(super) fn new(machine: &'m Machine) -> Self {
        let asks = |goal: &Option<Goal>| goal.as_ref().is_some_and(Goal::asks_deadlock);
        let deadlocks = (0u32..).zip(&machine.goals).filter(|(_, goal)| asks(goal)).map(|(number, _)| number);
        let mut walker = Self {
            machine,
            random: 0x9e37_79b9_7f4a_7c15,
            number: 0,
            marking: Vec::new(),
            missing: Vec::new(),
            enabled: Vec::new(),
            position: vec![u32::MAX; machine.needs.len()],
            sums: Vec::new(),
            path: Vec::new(),
            goals_by_atom: machine.goals_by_atom(),
            deadlocks: deadlocks.collect(),
            changed: Vec::new(),
            is_changed: vec![false; machine.goals.len()],
        };
        walker.restart();
        walker
    }

    fn restart(&mut self) {
        let machine = self.machine;
        self.marking.clone_from(&machine.initial);
        self.path.clear();
        self.enabled.clear();
        self.position.fill(u32::MAX);
        let lacking =
            |needs: &[(u32, u32)]| needs.iter().filter(|(place, count)| self.marking[*place as usize] < *count).count();
        self.missing =
            machine.needs.iter().map(lacking).map(|count| u32::try_from(count).unwrap_or(u32::MAX)).collect();
        for transition in (0u32..).zip(&self.missing).filter(|(_, missing)| **missing == 0).map(|(id, _)| id) {
            self.position[transition as usize] = u32::try_from(self.enabled.len()).unwrap_or(u32::MAX);
            self.enabled.push(transition);
        }
        self.sums = machine.sums(&self.marking);
        for goal in 0..self.is_changed.len() {
            self.touch(u32::try_from(goal).unwrap_or(u32::MAX));
        }
    }

    fn touch(&mut self, goal: u32) {
        if !std::mem::replace(&mut self.is_changed[goal as usize], true) {
            self.changed.push(goal);
        }
    }

    /// SplitMix64.
    fn draw(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.random;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((value ^ (value >> 31)) % below as u64).unwrap_or(0)
    }

    /// Any transition that can fire.
    fn any(&mut self) -> u32 {
        let drawn = self.draw(self.enabled.len());
        self.enabled[drawn]
    }

    fn fire(&mut self, transition: u32) -> Result<(), Overflow> {
        let machine = self.machine;
        for (place, change) in &machine.changes[transition as usize] {
            let old = self.marking[*place as usize];
            let new = i64::from(old) + change;
            let new = u32::try_from(new).ok().filter(|new| *new < 1 << 31).ok_or(Overflow)?;
            self.marking[*place as usize] = new;
            for (consumer, count) in &machine.consumers[*place as usize] {
                let (before, after) = (old >= *count, new >= *count);
                if before != after {
                    self.set_missing(*consumer, after);
                }
            }
        }
        for (atom, delta) in &machine.deltas[transition as usize] {
            let before = machine.is_true(*atom, &self.sums);
            self.sums[*atom as usize] += delta;
            if before != machine.is_true(*atom, &self.sums) {
                for index in 0..self.goals_by_atom[*atom as usize].len() {
                    self.touch(self.goals_by_atom[*atom as usize][index]);
                }
            }
        }
        if self.enabled.is_empty() {
            for index in 0..self.deadlocks.len() {
                self.touch(self.deadlocks[index]);
            }
        }
        self.path.push(transition);
        Ok(())
    }

    /// Notes that a transition has got the tokens of a place, or lost them.
    fn set_missing(&mut self, transition: u32, has: bool) {
        let missing = &mut self.missing[transition as usize];
        if has {
            *missing -= 1;
            if *missing == 0 {
                self.position[transition as usize] = u32::try_from(self.enabled.len()).unwrap_or(u32::MAX);
                self.enabled.push(transition);
            }
        } else {
            *missing += 1;
            if *missing == 1 {
                let position = self.position[transition as usize] as usize;
                self.enabled.swap_remove(position);
                if let Some(moved) = self.enabled.get(position) {
                    self.position[*moved as usize] = u32::try_from(position).unwrap_or(u32::MAX);
                }
                self.position[transition as usize] = u32::MAX;
            }
        }
    }

    /// Hands over the open conditions that hold now. They are open no longer.
    fn report(&mut self, open: &mut [bool], found: &mut impl FnMut(usize, NetRun)) {
        while let Some(number) = self.changed.pop() {
            let goal = number as usize;
            self.is_changed[goal] = false;
            let holds = open[goal]
                && self.machine.goals[goal]
                    .as_ref()
                    .is_some_and(|goal| self.machine.holds(goal, &self.sums, self.enabled.is_empty()));
            if holds {
                open[goal] = false;
                found(goal, self.machine.run(&self.path));
            }
        }
    }

    /// Walks until the budget ends or no condition is open.
    pub(super) fn walk(
        &mut self,
        open: &mut [bool],
        leads: &FxHashMap<usize, Lead>,
        context: &Context,
        mut found: impl FnMut(usize, NetRun),
    ) -> Result<(), StopReason> {
        loop {
            let goals: Vec<usize> =
                (0..open.len()).filter(|goal| open[*goal] && self.machine.goals[*goal].is_some()).collect();
            if goals.is_empty() {
                return Ok(());
            }
            context.check()?;
            let goal = goals[self.draw(goals.len())];
            let lead = leads.get(&goal).filter(|lead| !lead.firings.is_empty() && self.number % 4 == 3);
            let mut led = lead.map(|lead| Led::new(lead, self.number / 4));
            let towards = (self.number % 2 == 1 && lead.is_none()).then_some(goal);
            let mut length = lead.map_or(LENGTHS[(self.number / 2) % LENGTHS.len()], |lead| steps(&lead.firings));
            self.number += 1;
            self.restart();
            self.report(open, &mut found);
            let mut step = 0;
            while step < length {
                if step % INTERVAL == 0 {
                    context.count_work(INTERVAL * 10);
                    context.check()?;
                }
                step += 1;
                if self.enabled.is_empty() {
                    break;
                }
                let transition = match (towards, &mut led) {
                    (Some(goal), _) => self.nearest(goal),
                    (None, Some(led)) => match self.led(led) {
                        Some(transition) => led.takes(transition),
                        None => {
                            led.seeks = led.solutions < MOST_SOLUTIONS && self.machine.changes.len() <= LARGEST_LED;
                            self.any()
                        }
                    },
                    (None, None) => self.any(),
                };
                if self.fire(transition).is_err() {
                    break;
                }
                if !self.changed.is_empty() {
                    self.report(open, &mut found);
                    if towards.is_some_and(|goal| !open[goal]) {
                        break;
                    }
                }
                if let Some(led) = led.as_mut().filter(|led| led.seeks) {
                    let Some(further) = led.seek(self.machine, &self.marking, context)? else { break };
                    length = length.max(step.saturating_add(further));
                }
            }
        }
    }

    /// Of a few transitions that can fire, one that leaves least missing; now and then any.
    fn nearest(&mut self, goal: usize) -> u32 {
        let machine = self.machine;
        let first = self.any();
        let Some(goal) = &machine.goals[goal] else { return first };
        if self.draw(8) == 0 {
            return first;
        }
        let mut here = None;
        let mut best = (self.after(first, goal, i64::MAX, &mut here), first);
        for _ in 1..DRAWN.min(self.enabled.len()) {
            let other = self.any();
            let distance = self.after(other, goal, best.0, &mut here);
            if distance < best.0 {
                best = (distance, other);
            }
        }
        best.1
    }

    /// How far from a condition a transition leads, where that is below a limit. How far it is from
    /// here is computed once.
    fn after(&mut self, transition: u32, goal: &Goal, limit: i64, here: &mut Option<i64>) -> i64 {
        let machine = self.machine;
        let enabled = self.enabled.len();
        let deltas = &machine.deltas[transition as usize];
        if deltas.is_empty() {
            return *here.get_or_insert_with(|| machine.distance(goal, &self.sums, enabled));
        }
        deltas.iter().for_each(|(atom, delta)| self.sums[*atom as usize] += delta);
        let distance = machine.distance_below(limit, goal, &self.sums, enabled);
        deltas.iter().for_each(|(atom, delta)| self.sums[*atom as usize] -= delta);
        distance
    }

    /// A transition that is still to fire, if one can.
    fn led(&mut self, led: &Led<'_>) -> Option<u32> {
        let start = self.draw(self.enabled.len());
        let rotated = self.enabled[start..].iter().chain(&self.enabled[..start]).copied();
        let mut left = rotated.filter_map(|transition| Some((led.left(transition)?, transition)));
        match led.order {
            Order::Any => left.next(),
            Order::Most => left.max_by_key(|(times, _)| *times),
            Order::Weighted => {
                let all: Vec<(u64, u32)> = left.collect();
                let sum = all.iter().map(|(times, _)| times).sum::<u64>().max(1);
                let mut drawn = self.draw(usize::try_from(sum).unwrap_or(usize::MAX)) as u64;
                all.into_iter().find(|(times, _)| {
                    let is_it = drawn < *times;
                    drawn = drawn.saturating_sub(*times);
                    is_it
                })
            }
        }
        .map(|(_, transition)| transition)
    }
}

/// Which of the transitions that are still to fire comes next.
#[derive(Clone, Copy, Debug)]
enum Order {
    Any,
    /// One that is to fire most often. What is to fire once, and may end what others need, comes
    /// late.
    Most,
    /// Any, in proportion to how often it is to fire.
    Weighted,
}

/// A walk along a solution of the state equation.
struct Led<'l> {
    lead: &'l Lead,
    order: Order,
    /// How often transitions are still to fire.
    left: FxHashMap<u32, u64>,
    /// Whether the next solution is to be sought from where the walk is.
    seeks: bool,
    /// How often one was sought.
    solutions: usize,
}

impl<'l> Led<'l> {
    /// The beginning of a walk of this number.
    fn new(lead: &'l Lead, number: usize) -> Self {
        let order = [Order::Any, Order::Most, Order::Weighted][number % 3];
        Self { lead, order, left: lead.firings.iter().copied().collect(), seeks: false, solutions: 0 }
    }

    /// How often a transition is still to fire, if it is.
    fn left(&self, transition: u32) -> Option<u64> {
        self.left.get(&transition).copied().filter(|times| *times > 0)
    }

    /// Notes that a transition fires.
    fn takes(&mut self, transition: u32) -> u32 {
        self.left.entry(transition).and_modify(|times| *times -= 1);
        transition
    }

    /// Seeks a solution from where the walk is; how many steps are worth their time then. Nothing
    /// where there is none.
    fn seek(&mut self, machine: &Machine, marking: &[u32], context: &Context) -> Result<Option<usize>, StopReason> {
        self.seeks = false;
        self.solutions += 1;
        match machine.lead(marking, &self.lead.bounds, context) {
            Ok(Some(firings)) => {
                let steps = steps(&firings);
                self.left = firings.into_iter().collect();
                Ok(Some(steps))
            }
            Ok(None) | Err(Stop::Stopped(StopReason::Inconclusive) | Stop::Fault(_)) => Ok(None),
            Err(Stop::Stopped(reason)) => Err(reason),
        }
    }
}

/// How many steps a walk along a solution takes at most: some of them lead elsewhere.
fn steps(firings: &[(u32, u64)]) -> usize {
    let firings: u64 = firings.iter().map(|(_, times)| times).sum();
    usize::try_from(firings.saturating_mul(2).saturating_add(100)).unwrap_or(usize::MAX)
}

impl Machine {
    /// The run that fires these transitions, without detours that come back to a marking.
    pub(super) fn run(&self, path: &[u32]) -> NetRun {
        let path = if path.len() <= LONGEST_SHORTENED { self.without_loops(path) } else { path.to_vec() };
        NetRun { initial_choice: Vec::new(), firings: self.firings(&path) }
    }

    /// The steps that fire these transitions in order.
    pub(super) fn firings(&self, path: &[u32]) -> Vec<(RunStep, Count)> {
        let mut firings: Vec<(RunStep, Count)> = Vec::new();
        for transition in path {
            let step = RunStep::Fire(TransitionId(*transition));
            match firings.last_mut() {
                Some((last, times)) if *last == step => *times = times.plus(&Count::ONE),
                _ => firings.push((step, Count::ONE)),
            }
        }
        firings
    }

    /// A path without what comes back to a marking. Markings are told apart by a sum of 128 bits,
    /// in which each token counts as much as its place: of large nets they would fill the memory.
    /// Where two of them have one sum, the path stays as it is.
    fn without_loops(&self, path: &[u32]) -> Vec<u32> {
        let change = |(place, change): &(u32, i64)| weight(*place).wrapping_mul(i128::from(*change).cast_unsigned());
        let change_of =
            |transition: u32| self.changes[transition as usize].iter().map(change).fold(0, u128::wrapping_add);
        let mut first: FxHashMap<u128, usize> = FxHashMap::from_iter([(0, 0)]);
        let (mut shorter, mut sums, mut sum) = (Vec::new(), vec![0], 0_u128);
        for transition in path {
            sum = sum.wrapping_add(change_of(*transition));
            if let Some(length) = first.get(&sum).copied() {
                for dropped in sums.drain(length + 1..) {
                    first.remove(&dropped);
                }
                shorter.truncate(length);
            } else {
                first.insert(sum, sums.len());
                sums.push(sum);
                shorter.push(*transition);
            }
        }
        if self.after(&shorter) == self.after(path) { shorter } else { path.to_vec() }
    }

    /// The marking after a path; nothing where one of its transitions cannot fire.
    fn after(&self, path: &[u32]) -> Option<Vec<u32>> {
        let mut marking = self.initial.clone();
        for transition in path {
            let needs = &self.needs[*transition as usize];
            if needs.iter().any(|(place, count)| marking[*place as usize] < *count) {
                return None;
            }
            for (place, change) in &self.changes[*transition as usize] {
                let own = &mut marking[*place as usize];
                *own = u32::try_from(i64::from(*own) + change).ok()?;
            }
        }
        Some(marking)
    }
}

/// What a token counts in the sum of a marking: bits that look random, by splitmix64
/// [Steele et al., OOPSLA 2014].
fn weight(place: u32) -> u128 {
    let mixed = |number: u64| {
        let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ number >> 31
    };
    let place = 2 * u64::from(place);
    u128::from(mixed(place + 1)) << 64 | u128::from(mixed(place + 2))
}
