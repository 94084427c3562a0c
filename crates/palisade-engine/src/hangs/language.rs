//! The weakest changes of orderings, and fences, after which nobody waits for ever by a language.
//!
//! The more orderings and fences, the fewer graphs are consistent (THEORY.md, "Repairs"), and who
//! waits reads the last writes as before. So a graph with a stuck state is one of every form of the
//! program that has none of a *row* of measures, found by the axioms on the graph itself.

use super::{HangOptions, Verdict, Why, hangs};
use crate::fences::language::offer;
use crate::fences::offered::Offered;
use crate::fences::repair::remedy::{Goal, remedied};
use crate::fences::rounds::Decided;
use crate::fences::{Checker, Checks, FenceError, FenceOptions, Remedied, Remedy, RepairError, RepairOptions};
use crate::robustness::{StaleAnswer, StaleOptions, decide_stale, steps_in_form};
use palisade_evidence::{FreeCertificate, RepairClaim, RowWitness, StuckGraph, StuckWitness, ValidProof, WhyRobust};
use palisade_model::limits::StopReason;
use palisade_model::program::{Measure, Program};
use palisade_semantics::graphs::{Axioms, Execution, by_language};
use palisade_semantics::{Machine, Model};
use palisade_verify::check_stuck;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Finds the weakest changes with which no execution of a program by a language is stuck, puts them
/// in its text, and has evidence for every claim checked. With `ignore_timeouts` what is `timed`
/// waits like all else.
///
/// # Errors
///
/// When the input is at fault, or when the evidence is rejected.
pub fn repair_hangs_in_language(
    program: &Program,
    axioms: Axioms,
    (options, ignore_timeouts): (&FenceOptions, bool),
    wanted: &RepairOptions<'_>,
    checks: &dyn Checks,
) -> Result<Remedied, RepairError> {
    for pattern in options.only.iter().chain(&options.never) {
        pattern.check(program).map_err(FenceError::Pattern)?;
    }
    let measures = offer(program, axioms, options);
    let all = measures.iter().map(|(measure, _)| *measure).collect();
    let priced = measures.iter().map(|(measure, cost)| (*measure, Some(cost.clone()))).collect();
    let asked = HangOptions {
        values: options.values,
        ignore_timeouts,
        graphs: Some(axioms),
        limits: options.limits.clone(),
        ..HangOptions::new(Model::Sc)
    };
    let goal = Free { all, offered: Offered::new(program, &[], priced), axioms, asked, why: None };
    let mut found = remedied(program, goal, measures, wanted, Checker { limits: &options.limits, checks })?;
    if let Remedy::Impossible(shown) = &mut found.remedy {
        shown.0 = by_language(&shown.0);
    }
    Ok(found)
}

/// Freedom from stuck states by a language.
struct Free<'a> {
    all: Vec<Measure>,
    offered: Offered<'a>,
    axioms: Axioms,
    asked: HangOptions,
    /// Why the last program has no answer.
    why: Option<Why>,
}

impl Free<'_> {
    /// Robustness, and interleavings none of which is stuck.
    fn by_robustness(&self, program: &Program) -> Result<Option<FreeCertificate>, RepairError> {
        let limits = self.asked.limits.clone();
        let options = StaleOptions { axioms: self.axioms, values: self.asked.values, certifies: true, limits };
        let robust = match decide_stale(program, &options) {
            Err(fault) if fault.is_growth() => return Ok(None),
            answer => answer?.0,
        };
        let StaleAnswer::Robust(Some(robust)) = robust else { return Ok(None) };
        let interleavings = hangs(&by_language(program), &HangOptions { graphs: None, ..self.asked.clone() })?;
        let Verdict::Free(free) = interleavings.verdict else { return Ok(None) };
        let robust = Some(WhyRobust::Language(Box::new(robust)));
        Ok(Some(FreeCertificate { robust, ..Arc::unwrap_or_clone(free) }))
    }
}

impl Goal for Free<'_> {
    fn claim(&self) -> RepairClaim {
        let HangOptions { model, graphs, ignore_timeouts: ignores_timeouts, .. } = self.asked;
        RepairClaim::Hangs { model, graphs, ignores_timeouts }
    }

    fn ask(&mut self, program: &Program) -> Result<Decided<ValidProof, RowWitness>, RepairError> {
        let found = hangs(program, &self.asked)?;
        Ok(match found.verdict {
            Verdict::Free(certificate) => Decided::Robust(ValidProof::Free(certificate)),
            Verdict::Stuck(stuck) => Decided::NotRobust(RowWitness::Stuck(stuck.witness())),
            Verdict::Unknown(why) => match self.by_robustness(program)? {
                Some(certificate) => Decided::Robust(ValidProof::Free(Arc::new(certificate))),
                None => {
                    let reason = if let Why::Stopped(reason) = &why { *reason } else { StopReason::Inconclusive };
                    self.why = Some(why);
                    Decided::Unknown(reason)
                }
            },
        })
    }

    fn why_open(&self) -> Option<String> {
        self.why.as_ref().map(Why::words)
    }

    fn stopping(&self, set: &[Measure], changed: &Program, witness: &RowWitness) -> BTreeSet<Measure> {
        let RowWitness::Stuck(witness) = witness else { unreachable!("it is one of a stuck state") };
        let (mut kept, mut row) = (set.to_vec(), BTreeSet::new());
        for measure in self.all.iter().filter(|measure| !set.contains(measure)) {
            kept.push(*measure);
            let stronger = self.offered.program_with(|own| kept.contains(&own));
            if in_form(self.offered.program(), (changed, &stronger), witness).is_none() {
                kept.pop();
                row.insert(*measure);
            }
        }
        row
    }
}

/// A graph with a stuck state in another form of the program than `from`; nothing where it is none
/// there.
fn in_form(program: &Program, (from, to): (&Program, &Program), witness: &StuckWitness) -> Option<StuckWitness> {
    let graph = witness.graph.as_ref()?;
    let stated = by_language(to);
    let machine = Machine::new(&stated, &witness.instance, Model::Sc).waiting();
    let (mut execution, mut older) = (Execution::new(graph.axioms), Vec::new());
    let written = |step: usize| graph.older.iter().find(|(own, _)| *own == step).map(|(_, write)| *write);
    let steps = steps_in_form((program, from, to), &machine, &witness.steps, |state, own, step, places| {
        if let Some(write) = own.and_then(written) {
            let write = match write {
                Some(write) => Some(places[write]?),
                None => None,
            };
            let event = match write {
                Some(write) => Some(execution.of_step[write]?),
                None => None,
            };
            older.push((execution.of_step.len(), write));
            execution.take_older(&machine, state, step, event).ok()?;
        } else {
            let event = machine.event(state, step).ok()?;
            execution.take(&machine, &event);
            machine.take(state, &event);
        }
        Some(())
    })?;
    let graph = Some(StuckGraph { axioms: graph.axioms, older });
    let found = StuckWitness { graph, steps, ..witness.clone() };
    check_stuck(to, &found).is_ok().then_some(found)
}
