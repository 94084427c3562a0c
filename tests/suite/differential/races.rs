//! Triangular races: the engine's answer is the oracle's, its evidence is accepted, and programs
//! without races are robust.

use super::instances::{Said, oracle};
use super::{Amount, Compared, compare_all, of_class};
use palisade::program::{Copies, Program};
use palisade::properties::races::{RaceOptions, RaceVerdict, Races, implies_robustness, races};
use palisade::questions::{About, confirm};
use palisade::semantics::race_oracle::has_race;
use palisade::semantics::random::Shape;
use palisade::semantics::{ExplorationError, Instance};

/// States that the oracle visits at most.
const MOST_STATES: usize = 100_000;

/// Instances of programs with any number of copies have so many of each replicated thread at most.
const MOST_OF_A_THREAD: u64 = 3;

fn shapes() -> Vec<Shape> {
    let shape = Shape { labels: 5, total_labels: 9, overtaken: 80, fences: 6, rmws: 6, ..Shape::default() };
    vec![
        shape.clone(),
        Shape { sections: 70, rmws: 15, ..shape.clone() },
        Shape { addresses: 4, indirect: 40, branches: 25, ..shape.clone() },
        Shape { domains: 100, choices: 15, indirect: 25, store_fences: 5, ..shape.clone() },
        Shape { rmws: 35, domains: 50, ..shape.clone() },
        Shape { domains: 100, loops: 30, ..shape },
    ]
}

/// The engine's answer with evidence that is accepted.
fn answered(program: &Program) -> Result<Option<Races>, String> {
    // A step without a value makes a program one that has no meaning, for the oracle as well.
    let Ok(found) = races(program, &RaceOptions::default()) else { return Ok(None) };
    match confirm(&About::new(program), &found) {
        None => Err("no answer".to_owned()),
        Some(Err(failure)) => Err(format!("{:?}, but the evidence is rejected: {failure}", found.verdict)),
        Some(Ok(())) => Ok(Some(found)),
    }
}

fn compare_fixed(program: &Program) -> Compared {
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    let said = has_race(program, &instance, MOST_STATES);
    let Some(found) = answered(program)? else {
        return match said {
            Err(ExplorationError::Value(_)) | Ok(None | Some(true)) => Ok("no meaning"),
            said => Err(format!("no meaning, but the oracle says {said:?}")),
        };
    };
    match (&found.verdict, said) {
        (_, Err(_)) => Ok("no meaning"),
        (_, Ok(None)) => Ok("too large for the oracle"),
        (RaceVerdict::Racy(_), Ok(Some(true))) => Ok("racy"),
        (RaceVerdict::Free(_), Ok(Some(false))) => match oracle(program, &instance, None) {
            Ok(Some(Said::Violated)) if implies_robustness(program) => Err("no race, but not robust".to_owned()),
            Ok(Some(Said::Violated)) => Ok("race-free by sections"),
            Ok(Some(Said::Robust)) => Ok("race-free and robust"),
            _ => Ok("race-free"),
        },
        (verdict, said) => Err(format!("{verdict:?}, but the oracle says {said:?}")),
    }
}

#[test]
fn races_are_those_of_the_oracle() {
    let amount = Amount { default: 300, long: 60_000 };
    let counts = compare_all("races", 2_000_000, amount, &shapes(), compare_fixed);
    assert!(of_class(&counts, "racy") > 29 && of_class(&counts, "race-free and robust") > 59, "{counts:?}");
}

/// All instances with at most so many copies of each replicated thread.
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

fn compare_any(program: &Program) -> Compared {
    if !program.is_parameterized() {
        return Ok("fixed");
    }
    let Some(found) = answered(program)? else { return Ok("no meaning") };
    let ask = |instance: &Instance| has_race(program, instance, MOST_STATES).ok().flatten();
    match &found.verdict {
        RaceVerdict::Racy(race) => {
            if ask(&race.instance) == Some(false) {
                return Err(format!("{:?} has no race", race.instance.counts()));
            }
            let smaller = |instance: &Instance| instance.total() < race.instance.total();
            let racy = |instance: &Instance| ask(instance) == Some(true);
            match instances(program, MOST_OF_A_THREAD).into_iter().filter(smaller).find(racy) {
                Some(instance) if race.instance_minimal => Err(format!("{:?} has a race", instance.counts())),
                _ => Ok("racy"),
            }
        }
        RaceVerdict::Free(_) => {
            let racy = instances(program, MOST_OF_A_THREAD).into_iter().find(|instance| ask(instance) == Some(true));
            racy.map_or(Ok("race-free"), |instance| Err(format!("{:?} has a race", instance.counts())))
        }
        RaceVerdict::Unknown(reason) => Err(format!("no answer: {reason}")),
    }
}

#[test]
fn any_number_of_copies_has_the_races_of_its_instances() {
    let shape = Shape { any: 60, copies: 2, labels: 4, total_labels: 6, domains: 100, fences: 12, ..Shape::default() };
    let shapes = [shape.clone(), Shape { rmws: 30, sections: 30, ..shape.clone() }, Shape { loops: 25, ..shape }];
    let counts =
        compare_all("races, any number", 2_100_000, Amount { default: 70, long: 12_000 }, &shapes, compare_any);
    assert!(of_class(&counts, "racy") > 1 && of_class(&counts, "race-free") > 17, "{counts:?}");
}
