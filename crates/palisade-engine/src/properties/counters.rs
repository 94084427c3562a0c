//! Properties of programs with counters: interleavings up to what is known of these, and
//! robustness.
//!
//! What `check` knows of counters ([`robustness`](crate::robustness)) – turns, residues, no
//! tickets, ends, horizons – makes of a program one that does all that it does. What this one never
//! reaches under SC, the program never reaches. So a target becomes a `fail` that its violation
//! leads to, and the condition of an `ensure` one like others, loosened as these are. Under TSO the
//! sliced program is asked whether it is robust, for which all that `check` knows counts as well.
//!
//! Only what is proved says something: where a program that knows less reaches a target, nothing is
//! known.

use super::known::Known;
use super::{Answer, Proof, ProveOptions, Rung, TargetAnswer};
use crate::robustness::{CheckOptions, has_counters, interleavings_without, robust_within};
use palisade_evidence::{PropertyProof, PropertyReason};
use palisade_exploration::buffered::{Goal, Slice, Values};
use palisade_model::program::{
    Action, Expression, Instruction, InstructionId, Label, LabelId, Program, ThreadId, UnaryOperator,
};
use palisade_semantics::{Model, Target};
use std::collections::BTreeSet;
use std::time::Instant;

/// With fewer values than this in a domain, all of them are explored soon enough.
const MANY_VALUES: u128 = 32;

/// Whether counters may tell something about the targets of a group.
pub(super) fn may_count(program: &Program, targets: &[Target], known: &Known<'_>, options: &ProveOptions) -> bool {
    let is_asked = match options.by {
        Some(only) => only == Rung::Counters,
        None => program.domain.is_none_or(|domain| domain.wrap && domain.size() > MANY_VALUES),
    };
    is_asked
        && options.model != Model::Pso
        && !targets.contains(&Target::FinalStates)
        && known.counts(program, targets, || {
            Counted { program, bounds: known.bounds(program), options }.has_counters(targets)
        })
}

/// Answers the targets of a group that are proved up to what counters tell; the others.
pub(super) fn by_counters(
    program: &Program,
    bounds: Option<&Values<'_>>,
    targets: &[Target],
    options: &ProveOptions,
    proof: &mut Proof,
) -> Vec<Target> {
    let asked = Counted { program, bounds, options };
    if targets.is_empty() || asked.prove(targets, proof) {
        return Vec::new();
    }
    // Some may hold of which others do not.
    let is_stopped = || options.limits.check().is_err();
    let alone = |target: &Target| targets.len() == 1 || is_stopped() || !asked.prove(&[*target], proof);
    targets.iter().copied().filter(alone).collect()
}

/// A program with what is asked of it.
struct Counted<'a> {
    program: &'a Program,
    bounds: Option<&'a Values<'a>>,
    options: &'a ProveOptions,
}

impl Counted<'_> {
    /// Answers targets together, if they are proved; whether they are.
    fn prove(&self, targets: &[Target], proof: &mut Proof) -> bool {
        let begin = Instant::now();
        let slice = self.slice(targets);
        let sliced = slice.apply(self.program);
        let (options, most) = (self.check_options(), self.options.most);
        let (watching, fails) = watching(&sliced, targets);
        let Some(sc) = interleavings_without(&watching, &fails, &options, most) else { return false };
        let robust = match self.options.model {
            Model::Sc => None,
            _ => match robust_within(&sliced, &options, most) {
                Some(certificate) => Some(Box::new(certificate)),
                None => return false,
            },
        };
        let states = sc.sc.len();
        let position = proof.proofs.len();
        proof.states += states;
        proof.proofs.push(PropertyProof {
            targets: targets.to_vec(),
            slice: slice.instructions(),
            bounds: self.bounds.map(Values::evidence),
            reason: PropertyReason::Counters { certificate: robust, sc: sc.into() },
        });
        let sliced = slice.instructions().iter().map(Vec::len).sum();
        let seconds = begin.elapsed().as_secs_f64();
        proof.answers.extend(targets.iter().map(|target| TargetAnswer {
            target: *target,
            answer: Answer::Holds(position),
            rung: Rung::Counters,
            under_sc: Some(false),
            buffer: None,
            states,
            sliced,
            seconds,
        }));
        true
    }

    /// What does not matter for targets, whatever addresses loads compute.
    fn slice(&self, targets: &[Target]) -> Slice {
        let goal = Goal::new(targets.to_vec(), None);
        if self.options.slice {
            Slice::of(self.program, &goal, self.bounds, false)
        } else {
            Slice::whole(self.program, &goal)
        }
    }

    /// Whether what is asked has counters.
    fn has_counters(&self, targets: &[Target]) -> bool {
        let (watching, _) = watching(&self.slice(targets).apply(self.program), targets);
        has_counters(&watching)
    }

    fn check_options(&self) -> CheckOptions {
        let ProveOptions { values, limits, .. } = self.options;
        CheckOptions { values: *values, limits: limits.clone(), ..CheckOptions::default() }
    }
}

/// The program with a `fail` where one of the targets is violated, and these.
///
/// An `ensure e` among the targets does nothing. Behind all instructions of its thread stand two
/// more for it: from its label `assume !e` leads to a label of its own, and there stands a `fail`.
fn watching(program: &Program, targets: &[Target]) -> (Program, BTreeSet<(ThreadId, InstructionId)>) {
    let mut watching = program.clone();
    let mut fails = BTreeSet::new();
    for target in targets {
        let Target::Instruction { thread, instruction } = *target else { continue };
        let own = &mut watching.threads[thread.index()];
        let it = &mut own.instructions[instruction.index()];
        if it.action == Action::Fail {
            fails.insert((thread, instruction));
            continue;
        }
        let (source, span) = (it.source, it.span);
        let Action::Ensure(condition) = std::mem::replace(&mut it.action, Action::Nop) else {
            unreachable!("targets are properties")
        };
        let label = LabelId::from_index(own.labels.len());
        own.labels.push(Label::new(format!("violated {instruction}"), span));
        let violated = Action::Assume(Expression::unary(UnaryOperator::Not, condition));
        own.instructions.push(Instruction::new(source, label, violated, span));
        own.instructions.push(Instruction::new(label, label, Action::Fail, span));
        fails.insert((thread, InstructionId::from_index(own.instructions.len() - 1)));
    }
    (watching, fails)
}
