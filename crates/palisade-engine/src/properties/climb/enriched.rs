//! The rung `enriched`: a program enriched for the loads of its feasible attacks, until it is
//! robust.

use super::{Asked, Climb, UNFINISHED};
use crate::decide::schedule::FIRST_CAPACITY;
use crate::properties::enrich::{Enriched, Place, SliceFacts};
use crate::properties::{Rung, Why};
use crate::robustness::{AttackOutcome, Check, Verdict, certificate};
use palisade_evidence::{PropertyReason, RobustCertificate};
use palisade_exploration::buffered::{Goal, Known, Order, search};
use palisade_exploration::instrumented::Fault;
use palisade_model::limits::{Halt, StopReason};
use palisade_model::program::InstructionId;
use palisade_semantics::{Model, Target};
use std::collections::BTreeSet;

/// What a program is enriched for.
#[derive(Clone, Debug)]
pub(super) struct Enrichment {
    /// Loads that overtake stores to some effect.
    loads: BTreeSet<Place>,
    /// How many stores a thread can keep.
    room: usize,
    /// Why the program enriched for these is robust, once that is known.
    certificate: Option<RobustCertificate>,
}

impl Enrichment {
    /// For nothing, with room for so many stores at most.
    pub(super) fn new(most: usize) -> Self {
        Self { loads: BTreeSet::new(), room: FIRST_CAPACITY.min(most), certificate: None }
    }

    /// Notes the loads of the attacks that are feasible; whether there are new ones.
    pub(super) fn note(&mut self, checked: &Check<'_>, origin: impl Fn(Place) -> Option<Place>) -> bool {
        let feasible = checked.attacks.iter().filter(|report| report.outcome == AttackOutcome::Feasible);
        let known = self.loads.len();
        self.loads.extend(feasible.filter_map(|report| origin((report.attack.thread, report.attack.load))));
        self.loads.len() > known
    }
}

impl Climb<'_, '_> {
    /// The program enriched for more and more loads, with room for 2, 4, 8, … stores. This proves
    /// only.
    ///
    /// A step without a value is reported where it is a step of the program.
    pub(super) fn enriched(&mut self, nodes: u64) -> Result<Why, Halt<Fault>> {
        if self.options.model != Model::Tso || self.goal.final_states().is_some() {
            return Ok(Why::NotForThis);
        }
        loop {
            let Enrichment { loads, room, .. } = &self.enrichment;
            let room = *room;
            let facts = SliceFacts { bounds: self.bounds, written: &self.slice.written };
            let Some(enriched) = Enriched::of(self.sliced, loads, room, facts) else {
                return Ok(Why::NotForThis);
            };
            if self.enrichment.certificate.is_none() {
                let checked = match self.check_robust(&enriched.program) {
                    Err(Halt::Fault(_)) => return Ok(Why::NotForThis),
                    checked => checked?,
                };
                match checked.verdict {
                    Verdict::NotRobust if self.enrichment.note(&checked, |place| enriched.origin(place)) => continue,
                    Verdict::NotRobust => return Ok(Why::NotRobust),
                    Verdict::Unknown(reason) => return Ok(Why::Stopped(reason)),
                    Verdict::Robust => self.enrichment.certificate = certificate(&enriched.program, &checked),
                }
            }
            let goal = Goal::new(enriched.targets(&self.goal.targets), None);
            let known = Known { silent: &BTreeSet::new(), forbidden: &self.slice.written, bounds: None };
            let shape = self.shape(Order::Sc, usize::MAX);
            let found = match search(&enriched.program, &goal, known, shape, &self.budget(nodes)) {
                Err(Halt::Stopped(StopReason::Budget)) if nodes < u64::MAX => return Ok(UNFINISHED),
                Err(Halt::Fault(_)) => return Ok(Why::NotForThis),
                found => found?,
            };
            self.proof.states += found.explored.len();
            self.stop_if_strayed(&found)?;
            let reached = found.reached.keys().map(|number| enriched.stands_for(goal.targets[*number as usize]));
            let reached: BTreeSet<Option<Target>> = reached.collect();
            if reached.contains(&None) {
                if room >= self.options.buffer {
                    return Ok(Why::BuffersLonger(room));
                }
                self.enrichment.room = (2 * room).min(self.options.buffer);
                self.enrichment.certificate = None;
                continue;
            }
            if !found.is_closed() {
                return Ok(Why::ReachedOnly);
            }
            let reason = PropertyReason::Enriched {
                loads: self.loads_by_thread(),
                room,
                certificate: Box::new(self.enrichment.certificate.clone().expect("it is robust")),
                sc: found.closed_set(),
            };
            let asked = Asked { rung: Rung::Enriched, buffer: Some(room) };
            self.hold(asked, |target| reached.contains(&Some(target)), found.explored.len(), reason);
            return Ok(if self.is_done() { Why::NotForThis } else { Why::ReachedOnly });
        }
    }

    /// The loads that the program is enriched for, thread by thread.
    fn loads_by_thread(&self) -> Vec<Vec<InstructionId>> {
        let mut by_thread = vec![Vec::new(); self.program.threads.len()];
        for (thread, load) in &self.enrichment.loads {
            by_thread[thread.index()].push(*load);
        }
        by_thread
    }
}
