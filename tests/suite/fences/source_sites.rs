//! Fences per place in the sources: where one place has become several labels, in one thread or in
//! several, a fence there counts once.
//!
//! Random programs are written as listings whose lines come from few places. The cheapest sets are
//! compared with all sets, each tried by a check of the changed program, and the checker, which
//! finds the groups in the listing by its own code, must accept the evidence.

use crate::checked::check;
use crate::environment::is_long_run;
use palisade::fences::{
    FenceOptions, Measure, Repair, RepairError, RepairOptions, Silent, WithinLimits, repair, repair_language,
    with_measures,
};
use palisade::program::{Copies, LabelId, Origin, Program, Sites, SourceText};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::graphs::Axioms;
use palisade::semantics::random::{self, LanguageShape, Randomness, Shape, language_program};
use palisade::syntax::Format;
use palisade::verify::check_repair;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// Sites tried exhaustively at most.
const LARGEST: usize = 8;

/// The program as a listing, each of its labels from one of so many places.
fn listed(mut program: Program, places: usize, random: &mut Randomness) -> Program {
    let mut text = String::from("roles random\n");
    let mut origins = Vec::new();
    for thread in &mut program.threads {
        let _ = writeln!(text, "\nrole {}", thread.name);
        let of_labels: Vec<usize> = thread.labels.iter().map(|_| random.below(places)).collect();
        for (number, instruction) in thread.instructions.iter_mut().enumerate() {
            let place = format!("source.c:{}", 1 + of_labels[instruction.source.index()]);
            let start = text.len();
            let _ = writeln!(text, "  {number:x}  instruction  {place}");
            instruction.span = palisade::program::Span { start: start + 2, end: text.len() - 1 };
            origins
                .push((start, Arc::new(Origin { place, position: None, at_hand: None, text: None, obstacle: None })));
        }
    }
    program.source = SourceText::listing("random.toml", text, origins);
    program
}

fn verdict(program: &Program) -> Option<Verdict> {
    check(program, &CheckOptions { values: 12, ..CheckOptions::default() }).ok().map(|checked| checked.verdict)
}

/// A fence at each site.
fn fences(program: &Program) -> Vec<Measure> {
    let sites = Sites::of(program);
    let labels =
        program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)).flat_map(|(id, thread)| {
            (0..thread.labels.len()).map(move |label| Measure::Fence { thread: id, label: LabelId::from_index(label) })
        });
    let measures: BTreeSet<Measure> = labels.filter_map(|fence| fence.at_site(&sites)).collect();
    measures.into_iter().collect()
}

/// The same program with a place of its own for every instruction.
fn apart(program: &Program) -> Program {
    let mut apart = program.clone();
    let other = |(number, line): (u8, &str)| match line.char_indices().next_back() {
        Some((last, _)) => format!("{}{}\n", &line[..last], char::from(b'A' + number)),
        None => "\n".to_owned(),
    };
    let text: String = (0..).zip(program.source.text.lines()).map(other).collect();
    apart.source = SourceText::listing("random.toml", text, []);
    apart
}

/// Compares the cheapest sets of sites with all sets; how many labels the fences of an optimum
/// stand at beyond their number, where one is needed.
fn compare(program: &Program) -> Option<usize> {
    let measures = fences(program);
    if measures.len() > LARGEST || verdict(program)? != Verdict::NotRobust {
        return None;
    }
    let options = FenceOptions { alternatives: 1000, values: 12, ..FenceOptions::default() };
    let wanted = RepairOptions { language: &Format::Machine, path: "random.toml".to_owned(), redundant: false };
    let found = match repair(program, &options, &wanted, &Silent, &WithinLimits) {
        Ok(found) => found,
        Err(RepairError::Fences(_)) => return None,
        Err(error) => panic!("{error}\n{program:#?}"),
    };
    let valid = |bits: usize| {
        let set: Vec<Measure> =
            (0..measures.len()).filter(|bit| bits >> bit & 1 == 1).map(|bit| measures[bit]).collect();
        (verdict(&with_measures(program, &set)) == Some(Verdict::Robust)).then_some(set)
    };
    let sets: Vec<Vec<Measure>> = (0..1usize << measures.len()).filter_map(valid).collect();
    let least = sets.iter().map(Vec::len).min();
    match &found.repair {
        Repair::Valid(placement) => {
            let shown = found.shown.as_ref().expect("there is evidence");
            assert!(placement.proof.is_some() && shown.is_complete, "{program:#?}");
            assert_eq!(Some(placement.measures.len()), least, "{program:#?}");
            let unordered = |set: &Vec<Measure>| set.iter().copied().collect::<BTreeSet<_>>();
            let optima: BTreeSet<_> = sets.iter().filter(|set| Some(set.len()) == least).map(unordered).collect();
            assert_eq!(placement.alternatives.iter().map(unordered).collect::<BTreeSet<_>>(), optima, "{program:#?}");
            let sites = Sites::of(program);
            let parts: usize = placement.measures.iter().map(|(measure, _)| measure.parts(&sites).len()).sum();
            Some(parts - placement.measures.len())
        }
        Repair::Impossible(_) => {
            assert_eq!(least, None, "{program:#?}");
            None
        }
        Repair::Unknown { reason, .. } => panic!("{reason:?}: {program:#?}"),
    }
}

#[test]
fn fences_count_once_for_each_place() {
    let shape = Shape { copies: 2, labels: 4, addresses: 2, overtaken: 60, any: 0, ..Shape::default() };
    let (mut compared, mut shared) = (0, 0);
    for seed in 0..if is_long_run() { 20_000 } else { 600 } {
        let mut random = Randomness::new(seed);
        let places = 2 + random.below(6);
        let program = listed(random::program(seed, &shape), places, &mut random);
        if let Some(beyond) = compare(&program) {
            compared += 1;
            shared += usize::from(beyond > 0);
        }
    }
    assert!(compared > 20 && shared > 5, "{compared} programs need fences, {shared} at several labels each");
}

/// Evidence that splits a place, or that fences it at another label than its first, is rejected.
#[test]
fn the_checker_finds_the_places_itself() {
    let shape = Shape { copies: 2, labels: 4, addresses: 2, overtaken: 60, any: 0, ..Shape::default() };
    let mut rejected = 0;
    for seed in 0..200 {
        let mut random = Randomness::new(seed);
        let program = listed(random::program(seed, &shape), 3, &mut random);
        if verdict(&program) != Some(Verdict::NotRobust) {
            continue;
        }
        let wanted = RepairOptions { language: &Format::Machine, path: "random.toml".to_owned(), redundant: false };
        let options = FenceOptions { values: 12, ..FenceOptions::default() };
        let Ok(found) = repair(&program, &options, &wanted, &Silent, &WithinLimits) else { continue };
        let Some(shown) = &found.shown else { continue };
        let sites = Sites::of(&program);
        if found.measures().iter().all(|measure| measure.parts(&sites).len() == 1) {
            continue;
        }
        assert!(check_repair(&program, None, &shown.evidence, &[]).is_ok());
        assert!(check_repair(&apart(&program), None, &shown.evidence, &[]).is_err(), "{program:#?}");
        rejected += 1;
    }
    assert!(rejected > 0, "no place had several labels");
}

/// Orderings are changed for each place of the sources, and the checker says the same of it.
#[test]
fn orderings_change_with_their_places() {
    let shape = LanguageShape::default();
    let (mut shared, mut rejected) = (0, 0);
    for seed in 0..if is_long_run() { 5_000 } else { 400 } {
        let mut random = Randomness::new(seed);
        let program = listed(language_program(seed, &shape), 3, &mut random);
        let wanted = RepairOptions { language: &Format::Machine, path: "random.toml".to_owned(), redundant: false };
        let options = FenceOptions { values: 12, ..FenceOptions::default() };
        // What is found is checked, and rejected evidence is an error.
        let found = match repair_language(&program, Axioms::C11, &options, &wanted, &WithinLimits) {
            Ok(found) => found,
            Err(RepairError::Fences(_)) => continue,
            Err(error) => panic!("seed {seed}: {error}\n{}", program.source.text),
        };
        let sites = Sites::of(&program);
        let is_shared =
            |measure: &Measure| matches!(measure, Measure::Ordered { .. }) && measure.parts(&sites).len() > 1;
        let Some(shown) = found.shown.as_ref().filter(|_| found.measures().iter().any(is_shared)) else { continue };
        shared += 1;
        rejected += usize::from(check_repair(&apart(&program), None, &shown.evidence, &[]).is_err());
    }
    assert!(
        shared > 5 && rejected > 0,
        "{shared} repairs change several accesses at once, {rejected} are rejected apart"
    );
}
