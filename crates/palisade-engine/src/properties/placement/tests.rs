//! Queries about contractions beside those about whole slices.

use super::offer::Offer;
use super::rows::{Core, Run};
use crate::fences::catalogue::MeasureSet;
use crate::fences::{Cost, Measure};
use crate::properties::targets;
use crate::properties::tests::with_properties;
use palisade_exploration::states::{Aim, Answer, Contraction, Reach, search};
use palisade_model::limits::Limits;
use palisade_model::program::{Action, Program};
use palisade_semantics::random::{Randomness, Shape};
use palisade_semantics::{Effect, Instance, Machine, Model, StepKind, Target};

/// A program with properties of which many instructions do nothing, as in a slice.
fn random_slice(seed: u64) -> Program {
    let shape =
        Shape { copies: 2, labels: 6, total_labels: 10, store_fences: 10, stores_first: 40, ..Shape::default() };
    let mut program = with_properties(seed, &shape);
    let mut randomness = Randomness::new(seed ^ 0xc0de);
    for own in program.threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
        let may_go = matches!(own.action, Action::Load { .. } | Action::Store { .. } | Action::Assign { .. });
        if may_go && randomness.below(2) == 0 {
            own.action = Action::Nop;
        }
    }
    program
}

/// Some measures of a program, each offered at the cost of 1.
fn some_measures(program: &Program, seed: u64) -> Vec<(Measure, Cost)> {
    let mut randomness = Randomness::new(seed ^ 0xfe);
    let mut measures = Vec::new();
    for (thread, template) in program.thread_ids() {
        for (store, own) in template.instruction_ids() {
            let label = own.source;
            measures.extend(match randomness.below(6) {
                0 => Some(Measure::Fence { thread, label }),
                1 => Some(Measure::StoreFence { thread, label }),
                2 => Some(Measure::Exchange { thread, store }),
                _ => None,
            });
        }
    }
    let may_be_made = |measure: &Measure| match *measure {
        Measure::Exchange { thread, store } => {
            matches!(program.thread(thread).instruction(store).action, Action::Store { .. } | Action::Nop)
        }
        _ => true,
    };
    measures.retain(may_be_made);
    measures.sort_unstable();
    measures.dedup();
    measures.into_iter().map(|measure| (measure, Cost::one())).collect()
}

fn answer(program: &Program, aim: &Aim<'_>, model: Model) -> Answer {
    let reach = Reach { capacity: 8, states: 20_000, limits: Limits::none() };
    search(program, &Instance::of(program).expect("copies are fixed"), model, aim, &reach)
}

/// Checks that a run without measures is one of the slice to its target.
fn check_run(slice: &Program, run: &Run) {
    let machine = Machine::new(slice, &run.instance, run.model);
    let mut state = machine.initial_state();
    let mut last = None;
    for step in &run.steps {
        let event = machine.event(&state, *step).expect("the step can be taken in the slice");
        machine.take(&mut state, &event);
        last = Some((event.step, event.effect));
    }
    let (step, effect) = last.expect("a target is reached by a step");
    assert!(matches!(effect, Effect::Violation | Effect::Failure), "{effect:?}");
    let Target::Instruction { thread, instruction } = run.target else { panic!("there is no question") };
    assert!(matches!(step.kind, StepKind::Execute { instruction: own, .. } if own == instruction));
    assert_eq!(step.copy.thread, thread);
}

#[test]
fn contractions_reach_what_slices_reach() {
    let (mut passed, mut reached, mut stopped) = (0, 0, 0);
    for seed in 0..400 {
        let slice = random_slice(seed);
        let measures = some_measures(&slice, seed);
        let offer = Offer::among(&slice, &slice, &measures);
        let aim = Aim::whole(&slice, targets(&slice, None), None);
        let contraction = Contraction::of(&slice, |thread, label, only| offer.may_change(thread, label, only));
        let core = Core::of(&aim, &offer);
        let contracted = offer.contracted(&contraction);
        let labels = |program: &Program| -> usize { program.threads.iter().map(|thread| thread.labels.len()).sum() };
        passed += labels(&slice) - labels(&contraction.program);
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            for all in [false, true] {
                let set: MeasureSet = if all { offer.everything() } else { offer.nothing() };
                let before = answer(&offer.changed(&slice, &set), &aim, model);
                let changed = contracted.changed(&contraction.program, &set);
                let after = answer(&changed, core.aim(), model);
                match (before, after) {
                    (Answer::Reached { .. }, Answer::Reached { target, steps }) => {
                        reached += 1;
                        if !all {
                            let instance = Instance::of(&slice).expect("copies are fixed");
                            let (target, steps) = contraction.expanded(&instance, target, &steps);
                            check_run(&slice, &Run { instance, model, target, steps });
                        }
                    }
                    (Answer::Closed { .. }, Answer::Closed { .. }) => stopped += 1,
                    (Answer::Cut(_), Answer::Cut(_)) => {}
                    (before, after) => panic!("seed {seed} {model:?}: {before:?}, but {after:?}\n{slice:?}"),
                }
            }
        }
    }
    assert!(passed > 200 && reached > 50 && stopped > 50, "{passed} {reached} {stopped}");
}
