//! The result of `palisade fences` where remedies are sought round by round, as text: for
//! robustness of events and tasks, and against hangs.

use super::computation::{ComputationReport, Marks};
use super::context::Context;
use super::counted;
use super::fences::{change_words, measure_words};
use super::models::ModelWord;
use super::proposal::{KeptPlace, PROPOSED, Proposal, kept_lines};
use super::scene::Scene;
use super::subject::program_words;
use super::tso::{Computation, instance_words};
use palisade_engine::fences::{Remedied, Remedy};
use palisade_evidence::{RepairClaim, RowWitness, StuckWitness};
use palisade_model::program::Program;
use palisade_semantics::graphs::Execution;
use palisade_semantics::{Event, Machine, Model, Replay, State, replay_on};
use std::fmt::Write;

/// A remedy with what the command line made of it.
#[derive(Clone, Copy, Debug)]
pub struct Result<'a> {
    /// The remedy.
    pub found: &'a Remedied,
    /// Why the text itself is not changed.
    pub no_diff: Option<&'a str>,
    /// Of machine code, the changes of its sources.
    pub proposal: Option<&'a Proposal>,
    /// Places of the sources where nothing, or not everything, can be changed.
    pub kept: &'a [KeptPlace],
    /// Whether the program says what is to hold in the end.
    pub states_the_end: bool,
    /// The file that the repaired text was written to.
    pub written: Option<&'a str>,
}

impl<'a> Result<'a> {
    /// The changes in the text, or in its sources; nothing where there are none.
    pub fn diff(&self) -> &'a str {
        let text = || self.found.text.as_ref().and_then(|text| text.as_ref().ok()).map(|text| text.diff.as_str());
        self.proposal.map(|proposal| proposal.diff.as_str()).or_else(text).unwrap_or_default()
    }

    /// Whether `verify` has accepted the evidence for every claim.
    pub fn is_shown(&self) -> bool {
        self.found.shown.as_ref().is_some_and(|shown| shown.is_complete)
    }

    /// The memory model.
    pub fn model(&self) -> ModelWord {
        match &self.found.claim {
            RepairClaim::Language(axioms) | RepairClaim::Hangs { graphs: Some(axioms), .. } => (*axioms).into(),
            RepairClaim::Robust => Model::Tso.into(),
            RepairClaim::Properties { model, .. } | RepairClaim::Hangs { model, .. } => (*model).into(),
        }
    }

    /// Whether fences are for robustness, or against hangs.
    pub fn is_for_robustness(&self) -> bool {
        self.found.claim == RepairClaim::Robust
    }

    /// What is wanted, of the program as it is: `robust against TSO`.
    pub fn wanted(&self) -> String {
        let model = self.model().name();
        match (self.is_for_robustness(), self.states_the_end) {
            (true, _) => format!("robust against {model}"),
            (false, true) => format!("nobody waits for ever under {model}, and `finally` holds"),
            (false, false) => format!("nobody waits for ever under {model}"),
        }
    }

    /// What is so without the changes.
    pub fn otherwise(&self) -> &'static str {
        match (self.is_for_robustness(), self.states_the_end) {
            (true, _) => "it is not robust",
            (false, true) => "somebody waits for ever, or `finally` does not hold",
            (false, false) => "somebody waits for ever",
        }
    }

    /// What was found, in a line.
    pub fn headline(&self) -> String {
        let wanted = self.wanted();
        let purpose = if self.is_for_robustness() {
            format!("for robustness against {}", self.model().name())
        } else {
            format!("so that {wanted}")
        };
        let is_of_language = self.found.claim.language().is_some();
        let [one, all] = if is_of_language { ["change", "changes"] } else { ["fence", "fences"] };
        match &self.found.remedy {
            Remedy::Valid(measures, _) if measures.is_empty() => format!("{wanted}: no {one} is needed"),
            Remedy::Valid(measures, cost) => {
                let changes = counted(measures.len(), "change");
                // Costs of a language say that few places count more than weak orderings.
                match is_of_language {
                    true => format!("{changes} {purpose}, no fewer and none weaker"),
                    false => format!("{changes} {purpose}, cost {cost}, none cheaper"),
                }
            }
            Remedy::Impossible(shown) => match &**shown {
                (program, RowWitness::Stuck(witness)) if Replayed::of(program, witness).is_interleaving => {
                    match Replayed::of(program, witness).breaks_the_end() {
                        true => format!("no {one} helps: in the end `finally` does not hold, under SC"),
                        false => format!("no {one} helps: somebody waits for ever under SC"),
                    }
                }
                (_, RowWitness::Stuck(_)) => format!("whatever is changed, {}", self.otherwise()),
                _ => format!("nothing that is permitted makes it {wanted}"),
            },
            Remedy::Unknown(reason) => format!("{all} {purpose} are unknown: {reason}"),
        }
    }
}

/// What the verdict is about: the copies of threads, or the instances of events.
pub fn subject(context: &Context<'_>) -> String {
    let program = context.program;
    if program.is_event_driven() { instance_words(program) } else { program_words(program, context.changed) }
}

/// The report for people.
pub fn text(result: &Result<'_>, context: &Context<'_>, verbosity: u8) -> String {
    let (program, found) = (context.program, result.found);
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}", context.file, result.headline());
    let words = |measure| match found.claim.language() {
        Some(_) => change_words(program, measure),
        None => measure_words(program, measure),
    };
    let about = if program.is_event_driven() { "events" } else { "program" };
    let _ = writeln!(out, "  {about:<8} {}", subject(context));
    if let Remedy::Valid(measures, _) = &found.remedy {
        for (measure, _) in measures {
            let row = found.row_of(*measure);
            let back = row.map_or(String::new(), |_| format!(", without it {}", result.otherwise()));
            let _ = writeln!(out, "  change   {}{back}", words(*measure));
        }
        if !measures.is_empty() {
            let rows = counted(found.rows.len(), "violation");
            let _ = writeln!(out, "  proof    {rows}: every repair stops at least one step of each");
        }
    }
    out.push_str(&kept_lines(result.kept));
    if verbosity > 0 {
        let searches = counted(found.searches, "program");
        let _ = writeln!(out, "  searched {searches} in {:.3} s", context.seconds);
        for (row, _) in &found.rows {
            let names: Vec<String> = row.iter().map(|measure| words(*measure)).collect();
            let _ = writeln!(out, "  row      {}", names.join(", "));
        }
    }
    if found.shown.is_some() {
        let _ = writeln!(
            out,
            "  evidence {}",
            if result.is_shown() { "verified" } else { "not verified: a limit was reached" }
        );
    }
    if let Some(why) = result.no_diff {
        let _ = writeln!(out, "  text     unchanged: {why}");
    }
    for path in context.certificates {
        let _ = writeln!(out, "  evidence {path}");
    }
    if let Some(path) = result.written {
        let _ = writeln!(out, "  written  {path}");
    }
    if let Remedy::Impossible(shown) = &found.remedy {
        let _ = writeln!(out, "\n{WITH_ALL}");
        match &**shown {
            (_, RowWitness::Tasks(witness)) => {
                let scene = Computation::of(program, witness).map(|shown| Scene::of_computation(&shown).text());
                out.push_str(&scene.unwrap_or_default());
            }
            (program, RowWitness::Stuck(witness)) => {
                let table = Replayed::of(program, witness).report().table(0);
                let _ = writeln!(out, "{}", table.trim_end_matches('\n'));
                let _ = writeln!(out, "\nfrom here nobody goes on; `palisade check --ask hangs` says who waits where");
            }
            _ => {}
        }
    }
    if result.written.is_none() && !result.diff().is_empty() {
        if result.proposal.is_some() {
            out.push_str(PROPOSED);
        }
        let _ = write!(out, "\n{}", result.diff());
    }
    out
}

/// Above a computation that nothing stops, which is one of the program with every change.
pub const WITH_ALL: &str = "with every permitted change made, this remains:";

/// A computation to a stuck state, replayed.
pub struct Replayed<'a> {
    machine: Machine<'a>,
    witness: &'a StuckWitness,
    events: Vec<Event>,
    last: State,
    /// Whether it is an interleaving.
    pub is_interleaving: bool,
}

impl<'a> Replayed<'a> {
    /// Replays a computation of a program; of a graph, of the program by the language.
    ///
    /// # Panics
    ///
    /// If it is not one of the program.
    pub fn of(program: &'a Program, witness: &'a StuckWitness) -> Self {
        const OF_PROGRAM: &str = "the computation is one of the program";
        let machine = Machine::new(program, &witness.instance, witness.model).waiting();
        let Some(graph) = &witness.graph else {
            let Replay { events, last, .. } = replay_on(&machine, &witness.steps).expect(OF_PROGRAM);
            let is_interleaving = machine.is_interleaving(&events);
            return Self { machine, witness, events, last, is_interleaving };
        };
        let (mut execution, mut last, mut events) = (Execution::new(graph.axioms), machine.initial_state(), Vec::new());
        for (index, step) in witness.steps.iter().enumerate() {
            let event = match graph.older.iter().find(|(own, _)| *own == index) {
                Some((_, write)) => {
                    let write = write.and_then(|write| execution.of_step[write]);
                    execution.take_older(&machine, &mut last, *step, write).expect(OF_PROGRAM)
                }
                None => {
                    let event = machine.event(&last, *step).expect(OF_PROGRAM);
                    execution.take(&machine, &event);
                    machine.take(&mut last, &event);
                    event
                }
            };
            events.push(event);
        }
        Self { machine, witness, events, last, is_interleaving: graph.older.is_empty() }
    }

    /// Whether memory is not as `finally` states it where the computation ends.
    fn breaks_the_end(&self) -> bool {
        let program = self.machine.program();
        program.finally.iter().any(|claim| !claim.holds(program.domain, |address| self.last.memory(address)))
    }

    /// The computation with its lanes.
    pub fn report(&self) -> ComputationReport<'_> {
        let StuckWitness { instance, model, graph, .. } = self.witness;
        let marks = match graph {
            Some(graph) => Marks::Orderings(graph.axioms),
            None if self.is_interleaving => Marks::Nothing,
            None => Marks::of(*model),
        };
        ComputationReport::new(self.machine.clone(), instance, &self.events, marks)
    }
}
