//! Attacks decided on their nets: counter abstraction and coverability [ESOP13, §5].
//!
//! A search that goes forward through configurations with whole memories can get lost where the
//! question is answered in a few steps backwards, or by a relation between pairs of places. The
//! nets know nothing of phases and share nothing between attacks, but every strategy of
//! [`coverability`](crate::coverability) works on them. Where turns of counters permute a net, its
//! markings are explored up to these as well, in turn with the strategies. What they are given to
//! do is metered by work, so that answers do not depend on clocks.

use super::witness::{Violation, violation_of_run};
use crate::decide::schedule::CHECK;
use crate::decide::schedule::nets::{EXPLORATIONS, FIRST, TRANSITIONS_PER_NODE, WORK_PER_NODE, WORK_PER_TRANSITION};
use crate::decide::{self, Method, Round, Schedule, Turn};
use palisade_coverability::{self as coverability, Options, Outcome, Statistics};
use palisade_evidence::AttackNetProof;
use palisade_exploration::instrumented::net::{AttackNet, Bounds, Symmetry, TurnedNet};
use palisade_exploration::instrumented::system::Counting;
use palisade_exploration::instrumented::{Attack, Fault, Found};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::net::Problem;
use palisade_model::program::{Copies, Program};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The answer for one attack.
#[derive(Clone)]
pub(super) struct NetAnswer {
    /// The attack.
    pub(super) attack: Attack,
    /// What was found; nothing when it took too much work.
    pub(super) found: Option<Found>,
    /// Why nothing was found.
    pub(super) stopped: Option<StopReason>,
    /// The strategy that found it.
    pub(super) strategy: &'static str,
    /// Markings it kept.
    pub(super) markings: usize,
    /// The net's places and transitions.
    pub(super) size: (usize, usize),
    /// Units of work spent, of [`coverability`]'s kind.
    work: u64,
    /// Time spent.
    pub(super) seconds: f64,
    /// The proof that the attack is infeasible.
    pub(super) proof: Option<AttackNetProof>,
    /// The violation that shows it feasible.
    pub(super) violation: Option<Violation>,
}

impl NetAnswer {
    fn none(attack: Attack) -> Self {
        Self {
            attack,
            found: None,
            stopped: None,
            strategy: "none",
            markings: 0,
            size: (0, 0),
            work: 0,
            seconds: 0.0,
            proof: None,
            violation: None,
        }
    }

    /// Whether no later attack need be asked, unless all are to be: this one is feasible, or has no
    /// net.
    fn ends(&self, all: bool) -> bool {
        self.size == (0, 0) || !all && self.found == Some(Found::Feasible)
    }
}

/// Nets with more places than this are beyond what `verify` lists.
const MOST_PLACES: usize = 1 << 18;

/// Nets with more transitions than this may be: it bounds its work, of which a transition takes 12
/// to 60 units, to 2²⁵.
const MOST_TRANSITIONS: usize = 1 << 19;

/// How large the net of an attack may be, beside an exploration that may have as many nodes as the
/// budget says.
pub(super) fn bounds(values: usize, copies: Option<u32>, budget: &Budget) -> Bounds {
    let transitions = budget.work.map_or(u64::MAX, |nodes| nodes.saturating_mul(TRANSITIONS_PER_NODE));
    Bounds { values, copies, transitions }
}

/// Answers a net beside such an exploration, alike whatever the number of processors.
pub(super) fn solve(problem: &Problem, budget: &Budget) -> coverability::Answer {
    let work = budget.work.map(|nodes| nodes.saturating_mul(WORK_PER_NODE));
    let limits = budget.limits.clone();
    coverability::solve(problem, &Options { strategy: None, limits, jobs: 1, deterministic: true, work })
}

/// The counters up to whose turns nets are explored.
#[derive(Clone, Copy)]
pub(super) struct Turns<'c> {
    /// The counters.
    pub(super) counting: &'c Counting,
    /// Nets with fewer turns are explored as they stand.
    pub(super) fewest: usize,
}

/// The question about a net with turns.
struct Question<'n> {
    problem: &'n Problem,
    turned: TurnedNet<'n>,
    budget: &'n Budget,
}

impl Question<'_> {
    fn budget(&self, round: Round) -> Budget {
        self.budget.clone().with_work(round.work)
    }

    /// Its markings up to turns.
    fn up_to_turns(&mut self, round: Round) -> Turn<coverability::Answer, Fault> {
        let (outcome, nodes) = self.turned.explore(&self.budget(round));
        let (markings, work) = (nodes as u64, nodes as u64 * WORK_PER_NODE);
        let statistics = Statistics { markings, work, ..Statistics::default() };
        answered(coverability::Answer { outcome, strategy: "turns", statistics, without_evidence: None })
    }

    /// The strategies for all nets, after the work of the exploration before.
    fn as_it_stands(&mut self, round: Round) -> Turn<coverability::Answer, Fault> {
        let mut answer = solve(self.problem, &self.budget(round));
        answer.statistics.work = answer.statistics.work.saturating_add(round.work.saturating_mul(WORK_PER_NODE));
        answered(answer)
    }
}

/// The turn in which an answer was or was not found.
#[allow(clippy::unnecessary_wraps, reason = "methods take turns alike")]
fn answered(answer: coverability::Answer) -> Turn<coverability::Answer, Fault> {
    match answer.outcome {
        Outcome::Unknown(StopReason::Budget) => Ok(None),
        _ => Ok(Some(answer)),
    }
}

/// Answers a net: by its markings up to turns, where it has many, and by the strategies for all
/// nets.
fn solve_up_to_turns(net: &AttackNet<'_>, symmetry: Option<Symmetry>, budget: &Budget) -> coverability::Answer {
    let Some(symmetry) = symmetry else { return solve(&net.problem, budget) };
    let schedule = Schedule { most: budget.work.unwrap_or(CHECK.most), ..CHECK };
    let methods: [Method<Question<'_>, coverability::Answer, Fault>; 2] =
        [Method { name: "turns", turn: Question::up_to_turns }, Method { name: "nets", turn: Question::as_it_stands }];
    let mut question = Question { problem: &net.problem, turned: TurnedNet::new(net, symmetry), budget };
    match decide::decide(&mut question, &methods, schedule) {
        Ok(decision) => decision.answer,
        Err(halt) => {
            let reason = if let Halt::Stopped(reason) = halt { reason } else { StopReason::Inconclusive };
            let work = budget.work.map_or(0, |nodes| nodes.saturating_mul(2 * WORK_PER_NODE));
            let statistics = Statistics { work, ..Statistics::default() };
            coverability::Answer { statistics, ..coverability::Answer::none(reason, "auto") }
        }
    }
}

/// Decides attacks of a program on their nets; with `all`, every one, else up to the first feasible
/// one. With `copies`, of the instances in which replicated threads have so many copies together,
/// and without proofs. With `values`, how many distinct values of a register or an address are
/// admitted in a program without a domain. The nets of a program are much of a size: when one is
/// too large, no other is listed. A program may have thousands: when those asked have taken the
/// work of many explorations, the others are left to a later turn.
///
/// # Errors
///
/// A fault when there are no nets, because values grow or an expression that value sets reach has
/// no value: neither need be so in what the program reaches.
pub(super) fn decide(
    program: &Program,
    attacks: &[Attack],
    copies: Option<u32>,
    all: bool,
    values: usize,
    turns: Option<Turns<'_>>,
    budget: &Budget,
) -> Result<Vec<NetAnswer>, Fault> {
    let Some(first) = attacks.first() else { return Ok(Vec::new()) };
    let most = budget.work.map_or(u64::MAX, |nodes| nodes.saturating_mul(WORK_PER_NODE).saturating_mul(EXPLORATIONS));
    let mut answers: Vec<NetAnswer> = Vec::with_capacity(attacks.len());
    let (mut count, mut work) = (FIRST, 0);
    while answers.len() < attacks.len() && work < most {
        let asked = &attacks[answers.len()..attacks.len().min(answers.len() + count)];
        answers.extend(side_by_side(asked, all, budget, |attack, budget| {
            decide_one(program, attack, copies, values, turns, budget)
        })?);
        let last = &answers[answers.len() - asked.len()..];
        if last.iter().any(|answer| answer.ends(all)) {
            break;
        }
        work += last.iter().map(|answer| answer.work).sum::<u64>();
        count *= 2;
    }
    // Answers of later ones, of those asked together as well, would depend on which thread was
    // faster.
    let rest = match answers.iter().position(|answer| answer.ends(all)) {
        Some(last) => {
            answers.truncate(last + 1);
            NetAnswer { found: answers[last].found.map(|_| Found::NotAsked), ..NetAnswer::none(attacks[last]) }
        }
        None => NetAnswer { stopped: Some(StopReason::Budget), ..NetAnswer::none(*first) },
    };
    answers.extend(attacks[answers.len()..].iter().map(|attack| NetAnswer { attack: *attack, ..rest.clone() }));
    Ok(answers)
}

/// Decides attacks side by side; what comes after one that ends the turn may be left out.
fn side_by_side(
    attacks: &[Attack],
    all: bool,
    budget: &Budget,
    decide: impl Fn(Attack, &Budget) -> Result<NetAnswer, Fault> + Sync,
) -> Result<Vec<NetAnswer>, Fault> {
    let flags: Vec<Arc<AtomicBool>> = attacks.iter().map(|_| Arc::new(AtomicBool::new(false))).collect();
    let answers = attacks
        .par_iter()
        .enumerate()
        .map(|(index, attack)| {
            if flags[index].load(Ordering::Relaxed) {
                return Ok(NetAnswer::none(*attack));
            }
            let limits = budget.limits.clone().with_interrupt(flags[index].clone());
            let budget = Budget { limits, ..budget.clone() };
            let answer = decide(*attack, &budget);
            if answer.as_ref().map_or(true, |answer| answer.ends(all)) {
                flags[index + 1..].iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
            }
            answer
        })
        .collect::<Vec<Result<NetAnswer, Fault>>>();
    answers.into_iter().collect()
}

fn decide_one(
    program: &Program,
    attack: Attack,
    copies: Option<u32>,
    values: usize,
    turns: Option<Turns<'_>>,
    budget: &Budget,
) -> Result<NetAnswer, Fault> {
    let begin = Instant::now();
    let net = match AttackNet::build(program, &attack, bounds(values, copies, budget), &budget.limits) {
        Ok(net) => net,
        Err(Halt::Fault(fault)) => return Err(fault),
        Err(Halt::Stopped(reason)) => return Ok(NetAnswer { stopped: Some(reason), ..NetAnswer::none(attack) }),
    };
    let (net, symmetry) = match turns {
        Some(Turns { counting, fewest }) => net.with_turns(counting, fewest),
        None => (net, None),
    };
    let answer = solve_up_to_turns(&net, symmetry, budget);
    let size = (net.problem.net.places.len(), net.problem.net.transitions.len());
    let mut found = NetAnswer {
        strategy: answer.strategy,
        markings: usize::try_from(answer.statistics.markings).unwrap_or(usize::MAX),
        size,
        work: answer.statistics.work + size.1 as u64 * WORK_PER_TRANSITION,
        ..NetAnswer::none(attack)
    };
    match answer.outcome {
        Outcome::Coverable(run) => {
            found.violation = violation_of_run(program, attack, &net, &run);
            found.found = found.violation.is_some().then_some(Found::Feasible);
        }
        // A proof that the checker would give up on is none.
        Outcome::Uncoverable(_) if size.0 > MOST_PLACES || size.1 > MOST_TRANSITIONS => {}
        Outcome::Uncoverable(certificate) => {
            found.found = Some(Found::Infeasible);
            found.proof = copies.is_none().then(|| {
                let (places, certificate) = certificate.by_position();
                AttackNetProof { places: places.into_iter().map(|place| net.fact(place)).collect(), certificate }
            });
        }
        Outcome::Unknown(reason) => found.stopped = Some(reason),
    }
    found.seconds = begin.elapsed().as_secs_f64();
    Ok(found)
}

/// How many copies of replicated threads take part in a violation.
pub(super) fn replicated_copies(program: &Program, violation: &Violation) -> u32 {
    let counts = violation.instance.counts();
    let is_replicated = |thread: &palisade_model::program::Thread| thread.copies == Copies::Any;
    let copies =
        program.threads.iter().zip(counts).filter(|(thread, _)| is_replicated(thread)).map(|(_, count)| *count);
    u32::try_from(copies.sum::<u64>()).expect("a copy of a replicated thread takes part for each step that it takes")
}
