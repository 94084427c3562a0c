//! Programs whose counters fall or rise: what is robust where these stop is robust with few copies,
//! to searches that know all values and to the oracle.

use super::instances::robust_with_few_copies;
use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::unconfirmed_check;
use palisade::limits::Limits;
use palisade::program::{Program, SourceText};
use palisade::questions::{About, confirm};
use palisade::robustness::{Abstraction, CheckOptions, Verdict};
use palisade::semantics::random::Randomness;
use palisade::syntax::{Format, read};
use std::time::Duration;

/// A lock by a counter that falls (or rises), or nearly one.
fn nearly_a_spinlock(seed: u64) -> Program {
    let mut random = Randomness::new(seed);
    let mut one_of = |choices: &[&str]| choices[random.below(choices.len())].to_owned();
    let falls = one_of(&["falls", "falls", "rises"]) == "falls";
    let or = |down: &'static str, up: &'static str| if falls { down } else { up };
    let steps = [
        one_of(&["", "", "mem[x] <- 1;", "r <- mem[y];"]),
        one_of(&[
            or("r <- fetch_add(mem[n], -1);", "r <- fetch_add(mem[n], 1);"),
            or("r <- fetch_add(mem[n], -1);", "r <- fetch_add(mem[n], 1);"),
            or("r <- fetch_add(mem[n], -2);", "r <- fetch_add(mem[n], 2);"),
            "r <- mem[n];",
        ]),
        one_of(&["", "", or("q <- r - 1;", "q <- r + 1;"), "q <- r - 3;", "r <- r + 1;"]),
        one_of(&[
            or("WAIT r > 0", "WAIT r < 0"),
            or("WAIT r - 1 >= 0", "WAIT r + 1 <= 0"),
            or("WAIT r = 1", "WAIT r = -1"),
            or("WAIT !(r <= -1)", "WAIT !(r >= 1)"),
            or("WAIT 0 < r", "WAIT 0 > r"),
            "WAIT r",
        ]),
        one_of(&["mem[x] <- 1;", "mem[x] <- 1;", "mem[x] <- r;", "s <- mem[x];", ""]),
        one_of(&["s <- mem[y];", "s <- mem[y];", "mem[y] <- 1;", "mfence;", ""]),
        one_of(&["mem[y] <- 1;", "s <- mem[x];", ""]),
        one_of(&[
            or("mem[n] <- 1;", "mem[n] <- -1;"),
            or("mem[n] <- 1;", "mem[n] <- -1;"),
            or("mem[n] <- 1;", "mem[n] <- -1;"),
            "mem[n] <- q;",
            or("s <- xchg(mem[n], 1);", "s <- xchg(mem[n], -1);"),
            or("s <- fetch_add(mem[n], 1);", "s <- fetch_add(mem[n], -1);"),
            "",
        ]),
        one_of(&["s <- mem[z];", "s <- mem[y];", "mem[z] <- 1;", "s <- cas(mem[n], 1, 0);", ""]),
    ];
    let ends = one_of(&["end", "l0"]);
    let retries = one_of(&["m", "l0", ""]);
    let copies = one_of(&["*", "*", "*", "3"]);
    let reader = one_of(&[
        "",
        "",
        "thread reader regs a init r0 begin r0: a <- mem[x]; goto r1; r1: a <- mem[y]; goto r2; end",
        "thread reader regs a init r0 begin r0: mem[y] <- 1; goto r1; r1: a <- mem[x]; goto r2; end",
    ]);
    let steps: Vec<&String> = steps.iter().filter(|step| !step.is_empty()).collect();
    let mut body = String::new();
    for (number, step) in steps.iter().enumerate() {
        let next = number + 1;
        match step.strip_prefix("WAIT ") {
            Some(condition) => {
                body += &format!("  l{number}: assert {condition}; goto l{next};\n");
                match retries.as_str() {
                    "m" => {
                        body += &format!("  l{number}: assert !({condition}); goto m{number};\n");
                        body += &format!("  m{number}: r <- mem[n]; goto l{number};\n");
                    }
                    "l0" => body += &format!("  l{number}: assert !({condition}); goto l0;\n"),
                    _ => {}
                }
            }
            None => body += &format!("  l{number}: {step} goto l{next};\n"),
        }
    }
    body += &format!("  l{}: nop; goto {ends};\n", steps.len());
    let initial = or("1", "-1");
    let text = format!(
        "program Falls\naddress n, x, y, z\ninitial n = {initial}\n\nthread worker [{copies}] regs r, q, s init l0 begin\n{body}end\n\n{reader}\n"
    );
    read(SourceText::new("falls.pal", text.clone()), Format::Native)
        .unwrap_or_else(|_| panic!("not a program: {text}"))
        .program
}

fn compare(program: &Program) -> Compared {
    let limits = Limits::none().with_timeout(Duration::from_secs(20));
    let options = CheckOptions { limits, values: 12, ..CheckOptions::default() };
    let Ok(checked) = unconfirmed_check(program, &options) else { return Ok("a fault") };
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        return Err(format!("{:?}, but the evidence is rejected: {failure}", checked.verdict));
    }
    let class = match (&checked.verdict, &checked.abstraction) {
        (Verdict::NotRobust, _) => return Ok("not robust"),
        (Verdict::Unknown(_), _) => return Ok("no verdict"),
        (Verdict::Robust, Some(Abstraction::Stopping(_))) => "robust where values stop",
        (Verdict::Robust, _) => "robust",
    };
    robust_with_few_copies(program, 3, &options).map_err(|but| format!("{class}, but {but}"))?;
    Ok(class)
}

#[test]
fn verdicts_where_values_stop_are_those_with_all_values() {
    let amount = Amount { default: 120, long: 10_000 };
    let counts = compare_generated("saturation", 5_600_000, amount, nearly_a_spinlock, compare);
    assert!(of_class(&counts, "robust where values stop") > 6 && of_class(&counts, "not robust") > 12, "{counts:?}");
}
