//! The steps of computations, as they stand in the documents of violations and simulations.

use crate::computation::{ComputationReport, address_text};
use crate::source_place::SourcePlace;
use palisade_model::program::{RegisterId, Value};
use palisade_semantics::{Effect, Event, StepKind};
use serde::Serialize;

/// A step of a computation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StepDocument<'a> {
    /// The row of the table for people in which it stands, from 1.
    pub row: usize,
    /// The thread.
    pub thread: &'a str,
    /// Which of its copies, from 1.
    pub copy: u64,
    /// What kind of step it is: `load`, `store`, `flush` (the oldest store in a buffer, under PSO
    /// the oldest to its address, reaches memory), `update`, `fence`, `lock`, `unlock`, `assign`,
    /// `assert`, `ensure`, `nop`, `fail` or `stand` (it stays at a label of a `never`).
    pub kind: &'static str,
    /// What it does, for people.
    pub text: String,
    /// The label of the instruction that is executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<&'a str>,
    /// The name that the text has there, if it has one.
    #[serde(skip)]
    pub name: Option<&'a str>,
    /// The line of the instruction that is executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Of machine code, the place in its sources that the instruction comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourcePlace<'a>>,
    /// The condition of an `assert` or `ensure`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The address that is accessed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The value that is loaded, stored or assigned; of an update the value that it loads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The value that an update stores, if it stores one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<Value>,
    /// The register that receives a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub register: Option<&'a str>,
    /// How many copies take the step one after the other, this one as the first, where it stands
    /// for a crowd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<u64>,
    /// How the language orders the access or the fence, in execution graphs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordering: Option<String>,
    /// Whether a load reads from its own buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_buffer: Option<bool>,
    /// Whether a store waits in its buffer while other steps happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed: Option<bool>,
    /// Whether the step violates a property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violated: Option<bool>,
}

/// The steps of a computation, but for those of what watches joint control states: where it finds
/// that copies stand together that must not, the last step to come there violates the property.
pub fn steps<'a>(computation: &ComputationReport<'a>) -> Vec<StepDocument<'a>> {
    let (mut row, mut steps) = (1, Vec::new());
    for index in 0..computation.events.len() {
        let is_told_by_the_next = computation.stands(index) && computation.flushed_at_once(index);
        if computation.is_of_the_text(index) && !is_told_by_the_next {
            steps.push(StepDocument::new(computation, index, row));
        } else if computation.events[index].effect == Effect::Violation {
            steps.iter_mut().rfind(|step| step.kind == STAND).into_iter().for_each(|step| step.violated = Some(true));
        }
        row += usize::from(!computation.flushed_at_once(index));
    }
    steps
}

/// The kind of a step with which a copy stays at a label.
const STAND: &str = "stand";

impl<'a> StepDocument<'a> {
    fn new(computation: &ComputationReport<'a>, index: usize, row: usize) -> Self {
        let Event { step, effect } = &computation.events[index];
        let thread = computation.program.thread(step.copy.thread);
        let mut document = Self {
            row,
            thread: &thread.name,
            copy: step.copy.copy + 1,
            kind: computation.kind(index),
            text: computation.text(index),
            label: None,
            name: computation.name(index),
            line: None,
            source: None,
            condition: computation.condition(index),
            address: None,
            value: None,
            stored: None,
            register: None,
            copies: match step.kind {
                StepKind::Crowd { copies, .. } => Some(copies),
                _ => None,
            },
            ordering: computation.ordering(index).map(|ordering| ordering.to_string()),
            from_buffer: None,
            delayed: None,
            violated: None,
        };
        if let Some(instruction) = step.kind.instruction() {
            let instruction = thread.instruction(instruction);
            document.label = Some(&thread.label(instruction.source).name);
            document.line = Some(computation.program.source.position(instruction.span.start).line);
            document.source = SourcePlace::of(&computation.program.source, instruction.span);
        }
        if computation.stands(index) {
            document.kind = STAND;
            return document;
        }
        let register = |id: RegisterId| Some(thread.registers[id.index()].name.as_str());
        let at = |address: Value| Some(address_text(computation.program, address));
        match *effect {
            Effect::Load { register: into, address, value, early } => {
                (document.address, document.value) = (at(address), Some(value));
                (document.register, document.from_buffer) = (register(into), Some(early));
            }
            Effect::Issue { address, value } => {
                (document.address, document.value) = (at(address), Some(value));
                document.delayed = Some(computation.is_delayed(index));
            }
            Effect::Store { address, value } => {
                (document.address, document.value) = (at(address), Some(value));
                if step.kind.is_flush() {
                    let before = index.checked_sub(1);
                    document.delayed = Some(!before.is_some_and(|before| computation.flushed_at_once(before)));
                }
            }
            Effect::Rmw { register: into, address, old, new } => {
                (document.address, document.value, document.stored) = (at(address), Some(old), new);
                document.register = into.and_then(register);
            }
            Effect::Local { written: Some((into, value)) } => {
                (document.register, document.value) = (register(into), Some(value));
            }
            Effect::Violation | Effect::Failure => document.violated = Some(true),
            Effect::Fence | Effect::StoreFence | Effect::Lock | Effect::Unlock | Effect::Local { written: None } => {}
        }
        document
    }
}
