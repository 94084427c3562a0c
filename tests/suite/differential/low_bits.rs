//! Programs in which positions of 64 bits grow: what is said of them by their low bits is so for
//! few copies value by value, and its evidence is accepted.

use super::dice::Dice;
use super::instances::robust_with_few_copies;
use super::property_counters::{compare as compare_properties, with_properties};
use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::unconfirmed_check;
use palisade::limits::Limits;
use palisade::program::{LowBits, Program, SourceText};
use palisade::questions::{About, confirm};
use palisade::robustness::{Abstraction, CheckOptions, Verdict};
use palisade::syntax::{Format, read};
use std::time::Duration;

/// What a thread does at a place.
const STEPS: [&str; 26] = [
    "a <- mem[tail];",
    "a <- mem[tail];",
    "b <- mem[head];",
    "b <- mem[slot + (a & 1)];",
    "b <- mem[slot + (a & 1)];",
    "b <- cas(mem[tail], a, i64(a + 1)); q <- a = b;",
    "b <- cas(mem[tail], a, i64(a + 1)); q <- b != a;",
    "q <- cas(mem[head], b, i64(b + 2)); q <- q = b;",
    "b <- cas(mem[tail], a, a); a <- b;",
    "a <- fetch_add(mem[head], 3);",
    "mem[slot + (a & 1)] <- i64(a + 1);",
    "mem[slot + (b & 1)] <- i64(b + 2);",
    "mem[slot + (a & 1)] <- b;",
    "b <- rmw(mem[slot + (a & 1)], i64(old + 2));",
    "q <- a = b;",
    "q <- i64(a + 1) = b;",
    "q <- i64(b - a) < 1;",
    "q <- a & 3;",
    "b <- i64((a & -2) + 2);",
    "a <- q * a + !q * b;",
    "r <- u32(r + 1);",
    "r <- 0;",
    "mem[x] <- 1; q <- mem[y];",
    "mem[y] <- 1; q <- mem[x];",
    "mem[x] <- q & 1;",
    "mfence;",
];

/// What a thread asks at a place.
const CONDITIONS: [&str; 11] = [
    "a = b",
    "a != b",
    "b = i64(a + 1)",
    "i64(a + 1) != b && q = 0",
    "!(a = b || q = 1)",
    "a & 1",
    "q = 0",
    "q",
    "r = 1",
    "u32(r) < 2",
    "(a & -2) = b",
];

/// A thread that does some of this once, or again and again.
fn thread(dice: &mut Dice, name: &str, copies: &str) -> String {
    let length = 3 + dice.below(5);
    let mut body = String::new();
    for number in 0..length {
        let next = number + 1;
        if dice.below(4) == 0 {
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
    let end = dice.one_of(&["l0", "l0", "end"]);
    format!("thread {name} [{copies}] regs a, b, q, r init l0 begin\n{body}  l{length}: nop; goto {end};\nend\n")
}

/// A program with two slots and two positions.
fn with_positions(seed: u64) -> Program {
    let mut dice = Dice(seed);
    let copies = dice.one_of(&["*", "*", "2", "1"]);
    let one = thread(&mut dice, "many", copies);
    let other = if dice.below(3) == 0 { String::new() } else { thread(&mut dice, "other", "1") };
    let text = format!("program Low\naddress tail, head, slot[2], x, y\ninitial slot[1] = 1\n{one}\n{other}");
    read(SourceText::new("low.pal", text.clone()), Format::Native)
        .unwrap_or_else(|_| panic!("not a program: {text}"))
        .program
}

/// With more values than these an exploration gives up, so that low bits are asked.
const FEW: usize = 8;

fn has_low_bits(program: &Program) -> bool {
    LowBits::all_of(program, 1).next().is_some() || LowBits::of_rounds(program).is_some()
}

fn compare(program: &Program) -> Compared {
    if !has_low_bits(program) {
        return Ok("no low bits");
    }
    let limits = Limits::none().with_timeout(Duration::from_secs(2));
    let options = CheckOptions { limits, values: FEW, ..CheckOptions::default() };
    let Ok(checked) = unconfirmed_check(program, &options) else { return Ok("a fault") };
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        return Err(format!("{:?}, but the evidence is rejected: {failure}", checked.verdict));
    }
    let class = match (&checked.verdict, &checked.abstraction) {
        (Verdict::NotRobust, _) => return Ok("not robust"),
        (Verdict::Unknown(_), _) => return Ok("no verdict"),
        (Verdict::Robust, Some(Abstraction::Low(_))) => "robust by low bits",
        (Verdict::Robust, _) => "robust",
    };
    let options = CheckOptions { values: 64, ..options };
    robust_with_few_copies(program, 3, &options).map_err(|but| format!("{class}, but {but}"))?;
    Ok(class)
}

#[test]
fn verdicts_with_low_bits_are_those_of_few_copies() {
    let amount = Amount { default: 150, long: 10_000 };
    let counts = compare_generated("low bits", 8_500_000, amount, with_positions, compare);
    assert!(of_class(&counts, "robust by low bits") > 2 && of_class(&counts, "not robust") > 1, "{counts:?}");
}

#[test]
fn what_is_proved_by_low_bits_is_reached_by_no_search() {
    let amount = Amount { default: 60, long: 6_000 };
    let generate = |seed: u64| with_properties(with_positions(seed), seed);
    let compare =
        |own: &Program| compare_properties(own).map(|class| if has_low_bits(own) { class } else { "no low bits" });
    let counts = compare_generated("low bits, properties", 8_600_000, amount, generate, compare);
    assert!(of_class(&counts, "not proved") > 1, "{counts:?}");
}
