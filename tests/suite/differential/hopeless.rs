//! Who waits while others go on: the engine's answer is the oracle's, and all evidence is accepted.

use super::{Amount, Compared, compare_generated, of_class};
use crate::checked;
use palisade::hangs::{HangOptions, Method, Verdict, Why};
use palisade::program::Program;
use palisade::semantics::hang_oracle::HangEffort;
use palisade::semantics::hope_oracle::hopeless;
use palisade::semantics::random::{WaitShape, waiting_program};
use palisade::semantics::{Instance, Model};

fn compare(program: &Program) -> Compared {
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    let mut class = "hopeful";
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let options = HangOptions { most: Some(20_000), ..HangOptions::new(model) };
        let found = match checked::hopeless(program, &options) {
            Err(_) => return Ok("no meaning"),
            Ok(Err(failure)) => return Err(format!("under {model:?} the evidence is rejected: {failure}")),
            Ok(Ok(found)) => found,
        };
        let effort = HangEffort { states: 4_000, ..HangEffort::default() };
        let Ok((somebody, true)) = hopeless(program, &instance, model, effort) else { return Ok("too large") };
        match (&found.verdict, somebody) {
            (Verdict::Unknown(Why::Stopped(_) | Why::BuffersLonger(_)), _) => return Ok("too large"),
            (Verdict::Stuck(stuck), true) if stuck.hopeless.is_some() => {
                let hangs = checked::hangs(program, &options).map(|found| found.map(|found| found.verdict));
                let is_stuck = matches!(hangs, Ok(Ok(Verdict::Stuck(_))));
                class = if is_stuck { "stuck" } else { "hopeless beside others" };
            }
            (Verdict::Free(_), false) if found.by == Method::ScRobust => class = "hopeful, robust",
            (Verdict::Free(certificate), false) if certificate.is_hopeful => {}
            (verdict, said) => return Err(format!("under {model:?}: {verdict:?}, but the oracle says {said}")),
        }
    }
    Ok(class)
}

#[test]
fn who_waits_while_others_go_on_is_as_the_oracle_says() {
    let shapes = [
        WaitShape { copies: 2, statements: 3, loops: 25, ..WaitShape::default() },
        WaitShape { copies: 2, statements: 2, loops: 35, awaits: 25, ..WaitShape::default() },
        WaitShape { copies: 3, statements: 2, loops: 20, sleeps: 35, marks: 10, ..WaitShape::default() },
        WaitShape { statements: 2, locks: 40, loops: 20, ..WaitShape::default() },
    ];
    let generate = |seed: u64| waiting_program(seed, &shapes[usize::try_from(seed % 4).expect("small")]);
    let amount = Amount { default: 60, long: 8_000 };
    let counts = compare_generated("hopeless", 3_400_000, amount, generate, compare);
    assert!(of_class(&counts, "hopeful") > 3 && of_class(&counts, "stuck") > 3, "{counts:?}");
}
