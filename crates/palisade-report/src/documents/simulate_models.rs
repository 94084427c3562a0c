//! `palisade/simulate-models/1`: the final states of a program under several memory models.

use super::FileHeader;
use super::counters::TurnedDocument;
use super::simulate::{CountedWord, ViolatedDocument, violated};
use crate::models::ModelWord;
use crate::simulate::{Simulation, reached_by};
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade simulate` found under several models.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SimulateModelsDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The program's name.
    pub program: &'a str,
    /// The copies of each thread.
    pub threads: BTreeMap<&'a str, u64>,
    /// The counters up to whose turns states are told apart, class by class; missing where all
    /// states are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<TurnedDocument>,
    /// The final states, with the models that reach them.
    pub states: Vec<ReachedDocument<'a>>,
    /// The condition on the final states; null where there is none.
    pub condition: Option<String>,
    /// What is counted below.
    pub counted: CountedWord,
    /// What each model says, the strongest first.
    pub models: Vec<UnderModelDocument<'a>>,
    /// Seconds from reading to the answers.
    pub seconds: f64,
}

/// A final state.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReachedDocument<'a> {
    /// The observed registers and addresses with their values.
    pub values: BTreeMap<&'a str, &'a str>,
    /// The models that reach it.
    pub models: Vec<ModelWord>,
}

/// What is so under one model.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnderModelDocument<'a> {
    /// The memory model.
    pub model: ModelWord,
    /// Whether the condition holds; null where there is none.
    pub condition_holds: Option<bool>,
    /// Whether the condition holds and no property is violated.
    pub holds: bool,
    /// How many satisfy the condition.
    pub satisfying: u64,
    /// How many do not.
    pub others: u64,
    /// In how many final states some thread is stuck.
    pub stuck: usize,
    /// The violated properties.
    pub violations: Vec<ViolatedDocument<'a>>,
    /// How many of the joint control states that must never be are reached.
    pub joint: usize,
    /// Whether a bound may have left final states out.
    pub bounded: bool,
}

impl<'a> SimulateModelsDocument<'a> {
    /// The document of simulations of one program, the strongest model first.
    pub fn new(simulations: &'a [Simulation<'a>]) -> Self {
        let first = &simulations[0];
        let (program, instance) = (first.program, first.instance);
        let states = reached_by(simulations).into_iter().map(|((_, row), by)| ReachedDocument {
            values: first.outcome.columns.iter().map(String::as_str).zip(row.iter().map(String::as_str)).collect(),
            models: simulations
                .iter()
                .zip(by)
                .filter(|(_, is_reached)| *is_reached)
                .map(|(it, _)| it.model.into())
                .collect(),
        });
        Self {
            header: FileHeader::new("palisade/simulate-models/1", first.file),
            program: &program.name,
            threads: program.thread_ids().map(|(id, thread)| (thread.name.as_str(), instance.count(id))).collect(),
            counters: simulations.last().map_or_else(Vec::new, TurnedDocument::all),
            states: states.collect(),
            condition: first.question.condition.as_ref().map(ToString::to_string),
            counted: first.counting.into(),
            models: simulations.iter().map(UnderModelDocument::new).collect(),
            seconds: first.seconds,
        }
    }
}

impl<'a> UnderModelDocument<'a> {
    fn new(simulation: &'a Simulation<'a>) -> Self {
        let outcome = &simulation.outcome;
        Self {
            model: simulation.model.into(),
            condition_holds: simulation.question.condition.as_ref().map(|_| outcome.holds),
            holds: simulation.holds(),
            satisfying: outcome.satisfying,
            others: outcome.others,
            stuck: simulation.finals.stuck.len(),
            violations: violated(simulation),
            joint: simulation.finals.joint.len(),
            bounded: simulation.bounded,
        }
    }
}
