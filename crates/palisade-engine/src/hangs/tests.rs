//! Stuck states of a language against all graphs of random programs.

use super::{HangOptions, Verdict, Why, hangs};
use crate::robustness::stale::tests::note;
use palisade_semantics::graphs::oracle::stuck;
use palisade_semantics::graphs::{Axioms, by_language};
use palisade_semantics::random::{LanguageShape, language_program};
use palisade_semantics::{Instance, Model};

#[test]
fn stuck_graphs_are_those_of_the_oracle() {
    let shape = LanguageShape { awaits: 40, updates: 15, synchronised: 30, seq_cst: 20, ..LanguageShape::default() };
    let most = if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 4_000 } else { 60 };
    // Programs that are stuck, those of them that no interleaving shows, and those not found.
    let (mut compared, mut all, mut beyond, mut missed) = (0, 0, 0, 0);
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
            Verdict::Unknown(Why::NoGraph(_) | Why::Stopped(_)) => missed += usize::from(is_stuck),
            other => panic!("{what}: {other:?}"),
        }
    }
    note(&format!("stuck graphs: {compared} compared, {all} stuck, {beyond} beyond interleavings, {missed} missed"));
    assert!(all > 20 && beyond > 0 && missed * 20 <= all, "{compared} {all} {beyond} {missed}");
}
