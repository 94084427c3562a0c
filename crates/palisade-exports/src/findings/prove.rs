//! The findings of `palisade prove`: each property with its answer.

use super::{Answer, Finding, FlowStep, Kind, Region, Rule, flow, task_flow, warnings};
use palisade_engine::properties::{Answer as Answered, Proof, TargetAnswer, Violation};
use palisade_model::program::Program;
use palisade_report::documents::steps;
use palisade_report::properties::{Properties, model_name};
use palisade_report::prove::{Context, PropertyVerdict, computation, task_computation, text, why_open};
use palisade_report::subject::program_words;
use palisade_semantics::{Model, Target};

/// What a proof found.
pub fn proof_findings(proof: &Proof, context: &Context<'_>) -> Answer {
    let mut findings: Vec<Finding> = proof.answers.iter().map(|answer| finding(answer, proof.model, context)).collect();
    findings.extend(warnings(context.written, context.warnings));
    Answer::new(context.file, context.seconds, findings, text(proof, context, 0))
}

/// The properties that are violated.
pub(super) fn violations(proof: &Proof, context: &Context<'_>) -> Vec<Finding> {
    let findings = proof.answers.iter().map(|answer| finding(answer, proof.model, context));
    findings.filter(|finding| finding.kind == Kind::Fail).collect()
}

fn finding(answer: &TargetAnswer, model: Model, context: &Context<'_>) -> Finding {
    let properties = context.properties();
    let quoted = properties.quoted(answer.target);
    let (model, subject) = (model_name(model), program_words(context.written, context.changed));
    let (kind, message) = match (PropertyVerdict::of(answer, context.question), &answer.answer) {
        (PropertyVerdict::Unknown, Answered::Open(why)) => {
            (Kind::Open, format!("not decided: {quoted}, {}", why_open(answer.rung, *why)))
        }
        (PropertyVerdict::Unknown, _) => (Kind::Open, format!("not decided: {quoted}")),
        (PropertyVerdict::Holds, _) => (Kind::Pass, format!("{quoted} holds under {model}")),
        (PropertyVerdict::Violated, _) => {
            let already = if answer.under_sc == Some(true) { ", under SC already" } else { "" };
            (Kind::Fail, format!("{quoted} is violated under {model}{already}"))
        }
    };
    let mut finding = Finding::new(Rule::PropertyViolated, kind, format!("{message} [{subject}]"));
    finding.place = place(answer.target, context.written, &properties);
    if let Answered::Violated(violation) = &answer.answer {
        finding.steps = match task_computation(context, violation) {
            Some(shown) => task_flow(&shown),
            None => steps_of(context.program, violation),
        };
    }
    finding.answering(format!("{quoted} under {model}"))
}

/// The steps of a computation that violates a property.
pub(super) fn steps_of(program: &Program, violation: &Violation) -> Vec<FlowStep> {
    flow(program, &steps(&computation(program, violation)))
}

/// Where a property stands; nothing for the question of a litmus test.
pub(super) fn place(target: Target, program: &Program, properties: &Properties<'_>) -> Option<Region> {
    if let Some(joint) = properties.joint_state(target) {
        return Some(Region::of(&program.source, joint.span));
    }
    match target {
        Target::Instruction { thread, instruction } => Some(Region::instruction(program, thread, instruction)),
        Target::FinalStates => None,
    }
}
