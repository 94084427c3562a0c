//! Loops: what the oracle finds in a few steps the engine finds too, and what the engine calls
//! robust has no such violation.

use super::instances::{Said, objection_to_violation, oracle};
use super::{Amount, Compared, compare_all, of_class};
use crate::checked::unconfirmed_check;
use palisade::program::Program;
use palisade::questions::{About, confirm};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::Instance;
use palisade::semantics::random::Shape;

/// So many steps of each copy the oracle looks at, most first: fewer where these would take too
/// long.
const STEPS: [u32; 3] = [6, 5, 4];

fn compare(program: &Program) -> Compared {
    let Ok(checked) = unconfirmed_check(program, &CheckOptions::default()) else { return Ok("growing") };
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    match confirm(&About::new(program), &checked) {
        None => return Err("no answer".to_owned()),
        Some(Err(failure)) => return Err(format!("{:?}, but the evidence is rejected: {failure}", checked.verdict)),
        Some(Ok(())) => {}
    }
    if checked.verdict == Verdict::NotRobust {
        objection_to_violation(program, &checked)?;
    }
    for steps in STEPS {
        let Some(said) = oracle(program, &instance, Some(steps))? else { continue };
        return match (&checked.verdict, said) {
            (Verdict::Robust, Said::Violated) => Err(format!("robust, but not in {steps} steps")),
            (Verdict::NotRobust, Said::Robust) => Err("not robust, but the oracle says robust".to_owned()),
            (Verdict::Robust, Said::Robust) => Ok("robust"),
            (Verdict::Robust, _) => Ok("robust, and so are the first steps"),
            (_, Said::Violated) => Ok("not robust"),
            _ => Ok("not robust after more steps"),
        };
    }
    Ok("too large for the oracle")
}

#[test]
fn bounded_computations_agree() {
    let shape = Shape {
        copies: 2,
        labels: 4,
        total_labels: 7,
        loops: 25,
        domains: 100,
        choices: 4,
        overtaken: 95,
        fences: 2,
        rmws: 4,
        branches: 20,
        ..Shape::default()
    };
    let shapes = [
        shape.clone(),
        Shape { sections: 60, ..shape.clone() },
        Shape { rmws: 30, ..shape.clone() },
        Shape { addresses: 3, indirect: 40, ..shape.clone() },
        Shape { copies: 3, labels: 3, ..shape },
    ];
    let amount = Amount { default: 55, long: 40_000 };
    let counts = compare_all("loops", 2_000_000, amount, &shapes, compare);
    assert!(of_class(&counts, "not robust") > 0, "{counts:?}");
    assert!(of_class(&counts, "robust, and so are the first steps") > 2, "{counts:?}");
}
