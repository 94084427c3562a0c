//! The properties of the shipped models: what `prove` says under each memory model, and the fences
//! that they need, with evidence.

use crate::checked::prove;
use crate::environment::is_long_run;
use crate::robustness::models::{Header, models};
use palisade::fences::{Measure, RepairOptions, WithinLimits};
use palisade::limits::Limits;
use palisade::program::Program;
use palisade::properties::placement::{Placed, PlacementOptions, PropertyRepaired, repair};
use palisade::properties::{Answer, ProveOptions};
use palisade::semantics::Model;
use palisade::syntax::Format;
use rayon::prelude::*;
use std::time::Duration;

/// The program of a model, in which threads of their own watch joint control states.
fn watched(program: &Program) -> Program {
    program.monitored().expect("no joint state of a model is one inside of a section")
}

/// Every property is proved, or one is violated; `verify` accepts the evidence. A model with
/// properties expects something of them.
#[test]
fn they_are_proved() {
    let asked: usize = models()
        .par_iter()
        .map(|model| {
            let has_some = !palisade::properties::targets(&watched(&model.program(&[])), None).is_empty();
            assert_eq!(has_some, !model.proofs.is_empty(), "{}", model.name);
            for expected in &model.proofs {
                let program = watched(&model.program(&expected.threads));
                for (memory, holds) in &expected.answers {
                    let proof = prove(&program, None, &ProveOptions::new(*memory)).expect("models have no faults");
                    let open = proof.answers.iter().find(|answer| matches!(answer.answer, Answer::Open(_)));
                    assert!(open.is_none() || !holds, "{} {memory:?}: {open:?}", model.name);
                    assert_eq!(proof.violations().next().is_none(), *holds, "{} {memory:?}", model.name);
                }
            }
            model.proofs.iter().map(|expected| expected.answers.len()).sum::<usize>()
        })
        .sum();
    assert!(asked >= 150, "{asked}");
}

/// The fences that the properties of a model need, with evidence.
fn placed(model: &Header, program: &Program, memory: Model) -> PropertyRepaired {
    let wanted = RepairOptions { language: &Format::Native, path: "repaired.pal".into(), redundant: false };
    let found = repair(program, None, &PlacementOptions::new(memory), &wanted, &WithinLimits);
    found.unwrap_or_else(|error| panic!("{}: {error}", model.name))
}

/// The cheapest fences, which `verify` takes for the cheapest. By default the short run looks at
/// TSO alone.
#[test]
fn fences_for_them_are_optimal() {
    let all = models();
    let expected: Vec<(&Header, &[_], Model, (usize, usize))> = all
        .iter()
        .flat_map(|model| model.placements.iter().map(move |it| (model, it)))
        .flat_map(|(model, it)| it.answers.iter().map(move |(memory, sizes)| (model, &it.threads[..], *memory, *sizes)))
        .filter(|(.., memory, _)| *memory == Model::Tso || is_long_run())
        .collect();
    assert!(expected.len() >= 20, "{}", expected.len());
    expected.par_iter().for_each(|(model, threads, memory, sizes)| {
        let name = &model.name;
        let found = placed(model, &model.program(threads), *memory);
        let Placed::Valid(placement) = &found.placed else { panic!("{name} {memory:?}: {:?}", found.placed) };
        let is_store_fence = |measure: &Measure| matches!(measure, Measure::StoreFence { .. });
        let store = placement.measures.iter().filter(|(measure, _)| is_store_fence(measure)).count();
        assert_eq!((placement.measures.len() - store, store), *sizes, "{name} {memory:?}");
        assert!(found.is_complete, "{name} {memory:?}: {:?}", placement.open);
        let facts = found.shown.and_then(|shown| shown.facts).expect("it was checked");
        assert!(facts.is_optimal(), "{name} {memory:?}: {facts:?}");
    });
}

/// Models of which `prove` has no answer for any number of copies: the first has too many
/// configurations, and the second is for one producer, as the indices of several come ever further
/// apart.
const OPEN: [&str; 2] = ["array-queue", "spsc-ring"];

/// No model is refused because its values grow, whatever is asked. By default one ring is asked.
#[test]
fn growing_values_refuse_no_question() {
    let asked = models().into_iter().filter(|model| is_long_run() || model.name == "spsc-ring");
    let asked: Vec<Header> = asked.collect();
    asked.par_iter().for_each(|model| {
        for (threads, _) in model.expected() {
            let program = watched(&model.program(threads));
            if program.is_parameterized() && OPEN.contains(&model.name.as_str()) {
                continue;
            }
            for memory in [Model::Sc, Model::Tso] {
                let limits = Limits::none().with_timeout(Duration::from_secs(60));
                let proof = prove(&program, None, &ProveOptions { limits, ..ProveOptions::new(memory) });
                assert!(proof.is_ok(), "{} {memory:?}: {:?}", model.name, proof.err());
            }
        }
    });
}
