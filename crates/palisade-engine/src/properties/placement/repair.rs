//! A placement in full: the measures, the text changed and proved again, and evidence that `verify`
//! has accepted.

use super::options::PlacementOptions;
use super::place::{Placed, PlacementError, needed_fences, place_among, place_knowing, proving};
use super::repair_error::PropertyRepairError;
use super::shown::{ProvedText, Showing, Shown, permitted};
use crate::fences::{Checker, Checks, Cost, FenceError, Measure, RepairOptions, RepairedText, with_measures};
use crate::properties::known::Known;
use crate::properties::ladder::prove_knowing;
use crate::properties::{Proof, prove};
use palisade_model::program::{NoText, Program};
use palisade_semantics::{Question, Target};
use palisade_verify::check_property;

/// A placement in full.
#[derive(Debug)]
pub struct PropertyRepaired {
    /// Whether fences help, and which.
    pub placed: Placed,
    /// The program as it was, in which threads of their own watch joint control states.
    pub watched: Program,
    /// The repaired text, or why there is none; nothing when no measure is taken.
    pub text: Option<Result<RepairedText, NoText>>,
    /// The repaired program, which watches as well: that of the text, where there is one.
    pub program: Program,
    /// The proof for it. `verify` has accepted what it shows.
    pub proof: Option<Proof>,
    /// What the claims rest on, and what `verify` makes of it; nothing where no fence helps.
    pub shown: Option<Shown>,
    /// Whether every claim has evidence that was checked.
    pub is_complete: bool,
    /// What was found about the fences of the program with the measures, when that was asked for.
    pub needed: Option<Placed>,
    /// What that rests on.
    pub needed_shown: Option<Shown>,
}

/// Which measures of a set the properties need.
#[derive(Debug)]
pub struct NeededMeasures {
    /// The cheapest of them with which no target is reached, or why none does.
    pub placed: Placed,
    /// What that rests on, and what `verify` makes of it.
    pub shown: Option<Shown>,
}

/// Places measures, takes them in the program's text, and has the evidence for every claim checked.
pub fn repair(
    program: &Program,
    question: Option<&Question>,
    options: &PlacementOptions,
    wanted: &RepairOptions<'_>,
    checks: &dyn Checks,
) -> Result<PropertyRepaired, PropertyRepairError> {
    let watched = program.monitored().map_err(PlacementError::Joint)?;
    let known = Known::of(&watched);
    let placed = place_knowing(program, question, options, &known)?;
    let checker = Checker { limits: &options.limits, checks };
    let mut repaired = PropertyRepaired {
        placed,
        program: watched.clone(),
        watched: watched.clone(),
        text: None,
        proof: None,
        shown: None,
        is_complete: false,
        needed: None,
        needed_shown: None,
    };
    let placement = match &repaired.placed {
        Placed::Valid(placement) => placement,
        Placed::NoFenceHelps(_) => return Ok(repaired),
        Placed::Impossible(impossible) => {
            let offered = permitted(program, options, Vec::new());
            let shown = Showing::new(program, question, options, &[], offered);
            repaired.shown = Some(shown.impossible(impossible.run.target, checker)?);
            return Ok(repaired);
        }
    };
    let measures: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
    repaired.text =
        (!measures.is_empty()).then(|| RepairedText::new(program, wanted.language, &measures, &wanted.path));
    let watching = "measures leave the states of the lock alone, so that joint states can be watched as before";
    repaired.program = match &repaired.text {
        Some(Ok(text)) => text.program.monitored().expect(watching),
        _ => with_measures(program, &measures).into_monitored().expect(watching),
    };
    let proof = match (&repaired.text, &placement.proof) {
        (Some(Ok(_)), Some(_)) => {
            // The text's targets stand where they stood, but may have other numbers.
            let all = proving(options, &crate::properties::targets(&repaired.program, question));
            let proof = if known.holds_of(&repaired.program) {
                prove_knowing(&repaired.program, question, &all, &known)
            } else {
                prove(&repaired.program, question, &all)
            };
            Some(proof.map_err(FenceError::Fault).map_err(PlacementError::Input)?)
        }
        (Some(Err(_)), _) => None,
        (_, proof) => proof.clone(),
    };
    let mut is_complete = placement.open.is_none();
    let offered = permitted(program, options, placement.offered.clone());
    let showing = Showing::new(program, question, options, &[], offered);
    let text = match (&repaired.text, proof.as_ref().filter(|proof| proof.holds()).and_then(Proof::evidence)) {
        (Some(Ok(text)), Some(proof)) => {
            Some(ProvedText { program: &text.program, input: wanted.input(&text.program), proof })
        }
        _ => None,
    };
    let shown = showing.placement(placement, text.as_ref(), checker)?;
    // What shows the text to be valid has been checked with the rest.
    if let Some(proof) = proof.as_ref().filter(|_| !shown.is_about_text()) {
        is_complete &= check_proof(&repaired.program, question, proof, checker)?;
    }
    repaired.is_complete = is_complete && shown.is_complete;
    (repaired.proof, repaired.shown) = (proof, Some(shown));
    if wanted.redundant {
        let own = with_measures(program, &measures);
        let needed = needed_fences(&own, program, question, options)?;
        if let Placed::Valid(placement) = &needed {
            let kept = placement.offered.iter().map(|(measure, cost)| (*measure, Some(cost.clone()))).collect();
            let showing = Showing::new(program, question, options, &measures, kept);
            repaired.needed_shown = Some(showing.placement(placement, None, checker)?);
        }
        repaired.needed = Some(needed);
    }
    Ok(repaired)
}

/// Finds the cheapest of some measures with which a program reaches none of its targets, given that
/// all of them together do, and has the evidence checked.
pub fn needed_measures(
    program: &Program,
    question: Option<&Question>,
    options: &PlacementOptions,
    measures: &[(Measure, Cost)],
    checks: &dyn Checks,
) -> Result<NeededMeasures, PropertyRepairError> {
    let placed = place_among(program, question, options, measures)?;
    let checker = Checker { limits: &options.limits, checks };
    let shown = match &placed {
        Placed::Valid(placement) => {
            let offered = measures.iter().map(|(measure, cost)| (*measure, Some(cost.clone()))).collect();
            Some(Showing::new(program, question, options, &[], offered).placement(placement, None, checker)?)
        }
        Placed::NoFenceHelps(_) | Placed::Impossible(_) => None,
    };
    Ok(NeededMeasures { placed, shown })
}

/// Whether a proof shows every target, as `verify` sees it.
fn check_proof(
    program: &Program,
    question: Option<&Question>,
    proof: &Proof,
    checker: Checker<'_>,
) -> Result<bool, PropertyRepairError> {
    let Some(evidence) = proof.evidence() else { return Ok(false) };
    let (own, question) = (program.clone(), question.cloned());
    let facts = checker.check(move || check_property(&own, question.as_ref(), &evidence))?;
    let asked: Vec<Target> = proof.answers.iter().map(|answer| answer.target).collect();
    Ok(facts.is_some_and(|facts| asked.iter().all(|target| facts.shown.contains(target))))
}
