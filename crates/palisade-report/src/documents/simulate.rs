//! `palisade/simulate/1`: the final states of a program, or what limit kept them from being listed.

use super::counters::TurnedDocument;
use super::step::{StepDocument, steps};
use super::{FileHeader, Picture};
use crate::execution::{Arrow, Execution};
use crate::models::ModelWord;
use crate::simulate::Simulation;
use palisade_model::limits::StopReason;
use palisade_model::program::{InstructionId, Place};
use palisade_semantics::{Computation, CopyId, Counting, NodeId};
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade simulate` found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SimulateDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The program's name.
    pub program: &'a str,
    /// The memory model.
    pub model: ModelWord,
    /// The copies of each thread.
    pub threads: BTreeMap<&'a str, u64>,
    /// The counters up to whose turns states are told apart, class by class; missing where all
    /// states are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<TurnedDocument>,
    /// The final states: of each the observed registers and addresses with their values.
    pub states: Vec<BTreeMap<&'a str, &'a str>>,
    /// The condition on the final states; null where there is none.
    pub condition: Option<String>,
    /// Whether the condition holds; null where there is none.
    pub condition_holds: Option<bool>,
    /// Whether the condition holds and no property is violated.
    pub holds: bool,
    /// What is counted below.
    pub counted: CountedWord,
    /// How many satisfy the condition.
    pub satisfying: u64,
    /// How many do not.
    pub others: u64,
    /// In how many final states some thread is stuck.
    pub stuck: usize,
    /// A computation after which some thread is stuck; null where there is none.
    pub deadlock: Option<DeadlockDocument<'a>>,
    /// The violated properties.
    pub violations: Vec<ViolatedDocument<'a>>,
    /// The joint control states reached that must never be.
    pub joint: Vec<JointDocument<'a>>,
    /// What `finally` states and some final state does not have; left out where there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub finally: Vec<BrokenDocument>,
    /// Whether a bound may have left final states out.
    pub bounded: bool,
    /// The executions that were asked for, with `--show`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions: Option<Vec<ExecutionDocument>>,
    /// Their picture, in the form that the command line names.
    #[serde(flatten)]
    pub picture: Option<Picture>,
    /// The file that the picture was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// What it took.
    pub statistics: SimulateStatistics,
}

/// An execution with its relations.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExecutionDocument {
    /// Whether its final state satisfies the condition's proposition; null where there is no
    /// condition.
    pub satisfies: Option<bool>,
    /// Its events, thread by thread.
    pub events: Vec<EventDocument>,
    /// The relations between neighbours, and those on the cycle.
    pub relations: Vec<RelationDocument>,
    /// The names of the edges of a cycle, which shows that no interleaving does this; null where
    /// one does. Of litmus tests they are those of herd and diy.
    pub cycle: Option<Vec<String>>,
}

/// An event of an execution: an access, or the accesses of a locked instruction or section.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventDocument {
    /// Its letter.
    pub name: String,
    /// The copy of a thread.
    pub thread: String,
    /// The line of its instruction.
    pub line: usize,
    /// What it does: `W[x]=1`.
    pub access: String,
}

/// A relation between two events.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RelationDocument {
    /// The event it leaves.
    pub from: String,
    /// The event it enters.
    pub to: String,
    /// `po`, `rf`, `co`, `fr` of litmus tests, `po`, `src`, `st`, `cf` of other programs.
    pub relation: &'static str,
}

impl ExecutionDocument {
    /// The document of an execution.
    pub fn new(execution: &Execution<'_>) -> Self {
        let columns = execution.events();
        let name = |node: NodeId| {
            let event = columns.iter().flat_map(|(_, events)| events).find(|event| event.node == node);
            event.map_or_else(String::new, |event| event.letter.clone())
        };
        let events = columns.iter().flat_map(|(thread, events)| {
            events.iter().map(move |event| EventDocument {
                name: event.letter.clone(),
                thread: thread.clone(),
                line: event.line,
                access: event.text.clone(),
            })
        });
        let relation = |arrow: &Arrow| RelationDocument {
            from: name(arrow.edge.from),
            to: name(arrow.edge.to),
            relation: arrow.name,
        };
        Self {
            satisfies: execution.satisfies,
            events: events.collect(),
            relations: execution.arrows().iter().map(relation).collect(),
            cycle: execution.cycle().map(|cycle| execution.cycle_names(&cycle)),
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum CountedWord {
    /// Final states.
    States,
    /// Executions, that is distinct traces.
    Executions,
}

impl From<Counting> for CountedWord {
    fn from(counting: Counting) -> Self {
        match counting {
            Counting::Rows => Self::States,
            Counting::Executions => Self::Executions,
        }
    }
}

/// What a simulation took.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SimulateStatistics {
    /// Seconds from reading to the answer.
    pub seconds: f64,
}

/// A simulation that a limit ended.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoppedDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// Whether something fails among what was explored.
    pub verdict: StoppedWord,
    /// The limit.
    pub reason: String,
    /// The counters up to whose turns states are told apart, class by class; missing where all
    /// states are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<TurnedDocument>,
    /// The properties that had been found violated until then.
    pub violations: Vec<ViolatedDocument<'a>>,
    /// The joint control states that had been reached until then and must never be.
    pub joint: Vec<JointDocument<'a>>,
    /// A computation found until then after which some thread is stuck.
    pub deadlock: Option<DeadlockDocument<'a>>,
    /// What it took.
    pub statistics: SimulateStatistics,
}

/// A violated property.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ViolatedDocument<'a> {
    /// The thread.
    pub thread: &'a str,
    /// Which of its copies, from 1.
    pub copy: u64,
    /// The label of the `ensure` or `fail`.
    pub label: &'a str,
    /// Its line.
    pub line: usize,
    /// The property as the language writes it.
    pub property: String,
    /// Whether no computation in fewer steps violates it, as far as is known.
    pub shortest: bool,
    /// A computation that ends in the violation.
    pub steps: Vec<StepDocument<'a>>,
}

/// A joint control state that is reached and must never be.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JointDocument<'a> {
    /// Where the copies stand at once: a thread and a label for each.
    pub places: Vec<PlaceDocument<'a>>,
    /// The line that forbids it.
    pub line: usize,
    /// The property as the language writes it.
    pub property: String,
    /// Whether no computation in fewer steps reaches it, as far as is known.
    pub shortest: bool,
    /// A computation that reaches it.
    pub steps: Vec<StepDocument<'a>>,
}

/// A claim of `finally` that does not hold in some final state.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BrokenDocument {
    /// The claim as the language writes it.
    pub property: String,
    /// Its line.
    pub line: usize,
}

/// Where one copy of a thread stands.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlaceDocument<'a> {
    /// The thread.
    pub thread: &'a str,
    /// The label.
    pub label: &'a str,
}

/// A computation after which some thread is stuck.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DeadlockDocument<'a> {
    /// Whether no computation in fewer steps gets stuck, as far as is known.
    pub shortest: bool,
    /// Its steps.
    pub steps: Vec<StepDocument<'a>>,
}

/// The violated properties of a simulation.
pub(super) fn violated<'a>(simulation: &'a Simulation<'a>) -> Vec<ViolatedDocument<'a>> {
    let document = |((copy, instruction), computation): (&(CopyId, InstructionId), &'a Computation)| {
        let thread = simulation.program.thread(copy.thread);
        ViolatedDocument {
            thread: &thread.name,
            copy: copy.copy + 1,
            label: &thread.label(thread.instruction(*instruction).source).name,
            line: simulation.program.source.position(thread.instruction(*instruction).span.start).line,
            property: simulation.property(*copy, *instruction),
            shortest: computation.shortest,
            steps: steps(&simulation.shown(computation)),
        }
    };
    simulation.finals.violations.iter().map(document).collect()
}

/// The joint control states that a simulation reaches.
fn joint<'a>(simulation: &'a Simulation<'a>) -> Vec<JointDocument<'a>> {
    let document = |(index, computation): (&usize, &'a Computation)| {
        let joint = &simulation.program.never[*index];
        let place = |place: &Place| {
            let thread = simulation.program.thread(place.thread);
            PlaceDocument { thread: &thread.name, label: &thread.label(place.label).name }
        };
        JointDocument {
            places: joint.places().iter().map(place).collect(),
            line: simulation.joint_line(joint),
            property: simulation.joint(joint),
            shortest: computation.shortest,
            steps: steps(&simulation.shown(computation)),
        }
    };
    simulation.finals.joint.iter().map(document).collect()
}

/// How a simulation gets stuck.
fn deadlock<'a>(simulation: &'a Simulation<'a>) -> Option<DeadlockDocument<'a>> {
    let computation = simulation.finals.to_stuck.as_ref()?;
    Some(DeadlockDocument { shortest: computation.shortest, steps: steps(&simulation.shown(computation)) })
}

/// What is known where a limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum StoppedWord {
    /// A property is violated.
    Fails,
    /// None is until then.
    Unknown,
}

/// That there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum UnknownWord {
    /// A limit was reached.
    Unknown,
}

impl<'a> SimulateDocument<'a> {
    /// The document of a simulation.
    pub fn new(simulation: &'a Simulation<'a>) -> Self {
        let Simulation { file, program, instance, outcome, .. } = simulation;
        let state = |row: &'a Vec<String>| -> BTreeMap<&'a str, &'a str> {
            outcome.columns.iter().map(String::as_str).zip(row.iter().map(String::as_str)).collect()
        };
        Self {
            header: FileHeader::new("palisade/simulate/1", file),
            program: &program.name,
            model: simulation.model.into(),
            threads: program.thread_ids().map(|(id, thread)| (thread.name.as_str(), instance.count(id))).collect(),
            counters: TurnedDocument::all(simulation),
            states: outcome.rows.iter().map(state).collect(),
            condition: simulation.question.condition.as_ref().map(ToString::to_string),
            condition_holds: simulation.question.condition.as_ref().map(|_| outcome.holds),
            holds: simulation.holds(),
            counted: simulation.counting.into(),
            satisfying: outcome.satisfying,
            others: outcome.others,
            stuck: simulation.finals.stuck.len(),
            deadlock: deadlock(simulation),
            violations: violated(simulation),
            joint: joint(simulation),
            finally: simulation.broken().map(|(property, line)| BrokenDocument { property, line }).collect(),
            bounded: simulation.bounded,
            executions: None,
            picture: None,
            written: None,
            statistics: SimulateStatistics { seconds: simulation.seconds },
        }
    }
}

impl<'a> StoppedDocument<'a> {
    /// The document of a simulation that a limit ended.
    pub fn new(simulation: &'a Simulation<'a>, reason: StopReason) -> Self {
        Self {
            header: FileHeader::new("palisade/simulate/1", simulation.file),
            verdict: if simulation.has_failed() { StoppedWord::Fails } else { StoppedWord::Unknown },
            reason: reason.to_string(),
            counters: TurnedDocument::all(simulation),
            violations: violated(simulation),
            joint: joint(simulation),
            deadlock: deadlock(simulation),
            statistics: SimulateStatistics { seconds: simulation.seconds },
        }
    }
}
