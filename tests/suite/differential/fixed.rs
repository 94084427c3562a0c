//! Fixed numbers of copies: the engine's verdict is the oracle's, and its evidence is accepted.

use super::instances::{Said, objection_to_violation, oracle};
use super::{Amount, Compared, compare_all, of_class};
use crate::checked::unconfirmed_check;
use palisade::program::Program;
use palisade::questions::{About, confirm};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::Instance;
use palisade::semantics::random::Shape;

/// Programs without loops that show all that the language has.
fn shapes() -> Vec<Shape> {
    let shape = Shape { labels: 5, total_labels: 9, overtaken: 95, fences: 2, rmws: 4, ..Shape::default() };
    vec![
        shape.clone(),
        Shape { sections: 70, rmws: 15, ..shape.clone() },
        Shape { addresses: 4, indirect: 40, branches: 25, ..shape.clone() },
        Shape { domains: 100, choices: 15, indirect: 25, ..shape.clone() },
        Shape { rmws: 35, domains: 50, ..shape.clone() },
        Shape { copies: 4, labels: 3, total_labels: 10, sections: 30, ..shape },
    ]
}

fn compare(program: &Program, options: &CheckOptions) -> Compared {
    let checked = match unconfirmed_check(program, options) {
        Ok(checked) => checked,
        // What is left of a program that is shrunk may have no meaning, such as `r <- *` without a
        // domain.
        Err(fault) => match Instance::of(program).map(|instance| oracle(program, &instance, None)) {
            Some(Ok(Some(_))) => return Err(format!("no meaning: {}", fault.describe(program))),
            _ => return Ok("no meaning"),
        },
    };
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    match confirm(&About::new(program), &checked) {
        None => return Err("no answer".to_owned()),
        Some(Err(failure)) => return Err(format!("{:?}, but the evidence is rejected: {failure}", checked.verdict)),
        Some(Ok(())) => {}
    }
    let Some(said) = oracle(program, &instance, None)? else { return Ok("too large for the oracle") };
    match (checked.verdict.clone(), said) {
        (Verdict::Robust, Said::Robust) => Ok("robust"),
        (Verdict::NotRobust, Said::Violated) => {
            objection_to_violation(program, &checked)?;
            Ok("not robust")
        }
        (verdict, said) => Err(format!("{verdict:?}, but the oracle says {said:?}")),
    }
}

#[test]
fn verdicts_are_those_of_the_oracle() {
    let amount = Amount { default: 360, long: 60_000 };
    let counts =
        compare_all("fixed", 1_000_000, amount, &shapes(), |program| compare(program, &CheckOptions::default()));
    assert!(of_class(&counts, "robust") > 90 && of_class(&counts, "not robust") > 12, "{counts:?}");
    assert_eq!(of_class(&counts, "no meaning"), 0);
}

/// The nets alone, without what control flow tells and without any search.
#[test]
fn verdicts_on_nets_are_those_of_the_oracle() {
    let amount = Amount { default: 96, long: 12_000 };
    let options = CheckOptions { nets: true, prune: false, ..CheckOptions::default() };
    let shapes: Vec<Shape> =
        shapes().into_iter().map(|shape| Shape { domains: 100, total_labels: 7, ..shape }).collect();
    let counts = compare_all("fixed, on nets", 1_200_000, amount, &shapes, |program| compare(program, &options));
    assert!(of_class(&counts, "robust") > 24 && of_class(&counts, "not robust") > 2, "{counts:?}");
}
