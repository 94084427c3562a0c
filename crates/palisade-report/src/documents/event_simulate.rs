//! `palisade/simulate/1` for programs of events and tasks.

use super::FileHeader;
use super::tso::TsoStep;
use crate::event_simulate::EventSimulation;
use crate::tso::Computation;
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade simulate` found about a program of events and tasks.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventSimulateDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The program's name.
    pub program: &'a str,
    /// How events and tasks are executed: `serial`, `sc` or `tso`.
    pub model: &'static str,
    /// What posts do to store buffers: `drain` or `plain`.
    pub posts: &'static str,
    /// How often each event occurs at most.
    pub events: BTreeMap<&'a str, u64>,
    /// The final states in which every invocation has returned: of each the addresses with their
    /// values.
    pub states: Vec<BTreeMap<String, i64>>,
    /// Whether no property is violated.
    pub holds: bool,
    /// In how many configurations nothing more can happen, and some invocation has not returned.
    pub stuck: usize,
    /// A computation to one of these; null where there is none.
    pub deadlock: Option<Vec<TsoStep>>,
    /// The violated properties.
    pub violations: Vec<EventViolation<'a>>,
    /// Configurations explored.
    pub configurations: usize,
    /// Seconds from reading to the answer.
    pub seconds: f64,
}

/// A property that is violated by an event or a task.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventViolation<'a> {
    /// The event, task or thread.
    pub thread: &'a str,
    /// The label of the `ensure` or `fail`.
    pub label: &'a str,
    /// Its line.
    pub line: usize,
    /// The property as the language writes it.
    pub property: String,
    /// A computation that ends in the violation, none shorter.
    pub steps: Vec<TsoStep>,
}

impl<'a> EventSimulateDocument<'a> {
    /// The document of a simulation.
    pub fn new(simulation: &EventSimulation<'a>) -> Self {
        let EventSimulation { file, program, model, found, seconds } = *simulation;
        let steps = |shown: Option<Computation>| -> Vec<TsoStep> {
            shown.into_iter().flat_map(|shown| shown.steps).map(TsoStep::new).collect()
        };
        let violations = found.violations.iter().map(|(place, way)| {
            let (thread, label, line) = simulation.place(*place);
            let property = simulation.property(*place);
            EventViolation { thread, label, line, property, steps: steps(simulation.shown(way)) }
        });
        let count = |copies| if let palisade_model::program::Copies::Exactly(count) = copies { count } else { 0 };
        Self {
            header: FileHeader::new("palisade/simulate/1", file),
            program: &program.name,
            model: model.word(),
            posts: program.posts.word(),
            events: program.events().map(|(_, event)| (event.name.as_str(), count(event.copies))).collect(),
            states: found.completed.iter().map(|memory| simulation.named(memory).into_iter().collect()).collect(),
            holds: found.violations.is_empty(),
            stuck: found.stuck,
            deadlock: found.to_stuck.as_ref().map(|way| steps(simulation.shown(way))),
            violations: violations.collect(),
            configurations: found.configurations,
            seconds,
        }
    }
}
