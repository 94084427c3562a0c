//! The result of `palisade fences --ask properties` as text.

use super::computation::{ComputationReport, Marks};
use super::context::Context;
use super::fences::{changes, kind, measure_name, measure_words};
use super::models::model_name;
use super::open::open_words;
use super::properties::Properties;
use super::proposal::PROPOSED;
use super::rungs::rung_words;
use super::subject::program_words;
use super::{alternatives, counted};
use palisade_engine::properties::placement::{Placed, PropertyPlacement, PropertyRepaired, PropertyRow};
use palisade_engine::properties::{Answer, Violation};
use palisade_model::program::{Action, Instruction, InstructionId, Program, Thread, ThreadId};
use palisade_semantics::{Model, Target};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What was found, and what was done about it.
#[derive(Debug)]
pub struct Result<'a> {
    /// Whether fences help, and which, with the evidence.
    pub found: &'a PropertyRepaired,
    /// The memory model.
    pub model: Model,
    /// All optimal sets were asked for.
    pub all: bool,
    /// The unified diff from the program's text, or its sources, to the repaired one; empty when
    /// nothing is to be changed.
    pub diff: &'a str,
    /// Whether the diff is one of sources, which are still to be built.
    pub is_proposed: bool,
    /// Why the text itself cannot be changed.
    pub no_diff: Option<&'a str>,
    /// Where the repaired text was written.
    pub written: Option<&'a str>,
}

/// The report for people.
pub fn text(result: &Result<'_>, context: &Context<'_>, verbosity: u8) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}", context.file, headline(result));
    let _ = writeln!(out, "  for      the properties under {}", model_name(result.model));
    let _ = writeln!(out, "  program  {}", program_words(context.program, context.changed));
    match &result.found.placed {
        Placed::Valid(placement) => placement_text(&mut out, placement, context.program, result, verbosity),
        Placed::NoFenceHelps(violation) => {
            let name = property_name(context.program, violation.target);
            violation_text(&mut out, violation, &result.found.watched, &name);
        }
        Placed::Impossible(impossible) => {
            let name = property_name(context.program, impossible.run.target);
            let _ = writeln!(out, "  whatever is changed, {name} is violated");
            if let Some(violation) = &impossible.violation {
                violation_text(&mut out, violation, &impossible.program, &name);
            }
        }
    }
    if let Some(needed) = &result.found.needed {
        needed_text(&mut out, needed, context.program);
    }
    for path in context.certificates {
        let _ = writeln!(out, "  evidence {path}");
    }
    if let Some(path) = result.written {
        let _ = writeln!(out, "  written  {path}");
    }
    if let Some(why) = result.no_diff {
        let _ = writeln!(out, "  no diff  {why}");
    }
    if !result.diff.is_empty() {
        if result.is_proposed {
            out.push_str(PROPOSED);
        }
        let _ = writeln!(out, "\n{}", result.diff.trim_end_matches('\n'));
    }
    out
}

fn headline(result: &Result<'_>) -> String {
    let placement = match &result.found.placed {
        Placed::Valid(placement) => placement,
        Placed::NoFenceHelps(_) => return "no fence helps: violated under SC".to_owned(),
        Placed::Impossible(_) => return "no valid set under the restrictions".to_owned(),
    };
    match &placement.open {
        None if placement.measures.is_empty() => nothing_needed(&result.found.program).to_owned(),
        None => format!("{} optimal, cost {}", changes(&placement.measures), placement.cost),
        Some(open) if placement.measures.is_empty() => format!("no fence known to be needed, {}", open_words(open)),
        Some(open) => format!("{}, cost {}, {}", changes(&placement.measures), placement.cost, open_words(open)),
    }
}

/// Says that the properties of a program hold as it is.
pub fn nothing_needed(program: &Program) -> &'static str {
    let is_fence = |own: &Instruction| matches!(own.action, Action::Fence | Action::StoreFence);
    let has_fences = program.threads.iter().any(|thread| thread.instructions.iter().any(is_fence));
    if has_fences { "no further fence needed" } else { "no fence needed" }
}

fn placement_text(
    out: &mut String,
    placement: &PropertyPlacement,
    program: &Program,
    result: &Result<'_>,
    verbosity: u8,
) {
    for (measure, cost) in &placement.measures {
        let _ = writeln!(out, "  {:<8} {}, cost {cost}", kind(*measure), measure_words(program, *measure));
        if let Some(row) = placement.row_of(*measure) {
            let _ = writeln!(out, "           without it, {} is violated", property_name(program, row.run.target));
        }
    }
    if !placement.measures.is_empty() {
        bound_text(out, placement, program);
    }
    if result.all {
        let _ = match (placement.alternatives.len(), placement.alternatives_complete) {
            (count, true) => writeln!(out, "  optima   {count}"),
            (count, false) => writeln!(out, "  optima   {count} known; there may be more"),
        };
        for set in &placement.alternatives {
            let names: Vec<String> = set.iter().map(|measure| measure_name(program, *measure)).collect();
            let _ =
                writeln!(out, "           {}", if names.is_empty() { "nothing".to_owned() } else { names.join(", ") });
        }
    }
    proof_text(out, result, program);
    if placement.open.is_none() && !result.found.is_complete {
        let _ = writeln!(out, "  evidence not all of this was re-checked to the end");
    }
    if verbosity > 0 {
        let _ = writeln!(
            out,
            "  searched {} with {} in all",
            counted(placement.queries, "set"),
            counted(placement.states, "state")
        );
        for PropertyRow { measures, run, .. } in &placement.rows {
            let names: Vec<String> = measures.iter().map(|measure| measure_name(program, *measure)).collect();
            let _ = writeln!(out, "  row      {} for {}", alternatives(names), property_name(program, run.target));
        }
    }
}

fn bound_text(out: &mut String, placement: &PropertyPlacement, program: &Program) {
    let weights: Vec<_> = placement.weights.iter().map(|(row, weight)| (&placement.rows[*row], weight)).collect();
    let sum: palisade_engine::fences::Cost = weights.iter().map(|(_, weight)| (*weight).clone()).sum();
    let _ = writeln!(out, "  bound    a valid set costs at least {sum}:");
    for (row, weight) in weights {
        let names: Vec<String> = row.measures.iter().map(|measure| measure_name(program, *measure)).collect();
        let property = property_name(program, row.run.target);
        let _ = writeln!(out, "           {weight} for {property}: {}", alternatives(names));
    }
    if sum < placement.lower_bound {
        let _ = writeln!(
            out,
            "           an exact search of {} shows that it costs at least {}",
            counted(placement.branchings, "branching"),
            placement.lower_bound
        );
    }
}

/// What proves each property, with the set in force.
fn proof_text(out: &mut String, result: &Result<'_>, program: &Program) {
    let before = BeforeTheChange::of(program, &result.found.program);
    let Some(proof) = &result.found.proof else { return };
    for answer in &proof.answers {
        if let Answer::Holds(position) = answer.answer {
            let name = property_name(program, before.target(answer.target));
            let why = rung_words(&result.found.program, answer, proof.proofs.get(position));
            let _ = writeln!(out, "  proved   {name}: {why}, {}", counted(answer.states, "state"));
        }
    }
}

/// Which of the fences there already the properties need.
fn needed_text(out: &mut String, needed: &Placed, program: &Program) {
    let Placed::Valid(needed) = needed else {
        let _ = writeln!(out, "  fences there already: not judged");
        return;
    };
    let _ = writeln!(out, "  fences there already: {}", needed.offered.len());
    let mut unneeded = 0;
    for (measure, _) in &needed.offered {
        let words = match needed.row_of(*measure) {
            Some(row) => format!("needed: without it, {} is violated", property_name(program, row.run.target)),
            None if needed.measures.iter().any(|(kept, _)| kept == measure) => "kept".to_owned(),
            None => {
                unneeded += 1;
                "not needed".to_owned()
            }
        };
        let _ = writeln!(out, "    {} {words}", measure_words(program, *measure));
    }
    if unneeded > 1 {
        let _ = writeln!(out, "    those not needed can go together");
    }
    if let Some(open) = &needed.open {
        let _ = writeln!(out, "    {}", open_words(open));
    }
}

fn violation_text(out: &mut String, violation: &Violation, program: &Program, name: &str) {
    let _ = writeln!(out, "  violated {name}");
    let machine = violation.machine(program);
    let report = ComputationReport::new(machine, &violation.instance, &violation.events, Marks::Delayed);
    let _ = writeln!(out, "\n{}", report.table(0).trim_end_matches('\n'));
}

/// `ensure monitor none_lost (line 41)`, as a check has it; for final states, what asks for them.
pub fn property_name(program: &Program, target: Target) -> String {
    let properties = Properties { program, question: None };
    match target {
        Target::Instruction { .. } => format!("{} {}", properties.kind(target), properties.place(target)),
        Target::FinalStates => "what is asked of final states".to_owned(),
    }
}

/// The properties of a program with fences, by the numbers that they have without: fences leave
/// properties and their order alone.
pub(super) struct BeforeTheChange {
    numbers: BTreeMap<(ThreadId, InstructionId), InstructionId>,
}

impl BeforeTheChange {
    /// The properties of a changed program, and which ones of the program they are.
    pub(super) fn of(program: &Program, changed: &Program) -> Self {
        let properties = |thread: &Thread| {
            let all = thread.instruction_ids();
            let own = all.filter(|(_, own)| matches!(own.action, Action::Ensure(_) | Action::Fail));
            own.map(|(id, _)| id).collect::<Vec<_>>()
        };
        // Behind the threads of the program stand those that watch joint control states.
        let threads = program.thread_ids().zip(&changed.threads);
        let pairs = threads.flat_map(|((id, thread), changed)| {
            let both = properties(changed).into_iter().zip(properties(thread));
            both.map(move |(changed, own)| ((id, changed), own))
        });
        Self { numbers: pairs.collect() }
    }

    /// The target that a target of the changed program is.
    pub(super) fn target(&self, target: Target) -> Target {
        let Target::Instruction { thread, instruction } = target else { return target };
        let before = self.numbers.get(&(thread, instruction)).copied();
        Target::Instruction { thread, instruction: before.unwrap_or(instruction) }
    }
}
