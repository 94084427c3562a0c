//! Fences for properties on random programs: costs and all cheapest sets are those that the oracle
//! finds by putting fences in.

use crate::environment::seeds;
use palisade::fences::{Measure, with_measures};
use palisade::program::Program;
use palisade::properties::Proof;
use palisade::properties::placement::pairs::{Method, MethodError, PairOptions, PairsPlaced, place_pairs};
use palisade::properties::placement::{Placed, PlacementOptions, PropertyPlacement, place};
use palisade::semantics::property_oracle::{
    Effort, FenceKind, FenceMeasure, cheapest, minimal_valid_sets, targets, violated_targets,
};
use palisade::semantics::random::{self, Shape};
use palisade::semantics::{Instance, Model};
use palisade::syntax::{Format, print, read};
use palisade::verify::check_property;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What was compared, to see that the test has seen something.
#[derive(Debug, Default)]
struct Seen {
    /// Programs that some fences keep from their targets.
    fenced: AtomicUsize,
    /// Of these, those that need a store fence in every cheapest set.
    store_fenced: AtomicUsize,
    /// Programs that no fence helps.
    hopeless: AtomicUsize,
    /// Programs without a need for fences.
    fine: AtomicUsize,
    /// Programs that a rung left open.
    open: AtomicUsize,
    /// Programs that are beyond the oracle.
    skipped: AtomicUsize,
}

fn add(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn shape(loops: u64) -> Shape {
    Shape {
        copies: 3,
        labels: 4,
        total_labels: 8,
        addresses: 2,
        branches: 5,
        rmws: 6,
        sections: 6,
        indirect: 3,
        domains: if loops > 0 { 100 } else { 10 },
        loops,
        store_fences: 5,
        stores_first: 70,
        properties: 5,
        joined: 40,
        cycles: 75,
        ..Shape::default()
    }
}

/// The program of a seed as a text gives it: printed and read again.
fn program(seed: u64, shape: &Shape) -> Program {
    let made = random::program(seed, shape);
    let text = print(&made, Format::Native).expect("it can be written").text;
    read(palisade::program::SourceText::new("random.pal", text), Format::Native).expect("it can be read").program
}

fn fence(measure: Measure) -> FenceMeasure {
    match measure {
        Measure::Fence { thread, label } => FenceMeasure { thread, label, kind: FenceKind::Full },
        Measure::StoreFence { thread, label } => FenceMeasure { thread, label, kind: FenceKind::Store },
        Measure::Exchange { .. } | Measure::Kept { .. } | Measure::Ordered { .. } => {
            panic!("{measure:?} was not on offer")
        }
    }
}

/// Places fences and compares.
fn compare(seed: u64, program: &Program, model: Model, seen: &Seen) {
    let instance = Instance::of(program).expect("numbers of copies are fixed");
    let effort = Effort { capacity: 6, states: 60_000 };
    let wanted: BTreeSet<_> = targets(program, None).into_iter().collect();
    if wanted.is_empty() {
        return;
    }
    let place = || place(program, None, &PlacementOptions { alternatives: 1000, ..PlacementOptions::new(model) });
    let Ok(under_sc) = violated_targets(program, &instance, None, Model::Sc, effort) else {
        return add(&seen.skipped);
    };
    if !under_sc.is_empty() {
        add(&seen.hopeless);
        let placed = place();
        assert!(matches!(placed, Ok(Placed::NoFenceHelps(_))), "seed {seed} {model:?}: {placed:?}\n{program:#?}");
        return;
    }
    let Ok(found) = minimal_valid_sets(program, &instance, None, &wanted, model, effort) else {
        return add(&seen.skipped);
    };
    let price = |measure: &FenceMeasure| u64::from(measure.kind == FenceKind::Full && model == Model::Pso) + 1;
    let (cost, sets) = cheapest(&found, price).expect("all fences together make it SC");
    let placed = place();
    let Ok(Placed::Valid(placement)) = placed else { panic!("seed {seed} {model:?}: {placed:?}\n{program:#?}") };
    confirm(program, &placement);
    if placement.open.is_some() {
        return add(&seen.open);
    }
    let own: BTreeSet<BTreeSet<FenceMeasure>> =
        placement.alternatives.iter().map(|set| set.iter().map(|measure| fence(*measure)).collect()).collect();
    let sets: BTreeSet<BTreeSet<FenceMeasure>> = sets.into_iter().collect();
    assert_eq!(placement.cost.to_string(), cost.to_string(), "seed {seed} {model:?}\n{program:#?}");
    assert!(placement.alternatives_complete);
    assert_eq!(own, sets, "seed {seed} {model:?}\n{program:#?}");
    add(if cost == 0 { &seen.fine } else { &seen.fenced });
    let needs_store_fence = |set: &BTreeSet<FenceMeasure>| set.iter().any(|measure| measure.kind == FenceKind::Store);
    if sets.iter().all(needs_store_fence) {
        add(&seen.store_fenced);
    }
}

/// `verify` accepts the proof of a placement.
fn confirm(program: &Program, placement: &PropertyPlacement) {
    let measures: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
    let Some(evidence) = placement.proof.as_ref().and_then(Proof::evidence) else { return };
    let facts = check_property(&with_measures(program, &measures), None, &evidence);
    let facts = facts.unwrap_or_else(|failure| panic!("{failure}\n{program:#?}"));
    assert!(placement.open.is_some() || facts.others.is_empty(), "every target has a proof");
}

#[test]
fn cheapest_sets_are_the_oracles() {
    let seeds = seeds(8, 20_000);
    let count = seeds.end - seeds.start;
    let seen = Seen::default();
    seeds.into_par_iter().for_each(|seed| {
        let program = program(seed, &shape(if seed % 4 == 0 { 15 } else { 0 }));
        compare(seed, &program, Model::Tso, &seen);
        compare(seed, &program, Model::Pso, &seen);
    });
    let at_least = |counter: &AtomicUsize, part: u64| counter.load(Ordering::Relaxed) as u64 * part >= count;
    assert!(at_least(&seen.fenced, 20) && at_least(&seen.fine, 20) && at_least(&seen.store_fenced, 100), "{seen:?}");
    assert!(seen.open.load(Ordering::Relaxed) as u64 * 20 <= count, "{seen:?}");
    println!("{seen:?}");
}

/// How many pairs a method bans, none where no ban helps; or why it does not come to its end.
fn bans(program: &Program, model: Model, method: Method, first: usize) -> Result<Option<usize>, MethodError> {
    let defaults = PlacementOptions::new(model);
    let options = PairOptions {
        model,
        method,
        bound: (first, None),
        targets: Vec::new(),
        slice: false,
        alternatives: 0,
        buffer: defaults.buffer,
        states: 60_000,
        limits: defaults.limits,
    };
    match place_pairs(program, None, &options) {
        Ok(PairsPlaced::Valid(placement)) => {
            assert!(placement.is_proved, "the last bound is the number of candidates");
            Ok(Some(placement.bans.len()))
        }
        Ok(PairsPlaced::NoBanHelps(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The four methods find equally many pairs, whatever bound they begin with.
#[test]
fn methods_for_pairs_agree() {
    let seeds = seeds(24, 2_000);
    let count = seeds.end - seeds.start;
    let (banned, unfinished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    seeds.into_par_iter().for_each(|seed| {
        let program = program(seed, &shape(0));
        if targets(&program, None).is_empty() {
            return;
        }
        for model in [Model::Tso, Model::Pso] {
            let all = [
                bans(&program, model, Method::Te, 0),
                bans(&program, model, Method::Fi, 0),
                bans(&program, model, Method::Robmc, 1),
                bans(&program, model, Method::RobmcEt, 1),
                bans(&program, model, Method::RobmcEt, 5),
            ];
            // What asks for fewer bans in force has more to search, and may come to the limit
            // alone.
            let mut answers = all.iter().flatten();
            let first = answers.next();
            assert!(answers.all(|one| Some(one) == first), "seed {seed} {model:?}: {all:?}\n{program:#?}");
            unfinished.fetch_add(all.iter().filter(|one| one.is_err()).count(), Ordering::Relaxed);
            banned.fetch_add(usize::from(first.copied().flatten().is_some_and(|count| count > 0)), Ordering::Relaxed);
        }
    });
    assert!(banned.load(Ordering::Relaxed) as u64 * 20 >= count, "{banned:?}");
    assert!(unfinished.load(Ordering::Relaxed) as u64 * 100 <= count, "{unfinished:?}");
}
