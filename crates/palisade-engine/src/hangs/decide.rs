//! The methods in their order.

use super::any_number::any_number;
use super::asking::{Answered, Asking, Explored, Seen};
use super::graphs::stuck_graph;
use super::{HangOptions, Hangs, Method, Verdict, Why};
use palisade_exploration::buffered::Order;
use palisade_exploration::instrumented::Fault;
use palisade_model::limits::{Halt, StopReason};
use palisade_model::program::{Heading, Program};
use palisade_semantics::{Instance, Model};

/// Looks for stuck states of a program.
///
/// # Errors
///
/// A [`Fault`] when a reachable step has no meaning, or values grow in a fixed number of copies.
///
/// # Panics
///
/// If the program has events or tasks.
pub fn hangs(program: &Program, options: &HangOptions) -> Result<Hangs, Fault> {
    assert!(!program.is_event_driven(), "hangs are those of threads, and the program has events or tasks");
    let untimed = options.ignore_timeouts.then(|| program.ignoring_timeouts());
    let program = untimed.as_ref().unwrap_or(program);
    if let Some(axioms) = options.graphs {
        return stuck_graph(program, axioms, options);
    }
    let mut found = Found::of(program, options);
    if matches!(found.answered, Ok((Verdict::Stuck(_), _))) && options.rest_between_rounds {
        found = Found::of(&program.resting_between_rounds(), options);
        if let Ok((verdict @ Verdict::Free(_), _)) = &mut found.answered {
            *verdict = Verdict::Unknown(Why::BetweenRounds);
        }
    }
    let guessed = || Some((*Heading::of(&program.source)?.guesses.first()?).to_owned());
    let (verdict, Seen { never_resting, is_endless }) = match found.answered {
        // The checker rejects a computation that rests on a guess.
        Ok((Verdict::Stuck(_) | Verdict::Unknown(Why::NotReplayed), _)) if let Some(place) = guessed() => {
            (Verdict::Unknown(Why::Guessed(place)), Seen::default())
        }
        Ok(found) => found,
        Err(Halt::Stopped(reason)) => (Verdict::Unknown(Why::Stopped(reason)), Seen::default()),
        Err(Halt::Fault(fault)) => return Err(fault),
    };
    Ok(Hangs { verdict, by: found.by, states: found.states, never_resting, is_endless })
}

/// What was found of a program, and how.
struct Found {
    answered: Result<Answered, Halt<Fault>>,
    by: Method,
    states: usize,
}

impl Found {
    fn of(program: &Program, options: &HangOptions) -> Self {
        let mut asking = Asking { program, options, states: 0, by: Method::Sc };
        let answered = match Instance::of(program) {
            Some(instance) => asking.fixed(&instance),
            None => any_number(&mut asking),
        };
        Self { answered, by: asking.by, states: asking.states }
    }
}

/// Configurations explored with buffers before robustness is asked about.
const BUFFERS_FIRST: u64 = 20_000;

impl<'a> Asking<'a> {
    /// Fixed numbers of copies.
    fn fixed(&mut self, instance: &Instance) -> Result<Answered, Halt<Fault>> {
        let (program, model) = (self.program, self.options.model);
        let sc = match self.explore(program, Some(instance), self.shape(Order::Sc, 0, 0), self.options.most)? {
            Explored::Stuck(stuck) => return Ok((Verdict::Stuck(stuck), Seen::default())),
            Explored::Open(why) => return Ok((Verdict::Unknown(why), Seen::default())),
            Explored::Free(sc) => sc,
        };
        if model == Model::Sc {
            return self.free(sc, None);
        }
        let mut last = Why::Stopped(StopReason::Budget);
        for nodes in [Some(BUFFERS_FIRST), self.options.most] {
            match self.buffers(instance, nodes)? {
                Explored::Stuck(stuck) => return Ok((Verdict::Stuck(stuck), Seen::default())),
                Explored::Free(found) => return self.free(found, None),
                Explored::Open(why) => last = why,
            }
            if nodes == Some(BUFFERS_FIRST)
                && let Some(robust) = self.robust(None)?
            {
                self.by = Method::ScRobust;
                return self.free(sc, Some(robust));
            }
        }
        Ok((Verdict::Unknown(last), Seen::default()))
    }

    /// Store buffers with room for 2, 4, 8, … stores.
    fn buffers(&mut self, instance: &Instance, nodes: Option<u64>) -> Result<Explored<'a>, Halt<Fault>> {
        self.by = Method::Buffers;
        let mut capacity = 2.min(self.options.buffer);
        loop {
            let shape = self.shape(self.options.model.into(), capacity, 0);
            match self.explore(self.program, Some(instance), shape, nodes)? {
                Explored::Open(Why::BuffersLonger(_)) if capacity < self.options.buffer => {
                    capacity = (2 * capacity).min(self.options.buffer);
                }
                explored => return Ok(explored),
            }
        }
    }
}
