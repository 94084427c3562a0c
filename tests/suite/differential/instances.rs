//! Instances of programs, asked of the brute-force oracle where it can answer.

use crate::checked;
use palisade::program::{Action, Copies, Domain, Program, Thread};
use palisade::robustness::{Check, CheckOptions, Verdict};
use palisade::semantics::oracle::{Answer, robust};
use palisade::semantics::{Bounds, Instance, Model, StepKind, is_cyclic, replay};

/// The test asks the oracle where threads have at most so many interleavings, as far as it can tell
/// beforehand.
const MOST_INTERLEAVINGS: f64 = 2e5;

/// What the oracle says of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Robust, all computations considered.
    Robust,
    /// No violation in as many steps as were considered.
    NoneFound,
    /// Not robust.
    Violated,
}

/// Asks the oracle, each copy taking at most so many steps; nothing where that would take too long.
///
/// # Errors
///
/// What the oracle complains of: a value that does not exist, say.
pub(super) fn oracle(program: &Program, instance: &Instance, steps: Option<u32>) -> Result<Option<Said>, String> {
    if interleavings(program, instance, steps) > MOST_INTERLEAVINGS {
        return Ok(None);
    }
    let bounds = Bounds { steps, ..Bounds::default() };
    match robust(program, instance, &bounds) {
        Ok(Answer::Robust { truncated: false }) => Ok(Some(Said::Robust)),
        Ok(Answer::Robust { truncated: true }) => Ok(Some(Said::NoneFound)),
        Ok(Answer::Violated { .. }) => Ok(Some(Said::Violated)),
        Err(error) => Err(format!("the oracle: {error}")),
    }
}

/// How many interleavings the actions on memory have at most, and how many choices of values
/// besides.
pub(super) fn interleavings(program: &Program, instance: &Instance, steps: Option<u32>) -> f64 {
    let size =
        |domain: Domain| f64::from(i32::try_from(domain.high - domain.low + 1).expect("random domains are small"));
    let values = program.domain.map_or(1.0, size);
    let (mut ways, mut total) = (1.0, 0.0);
    for copy in instance.copies() {
        let (length, choices) = longest(program.thread(copy.thread), steps);
        // One binomial coefficient after the other gives the multinomial one.
        for step in 1..=length {
            total += 1.0;
            ways *= total / f64::from(step);
        }
        ways *= values.powi(i32::try_from(choices).unwrap_or(i32::MAX));
    }
    ways
}

/// How many actions on memory a thread can take at most, stores counted twice, and how many
/// choices.
fn longest(thread: &Thread, steps: Option<u32>) -> (u32, u32) {
    let (mut length, mut choices) = (0, 0);
    for label in thread.instructions_by_label().iter() {
        let actions = label.iter().map(|instruction| &thread.instruction(*instruction).action);
        let weights = actions.map(|action| match action {
            Action::Store { .. } => (2, 0),
            Action::Havoc { .. } => (0, 1),
            action => (u32::from(!action.is_local_under_tso()), 0),
        });
        let most = weights.fold((0, 0), |most: (u32, u32), weight| (most.0.max(weight.0), most.1.max(weight.1)));
        (length, choices) = (length + most.0, choices + most.1);
    }
    match steps {
        // About every other step stores; the search leaves out most interleavings anyway.
        Some(steps) => (steps + steps / 2, choices.min(steps)),
        None => (length, choices),
    }
}

/// The engine's answer about an instance, its evidence checked; nothing where it has none.
pub(super) fn engine(program: &Program, instance: &Instance, options: &CheckOptions) -> Option<Verdict> {
    let mut fixed = program.clone();
    for (thread, count) in fixed.threads.iter_mut().zip(instance.counts()) {
        thread.copies = Copies::Exactly(*count);
    }
    let verdict = checked::check(&fixed, options).ok()?.verdict;
    (!matches!(verdict, Verdict::Unknown(_))).then_some(verdict)
}

/// Checks that a program is robust to a search that knows all values, and to the oracle: as it is,
/// or where its first thread may have any number of copies, with up to so many of them.
///
/// # Errors
///
/// With how many copies it is not.
pub(super) fn robust_with_few_copies(program: &Program, most: u64, options: &CheckOptions) -> Result<(), String> {
    let few = match program.threads[0].copies {
        Copies::Any => 1..=most,
        Copies::Exactly(copies) => copies..=copies,
    };
    for copies in few {
        let mut instance = program.clone();
        instance.threads[0].copies = Copies::Exactly(copies);
        let plain = CheckOptions { counters: false, ..options.clone() };
        if checked::unconfirmed_check(&instance, &plain).is_ok_and(|checked| checked.verdict == Verdict::NotRobust) {
            return Err(format!("not with {copies} copies"));
        }
        let said = Instance::of(&instance).and_then(|own| oracle(&instance, &own, None).unwrap_or(None));
        if said == Some(Said::Violated) {
            return Err(format!("not to the oracle with {copies} copies"));
        }
    }
    Ok(())
}

/// What is wrong with a violation that the engine shows: it must be a TSO computation whose
/// happens-before has a cycle, and the oracle must find one in as many steps.
pub(super) fn objection_to_violation(program: &Program, checked: &Check<'_>) -> Result<(), String> {
    let violation = checked.violation.as_ref().ok_or("not robust, but no violation is shown")?;
    let replayed = replay(program, &violation.instance, Model::Tso, &violation.steps)
        .map_err(|error| format!("the violation is no computation: {error}"))?;
    if !is_cyclic(&replayed.trace) {
        return Err("the violation has no cycle".to_owned());
    }
    let taken = violation.instance.copies().map(|copy| {
        let own = violation.steps.iter().filter(|step| step.copy == copy && step.kind != StepKind::Flush);
        u32::try_from(own.count()).expect("violations are short")
    });
    let longest = taken.max().unwrap_or(0);
    match oracle(program, &violation.instance, Some(longest))? {
        Some(Said::Robust | Said::NoneFound) => Err(format!("the oracle finds no violation in {longest} steps")),
        _ => Ok(()),
    }
}
