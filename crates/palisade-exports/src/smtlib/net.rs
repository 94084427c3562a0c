//! The proof obligations of net certificates, over linear integer arithmetic.
//!
//! The certificate is turned into a predicate `inv` on markings, and the three scripts say that an
//! initial marking violates it, that a transition leads out of it, and that a marking in it covers
//! a target.

use super::Script;
use super::terms::{comment, conjunction, disjunction, integer, line, sum};
use num_bigint::BigInt;
use palisade_evidence::{Invariant, NetCertificate, OmegaMarking, Refutation, TokenMarking};
use palisade_model::net::{Count, OmegaCount, PlaceId, Problem};
use std::collections::BTreeSet;

/// The three obligations of a certificate; its ids must be those of the problem.
pub fn net_scripts(problem: &Problem, certificate: &NetCertificate) -> Vec<Script> {
    let writer = Writer { problem };
    let invariant = writer.invariant(certificate);
    let places = problem.net.places.len();

    let mut initial = writer.head("initial", "an initial marking outside the invariant", &[""]);
    for place in 0..places {
        match &problem.net.initial[place] {
            OmegaCount::Finite(count) => line(&mut initial, &format!("(assert (= m{place} {count}))")),
            OmegaCount::Omega => line(&mut initial, &format!("(assert (>= m{place} 0)) ; any number")),
        }
    }
    line(&mut initial, &format!("(assert (not {}))", invariant("")));

    let mut inductive = writer.head("inductive", "a step that leaves the invariant", &["", "_"]);
    line(&mut inductive, &format!("(assert {})", invariant("")));
    writer.assert_step(&mut inductive);
    line(&mut inductive, &format!("(assert (not {}))", invariant("_")));

    let mut safe = writer.head("safe", "a marking of the invariant that covers a target", &[""]);
    line(&mut safe, &format!("(assert {})", invariant("")));
    let targets = problem.query.targets.iter().map(|target| at_least("", &target.demands));
    line(&mut safe, &format!("(assert {})", disjunction(targets)));

    [("initial", initial), ("inductive", inductive), ("safe", safe)]
        .into_iter()
        .map(|(obligation, mut text)| {
            line(&mut text, "(check-sat)");
            Script { obligation: obligation.to_owned(), text }
        })
        .collect()
}

/// Writes the parts of scripts about one problem. The variable `m3` is the number of tokens on
/// place 3, and `m3_` the number after a step.
struct Writer<'a> {
    problem: &'a Problem,
}

impl Writer<'_> {
    /// Comment, logic and the markings' variables, which are not negative.
    fn head(&self, obligation: &str, what: &str, suffixes: &[&str]) -> String {
        let mut text = format!("; {obligation}: unsat iff there is not {what}\n(set-logic QF_LIA)\n");
        for suffix in suffixes {
            for (place, own) in self.problem.net.places.iter().enumerate() {
                line(&mut text, &format!("(declare-const m{place}{suffix} Int) ; {}", comment(&own.name)));
                line(&mut text, &format!("(assert (>= m{place}{suffix} 0))"));
            }
        }
        text
    }

    /// The certificate's predicate on the markings whose variables have a suffix.
    fn invariant(&self, certificate: &NetCertificate) -> Box<dyn Fn(&str) -> String + '_> {
        match certificate.clone() {
            NetCertificate::Downward { markings } => {
                Box::new(move |suffix| disjunction(markings.iter().map(|marking| self.at_most(suffix, marking))))
            }
            NetCertificate::Upward { basis, invariant: Invariant { siphon, refutations } } => Box::new(move |suffix| {
                let above = |marking: &TokenMarking| format!("(not {})", at_least(suffix, marking));
                let outside = basis.iter().map(above);
                conjunction(outside.chain(self.inequalities(suffix, &siphon, &refutations)))
            }),
            NetCertificate::Separator { siphon, refutations } => {
                Box::new(move |suffix| conjunction(self.inequalities(suffix, &siphon, &refutations)))
            }
        }
    }

    /// The marking is below an ω-marking.
    fn at_most(&self, suffix: &str, marking: &OmegaMarking) -> String {
        let bound = |place: PlaceId| match marking.iter().find(|(own, _)| *own == place) {
            Some((_, OmegaCount::Omega)) => None,
            Some((_, OmegaCount::Finite(count))) => Some(format!("(<= m{}{suffix} {count})", place.0)),
            None => Some(format!("(= m{}{suffix} 0)", place.0)),
        };
        conjunction(self.problem.net.place_ids().filter_map(bound))
    }

    /// The siphon is empty, no weighted sum exceeds its initial value, and every trap is marked.
    fn inequalities(&self, suffix: &str, siphon: &[PlaceId], refutations: &[Refutation]) -> Vec<String> {
        let mut conditions: Vec<String> = siphon.iter().map(|place| format!("(= m{}{suffix} 0)", place.0)).collect();
        for refutation in refutations {
            let mut initial = BigInt::default();
            let mut terms = Vec::new();
            for (place, weight) in refutation.weights.iter().filter(|(place, _)| !siphon.contains(place)) {
                terms.push(format!("(* {} m{}{suffix})", integer(weight.clone()), place.0));
                if let OmegaCount::Finite(count) = &self.problem.net.initial[place.index()] {
                    initial += weight * BigInt::from(count.to_big());
                }
            }
            if !terms.is_empty() {
                conditions.push(format!("(<= {} {})", sum(terms), integer(initial)));
            }
            for trap in &refutation.traps {
                let terms = trap.places.iter().map(|place| format!("m{}{suffix}", place.0));
                conditions.push(format!("(>= {} 1)", sum(terms)));
            }
        }
        conditions
    }

    /// Assertions that the transition numbered `fired` is enabled and leads from the one marking to
    /// the other; as many as the net has arcs.
    fn assert_step(&self, text: &mut String) {
        let transitions = &self.problem.net.transitions;
        line(text, "(declare-const fired Int) ; the number of the transition");
        line(text, &format!("(assert (and (<= 0 fired) (< fired {})))", transitions.len()));
        let mut touching = vec![Vec::new(); self.problem.net.places.len()];
        for (number, transition) in transitions.iter().enumerate() {
            let weight = |arcs: &[(PlaceId, Count)], place: PlaceId| {
                arcs.iter().find(|(own, _)| *own == place).map_or(Count::ZERO, |(_, count)| count.clone())
            };
            let touched: BTreeSet<PlaceId> =
                transition.pre.iter().chain(&transition.post).map(|(place, _)| *place).collect();
            let change = |place: &PlaceId| {
                let (taken, put) = (weight(&transition.pre, *place), weight(&transition.post, *place));
                format!("(= m{0}_ (+ (- m{0} {taken}) {put}))", place.0)
            };
            let enabled = std::iter::once(at_least("", &transition.pre));
            let effect = conjunction(enabled.chain(touched.iter().map(change)));
            line(text, &format!("(assert (=> (= fired {number}) {effect}))"));
            touched.iter().for_each(|place| touching[place.index()].push(number));
        }
        for (place, numbers) in touching.iter().enumerate() {
            let changed = numbers.iter().map(|number| format!("(= fired {number})"));
            let same = std::iter::once(format!("(= m{place}_ m{place})"));
            line(text, &format!("(assert {})", disjunction(same.chain(changed))));
        }
    }
}

/// The marking has at least these tokens.
fn at_least(suffix: &str, demands: &[(PlaceId, Count)]) -> String {
    conjunction(demands.iter().map(|(place, count)| format!("(>= m{}{suffix} {count})", place.0)))
}
