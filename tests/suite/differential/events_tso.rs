//! Event-driven programs under TSO: the engine's answers are those of the oracle, which enumerates
//! all contents of store buffers.

use super::events::{bounds, occurring, said};
use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::check_tasks;
use palisade::program::{Copies, Posts, Program};
use palisade::robustness::{TaskCheck, Verdict};
use palisade::semantics::random::event_program_of;
use palisade::semantics::tasks::oracle::tso;

/// Distinct values of a register or an address in programs without a domain.
const VALUES: usize = 64;

/// The program that belongs to a seed; half of them with the other kind of posts.
fn generate(seed: u64) -> Program {
    let mut program = event_program_of(seed);
    if seed.is_multiple_of(2) {
        program.posts = if program.posts == Posts::Plain { Posts::Drain } else { Posts::Plain };
    }
    program
}

/// The engine's answer, its evidence checked; else the class of a program about which it has none.
fn engine(program: &Program) -> Result<(bool, TaskCheck), &'static str> {
    let checked = check_tasks(program, VALUES).map_err(|_| "no meaning")?;
    match checked.verdict {
        Verdict::Robust => Ok((true, checked)),
        Verdict::NotRobust => Ok((false, checked)),
        Verdict::Unknown(_) => Err("unknown"),
    }
}

fn compare(program: &Program) -> Compared {
    match (engine(program), said(tso(program, &bounds()))) {
        (Ok((answer, _)), Ok(expected)) if answer != expected => {
            Err(format!("the engine says robust: {answer}, the oracle: {expected}"))
        }
        (Ok((true, _)), Ok(_)) => Ok(if program.posts == Posts::Drain { "robust, drain" } else { "robust, plain" }),
        (Ok((false, _)), Ok(_)) => {
            Ok(if program.posts == Posts::Drain { "not robust, drain" } else { "not robust, plain" })
        }
        (Err("no meaning"), Ok(true)) => Err("robust, but the engine finds no meaning".to_owned()),
        (Err(class), _) | (_, Err(class)) => Ok(class),
    }
}

/// What is robust for any number of occurrences is robust for once, twice and thrice; where it is
/// not, the instance named is not, and no smaller one is, where the engine says so.
fn compare_any_number(program: &Program) -> Compared {
    let checked = match engine(&occurring(program, Copies::Any)) {
        Err(class) => return Ok(class),
        Ok((true, _)) => return few_are_robust(program),
        Ok((false, checked)) => checked,
    };
    let witness = checked.witness.as_ref().ok_or("no witness")?;
    let mut instance = occurring(program, Copies::Exactly(0));
    for (thread, count) in instance.threads.iter_mut().zip(&witness.instance).filter(|(thread, _)| thread.is_event()) {
        thread.copies = Copies::Exactly(*count);
    }
    match said(tso(&instance, &bounds())) {
        Ok(true) => return Err(format!("the instance {:?} is robust", witness.instance)),
        Ok(false) if checked.is_minimal => {}
        _ => return Ok("not robust"),
    }
    for index in 0..instance.threads.len() {
        let mut smaller = instance.clone();
        let thread = &mut smaller.threads[index];
        match thread.copies {
            Copies::Exactly(count @ 1..) if thread.is_event() => thread.copies = Copies::Exactly(count - 1),
            _ => continue,
        }
        if said(tso(&smaller, &bounds())) == Ok(false) {
            return Err(format!("the instance {:?} is not the smallest", witness.instance));
        }
    }
    Ok("not robust, smallest instance")
}

fn few_are_robust(program: &Program) -> Compared {
    let mut confirmed = "robust, all instances too large for the oracle";
    for (count, class) in [(1, "robust, 1"), (2, "robust, 1 to 2"), (3, "robust, 1 to 3")] {
        match said(tso(&occurring(program, Copies::Exactly(count)), &bounds())) {
            Ok(true) => confirmed = class,
            Ok(false) => return Err(format!("robust for any number of occurrences, but not for {count} of each")),
            Err(_) => break,
        }
    }
    Ok(confirmed)
}

#[test]
fn robustness_against_tso_is_what_the_oracle_says() {
    let amount = Amount { default: 200, long: 10_000 };
    let counts = compare_generated("events, TSO", 22_000_000, amount, generate, compare);
    for class in ["robust, drain", "robust, plain", "not robust, plain"] {
        assert!(of_class(&counts, class) > 10, "{counts:?}");
    }
    assert!(of_class(&counts, "not robust, drain") > 1, "{counts:?}");
    assert_eq!(of_class(&counts, "no meaning"), 0, "{counts:?}");
}

#[test]
fn robust_against_tso_for_any_number_of_occurrences() {
    let amount = Amount { default: 80, long: 5_000 };
    let counts = compare_generated("events, TSO, any number", 23_000_000, amount, generate, compare_any_number);
    assert!(of_class(&counts, "not robust, smallest instance") > 7, "{counts:?}");
    assert!(of_class(&counts, "robust, 1 to 2") + of_class(&counts, "robust, 1 to 3") > 0, "{counts:?}");
}
