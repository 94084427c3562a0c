//! Several questions about one net: the net is reduced once for all of them, and each is asked of what is left.
//!
//! Time is dealt out in rounds: in each round every question that is open may take so long, and eight times as long in the next. So a question
//! that is never answered does not keep the others waiting, and the answers that come soon come first.

use super::reduction::{Reduced, ReductionOptions, reduce};
use super::{Answer, Options, Outcome, Statistics, solve};
use palisade_model::limits::StopReason;
use palisade_model::net::{Net, Problem, Query};
use std::ops::Range;
use std::time::{Duration, Instant};

/// How long each question may take in the first round.
const FIRST_ROUND: Duration = Duration::from_secs(1);

/// How much longer each round is.
const GROWTH: u32 = 8;

/// Larger nets are not reduced: it would take longer than many an answer. Slicing, which each question has for itself, leaves
/// out what does not matter.
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

/// Answers questions about a net. Each answer is handed over as soon as it is there, with the number of its question and with the problem that it
/// is about, which has the whole net.
pub fn solve_all(
    net: Net,
    queries: &[Query],
    options: &Options,
    mut found: impl FnMut(usize, &Problem, Answer),
) -> AskedNet {
    let begin = Instant::now();
    let mut many = Many::new(net, queries, options);
    let asked = many.size(begin.elapsed());
    let mut open: Vec<usize> = (0..queries.len()).collect();
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
    /// The net reduced for all questions, where that pays.
    reduced: Option<Reduced>,
    /// The targets of each question among those of all.
    ranges: Vec<Range<usize>>,
}

impl Many {
    fn new(net: Net, queries: &[Query], options: &Options) -> Self {
        let mut end = 0;
        let range = |query: &Query| {
            let start = end;
            end += query.targets.len();
            start..end
        };
        let ranges = queries.iter().map(range).collect();
        let targets = queries.iter().flat_map(|query| query.targets.iter().cloned()).collect();
        let problem = Problem { net, query: Query { targets } };
        let pays = queries.len() > 1 && problem.net.transitions.len() <= LARGEST_REDUCED;
        let reduced = pays.then(|| {
            let limits = options.limits.clone();
            reduce(&problem, &ReductionOptions { limits, ..ReductionOptions::default() })
        });
        Self { problem, reduced, ranges }
    }

    fn size(&self, time: Duration) -> AskedNet {
        let net = self.reduced.as_ref().map_or(&self.problem.net, |reduced| &reduced.problem.net);
        AskedNet { places: net.places.len(), transitions: net.transitions.len(), seconds: time.as_secs_f64() }
    }

    /// Asks a question for so long. Its problem is the one at hand afterwards.
    fn ask(&mut self, index: usize, query: &Query, share: Duration, options: &Options) -> Answer {
        self.problem.query.clone_from(query);
        if let Err(reason) = options.limits.check() {
            return Answer { outcome: Outcome::Unknown(reason), strategy: "auto", statistics: Statistics::default() };
        }
        let mut options = options.clone();
        if !options.deterministic {
            options.limits = options.limits.with_timeout(share);
        }
        let reduced = self.reduced.as_ref().map(|reduced| reduced.for_targets(self.ranges[index].clone()));
        let on_reduced = reduced.and_then(|reduced| {
            let Answer { outcome, strategy, statistics } = solve(&reduced.problem, &options);
            let outcome = match outcome {
                Outcome::Coverable(run) => Outcome::Coverable(reduced.back.run(&run)?),
                Outcome::Uncoverable(certificate) => Outcome::Uncoverable(reduced.back.certificate(&certificate)?),
                unknown @ Outcome::Unknown(_) => unknown,
            };
            Some(Answer { outcome, strategy, statistics })
        });
        // A net that is not reduced, or evidence that does not find its way back.
        on_reduced.unwrap_or_else(|| solve(&self.problem, &options))
    }
}
