//! Event-driven programs: the engine's answers about concurrency are those of the oracle, which
//! enumerates all interleavings.

use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::check_concurrency;
use palisade::concurrency::{ConcurrencyOptions, ConcurrencyVerdict};
use palisade::limits::Limits;
use palisade::program::{Copies, Program};
use palisade::semantics::random::event_program_of;
use palisade::semantics::tasks::oracle::{Answer, Kind, OracleError, TaskBounds, concurrency};
use std::time::Duration;

const KINDS: [Kind; 2] = [Kind::Serializability, Kind::Determinism];

/// How far the oracles go. Only invocations with loops take as many steps.
pub(super) fn bounds() -> TaskBounds {
    TaskBounds { steps: Some(12), configurations: 10_000, ..TaskBounds::default() }
}

/// How long the engine may take about one program.
fn limits() -> Limits {
    Limits::none().with_timeout(Duration::from_secs(5))
}

/// What an oracle says: whether the program is robust, or the class of a program about which it
/// says nothing.
pub(super) fn said<W>(answer: Result<Answer<W>, OracleError>) -> Result<bool, &'static str> {
    match answer {
        Ok(Answer::Robust { truncated: true }) => Err("no violation in few steps"),
        Ok(answer) => Ok(answer.is_robust()),
        Err(OracleError::TooLarge | OracleError::Stopped(_)) => Err("too large for the oracle"),
        Err(OracleError::Value(_)) => Err("no meaning"),
        Err(OracleError::AnyNumber(_) | OracleError::NoEvent(_)) => Err("not a question"),
    }
}

/// The program with every event as often as that.
pub(super) fn occurring(program: &Program, copies: Copies) -> Program {
    let mut program = program.clone();
    program.threads.iter_mut().filter(|thread| thread.is_event()).for_each(|event| event.copies = copies);
    program
}

/// The engine's answer, its evidence checked; else the class of a program about which it has none.
fn engine(program: &Program) -> Result<bool, &'static str> {
    // Without loops fewer tasks are posted. With loops of posts there are more and more states
    // until the answer is `unknown`; that may come soon.
    let options = ConcurrencyOptions { limits: limits(), pending: 12, ..ConcurrencyOptions::default() };
    match check_concurrency(program, &options).map(|checked| checked.verdict) {
        Ok(ConcurrencyVerdict::Robust(_)) => Ok(true),
        Ok(ConcurrencyVerdict::NotRobust(_)) => Ok(false),
        Ok(ConcurrencyVerdict::Unknown(_) | ConcurrencyVerdict::TooManyPending(_)) => Err("unknown"),
        Err(_) => Err("no meaning"),
    }
}

fn compare(program: &Program) -> Compared {
    match (engine(program), said(concurrency(program, &KINDS, &bounds()))) {
        (Ok(answer), Ok(expected)) if answer != expected => {
            Err(format!("the engine says robust: {answer}, the oracle: {expected}"))
        }
        (Ok(true), Ok(_)) => Ok("robust"),
        (Ok(false), Ok(_)) => Ok("not robust"),
        // What the engine finds to have no meaning may lie behind the violation that the oracle
        // finds first.
        (Err("no meaning"), Ok(true)) => Err("robust, but the engine finds no meaning".to_owned()),
        (Err(class), _) | (_, Err(class)) => Ok(class),
    }
}

/// What is robust for any number of occurrences is robust for once, twice and thrice.
fn compare_any_number(program: &Program) -> Compared {
    match engine(&occurring(program, Copies::Any)) {
        Err(class) => return Ok(class),
        Ok(false) => return Ok("not robust"),
        Ok(true) => {}
    }
    let mut confirmed = "robust, all instances too large for the oracle";
    for (count, class) in [(1, "robust, 1"), (2, "robust, 1 to 2"), (3, "robust, 1 to 3")] {
        match said(concurrency(&occurring(program, Copies::Exactly(count)), &KINDS, &bounds())) {
            Ok(true) => confirmed = class,
            Ok(false) => return Err(format!("robust for any number of occurrences, but not for {count} of each")),
            Err(_) => break,
        }
    }
    Ok(confirmed)
}

#[test]
fn robustness_against_concurrency_is_what_the_oracle_says() {
    let amount = Amount { default: 80, long: 20_000 };
    let counts = compare_generated("events, concurrency", 20_000_000, amount, event_program_of, compare);
    assert!(of_class(&counts, "robust") > 10 && of_class(&counts, "not robust") > 10, "{counts:?}");
    assert_eq!(of_class(&counts, "no meaning"), 0, "{counts:?}");
}

#[test]
fn robust_for_any_number_of_occurrences_is_robust_for_few() {
    let amount = Amount { default: 32, long: 5_000 };
    let counts = compare_generated("events, any number", 21_000_000, amount, event_program_of, compare_any_number);
    assert!(of_class(&counts, "not robust") > 5 && of_class(&counts, "robust, 1 to 2") > 0, "{counts:?}");
}
