//! Orderings of random programs against all assignments, each asked about by the oracle.

use super::offer::Choosable;
use super::repair::offer;
use super::search::Search;
use super::{LanguageRepair, OrderedPlace, Orderings, OrderingsOptions, orderings, repair_language};
use crate::fences::cost::Cost;
use crate::fences::options::FenceOptions;
use crate::fences::repair::{RepairOptions, WithinLimits};
use crate::robustness::StaleOptions;
use palisade_model::limits::Limits;
use palisade_model::program::{Measure, Ordering, Program, Sites};
use palisade_model::text::SourceText;
use palisade_semantics::Instance;
use palisade_semantics::graphs::oracle::{Found, by_events};
use palisade_semantics::graphs::{Axioms, by_language};
use palisade_semantics::random::{LanguageShape, Randomness, language_program};
use palisade_syntax::{Format, parse};
use std::collections::{BTreeMap, BTreeSet};

/// What there is to choose, where that is not too much.
fn places(program: &Program) -> Option<Vec<Choosable>> {
    let mut places = Choosable::all(program, &Sites::of(program));
    places.retain(|place| place.weaker().next().is_some());
    let count: usize = places.iter().map(|place| place.weaker().count() + 1).product();
    (1..=most()).contains(&count).then_some(places)
}

/// All orderings that places may have, none stronger than its own.
fn assignments(places: &[Choosable]) -> Vec<Vec<Ordering>> {
    places.iter().fold(vec![Vec::new()], |all, place| {
        let own: Vec<Ordering> = place.weaker().chain([place.stated]).collect();
        all.iter().flat_map(|before| own.iter().map(move |next| [before.as_slice(), &[*next]].concat())).collect()
    })
}

fn with(program: &Program, places: &[Choosable], orderings: &[Ordering]) -> Program {
    let mut changed = program.clone();
    for (place, ordering) in places.iter().zip(orderings) {
        let thread = &mut changed.threads[place.thread.index()];
        thread.instructions[place.access.index()].order(place.failing, *ordering);
    }
    changed
}

/// Whether the oracle finds a program robust and free of races.
fn is_robust(program: &Program, axioms: Axioms) -> Option<bool> {
    let stated = by_language(program);
    let found = by_events(&stated, &Instance::of(&stated)?, axioms, 3_000).ok()?;
    Some(found == Found::default())
}

/// By assignment, what the oracle says of it.
type Verdicts = BTreeMap<Vec<Ordering>, bool>;

fn verdicts(program: &Program, places: &[Choosable], axioms: Axioms) -> Option<Verdicts> {
    let all = assignments(places).into_iter();
    all.map(|own| Some((own.clone(), is_robust(&with(program, places, &own), axioms)?))).collect()
}

fn is_at_least(one: &[Ordering], other: &[Ordering]) -> bool {
    one.iter().zip(other).all(|(one, other)| one.is_at_least(*other))
}

fn shapes() -> Vec<(&'static str, LanguageShape)> {
    let shape = LanguageShape { labels: 3, total_labels: 6, ..LanguageShape::default() };
    vec![
        ("plain data", LanguageShape { plain: 60, synchronised: 60, ..shape.clone() }),
        ("fences", LanguageShape { fences: 35, strong_fences: 60, synchronised: 40, ..shape.clone() }),
        ("sc accesses", LanguageShape { seq_cst: 60, plain: 20, ..shape }),
    ]
}

/// A program that passes a message, with orderings that are strong enough or stronger: random ones
/// hardly ever need theirs.
fn message(seed: u64) -> Program {
    let mut random = Randomness::new(seed);
    let before = ["", "fence(release);", "fence(acq_rel);"][random.below(3)];
    let behind = ["", "fence(acquire);", "fence(acq_rel);"][random.below(3)];
    let text = format!(
        "program message\naddress flag\nplain text\nthread a {{ text = 1; {before} store(flag, 1, release); }}\n\
         thread b {{ if (load(flag, acquire) == 1) {{ {behind} let seen = text; }} }}\n"
    );
    let read = parse(SourceText::new("message.pal", text), Format::Native);
    read.unwrap_or_else(|errors| panic!("{errors:?}")).program
}

fn is_full() -> bool {
    std::env::var_os("PALISADE_FULL_TESTS").is_some()
}

fn seeds() -> std::ops::Range<u64> {
    0..if is_full() { 5_000 } else { 20 }
}

/// The most assignments that are asked about.
fn most() -> usize {
    if is_full() { 300 } else { 30 }
}

/// The tool's answer; nothing where values grow.
fn answer(program: &Program) -> Option<Vec<OrderedPlace>> {
    let check = StaleOptions { axioms: Axioms::C11, values: 50, certifies: true, limits: Limits::none() };
    let found =
        orderings(program, &OrderingsOptions { check, text: None, withheld: BTreeSet::new() }, &WithinLimits).ok()?;
    assert!(found.shown.as_ref().is_none_or(|shown| shown.facts.is_some()), "the evidence is checked");
    match found.orderings {
        Orderings::Weakest(places) => Some(places),
        Orderings::NotRobust(_) | Orderings::Unknown(_) => None,
    }
}

#[test]
fn the_weakest_orderings_are_those_of_exhaustive_search() {
    let (mut weakened, mut kept, mut not_shown) = (0, 0, 0);
    let random = shapes()
        .into_iter()
        .flat_map(|(name, shape)| seeds().map(move |seed| (name, seed, language_program(seed, &shape))));
    let messages = (0..12).map(|seed| ("messages", seed, message(seed)));
    for (name, seed, program) in random.chain(messages) {
        let Some(places) = places(&program) else { continue };
        let Some(verdicts) = verdicts(&program, &places, Axioms::C11) else { continue };
        let stated: Vec<Ordering> = places.iter().map(|place| place.stated).collect();
        let found = answer(&program);
        let Some(found) = found else {
            // Where there are sequentially consistent accesses, robustness need not be found out.
            assert!(!verdicts[&stated] || name == "sc accesses", "{name}, seed {seed}: robust as it is");
            continue;
        };
        assert!(verdicts[&stated], "{name}, seed {seed}: not robust as it is");
        let together: Vec<Ordering> = found.iter().map(|place| place.together).collect();
        assert!(verdicts[&together], "{name}, seed {seed}: {together:?} together");
        for (number, place) in found.iter().enumerate() {
            let at = |orderings: &[Ordering], ordering| {
                let mut changed = orderings.to_vec();
                changed[number] = ordering;
                verdicts[&changed]
            };
            for ordering in places[number].weaker() {
                let is_valid = place.alone.iter().any(|least| ordering.is_at_least(*least));
                let is_robust = at(&stated, ordering);
                let words = format!("{name}, seed {seed}: {ordering} at {number} alone");
                assert!(is_robust || !is_valid, "{words}");
                let is_shown = place.needed_alone.iter().all(|needed| needed.violation.is_admitted);
                assert!(is_robust == is_valid || !is_shown || !place.open.is_empty(), "{words} is robust");
            }
            for needed in place.needed.iter().filter(|needed| needed.violation.is_admitted) {
                assert!(!at(&together, needed.ordering), "{name}, seed {seed}: {} at {number}", needed.ordering);
            }
            let is_shown = |needed: &super::Needed| needed.violation.is_admitted;
            not_shown += usize::from(!place.needed.iter().all(is_shown));
            weakened += usize::from(place.together != place.stated);
            kept += usize::from(place.together == place.stated);
        }
        // The weakest of all cost no less.
        if found.iter().all(|place| place.needed.iter().all(|needed| needed.violation.is_admitted)) {
            let cost = |orderings: &[Ordering]| -> f64 {
                places
                    .iter()
                    .zip(orderings)
                    .map(|(place, ordering)| match ordering {
                        Ordering::Relaxed => 0.0,
                        ordering => place.cost(*ordering).to_f64(),
                    })
                    .sum()
            };
            let robust = verdicts.iter().filter(|(_, robust)| **robust).map(|(own, _)| cost(own));
            let least = robust.fold(f64::INFINITY, f64::min);
            assert!((cost(&together) - least).abs() < 1e-9, "{name}, seed {seed}: {together:?} costs more");
        }
    }
    assert!(weakened > 5 && kept > 5, "{weakened} weakened, {kept} kept, {not_shown} kept without a violation");
}

/// A program that passes a message, with orderings that are too weak in some places.
fn weak_message(seed: u64) -> Program {
    let mut random = Randomness::new(seed);
    let store = ["relaxed", "release"][random.below(2)];
    let load = if store == "release" { "relaxed" } else { ["relaxed", "acquire"][random.below(2)] };
    let again = ["", "store(other, 1, relaxed);"][random.below(2)];
    let text = format!(
        "program message\naddress flag, other\nplain text\n\
         thread a {{ text = 1; {again} store(flag, 1, {store}); }}\n\
         thread b {{ if (load(flag, {load}) == 1) {{ let seen = text; }} }}\n"
    );
    let read = parse(SourceText::new("message.pal", text), Format::Native);
    read.unwrap_or_else(|errors| panic!("{errors:?}")).program
}

/// `--all` lists each cheapest set of changes, and no other one.
#[test]
fn all_cheapest_repairs_are_those_of_exhaustive_search() {
    for seed in 0..if is_full() { 64 } else { 6 } {
        let program = weak_message(seed);
        let options = FenceOptions { values: 50, alternatives: 1_000, ..FenceOptions::default() };
        let wanted = RepairOptions { language: &Format::Native, path: "repaired.pal".to_owned(), redundant: false };
        let found = repair_language(&program, Axioms::C11, &options, &wanted, &WithinLimits).expect("it is repaired");
        let LanguageRepair::Valid(_) = found.repair else { panic!("seed {seed} is not repaired") };
        assert!(found.alternatives_complete, "seed {seed}");
        let check = StaleOptions { axioms: Axioms::C11, values: 50, certifies: false, limits: Limits::none() };
        let offered = offer(&program, Axioms::C11, &options);
        let search = Search::new(&program, offered.clone(), &check);
        let measures: Vec<Measure> = offered.iter().map(|(measure, _)| *measure).collect();
        let is_robust = |set: &[Measure]| {
            is_robust(&search.form(&search.set_of(set.iter().copied())), Axioms::C11).expect("it is small")
        };
        let none = std::iter::once(Vec::new());
        let pairs =
            measures.iter().enumerate().flat_map(|(at, one)| measures[..at].iter().map(|other| vec![*other, *one]));
        let sets = none.chain(measures.iter().map(|own| vec![*own])).chain(pairs);
        let cost = |set: &[Measure]| -> Cost {
            offered.iter().filter(|(own, _)| set.contains(own)).map(|(_, cost)| cost.clone()).sum()
        };
        let valid: Vec<Vec<Measure>> = sets.filter(|set| is_robust(set)).collect();
        let least = valid.iter().map(|set| cost(set)).min().expect("two changes repair it");
        let expected: BTreeSet<Vec<Measure>> = valid.into_iter().filter(|set| cost(set) == least).collect();
        let listed: BTreeSet<Vec<Measure>> = found.alternatives.iter().cloned().collect();
        assert_eq!(listed, expected, "seed {seed}: {}", program.source.text);
        assert_eq!(found.shown.expect("no limits are set").optima, listed.len(), "seed {seed}");
    }
}

/// A form that is at least as strong has no more consistent graphs: for C11, and for the axioms
/// that the search decides.
#[test]
fn robust_orderings_are_upward_closed() {
    let mut robust = 0;
    for (name, shape) in shapes() {
        for seed in seeds().take(1_000) {
            let program = language_program(seed, &shape);
            let Some(places) = places(&program) else { continue };
            for axioms in [Axioms::C11, Axioms::WeakC11] {
                let Some(verdicts) = verdicts(&program, &places, axioms) else { continue };
                for (own, _) in verdicts.iter().filter(|(_, is_robust)| **is_robust) {
                    let mut stronger = verdicts.iter().filter(|(other, _)| is_at_least(other, own));
                    assert!(stronger.all(|(_, is_robust)| *is_robust), "{name}, seed {seed}: {own:?}");
                    robust += 1;
                }
            }
        }
    }
    assert!(robust > 20, "{robust}");
}
