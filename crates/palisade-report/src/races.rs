//! The result of `palisade check --criterion trf` as text.

use super::claim;
use super::computation::{ComputationReport, address_text};
use super::context::{Context, domain_line, place};
use super::counted;
use super::subject::program_words;
use palisade_engine::properties::races::{Race, RaceFences, RaceVerdict, Races, implies_robustness};
use palisade_model::limits::StopReason;
use palisade_model::program::{Copies, InstructionId, Program, ThreadId};
use palisade_semantics::Effect;
use std::fmt::Write;

/// What is said of programs with sections and without races.
pub const SECTIONS: &str =
    "sections of several instructions: it need not be robust for that, `palisade check` decides it";

/// The line on which a verdict is read.
pub fn verdict_word(verdict: &RaceVerdict) -> &'static str {
    match verdict {
        RaceVerdict::Free(_) => "race-free",
        RaceVerdict::Racy(_) => "triangular-race",
        RaceVerdict::Unknown(_) => "unknown",
    }
}

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

/// The report for people in one line, for many programs; the brackets say for which copies and values it is.
pub fn line(races: &Races, context: &Context<'_>) -> String {
    let mut out = format!("{}: {}", context.file, verdict_word(&races.verdict));
    match &races.verdict {
        RaceVerdict::Racy(race) => {
            let corners = Corners::of(race);
            let load = place(context.program, corners.threads.0, corners.load);
            let _ = write!(out, ", {load} with {}", place(context.program, corners.threads.1, corners.racing));
        }
        RaceVerdict::Unknown(reason) => {
            let _ = write!(out, ", {reason}");
        }
        RaceVerdict::Free(_) => {}
    }
    let _ = writeln!(out, " [{}]", program_words(context.program, context.changed));
    out
}

/// The report for people.
pub fn text(races: &Races, context: &Context<'_>, verbosity: u8) -> String {
    let program = context.program;
    let mut out = String::new();
    let copies: Vec<String> =
        program.threads.iter().map(|thread| format!("{} × {}", thread.name, thread.copies)).collect();
    let _ = writeln!(out, "{}: {}", context.file, verdict_word(&races.verdict));
    let _ = writeln!(out, "  threads  {}", copies.join(", "));
    out.push_str(&domain_line(program));
    out.push_str(&claim::lines(program, verbosity));
    match &races.verdict {
        RaceVerdict::Free(_) if !implies_robustness(program) => {
            let _ = writeln!(out, "  note     {SECTIONS}");
        }
        RaceVerdict::Free(_) => {
            let _ = writeln!(out, "  so       robust: no load shows whether an earlier store has reached memory");
        }
        RaceVerdict::Racy(race) => {
            let corners = Corners::of(race);
            let _ = writeln!(out, "  load     {}", place(program, corners.threads.0, corners.load));
            let _ = writeln!(out, "  after    {}", place(program, corners.threads.0, corners.store));
            let _ = writeln!(out, "  with     {}", place(program, corners.threads.1, corners.racing));
        }
        RaceVerdict::Unknown(reason) => {
            let _ = writeln!(out, "  reason   {reason}");
        }
    }
    if verbosity > 0 {
        let _ = writeln!(out, "  explored {} in {:.3} s", counted(races.states, "configuration"), context.seconds);
    }
    for path in context.certificates {
        let _ = writeln!(out, "  evidence {path}");
    }
    if let RaceVerdict::Racy(race) = &races.verdict {
        let _ = writeln!(out);
        out.push_str(&race_text(program, race));
    }
    out
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
        let _ = writeln!(
            out,
            "  fence    {} (line {})",
            measure.name(program).replacen('.', " ", 1),
            measure.line(program)
        );
    }
    let _ = writeln!(out, "  rows     {}", counted(fences.rows.len(), "race"));
    for (row, race) in fences.rows.iter().filter(|_| verbosity > 0) {
        let names: Vec<String> = row.iter().map(|measure| measure.name(program)).collect();
        let load = place(program, Corners::of(race).threads.0, Corners::of(race).load);
        let _ = writeln!(out, "  row      {} for the load at {load}", names.join(", "));
    }
    out
}

/// A race: what, in which instance, the computation as a table.
pub fn race_text(program: &Program, race: &Race) -> String {
    let corners = Corners::of(race);
    let mut out = String::new();
    let Effect::Load { address, .. } = race.events[race.load_step].effect else { unreachable!("the step is a load") };
    let _ = writeln!(
        out,
        "race: the load at {} takes `{}` right before the store at {}",
        place(program, corners.threads.0, corners.load),
        address_text(program, address),
        place(program, corners.threads.1, corners.racing),
    );
    if let Some(words) = instance_words(program, race) {
        let _ = writeln!(out, "instance: {words}");
    }
    out.push_str(&computation(program, race).table());
    out
}

/// The copies that race, for a program with any number of some thread.
pub fn instance_words(program: &Program, race: &Race) -> Option<String> {
    if !program.is_parameterized() {
        return None;
    }
    let counts = program.threads.iter().zip(race.instance.counts());
    let counts: Vec<String> = counts.map(|(thread, count)| format!("{} × {count}", thread.name)).collect();
    let all_are_counted =
        program.threads.iter().all(|thread| matches!(thread.copies, Copies::Any | Copies::Exactly(0)));
    let minimal = match race.instance_minimal {
        false => "",
        true if all_are_counted => " (no smaller instance has one)",
        true => " (none with fewer copies of the [*] threads has one)",
    };
    Some(format!("{}{minimal}", counts.join(", ")))
}

/// The computation of a race.
pub fn computation<'a>(program: &'a Program, race: &'a Race) -> ComputationReport<'a> {
    ComputationReport {
        program,
        instance: &race.instance,
        copies: race.acting.clone(),
        events: &race.events,
        states: &race.states,
        marks_delayed: false,
    }
}
