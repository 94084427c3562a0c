//! The methods in their order.

use super::any_number::any_number;
use super::replay::{Stuck, follow};
use super::{HangOptions, Hangs, Method, Verdict, Why};
use crate::robustness::{self, CheckOptions, certificate, check_pso_within, check_quickly, not_for_pso};
use palisade_evidence::{FreeCertificate, WhyRobust};
use palisade_exploration::buffered::Order;
use palisade_exploration::hangs::{Search, Shape, search};
use palisade_exploration::instrumented::Fault;
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::Program;
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
    let mut asking = Asking { program, options, states: 0, by: Method::Sc };
    let found = match Instance::of(program) {
        Some(instance) => asking.fixed(&instance),
        None => any_number(&mut asking),
    };
    let (verdict, never_resting) = match found {
        Ok(found) => found,
        Err(Halt::Stopped(reason)) => (Verdict::Unknown(Why::Stopped(reason)), Vec::new()),
        Err(Halt::Fault(fault)) => return Err(fault),
    };
    Ok(Hangs { verdict, by: asking.by, states: asking.states, never_resting })
}

/// A verdict, with the threads that neither end nor wait.
pub(super) type Answered = (Verdict, Vec<palisade_model::program::ThreadId>);

/// Configurations explored with buffers before robustness is asked about.
const BUFFERS_FIRST: u64 = 20_000;

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
        Shape { order, capacity, values: self.options.values, most }
    }

    /// Explores a program, this one or an instance of it.
    pub(super) fn explore<'p>(
        &mut self,
        program: &'p Program,
        instance: Option<&Instance>,
        shape: Shape,
        nodes: Option<u64>,
    ) -> Result<Explored<'p>, Halt<Fault>> {
        let budget = Budget::within(&self.options.limits).with_work(nodes);
        let mut found = match search(program, shape, &budget) {
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
        let followed = instance.and_then(|instance| follow(self.program, &mut found, instance, self.options.model));
        Ok(match followed {
            Some(stuck) => Explored::Stuck(Box::new(stuck)),
            None if instance.is_none() => Explored::Open(Why::CountsTooFew(shape.most)),
            None => Explored::Open(Why::NotReplayed),
        })
    }

    /// Fixed numbers of copies.
    fn fixed(&mut self, instance: &Instance) -> Result<Answered, Halt<Fault>> {
        let (program, model) = (self.program, self.options.model);
        let sc = match self.explore(program, Some(instance), self.shape(Order::Sc, 0, 0), None)? {
            Explored::Stuck(stuck) => return Ok((Verdict::Stuck(stuck), Vec::new())),
            Explored::Open(why) => return Ok((Verdict::Unknown(why), Vec::new())),
            Explored::Free(sc) => sc,
        };
        if model == Model::Sc {
            return self.free(sc, None);
        }
        let mut last = Why::Stopped(StopReason::Budget);
        for nodes in [Some(BUFFERS_FIRST), None] {
            match self.buffers(instance, nodes)? {
                Explored::Stuck(stuck) => return Ok((Verdict::Stuck(stuck), Vec::new())),
                Explored::Free(found) => return self.free(found, None),
                Explored::Open(why) => last = why,
            }
            if nodes.is_some()
                && let Some(robust) = self.robust(None)?
            {
                self.by = Method::ScRobust;
                return self.free(sc, Some(robust));
            }
        }
        Ok((Verdict::Unknown(last), Vec::new()))
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

    /// Why interleavings are enough; nothing where that is not known.
    pub(super) fn robust(&mut self, nodes: Option<u64>) -> Result<Option<WhyRobust>, Halt<Fault>> {
        // Delays that are accepted are no less executions for that.
        if !self.program.accepted.is_empty() {
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
        let never_resting = found.never_resting().map_err(Halt::Fault)?;
        let certificate = FreeCertificate { model: self.options.model, robust, set: found.closed_set() };
        Ok((Verdict::Free(Box::new(certificate)), never_resting))
    }
}
