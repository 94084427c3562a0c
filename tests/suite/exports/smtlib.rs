//! The SMT-LIB 2 scripts of net certificates, decided by an outside solver where one is installed.

use crate::checked::solve;
use crate::solver::Solver;
use palisade::coverability::{Options, Outcome};
use palisade::evidence::{Invariant, NetCertificate, Refutation, WeightedTrap};
use palisade::net::{Count, Net, OmegaCount, PlaceId, Problem, Query, Target};
use palisade::report::smtlib::net_scripts;
use palisade::semantics::random::Randomness;
use palisade::verify::check_net_certificate;

fn random_problem(random: &mut Randomness) -> Problem {
    let mut net = Net::default();
    let places = 2 + random.below(3);
    for place in 0..places {
        let initial = match random.below(5) {
            0 => OmegaCount::Omega,
            1 | 2 => OmegaCount::Finite((1 + random.below(2) as u64).into()),
            _ => OmegaCount::Finite(Count::ZERO),
        };
        net.add_place(format!("place {place}"), initial);
    }
    for transition in 0..2 + random.below(4) {
        let mut arcs = || -> Vec<(PlaceId, Count)> {
            (0..=random.below(2)).map(|_| (PlaceId::from_index(random.below(places)), Count::ONE)).collect()
        };
        let (pre, post) = (arcs(), arcs());
        net.add_transition(format!("t{transition}"), pre, post);
    }
    let target = Target::new(vec![(PlaceId::from_index(random.below(places)), (1 + random.below(3) as u64).into())]);
    Problem { net, query: Query { targets: vec![target] } }
}

/// For sound certificates all three scripts are unsatisfiable; where the checker rejects a changed
/// one, one of them is not.
#[needs::command("z3 --version", "cvc5 --version")]
#[test]
fn an_outside_solver_agrees_with_the_checker() {
    let solver = Solver::installed();
    let mut random = Randomness::new(41);
    let (mut accepted, mut rejected) = (0, 0);
    while accepted < 25 || rejected < 25 {
        let problem = random_problem(&mut random);
        let strategy = [None, Some("karp-miller"), Some("backward")][random.below(3)];
        let options = Options { strategy, jobs: 1, ..Options::default() };
        let Outcome::Uncoverable(certificate) = solve(&problem, &options).outcome else { continue };
        let changed = lowered(&certificate, &mut random);
        for certificate in [Some(certificate), changed].into_iter().flatten() {
            let verdict = check_net_certificate(&problem, &certificate);
            let Some(proved) = solver.proves(&net_scripts(&problem, &certificate)) else { continue };
            assert_eq!(proved, verdict.is_ok(), "{verdict:?} {problem:?} {certificate:?}");
            accepted += usize::from(verdict.is_ok());
            rejected += usize::from(verdict.is_err());
        }
    }
}

/// A set of ω-markings or a basis without one of its elements.
fn lowered(certificate: &NetCertificate, random: &mut Randomness) -> Option<NetCertificate> {
    let mut changed = certificate.clone();
    match &mut changed {
        NetCertificate::Downward { markings } => drop(markings.remove(random.below(markings.len()))),
        NetCertificate::Upward { basis, .. } if !basis.is_empty() => drop(basis.remove(random.below(basis.len()))),
        _ => return None,
    }
    Some(changed)
}

/// Every part of the scripts, for all forms, without a solver.
#[test]
fn scripts_spell_out_the_certificate() {
    let mut net = Net::default();
    let (a, b) = (net.add_place("a", OmegaCount::Omega), net.add_place("b", OmegaCount::Finite(Count::ONE)));
    net.add_transition("t", vec![(b, Count::ONE)], vec![(a, 2.into()), (b, Count::ONE)]);
    let problem = Problem { net, query: Query { targets: vec![Target::new(vec![(b, 2.into())])] } };
    let refutation = Refutation {
        weights: vec![(a, (-1).into()), (b, 1.into())],
        traps: vec![WeightedTrap { places: vec![b], multiplier: 1.into() }],
    };
    let upward = NetCertificate::Upward {
        basis: vec![vec![(b, 2.into())]],
        invariant: Invariant { siphon: vec![], refutations: vec![refutation] },
    };
    let scripts = net_scripts(&problem, &upward);
    assert_eq!(scripts.iter().map(|script| &script.obligation).collect::<Vec<_>>(), ["initial", "inductive", "safe"]);
    let text = &scripts[1].text;
    for part in [
        "(declare-const m0_ Int) ; a",
        "(assert (and (not (>= m1 2)) (<= (+ (* (- 1) m0) (* 1 m1)) 1) (>= m1 1)))",
        "(assert (=> (= fired 0) (and (>= m1 1) (= m0_ (+ (- m0 0) 2)) (= m1_ (+ (- m1 1) 1)))))",
        "(assert (or (= m0_ m0) (= fired 0)))",
        "(check-sat)",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
