//! Properties that are violated once a counter has come around, among very many copies: found
//! beside a [crowd](crate::robustness).

use super::{Answer, Proof, ProveOptions, TargetAnswer, Violation};
use crate::decide::schedule::CROWD;
use crate::robustness::{Crowd, additions};
use palisade_exploration::instrumented::Fault;
use palisade_model::program::Program;
use palisade_semantics::crowd::is_crowd;
use palisade_semantics::{Machine, Target};

/// The targets among these that a crowd helps to reach, and few copies without one do not, with a
/// way to prove them for few copies.
pub(super) fn around(
    program: &Program,
    options: &ProveOptions,
    asked: &[Target],
    prove: impl Fn(&Program, &ProveOptions) -> Result<Proof, Fault>,
) -> Vec<TargetAnswer> {
    let additions = additions(program);
    let mut open: Vec<Target> = asked.iter().copied().filter(|target| *target != Target::FinalStates).collect();
    if additions.is_empty() || open.is_empty() || options.by.is_some() {
        return Vec::new();
    }
    let few = |only: &[Target]| ProveOptions { only: only.to_vec(), most: CROWD.min(options.most), ..options.clone() };
    let mut answers = Vec::new();
    for addition in &additions {
        let Ok(alone) = prove(&addition.alone(program), &few(&open)) else { continue };
        let reached: Vec<Target> = alone.violations().map(|violation| violation.target).collect();
        open.retain(|target| !reached.contains(target));
        for crowd in addition.crowds() {
            if open.is_empty() {
                return answers;
            }
            let Ok(beside) = prove(&addition.beside(program, crowd), &few(&open)) else { continue };
            for answer in beside.answers {
                let Answer::Violated(found) = &answer.answer else { continue };
                if let Some(retold) = retold(program, crowd, found) {
                    open.retain(|target| *target != answer.target);
                    answers.push(TargetAnswer { answer: Answer::Violated(retold.into()), ..answer });
                }
            }
        }
    }
    answers
}

/// A violation beside a crowd as one of the program.
fn retold(program: &Program, crowd: Crowd, found: &Violation) -> Option<Violation> {
    let steps: Vec<_> = found.events.iter().map(|event| event.step).collect();
    let retold = crowd.retold(program, &found.instance, &steps)?;
    let machine = Machine::of_copies(program, retold.acting.clone(), found.model);
    let (mut events, mut state) = (Vec::new(), machine.initial_state());
    for step in &retold.steps {
        let event = machine.event(&state, *step).ok()?;
        machine.take(&mut state, &event);
        events.push(event);
    }
    let copies = retold.instance.count(crowd.thread);
    let (instance, acting) = (retold.instance, retold.acting);
    let violation = Violation { instance, acting, instance_minimal: false, events, ..found.clone() };
    is_crowd(&violation.events, retold.moves, copies).then_some(violation)
}
