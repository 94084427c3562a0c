//! Attack-based verdicts against the brute-force oracle on random programs, with the evidence of
//! each checked.

use crate::checked::{check, unconfirmed_check};
use crate::environment::seeds;
use palisade::program::{Copies, Program, SourceText};
use palisade::questions::{About, confirm};
use palisade::robustness::{AttackOutcome, Check, CheckOptions, Verdict};
use palisade::semantics::oracle::robust;
use palisade::semantics::random::{self, Shape, shrink};
use palisade::semantics::{Bounds, Instance};
use palisade::syntax::{Format, read};
use rayon::prelude::*;

fn oracle(program: &Program) -> bool {
    let instance = Instance::of(program).expect("the program fixes its copies");
    robust(program, &instance, &Bounds::default()).expect("random programs are loop-free").is_robust()
}

fn decide<'p>(program: &'p Program, options: &CheckOptions) -> Check<'p> {
    check(program, options).expect("random programs have no faults")
}

/// What is wrong with the answer about a program, if anything.
fn objection(program: &Program, checked: &Check<'_>) -> Option<String> {
    let what = if checked.violation.is_some() { "witness" } else { "certificate" };
    match confirm(&About::new(program), checked) {
        None => Some("no answer".into()),
        Some(confirmed) => confirmed.err().map(|failure| format!("{what}: {failure}")),
    }
}

/// What is wrong with a program that has no meaning.
const FAULTY: &str = "no meaning";

/// What is wrong with the answers about a fixed program under some options, if anything.
fn disagreement(program: &Program, options: &CheckOptions) -> Option<String> {
    let checked = match unconfirmed_check(program, options) {
        Ok(checked) => checked,
        Err(fault) => return Some(format!("{FAULTY}: {}", fault.describe(program))),
    };
    let expected = oracle(program);
    if (checked.verdict == Verdict::Robust) != expected {
        return Some(format!("{:?}, but the oracle says robust = {expected}", checked.verdict));
    }
    objection(program, &checked)
}

fn assert_agreement(seeds: std::ops::Range<u64>, shape: &Shape, options: &CheckOptions) {
    let failure = seeds.into_par_iter().find_map_first(|seed| {
        let program = random::program(seed, shape);
        disagreement(&program, options).map(|message| (seed, program, message))
    });
    if let Some((seed, program, message)) = failure {
        // What is left may have no meaning, such as a choice without a domain; that is another
        // matter.
        let fails = |smaller: &Program| disagreement(smaller, options).is_some_and(|why| !why.starts_with(FAULTY));
        let small = shrink(&program, fails);
        panic!("seed {seed}: {message}\nshrunk: {:?}\n{small:#?}", disagreement(&small, options));
    }
}

#[test]
fn verdicts_equal_the_oracle() {
    assert_agreement(0..seeds(800, 6_000).end, &Shape::default(), &CheckOptions::default());
}

#[test]
fn every_attack_decided_gives_the_same_verdict() {
    let options = CheckOptions { all: true, prune: false, ..CheckOptions::default() };
    assert_agreement(100_000..100_000 + seeds(300, 2_000).end, &Shape::default(), &options);
}

#[test]
fn verdicts_equal_the_oracle_with_many_sections() {
    let shape = Shape { sections: 60, rmws: 20, ..Shape::default() };
    assert_agreement(200_000..200_000 + seeds(300, 2_000).end, &shape, &CheckOptions::default());
}

#[test]
fn verdicts_equal_the_oracle_with_more_addresses() {
    let shape = Shape { addresses: 4, indirect: 25, branches: 25, ..Shape::default() };
    assert_agreement(300_000..300_000 + seeds(300, 2_000).end, &shape, &CheckOptions::default());
}

/// A value that memory has only inside another thread's section: the store buffering behind it is
/// out of reach, and in reach once the section is left out.
#[test]
fn attackers_do_not_see_into_sections() {
    let text = "program Inside
thread a regs r, s init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[z]; goto l2;
  l2: assert r = 1; goto l3;
  l3: s <- mem[y]; goto l4;
end
thread b regs r init l0 begin
  l0: mem[y] <- 1; goto l1;
  l1: mfence; goto l2;
  l2: r <- mem[x]; goto l3;
end
thread c init l0 begin
  l0: lock; goto l1;
  l1: mem[z] <- 1; goto l2;
  l2: mem[z] <- 0; goto l3;
  l3: unlock; goto l4;
end
";
    let open = text.replace("lock", "nop").replace("unnop", "nop");
    for (text, robust) in [(text.to_owned(), true), (open, false)] {
        let program = read(SourceText::new("inside.pal", text), Format::Native).expect("it is well formed").program;
        assert_eq!(disagreement(&program, &CheckOptions::default()), None, "robust = {robust}");
        assert_eq!(oracle(&program), robust);
    }
}

/// The program with the copies of every thread replaced.
fn with_copies(program: &Program, copies: Copies) -> Program {
    let mut program = program.clone();
    for thread in &mut program.threads {
        thread.copies = copies;
    }
    program
}

/// What is wrong with the any-number answer about a program, if anything.
fn any_number_disagreement(program: &Program, instances: u64) -> Option<String> {
    let any = with_copies(program, Copies::Any);
    let Ok(checked) = unconfirmed_check(&any, &CheckOptions::default()) else {
        // Values grow with the number of copies.
        return None;
    };
    if let Some(message) = objection(&any, &checked) {
        return Some(message);
    }
    let mut small_violation = None;
    for copies in 1..=instances {
        let fixed = with_copies(program, Copies::Exactly(copies));
        if decide(&fixed, &CheckOptions::default()).verdict == Verdict::NotRobust {
            small_violation = Some(copies);
            break;
        }
    }
    match (&checked.verdict, small_violation) {
        (Verdict::Robust, Some(copies)) => Some(format!("robust, but not with {copies} copies of each thread")),
        (Verdict::NotRobust, _) => {
            let violation = checked.violation.as_ref().expect("a violation is shown");
            let mut fixed = program.clone();
            for (thread, count) in fixed.threads.iter_mut().zip(violation.instance.counts()) {
                thread.copies = Copies::Exactly(*count);
            }
            let confirmed = decide(&fixed, &CheckOptions::default()).verdict == Verdict::NotRobust;
            (!confirmed).then(|| "the instance of the witness is robust".to_owned())
        }
        _ => None,
    }
}

#[test]
fn any_number_agrees_with_small_instances() {
    let shape = Shape { labels: 4, total_labels: 7, ..Shape::default() };
    let failure = (400_000..400_000 + seeds(300, 3_000).end).into_par_iter().find_map_first(|seed| {
        let program = random::program(seed, &shape);
        any_number_disagreement(&program, 3).map(|message| (seed, program, message))
    });
    if let Some((seed, program, message)) = failure {
        let small = shrink(&program, |smaller| any_number_disagreement(smaller, 3).is_some());
        panic!("seed {seed}: {message}\nshrunk: {:?}\n{small:#?}", any_number_disagreement(&small, 3));
    }
}

/// Deciding all attacks for any number says of each what the largest small instance says, where
/// that finds it feasible.
#[test]
fn attacks_feasible_in_an_instance_are_feasible_for_any_number() {
    let shape = Shape { labels: 4, total_labels: 7, ..Shape::default() };
    let options = CheckOptions { all: true, ..CheckOptions::default() };
    (500_000..500_000 + seeds(120, 1_200).end).into_par_iter().for_each(|seed| {
        let program = random::program(seed, &shape);
        let replicated = with_copies(&program, Copies::Any);
        let Ok(any) = check(&replicated, &options) else { return };
        let two = with_copies(&program, Copies::Exactly(2));
        for (small, large) in decide(&two, &options).attacks.iter().zip(&any.attacks) {
            assert!(
                small.outcome != AttackOutcome::Feasible || large.outcome == AttackOutcome::Feasible,
                "seed {seed}: {small:?} {large:?}"
            );
        }
    });
}
