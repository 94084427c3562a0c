//! Repairs for properties on random programs: every claim has evidence that `verify` accepts,
//! corrupted evidence is rejected, and for joint control states the costs are those of an
//! exhaustive search by `simulate`.

use crate::environment::is_long_run;
use crate::evidence::form::{Good, entering, program as read_program};
use crate::fences::evidence::corrupted;
use crate::robustness::joint_states::random_joint;
use itertools::Itertools;
use palisade::evidence::{Evidence, ProgramSubject, ValidSet};
use palisade::fences::{Cost, Measure, RepairOptions, RepairedText, WithinLimits, with_measures};
use palisade::limits::Limits;
use palisade::program::{JointState, LabelId, Program, SourceText, Thread, ThreadId};
use palisade::properties::placement::{
    Placed, PlacementError, PlacementOptions, PropertyRepairError, PropertyRepaired, Shown, place, repair,
};
use palisade::semantics::random::{self, Randomness, Shape};
use palisade::semantics::{FinalStates, Instance, Model, final_states};
use palisade::syntax::{Format, print, read};
use palisade::verify::{check_repair, check_repair_evidence};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

fn shape() -> Shape {
    Shape {
        labels: 4,
        total_labels: 7,
        addresses: 2,
        rmws: 6,
        sections: 4,
        domains: 10,
        store_fences: 8,
        stores_first: 70,
        properties: 5,
        joined: 40,
        cycles: 75,
        ..Shape::default()
    }
}

/// The program of a seed as its text gives it, every other one with joint control states that must
/// not be reached.
fn program(seed: u64) -> Program {
    let mut made = random::program(seed, &shape());
    if seed % 2 == 1 {
        let mut random = Randomness::new(seed);
        let mut all: Vec<JointState> = (0..20).filter_map(|_| random_joint(&made, &mut random)).collect();
        if seed % 16 == 1 {
            all.truncate(2);
            made.never = all;
        } else {
            made.never = only_under_tso(&made, &all);
        }
    }
    let text = print(&made, Format::Native).expect("it can be written").text;
    read(SourceText::new("random.pal", text), Format::Native).expect("it can be read").program
}

/// The first joint state that TSO reaches and interleavings do not, where there is one, and the
/// first that neither reach.
fn only_under_tso(program: &Program, all: &[JointState]) -> Vec<JointState> {
    let watching = Program { never: all.to_vec(), ..program.clone() };
    let instance = Instance::of(program).expect("fixed copies");
    let reached = |model| -> BTreeSet<usize> {
        let found = final_states(&watching, &instance, model, 8, &Limits::none());
        found.map_or_else(|_| (0..all.len()).collect(), |found| found.joint.into_keys().collect())
    };
    let (sc, tso) = (reached(Model::Sc), reached(Model::Tso));
    let weak = tso.difference(&sc).next().copied();
    let unreached = (0..all.len()).find(|index| !tso.contains(index));
    weak.into_iter().chain(unreached).map(|index| all[index].clone()).collect()
}

/// The repair of a program, now and then with exchanges, with its own fences judged, with all
/// optima; nothing where there is no property, or one that cannot be watched.
fn repaired(program: &Program, model: Model, random: &mut Randomness) -> Option<PropertyRepaired> {
    let options = PlacementOptions {
        exchange: random.percent(30).then(Cost::one),
        alternatives: if random.percent(30) { 50 } else { 0 },
        ..PlacementOptions::new(model)
    };
    let wanted =
        RepairOptions { language: &Format::Native, path: "repaired.pal".into(), redundant: random.percent(50) };
    match repair(program, None, &options, &wanted, &WithinLimits) {
        Ok(found) => Some(found),
        Err(PropertyRepairError::Placement(PlacementError::Joint(_) | PlacementError::NothingToProve)) => None,
        Err(error) => panic!("{error}: {program:#?}"),
    }
}

/// Evidence is accepted as it is and as text, and rejected with any corruption; how many
/// corruptions there were.
fn assert_evidence(program: &Program, text: Option<&RepairedText>, shown: &Shown, random: &mut Randomness) -> usize {
    let named = |is_named: bool| is_named.then(|| text.expect("there is a text").program.clone());
    let texts: Vec<_> = shown.evidence.valid.iter().map(|valid| named(valid.repaired.is_some())).collect();
    let written = Evidence::Repair(ProgramSubject::of(program, "native", &[]), shown.evidence.clone());
    let read_again = Evidence::read(written.to_text().as_bytes()).expect("what is written is read");
    assert_eq!(read_again.to_text(), written.to_text());
    let facts = shown.facts.clone().expect("it was checked");
    assert_eq!(check_repair_evidence(program, None, &read_again, &texts), Ok(facts), "{program:#?}");
    let corrupted = corrupted(&shown.evidence, random);
    for (name, evidence) in &corrupted {
        assert!(check_repair(program, None, evidence, &texts).is_err(), "{name}: {program:#?}\n{evidence:#?}");
    }
    corrupted.len()
}

#[test]
fn every_claim_has_its_evidence() {
    let count: u64 = if is_long_run() { 10_000 } else { 70 };
    let [corruptions, watched, kept, incomplete] = [(); 4].map(|()| AtomicUsize::new(0));
    (0..count).into_par_iter().for_each(|seed| {
        let (program, mut random) = (program(seed), Randomness::new(seed));
        let model = if random.percent(50) { Model::Tso } else { Model::Pso };
        let Some(found) = repaired(&program, model, &mut random) else { return };
        let text = found.text.as_ref().and_then(|text| text.as_ref().ok());
        if let (Placed::Valid(placement), Some(shown)) = (&found.placed, &found.shown) {
            incomplete.fetch_add(usize::from(!found.is_complete), Ordering::Relaxed);
            let facts = shown.facts.as_ref().expect("it was checked");
            assert!(!found.is_complete || facts.is_optimal(), "seed {seed}: {facts:?}");
            assert!(placement.open.is_some() || found.is_complete, "seed {seed}: {placement:?}\n{program:#?}");
        }
        for shown in found.shown.iter().chain(&found.needed_shown) {
            let count = assert_evidence(&program, text, shown, &mut random);
            corruptions.fetch_add(count, Ordering::Relaxed);
            if !program.never.is_empty() {
                watched.fetch_add(count, Ordering::Relaxed);
            }
        }
        kept.fetch_add(found.needed_shown.map_or(0, |shown| shown.evidence.rows.len()), Ordering::Relaxed);
    });
    let [corruptions, watched, kept, incomplete] =
        [corruptions, watched, kept, incomplete].map(AtomicUsize::into_inner);
    println!(
        "{corruptions} corruptions, {watched} with joint states, {kept} rows of kept fences, {incomplete} incomplete"
    );
    assert!(corruptions > 120 && watched > 25 && kept > 0, "{corruptions} {watched} {kept}");
    assert!(incomplete as u64 * 20 <= count, "{incomplete}");
}

/// The largest state space, without fences, that the exhaustive search goes through for every set.
const MOST_STATES: usize = 20_000;

/// The most sets that the exhaustive search tries.
const MOST_SETS: usize = 3_000;

/// Fences at all labels that have instructions.
fn all_fences(program: &Program) -> Vec<Measure> {
    let at_thread = |(thread, template): (ThreadId, &Thread)| {
        let by_label = template.instructions_by_label();
        let filled = (0..by_label.len()).filter(|label| !by_label[*label].is_empty()).collect::<Vec<_>>();
        filled.into_iter().map(move |label| Measure::Fence { thread, label: LabelId::from_index(label) })
    };
    program.thread_ids().flat_map(at_thread).collect()
}

/// What TSO reaches with these fences.
fn with_fences(program: &Program, fences: &[Measure]) -> FinalStates {
    let changed = with_measures(program, fences);
    let instance = Instance::of(&changed).expect("fixed copies");
    final_states(&changed, &instance, Model::Tso, 8, &Limits::none()).expect("it has a meaning")
}

/// Whether TSO reaches no joint control state and violates no property with these fences.
fn are_right(program: &Program, fences: &[Measure]) -> bool {
    let found = with_fences(program, fences);
    found.joint.is_empty() && found.violations.is_empty()
}

/// Whether no set of `count` fences is right, by trying all; nothing where there are too many, or
/// too many states. Fences take behaviour away and never add any, so smaller sets need not be
/// tried.
fn none_is_right(program: &Program, count: usize) -> Option<bool> {
    if with_fences(program, &[]).explored > MOST_STATES {
        return None;
    }
    let sets: Vec<Vec<Measure>> = all_fences(program).into_iter().combinations(count).take(MOST_SETS + 1).collect();
    (sets.len() <= MOST_SETS).then(|| !sets.iter().any(|set| are_right(program, set)))
}

/// A fence at a label stands behind the label, where the joint state is reached already.
#[test]
fn fences_for_joint_states_are_the_cheapest() {
    let count: u64 = if is_long_run() { 4_000 } else { 50 };
    let [fenced, fine, hopeless, large] = [(); 4].map(|()| AtomicUsize::new(0));
    (0..count).into_par_iter().map(|seed| 2 * seed + 1).for_each(|seed| {
        let program = program(seed);
        if program.never.is_empty() || program.monitored().is_err() {
            return;
        }
        let seen = match place(&program, None, &PlacementOptions::new(Model::Tso)).expect("it has a meaning") {
            Placed::NoFenceHelps(_) => {
                assert!(!are_right(&program, &all_fences(&program)), "seed {seed}: fences help\n{program:#?}");
                &hopeless
            }
            Placed::Valid(placement) => {
                assert_eq!(placement.open, None, "seed {seed}: {program:#?}");
                let chosen: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
                assert!(are_right(&program, &chosen), "seed {seed}: {placement:?}\n{program:#?}");
                let fewer = chosen.len().checked_sub(1);
                match fewer.map(|fewer| none_is_right(&program, fewer)) {
                    None => &fine,
                    Some(None) => &large,
                    Some(Some(is_least)) => {
                        assert!(is_least, "seed {seed}: fewer do: {placement:?}\n{program:#?}");
                        &fenced
                    }
                }
            }
            Placed::Impossible(impossible) => panic!("seed {seed}: {impossible:?}"),
        };
        seen.fetch_add(1, Ordering::Relaxed);
    });
    let [fenced, fine, hopeless, large] = [fenced, fine, hopeless, large].map(AtomicUsize::into_inner);
    println!("{fenced} with fences, {fine} without, {hopeless} that no fence helps, {large} too large");
    assert!([fenced, fine, hopeless].iter().all(|count| *count > 3), "{fenced} {fine} {hopeless}");
    assert!(large * 4 < fenced + fine + hopeless, "{large} of {}", fenced + fine + hopeless);
}

/// Repairs for properties, with store fences and exchanges on offer, and of a joint control state.
#[test]
fn changed_repairs_for_properties_are_rejected() {
    let publish = "program Publish
thread writer init a begin a: mem[x] <- 1; goto b; b: mem[y] <- 1; end
thread reader regs r, s init a begin a: r <- mem[y]; goto b; b: s <- mem[x]; goto c; c: ensure r = 0 || s = 1; end
";
    let joint = "program Joint
thread t1 regs r init a begin a: mem[x] <- 1; b: r <- mem[y]; c: assert r = 0; cs: nop; end
thread t2 regs r init a begin a: mem[y] <- 1; b: r <- mem[x]; c: assert r = 0; cs: nop; end
never t1 at cs, t2 at cs
";
    for (name, text, model) in
        [("tso", &*entering("nop", "[0]"), Model::Tso), ("pso", publish, Model::Pso), ("joint", joint, Model::Tso)]
    {
        let program = read_program(text);
        let wanted = RepairOptions { language: &Format::Native, path: "repaired.pal".into(), redundant: false };
        let options = PlacementOptions { exchange: Some(Cost::one()), ..PlacementOptions::new(model) };
        let found = repair(&program, None, &options, &wanted, &WithinLimits).expect("it has a meaning");
        let shown = found.shown.as_ref().expect("there is evidence");
        let own = found.text.as_ref().and_then(|text| text.as_ref().ok()).map(|text| text.program.clone());
        let is_text = |valid: &ValidSet| valid.repaired.as_ref().and(own.clone());
        let texts: Vec<Option<Program>> = shown.evidence.valid.iter().map(is_text).collect();
        assert_eq!(texts.iter().all(Option::is_some), name != "joint", "{name}");
        let evidence = Evidence::Repair(ProgramSubject::of(&program, "native", &[]), shown.evidence.clone());
        let facts = check_repair_evidence(&program, None, &evidence, &texts).expect("it is accepted");
        assert!(facts.is_optimal() && shown.is_complete, "{name}");
        let accepts = Box::new(move |evidence: &Evidence| {
            check_repair_evidence(&program, None, evidence, &texts).is_ok_and(|own| own == facts)
        });
        let good = Good { name: name.to_owned(), evidence, accepts };
        assert!(good.change_everything() > 100, "{name}");
    }
}
