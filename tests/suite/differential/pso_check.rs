//! Robustness against PSO: the engine's verdict is that of the brute-force oracle, and its evidence
//! is accepted.

use super::any_number::instances;
use super::instances::{Said, interleavings, oracle};
use super::{Amount, Compared, compare_all, of_class};
use crate::checked::check_pso;
use palisade::program::{Copies, Program};
use palisade::robustness::{DEFAULT_VALUES, PsoCheck, Verdict, not_for_pso};
use palisade::semantics::random::Shape;
use palisade::semantics::{Bounds, ExplorationError, Instance, pso_oracle};

/// Instances with so many copies of replicated threads in all are asked of the oracle.
const MOST_COPIES: u64 = 4;

/// Instances with more interleavings than this are not asked of the oracle.
const MOST_INTERLEAVINGS: f64 = 2e4;

/// Steps that the oracle lets each copy of a program with loops take.
const STEPS: u32 = 4;

/// Whether an instance is robust against PSO by enumeration, each copy taking at most so many
/// steps; nothing where some step has no value.
fn robust(program: &Program, instance: &Instance, steps: Option<u32>) -> Option<bool> {
    match pso_oracle::robust(program, instance, &Bounds { steps, ..Bounds::default() }) {
        Ok(robust) => Some(robust),
        Err(ExplorationError::Value(_)) => None,
        Err(error) => panic!("the oracle: {error}"),
    }
}

/// The engine's answer; nothing where some step has no value.
fn engine(program: &Program) -> Option<PsoCheck> {
    check_pso(program, DEFAULT_VALUES).ok()
}

fn compare(program: &Program, steps: Option<u32>) -> Compared {
    if not_for_pso(program).is_some() {
        return Ok("not decided");
    }
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    let said = robust(program, &instance, steps);
    let Some(checked) = engine(program) else {
        return if said.is_none() || steps.is_some() { Ok("no meaning") } else { Err("no meaning".to_owned()) };
    };
    match (checked.verdict, said) {
        (Verdict::Robust, Some(true)) => match oracle(program, &instance, steps)? {
            Some(Said::Violated) => Err("robust against PSO, and not against TSO".to_owned()),
            _ => Ok("robust"),
        },
        (Verdict::NotRobust, Some(false)) => Ok("not robust"),
        (Verdict::NotRobust, None) => Ok("not robust, and without meaning"),
        (Verdict::NotRobust, Some(true)) if steps.is_some() => Ok("not robust in more steps"),
        (verdict, said) => Err(format!("{verdict:?}, but the oracle says {said:?}")),
    }
}

/// Programs without loops.
pub(super) fn shapes() -> Vec<Shape> {
    let shape = Shape {
        copies: 3,
        labels: 4,
        total_labels: 7,
        addresses: 3,
        sections: 0,
        rmws: 6,
        fences: 4,
        ..Shape::default()
    };
    vec![
        Shape { stores_first: 60, fences: 1, rmws: 2, ..shape.clone() },
        Shape { cycles: 80, ..shape.clone() },
        Shape { stores_first: 40, branches: 20, ..shape.clone() },
        Shape { rmws: 20, fences: 10, addresses: 2, ..shape.clone() },
        Shape { domains: 100, choices: 10, indirect: 30, ..shape.clone() },
        Shape { copies: 2, labels: 6, total_labels: 9, overtaken: 90, branches: 25, ..shape.clone() },
        Shape { rmws: 35, domains: 50, ..shape },
    ]
}

#[test]
fn verdicts_are_those_of_the_oracle() {
    let amount = Amount { default: 48, long: 30_000 };
    let counts = compare_all("PSO, fixed", 7_000_000, amount, &shapes(), |program| compare(program, None));
    assert!(of_class(&counts, "robust") > 10 && of_class(&counts, "not robust") > 2, "{counts:?}");
}

#[test]
fn verdicts_on_loops_are_those_of_the_oracle() {
    let shapes: Vec<Shape> = shapes()
        .into_iter()
        .map(|shape| Shape { loops: 25, domains: 100, total_labels: 6, stores_first: 60, ..shape })
        .collect();
    let amount = Amount { default: 12, long: 10_000 };
    let counts = compare_all("PSO, loops", 7_100_000, amount, &shapes, |program| compare(program, Some(STEPS)));
    assert!(of_class(&counts, "robust") > 4 && of_class(&counts, "not robust") > 0, "{counts:?}");
}

/// How many copies of replicated threads an instance has.
fn replicated(program: &Program, instance: &Instance) -> u64 {
    let counts = program.threads.iter().zip(instance.counts());
    counts.filter(|(thread, _)| thread.copies == Copies::Any).map(|(_, count)| *count).sum()
}

/// What is robust for any number of copies has robust instances; what is not has the instance that
/// is named, and none with fewer copies where the engine says so.
fn compare_any(program: &Program) -> Compared {
    if !program.is_parameterized() {
        return Ok("fixed");
    }
    if not_for_pso(program).is_some() {
        return Ok("not decided");
    }
    let Some(checked) = engine(program) else { return Ok("no meaning") };
    let smaller = match (&checked.verdict, &checked.violation) {
        (Verdict::Robust, _) => MOST_COPIES,
        (_, Some(violation)) => {
            let copies = replicated(program, &violation.instance);
            if copies <= MOST_COPIES && robust(program, &violation.instance, None) == Some(true) {
                return Err(format!("not robust, but {:?} is", violation.instance.counts()));
            }
            if !violation.instance_minimal {
                return Ok("not robust, perhaps in smaller instances too");
            }
            copies.saturating_sub(1)
        }
        _ => return Err("no answer".to_owned()),
    };
    for instance in instances(program, 0, smaller) {
        let copies = replicated(program, &instance);
        let is_small = instance.total() <= MOST_COPIES && interleavings(program, &instance, None) <= MOST_INTERLEAVINGS;
        if copies <= smaller && is_small && robust(program, &instance, None) == Some(false) {
            return Err(format!("{:?}, but {:?} is not robust", checked.verdict, instance.counts()));
        }
    }
    Ok(if checked.verdict == Verdict::Robust { "robust" } else { "not robust" })
}

#[test]
fn any_number_agrees_with_its_instances() {
    let shapes: Vec<Shape> = shapes()
        .into_iter()
        .map(|shape| Shape { any: 60, domains: 70, copies: 2, labels: 4, total_labels: 6, stores_first: 60, ..shape })
        .collect();
    let amount = Amount { default: 30, long: 10_000 };
    let counts = compare_all("PSO, any number", 7_200_000, amount, &shapes, compare_any);
    assert!(of_class(&counts, "robust") > 2 && of_class(&counts, "not robust") > 0, "{counts:?}");
}
