//! Hangs: there is a stuck state exactly if the oracle's enumeration meets one, and all evidence is
//! accepted.

use super::{Amount, Compared, compare_generated, of_class};
use crate::checked;
use crate::environment::is_long_run;
use palisade::hangs::{HangOptions, Hangs, Method, Verdict, Why};
use palisade::program::{Copies, Program};
use palisade::semantics::hang_oracle::{HangEffort, hangs};
use palisade::semantics::random::{Randomness, WaitShape, waiting_program};
use palisade::semantics::{Instance, Model};
use palisade::syntax::{Format, parse};
use palisade::text::SourceText;

/// Configurations of one exploration at most.
const MOST: u64 = 20_000;

/// Whether an instance has a stuck state; nothing where that is not known.
pub(super) fn is_stuck(program: &Program, instance: &Instance, model: Model, states: usize) -> Option<bool> {
    let effort = HangEffort { states, ..HangEffort::default() };
    let found = hangs(program, instance, model, effort).ok()?;
    (found.closed || !found.stuck.is_empty()).then_some(!found.stuck.is_empty())
}

/// The engine's answer, with evidence that is accepted; nothing where a step has no meaning.
pub(super) fn answered(program: &Program, model: Model) -> Result<Option<Hangs>, String> {
    answered_by(program, HangOptions { most: Some(MOST), ..HangOptions::new(model) })
}

fn answered_by(program: &Program, options: HangOptions) -> Result<Option<Hangs>, String> {
    let model = options.model;
    match checked::hangs(program, &options) {
        Err(_) => Ok(None),
        Ok(Ok(found)) => Ok(Some(found)),
        Ok(Err(failure)) => Err(format!("under {model:?} the evidence is rejected: {failure}")),
    }
}

fn compare_fixed(program: &Program) -> Compared {
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    let mut class = "free";
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let Some(found) = answered(program, model)? else { return Ok("no meaning") };
        match (&found.verdict, is_stuck(program, &instance, model, 4_000)) {
            (_, None) | (Verdict::Unknown(Why::Stopped(_) | Why::BuffersLonger(_)), _) => return Ok("too large"),
            (Verdict::Stuck(_), Some(true)) if class.starts_with("free") => {
                class = if model == Model::Sc { "stuck under SC" } else { "stuck under buffers alone" };
            }
            (Verdict::Free(_), Some(false)) if found.by == Method::ScRobust => class = "free, robust",
            (Verdict::Stuck(_), Some(true)) | (Verdict::Free(_), Some(false)) => {}
            (verdict, said) => return Err(format!("under {model:?}: {verdict:?}, but the oracle says {said:?}")),
        }
    }
    Ok(class)
}

/// The same with all steps and with those that are enough.
fn compare_few(program: &Program) -> Compared {
    let mut class = "free";
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let options = HangOptions { most: Some(MOST), ..HangOptions::new(model) };
        let all = answered_by(program, HangOptions { all_steps: MOST, ..options.clone() })?;
        let few = answered_by(program, HangOptions { all_steps: 0, ..options })?;
        let (all, few) = match (all, few) {
            (Some(all), Some(few)) => (all, few),
            (None, None) => return Ok("no meaning"),
            (all, few) => return Err(format!("under {model:?} {all:?}, but with few steps {few:?}")),
        };
        let leaves_out = matches!(&few.verdict, Verdict::Free(free) if free.set.leaves_out);
        match (&all.verdict, &few.verdict) {
            (Verdict::Stuck(_), Verdict::Stuck(_)) => class = "stuck",
            (Verdict::Free(_), Verdict::Free(_)) if leaves_out && class == "free" => class = "free by few steps",
            (Verdict::Free(_), Verdict::Free(_)) => {}
            (Verdict::Unknown(_), _) => return Ok("too large"),
            (all, few) => return Err(format!("under {model:?}: {all:?}, but with few steps {few:?}")),
        }
    }
    Ok(class)
}

#[test]
fn few_steps_find_the_stuck_states_that_all_find() {
    let shapes = [
        WaitShape { copies: 2, statements: 3, ..WaitShape::default() },
        WaitShape { copies: 1, statements: 5, sleeps: 30, addresses: 4, ..WaitShape::default() },
        WaitShape { copies: 2, sleeps: 0, locks: 30, awaits: 25, addresses: 4, ..WaitShape::default() },
    ];
    let generate = |seed: u64| waiting_program(seed, &shapes[usize::try_from(seed % 3).expect("small")]);
    let amount = Amount { default: 300, long: 30_000 };
    let counts = compare_generated("few steps", 3_400_000, amount, generate, compare_few);
    assert!(of_class(&counts, "free by few steps") > 3 && of_class(&counts, "stuck") > 3, "{counts:?}");
}

#[test]
fn stuck_states_are_those_of_the_oracle() {
    let shapes = [
        WaitShape { copies: 2, statements: 3, ..WaitShape::default() },
        WaitShape { copies: 2, sleeps: 40, marks: 12, ..WaitShape::default() },
        WaitShape { copies: 2, sleeps: 0, locks: 0, awaits: 25, addresses: 3, ..WaitShape::default() },
        WaitShape { statements: 2, locks: 40, ..WaitShape::default() },
    ];
    let generate = |seed: u64| waiting_program(seed, &shapes[usize::try_from(seed % 4).expect("small")]);
    let amount = Amount { default: 60, long: 20_000 };
    let counts = compare_generated("hangs", 3_000_000, amount, generate, compare_fixed);
    assert!(of_class(&counts, "stuck under SC") > 3 && of_class(&counts, "free") > 3, "{counts:?}");
}

/// A program whose threads publish, look what another one has published, and then wait or help.
fn looking(seed: u64) -> Program {
    const DEEDS: [&str; 8] = [
        "k = 1; ",
        "await (k == 1); ",
        "xchg(k, 1); ",
        "k = 1; wake(k, all); ",
        "wait(k, 0); ",
        "release(k); ",
        "acquire(k); ",
        "own = 0; ",
    ];
    let mut random = Randomness::new(seed);
    let mut text = "program looking\ndomain 0..3 wrap\naddress x, y, k\n".to_owned();
    for (thread, own, other) in [("a", "x", "y"), ("b", "y", "x")] {
        let fence = if random.percent(25) { "mfence; " } else { "" };
        let seen = random.below(2);
        let mut deed = || DEEDS[random.below(DEEDS.len())].replace("own", own);
        let (then, last) = (deed(), deed());
        let last = if random.percent(30) { last } else { String::new() };
        text.push_str(&format!("thread {thread} {{ {own} = 1; {fence}if ({other} == {seen}) {{ {then}}} {last}}}\n"));
    }
    let parsed = parse(SourceText::new("looking.pal", text.clone()), Format::Native);
    parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
}

#[test]
fn who_looks_too_early_hangs_under_store_buffers() {
    let amount = Amount { default: 40, long: 8_000 };
    let counts = compare_generated("looking", 3_200_000, amount, looking, compare_fixed);
    let alone = of_class(&counts, "stuck under buffers alone");
    assert!(alone > 0 && of_class(&counts, "stuck under SC") > 1 && of_class(&counts, "free") > 1, "{counts:?}");
}

/// All instances with at most so many copies of each replicated thread, each number by itself.
fn instances(program: &Program, most: u64) -> Vec<Instance> {
    let mut counts: Vec<Vec<u64>> = vec![Vec::new()];
    for thread in &program.threads {
        let range = match thread.copies {
            Copies::Exactly(count) => count..=count,
            Copies::Any => 0..=most,
        };
        let longer = |before: &Vec<u64>| range.clone().map(|count| [before.as_slice(), &[count]].concat()).collect();
        counts = counts.iter().flat_map(|before| -> Vec<Vec<u64>> { longer(before) }).collect();
    }
    counts.into_iter().map(Instance::new).collect()
}

/// Up to how many copies of each replicated thread instances are enumerated.
fn most_copies() -> u64 {
    if is_long_run() { 5 } else { 3 }
}

fn compare_any(program: &Program) -> Compared {
    if !program.is_parameterized() {
        return Ok("fixed");
    }
    for model in [Model::Sc, Model::Tso] {
        let Some(found) = answered(program, model)? else { return Ok("no meaning") };
        let stuck = |instance: &Instance| is_stuck(program, instance, model, 4_000) == Some(true);
        match &found.verdict {
            Verdict::Stuck(_) => return Ok("stuck"),
            Verdict::Free(_) => {
                if let Some(instance) = instances(program, most_copies()).into_iter().find(stuck) {
                    return Err(format!("free under {model:?}, but {:?} is stuck", instance.counts()));
                }
            }
            Verdict::Unknown(_) => {
                let is_stuck = instances(program, most_copies()).iter().any(stuck);
                return Ok(if is_stuck { "stuck, not found" } else { "open" });
            }
        }
    }
    Ok("free")
}

#[test]
fn any_number_of_copies_hangs_as_its_instances_do() {
    let shape = WaitShape { copies: 2, statements: 3, any: 60, marks: 10, ..WaitShape::default() };
    let generate = |seed: u64| waiting_program(seed, &shape);
    let amount = Amount { default: 25, long: 6_000 };
    let counts = compare_generated("hangs, any number", 3_100_000, amount, generate, compare_any);
    assert!(of_class(&counts, "free") > 1 && of_class(&counts, "stuck") > 1, "{counts:?}");
    assert!(of_class(&counts, "stuck, not found") == 0, "{counts:?}");
}
