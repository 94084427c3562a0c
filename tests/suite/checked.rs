//! The engine as tests ask it: every verdict goes through `verify` before a test sees it.
//!
//! No other file of these tests may ask the engine itself; `architecture.rs` holds them to that.

use palisade::cli::confirm_net;
use palisade::concurrency::{ConcurrencyCheck, ConcurrencyOptions};
use palisade::coverability::{Answer, Options};
use palisade::fences::{FenceOptions, Remedied, RepairOptions, WithinLimits};
use palisade::hangs::{HangOptions, Hangs};
use palisade::limits::Limits;
use palisade::net::Problem;
use palisade::program::{Posts, Program};
use palisade::properties::placement::PlacementOptions;
use palisade::properties::races::{RaceOptions, Races};
use palisade::properties::{Proof, ProveOptions};
use palisade::questions::{About, confirm};
use palisade::robustness::{Check, CheckOptions, DEFAULT_VALUES, Fault, PsoCheck, StaleCheck, StaleOptions, TaskCheck};
use palisade::semantics::graphs::Axioms;
use palisade::semantics::{Model, Question};
use palisade::syntax::Format;
use palisade::verify::CheckFailure;

/// Decides a program; panics when the evidence for the verdict is rejected.
pub(crate) fn check<'p>(program: &'p Program, options: &CheckOptions) -> Result<Check<'p>, Fault> {
    let checked = unconfirmed_check(program, options)?;
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        panic!("{:?}: {failure}\n{program:?}", checked.verdict);
    }
    Ok(checked)
}

/// Decides a program for tests that look at rejections themselves.
pub(crate) fn unconfirmed_check<'p>(program: &'p Program, options: &CheckOptions) -> Result<Check<'p>, Fault> {
    palisade::robustness::check(program, options)
}

/// Decides robustness against concurrency; panics when the evidence for the verdict is rejected.
pub(crate) fn check_concurrency(program: &Program, options: &ConcurrencyOptions) -> Result<ConcurrencyCheck, Fault> {
    let checked = palisade::concurrency::check(program, options)?;
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        panic!("{failure}\n{checked:?}\n{program:?}");
    }
    Ok(checked)
}

/// Decides an event-driven program's robustness against TSO; panics when the evidence for the
/// verdict is rejected.
pub(crate) fn check_tasks(program: &Program, values: usize) -> Result<TaskCheck, Fault> {
    let checked = palisade::robustness::check_tasks(program, values, &Limits::none())?;
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        panic!("{failure}\n{checked:?}\n{program:?}");
    }
    Ok(checked)
}

/// Decides a program's robustness against PSO; panics when the evidence for the verdict is
/// rejected.
pub(crate) fn check_pso(program: &Program, values: usize) -> Result<PsoCheck, Fault> {
    let checked = palisade::robustness::check_pso(program, values, &Limits::none())?;
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        panic!("{:?}: {failure}\n{program:?}", checked.verdict);
    }
    Ok(checked)
}

/// Decides a program's robustness against a language; panics when the evidence for the verdict is
/// rejected.
pub(crate) fn check_language(program: &Program, axioms: Axioms, limits: &Limits) -> Result<StaleCheck, Fault> {
    let options = StaleOptions { axioms, values: DEFAULT_VALUES, certifies: true, limits: limits.clone() };
    let checked = palisade::robustness::check_stale(program, &options)?;
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        panic!("{:?}: {failure}\n{program:?}", checked.verdict);
    }
    Ok(checked)
}

/// Answers the targets of a program; panics when the evidence for an answer is rejected.
pub(crate) fn prove(program: &Program, question: Option<&Question>, options: &ProveOptions) -> Result<Proof, Fault> {
    let proof = palisade::properties::prove(program, question, options)?;
    if let Some(Err(failure)) = confirm(&About::new(program).with_condition(question), &proof) {
        panic!("{failure}\n{proof:?}\n{program:?}");
    }
    Ok(proof)
}

/// Answers the properties of events and tasks, by the threads that say them; panics when the
/// evidence for an answer is rejected.
pub(crate) fn prove_events(program: &Program, threads: &Program, options: &ProveOptions) -> Result<Proof, Fault> {
    let mut proof = palisade::properties::prove(threads, None, options)?;
    if program.posts == Posts::Plain && options.model == Model::Tso {
        palisade::properties::carry_over(&mut proof, program, options)?;
    }
    if let Some(Err(failure)) = confirm(&About::new(program), &proof) {
        panic!("{failure}\n{proof:?}\n{program:?}");
    }
    Ok(proof)
}

/// Decides whether a program has a triangular race; panics when the evidence for the answer is
/// rejected.
pub(crate) fn races(program: &Program, options: &RaceOptions) -> Result<Races, Fault> {
    let races = palisade::properties::races::races(program, options)?;
    if let Some(Err(failure)) = confirm(&About::new(program), &races) {
        panic!("{:?}: {failure}\n{program:?}", races.verdict);
    }
    Ok(races)
}

/// Looks for stuck states; an error when the evidence for the answer is rejected.
pub(crate) fn hangs(program: &Program, options: &HangOptions) -> Result<Result<Hangs, CheckFailure>, Fault> {
    let found = palisade::hangs::hangs(program, options)?;
    Ok(confirm(&About::new(program), &found).unwrap_or(Ok(())).map(|()| found))
}

/// Looks for copies that wait while others go on; an error when the evidence for the answer is
/// rejected.
pub(crate) fn hopeless(program: &Program, options: &HangOptions) -> Result<Result<Hangs, CheckFailure>, Fault> {
    let found = palisade::hangs::hopeless(program, options)?;
    Ok(confirm(&About::new(program), &found).unwrap_or(Ok(())).map(|()| found))
}

/// Answers a net problem; panics when the evidence for the answer is rejected.
pub(crate) fn solve(problem: &Problem, options: &Options) -> Answer {
    let answer = palisade::coverability::solve(problem, options);
    if let Some(Err(failure)) = confirm_net(problem, &answer.outcome) {
        panic!("{}: {failure}\n{problem:?}", answer.strategy);
    }
    answer
}

/// The cheapest fences against hangs; panics when the evidence for them is rejected.
pub(crate) fn repair_hangs(program: &Program, options: &PlacementOptions, ignore_timeouts: bool) -> Remedied {
    let wanted = RepairOptions { language: &Format::Native, path: "repaired.pal".into(), redundant: false };
    palisade::hangs::repair_hangs(program, (options, ignore_timeouts), &wanted, &WithinLimits)
        .unwrap_or_else(|error| panic!("{error}\n{program:?}"))
}

/// The weakest changes against hangs by a language; panics when the evidence for them is rejected.
pub(crate) fn repair_hangs_in_language(program: &Program, axioms: Axioms, options: &FenceOptions) -> Remedied {
    let wanted = RepairOptions { language: &Format::Native, path: "repaired.pal".into(), redundant: false };
    palisade::hangs::repair_hangs_in_language(program, axioms, (options, false), &wanted, &WithinLimits)
        .unwrap_or_else(|error| panic!("{error}\n{program:?}"))
}
