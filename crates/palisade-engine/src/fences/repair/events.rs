//! The cheapest fences that make a program of events and tasks robust against TSO.
//!
//! What could stop a violation is a fence at a label that an instruction passes while stores wait
//! in its thread's buffer, and an exchange in place of a store that waits there itself or is issued
//! behind one that does.

use super::remedy::{Goal, Remedied, remedied};
use super::{Checker, Checks, RepairError, RepairOptions};
use crate::fences::catalogues::{permitted, priced};
use crate::fences::cost::Cost;
use crate::fences::fence_error::FenceError;
use crate::fences::options::FenceOptions;
use crate::fences::rounds::Decided;
use crate::robustness::{Verdict, check_tasks};
use palisade_evidence::{RepairClaim, RowWitness, ValidProof};
use palisade_model::program::{Action, Copies, Measure, Program, Sites};
use palisade_semantics::Model;
use palisade_semantics::tasks::{InvocationId, TaskMachine, TaskStep, Worker};
use std::collections::BTreeSet;

/// Repairs a program of events and tasks: finds the measures, takes them in its text, and has
/// evidence for every claim checked.
///
/// # Errors
///
/// When the input is at fault, or when the evidence is rejected.
pub fn repair_events(
    program: &Program,
    options: &FenceOptions,
    wanted: &RepairOptions<'_>,
    checks: &dyn Checks,
) -> Result<Remedied, RepairError> {
    for pattern in options.only.iter().chain(&options.never) {
        pattern.check(program).map_err(FenceError::Pattern)?;
    }
    let sites = Sites::of(program);
    let fences = options.cost.of_measures(program, &sites);
    let cost = |measure: Measure| -> Result<(Measure, Cost), FenceError> {
        Ok((measure, priced(measure, fences.dearest(measure)?, options)))
    };
    let measures = permitted(program, options).into_iter().map(cost).collect::<Result<Vec<_>, _>>()?;
    let checker = Checker { limits: &options.limits, checks };
    remedied(program, Robust { program, options }, measures, wanted, checker)
}

/// Robustness against TSO.
struct Robust<'a> {
    program: &'a Program,
    options: &'a FenceOptions,
}

impl Goal for Robust<'_> {
    fn claim(&self) -> RepairClaim {
        RepairClaim::Robust
    }

    fn ask(&mut self, program: &Program) -> Result<Decided<ValidProof, RowWitness>, RepairError> {
        let checked = check_tasks(program, self.options.values, &self.options.limits)?;
        Ok(match (checked.verdict, checked.certificate, checked.witness) {
            (Verdict::Robust, Some(certificate), _) => Decided::Robust(ValidProof::Tasks(certificate)),
            (Verdict::NotRobust, _, Some(witness)) => Decided::NotRobust(RowWitness::Tasks(witness)),
            (Verdict::Unknown(reason), ..) => Decided::Unknown(reason),
            _ => unreachable!("an answer has its evidence"),
        })
    }

    fn why_open(&self) -> Option<String> {
        None
    }

    fn stopping(&self, _: &[Measure], changed: &Program, witness: &RowWitness) -> BTreeSet<Measure> {
        let RowWitness::Tasks(witness) = witness else { unreachable!("it is one of events and tasks") };
        let mut instance = changed.clone();
        let counts = instance.threads.iter_mut().zip(&witness.instance);
        counts.for_each(|(template, count)| template.copies = Copies::Exactly(*count));
        let machine = TaskMachine::new(&instance, Model::Tso);
        let mut state = machine.initial_state();
        let mut stopping = BTreeSet::new();
        for (index, step) in witness.steps.iter().enumerate() {
            if let TaskStep::Execute { invocation, instruction, .. } = *step {
                let own = &state.invocations()[invocation];
                let (thread, on_main) = (own.template, own.worker == Worker::Main);
                let is_waiting = !state.buffer(invocation).is_empty();
                let of_program = self.program.thread(thread).instructions.get(instruction.index());
                if let Some(instruction) = of_program.filter(|_| is_waiting) {
                    stopping.insert(Measure::Fence { thread, label: instruction.source });
                }
                let is_at_once = is_flush_of(witness.steps.get(index + 1), invocation, on_main);
                // An exchange that is taken already is no store.
                let is_store = matches!(changed.thread(thread).instruction(instruction).action, Action::Store { .. });
                if is_store && (is_waiting || !is_at_once) {
                    stopping.insert(Measure::Exchange { thread, store: instruction });
                }
            }
            machine.apply(&mut state, *step).expect("the checks of programs show computations of them");
        }
        stopping
    }
}

/// Whether a step lets a store of this invocation's thread reach memory.
fn is_flush_of(step: Option<&TaskStep>, invocation: InvocationId, on_main: bool) -> bool {
    match step {
        Some(TaskStep::FlushMain) => on_main,
        Some(TaskStep::Flush { invocation: other }) => !on_main && *other == invocation,
        _ => false,
    }
}
