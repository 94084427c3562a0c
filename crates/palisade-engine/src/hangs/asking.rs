//! One program that is asked about: explorations, robustness, and the answers that they give.

use super::replay::{Stuck, follow};
use super::{HangOptions, Method, Verdict, Why};
use crate::robustness::{self, CheckOptions, certificate, check_pso_within, check_quickly, not_for_pso};
use palisade_evidence::{FreeCertificate, WhyRobust};
use palisade_exploration::buffered::Order;
use palisade_exploration::hangs::{Search, Shape, search, search_counting};
use palisade_exploration::instrumented::Fault;
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::{Program, Queue, ThreadId};
use palisade_semantics::{Instance, Model};
use std::sync::Arc;

/// A verdict, and what was seen beside it.
pub(super) type Answered = (Verdict, Seen);

/// What an exploration to the end has seen, and has not.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The threads that neither end nor wait.
    pub(super) never_resting: Vec<ThreadId>,
    /// Whether somebody goes on in every state.
    pub(super) is_endless: bool,
}

/// A program that is asked about.
pub(super) struct Asking<'a> {
    pub(super) program: &'a Program,
    pub(super) options: &'a HangOptions,
    pub(super) states: usize,
    pub(super) by: Method,
}

/// How an exploration ended.
pub(super) enum Explored<'p> {
    /// A stuck state, and the computation to it.
    Stuck(Box<Stuck>),
    /// All was explored, and nothing is stuck.
    Free(Search<'p>),
    /// Neither is shown.
    Open(Why),
}

impl<'a> Asking<'a> {
    /// The shape of an exploration.
    pub(super) fn shape(&self, order: Order, capacity: usize, most: u64) -> Shape {
        Shape { order, capacity, values: self.options.values, most, leaves_out: false }
    }

    /// Explores a program, this one or an instance of it.
    pub(super) fn explore<'p>(
        &mut self,
        program: &'p Program,
        instance: Option<&Instance>,
        shape: Shape,
        nodes: Option<u64>,
    ) -> Result<Explored<'p>, Halt<Fault>> {
        let within = |nodes| Budget::within(&self.options.limits).with_work(nodes);
        let mut found = Err(Halt::Stopped(StopReason::Budget));
        if instance.is_some() {
            let first = nodes.unwrap_or(u64::MAX).min(self.options.all_steps);
            found = search(program, shape, &within(Some(first)));
        }
        if let Err(Halt::Stopped(StopReason::Budget)) = found {
            found = search(program, Shape { leaves_out: instance.is_some(), ..shape }, &within(nodes));
        }
        let mut found = match found {
            Err(Halt::Stopped(StopReason::Budget)) if nodes.is_some() => {
                return Ok(Explored::Open(Why::Stopped(StopReason::Budget)));
            }
            found => found?,
        };
        self.states += found.len();
        if found.is_free() {
            return Ok(Explored::Free(found));
        }
        if found.stuck().is_none() {
            let why = if found.has_closed_lock { Why::LockedForEver } else { Why::BuffersLonger(shape.capacity) };
            return Ok(Explored::Open(why));
        }
        let followed = instance.and_then(|instance| follow(self.program, &mut found, instance, self.options));
        Ok(match followed {
            Some(stuck) => Explored::Stuck(Box::new(stuck)),
            None if instance.is_none() => Explored::Open(Why::CountsTooFew(shape.most)),
            None => Explored::Open(Why::NotReplayed),
        })
    }

    /// Explores the program with counters told apart up to the number of the shape; nothing where
    /// that shows nothing.
    pub(super) fn explore_counting(
        &mut self,
        shape: Shape,
        nodes: Option<u64>,
    ) -> Result<Option<Search<'a>>, Halt<Fault>> {
        let budget = Budget::within(&self.options.limits).with_work(nodes);
        let found = match search_counting(self.program, shape, &budget) {
            Err(Halt::Stopped(StopReason::Budget)) if nodes.is_some() => return Ok(None),
            Err(Halt::Fault(fault)) if fault.is_growth() => return Ok(None),
            found => found?,
        };
        self.states += found.as_ref().map_or(0, Search::len);
        Ok(found.filter(Search::is_free))
    }

    /// Why interleavings are enough; nothing where that is not known.
    pub(super) fn robust(&mut self, nodes: Option<u64>) -> Result<Option<WhyRobust>, Halt<Fault>> {
        // Delays that are accepted are no less executions for that.
        let is_short = self.options.most.is_some_and(|most| most < WITH_ROBUSTNESS);
        if is_short || !self.program.accepted.is_empty() || !traces_tell_sleepers(self.program) {
            return Ok(None);
        }
        let (program, values, limits) = (self.program, self.options.values, &self.options.limits);
        match self.options.model {
            Model::Sc => Ok(None),
            Model::Tso => {
                let options = CheckOptions { values, limits: limits.clone(), ..CheckOptions::default() };
                // A step without a value that TSO alone reaches is for buffers to show.
                let Ok(checked) = check_quickly(program, &options) else { return Ok(None) };
                self.states += checked.markings;
                let is_robust = matches!(checked.verdict, robustness::Verdict::Robust);
                let robust = certificate(program, &checked).filter(|_| is_robust);
                Ok(robust.map(|robust| WhyRobust::Tso(Box::new(robust))))
            }
            Model::Pso if not_for_pso(program).is_some() => Ok(None),
            Model::Pso => {
                let nodes = nodes.unwrap_or(u64::MAX);
                let Ok(checked) = check_pso_within(program, values, limits, nodes) else { return Ok(None) };
                self.states += checked.configurations;
                let is_robust = matches!(checked.verdict, robustness::Verdict::Robust);
                Ok(checked.certificate.filter(|_| is_robust).map(|robust| WhyRobust::Pso(Box::new(robust))))
            }
        }
    }

    /// The answer that an exploration to the end gives.
    pub(super) fn free(&mut self, mut found: Search<'_>, robust: Option<WhyRobust>) -> Result<Answered, Halt<Fault>> {
        let seen = Seen { never_resting: found.never_resting().map_err(Halt::Fault)?, is_endless: !found.has_end };
        let HangOptions { model, ignore_timeouts: ignores_timeouts, .. } = *self.options;
        let certificate = FreeCertificate {
            model,
            graphs: None,
            ignores_timeouts,
            is_hopeful: false,
            robust,
            set: found.closed_set(),
        };
        Ok((Verdict::Free(Arc::new(certificate)), seen))
    }
}

/// With fewer configurations for an exploration, robustness would take longer than all else.
const WITH_ROBUSTNESS: u64 = 4_000;

/// Whether traces tell who sleeps: each copy falls asleep by an update of the address at which it
/// sleeps, and is woken with all others there. A wake-up of one may wake another one where the same
/// trace runs in another order.
fn traces_tell_sleepers(program: &Program) -> bool {
    program.threads.iter().flat_map(|thread| &thread.instructions).all(|instruction| match instruction.queue() {
        None => true,
        Some(Queue::Sleep { address }) => instruction.action.address() == Some(address),
        Some(Queue::Wake { all, .. }) => *all,
    })
}
