//! `palisade/simulate/1`: the final states of a program, or what limit kept them from being listed.

use super::FileHeader;
use crate::report::simulate::Simulation;
use crate::semantics::{Counting, Model};
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
    /// The final states: of each the observed registers and addresses with their values.
    pub states: Vec<BTreeMap<&'a str, &'a str>>,
    /// The condition asked of the final states; null where none is.
    pub condition: Option<String>,
    /// Whether the condition holds.
    pub holds: bool,
    /// What is counted below.
    pub counted: CountedWord,
    /// How many satisfy the condition.
    pub satisfying: u64,
    /// How many do not.
    pub others: u64,
    /// In how many final states some thread is stuck.
    pub stuck: usize,
    /// The violated properties, by thread and label.
    pub violations: &'a [String],
    /// Whether a bound may have left final states out.
    pub bounded: bool,
    /// What it took.
    pub statistics: SimulateStatistics,
}

/// The memory models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ModelWord {
    /// Sequential consistency.
    Sc,
    /// Total store ordering, as on x86.
    Tso,
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
    /// That there is no answer.
    pub verdict: UnknownWord,
    /// The limit.
    pub reason: String,
    /// The properties that had been found violated until then.
    pub violations: &'a [String],
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
            model: match simulation.model {
                Model::Sc => ModelWord::Sc,
                Model::Tso => ModelWord::Tso,
            },
            threads: program.thread_ids().map(|(id, thread)| (thread.name.as_str(), instance.count(id))).collect(),
            states: outcome.rows.iter().map(state).collect(),
            condition: simulation.question.condition.as_ref().map(ToString::to_string),
            holds: outcome.holds,
            counted: match simulation.counting {
                Counting::Rows => CountedWord::States,
                Counting::Executions => CountedWord::Executions,
            },
            satisfying: outcome.satisfying,
            others: outcome.others,
            stuck: simulation.stuck.len(),
            violations: &simulation.violations,
            bounded: simulation.bounded,
            statistics: SimulateStatistics { seconds: simulation.seconds },
        }
    }
}

impl<'a> StoppedDocument<'a> {
    /// The document of a simulation that a limit ended.
    pub fn new(file: &'a str, reason: String, violations: &'a [String]) -> Self {
        Self { header: FileHeader::new("palisade/simulate/1", file), verdict: UnknownWord::Unknown, reason, violations }
    }
}
