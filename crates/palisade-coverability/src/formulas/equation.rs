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

use super::machine::Machine;
use super::observed::explicit;
use super::observers::{EPSILON, Observers, dense, float, sparse};
use crate::Context;
use crate::number::Stop;
use crate::state_equation::{Row, Solved, integers, optimize};
use crate::traps::Traps;
use good_lp::{Expression, ProblemVariables, Solution, Variable, variable};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};
use palisade_evidence::{Contradiction, LinearCase, LinearProof, Observer};
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
enum Fact {
    Bound(LinearBound),
    Choice(Vec<Formula>),
}

/// A search for a proof.
pub(super) struct Prover<'a, 'm> {
    net: &'a Net,
    machine: &'m Machine,
    observers: &'a mut Observers<'m>,
    /// Whether each transition can fire at all.
    fires: Vec<bool>,
    /// The places that no run marks.
    siphon: Vec<PlaceId>,
    traps: Vec<Vec<u32>>,
    /// The arcs by which sets of places are no traps, once they are asked for.
    arcs: Option<Traps>,
    /// The transitions whose constraints were needed so far.
    rows: Vec<u32>,
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
        let (traps, rows, lead) = (Vec::new(), Vec::new(), Lead::default());
        Self { net, machine, observers, fires, siphon: siphon.to_vec(), traps, arcs: None, rows, lead }
    }

    /// Refutes a condition, or gives the solution at which the method ends.
    pub(super) fn decide(mut self, goal: &Formula, context: &Context) -> Result<Equated, StopReason> {
        let mut facts = Vec::new();
        learn(&explicit(self.net, goal), &mut facts);
        let relaxed = self.relax(&mut facts, context)?;
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
            facts.push(Fact::Bound(fact));
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

    /// Weights by which the inequalities among the facts and the traps contradict each other.
    fn contradiction(&mut self, facts: &[Fact], context: &Context) -> Result<Option<Contradiction>, Stop> {
        let places = self.machine.initial.len();
        let bounds: Vec<(usize, &LinearBound)> = bounds(facts).collect();
        let multiplied: Vec<(Vec<(usize, f64)>, f64)> = bounds
            .iter()
            .map(|(_, bound)| {
                let terms =
                    bound.terms.iter().map(|(place, weight)| (place.index(), weight.to_f64().unwrap_or(f64::NAN)));
                (terms.collect(), bound.bound.to_f64().unwrap_or(f64::NAN))
            })
            .chain(self.traps.iter().map(|trap| (trap.iter().map(|place| (*place as usize, 1.0)).collect(), 1.0)))
            .collect();
        // For each place the multipliers that weigh it.
        let mut of_place: Vec<Vec<(usize, f64)>> = vec![Vec::new(); places];
        for (number, (terms, _)) in multiplied.iter().enumerate() {
            terms.iter().for_each(|(place, weight)| of_place[*place].push((places + number, *weight)));
        }
        let row = |transition: u32| -> Row {
            let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
            for (place, change) in &self.machine.changes[transition as usize] {
                *sums.entry(*place as usize).or_default() += float(*change);
                for (column, weight) in &of_place[*place as usize] {
                    *sums.entry(*column).or_default() += weight * float(*change);
                }
            }
            sums.into_iter().filter(|(_, sum)| *sum != 0.0).collect()
        };
        let initial = |place: usize| f64::from(self.machine.initial[place]);
        let mut gain: Row =
            (0..places).map(|place| (place, -initial(place))).filter(|(_, gain)| *gain != 0.0).collect();
        for (number, (terms, bound)) in multiplied.iter().enumerate() {
            let own: f64 = terms.iter().map(|(place, weight)| weight * initial(*place)).sum();
            if bound - own != 0.0 {
                gain.push((places + number, bound - own));
            }
        }
        #[allow(clippy::cast_precision_loss, reason = "an inequality has few terms")]
        let sizes = multiplied.iter().map(|(terms, _)| 1.0 + terms.len() as f64);
        let costs = (0..places).map(|_| 1.0).chain(sizes);
        let mut is_row = vec![false; self.machine.changes.len()];
        self.rows.iter().for_each(|row| is_row[*row as usize] = true);
        let known = self.rows.clone();
        let mut solved = Solved::new(costs, gain, known.into_iter().map(row), context)?;
        loop {
            let Some(program) = solved else { return Ok(None) };
            let mut sums: Vec<f64> = (0..places).map(|place| program.value(place)).collect();
            for (number, (terms, _)) in multiplied.iter().enumerate() {
                let multiplier = program.value(places + number);
                terms.iter().for_each(|(place, weight)| sums[*place] += multiplier * weight);
            }
            context.count_work(places + self.machine.changes.len());
            context.count_iterations(1);
            match self.observers.deepest(&sums, &is_row, |transition| self.fires[transition as usize]) {
                Some(transition) => {
                    is_row[transition as usize] = true;
                    self.rows.push(transition);
                    solved = program.with(row(transition), context)?;
                }
                None => {
                    let value = |column: usize| Some(program.value(column)).filter(|value| *value > EPSILON);
                    let weights: Vec<(u32, f64)> =
                        (0u32..).zip(0..places).filter_map(|(number, place)| Some((number, value(place)?))).collect();
                    let multipliers: Vec<f64> =
                        (0..multiplied.len()).map(|number| value(places + number).unwrap_or(0.0)).collect();
                    let found = integers(&weights, &multipliers)
                        .find_map(|(weights, multipliers)| self.assemble(&bounds, weights, multipliers));
                    return found.map(Some).ok_or(Stop::Stopped(StopReason::Inconclusive));
                }
            }
        }
    }

    /// The contradiction with these weights and multipliers, if it is one.
    fn assemble(
        &self,
        bounds: &[(usize, &LinearBound)],
        weights: Vec<(u32, BigInt)>,
        multipliers: Vec<BigInt>,
    ) -> Option<Contradiction> {
        let mut sums = dense(&[], self.machine.initial.len());
        weights.into_iter().for_each(|(place, weight)| sums[place as usize] = weight);
        let mut least = BigInt::zero();
        let (mut facts, mut traps) = (Vec::new(), Vec::new());
        let mut multipliers = multipliers.into_iter();
        for ((number, bound), multiplier) in bounds.iter().zip(multipliers.by_ref()).filter(|(_, it)| !it.is_zero()) {
            least += &multiplier * &bound.bound;
            bound.terms.iter().for_each(|(place, weight)| sums[place.index()] += &multiplier * weight);
            facts.push((*number, multiplier));
        }
        for (number, multiplier) in multipliers.enumerate().filter(|(_, multiplier)| !multiplier.is_zero()) {
            least += &multiplier;
            self.traps[number].iter().for_each(|place| sums[*place as usize] += &multiplier);
            traps.push((number, multiplier));
        }
        let holds = self.machine.is_never_increased(&sums, |transition| self.fires[transition as usize])
            && least > self.machine.weigh(&sums);
        holds.then(|| Contradiction { weights: sparse(sums), facts, traps })
    }

    /// The marking of a solution of the state equation that satisfies the inequalities among the
    /// facts and the traps, with few firings.
    fn solve(&mut self, facts: &[Fact], context: &Context) -> Result<Vec<f64>, Stop> {
        let mut variables = ProblemVariables::new();
        let firings: Vec<Variable> = self.rows.iter().map(|_| variables.add(variable().min(0.0))).collect();
        let after = self.machine.effects(self.rows.iter().copied().zip(firings.iter().copied()));
        let initial = |place: u32| f64::from(self.machine.initial[place as usize]);
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
        let objective: Expression = firings.iter().sum();
        let solution = optimize(&variables, &objective, &constraints, context)?;
        let solution = solution.ok_or(Stop::Stopped(StopReason::Inconclusive))?;
        let fired = self.rows.iter().copied().zip(firings.iter().copied());
        let bounds = bounds(facts).map(|(_, bound)| bound.clone()).collect();
        self.lead = Lead { firings: rounded(fired, &solution), bounds };
        let places = u32::try_from(self.machine.initial.len()).unwrap_or(u32::MAX);
        Ok((0..places)
            .map(|place| initial(place) + after.get(&place).map_or(0.0, |change| solution.eval(change)))
            .collect())
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

impl Machine {
    /// For each place that firings change the sum of their effects.
    fn effects(&self, firings: impl Iterator<Item = (u32, Variable)>) -> BTreeMap<u32, Expression> {
        let mut after: BTreeMap<u32, Expression> = BTreeMap::new();
        for (transition, firing) in firings {
            for (place, change) in &self.changes[transition as usize] {
                after.entry(*place).or_default().add_mul(float(*change), firing);
            }
        }
        after
    }

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
        let after = self.effects(firings.iter().copied());
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
        Ok(solution.map(|solution| rounded(firings.iter().copied(), &solution)))
    }
}

/// The firings of a solution as whole numbers; it is a hint.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a hint")]
fn rounded(firings: impl Iterator<Item = (u32, Variable)>, solution: &impl Solution) -> Vec<(u32, u64)> {
    let times = |firing| (solution.value(firing) - 1e-6).ceil().clamp(0.0, 1e12) as u64;
    firings.map(|(transition, firing)| (transition, times(firing))).filter(|(_, times)| *times > 0).collect()
}

/// The inequalities among facts, with their numbers.
fn bounds(facts: &[Fact]) -> impl Iterator<Item = (usize, &LinearBound)> {
    facts.iter().enumerate().filter_map(|(number, fact)| match fact {
        Fact::Bound(bound) => Some((number, bound)),
        Fact::Choice(_) => None,
    })
}

/// Adds what a condition without deadlock says to the facts.
fn learn(goal: &Formula, facts: &mut Vec<Fact>) {
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
