//! Evidence about orderings: every claim of `orderings` and of `fences --model c11` on random
//! programs has evidence that `verify` accepts, and corrupted evidence is rejected.
//!
//! Of the corruptions of [`corrupted`], a violation cut short may still be one.

use super::evidence::corrupted;
use crate::environment::seeds;
use palisade::evidence::{Evidence, ProgramSubject};
use palisade::fences::{
    FenceOptions, LanguageRepair, Orderings, OrderingsOptions, RepairOptions, Shown, WithinLimits, orderings,
    repair_language,
};
use palisade::limits::Limits;
use palisade::program::{Program, SourceText};
use palisade::robustness::StaleOptions;
use palisade::semantics::graphs::Axioms;
use palisade::semantics::random::{LanguageShape, Randomness, language_program};
use palisade::syntax::{Format, print, read};
use palisade::verify::{check_repair, check_repair_evidence};
use std::collections::BTreeSet;

/// A random program as its own text says it.
fn random_program(seed: u64, shape: &LanguageShape) -> Option<Program> {
    let text = print(&language_program(seed, shape), Format::Native).ok()?.text;
    Some(read(SourceText::new("random.pal", text), Format::Native).expect("it is printed well").program)
}

fn shapes() -> [LanguageShape; 3] {
    let shape = LanguageShape { labels: 4, total_labels: 7, branches: 5, ..LanguageShape::default() };
    [
        LanguageShape { plain: 60, synchronised: 70, ..shape.clone() },
        LanguageShape { fences: 35, strong_fences: 60, any: 30, ..shape.clone() },
        LanguageShape { seq_cst: 50, awaits: 20, ..shape },
    ]
}

/// Evidence is accepted as it is and as text, and rejected with any corruption; how many
/// corruptions there were.
fn assert_evidence(program: &Program, shown: &Shown, texts: &[Option<Program>], random: &mut Randomness) -> usize {
    let written = Evidence::Repair(ProgramSubject::of(program, "native", &[]), shown.evidence.clone());
    let read_again = Evidence::read(written.to_text().as_bytes()).expect("what is written is read");
    assert_eq!(read_again.to_text(), written.to_text());
    let facts = shown.facts.clone().expect("no limits are set");
    let text = || &program.source.text;
    assert_eq!(check_repair_evidence(program, None, &read_again, texts), Ok(facts), "{}", text());
    let corrupted = corrupted(&shown.evidence, random);
    let fatal = corrupted.iter().filter(|(name, _)| *name != "a violation cut short");
    for (name, evidence) in fatal.clone() {
        assert!(check_repair(program, None, evidence, texts).is_err(), "{name}: {}", text());
    }
    fatal.count()
}

#[test]
fn every_claim_about_orderings_has_its_evidence() {
    let (mut weakened, mut needed, mut not_robust, mut corruptions) = (0, 0, 0, 0);
    for seed in seeds(60, 2_000) {
        for shape in shapes() {
            let Some(program) = random_program(seed, &shape) else { continue };
            let mut random = Randomness::new(seed ^ 0x0de);
            let check = StaleOptions { axioms: Axioms::C11, values: 12, certifies: true, limits: Limits::none() };
            let text = RepairOptions { language: &Format::Native, path: "weakest.pal".to_owned(), redundant: false };
            let options = OrderingsOptions { check, text: Some(text), withheld: BTreeSet::new() };
            let Ok(found) = orderings(&program, &options, &WithinLimits) else {
                continue;
            };
            if let Some(shown) = &found.shown {
                let text = || found.text.as_ref().and_then(|text| Some(text.as_ref().ok()?.program.clone()));
                let texts: Vec<Option<Program>> =
                    shown.evidence.valid.iter().map(|valid| valid.repaired.as_ref().and_then(|_| text())).collect();
                corruptions += assert_evidence(&program, shown, &texts, &mut random);
            }
            match &found.orderings {
                Orderings::Weakest(places) => {
                    weakened += places.iter().filter(|place| place.together != place.stated).count();
                    needed += places.iter().map(|place| place.needed.len()).sum::<usize>();
                    if let Some(text) = &found.text {
                        let text = text.as_ref().expect("orderings on lines can be changed");
                        assert!(found.certificate.is_some(), "{}", text.text());
                    }
                }
                Orderings::NotRobust(_) => not_robust += 1,
                Orderings::Unknown(_) => {}
            }
        }
    }
    let counts = [weakened, needed, not_robust, corruptions];
    assert!(counts.iter().zip([30, 5, 5, 30]).all(|(count, least)| count >= &least), "{counts:?}");
}

#[test]
fn every_claim_about_repairs_against_c11_has_its_evidence() {
    let (mut changed, mut impossible, mut corruptions) = (0, 0, 0);
    for seed in seeds(40, 1_000) {
        for shape in shapes() {
            let Some(program) = random_program(seed, &shape) else { continue };
            let mut random = Randomness::new(seed ^ 0x0de);
            let options = FenceOptions { values: 12, ..FenceOptions::default() };
            let wanted = RepairOptions { language: &Format::Native, path: "repaired.pal".to_owned(), redundant: false };
            let Ok(found) = repair_language(&program, Axioms::C11, &options, &wanted, &WithinLimits) else {
                continue;
            };
            let Some(shown) = &found.shown else { continue };
            let text = || found.repaired_text().map(|text| text.program.clone());
            let texts: Vec<Option<Program>> =
                shown.evidence.valid.iter().map(|valid| valid.repaired.as_ref().and_then(|_| text())).collect();
            corruptions += assert_evidence(&program, shown, &texts, &mut random);
            match &found.repair {
                LanguageRepair::Valid(measures) if !measures.is_empty() => {
                    assert!(texts[0].is_some() && found.certificate.is_some(), "{}", program.source.text);
                    changed += 1;
                }
                LanguageRepair::Impossible(_) => impossible += 1,
                LanguageRepair::Valid(_) | LanguageRepair::Unknown(_) => {}
            }
        }
    }
    assert!(
        changed > 1 && impossible > 1 && corruptions > 20,
        "{changed} changed, {impossible} impossible, {corruptions}"
    );
}
