//! Programs with counters: the verdict up to turns is the verdict without them and the oracle's, and its evidence is accepted.

use super::instances::{Said, objection_to_violation, oracle};
use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::unconfirmed_check;
use palisade::cli::confirm_check;
use palisade::limits::Limits;
use palisade::program::{Copies, Counters, Program, Value};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::Instance;
use palisade::semantics::random::{CounterShape, program_with_counters};
use std::time::Duration;

/// Decides a program, with or without its counters; nothing where that takes too long or values grow.
fn decide(program: &Program, counters: bool) -> Result<Option<Verdict>, String> {
    let limits = Limits::none().with_timeout(Duration::from_secs(20));
    let Ok(checked) = unconfirmed_check(program, &CheckOptions { counters, limits, ..CheckOptions::default() }) else {
        return Ok(None);
    };
    match confirm_check(program, &checked) {
        Some(Err(failure)) => {
            return Err(format!("{:?}, but the evidence is rejected: {failure}", checked.verdict));
        }
        Some(Ok(())) => {}
        None => return Ok(None),
    }
    if checked.verdict == Verdict::NotRobust {
        objection_to_violation(program, &checked)?;
    }
    Ok(Some(checked.verdict))
}

fn compare(program: &Program) -> Compared {
    let turned = decide(program, true)?;
    let plain = decide(program, false)?;
    let said = match Instance::of(program) {
        Some(instance) => oracle(program, &instance, None).unwrap_or(None),
        None => None,
    };
    match (turned, plain, said) {
        (Some(Verdict::NotRobust), Some(Verdict::Robust), _) | (Some(Verdict::Robust), Some(Verdict::NotRobust), _) => {
            Err("with counters and without there are two verdicts".to_owned())
        }
        (Some(Verdict::Robust), _, Some(Said::Violated)) => Err("robust, but not to the oracle".to_owned()),
        (Some(Verdict::NotRobust), _, Some(Said::Robust)) => Err("not robust, but robust to the oracle".to_owned()),
        (Some(Verdict::Unknown(_)) | None, Some(Verdict::Robust | Verdict::NotRobust), _) => {
            Err("without counters there is a verdict".to_owned())
        }
        _ if Counters::of(program).is_empty() => Ok("no counters"),
        (Some(Verdict::Robust), None | Some(Verdict::Unknown(_)), _) => Ok("robust with counters alone"),
        (Some(Verdict::NotRobust), None | Some(Verdict::Unknown(_)), _) => Ok("not robust with counters alone"),
        (Some(Verdict::Robust), ..) => Ok("robust"),
        (Some(Verdict::NotRobust), ..) => Ok("not robust"),
        _ => Ok("no verdict"),
    }
}

fn shape(size: Option<Value>, copies: Vec<Copies>) -> CounterShape {
    CounterShape { size, low: 0, copies, threads: 2, labels: 5, jumps: 30 }
}

/// The domains have 2 to 9 values.
fn with_domains(seed: u64, copies: &[Copies]) -> Program {
    let sizes: Vec<Value> = (2..=9).collect();
    let size = sizes[usize::try_from(seed).expect("seeds are small") % sizes.len()];
    let low = if seed.is_multiple_of(5) { -(size / 2) } else { 0 };
    program_with_counters(seed, &CounterShape { low, ..shape(Some(size), copies.to_vec()) })
}

#[test]
fn verdicts_with_fixed_copies_are_those_without_counters() {
    let amount = Amount { default: 400, long: 6_000 };
    let copies = [Copies::Exactly(1), Copies::Exactly(2), Copies::Exactly(3)];
    let generate = |seed| with_domains(seed, &copies);
    let counts = compare_generated("counters, fixed", 5_000_000, amount, generate, compare);
    assert!(of_class(&counts, "robust") > 60 && of_class(&counts, "not robust") > 3, "{counts:?}");
}

#[test]
fn verdicts_for_any_number_of_copies_are_those_without_counters() {
    let amount = Amount { default: 150, long: 4_000 };
    let generate = |seed| with_domains(seed, &[Copies::Any, Copies::Any, Copies::Exactly(1)]);
    let counts = compare_generated("counters, any number", 5_100_000, amount, generate, compare);
    assert!(of_class(&counts, "robust") > 20 && of_class(&counts, "not robust") > 2, "{counts:?}");
}

/// Without loops values are few even without a domain, so that the oracle answers.
#[test]
fn verdicts_in_integers_are_the_oracles() {
    let amount = Amount { default: 200, long: 5_000 };
    let copies = vec![Copies::Exactly(1), Copies::Exactly(2)];
    let generate = |seed| {
        let jumps = if seed % 2 == 0 { 0 } else { 30 };
        program_with_counters(seed, &CounterShape { jumps, labels: 4, ..shape(None, copies.clone()) })
    };
    let counts = compare_generated("counters, integers", 5_200_000, amount, generate, compare);
    assert!(of_class(&counts, "robust") > 30 && of_class(&counts, "not robust") > 1, "{counts:?}");
}
