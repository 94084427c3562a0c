//! The rungs in their order, for targets with the same slice.

use super::buffer::Order;
use super::evidence::buffer_invariant;
use super::goal::{Goal, targets};
use super::replay::{Violation, replay};
use super::run::run;
use super::search::{Search, search};
use super::slice::Slice;
use super::system::Shape;
use super::{Answer, Proof, ProveOptions, Rung, TargetAnswer, Why};
use crate::robustness::system::Growth;
use crate::robustness::{CheckOptions, Fault, Verdict, certificate, check};
use palisade_evidence::{PropertyProof, PropertyReason};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::{Copies, Program};
use palisade_model::semantics::{Model, Question, Target};
use std::time::Instant;

/// Answers the targets of a program.
///
/// # Errors
///
/// A [`Fault`] when a reachable step has no meaning, or when values grow without end and no violation was found among
/// the first of them.
pub fn prove(program: &Program, question: Option<&Question>, options: &ProveOptions) -> Result<Proof, Fault> {
    let asked = if options.only.is_empty() { targets(program, question) } else { options.only.clone() };
    let mut proof = Proof { model: options.model, answers: Vec::new(), proofs: Vec::new(), states: 0 };
    for targets in groups(program, question, options, &asked) {
        let begin = Instant::now();
        let goal = Goal::new(targets, question);
        let slice = if options.slice { Slice::of(program, &goal) } else { Slice::whole(program, &goal) };
        let sliced = slice.apply(program);
        let first = proof.answers.len();
        Climb { program, sliced: &sliced, slice: &slice, goal, options, proof: &mut proof }.climb()?;
        let seconds = begin.elapsed().as_secs_f64();
        proof.answers[first..].iter_mut().for_each(|answer| answer.seconds = seconds);
    }
    proof.answers.sort_by_key(|answer| asked.iter().position(|target| *target == answer.target));
    Ok(proof)
}

/// The targets in groups that have the same slice.
fn groups(
    program: &Program,
    question: Option<&Question>,
    options: &ProveOptions,
    asked: &[Target],
) -> Vec<Vec<Target>> {
    let mut groups: Vec<(Option<Slice>, Vec<Target>)> = Vec::new();
    for target in asked {
        let goal = Goal::new(vec![*target], question);
        let slice = options.slice.then(|| Slice::of(program, &goal).without_properties(program));
        let is_final = |targets: &[Target]| targets.contains(&Target::FinalStates);
        let same =
            groups.iter_mut().find(|(other, targets)| *other == slice && is_final(targets) == is_final(&[*target]));
        match same {
            Some((_, targets)) => targets.push(*target),
            None => groups.push((slice, vec![*target])),
        }
    }
    let sorted = |(_, mut targets): (_, Vec<Target>)| {
        targets.sort_unstable();
        targets.dedup();
        targets
    };
    groups.into_iter().map(sorted).collect()
}

/// Distinct values admitted, in turn, when violations are sought among the first values of data that grows.
const CUTS: [usize; 2] = [3, 8];

/// Configurations of one exploration in such a search.
const CUT_NODES: u64 = 400_000;

/// Configurations of one exploration in the first round of turns.
const NODES: u64 = 20_000;

/// Instances asked in one turn.
const INSTANCES: usize = 4;

/// Targets with one slice on their way up the rungs.
struct Climb<'a, 'q> {
    program: &'a Program,
    sliced: &'a Program,
    slice: &'a Slice,
    /// The targets without an answer.
    goal: Goal<'q>,
    options: &'a ProveOptions,
    proof: &'a mut Proof,
}

/// What an exploration was for.
#[derive(Clone, Copy)]
struct Asked {
    rung: Rung,
    buffer: Option<usize>,
}

impl<'a> Climb<'a, '_> {
    fn climb(&mut self) -> Result<(), Fault> {
        if self.goal.final_states().is_some() && self.program.is_parameterized() {
            self.leave_open(Rung::Sc, Why::AnyNumber);
            return Ok(());
        }
        match self.try_rungs() {
            Ok(()) => Ok(()),
            Err(Halt::Fault(fault)) if fault.is_growth() && self.is_violated_among_first_values() => Ok(()),
            Err(Halt::Fault(fault)) => Err(fault),
            Err(Halt::Stopped(StopReason::Budget)) => {
                self.leave_open(Rung::Sc, Why::TooManyBeginnings);
                Ok(())
            }
            Err(Halt::Stopped(reason)) => {
                self.leave_open(self.options.by.unwrap_or(Rung::Sc), Why::Stopped(reason));
                Ok(())
            }
        }
    }

    fn try_rungs(&mut self) -> Result<(), Halt<Fault>> {
        let model = self.options.model;
        if self.wants(Rung::Sc) || self.options.by == Some(Rung::ScRobust) {
            self.sc()?;
        }
        if self.is_done() {
            return Ok(());
        }
        if model == Model::Sc {
            self.leave_open(Rung::Sc, Why::NotForThis);
            return Ok(());
        }
        let mut last = (self.options.by.unwrap_or(Rung::Sc), Why::NotForThis);
        let mut nodes = NODES;
        let mut asked_robust = !self.wants(Rung::ScRobust);
        loop {
            if self.wants(Rung::Buffers) {
                last = (Rung::Buffers, self.buffers(nodes)?);
                if self.is_done() {
                    return Ok(());
                }
            }
            if !asked_robust {
                asked_robust = true;
                let why = self.robust()?;
                if self.is_done() {
                    return Ok(());
                }
                if !self.wants(Rung::Buffers) {
                    last = (Rung::ScRobust, why);
                }
            }
            let is_over = !matches!(last, (Rung::Buffers, Why::Stopped(_)));
            if is_over || nodes == u64::MAX {
                self.leave_open(last.0, last.1);
                return Ok(());
            }
            nodes = nodes.saturating_mul(4);
        }
    }

    /// Whether a rung may be asked.
    fn wants(&self, rung: Rung) -> bool {
        self.options.by.is_none_or(|only| only == rung)
    }

    fn is_done(&self) -> bool {
        self.goal.targets.is_empty()
    }

    fn budget(&self, nodes: Option<u64>) -> Budget {
        Budget::within(&self.options.limits).with_work(nodes)
    }

    fn shape(&self, order: Order, capacity: usize) -> Shape {
        Shape { order, capacity, growth: Growth::Fault(self.options.values), spare: None }
    }

    /// The interleavings. What is reached there is reached under every model; under SC the rest is not.
    fn sc(&mut self) -> Result<(), Halt<Fault>> {
        let asked = Asked { rung: Rung::Sc, buffer: None };
        let shape = self.shape(Order::Sc, usize::MAX);
        let Some(closed) = self.explore(asked, shape, None)? else { return Ok(()) };
        if self.options.model == Model::Sc {
            self.hold(asked, &closed, PropertyReason::Buffers);
        }
        Ok(())
    }

    /// Store buffers with room for 2, 4, 8, … stores.
    fn buffers(&mut self, nodes: u64) -> Result<Why, Halt<Fault>> {
        let mut capacity = 2.min(self.options.buffer);
        loop {
            let asked = Asked { rung: Rung::Buffers, buffer: Some(capacity) };
            let shape = self.shape(self.options.model.into(), capacity);
            match self.explore(asked, shape, Some(nodes)) {
                Ok(Some(closed)) => {
                    self.hold(asked, &closed, PropertyReason::Buffers);
                    return Ok(Why::NotForThis);
                }
                Ok(None) if self.is_done() => return Ok(Why::NotForThis),
                Ok(None) if capacity >= self.options.buffer => return Ok(Why::BuffersLonger(capacity)),
                Ok(None) => capacity = (2 * capacity).min(self.options.buffer),
                Err(Halt::Stopped(StopReason::Budget)) => {
                    return Ok(Why::Stopped(StopReason::Inconclusive));
                }
                Err(halt) => return Err(halt),
            }
        }
    }

    /// Robustness, after no target was reached under SC.
    fn robust(&mut self) -> Result<Why, Halt<Fault>> {
        if self.options.model != Model::Tso || self.goal.final_states().is_some() {
            return Ok(Why::NotForThis);
        }
        let options = CheckOptions {
            values: self.options.values,
            limits: self.options.limits.clone(),
            ..CheckOptions::default()
        };
        let checked = check(self.sliced, &options).map_err(Halt::Fault)?;
        self.proof.states += checked.markings;
        match checked.verdict {
            Verdict::NotRobust => return Ok(Why::NotRobust),
            Verdict::Unknown(reason) => return Ok(Why::Stopped(reason)),
            Verdict::Robust => {}
        }
        let asked = Asked { rung: Rung::ScRobust, buffer: None };
        let shape = self.shape(Order::Sc, usize::MAX);
        let Some(closed) = self.explore(asked, shape, None)? else { return Ok(Why::NotForThis) };
        let certificate = certificate(self.sliced, &checked).expect("a robust program has a certificate");
        self.hold(asked, &closed, |sc| PropertyReason::Robust { certificate, sc });
        Ok(Why::NotForThis)
    }

    /// Explores the sliced program; notes the targets that are reached. The search, if it closed without reaching those that are left.
    fn explore(&mut self, asked: Asked, shape: Shape, nodes: Option<u64>) -> Result<Option<Search<'a>>, Halt<Fault>> {
        if self.program.is_parameterized() {
            return self.explore_any_number(asked, shape, nodes);
        }
        let found = self.search(asked, shape, nodes)?;
        Ok((!self.is_done() && found.is_closed()).then_some(found))
    }

    /// Any number of copies: what is reached is sought in instances with few copies in all, the proof with ω, in turns with
    /// growing budgets.
    fn explore_any_number(
        &mut self,
        asked: Asked,
        shape: Shape,
        nodes: Option<u64>,
    ) -> Result<Option<Search<'a>>, Halt<Fault>> {
        let has_fixed = self.program.threads.iter().any(|thread| matches!(thread.copies, Copies::Exactly(1..)));
        let mut copies = u32::from(!has_fixed);
        let mut turn = NODES;
        // How many targets there were when ω reached one of them: an instance does as well.
        let mut reached_of = None;
        loop {
            for _ in 0..INSTANCES {
                match self.search(asked, Shape { spare: Some(copies), ..shape }, Some(turn)) {
                    Ok(_) if self.is_done() => return Ok(None),
                    Ok(_) => copies += 1,
                    Err(Halt::Stopped(StopReason::Budget)) => break,
                    Err(halt) => return Err(halt),
                }
            }
            if reached_of != Some(self.goal.targets.len()) {
                let budget = self.budget(Some(turn));
                match search(self.sliced, &self.goal, shape, &budget) {
                    Ok(found) if found.reached.is_empty() => {
                        self.proof.states += found.explored.len();
                        return Ok(found.is_closed().then_some(found));
                    }
                    Ok(_) => reached_of = Some(self.goal.targets.len()),
                    Err(Halt::Stopped(StopReason::Budget)) => {}
                    Err(halt) => return Err(halt),
                }
            }
            if nodes.is_some_and(|nodes| turn >= nodes) || turn == u64::MAX {
                return Err(Halt::Stopped(StopReason::Budget));
            }
            turn = turn.saturating_mul(4);
        }
    }

    /// One exploration; notes the targets that are reached.
    fn search(&mut self, asked: Asked, shape: Shape, nodes: Option<u64>) -> Result<Search<'a>, Halt<Fault>> {
        let mut found = search(self.sliced, &self.goal, shape, &self.budget(nodes))?;
        self.proof.states += found.explored.len();
        self.note_violations(asked, &mut found)?;
        Ok(found)
    }

    /// Notes the targets that a search has reached.
    fn note_violations(&mut self, asked: Asked, found: &mut Search<'_>) -> Result<(), Halt<Fault>> {
        let targets = self.goal.targets.clone();
        for (number, target) in (0..).zip(targets) {
            if !found.reached.contains_key(&number) {
                continue;
            }
            let run = run(found, &self.goal, number).map_err(Halt::Fault)?;
            let replayed = run.and_then(|run| replay(self.program, self.sliced, &run, target, self.options.model));
            let answer = match replayed {
                Some(violation) => Answer::Violated(self.shortened(violation).into()),
                None => Answer::Open(Why::NotReplayed),
            };
            self.answer(asked, target, answer, found.explored.len());
        }
        Ok(())
    }

    fn shortened(&self, violation: Violation) -> Violation {
        violation
    }

    /// Notes that no target that is left is reached.
    fn hold(
        &mut self,
        asked: Asked,
        closed: &Search<'_>,
        reason: impl FnOnce(palisade_evidence::BufferInvariant) -> PropertyReason,
    ) {
        let position = self.proof.proofs.len();
        let targets = std::mem::take(&mut self.goal.targets);
        self.proof.proofs.push(PropertyProof {
            targets: targets.clone(),
            slice: self.slice.instructions(),
            bounds: None,
            reason: reason(buffer_invariant(closed)),
        });
        for target in targets {
            self.answer(asked, target, Answer::Holds(position), closed.explored.len());
        }
    }

    fn leave_open(&mut self, rung: Rung, why: Why) {
        for target in std::mem::take(&mut self.goal.targets) {
            self.answer(Asked { rung, buffer: None }, target, Answer::Open(why), 0);
        }
    }

    fn answer(&mut self, asked: Asked, target: Target, answer: Answer, states: usize) {
        self.goal.targets.retain(|it| *it != target);
        let under_sc = match asked.rung {
            Rung::Sc | Rung::ScRobust => Some(matches!(answer, Answer::Violated(_))),
            Rung::Buffers if self.options.by.is_none() => Some(false),
            Rung::Buffers => None,
        };
        let sliced = self.slice.instructions().iter().map(Vec::len).sum();
        let Asked { rung, buffer } = asked;
        self.proof.answers.push(TargetAnswer { target, answer, rung, under_sc, buffer, states, sliced, seconds: 0.0 });
    }

    /// Whether all targets that are left are reached with the first values of data that grows.
    fn is_violated_among_first_values(&mut self) -> bool {
        for cut in CUTS {
            let order = self.options.model.into();
            let spare = self.program.is_parameterized().then_some(2);
            let shape = Shape { order, capacity: 2, growth: Growth::Cut(cut), spare };
            let budget = self.budget(Some(CUT_NODES));
            if let Ok(mut found) = search(self.sliced, &self.goal, shape, &budget) {
                let asked = Asked { rung: Rung::Buffers, buffer: Some(2) };
                self.proof.states += found.explored.len();
                if self.note_violations(asked, &mut found).is_ok() && self.is_done() {
                    return true;
                }
            }
        }
        false
    }
}
