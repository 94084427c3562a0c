//! Programs with tickets: what is robust without them is robust with few copies, to searches that
//! know all values and to the oracle.

use super::dice::Dice;
use super::instances::robust_with_few_copies;
use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::unconfirmed_check;
use crate::environment::is_long_run;
use palisade::limits::Limits;
use palisade::program::{Program, SourceText, Tickets};
use palisade::questions::{About, confirm};
use palisade::robustness::{Abstraction, CheckOptions, Verdict};
use palisade::syntax::{Format, read};
use std::time::Duration;

/// A lock by tickets, or nearly one: some wait for another ticket, serve the wrong one, or too
/// early, or do not wait at all.
pub(super) fn nearly_a_ticket_lock(seed: u64) -> Program {
    let mut dice = Dice(seed);
    let mut steps: Vec<&str> = Vec::new();
    let early = dice.one_of(&["", "", "", "", "s <- mem[serving];", "q <- mem[next];", "mem[x] <- 1;"]);
    steps.push(early);
    steps.push(dice.one_of(&[
        "t <- fetch_add(mem[next], 1);",
        "t <- fetch_add(mem[next], 1);",
        "t <- fetch_add(mem[next], 2);",
    ]));
    steps.push(dice.one_of(&["", "", "", "u <- t;", "u <- t + 1;", "mem[y] <- 1;", "q <- mem[y];"]));
    let waits = [
        "WAIT s = t",
        "WAIT s = t",
        "WAIT s = t",
        "WAIT s = t",
        "WAIT t = s",
        "WAIT !(s != t)",
        "WAIT s - t = 0",
        "WAIT s + 1 = t",
        "WAIT s + 1 = t + 1",
        "WAIT s != t",
        "",
    ];
    steps.push(dice.one_of(&waits));
    if dice.below(4) > 0 {
        steps.extend(["mem[x] <- 1;", "q <- mem[y];"]);
    }
    for _ in 0..dice.below(3) {
        let inside =
            ["mem[x] <- 1;", "mem[y] <- 1;", "mem[y] <- 1;", "q <- mem[x];", "q <- mem[y];", "mfence;", "mem[x] <- 2;"];
        steps.push(dice.one_of(&inside));
    }
    steps.push(dice.one_of(&["", "", "", "s <- mem[serving];", "s <- mem[serving];", "s <- s + 0;"]));
    let serves = [
        "mem[serving] <- t + 1;",
        "mem[serving] <- t + 1;",
        "mem[serving] <- t + 1;",
        "mem[serving] <- s + 1;",
        "mem[serving] <- s + 1;",
        "mem[serving] <- s + 1;",
        "mem[serving] <- t + 2;",
        "mem[serving] <- u + 1;",
        "mem[serving] <- u;",
        "mem[serving] <- 1;",
        "mem[serving] <- t;",
        "",
    ];
    steps.push(dice.one_of(&serves));
    for _ in 0..dice.below(3) {
        let more = [
            "q <- mem[y];",
            "q <- mem[x];",
            "mem[z] <- 1;",
            "q <- mem[z];",
            "s <- mem[serving];",
            "assert s = t;",
            "assert q = 0;",
            "assert s != t;",
            "mfence;",
        ];
        steps.push(dice.one_of(&more));
    }
    let mut body = String::new();
    let steps: Vec<&str> = steps.into_iter().filter(|step| !step.is_empty()).collect();
    for (number, step) in steps.iter().enumerate() {
        let next = number + 1;
        match step.strip_prefix("WAIT ") {
            Some(condition) => {
                let other = if dice.below(4) == 0 {
                    String::new()
                } else {
                    format!("  w{number}: assert !({condition}); goto l{number};\n")
                };
                body += &format!(
                    "  l{number}: s <- mem[serving]; goto w{number};\n  w{number}: assert {condition}; goto l{next};\n{other}"
                );
            }
            None => body += &format!("  l{number}: {step} goto l{next};\n"),
        }
    }
    let last = steps.len();
    body += &format!("  l{last}: nop; goto {};\n", dice.one_of(&["end", "end", "l0"]));
    let address = if dice.below(10) == 0 { "mem[x + 0]" } else { "mem[x]" };
    let reader = match dice.below(4) {
        0 => format!(
            "thread reader regs a, b init r0 begin\n  r0: {address} <- 2; goto r1;\n  r1: a <- mem[y]; goto r2;\nend\n"
        ),
        1 => "thread reader regs a, b init r0 begin\n  r0: a <- mem[x]; goto r1;\n  r1: b <- mem[y]; goto r2;\nend\n"
            .to_owned(),
        _ => String::new(),
    };
    let (domain, copies) = match dice.below(6) {
        0..=3 => ("", "*"),
        4 => ("", "3"),
        _ => (dice.one_of(&["domain 0..3 wrap", "domain 0..7 wrap"]), dice.one_of(&["2", "3"])),
    };
    let first = if dice.below(8) == 0 { "initial serving = 1\n" } else { "" };
    let text = format!(
        "program Tickets\n{domain}\naddress next, serving, x, y, z\n{first}\nthread worker [{copies}] regs t, s, u, q init l0 begin\n{body}end\n\n{reader}"
    );
    read(SourceText::new("tickets.pal", text.clone()), Format::Native)
        .unwrap_or_else(|_| panic!("not a program: {text}"))
        .program
}

fn compare(program: &Program) -> Compared {
    // Programs without tickets are compared elsewhere.
    if Tickets::of(program).is_none() {
        return Ok("no tickets");
    }
    // One takes two seconds alone, and a busy machine a good deal more.
    let limits = Limits::none().with_timeout(Duration::from_secs(if is_long_run() { 20 } else { 120 }));
    let options = CheckOptions { limits, values: 8, ..CheckOptions::default() };
    let Ok(checked) = unconfirmed_check(program, &options) else { return Ok("a fault") };
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        return Err(format!("{:?}, but the evidence is rejected: {failure}", checked.verdict));
    }
    let without_values = match (&checked.verdict, &checked.abstraction) {
        (Verdict::NotRobust, _) => return Ok("not robust"),
        (Verdict::Unknown(_), _) => return Ok("no verdict"),
        (Verdict::Robust, Some(Abstraction::Turns(_))) => "robust without tickets",
        (Verdict::Robust, _) => "robust",
    };
    let few = if is_long_run() { 3 } else { 2 };
    robust_with_few_copies(program, few, &options).map_err(|but| format!("{without_values}, but {but}"))?;
    Ok(without_values)
}

/// Where tickets are erased, other proofs are not asked: so these are programs for which others
/// find none, or find them later.
#[test]
fn verdicts_without_tickets_are_those_with_all_values() {
    let amount = Amount { default: 12, long: 20_000 };
    let counts = compare_generated("tickets", 5_500_000, amount, nearly_a_ticket_lock, compare);
    assert!(of_class(&counts, "robust without tickets") >= 1 && of_class(&counts, "not robust") >= 1, "{counts:?}");
}
