//! Several questions about one net: each is asked of the net itself for a moment, then of the net
//! reduced for all of them.
//!
//! Time is dealt out in rounds: in each round every question that is open may take so long, and
//! eight times as long in the next. So a question that is never answered does not keep the others
//! waiting, and the answers that come soon come first.
//!
//! Evidence about the reduced net may take longer to take back than it took to find, and asking the
//! net itself may be quicker. Both are tried in turn, each time for longer. In between weights are
//! sought, which are taken back in linear time.

use super::reduction::{Reduced, ReductionOptions, reduce};
use super::{Answer, Options, Outcome, solve};
use palisade_model::limits::{Budget, StopReason};
use palisade_model::net::{Net, Problem, Query};
use std::ops::Range;
use std::time::{Duration, Instant};

/// How long each question is asked of the net itself before the net is reduced: as long as a
/// portfolio takes for a small net. In deterministic mode the work.
const GLANCE: (Duration, u64) = (Duration::from_millis(15), 100_000);

/// How long each question may take in the first round.
const FIRST_ROUND: Duration = Duration::from_secs(1);

/// How much longer each round is.
const GROWTH: u32 = 8;

/// How hard evidence is sought for an answer about the reduced net: the work of taking it back, and
/// how long the net itself is asked where that does not do, in deterministic mode with so much
/// work. Nothing where it is asked for the whole share.
const EFFORTS: [(u64, Option<(Duration, u64)>); 3] = [
    (1_000_000, Some((Duration::from_millis(30), 200_000))),
    (8_000_000, Some((Duration::from_millis(240), 1_600_000))),
    (64_000_000, None),
];

/// Larger nets are not reduced: it would take longer than many an answer. Slicing, which each
/// question has for itself, leaves out what does not matter.
const LARGEST_REDUCED: usize = 20_000;

/// What was asked about a net.
#[derive(Clone, Copy, Debug)]
pub struct AskedNet {
    /// Places of the net on which the questions were asked.
    pub places: usize,
    /// Its transitions.
    pub transitions: usize,
    /// Seconds that the reduction took.
    pub seconds: f64,
}

/// Answers questions about a net. Each answer is handed over as soon as it is there, with the
/// number of its question and with the problem that it is about, which has the whole net.
pub fn solve_all(
    net: Net,
    queries: &[Query],
    options: &Options,
    found: impl FnMut(usize, &Problem, Answer),
) -> AskedNet {
    solve_after(Some(GLANCE), net, queries, options, found)
}

/// The same, with so much time or work for the glance at the net itself, or without one.
pub(super) fn solve_after(
    glance: Option<(Duration, u64)>,
    net: Net,
    queries: &[Query],
    options: &Options,
    mut found: impl FnMut(usize, &Problem, Answer),
) -> AskedNet {
    let mut many = Many::new(net, queries);
    let mut open: Vec<usize> = (0..queries.len()).collect();
    if let Some(glance) = glance.filter(|_| many.can_be_reduced()) {
        open.retain(|index| {
            let answer = many.glance(&queries[*index], glance, options);
            let is_answered = answer.outcome.is_coverable().is_some();
            if is_answered {
                found(*index, &many.problem, answer);
            }
            !is_answered
        });
    }
    let begin = Instant::now();
    if open.len() > 1 && many.can_be_reduced() {
        many.reduce(queries, &open, options);
    }
    let asked = many.size(begin.elapsed());
    let mut round = FIRST_ROUND;
    while !open.is_empty() {
        let mut left = Vec::new();
        for (done, index) in open.iter().enumerate() {
            let others = u32::try_from(open.len() - done).unwrap_or(u32::MAX);
            let share = options.limits.remaining().map_or(round, |remaining| round.min(remaining / others));
            let answer = many.ask(*index, &queries[*index], share, options);
            match answer.outcome {
                Outcome::Unknown(StopReason::Timeout) if options.limits.check().is_ok() => left.push(*index),
                _ => found(*index, &many.problem, answer),
            }
        }
        open = left;
        round = round.saturating_mul(GROWTH);
    }
    asked
}

/// A net with questions.
struct Many {
    /// The net, with the question that is asked.
    problem: Problem,
    /// The net reduced for all questions that were open, where that pays.
    reduced: Option<Reduced>,
    /// The targets of each question among those that the net was reduced for.
    ranges: Vec<Range<usize>>,
    /// Answers whose evidence was not there in time.
    without_evidence: Vec<Option<bool>>,
}

impl Many {
    fn new(net: Net, queries: &[Query]) -> Self {
        let problem = Problem { net, query: Query::default() };
        Self { problem, reduced: None, ranges: vec![0..0; queries.len()], without_evidence: vec![None; queries.len()] }
    }

    fn can_be_reduced(&self) -> bool {
        self.problem.net.inhibitors.is_empty() && self.problem.net.transitions.len() <= LARGEST_REDUCED
    }

    /// Reduces the net for the questions that are open.
    fn reduce(&mut self, queries: &[Query], open: &[usize], options: &Options) {
        let mut targets = Vec::new();
        for index in open {
            let start = targets.len();
            targets.extend(queries[*index].targets.iter().cloned());
            self.ranges[*index] = start..targets.len();
        }
        self.problem.query = Query { targets };
        let limits = options.limits.clone();
        self.reduced = Some(reduce(&self.problem, &ReductionOptions { limits, ..ReductionOptions::default() }));
    }

    fn size(&self, time: Duration) -> AskedNet {
        let net = self.reduced.as_ref().map_or(&self.problem.net, |reduced| &reduced.problem.net);
        AskedNet { places: net.places.len(), transitions: net.transitions.len(), seconds: time.as_secs_f64() }
    }

    /// Asks a question for so long. Its problem is the one at hand afterwards.
    fn ask(&mut self, index: usize, query: &Query, share: Duration, options: &Options) -> Answer {
        self.problem.query.clone_from(query);
        let mut answer = match self.ask_reduced(index, query, share, options) {
            Some(answer) => answer,
            None => self.ask_itself(query, share, options),
        };
        match &mut self.without_evidence[index] {
            Some(known) => answer.without_evidence = Some(*known),
            unknown => *unknown = answer.without_evidence,
        }
        if answer.outcome.is_coverable().is_some() {
            answer.without_evidence = None;
        }
        answer
    }

    /// Asks a question of the net itself.
    fn ask_itself(&mut self, query: &Query, share: Duration, options: &Options) -> Answer {
        self.problem.query.clone_from(query);
        match options.limits.check() {
            Ok(()) => solve(&self.problem, &within(options, share)),
            Err(reason) => Answer::none(reason, "auto"),
        }
    }

    /// Asks a question of the net itself for a moment, in deterministic mode with so much work.
    fn glance(&mut self, query: &Query, (time, work): (Duration, u64), options: &Options) -> Answer {
        let glancing = Options { work: options.deterministic.then_some(work), ..options.clone() };
        self.ask_itself(query, time, &glancing)
    }

    /// Asks a question of the reduced net. Nothing where there is none, or where evidence does not
    /// find its way back in time.
    fn ask_reduced(&mut self, index: usize, query: &Query, share: Duration, options: &Options) -> Option<Answer> {
        options.limits.check().ok()?;
        let reduced = self.reduced.as_ref()?.for_targets(self.ranges[index].clone());
        let answer = solve(&reduced.problem, &within(options, share));
        let is_coverable = answer.outcome.is_coverable();
        for (number, (work, glance)) in EFFORTS.into_iter().enumerate() {
            let taken_back = take_back(&reduced, &answer.outcome, work, share, options);
            let is_hopeless = match taken_back {
                Ok(Some(outcome)) => return Some(Answer { outcome, ..answer }),
                Ok(None) => true,
                Err(_) => false,
            };
            if number == 0 {
                self.without_evidence[index] = self.without_evidence[index].or(is_coverable);
                // Weights find their way back in linear time.
                if is_coverable == Some(false) {
                    let weights = Options { strategy: Some("state-equation"), ..within(options, share) };
                    let answer = solve(&reduced.problem, &weights);
                    if answer.outcome.is_coverable().is_some()
                        && let Ok(Some(outcome)) = take_back(&reduced, &answer.outcome, work, share, options)
                    {
                        return Some(Answer { outcome, ..answer });
                    }
                }
            }
            let glance = glance.filter(|_| !is_hopeless)?;
            let answer = self.glance(query, glance, options);
            if answer.outcome.is_coverable().is_some() {
                return Some(answer);
            }
        }
        None
    }
}

/// The outcome with its evidence taken back, within so much work and this time.
fn take_back(
    reduced: &Reduced,
    outcome: &Outcome,
    work: u64,
    share: Duration,
    options: &Options,
) -> Result<Option<Outcome>, StopReason> {
    reduced.take_back(outcome, &Budget::within(&within(options, share).limits).with_work(work))
}

/// The options with a limit for one question, which in deterministic mode is none.
fn within(options: &Options, share: Duration) -> Options {
    let limits =
        if options.deterministic { options.limits.clone() } else { options.limits.clone().with_timeout(share) };
    Options { limits, ..options.clone() }
}
