//! Programs with counts that go up and down: what is said for any number of copies, with values
//! above a few as one, is so for few copies value by value, and its evidence is accepted.

use super::dice::Dice;
use super::instances::robust_with_few_copies;
use super::property_counters::{compare as compare_properties, with_properties};
use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::unconfirmed_check;
use palisade::limits::Limits;
use palisade::program::{Counted, Program, SourceText};
use palisade::questions::{About, confirm};
use palisade::robustness::{Abstraction, CheckOptions, Verdict};
use palisade::syntax::{Format, read};
use std::time::Duration;

/// How a copy adds what it will take away. `D` is how much, and `{` what is done while it is held.
const HOLDS: [&str; 7] = [
    "a = fetch_add(count, D); { b = fetch_sub(count, D);",
    "a = fetch_add(count, D); { a = fetch_sub(count, D);",
    "a = count; b = cas(count, a, a + D); if (a == b) { { fetch_sub(count, D); }",
    "a = count; if (a > 0) { b = cas(count, a, a + D); if (b == a) { { b = fetch_sub(count, D); } }",
    "if (cas(count, 0, 9000000000) == 0) { { fetch_sub(count, 9000000000); }",
    "fetch_add(count, D); a = fetch_add(count, 1); { fetch_sub(count, 1); b = fetch_sub(count, D);",
    "fetch_add(count, D); { a = count; b = cas(count, a, a - D); while (a != b) { a = b; b = cas(count, a, a - D); }",
];

/// What else a copy does. `?` is a condition.
const STEPS: [&str; 12] = [
    "x = 1; q = y;",
    "y = 1; q = x;",
    "q = x;",
    "if (?) { x = 1; }",
    "if (?) { q = y; }",
    "if (?) { fetch_sub(count, 1); }",
    "a = count; q = a == b;",
    "b = a + 1; q = b > 2;",
    "b = a - 1; q = !(b == 0 || a == b);",
    "q = a & 1; y = q;",
    "b = 0; q = a == 1;",
    "mfence;",
];

/// Conditions.
const CONDITIONS: [&str; 9] =
    ["a == 1", "b == 1", "a == b", "a != b", "b < 2", "a > 3", "q == 0", "!(a == b) || b == 0", "a + 1 == 2"];

/// A body of a thread.
fn body(dice: &mut Dice) -> String {
    let step = |dice: &mut Dice| dice.one_of(&STEPS).replace('?', dice.one_of(&CONDITIONS));
    let inside = (0..dice.below(3)).map(|_| step(dice)).collect::<String>();
    let by = dice.one_of(&["1", "1", "1", "2"]);
    let held = dice.one_of(&HOLDS).replace(" { {", &format!(" {{ {inside}")).replacen("; {", &format!("; {inside}"), 1);
    let held = held.replace('D', by);
    let before = if dice.below(2) == 0 { step(dice) } else { String::new() };
    let after = if dice.below(2) == 0 { step(dice) } else { String::new() };
    format!("{before} {held} {after}")
}

/// A program with a count.
fn with_count(seed: u64) -> Program {
    let mut dice = Dice(seed);
    let initial = dice.below(3);
    let registers = "let a = 0; let b = 0; let q = 0;";
    let many = body(&mut dice);
    let many = if dice.below(2) == 0 { format!("loop {{ {many} }}") } else { many };
    let other = match dice.below(3) {
        0 => String::new(),
        1 if initial > 0 => {
            let freed = dice.one_of(&["x = 1;", "y = 1; q = x;", ""]);
            format!("thread owner {{ {registers} a = fetch_sub(count, 1); if (a == 1) {{ {freed} }} }}")
        }
        _ => format!("thread other {{ {registers} {} }}", body(&mut dice)),
    };
    let text = format!(
        "program Count\naddress count, x, y\ninitial count = {initial}\nthread many [*] {{ {registers} {many} }}\n{other}"
    );
    read(SourceText::new("count.pal", text.clone()), Format::Native)
        .unwrap_or_else(|_| panic!("not a program: {text}"))
        .program
}

fn compare(program: &Program) -> Compared {
    if Counted::all_of(program).is_empty() {
        return Ok("no count");
    }
    let limits = Limits::none().with_timeout(Duration::from_secs(2));
    let options = CheckOptions { limits, values: 12, ..CheckOptions::default() };
    let Ok(checked) = unconfirmed_check(program, &options) else { return Ok("a fault") };
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        return Err(format!("{:?}, but the evidence is rejected: {failure}", checked.verdict));
    }
    let class = match (&checked.verdict, &checked.abstraction) {
        (Verdict::NotRobust, _) => return Ok("not robust"),
        (Verdict::Unknown(_), _) => return Ok("no verdict"),
        (Verdict::Robust, Some(Abstraction::Counting(_))) => "robust where many is one value",
        (Verdict::Robust, _) => "robust",
    };
    robust_with_few_copies(program, 3, &options).map_err(|but| format!("{class}, but {but}"))?;
    Ok(class)
}

#[test]
fn verdicts_of_counts_are_those_of_few_copies() {
    let amount = Amount { default: 40, long: 10_000 };
    let counts = compare_generated("counts", 8_100_000, amount, with_count, compare);
    assert!(
        of_class(&counts, "robust where many is one value") > 1 && of_class(&counts, "not robust") > 1,
        "{counts:?}"
    );
}

#[test]
fn what_is_proved_of_counts_is_reached_by_no_search() {
    let amount = Amount { default: 40, long: 10_000 };
    let generate = |seed: u64| with_properties(with_count(seed), seed);
    let compare = |own: &Program| {
        compare_properties(own).map(|class| if Counted::all_of(own).is_empty() { "no count" } else { class })
    };
    let counts = compare_generated("counts, properties", 8_200_000, amount, generate, compare);
    assert!(of_class(&counts, "not proved") > 1, "{counts:?}");
}
