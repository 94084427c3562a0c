//! Fence placement agrees with exhaustive search: every subset of labels, each tried by a check of
//! the changed program.

use crate::checked::check;
use crate::environment::seeds;
use palisade::fences::{
    Cost, CostFunction, FenceOptions, Measure, Placement, Profile, Repair, Silent, Unfinished, place, with_measures,
};
use palisade::program::{Action, Copies, LabelId, Program, SourceText};
use palisade::robustness::{AttackOutcome, CheckOptions, Verdict};
use palisade::semantics::random::{self, Randomness, Shape};
use palisade::syntax::{Format, print, read};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Measures tried exhaustively at most.
const LARGEST: usize = 7;

fn verdict(program: &Program) -> Option<Verdict> {
    let options = CheckOptions { values: 12, ..CheckOptions::default() };
    check(program, &options).ok().map(|checked| checked.verdict)
}

/// Every fence, and with `exchanges` every locked store, at all labels with instructions of threads
/// that run.
fn all_measures(program: &Program, exchanges: bool) -> Vec<Measure> {
    let mut measures = Vec::new();
    for (id, thread) in program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)) {
        let by_label = thread.instructions_by_label();
        for (label, instructions) in by_label.iter().enumerate() {
            if !instructions.is_empty() {
                measures.push(Measure::Fence { thread: id, label: LabelId::from_index(label) });
            }
        }
        for (store, instruction) in thread.instruction_ids() {
            if exchanges && matches!(instruction.action, Action::Store { .. }) {
                measures.push(Measure::Exchange { thread: id, store });
            }
        }
    }
    measures
}

/// Random costs for all labels, as a profile.
fn random_profile(program: &Program, random: &mut Randomness) -> Profile {
    let mut text = String::from("thread,label,cost\n");
    for thread in &program.threads {
        for label in &thread.labels {
            text += &format!("{},{},{}.{}\n", thread.name, label.name, 1 + random.below(4), random.below(100));
        }
    }
    Profile::read(&text, program).expect("the profile is well formed")
}

/// All sets of measures that cost at most `cost` and make the program robust. Costs are positive,
/// so these are the optima, provided that `cost` is theirs; anything else shows in a comparison.
fn exhaustive(
    program: &Program,
    measures: &[Measure],
    cost_of: impl Fn(Measure) -> Cost,
    cost: &Cost,
) -> Vec<Vec<Measure>> {
    let sets = (0..1usize << measures.len()).map(|bits| -> Vec<Measure> {
        (0..measures.len()).filter(|bit| bits >> bit & 1 == 1).map(|bit| measures[bit]).collect()
    });
    let cheap = sets.filter(|set| set.iter().map(|measure| cost_of(*measure)).sum::<Cost>() <= *cost);
    sorted(cheap.filter(|set| verdict(&with_measures(program, set)) == Some(Verdict::Robust)).collect())
}

fn sorted(mut sets: Vec<Vec<Measure>>) -> Vec<Vec<Measure>> {
    sets.iter_mut().for_each(|set| set.sort());
    sets.sort();
    sets
}

/// Nets alone lead to the same sets, attack by attack.
pub(super) fn compare_nets(program: &Program, options: &FenceOptions, searched: &Placement) {
    let on_nets = place(program, &FenceOptions { nets: true, ..options.clone() }, &Silent);
    let Ok(Repair::Valid(on_nets)) = on_nets else { panic!("nets find no set: {program:#?}") };
    // The values that nets consider are closed thread by thread, and may grow where those of the
    // program do not.
    if matches!(on_nets.stop, Some(Unfinished::Growth(_))) {
        return;
    }
    assert!(on_nets.confirmed && on_nets.proof.is_some() && on_nets.alternatives_complete);
    assert_eq!(on_nets.attacks, searched.attacks, "{program:#?}");
    assert_eq!(sorted(on_nets.alternatives.clone()), sorted(searched.alternatives.clone()), "{program:#?}");
    assert_eq!(on_nets.eliminations.len(), searched.eliminations.len());
    for (one, other) in on_nets.eliminations.iter().zip(&searched.eliminations) {
        assert_eq!((one.attack, one.complete), (other.attack, other.complete));
        assert_eq!(sorted(one.sets.clone()), sorted(other.sets.clone()), "{:?} of {program:#?}", one.attack);
    }
}

/// Checks of the changed programs alone lead to the same sets.
fn compare_checks(program: &Program, options: &FenceOptions, searched: &Placement) {
    let checked = place(program, &FenceOptions { checks: true, ..options.clone() }, &Silent);
    let Ok(Repair::Valid(checked)) = checked else { panic!("checks find no set: {program:#?}") };
    assert!(checked.confirmed && checked.proof.is_some() && checked.alternatives_complete);
    assert_eq!(checked.cost, searched.cost, "{program:#?}");
    assert_eq!(sorted(checked.alternatives.clone()), sorted(searched.alternatives.clone()), "{program:#?}");
    let is_feasible = |attack| searched.attacks.contains(&(attack, AttackOutcome::Feasible));
    assert_eq!(checked.returning.len(), checked.measures.len());
    assert!(checked.returning.iter().all(|returning| is_feasible(returning.attack)), "{program:#?}");
}

/// Compares the optimum of a program with exhaustive search over so many sets; nothing when that
/// was not feasible or the program is robust.
fn compare(program: &Program, cost: &CostFunction, exchange: Option<&Cost>) -> Option<usize> {
    let measures = all_measures(program, exchange.is_some());
    if measures.len() > LARGEST {
        return None;
    }
    let options = FenceOptions {
        cost: cost.clone(),
        exchange: exchange.cloned(),
        alternatives: 1000,
        values: 12,
        ..FenceOptions::default()
    };
    let Ok(Repair::Valid(placement)) = place(program, &options, &Silent) else { return None };
    if matches!(placement.stop, Some(Unfinished::Growth(_))) {
        return None;
    }
    assert!(placement.confirmed && placement.proof.is_some());
    compare_nets(program, &options, &placement);
    compare_checks(program, &options, &placement);
    let cost_of = |measure: Measure| -> Cost {
        let fence = match cost {
            CostFunction::Profile(profile) => {
                profile.cost(measure.thread(), measure.label(program)).expect("all labels have costs").clone()
            }
            _ => Cost::one(),
        };
        match measure {
            Measure::Exchange { .. } => fence.times(exchange.expect("exchanges are on offer")),
            _ => fence,
        }
    };
    let optima = exhaustive(program, &measures, cost_of, &placement.cost);
    assert!(placement.alternatives_complete);
    assert_eq!(sorted(placement.alternatives.clone()), optima, "{program:#?}");
    // Irreducible: the attack said to return makes the program not robust.
    assert_eq!(placement.returning.len(), placement.measures.len());
    for returning in &placement.returning {
        let rest: Vec<Measure> = placement
            .measures
            .iter()
            .map(|(measure, _)| *measure)
            .filter(|other| *other != returning.measure)
            .collect();
        let changed = with_measures(program, &rest);
        let all = CheckOptions { all: true, ..CheckOptions::default() };
        let checked = check(&changed, &all).expect("the changed program has a meaning");
        assert_eq!(checked.verdict, Verdict::NotRobust);
        assert!(
            checked
                .attacks
                .iter()
                .any(|report| { report.attack == returning.attack && report.outcome == AttackOutcome::Feasible })
        );
    }
    let bound = &placement.proof.as_ref().expect("there is a proof").bound;
    assert!(*bound <= placement.cost);
    (!placement.measures.is_empty()).then_some(1 << measures.len())
}

/// Costs for a program, and for half of the programs what a locked exchange costs beside a fence.
fn random_costs(program: &Program, mut random: Randomness) -> (CostFunction, Option<Cost>) {
    let cost = if random.percent(50) {
        CostFunction::Uniform
    } else {
        CostFunction::Profile(random_profile(program, &mut random))
    };
    let half = "0.5".parse().expect("a cost");
    (cost, random.percent(40).then_some(half))
}

/// Compares the programs of some seeds, thirty times as many in a long run; gives how many needed a
/// repair. A program that gives a disagreement away is shrunk and shown with its seed.
fn compare_random(
    name: &str,
    first_seed: u64,
    (default, long): (u64, u64),
    shape: &Shape,
    change: impl Fn(&mut Program, &mut Randomness) + Sync,
) -> usize {
    let (repaired, sets) = (AtomicUsize::new(0), AtomicUsize::new(0));
    seeds(default, long).into_par_iter().map(|seed| first_seed + seed).for_each(|seed| {
        let mut random = Randomness::new(seed ^ 0xfe);
        let mut program = random::program(seed, shape);
        change(&mut program, &mut random);
        let compare = |program: &Program| {
            let (cost, exchange) = random_costs(program, random.clone());
            catch_unwind(AssertUnwindSafe(|| compare(program, &cost, exchange.as_ref())))
        };
        match compare(&program) {
            Ok(tried) => {
                sets.fetch_add(tried.unwrap_or(0), Ordering::Relaxed);
                let number = repaired.fetch_add(usize::from(tried.is_some()), Ordering::Relaxed);
                if tried.is_some() && number % 100 == 99 {
                    println!("{name}: {} programs repaired", number + 1);
                }
            }
            Err(_) => {
                let small = random::shrink(&program, |smaller| compare(smaller).is_err());
                let text = print(&small, Format::Native).map(|printed| printed.text);
                panic!("{name}, seed {seed}, shrunk:\n{}", text.unwrap_or_default());
            }
        }
    });
    let repaired = repaired.into_inner();
    println!("{name}: {repaired} programs repaired, {} sets of fences tried", sets.into_inner());
    repaired
}

#[test]
fn random_programs_with_fixed_copies() {
    let shape = Shape { sections: 8, rmws: 5, fences: 3, total_labels: 7, ..Shape::default() };
    let compared = compare_random("fixed copies", 0, (600, 90_000), &shape, |_, _| {});
    assert!(compared >= 12, "only {compared} programs needed a repair");
}

#[test]
fn random_programs_with_any_number_of_copies() {
    let shape = Shape {
        copies: 2,
        total_labels: 6,
        labels: 4,
        sections: 6,
        rmws: 5,
        fences: 3,
        domains: 100,
        ..Shape::default()
    };
    let compared = compare_random("any number of copies", 10_000, (400, 75_000), &shape, |program, random| {
        for thread in &mut program.threads {
            if random.percent(60) {
                thread.copies = Copies::Any;
            }
        }
    });
    assert!(compared >= 6, "only {compared} programs needed a repair");
}

/// Loops, choices of values and locked sections.
#[test]
fn random_programs_with_loops() {
    let shape = Shape {
        copies: 2,
        total_labels: 6,
        labels: 4,
        sections: 25,
        rmws: 5,
        fences: 2,
        overtaken: 95,
        domains: 100,
        choices: 4,
        loops: 15,
        ..Shape::default()
    };
    let compared = compare_random("loops", 20_000, (400, 30_000), &shape, |_, _| {});
    assert!(compared >= 4, "only {compared} programs needed a repair");
}

/// Two stores that do the same are two all the same: searches and nets say that both have to
/// change.
#[test]
fn stores_that_do_the_same() {
    let text = "program twins
        thread t1 regs r init a begin
          a: mem[x] <- 1; goto b;
          b: mem[z] <- 1; goto c;
          b: mem[z] <- 1; goto c;
          c: r <- mem[y]; goto d;
        end
        thread t2 regs r init a begin
          a: mem[y] <- 1; goto b;
          b: mfence; goto c;
          c: r <- mem[x]; goto d;
        end";
    let program = read(SourceText::new("twins.pal", text), Format::Native).expect("a program").program;
    for nets in [false, true] {
        let options = FenceOptions {
            exchange: Some("0.25".parse().expect("a cost")),
            only: vec!["t1.b".parse().expect("a pattern")],
            nets,
            ..FenceOptions::default()
        };
        let Ok(Repair::Valid(placement)) = place(&program, &options, &Silent) else { panic!("it can be repaired") };
        let are_exchanges = |(measure, _): &(Measure, Cost)| matches!(measure, Measure::Exchange { .. });
        assert!(placement.measures.iter().all(are_exchanges), "{:?}", placement.measures);
        assert_eq!(placement.measures.len(), 2, "nets: {nets}");
        assert!(placement.confirmed && placement.proof.is_some());
    }
}
