//! Robustness against TSO of programs that wait: a try that fails is no event, in the engine, the
//! checker and the oracle alike.

use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::{check_pso, unconfirmed_check};
use palisade::program::Program;
use palisade::questions::{About, confirm};
use palisade::robustness::{Check, CheckOptions, Verdict};
use palisade::semantics::oracle::{Answer, robust};
use palisade::semantics::random::Randomness;
use palisade::semantics::{Bounds, Instance};
use palisade::syntax::{Format, parse};
use palisade::text::SourceText;

/// A copy takes fewer steps than this, as a program without loops goes back nowhere.
const STEPS: u32 = 40;

/// The engine's answer, with evidence that is accepted; nothing where a step has no meaning.
fn answered<'p>(program: &'p Program, options: &CheckOptions) -> Result<Option<Check<'p>>, String> {
    let Ok(checked) = unconfirmed_check(program, options) else { return Ok(None) };
    match confirm(&About::new(program), &checked) {
        None => Err("no answer".to_owned()),
        Some(Err(failure)) => Err(format!("{:?}, but the evidence is rejected: {failure}", checked.verdict)),
        Some(Ok(())) => Ok(Some(checked)),
    }
}

fn compare(program: &Program, options: &CheckOptions) -> Compared {
    let Some(checked) = answered(program, options)? else { return Ok("no meaning") };
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    let bounds = Bounds { steps: Some(STEPS), ..Bounds::default() };
    match (&checked.verdict, robust(program, &instance, &bounds)) {
        (_, Err(_) | Ok(Answer::Robust { truncated: true })) => Ok("too large for the oracle"),
        (Verdict::NotRobust, Ok(Answer::Violated { .. })) => Ok("not robust"),
        (Verdict::Robust, Ok(Answer::Robust { .. })) => {
            let spinning = program.spinning();
            let tries = answered(&spinning, options)?.is_some_and(|checked| checked.verdict == Verdict::NotRobust);
            Ok(if tries { "robust, but for its tries" } else { "robust" })
        }
        (verdict, said) => Err(format!("{verdict:?}, but the oracle says {said:?}")),
    }
}

/// A program without loops, so that only what waits goes back. Threads store, load, await and lock.
fn publishing(seed: u64) -> Program {
    let mut random = Randomness::new(seed);
    let mut text = "program publishing\ndomain 0..2 wrap\naddress x, y, z, m\n".to_owned();
    for thread in ["a", "b", "c"].into_iter().take(2 + random.below(2)) {
        let mut body = String::new();
        for number in 0..2 + random.below(3) {
            let (place, value) = (["x", "y", "z"][random.below(3)], random.below(3));
            body += &match random.below(12) {
                0..=4 => format!("{place} = {}; ", 1 + value % 2),
                5..=7 => format!("let r{number} = {place}; "),
                8 => format!("await ({place} != {value}); "),
                9 | 10 => format!("await ({place} == {value}); "),
                _ => format!("lock(m); {place} = 1; unlock(m); "),
            };
        }
        text += &format!("thread {thread} {{ {body}}}\n");
    }
    let parsed = parse(SourceText::new("publishing.pal", text.clone()), Format::Native);
    parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
}

fn compare_with(name: &str, first_seed: u64, amount: Amount, options: &CheckOptions) {
    let counts = compare_generated(name, first_seed, amount, publishing, |program| compare(program, options));
    let tries = of_class(&counts, "robust, but for its tries");
    assert!(tries > 1 && of_class(&counts, "not robust") > 3, "{counts:?}");
}

#[test]
fn tries_that_fail_are_no_events() {
    let amount = Amount { default: 160, long: 20_000 };
    compare_with("awaits", 3_300_000, amount, &CheckOptions::default());
}

#[test]
fn tries_that_fail_are_no_events_on_nets() {
    let amount = Amount { default: 60, long: 4_000 };
    let options = CheckOptions { nets: true, prune: false, ..CheckOptions::default() };
    compare_with("awaits, on nets", 3_400_000, amount, &options);
}

/// Against PSO tries are events: of `x` two stores must be delayed for the last read to go on, and
/// no single one lets it.
#[test]
fn tries_are_events_against_pso() {
    let text = "program tries\naddress x, u, v\nthread a { x = 1; u = 1; }\nthread b { x = 1; v = 1; }\n\
                thread c { await (u == 1); await (v == 1); await (x == 0); }\n";
    let program = parse(SourceText::new("tries.pal", text), Format::Native).expect("it is right").program;
    let checked = answered(&program, &CheckOptions::default()).expect("evidence").expect("a meaning");
    assert_eq!(checked.verdict, Verdict::Robust);
    let checked = check_pso(&program, CheckOptions::default().values).expect("a meaning");
    assert_eq!(checked.verdict, Verdict::NotRobust);
}
