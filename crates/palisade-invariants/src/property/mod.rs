//! Checks that a program never reaches its targets under a memory model, from its text and the
//! evidence alone; and that it does.
//!
//! For each target the evidence gives a reason, which is about the *sliced program* ([`slice`]):
//! values closed under every instruction ([`values`], [`ranges`]); robustness with a closed set of
//! SC configurations, of the sliced program or of an [`enriched`] one; a closed set of
//! configurations with unbounded store buffers ([`closed`], with threads as [`local`] sees them and
//! the steps of [`steps`]), in which [`reductions`] leave some delays out; or one in which loads
//! lag behind on [`snapshots`] of memory, as far as [`lag`] says. A violation is replayed
//! ([`witness`]). Evidence about events and tasks is about threads that say them ([`posts`]).
//! Triangular races ([`races`]) are states of the same steps under SC. THEORY.md says why this
//! suffices.

mod closed;
mod enriched;
mod finals;
mod lag;
mod local;
mod posts;
mod race_free;
mod races;
mod ranges;
mod reductions;
mod slice;
mod snapshots;
mod steps;
#[cfg(test)]
mod tests;
mod values;
mod watching;
mod witness;
mod words;

pub use posts::{check_posted_property, threads_that_say};
pub use race_free::check_race_free;
pub use races::check_race;
pub(crate) use reductions::dead_delays;
pub(crate) use witness::check_counts;
pub use witness::check_property_witness;

use crate::CheckFailure;
use crate::failure::reject;
use crate::listing::rests_on_sets;
use crate::program::{check_interleavings, check_pso_certificate, check_robust_certificate};
use closed::check_closed_set;
use enriched::enriched_program;
use palisade_evidence::{PropertyEvidence, PropertyProof, PropertyReason};
use palisade_model::program::{Action, Copies, InstructionId, Program, ThreadId};
use palisade_semantics::{Model, Question, Target};
use slice::{Observed, observed, sliced_program};
use std::collections::BTreeSet;
use values::{check_values, runs};
use watching::watching;

/// How stores wait for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffering {
    /// They do not (SC).
    Nothing,
    /// In one queue for each thread (TSO).
    Fifo,
    /// In one queue for each thread and address, with marks across them (PSO).
    PerAddress,
    /// They do not, but loads that overtake them under TSO lag behind on snapshots of memory.
    Lagging,
    /// They do not (SC), and the buffer notes what a thread has stored since it last drained its
    /// buffer.
    Noted,
}

impl Buffering {
    /// Whether an action touches neither memory, the buffer nor the lock. `sfence` does not where
    /// one queue keeps the order of all stores.
    pub(crate) fn is_local(self, action: &Action) -> bool {
        action.is_local() || *action == Action::StoreFence && self != Self::PerAddress
    }

    /// How they do under a model.
    pub(crate) fn of(model: Model) -> Self {
        match model {
            Model::Sc => Self::Nothing,
            Model::Tso => Self::Fifo,
            Model::Pso => Self::PerAddress,
        }
    }
}

/// What a proof is about.
struct Goal<'a> {
    targets: &'a [Target],
    /// The question, where final states are a target.
    question: Option<&'a Question>,
    /// What the question looks at.
    observed: Observed,
}

/// What is known of a sliced program.
#[derive(Clone, Copy)]
struct Known<'a> {
    /// Bounds on the values of the whole program.
    bounds: Option<&'a values::Bounds>,
    /// The addresses that the slice may write. The sliced program must not read them.
    written: &'a ranges::Range,
    /// Whether sets may be closed up to shifts of counters only.
    counts: bool,
}

/// What evidence about properties has been checked to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyFacts {
    /// The memory model.
    pub model: Model,
    /// The targets that are never reached, ascending.
    pub shown: Vec<Target>,
    /// The other targets that the program has, ascending: each `ensure` and `fail` of a thread with
    /// copies, and the final states where the file asks a question about them.
    pub others: Vec<Target>,
    /// How many joint control states the program must not reach, of which nothing is shown. (Of the
    /// program that watches them by threads with an `ensure`, all is shown that is shown of these.)
    pub joint_states: usize,
}

/// Checks that `evidence` shows `program` (with its copies and domain) never to reach the targets
/// that it names. `question` is the one that the program's file asks.
pub fn check_property(
    program: &Program,
    question: Option<&Question>,
    evidence: &PropertyEvidence,
) -> Result<PropertyFacts, CheckFailure> {
    if evidence.plain_posts.is_some() {
        reject!(Form, "the evidence speaks of posts, and the program has threads alone");
    }
    check_proofs(program, question, evidence)
}

/// Checks the proofs of `evidence`, of which `program` has all threads.
fn check_proofs(
    program: &Program,
    question: Option<&Question>,
    evidence: &PropertyEvidence,
) -> Result<PropertyFacts, CheckFailure> {
    if program.threads.iter().all(|thread| thread.copies == Copies::Exactly(0)) {
        reject!(Form, "no thread has copies, so the evidence is about nothing");
    }
    if evidence.proofs.is_empty() {
        reject!(Form, "the evidence names no target");
    }
    let mut shown = BTreeSet::new();
    for (number, proof) in evidence.proofs.iter().enumerate() {
        check_proof(program, question, evidence.model, proof, true)
            .map_err(|failure| failure.within(format_args!("proof {number}")))?;
        for target in &proof.targets {
            if !shown.insert(*target) {
                reject!(Form, "two proofs are about one target");
            }
        }
    }
    let others = targets(program, question).filter(|target| !shown.contains(target)).collect();
    let (model, joint_states) = (evidence.model, program.never.len());
    Ok(PropertyFacts { model, shown: shown.into_iter().collect(), others, joint_states })
}

/// The targets of a program, ascending.
fn targets<'a>(program: &'a Program, question: Option<&Question>) -> impl Iterator<Item = Target> + use<'a> {
    let finals = question.is_some_and(|question| question.condition.is_some()).then_some(Target::FinalStates);
    let of_threads = program.thread_ids().filter(|(_, thread)| runs(thread)).flat_map(|(id, thread)| {
        let is_property = |action: &Action| matches!(action, Action::Ensure(_) | Action::Fail);
        let properties = thread.instruction_ids().filter(move |(_, own)| is_property(&own.action));
        properties.map(move |(instruction, _)| Target::Instruction { thread: id, instruction })
    });
    of_threads.chain(finals)
}

/// Whether the sets of a proof are closed as they stand, and not only up to shifts of counters.
pub fn stands_without_counters(
    program: &Program,
    question: Option<&Question>,
    model: Model,
    proof: &PropertyProof,
) -> bool {
    check_proof(program, question, model, proof, false).is_ok()
}

/// Checks a proof.
fn check_proof(
    program: &Program,
    question: Option<&Question>,
    model: Model,
    proof: &PropertyProof,
    counts: bool,
) -> Result<(), CheckFailure> {
    let goal = goal(program, question, &proof.targets)?;
    let slice = SliceOf::of(program, &goal, proof)?;
    let (sliced, known) = (&slice.program, Known { counts, ..slice.known() });
    match &proof.reason {
        PropertyReason::Values(_) if rests_on_sets(sliced) => {
            reject!(Form, "values show nothing of machine code that computes addresses or divides")
        }
        PropertyReason::Values(values) => {
            let values = check_values(sliced, values)?;
            check_never_by_values(sliced, &goal, &values)
        }
        PropertyReason::Robust { certificate, sc } => {
            if model != Model::Tso {
                reject!(Form, "robustness is about TSO");
            }
            check_robust_certificate(sliced, certificate)?;
            check_closed_set(sliced, Buffering::Nothing, &goal, known, sc)
        }
        PropertyReason::Pso { certificate, sc } => {
            if model != Model::Pso || goal.question.is_some() {
                reject!(Form, "robustness against PSO says nothing about other models, nor about final states");
            }
            check_pso_certificate(sliced, certificate)?;
            check_closed_set(sliced, Buffering::Nothing, &goal, known, sc)
        }
        PropertyReason::Counters { certificate, sc } => {
            match (model, certificate) {
                (Model::Sc, None) => {}
                (Model::Tso, Some(certificate)) => check_robust_certificate(sliced, certificate)?,
                _ => reject!(
                    Form,
                    "under TSO the program is robust besides, under SC it need not be, and counters say nothing about PSO"
                ),
            }
            if goal.question.is_some() {
                reject!(Form, "counters say nothing about final states");
            }
            let (watching, fails) = watching(sliced, goal.targets);
            check_interleavings(&watching, &fails, sc)
        }
        PropertyReason::Enriched { loads, room, certificate, sc } => {
            if model != Model::Tso {
                reject!(Form, "robustness is about TSO");
            }
            let enriched = enriched_program(sliced, known, loads, *room, goal.targets)?;
            check_robust_certificate(&enriched.program, certificate)?;
            let goal = Goal { targets: &enriched.targets, question: None, observed: Observed::new() };
            check_closed_set(&enriched.program, Buffering::Nothing, &goal, known, sc)
        }
        PropertyReason::Snapshots(set) => {
            if model != Model::Tso {
                reject!(Form, "snapshots are about TSO");
            }
            check_closed_set(sliced, Buffering::Lagging, &goal, known, set)
        }
        PropertyReason::Buffers(set) => check_closed_set(sliced, Buffering::of(model), &goal, known, set),
    }
}

/// The enriched program that a proof is about, with what it must not reach; nothing where the proof
/// is about the sliced program.
pub fn enriched_program_of(
    program: &Program,
    proof: &PropertyProof,
) -> Result<Option<(Program, Vec<Target>)>, CheckFailure> {
    let PropertyReason::Enriched { loads, room, .. } = &proof.reason else { return Ok(None) };
    let goal = goal(program, None, &proof.targets)?;
    let slice = SliceOf::of(program, &goal, proof)?;
    let enriched = enriched_program(&slice.program, slice.known(), loads, *room, goal.targets)?;
    Ok(Some((enriched.program, enriched.targets)))
}

/// The slice of a proof, checked to be one.
struct SliceOf {
    program: Program,
    bounds: Option<values::Bounds>,
    written: ranges::Range,
}

impl SliceOf {
    fn of(program: &Program, goal: &Goal<'_>, proof: &PropertyProof) -> Result<Self, CheckFailure> {
        let bounds = proof.bounds.as_ref().map(|bounds| check_values(program, bounds)).transpose();
        let bounds = bounds.map_err(|failure| failure.within("bounds"))?;
        let all_reads = matches!(proof.reason, PropertyReason::Values(_) | PropertyReason::Counters { .. });
        let (program, written) =
            sliced_program(program, &proof.slice, goal.targets, &goal.observed, bounds.as_ref(), all_reads)?;
        // Properties are shown of all executions, also of those with a delay that is accepted.
        let program = Program { accepted: Vec::new(), ..program };
        Ok(Self { program, bounds, written })
    }

    fn known(&self) -> Known<'_> {
        Known { bounds: self.bounds.as_ref(), written: &self.written, counts: true }
    }
}

/// Checks that targets are ones of the program, in order.
pub fn check_goal(program: &Program, question: Option<&Question>, targets: &[Target]) -> Result<(), CheckFailure> {
    goal(program, question, targets).map(drop)
}

/// What the targets of a proof are. Checks that the program has them.
fn goal<'a>(
    program: &Program,
    question: Option<&'a Question>,
    targets: &'a [Target],
) -> Result<Goal<'a>, CheckFailure> {
    if targets.is_empty() || !targets.is_sorted_by(|one, other| one < other) {
        reject!(Form, "the targets are not in ascending order, or there are none");
    }
    let mut asked = None;
    for target in targets {
        match target {
            Target::Instruction { thread, instruction } => check_target(program, *thread, *instruction)?,
            Target::FinalStates => asked = Some(check_finals(program, question)?),
        }
    }
    Ok(Goal { targets, question: asked, observed: observed(asked) })
}

/// Checks that an instruction is an `ensure` or a `fail`.
fn check_target(program: &Program, thread: ThreadId, instruction: InstructionId) -> Result<(), CheckFailure> {
    let own = program.threads.get(thread.index()).and_then(|own| own.instructions.get(instruction.index()));
    match own.map(|own| &own.action) {
        Some(Action::Ensure(_) | Action::Fail) => Ok(()),
        _ => reject!(Form, "instruction {instruction} of thread {thread} is no `ensure` and no `fail`"),
    }
}

/// Checks that final states can be a target: the file asks about them, the numbers of copies are
/// fixed, and no thread can end in `fail`. The question.
fn check_finals<'a>(program: &Program, question: Option<&'a Question>) -> Result<&'a Question, CheckFailure> {
    let Some(question) = question.filter(|question| question.condition.is_some()) else {
        reject!(Form, "the program's file asks nothing about final states");
    };
    if program.is_parameterized() {
        reject!(Form, "final states need fixed numbers of copies");
    }
    let fails = |action: &Action| *action == Action::Fail;
    if program.threads.iter().any(|thread| thread.instructions.iter().any(|own| fails(&own.action))) {
        reject!(Form, "final states are no target of a program with `fail`");
    }
    Ok(question)
}

/// Checks that no target is reached whose condition is never 0 with these values.
fn check_never_by_values(program: &Program, goal: &Goal<'_>, values: &values::Bounds) -> Result<(), CheckFailure> {
    for target in goal.targets {
        let Target::Instruction { thread, instruction } = *target else {
            reject!(Safe, "values say nothing about final states");
        };
        if !runs(program.thread(thread)) {
            continue;
        }
        match &program.thread(thread).instruction(instruction).action {
            Action::Ensure(condition) if !values.can_be_false(program, thread, condition) => {}
            _ => reject!(
                Safe,
                "the values do not rule out that instruction {instruction} of thread {thread} is violated"
            ),
        }
    }
    Ok(())
}
