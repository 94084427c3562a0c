//! Programs with counters: the verdict up to turns is the verdict without them and the oracle's,
//! and its evidence is accepted.

use super::instances::{Said, objection_to_violation, oracle};
use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::unconfirmed_check;
use palisade::limits::Limits;
use palisade::program::{
    Action, BinaryOperator, Copies, Counters, Domain, DomainOrigin, Expression, Instruction, LabelId, Program,
    RegisterId, Span, Thread, Value,
};
use palisade::questions::{About, confirm};
use palisade::robustness::{Abstraction, CheckOptions, Verdict};
use palisade::semantics::Instance;
use palisade::semantics::random::{CounterShape, program_with_counters};
use std::time::Duration;

/// The time for a verdict, of those about programs with many values less.
const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_secs(4);

/// Decides a program, with or without its counters; nothing where that takes too long or values
/// grow.
fn decide(program: &Program, counters: bool, most: Duration) -> Result<Option<Verdict>, String> {
    let limits = Limits::none().with_timeout(most);
    let Ok(checked) = unconfirmed_check(program, &CheckOptions { counters, limits, ..CheckOptions::default() }) else {
        return Ok(None);
    };
    match confirm(&About::new(program), &checked) {
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

pub(super) fn compare(program: &Program) -> Compared {
    let turned = decide(program, true, LONG)?;
    let plain = decide(program, false, LONG)?;
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

pub(super) fn shape(size: Option<Value>, copies: Vec<Copies>) -> CounterShape {
    CounterShape { size, low: 0, copies, threads: 2, labels: 5, jumps: 30, bits: None }
}

/// The domains have 2 to 9 values.
pub(super) fn with_domains(seed: u64, copies: &[Copies]) -> Program {
    let sizes: Vec<Value> = (2..=9).collect();
    let size = sizes[usize::try_from(seed).expect("seeds are small") % sizes.len()];
    let low = if seed.is_multiple_of(5) { -(size / 2) } else { 0 };
    program_with_counters(seed, &CounterShape { low, ..shape(Some(size), copies.to_vec()) })
}

/// The program with two threads that each begin as in the test of store buffering: one stores to an
/// address and loads another one, the other the other way round. One address of them at least is a
/// counter's.
fn with_buffering(mut program: Program, seed: u64) -> Program {
    if program.threads.len() == 1 {
        let second = Thread { name: "t2".to_owned(), ..program.threads[0].clone() };
        program.threads.push(second);
    }
    let [one, other] = [[1, 2], [1, 3], [2, 4]][usize::try_from(seed / 3 % 3).expect("below 3")];
    for (thread, (stored, loaded)) in program.threads.iter_mut().zip([(one, other), (other, one)]) {
        let first = thread.labels.len();
        for name in ["stores", "loads"] {
            let label = thread.labels[0].clone();
            thread.labels.push(palisade::program::Label { name: name.into(), ..label });
        }
        let register = Expression::Register(RegisterId::from_index(0));
        let moved = Expression::binary(BinaryOperator::Add, register, Expression::Constant(1));
        let is_counter = stored < 3;
        let value = if is_counter { moved } else { Expression::Constant(1) };
        let into = RegisterId::from_index(if loaded < 3 { 1 } else { 2 });
        let actions = [
            Action::Store { address: Expression::Constant(stored), value },
            Action::Load { register: into, address: Expression::Constant(loaded) },
        ];
        let targets = [LabelId::from_index(first + 1), thread.initial];
        for ((action, target), source) in actions.into_iter().zip(targets).zip(first..) {
            let source = LabelId::from_index(source);
            thread.instructions.push(Instruction::new(source, target, action, Span::default()));
        }
        thread.initial = LabelId::from_index(first);
    }
    program
}

/// Every other program begins with store buffering.
pub(super) fn often_not_robust(program: Program, seed: u64) -> Program {
    if seed.is_multiple_of(2) { with_buffering(program, seed) } else { program }
}

#[test]
fn verdicts_with_fixed_copies_are_those_without_counters() {
    let amount = Amount { default: 64, long: 6_000 };
    let copies = [Copies::Exactly(1), Copies::Exactly(2), Copies::Exactly(3)];
    let generate = |seed| often_not_robust(with_domains(seed, &copies), seed);
    let counts = compare_generated("counters, fixed", 5_000_000, amount, generate, compare);
    assert!(of_class(&counts, "robust") > 6 && of_class(&counts, "not robust") > 10, "{counts:?}");
}

#[test]
fn verdicts_for_any_number_of_copies_are_those_without_counters() {
    let amount = Amount { default: 30, long: 4_000 };
    let copies = [Copies::Any, Copies::Any, Copies::Exactly(1)];
    let generate = |seed| often_not_robust(with_domains(seed, &copies), seed);
    let counts = compare_generated("counters, any number", 5_100_000, amount, generate, compare);
    assert!(of_class(&counts, "robust") > 2 && of_class(&counts, "not robust") > 4, "{counts:?}");
}

/// Without loops values are few even without a domain, so that the oracle answers.
#[test]
fn verdicts_in_integers_are_the_oracles() {
    let amount = Amount { default: 32, long: 5_000 };
    let copies = vec![Copies::Exactly(1), Copies::Exactly(2)];
    let generate = |seed| {
        let jumps = if seed % 2 == 0 { 0 } else { 30 };
        let shape = CounterShape { jumps, labels: 4, ..shape(None, copies.clone()) };
        often_not_robust(program_with_counters(seed, &shape), seed / 2)
    };
    let counts = compare_generated("counters, integers", 5_200_000, amount, generate, compare);
    assert!(of_class(&counts, "robust") > 3 && of_class(&counts, "not robust") > 5, "{counts:?}");
}

/// The program with a domain of so many values from 0 on, or in integers.
fn in_domain(program: &Program, size: Option<Value>) -> Program {
    let domain = size.map(|size| Domain { low: 0, high: size - 1, wrap: true, origin: DomainOrigin::File });
    Program { domain, ..program.clone() }
}

/// What is robust modulo m is so, without counters and to the oracle, in wider domains, with up to
/// 64 values, and in integers.
pub(super) fn compare_widths(program: &Program) -> Compared {
    let limits = Limits::none().with_timeout(SHORT);
    let Ok(checked) = unconfirmed_check(program, &CheckOptions { limits, ..CheckOptions::default() }) else {
        return Ok("a fault");
    };
    let Some(Abstraction::Modulo(modulo)) = &checked.abstraction else {
        return Ok(match checked.verdict {
            Verdict::Robust => "robust for its width",
            Verdict::NotRobust => "not robust",
            Verdict::Unknown(_) => "no verdict",
        });
    };
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        return Err(format!("the evidence is rejected: {failure}"));
    }
    let size = modulo.high - modulo.low + 1;
    let sizes = [1, 2, 3, 5, 8, 16, 32].map(|factor| factor * size).into_iter().filter(|size| *size <= 64);
    for size in sizes.map(Some).chain([None]) {
        let wider = in_domain(program, size);
        if decide(&wider, false, SHORT)? == Some(Verdict::NotRobust) {
            return Err(format!("robust modulo {}, but not with {size:?}", modulo.high + 1));
        }
        let said = Instance::of(&wider).and_then(|instance| oracle(&wider, &instance, None).unwrap_or(None));
        if matches!(said, Some(Said::Violated)) {
            return Err(format!("robust modulo {}, but not to the oracle with {size:?}", modulo.high + 1));
        }
    }
    Ok("robust for every width")
}

#[test]
fn verdicts_for_every_larger_width() {
    let amount = Amount { default: 28, long: 6_000 };
    let generate = |seed| {
        let copies = [Copies::Exactly(1), Copies::Exactly(2), Copies::Any];
        often_not_robust(program_with_counters(seed, &shape(Some(64), copies.to_vec())), seed)
    };
    let counts = compare_generated("counters, widths", 5_300_000, amount, generate, compare_widths);
    assert!(of_class(&counts, "robust for every width") > 0 && of_class(&counts, "not robust") > 0, "{counts:?}");
}
