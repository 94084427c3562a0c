//! Any number of copies: what is robust has robust instances, what is not has the instance that is
//! named, and no smaller one where the engine says so.

use super::instances::{Said, engine, objection_to_violation, oracle};
use super::{Amount, Compared, compare_all, of_class};
use crate::checked::unconfirmed_check;
use palisade::limits::Limits;
use palisade::program::{Copies, Program};
use palisade::questions::{About, confirm};
use palisade::robustness::{Check, CheckOptions, Verdict};
use palisade::semantics::Instance;
use palisade::semantics::random::Shape;
use std::time::Duration;

/// Instances have so many copies of each replicated thread at most.
const MOST_OF_A_THREAD: u64 = 3;

/// Instances have so many copies in all at most.
const MOST_IN_ALL: u64 = 5;

/// Steps that the oracle lets each copy of a program with loops take.
const STEPS: u32 = 4;

/// All instances with copies between these numbers of each replicated thread.
pub(super) fn instances(program: &Program, least: u64, most: u64) -> Vec<Instance> {
    let mut counts: Vec<Vec<u64>> = vec![Vec::new()];
    for thread in &program.threads {
        let range = match thread.copies {
            Copies::Exactly(count) => count..=count,
            Copies::Any => least..=most,
        };
        counts = counts
            .iter()
            .flat_map(|before| range.clone().map(move |count| before.iter().copied().chain([count]).collect()))
            .collect();
    }
    counts.into_iter().map(Instance::new).collect()
}

/// How many copies of replicated threads an instance has.
fn replicated(program: &Program, instance: &Instance) -> u64 {
    let counts = program.threads.iter().zip(instance.counts());
    counts.filter(|(thread, _)| thread.copies == Copies::Any).map(|(_, count)| *count).sum()
}

/// Whether an instance is robust, as the oracle says where it answers and else the engine for fixed
/// copies.
fn is_robust(program: &Program, instance: &Instance, steps: Option<u32>) -> Result<Option<bool>, String> {
    let own = engine(program, instance, &CheckOptions::default()).map(|verdict| verdict == Verdict::Robust);
    match (oracle(program, instance, steps)?, own) {
        (Some(Said::Violated), Some(true)) => Err(format!("{:?}: robust, but the oracle disagrees", instance.counts())),
        (Some(Said::Robust), Some(false)) => {
            Err(format!("{:?}: not robust, but the oracle disagrees", instance.counts()))
        }
        (Some(Said::Violated), _) => Ok(Some(false)),
        (Some(Said::Robust), _) => Ok(Some(true)),
        (_, own) => Ok(own),
    }
}

fn compare(program: &Program, steps: Option<u32>) -> Compared {
    if !program.is_parameterized() {
        return Ok("fixed");
    }
    let limits = Limits::none().with_timeout(Duration::from_secs(30));
    let Ok(checked) = unconfirmed_check(program, &CheckOptions { limits, ..CheckOptions::default() }) else {
        return Ok("growing");
    };
    if matches!(checked.verdict, Verdict::Unknown(_)) {
        return Ok("out of time");
    }
    match confirm(&About::new(program), &checked) {
        None => return Err("no evidence".to_owned()),
        Some(Err(failure)) => return Err(format!("{:?}, but the evidence is rejected: {failure}", checked.verdict)),
        Some(Ok(())) => {}
    }
    match checked.verdict {
        Verdict::Robust => robust_instances(program, steps),
        _ => violating_instance(program, &checked, steps),
    }
}

/// All small instances of a program that is robust for any number of copies are robust.
fn robust_instances(program: &Program, steps: Option<u32>) -> Compared {
    for instance in instances(program, 1, MOST_OF_A_THREAD) {
        if instance.total() <= MOST_IN_ALL && is_robust(program, &instance, steps)? == Some(false) {
            return Err(format!("robust, but not with the copies {:?}", instance.counts()));
        }
    }
    Ok("robust")
}

/// The instance named is not robust; one copy less of replicated threads in all is robust where the
/// engine says that this instance is a smallest one. (More copies than are needed do no harm, so
/// that even fewer are robust then too.)
fn violating_instance(program: &Program, checked: &Check<'_>, steps: Option<u32>) -> Compared {
    objection_to_violation(program, checked)?;
    let violation = checked.violation.as_ref().expect("it was looked at");
    if engine(program, &violation.instance, &CheckOptions::default()) == Some(Verdict::Robust) {
        return Err(format!("not robust, but the instance {:?} is", violation.instance.counts()));
    }
    if !violation.instance_minimal {
        return Ok("not robust, perhaps in smaller instances too");
    }
    let fewer = replicated(program, &violation.instance).saturating_sub(1);
    if replicated(program, &violation.instance) > 0 {
        for instance in instances(program, 0, fewer) {
            if replicated(program, &instance) == fewer && is_robust(program, &instance, steps)? == Some(false) {
                let named = violation.instance.counts();
                return Err(format!("no instance is smaller than {named:?}, but {:?} is", instance.counts()));
            }
        }
    }
    Ok("not robust")
}

/// Mixed copies: any number of some threads, one or two of others.
fn shapes() -> Vec<Shape> {
    let shape = Shape {
        labels: 4,
        total_labels: 6,
        any: 60,
        domains: 70,
        overtaken: 95,
        fences: 2,
        rmws: 4,
        ..Shape::default()
    };
    vec![
        shape.clone(),
        Shape { sections: 60, ..shape.clone() },
        Shape { addresses: 3, indirect: 40, ..shape.clone() },
        Shape { domains: 100, choices: 10, ..shape.clone() },
        Shape { rmws: 30, copies: 2, total_labels: 5, ..shape },
    ]
}

#[test]
fn instances_agree() {
    let amount = Amount { default: 160, long: 30_000 };
    let counts = compare_all("any number", 3_000_000, amount, &shapes(), |program| compare(program, None));
    assert!(of_class(&counts, "robust") > 18 && of_class(&counts, "not robust") > 4, "{counts:?}");
    assert_eq!(of_class(&counts, "out of time"), 0);
}

#[test]
fn instances_of_programs_with_loops_agree() {
    let shapes: Vec<Shape> = shapes()
        .into_iter()
        .map(|shape| Shape { loops: 20, domains: 100, copies: 2, total_labels: 5, ..shape })
        .collect();
    let amount = Amount { default: 100, long: 15_000 };
    let counts = compare_all("any number, loops", 3_500_000, amount, &shapes, |program| compare(program, Some(STEPS)));
    assert!(of_class(&counts, "robust") > 9 && of_class(&counts, "not robust") > 1, "{counts:?}");
}
