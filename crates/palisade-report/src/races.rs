//! Triangular races, and the fences that stop them, for people.

use super::computation::{ComputationReport, Marks};
use super::context::Context;
use super::counted;
use super::fences::measure_words;
use super::subject::program_words;
use palisade_engine::properties::races::{Race, RaceFences};
use palisade_model::limits::StopReason;
use palisade_model::program::{InstructionId, Program, ThreadId};
use palisade_semantics::{Machine, Model};
use std::fmt::Write;

/// The three instructions of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corners {
    /// The thread that loads, and the one that stores to the same address.
    pub threads: (ThreadId, ThreadId),
    /// The first thread's last store to another address before the load.
    pub store: InstructionId,
    /// The load.
    pub load: InstructionId,
    /// The store that races with it.
    pub racing: InstructionId,
}

impl Corners {
    /// The instructions of a race.
    pub fn of(race: &Race) -> Self {
        let instruction =
            |index: usize| race.events[index].step.kind.instruction().expect("there are no buffers under SC");
        let last = race.events.len() - 1;
        let thread = |index: usize| race.events[index].step.copy.thread;
        Self {
            threads: (thread(race.load_step), thread(last)),
            store: instruction(race.store_step),
            load: instruction(race.load_step),
            racing: instruction(last),
        }
    }
}

/// The fences that stop all races, for people.
pub fn fences_text(found: Result<&RaceFences, StopReason>, context: &Context<'_>, verbosity: u8) -> String {
    let program = context.program;
    let mut out = String::new();
    let headline = match found {
        Ok(fences) if fences.measures.is_empty() => "no triangular race".to_owned(),
        Ok(fences) => {
            let count = counted(fences.measures.len(), "fence");
            format!("{count} against all triangular races, cost {}, none cheaper", fences.cost)
        }
        Err(reason) => format!("not known: {reason}"),
    };
    let _ = writeln!(out, "{}: {headline}", context.file);
    let _ = writeln!(out, "  program  {}", program_words(program, context.changed));
    let Ok(fences) = found else { return out };
    for measure in &fences.measures {
        let _ = writeln!(out, "  fence    {}", measure_words(program, *measure));
    }
    let _ = writeln!(out, "  rows     {}", counted(fences.rows.len(), "race"));
    for (row, race) in fences.rows.iter().filter(|_| verbosity > 0) {
        let names: Vec<String> = row.iter().map(|measure| measure_words(program, *measure)).collect();
        let load = program.place(Corners::of(race).threads.0, Corners::of(race).load);
        let _ = writeln!(out, "  row      {} for the load at {load}", names.join(", "));
    }
    out
}

/// The computation of a race.
pub fn computation<'a>(program: &'a Program, race: &'a Race) -> ComputationReport<'a> {
    let machine = Machine::of_copies(program, race.acting.clone(), Model::Sc);
    ComputationReport::new(machine, &race.instance, &race.events, Marks::Nothing)
}
