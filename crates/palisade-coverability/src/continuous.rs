//! Continuous coverability: transitions may fire a fraction of a time.
//!
//! A run of the net is one of the continuous net, so a target that continuous runs do not cover is
//! not coverable. That is decided in polynomial time [FH15]: find the largest set of transitions
//! that a solution of the state equation can use; take away those that cannot fire when only the
//! set does, starting from the initial marking; repeat until nothing changes. The target can be
//! covered iff a solution is left. (Covering instead of reaching lets tokens be thrown away, so
//! that the condition on the end of the run holds by itself.)
//!
//! When the first program already has no solution, Farkas' lemma gives the evidence, as in
//! [`state_equation`](super::state_equation). When the answer comes later it rests on an
//! alternation of the two arguments for which there is no certificate of its own; then the pruned
//! backward search makes one.

use super::backward::Backward;
use super::compact::CompactNet;
use super::engine::{Method, Prepared};
use super::number::{Number, Stop};
use super::state_equation::{StateEquation, optimize};
use super::{Context, Outcome};
use good_lp::{Expression, ProblemVariables, Solution, Variable, variable};
use palisade_model::limits::StopReason;

/// The strategy `continuous`.
pub(super) struct Continuous;

/// What counts as more than nothing.
const EPSILON: f64 = 1e-7;

impl Method for Continuous {
    const NAME: &'static str = "continuous";

    fn run<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop> {
        let mut linear = true;
        for target in &compact.targets {
            match decide(compact, target, context)? {
                Verdict::Coverable => return Ok(Outcome::Unknown(StopReason::Inconclusive)),
                Verdict::Refuted { rounds } => linear &= rounds == 1,
            }
        }
        if linear {
            return StateEquation::run(prepared, compact, context);
        }
        Backward::run(prepared, compact, context)
    }
}

/// What the relaxation says.
enum Verdict {
    /// A continuous run covers the target.
    Coverable,
    /// None does; so many programs were needed to see it.
    Refuted { rounds: usize },
}

/// Decides continuous coverability of one target.
fn decide<N: Number>(compact: &CompactNet<N>, target: &[(u32, N)], context: &Context) -> Result<Verdict, Stop> {
    let mut allowed: Vec<u32> = (0u32..).take(compact.transitions.len()).collect();
    let mut rounds = 0;
    loop {
        context.count_iterations(1);
        rounds += 1;
        let Some(support) = largest_support(compact, target, &allowed, context)? else {
            return Ok(Verdict::Refuted { rounds });
        };
        let fireable = fireable(compact, &support);
        if fireable.len() == support.len() {
            return Ok(Verdict::Coverable);
        }
        allowed = fireable;
    }
}

/// The transitions, among those allowed, that some solution of the state equation uses; nothing
/// when there is none.
fn largest_support<N: Number>(
    compact: &CompactNet<N>,
    target: &[(u32, N)],
    allowed: &[u32],
    context: &Context,
) -> Result<Option<Vec<u32>>, Stop> {
    let mut used = vec![false; allowed.len()];
    loop {
        // Reward each transition not yet used up to one firing.
        let mut variables = ProblemVariables::new();
        let mut rewarded: Vec<Option<Variable>> = Vec::with_capacity(allowed.len());
        let mut rest: Vec<Variable> = Vec::with_capacity(allowed.len());
        for used in &used {
            rewarded.push((!used).then(|| variables.add(variable().min(0.0).max(1.0))));
            rest.push(variables.add(variable().min(0.0)));
        }
        let mut marking: Vec<Expression> = vec![Expression::default(); compact.places()];
        for ((transition, rest), rewarded) in allowed.iter().zip(&rest).zip(&rewarded) {
            for effect in compact.effects(*transition) {
                let change = coefficient(&effect.post) - coefficient(&effect.pre);
                if change != 0.0 {
                    marking[effect.place as usize].add_mul(change, *rest);
                    if let Some(rewarded) = rewarded {
                        marking[effect.place as usize].add_mul(change, *rewarded);
                    }
                }
            }
        }
        let mut demands = vec![0.0; compact.places()];
        target.iter().for_each(|(place, count)| demands[*place as usize] = coefficient(count));
        let constraints: Vec<_> = marking
            .into_iter()
            .zip(demands.iter().zip(&compact.initial))
            .map(|(change, (demand, initial))| change.geq(demand - coefficient(initial)))
            .collect();
        let mut objective = Expression::default();
        rewarded.iter().flatten().for_each(|variable| objective.add_mul(-1.0, *variable));
        let Some(solution) = optimize(&variables, &objective, &constraints, context)? else { return Ok(None) };
        let mut more = false;
        for ((used, rest), rewarded) in used.iter_mut().zip(&rest).zip(&rewarded) {
            let firings = solution.value(*rest) + rewarded.map_or(0.0, |variable| solution.value(variable));
            if !*used && firings > EPSILON {
                *used = true;
                more = true;
            }
        }
        if !more {
            return Ok(Some(allowed.iter().zip(&used).filter(|(_, used)| **used).map(|(number, _)| *number).collect()));
        }
    }
}

/// A token count as a coefficient. The evidence is exact and shows whether rounding mattered.
#[allow(clippy::cast_precision_loss, reason = "evidence is exact")]
fn coefficient<N: Number>(count: &N) -> f64 {
    count.rough() as f64
}

/// The transitions of a set that can fire, each some fraction of a time, when only the set does.
fn fireable<N: Number>(compact: &CompactNet<N>, set: &[u32]) -> Vec<u32> {
    let mut marked: Vec<bool> = compact.initial.iter().map(|count| !count.is_zero()).collect();
    let mut waiting = set.to_vec();
    let mut firing = Vec::new();
    loop {
        let (ready, rest): (Vec<u32>, Vec<u32>) = waiting.iter().partition(|number| {
            compact.effects(**number).iter().all(|effect| effect.pre.is_zero() || marked[effect.place as usize])
        });
        if ready.is_empty() {
            firing.sort_unstable();
            return firing;
        }
        for number in &ready {
            for effect in compact.effects(*number).iter().filter(|effect| !effect.post.is_zero()) {
                marked[effect.place as usize] = true;
            }
        }
        firing.extend(ready);
        waiting = rest;
    }
}
