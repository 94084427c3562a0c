//! Small nets whose certificates are known by hand.

use super::*;
use crate::Obligation;
use palisade_evidence::{Invariant, OmegaMarking, Refutation, WeightedTrap};
use palisade_model::net::{Net, Query, Target};

fn place(index: usize) -> PlaceId {
    PlaceId::from_index(index)
}

fn finite(count: u64) -> OmegaCount {
    OmegaCount::Finite(count.into())
}

/// A place `idle` with any number of tokens; tokens enter `inside` through a lock `free`; may two
/// be inside?
fn mutual_exclusion() -> Problem {
    let mut net = Net::default();
    let idle = net.add_place("idle", OmegaCount::Omega);
    let free = net.add_place("free", finite(1));
    let inside = net.add_place("inside", finite(0));
    net.add_transition("enter", vec![(idle, Count::ONE), (free, Count::ONE)], vec![(inside, Count::ONE)]);
    net.add_transition("leave", vec![(inside, Count::ONE)], vec![(idle, Count::ONE), (free, Count::ONE)]);
    Problem { net, query: Query { targets: vec![Target::new(vec![(inside, 2.into())])] } }
}

fn obligation(result: Result<(), CheckFailure>) -> Option<Obligation> {
    result.err().map(|failure| failure.obligation)
}

#[test]
fn downward_sets() {
    let problem = mutual_exclusion();
    let outside = vec![(place(0), OmegaCount::Omega), (place(1), finite(1))];
    let inside = vec![(place(0), OmegaCount::Omega), (place(2), finite(1))];
    let check = |markings: &[&OmegaMarking]| {
        let markings = markings.iter().map(|marking| (*marking).clone()).collect();
        obligation(check_net_certificate(&problem, &NetCertificate::Downward { markings }))
    };
    assert_eq!(check(&[&outside, &inside]), None);
    assert_eq!(check(&[&outside]), Some(Obligation::Inductive));
    assert_eq!(check(&[&inside]), Some(Obligation::Initial));
    assert_eq!(check(&[&outside, &vec![(place(0), finite(3)), (place(2), finite(1))]]), Some(Obligation::Inductive));
    let both = vec![(place(0), OmegaCount::Omega), (place(1), OmegaCount::Omega), (place(2), OmegaCount::Omega)];
    assert_eq!(check(&[&both]), Some(Obligation::Safe));
    assert_eq!(check(&[&vec![(place(7), finite(1))]]), Some(Obligation::Form));
}

#[test]
fn upward_sets_and_separators() {
    let problem = mutual_exclusion();
    let exclusive = Refutation { weights: vec![(place(1), 1.into()), (place(2), 1.into())], traps: vec![] };
    let separator = |refutation: &Refutation| {
        let certificate = NetCertificate::Separator { siphon: vec![], refutations: vec![refutation.clone()] };
        obligation(check_net_certificate(&problem, &certificate))
    };
    assert_eq!(separator(&exclusive), None);
    assert_eq!(separator(&Refutation::default()), Some(Obligation::Safe));
    let unbounded = Refutation { weights: vec![(place(0), 1.into()), (place(2), 1.into())], traps: vec![] };
    assert_eq!(separator(&unbounded), Some(Obligation::Initial));
    let increasing = Refutation { weights: vec![(place(2), 1.into())], traps: vec![] };
    assert_eq!(separator(&increasing), Some(Obligation::Inductive));
    let trap = WeightedTrap { places: vec![place(1)], multiplier: 1.into() };
    let no_trap = Refutation { weights: vec![], traps: vec![trap] };
    assert_eq!(separator(&no_trap), Some(Obligation::Inductive));

    let upward = |basis: &[&[(usize, u64)]], invariant: Invariant| {
        let marking = |pairs: &&[(usize, u64)]| pairs.iter().map(|(p, n)| (place(*p), Count::from(*n))).collect();
        let certificate = NetCertificate::Upward { basis: basis.iter().map(marking).collect(), invariant };
        obligation(check_net_certificate(&problem, &certificate))
    };
    let none = Invariant::default;
    assert_eq!(upward(&[&[(2, 2)], &[(1, 1), (2, 1)], &[(1, 2)]], none()), None);
    assert_eq!(upward(&[&[(2, 2)], &[(1, 2)]], none()), Some(Obligation::Inductive));
    assert_eq!(upward(&[&[(2, 3)]], none()), Some(Obligation::Safe));
    assert_eq!(upward(&[&[(2, 2)], &[(1, 1)]], none()), Some(Obligation::Initial));
    assert_eq!(upward(&[&[(2, 2)]], Invariant { siphon: vec![], refutations: vec![exclusive] }), None);
}

#[test]
fn siphons_and_traps_beyond_inequalities() {
    // Two tokens from one: the trap {a, b} stays marked, the siphon {c} empty.
    let mut net = Net::default();
    let a = net.add_place("a", finite(1));
    let b = net.add_place("b", finite(0));
    let c = net.add_place("c", finite(0));
    net.add_transition("double", vec![(a, Count::ONE)], vec![(b, 2.into())]);
    net.add_transition("back", vec![(b, 2.into())], vec![(a, Count::ONE)]);
    net.add_transition("never", vec![(c, Count::ONE)], vec![(c, 2.into())]);
    let targets = vec![Target::new(vec![(c, Count::ONE)])];
    let problem = Problem { net, query: Query { targets } };
    let certificate = |siphon: &[PlaceId]| NetCertificate::Separator {
        siphon: siphon.to_vec(),
        refutations: vec![Refutation::default()],
    };
    assert_eq!(check_net_certificate(&problem, &certificate(&[c])), Ok(()));
    assert_eq!(obligation(check_net_certificate(&problem, &certificate(&[]))), Some(Obligation::Safe));
    assert_eq!(obligation(check_net_certificate(&problem, &certificate(&[b, c]))), Some(Obligation::Inductive));
    assert_eq!(obligation(check_net_certificate(&problem, &certificate(&[a, b, c]))), Some(Obligation::Initial));
}

#[test]
fn runs_fire_many_times_at_once() {
    let mut problem = mutual_exclusion();
    let (enter, leave) = (TransitionId::from_index(0), TransitionId::from_index(1));
    problem.query.targets = vec![Target::new(vec![(place(2), Count::ONE)])];
    let run = |tokens: u64, firings: &[(TransitionId, u64)]| {
        let firings = firings.iter().map(|(id, times)| ((*id).into(), Count::from(*times))).collect();
        // A place that starts with none is left out.
        let initial_choice = (tokens > 0).then(|| (place(0), tokens.into())).into_iter().collect();
        obligation(check_net_run(&problem, &NetRun { initial_choice, firings }))
    };
    assert_eq!(run(1, &[(enter, 1)]), None);
    assert_eq!(run(2, &[(enter, 1), (leave, 1), (enter, 1)]), None);
    assert_eq!(run(0, &[(enter, 1)]), Some(Obligation::Run));
    assert_eq!(run(5, &[(enter, 2)]), Some(Obligation::Run));
    assert_eq!(run(5, &[(enter, 1), (leave, 1)]), Some(Obligation::Run));
    assert_eq!(run(5, &[(TransitionId::from_index(9), 1)]), Some(Obligation::Form));
}
