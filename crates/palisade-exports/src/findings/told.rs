//! The findings about a program: an answer for each question, labels that nobody reaches, what is
//! doubtful.

use super::{Answer, Finding, FlowStep, Kind, Region, line, warnings};
use palisade_model::program::Program;
use palisade_report::account::{Account, Answer as Told, Extent, Rule, Run, Shown, Standing, report};
use palisade_report::computation::ComputationReport;
use palisade_report::documents::{LabelPlace, StepDocument, steps};
use palisade_report::graph::Graph;
use palisade_report::scene::{Scene, SceneStep};

/// What was found about a file.
pub fn findings(told: &palisade_report::account::Told<'_>) -> Answer {
    let program = told.context.program;
    let mut findings: Vec<Finding> = told.accounts.iter().map(|account| finding(program, account)).collect();
    let unreached = told.accounts.iter().filter_map(|account| account.unreached.as_deref());
    for label in unreached.flat_map(|labels| LabelPlace::all(program, labels)) {
        let place = label.name.map_or_else(|| format!("line {}", label.line), |name| format!("`{name}`"));
        let message = format!("no interleaving reaches {place} of `{}`", label.thread);
        let finding = Finding::new(Rule::UNREACHED, Kind::Fail, message);
        findings.push(if program.source.is_listing { finding } else { finding.at(line(label.line)) });
    }
    findings.extend(warnings(program, told.context.warnings));
    Answer::new(told.context.file, told.context.seconds, findings, report(told, Extent::default()))
}

fn finding(program: &Program, account: &Account<'_>) -> Finding {
    let kind = match account.standing() {
        Standing::Holds => Kind::Pass,
        Standing::Violated => Kind::Fail,
        Standing::Unknown => Kind::Open,
    };
    let mut finding = Finding::new(account.rule, kind, format!("{} [{}]", account.message, account.subject));
    finding.place = account.place.map(|span| Region::of(&program.source, span));
    if let Some(shown) = account.shown() {
        finding.steps = flow_of(program, shown);
    }
    if let Told::Violated(shown) = &account.answer {
        let region = |(span, words): &(_, &str)| (Region::of(&program.source, *span), (*words).to_owned());
        finding.related = shown.related.iter().map(region).collect();
    }
    finding.answering(account.question.clone())
}

/// The steps of a computation.
pub(super) fn flow_of(program: &Program, shown: &Shown<'_>) -> Vec<FlowStep> {
    match &shown.run {
        Run::Threads(computation) | Run::Graph(Graph { computation, .. }) => flow(program, computation),
        Run::Events(scene) => scene_flow(scene),
    }
}

/// The steps of a computation of a program.
pub(super) fn flow(program: &Program, computation: &ComputationReport<'_>) -> Vec<FlowStep> {
    let steps = steps(computation);
    let several = steps.iter().any(|step| step.copy > 1);
    let place = |step: &StepDocument<'_>| match &step.source {
        Some(place) => Some(Region::in_sources(place, &program.source)),
        // The lines of a listing are in no file.
        None => step.line.filter(|_| !program.source.is_listing).map(line),
    };
    // Stores that wait in buffers, each with whose it is, its address and its place.
    let mut waiting: Vec<(_, Option<Region>)> = Vec::new();
    let mut flow = Vec::with_capacity(steps.len());
    for step in &steps {
        let copy = if several { format!(" #{}", step.copy) } else { String::new() };
        let at = step.name.map(str::to_owned).or_else(|| Some(format!("line {}", step.line?)));
        let label = at.map(|at| format!("{at}: ")).unwrap_or_default();
        let what = if step.kind == "flush" { format!("{} reaches memory", step.text) } else { step.text.clone() };
        let delayed = if step.kind == "store" && step.delayed == Some(true) { " (delayed)" } else { "" };
        let store = (step.thread, step.copy, step.address.as_ref());
        // A store that reaches memory stands where it was issued.
        let place = match step.kind {
            "flush" => {
                let issued = waiting.iter().position(|(other, _)| *other == store);
                issued.and_then(|issued| waiting.remove(issued).1)
            }
            _ => place(step),
        };
        if step.kind == "store" {
            waiting.push((store, place.clone()));
        }
        flow.push(FlowStep { place, text: format!("{}{copy} {label}{what}{delayed}", step.thread) });
    }
    flow
}

/// The steps of a computation of events and tasks.
pub(super) fn scene_flow(scene: &Scene) -> Vec<FlowStep> {
    let step = |step: &SceneStep| FlowStep {
        place: step.line.map(line),
        text: format!("{}: {}", step.invocation, step.action),
    };
    scene.steps.iter().map(step).collect()
}
