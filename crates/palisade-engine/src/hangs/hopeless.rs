//! Does somebody wait whom no way lets go on, while others may go on for ever? Asked of fixed
//! numbers.
//!
//! Interleavings answer under SC, and store buffers under TSO and PSO where no store waits for
//! room. *A robust program has hopeless copies under TSO (PSO) only if it has them under SC.* Let a
//! copy be hopeless in a state under TSO. Drain all buffers: it is hopeless there, too, and that
//! state is one of SC. If an interleaving from there lets the copy go on, so does TSO, which has
//! all interleavings. ∎ It rests on traces that tell who sleeps, as for stuck states.

use super::asking::Asking;
use super::replay::follow;
use super::{HangOptions, Hangs, Method, Verdict, Why};
use palisade_evidence::{FreeCertificate, WhyRobust};
use palisade_exploration::buffered::Order;
use palisade_exploration::hangs::{Search, search_hopeless};
use palisade_exploration::instrumented::Fault;
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::{Action, Heading, Program};
use palisade_semantics::{Instance, Model};
use std::sync::Arc;

/// Configurations explored with buffers before robustness is asked about.
const BUFFERS_FIRST: u64 = 20_000;

/// Looks for a copy that waits whatever is done.
///
/// # Errors
///
/// A [`Fault`] when a reachable step has no meaning, or values grow.
///
/// # Panics
///
/// If the program has events or tasks.
pub fn hopeless(program: &Program, options: &HangOptions) -> Result<Hangs, Fault> {
    assert!(!program.is_event_driven(), "hangs are those of threads, and the program has events or tasks");
    let mut asked = if options.ignore_timeouts { program.ignoring_timeouts() } else { program.clone() };
    // What holds in the end is another question.
    asked.finally.clear();
    let mut asking = Asking { program: &asked, options, states: 0, by: Method::Sc };
    let answered = match Instance::of(&asked) {
        _ if has_sections(&asked) => Ok(Verdict::Unknown(Why::Sections)),
        Some(instance) => asking.hopeless(&instance),
        None => Ok(Verdict::Unknown(Why::AnyNumber)),
    };
    let guessed = || Some((*Heading::of(&program.source)?.guesses.first()?).to_owned());
    let verdict = match answered {
        Ok(Verdict::Stuck(_) | Verdict::Unknown(Why::NotReplayed)) if let Some(place) = guessed() => {
            Verdict::Unknown(Why::Guessed(place))
        }
        Ok(verdict) => verdict,
        Err(Halt::Stopped(reason)) => Verdict::Unknown(Why::Stopped(reason)),
        Err(Halt::Fault(fault)) => return Err(fault),
    };
    let (never_resting, is_endless) = (Vec::new(), false);
    Ok(Hangs { verdict, by: asking.by, states: asking.states, never_resting, is_endless })
}

/// Whether some thread locks memory. Inside of a section a copy always does something, as it gives
/// the lock back, which is no hope for what it waits for.
fn has_sections(program: &Program) -> bool {
    let mut actions = program.threads.iter().flat_map(|thread| &thread.instructions).map(|own| &own.action);
    actions.any(|action| *action == Action::Lock)
}

impl<'a> Asking<'a> {
    fn hopeless(&mut self, instance: &Instance) -> Result<Verdict, Halt<Fault>> {
        let model = self.options.model;
        let mut sc = self.look(Order::Sc, 0, self.options.most)?;
        if model == Model::Sc {
            return Ok(self.told(&mut sc, instance));
        }
        let mut last = Why::Stopped(StopReason::Budget);
        for nodes in [Some(BUFFERS_FIRST), self.options.most] {
            self.by = Method::Buffers;
            let mut capacity = 2.min(self.options.buffer);
            loop {
                match self.look(model.into(), capacity, nodes) {
                    Ok(mut found) if found.is_whole() => return Ok(self.told(&mut found, instance)),
                    Ok(_) if capacity < self.options.buffer => {
                        capacity = (2 * capacity).min(self.options.buffer);
                        continue;
                    }
                    Ok(found) if found.has_closed_lock => return Ok(Verdict::Unknown(Why::LockedForEver)),
                    Ok(_) => last = Why::BuffersLonger(capacity),
                    Err(Halt::Stopped(StopReason::Budget)) if nodes.is_some() => {}
                    Err(halt) => return Err(halt),
                }
                break;
            }
            if nodes == Some(BUFFERS_FIRST)
                && sc.is_free()
                && let Some(robust) = self.robust(None)?
            {
                self.by = Method::ScRobust;
                return Ok(self.hopeful(&sc, Some(robust)));
            }
        }
        Ok(Verdict::Unknown(last))
    }

    /// Explores to the end, and looks for a copy without hope.
    fn look(&mut self, order: Order, capacity: usize, nodes: Option<u64>) -> Result<Search<'a>, Halt<Fault>> {
        let budget = Budget::within(&self.options.limits).with_work(nodes);
        let found = search_hopeless(self.program, self.shape(order, capacity, 0), &budget)?;
        self.states += found.len();
        Ok(found)
    }

    /// The answer of an exploration of which all is known.
    fn told(&self, found: &mut Search<'_>, instance: &Instance) -> Verdict {
        if found.has_closed_lock {
            return Verdict::Unknown(Why::LockedForEver);
        }
        if found.is_free() {
            return self.hopeful(found, None);
        }
        match follow(self.program, found, instance, self.options) {
            Some(stuck) => Verdict::Stuck(Box::new(stuck)),
            None => Verdict::Unknown(Why::NotReplayed),
        }
    }

    fn hopeful(&self, found: &Search<'_>, robust: Option<WhyRobust>) -> Verdict {
        let HangOptions { model, ignore_timeouts: ignores_timeouts, .. } = *self.options;
        let (graphs, set) = (None, found.closed_set());
        Verdict::Free(Arc::new(FreeCertificate { model, graphs, ignores_timeouts, is_hopeful: true, robust, set }))
    }
}
