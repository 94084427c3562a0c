//! Programs in integers with counters that are compared by order: robust where what is far behind
//! is one value is robust with few copies, to searches that know all values and to the oracle.

use super::dice::Dice;
use super::instances::robust_with_few_copies;
use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::unconfirmed_check;
use crate::environment::is_long_run;
use palisade::limits::Limits;
use palisade::program::{Program, SourceText};
use palisade::questions::{About, confirm};
use palisade::robustness::{Abstraction, CheckOptions, Verdict};
use palisade::syntax::{Format, read};
use std::time::Duration;

/// What a thread does at a place.
const STEPS: [&str; 14] = [
    "a <- mem[top];",
    "a <- mem[top];",
    "b <- mem[bottom];",
    "b <- mem[bottom];",
    "a <- fetch_add(mem[top], 1);",
    "b <- fetch_add(mem[bottom], 1);",
    "q <- cas(mem[top], a, a + 1); q <- 0;",
    "mem[bottom] <- b + 1;",
    "mem[bottom] <- a;",
    "mem[x] <- 1;",
    "mem[x] <- 1; q <- mem[y];",
    "mem[y] <- 1; q <- mem[x];",
    "q <- mem[y];",
    "mfence;",
];

/// What a thread asks at a place.
const CONDITIONS: [&str; 10] = [
    "a < b",
    "a <= b",
    "a = b",
    "a != b",
    "b - a > 1",
    "b - a = 2",
    "a + 1 = b",
    "!(a + 1 >= b)",
    "(a & 1) = 0",
    "a = b || b < a",
];

/// A thread that does some of this again and again.
fn thread(dice: &mut Dice, name: &str, copies: &str) -> String {
    let length = 3 + dice.below(4);
    let mut body = String::new();
    for number in 0..length {
        let next = number + 1;
        if dice.below(3) == 0 {
            let condition = dice.one_of(&CONDITIONS);
            body += &format!("  l{number}: assert {condition}; goto l{next};\n");
            if dice.below(4) > 0 {
                body += &format!("  l{number}: assert !({condition}); goto l{};\n", dice.below(length));
            }
            continue;
        }
        let step = dice.one_of(&STEPS);
        match step.split_once("; ") {
            Some((first, second)) => {
                body += &format!("  l{number}: {first}; goto m{number};\n  m{number}: {second} goto l{next};\n");
            }
            None => body += &format!("  l{number}: {step} goto l{next};\n"),
        }
    }
    format!(
        "thread {name} [{copies}] regs a, b, q init l0 begin\n{body}  l{length}: nop; goto {};\nend\n",
        dice.one_of(&["l0", "l0", "l0", "end"])
    )
}

pub(super) fn counters_by_order(seed: u64) -> Program {
    let mut dice = Dice(seed);
    let copies = dice.one_of(&["*", "*", "2", "3"]);
    let first = thread(&mut dice, "many", copies);
    let second = thread(&mut dice, "one", "1");
    let text = format!("program Far\naddress top, bottom, x, y\n{first}\n{second}");
    read(SourceText::new("far.pal", text.clone()), Format::Native)
        .unwrap_or_else(|_| panic!("not a program: {text}"))
        .program
}

fn compare(program: &Program) -> Compared {
    let seconds = if is_long_run() { 20 } else { 2 };
    let limits = Limits::none().with_timeout(Duration::from_secs(seconds));
    let options = CheckOptions { limits, values: 12, ..CheckOptions::default() };
    let Ok(checked) = unconfirmed_check(program, &options) else { return Ok("a fault") };
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        return Err(format!("{:?}, but the evidence is rejected: {failure}", checked.verdict));
    }
    match (&checked.verdict, &checked.abstraction) {
        (Verdict::NotRobust, _) => return Ok("not robust"),
        (Verdict::Unknown(_), _) => return Ok("no verdict"),
        (Verdict::Robust, Some(Abstraction::Far(_))) => {}
        (Verdict::Robust, _) => return Ok("robust"),
    }
    robust_with_few_copies(program, 3, &options).map_err(|but| format!("robust where far is one value, but {but}"))?;
    Ok("robust where far is one value")
}

#[test]
fn verdicts_where_far_is_one_value_are_those_with_all_values() {
    let amount = Amount { default: 16, long: 10_000 };
    let counts = compare_generated("far", 5_600_000, amount, counters_by_order, compare);
    assert!(
        of_class(&counts, "robust where far is one value") > 1 && of_class(&counts, "not robust") > 0,
        "{counts:?}"
    );
}
