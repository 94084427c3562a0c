//! The eager net of an attack answers as the search does.

use crate::checked::{check, solve};
use crate::environment::seeds;
use palisade::coverability::{Options, Outcome};
use palisade::limits::{Halt, Limits, StopReason};
use palisade::program::{Copies, Program};
use palisade::robustness::{self, CheckOptions, attack_net, attacks};
use palisade::semantics::random::{self, CounterShape, Shape};
use rayon::prelude::*;
use std::time::Duration;

/// Asks the nets of all attacks of a program, with the copies it has or any number of each thread.
fn ask(seed: u64, shape: &Shape, any: bool) -> usize {
    ask_of(seed, random::program(seed, shape), any)
}

/// The same of any program.
fn ask_of(seed: u64, mut program: Program, any: bool) -> usize {
    if any {
        program.threads.iter_mut().for_each(|thread| thread.copies = Copies::Any);
    }
    let options = CheckOptions { all: true, prune: false, ..CheckOptions::default() };
    let Ok(checked) = check(&program, &options) else { return 0 };
    let mut asked = 0;
    for report in &checked.attacks {
        // Thread-modular value sets may diverge where the search's do not.
        let Ok(problem) = attack_net(&program, &report.attack, 32, &Limits::none()) else { continue };
        let limits = Limits::none().with_timeout(Duration::from_secs(20));
        let answer = solve(&problem, &Options { limits, jobs: 1, ..Options::default() });
        let expected = report.outcome;
        match answer.outcome {
            Outcome::Coverable(_) => {
                assert_eq!(expected, robustness::AttackOutcome::Feasible, "seed {seed}, {:?}", report.attack);
            }
            Outcome::Uncoverable(_) => {
                assert_eq!(expected, robustness::AttackOutcome::Infeasible, "seed {seed}, {:?}", report.attack);
            }
            Outcome::Unknown(_) => continue,
        }
        asked += 1;
    }
    asked
}

#[test]
fn fixed_copies() {
    let asked: usize = seeds(70, 700).into_par_iter().map(|seed| ask(seed, &Shape::default(), false)).sum();
    assert!(asked > 70, "{asked} attacks answered");
}

#[test]
fn any_number_of_copies() {
    let shape = Shape { labels: 4, total_labels: 7, sections: 30, ..Shape::default() };
    let asked: usize = seeds(60, 200).into_par_iter().map(|seed| ask(1000 + seed, &shape, true)).sum();
    assert!(asked > 25, "{asked} attacks answered");
}

/// A program with counters of 2 to 9 values.
fn with_counters(seed: u64) -> Program {
    let size = Some(2 + i64::try_from(seed % 8).expect("below 8"));
    let copies = vec![Copies::Exactly(1), Copies::Exactly(2), Copies::Any];
    let shape = CounterShape { size, low: 0, copies, threads: 2, labels: 5, jumps: 30, bits: None };
    random::program_with_counters(seed, &shape)
}

/// The search explores them up to turns, nets as they stand.
#[test]
fn programs_with_counters() {
    let asked: usize =
        seeds(40, 150).into_par_iter().map(|seed| ask_of(2000 + seed, with_counters(2000 + seed), false)).sum();
    assert!(asked > 25, "{asked} attacks answered");
}

/// Nets up to turns and as they stand: every attack has one answer; how many of each answer turns
/// have found.
fn compare_up_to_turns(seed: u64) -> [usize; 2] {
    let program = with_counters(seed);
    let limits = Limits::none().with_timeout(Duration::from_secs(20));
    let options = CheckOptions { all: true, prune: false, nets: true, limits, ..CheckOptions::default() };
    let answers = |net_turns: usize| check(&program, &CheckOptions { net_turns, ..options.clone() });
    let (Ok(turned), Ok(plain)) = (answers(2), answers(usize::MAX)) else { return [0, 0] };
    let mut found = [0, 0];
    for (turned, plain) in turned.attacks.iter().zip(&plain.attacks) {
        let open = [turned.outcome, plain.outcome].contains(&robustness::AttackOutcome::Unknown);
        assert!(open || turned.outcome == plain.outcome, "seed {seed}, {turned:?}, {plain:?}");
        if turned.strategy == "turns" {
            found[usize::from(turned.outcome == robustness::AttackOutcome::Feasible)] += 1;
        }
    }
    found
}

#[test]
fn nets_up_to_turns_answer_as_they_do_as_they_stand() {
    let found: Vec<[usize; 2]> =
        seeds(500, 6_000).into_par_iter().map(|seed| compare_up_to_turns(2000 + seed)).collect();
    let [infeasible, feasible] = [0, 1].map(|index| found.iter().map(|found| found[index]).sum::<usize>());
    println!("{infeasible} infeasible, {feasible} feasible up to turns");
    assert!(infeasible > 30 && feasible > 1, "{infeasible} infeasible, {feasible} feasible up to turns");
}

#[test]
fn limits_stop_the_listing() {
    let program =
        (0..100).map(|seed| random::program(seed, &Shape::default())).find(|program| !attacks(program).is_empty());
    let program = program.expect("some program has a store and a load in a thread");
    let passed = Limits::none().with_timeout(Duration::ZERO);
    let stopped = attack_net(&program, &attacks(&program)[0], 32, &passed);
    assert_eq!(stopped.err(), Some(Halt::Stopped(StopReason::Timeout)));
}
