//! What is asked of whom: the values of the whole program first, then the other rungs for each
//! group of targets with one slice.

use super::climb::Climb;
use super::counters::{by_counters, may_count};
use super::crowd::around;
use super::known::Known;
use super::{Answer, Proof, ProveOptions, Rung, TargetAnswer, Why};
use crate::decide::schedule::BEFORE_COUNTERS;
use palisade_evidence::{PropertyProof, PropertyReason};
use palisade_exploration::buffered::{Goal, Slice, Values, targets};
use palisade_exploration::instrumented::Fault;
use palisade_model::program::{Action, Program};
use palisade_semantics::{Condition, Proposition, Quantifier, Question, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Answers the targets of a program.
///
/// # Errors
///
/// A [`Fault`] when a reachable step has no meaning, or when values grow without end and no
/// violation was found among the first of them.
///
/// # Panics
///
/// If the program has events or tasks.
pub fn prove(program: &Program, question: Option<&Question>, options: &ProveOptions) -> Result<Proof, Fault> {
    prove_knowing(program, question, options, &Known::of(program))
}

/// Whether some computation ends in a final state that a question is asked of; nothing where that
/// is not found in short time.
pub fn has_end(program: &Program, question: &Question, options: &ProveOptions) -> Option<bool> {
    /// Configurations enough for the end of most programs.
    const MOST: u64 = 10_000;
    let any = Condition { quantifier: Quantifier::Exists, proposition: Proposition::True };
    let question = Question { filter: question.filter.clone(), condition: Some(any), locations: Vec::new() };
    let options =
        ProveOptions { only: vec![Target::FinalStates], by: None, most: MOST, shorten: false, ..options.clone() };
    match &prove(program, Some(&question), &options).ok()?.answers.first()?.answer {
        Answer::Violated(_) => Some(true),
        Answer::Holds(_) => Some(false),
        Answer::Open(_) => None,
    }
}

/// Answers the targets of a program that may have other fences, or exchanges in the place of
/// stores, than the one of which so much is known.
pub(super) fn prove_knowing(
    program: &Program,
    question: Option<&Question>,
    options: &ProveOptions,
    known: &Known<'_>,
) -> Result<Proof, Fault> {
    assert!(!program.is_event_driven(), "properties are those of threads, and the program has events or tasks");
    let asked = if options.only.is_empty() { targets(program, question) } else { options.only.clone() };
    let mut proof = Proof {
        model: options.model,
        answers: Vec::new(),
        proofs: Vec::new(),
        states: 0,
        plain_posts: None,
        has_end: None,
    };
    proof.answers = around(program, options, &asked, |few, options| prove(few, None, options));
    let answered: BTreeSet<Target> = proof.answers.iter().map(|answer| answer.target).collect();
    let open: Vec<Target> = asked.iter().filter(|target| !answered.contains(target)).copied().collect();
    let rest = by_values(program, &known.values, options, &open, &mut proof);
    let bounds = known.bounds(program);
    for targets in groups(program, question, options, bounds, &rest) {
        let begin = Instant::now();
        let mut targets = targets;
        if let Err(reason) = options.limits.check() {
            // Setting a rung up takes as long as the program is, for each group.
            let stopped = |target| TargetAnswer {
                answer: Answer::Open(Why::Stopped(reason)),
                ..without_answer(target, options.by.unwrap_or(Rung::Values))
            };
            proof.answers.extend(targets.drain(..).map(stopped));
            continue;
        }
        if may_count(program, &targets, known, options) {
            if options.by.is_none() {
                targets = briefly(program, (targets, question), bounds, options, &mut proof);
            }
            targets = by_counters(program, bounds, &targets, options, &mut proof);
        }
        if options.by == Some(Rung::Counters) {
            proof.answers.extend(targets.drain(..).map(|target| without_answer(target, Rung::Counters)));
        }
        if targets.is_empty() {
            continue;
        }
        let goal = Goal::new(targets, question);
        let slice = if options.slice { Slice::of(program, &goal, bounds, true) } else { Slice::whole(program, &goal) };
        let first = proof.answers.len();
        let rest = Climb::new(program, &slice.apply(program), &slice, bounds, goal, options, &mut proof).climb()?;
        if !rest.is_empty() {
            let goal = Goal::new(rest, question);
            let slice = Slice::of(program, &goal, bounds, false);
            let rest = Climb::new(program, &slice.apply(program), &slice, bounds, goal, options, &mut proof).climb()?;
            assert!(rest.is_empty(), "nothing reads what a slice without assumptions leaves out");
        }
        let seconds = begin.elapsed().as_secs_f64();
        proof.answers[first..].iter_mut().for_each(|answer| answer.seconds = seconds);
    }
    let positions: BTreeMap<Target, usize> = asked.iter().rev().copied().zip((0..asked.len()).rev()).collect();
    proof.answers.sort_by_key(|answer| positions.get(&answer.target));
    Ok(proof)
}

/// Answers the targets of a group for which few configurations are enough; the others.
fn briefly(
    program: &Program,
    (targets, question): (Vec<Target>, Option<&Question>),
    bounds: Option<&Values<'_>>,
    options: &ProveOptions,
    proof: &mut Proof,
) -> Vec<Target> {
    let options = ProveOptions { most: BEFORE_COUNTERS.min(options.most), ..options.clone() };
    let goal = Goal::new(targets, question);
    let slice = if options.slice { Slice::of(program, &goal, bounds, true) } else { Slice::whole(program, &goal) };
    Climb::new(program, &slice.apply(program), &slice, bounds, goal, &options, proof).climb_briefly()
}

/// Answers the targets whose conditions hold for all values that registers can have; the other
/// targets.
fn by_values(
    program: &Program,
    values: &Values<'_>,
    options: &ProveOptions,
    asked: &[Target],
    proof: &mut Proof,
) -> Vec<Target> {
    if options.by.is_some_and(|only| only != Rung::Values) {
        return asked.to_vec();
    }
    let begin = Instant::now();
    let is_never = |target: &Target| match *target {
        Target::Instruction { thread, instruction } => match &program.thread(thread).instruction(instruction).action {
            Action::Ensure(condition) => !values.can_be_false(thread, condition),
            _ => false,
        },
        Target::FinalStates => false,
    };
    // What the reading of machine code rests on, an exploration alone shows.
    let is_enough = !program.rests_on_exploration();
    let (mut never, rest): (Vec<Target>, Vec<Target>) = asked.iter().partition(|own| is_enough && is_never(own));
    if !never.is_empty() {
        let seconds = begin.elapsed().as_secs_f64();
        let holds = Answer::Holds(proof.proofs.len());
        let answer =
            |target: &Target| TargetAnswer { answer: holds.clone(), seconds, ..without_answer(*target, Rung::Values) };
        proof.answers.extend(never.iter().map(answer));
        never.sort_unstable();
        never.dedup();
        proof.proofs.push(PropertyProof {
            targets: never,
            slice: vec![Vec::new(); program.threads.len()],
            bounds: None,
            reason: PropertyReason::Values(values.evidence()),
        });
    }
    if options.by == Some(Rung::Values) {
        proof.answers.extend(rest.iter().map(|target| without_answer(*target, Rung::Values)));
        return Vec::new();
    }
    rest
}

/// A target about which a rung, asked alone, says nothing.
fn without_answer(target: Target, rung: Rung) -> TargetAnswer {
    TargetAnswer {
        target,
        answer: Answer::Open(Why::NotForThis),
        rung,
        under_sc: None,
        buffer: None,
        states: 0,
        sliced: 0,
        seconds: 0.0,
    }
}

/// The targets in groups that have the same slice. When a limit is reached, those that are left are
/// one group, as nobody will answer them.
pub(super) fn groups(
    program: &Program,
    question: Option<&Question>,
    options: &ProveOptions,
    bounds: Option<&Values<'_>>,
    asked: &[Target],
) -> Vec<Vec<Target>> {
    // What is asked of a group: whether it is about final states, and of what slice.
    type Key = (bool, Option<Slice>);
    if asked.len() <= 1 {
        return asked.iter().map(|target| vec![*target]).collect();
    }
    let mut groups: Vec<(Key, Vec<Target>)> = Vec::new();
    for (index, target) in asked.iter().enumerate() {
        if options.limits.check().is_err() {
            groups.push(((false, None), asked[index..].to_vec()));
            break;
        }
        let goal = Goal::new(vec![*target], question);
        let slice = options.slice.then(|| Slice::of(program, &goal, bounds, true).without_properties(program));
        let key = (*target == Target::FinalStates, slice);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, targets)) => targets.push(*target),
            None => groups.push((key, vec![*target])),
        }
    }
    let sorted = |(_, mut targets): (_, Vec<Target>)| {
        targets.sort_unstable();
        targets.dedup();
        targets
    };
    groups.into_iter().map(sorted).collect()
}
