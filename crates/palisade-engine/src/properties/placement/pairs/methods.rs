//! The methods for pairs of statements [FM15, Sections 4 and 5].

use super::reordering::{Candidates, Pair, PairSet};
use super::search::{PairAnswer, PairQuery, search_pairs};
use crate::fences::Cost;
use crate::fences::covering::{all_cheapest, cheapest};
use crate::properties::known::Known;
use crate::properties::placement::rows::Run;
use crate::properties::targets;
use palisade_exploration::states::{Aim, Cut, Reach};
use palisade_model::limits::Limits;
use palisade_model::program::Program;
use palisade_semantics::{Instance, Model, Question, Target, ValueError};
use thiserror::Error;

/// How runs are asked for, and what is learned from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Runs that contain no set learned before.
    Te,
    /// Runs under a smallest set of bans that meets all sets learned.
    Fi,
    /// The same among runs with few reordered pairs.
    Robmc,
    /// The same with an early end.
    RobmcEt,
}

impl Method {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Te => "te",
            Self::Fi => "fi",
            Self::Robmc => "robmc",
            Self::RobmcEt => "robmc-et",
        }
    }
}

/// What to place, and how.
#[derive(Clone, Debug)]
pub struct PairOptions {
    /// The memory model: TSO or PSO.
    pub model: Model,
    /// The method.
    pub method: Method,
    /// The first and the last bound on reordered pairs; the last is the number of candidates where
    /// nothing is given.
    pub bound: (usize, Option<usize>),
    /// The targets; all of them when empty.
    pub targets: Vec<Target>,
    /// Whether to leave out first what does not matter for the targets. The paper has no such step.
    pub slice: bool,
    /// All smallest sets, at most so many; 0 for one.
    pub alternatives: usize,
    /// The largest bound on store buffers.
    pub buffer: usize,
    /// The states that one search visits at most.
    pub states: usize,
    /// Time, memory, interruption.
    pub limits: Limits,
}

/// What a method has found.
#[derive(Clone, Debug)]
pub struct PairPlacement {
    /// A smallest set of pairs whose ban keeps the program from its targets.
    pub bans: Vec<Pair>,
    /// The sets of reordered pairs learned, in order.
    pub learned: Vec<Vec<Pair>>,
    /// Culprits: minimal sets of pairs that a run to a target reorders, one within each set
    /// learned.
    pub culprits: Vec<Vec<Pair>>,
    /// All candidates.
    pub candidates: Vec<Pair>,
    /// Queries made.
    pub queries: usize,
    /// The states that they have seen.
    pub states: usize,
    /// The bounds asked, in order.
    pub bounds: Vec<usize>,
    /// Whether it is proved that the bans suffice.
    pub is_proved: bool,
    /// All smallest sets known, when asked for.
    pub alternatives: Vec<Vec<Pair>>,
}

/// Whether bans help, and which.
#[derive(Clone, Debug)]
pub enum PairsPlaced {
    /// These do, as far as it is proved.
    Valid(Box<PairPlacement>),
    /// A run without reordered pairs reaches a target: no ban helps.
    NoBanHelps(Run),
}

/// Why a method has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MethodError {
    /// A reachable step has no value.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The searches need fixed numbers of copies.
    #[error("pairs are banned for fixed numbers of copies")]
    AnyNumber,
    /// A search was left before its end.
    #[error("{0}")]
    Unfinished(String),
}

/// The most copies of which runs are sought, each with a state of its own.
const MOST_COPIES: u64 = 4096;

/// Places bans on pairs.
pub fn place_pairs(
    program: &Program,
    question: Option<&Question>,
    options: &PairOptions,
) -> Result<PairsPlaced, MethodError> {
    let instance = Instance::of(program).ok_or(MethodError::AnyNumber)?;
    if instance.total() > MOST_COPIES {
        return Err(MethodError::Unfinished(format!("runs of more than {MOST_COPIES} copies are not listed")));
    }
    let asked = if options.targets.is_empty() { targets(program, question) } else { options.targets.clone() };
    let known = Known::of(program);
    let aim = if options.slice {
        Aim::new(program, asked, question, known.bounds(program), false)
    } else {
        Aim::whole(program, asked, question)
    };
    let candidates = Candidates::of(&aim.program, options.model);
    let mut methods = Methods {
        instance: &instance,
        aim: &aim,
        candidates: &candidates,
        options,
        learned: Vec::new(),
        queries: 0,
        states: 0,
        bounds: Vec::new(),
    };
    let ended = match options.method {
        Method::Te => methods.te(),
        Method::Fi => methods.fi(),
        Method::Robmc | Method::RobmcEt => methods.robmc(),
    };
    match ended {
        Ok(is_proved) => {
            let (queries, states) = (methods.queries, methods.states);
            let culprits = methods.culprits();
            // What is asked to tell culprits from innocent pairs is no part of the method.
            (methods.queries, methods.states) = (queries, states);
            Ok(PairsPlaced::Valid(Box::new(methods.placement(is_proved, &culprits)?)))
        }
        Err(Broken::NoBanHelps(run)) => Ok(PairsPlaced::NoBanHelps(run)),
        Err(Broken::Error(error)) => Err(error),
    }
}

/// Why the rounds of a method end before no run is left.
enum Broken {
    NoBanHelps(Run),
    Error(MethodError),
}

/// What a round has found.
enum Round {
    Learned,
    NoneLeft { cut_by_bound: bool },
}

struct Methods<'a> {
    instance: &'a Instance,
    aim: &'a Aim<'a>,
    candidates: &'a Candidates,
    options: &'a PairOptions,
    learned: Vec<PairSet>,
    queries: usize,
    states: usize,
    bounds: Vec<usize>,
}

impl Methods<'_> {
    /// [FM15, Alg. 1].
    fn te(&mut self) -> Result<bool, Broken> {
        loop {
            let learned = self.learned.clone();
            let nothing = self.candidates.nothing();
            if let Round::NoneLeft { .. } = self.ask(&nothing, &learned, None)? {
                return Ok(true);
            }
        }
    }

    /// [FM15, Alg. 2].
    fn fi(&mut self) -> Result<bool, Broken> {
        loop {
            let bans = self.smallest()?;
            if let Round::NoneLeft { .. } = self.ask(&bans, &[], None)? {
                return Ok(true);
            }
        }
    }

    /// [FM15, Alg. 3 and 4].
    fn robmc(&mut self) -> Result<bool, Broken> {
        let all = self.candidates.pairs.len();
        let (first, last) = (self.options.bound.0, self.options.bound.1.unwrap_or(all));
        let mut bound = first.min(last);
        self.bounds.push(bound);
        loop {
            let bans = self.smallest()?;
            let Round::NoneLeft { cut_by_bound } = self.ask(&bans, &[], Some(bound))? else { continue };
            let ends_early = self.options.method == Method::RobmcEt && !cut_by_bound;
            if ends_early || bound >= last {
                return Ok(!cut_by_bound);
            }
            bound = (2 * bound).max(1).min(last);
            self.bounds.push(bound);
        }
    }

    /// A smallest set of pairs that meets all sets learned.
    fn smallest(&self) -> Result<PairSet, Broken> {
        let costs = vec![Cost::one(); self.candidates.pairs.len()];
        let cheapest = cheapest(&self.learned, &costs, &self.options.limits);
        cheapest.map(|found| found.set).map_err(|(reason, _)| unfinished(reason))
    }

    /// For each set learned, a minimal set of pairs within it that a run to a target reorders. A
    /// pair is let go when such a run is there without it; what cannot be decided stays.
    fn culprits(&mut self) -> Vec<PairSet> {
        let mut culprits: Vec<PairSet> = Vec::new();
        for learned in self.learned.clone() {
            if culprits.iter().any(|known| known.is_subset(&learned)) {
                continue;
            }
            let mut left = learned.clone();
            for pair in learned.ones() {
                let mut banned = self.candidates.nothing();
                banned.insert_range(..);
                banned.difference_with(&left);
                banned.insert(pair);
                let known = self.learned.len();
                if left.contains(pair) && matches!(self.ask(&banned, &[], None), Ok(Round::Learned)) {
                    left = self.learned.remove(known);
                }
            }
            culprits.push(left);
        }
        culprits
    }

    fn ask(&mut self, banned: &PairSet, avoided: &[PairSet], most: Option<usize>) -> Result<Round, Broken> {
        let query = PairQuery { candidates: self.candidates, banned, avoided, most };
        self.queries += 1;
        let mut capacity = 4.min(self.options.buffer);
        loop {
            let reach = Reach { capacity, states: self.options.states, limits: self.options.limits.clone() };
            let program = &self.aim.program;
            match search_pairs(program, self.instance, self.options.model, self.aim, &query, &reach) {
                PairAnswer::Reached { target, steps, pairs } => {
                    if pairs.is_clear() {
                        let (instance, model) = (self.instance.clone(), self.options.model);
                        return Err(Broken::NoBanHelps(Run { instance, model, target, steps }));
                    }
                    self.learned.push(pairs);
                    return Ok(Round::Learned);
                }
                PairAnswer::Closed { states, cut_by_bound } => {
                    self.states += states;
                    return Ok(Round::NoneLeft { cut_by_bound });
                }
                PairAnswer::Cut(Cut::Buffers(_)) if capacity < self.options.buffer => {
                    capacity = (2 * capacity).min(self.options.buffer);
                }
                PairAnswer::Cut(Cut::Value(error)) => return Err(Broken::Error(error.into())),
                PairAnswer::Cut(Cut::Buffers(stores)) => {
                    return Err(unfinished(format!("buffers hold more than {stores} stores")));
                }
                PairAnswer::Cut(Cut::States(states)) => {
                    return Err(unfinished(format!("there are more than {states} states")));
                }
                PairAnswer::Cut(Cut::Limit(reason)) => return Err(unfinished(reason)),
                PairAnswer::Cut(Cut::Slice) => unreachable!("slices for pairs assume nothing"),
            }
        }
    }

    fn placement(self, is_proved: bool, culprits: &[PairSet]) -> Result<PairPlacement, MethodError> {
        let pairs = |set: &PairSet| set.ones().map(|number| self.candidates.pairs[number]).collect::<Vec<_>>();
        let limits = &self.options.limits;
        let costs = vec![Cost::one(); self.candidates.pairs.len()];
        let stopped = |reason: &dyn std::fmt::Display| MethodError::Unfinished(reason.to_string());
        let bans = cheapest(&self.learned, &costs, limits).map_err(|(reason, _)| stopped(&reason))?.set;
        let mut alternatives = Vec::new();
        if self.options.alternatives > 0 {
            let all = all_cheapest(&self.learned, &costs, &bans, self.options.alternatives, limits);
            alternatives = all.map_err(|reason| stopped(&reason))?.0.iter().map(pairs).collect();
        }
        Ok(PairPlacement {
            bans: pairs(&bans),
            learned: self.learned.iter().map(pairs).collect(),
            culprits: culprits.iter().map(pairs).collect(),
            candidates: self.candidates.pairs.clone(),
            queries: self.queries,
            states: self.states,
            bounds: self.bounds,
            is_proved,
            alternatives,
        })
    }
}

fn unfinished(reason: impl std::fmt::Display) -> Broken {
    Broken::Error(MethodError::Unfinished(reason.to_string()))
}
