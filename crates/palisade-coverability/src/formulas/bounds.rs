//! Upper bounds: how large a weighted sum of tokens gets.
//!
//! A bound has two sides, each a question of reachability: some marking has so much, and none has
//! more. For each sum a chain of thresholds is asked together with those of the others, from the
//! number that is known to be reached to the one that the state equation allows, in steps that
//! double. A threshold that is reached implies those below it, and one that is not those above.
//! When a chain is answered and a gap is left, new thresholds divide the gap. A sum that the state
//! equation does not bound may have no bound: then a run is sought whose end can be repeated.

use super::observers::Observers;
use super::{Machine, ReachAnswer, ReachOutcome, Search, Share};
use crate::{Options, Statistics};
use num_bigint::BigInt;
use palisade_evidence::NetRun;
use palisade_model::limits::StopReason;
use palisade_model::net::{Formula, Net, OmegaCount, UpperBound};
use std::time::Instant;

/// A sum without a bound from the state equation is not followed beyond this.
const FURTHEST: u64 = 1 << 12;

/// Thresholds of such a sum, each twice as far as the one before.
const STEPS: u32 = 12;

/// One side of a bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The threshold: `sum ≥ tokens` is the condition.
    pub tokens: BigInt,
    /// Its answer.
    pub answer: ReachAnswer,
}

/// What is known of how large a sum gets.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundAnswer {
    /// The largest number that is known to be reached.
    pub reached: Option<Side>,
    /// The least number that is known not to be reached.
    pub excluded: Option<Side>,
    /// A threshold that is reached by a run whose last step can be repeated and increases the sum:
    /// then there is no bound.
    pub unbounded: Option<Side>,
    /// Why the two do not meet.
    pub reason: Option<StopReason>,
}

impl BoundAnswer {
    /// The bound, where it is known.
    pub fn bound(&self) -> Option<&BigInt> {
        let (reached, excluded) = (self.reached.as_ref()?, self.excluded.as_ref()?);
        (reached.tokens.clone() + 1 >= excluded.tokens).then_some(&reached.tokens)
    }

    /// Whether it is known how large the sum gets.
    fn is_known(&self) -> bool {
        self.unbounded.is_some() || self.bound().is_some()
    }

    /// Seeks a run that shows that there is no bound in the one to a threshold.
    fn pump(&mut self, machine: &Machine, sum: &UpperBound, answer: &ReachAnswer) {
        if let ReachOutcome::Reachable(run) = &answer.outcome
            && self.unbounded.is_none()
            && let Some((run, tokens)) = machine.pumped(sum, run)
        {
            let answer = ReachAnswer { outcome: ReachOutcome::Reachable(run), ..answer.clone() };
            self.unbounded = Some(Side { tokens: tokens.into(), answer });
        }
    }

    /// Takes an answer about a threshold.
    fn take(&mut self, tokens: &BigInt, answer: ReachAnswer) {
        let (side, is_better): (_, fn(&BigInt, &BigInt) -> bool) = match answer.outcome {
            ReachOutcome::Reachable(_) => (&mut self.reached, |new, old| new > old),
            ReachOutcome::Unreachable(_) => (&mut self.excluded, |new, old| new < old),
            ReachOutcome::Unknown(_) => return,
        };
        if side.as_ref().is_none_or(|known| is_better(tokens, &known.tokens)) {
            *side = Some(Side { tokens: tokens.clone(), answer });
        }
    }
}

/// Answers how large sums get. Each answer is handed over as soon as it is there, with the number
/// of its sum.
pub fn bound_all(net: &Net, sums: &[UpperBound], options: &Options, mut found: impl FnMut(usize, BoundAnswer)) {
    let begin = Instant::now();
    let mut known: Vec<Option<BoundAnswer>> = sums.iter().map(|sum| Some(initially(net, sum))).collect();
    let mut mosts = vec![None; sums.len()];
    let mut share = Share::FIRST;
    let reason = loop {
        let open: Vec<usize> = (0..sums.len()).filter(|sum| known[*sum].is_some()).collect();
        if open.is_empty() {
            return;
        }
        let Some(plain) = Machine::new(net, &[]) else { break StopReason::BeyondWords };
        let mut observers = Observers::new(&plain);
        let mut chains = Chains::default();
        for sum in open {
            if mosts[sum].is_none() {
                mosts[sum] = most(&sums[sum], &mut observers, share, options);
            }
            let answer = known[sum].as_ref().expect("it is open");
            chains.lay(sum, &sums[sum], thresholds(answer, mosts[sum].as_ref()));
        }
        if chains.goals.is_empty() {
            break StopReason::Inconclusive;
        }
        let Some(machine) = Machine::new(net, &chains.goals) else { break StopReason::BeyondWords };
        let mut search = Search::new(net, &chains.goals, &machine, options, begin);
        search.chains.clone_from(&chains.ranges);
        let stopped = loop {
            let stopped = search.round(&mut share, &mut |number, answer| {
                let (sum, tokens) = &chains.thresholds[number];
                let known = known[*sum].as_mut().expect("it is open");
                if mosts[*sum].is_none() {
                    known.pump(&plain, &sums[*sum], &answer);
                }
                known.take(tokens, answer);
            });
            let mut has_gap = false;
            for range in chains.each() {
                let sum = chains.thresholds[range.start].0;
                if known[sum].as_ref().is_some_and(|answer| answer.unbounded.is_some()) {
                    search.open[range.clone()].fill(false);
                }
                if search.open[range.clone()].contains(&true) {
                    continue;
                }
                match known[sum].take_if(|answer| answer.is_known()) {
                    Some(answer) => found(sum, answer),
                    None => has_gap |= known[sum].is_some(),
                }
            }
            match stopped {
                _ if has_gap && options.limits.check().is_ok() => break None,
                Some(reason) => break Some(reason),
                None => {}
            }
        };
        if let Some(reason) = stopped {
            break reason;
        }
    };
    for (sum, answer) in known.into_iter().enumerate() {
        if let Some(answer) = answer {
            found(sum, BoundAnswer { reason: Some(reason), ..answer });
        }
    }
}

/// What the initial marking says.
fn initially(net: &Net, sum: &UpperBound) -> BoundAnswer {
    let weigh = |(place, weight): &(_, BigInt)| match &net.initial[palisade_model::net::PlaceId::index(*place)] {
        OmegaCount::Finite(count) => Some(weight * BigInt::from(count.to_big())),
        OmegaCount::Omega => None,
    };
    let tokens = sum.terms.iter().map(weigh).sum::<Option<BigInt>>();
    let outcome = ReachOutcome::Reachable(NetRun { initial_choice: Vec::new(), firings: Vec::new() });
    let answer = ReachAnswer { outcome, strategy: "walk", statistics: Statistics::default() };
    BoundAnswer { reached: tokens.map(|tokens| Side { tokens, answer }), excluded: None, unbounded: None, reason: None }
}

/// The number that the state equation says a sum is never above, where it says one in time.
fn most(sum: &UpperBound, observers: &mut Observers<'_>, share: Share, options: &Options) -> Option<BigInt> {
    let negated = sum.terms.iter().map(|(place, weight)| (*place, -weight)).collect();
    let context = share.context(options);
    let (_, low) = observers.get(&negated, &context).ok()??;
    Some(-low)
}

/// The thresholds to ask about: above what is reached in steps that double, then the last that may
/// be reached and the first that may not.
fn thresholds(answer: &BoundAnswer, most: Option<&BigInt>) -> Vec<BigInt> {
    let Some(Side { tokens: least, .. }) = &answer.reached else { return Vec::new() };
    let excluded = answer.excluded.as_ref().map(|side| &side.tokens - 1);
    let most = most.cloned().into_iter().chain(excluded).min();
    let steps = (0..).map(|step| least + (BigInt::from(1) << step));
    match most {
        Some(most) if most > *least => {
            let between = steps.take_while(|threshold| *threshold < most);
            let last = [most.clone(), most.clone() + 1];
            between.chain(last).collect()
        }
        Some(most) => vec![most.max(least.clone()) + 1],
        None if *least >= BigInt::from(FURTHEST) => Vec::new(),
        None => steps.take(STEPS as usize).collect(),
    }
}

/// The conditions of all sums that are open.
#[derive(Default)]
struct Chains {
    goals: Vec<Formula>,
    /// For each condition its sum and its threshold.
    thresholds: Vec<(usize, BigInt)>,
    /// For each condition its chain.
    ranges: Vec<std::ops::Range<usize>>,
}

impl Chains {
    fn lay(&mut self, number: usize, sum: &UpperBound, thresholds: Vec<BigInt>) {
        let range = self.goals.len()..self.goals.len() + thresholds.len();
        for tokens in thresholds {
            self.goals.push(sum.at_least(tokens.clone()));
            self.thresholds.push((number, tokens));
            self.ranges.push(range.clone());
        }
    }

    /// Each chain once.
    fn each(&self) -> impl Iterator<Item = &std::ops::Range<usize>> {
        self.ranges.iter().enumerate().filter(|(number, range)| range.start == *number).map(|(_, range)| range)
    }
}
