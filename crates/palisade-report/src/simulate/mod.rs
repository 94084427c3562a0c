//! Final states as text, in the format of herd's logs or in sentences.

mod counters;
mod sentences;
mod side_by_side;

pub use counters::{TurnedClass, turned_classes};
pub use side_by_side::{reached_by, text as side_by_side};

use super::computation::{ComputationReport, Marks};
use super::context::fault_error_because;
use super::place::{claim_text, condition};
use palisade_engine::robustness::{Fault, FaultKind, Growing};
use palisade_model::limits::StopReason;
use palisade_model::program::{FinalClaim, InstructionId, JointState, OutcomeCounters, Program, SourceText};
use palisade_semantics::{
    Computation, CopyId, Counting, ExplorationError, FinalStates, Growth, Instance, Machine, Model, Observation,
    Quantifier, Question, State, Subject, ValueError,
};
use palisade_syntax::{Diagnostic, InputError, joint_state_text};
use std::fmt::Write as _;

/// What was simulated, and what came out.
#[derive(Clone, Debug)]
pub struct Simulation<'s> {
    /// The file.
    pub file: &'s str,
    /// The program.
    pub program: &'s Program,
    /// The instance.
    pub instance: &'s Instance,
    /// The memory model.
    pub model: Model,
    /// The question.
    pub question: &'s Question,
    /// What was counted.
    pub counting: Counting,
    /// The answer.
    pub outcome: Observation,
    /// What the search for final states found: in which some thread is stuck, and which properties
    /// are violated.
    pub finals: &'s FinalStates,
    /// Whether a bound on buffers or steps may have left final states out.
    pub bounded: bool,
    /// The bound on the stores in a buffer.
    pub buffer: usize,
    /// How long it took.
    pub seconds: f64,
}

impl Simulation<'_> {
    /// The entry of a herd log. Lines after the time that herd does not have are of the form
    /// `key=value`, which readers of such logs skip.
    pub fn log(&self) -> String {
        let name = &self.program.name;
        let outcome = &self.outcome;
        let condition = self.question.condition();
        let (kind, witnesses, others) = match condition.quantifier {
            Quantifier::Exists => ("Allowed", outcome.satisfying, outcome.others),
            Quantifier::NotExists => ("Forbidden", outcome.others, outcome.satisfying),
            Quantifier::ForAll => ("Required", outcome.satisfying, outcome.others),
        };
        let observation = match (outcome.satisfying, outcome.others) {
            (0, _) => "Never",
            (_, 0) => "Always",
            _ => "Sometimes",
        };
        let mut log = String::new();
        let _ = writeln!(log, "Test {name} {kind}");
        let _ = writeln!(log, "States {}", outcome.rows.len());
        for row in &outcome.rows {
            let cells: Vec<String> =
                outcome.columns.iter().zip(row).map(|(column, value)| format!("{column}={value};")).collect();
            let _ = writeln!(log, "{}", cells.join(" "));
        }
        let bounded = if self.bounded { "Loop " } else { "" };
        let _ = writeln!(log, "{bounded}{}", if outcome.holds { "Ok" } else { "No" });
        let _ = writeln!(log, "Witnesses");
        let _ = writeln!(log, "Positive: {witnesses} Negative: {others}");
        let _ = writeln!(log, "Condition {condition}");
        let _ = writeln!(log, "Observation {name} {observation} {} {}", outcome.satisfying, outcome.others);
        let _ = writeln!(log, "Time {name} {:.2}", self.seconds);
        if !self.finals.stuck.is_empty() {
            let _ = writeln!(log, "Stuck={}", self.finals.stuck.len());
        }
        for (copy, instruction) in self.finals.violations.keys() {
            let _ = writeln!(log, "Violation={}", self.place(*copy, *instruction));
        }
        for index in self.finals.joint.keys() {
            let _ = writeln!(log, "Violation={}", self.joint(&self.program.never[*index]));
        }
        for (claim, line) in self.broken() {
            let _ = writeln!(log, "Violation=finally {claim} (line {line})");
        }
        log.push('\n');
        log
    }

    /// What holds and what fails, in sentences, with a computation for each thing that fails and
    /// for getting stuck. Of very many final states the first ones are listed, or all.
    pub fn sentences(&self, all: bool) -> String {
        sentences::text(self, all)
    }

    /// Whether the condition holds and no property is violated.
    pub fn holds(&self) -> bool {
        self.outcome.holds && !self.has_failed()
    }

    /// Whether a property is violated, whatever a limit kept from being explored.
    pub fn has_failed(&self) -> bool {
        let is_kept = self.finals.violations.is_empty() && self.finals.joint.is_empty();
        !is_kept || self.broken().next().is_some()
    }

    /// In how many final states, with registers, a claim of `finally` does not hold.
    pub(super) fn ends_against(&self, claim: &FinalClaim) -> usize {
        let holds = |state: &&State| claim.holds(self.program.domain, |address| state.memory(address));
        self.finals.completed.iter().filter(|state| !holds(state)).count()
    }

    /// The claims of `finally` that do not hold in some final state, each as the language writes
    /// it, with its line.
    pub(crate) fn broken(&self) -> impl Iterator<Item = (String, usize)> {
        let broken = self.program.finally.iter().filter(|claim| self.ends_against(claim) > 0);
        broken.map(|claim| {
            let line = self.program.source.position(claim.span.start).line;
            (claim_text(self.program, claim), line)
        })
    }

    /// A thread copy and where it stands: `t1#2 l0 (line 3)`.
    pub(super) fn place(&self, copy: CopyId, instruction: InstructionId) -> String {
        let thread = self.program.thread(copy.thread);
        let own = thread.instruction(instruction);
        let at = self.program.at(thread.label(own.source), own.span);
        format!("{}{at}", self.instance.copy_name(self.program, copy))
    }

    /// A computation, to be shown.
    pub(super) fn shown<'a>(&'a self, computation: &'a Computation) -> ComputationReport<'a> {
        let machine = Machine::new(self.program, self.instance, self.model);
        ComputationReport::new(machine, self.instance, &computation.events, Marks::Nothing)
    }

    /// A property as the language writes it.
    pub(super) fn property(&self, copy: CopyId, instruction: InstructionId) -> String {
        let condition = condition(self.program, copy.thread, instruction);
        condition.map_or_else(|| "fail".to_owned(), |condition| format!("ensure {condition}"))
    }

    /// A joint control state as the language writes it.
    pub(super) fn joint(&self, joint: &JointState) -> String {
        joint_state_text(self.program, joint)
    }

    /// The line of a joint control state.
    pub(super) fn joint_line(&self, joint: &JointState) -> usize {
        self.program.source.position(joint.span.start).line
    }

    /// What was found until a limit was reached, in sentences.
    pub fn found_until(&self, reason: StopReason) -> String {
        sentences::until(self, reason)
    }
}

/// A value that does not exist, at the instruction that computes it.
pub fn value_error(program: &Program, error: &ValueError) -> InputError {
    let span = program.thread(error.copy.thread).instruction(error.instruction).span;
    let help = match error.subject {
        Subject::Register(_) | Subject::Memory(_) | Subject::Expected(_) => Some(program.domain_advice().to_owned()),
        Subject::Address | Subject::Condition => None,
    };
    let diagnostic = Diagnostic::error(error.describe(program), span).with_label("here").with_help_if(help);
    InputError::from((program.source.clone(), vec![diagnostic]))
}

/// What grows, as a fault of the program.
fn growing(growth: &Growth) -> Fault {
    let what = match growth.what {
        Subject::Register(register) => Growing::Register(register),
        Subject::Memory(address) => Growing::Address(address),
        Subject::Address | Subject::Condition | Subject::Expected(_) => unreachable!("registers and addresses grow"),
    };
    let kind = FaultKind::Growth { what, limit: growth.limit };
    Fault { thread: growth.thread, instruction: growth.instruction, kind }
}

/// Why an enumeration is refused, for all reasons but a limit.
pub fn exploration_error(source: &SourceText, program: &Program, error: &ExplorationError) -> InputError {
    match error {
        ExplorationError::Value(error) => value_error(program, error),
        ExplorationError::Growth(growth) => {
            let (fault, counters) = (growing(growth), OutcomeCounters::of(program));
            let reason = counters.and_then(|own| fault.describe_counter_among(program, own.counters()));
            fault_error_because(program, &fault, reason)
        }
        ExplorationError::Loops | ExplorationError::Stopped(_) => {
            let help = "say `--steps N`: then each thread executes at most N instructions";
            InputError::file(source.name.clone(), error.to_string()).with_help_if(Some(help.to_owned()))
        }
    }
}
