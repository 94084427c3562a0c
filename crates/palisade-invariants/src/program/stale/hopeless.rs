//! Configurations that cannot lead to success, whatever values come: docs/src/arm.md ("Attacks
//! without hope") has the argument.
//!
//! Facts that a certificate has left out make no difference: what is judged is what can happen from
//! a configuration where nothing more is left out, and whoever knows more can do less.

use super::Guessing;
use super::configuration::{Configuration, Guess};
use super::knowledge::Event;
use crate::CheckFailure;
use hashbrown::HashSet;
use palisade_evidence::{LocalState, StaleGoal};
use palisade_model::program::{Action, InstructionId, LabelId, Ordering, ThreadId, Value};
use palisade_semantics::graphs::FENCE_ADDRESS;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What threads that do not know are asked about: the address and the goal, and the addresses whose
/// messages know for good.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Prospect {
    address: Value,
    goal: StaleGoal,
    telling: BTreeSet<Value>,
}

/// Where a thread that does not know stands, and whether it is on the path.
pub(super) type Stand = (ThreadId, LabelId, bool);

/// What a thread may do before it knows.
#[derive(Debug, Default)]
pub(super) struct Deeds {
    /// It makes an access that may be the last event.
    succeeds: bool,
    /// It writes these addresses, and keeps nothing of what was there.
    overwrites: BTreeSet<Value>,
    /// It does so to some address.
    overwrites_any: bool,
}

impl Guessing<'_> {
    /// Whether no success can follow.
    pub(super) fn is_hopeless(&mut self, configuration: &Configuration) -> Result<bool, CheckFailure> {
        let Some(guess) = &configuration.control.guess else { return Ok(false) };
        let mut stands: Vec<Stand> = Vec::new();
        for (token, _) in configuration.tokens.iter().filter(|(token, _)| !token.thread.now.later) {
            let LocalState { thread, label, .. } = *self.model.local(token.local);
            stands.push((thread, label, token.thread.on_path));
        }
        let mut prospect = self.prospect(guess);
        loop {
            let number = self.prospects.number(prospect.clone());
            let mut lost = BTreeSet::new();
            let mut succeeds = false;
            for stand in &stands {
                let deeds = self.deeds(*stand, number);
                succeeds |= deeds.succeeds;
                let is_lost = |address: &&Value| deeds.overwrites_any || deeds.overwrites.contains(*address);
                lost.extend(prospect.telling.iter().filter(is_lost).copied());
            }
            if lost.is_empty() {
                return Ok(!succeeds);
            }
            prospect.telling.retain(|address| !lost.contains(address));
        }
    }

    /// At first, the addresses whose messages know, and which only releasing writes and updates
    /// write.
    fn prospect(&mut self, guess: &Guess) -> Prospect {
        let knowing = guess.places.iter().filter(|(_, place)| place.message.later).map(|(address, _)| *address);
        let telling = knowing.filter(|address| self.is_kept(*address)).collect();
        let goal = match guess.goal {
            StaleGoal::Stale { is_update, .. } => StaleGoal::Stale { old: None, is_update },
            race @ StaleGoal::Race { .. } => race,
        };
        Prospect { address: guess.address, goal, telling }
    }

    /// Whether all writes of an address release, or keep what was there.
    fn is_kept(&mut self, address: Value) -> bool {
        if let Some(known) = self.kept.get(&address) {
            return *known;
        }
        let loses = |event: Event| event.writes && !event.reads && !event.ordering.releases();
        let is_kept = address == FENCE_ADDRESS || !self.any_event(address, loses);
        self.kept.insert(address, is_kept);
        is_kept
    }

    /// What a thread may do from a place on before it knows.
    fn deeds(&mut self, stand: Stand, prospect: u32) -> Rc<Deeds> {
        if let Some(known) = self.deeds.get(&(stand, prospect)) {
            return Rc::clone(known);
        }
        let key = (stand, prospect);
        let prospect = self.prospects.get(prospect);
        let mut deeds = Deeds::default();
        let mut seen: HashSet<Stand> = HashSet::from([stand]);
        let mut open = vec![stand];
        while let Some((thread, label, on_path)) = open.pop() {
            for id in self.model.instructions_at(thread, label).to_vec() {
                if let Some(is_on_path) = self.passes((thread, id), on_path, prospect, &mut deeds) {
                    let next = (thread, self.model.instruction(thread, id).target, is_on_path);
                    if seen.insert(next) {
                        open.push(next);
                    }
                }
            }
        }
        let deeds = Rc::new(deeds);
        self.deeds.insert(key, Rc::clone(&deeds));
        deeds
    }

    /// Notes what a thread that does not know does by an instruction; whether it is on the path
    /// behind it, if it may come there and still not know.
    fn passes(
        &self,
        at: (ThreadId, InstructionId),
        on_path: bool,
        prospect: &Prospect,
        deeds: &mut Deeds,
    ) -> Option<bool> {
        let action = &self.model.instruction(at.0, at.1).action;
        // Only what compares may leave memory as it is.
        let kinds: &[bool] = if matches!(action, Action::Rmw { .. }) { &[true] } else { &[true, false] };
        let events: Vec<Event> = kinds.iter().filter_map(|stores| self.event(at, *stores)).collect();
        if events.is_empty() {
            let is_fence = matches!(action, Action::Fence);
            return (on_path || !is_fence).then_some(on_path);
        }
        // Nothing for a computed address, which may be any.
        let address = match action.address() {
            None => Some(FENCE_ADDRESS),
            Some(address) if address.is_constant() => address.evaluate_address(&[]).ok(),
            Some(_) => None,
        };
        let mut goes_on = false;
        for event in events {
            if event.writes && !event.reads {
                match address {
                    Some(address) => drop(deeds.overwrites.insert(address)),
                    None => deeds.overwrites_any = true,
                }
            }
            let hears = event.acquires() && address.is_some_and(|address| prospect.telling.contains(&address));
            let is_attacked = address.is_none_or(|address| address == prospect.address);
            match prospect.goal {
                // The last event reads what was overwritten, and hears nothing.
                StaleGoal::Stale { is_update, .. } => {
                    let may_be_stale = event.ordering != Ordering::Plain && !(event.writes && is_update);
                    deeds.succeeds |= is_attacked && on_path && may_be_stale;
                    // Behind another access of the address its thread knows.
                    goes_on |= !hears && address != Some(prospect.address);
                }
                StaleGoal::Race { writes, is_plain } => {
                    let conflicts = (writes || event.writes) && (is_plain || event.ordering == Ordering::Plain);
                    deeds.succeeds |= is_attacked && conflicts && !hears;
                    goes_on |= !hears;
                }
            }
        }
        goes_on.then_some(true)
    }
}
