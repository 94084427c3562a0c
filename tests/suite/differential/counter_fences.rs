//! Fences for programs with counters: what checks of the changed programs find costs what searches
//! for attacks find that know all values; the sets that are found in integers are valid with few
//! copies, to searches with all values and to the oracle, and their evidence is accepted.

use super::counters::{often_not_robust, shape, with_domains};
use super::far::counters_by_order;
use super::instances::robust_with_few_copies;
use super::{Amount, Compared, compare_generated, of_class};
use crate::environment::is_long_run;
use palisade::fences::{
    FenceOptions, Measure, Placement, Repair, RepairOptions, Repaired, Silent, WithinLimits, place, repair,
    with_measures,
};
use palisade::limits::Limits;
use palisade::program::{Copies, Counters, Program, SourceText};
use palisade::robustness::CheckOptions;
use palisade::semantics::random::{CounterShape, program_with_counters};
use palisade::syntax::{Format, print, read};
use std::time::Duration;

fn options() -> FenceOptions {
    let seconds = if is_long_run() { 20 } else { 2 };
    FenceOptions {
        values: 12,
        limits: Limits::none().with_timeout(Duration::from_secs(seconds)),
        ..FenceOptions::default()
    }
}

/// What is known to be a cheapest set, found by checks or by searches; nothing where that takes too
/// long.
fn placed(program: &Program, checks: bool) -> Option<Placement> {
    match place(program, &FenceOptions { checks, ..options() }, &Silent) {
        Ok(Repair::Valid(placement)) => Some(*placement).filter(|placement| placement.proof.is_some()),
        _ => None,
    }
}

fn compare_with_searches(program: &Program) -> Compared {
    match (placed(program, true), placed(program, false)) {
        (Some(checked), Some(searched)) if checked.cost != searched.cost => {
            Err(format!("checks find fences at {}, searches at {}", checked.cost, searched.cost))
        }
        (Some(_), Some(_)) if Counters::of(program).is_empty() => Ok("no counters"),
        (Some(checked), Some(_)) if checked.measures.is_empty() => Ok("robust"),
        (Some(_), Some(_)) => Ok("fenced"),
        _ => Ok("no answer"),
    }
}

#[test]
fn fences_with_fixed_copies_cost_what_searches_say() {
    let amount = Amount { default: 48, long: 5_000 };
    let copies = [Copies::Exactly(1), Copies::Exactly(2)];
    let generate = |seed| often_not_robust(with_domains(seed, &copies), seed);
    let counts = compare_generated("fences with counters, fixed", 5_700_000, amount, generate, compare_with_searches);
    assert!(of_class(&counts, "fenced") > 9 && of_class(&counts, "robust") > 4, "{counts:?}");
}

#[test]
fn fences_for_any_number_of_copies_cost_what_searches_say() {
    let amount = Amount { default: 30, long: 3_000 };
    let copies = [Copies::Any, Copies::Any, Copies::Exactly(1)];
    let generate = |seed| often_not_robust(with_domains(seed, &copies), seed);
    let counts = compare_generated("fences with counters, any", 5_710_000, amount, generate, compare_with_searches);
    assert!(of_class(&counts, "fenced") > 2 && of_class(&counts, "robust") > 1, "{counts:?}");
}

/// The repair of a program as its own text says it.
fn repaired(program: &Program) -> Option<(Program, Repaired)> {
    let text = print(program, Format::Native).ok()?.text;
    let program = read(SourceText::new("counters.pal", text), Format::Native).expect("it is printed well").program;
    let wanted = RepairOptions { language: &Format::Native, path: "repaired.pal".into(), redundant: false };
    // A program with a fault is none to repair. Evidence that is rejected is.
    match repair(&program, &options(), &wanted, &Silent, &WithinLimits) {
        Ok(found) => Some((program, found)),
        Err(palisade::fences::RepairError::Fences(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

fn compare_in_integers(program: &Program) -> Compared {
    let Some((program, found)) = repaired(program) else { return Ok("a fault") };
    let placement = match &found.repair {
        Repair::Valid(placement) if placement.proof.is_some() => placement,
        _ => return Ok("no answer"),
    };
    let Some(shown) = found.shown.as_ref().filter(|shown| shown.is_complete) else { return Ok("no evidence") };
    if !shown.facts.as_ref().is_some_and(palisade::verify::RepairFacts::is_optimal) {
        return Err("the evidence does not show the set a cheapest one".to_owned());
    }
    let measures: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
    let options = CheckOptions { values: 12, limits: options().limits, ..CheckOptions::default() };
    robust_with_few_copies(&with_measures(&program, &measures), 3, &options)
        .map_err(|but| format!("valid, but with the fences {but}"))?;
    let knows_all = found
        .certificate
        .as_ref()
        .is_some_and(|own| own.modulo.is_none() && own.tickets.is_empty() && own.ends.is_empty() && own.far.is_empty());
    Ok(match (measures.is_empty(), knows_all) {
        (true, _) => "robust",
        (false, false) => "fenced, with counters that are not all known",
        (false, true) => "fenced",
    })
}

#[test]
fn fences_in_integers_are_enough_with_few_copies() {
    let amount = Amount { default: 12, long: 4_000 };
    let copies = vec![Copies::Exactly(1), Copies::Exactly(2), Copies::Any];
    let generate = |seed: u64| {
        if seed.is_multiple_of(3) {
            return counters_by_order(seed);
        }
        let shape = CounterShape { labels: 4, ..shape(None, copies.clone()) };
        often_not_robust(program_with_counters(seed, &shape), seed / 2)
    };
    let counts = compare_generated("fences, integers", 5_720_000, amount, generate, compare_in_integers);
    assert!(of_class(&counts, "fenced, with counters that are not all known") > 0, "{counts:?}");
}
