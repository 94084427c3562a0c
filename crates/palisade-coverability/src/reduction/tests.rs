//! On thousands of small random nets: reduced and unreduced answers are equal, runs replay on the
//! original net, and certificates of every form pass the checker there.

use super::*;
use palisade_evidence::{Invariant, NetCertificate, NetRun, OmegaMarking, Refutation, WeightedTrap};
use palisade_model::limits::{Budget, Limits, StopReason};
use palisade_model::net::{Arcs, Count, Net, OmegaCount, PlaceId, Query, Target, TransitionId};
use palisade_verify::{check_net_certificate, check_net_run};
use std::collections::{BTreeSet, VecDeque};

/// A small generator of random numbers (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("below a usize")
    }

    fn arcs(&mut self, places: usize, most: usize) -> Arcs {
        (0..self.below(most + 1))
            .map(|_| {
                let weight = if self.below(6) == 0 { 2 } else { 1 };
                (PlaceId::from_index(self.below(places)), Count::from(weight))
            })
            .collect()
    }

    fn problem(&mut self) -> Problem {
        let places = 2 + self.below(6);
        let mut net = Net::default();
        for index in 0..places {
            let initial = match self.below(12) {
                0 => OmegaCount::Omega,
                1..=3 => OmegaCount::Finite(Count::ONE),
                4 => OmegaCount::Finite(Count::from(2)),
                _ => OmegaCount::Finite(Count::ZERO),
            };
            net.add_place(format!("p{index}"), initial);
        }
        for index in 0..=self.below(8) {
            let most = 1 + self.below(2);
            let (pre, post) = (self.arcs(places, most), self.arcs(places, most));
            net.add_transition(format!("t{index}"), pre, post);
        }
        let targets = (0..=self.below(2)).map(|_| Target::new(self.arcs(places, 2))).collect();
        Problem { net, query: Query { targets } }
    }
}

/// Karp and Miller's tree [KM69] without memory between branches: a run to a target, or the
/// markings of the tree, or nothing when it grows too large.
fn karp_miller(problem: &Problem) -> Option<Result<NetRun, Vec<OmegaMarking>>> {
    const LARGE: usize = 1500;
    let net = &problem.net;
    let mut nodes: Vec<(Vec<OmegaCount>, Option<usize>)> = vec![(net.initial.clone(), None)];
    let mut next = 0;
    let mut coverable = false;
    while next < nodes.len() {
        if nodes.len() > LARGE {
            return None;
        }
        let marking = nodes[next].0.clone();
        coverable |= problem.query.targets.iter().any(|target| target.is_covered_by(&marking));
        for transition in &net.transitions {
            let Some(mut after) = fire(&marking, &transition.pre, &transition.post) else { continue };
            let mut ancestor = Some(next);
            while let Some(index) = ancestor {
                let (older, parent) = &nodes[index];
                if older.iter().zip(&after).all(|(old, new)| old <= new) {
                    for (old, new) in older.iter().zip(&mut after) {
                        if old < new {
                            *new = OmegaCount::Omega;
                        }
                    }
                }
                ancestor = *parent;
            }
            if !nodes.iter().any(|(other, _)| after.iter().zip(other).all(|(new, old)| new <= old)) {
                nodes.push((after, Some(next)));
            }
        }
        next += 1;
    }
    if coverable {
        return breadth_first(problem).map(Ok);
    }
    let sparse = |marking: &Vec<OmegaCount>| -> OmegaMarking {
        let held = |(_, count): &(usize, &OmegaCount)| **count != OmegaCount::Finite(Count::ZERO);
        marking
            .iter()
            .enumerate()
            .filter(held)
            .map(|(index, count)| (PlaceId::from_index(index), count.clone()))
            .collect()
    };
    Some(Err(nodes.iter().map(|(marking, _)| sparse(marking)).collect()))
}

fn fire(marking: &[OmegaCount], pre: &Arcs, post: &Arcs) -> Option<Vec<OmegaCount>> {
    let mut after = marking.to_vec();
    for (place, count) in pre {
        if let OmegaCount::Finite(held) = &mut after[place.index()] {
            *held = held.minus(count)?;
        }
    }
    for (place, count) in post {
        if let OmegaCount::Finite(held) = &mut after[place.index()] {
            *held = held.plus(count);
        }
    }
    Some(after)
}

/// A shortest run, with some tokens on the places that are initially ω.
fn breadth_first(problem: &Problem) -> Option<NetRun> {
    const LARGE: usize = 20_000;
    const FILL: u64 = 12;
    let initial_choice: Vec<(PlaceId, Count)> = problem
        .net
        .place_ids()
        .filter(|place| problem.net.initial[place.index()] == OmegaCount::Omega)
        .map(|place| (place, Count::from(FILL)))
        .collect();
    let mut start = problem.net.initial.clone();
    for (place, count) in &initial_choice {
        start[place.index()] = OmegaCount::Finite(count.clone());
    }
    let mut seen: BTreeSet<Vec<OmegaCount>> = BTreeSet::from([start.clone()]);
    let mut pending = VecDeque::from([(start, Vec::new())]);
    while let Some((marking, word)) = pending.pop_front() {
        if problem.query.targets.iter().any(|target| target.is_covered_by(&marking)) {
            let firings = word.into_iter().map(|id: TransitionId| (id.into(), Count::ONE)).collect();
            return Some(NetRun { initial_choice, firings });
        }
        for (id, transition) in problem.net.transition_ids() {
            if let Some(after) = fire(&marking, &transition.pre, &transition.post)
                && seen.len() < LARGE
                && seen.insert(after.clone())
            {
                let mut longer: Vec<TransitionId> = word.clone();
                longer.push(id);
                pending.push_back((after, longer));
            }
        }
    }
    None
}

/// The complement of a downward-closed set is upward closed; the least markings of the backward
/// search.
fn backward(problem: &Problem) -> NetCertificate {
    let mut basis: Vec<Vec<(PlaceId, Count)>> = Vec::new();
    let mut pending: Vec<Vec<(PlaceId, Count)>> =
        problem.query.targets.iter().map(|target| target.demands.clone()).collect();
    let below = |smaller: &Vec<(PlaceId, Count)>, larger: &Vec<(PlaceId, Count)>| {
        smaller.iter().all(|(place, count)| arcs::weight(larger, *place) >= count)
    };
    while let Some(marking) = pending.pop() {
        if basis.iter().any(|other| below(other, &marking)) {
            continue;
        }
        basis.retain(|other| !below(&marking, other));
        for transition in &problem.net.transitions {
            let rest = marking
                .iter()
                .map(|(place, count)| (*place, count.saturating_minus(arcs::weight(&transition.post, *place))));
            pending.push(Target::new(rest.chain(transition.pre.iter().cloned()).collect()).demands);
        }
        basis.push(marking);
    }
    NetCertificate::Upward { basis, invariant: Invariant::default() }
}

fn shown(problem: &Problem) -> String {
    palisade_net_formats::write(problem, palisade_model::net::Format::Spec)
        .map_or_else(|refusal| refusal.to_string(), |written| written.net)
}

fn options() -> [ReductionOptions; 3] {
    let all = ReductionOptions::default;
    [all(), ReductionOptions { keep_losses: true, ..all() }, ReductionOptions { agglomerate: false, ..all() }]
}

#[test]
fn answers_runs_and_certificates() {
    let mut random = Random(1);
    let (mut runs, mut proofs, mut smaller) = (0, 0, 0);
    for case in 0..6000 {
        let problem = random.problem();
        let Some(answer) = karp_miller(&problem) else { continue };
        for options in options() {
            let reduced = reduce(&problem, &options);
            smaller += usize::from(reduced.problem.net.places.len() < problem.net.places.len());
            let Some(found) = karp_miller(&reduced.problem) else { continue };
            let context =
                || format!("case {case}: {options:?}\n{}\nreduced\n{}", shown(&problem), shown(&reduced.problem));
            assert_eq!(answer.is_ok(), found.is_ok(), "{}", context());
            match found {
                Ok(run) => {
                    runs += 1;
                    let back = taken_back(reduced.back.run(&run, &Budget::default()))
                        .unwrap_or_else(|| panic!("{}", context()));
                    check_net_run(&problem, &back)
                        .unwrap_or_else(|error| panic!("{error}\n{run:?} {back:?} {}", context()));
                }
                Err(markings) => {
                    proofs += 1;
                    for certificate in [NetCertificate::Downward { markings }, backward(&reduced.problem)] {
                        check_net_certificate(&reduced.problem, &certificate)
                            .unwrap_or_else(|error| panic!("{error}\n{certificate:?} {}", context()));
                        let back = taken_back(reduced.back.certificate(&certificate, &Budget::default()))
                            .unwrap_or_else(|| panic!("{}", context()));
                        check_net_certificate(&problem, &back)
                            .unwrap_or_else(|error| panic!("{error}\n{certificate:?}\n{back:?}\n{}", context()));
                    }
                }
            }
        }
    }
    assert!(runs > 1000 && proofs > 1000 && smaller > 1000, "{runs} runs, {proofs} proofs, {smaller} smaller nets");
}

/// Random weights and traps that the checker accepts on the reduced net are accepted on the
/// original one.
#[test]
fn separators() {
    let mut random = Random(2);
    let (mut plain, mut trapped) = (0, 0);
    for case in 0..6000 {
        let problem = random.problem();
        for options in options() {
            let reduced = reduce(&problem, &options);
            let places = reduced.problem.net.places.len();
            if places == 0 || reduced.problem.query.targets.is_empty() {
                continue;
            }
            for _ in 0..8 {
                let refutation = refutation(&mut random, places);
                let with_traps = !refutation.traps.is_empty();
                let refutations = vec![refutation.clone(); reduced.problem.query.targets.len()];
                let separator = NetCertificate::Separator { siphon: Vec::new(), refutations };
                let invariant = Invariant { siphon: Vec::new(), refutations: vec![refutation] };
                let basis = reduced.problem.query.targets.iter().map(|target| target.demands.clone()).collect();
                for certificate in [separator, NetCertificate::Upward { basis, invariant }] {
                    if check_net_certificate(&reduced.problem, &certificate).is_err() {
                        continue;
                    }
                    let Some(back) = taken_back(reduced.back.certificate(&certificate, &Budget::default())) else {
                        assert!(with_traps && !options.keep_losses, "case {case}");
                        continue;
                    };
                    plain += usize::from(!with_traps);
                    trapped += usize::from(with_traps);
                    check_net_certificate(&problem, &back).unwrap_or_else(|error| {
                        panic!(
                            "case {case}: {error}\n{certificate:?}\n{back:?}\n{}\n{}",
                            shown(&problem),
                            shown(&reduced.problem)
                        )
                    });
                }
            }
        }
    }
    assert!(plain > 100 && trapped > 100, "{plain} without and {trapped} with traps");
}

fn refutation(random: &mut Random, places: usize) -> Refutation {
    let weights = (0..places)
        .map(|index| (PlaceId::from_index(index), random.below(3).into()))
        .filter(|(_, weight)| *weight != num_bigint::BigInt::ZERO)
        .collect();
    let traps = (0..random.below(2))
        .map(|_| WeightedTrap {
            places: (0..places).filter(|_| random.below(2) == 0).map(PlaceId::from_index).collect(),
            multiplier: 1.into(),
        })
        .collect();
    Refutation { weights, traps }
}

/// What was taken back without limits.
fn taken_back<T>(result: Result<Option<T>, StopReason>) -> Option<T> {
    result.expect("there are no limits")
}

#[test]
fn huge_counts_stay_exact() {
    let mut net = Net::default();
    let zero = OmegaCount::Finite(Count::ZERO);
    let huge: Count = "36893488147419103232".parse().unwrap();
    let between = net.add_place("between", zero.clone());
    let many = net.add_place("many", OmegaCount::Finite(huge.clone()));
    let goal = net.add_place("goal", zero);
    net.add_transition("in", vec![(many, Count::ONE)], vec![(between, Count::from(2))]);
    net.add_transition("out", vec![(between, Count::ONE)], vec![(goal, Count::from(3))]);
    let target = Target::new(vec![(goal, huge.times(&Count::from(6)))]);
    let problem = Problem { net, query: Query { targets: vec![target] } };
    let reduced = reduce(&problem, &ReductionOptions::default());
    assert!(reduced.problem.net.places.len() < 3);
    let firings = reduced.problem.net.transition_ids().map(|(id, _)| (id.into(), huge.clone())).collect();
    let back =
        taken_back(reduced.back.run(&NetRun { initial_choice: Vec::new(), firings }, &Budget::default())).unwrap();
    check_net_run(&problem, &back).unwrap();
}

/// Tokens that go from `many` over a place that is agglomerated to one of these places.
fn over_a_place(goals: usize) -> Reduced {
    let mut net = Net::default();
    let zero = OmegaCount::Finite(Count::ZERO);
    let many = net.add_place("many", OmegaCount::Finite(Count::from(1 << 40)));
    let between = net.add_place("between", zero.clone());
    net.add_transition("in", vec![(many, Count::ONE)], vec![(between, Count::ONE)]);
    // A place that a target asks for stays.
    let mut demands = vec![(many, Count::ONE)];
    for index in 0..goals {
        let goal = net.add_place(format!("goal{index}"), zero.clone());
        net.add_transition(format!("out{index}"), vec![(between, Count::ONE)], vec![(goal, Count::ONE)]);
        demands.push((goal, Count::from(1 << 40)));
    }
    let reduced =
        reduce(&Problem { net, query: Query { targets: vec![Target::new(demands)] } }, &ReductionOptions::default());
    assert!(reduced.problem.net.place_named("between").is_none());
    reduced
}

/// Each phase of taking evidence back ends with its budget, and with an interruption.
#[test]
fn taking_back_keeps_to_its_budget() {
    let much = |reduced: &Reduced| -> Vec<(PlaceId, OmegaCount)> {
        reduced.problem.net.place_ids().map(|place| (place, OmegaCount::Finite(Count::from(1 << 40)))).collect()
    };
    let tokens = |marking: Vec<(PlaceId, OmegaCount)>| -> Vec<(PlaceId, Count)> {
        marking.into_iter().map(|(place, _)| (place, Count::from(1 << 40))).collect()
    };
    let small = Budget::default().with_work(10_000);
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let interrupted = Budget::within(&Limits::none().with_interrupt(flag));
    for (budget, reason) in [(small, StopReason::Budget), (interrupted, StopReason::Interrupted)] {
        for goals in [1, 2] {
            // One place takes the tokens, or either of two may: both ways to lower markings.
            let reduced = over_a_place(goals);
            let lowered = NetCertificate::Downward { markings: vec![much(&reduced)] };
            assert_eq!(reduced.back.certificate(&lowered, &budget), Err(reason), "{goals}");
            let basis = vec![tokens(much(&reduced))];
            let raised = NetCertificate::Upward { basis, invariant: Invariant::default() };
            assert_eq!(reduced.back.certificate(&raised, &budget), Err(reason), "{goals}");
            let ids: Vec<TransitionId> = reduced.problem.net.transition_ids().map(|(id, _)| id).collect();
            let firings = (0..100_000).map(|step| (ids[step % ids.len()].into(), Count::ONE)).collect();
            let run = NetRun { initial_choice: Vec::new(), firings };
            assert_eq!(reduced.back.run(&run, &budget), Err(reason), "{goals}");
        }
    }
}

/// A reduction that is stopped leaves a whole net.
#[test]
fn a_reduction_that_is_stopped_leaves_the_net_as_it_is() {
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let limits = Limits::none().with_interrupt(flag);
    let mut random = Random(5);
    for _ in 0..100 {
        let problem = random.problem();
        let reduced = reduce(&problem, &ReductionOptions { limits: limits.clone(), ..ReductionOptions::default() });
        assert_eq!(reduced.problem.net.places.len(), problem.net.places.len());
        assert_eq!(reduced.problem.net.transitions.len(), problem.net.transitions.len());
    }
}
