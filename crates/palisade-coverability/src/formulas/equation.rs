//! Conditions against the state equation: a tree of cases, each refuted by a linear program.
//!
//! Every reachable marking is `m0 + C·x` with `x ≥ 0`. A conjunction of inequalities that no such
//! marking satisfies has Farkas weights, which are found by generating the constraints of
//! transitions as they are violated, as for coverability
//! ([`state_equation`](crate::state_equation)). Where there are none, the solution for the marking
//! shows how to go on: a trap that is marked initially and empty in it [EM00] gives a further
//! inequality, a disjunction that it violates is split, and a place with a part of a token is cut
//! into two cases, as tokens are whole. Before all that, disjunctions of inequalities whose sums
//! have least values are relaxed to one inequality; on safe nets this is what makes deadlock a
//! linear question [ME96].

use super::folded::{Folded, Named};
use super::machine::Machine;
use super::observed::explicit;
use super::observers::{EPSILON, Observers, float};
use crate::Context;
use crate::number::Stop;
use crate::state_equation::optimize;
use crate::traps::Traps;
use good_lp::{Expression, ProblemVariables, Solution, Variable, variable};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, ToPrimitive};
use palisade_evidence::{LinearCase, LinearProof, Observer};
use palisade_model::limits::StopReason;
use palisade_model::net::{Formula, LinearBound, Net, PlaceId};
use std::collections::BTreeMap;

/// Cases inside each other; evidence is read by recursion.
const DEEPEST: usize = 30;

/// Traps of a proof.
const MOST_TRAPS: usize = 60;

/// Disjunctions of a condition that are relaxed.
const MOST_RELAXED: usize = 3_000;

/// What came of a condition.
pub(super) enum Equated {
    /// No marking that satisfies it can be reached.
    Refuted(LinearProof),
    /// The state equation has a solution that satisfies it.
    Solution(Lead),
}

/// A solution of the state equation, for walks to follow.
#[derive(Clone, Debug, Default)]
pub(super) struct Lead {
    /// How often transitions fire.
    pub(super) firings: Vec<(u32, u64)>,
    /// The inequalities that its marking satisfies.
    pub(super) bounds: Vec<LinearBound>,
}

/// A fact of a case.
#[derive(Clone)]
pub(super) enum Fact {
    Bound(LinearBound),
    Choice(Vec<Formula>),
}

/// A search for a proof.
pub(super) struct Prover<'a, 'm> {
    net: &'a Net,
    pub(super) machine: &'m Machine,
    pub(super) observers: &'a mut Observers<'m>,
    /// Whether each transition can fire at all.
    pub(super) fires: Vec<bool>,
    /// The places that no run marks.
    siphon: Vec<PlaceId>,
    pub(super) traps: Vec<Vec<u32>>,
    /// The arcs by which sets of places are no traps, once they are asked for.
    arcs: Option<Traps>,
    /// The transitions whose constraints were needed so far.
    pub(super) rows: Vec<u32>,
    /// How the condition names places.
    pub(super) named: Vec<Named>,
    /// The net without places that need no variables, where programs are large.
    pub(super) folded: Option<Folded>,
    /// Whether programs are large.
    pub(super) is_large: bool,
    /// The last solution.
    lead: Lead,
}

impl<'a, 'm> Prover<'a, 'm> {
    /// Nothing known yet. The siphon is that of places that no run marks, and `fires` says for each
    /// transition whether it can do without them.
    pub(super) fn new(
        net: &'a Net,
        machine: &'m Machine,
        observers: &'a mut Observers<'m>,
        siphon: &[PlaceId],
    ) -> Self {
        let mut is_empty = vec![false; machine.initial.len()];
        siphon.iter().for_each(|place| is_empty[place.index()] = true);
        let fires =
            machine.needs.iter().map(|needs| !needs.iter().any(|(place, _)| is_empty[*place as usize])).collect();
        Self {
            net,
            machine,
            observers,
            fires,
            siphon: siphon.to_vec(),
            traps: Vec::new(),
            arcs: None,
            rows: Vec::new(),
            named: vec![Named::No; machine.initial.len()],
            folded: None,
            is_large: false,
            lead: Lead::default(),
        }
    }

    /// Refutes a condition, or gives the solution at which the method ends.
    pub(super) fn decide(mut self, goal: &Formula, context: &Context) -> Result<Equated, StopReason> {
        let mut facts = Vec::new();
        learn(&explicit(self.net, goal), &mut facts);
        let relaxed = self.relax(&mut facts, context)?;
        facts.iter().for_each(|fact| self.name(fact));
        let case = match self.prove(&mut facts, 0, context) {
            Ok(case) => case,
            Err(Stop::Stopped(StopReason::Inconclusive) | Stop::Fault(_)) => None,
            Err(Stop::Stopped(reason)) => return Err(reason),
        };
        let Some(case) = case else { return Ok(Equated::Solution(self.lead)) };
        let root = match relaxed.is_empty() {
            true => case,
            false => LinearCase::Relaxed { facts: relaxed, case: Box::new(case) },
        };
        let places = |trap: &Vec<u32>| trap.iter().map(|place| PlaceId(*place)).collect();
        let traps = self.traps.iter().map(places).collect();
        Ok(Equated::Refuted(LinearProof { siphon: self.siphon, traps, root }))
    }

    /// Relaxes the choices of inequalities whose sums have least values.
    fn relax(&mut self, facts: &mut Vec<Fact>, context: &Context) -> Result<Vec<(usize, Vec<Observer>)>, StopReason> {
        let mut relaxed = Vec::new();
        for number in 0..facts.len() {
            let Fact::Choice(parts) = &facts[number] else { continue };
            if parts.len() < 2 || relaxed.len() >= MOST_RELAXED {
                continue;
            }
            let bounds: Option<Vec<LinearBound>> = parts
                .iter()
                .map(|part| match part {
                    Formula::AtLeast(bound) => Some(bound.clone()),
                    _ => None,
                })
                .collect();
            let Some(bounds) = bounds else { continue };
            let mut rows: Vec<(Observer, BigInt, BigInt)> = Vec::new();
            for bound in &bounds {
                match self.observers.get(&bound.terms, context)? {
                    Some((observer, low)) if low < bound.bound => {
                        let difference = &bound.bound - &low;
                        rows.push((observer, low, difference));
                    }
                    _ => break,
                }
            }
            if rows.len() < bounds.len() {
                continue;
            }
            let common = rows.iter().fold(BigInt::one(), |common, (_, _, difference)| common.lcm(difference));
            let mut sum = common.clone();
            let mut terms = Vec::new();
            for (bound, (_, low, difference)) in bounds.iter().zip(&rows) {
                let factor = &common / difference;
                sum += low * &factor;
                terms.extend(bound.terms.iter().map(|(place, weight)| (*place, weight * &factor)));
            }
            relaxed.push((number, rows.into_iter().map(|(observer, _, _)| observer).collect()));
            facts.push(Fact::Bound(LinearBound::new(terms, sum)));
        }
        Ok(relaxed)
    }

    /// A case that refutes the facts; nothing where the method ends. The facts are the same
    /// afterwards.
    fn prove(&mut self, facts: &mut Vec<Fact>, depth: usize, context: &Context) -> Result<Option<LinearCase>, Stop> {
        loop {
            context.check()?;
            if let Some(contradiction) = self.contradiction(facts, context)? {
                return Ok(Some(LinearCase::Refuted(contradiction)));
            }
            let marking = self.solve(facts, context)?;
            if self.traps.len() < MOST_TRAPS
                && let Some(trap) = self.trap(&marking)
                && !self.traps.contains(&trap)
            {
                self.name_all(trap.iter().map(|place| (*place, Named::Many)));
                self.traps.push(trap);
                continue;
            }
            if depth >= DEEPEST {
                return Ok(None);
            }
            if let Some(number) = violated(facts, &marking) {
                return self.split(number, facts, depth, context);
            }
            return self.cut(&marking, facts, depth, context);
        }
    }

    fn split(
        &mut self,
        number: usize,
        facts: &mut Vec<Fact>,
        depth: usize,
        context: &Context,
    ) -> Result<Option<LinearCase>, Stop> {
        let Fact::Choice(parts) = facts[number].clone() else { unreachable!("only choices are split") };
        let before = facts.len();
        let mut cases = Vec::new();
        for part in &parts {
            learn(part, facts);
            let case = self.prove(facts, depth + 1, context);
            facts.truncate(before);
            match case? {
                Some(case) => cases.push(case),
                None => return Ok(None),
            }
        }
        Ok(Some(LinearCase::Split { fact: number, cases }))
    }

    /// Two cases for a place with a part of a token.
    fn cut(
        &mut self,
        marking: &[f64],
        facts: &mut Vec<Fact>,
        depth: usize,
        context: &Context,
    ) -> Result<Option<LinearCase>, Stop> {
        let part = |count: f64| (count - count.round()).abs();
        let mut fractional = (0u32..).zip(marking).filter(|(_, count)| part(**count) > 1e-3);
        let Some(first) = fractional.next() else { return Ok(None) };
        let (place, count) =
            fractional.fold(first, |best, next| if part(*next.1) > part(*best.1) { next } else { best });
        #[allow(clippy::cast_possible_truncation, reason = "any whole number makes a sound cut")]
        let bound =
            LinearBound { terms: vec![(PlaceId(place), BigInt::one())], bound: BigInt::from(count.ceil() as i64) };
        let before = facts.len();
        let mut cases = Vec::new();
        for fact in [bound.clone(), bound.contrary()] {
            let fact = Fact::Bound(fact);
            self.name(&fact);
            facts.push(fact);
            let case = self.prove(facts, depth + 1, context);
            facts.truncate(before);
            match case? {
                Some(case) => cases.push(case),
                None => return Ok(None),
            }
        }
        let cases: [LinearCase; 2] = cases.try_into().expect("there are two cases");
        Ok(Some(LinearCase::Cut { bound, cases: Box::new(cases) }))
    }

    /// The marking of a solution of the state equation that satisfies the inequalities among the
    /// facts and the traps, with few firings.
    fn solve(&mut self, facts: &[Fact], context: &Context) -> Result<Vec<f64>, Stop> {
        let mut variables = ProblemVariables::new();
        let rows = self.rows.iter().copied().filter(|row| !self.changes(*row).is_empty());
        let firings: Vec<(u32, Variable)> = rows.map(|row| (row, variables.add(variable().min(0.0)))).collect();
        let after = effects(firings.iter().copied(), |transition| self.changes(transition));
        let initial = |place: u32| self.initial(place as usize);
        let mut constraints: Vec<_> =
            after.iter().map(|(place, change)| change.clone().geq(-initial(*place))).collect();
        let mut ask = |terms: &[(u32, f64)], bound: f64| {
            let mut sum = Expression::default();
            let mut own = 0.0;
            for (place, weight) in terms {
                own += weight * initial(*place);
                if let Some(change) = after.get(place) {
                    sum += change.clone() * *weight;
                }
            }
            constraints.push(sum.geq(bound - own));
        };
        for (_, bound) in bounds(facts) {
            let terms: Vec<(u32, f64)> =
                bound.terms.iter().map(|(place, weight)| (place.0, weight.to_f64().unwrap_or(f64::NAN))).collect();
            ask(&terms, bound.bound.to_f64().unwrap_or(f64::NAN));
        }
        for trap in &self.traps {
            let terms: Vec<(u32, f64)> = trap.iter().map(|place| (*place, 1.0)).collect();
            ask(&terms, 1.0);
        }
        let objective: Expression = firings.iter().map(|(_, firing)| *firing).sum();
        let solution = optimize(&variables, &objective, &constraints, context)?;
        let solution = solution.ok_or(Stop::Stopped(StopReason::Inconclusive))?;
        let mut marking: Vec<f64> = vec![0.0; self.machine.initial.len()];
        let tokens = |place: &u32| initial(*place) + after.get(place).map_or(0.0, |change| solution.eval(change));
        self.each_left(|place| marking[place as usize] = tokens(&place));
        let mut times = vec![0.0; self.machine.changes.len()];
        firings.iter().for_each(|(transition, firing)| times[*transition as usize] = solution.value(*firing));
        if let Some(folded) = &self.folded {
            folded.fire(&mut times).into_iter().for_each(|(place, tokens)| marking[place as usize] = tokens);
        }
        let bounds = bounds(facts).map(|(_, bound)| bound.clone()).collect();
        self.lead = Lead { firings: rounded((0u32..).zip(times)), bounds };
        Ok(marking)
    }

    /// The largest trap among the places that are empty in a marking, if it is marked initially.
    fn trap(&mut self, marking: &[f64]) -> Option<Vec<u32>> {
        let mut inside: Vec<bool> = marking.iter().map(|count| *count <= EPSILON).collect();
        let arcs = self.arcs.get_or_insert_with(|| {
            Traps::of(self.net, |transition| self.fires[transition], inside.len(), |place| Some(place.0))
        });
        arcs.shrink(&mut inside);
        let places = (0u32..).zip(&inside).filter(|(_, inside)| **inside).map(|(place, _)| place);
        let trap: Vec<u32> = places.collect();
        trap.iter().any(|place| self.machine.initial[*place as usize] > 0).then_some(trap)
    }
}

/// For each place that firings change the sum of their effects.
fn effects<'c>(
    firings: impl Iterator<Item = (u32, Variable)>,
    changes: impl Fn(u32) -> &'c [(u32, i64)],
) -> BTreeMap<u32, Expression> {
    let mut after: BTreeMap<u32, Expression> = BTreeMap::new();
    for (transition, firing) in firings {
        for (place, change) in changes(transition) {
            after.entry(*place).or_default().add_mul(float(*change), firing);
        }
    }
    after
}

impl Machine {
    /// How often transitions fire in a shortest solution of the state equation from a marking to
    /// one that satisfies these inequalities.
    pub(super) fn lead(
        &self,
        marking: &[u32],
        bounds: &[LinearBound],
        context: &Context,
    ) -> Result<Option<Vec<(u32, u64)>>, Stop> {
        let mut variables = ProblemVariables::new();
        let transitions = 0..u32::try_from(self.changes.len()).unwrap_or(u32::MAX);
        let firings: Vec<(u32, Variable)> =
            transitions.map(|transition| (transition, variables.add(variable().min(0.0)))).collect();
        let after = effects(firings.iter().copied(), |transition| &self.changes[transition as usize]);
        let tokens = |place: u32| f64::from(marking[place as usize]);
        let mut constraints: Vec<_> = after.iter().map(|(place, sum)| sum.clone().geq(-tokens(*place))).collect();
        for bound in bounds {
            let mut sum = Expression::default();
            let mut least = bound.bound.to_f64().unwrap_or(f64::NAN);
            for (place, weight) in &bound.terms {
                let weight = weight.to_f64().unwrap_or(f64::NAN);
                least -= weight * tokens(place.0);
                if let Some(change) = after.get(&place.0) {
                    sum += change.clone() * weight;
                }
            }
            constraints.push(sum.geq(least));
        }
        let objective: Expression = firings.iter().map(|(_, firing)| *firing).sum();
        let solution = optimize(&variables, &objective, &constraints, context)?;
        Ok(solution.map(|solution| rounded(firings.iter().map(|(own, firing)| (*own, solution.value(*firing))))))
    }
}

/// The firings of a solution as whole numbers; it is a hint.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a hint")]
fn rounded(firings: impl Iterator<Item = (u32, f64)>) -> Vec<(u32, u64)> {
    let whole = |times: f64| (times - 1e-6).ceil().clamp(0.0, 1e12) as u64;
    firings.map(|(transition, times)| (transition, whole(times))).filter(|(_, times)| *times > 0).collect()
}

/// The inequalities among facts, with their numbers.
pub(super) fn bounds(facts: &[Fact]) -> impl Iterator<Item = (usize, &LinearBound)> {
    facts.iter().enumerate().filter_map(|(number, fact)| match fact {
        Fact::Bound(bound) => Some((number, bound)),
        Fact::Choice(_) => None,
    })
}

/// Adds what a condition without deadlock says to the facts.
pub(super) fn learn(goal: &Formula, facts: &mut Vec<Fact>) {
    match goal {
        Formula::Constant(true) => {}
        Formula::Constant(false) => facts.push(Fact::Bound(LinearBound { terms: Vec::new(), bound: BigInt::one() })),
        Formula::AtLeast(bound) => facts.push(Fact::Bound(bound.clone())),
        Formula::All(parts) => parts.iter().for_each(|part| learn(part, facts)),
        Formula::Any(parts) => facts.push(Fact::Choice(parts.clone())),
        Formula::Deadlock => unreachable!("deadlock has been written out"),
    }
}

/// The choice with the fewest parts that a marking satisfies in none of them.
fn violated(facts: &[Fact], marking: &[f64]) -> Option<usize> {
    let open = facts.iter().enumerate().filter_map(|(number, fact)| match fact {
        Fact::Choice(parts) if !parts.iter().any(|part| is_near(part, marking)) => Some((parts.len(), number)),
        _ => None,
    });
    open.min().map(|(_, number)| number)
}

/// Whether a marking of floating-point numbers satisfies a condition, up to their precision.
fn is_near(goal: &Formula, marking: &[f64]) -> bool {
    match goal {
        Formula::Constant(value) => *value,
        Formula::AtLeast(bound) => {
            let sum: f64 = bound
                .terms
                .iter()
                .map(|(place, weight)| marking[place.index()] * weight.to_f64().unwrap_or(f64::NAN))
                .sum();
            sum >= bound.bound.to_f64().unwrap_or(f64::NAN) - 1e-6
        }
        Formula::All(parts) => parts.iter().all(|part| is_near(part, marking)),
        Formula::Any(parts) => parts.iter().any(|part| is_near(part, marking)),
        Formula::Deadlock => unreachable!("deadlock has been written out"),
    }
}
