//! From a success of the system to an execution graph.

use super::asked::Asked;
use super::steps::{GraphRun, GraphViolation, interleaved};
use crate::robustness::witness::{Computation, Names};
use palisade_evidence::{StaleClaim, StaleGoal};
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::stale::Role;
use palisade_exploration::instrumented::system::{InitialTokens, Local};
use palisade_exploration::lazy::Exploration;
use palisade_model::program::{Copies, InstructionId, Program, Thread};
use palisade_semantics::graphs::Axioms;
use palisade_semantics::{CopyId, Instance, Machine, Model, Step, StepKind};
use std::collections::BTreeSet;

/// One action of one named copy.
struct Deed {
    copy: CopyId,
    at: Local,
    instruction: InstructionId,
    role: Role,
}

/// The graph that a success of an exact exploration shows.
pub(super) fn replay(
    asked: &mut Asked<'_>,
    explored: &Exploration,
    success: u32,
    instance_minimal: bool,
) -> Result<GraphViolation, Fault> {
    let (system, together) = (&mut asked.system, asked.together);
    let program = system.program();
    let steps = explored.steps_along(system, success)?;
    let initial = explored.entries(explored.path(success)[0]);
    let mut names = Names::new(program, initial, |place| system.local(system.token(place).local).thread);
    let mut counts: Vec<u64> = program.threads.iter().map(fixed).collect();
    let mut deeds = Vec::new();
    for (control, step) in &steps {
        let label = system.label(step);
        let place = step.take.expect("a token takes the step");
        let (copy, place) = if place == InitialTokens::SPARE {
            let count = &mut counts[label.thread.index()];
            *count += 1;
            (CopyId { thread: label.thread, copy: *count - 1 }, system.spare_place(*control, step)?)
        } else {
            (names.take(place), place)
        };
        let at = system.local(system.token(place).local).clone();
        names.put(copy, step.put);
        deeds.push(Deed { copy: together.copy(copy), at, instruction: label.instruction, role: label.role });
    }
    let attack = system.attack(system.control(explored.control(success))).expect("a success has an attack");
    let claim = match attack.goal {
        StaleGoal::Stale { .. } => StaleClaim::BeyondSc,
        StaleGoal::Race { .. } => StaleClaim::Race,
    };
    let instance = together.instance(&Instance::new(counts));
    Ok(tell(asked.stated, asked.axioms, claim, &deeds, instance, instance_minimal))
}

fn fixed(thread: &Thread) -> u64 {
    match thread.copies {
        Copies::Exactly(count) => count,
        Copies::Any => 0,
    }
}

/// The graph of named actions.
fn tell(
    program: &Program,
    axioms: Axioms,
    claim: StaleClaim,
    deeds: &[Deed],
    instance: Instance,
    instance_minimal: bool,
) -> GraphViolation {
    let acting: BTreeSet<CopyId> = deeds.iter().map(|deed| deed.copy).collect();
    let acting: Vec<CopyId> = acting.into_iter().collect();
    let machine = Machine::of_copies(program, acting.clone(), Model::Sc).waiting();
    let mut computation = Computation::new(&machine);
    let mut guessed = None;
    let (last, before) = deeds.split_last().expect("a success has a last event");
    for deed in before {
        computation.settle(deed.copy, &deed.at);
        if deed.role == Role::Guessed {
            guessed = Some(computation.steps.len());
        }
        computation.execute(deed.copy, deed.instruction, None);
    }
    computation.settle(last.copy, &last.at);
    let steps = computation.steps;
    let kind = StepKind::Execute { instruction: last.instruction, chosen: None };
    let last = Step { copy: last.copy, kind };
    let reads_from = guessed.filter(|_| claim == StaleClaim::BeyondSc).and_then(|guessed| {
        let (_, execution) = interleaved(&machine, axioms, &steps, &mut Vec::new())?;
        let event = execution.of_step[guessed].expect("a guessed access is an event");
        let write = execution.before(event);
        execution.of_step.iter().position(|event| *event == Some(write))
    });
    let run = GraphRun { claim, instance, acting, instance_minimal, steps, last, reads_from };
    GraphViolation::of(program, axioms, run).expect("the last event can be taken")
}
