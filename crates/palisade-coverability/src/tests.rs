//! The strategies against each other on small nets, every answer through the checker.

use super::many::solve_after;
use super::*;
use palisade_model::net::{Arcs, Count, Net, OmegaCount, PlaceId, Query, Target};
use palisade_verify::{check_net_certificate, check_net_run};

/// Whether the longer runs are asked for.
fn is_full() -> bool {
    std::env::var_os("PALISADE_FULL_TESTS").is_some()
}

/// The verdict of a strategy with so much work, its evidence checked: whether a target can be
/// covered.
fn verdict(strategy: &dyn Strategy, problem: &Problem, work: u64) -> Option<bool> {
    let context = Context::new(Budget::default().with_work(work));
    match strategy.solve(problem, &context) {
        Outcome::Coverable(run) => {
            check_net_run(problem, &run)
                .unwrap_or_else(|failure| panic!("{}: {failure}\n{problem:?}", strategy.name()));
            Some(true)
        }
        Outcome::Uncoverable(certificate) => {
            check_net_certificate(problem, &certificate)
                .unwrap_or_else(|failure| panic!("{}: {failure}\n{problem:?}", strategy.name()));
            Some(false)
        }
        Outcome::Unknown(_) => None,
    }
}

/// Asks all strategies; those that answer must agree. Returns the verdict and whether each complete
/// one answered.
fn agree(problem: &Problem, work: u64) -> (Option<bool>, bool) {
    let mut agreed = None;
    let mut complete = true;
    for strategy in strategies() {
        let is_complete = matches!(strategy.name(), "backward" | "karp-miller" | "shared-state" | "auto");
        // The portfolio's work is that of all its strategies.
        let own = verdict(*strategy, problem, if is_complete { 10 * work } else { work });
        if own.is_some() {
            assert!(agreed.is_none() || agreed == own, "{} disagrees on {problem:?}", strategy.name());
            agreed = own;
        }
        complete &= own.is_some() || !is_complete;
    }
    (agreed, complete)
}

fn arcs(weights: &[u64]) -> Arcs {
    let arcs = weights.iter().enumerate().filter(|(_, weight)| **weight > 0);
    arcs.map(|(place, weight)| (PlaceId::from_index(place), Count::from(*weight))).collect()
}

/// A problem from weights; an initial count above 9 is ω.
fn problem(initial: &[u64], transitions: &[(Vec<u64>, Vec<u64>)], targets: &[&[u64]]) -> Problem {
    let mut net = Net::default();
    for (index, count) in initial.iter().enumerate() {
        let count = if *count > 9 { OmegaCount::Omega } else { OmegaCount::Finite((*count).into()) };
        net.add_place(format!("p{index}"), count);
    }
    for (index, (pre, post)) in transitions.iter().enumerate() {
        net.add_transition(format!("t{index}"), arcs(pre), arcs(post));
    }
    Problem { net, query: Query { targets: targets.iter().map(|target| Target::new(arcs(target))).collect() } }
}

/// The digits of a number to a base, as weights.
fn digits(mut number: u64, base: u64, length: usize) -> Vec<u64> {
    (0..length)
        .map(|_| {
            let digit = number % base;
            number /= base;
            digit
        })
        .collect()
}

#[test]
fn questions_about_one_net_have_their_own_answers() {
    let mut seed = 11u64;
    let mut below = |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % bound
    };
    let (mut yes, mut no, mut smaller) = (0, 0, 0);
    for _ in 0..if is_full() { 5000 } else { 300 } {
        let places = 3 + usize::try_from(below(3)).expect("small");
        let mut weights =
            |bound: u64| (0..places).map(|_| below(bound).saturating_sub(bound - 2)).collect::<Vec<u64>>();
        let initial: Vec<u64> = weights(4);
        let transitions: Vec<_> = (0..6).map(|_| (weights(5), weights(5))).collect();
        let targets: Vec<Vec<u64>> = (0..6).map(|_| weights(4)).collect();
        let whole = problem(&initial, &transitions, &targets.iter().map(Vec::as_slice).collect::<Vec<_>>());
        // Questions with none, one and several targets.
        let queries: Vec<Query> =
            [0..0, 0..1, 1..3, 3..6].map(|range| Query { targets: whole.query.targets[range].to_vec() }).into();
        let options = Options { deterministic: true, jobs: 1, ..Options::default() };
        let mut answered = Vec::new();
        // Without a glance at the net itself, the reduced net answers.
        let asked = solve_after(None, whole.net.clone(), &queries, &options, |index, problem, answer| {
            assert_eq!((&problem.net, &problem.query), (&whole.net, &queries[index]));
            match &answer.outcome {
                Outcome::Coverable(run) => {
                    check_net_run(problem, run).unwrap_or_else(|error| panic!("{error}: {problem:?}"));
                }
                Outcome::Uncoverable(certificate) => {
                    check_net_certificate(problem, certificate).unwrap_or_else(|error| panic!("{error}: {problem:?}"));
                }
                Outcome::Unknown(reason) => panic!("{reason}: {problem:?}"),
            }
            let alone = solve(&Problem { net: whole.net.clone(), query: queries[index].clone() }, &options);
            assert_eq!(alone.outcome.is_coverable(), answer.outcome.is_coverable(), "{problem:?}");
            *(if answer.outcome.is_coverable() == Some(true) { &mut yes } else { &mut no }) += 1;
            answered.push(index);
        });
        answered.sort_unstable();
        assert_eq!(answered, [0, 1, 2, 3]);
        smaller += usize::from(asked.transitions < whole.net.transitions.len());
    }
    assert!(yes > 100 && no > 100 && smaller > 100, "{yes} yes, {no} no, {smaller} reduced");
}

#[test]
fn all_nets_with_two_places_and_two_transitions() {
    let transition = |number: u64| (digits(number % 9, 3, 2), digits(number / 9, 3, 2));
    let stride = if is_full() { 1 } else { 5 };
    let mut asked = 0usize;
    for first in 0..81 {
        for second in first..81 {
            for (initial, target) in [([1, 0], [0, 2]), ([2, 1], [1, 3]), ([1, 1], [3, 0]), ([10, 0], [0, 2])] {
                asked += 1;
                if asked.is_multiple_of(stride) {
                    let problem = problem(&initial, &[transition(first), transition(second)], &[&target]);
                    let (verdict, complete) = agree(&problem, 1_000_000);
                    assert!(verdict.is_some() && complete, "a complete strategy gave up on {problem:?}");
                }
            }
        }
    }
}

#[test]
fn nets_with_three_places_and_three_transitions() {
    let transition = |number: u64| (digits(number % 8, 2, 3), digits(number / 8, 2, 3));
    let stride = if is_full() { 1 } else { 67 };
    let mut asked = 0usize;
    for first in 0..64 {
        for second in first..64 {
            for third in second..64 {
                asked += 1;
                if asked.is_multiple_of(stride) {
                    let transitions = [transition(first), transition(second), transition(third)];
                    let problem = problem(&[1, 1, 0], &transitions, &[&[0, 1, 1], &[2, 0, 0]]);
                    let (verdict, complete) = agree(&problem, 1_000_000);
                    assert!(verdict.is_some() && complete, "a complete strategy gave up on {problem:?}");
                }
            }
        }
    }
}

/// Numbers that look random, the same every time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// Mostly zeros.
    fn weights(&mut self, places: usize, largest: u64) -> Vec<u64> {
        (0..places).map(|_| if self.below(places as u64) < 2 { self.below(largest + 1) } else { 0 }).collect()
    }
}

#[test]
fn random_nets() {
    /// Most places are empty at the beginning; 10 stands for ω.
    const COUNTS: [u64; 7] = [0, 0, 0, 1, 1, 2, 10];
    let mut random = Random(7);
    let (mut answered, mut coverable) = (0, 0);
    let asked = if is_full() { 100_000 } else { 1_500 };
    for _ in 0..asked {
        let places = 2 + usize::try_from(random.below(6)).unwrap();
        let transitions: Vec<_> =
            (0..2 + random.below(8)).map(|_| (random.weights(places, 2), random.weights(places, 2))).collect();
        let initial: Vec<u64> = (0..places).map(|_| COUNTS[usize::try_from(random.below(7)).unwrap()]).collect();
        let target = random.weights(places, 3);
        let (verdict, _) = agree(&problem(&initial, &transitions, &[&target]), 300_000);
        answered += usize::from(verdict.is_some());
        coverable += usize::from(verdict == Some(true));
    }
    assert!(answered * 100 > asked * 99, "only {answered} of {asked} answered");
    assert!(coverable * 5 > asked && coverable * 5 < asked * 4, "the sample is lopsided: {coverable} of {asked}");
}

#[test]
fn machines_with_units_and_replicated_threads() {
    let mut random = Random(11);
    for _ in 0..if is_full() { 20_000 } else { 400 } {
        // Two variables of three values each, and five local states of any number of threads.
        let local = |number: u64| 6 + usize::try_from(number).unwrap();
        let transitions: Vec<_> = (0..6 + random.below(8))
            .map(|_| {
                let (mut pre, mut post) = (vec![0; 11], vec![0; 11]);
                let variable = 3 * usize::try_from(random.below(2)).unwrap();
                pre[variable + usize::try_from(random.below(3)).unwrap()] = 1;
                post[variable + usize::try_from(random.below(3)).unwrap()] = 1;
                pre[local(random.below(5))] = 1;
                post[local(random.below(5))] = 1;
                (pre, post)
            })
            .collect();
        let mut initial = vec![1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        initial[6] = if random.below(2) == 0 { 10 } else { 1 + random.below(3) };
        let mut target = vec![0; 11];
        target[2] = 1;
        target[local(random.below(5))] = 1 + random.below(2);
        let problem = problem(&initial, &transitions, &[&target]);
        let (verdict, complete) = agree(&problem, 1_000_000);
        assert!(verdict.is_some() && complete, "a complete strategy gave up on {problem:?}");
    }
}

#[test]
fn counts_beyond_machine_words_are_exact() {
    let huge: Count = "100000000000000000000000000".parse().unwrap();
    let mut net = Net::default();
    let (have, spent) = (
        net.add_place("have", OmegaCount::Finite(huge.clone())),
        net.add_place("spent", OmegaCount::Finite(Count::ZERO)),
    );
    net.add_transition("spend", vec![(have, huge.clone())], vec![(spent, huge.clone())]);
    for (demand, expected) in [(huge.clone(), true), (huge.plus(&Count::ONE), false)] {
        let query = Query { targets: vec![Target::new(vec![(spent, demand)])] };
        let problem = Problem { net: net.clone(), query };
        assert_eq!(agree(&problem, 1_000_000), (Some(expected), true));
    }
}

#[test]
fn deterministic_evidence_does_not_depend_on_jobs() {
    let transitions = [(vec![1, 0, 1], vec![0, 1, 1]), (vec![0, 1, 0], vec![1, 0, 1]), (vec![0, 0, 2], vec![1, 0, 0])];
    let problem = problem(&[1, 0, 1], &transitions, &[&[3, 3, 0]]);
    let answer = |jobs| {
        let options = Options { jobs, deterministic: true, ..Options::default() };
        let answer = solve(&problem, &options);
        (answer.outcome, answer.strategy)
    };
    assert_eq!(answer(1), answer(4));
}

#[test]
fn limits_end_in_unknown() {
    let transitions = [(vec![1, 0], vec![0, 2]), (vec![0, 1], vec![1, 0])];
    let problem = problem(&[1, 0], &transitions, &[&[50, 50]]);
    let interrupted = Limits::none().with_timeout(Duration::ZERO);
    for strategy in strategies().iter().filter(|strategy| strategy.name() != "saturation") {
        let outcome = strategy.solve(&problem, &Context::new(Budget::within(&interrupted)));
        assert_eq!(outcome, Outcome::Unknown(StopReason::Timeout), "{}", strategy.name());
    }
}

/// Any number of threads take a lock, one at a time.
#[test]
fn pairs_show_mutual_exclusion() {
    // Outside, lock, inside.
    let transitions = [(vec![1, 1, 0], vec![0, 0, 1]), (vec![0, 0, 1], vec![1, 1, 0])];
    let together = problem(&[10, 1, 0], &transitions, &[&[0, 0, 2], &[0, 1, 1]]);
    assert_eq!(verdict(&saturation::Saturation, &together, u64::MAX), None);
    assert_eq!(verdict(&pair_saturation::PairSaturation, &together, u64::MAX), Some(false));
    let alone = problem(&[10, 1, 0], &transitions, &[&[0, 0, 1]]);
    assert_eq!(verdict(&pair_saturation::PairSaturation, &alone, u64::MAX), None);
}

/// A writer takes all five permits, a reader one: the permits and what stands for them are always
/// five.
#[test]
fn weighted_sums_prune() {
    // Permits, writing, reading.
    let transitions = [
        (vec![5, 0, 0], vec![0, 1, 0]),
        (vec![0, 1, 0], vec![5, 0, 0]),
        (vec![1, 0, 0], vec![0, 0, 1]),
        (vec![0, 0, 1], vec![1, 0, 0]),
    ];
    let problem = problem(&[5, 0, 0], &transitions, &[&[0, 1, 1]]);
    let prepared = engine::Prepared::new(&problem);
    let compact = prepared.small().expect("small counts");
    let found = semiflows::semiflows(compact, &Context::default()).unwrap();
    assert_eq!(found, [semiflows::Semiflow { weights: vec![(0, 1), (1, 5), (2, 1)], total: 5 }]);
    let Outcome::Uncoverable(NetCertificate::Upward { basis, .. }) =
        backward::Backward.solve(&problem, &Context::new(Budget::default()))
    else {
        panic!("it is not coverable")
    };
    assert_eq!(basis, [vec![(PlaceId::from_index(1), Count::ONE), (PlaceId::from_index(2), Count::ONE)]]);
    assert_eq!(verdict(&backward::Backward, &problem, u64::MAX), Some(false));
}

/// Ten switches have 1,024 positions, and twenty reasons why none of them is on and off at once.
#[test]
fn a_large_coverability_set_has_a_short_proof() {
    let places = 20;
    let one = |place: usize| (0..places).map(|other| u64::from(other == place)).collect::<Vec<_>>();
    let transitions: Vec<_> = (0..places).map(|place| (one(place), one(place ^ 1))).collect();
    let initial: Vec<u64> = (0..places).map(|place| u64::from(place % 2 == 0)).collect();
    let both = |switch: usize| (0..places).map(|place| u64::from(place / 2 == switch)).collect::<Vec<_>>();
    let targets: Vec<Vec<u64>> = (0..places / 2).map(both).collect();
    let problem = problem(&initial, &transitions, &targets.iter().map(Vec::as_slice).collect::<Vec<_>>());
    for strategy in [&forward::SharedState as &dyn Strategy, &forward::KarpMiller] {
        assert_eq!(verdict(strategy, &problem, u64::MAX), Some(false));
        let Outcome::Uncoverable(NetCertificate::Upward { basis, .. }) =
            strategy.solve(&problem, &Context::new(Budget::default()))
        else {
            panic!("{}: a large set is not listed", strategy.name())
        };
        assert!(basis.len() <= 20, "{}: {} elements", strategy.name(), basis.len());
    }
}
