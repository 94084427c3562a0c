//! Proofs from the state equation: a tree of cases, each of which ends in facts that contradict
//! each other.

use super::super::arcs::ArcIndex;
use super::super::separator::{Siphon, check_inequality, check_trap};
use super::observer::lowest;
use super::{check_bound, check_formula};
use crate::CheckFailure;
use crate::failure::reject;
use hashbrown::HashMap;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed};
use palisade_evidence::{Contradiction, LinearCase, LinearProof, Observer};
use palisade_model::net::{Formula, LinearBound, Net, PlaceId, Problem};

/// Cases inside each other more often than this are answered by rejection.
const DEEPEST: usize = 500;

/// Checks that every case contradicts itself.
pub(super) fn check(problem: &Problem, goal: &Formula, proof: &LinearProof) -> Result<(), CheckFailure> {
    let arcs = ArcIndex::new(&problem.net);
    let siphon = Siphon::check(problem, &arcs, &proof.siphon)?;
    for (index, trap) in proof.traps.iter().enumerate() {
        check_trap(problem, &arcs, &siphon, trap, &format!("trap {index}"))?;
    }
    let checker = Checker { problem, arcs, siphon, traps: &proof.traps };
    let mut facts = Vec::new();
    learn(&problem.net, goal, &mut facts);
    checker.check(&proof.root, &mut facts, 0)
}

/// What a case knows.
#[derive(Clone)]
enum Fact {
    Bound(LinearBound),
    /// One of these.
    Choice(Vec<Formula>),
}

/// Adds what a condition says to the facts.
fn learn(net: &Net, formula: &Formula, facts: &mut Vec<Fact>) {
    match formula {
        Formula::Constant(true) => {}
        Formula::Constant(false) => {
            facts.push(Fact::Bound(LinearBound { terms: Vec::new(), bound: BigInt::one() }));
        }
        Formula::AtLeast(bound) => facts.push(Fact::Bound(bound.clone())),
        Formula::All(parts) => parts.iter().for_each(|part| learn(net, part, facts)),
        Formula::Any(parts) => facts.push(Fact::Choice(parts.clone())),
        Formula::Deadlock => {
            for transition in &net.transitions {
                let lacks = transition.pre.iter().map(|(place, count)| {
                    // m(p) ≤ count − 1.
                    let bound = BigInt::one() - BigInt::from(count.to_big());
                    Formula::AtLeast(LinearBound { terms: vec![(*place, -BigInt::one())], bound })
                });
                facts.push(Fact::Choice(lacks.collect()));
            }
        }
    }
}

struct Checker<'a> {
    problem: &'a Problem,
    arcs: ArcIndex,
    siphon: Siphon,
    traps: &'a [Vec<PlaceId>],
}

impl Checker<'_> {
    /// Checks a case; the facts are the same afterwards.
    fn check(&self, case: &LinearCase, facts: &mut Vec<Fact>, depth: usize) -> Result<(), CheckFailure> {
        if depth > DEEPEST {
            reject!(Form, "cases are nested more than {DEEPEST} levels deep");
        }
        let before = facts.len();
        match case {
            LinearCase::Refuted(contradiction) => self.check_contradiction(contradiction, facts)?,
            LinearCase::Split { fact, cases } => {
                let parts = choice(facts, *fact)?;
                if cases.len() != parts.len() {
                    reject!(Form, "{} cases for a choice of {}", cases.len(), parts.len());
                }
                for (part, case) in parts.iter().zip(cases) {
                    learn(&self.problem.net, part, facts);
                    self.check(case, facts, depth + 1)?;
                    facts.truncate(before);
                }
            }
            LinearCase::Cut { bound, cases } => {
                check_bound(self.problem, bound)?;
                for (bound, case) in [bound.clone(), bound.contrary()].into_iter().zip(cases.iter()) {
                    facts.push(Fact::Bound(bound));
                    self.check(case, facts, depth + 1)?;
                    facts.truncate(before);
                }
            }
            LinearCase::Relaxed { facts: relaxed, case } => {
                for (fact, observers) in relaxed {
                    let parts = choice(facts, *fact)?;
                    facts.push(Fact::Bound(self.relaxed(&parts, observers)?));
                }
                self.check(case, facts, depth + 1)?;
                facts.truncate(before);
            }
        }
        Ok(())
    }

    /// The inequality that follows from a choice of inequalities and the least values of their
    /// sums.
    fn relaxed(&self, parts: &[Formula], observers: &[Observer]) -> Result<LinearBound, CheckFailure> {
        if parts.len() != observers.len() {
            reject!(Form, "{} observers for a choice of {}", observers.len(), parts.len());
        }
        let mut rows = Vec::new();
        let mut common = BigInt::one();
        for (number, (part, observer)) in parts.iter().zip(observers).enumerate() {
            check_formula(self.problem, part, 0)?;
            let Formula::AtLeast(bound) = part else { reject!(Form, "part {number} of a choice is no inequality") };
            let what = format!("observer {number}");
            let low = lowest(self.problem, &self.arcs, &self.siphon, &bound.terms, observer, &what)?;
            let difference = &bound.bound - &low;
            if !difference.is_positive() {
                reject!(Safe, "part {number} of a choice always holds");
            }
            common = common.lcm(&difference);
            rows.push((bound, low, difference));
        }
        let mut sum = common.clone();
        let mut terms = Vec::new();
        for (bound, low, difference) in rows {
            let factor = &common / difference;
            sum += low * &factor;
            terms.extend(bound.terms.iter().map(|(place, weight)| (*place, weight * &factor)));
        }
        Ok(LinearBound::new(terms, sum))
    }

    fn check_contradiction(&self, contradiction: &Contradiction, facts: &[Fact]) -> Result<(), CheckFailure> {
        let Contradiction { weights, facts: used, traps } = contradiction;
        let most = check_inequality(self.problem, &self.arcs, &self.siphon, weights, "contradiction")?;
        let mut rest: HashMap<PlaceId, BigInt> = weights.iter().cloned().collect();
        let mut least = BigInt::ZERO;
        for (number, multiplier) in used {
            let Some(Fact::Bound(bound)) = facts.get(*number) else { reject!(Form, "fact {number} is no inequality") };
            if multiplier.is_negative() {
                reject!(Form, "the multiplier of fact {number} is negative");
            }
            least += multiplier * &bound.bound;
            for (place, weight) in &bound.terms {
                *rest.entry(*place).or_default() -= multiplier * weight;
            }
        }
        for (number, multiplier) in traps {
            let Some(trap) = self.traps.get(*number) else { reject!(Form, "there is no trap {number}") };
            if multiplier.is_negative() {
                reject!(Form, "the multiplier of trap {number} is negative");
            }
            least += multiplier;
            for place in trap {
                *rest.entry(*place).or_default() -= multiplier;
            }
        }
        let negative = rest.iter().filter(|(place, rest)| rest.is_negative() && !self.siphon.has(**place));
        if let Some(place) = negative.map(|(place, _)| *place).min() {
            reject!(Safe, "contradiction: the weight of place {place} is too small");
        }
        if least <= most {
            reject!(Safe, "no contradiction: the facts ask for {least}, and {most} is possible");
        }
        Ok(())
    }
}

/// The parts of a fact that is a choice.
fn choice(facts: &[Fact], number: usize) -> Result<Vec<Formula>, CheckFailure> {
    match facts.get(number) {
        Some(Fact::Choice(parts)) => Ok(parts.clone()),
        _ => reject!(Form, "fact {number} is no choice"),
    }
}
