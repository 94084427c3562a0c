//! Stuck states of a language against all graphs of random programs.

use super::{HangOptions, Verdict, Why, hangs, repair_hangs_in_language};
use crate::fences::language::offer;
use crate::fences::offered::Offered;
use crate::fences::{Cost, FenceOptions, Measure, Remedy, RepairOptions, WithinLimits};
use crate::robustness::stale::tests::note;
use palisade_model::program::Program;
use palisade_model::text::SourceText;
use palisade_semantics::graphs::oracle::stuck;
use palisade_semantics::graphs::{Axioms, by_language};
use palisade_semantics::random::{LanguageShape, Randomness, language_program};
use palisade_semantics::{Instance, Model};
use palisade_syntax::{Format, parse};
use palisade_verify::check_free;

#[test]
fn stuck_graphs_are_those_of_the_oracle() {
    let shape = LanguageShape { awaits: 40, updates: 15, synchronised: 30, seq_cst: 20, ..LanguageShape::default() };
    let most = if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 4_000 } else { 60 };
    // Programs that are stuck, those of them that no interleaving shows, and those not found; those
    // shown to be free, and others that are, without a race.
    let (mut compared, mut all, mut beyond, mut missed) = (0, 0, 0, 0);
    let (mut free, mut open) = (0, 0);
    for (axioms, seed) in (0..most).flat_map(|seed| Axioms::LANGUAGES.map(|axioms| (axioms, seed))) {
        let program = language_program(seed, &shape);
        let (stated, instance) = (by_language(&program), Instance::of(&program).unwrap());
        let Ok(is_stuck) = stuck(&stated, &instance, axioms, 4_000) else { continue };
        let options = HangOptions { graphs: Some(axioms), ..HangOptions::new(Model::Sc) };
        let what = format!("{}, seed {seed}", axioms.name());
        compared += 1;
        all += usize::from(is_stuck);
        match hangs(&program, &options).unwrap().verdict {
            // The engine has asked the checker.
            Verdict::Stuck(found) => {
                assert!(is_stuck, "{what}: {found:?}");
                beyond += usize::from(!found.is_interleaving);
            }
            Verdict::Free(certificate) => {
                assert!(!is_stuck, "{what}");
                check_free(&program, &certificate).unwrap_or_else(|failure| panic!("{what}: {failure}"));
                free += 1;
            }
            Verdict::Unknown(Why::NoGraph(_) | Why::Stopped(_)) => {
                missed += usize::from(is_stuck);
                open += usize::from(!is_stuck);
            }
            Verdict::Unknown(Why::Race) => assert!(!is_stuck, "{what}"),
            other => panic!("{what}: {other:?}"),
        }
    }
    note(&format!(
        "stuck graphs: {compared} compared, {all} stuck, {beyond} beyond interleavings, {missed} missed; {free} free, \
         {open} open"
    ));
    assert!(all > 20 && beyond > 0 && missed * 20 <= all, "{compared} {all} {beyond} {missed}");
    assert!(free > 0 && open * 20 <= free, "{free} {open}");
}

/// Two threads that say something each and then look at what the other has said, by random
/// orderings. One of them waits for the other if it comes first, or for what nobody does.
fn wake_up(seed: u64) -> Program {
    let mut random = Randomness::new(seed);
    let mut one_of = |words: &[&str]| words[random.below(words.len())].to_owned();
    let mut says = |address: &str| {
        let by = one_of(&["store", "xchg"]);
        let ordering = one_of(&["relaxed", "release", "seq_cst"]);
        let fence = one_of(&["", "", "fence(acq_rel);", "fence(seq_cst);"]);
        let looks = one_of(&["relaxed", "acquire", "seq_cst"]);
        (format!("{by}({address}, 1, {ordering}); {fence}"), looks)
    };
    let ((work, look), (sleep, again)) = (says("work"), says("sleeping"));
    let kick = one_of(&["1", "1", "1", "2"]);
    let text = format!(
        "program wake\naddress work, sleeping, kick\n\
         thread a {{ {work} if (load(sleeping, {look}) == 1) {{ store(kick, {kick}, release); }} }}\n\
         thread b {{ {sleep} if (load(work, {again}) == 0) {{ await (load(kick, acquire) == 1); }} }}\n"
    );
    let read = parse(SourceText::new("wake.pal", text), Format::Native);
    read.unwrap_or_else(|errors| panic!("{errors:?}")).program
}

/// The measures taken, against single ones that cost less, and in long runs against pairs, each
/// asked about by the oracle.
#[test]
fn the_cheapest_changes_against_hangs_are_those_of_exhaustive_search() {
    let is_full = std::env::var_os("PALISADE_FULL_TESTS").is_some();
    let most = if is_full { 600 } else { 40 };
    let (mut repaired, mut impossible, mut cheaper) = (0, 0, 0);
    for (axioms, seed) in (0..most).flat_map(|seed| Axioms::LANGUAGES.map(|axioms| (axioms, seed))) {
        let program = wake_up(seed);
        let instance = Instance::of(&program).unwrap();
        let is_stuck = |form: &Program| stuck(&by_language(form), &instance, axioms, 4_000).ok();
        if is_stuck(&program) != Some(true) {
            continue;
        }
        let what = format!("{}, seed {seed}", axioms.name());
        let options = FenceOptions::default();
        let wanted = RepairOptions { language: &Format::Native, path: "repaired.pal".to_owned(), redundant: false };
        let found = repair_hangs_in_language(&program, axioms, (&options, false), &wanted, &WithinLimits);
        let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
        let offered = offer(&program, axioms, &options);
        let priced = offered.iter().map(|(measure, cost)| (*measure, Some(cost.clone()))).collect();
        let forms = Offered::new(&program, &[], priced);
        let with = |set: &[Measure]| forms.program_with(|measure| set.contains(&measure));
        match &found.remedy {
            Remedy::Valid(_, least) => {
                assert!(found.shown.as_ref().is_some_and(|shown| shown.is_complete), "{what}");
                assert_ne!(is_stuck(&with(&found.measures())), Some(true), "{what}");
                let one = |at: usize| vec![offered[at].0];
                let pairs = (0..offered.len()).flat_map(|at| (0..at).map(move |other| (other, at)));
                let pairs = pairs.map(|(other, at)| [one(other), one(at)].concat());
                let pairs = pairs.filter(|_| is_full);
                for set in (0..offered.len()).map(one).chain(pairs) {
                    let own = offered.iter().filter(|(measure, _)| set.contains(measure));
                    if own.map(|(_, cost)| cost.clone()).sum::<Cost>() < *least {
                        assert_ne!(is_stuck(&with(&set)), Some(false), "{what}: {set:?} is cheaper");
                        cheaper += 1;
                    }
                }
                repaired += 1;
            }
            Remedy::Impossible(_) => {
                let all: Vec<Measure> = offered.iter().map(|(measure, _)| *measure).collect();
                assert_ne!(is_stuck(&with(&all)), Some(false), "{what}");
                impossible += 1;
            }
            Remedy::Unknown(why) => panic!("{what}: {why}"),
        }
    }
    note(&format!("hangs repaired: {repaired}, {cheaper} cheaper sets, {impossible} impossible"));
    assert!(repaired > 10 && impossible > 5 && cheaper > 100, "{repaired} {impossible} {cheaper}");
}
